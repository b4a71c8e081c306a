"""What is the buffer worth? RLSVI that remembers fewer transitions than the paper's 10^5.

The authors put the gain over LSPI, which learns from the latest games only, down to the bank of
past transitions. A good game alone has some ten thousand.
"""

from rlsvi_core.agents import stationary
from rlsvi_core.envs.tetris import Tetris

from ..experiment import Experiment, Scale, streams


def remembering(seed: int, N: int, games: int, every: int, rule: str = "clears"):
    """Mean score of every block of games of RLSVI with a buffer of N transitions."""
    _, env_rng, agent_rng = streams(seed)
    learner = stationary.rlsvi(Tetris(rule=rule), N=N, rng=agent_rng)
    return [{"game": n, "score": float(learner.learn(every, env_rng).score.mean())}
            for n in range(every, games + 1, every)]


BUFFER = Experiment(
    "tetris-buffer", "Section 6.2", "RLSVI with a smaller buffer", remembering, {
        "quick": Scale({"games": 50, "every": 25}, ({"N": 1000},), range(1)),
        "paper": Scale({"games": 1000, "every": 50}, ({"N": 1000}, {"N": 10_000}), range(6))},
    length="games")
