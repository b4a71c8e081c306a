// Algorithms 1, 2, 3 and 5 of the paper on its chain, as pure functions: nothing here knows of a
// page. The symbols, and the order in which random numbers are used, are those of rlsvi_core's
// Printed; tests/site/test_widgets.py feeds both the same draws and compares the weights.
globalThis.RLSVI = (() => {
  "use strict";
  const LEFT = 0, RIGHT = 1;
  const range = n => Array.from({ length: n }, (_, i) => i);
  const dot = (x, y) => { let sum = 0; for (let i = 0; i < x.length; i++) sum += x[i] * y[i]; return sum; };

  // A seeded stream of uniforms (mulberry32), normals (Box and Muller), gamma variates (Marsaglia and Tsang) and beta
  // variates. Gammas of a small shape are often too small for a number, but not their logarithms.
  function generator(seed) {
    let state = seed >>> 0;
    const uniform = () => {
      state = state + 0x6D2B79F5 >>> 0;
      let t = Math.imul(state ^ state >>> 15, state | 1);
      t ^= t + Math.imul(t ^ t >>> 7, t | 61);
      return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
    };
    const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    const logGamma = shape => {
      if (shape < 1) return shape === 0 ? -Infinity : logGamma(shape + 1) + Math.log(1 - uniform()) / shape;
      for (const d = shape - 1 / 3;;) {
        const x = normal(), v = (1 + x / Math.sqrt(9 * d)) ** 3;
        if (v > 0 && Math.log(1 - uniform()) < x * x / 2 + d * (1 - v + Math.log(v))) return Math.log(d * v);
      }
    };
    const gamma = shape => Math.exp(logGamma(shape)), beta = (a, b) => 1 / (1 + Math.exp(logGamma(b) - logGamma(a)));
    return { uniform, normal, gamma, beta };
  }

  // Figure 1: N states, H = N − 1 periods, the start at the left end and the only reward at the right.
  function chain(N) {
    const H = N - 1, left = s => Math.max(s - 1, 0), right = s => Math.min(s + 1, N - 1);
    const step = (s, a, u) => a === RIGHT && u >= 1 / N ? right(s) : left(s);
    const Q = range(H);
    let V = range(N).map(s => +(s === N - 1));
    for (let h = H - 1; h >= 0; h--) {
      Q[h] = range(N).map(s => [V[left(s)], V[left(s)] / N + (1 - 1 / N) * V[right(s)]]);
      V = Q[h].map(q => Math.max(...q));
    }
    return { N, H, step, Q, best: V[0], wait: 2 ** H / V[0] }; // wait: episodes of coin flips per reward
  }

  // Φ_h = I: one feature for each state and action.
  const tabular = ({ N, H }) => {
    const one = range(N).map(s => [LEFT, RIGHT].map(a => Float64Array.from(range(2 * N), k => +(k === 2 * s + a))));
    return range(H).map(() => one);
  };

  // Algorithm 6: K random vectors projected on a random K-dimensional space that contains the constant
  // and Q*, each of norm HSA.
  function coherent({ N, H, Q }, K, random) {
    const size = 2 * N * H, normals = () => Float64Array.from({ length: size }, random.normal);
    const basis = [];
    for (const k of range(K)) {
      const x = k === 0 ? new Float64Array(size).fill(1) : k === 1 ? Float64Array.from(Q.flat(2)) : normals();
      for (const e of [...basis, ...basis]) { // Gram and Schmidt, twice
        const overlap = dot(e, x);
        for (let i = 0; i < size; i++) x[i] -= overlap * e[i];
      }
      const norm = Math.sqrt(dot(x, x));
      basis.push(x.map(v => v / norm));
    }
    const columns = range(K).map(k => {
      const w = k === 0 ? new Float64Array(size).fill(1) : normals(), x = new Float64Array(size);
      for (const e of basis) {
        const overlap = dot(e, w);
        for (let i = 0; i < size; i++) x[i] += overlap * e[i];
      }
      const norm = Math.sqrt(dot(x, x));
      return x.map(v => v * size / norm);
    });
    return range(H).map(h => range(N).map(s => [LEFT, RIGHT].map(a =>
      Float64Array.from(columns, column => column[(h * N + s) * 2 + a]))));
  }

  // Overwrite x by U⁻¹x; U may have further columns.
  function solve(U, x) {
    for (let k = x.length - 1; k >= 0; k--) {
      x[k] /= U[k][k];
      for (let j = 0; j < k; j++) x[j] -= x[k] * U[j][k];
    }
    return x;
  }

  // For each period h a triangular factor: UᵀU = AᵀA + λσ²I. Its further columns are what the same
  // rotations make of the targets: one for the reward, one for each state that may follow. An episode
  // adds a row to each, so its cost does not grow. `sample`: RLSVI, else LSVI; `epsilon`: Algorithm 5;
  // `targets`: put the sample (as printed) or the posterior mean into the targets.
  class Agent {
    constructor(Phi, { lam, sigma, sample, epsilon = 0, targets = "sample" }, random) {
      const H = Phi.length, S = Phi[0].length, K = Phi[0][0][0].length;
      Object.assign(this, { Phi, sigma, sample, epsilon, targets, random, H, S, K, episodes: 0 });
      this.U = range(H).map(() => range(K).map(k => {
        const row = new Float64Array(K + 1 + S);
        row[k] = Math.sqrt(lam) * sigma;
        return row;
      }));
      this.theta = range(H).map(() => new Float64Array(K));
    }

    values(h, s, theta = this.theta) { return this.Phi[h][s].map(phi => dot(phi, theta[h])); }

    // Algorithm 1; Algorithm 3 if nothing is sampled. The first episode has weights 0, as the footnote says.
    plan() { if (this.episodes > 0) this.theta = this.fit(this.sample); }

    fit(sample) {
      const { H, S, K, U, sigma, random } = this, theta = range(H), mean = range(H);
      const inTargets = this.targets === "sample" ? theta : mean;
      for (let h = H - 1; h >= 0; h--) {
        const V = h < H - 1 ? range(S).map(s => Math.max(...this.values(h + 1, s, inTargets))) : null;
        const x = new Float64Array(K);
        for (let k = 0; k < K; k++) {
          const u = U[h][k];
          x[k] = u[K];
          if (V) for (let s = 0; s < S; s++) x[k] += V[s] * u[K + 1 + s];
        }
        if (inTargets === mean) mean[h] = solve(U[h], x.slice());
        if (sample) for (let k = 0; k < K; k++) x[k] += sigma * random.normal();
        theta[h] = solve(U[h], x);
      }
      return theta;
    }

    // Greedy with ties at random, and with probability ε any action. Uses one uniform.
    act(h, s) {
      const q = this.values(h, s), top = Math.max(...q), ties = q.filter(v => v === top).length;
      const u = this.random.uniform();
      let total = 0;
      return q.findIndex((v, a) => (total += this.epsilon / q.length
        + (1 - this.epsilon) * (v === top ? 1 : 0) / ties) > u || a === q.length - 1);
    }

    // Rotate the row [φ, r, e_s'] into the factor.
    observe(h, s, a, r, next) {
      const { K, S } = this, row = new Float64Array(K + 1 + S);
      row.set(this.Phi[h][s][a]);
      row[K] = r;
      row[K + 1 + next] = 1;
      for (let k = 0; k < K; k++) {
        if (row[k] === 0) continue;
        const u = this.U[h][k], norm = Math.sqrt(u[k] * u[k] + row[k] * row[k]);
        const c = u[k] / norm, d = row[k] / norm;
        for (let j = k; j < row.length; j++) {
          const old = u[j];
          u[j] = c * old + d * row[j];
          row[j] = c * row[j] - d * old;
        }
      }
    }
  }

  // Algorithm 2: plan, play an episode, remember it. `uniform` is the environment's chance.
  function episode(chain, agent, uniform, learn = true) {
    const states = [0], actions = [];
    if (learn) agent.plan();
    for (let h = 0; h < chain.H; h++) {
      const a = agent.act(h, states[h]);
      actions.push(a);
      states.push(chain.step(states[h], a, uniform()));
    }
    const reward = +(states[chain.H] === chain.N - 1);
    if (learn) {
      actions.forEach((a, h) => agent.observe(h, states[h], a, h === chain.H - 1 ? reward : 0, states[h + 1]));
      agent.episodes++;
    }
    return { states, actions, reward, furthest: Math.max(...states) };
  }

  return { LEFT, RIGHT, range, generator, chain, tabular, coherent, Agent, episode };
})();
