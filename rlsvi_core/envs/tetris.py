r"""Section 6.2: Tetris, one placement a step.

A state is a board and a piece; an action drops the piece straight down in some orientation and
column; the reward is the number of rows it clears; the next piece is uniform. Boards are rows of
bits, bottom row first: placing a piece is an OR a row, clearing a comparison.

The benchmark features of the board after a placement are its W column heights, the W − 1 absolute
differences of neighbouring heights, the largest height, the holes (empty squares with a full one
above in their column) and a constant: K = 2W + 2, which is 22 for W = 10.

When does a game end? The paper says: when a square in the top row becomes full, and leaves open
whether a piece may stick out and whether rows clear first. With H rows, ``before`` the height of
the piece's top as it lands and ``after`` the height of the stack once full rows are gone, six
rules are offered. With each of them, a state without a legal placement is terminal.

==================  ====================  ====================================================
rule                a placement is legal  and ends the game
==================  ====================  ====================================================
``"top row"``       before ≤ H            if after ≥ H, a full square in the top row (default)
``"touches"``       before ≤ H            if before ≥ H, whether or not rows clear
``"fits"``          before ≤ H            never
``"clears"``        after ≤ H             never
``"overflow"``      always                if after > H
``"overflow top"``  always                if after ≥ H
==================  ====================  ====================================================
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..runtime.checks import as_generator, check_index, check_integer, check_one_of, fail
from ..runtime.compilation import Array, Generator, Ints, Seed, jit

__all__ = ["PIECES", "RULES", "Tetris"]

PIECES = {
    "I": ("####",),
    "J": ("#..", "###"),
    "L": ("..#", "###"),
    "O": ("##", "##"),
    "S": (".##", "##."),
    "T": (".#.", "###"),
    "Z": ("##.", ".##"),
}
MAX_PIECE_SIZE = 4  # no piece is longer
NO_LIMIT = 1 << 20  # a limit that no height reaches


class Rule(NamedTuple):
    """Limits on heights, counted from the top row's upper edge, H."""

    before: int = NO_LIMIT  # a placement is legal if its piece's top is at most this
    after: int = NO_LIMIT  # and the stack, full rows gone, at most this
    touch: int = NO_LIMIT  # it ends the game if its piece's top is at least this
    ends: int = NO_LIMIT  # or if the stack, full rows gone, is at least this


RULES = {
    "top row": Rule(before=0, ends=0),
    "touches": Rule(before=0, touch=0),
    "fits": Rule(before=0),
    "clears": Rule(after=0),
    "overflow": Rule(ends=1),
    "overflow top": Rule(ends=0),
}


class GameArrays(NamedTuple):
    """The arrays a compiled loop needs."""

    width: int
    height: int
    before: int  # the rule's limits, counted from the ground
    after: int
    touch: int
    ends: int
    first: Ints  # (P + 1,) the orientations of piece p are first[p], …, first[p + 1] − 1
    size: Ints  # (O, 2) an orientation's width and height
    row: Ints  # (O, 4) its rows as bits, lowest first
    bottom: Ints  # (O, 4) its lowest square in each column, counted from its lowest row
    top: Ints  # (O, 4) one above its highest square


@jit
def fill_heights_count_holes(width: int, rows: Ints, heights: Ints) -> int:
    """Fill in the column heights; returns the number of holes."""
    covered = 0
    holes = 0
    for c in range(width):
        heights[c] = 0
    for y in range(rows.shape[0] - 1, -1, -1):
        row = rows[y]
        gaps = covered & ~row
        new = row & ~covered
        while gaps:
            gaps &= gaps - 1
            holes += 1
        c = 0
        while new:
            if new & 1:
                heights[c] = y + 1
            new >>= 1
            c += 1
        covered |= row
    return holes


