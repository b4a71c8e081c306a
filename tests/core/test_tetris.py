"""The compiled game against a plain one: same placements, boards, features, rewards and endings."""

import numpy as np
import pytest

from benchmarks import plain_tetris as plain
from rlsvi_core.envs.tetris import RULES, Tetris, fill_placements, place_and_clear

BOARDS = {
    (10, 20, "IJLOSTZ"): 25,
    (10, 4, "SZ"): 100,
    (4, 5, "IT"): 100,
    (3, 8, "SZTLJO"): 60,
}


def squares(rows, width):
    return {(x, y) for y, row in enumerate(rows.tolist()) for x in range(width) if row >> x & 1}


def placed(game, spot):
    """The squares of a piece in a place."""
    o, c, y = spot
    shape = game.model.row[o, : game.model.size[o, 1]] << c
    return frozenset((x, y + i) for x, i in squares(shape, game.width))


def compiled_outcomes(game, rows, piece):
    """The same table as ``plain.outcomes``, from the compiled form."""
    X, over, where = game.placement_buffers()
    n = fill_placements(game.model, rows, game.pieces.index(piece), X, over, where)
    found = {}
    for a in range(n):
        after = rows.copy()
        cleared = place_and_clear(game.model, after, *where[a])
        assert cleared == X[-1, a]
        squares_after = squares(after, game.width)
        found[placed(game, where[a])] = squares_after, X[:-1, a].tolist(), cleared, bool(over[a])
    assert len(found) == n
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
def test_games_go_on_and_end_as_in_the_plain_form(rule):
    width, height, pieces = 5, 6, "SIT"
    game, rng = Tetris(width, height, pieces, rule), np.random.default_rng(5)
    for seed in range(1, 6):
        game.start(seed)
        board, score = set(), 0
        while not game.over:
            table = plain.outcomes(board, pieces[game.piece], width, height, rule)
            a = rng.integers(game.n)
            board, features, cleared, ends = table[placed(game, game.spots[a])]
            assert (game.features[a].tolist(), game.endings[a]) == (features, ends)
            assert game.drop(a) == cleared
            score += cleared
            assert squares(game.rows, width) == board
            after = plain.outcomes(board, pieces[game.piece], width, height, rule)
            assert game.over == (ends or not after)
        assert game.score == score


def test_the_benchmark_has_22_features_and_they_fit_a_byte():
    game = Tetris()
    assert game.K == 22
    assert game.dtype == np.uint8
    game.start(3)
    assert (game.features[:, -1] == 1).all()
    assert not game.table[:, -1].any()


def test_the_rules_part_where_the_stack_reaches_the_top():
    """An upright I on a flat stack of three rows, board of seven and of six."""
    for height, legal, ends in (
        (7, dict.fromkeys(RULES, True), {"top row", "touches", "overflow top"}),
        (6, {"overflow": True, "overflow top": True}, {"overflow", "overflow top"}),
    ):
        for rule in RULES:
            game = Tetris(5, height, "I", rule)
            X, over, where = game.placement_buffers()
            rows = np.zeros(height + 4, np.int64)
            rows[:3] = 0b01111
            n = fill_placements(game.model, rows, 0, X, over, where)
            upright = [
                a for a in range(n) if game.model.size[where[a, 0], 0] == 1 and where[a, 1] == 0
            ]
            assert bool(upright) == legal.get(rule, False)
            assert [bool(over[a]) for a in upright] == [rule in ends] * len(upright)


def test_pieces_are_dealt_uniformly():
    # 7000 deals: 6 standard deviations of a count around 1000 are 176; below one in a million.
    game, rng = Tetris(), np.random.default_rng(0)
    counts = np.zeros(7)
    for _ in range(7000):
        game.start(rng)
        counts[game.piece] += 1
    assert np.abs(counts - 1000).max() < 176


def test_a_placement_outside_the_list_is_refused():
    game = Tetris()
    with pytest.raises(IndexError, match="game"):
        game.drop(0)
    game.start(0)
    with pytest.raises(IndexError, match="placement"):
        game.drop(game.n)
