"""RLSVI taken apart, for the recommendation engine: LSVI's weights, the optimism of RLSVI's targets
and the spread of its samples. ``exploration.agents`` explains the parts and has the names."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rlsvi_core import Agent
from rlsvi_core.compiled import Floats, Generator, jit
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.learner import Weights
from rlsvi_core.regression import draw

from .products import ProductLearner, Statistics, _fit, expected_likes

PAIRS = 8  # the expected sample is a mean over so many pairs of draws, z and −z


@jit
def _add_noise(data: Statistics, sigma: float, z: Floats, theta: Floats) -> None:
    """Add σU⁻¹z to the weights of every period and product."""
    H, d, N = theta.shape
    nothing, w = np.zeros(d), np.empty(d)
    for h in range(H):
        for a in range(N):
            w[:] = 0.0
            draw(data.U[0, h, a], nothing, sigma, z[h, a], w)
            for k in range(d):
                theta[h, k, a] += w[k]


class Parts(ProductLearner):
    """Fits some parts of RLSVI's weights; ``fixed`` seeds the draws of the expected sample."""

    loop: Any = None  # by steps

    def __init__(self, part: str, N: int, J: int, lam: float, sigma: float, fixed: int) -> None:
        super().__init__(N, J, lam, sigma)
        self.part, self.fixed = part, fixed
        if part == "optimistic":  # the ridge's imagined targets: all that are still to come, liked
            top = J - np.arange(J)
            self.sums.U[0, :, :, 0, -1] = math.sqrt(lam) * sigma * top[:, None]

    def _fitted(self, noise: float, rng: Generator) -> Floats:
        fitted = self.no_weights()
        _fit(self.data(fitted, True)._replace(noise=noise, any=np.ones(1, bool)), rng)
        return fitted.theta

    def lsvi(self, rng: Generator) -> Floats:
        return self._fitted(0.0, rng)

    def sampled(self, rng: Generator) -> Floats:
        return self._fitted(self.sigma, rng)

    def noisy(self, rng: Generator) -> Floats:
        theta = self.lsvi(rng)
        z = rng.standard_normal((self.J, self.N, self.N + 1))[::-1]  # the last period's first
        _add_noise(self.sums, self.sigma, z, theta)
        return theta

    def expected(self, rng: Generator) -> Floats:
        drawn = [
            self._fitted(noise, np.random.default_rng((self.fixed, i)))
            for i in range(PAIRS)
            for noise in (self.sigma, -self.sigma)
        ]
        return np.asarray(np.mean(drawn, axis=0))

    def spread(self, rng: Generator) -> Floats:
        return self.sampled(rng) - self.expected(rng) + self.lsvi(rng)

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        if rng is None or not self.any[0]:
            return super().fit(None, before)
        return Weights(WEIGHTS[self.part](self, rng))


WEIGHTS: dict[str, Callable[[Parts, Generator], Floats]] = {
    "sample": Parts.sampled,
    "mean": Parts.noisy,
    "optimism": Parts.expected,
    "spread": Parts.spread,
    "optimistic": Parts.lsvi,
    "lsvi": Parts.lsvi,
}


def learn(agent: Agent, customers: Recommender, episodes: int, rng: Generator) -> Floats:
    """The likes that each customer's policy earns, exactly."""
    expected = np.empty(episodes)
    for l in range(episodes):
        agent.learn(customers, 1, rng)
        expected[l] = expected_likes(customers.states, customers.P, agent.theta, 0.0, 0.0)
    return expected
