"""A study of one's own: RLSVI in RiverSwim for two strengths of prior.

rlsvi run examples/own_study.py --jobs 2            # to examples/results; run again to resume
rlsvi plot examples/own_study.py
rlsvi verify examples/own_study.py                  # some runs once more, equal to the bit?
"""

import numpy as np

from rlsvi_core import features, rlsvi
from rlsvi_core.envs import river_swim
from rlsvi_study.engine import Plot, define_experiment, grid, streams


def learning_curve(
    seed: int, lam: float, N: int, H: int, sigma: float, episodes: int, every: int
) -> list[dict]:
    mdp = river_swim(N, H)
    _, env_rng, agent_rng = streams(seed)
    agent = rlsvi(features.tabular(mdp), lam, sigma, rng=agent_rng)
    regret = np.cumsum(mdp.optimal_value - agent.learn(mdp, episodes, env_rng, exact=True).expected)
    return [{"episode": n, "regret": regret[n - 1]} for n in range(every, episodes + 1, every)]


EXPERIMENTS = {
    "river": define_experiment(
        "river",
        place="RiverSwim",
        title="Regret of RLSVI for two strengths of prior",
        run=learning_curve,
        constants={"N": 6, "H": 12, "sigma": 0.5, "episodes": 500, "every": 25},
        cells=grid(lam=(0.1, 1.0)),
        seeds=range(5),
        length="episodes",
        plot=Plot(x="episode", y="regret", lines=("lam",), show="mean"),
    )
}
