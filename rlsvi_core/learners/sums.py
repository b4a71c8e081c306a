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
episode. With weights that periods share, the sums :math:`c_h` and M are those of all periods
together. Without a horizon there is one period that follows itself.

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
from ..learner import (
    ENDED,
    MOST_SWEEPS,
    SETTLED,
    Learner,
    Masks,
    Problem,
    Targets,
    Weights,
    check_growth,
)
from ..loop import COMPILED, Task, compiled_loop
from ..regression import add_row, draw, fill_noise, solve_transposed

# λσ² beside a row of features, squared: less is refused, and less than the second is mentioned
LEAST_RIDGE, SAFE_RIDGE = 1e-14, 1e-9


def check_ridge(Phi: Floats, ridge: float) -> None:
    """Refuse a λσ² with which sums lose the digits of the values, or say how many they lose."""
    square = float(np.einsum("...k,...k", Phi, Phi).max())
    rule = "lam * sigma^2 must be at least {:g} of the largest row of features, squared"
    found = f"it is {ridge:g}, and the square {square:g}"
    if ridge < LEAST_RIDGE * square:
        hint = "Raise lam or sigma; rlsvi_core.suggest_parameters says how far."
        checks.fail(rule.format(LEAST_RIDGE), found, hint)
    if ridge < SAFE_RIDGE * square:
        checks.warn(
            f"for values to keep four digits {rule.format(SAFE_RIDGE)}",
            found,
            "Raise lam or sigma, or pass printed=True: here the values of the first episodes, "
            "as many as there are features, are rough.",
        )


class Statistics(NamedTuple):
    """Sufficient statistics; T is H, or 1 for one regression."""

    U: Floats  # (T, K, K) factor of M
    c: Floats  # (T, K) Σ φ r
    g: Floats  # (H, S, K) Σ φ over transitions into s'
    followed: Ints  # (H, S) the states that ever followed period h, in order of first visit
    number: Ints  # (H,) how many there are
    seen: Array  # (H, S) whether s' is among them


def no_data(H: int, S: int, K: int, root: float, T: int | None = None) -> Statistics:
    """Before any data: U'U is the prior's part of M, root² I."""
    T = H if T is None else T
    return Statistics(
        np.tile(root * np.eye(K), (T, 1, 1)),
        np.zeros((T, K)),
        np.zeros((H, S, K)),
        np.zeros((H, S), np.int64),
        np.zeros(H, np.int64),
        np.zeros((H, S), np.bool_),
    )


@inlined
def add_transition(
    Phi: Floats, data: Any, h: int, s: int, a: int, r: float, s_next: int, row: Floats
) -> None:
    """Add one transition to the sums, of a record with these fields; ``row`` is scratch space of length
    K."""
    t = h if data.U.shape[0] > 1 else 0
    for k in range(row.shape[0]):
        row[k] = Phi[h, s, a, k]
        data.c[t, k] += r * row[k]
    if s_next != ENDED:
        if not data.seen[h, s_next]:
            data.seen[h, s_next] = True
            data.followed[h, data.number[h]] = s_next
            data.number[h] += 1
        for k in range(row.shape[0]):
            data.g[h, s_next, k] += row[k]
    add_row(data.U[t], row)


