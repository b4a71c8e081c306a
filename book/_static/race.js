// RLSVI against LSVI with ε-greedy on one chain, with the same features and random numbers, learning here
// and now by rlsvi.js. data-n: the states; data-seed: the first race's; data-autoplay: begin when seen;
// data-brief: the lanes, the wait and N alone, as wide as there is room.
UI.mount("race", "A race: RLSVI against ε-greedy", root => {
  "use strict";
  const { el, svg, slider, number } = UI, { range } = RLSVI;
  const AGENTS = [["rlsvi", "RLSVI"], ["lsvi", "ε-greedy"]], TABULAR = 99, END = 2000;
  const brief = "brief" in root.dataset;
  const first = Number(root.dataset.seed ?? 1);
  let seed = first, chain, runs, owed, pace;

  function restart() {
    chain = RLSVI.chain(controls.N.value);
    const stream = k => RLSVI.generator(10 * seed + k), lam = controls.lam.value;
    const Phi = controls.K.value === TABULAR ? RLSVI.tabular(chain)
      : RLSVI.coherent(chain, Math.min(controls.K.value, chain.N * chain.H), stream(0));
    const options = { rlsvi: { sample: true, lam, sigma: controls.sigma.value },
                      lsvi: { sample: false, lam, sigma: 1, epsilon: controls.epsilon.value } };
    runs = AGENTS.map(([key], k) => ({ key, chance: stream(1), rewards: 0, first: null, furthest: 0,
      reach: [], last: { states: [0], furthest: 0 }, agent: new RLSVI.Agent(Phi, options[key], stream(2 + k)) }));
    owed = 0;
    hurry();
  }

  // A new race runs at once; where motion is unwelcome, only if the one before was running.
  function again() {
    restart();
    if (!UI.calm()) clock.start();
  }

  // Everything as the page had it.
  function reset() {
    clock.stop();
    seed = first;
    Object.values(controls).forEach((control, i) => { control.value = defaults[i]; });
    restart();
  }

  // Another speed: how many episodes a second there really are is still to be seen.
  function hurry() {
    pace = { episodes: 0, seconds: 0, real: controls.speed.value };
    draw();
  }

  function episode() {
    for (const run of runs) {
      run.last = RLSVI.episode(chain, run.agent, run.chance.uniform);
      run.rewards += run.last.reward;
      if (run.last.reward) run.first ??= run.agent.episodes;
      run.furthest = Math.max(run.furthest, run.last.furthest);
      run.reach.push(run.last.furthest + 1);
    }
  }

  // As many episodes as the speed asks for, but no more than a frame has time for.
  function tick(seconds, passed) {
    const before = runs[0].agent.episodes, asked = controls.speed.value;
    owed += seconds * asked;
    for (const begin = performance.now(); owed >= 1 && performance.now() - begin < 12; owed--) {
      episode();
      if (runs[0].agent.episodes % END === 0) { owed = 0; clock.stop(); break; }
    }
    owed = Math.min(owed, 2);
    pace.episodes += runs[0].agent.episodes - before;
    pace.seconds += passed;
    if (pace.seconds >= 2 && pace.episodes) {
      const real = pace.episodes / pace.seconds;
      pace = { episodes: 0, seconds: 0, real: real < 0.9 * asked ? real : asked };
    }
    draw();
  }

  const clock = UI.clock(tick);
  const controls = {
    N: slider("N, states of the chain", range(47).map(i => i + 4), Number(root.dataset.n ?? 20), again),
    K: slider("K, features", [2, 3, 4, 6, 8, 10, 15, 20, TABULAR], 10, again, k => k === TABULAR ? "tabular" : String(k)),
    epsilon: slider("ε", UI.steps(0, 1, 0.05), 0.1, again),
    lam: slider("λ", UI.powers(-3, 3), 1, again),
    sigma: slider("σ", UI.powers(-3, 1), 0.1, again),
    speed: slider("episodes per second", [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500], 50, () => hurry()),
  };
  const defaults = Object.values(controls).map(control => control.value);
  const lanes = el("div"), chart = el("div"), wait = el("p", { class: "wait" });
  const table = UI.readings(["", "furthest state", "rewards", "first reward"],
    AGENTS.map(([key, name]) => [key, name, key]));
  if (brief) root.append(lanes, wait, el("div", { class: "bar" }, clock.node, controls.N.node));
  else root.append(lanes, el("div", { class: "bar" }, clock.node,
    UI.button("One episode", () => { clock.stop(); episode(); draw(); }),
    UI.button("New race", () => { seed++; again(); }), UI.button("Reset", reset)),
    el("p", { class: "key" }, "Full colour: how far this episode went. Faint: how far the agent ever got."), table.node, wait, chart, el("div", { class: "sliders" }, ...Object.values(controls).map(c => c.node)));

  // A row of states for each agent: how far it ever got, and where its present episode takes it.
  function lane(run, name, y, width) {
    const cell = (width - 2) / chain.N, states = run.last.states;
    const rewards = !brief ? "" : run.first ? `: first reward in episode ${run.first}, ${run.rewards} so far` : ": no reward yet";
    const at = clock.on && controls.speed.value <= 2 ? states[Math.floor(owed % 1 * states.length)] : run.last.furthest;
    return [svg("text", { x: 1, y: y - 5 }, name + rewards),
      svg("text", { x: width - 1, y: y - 5, "text-anchor": "end" }, "goal ↓"), ...range(chain.N).map(s => svg("rect", {
      x: 1 + s * cell, y, width: Math.max(1, cell - 1.5), height: 20,
      class: s === at ? `here ${run.key}` : s <= run.furthest ? `been ${run.key}` : s === chain.N - 1 ? "goal" : "state" }))];
  }

  // The furthest state of each so many episodes, at most 100 points.
  function reach(run) {
    const size = Math.max(1, Math.ceil(run.reach.length / 100));
    return range(Math.ceil(run.reach.length / size)).map(i =>
      [Math.min((i + 1) * size, run.reach.length), Math.max(...run.reach.slice(i * size, (i + 1) * size))]);
  }

  const whole = x => Math.round(x).toLocaleString("en").replaceAll(",", "\u202f"); // to the last digit
  const UNITS = [["years", 31557600], ["days", 86400], ["hours", 3600], ["minutes", 60], ["seconds", 1]];
  function duration(seconds) {
    const [unit, length] = UNITS.find(([, length]) => seconds >= 2 * length) ?? UNITS.at(-1);
    const n = Number((seconds / length).toPrecision(2));
    return `${n < 1e5 ? number(n) : whole(n)} ${unit}`;
  }

  // Coins do not remember: however long it has waited, as much is still to come on average.
  function forecast(episodes) {
    const { first } = runs[1];
    return `Episode ${episodes}. ε-greedy flips coins until its first reward: `
      + (first ? `${whole(chain.wait)} episodes on average, ${first} this time.`
        : `another ${whole(chain.wait)} episodes on average, however long it has tried. That is `
          + `${duration(chain.wait / pace.real)} at ${number(pace.real, 2)} episodes a second.`);
  }

  function draw() {
    const width = brief ? Math.max(280, root.clientWidth - 26) : UI.room(root), episodes = runs[0].agent.episodes;
    lanes.replaceChildren(svg("svg", { viewBox: `0 0 ${width} 92`, width, height: 92, role: "img",
      "aria-label": `Chain of ${chain.N} states, only the last pays. ` + runs.map((run, i) =>
        `${AGENTS[i][1]} has been to state ${run.furthest + 1}`).join(", ") },
      ...runs.flatMap((run, i) => lane(run, AGENTS[i][1], 18 + 48 * i, width))));
    root.dataset.episodes = episodes;
    if (brief) { wait.textContent = forecast(episodes); return; }
    for (const run of runs) table.set(run.key, run.furthest + 1, run.rewards, run.first ?? "none yet");
    wait.textContent = `Episode ${episodes}. Until its first reward ε-greedy flips coins, on average for `
      + `2ᴺ⁻¹/p* = ${number(chain.wait)} episodes: ${duration(chain.wait / pace.real)} at `
      + `${UI.counted(number(pace.real, 2), "episode")} a second.`;
    const axes = UI.chart({ width, height: 200, x: [0, Math.max(20, episodes)], y: [1, chain.N], xlabel: "episode",
      ylabel: "furthest state", label: `Furthest state against episode, ${UI.counted(episodes, "episode")} so far` });
    for (const run of runs.toReversed()) if (run.reach.length) axes.line(reach(run), run.key);
    chart.replaceChildren(axes.node);
  }

  restart();
  if ("autoplay" in root.dataset && !UI.calm()) new IntersectionObserver(([seen], observer) => {
    if (seen.isIntersecting) { observer.disconnect(); if (runs[0].agent.episodes === 0) clock.start(); }
  }, { threshold: 0.5 }).observe(lanes); // the whole may be higher than the window
  return draw;
});
