r"""Algorithms 1, 3 and 7 for a table of features, at a cost that does not grow with the episodes.

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
episode. Without a horizon there is one period that follows itself.

Accuracy: :math:`A^\top b` is a sum, so its rounding is amplified by up to
:math:`1/(\lambda\sigma^2)` in directions without data. With :math:`\lambda\sigma^2` at
:math:`10^{-9}` of the squared features, values of the first K or so episodes keep four digits. With
less they are rough, which is mentioned; the paper's Figure 11 goes down to :math:`4\cdot10^{-14}`.
Below :math:`10^{-14}` nothing is left, and it is refused. The printed form, which never forms this
sum, keeps its digits.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..acting import row_values
from ..compiled import Array, Floats, Generator, Ints, inlined, jit
from ..features import Table
from ..learner import ENDED, NO_DRAWS, Masks, Problem, Regressions, Targets, Weights
from ..loop import COMPILED, Task, compiled_loop
from ..regression import add_row, check_ridge, draw, fill_noise, solve_transposed


class Statistics(NamedTuple):
    """Sufficient statistics of each period; without a horizon, of one."""

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


@inlined
def add_transition(
    Phi: Floats, sums: Statistics, h: int, s: int, a: int, r: float, s_next: int, row: Floats
) -> None:
    """Add one transition to the sums; ``row`` is scratch space of length K."""
    for k in range(row.shape[0]):
        row[k] = Phi[h, s, a, k]
        sums.c[h, k] += r * row[k]
    if s_next != ENDED:
        if not sums.seen[h, s_next]:
            sums.seen[h, s_next] = True
            sums.followed[h, sums.number[h]] = s_next
            sums.number[h] += 1
        for k in range(row.shape[0]):
            sums.g[h, s_next, k] += row[k]
    add_row(sums.U[h], row)


@jit
def add_next_values(
    sums: Statistics,
    h: int,
    Phi: Floats,
    closed: Array,
    n: int,
    theta: Floats,
    targets: Targets,
    x: Floats,
) -> None:
    """Add Σ_{s'} γ V(s') g_h(s') to x, over the states that have followed period h; n is the next
    period, and θ its weights. Two states at a time, whose sums do not wait for each other."""
    g = sums.g
    followed = sums.followed
    gamma, low, high = targets
    last = sums.number[h] - 1
    masked = closed.size > 0
    for i in range(0, last + 1, 2):
        s = followed[h, i]
        s_2 = followed[h, min(i + 1, last)]
        V = -np.inf
        V_2 = -np.inf
        for a in range(Phi.shape[2]):
            q = 0.0
            q_2 = 0.0
            for k in range(x.shape[0]):
                q += Phi[n, s, a, k] * theta[k]
                q_2 += Phi[n, s_2, a, k] * theta[k]
            if masked:
                q = -np.inf if closed[n, s, a] else q
                q_2 = -np.inf if closed[n, s_2, a] else q_2
            V = max(V, q)
            V_2 = max(V_2, q_2)
        V = gamma * min(max(V, low), high)
        V_2 = gamma * min(max(V_2, low), high)
        if i == last:
            V_2 = 0.0  # beyond the last one nothing is added
        for k in range(x.shape[0]):
            x[k] += V * g[h, s, k] + V_2 * g[h, s_2, k]


class Data(NamedTuple):
    """What compiled code works on."""

    sums: Statistics
    Phi: Floats  # (H, S, A, K)
    closed: Array  # (H, S, A) what masks forbid, or empty
    any: Array  # (1,) whether there are data, or none are waited for
    noise: float  # σ, or 0 for the mean
    targets: Targets
    row: Floats  # scratch space
    theta: Floats  # (H, K) the weights


@jit
def _fit(data: Data, rng: Generator) -> None:
    """Algorithm 1 (noise = σ) or Algorithm 3 (noise = 0), from the sums."""
    sums = data.sums
    Phi = data.Phi
    theta = data.theta
    theta[:] = 0.0
    if not data.any[0]:
        return
    H, K = theta.shape
    x = np.empty(K)
    z = np.zeros((H, K))
    if data.noise > 0.0:
        fill_noise(rng, z)
    for h in range(H - 1, -1, -1):  # Algorithm 1, line 1
        for k in range(K):
            x[k] = sums.c[h, k]
        if h < H - 1:  # line 2: A'b
            add_next_values(sums, h, Phi, data.closed, h + 1, theta[h + 1], data.targets, x)
        solve_transposed(sums.U[h], x)
        draw(sums.U[h], x, data.noise, z[H - 1 - h], theta[h])  # lines 3 and 4


@inlined
def _values(data: Data, h: int, s: int, q: Floats) -> None:
    row_values(data.Phi[h, s], data.theta[h], q)


@inlined
def _add(data: Data, h: int, s: int, a: int, r: float, s_next: int) -> None:
    add_transition(data.Phi, data.sums, h, s, a, r, s_next, data.row)
    data.any[0] = True


_loop = compiled_loop(_fit, _values, _add)


class Sums(Regressions):
    """Keeps sums, not data; the same weights as ``Printed``."""

    S: int
    A: int

    def __init__(self, problem: Problem) -> None:
        phi = problem.features
        assert isinstance(phi, Table)
        check_ridge(float(np.einsum("...k,...k", phi.Phi, phi.Phi).max()), problem.ridge)
        self.problem = problem
        self.Phi = phi.Phi
        self.H = phi.H
        H, self.S, self.A, self.K = phi.Phi.shape
        self.sums = no_data(H, self.S, self.K, math.sqrt(problem.lam) * problem.sigma)
        self.masks = Masks(H, self.S, self.A)
        self.any = np.array([problem.options.first == "prior"])
        self._row: Floats = np.empty(self.K)

    def compiled(self, env: Any, limit: int | None) -> Callable[[Weights, Task], None] | None:
        if type(env) not in COMPILED or self.H is None or self.masks.closed.size:
            return None

        def play(fitted: Weights, task: Task) -> None:
            _loop(env, self.H, self.H, self.data(fitted, task.sample), task)

        return play

    def room(self) -> Weights:
        return Weights(np.zeros((len(self.Phi), self.K)))

    def data(self, fitted: Weights, sample: bool) -> Data:
        problem = self.problem
        return Data(
            self.sums,
            self.Phi,
            self.masks.closed,
            self.any,
            problem.sigma if sample else 0.0,
            problem.targets,
            self._row,
            fitted.theta,
        )

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        if self.H is None:
            return super().fit(rng, before)
        fitted = self.room()
        _fit(self.data(fitted, rng is not None), NO_DRAWS if rng is None else rng)
        return fitted

    def nothing(self, rng: Generator | None) -> bool:
        return not self.any[0]

    def solve(self, h: int, after: Floats, noise: Floats) -> tuple[Floats, Floats]:
        """Without a horizon: the one period follows itself."""
        problem = self.problem
        U = self.sums.U[0]
        x = self.sums.c[0].copy()
        add_next_values(self.sums, 0, self.Phi, self.masks.closed, 0, after, problem.targets, x)
        solve_transposed(U, x)
        mean, theta = np.zeros((2, self.K))
        draw(U, x, 0.0, noise, mean)
        draw(U, x, problem.sigma, noise, theta)
        return mean, theta

    def values(self, fitted: Weights, h: int, s: int) -> Floats:
        h = self._period(h)
        s = checks.index("s", s, self.S)
        q = np.empty(self.A)
        row_values(self.Phi[h, s], fitted.theta[h], q)
        return self.masks.masked(h, s, q)

    def add(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: Any = None
    ) -> None:
        h = self._period(h)
        s = checks.index("s", s, self.S)
        a = checks.index("a", a, self.A)
        if s_next is None or h + 1 == self.H:
            s_next = ENDED
        else:
            s_next = checks.index("s_next", s_next, self.S)
            self.masks.close(0 if self.H is None else h + 1, s_next, legal_next)
        add_transition(self.Phi, self.sums, h, s, a, r, s_next, self._row)
        self.any[0] = True
