// One posterior, many stories. RLSVI learns a chain for some episodes; then every click draws a value
// function from what it believes and walks by it. Beside it, the mean of the same belief: greedy LSVI.
UI.mount("story", "Draw a story, and walk by it", root => {
  "use strict";
  const { el, svg, slider, number } = UI, { range } = RLSVI;
  const chain = RLSVI.chain(20), K = 10, options = { sample: true, lam: 1, sigma: 0.1 };
  const seed = Number(root.dataset.seed ?? 1), stream = k => RLSVI.generator(10 * seed + k);
  const Phi = RLSVI.coherent(chain, K, stream(0)), path = range(chain.H);
  const SIDES = [["story", "a story (RLSVI)", "rlsvi"], ["mean", "the mean (LSVI)", "lsvi"]];
  let agent, draws, luck, sides, past, at, timer;

  // From the beginning, so that the slider can be moved back; the same seed has the same past.
  function learn() {
    const chance = stream(1);
    agent = new RLSVI.Agent(Phi, options, stream(2));
    for (let l = 0; l < episodes.value; l++) RLSVI.episode(chain, agent, chance.uniform);
    agent.random = draws = stream(3); // what follows is not learned from
    luck = stream(4);
    past = [];
    tell();
  }

  // Sample a value function, take the mean beside it, and let both walk with the same luck.
  function tell() {
    clearInterval(timer);
    if (sides) past.push(sides[0].right);
    const thetas = [agent.fit(true), agent.fit(false)], chances = range(chain.H).map(luck.uniform);
    sides = thetas.map(theta => {
      agent.theta = theta;
      let h = 0;
      const walk = RLSVI.episode(chain, agent, () => chances[h++], false);
      const [left, right] = [0, 1].map(a => path.map(s => [s + 1, agent.values(s, s)[a]]));
      return { ...walk, left, right };
    });
    at = UI.calm() ? chain.H : 0;
    if (!UI.calm()) timer = setInterval(() => { if (++at === chain.H) clearInterval(timer); draw(); }, 120);
    draw();
  }

  const episodes = slider("episodes learned", [1, 2, 5, 10, 20, 50, 100, 200, 500], 20,
    () => { sides = null; learn(); });
  const panels = el("div", { class: "panels" });
  const table = UI.readings(["", "Right in state 1", "gets to state"], SIDES);
  root.append(el("div", { class: "sliders" }, episodes.node), el("div", { class: "bar" },
    UI.button("Draw a story", tell)), panels, table.node,
    el("p", { class: "key" }, "Solid: the value of Right. Dashed: of Left. Dotted: Right in truth. Faint: earlier stories."));

  function panel(side, [key, name, colour], wide) {
    const width = wide ? UI.room(root) / 2 - 6 : UI.room(root), mine = [...side.left, ...side.right].map(p => p[1]);
    const faint = key === "story" ? past.slice(-8) : [];
    const low = Math.min(0, ...mine), high = Math.max(1, ...mine), space = (high - low) * 0.05;
    const axes = UI.chart({ width, height: 210, x: [1, chain.N], y: [low - space, high + space], xlabel: "state",
      ylabel: "value", xticks: [1, 5, 10, 15, 20], label: `${name}: value of going right and left in each state; `
        + `the walk gets to state ${side.furthest + 1}` });
    axes.line(path.map(s => [s + 1, chain.Q[s][s][1]]), "truth");
    for (const line of faint) axes.line(line, `${colour} faint`);
    axes.line(side.left, `${colour} dashed`);
    axes.line(side.right, colour);
    const cell = (width - 64) / chain.N, been = new Set(side.states.slice(0, at + 1));
    axes.node.setAttribute("height", 236);
    axes.node.setAttribute("viewBox", `0 0 ${width} 236`);
    axes.add(svg("g", {}, ...range(chain.N).map(s => svg("rect", { x: 54 + s * cell, y: 214, height: 18,
      width: cell - 1, class: s === side.states[at] ? `here ${colour}` : been.has(s) ? `been ${colour}`
        : s === chain.N - 1 ? "goal" : "state" }))));
    return el("div", {}, el("p", { class: "panel-title" }, el("i", { class: `swatch ${colour}` }), name), axes.node);
  }

  function draw() {
    const wide = root.clientWidth > 560;
    panels.replaceChildren(...sides.map((side, i) => panel(side, SIDES[i], wide)));
    sides.forEach((side, i) => table.set(SIDES[i][0], number(side.right[0][1]), side.furthest + 1));
  }
  learn();
  return draw;
});
