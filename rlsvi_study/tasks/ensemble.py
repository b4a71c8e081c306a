r"""An ensemble in place of the posterior sample (Osband et al. 2016, Lu and Van Roy 2017).

Member m of M fits the same data with noise of its own, fixed when a transition is seen: target
:math:`r + \sigma z^m + \max_\alpha Q^m_{h+1}(s')`, and a prior :math:`Q^m = \zeta^m \sim
N(0, 1/\lambda)` where nothing was seen. So each is *one* draw from RLSVI's posterior that is kept
up to date, not redrawn; every episode is played by one of them.
"""

import math
from typing import Any

import numpy as np

from rlsvi_core.compiled import Floats, Generator
from rlsvi_core.features import OneHot
from rlsvi_core.learner import Targets
from rlsvi_core.learners.counts import Table, value_iteration

UNCUT = Targets(1.0, -math.inf, math.inf)


class Ensemble(Table):
    """Tabular. A draw is the member whose turn it is; ``rng`` is for the members' noise.

    >>> from rlsvi_core import Agent, chain
    >>> agent = Agent(Ensemble(OneHot(3, 4, 2), 1.0, 0.1, M=5, rng=np.random.default_rng(0)), rng=2)
    >>> agent.learn(chain(4), 100, rng=1).reward.sum() > 9
    np.True_
    """

    def __init__(
        self, features: OneHot, lam: float, sigma: float, *, M: int, rng: Generator
    ) -> None:
        super().__init__(features.H, features.S, features.A)
        self.ridge, self.sigma, self.rng = lam * sigma**2, sigma, rng
        zeta = rng.standard_normal((M, *self.seen.n.shape)) / math.sqrt(lam)
        self.noise = self.ridge * zeta  # what a member's sums of targets have more

    def fit(self, rng: Generator | None, before: Floats | None) -> Floats:
        seen, Q = self.seen, np.zeros(self.seen.n.shape)
        if seen.n.any():
            more = 0.0 if rng is None else self.noise[rng.integers(len(self.noise))]
            seen = seen._replace(total=seen.total + more)
            value_iteration(seen, self.ridge, 0.0, UNCUT, self.masks.closed, self.rng, Q)
        return Q

    def add(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: Any = None
    ) -> None:
        super().add(h, s, a, r, s_next, legal_next)
        self.noise[:, h, s, a] += self.sigma * self.rng.standard_normal(len(self.noise))
