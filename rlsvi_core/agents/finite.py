r"""Algorithms 1 and 3 for a table of features, at a cost that does not grow with the episodes.

Write :math:`\phi_i = \Phi_h(s_{ih}, a_{ih})`. The regression of period h needs
:math:`M = \sum_i \phi_i^\top \phi_i + \lambda\sigma^2 I`, whose triangular factor U takes one new
row per episode (see ``regression``), and

.. math::
    A^\top b = \sum_i \phi_i^\top \bigl(r_{ih} + \gamma\tilde V_{h+1}(s_{i,h+1})\bigr)
             = c_h + \sum_{s'} \gamma\tilde V_{h+1}(s')\, g_h(s'),
    \qquad g_h(s') = \sum_{i : s_{i,h+1} = s'} \phi_i^\top .

The past enters through :math:`c_h` and one K-vector :math:`g_h(s')` for each state that ever
followed period h; the values :math:`\tilde V_{h+1}` change every episode, these sums only grow.
An episode costs :math:`O(H (K^2 + S A K))` however many came before, and nothing is stored per
episode.

Accuracy: :math:`A^\top b` is a sum, so its rounding is amplified by up to
:math:`1/(\lambda\sigma^2)` in directions without data. With :math:`\lambda\sigma^2` at
:math:`10^{-9}` of the squared features, values of the first K or so episodes keep four digits. With
less they are rough, which is mentioned; the paper's Figure 11 goes down to :math:`4\cdot10^{-14}`.
Below :math:`10^{-14}` nothing is left, and it is refused. The verbatim form, which never forms this
sum, keeps its digits.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from .. import checks
from ..compiled import Array, Floats, Ints, jit
from ..episodes import Run, record_step
from ..features import FeatureMap, Table
from ..mdp import Model, first_state, last_reward, period, step
from ..regression import add_row, draw, fill_normal, solve_transposed
from .acting import action_probabilities, choose, highest, values
from .base import LinearAgent
from .choices import Choices
from .states import ENDED, CompiledLoop, TableAgent


class Targets(NamedTuple):
    """The next value as it enters a target: clipped to [low, high] and discounted."""

    gamma: float
    low: float
    high: float


# λσ² beside a row of features, squared: less is refused, and less than the second is mentioned
LEAST_RIDGE, SAFE_RIDGE = 1e-14, 1e-9


def check_ridge(Phi: Floats, lam: float, sigma: float) -> None:
    """Refuse a λσ² with which sums lose the digits of the values, or say how many they lose."""
    ridge, square = lam * sigma**2, float(np.einsum("...k,...k", Phi, Phi).max())
    rule = "lam * sigma^2 must be at least {:g} of the largest row of features, squared"
    found = f"it is {ridge:g}, and the square {square:g}"
    if ridge < LEAST_RIDGE * square:
        hint = "Raise lam or sigma; rlsvi_core.suggest_parameters says how far."
        checks.fail(rule.format(LEAST_RIDGE), found, hint)
    if ridge < SAFE_RIDGE * square:
        checks.warn(
            f"for values to keep four digits {rule.format(SAFE_RIDGE)}",
            found,
            "Raise lam or sigma, or pass form=VerbatimAgent: here the values of the first episodes, "
            "as many as there are features, are rough.",
        )


class Statistics(NamedTuple):
    """Sufficient statistics."""

    U: Floats  # (H, K, K) factor of M
    c: Floats  # (H, K) Σ φ r
    g: Floats  # (H, S, K) Σ φ over transitions into s'
    followed: Ints  # (H, S) the states that ever followed period h, in order of first visit
    number: Ints  # (H,) how many there are
    seen: Array  # (H, S) whether s' is among them


def no_data(H: int, S: int, K: int, root: float) -> Statistics:
    """Before any data: U'U is the prior's part of M, root² I."""
    return Statistics(
        np.tile(root * np.eye(K), (H, 1, 1)),
        np.zeros((H, K)),
        np.zeros((H, S, K)),
        np.zeros((H, S), np.int64),
        np.zeros(H, np.int64),
        np.zeros((H, S), np.bool_),
    )


@jit
def _add_next_values(
    Phi: Floats,
    theta: Floats,
    closed: Array | None,
    data: Statistics,
    h: int,
    targets: Targets,
    x: Floats,
) -> None:
    """Add Σ_{s'} γ V_{h+1}(s') g_h(s') to x, over the states that have followed period h; two at a
    time, whose sums do not wait for each other."""
    _, _, g, followed, number, _ = data
    gamma, low, high = targets
    last = number[h] - 1
    for i in range(0, last + 1, 2):
        s, t = followed[h, i], followed[h, min(i + 1, last)]
        V, W = -np.inf, -np.inf
        for a in range(Phi.shape[2]):
            q_s, q_t = 0.0, 0.0
            for k in range(x.shape[0]):
                q_s += Phi[h + 1, s, a, k] * theta[h + 1, k]
                q_t += Phi[h + 1, t, a, k] * theta[h + 1, k]
            if closed is not None:
                q_s = -np.inf if closed[h + 1, s, a] else q_s
                q_t = -np.inf if closed[h + 1, t, a] else q_t
            V, W = max(V, q_s), max(W, q_t)
        V, W = gamma * min(max(V, low), high), gamma * min(max(W, low), high)
        if i == last:
            W = 0.0  # beyond the last one nothing is added
        for k in range(x.shape[0]):
            x[k] += V * g[h, s, k] + W * g[h, t, k]


@jit
def _estimate(
    Phi: Floats,
    closed: Array | None,
    data: Statistics,
    noise: float,
    targets: Targets,
    rng: Generator,
    theta: Floats,
) -> None:
    """Algorithm 1 (noise = σ) or Algorithm 3 (noise = 0), from the sums."""
    U, c = data.U, data.c
    H, K = c.shape
    x, z = np.empty(K), np.zeros((H, K))
    theta[:] = 0.0
    if noise > 0.0:
        fill_normal(rng, z)
    for h in range(H - 1, -1, -1):  # Algorithm 1, line 1
        for k in range(K):
            x[k] = c[h, k]
        if h < H - 1:
            _add_next_values(Phi, theta, closed, data, h, targets, x)  # line 2: A'b
        solve_transposed(U[h], x)
        draw(U[h], x, noise, z[H - 1 - h], theta[h])  # lines 3 and 4


@jit
def add_transition(
    Phi: Floats, data: Statistics, h: int, s: int, a: int, r: float, s_next: int, row: Floats
) -> None:
    """Add one transition to the sums; ``row`` is scratch space of length K."""
    U, c, g, followed, number, seen = data
    for k in range(row.shape[0]):
        row[k] = Phi[h, s, a, k]
        c[h, k] += r * row[k]
    if s_next != ENDED:
        if not seen[h, s_next]:
            seen[h, s_next] = True
            followed[h, number[h]] = s_next
            number[h] += 1
        for k in range(row.shape[0]):
            g[h, s_next, k] += row[k]
    add_row(U[h], row)


@jit
def expected_reward(
    model: Model, Phi: Floats, theta: Floats, epsilon: float, eta: float
) -> tuple[float, float]:
    """The exact expected reward of the episode's policy, pushing π forward through it; and what
    the values themselves promise."""
    H, S, A, _ = Phi.shape
    q, p = np.empty(A), np.empty(A)
    here, there = model.initial.copy(), np.zeros(S)
    total, claimed = 0.0, 0.0
    for h in range(H):
        t = period(model.successor, h)
        for s in range(S):
            there[s] = 0.0
        for s in range(S):
            if here[s] == 0.0:
                continue
            values(Phi[h, s], theta[h], q)
            claimed += here[s] * highest(q) if h == 0 else 0.0
            action_probabilities(q, epsilon, eta, p)
            for a in range(A):
                for b in range(model.successor.shape[3]):
                    mass = here[s] * p[a] * model.probability[t, s, a, b]
                    there[model.successor[t, s, a, b]] += mass
                    total += mass * model.reward[t, s, a, b]
        here, there = there, here
    for s in range(S):
        total += here[s] * model.terminal[s]
    return total, claimed


@jit
def _learn(
    model: Model,
    Phi: Floats,
    data: Statistics,
    theta: Floats,
    noise: float,
    targets: Targets,
    epsilon: Floats,  # of each episode
    eta: float,
    has_no_data: bool,
    exact: bool | None,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
) -> None:
    H, S, A, K = Phi.shape
    q, p, row = np.empty(A), np.empty(A), np.empty(K)
    for i in range(run.reward.shape[0]):
        if i > 0 or not has_no_data:
            _estimate(Phi, None, data, noise, targets, agent_rng, theta)
        if exact is not None:  # None is compiled without what follows
            run.expected[i], run.claimed[i] = expected_reward(model, Phi, theta, epsilon[i], eta)
        s = first_state(model, rng)
        run.furthest[i], run.length[i] = s, H
        for h in range(H):
            values(Phi[h, s], theta[h], q)
            a = choose(q, epsilon[i], eta, p, agent_rng.random())
            r, s_next = step(model, h, s, a, rng)
            if h == H - 1:
                r += last_reward(model, s_next, rng)
            add_transition(Phi, data, h, s, a, r, s_next, row)
            record_step(run, i, h, a, r, s_next)
            s = s_next


class FiniteAgent(CompiledLoop, TableAgent):
    """Keeps sums, not data; the same interface and the same weights as ``VerbatimAgent``."""

    MADE_FOR = "table of features, horizon"
    # A weight has one fit an episode, so that both readings of draws are the same.
    OFFERS = LinearAgent.OFFERS | {"gamma", "clip", "draws", "half_life"}
    takes_masks = True

    @classmethod
    def suits(cls, features: FeatureMap, choices: Choices) -> bool:
        return (
            isinstance(features, Table)
            and features.H is not None
            and super().suits(features, choices)
        )

    def __init__(self, Phi: Any, lam: float, sigma: float, **options: Any) -> None:
        super().__init__(Phi, lam, sigma, **options)
        check_ridge(self.Phi, self.lam, self.sigma)
        self._data = no_data(self.H, self.S, self.K, math.sqrt(self.lam) * self.sigma)
        self._targets = Targets(self.choices.gamma, *self.choices.clip)
        self._row: Array = np.empty(self.K)

    @property
    def _noise(self) -> float:
        return self.sigma if self.sample else 0.0

    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        add_transition(self.Phi, self._data, h, s, a, r, s_next, self._row)

    def _estimate(self) -> None:
        _estimate(
            self.Phi, self._closed, self._data, self._noise, self._targets, self.rng, self.theta
        )

    @property
    def _first_chunk(self) -> int:
        return super()._first_chunk // self.K

    def _learn(self, model: Model, exact: bool, rng: Generator, run: Run) -> None:
        _learn(
            model,
            self.Phi,
            self._data,
            self.theta,
            self._noise,
            self._targets,
            self._coming_dithers(len(run.reward)),
            self.eta,
            self.has_no_data,
            exact or None,
            rng,
            self.rng,
            run,
        )
