r"""Algorithms 1, 3 and 7 for features computed on the fly: rows in arrays, fits by matrix products.

The same weights as the plain algorithms from the same draws, for any feature map with a fixed
number of actions A. A map with ``blocks`` = B has rows that are zero outside one of B blocks of
:math:`d = K/B` columns. State features crossed with actions have B = A and one :math:`\phi(s)` of
length d; rows of no special kind have B = 1 and d = K. In both cases the values of all actions at s
are the A entries of :math:`X \theta^\top` with X of shape (A/B, d) and θ of shape (B, d), and the
regression falls into B regressions of d weights:

.. math:: G_b = \sum_{i \in b} x_i^\top x_i, \qquad
    G_b + \lambda\sigma^2 I = U_b^\top U_b, \qquad
    \tilde\theta_b = U_b^{-1}\bigl(U_b^{-\top} \sum_{i \in b} x_i^\top b_i + \sigma z_b\bigr).

**Cost** for N transitions that something follows: :math:`d^2` for a transition and :math:`B d^3/3`
for a plan, then :math:`4 N A d` for each sweep (two products, of all next states with θ and of all
rows with the targets); memory for :math:`N (1 + A/B) d` numbers. Of a transition that nothing
follows, or any with γ = 0, only sums are kept: in a bandit neither time nor memory grows. An
observation's features are computed once per step.
``python -m benchmarks.tasks`` measures a step beside the environment alone.

**What works.** Without a horizon, one fit per episode moves the values by one step of value
iteration, which is too little. So the default is ten sweeps, each starting from the weights of the
last, all with the same normal draws, so that they converge to the values of *one* random model.
Truncate the targets to the range of values (``value_range`` of :func:`rlsvi_core.agents.rlsvi`
does): where features extrapolate, they may otherwise grow without bound.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dtrsv

from ..regression import check_ridge, draw_posterior_blocks, fill_noise
from ..runtime import checks
from ..runtime.compilation import Array, Floats, Generator, Ints, jit
from .base import RegressionLearner, RegressionProblem, TargetSpec, Weights, legal_indices


@jit
def next_row_values(q: Floats, legal: Array, ended: Array, targets: TargetSpec) -> Floats:
    """γṼ of what follows each transition, 0 if nothing does; q holds its values, block by block."""
    N = ended.size
    V = np.zeros(N)
    B = q.shape[0]
    rows = q.shape[1] // max(N, 1)
    for i in range(N):
        if not ended[i]:
            top = -np.inf
            for a in range(legal.shape[1]):
                block = a % B
                row = a // B
                value = q[block, i * rows + row]
                if legal[i, a] and (value > top or math.isnan(value)):
                    top = value
            if top < targets.low:
                top = targets.low
            elif top > targets.high:
                top = targets.high
            V[i] = targets.gamma * top
    return V


class TransitionArrays(NamedTuple):
    """Transitions, one entry each."""

    x: Floats  # (N, d) the row of the action, in its block
    block: Ints  # (N,)
    r: Floats  # (N,)
    next_rows: Floats  # (N, A/B, d) the compact rows of what follows
    legal: Array  # (N, A) which actions are allowed there
    ended: Array  # (N,) whether nothing follows

    def scatter_to_blocks(self, b: Floats, blocks: int) -> Floats:
        """b as a matrix with a row for each block."""
        out = np.zeros((blocks, len(b)))
        out[self.block, np.arange(len(b))] = b
        return out


class RegressionData(NamedTuple):
    """The data of one regression. What was added last waits in a list until a fit needs it, and is
    then taken in at once, so that an interrupt finds all of it or none."""

    columns: TransitionArrays  # not of transitions whose sums are enough
    total: int  # of all transitions, dropped ones too
    gram: Floats  # (B, d, d), of which the lower half is used
    c: Floats  # (B, d) Σ x r
    queue: list[tuple[Any, ...]]


def empty_data(n: int, d: int, blocks: int) -> RegressionData:
    """Before any data; n rows of d columns say what follows."""
    none = np.zeros(0)
    there = np.zeros((0, n, d))
    legal = np.zeros((0, n * blocks), bool)
    columns = TransitionArrays(there[:, 0], none.astype(int), none, there, legal, none.astype(bool))
    return RegressionData(columns, 0, np.zeros((blocks, d, d)), np.zeros((blocks, d)), [])


def merge_queued(
    kept: RegressionData, window: int | None, enough: Callable[[TransitionArrays], Array]
) -> RegressionData:
    """The same with what has waited; with a window, the last ones of all. Of some transitions sums
    are ``enough``."""
    if not kept.queue:
        return kept
    new = TransitionArrays._make(map(np.array, zip(*kept.queue, strict=True)))
    total = kept.total + len(new.r)
    gram = kept.gram.copy()
    c = kept.c.copy()
    _add_to_gram(new.x, new.block, new.r, gram, c)
    if window is None:
        needed = ~enough(new)
        new = TransitionArrays._make(column[needed] for column in new)
    both = zip(kept.columns, new, strict=True)
    columns = TransitionArrays._make(np.concatenate(pair)[-(window or 0) :] for pair in both)
    if window is not None:
        B = len(gram)
        gram = np.array([(X := columns.x[columns.block == b]).T @ X for b in range(B)])
        c = columns.scatter_to_blocks(columns.r, B) @ columns.x
    return RegressionData(columns, total, gram, c, [])


@jit
def _add_to_gram(x: Floats, block: Ints, r: Floats, gram: Floats, c: Floats) -> None:
    """Add Σ x'x, its lower half, and Σ x r of each block: row by row, so that it does not matter to
    the bit how many are taken in at a time, and so not when somebody looks."""
    for i in range(x.shape[0]):
        b = block[i]
        for j in range(x.shape[1]):
            if x[i, j] != 0.0:  # as most are, in tiles
                c[b, j] += x[i, j] * r[i]
                for k in range(j + 1):
                    gram[b, j, k] += x[i, j] * x[i, k]


def _cache_key(s: Any) -> Any:
    """An observation by its value, since an environment may write the next one into the same array;
    of what may change without a trace, something unlike any other."""
    if type(s) is np.ndarray and s.dtype.kind != "O":
        return s.dtype, s.shape, s.tobytes()
    return (type(s), s) if isinstance(s, (int, float, str, np.generic)) else object()


class RowLearner(RegressionLearner):
    """Keeps its transitions in arrays; the same weights as the plain algorithms.

    Examples
    --------
    >>> import numpy as np
    >>> from rlsvi_core import rlsvi
    >>> agent = rlsvi(lambda s: np.kron(np.eye(2), [1.0, s]), value_range=(0, 1), rng=1)
    >>> agent.plan()
    >>> a = agent.act(0, 0.5)
    >>> agent.observe(0, 0.5, a, r=1.0, s_next=None)
    >>> agent  # doctest: +NORMALIZE_WHITESPACE
    Agent(RowLearner(A=2), lam=1, sigma=0.005, value_range=(0, 1), gamma=0.99, by draws; 1
    transitions seen)
    """

    def __init__(self, problem: RegressionProblem) -> None:
        phi = problem.features
        self.problem = problem
        self.H = phi.H
        self.S = phi.S
        self.A = phi.A
        self.K = 0
        self.kept: list[RegressionData] = []  # of each regression, once the sizes are known
        self._last: tuple[Any, Any, Array] = (None, None, np.zeros(0))  # h, what it was, its rows
        self._largest = 0.0  # row so far, squared
        if phi.K and phi.A:
            self._allocate(phi.A // phi.blocks, phi.K // phi.blocks)

    def _allocate(self, n: int, d: int) -> None:
        B = self.problem.features.blocks
        fits = self.H or 1
        self.A = n * B
        self.K = B * d
        self.kept = [empty_data(n, d, B) for _ in range(fits)]

    def compact_rows(self, h: int, s: Any) -> Array:
        """The compact rows of an observation, checked; of the last one, without another call."""
        if self._last[:2] != (h, value := _cache_key(s)):
            self._last = (h, value, self._checked_rows(h, s))
        return self._last[2]

    def _checked_rows(self, h: int, s: Any) -> Array:
        # a map may use it again
        X = checks.as_float_array("features", self.problem.features.block_rows(h, s))
        if not self.kept and X.ndim == 2 and X.size:
            if self.problem.unit:
                checks.warn_feature_norm(X)
            self._allocate(*X.shape)
        shape = self.kept[0].columns.next_rows.shape[1:] if self.kept else ("actions", "K")
        if X.shape != shape:
            checks.fail(
                f"features have one shape, {shape}; for {s!r} it is {X.shape}. "
                "Return a row for each action; legal(h, s) says which are allowed."
            )
        if not math.isfinite(np.vdot(X, X)):
            checks.fail(f"features must be finite; for {s!r} they are {X!r}.")
        square = float(np.einsum("nd,nd->n", X, X).max())
        if square > self._largest:
            check_ridge(square, self.problem.ridge, self._largest)
            self._largest = square
        return X

    def values(self, fitted: Weights, h: int, s: Any) -> Floats:
        period = self._period_index(h)
        X = self.compact_rows(h, s)
        if not fitted.theta.size:  # fitted before the first observation told the sizes
            return np.zeros(self.A or 0)
        q: Floats = X @ fitted.theta[period].reshape(-1, X.shape[1]).T
        return q.ravel()

    def add(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        period = self._period_index(h)
        here = self.compact_rows(h, s)
        B = self.problem.features.blocks
        a = checks.check_index("a", a, self.A or 0)
        A = self.A or 0
        there = np.zeros_like(here)
        legal = np.ones(A, bool)
        ended = s_next is None or h + 1 == self.H
        if not ended:
            there = self.compact_rows(h + 1, s_next)
            if legal_next is not None:
                legal[:] = False
                legal[legal_indices(A, legal_next)] = True
        self.kept[period].queue.append((here[a // B], a % B, r, there, legal, ended))

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        self.flush_queue()
        return super().fit(rng, before)

    def flush_queue(self) -> None:
        """Take in all that has waited."""
        for h, kept in enumerate(self.kept):
            self.kept[h] = merge_queued(kept, self.problem.options.window, self.needs_sums_only)

    def needs_sums_only(self, new: TransitionArrays) -> Array:
        """Of which transitions nothing is needed but their sums."""
        return new.ended | (self.problem.gamma == 0)

    def has_no_data(self, rng: Generator | None) -> bool:
        no_prior = rng is None or self.problem.options.first == "uniform"
        return not self.K or (no_prior and not any(kept.total for kept in self.kept))

    def draw_noise(self, h: int, rng: Generator | None) -> tuple[Floats, Floats]:
        """The factor of each block, and its z."""
        z = np.zeros(self.kept[h].c.shape)
        if rng is not None:
            fill_noise(rng, z)
        return self._block_factors(self.kept[h]), z

    def _block_factors(self, data: RegressionData) -> Floats:
        """U_b of each block, as Fortran has it."""
        ridge = self.problem.ridge
        try:
            L = np.linalg.cholesky(data.gram + ridge * np.eye(data.gram.shape[1]))
        except np.linalg.LinAlgError:
            checks.fail(
                f"lam * sigma^2 is lost beside the squares of features; it is {ridge:g}. Raise it."
            )
        return np.asarray(L.transpose(0, 2, 1))

    def solve(self, h: int, after: Floats, noise: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        data = self.kept[h]
        U, z = noise
        columns = data.columns
        B, d = data.c.shape
        q = after.reshape(B, d) @ columns.next_rows.reshape(-1, d).T
        V = next_row_values(q, columns.legal, columns.ended, self.problem.targets)
        w = data.c + columns.scatter_to_blocks(V, B) @ columns.x
        for own, one in zip(w, U, strict=True):
            own[:] = dtrsv(one, own, trans=1)  # U^{-T} A'b
        return draw_posterior_blocks(U, w, 0.0, z), draw_posterior_blocks(
            U, w, self.problem.sigma, z
        )
