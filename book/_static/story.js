// RLSVI learns a chain for some episodes; then every click samples a value function from its
// posterior and follows it, period by period. A switch puts the mean into the targets instead of the sample.
UI.mount("story", "Sample a value function and follow it", root => {
  "use strict";
  const { el, svg, slider } = UI, { range } = RLSVI;
  const chain = RLSVI.chain(10), Phi = RLSVI.tabular(chain), HIGH = 2.5;
  const DRAWS = 60, QUANTILES = [0.1, 0.9].map(q => Math.round(q * (DRAWS - 1)));
  const seed = Number(root.dataset.seed ?? 1), stream = k => RLSVI.generator(10 * seed + k);
  const SIDES = [["sample", "a sample"], ["mean", "the mean"]];
  const round = x => x.toFixed(3).replace("-", "−");
  let shown = "sample", learned, walks, timer;

  // From the first episode, so that the slider can be moved back; both agents have the same random numbers.
  function learn() {
    learned = Object.fromEntries(SIDES.map(([targets]) => {
      const agent = new RLSVI.Agent(Phi, { sample: true, targets, lam: 1, sigma: 0.1 }, stream(2));
      const chance = stream(1);
      const past = range(episodes.value).map(() => RLSVI.episode(chain, agent, chance.uniform));
      const rewards = past.filter(one => one.reward).length, furthest = Math.max(...past.map(one => one.furthest));
      agent.random = stream(3); // what follows is not learned from
      const draws = range(DRAWS).map(() => agent.fit(true));
      agent.random = stream(4);
      return [targets, { agent, rewards, furthest, draws, luck: stream(5) }];
    }));
    walk();
  }

  // Sample a value function for each agent; both walk with the same random numbers.
  function walk() {
    clearInterval(timer);
    walks = Object.fromEntries(SIDES.map(([targets]) => {
      const { agent, luck } = learned[targets];
      agent.theta = agent.fit(true);
      return [targets, RLSVI.episode(chain, agent, luck.uniform, false)];
    }));
    draw();
  }

  function play() {
    walk();
    if (UI.calm()) return;
    period.value = 0;
    timer = setInterval(() => {
      period.value += 1;
      if (period.value === chain.H - 1) clearInterval(timer);
      draw();
    }, 600);
    draw();
  }

  const episodes = slider("episodes", [1, 2, 5, 10, 20, 50, 100, 200], 20, learn);
  const period = slider("period h", range(chain.H), 4, () => { clearInterval(timer); draw(); });
  const buttons = SIDES.map(([targets, name]) => UI.button(name, () => { shown = targets; draw(); }));
  const chart = el("div"), told = el("p", { class: "told" });
  const table = UI.readings(["in the targets", "rewards", "furthest state", "in this walk"], SIDES);
  root.append(el("div", { class: "bar", role: "group", "aria-label": "In the targets" }, "In the targets:", ...buttons),
    table.node, el("div", { class: "sliders" }, episodes.node, period.node),
    el("div", { class: "bar" }, UI.button("Draw again", play)), told, chart,
    el("p", { class: "key" }, "▸ the sampled value of Right, ◂ of Left, in the current period, for each state that can be "
      + `reached by then. Bars: the middle 80% of ${DRAWS} samples. Dotted: the true value of Right.`));

  // The values of the walker's period, one pair for each state, and where the walk has been.
  function draw() {
    const { agent, draws } = learned[shown], { states, actions } = walks[shown], h = period.value, here = states[h];
    const [left, right] = agent.values(h, here), step = actions[h] === RLSVI.RIGHT ? "right" : "left";
    const width = UI.room(root), axes = UI.chart({ width, height: 250, x: [0.5, chain.N + 0.5], y: [-HIGH, HIGH],
      xlabel: "state", ylabel: "value", xticks: range(chain.N).map(s => s + 1), yticks: [-2, -1, 0, 1, 2],
      label: `Values of right and left in period ${h} for the states 1 to ${h + 1}` });
    const X = s => axes.X(s + 1), Y = v => axes.Y(Math.max(-HIGH, Math.min(HIGH, v))), half = (X(1) - X(0)) / 2;
    axes.add(svg("rect", { class: "column", x: X(here) - half, width: 2 * half, y: Y(HIGH), height: Y(-HIGH) - Y(HIGH) }));
    axes.line(range(chain.N).map(s => [s + 1, chain.Q[h][s][RLSVI.RIGHT]]), "truth");
    for (const s of range(h + 1)) {
      const all = draws.map(theta => agent.values(h, s, theta)), drawn = agent.values(h, s);
      for (const [a, side] of [[RLSVI.LEFT, -1], [RLSVI.RIGHT, 1]]) {
        const sorted = all.map(q => q[a]).sort((x, y) => x - y), [low, high] = QUANTILES.map(i => Y(sorted[i]));
        const x = X(s) + side * half * 0.15, y = Y(drawn[a]), tip = x + side * Math.min(11, half * 0.8), colour = a ? "rlsvi" : "left";
        axes.add(svg("rect", { class: `spread ${colour}`, x: side < 0 ? x - half * 0.45 : x, width: half * 0.45, y: high,
          height: low - high }), svg("polygon", { class: `spot ${colour}`, points: `${x},${y - 6} ${x},${y + 6} ${tip},${y}` }));
      }
    }
    const been = new Set(states.slice(0, h + 1));
    axes.node.setAttribute("height", 274);
    axes.node.setAttribute("viewBox", `0 0 ${width} 274`);
    axes.add(...range(chain.N).map(s => svg("rect", { x: X(s) - half, y: 253, height: 18, width: 2 * half - 1,
      class: s === here ? "here rlsvi" : been.has(s) ? "been rlsvi" : s === chain.N - 1 ? "goal" : "state" })));
    chart.replaceChildren(axes.node);
    told.textContent = `Period ${h}, state ${here + 1}: Right ${round(right)}, Left ${round(left)}. It goes ${step} and `
      + `comes to state ${states[h + 1] + 1}.`;
    buttons.forEach((one, i) => one.setAttribute("aria-pressed", SIDES[i][0] === shown));
    for (const [targets] of SIDES) table.set(targets, learned[targets].rewards,
      learned[targets].furthest + 1, walks[targets].furthest + 1);
  }
  learn();
  return draw;
});