@jit
def place_and_clear(model: GameArrays, rows: Ints, o: int, c: int, y: int) -> int:
    """Put orientation o with its lower left corner at (c, y), clear full rows, count them."""
    for i in range(model.size[o, 1]):
        rows[y + i] |= model.row[o, i] << c
    full = (1 << model.width) - 1
    to = y
    for at in range(y, rows.shape[0]):
        if rows[at] != full:
            rows[to] = rows[at]
            to += 1
    cleared: int = rows.shape[0] - to
    for at in range(to, rows.shape[0]):
        rows[at] = 0
    return cleared


@jit
def fill_placements(
    model: GameArrays, rows: Ints, piece: int, X: Array, over: Array, where: Ints
) -> int:
    """Every legal placement of a piece; returns how many there are.

    Column a of X receives the features of the board after placement a and, last, the rows cleared;
    over[a] whether it ends the game; where[a] its orientation, column and landing row.
    """
    W = model.width
    full = (1 << model.width) - 1
    n = 0
    heights = np.empty(W, np.int64)
    new = np.empty(W, np.int64)
    scratch = np.empty_like(rows)
    holes = fill_heights_count_holes(W, rows, heights)
    for o in range(model.first[piece], model.first[piece + 1]):
        w, h = model.size[o]
        for c in range(W - w + 1):
            y = 0
            for j in range(w):
                y = max(y, heights[c + j] - model.bottom[o, j])
            if y + h > model.before:
                continue
            cleared = 0
            for i in range(h):
                cleared += (rows[y + i] | model.row[o, i] << c) == full
            for j in range(W):
                new[j] = heights[j]
            new_holes = holes
            if cleared:
                scratch[:] = rows
                place_and_clear(model, scratch, o, c, y)
                new_holes = fill_heights_count_holes(W, scratch, new)
            else:
                for j in range(w):
                    new_holes += y + model.bottom[o, j] - heights[c + j]
                    new[c + j] = y + model.top[o, j]
            highest = new[0]
            for j in range(1, W):
                highest = max(highest, new[j])
                X[W + j - 1, n] = abs(new[j] - new[j - 1])
            if highest > model.after:
                continue
            for j in range(W):
                X[j, n] = new[j]
            X[2 * W - 1, n] = highest
            X[2 * W, n] = new_holes
            X[2 * W + 1, n] = 1
            X[2 * W + 2, n] = cleared
            over[n] = y + h >= model.touch or highest >= model.ends
            where[n] = (o, c, y)
            n += 1
    return n


@jit
def draw_piece(model: GameArrays, rng: Generator) -> int:
    """A piece, all alike. Uses one uniform."""
    return int(rng.random() * (model.first.shape[0] - 1))


def _build_arrays(width: int, height: int, pieces: str, rule: str) -> GameArrays:
    grids: list[Array] = []  # the different quarter turns of each piece, lowest row first
    first = [0]
    for piece in pieces:
        grid = np.array([[square == "#" for square in row] for row in PIECES[piece]])[::-1]
        for turn in (np.rot90(grid, k) for k in range(4)):
            if not any(np.array_equal(turn, other) for other in grids[first[-1] :]):
                grids.append(turn)
        first.append(len(grids))
    row, bottom, top = (np.zeros((len(grids), MAX_PIECE_SIZE), np.int64) for _ in range(3))
    for o, grid in enumerate(grids):
        h, w = grid.shape
        row[o, :h] = grid @ (1 << np.arange(w))
        bottom[o, :w] = grid.argmax(axis=0)
        top[o, :w] = h - grid[::-1].argmax(axis=0)
    limits = RULES[rule]
    return GameArrays(
        width,
        height,
        before=height + limits.before,
        after=height + limits.after,
        touch=height + limits.touch,
        ends=height + limits.ends,
        first=np.array(first),
        size=np.array([grid.shape[::-1] for grid in grids]),
        row=row,
        bottom=bottom,
        top=top,
    )


