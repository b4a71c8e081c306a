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
Below :math:`10^{-14}` nothing is left, and it is refused. The plain algorithms, which never form
this sum, keep its digits.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..features import FeatureTable
from ..regression import (
    add_row,
    check_ridge,
    fill_noise,
    fill_posterior_draw,
    solve_upper_transposed,
)
from ..runtime.compilation import Array, Floats, Generator, Ints, jit, jit_inline
from ..runtime.loop import fill_action_values
from .base import (
    CONVERGENCE_TOL,
    TERMINAL,
    CompiledLearner,
    RegressionProblem,
    TargetSpec,
    Weights,
    compile_parts,
)


class FeatureSums(NamedTuple):
    """Sufficient statistics of each period; without a horizon, of one."""

    U: Floats  # (H, K, K) factor of M
    c: Floats  # (H, K) Σ φ r
    g: Floats  # (H, S, K) Σ φ over transitions into s'
    followed: Ints  # (H, S) the states that ever followed period h, in order of first visit
    number: Ints  # (H,) how many there are
    seen: Array  # (H, S) whether s' is among them


def empty_sums(H: int, S: int, K: int, root: float) -> FeatureSums:
    """Before any data: U'U is the prior's part of M, root² I."""
    return FeatureSums(
        np.tile(root * np.eye(K), (H, 1, 1)),
        np.zeros((H, K)),
        np.zeros((H, S, K)),
        np.zeros((H, S), np.int64),
        np.zeros(H, np.int64),
        np.zeros((H, S), np.bool_),
    )


@jit_inline
def add_transition(
    Phi: Floats, sums: FeatureSums, h: int, s: int, a: int, r: float, s_next: int, row: Floats
) -> None:
    """Add one transition to the sums; ``row`` is scratch space of length K."""
    for k in range(row.shape[0]):
        row[k] = Phi[h, s, a, k]
        sums.c[h, k] += r * row[k]
    if s_next != TERMINAL:
        if not sums.seen[h, s_next]:
            sums.seen[h, s_next] = True
            sums.followed[h, sums.number[h]] = s_next
            sums.number[h] += 1
        for k in range(row.shape[0]):
            sums.g[h, s_next, k] += row[k]
    add_row(sums.U[h], row)


@jit
def add_next_values(
    sums: FeatureSums,
    h: int,
    Phi: Floats,
    closed: Array,
    n: int,
    theta: Floats,
    targets: TargetSpec,
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


class SumRecord(NamedTuple):
    """What compiled code works on."""

    sums: FeatureSums
    Phi: Floats  # (H, S, A, K)
    closed: Array  # (H, S, A) what masks forbid, or empty
    any: Array  # (1,) whether there are data, or none are waited for
    targets: TargetSpec
    row: Floats  # scratch space
    sigma: float  # or 0 for the mean
    sweeps: int  # fits of one weight vector; 0 where there is a horizon, and one for each period
    fitted: Weights


@jit
def _fit_sums(data: SumRecord, rng: Generator) -> float:
    """Algorithms 1 and 7, or, with σ = 0, Algorithm 3, from the sums."""
    sums = data.sums
    theta = data.fitted.theta
    H, K = theta.shape
    change = 0.0
    if not data.any[0]:
        theta[:] = 0.0
        return change
    x = np.empty(K)
    last = np.empty(K)
    z = np.zeros((H, K))
    if data.sigma > 0.0:
        fill_noise(rng, z)
    for i in range(max(data.sweeps, H)):  # Algorithm 1, line 1
        h = 0 if data.sweeps > 0 else H - 1 - i
        after = h if data.sweeps > 0 else h + 1
        for k in range(K):
            x[k] = sums.c[h, k]
        if after < H:  # line 2: A'b
            add_next_values(sums, h, data.Phi, data.closed, after, theta[after], data.targets, x)
        solve_upper_transposed(sums.U[h], x)
        for k in range(K):
            last[k] = theta[h, k]
            theta[h, k] = 0.0
        fill_posterior_draw(sums.U[h], x, data.sigma, z[H - 1 - h], theta[h])  # lines 3 and 4
        if data.sweeps > 0:
            change = np.abs(theta[h] - last).max()
            if change <= (0.0 if data.sigma > 0.0 else CONVERGENCE_TOL * np.abs(theta[h]).max()):
                break
    return change


@jit_inline
def fill_linear_values(data: Any, h: int, s: int, q: Floats) -> None:
    """Fill q with the values of the weights in a record."""
    fill_action_values(data.Phi[h, s], data.fitted.theta[h], q)


@jit_inline
def _add_to_sums(data: SumRecord, h: int, s: int, a: int, r: float, s_next: int) -> None:
    add_transition(data.Phi, data.sums, h, s, a, r, s_next, data.row)
    data.any[0] = True


class SumLearner(CompiledLearner):
    """Keeps sums, not data; the same weights as Algorithms 1, 3 and 7."""

    parts = compile_parts(_fit_sums, fill_linear_values, _add_to_sums)

    def __init__(self, problem: RegressionProblem) -> None:
        phi = problem.features
        assert isinstance(phi, FeatureTable)
        check_ridge(float(np.einsum("...k,...k", phi.Phi, phi.Phi).max()), problem.ridge)
        self.problem = problem
        T, S, A, K = phi.Phi.shape
        record = SumRecord(
            empty_sums(T, S, K, math.sqrt(problem.lam) * problem.sigma),
            phi.Phi,
            np.zeros((0, S, A), bool),
            np.array([problem.options.first == "prior"]),
            problem.targets,
            np.empty(K),
            problem.sigma,
            0,
            Weights(np.zeros((T, K))),
        )
        super().__init__(phi.H, S, A, record)
