"""Algorithms 1 and 3 as printed: rebuild A and b from all data, period by period.

This is the form to read and to trust. Its cost grows with every episode; see ``fast``.
"""

import math

import numpy as np
from scipy.linalg import solve_triangular

from .base import Agent


def regression_problem(Phi, states, actions, rewards, theta, h):
    """Lines 2 of Algorithms 1 and 3: the rows A and the targets b of period h.

    states is (l, H+1), actions and rewards are (l, H), with r_H already added to the last reward.
    """
    H = Phi.shape[0]
    A = Phi[h, states[:, h], actions[:, h]]
    b = rewards[:, h].copy()
    if h < H - 1:
        b += (Phi[h + 1, states[:, h + 1]] @ theta[h + 1]).max(axis=1)
    return A, b


def posterior(A, b, lam, sigma):
    """Line 3 of Algorithm 1: the mean, and L with Σ = L⁻ᵀ L⁻¹ (the printed inverse is unsafe)."""
    precision = A.T @ A / sigma**2 + lam * np.eye(A.shape[1])
    L = np.linalg.cholesky(precision)
    y = solve_triangular(L, A.T @ b / sigma**2, lower=True)
    return solve_triangular(L, y, lower=True, trans="T"), L


def algorithm_1(Phi, states, actions, rewards, lam, sigma, rng):
    """Randomized least-squares value iteration."""
    H, K = Phi.shape[0], Phi.shape[3]
    theta = np.zeros((H, K))
    for h in reversed(range(H)):
        A, b = regression_problem(Phi, states, actions, rewards, theta, h)
        mean, L = posterior(A, b, lam, sigma)
        theta[h] = mean + solve_triangular(L, rng.standard_normal(K), lower=True, trans="T")
    return theta


def algorithm_3(Phi, states, actions, rewards, lam):
    """Least-squares value iteration: the same line by line, without the noise."""
    H, K = Phi.shape[0], Phi.shape[3]
    theta = np.zeros((H, K))
    for h in reversed(range(H)):
        A, b = regression_problem(Phi, states, actions, rewards, theta, h)
        theta[h], _ = posterior(A, b, lam, sigma=1.0)
    return theta


class VerbatimAgent(Agent):
    """Keeps every transition and solves the printed problem before each episode."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._make_room(64)

    def _make_room(self, episodes: int) -> None:
        l, grown = self.episodes, (np.zeros((episodes, self.H + 1), int),
                                   np.zeros((episodes, self.H), int),
                                   np.zeros((episodes, self.H)))
        if l:
            for old, new in zip((self._states, self._actions, self._rewards), grown, strict=True):
                new[:l] = old[:l]
        self._states, self._actions, self._rewards = grown

    def observe(self, h, s, a, r, s_next):
        if self.episodes == len(self._rewards):
            self._make_room(2 * self.episodes)
        l = self.episodes
        self._states[l, h], self._states[l, h + 1] = s, s_next
        self._actions[l, h], self._rewards[l, h] = a, r
        self.episodes += h == self.H - 1

    def _estimate(self):
        l = self.episodes
        data = self._states[:l], self._actions[:l], self._rewards[:l]
        if self.sample:
            self.theta = algorithm_1(self.Phi, *data, self.lam, self.sigma, self.rng)
        else:
            self.theta = algorithm_3(self.Phi, *data, self.lam)
