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
      this.start();
    }

    start() { this.atSide = this.random.uniform() < 1 / this.L; } // where the coming episode will start

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
      if (this.atSide) {
        this.sides++;
        this.small[0]++;
        for (let h = 1; h < this.H; h++) (this.theta[h] > 0 ? this.large : this.small)[h]++;
      } else if (this.leap > 0) {
        this.leaps++;
        this.large[0]++;
      }
      this.episodes++;
      this.draw();
      this.start();
    }
  }
  return { lookedAt, Run };
})();

// The sampled values by period: before the first start at the side, after it, and after some more episodes from the
// gate. Each stage stays until the reader goes on; another agent begins with the same data. data-seed: the first run's.
UI.mount("toll", "The toll: one start at the side", root => {
  "use strict";
  const { el, svg, number, counted } = UI, H = 11, MORE = 500, BEFORE = 0, AFTER = 1, PLAYING = 2, PLAYED = 3;
  const AGENTS = [["printed", "as printed", "rlsvi"], ["truncated", "truncated values", "theory"],
                  ["weights", "bootstrap", "weights"]];
  let seed = Number(root.dataset.seed ?? 1), run, stage, seen, timer, before;

  // The run until its first start at the side.
  function open() {
    clearInterval(timer);
    run = new Toll.Run(H, RLSVI.generator(seed));
    while (!run.atSide) run.episode();
    [stage, seen] = [BEFORE, H];
    draw();
  }

  // That start, and the plan after it, which is made from the last period to the first, and shown so.
  function begin() {
    open();
    run.episode();
    run.become(chosen());
    [stage, before] = [AFTER, { episodes: run.episodes, leaps: run.leaps }];
    if (!UI.calm()) seen = 0;
    timer = setInterval(() => { if (seen < H) seen++; else clearInterval(timer); draw(); }, 200);
    draw();
  }

  // More episodes from the gate.
  function more() {
    clearInterval(timer);
    [stage, seen] = [PLAYING, H];
    const some = n => {
      for (; n > 0 && stage === PLAYING; n--) {
        run.episode();
        if (run.atSide || run.episodes === before.episodes + MORE) { clearInterval(timer); stage = PLAYED; }
      }
      draw();
    };
    if (UI.calm()) some(MORE);
    else timer = setInterval(some, 100, 20);
  }

  const chosen = () => AGENTS.find((_, i) => switches[i].checked)[0];
  const next = UI.button("", () => [begin, more, more, () => { seed++; open(); }][stage]());
  const switches = AGENTS.map(([agent]) => el("input", { type: "radio", name: "agent", checked: agent === "printed",
    change: () => { if (stage !== BEFORE) begin(); } }));
  const bars = el("div"), told = el("p", { class: "told", role: "status" });
  root.append(
    el("div", { class: "bar" }, next,
      el("div", { class: "switches", role: "radiogroup", "aria-label": "Agent" },
        ...AGENTS.map(([, name], i) => el("label", {}, switches[i], ` ${name}`)))),
    bars, told);

  const scale = v => Math.sign(v) * Math.log10(1 + Math.abs(v)); // both signs, and powers of ten
  function sampled(width) {
    const { V, leap } = run, values = [leap, ...V.slice(1)], top = Math.max(8 ** (H / 2), ...values);
    const ticks = [-10, 0, 10, ...UI.steps(3, Math.log10(top), 1).map(k => 10 ** k)];
    const axes = UI.chart({ width, height: 230, x: [H - 0.4, -0.6], y: [scale(-20), scale(top)],
      xlabel: "alive in period h, the last first", ylabel: "sampled value",
      xticks: UI.steps(1, H - 1, 1), yticks: ticks.map(scale),
      yshow: y => number(ticks.find(v => scale(v) === y)).replace("1.0 × ", ""),
      label: `Sampled values by period. In period 1: ${number(V[1])}; true value 0. A leap: ${number(leap)}; true value −1` });
    const [, , colour] = AGENTS.find(([agent]) => agent === run.agent);
    values.forEach((v, h) => h >= H - seen && axes.area([[h - 0.4, scale(v)], [h + 0.4, scale(v)]],
      `solid ${h === 0 && v > 0 ? "fails" : colour}`));
    axes.line([[-0.6, scale(-1)], [0.5, scale(-1)], [0.5, 0], [H - 0.4, 0]], "truth");
    axes.add(svg("text", { x: axes.X(0), y: 205, "text-anchor": "middle" }, "leap"));
    return axes.node;
  }

  // Screen readers announce this text, so while episodes go by it stands still.
  function tell() {
    const { leap, agent } = run, will = leap > 0 ? "so at the gate the agent leaps and pays 1" : "so at the gate the agent quits";
    const grown = {
      printed: `Least squares multiplied a positive value by ${number(run.growth, 2).replace(/^(\d\d)(\d{3})$/, "$1\u202f$2")} on the way back to period 1.`,
      truncated: "Values stay in the range of returns.",
      weights: `Values stay within ±${H}, and there is no noise where outcomes are the same.`,
    }[agent];
    const text = [
      `So far ${counted(run.episodes, "episode")}, all from the gate, in which it has learned that a leap costs 1. The next one starts at the side.`,
      `One episode went down the road, where nothing is paid. ${grown} A leap looks worth ${number(leap)}, ${will}.`,
      "Episodes from the gate go by.",
      `In the ${counted(run.episodes - before?.episodes, "episode")} after the start at the side it has leapt ${counted(run.leaps - before?.leaps, "time")}. Choose another agent.`,
    ][stage];
    if (seen === H && told.textContent !== text) told.textContent = text;
  }

  function draw() {
    bars.replaceChildren(sampled(UI.room(root)));
    next.textContent = ["Start at the side", `${MORE} more episodes`, `${MORE} more episodes`, "Another run"][stage];
    next.disabled = stage === PLAYING;
    tell();
    Object.assign(root.dataset, { episodes: run.episodes, leaps: run.leaps });
  }
  open();
  return draw;
});
