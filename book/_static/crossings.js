// The distribution function of a normal minus that of the beta law with the same mean, and where it is zero.
UI.mount("crossings", "How often do the distribution functions cross?", root => {
  "use strict";
  const { el, slider, number } = UI, draw = () => show();
  const between = (low, high, n) => Array.from({ length: n + 1 }, (_, i) => low + (high - low) * i / n);
  const logistic = y => 1 / (1 + Math.exp(-y));
  const shape = slider("α = β", UI.powers(-2, 1, 20), 0.05, draw);
  const picture = el("div"), told = el("p", { class: "told", role: "status" });
  root.append(el("div", { class: "sliders" }, shape.node), told, picture);

  function show() {
    const a = shape.value, normal = Laws.normal(1 / 2, 1 / (2 * a)), beta = Laws.beta(a, a);
    const difference = x => normal.cdf(x) - beta.cdf(x);
    const zeros = Laws.crossings(a, a).functions.map(logistic), n = zeros.length;
    // High enough for what lies between the outer crossings, or, if there is but one, for all of it.
    const most = x => Math.max(...x.map(one => Math.abs(difference(one))));
    const size = n > 1 ? 2 * most(between(zeros[0], zeros[n - 1], 100)) : 1.1 * most(between(0.01, 0.99, 100));
    const axes = UI.chart({ width: UI.room(root), height: 230, x: [0, 1], y: [-size, size], xlabel: "x",
      ylabel: "normal − beta", label: `Difference of the distribution functions, zero at ${n} places` });
    axes.line([[0, 0], [1, 0]], "truth");
    axes.line(between(0.0005, 0.9995, 600).map(x => [x, difference(x)]).filter(([, d]) => Math.abs(d) < size), "normal");
    for (const x of zeros) axes.dot(x, 0, "ink");
    picture.replaceChildren(axes.node);
    const [words, verdict] = n > 1 ? [`They cross ${n} times`, "fails"] : ["They cross once", "holds"];
    told.replaceChildren(el("span", { class: "verdict", "data-verdict": verdict }, words), ` at x = ${zeros.map(x => number(x)).join(", ")}. `
      + `The paper's Lemma 6 says once for any α, β > 0${n > 1 ? "; here it is false." : "."}`);
  }
  return draw;
});
