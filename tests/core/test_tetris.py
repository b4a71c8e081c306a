"""The compiled game against a plain one: same placements, boards, features, rewards and endings."""

import itertools

import numpy as np
import pytest

from benchmarks import plain_tetris as plain
from rlsvi_core.envs.tetris import PIECES, RULES, Tetris, place, placements

BOARDS = {
    (10, 20, "IJLOSTZ"): 25,
    (10, 4, "SZ"): 100,
    (6, 9, "IJLOSTZ"): 60,
    (4, 5, "IT"): 100,
    (3, 8, "SZTLJO"): 60,
    (12, 21, "IJLOSTZ"): 6,
}


def squares(rows, width):
    return {(x, y) for y, row in enumerate(rows.tolist()) for x in range(width) if row >> x & 1}


def compiled_outcomes(game, rows, piece):
    """The same table as ``plain.outcomes``, from the compiled form."""
    X, over, where = game.buffers()
    n = placements(game.model, rows, game.pieces.index(piece), X, over, where)
    found = {}
    for a in range(n):
        alone, after = np.zeros_like(rows), rows.copy()
        o, c, y = where[a]
        for i in range(game.model.size[o, 1]):
            alone[y + i] = game.model.row[o, i] << c
        cleared = place(game.model, after, o, c, y)
        assert cleared == X[-1, a]
        key = frozenset(squares(alone, game.width))
        assert key not in found
        found[key] = squares(after, game.width), X[:-1, a].tolist(), cleared, bool(over[a])
    return found


def random_rows(rng, game):
    """Boards of every kind: dense ones that clear several rows, ragged ones, nearly full ones."""
    rows = np.zeros(game.height + 4, np.int64)
    limit = game.height - (game.rule in ("top row", "touches", "overflow top"))
    density = rng.choice([0.3, 0.7, 0.95])
    for y in range(rng.integers(0, limit + 1)):
        filled = rng.random(game.width) < density
        filled[rng.integers(game.width)] = False  # no row is full
        filled[0] |= not filled.any()
        rows[y] = filled @ (1 << np.arange(game.width))
    return rows


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("width", "height", "pieces"), BOARDS)
def test_every_placement_on_random_boards_agrees_with_the_plain_form(width, height, pieces, rule):
    game = Tetris(width, height, pieces, rule)
    rng = np.random.default_rng([width, height, len(rule)])
    for _ in range(BOARDS[width, height, pieces]):
        rows = random_rows(rng, game)
        board = squares(rows, width)
        for piece in pieces:
            assert compiled_outcomes(game, rows, piece) == plain.outcomes(
                board, piece, width, height, rule
            )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("width", "height", "pieces"), [(10, 4, "SZ"), (10, 20, "IJLOSTZ")])
def test_whole_games_agree_with_the_plain_form(width, height, pieces, rule):
    game, chooser = Tetris(width, height, pieces, rule), np.random.default_rng(5)
    for seed in range(4):
        game.start(seed)
        board, score = set(), 0
        while not game.over:
            table = plain.outcomes(board, pieces[game.piece], width, height, rule)
            assert game.n == len(table)
            a = chooser.integers(game.n)
            key = frozenset(
                squares(
                    np.array(
                        [
                            sum(
                                int(game.model.row[o, y - low]) << int(c)
                                for o, c, low in [game.spots[a]]
                                if 0 <= y - low < game.model.size[o, 1]
                            )
                            for y in range(height + 4)
                        ]
                    ),
                    width,
                )
            )
            board, features, cleared, ends = table[key]
            assert game.features[a].tolist() == features
            assert game.endings[a] == ends
            assert game.drop(a) == cleared == table[key][2]
            score += cleared
            assert squares(game.rows, width) == board
            assert game.over == (
                ends or not plain.outcomes(board, pieces[game.piece], width, height, rule)
            )
        assert game.score == score


@pytest.mark.parametrize(
    ("piece", "count"), [("O", 9), ("I", 17), ("S", 17), ("Z", 17), ("L", 34), ("J", 34), ("T", 34)]
)
def test_placements_on_an_empty_board_of_width_ten(piece, count):
    game = Tetris(10, 20, piece)
    game.start(0)
    assert game.n == game.A == count


def test_the_benchmark_has_22_features_and_they_fit_a_byte():
    game = Tetris()
    assert game.K == 22
    assert game.dtype == np.uint8
    game.start(3)
    assert (game.features[:, -1] == 1).all()
    assert not game.table[:, -1].any()


