// Tetris by rlsvi_core/envs/tetris.py: boards are rows of bits, bottom row first, and a placement is
// judged by the 22 features of the board after it. Weights are whole numbers (of ten-thousandths), so
// that a value is exact and two placements are equal here if they are equal there.
globalThis.Tetris = (() => {
  "use strict";
  const SIDE = 4, ANY = 1 << 20, range = n => Array.from({ length: n }, (_, i) => i);
  const PIECES = { I: ["####"], J: ["#..", "###"], L: ["..#", "###"], O: ["##", "##"],
                   S: [".##", "##."], T: [".#.", "###"], Z: ["##.", ".##"] };
  // A placement is legal if the piece's top and then, full rows gone, the stack are at most so far
  // above the board, and ends the game if the one or the other is at least so far.
  const RULES = { "top row": [0, ANY, ANY, 0], touches: [0, ANY, 0, ANY], fits: [0, ANY, ANY, ANY],
                  clears: [ANY, 0, ANY, ANY], overflow: [ANY, ANY, ANY, 1], "overflow top": [ANY, ANY, ANY, 0] };

  // The different quarter turns of a piece, lowest row first; numpy's rot90, so that they come in its order.
  function orientations(drawn) {
    let grid = [...drawn].reverse().map(row => [...row].map(square => square === "#"));
    const turns = [], seen = new Set();
    for (let k = 0; k < 4; k++) {
      const picture = grid.map(row => row.join()).join(";");
      if (!seen.has(picture)) {
        seen.add(picture);
        turns.push({ width: grid[0].length, height: grid.length,
                     row: grid.map(row => row.reduce((bits, full, x) => bits | full << x, 0)),
                     bottom: grid[0].map((_, x) => grid.findIndex(row => row[x])) });
      }
      grid = range(grid[0].length).map(i => grid.map(row => row[grid[0].length - 1 - i]));
    }
    return turns;
  }
  const TURNS = Object.values(PIECES).map(orientations), NAMES = Object.keys(PIECES);

  const heightsOf = (W, rows) => range(W).map(c => rows.findLastIndex(row => row >> c & 1) + 1);

  // rows with orientation o at (c, y), full rows gone; and which were full.
  function place(W, rows, o, c, y) {
    const after = rows.map((row, i) => row | (o.row[i - y] ?? 0) << c), full = (1 << W) - 1;
    const gone = range(rows.length).filter(i => after[i] === full);
    return { after: [...after.filter(row => row !== full), ...gone.map(() => 0)], gone };
  }

  function features(W, rows) {
    const heights = heightsOf(W, rows);
    const holes = heights.reduce((sum, height, c) =>
      sum + range(height).filter(y => !(rows[y] >> c & 1)).length, 0);
    return [...heights, ...heights.slice(1).map((height, c) => Math.abs(height - heights[c])),
            Math.max(...heights), holes, 1];
  }

  class Game {
    constructor(rule, width = 10, height = 20) {
      [this.before, this.after, this.touch, this.ends] = RULES[rule].map(limit => height + limit);
      Object.assign(this, { width, height, rows: Array(height + SIDE).fill(0), score: 0, placed: 0, over: false });
    }

    // Where orientation o of a piece comes to rest in column c, and what that does; null if the rule forbids it.
    spot(piece, o, c) {
      const turn = TURNS[piece][o], heights = heightsOf(this.width, this.rows);
      const y = Math.max(0, ...turn.bottom.map((bottom, j) => heights[c + j] - bottom));
      if (y + turn.height > this.before) return null;
      const { after, gone } = place(this.width, this.rows, turn, c, y);
      const highest = Math.max(...heightsOf(this.width, after));
      if (highest > this.after) return null;
      return { o, c, y, after, gone, over: y + turn.height >= this.touch || highest >= this.ends };
    }

    // Every legal placement of a piece, in Python's order.
    spots(piece) {
      return TURNS[piece].flatMap((turn, o) => range(this.width - turn.width + 1).map(c => this.spot(piece, o, c)))
        .filter(spot => spot);
    }

    drop(piece, { o, c, y, after, gone, over }) {
      const turn = TURNS[piece][o];
      this.last = { piece, squares: range(turn.height).flatMap(i => range(turn.width)
        .filter(x => turn.row[i] >> x & 1).map(x => [c + x, y + i])), gone };
      this.rows = after;
      this.score += gone.length;
      this.placed++;
      this.over = over;
    }

    // Greedy for 22 weights and the rows cleared; the first of equals. Without a legal placement it is over.
    play(piece, weights) {
      const spots = this.spots(piece), value = spot => [...features(this.width, spot.after), spot.gone.length]
        .reduce((sum, feature, k) => sum + weights[k] * feature, 0);
      if (!spots.length) { this.over = true; return null; }
      const values = spots.map(value), best = spots[values.indexOf(Math.max(...values))];
      this.drop(piece, best);
      return best;
    }
  }
  return { Game, NAMES, RULES, TURNS, features };
})();
