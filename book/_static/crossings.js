// The beta law and the normal of Lemma 1: both densities, both distribution functions, how often they cross,
// and the plane of α and β as a place to click.
UI.mount("crossings", "How often do they cross?", root => {
  "use strict";
  const { el, svg, slider, number } = UI, draw = () => show();
  const PRESETS = [["the usual", 2, 3], ["densities never", 0.6, 0.6], ["functions 3 times", 0.05, 0.05],
                   ["densities 3 times", 1.002, 0.32]], four = x => number(x, 4);
  const stops = [...UI.steps(-2, 2, 0.001).map(x => Number((10 ** x).toPrecision(4))), ...PRESETS.flatMap(([, ...place]) => place)].sort((a, b) => a - b);
  const between = (low, high, n) => Array.from({ length: n + 1 }, (_, i) => low + (high - low) * i / n);
  const alpha = slider("α", stops, 2, draw, four), beta = slider("β", stops, 3, draw, four);
  const maps = el("div", { class: "panels" }), plots = el("div", { class: "panels" });
  const table = UI.readings(["crossings", "number", "at x ="],
    [["densities", "densities"], ["functions", "distribution functions"]]);
  const go = (a, b) => { alpha.value = a; beta.value = b; draw(); };
  root.append(el("div", { class: "sliders" }, alpha.node, beta.node),
    el("div", { class: "bar" }, ...PRESETS.map(([name, a, b]) => UI.button(`${name}: ${a}, ${b}`, () => go(a, b)))),
    table.node, plots, maps);
  const half = () => root.clientWidth > 560 ? UI.room(root) / 2 - 6 : UI.room(root);
  const logistic = y => 1 / (1 + Math.exp(-y)), place = y => logistic(y) < 0.001 ? number(logistic(y), 2)
    : logistic(y) > 0.999 ? `1 − ${number(logistic(-y), 2)}` : number(logistic(y)); // near 1, too, to the last digit

  // A map: its cells coloured by count, neighbours of one colour drawn as one. `to` and `from` go between the
  // axes and (α, β). Cells are counted once.
  const grid = (name, size, x, y, labels, to, from, count) => {
    const cells = size.map((n, k) => between(...[x, y][k], n)), middles = cells.map(c => c.slice(1).map((v, i) => (v + c[i]) / 2));
    const counts = middles[1].map(v => middles[0].map(u => count(...to(u, v))));
    return () => {
      const [xlabel, ylabel] = labels, width = half(), axes = UI.chart({ width, height: 230, x, y, xlabel, ylabel,
        label: `Map of how often the ${name} cross; the sliders say the same` });
      counts.forEach((row, j) => {
        for (let i = 0, end; i < row.length; i = end) {
          for (end = i + 1; row[end] === row[i];) end++;
          axes.add(svg("rect", { class: `count-${row[i]}`, x: axes.X(cells[0][i]), y: axes.Y(cells[1][j + 1]),
            width: axes.X(cells[0][end]) - axes.X(cells[0][i]) + 0.3, height: axes.Y(cells[1][j]) - axes.Y(cells[1][j + 1]) + 0.3 }));
        }
      });
      const [u, v] = from(alpha.value, beta.value);
      if (u >= x[0] && u <= x[1] && v >= y[0] && v <= y[1])
        axes.add(svg("circle", { class: "mark", cx: axes.X(u), cy: axes.Y(v), r: 6 }));
      axes.node.classList.add("map");
      axes.node.addEventListener("click", event => {
        const box = axes.node.getBoundingClientRect(), part = [(event.clientX - box.left) / box.width * width,
          (event.clientY - box.top) / box.height * 230];
        const back = (to, [low, high], at) => low + (high - low) * Math.max(0, Math.min(1, (at - to(low)) / (to(high) - to(low))));
        go(...to(back(axes.X, x, part[0]), back(axes.Y, y, part[1])));
      });
      return el("div", {}, el("p", { class: "panel-title" }, name), axes.node);
    };
  };
  const sorted = f => (a, b) => f(Math.max(a, b), Math.min(a, b)); // x → 1 − x swaps α and β
  const drawn = [
    grid("densities", [40, 40], [-2, 2], [-2, 2], ["log₁₀ α", "log₁₀ β"], (u, v) => [10 ** u, 10 ** v],
      (a, b) => [Math.log10(a), Math.log10(b)], sorted((a, b) => Laws.crossings(a, b).densities.length)),
    grid("distribution functions, near α = β", [30, 21], [-2, 0], [0.485, 0.515], ["log₁₀ (α + β)", "α/(α + β)"],
      (u, v) => [10 ** u * v, 10 ** u * (1 - v)], (a, b) => [Math.log10(a + b), a / (a + b)],
      sorted((a, b) => Laws.crossings(a, b).count))];

  function plot(what, y, found, laws) {
    const axes = UI.chart({ width: half(), height: 210, x: [-0.4, 1.4], y, xlabel: "x", ylabel: what,
      label: `${what} of Beta(α, β) and of the normal with the same mean, ${found.length} crossings` });
    axes.line(between(0.0005, 0.9995, 400).map(x => [x, laws[1](x)]), "posterior dashed");
    axes.line(between(-0.4, 1.4, 300).map(x => [x, laws[0](x)]), "normal");
    for (const x of found) axes.dot(x, laws[0](x), "ink");
    return axes.node;
  }

  function show() {
    const a = alpha.value, b = beta.value, n = a + b, found = Laws.crossings(a, b);
    const normal = Laws.normal(a / n, 1 / n), law = Laws.beta(a, b);
    const { densities, functions } = found;
    table.set("densities", densities.length, densities.map(place).join(", ") || "nowhere");
    table.set("functions", functions.length, functions.map(place).join(", "));
    plots.replaceChildren(plot("density", [0, 2.6 * normal.pdf(normal.mean)], densities.map(logistic), [normal.pdf, law.pdf]),
      plot("distribution function", n < 1 ? [-0.4, 1.4].map(normal.cdf) : [0, 1], functions.map(logistic), [normal.cdf, law.cdf]));
    maps.replaceChildren(...drawn.map(map => map()), el("p", { class: "key" }, ...[0, 1, 2, 3].flatMap(k =>
      [el("i", { class: `swatch square count-${k}` }), `${k} `]), "crossings. The ring is (α, β), if it is on the map; click a map to go there. "
      + "A cell has the count of its middle, so a region thinner than a cell does not show, such as that of 1.002, 0.32. "
      + "Solid: normal; dashed: beta."));
  }
  return draw;
});