def test_clearing_four_rows_at_once():
    game = Tetris(4, 8, "I")
    game.start(0)
    upright = game.spots[:, 0] != game.spots[0, 0]
    for column in range(4):
        (a,) = np.flatnonzero(upright & (game.spots[:, 1] == column))
        assert game.drop(a) == (4 if column == 3 else 0)
        upright = game.spots[:, 0] != game.spots[0, 0]
    assert game.score == 4
    assert game.board() == "\n".join(["...."] * 8)


def test_the_rules_part_where_the_stack_reaches_the_top():
    """An upright I on a flat stack of three rows, board of seven and of six."""
    for height, legal, ends in (
        (7, dict.fromkeys(RULES, True), {"top row", "touches", "overflow top"}),
        (6, {"overflow": True, "overflow top": True}, {"overflow", "overflow top"}),
    ):
        for rule in RULES:
            game = Tetris(5, height, "I", rule)
            X, over, where = game.buffers()
            rows = np.zeros(height + 4, np.int64)
            rows[:3] = 0b01111
            n = placements(game.model, rows, 0, X, over, where)
            upright = [
                a for a in range(n) if game.model.size[where[a, 0], 0] == 1 and where[a, 1] == 0
            ]
            assert bool(upright) == legal.get(rule, False)
            assert [bool(over[a]) for a in upright] == [rule in ends] * len(upright)


def test_a_piece_may_stick_out_under_the_rule_that_clears_first():
    """The only way on: an upright I that lands on row 2 of 4 and completes rows 2 and 3."""
    for rule, count in (("clears", 1), ("fits", 0)):
        game = Tetris(5, 4, "I", rule)
        X, over, where = game.buffers()
        rows = np.array([0b11110, 0b11110, 0b01111, 0b01111, 0, 0, 0, 0])
        assert placements(game.model, rows, 0, X, over, where) == count
        if count:
            assert (where[0, 1], where[0, 2], X[-1, 0], X[2 * 5 - 1, 0]) == (4, 2, 2, 4)


def test_a_piece_that_touches_the_top_row_may_clear_its_way_out_of_it():
    """An upright I that reaches the top row, the fourth, and completes the lower two."""
    for rule, ends in (("top row", False), ("touches", True)):
        game = Tetris(5, 4, "I", rule)
        X, over, where = game.buffers()
        rows = np.array([0b01111, 0b01111, 0, 0, 0, 0, 0, 0])
        n = placements(game.model, rows, 0, X, over, where)
        (a,) = (a for a in range(n) if where[a, 1] == 4)
        assert (X[-1, a], X[2 * 5 - 1, a], bool(over[a])) == (2, 2, ends)


def test_the_same_seed_deals_the_same_game():
    def scores(seed):
        game = Tetris(10, 20)
        game.start(seed)
        while not game.over:
            game.drop(int(game.features[:, -2].argmin()))
        return game.score, game.rows.tolist()

    assert scores(7) == scores(7)
    assert scores(7) != scores(8)


def test_pieces_are_dealt_uniformly():
    # 7000 deals: 6 standard deviations of a count around 1000 are 176; below one in a million.
    game, rng = Tetris(), np.random.default_rng(0)
    counts = np.zeros(7)
    for _ in range(7000):
        game.start(rng)
        counts[game.piece] += 1
    assert np.abs(counts - 1000).max() < 176


@pytest.mark.parametrize(
    ("arguments", "keyword"),
    [
        ({"width": 3}, "width"),
        ({"width": 2, "pieces": "SZ"}, "width"),
        ({"width": 63}, "width"),
        ({"height": 3}, "height"),
        ({"height": 19.5}, "height"),
        ({"pieces": "SX"}, "pieces"),
        ({"pieces": ""}, "pieces"),
        ({"pieces": "SS"}, "pieces"),
        ({"rule": "gravity"}, "rule"),
    ],
)
def test_impossible_games_are_refused(arguments, keyword):
    with pytest.raises(ValueError, match=keyword):
        Tetris(**arguments)


def test_a_placement_outside_the_list_is_refused():
    game = Tetris()
    with pytest.raises(IndexError, match="game"):
        game.drop(0)
    game.start(0)
    with pytest.raises(IndexError, match="placement"):
        game.drop(game.n)


def test_every_piece_has_four_squares_and_the_orientations_of_the_plain_form():
    for piece in PIECES:
        model = Tetris(10, 20, piece).model
        shapes = set()
        for o, (_, h) in enumerate(model.size):
            shapes.add(
                frozenset(
                    (x, y)
                    for y, x in itertools.product(range(h), range(4))
                    if model.row[o, y] >> x & 1
                )
            )
        assert shapes == set(plain.turns(piece))
        assert all(len(shape) == 4 for shape in shapes)
