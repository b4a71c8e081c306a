// RLSVI against LSVI with ε-greedy on one chain, with the same features and random numbers, learning here
// and now by rlsvi.js. data-n: the states; data-seed: the race's; data-autoplay: begin when seen.
UI.mount("race", "A race: RLSVI against ε-greedy", root => {
  "use strict";
  const { el, svg, slider, number } = UI, { range } = RLSVI;
  const AGENTS = [["rlsvi", "RLSVI"], ["lsvi", "ε-greedy"]], END = 2000, SPEED = 50; // episodes a second
  const OPTIONS = { rlsvi: { sample: true, lam: 1, sigma: 0.1 },
                    lsvi: { sample: false, lam: 1, sigma: 1, epsilon: 0.1 } };
  const seed = Number(root.dataset.seed ?? 1);
  let chain, runs, owed, pace;

  function restart() {
    chain = RLSVI.chain(N.value);
    const stream = k => RLSVI.generator(10 * seed + k), Phi = RLSVI.coherent(chain, 10, stream(0));
    runs = AGENTS.map(([key], k) => ({ key, chance: stream(1), rewards: 0, first: null, furthest: 0,
      last: { states: [0], furthest: 0 }, agent: new RLSVI.Agent(Phi, OPTIONS[key], stream(2 + k)) }));
    owed = 0;
    pace = { episodes: 0, seconds: 0, real: SPEED }; // how many a second there really are is still to be seen
    draw();
  }

  // A new race runs at once; where motion is unwelcome, only if the one before was running.
  function again() {
    restart();
    if (!UI.calm()) clock.start();
  }

  function episode() {
    for (const run of runs) {
      run.last = RLSVI.episode(chain, run.agent, run.chance.uniform);
      run.rewards += run.last.reward;
      if (run.last.reward) run.first ??= run.agent.episodes;
      run.furthest = Math.max(run.furthest, run.last.furthest);
    }
  }

  // As many episodes as the speed asks for, but no more than a frame has time for.
  function tick(seconds, passed) {
    const before = runs[0].agent.episodes;
    owed += seconds * SPEED;
    for (const begin = performance.now(); owed >= 1 && performance.now() - begin < 12; owed--) {
      episode();
      if (runs[0].agent.episodes % END === 0) { owed = 0; clock.stop(); break; }
    }
    owed = Math.min(owed, 2);
    pace.episodes += runs[0].agent.episodes - before;
    pace.seconds += passed;
    if (pace.seconds >= 2 && pace.episodes) {
      const real = pace.episodes / pace.seconds;
      pace = { episodes: 0, seconds: 0, real: real < 0.9 * SPEED ? real : SPEED };
    }
    draw();
  }

  const clock = UI.clock(tick);
  const N = slider("states of the chain", range(47).map(i => i + 4), Number(root.dataset.n ?? 20), again);
  const lanes = el("div"), wait = el("p", { class: "wait" });
  root.append(lanes, wait, el("div", { class: "bar" }, clock.node, N.node));

  // A row of states for each agent: how far it ever got, and where its present episode takes it.
  function lane(run, name, y, width) {
    const cell = (width - 2) / chain.N;
    const rewards = run.first ? `: first reward in episode ${run.first}, ${run.rewards} so far` : ": no reward yet";
    return [svg("text", { x: 1, y: y - 5 }, name + rewards),
      svg("text", { x: width - 1, y: y - 5, "text-anchor": "end" }, "goal ↓"), ...range(chain.N).map(s => svg("rect", {
      x: 1 + s * cell, y, width: Math.max(1, cell - 1.5), height: 20,
      class: s === run.last.furthest ? `here ${run.key}` : s <= run.furthest ? `been ${run.key}` : s === chain.N - 1 ? "goal" : "state" }))];
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
    const width = Math.max(280, root.clientWidth - 26), episodes = runs[0].agent.episodes;
    lanes.replaceChildren(svg("svg", { viewBox: `0 0 ${width} 92`, width, height: 92, role: "img",
      "aria-label": `Chain of ${chain.N} states, only the last pays. ` + runs.map((run, i) =>
        `${AGENTS[i][1]} has been to state ${run.furthest + 1}`).join(", ") },
      ...runs.flatMap((run, i) => lane(run, AGENTS[i][1], 18 + 48 * i, width))));
    root.dataset.episodes = episodes;
    wait.textContent = forecast(episodes);
  }

  restart();
  if ("autoplay" in root.dataset && !UI.calm()) new IntersectionObserver(([seen], observer) => {
    if (seen.isIntersecting) { observer.disconnect(); if (runs[0].agent.episodes === 0) clock.start(); }
  }, { threshold: 0.5 }).observe(lanes); // the whole may be higher than the window
  return draw;
});
