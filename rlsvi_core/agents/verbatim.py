"""Algorithms 1 and 3 as printed: rebuild A and b from all data, period by period.

This is the form to read and to trust. Its cost grows with every episode; see ``fast``.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from .base import ENDED, Agent


class Transitions(NamedTuple):
    """All that was seen in one period h, one entry an episode i."""

    s: np.ndarray  # s_ih
    a: np.ndarray  # a_ih
    r: np.ndarray  # r_ih; in the last period r_{i,H-1} + r_iH
    s_next: np.ndarray  # s_{i,h+1}, or ENDED


def regression_problem(Phi, data, theta, h):
    """Line 2 of Algorithm 1 (line 3 of Algorithm 3): the rows A and the targets b of period h."""
    s, a, r, s_next = data[h]
    A = Phi[h, s, a]
    b = r.copy()
    if h < len(Phi) - 1:
        V = (Phi[h + 1] @ theta[h + 1]).max(axis=1)
        b += np.where(s_next == ENDED, 0.0, V[s_next])
    return A, b


def posterior(A, b, lam, sigma):
    """Line 3 of Algorithm 1: the mean, and L with Σ = L⁻ᵀ L⁻¹ (the printed inverse is unsafe)."""
    try:
        L = np.linalg.cholesky(A.T @ A / sigma**2 + lam * np.eye(A.shape[1]))
    except np.linalg.LinAlgError as error:
        raise ValueError(f"A'A/σ² + λI is singular to rounding with λ={lam:g}, σ={sigma:g}; raise "
                         f"λσ², or use FastAgent, which never forms this matrix.") from error
    return cho_solve((L, True), A.T @ b / sigma**2), L


def algorithm_1(Phi, data, lam, sigma, rng):
    """Randomized least-squares value iteration: θ̃ from the data of all periods."""
    H, _, _, K = Phi.shape
    theta = np.zeros((H, K))
    for h in reversed(range(H)):
        A, b = regression_problem(Phi, data, theta, h)
        mean, L = posterior(A, b, lam, sigma)
        theta[h] = mean + solve_triangular(L, rng.standard_normal(K), lower=True, trans="T")
    return theta


def algorithm_3(Phi, data, lam):
    """Least-squares value iteration: the same, without the noise."""
    H, _, _, K = Phi.shape
    theta = np.zeros((H, K))
    for h in reversed(range(H)):
        A, b = regression_problem(Phi, data, theta, h)
        theta[h], _ = posterior(A, b, lam, sigma=1.0)
    return theta


class VerbatimAgent(Agent):
    """Keeps every transition and solves the printed problem before each episode."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._count = np.zeros(self.H, int)
        self._room = [Transitions(*(np.zeros(64, kind) for kind in (int, int, float, int)))
                      for _ in range(self.H)]

    def _remember(self, h, *transition):
        i = self._count[h]
        if i == len(self._room[h].r):
            self._room[h] = Transitions(*(np.resize(column, 2 * i) for column in self._room[h]))
        for column, value in zip(self._room[h], transition, strict=True):
            column[i] = value
        self._count[h] += 1

    @property
    def data(self) -> list[Transitions]:
        """The transitions so far, one entry a period."""
        return [Transitions(*(column[:n] for column in period))
                for n, period in zip(self._count, self._room, strict=True)]

    def _estimate(self):
        if self.sample:
            self.theta = algorithm_1(self.Phi, self.data, self.lam, self.sigma, self.rng)
        else:
            self.theta = algorithm_3(self.Phi, self.data, self.lam)
