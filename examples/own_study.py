"""A study of one's own: RLSVI in RiverSwim (Strehl and Littman 2008), for two strengths of prior.

    rlsvi run examples/own_study.py --jobs 2            # to examples/results; run again to resume
    rlsvi plot examples/own_study.py
    rlsvi verify examples/own_study.py                  # some runs once more, equal to the bit?
    rlsvi run examples/own_study.py --set lam=10 --set seeds=20
"""

import numpy as np
import pandas as pd
import seaborn as sns

from rlsvi_core import FiniteMDP, features, rlsvi
from rlsvi_study.experiment import Experiment, Scale, grid, streams
from rlsvi_study.intervals import student


def river(S: int, H: int) -> FiniteMDP:
    """Left is easy and pays a little; right, against the current, pays much at the far end."""
    P, R = np.zeros((S, 2, S)), np.zeros((S, 2, S))
    for s in range(S):
        left, right = max(s - 1, 0), min(s + 1, S - 1)
        P[s, 0, left] = 1.0
        for to, p in ((left, 0.05), (s, 0.6), (right, 0.35)):
            P[s, 1, to] += p
    R[0, 0, 0], R[-1, 1, -1] = 0.005, 1.0
    return FiniteMDP(np.repeat(P[None], H, 0), np.repeat(R[None], H, 0))


def learning_curve(seed: int, lam: float, S: int, H: int, sigma: float, episodes: int,
                   every: int) -> list[dict]:
    mdp = river(S, H)
    _, env_rng, agent_rng = streams(seed)
    agent = rlsvi(features.tabular(mdp), lam, sigma, rng=agent_rng)
    regret = np.cumsum(mdp.value - agent.learn(mdp, episodes, env_rng, exact=True).expected)
    return [{"episode": n, "regret": regret[n - 1]} for n in range(every, episodes + 1, every)]


def curves(table: pd.DataFrame) -> sns.FacetGrid:
    return sns.relplot(table, x="episode", y="regret", hue="lam", style="lam", kind="line",
                       palette="colorblind", errorbar=student)


EXPERIMENTS = {"river": Experiment(
    "river", "RiverSwim", "Regret of RLSVI for two strengths of prior", learning_curve,
    {"quick": Scale({"S": 6, "H": 12, "sigma": 0.5, "episodes": 500, "every": 25},
                    grid(lam=(0.1, 1.0)), range(5))}, length="episodes")}
DRAW = {"river": curves}
