// The toll of appendix B, and three agents at it with the world's one feature. An episode starts at the side with
// probability 1/L, else at the gate, where it is best to quit and each leap costs 1:
//   period 0, gate   quit: φ = 0, r = 0, dead     leap: φ = G, r = −1, dead
//   period 0, side   any action: φ = 1, r = −1/G, alive
//   h ≥ 1, alive     walk: φ = 1, r = 0, alive    leap: φ = G, r = 0, alive
// The dead have φ = 0 and r = 0. So θ_0 = −1/G and θ_h = 0 for h ≥ 1.
globalThis.Toll = (() => {
  "use strict";
  const G = 16, KAPPA = 0.01, LEAST = 1e-6; // as in rlsvi_core: κ by default, and the least weight of imagined visits

  // L: how many episodes the proof looks at.
  const lookedAt = H => Math.floor((G * G / (1 + G * G)) ** H * 8 ** (H / 2 - 2));

  // How far values are cut, by agent: RLSVI with λ = σ = 1 as printed and with truncated values, and the bootstrap.
  const MOST = { printed: () => Infinity, truncated: (H, h) => H - h, weights: H => H };

  // Algorithm 2. `theta` and `V` are the plan for the coming episode: V[h] is the value of being alive. In period h a
  // feature of size G was seen large[h] times, one of size 1 small[h] times; nothing else was learned from.
  class Run {
    constructor(H, random) {
      const zeros = () => new Float64Array(H);
      Object.assign(this, { H, random, agent: "printed", L: lookedAt(H), large: zeros(), small: zeros(), z: zeros(), weights: [],
                            theta: zeros(), V: zeros(), factor: zeros(), episodes: 0, leaps: 0, sides: 0 });
      this.draw();
    }

    // Noise for RLSVI. For the bootstrap weights: of the large, of the small, and of imagined visits, and the share of
    // these that brought the largest value.
    draw() {
      const { H, random } = this;
      for (let h = H - 1; h >= 0; h--)
        if (this.agent !== "weights") this.z[h] = random.normal();
        else this.weights[h] = [random.gamma(this.large[h]), random.gamma(this.small[h]),
                                Math.max(LEAST, random.gamma(2 * KAPPA)), random.beta(KAPPA, KAPPA)];
      this.plan();
    }

    // Another agent goes on with the same data, and on the same draw if it needs the same.
    become(agent) {
      const before = this.agent;
      this.agent = agent;
      if ((before === "weights") === (agent === "weights")) this.plan();
      else this.draw();
    }

    // Algorithm 1 with the noise given, or weighted least squares with the weights given. A positive V[h + 1] becomes
    // factor[h] times as much in V[h], until it is cut.
    plan() {
      const { H, z, theta, V, factor } = this, most = MOST[this.agent];
      for (let h = H - 1; h >= 0; h--) {
        const [large, small, visits, share] = this.agent === "weights" ? this.weights[h] : [this.large[h], this.small[h]];
        const squares = G * G * large + small; // Σφ²
        const paid = h === 0 ? -G * large - small / G : 0; // Σφr
        const alive = h === 0 ? small : G * large + small; // Σφ of those who go on alive and hand back a value
        const sum = paid + alive * (V[h + 1] ?? 0);
        const [M, x] = this.agent === "weights" ? [squares + G * G * visits, sum + G * visits * H * (2 * share - 1)]
          : [squares + 1, sum + z[h] * Math.sqrt(squares + 1)];
        theta[h] = x / M;
        factor[h] = G * alive / M;
        V[h] = Math.max(-most(H, h), Math.min(most(H, h), Math.max(theta[h], G * theta[h])));
      }
    }

    get leap() { return G * this.theta[0]; } // the sampled value of a leap at the gate
    get growth() { return this.factor.slice(1, -1).reduce((product, one) => product * one, 1); }

    // One episode on the plan, and the plan for the next.
    episode() {
      if (this.random.uniform() < 1 / this.L) {
        this.sides++;
        this.small[0]++;
        for (let h = 1; h < this.H; h++) (this.theta[h] > 0 ? this.large : this.small)[h]++;
      } else if (this.leap > 0) {
        this.leaps++;
        this.large[0]++;
      }
      this.episodes++;
      this.draw();
    }

    get overRoot() { return this.leaps / Math.sqrt(Math.max(1, this.episodes) * this.H); } // regret/√T
  }
  return { lookedAt, Run };
})();

