"""Tetris: placements evaluated a second, a fit from a full buffer, and the share of a run that the
fits take: are they negligible beside the simulator, as the paper says of its own?
"""

import time

import numpy as np

from rlsvi_core.envs.tetris import Tetris, fill_placements
from rlsvi_core.runtime.compilation import jit
from rlsvi_study.tetris.experiments import make_agent

from . import cpu_seconds
from . import plain_tetris as plain


def boards(game: Tetris, count: int) -> np.ndarray:
    """Boards met by a player that avoids holes, with the piece to place as the last entry."""
    found, seed = [], 0
    while len(found) < count:
        game.start(seed)
        while not game.over and len(found) < count:
            found.append([*game.rows, game.piece])
            game.drop(int(game.features[:, -2].argmin()))
        seed += 1
    return np.array(found)


@jit
def evaluate(model, states, X, over, where):
    """Every placement of every state; returns how many there were."""
    total = 0
    for i in range(states.shape[0]):
        total += fill_placements(model, states[i, :-1], states[i, -1], X, over, where)
    return total


def plain_evaluate(game: Tetris, states) -> int:
    total = 0
    for *rows, piece in states.tolist():
        board = {(x, y) for y, row in enumerate(rows) for x in range(game.width) if row >> x & 1}
        total += len(plain.outcomes(board, game.pieces[piece], game.width, game.height, game.rule))
    return total


def filled(game: Tetris, N: int):
    """An agent whose buffer is full."""
    agent, rng = make_agent("lsvi", game, 1, window=N), np.random.default_rng(2)
    while agent.learner.buffer.at[1] < N:
        agent.learn(game, 1, rng)
    return agent


def fits_and_play(game: Tetris, blocks: list[int]) -> list[tuple[int, float, float]]:
    """RLSVI plays so many games after one another: placements, seconds in fits and in play."""
    agent, rng, found = make_agent("rlsvi", game, 1), np.random.default_rng(2), []
    agent.learn(game, 1, rng)  # compile
    fit, fits = agent.learner.fit, 0.0

    def timed(*given):
        nonlocal fits
        start = time.process_time()
        fitted = fit(*given)
        fits += time.process_time() - start
        return fitted

    agent.learner.fit = timed
    for games in blocks:
        fits, start = 0.0, time.process_time()
        placed = int(agent.learn(game, games, rng).length.sum())
        found.append((placed, fits, time.process_time() - start - fits))
    return found


def table(evaluated: int, window: int, games: int) -> None:
    """So many boards to evaluate, a buffer of that size, and games in the first of three blocks."""
    game = Tetris()
    states = boards(game, evaluated)
    few = states[:30]
    buffers = game.placement_buffers()
    evaluate(game.model, states[:1], *buffers)
    fast = evaluate(game.model, states, *buffers) / cpu_seconds(
        lambda: evaluate(game.model, states, *buffers), 5
    )
    slow = plain_evaluate(game, few) / cpu_seconds(lambda: plain_evaluate(game, few), 3)
    print("\nTetris, 20 × 10: placements evaluated a second, features and all")
    print(f"  compiled {fast:.3g}, plain Python {slow:.3g}: {fast / slow:.0f} times")

    agent = filled(game, window)
    X, fit = agent.learner.buffer.X[:-1], cpu_seconds(agent.plan, 5)
    weights = agent.theta[0].astype(np.float32)

    def matmul():
        for i in range(0, len(X), 2000):  # bytes become numbers first, which needs room
            (weights @ X[i : i + 2000].astype(np.float32)).max(axis=1)

    numpy = cpu_seconds(matmul, 3)
    print(
        f"A fit from {len(X)} stored transitions, nearly all of it the pass for A'b: "
        f"{1e3 * fit:.0f} ms; the values alone with numpy over the same bytes {1e3 * numpy:.0f} ms: "
        f"{numpy / fit:.1f} times"
    )
    boards_only = len(X) * (game.width * game.height // 8 + 1)
    print(
        f"The buffer: {X.nbytes / 1e6:.0f} MB of features of every placement; the boards "
        f"and pieces behind them would take {boards_only / 1e6:.1f} MB"
    )

    print("RLSVI's fits against its play, one run, a fit a game:")
    blocks, first = [games, 2 * games, 2 * games], 2
    for number, (placed, fits, play) in zip(
        blocks, fits_and_play(Tetris(rule="clears"), blocks), strict=True
    ):
        last = first + number - 1
        print(
            f"  games {first}–{last}: {placed} placements; fits took {fits / play:.1f} times as long"
        )
        first = last + 1
