r"""Algorithms 1 and 3 at a cost that does not grow with the number of episodes.

Write :math:`\phi_i = \Phi_h(s_{ih}, a_{ih})`. The regression of period h needs
:math:`M = \sum_i \phi_i^\top \phi_i + \lambda\sigma^2 I`, whose triangular factor U takes one new
row an episode (see ``regression``), and

.. math::
    A^\top b = \sum_i \phi_i^\top \bigl(r_{ih} + \tilde V_{h+1}(s_{i,h+1})\bigr)
             = c_h + \sum_{s'} \tilde V_{h+1}(s')\, g_h(s'),
    \qquad g_h(s') = \sum_{i : s_{i,h+1} = s'} \phi_i^\top .

The past enters through :math:`c_h` and one K-vector :math:`g_h(s')` for each state that ever
followed period h; the values :math:`\tilde V_{h+1}` change every episode, these sums only grow.
An episode costs :math:`O(H (K^2 + S A K))` for ever, and nothing is stored per episode.

Accuracy: :math:`A^\top b` is a sum, so its rounding is amplified by up to
:math:`1/(\lambda\sigma^2)` in directions without data. Where :math:`\lambda\sigma^2` is below some
:math:`10^{-9}` of the squared features, the first K or so episodes' values lose digits.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import jit
from ..mdp import draw, first_state, last_reward, period, step
from ..regression import add_row, solve, solve_transposed
from .base import ENDED, Agent, Run, action_probabilities, values


class Statistics(NamedTuple):
    """Everything the past has to say."""

    U: np.ndarray  # (H, K, K) factor of M
    c: np.ndarray  # (H, K) Σ φ r
    g: np.ndarray  # (H, S, K) Σ φ over transitions into s'
    followed: np.ndarray  # (H, S) the states that ever followed period h, in order of first visit
    count: np.ndarray  # (H,) how many those are
    seen: np.ndarray  # (H, S) whether s' is among them


@jit
def _add_next_values(Phi, theta, data, h, x):
    """Add Σ_{s'} V_{h+1}(s') g_h(s') to x, over the states that have followed period h.

    Two states at a time: their sums do not wait for each other.
    """
    _, _, g, followed, count, _ = data
    K = x.shape[0]
    for i in range((count[h] + 1) // 2):
        s, t = followed[h, 2 * i], followed[h, min(2 * i + 1, count[h] - 1)]
        V_s, V_t = -np.inf, -np.inf
        for a in range(Phi.shape[2]):
            Q_s, Q_t = 0.0, 0.0
            for k in range(K):
                Q_s += Phi[h + 1, s, a, k] * theta[h + 1, k]
                Q_t += Phi[h + 1, t, a, k] * theta[h + 1, k]
            V_s, V_t = max(V_s, Q_s), max(V_t, Q_t)
        if s == t:  # an odd one out
            V_t = 0.0
        for k in range(K):
            x[k] += V_s * g[h, s, k] + V_t * g[h, t, k]


@jit
def _estimate(Phi, data, noise, rng, theta):
    """Algorithm 1 (noise = σ) or Algorithm 3 (noise = 0)."""
    U, c = data.U, data.c
    H, _, _, K = Phi.shape
    for h in range(H - 1, -1, -1):
        x = theta[h]
        for k in range(K):
            x[k] = c[h, k]
        if h < H - 1:
            _add_next_values(Phi, theta, data, h, x)
        solve_transposed(U[h], x)
        if noise > 0.0:
            for k in range(K):
                x[k] += noise * rng.standard_normal()
        solve(U[h], x)


@jit
def _observe(Phi, data, h, s, a, r, s_next, row):
    """Add one transition to the sums; ``row`` is scratch space of length K."""
    U, c, g, followed, count, seen = data
    for k in range(row.shape[0]):
        row[k] = Phi[h, s, a, k]
        c[h, k] += r * row[k]
    if s_next != ENDED:
        if not seen[h, s_next]:
            seen[h, s_next] = True
            followed[h, count[h]] = s_next
            count[h] += 1
        for k in range(row.shape[0]):
            g[h, s_next, k] += row[k]
    add_row(U[h], row)


@jit
def _expected_reward(model, Phi, theta, epsilon, eta):
    """The exact expected reward of the episode's policy, pushing π forward through it."""
    H, S, A, _ = Phi.shape
    q, p = np.empty(A), np.empty(A)
    here, there = model.initial.copy(), np.zeros(S)
    total = 0.0
    for h in range(H):
        t = period(model.successor, h)
        there[:] = 0.0
        for s in range(S):
            if here[s] == 0.0:
                continue
            values(Phi, theta, h, s, q)
            action_probabilities(q, epsilon, eta, p)
            for a in range(A):
                for b in range(model.successor.shape[3]):
                    mass = here[s] * p[a] * model.probability[t, s, a, b]
                    there[model.successor[t, s, a, b]] += mass
                    total += mass * model.reward[t, s, a, b]
        here, there = there, here
    for s in range(S):
        total += here[s] * model.terminal[s]
    return total


@jit
def _learn(model, Phi, data, theta, noise, epsilon, eta, skip_first, exact, rng, agent_rng,
           reward, expected, furthest):
    H, _, A, K = Phi.shape
    q, p, row = np.empty(A), np.empty(A), np.empty(K)
    for i in range(reward.shape[0]):
        if i > 0 or not skip_first:
            _estimate(Phi, data, noise, agent_rng, theta)
        if exact:
            expected[i] = _expected_reward(model, Phi, theta, epsilon, eta)
        s = first_state(model, rng)
        furthest[i] = s
        for h in range(H):
            values(Phi, theta, h, s, q)
            action_probabilities(q, epsilon, eta, p)
            a = draw(p, agent_rng.random())
            r, s_next = step(model, h, s, a, rng)
            if h == H - 1:
                r += last_reward(model, s_next, rng)
            _observe(Phi, data, h, s, a, r, s_next, row)
            reward[i] += r
            s = s_next
            furthest[i] = max(furthest[i], s)


class FastAgent(Agent):
    """Keeps sums, not data; the same interface and the same weights as ``VerbatimAgent``."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        H, S, K = self.H, self.S, self.K
        self._noise = self.sigma if self.sample else 0.0
        self._data = Statistics(
            U=np.tile(math.sqrt(self.lam) * self.sigma * np.eye(K), (H, 1, 1)),
            c=np.zeros((H, K)), g=np.zeros((H, S, K)), followed=np.zeros((H, S), np.int64),
            count=np.zeros(H, np.int64), seen=np.zeros((H, S), np.bool_))

    def _remember(self, h, s, a, r, s_next):
        _observe(self.Phi, self._data, h, s, a, r, s_next, np.empty(self.K))

    def _estimate(self):
        _estimate(self.Phi, self._data, self._noise, self.rng, self.theta)

    def learn(self, mdp, episodes, rng=None, *, exact=False):
        self._check_fits(mdp, episodes)
        run = Run(np.zeros(episodes), np.full(episodes, np.nan), np.zeros(episodes, np.int64))
        skip_first = self.transitions == 0 and not (self.sample and self.first_episode == "prior")
        _learn(mdp.model, self.Phi, self._data, self.theta, self._noise, self.epsilon, self.eta,
               skip_first, exact, np.random.default_rng(rng), self.rng, *run)
        self.transitions += episodes * self.H
        return run