@jit
def add_next_values(
    data: Any,
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
    g, followed = data.g, data.followed
    gamma, low, high = targets
    last, masked = data.number[h] - 1, closed.size > 0
    for i in range(0, last + 1, 2):
        s, t = followed[h, i], followed[h, min(i + 1, last)]
        V, W = -np.inf, -np.inf
        for a in range(Phi.shape[2]):
            q_s, q_t = 0.0, 0.0
            for k in range(x.shape[0]):
                q_s += Phi[n, s, a, k] * theta[k]
                q_t += Phi[n, t, a, k] * theta[k]
            if masked:
                q_s = -np.inf if closed[n, s, a] else q_s
                q_t = -np.inf if closed[n, t, a] else q_t
            V, W = max(V, q_s), max(W, q_t)
        V, W = gamma * min(max(V, low), high), gamma * min(max(W, low), high)
        if i == last:
            W = 0.0  # beyond the last one nothing is added
        for k in range(x.shape[0]):
            x[k] += V * g[h, s, k] + W * g[h, t, k]


class Data(NamedTuple):
    """What compiled code works on: the sums, side by side with the rest, because a record in a record
    costs time in every step."""

    U: Floats
    c: Floats
    g: Floats
    followed: Ints
    number: Ints
    seen: Array
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
    Phi, closed, theta = data.Phi, data.closed, data.theta
    theta[:] = 0.0
    if not data.any[0]:
        return
    H, K = theta.shape
    x, z = np.empty(K), np.zeros((H, K))
    if data.noise > 0.0:
        fill_noise(rng, z)
    for h in range(H - 1, -1, -1):  # Algorithm 1, line 1
        for k in range(K):
            x[k] = data.c[h, k]
        if h < H - 1:  # line 2: A'b
            add_next_values(data, h, Phi, closed, h + 1, theta[h + 1], data.targets, x)
        solve_transposed(data.U[h], x)
        draw(data.U[h], x, data.noise, z[H - 1 - h], theta[h])  # lines 3 and 4


@jit
def _sweep(data: Data, sweeps: int, settle: bool, rng: Generator, mean: Floats) -> None:
    """Fits of one weight vector, all with the same noise, each with the weights of the one before in
    its targets: Algorithm 7, or weights that periods share. They start from ``data.theta[0]``."""
    Phi, (H, K) = data.Phi, data.theta.shape
    x, z, theta, nothing = np.empty(K), np.zeros(K), data.theta[0].copy(), np.zeros(K)
    if data.noise > 0.0:
        fill_noise(rng, z)
    for _ in range(sweeps):
        for k in range(K):
            x[k] = data.c[0, k]
        for h in range(max(H - 1, 1)):
            n = min(h + 1, H - 1)
            add_next_values(data, h, Phi, data.closed, n, theta, data.targets, x)
        solve_transposed(data.U[0], x)
        change, largest = 0.0, 1.0
        mean[0], nothing[:] = 0.0, 0.0
        draw(data.U[0], x, 0.0, z, mean[0])
        draw(data.U[0], x, data.noise, z, nothing)
        for k in range(K):
            change, largest = max(change, abs(nothing[k] - theta[k])), max(largest, abs(nothing[k]))
            theta[k] = nothing[k]
        if settle and change <= SETTLED * largest:
            break
    for h in range(H):
        data.theta[h], mean[h] = theta, mean[0]


@inlined
def _values(data: Data, h: int, s: int, q: Floats) -> None:
    row_values(data.Phi[h, s], data.theta[h], q)


@inlined
def _add(data: Data, h: int, s: int, a: int, r: float, s_next: int) -> None:
    add_transition(data.Phi, data, h, s, a, r, s_next, data.row)
    data.any[0] = True


_loop = compiled_loop(_fit, _values, _add)


class Sums(Learner):
    """Keeps sums, not data; the same weights as ``Printed``."""

    def __init__(self, problem: Problem) -> None:
        phi = problem.features
        assert isinstance(phi, Table)
        check_ridge(phi.Phi, problem.ridge)
        self.problem, self.H, self.S, self.A = problem, phi.H, phi.Phi.shape[1], phi.Phi.shape[2]
        self.Phi, (H, S, A, K) = phi.Phi, phi.Phi.shape
        root = math.sqrt(problem.lam) * problem.sigma
        self.sums = no_data(H, S, K, root, H if problem.apart else 1)
        self.masks = Masks(H, S, A)
        self.any = np.array([problem.options.first == "prior"])
        self._row: Floats = np.empty(K)

    def compiled(self, env: Any, limit: int | None) -> Callable[[Weights, Task], None] | None:
        if type(env) not in COMPILED or not self.problem.apart or self.masks.closed.size:
            return None

        def play(fitted: Weights, task: Task) -> None:
            _loop(env, self.H, self.H, self.data(fitted, task.sample), task)

        return play

    def room(self) -> Weights:
        return Weights(np.zeros((len(self.Phi), self.Phi.shape[3])))

    def data(self, fitted: Weights, sample: bool) -> Data:
        problem = self.problem
        return Data(
            *self.sums,
            self.Phi,
            self.masks.closed,
            self.any,
            problem.sigma if sample else 0.0,
            Targets(problem.gamma, problem.low, problem.high),
            self._row,
            fitted.theta,
        )

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        H, K = len(self.Phi), self.Phi.shape[3]
        theta, sample = np.zeros((H, K)), rng is not None
        rng = np.random.default_rng(0) if rng is None else rng
        if self.problem.apart:
            _fit(self.data(Weights(theta), sample and self.any[0]), rng)
            return Weights(theta)
        mean = np.zeros((H, K))
        if self.any[0]:
            if before is not None and self.H is None:
                theta[:] = before.theta if sample else before.mean
            settle = self.problem.sweeps == math.inf
            sweeps = MOST_SWEEPS if settle else int(self.problem.sweeps)
            _sweep(self.data(Weights(theta), sample), sweeps, settle, rng, mean)
            check_growth(theta)
        return Weights(theta, mean)

    def values(self, fitted: Weights, h: int, s: int) -> Floats:
        h, q = self._period(h), np.empty(self.Phi.shape[2])
        s = checks.index("s", s, self.Phi.shape[1])
        row_values(self.Phi[h, s], fitted.theta[h], q)
        return self.masks.masked(h, s, q)

    def _period(self, h: int) -> int:
        return 0 if self.H is None else checks.index("h", h, self.H)

    def add(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: Any = None
    ) -> None:
        h, (_, S, A, _) = self._period(h), self.Phi.shape
        s, a = checks.index("s", s, S), checks.index("a", a, A)
        ended = s_next is None or h + 1 == self.H
        s_next = ENDED if ended else checks.index("s_next", s_next, S)
        if not ended:
            self.masks.close(0 if self.H is None else h + 1, s_next, legal_next)
        _add(self.data(Weights(self._row[None]), False), h, s, a, r, s_next)
