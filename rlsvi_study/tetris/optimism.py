"""What if LSVI's values start high? No noise, no dithering: only the first targets differ.

RLSVI's first weights are draws from a wide prior, and the maximum over placements turns their
spread into large values, which one fit a game takes hundreds of games to forget. Here greedy LSVI
plays one game, then believes every board to be worth so many rows, and goes on as usual.
"""

from rlsvi_core.agents import stationary
from rlsvi_core.envs.tetris import Tetris

from ..experiment import Experiment, Scale, streams


def optimistic(seed: int, start: float, games: int, every: int, rule: str = "clears"):
    """Mean score of every block of games after the first game."""
    _, env_rng, agent_rng = streams(seed)
    game = Tetris(rule=rule)
    learner = stationary.lsvi(game, rng=agent_rng)
    learner.learn(1, env_rng)
    learner.mean[game.K - 1] = start  # the weight of the constant
    rows = []
    for n in range(every, games + 1, every):
        block = learner.learn(every, env_rng)
        rows.append({"game": n, "score": float(block.score.mean()),
                     "value": round(float(learner.mean[game.K - 1]), 3)})
    return rows


OPTIMISM = Experiment(
    "tetris-optimism", "Section 6.2", "LSVI with high values at the start", optimistic, {
        "quick": Scale({"games": 50, "every": 25}, ({"start": 0.0}, {"start": 300.0}), range(1)),
        "paper": Scale({"games": 400, "every": 25},
                       ({"start": 0.0}, {"start": 300.0}, {"start": 3000.0}), range(10))},
    length="games")