// The sampled values by period, and regret/√T. A run is shown from its first start at the side on: nothing happens
// before. Curves of several runs can be compared, as episodes are counted in units of L. data-seed: the first run's.
UI.mount("toll", "The toll: how sampled values grow", root => {
  "use strict";
  const { el, svg, number } = UI, END = 4, SECONDS = 3; // the clock stops after every 4L episodes; L take 3 s
  const AGENTS = [["printed", "as printed", "rlsvi"], ["truncated", "truncated values", "theory"],
                  ["weights", "weights on the data", "weights"]];
  let seed = Number(root.dataset.seed ?? 1), run, curve, past = [], owed, seen, timer;

  function restart() {
    clock.stop();
    if (run?.episodes > curve?.shown) past = [...past, curve].slice(-6);
    run = new Toll.Run(H.value, RLSVI.generator(seed));
    curve = { H: run.H, parts: [] };
    owed = 0;
    begin();
    while (run.sides === 0) episode();
    curve.shown = run.episodes; // from there on
    reveal();
  }

  // A part of the curve for each stretch with the same agent.
  function begin() {
    curve.parts.at(-1)?.points.push(now());
    const [agent, , colour] = AGENTS.find((_, i) => switches[i].checked);
    run.become(agent);
    curve.parts.push({ agent, colour, episodes: 0, leaps: 0, points: [now()] });
  }

  const now = () => [run.episodes / run.L, run.overRoot];

  function episode() {
    const part = curve.parts.at(-1), leaps = run.leaps;
    run.episode();
    part.episodes++;
    part.leaps += run.leaps - leaps;
    if (run.episodes % Math.ceil(run.L / 60) === 0) part.points.push(now());
  }

  // A plan is made from the last period to the first, and shown so.
  function reveal() {
    clearInterval(timer);
    seen = UI.calm() ? run.H : 0;
    if (seen < run.H) timer = setInterval(() => { if (++seen === run.H) clearInterval(timer); draw(); }, 50);
    draw();
  }

  // As many episodes as the time asks for. After a start at the side the next plan is shown growing.
  function tick(seconds) {
    if (seen < run.H) return;
    for (owed += seconds * run.L / SECONDS; owed >= 1; owed--) {
      const { sides } = run;
      episode();
      if (run.episodes % (END * run.L) === 0) { owed = 0; clock.stop(); break; }
      if (run.sides > sides) { owed = 0; reveal(); break; }
    }
    draw();
  }

  const clock = UI.clock(tick), H = UI.slider("H, periods", UI.steps(7, 15, 2), 11, () => restart());
  const switches = AGENTS.map(([agent]) => el("input", { type: "radio", name: "agent", checked: agent === "printed",
    change: () => { begin(); reveal(); } }));
  const bars = el("div"), chart = el("div"), told = el("p", { class: "told", role: "status" });
  const table = UI.readings(["", "episodes", "leaps"], AGENTS);
  clock.node.addEventListener("click", () => draw());
  root.append(
    el("div", { class: "bar" }, clock.node,
      UI.button("One episode", () => { clock.stop(); episode(); reveal(); }),
      UI.button("New run", () => { seed++; restart(); }),
      el("div", { class: "switches", role: "radiogroup", "aria-label": "Agent" },
        ...AGENTS.map(([, name], i) => el("label", {}, switches[i], ` ${name}`)))),
    bars, el("p", { class: "key" }, "Bars: the sampled value of being alive in period h; rightmost, of a leap at the gate, red if "
      + "the agent will leap. Dashed: true values. Below the bars: by how much a period multiplies the value of the next, before any "
      + "truncation."),
    table.node, told, chart, el("div", { class: "sliders" }, H.node));

  const scale = v => Math.sign(v) * Math.log10(1 + Math.abs(v)); // both signs, and powers of ten
  function sampled(width) {
    const { H, V, leap } = run, values = [leap, ...V.slice(1)], top = Math.max(8 ** (H / 2), ...values);
    const ticks = [-10, 0, 10, ...UI.steps(3, Math.max(3, Math.log10(top)), 3).map(k => 10 ** k)];
    const axes = UI.chart({ width, height: 210, x: [H - 0.4, -0.6], y: [scale(-20), scale(top)],
      xlabel: "period h, in the order of value iteration", ylabel: "sampled value", xticks: UI.steps(0, H - 1, 2), yticks: ticks.map(scale),
      yshow: y => number(ticks.find(v => scale(v) === y)).replace("1.0 × ", ""),
      label: `Sampled values by period. In period 1: ${number(V[1])}; true value 0. A leap: ${number(leap)}; true value −1` });
    values.forEach((v, h) => h >= H - seen && axes.area([[h - 0.4, scale(v)], [h + 0.4, scale(v)]],
      `solid ${h === 0 && v > 0 ? "fails" : curve.parts.at(-1).colour}`));
    axes.line([[-0.6, scale(-1)], [0.5, scale(-1)], [0.5, 0], [H - 0.4, 0]], "truth");
    axes.node.setAttribute("height", 228);
    axes.node.setAttribute("viewBox", `0 0 ${width} 228`);
    for (let h = 1; h < H - 1; h++) axes.add(svg("text", { x: axes.X(h), y: 224, "text-anchor": "middle", class: "factor" },
      `×${Math.round(run.factor[h])}`));
    return axes.node;
  }

  function regret(width) {
    const curves = [...past, curve], tops = curves.map(({ parts }) =>
      parts.flatMap(({ points }) => points).reduce((best, point) => point[1] > best[1] ? point : best));
    const [x, y] = now(), high = 1.15 * Math.max(0.3, ...tops.map(top => top[1]));
    const far = Math.max(x, ...past.flatMap(({ parts }) => parts.flatMap(({ points }) => points.map(([at]) => at))));
    const axes = UI.chart({ width, height: 200, x: [0, Math.ceil(far)], y: [0, high],
      xlabel: `episodes/L, L = ${run.L}`, ylabel: "regret/√T",
      label: `Regret over the root of T: ${number(y)} after ${UI.counted(run.episodes, "episode")}` });
    curves.forEach(({ H, parts }, i) => {
      for (const { colour, points } of parts) axes.line(points, `${colour} ${i < past.length ? "earlier" : ""}`);
      if (tops[i][0] > 0) axes.text(tops[i][0] + 0.06, tops[i][1] + 0.03 * high, `H = ${H}`);
    });
    axes.dot(x, y, curve.parts.at(-1).colour);
    return axes.node;
  }

  // Screen readers announce this text, so what changes with every episode is added only while the clock stands.
  function tell() {
    const { H, sides, leap, agent, episodes } = run, then = {
      printed: "RLSVI leaps until the observed costs outweigh it.",
      truncated: "Truncated to the range of returns, it is soon outweighed by a few leaps.",
      weights: `Cut to ±${H}, and without noise where all outcomes are the same, it is soon outweighed by a few leaps.`,
    };
    const cause = `${sides === 1 ? "One start" : `${sides} starts`} at the side. On the way back to period 1 a positive `
      + `value ${agent === "printed" ? "is" : "would, without truncation, be"} multiplied by ${number(run.growth, 2)}; `
      + `the true value is 0. ${then[agent]}`;
    const text = clock.on ? cause : `${cause} Episode ${episodes + 1}: the sampled value of a leap is ${number(leap)}, `
      + `so at the gate the agent will ${leap > 0 ? "leap and pay 1" : "quit"}.`;
    if (told.textContent !== text) told.textContent = text;
  }

  function draw() {
    const width = UI.room(root);
    bars.replaceChildren(sampled(width));
    chart.replaceChildren(regret(width));
    for (const [key] of AGENTS) {
      const parts = curve.parts.filter(({ agent }) => agent === key);
      table.set(key, ...["episodes", "leaps"].map(what => parts.reduce((sum, part) => sum + part[what], 0)));
    }
    tell();
    Object.assign(root.dataset, { episodes: run.episodes, leaps: run.leaps });
  }
  restart();
  return draw;
});
