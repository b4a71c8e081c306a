// One arm that paid −1 three times and 0 once: what is known of its mean reward (a beta law on [−1, 0]) and the
// normal law that RLSVI draws from in its place, with λσ² = 1; below, the gap G(z) = E(X − z)⁺ − E(Y − z)⁺, which
// must nowhere be negative.
UI.mount("arm", "One arm: is the draw optimistic?", root => {
  "use strict";
  const { el, slider, number } = UI, draw = () => show();
  const [low, high, rho] = [3, 1, 1], n = low + high, ends = [-1.3, 0.6], between = (low, high, n) =>
    Array.from({ length: n + 1 }, (_, i) => low + (high - low) * i / n);
  const sigma = slider("σ", UI.steps(0.02, 1.5, 0.01), 0.6, draw);
  const densities = el("div"), gap = el("div"), told = el("p", { class: "told", role: "status" });
  const table = UI.readings(["", "mean", "spread"], [["posterior", "posterior", "posterior"], ["drawn", "RLSVI draws from", "rlsvi"]]);
  root.append(el("div", { class: "sliders" }, sigma.node), table.node, densities, gap, told);

  function show() {
    const width = UI.room(root);
    const known = Laws.beta(0.5 + high, 0.5 + low); // of the mean reward + 1; weights ½ and ½ before
    const drawn = Laws.normal(-low / (n + rho), sigma.value ** 2 / (n + rho));
    const G = z => drawn.excess(z) - known.excess(1 + z);
    table.set("posterior", number(known.mean - 1), number(known.sd));
    table.set("drawn", number(drawn.mean), number(drawn.sd));

    const top = 1.15 * Math.max(drawn.pdf(drawn.mean), ...between(0.04, 0.96, 60).map(known.pdf));
    const above = UI.chart({ width, height: 190, x: ends, y: [0, top], xlabel: "mean reward of the arm", ylabel: "density",
      label: "Densities of the posterior and of the normal law that RLSVI draws from" });
    above.line(between(-0.999, -0.001, 300).map(x => [x, known.pdf(1 + x)]), "posterior dashed");
    above.line(between(...ends, 300).map(x => [x, drawn.pdf(x)]), "rlsvi");
    densities.replaceChildren(above.node);

    const curve = between(...ends, 190).map(z => [z, G(z)]), all = curve.map(([, g]) => g);
    const size = Math.max(...all.map(Math.abs));
    const below = UI.chart({ width, height: 190, x: ends, y: [Math.min(-0.25 * size, 1.1 * Math.min(...all)), 1.1 * size],
      xlabel: "z, a sure reward", ylabel: "G(z)", label: "The gap G against z" });
    below.area(curve.map(([z, g]) => [z, Math.max(g, 0)]), "theory");
    below.area(curve.map(([z, g]) => [z, Math.min(g, 0)]), "fails");
    below.line([[ends[0], 0], [ends[1], 0]], "truth");
    below.line(curve, "theory");
    const [least, place] = between(-1, 0, 200).map(z => [G(z), z]).sort((a, b) => a[0] - b[0])[0];
    if (least < 0) below.text(place + 0.12, least, "below zero");
    gap.replaceChildren(below.node);

    const promised = sigma.value ** 2 >= 1 / 4;
    const [word, colour] = least < 0 ? ["Not optimistic", "fails"] : ["Optimistic", "holds"];
    told.replaceChildren(el("span", { class: "verdict", "data-verdict": colour }, word), " The smallest G(z) for z up to 0 is ",
      el("b", { "data-reading": "gap 0" }, number(least)), `, at z = ${number(place)}. σ² = ${number(sigma.value ** 2)}; `
      + `Lemma 2 asks for ¼, so ${promised ? "it promises optimism" : "here it promises nothing"}.`);
  }
  return draw;
});
