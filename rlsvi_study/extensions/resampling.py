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

import numpy as np

from rlsvi_core import Learner
from rlsvi_core.learners.base import TERMINAL, Weights
from rlsvi_core.regression import add_row, solve_upper
from rlsvi_core.runtime.compilation import Array, Floats, Generator, Ints, jit
from rlsvi_core.runtime.loop import fill_action_values


@jit
def _fit_resampled(
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
            if h < H - 1 and s_next[h, i] != TERMINAL:
                fill_action_values(Phi[h + 1, s_next[h, i]], theta[h + 1], q)
                row[K] += q.max()
            add_row(U, row)
        theta[h] = U[:, K]
        solve_upper(U, theta[h])


class ResamplingLearner(Learner):
    """Keeps every transition. Of λ and σ, as for RLSVI, only λσ² and, for the random prior, λ matter.
    ``resample`` draws the rows with replacement and ``random_prior`` draws ζ: one without the other
    shows what each of the two is good for. The mean has neither.

    >>> from rlsvi_core import Agent, chain, features
    >>> learner = ResamplingLearner(features.tabular(chain(4)), resample=True, random_prior=True)
    >>> Agent(learner, rng=0).learn(chain(4), 100, rng=1).reward.sum() > 10
    np.True_
    """

    H: int

    def __init__(
        self,
        Phi: Floats,
        lam: float = 1.0,
        sigma: float = 0.1,
        *,
        resample: bool,
        random_prior: bool,
    ) -> None:
        self.Phi, self.lam, self.sigma = Phi, lam, sigma
        self.resample, self.random_prior = resample, random_prior
        self.H, self.S, self.A, self.K = Phi.shape
        self._count = np.zeros(self.H, np.int64)
        self._room: list[Array] = [np.zeros((self.H, 64), kind) for kind in (int, int, float, int)]

    def add(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: None = None
    ) -> None:
        i = self._count[h]
        if i == self._room[0].shape[1]:
            self._room = [np.hstack([column, np.zeros_like(column)]) for column in self._room]
        row = s, a, r, TERMINAL if s_next is None else s_next
        for column, value in zip(self._room, row, strict=True):
            column[h, i] = value
        self._count[h] += 1

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        theta, zeta = np.zeros((2, self.H, self.K))
        n = self._count.max()
        if not n:
            return Weights(theta)  # section 4's footnote
        if self.random_prior and rng is not None:
            zeta = rng.standard_normal(zeta.shape) / math.sqrt(self.lam)
        drawn = np.tile(np.arange(n), (self.H, 1))
        if self.resample and rng is not None:  # a period without data has nothing to draw
            drawn = rng.integers(np.maximum(self._count, 1)[:, None], size=drawn.shape)
        root = math.sqrt(self.lam) * self.sigma
        s, a, r, s_next = self._room
        _fit_resampled(self.Phi, s, a, r, s_next, drawn, self._count, zeta, root, theta)
        return Weights(theta)

    def values(self, fitted: Weights, h: int, s: int) -> Floats:
        q = np.empty(self.Phi.shape[2])
        fill_action_values(self.Phi[h, s], fitted.theta[h], q)
        return q
