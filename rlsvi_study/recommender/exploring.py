"""RLSVI taken apart, for the recommendation engine: LSVI's weights, the optimism of RLSVI's targets
and the spread of its samples. ``exploration.agents`` explains the parts and has the names."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from rlsvi_core.compiled import Floats, jit
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.kernels import draw

from .products import ProductAgent, Products, Statistics, _estimate, expected_likes

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


class Parts(ProductAgent):
    """Acts on some parts of RLSVI's weights."""

    def __init__(self, agent: str, N: int, J: int, lam: float, sigma: float, rng: Any) -> None:
        super().__init__(Products(N, J), lam, sigma, sample=True, rng=rng)
        self.agent, self._fixed = agent, int(self.rng.integers(2**63))
        if agent == "optimistic":  # the ridge's imagined targets: all that are still to come, liked
            top = J - np.arange(J)
            self._data.U[0, :, :, 0, -1] = math.sqrt(lam) * sigma * top[:, None]

    def _fitted(self, noise: float, rng: Generator) -> Floats:
        theta = np.zeros_like(self.theta)
        _estimate(self._data, self._fit._replace(noise=noise), rng, theta)
        return theta

    def lsvi(self) -> Floats:
        return self._fitted(0.0, self.rng)

    def sampled(self) -> Floats:
        return self._fitted(self.sigma, self.rng)

    def noisy(self) -> Floats:
        theta, (H, d, N) = self.lsvi(), self.theta.shape
        z = self.rng.standard_normal((H, N, d))[::-1]  # as elsewhere, the last period's first
        _add_noise(self._data, self.sigma, z, theta)
        return theta

    def expected(self) -> Floats:
        drawn = [
            self._fitted(noise, np.random.default_rng((self._fixed, i)))
            for i in range(PAIRS)
            for noise in (self.sigma, -self.sigma)
        ]
        return np.asarray(np.mean(drawn, axis=0))

    def spread(self) -> Floats:
        return self.sampled() - self.expected() + self.lsvi()

    def _estimate(self) -> None:
        self.theta[:] = WEIGHTS[self.agent](self)


WEIGHTS: dict[str, Callable[[Parts], Floats]] = {
    "sample": Parts.sampled,
    "mean": Parts.noisy,
    "optimism": Parts.expected,
    "spread": Parts.spread,
    "optimistic": Parts.lsvi,
    "lsvi": Parts.lsvi,
}


def learn(agent: Parts, customers: Recommender, episodes: int, rng: Generator) -> Floats:
    """The likes that each customer's policy earns, exactly."""
    expected = np.empty(episodes)
    for l in range(episodes):
        agent.plan()
        expected[l] = expected_likes(customers.states, customers.P, agent.theta, 0.0, 0.0)
        x = customers.start(rng)
        for h in range(agent.J):
            a = agent.act(h, x)
            r, x_next, _ = customers.step(h, x, a, rng)
            agent.observe(h, x, a, r, x_next)
            x = x_next
    return expected
