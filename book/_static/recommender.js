// Five products of ten for one customer after the other: the reader picks, then three policies serve the same
// customer with the same random numbers. customers.js has the instance and the learned weights; all else is exact.
UI.mount("recommender", "Be the recommender", root => {
  "use strict";
  const { el, svg, number } = UI, { J, gamma, theta } = CUSTOMERS, N = gamma.length, products = [...gamma.keys()];
  const sum = list => list.reduce((a, b) => a + b, 0), shown = x => x.filter(v => v).length;
  const unseen = x => products.filter(a => x[a] === 0), answered = (x, a, v) => x.with(a, v);

  // P(a | x) of the paper.
  const likes = (x, a) => 1 / (1 + Math.exp(-sum(x.map((v, n) => gamma[a][n] * v))));

  // A policy's best products (ties included) by a score; Q(x, a) and V(x) are its expected likes.
  function policy(score) {
    const known = new Map(), best = x => {
      const values = unseen(x).map(a => [score(x, a, Q), a]), top = Math.max(...values.map(([v]) => v));
      return values.filter(([v]) => v >= top - 1e-12).map(([, a]) => a);
    };
    const Q = (x, a) => { const p = likes(x, a); return p * (1 + V(answered(x, a, 1))) + (1 - p) * V(answered(x, a, -1)); };
    const V = x => {
      if (shown(x) === J) return 0;
      const key = x.join();
      if (!known.has(key)) {
        const picks = best(x);
        known.set(key, sum(picks.map(a => Q(x, a))) / picks.length);
      }
      return known.get(key);
    };
    return { best, Q, V };
  }
  const learned = (x, a) => theta[shown(x)][0][a] + sum(x.map((v, n) => v * theta[shown(x)][1 + n][a]));
  const POLICIES = [["myopic", "myopic", policy(likes)], ["learned", "learned by RLSVI", policy(learned)],
                    ["optimal", "optimal", policy((x, a, Q) => Q(x, a))]];
  const optimal = POLICIES[2][2], start = Array(N).fill(0), random = RLSVI.generator(Number(root.dataset.seed ?? 1));
  let x, uniforms, order, lost, served = 0, totals = { you: 0 };

  const serve = choose => { // one customer from the first product to the last; returns her likes
    let state = start;
    for (const u of uniforms) { const a = choose(state); state = answered(state, a, u < likes(state, a) ? 1 : -1); }
    return state.filter(v => v === 1).length;
  };

  function next() {
    x = start;
    order = [];
    lost = 0;
    uniforms = Array.from({ length: J }, random.uniform);
    draw();
  }

  function show(a) {
    if (x[a] !== 0 || order.length === J) return;
    lost += optimal.V(x) - optimal.Q(x, a);
    x = answered(x, a, uniforms[order.length] < likes(x, a) ? 1 : -1);
    order.push(a);
    if (order.length === J) {
      served++;
      totals.you += x.filter(v => v === 1).length;
      for (const [key, , one] of POLICIES) {
        const any = random.uniform(); // picks among products that tie
        totals[key] = (totals[key] ?? 0) + serve(s => one.best(s).at(any * one.best(s).length));
      }
    }
    draw();
    // The pressed card is now disabled: focus the next enabled one, or the next customer.
    (order.length === J ? again : [...cards.slice(a), ...cards].find(card => !card.disabled)).focus();
  }

  const advice = el("input", { type: "checkbox", change: () => draw() });
  const again = UI.button("Next customer", () => { next(); cards[0].focus(); }), told = el("p", { class: "told", role: "status" });
  const cards = products.map(a => el("button", { type: "button", class: "product", click: () => show(a) }));
  const table = UI.readings(["", "expected likes", "mean so far"], [["you", "you"], ...POLICIES.map(([key, name]) => [key, name])]);
  root.append(el("div", { class: "products" }, ...cards), el("div", { class: "bar" }, again,
    el("label", {}, advice, " show what each policy would pick")), told, table.node);

  function draw() {
    const over = order.length === J, count = x.filter(v => v === 1).length;
    cards.forEach((card, a) => {
      const p = likes(x, a), would = POLICIES.filter(([, , one]) => !over && x[a] === 0 && one.best(x).includes(a));
      card.disabled = over || x[a] !== 0;
      card.classList.toggle("shown", x[a] !== 0);
      card.replaceChildren(`Product ${a}`, el("span", {}, x[a] > 0 ? "liked" : x[a] < 0 ? "disliked" : p.toFixed(2)),
        svg("svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
          svg("rect", { class: "here rlsvi", height: 6, width: x[a] === 0 ? 100 * p : 0 })),
        ...(advice.checked ? [el("small", {}, would.map(([key]) => key).join(", "))] : []));
    });
    again.disabled = !over;
    told.textContent = over ? `She liked ${count} of ${J}. Your choices cost ${UI.counted(number(lost), "like")} in expectation.`
      : `Make choice ${order.length + 1} of ${J}. She has liked ${count} so far. The optimal policy would earn `
        + `${number(optimal.V(x))} more from here. Your choices have cost ${number(lost)}.`;
    const mean = key => served ? number(totals[key] / served) : "–";
    table.set("you", "–", mean("you"));
    for (const [key, , one] of POLICIES) table.set(key, number(one.V(start)), mean(key));
    Object.assign(root.dataset, { lost, served });
  }
  next();
  return draw;
});