class Tetris:
    """A game of any width and height with any of the seven pieces, and its features.

    A state is a ``table``: a row for each of the n legal placements of the ``piece``, holding the K
    ``features`` of the board after it and the rows cleared. Beside it stand ``endings``, whether
    each placement ends the game at once, and ``spots``, its orientation, column and landing row.

    Parameters
    ----------
    width, height : int
        Size of the board.
    pieces : str
        Letters of ``PIECES``; all are drawn equally often.
    rule : str
        One of ``RULES``, when the game ends.

    Examples
    --------
    >>> game = Tetris(10, 20)
    >>> state = game.start(rng=1)
    >>> while not game.over:
    ...     reward = game.drop(game.features[:, -2].argmin())   # fewest holes: column K − 2
    >>> game, game.score
    (Tetris(10, 20, 'IJLOSTZ', 'top row'), 4)
    """

    def __init__(
        self, width: int = 10, height: int = 20, pieces: str = "IJLOSTZ", rule: str = "top row"
    ) -> None:
        if not (
            isinstance(pieces, str)
            and pieces
            and sorted(pieces) == sorted(PIECES.keys() & set(pieces))
        ):
            fail(f"pieces are one or more of {''.join(PIECES)}, each once; they are {pieces!r}.")
        check_one_of("rule", rule, RULES, hint="The module's docstring says what each means.")
        width = check_integer("width", width, hint="The usual width is 10.")
        height = check_integer("height", height, MAX_PIECE_SIZE, 10_000)
        self.model = _build_arrays(width, height, pieces, rule)
        needed = int(self.model.size.max())
        if not needed <= width <= 62:
            fail(f"with pieces {pieces} the width is from {needed} to 62; it is {width}.")
        self.width = width
        self.height = height
        self.pieces = pieces
        self.rule = rule
        self.K = 2 * width + 2
        self.most = max(
            int((width + 1 - self.model.size[a:b, 0]).sum()) for a, b in pairwise(self.model.first)
        )
        # Holes are the one feature that may not fit a byte, and only on boards above 255 squares.
        self.dtype = np.uint8 if width * (height + MAX_PIECE_SIZE) < 256 else np.uint16
        self.rows = np.zeros(height + MAX_PIECE_SIZE, np.int64)
        self._buffers = self.placement_buffers()
        self.over = True  # no game under way

    def __repr__(self) -> str:
        return f"Tetris({self.width}, {self.height}, {self.pieces!r}, {self.rule!r})"

    def placement_buffers(self) -> tuple[Array, Array, Array]:
        """Room for what ``fill_placements`` reports: X, over, where."""
        return (
            np.zeros((self.K + 1, self.most), self.dtype),
            np.zeros(self.most, np.bool_),
            np.zeros((self.most, 3), np.int64),
        )

    def start(self, rng: Seed = None) -> Array:
        """A new game; the generator deals the pieces. Returns the first state's table."""
        self.rng = as_generator(rng)
        self.score = 0
        self.over = False
        self.rows[:] = 0
        self._deal_piece()
        return self.table

    def _deal_piece(self) -> None:
        self.piece = draw_piece(self.model, self.rng)
        X, over, where = self._buffers
        self.n = fill_placements(self.model, self.rows, self.piece, X, over, where)
        self.table = X[:, : self.n].T.copy()
        self.endings = over[: self.n].copy()
        self.features = self.table[:, :-1]
        self.spots = where[: self.n].copy()
        self.over = self.n == 0

    def step(self, h: int, s: Array, a: int, rng: Generator) -> tuple[int, Array, bool]:
        """Play placement a in the game under way, which alone counts, not s: the rows cleared, the
        next state's table, and whether it is over."""
        return self.drop(a), self.table, self.over

    def drop(self, a: int) -> int:
        """Play placement a; returns the rows cleared."""
        if self.over:
            fail(
                f"a placement is one of a game under way; it is {a!r}. start() begins a game.",
                IndexError,
            )
        a = check_index("a placement", a, self.n)
        reward = place_and_clear(self.model, self.rows, *self.spots[a])
        self.score += reward
        self.over = bool(self.endings[a])
        if not self.over:
            self._deal_piece()
        return reward

    def board_text(self) -> str:
        """The board as text, a column a character."""
        return "\n".join(
            "".join(".#"[row >> c & 1] for c in range(self.width))
            for row in self.rows[self.height - 1 :: -1].tolist()
        )
