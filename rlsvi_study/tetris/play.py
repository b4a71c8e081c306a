"""The runs behind the Tetris figures; ``tetris`` has their settings and summaries.

An agent plays so many games, and a row is written every block of games with the mean score: single
scores are heavy-tailed (the spread of a policy's scores is about their mean). ``watch`` records one
game of a learned policy, to be played back on the page.
"""

from typing import NamedTuple

import numpy as np

from rlsvi_core.agents import stationary
from rlsvi_core.agents.stationary import values
from rlsvi_core.envs.tetris import Tetris, draw_piece, place, placements

from ..experiment import streams

SCHEDULES: dict[str, dict[str, float]] = {
    "greedy": {}, "ε = 0.001": {"epsilon": 0.001}, "ε = 0.01": {"epsilon": 0.01},
    "ε = 0.1": {"epsilon": 0.1},
    "ε = 0.1, halved every 10 games": {"epsilon": 0.1, "half_life": 10.0},
    "ε = 0.1, halved every 50 games": {"epsilon": 0.1, "half_life": 50.0},
    "ε = 1, halved every 10 games": {"epsilon": 1.0, "half_life": 10.0},
    "ε = 1, halved every 50 games": {"epsilon": 1.0, "half_life": 50.0},
    "Boltzmann, η = 0.1": {"eta": 0.1}, "Boltzmann, η = 1": {"eta": 1.0}}


def learning_curve(seed: int, agent: str, games: int, every: int, rule: str = "clears",
                   reading: str = "value", schedule: str = "greedy", targets: str = "sample",
                   sweeps: int = 1, variance: str = "known", lam: float = 1.0, sigma: float = 1.0,
                   width: int = 10, height: int = 20, pieces: str = "IJLOSTZ",
                   weights: bool = False):
    """Mean score and length of every block of games; with the mean weights after it, if asked.

    LSVI has only the mean, so targets, variance and sigma are RLSVI's, the schedule is LSVI's.
    """
    _, env_rng, agent_rng = streams(seed)
    game = Tetris(width, height, pieces, rule)
    match agent:
        case "rlsvi":
            learner = stationary.rlsvi(game, lam, sigma, reading=reading, targets=targets,
                                       sweeps=sweeps, variance=variance, rng=agent_rng)
        case "lsvi":
            learner = stationary.lsvi(game, lam, reading=reading, sweeps=sweeps, rng=agent_rng,
                                      **SCHEDULES[schedule])
        case _:
            raise ValueError(f"agent must be 'rlsvi' or 'lsvi'; it is {agent!r}.")
    rows = []
    for n in range(every, games + 1, every):
        block = learner.learn(every, env_rng)
        row = {"game": n, "score": float(block.score.mean()),
               "length": float(block.length.mean()), "best": int(block.score.max())}
        if weights:
            row |= {f"w{k + 1}": round(float(w), 4) for k, w in enumerate(learner.mean)}
        rows.append(row)
    return rows


# --------------------------------------------------------------------------- games to watch

class Placement(NamedTuple):
    piece: str
    orientation: int  # counted within the piece
    column: int
    cleared: int


def play(game: Tetris, theta, rng) -> tuple[list[Placement], list[list[int]]]:
    """A game of the greedy policy with K + 1 weights: the placements, and the board before each."""
    rng, model, rows = np.random.default_rng(rng), game.model, np.zeros_like(game.rows)
    (X, over, where), q = game.buffers(), np.empty(game.A)
    moves: list[Placement] = []
    boards: list[list[int]] = []
    ended = False
    while not ended:
        piece = draw_piece(model, rng)
        n = placements(model, rows, piece, X, over, where)
        if n == 0:
            break
        values(X, n, theta, q)
        a = int(q[:n].argmax())
        o, c, y = where[a].tolist()
        boards.append(rows[:game.height].tolist())
        cleared = int(place(model, rows, o, c, y))
        moves.append(Placement(game.pieces[piece], o - int(model.first[piece]), c, cleared))
        ended = bool(over[a])
    return moves, boards


def watch(seed: int, policy: str, early: int, late: int, keep: int):
    """A game of RLSVI's mean weights after a few games and after many; its first and last part."""
    _, env_rng, agent_rng = streams(seed)
    game = Tetris(rule="clears")
    learner = stationary.rlsvi(game, rng=agent_rng)
    learner.learn(early if policy == "early" else late, env_rng)
    moves, boards = play(game, learner.mean, env_rng)
    score = np.cumsum([0, *(move.cleared for move in moves)])
    starts = {"first": 0, "last": max(len(moves) - keep, min(keep, len(moves)))}
    rows = []
    for part, start in starts.items():
        for i in range(start, min(start + keep, len(moves))):
            board = " ".join(f"{row:x}" for row in boards[i]) if i == start else ""
            rows.append({"part": part, "step": i + 1, "score": int(score[i + 1]),
                         **moves[i]._asdict(), "board": board or None})
    return rows
