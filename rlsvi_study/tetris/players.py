"""Published Tetris players on our simulator, to check that it is the game that others used.

Their value of a placement is a weighted sum of features of the board after it (Dellacherie's six,
and three of Thiery and Scherrer):

1. landing height: the middle of the piece as it lands;
2. eroded piece cells: rows cleared times squares of the piece that went with them;
3. row transitions: changes between full and empty along the rows, walls full;
4. column transitions: the same along the columns, floor full, above the board empty;
5. holes: empty squares with a full one above;
6. cumulative wells: under an empty square between two full ones, 1 + 2 + … + n for the n empty
   squares from it down to the next full one;
7. hole depth: full squares in a row directly above a hole;
8. rows with holes;
9. pattern diversity: how many of the steps −2, …, 2 between neighbouring heights occur.

Their game ends when the stack passes the top and clears nothing then, and their players avoid that
while they can, which is our rule ``"fits"``. The players are the cross-entropy controller of Thiery
and Scherrer (2009), called DU, and the two of Gabillon, Ghavamzadeh and Scherrer (2013), trained on
10 and on 20 rows.
"""

import numpy as np

from rlsvi_core.compiled import Array, Floats, Generator, Ints, jit
from rlsvi_core.envs.tetris import Model, Tetris, draw_piece, measure, place, placements

from ..engine import Experiment, Rows, Scale, streams

PLAYERS = {
    "DT-10": (-2.18, 2.42, -2.17, -3.31, 0.95, -2.22, -0.81, -9.65, 1.27),
    "DT-20": (-2.68, 1.38, -2.41, -6.32, 2.03, -2.71, -0.43, -9.48, 0.89),
    "DU": (-12.63, 6.60, -9.22, -19.77, -13.08, -10.49, -1.61, -24.04, 0.0),
}


@jit
def _count(bits: int) -> int:
    """How many bits are set."""
    total = 0
    while bits:
        bits &= bits - 1
        total += 1
    return total


@jit
def features(W: int, H: int, rows: Ints, heights: Ints, f: Floats) -> None:
    """Fill in features 3 to 9 of a board; the first two belong to the placement."""
    full, walls = (1 << W) - 1, 1 | 1 << (W + 1)
    f[4] = measure(W, rows, heights)
    for k in (2, 3, 5, 6, 7, 8):
        f[k] = 0.0
    below, covered, lids = full, 0, 0
    for y in range(H):
        framed = rows[y] << 1 | walls
        f[2] += _count((framed ^ framed >> 1) & (2 * full + 1))
        f[3] += _count(rows[y] ^ below)
        lids = rows[y] & (~below | lids)
        f[6] += _count(lids)
        below = rows[y]
    f[3] += _count(below)  # from a full square in the top row to the air
    depth = np.zeros(W, np.int64)  # of the well that each column is in
    for y in range(H - 1, -1, -1):
        f[7] += (covered & ~rows[y]) != 0
        covered |= rows[y]
        framed = rows[y] << 1 | walls
        for c in range(W):
            between = framed >> c & 5 == 5
            depth[c] = 0 if rows[y] >> c & 1 else depth[c] + 1 if between or depth[c] else 0
            f[5] += depth[c]
    seen = 0
    for c in range(W - 1):
        step = heights[c + 1] - heights[c]
        if -2 <= step <= 2:
            seen |= 1 << (step + 2)
    f[8] = _count(seen)


@jit
def _score(
    model: Model, weights: Floats, X: Array, over: Array, where: Array, rng: Generator
) -> int:
    """The rows a player clears in one game."""
    W, H = model.width, model.height
    rows, heights, f = np.zeros(H + 4, np.int64), np.zeros(W, np.int64), np.zeros(9)
    after, score = np.zeros_like(rows), 0
    while True:
        n = placements(model, rows, draw_piece(model, rng), X, over, where)
        if n == 0:
            return score
        top, best = -np.inf, 0
        for a in range(n):
            o, c, y = where[a, 0], where[a, 1], where[a, 2]
            eroded = 0
            for i in range(model.size[o, 1]):
                if rows[y + i] | model.row[o, i] << c == (1 << W) - 1:
                    eroded += _count(model.row[o, i])
            after[:] = rows
            cleared = place(model, after, o, c, y)
            features(W, H, after, heights, f)
            f[0], f[1] = y + model.size[o, 1] / 2, cleared * eroded
            value = 0.0
            for k in range(9):
                value += weights[k] * f[k]
            if value > top:
                top, best = value, a
        score += place(model, rows, where[best, 0], where[best, 1], where[best, 2])


def scores(seed: int, player: str, rule: str, height: int, games: int) -> Rows:
    """The scores of some games, one row each."""
    _, rng, _ = streams(seed)
    game, weights = Tetris(10, height, rule=rule), np.array(PLAYERS[player])
    return [
        {"game": i + 1, "score": int(_score(game.model, weights, *game.buffers(), rng))}
        for i in range(games)
    ]


_CELLS = tuple(
    {"player": player, "rule": rule} for rule in ("fits", "clears") for player in PLAYERS
)

KNOWN = Experiment(
    "tetris-known",
    "Section 6.2",
    "Published players on a board of ten rows",
    scores,
    {
        "quick": Scale({"height": 10, "games": 5}, _CELLS[:1], range(1)),
        "paper": Scale({"height": 10, "games": 100}, _CELLS, range(5)),
    },
    length="games",
)
