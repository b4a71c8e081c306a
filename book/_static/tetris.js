// Plays stored games of Tetris. Each .tetris element holds a game as JSON: the board a part starts
// from, as rows of bits, and its placements [piece, orientation, column]; the rules are replayed
// here. Buttons, or with the player focused: space, arrow keys, Home, + and −. Several on a page stand
// side by side, and one button plays them all.
(() => {
  "use strict";
  const SPEEDS = [1, 2, 5, 10, 20, 50]; // placements per second

  const button = (label, text) => {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = text;
    b.setAttribute("aria-label", label);
    b.title = label;
    return b;
  };

  function mount(root) {
    const game = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    const { width, height, shapes, names, parts } = game;
    let part = 0, step = 0, speed = 2, timer = null;
    let board, colour, score;

    function reset() {
      board = [...parts[part].board];
      while (board.length < height + 4) board.push(0);
      colour = board.map(() => Array(width).fill(""));
      score = parts[part].score;
      step = 0;
    }

    // Drop one piece, clear full rows; returns the squares it took.
    function place([p, o, column]) {
      const rows = shapes[p][o].map(bits => bits << column);
      const free = y => rows.every((bits, i) => !(board[y + i] & bits));
      let y = height;
      while (y > 0 && free(y - 1)) y--;
      const squares = [];
      rows.forEach((bits, i) => {
        board[y + i] |= bits;
        for (let x = 0; x < width; x++) if (bits >> x & 1) {
          colour[y + i][x] = names[p];
          squares.push([x, y + i]);
        }
      });
      return squares;
    }
    function clear() {
      const full = (1 << width) - 1;
      for (let y = board.length - 1; y >= 0; y--) if (board[y] === full) {
        board.splice(y, 1); board.push(0);
        colour.splice(y, 1); colour.push(Array(width).fill(""));
        score++;
      }
    }

    root.textContent = "";
    root.tabIndex = 0;
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", game.title + ". Space plays or pauses, arrow keys step.");
    const title = document.createElement("p");
    title.className = "tetris-title";
    title.textContent = game.title;
    const grid = document.createElement("div");
    grid.className = "tetris-board";
    grid.setAttribute("role", "img");
    grid.style.gridTemplateColumns = `repeat(${width}, 1fr)`;
    const cells = Array.from({ length: height }, () => Array.from({ length: width }));
    for (let y = height - 1; y >= 0; y--) for (let x = 0; x < width; x++)
      grid.append(cells[y][x] = document.createElement("i"));
    const status = document.createElement("p");
    status.className = "tetris-status";
    const bar = document.createElement("div");
    bar.className = "tetris-bar";
    const start = button("Back to the start", "|◀"), back = button("Step back", "◀");
    const play = button("Play", "▶ Play");
    play.className = "tetris-play";
    const next = button("Step forward", "▶▏");
    const slower = button("Slower", "−"), faster = button("Faster", "+");
    bar.append(start, back, play, next, slower, faster);
    const choices = parts.map((one, i) => {
      const b = button(`Show the ${one.name} part of the game`, `${one.name} ${one.moves.length}`);
      b.addEventListener("click", () => { pause(); part = i; reset(); draw(); });
      return b;
    });
    if (parts.length > 1) bar.append(...choices);
    const keys = document.createElement("p");
    keys.className = "tetris-keys";
    keys.textContent = "Keys: space plays, ← → step, + − change the speed.";
    root.append(title, grid, status, bar, keys);

    function draw(fresh = []) {
      for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
        const full = board[y] >> x & 1;
        cells[y][x].className = full ? "full " + (colour[y][x] || "old") : "";
      }
      for (const [x, y] of fresh) if (y < height && board[y] >> x & 1) cells[y][x].className += " new";
      const at = parts[part].step + step - 1;
      const over = step === parts[part].moves.length && part === parts.length - 1; // a game is stored to its end
      status.textContent = `placement ${at} · ${score} rows · ${over ? "game over" : `${SPEEDS[speed]} per second`}`;
      root.classList.toggle("over", over);
      grid.setAttribute("aria-label", `Board after placement ${at}, ${score} rows cleared`);
      choices.forEach((b, i) => b.setAttribute("aria-pressed", String(i === part)));
      root.dataset.step = step;
      root.dataset.score = score;
    }
    function forward() {
      if (step >= parts[part].moves.length) { pause(); return; }
      const fresh = place(parts[part].moves[step]);
      step++;
      const before = score;
      clear();
      draw(score === before ? fresh : []);
    }
    function backward() {
      const to = Math.max(0, step - 1);
      reset();
      while (step < to) { place(parts[part].moves[step]); clear(); step++; }
      draw();
    }
    function pause() {
      clearInterval(timer);
      timer = null;
      play.textContent = "▶ Play";
      play.setAttribute("aria-label", "Play");
      status.setAttribute("aria-live", "polite");
    }
    function run() {
      if (step >= parts[part].moves.length) reset();
      timer = setInterval(forward, 1000 / SPEEDS[speed]);
      play.textContent = "❚❚ Pause";
      play.setAttribute("aria-label", "Pause");
      status.setAttribute("aria-live", "off"); // do not read out every placement
    }
    const toggle = () => timer === null ? run() : pause();
    function change(by) {
      speed = Math.min(SPEEDS.length - 1, Math.max(0, speed + by));
      if (timer !== null) { clearInterval(timer); timer = setInterval(forward, 1000 / SPEEDS[speed]); }
      draw();
    }
    const begin = () => { pause(); reset(); draw(); };
    const stepBack = () => { pause(); backward(); }, stepOn = () => { pause(); forward(); };
    play.addEventListener("click", toggle);
    next.addEventListener("click", stepOn);
    back.addEventListener("click", stepBack);
    start.addEventListener("click", begin);
    slower.addEventListener("click", () => change(-1));
    faster.addEventListener("click", () => change(1));
    const pressed = { " ": toggle, ArrowRight: stepOn, ArrowLeft: stepBack, Home: begin,
                   "+": () => change(1), "-": () => change(-1) };
    root.addEventListener("keydown", event => {
      if (!(event.key in pressed) || (event.key === " " && event.target !== root)) return;
      event.preventDefault();
      event.stopPropagation(); // the theme turns pages with the arrow keys
      pressed[event.key]();
    });
    reset();
    draw();
    return { root, run, pause, get on() { return timer !== null; } };
  }

  // Side by side under one button: playing while any of them plays.
  function together(players) {
    const pair = document.createElement("div"), both = button("Play both", "▶ Play both");
    pair.className = "tetris-pair";
    both.className = "tetris-both";
    both.addEventListener("click", () => {
      const on = players.some(player => player.on);
      players.forEach(player => player.on === on && (on ? player.pause() : player.run()));
    });
    setInterval(() => { // a game may end, or be paused, by itself
      const on = players.some(player => player.on);
      if ((both.textContent === "❚❚ Pause both") === on) return;
      both.textContent = on ? "❚❚ Pause both" : "▶ Play both";
      both.title = on ? "Pause both" : "Play both";
      both.setAttribute("aria-label", both.title);
    }, 100);
    players[0].root.before(pair);
    pair.append(both, ...players.map(player => player.root));
  }

  function all() {
    const players = [...document.querySelectorAll(".tetris:not([data-step])")].map(mount);
    if (players.length > 1) together(players);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
})();
