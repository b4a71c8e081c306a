r"""An ensemble in place of the posterior sample (Osband et al. 2016, Lu and Van Roy 2017).

Member m of M keeps a table of values of its own, fitted to the same data with noise of its own,
fixed when a transition is seen: target :math:`r + \sigma z^m + \max_\alpha Q^m_{h+1}(s')`, and a
prior :math:`Q^m = \zeta^m \sim N(0, 1/\lambda)` where nothing was seen. So each is *one* draw from
RLSVI's posterior that is kept up to date, not drawn anew; an episode is played by one of them.
"""

import math
from typing import Any

import numpy as np

from rlsvi_core.agents.base import LinearAgent
from rlsvi_core.agents.tabular import TabularAgent
from rlsvi_core.features import OneHot


class Ensemble(LinearAgent):
    """M tabular agents; greedy actions of the one whose turn it is.

    >>> from rlsvi_core import chain
    >>> Ensemble(OneHot(3, 4, 2), 1.0, 0.1, M=5, rng=0).learn(chain(4), 100, rng=1).reward.sum() > 9
    np.True_
    """

    def __init__(self, features: OneHot, lam: float, sigma: float, *, M: int,
                 rng: Any = None) -> None:
        super().__init__(lam, sigma, sample=True, first_episode="prior", rng=rng)
        self.H, ridge = features.H, lam * sigma**2
        self.members = [TabularAgent(features, ridge, 1.0, sample=False, rng=self.rng)
                        for _ in range(M)]
        for member in self.members:
            zeta = self.rng.standard_normal(member.Q.shape) / math.sqrt(lam)
            member.seen.total[:], member.transitions = ridge * zeta, 1  # it does not wait for data
        self.now = self.members[0]

    def _estimate(self) -> None:
        self.now = self.members[self.rng.integers(len(self.members))]
        self.now.plan()

    def act(self, h: int, s: int) -> int:
        return self.now.act(h, s)

    def observe(self, h: int, s: int, a: int, r: float, s_next: int | None) -> None:
        noise = self.sigma * self.rng.standard_normal(len(self.members))
        for member, z in zip(self.members, noise, strict=True):
            member.observe(h, s, a, r + z, s_next)
        self.transitions += 1
