// Two learned policies and the reader play Tetris with the same pieces, by tetris.js, under a rule that
// the reader chooses. data-policies: [name, weights] of each, whole numbers of ten-thousandths.
UI.mount("tetris", "Tetris: RLSVI, LSVI and you", root => {
  "use strict";
  const { el, svg, button, slider } = UI, { Game, NAMES, TURNS } = Tetris;
  const WIDTH = 10, HEIGHT = 20, ROOM = 24; // rows drawn
  const MEANS = { "top row": "ends if a top square stays full", touches: "ends if a piece reaches the top row",
                  "overflow top": "as top row, but pieces may stick out", clears: "ends only if no piece fits" }; // of chapter 6.2
  const agents = JSON.parse(root.dataset.policies).map(([name, weights], i) => board(`agent${i}`, name, weights));
  const you = board("you", "You", null), boards = [...agents, you];
  let seed = 1, pieces, chance, hand, owed = 0;

  // A board with its name above, and a line that says how its game stands.
  function board(key, name, weights) {
    const cells = Array.from({ length: ROOM }, (_, y) => Array.from({ length: WIDTH }, (_, x) =>
      svg("rect", { x: x + 0.04, y: ROOM - 1 - y + 0.04, width: 0.92, height: 0.92 })));
    const picture = svg("svg", { class: "tetris", viewBox: `-0.1 -0.1 ${WIDTH + 0.2} ${ROOM + 0.2}`, role: "img" },
      ...cells.flat(), svg("line", { x1: -0.1, x2: WIDTH + 0.1, y1: ROOM - HEIGHT, y2: ROOM - HEIGHT }),
      svg("text", { class: "over", x: WIDTH / 2, y: 3, "text-anchor": "middle" }, "game over"));
    return { key, name, weights, cells, picture, node: el("div", { class: "player" },
      el("p", { class: "panel-title" }, name), picture) };
  }

  const piece = n => {
    while (pieces.length <= n) pieces.push(Math.floor(chance.uniform() * NAMES.length));
    return pieces[n];
  };
  function dealt() { // the reader's next piece, in the middle; a game without room for it is over
    hand = { piece: piece(you.game.placed), o: 0 };
    hand.c = Math.floor((WIDTH - TURNS[hand.piece][0].width) / 2);
    you.game.over ||= !you.game.spots(hand.piece).length;
  }
  function restart() {
    clock.stop();
    [pieces, chance, owed] = [[], RLSVI.generator(seed), 0];
    for (const one of boards) Object.assign(one, { game: new Game(rule.value), scores: [0],
      colours: Array.from({ length: ROOM }, () => Array(WIDTH).fill("")) });
    dealt();
    draw();
  }

  // What a placement leaves of the colours.
  function paint({ game, colours, scores }) {
    for (const [x, y] of game.last.squares) colours[y][x] = NAMES[game.last.piece];
    for (const y of [...game.last.gone].reverse()) {
      colours.splice(y, 1);
      colours.push(Array(WIDTH).fill(""));
    }
    scores.push(game.score);
  }
  function step(one) {
    if (!one.game.over && one.game.play(piece(one.game.placed), one.weights)) paint(one);
  }
  function drop() {
    const spot = !you.game.over && you.game.spot(hand.piece, hand.o, hand.c);
    if (!spot) return;
    you.game.drop(hand.piece, spot);
    paint(you);
    for (const one of agents) while (!one.game.over && one.game.placed < you.game.placed) step(one);
    if (!you.game.over) dealt();
    draw();
  }
  function move(by, turn = 0) {
    if (you.game.over) return;
    const turns = TURNS[hand.piece];
    hand.o = (hand.o + turn) % turns.length;
    hand.c = Math.max(0, Math.min(WIDTH - turns[hand.o].width, hand.c + by));
    draw();
  }

  function show({ game, cells, colours, picture, name }) {
    cells.forEach((row, y) => row.forEach((cell, x) => cell.setAttribute("class", colours[y][x])));
    if (game.last && !game.last.gone.length && picture !== you.picture)
      for (const [x, y] of game.last.squares) cells[y][x].classList.add("new");
    picture.classList.toggle("ended", game.over);
    picture.setAttribute("aria-label", `${name}: ${UI.counted(game.placed, "piece")} placed, ${UI.counted(game.score, "row")} cleared`
      + (game.over ? ", game over" : ""));
  }
  function aim() { // the reader's piece above the board, and where it would land
    const turn = TURNS[hand.piece][hand.o], spot = you.game.spot(hand.piece, hand.o, hand.c);
    turn.row.forEach((bits, i) => { for (let x = 0; x < turn.width; x++) if (bits >> x & 1) {
      you.cells[HEIGHT + i][hand.c + x].setAttribute("class", NAMES[hand.piece]);
      if (spot) you.cells[spot.y + i][hand.c + x].classList.add("ghost");
    } });
    return spot;
  }
  function draw() {
    boards.forEach(show);
    const spot = !you.game.over && aim(), n = you.game.placed;
    told.textContent = you.game.over ? `Game over after ${UI.counted(n, "piece")}: you cleared ${UI.counted(you.game.score, "row")}.`
      : `Your piece ${n + 1} is ${NAMES[hand.piece]}, column ${hand.c + 1}` + (!spot ? ": it does not fit there."
        : spot.over ? ": there it ends the game." : ".");
    for (const { key, game, scores } of boards) table.set(key, game.placed + (game.over ? ", over" : ""),
      String(game.score), String(scores[Math.min(n, scores.length - 1)]));
    root.dataset.placed = agents.map(one => one.game.placed).join();
  }
  function tick(seconds) {
    owed += seconds * speed.value;
    for (const begin = performance.now(); owed >= 1 && performance.now() - begin < 12; owed--) agents.forEach(step);
    owed = Math.min(owed, 2);
    if (agents.every(one => one.game.over)) clock.stop();
    draw();
  }

  const clock = UI.clock(tick), told = el("p", { class: "told", role: "status" });
  const speed = slider("pieces per second", [1, 2, 5, 10, 20, 50, 100], 5, () => {});
  const rule = el("select", { change: restart }, ...Object.keys(MEANS).map(name => el("option", { value: name },
    `${name} (${MEANS[name]})`)));
  rule.value = "top row";
  const table = UI.readings(["", "pieces", "rows", "rows at your piece"],
    boards.map(({ key, name }) => [key, name]));
  const sign = (label, text, on) => { const b = button(text, on); b.setAttribute("aria-label", label); return b; };
  const hands = el("div", { class: "hands" }, el("div", { class: "bar" },
    sign("Left", "◀", () => move(-1)), sign("Turn", "⟳", () => move(0, 1)), sign("Right", "▶", () => move(1)),
    button("Drop", drop)), told,
    el("p", { class: "key" }, "Keys, after a click here: ← and → move your piece, ↑ turns it, ↓ drops it."));
  const keys = { ArrowLeft: () => move(-1), ArrowRight: () => move(1), ArrowUp: () => move(0, 1), ArrowDown: drop };
  root.addEventListener("keydown", event => {
    if (!(event.key in keys) || /INPUT|SELECT/.test(event.target.tagName)) return;
    event.preventDefault();
    keys[event.key]();
  });
  root.tabIndex = 0;
  root.append(
    el("div", { class: "bar" }, el("label", {}, "ending rule ", rule), clock.node,
      button("One piece", () => { clock.stop(); agents.forEach(step); draw(); }),
      button("Again", restart), button("Other pieces", () => { seed++; restart(); })),
    el("div", { class: "sliders" }, speed.node), el("div", { class: "players" }, ...boards.map(one => one.node), hands),
    table.node);
  restart();
  return draw;
});
