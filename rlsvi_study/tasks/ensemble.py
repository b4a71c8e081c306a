r"""An ensemble in place of the posterior sample (Osband et al. 2016, Lu and Van Roy 2017).

Member m of M fits the same data with noise of its own, fixed when a transition is seen: target
:math:`r + \sigma z^m + \max_\alpha Q^m_{h+1}(s')`, and a prior :math:`Q^m = \zeta^m \sim
N(0, 1/\lambda)` where nothing was seen. So each is *one* draw from RLSVI's posterior that is kept
up to date, not redrawn; every episode is played by one of them.
"""

import math
from typing import Any

from rlsvi_core.agents.base import LinearAgent
from rlsvi_core.agents.tabular import TabularAgent
from rlsvi_core.features import OneHot
from rlsvi_core.kernels import value_iteration


class Ensemble(TabularAgent):
    """Tabular; greedy actions of the member whose turn it is.

    >>> from rlsvi_core import chain
    >>> Ensemble(OneHot(3, 4, 2), 1.0, 0.1, M=5, rng=0).learn(chain(4), 100, rng=1).reward.sum() > 9
    np.True_
    """

    _play = LinearAgent._play  # not the compiled one, which knows no members

    def __init__(
        self, features: OneHot, lam: float, sigma: float, *, M: int, rng: Any = None
    ) -> None:
        super().__init__(features, lam * sigma**2, 1.0, sample=False, rng=rng)
        self.spread = sigma
        zeta = self.rng.standard_normal((M, *self.Q.shape)) / math.sqrt(lam)
        self.noise = lam * sigma**2 * zeta  # what a member's sums of targets have more

    def _estimate(self) -> None:
        mine = self.noise[self.rng.integers(len(self.noise))]
        value_iteration(
            self.seen._replace(total=self.seen.total + mine),
            self._ridge,
            self._noise,
            self._targets,
            self._closed,
            self.rng,
            self._Q,
        )

    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        super()._remember(h, s, a, r, s_next)
        self.noise[:, h, s, a] += self.spread * self.rng.standard_normal(len(self.noise))
