r"""Bandits of fifty arms with ten linear features: an episode is one step.

The mean of an arm is linear in features of norm 1, a constant and nine at random, and lies within
``spread`` of ``middle``. A reward is a click, 1 or 0, or a score, the mean ± ``deviation``. Of clicks
the deviation is that of an arm in the middle. With ``contexts`` a visitor is one of so many, at
random, and each has arms with features of their own; the weights are the same for all.
"""

import math
from typing import NamedTuple

import numpy as np

from rlsvi_core import FiniteMDP
from rlsvi_core.runtime.compilation import Floats, Generator


class Bandit(NamedTuple):
    middle: float
    spread: float
    score: float | None = None  # the deviation of a score; None: clicks
    contexts: int = 1

    @property
    def deviation(self) -> float:
        return math.sqrt(self.middle * (1 - self.middle)) if self.score is None else self.score


BANDITS = {
    "clicks, 5 ± 4%": Bandit(0.05, 0.04),
    "clicks, 50 ± 30%": Bandit(0.5, 0.3),
    "clicks, 50 ± 4%": Bandit(0.5, 0.04),
    "scores": Bandit(0.5, 0.4, 0.02),
    "visitors, 5 ± 4%": Bandit(0.05, 0.04, contexts=50),
    "visitors, 50 ± 30%": Bandit(0.5, 0.3, contexts=50),
    "visitors, large effects": Bandit(0.5, 0.4, 0.1, contexts=50),
    "visitors, small effects": Bandit(0.5, 0.1, 0.5, contexts=50),
}


def bandit(of: Bandit, rng: Generator, A: int = 50, K: int = 10) -> tuple[FiniteMDP, Floats]:
    """A bandit as an MDP of one period, of whose next states the first two tell what was paid; and
    its features."""
    x, w = rng.standard_normal((of.contexts, A, K - 1)), rng.standard_normal(K - 1)
    x /= np.sqrt((x**2).sum(axis=2, keepdims=True))
    z = (x * w).sum(axis=2)
    mean = of.middle + of.spread * z / abs(z).max()
    phi = np.concatenate([np.ones((of.contexts, A, 1)), x], axis=2) / math.sqrt(2)
    S = max(of.contexts, 2)
    P, R = np.zeros((2, 1, S, A, S))
    if of.score is None:
        P[..., 0], P[..., 1], R[..., 1] = 1 - mean, mean, 1.0
    else:
        P[..., :2], R[..., 0], R[..., 1] = 0.5, mean - of.score, mean + of.score
    visitors = np.arange(S) < of.contexts
    mdp = FiniteMDP(P, R, initial=visitors / visitors.sum())
    return mdp, np.broadcast_to(phi, (1, S, A, K)).copy()
