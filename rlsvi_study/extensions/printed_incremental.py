"""Appendix F.1 as printed: Σ⁻¹ and y, and a solution before each episode. Where the library's
``rlsvi_core.learners.appendix_f`` keeps factors, which are faster, this is the form to read."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from rlsvi_core import Learner
from rlsvi_core.learners.appendix_f import PriorHandling
from rlsvi_core.learners.base import Weights
from rlsvi_core.regression import fill_noise
from rlsvi_core.runtime.compilation import Floats, Generator


class PrintedIncrementalLearner(Learner):
    """The same weights as ``IncrementalLearner``, from the same draws.

    >>> from rlsvi_core import Agent, chain, features
    >>> Phi = features.tabular(chain(4))
    >>> agent = Agent(PrintedIncrementalLearner(Phi, nu=0.1, prior="kept"), rng=0)
    >>> agent.learn(chain(4), 500, rng=1).reward.sum() > 10
    np.True_
    """

    H: int

    def __init__(
        self,
        Phi: Floats,
        lam: float = 1.0,
        sigma: float = 0.1,
        nu: float | Callable[[int], float] = 0.0,
        prior: PriorHandling = "forgotten",
    ) -> None:
        self.Phi, self.lam, self.sigma, self.nu, self.prior = Phi, lam, sigma, nu, prior
        self.H, self.S, self.A, K = Phi.shape
        self.precision = np.tile(lam * np.eye(K), (self.H, 1, 1))  # Σ⁻¹
        self.y = np.zeros((self.H, K))
        self.theta = np.zeros((self.H, K))  # of this episode, for the targets
        self.reached = np.zeros(self.H, int)  # episodes that reached period h

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        theta, z = np.zeros_like(self.y), np.zeros(self.y.shape[1])
        for h in reversed(range(self.H)):  # in the order in which Algorithm 1 draws
            L = np.linalg.cholesky(self.precision[h])
            if rng is not None:
                fill_noise(rng, z)
            mean = cho_solve((L, True), self.y[h])
            theta[h] = mean + solve_triangular(L, z, lower=True, trans="T")
        if rng is not None:
            self.theta = theta
        return Weights(theta)

    def values(self, fitted: Weights, h: int, s: int) -> Floats:
        return np.asarray(self.Phi[h, s] @ fitted.theta[h])

    def add(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: None = None
    ) -> None:
        follows = h < self.H - 1 and s_next is not None
        V = (self.Phi[h + 1, s_next] @ self.theta[h + 1]).max() if follows else 0.0
        nu = self.nu(int(self.reached[h])) if callable(self.nu) else self.nu
        self.update(h, self.Phi[h, s, a], r + V, nu)
        self.reached[h] += 1

    def update(self, h: int, phi: Floats, target: float, nu: float) -> None:
        """Forget a little of period h and take in one row."""
        self.precision[h] = (1 - nu) * self.precision[h] + np.outer(phi, phi) / self.sigma**2
        self.y[h] = (1 - nu) * self.y[h] + target * phi / self.sigma**2
        if self.prior == "kept":
            self.precision[h] += nu * self.lam * np.eye(len(phi))
