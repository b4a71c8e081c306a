r"""Section 7's suggestion in its linear form: LSVI on a bootstrap of the data.

Instead of adding Gaussian noise to the fit, RLSVI's randomness may come from the data: before each
episode draw, in every period, as many rows as there are with replacement, and fit

.. math::
    \tilde\theta_h = \arg\min_\theta\ \|A\theta - b\|^2 + \lambda\sigma^2\,\|\theta - \zeta_h\|^2

to the rows drawn, backwards as in Algorithm 3. Plain bootstrap has :math:`\zeta_h = 0`. Where
all rewards seen so far are zero, so are all targets, and every resample of zeros gives zero: the
agent acts uniformly, like any that dithers. A random prior :math:`\zeta_h \sim N(0, I/\lambda)`,
redrawn for each episode, leaves the fit random where data are missing.
"""

import math
from typing import Any

import numpy as np

from rlsvi_core.agents.states import TableAgent
from rlsvi_core.compiled import Array, Floats, Ints, jit
from rlsvi_core.kernels import ENDED, add_row, solve, values


@jit
def _fit(
    Phi: Floats,
    s: Ints,
    a: Ints,
    r: Floats,
    s_next: Ints,
    drawn: Ints,
    count: Ints,
    zeta: Floats,
    root: float,
    theta: Floats,
) -> None:
    """Rotate the rows drawn into the prior's factor, period by period from the last."""
    H, _, A, K = Phi.shape
    q, row = np.empty(A), np.empty(K + 1)
    for h in range(H - 1, -1, -1):
        U = root * np.hstack((np.eye(K), zeta[h].reshape(K, 1)))
        for i in drawn[h, : count[h]]:
            row[:K], row[K] = Phi[h, s[h, i], a[h, i]], r[h, i]
            if h < H - 1 and s_next[h, i] != ENDED:
                values(Phi[h + 1, s_next[h, i]], theta[h + 1], q)
                row[K] += q.max()
            add_row(U, row)
        theta[h] = U[:, K]
        solve(U, theta[h])


class BootstrapAgent(TableAgent):
    """Keeps every transition; greedy actions, ties at random. Of λ and σ, as for RLSVI, only λσ²
    and, for the random prior, λ matter. ``resample`` draws the rows with replacement and
    ``random_prior`` draws ζ: one without the other shows what each of the two is good for.

    >>> from rlsvi_core import chain, features
    >>> agent = BootstrapAgent(features.tabular(chain(4)), resample=True, random_prior=True, rng=0)
    >>> agent.learn(chain(4), 100, rng=1).reward.sum() > 10
    np.True_
    """

    def __init__(
        self,
        Phi: Any,
        lam: float = 1.0,
        sigma: float = 0.1,
        *,
        resample: bool,
        random_prior: bool,
        rng: Any = None,
    ) -> None:
        super().__init__(Phi, lam, sigma, sample=True, rng=rng)
        self.resample, self.random_prior = resample, random_prior
        self._count = np.zeros(self.H, np.int64)
        self._room: list[Array] = [np.zeros((self.H, 64), kind) for kind in (int, int, float, int)]

    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        i = self._count[h]
        if i == self._room[0].shape[1]:
            self._room = [np.hstack([column, np.zeros_like(column)]) for column in self._room]
        for column, value in zip(self._room, (s, a, r, s_next), strict=True):
            column[h, i] = value
        self._count[h] += 1

    def _estimate(self) -> None:
        zeta = np.zeros((self.H, self.K))
        if self.random_prior:
            zeta = self.rng.standard_normal(zeta.shape) / math.sqrt(self.lam)
        n = self._count.max()
        drawn = np.tile(np.arange(n), (self.H, 1))
        if self.resample:  # a period without data has nothing to draw
            drawn = self.rng.integers(np.maximum(self._count, 1)[:, None], size=drawn.shape)
        s, a, r, s_next = self._room
        _fit(
            self.Phi,
            s,
            a,
            r,
            s_next,
            drawn,
            self._count,
            zeta,
            math.sqrt(self.lam) * self.sigma,
            self.theta,
        )
