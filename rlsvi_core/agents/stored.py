r"""Algorithms 1, 3 and 7 for features computed on the fly: rows in arrays, fits by matrix products.

The same weights as ``verbatim`` from the same draws, for any feature map with a fixed number of
actions A. A map with ``blocks`` = B has rows that are zero outside one of B blocks of
:math:`d = K/B` columns. State features crossed with actions have B = A and one :math:`\phi(s)` of
length d; rows of no special kind have B = 1 and d = K. In both cases the values of all actions at s
are the A entries of :math:`X \theta^\top` with X of shape (A/B, d) and θ of shape (B, d), and the
regression falls into B regressions of d weights:

.. math:: G_b = \sum_{i \in b} x_i^\top x_i, \qquad
    G_b + \lambda\sigma^2 I = U_b^\top U_b, \qquad
    \tilde\theta_b = U_b^{-1}\bigl(U_b^{-\top} \sum_{i \in b} x_i^\top b_i + \sigma z_b\bigr).

A transition adds its square to one :math:`G_b` and subtracts it when it leaves the window. Once per
window length G is summed again, so that rounding errors do not accumulate.

**Cost** for N transitions kept: :math:`d^2` for a transition and :math:`B d^3/3` for a plan, then
:math:`4 N A d` for each sweep (two products, of all next states with θ and of all rows with the
targets); memory for :math:`N (1 + A/B) d` numbers. An observation's features are computed once per
step. ``python -m benchmarks.tasks`` measures a step beside the environment alone.

**What works.** Without a horizon, one fit per episode moves the values by one step of value
iteration, which is too little. So the default is ten sweeps, each starting from the weights of the
last, all with the same normal draws, so that they converge to the values of *one* random model.
Clip the targets to the range of values (``value_range`` of :func:`rlsvi_core.agents.rlsvi` does):
where features extrapolate, they may otherwise grow without bound.
"""

import math
from collections import deque
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyr, dtrsv

from .. import checks
from ..compiled import Array, Floats, jit
from ..features import FeatureMap
from ..regression import draw_blocks, drawn_sigma
from ..waiting import HELD
from .acting import positions
from .base import LinearAgent, repeated
from .choices import Choices
from .discounted import DiscountedAgent
from .finite import FiniteAgent, Targets
from .mapped import MappedAgent
from .tabular import TabularAgent

__all__ = ["StoredAgent"]


@jit
def targets_of(q: Floats, legal: Array, ended: Array, r: Floats, targets: Targets) -> Floats:
    """r + γṼ of each transition; q holds, block by block, the values of what follows."""
    b, B, rows = r.copy(), q.shape[0], q.shape[1] // max(r.size, 1)
    for i in range(r.size):
        if not ended[i]:
            V = -np.inf
            for a in range(legal.shape[1]):
                value = q[a % B, i * rows + a // B]
                if legal[i, a] and (value > V or math.isnan(value)):
                    V = value
            if V < targets.low:
                V = targets.low
            elif V > targets.high:
                V = targets.high
            b[i] += targets.gamma * V
    return b


Factors = list[tuple[Any, Array]]  # for each block, which weights have data, and their U


class Rows:
    """The last transitions of one regression, and the squares of their rows."""

    def __init__(self, window: int | None, shape: tuple[int, ...], blocks: int) -> None:
        n, d = shape
        self.window, self.count, self.newest = window, 0, -1
        self.gram = np.zeros((blocks, d, d))  # the lower halves are used
        self._columns: list[Array] = [  # one entry per transition
            np.zeros((0, d)),
            np.zeros(0, np.int64),
            np.zeros(0),
            np.zeros((0, n, d)),
            np.zeros((0, n * blocks), np.bool_),
            np.zeros(0, np.bool_),
        ]
        self._factor: tuple[float, Factors] = (0.0, [])  # of which ridge
        self._waiting: deque[tuple[Any, ...]] = deque()

    @property
    def columns(self) -> list[Array]:
        """x, its block, r, the compact rows X' of what follows, which actions are open there, and
        whether nothing follows."""
        self.take_in()
        return [column[: self.count] for column in self._columns]

    def append(self, *transition: Any) -> None:
        """Add x, its block, r, X', open and ended. They are queued until they are needed:
        processing many at once takes half the time."""
        self._waiting.append(transition)

    def take_in(self) -> None:
        """Process the queue."""
        if self._waiting:
            with HELD:
                while self._waiting:
                    self._take_in(*self._waiting.popleft())

    def _take_in(self, *transition: Any) -> None:
        """Take in one transition; in a full window, in place of the oldest."""
        i = self.newest = (self.newest + 1) % (self.window or self.count + 1)
        X, block, *_ = self._columns
        if i < self.count:
            self._square(X[i], block[i], -1.0)
        elif i == len(block):
            capacity = min(2 * i + 64, self.window or 2 * i + 64)
            self._columns = [
                np.concatenate([c, np.zeros((capacity - i, *c.shape[1:]), c.dtype)])
                for c in self._columns
            ]
        for column, value in zip(self._columns, transition, strict=True):
            column[i] = value
        self.count = max(self.count, i + 1)
        self._square(transition[0], transition[1], 1.0)
        if i + 1 == self.window:
            self._square_again()
        self._factor = (0.0, [])

    def _square(self, x: Array, block: int, sign: float) -> None:
        dsyr(sign, x, a=self.gram[block].T, overwrite_a=1)

    def _square_again(self) -> None:
        X, block, *_ = self._columns  # the window is full
        for b in range(len(self.gram)):
            mine = X[block == b]
            self.gram[b] = mine.T @ mine

    def values(self, theta: Floats) -> Floats:
        """Block by block, the values of what follows; θ has a row for each block."""
        return np.asarray(theta @ self.columns[3].reshape(-1, theta.shape[1]).T)

    def sums(self, b: Floats) -> Floats:
        """A'b of each block."""
        X, block, *_ = self.columns
        apart = np.zeros((len(self.gram), len(b)))
        apart[block, np.arange(len(b))] = b
        return np.asarray(apart @ X)

    def _factors(self, ridge: float) -> Factors:
        L = np.linalg.cholesky(self.gram + ridge * np.eye(self.gram.shape[1]))
        return [(slice(None), U) for U in L.transpose(0, 2, 1)]

    def factor(self, ridge: float) -> Factors:
        """For each block the features that were ever on, and their U_b, as Fortran has it; kept
        until something is observed."""
        if self._factor[0] != ridge:
            try:
                self._factor = (ridge, self._factors(ridge))
            except np.linalg.LinAlgError:
                checks.fail(
                    "lam * sigma^2 must not be lost beside the squares of the features",
                    f"it is {ridge:g}, and they add up to {self.gram.max():g}",
                    "Raise lam or sigma; rlsvi_core.suggest_parameters says how far.",
                )
        return self._factor[1]


def _value(s: Any) -> Any:
    """An observation by its value, since an environment may write the next one into the same array;
    of what may change without a trace, something unlike any other."""
    if type(s) is np.ndarray and s.dtype.kind != "O":
        return s.dtype, s.shape, s.tobytes()
    if isinstance(s, (int, float, str, np.generic)):
        return type(s), s
    if isinstance(s, (tuple, list)):
        return type(s), *map(_value, s)
    if isinstance(s, dict):
        return dict, *map(_value, s.items())
    return object()


class StoredAgent(MappedAgent):
    """Keeps its transitions in arrays; the same interface and weights as ``VerbatimAgent``.

    Between ``observe(h, s, a, r, s_next)`` and the following ``act(h + 1, s_next)`` an observation
    is recognised by its value, and its features are computed once, if it is an array, a number or a
    string, or made of these by tuples, lists and dicts.

    Parameters
    ----------
    features, lam, sigma, options
        As for :class:`rlsvi_core.agents.base.LinearAgent`.

    Examples
    --------
    >>> import numpy as np
    >>> from rlsvi_core import rlsvi
    >>> agent = rlsvi(lambda s: np.kron(np.eye(2), [1.0, s]), value_range=(0, 1), rng=1)
    >>> agent.plan()
    >>> a = agent.act(0, 0.5)
    >>> agent.observe(0, 0.5, a, r=1.0, s_next=None)
    >>> agent
    StoredAgent(RLSVI, lam=1, sigma=0.02, gamma=0.99, clip=(0, 1), sweeps=10; rows of features; 1 transitions seen)
    """

    MADE_FOR = "rows of features"
    FASTER: tuple[type[LinearAgent], ...] = (TabularAgent, DiscountedAgent, FiniteAgent)
    OFFERS = LinearAgent.OFFERS | {
        "gamma",
        "clip",
        "weights",
        "window",
        "sweeps",
        "draws",
        "targets",
        "variance",
        "half_life",
        "redraw",
    }

    @classmethod
    def suits(cls, features: FeatureMap, choices: Choices) -> bool:
        """Whether every state has the same actions, and the options are supported."""
        return not has_varied_actions(features) and super().suits(features, choices)

    def __init__(self, features: Any, lam: float, sigma: float, **options: Any) -> None:
        self._shape: tuple[int, ...] = (0, 0)
        self._last: tuple[Any, Any, Array] = (None, None, np.zeros(0))  # h, what it was, its rows
        super().__init__(features, lam, sigma, **options)
        if has_varied_actions(self.features):
            checks.fail(
                "StoredAgent needs the same actions in every state and no known weights",
                f"{type(self.features).__name__} has others",
                "Leave form out, or pass form=VerbatimAgent.",
            )

    def _allocate(self, K: int) -> None:
        B = self.features.blocks
        A = self.A or self._shape[0] * B
        if K == 0 or A == 0:  # the first observation will tell
            self.data, self.theta = [], np.zeros((self.H or 1, 0))
            self.mean = self.theta.copy()
            return
        self._shape, self.A, self._numbers = (A // B, K // B), A, np.arange(A)
        periods = self.H or 1 if self.apart else 1
        checks.array_size("the regressions", periods + 3, B, K // B, K // B)  # 3 in a plan
        super()._allocate(K)

    def _no_data(self) -> Rows:
        return Rows(self.choices.window, self._shape, self.features.blocks)

    def _rows(self, h: int, s: Any) -> Array:
        """The compact rows of an observation, checked."""
        X = checks.numbers("features", self.features.compact(h, s))  # a map may use it again
        first = self._shape == (0, 0) and X.ndim == 2 and X.size > 0
        if X.shape != self._shape and not first:
            rows = self._shape[0] or "actions"
            checks.fail(
                f"features must have shape ({rows}, {self._shape[1] or 'K'}) for every observation",
                f"for {s!r} they have {X.shape}",
                "Return a "
                "row for each action, the same number of them always; legal= says which "
                "are allowed.",
            )
        if not math.isfinite(np.vdot(X, X)):
            checks.fail(
                "features must be finite",
                f"for {s!r} entry {np.argwhere(~np.isfinite(X))[:1].tolist()} is not",
                "rlsvi_core.features.check says where; scale or correct the observation.",
            )
        if first:
            with HELD:
                self._shape = X.shape
                self._allocate(X.shape[1] * self.features.blocks)
                if not self.has_no_data:
                    self._estimate()
        return X

    def _recalled(self, h: int, s: Any) -> Array:
        """The same, without a second call for the observation that was the last one."""
        if self._last[:2] != (h, value := _value(s)):
            self._last = (h, value, self._rows(h, s))
        return self._last[2]

    def _actions(self, h: int, s: Any) -> Array:
        if not self.data:  # nothing is known yet
            self._recalled(h, s)
        return self._numbers

    def _row_values(self, h: int, s: Any) -> Floats:
        period, X = self._period(h), self._recalled(h, s)
        q: Floats = X @ self.theta[period].reshape(-1, X.shape[1]).T
        return q.ravel()

    def _keep(self, h: int, s: Any, at: int, r: float, s_next: Any | None, legal_next: Any) -> None:
        here, B = self._recalled(h, s), self.features.blocks
        there: Any = 0.0
        legal: Any = True
        if s_next is not None:
            there = self._rows(h + 1, s_next)
            if legal_next is not None:
                legal = np.zeros(self._numbers.size, bool)
                legal[positions(self._numbers, legal_next)] = True
            self._last = (h + 1, _value(s_next), there)
        self.data[h if self.apart else 0].append(
            here[at // B], at % B, r, there, legal, s_next is None
        )

    def _estimate(self) -> None:
        if not self.data:  # nothing is known yet, not even K
            return
        for data in self.data:
            data.take_in()
        in_targets = self.theta if self.reading.targets == "sample" else self.mean
        after = in_targets[0] if self.H is None else np.zeros_like(in_targets[0])
        if self.apart:
            for h in reversed(range(len(self.data))):
                HELD.raise_late()
                self._fit(h, self.data[h], after, self._noise(self.data[h].count))
                after = in_targets[h]
            return
        (data,) = self.data
        noise = self._noise(data.count)
        for sweep in repeated(self.H or self.choices.sweeps, in_targets[0]):
            HELD.raise_late()
            if sweep > 0 and self.reading.draws == "per sweep":
                noise = self._noise(data.count)
            self._fit(0, data, after, noise)
            after = in_targets[0]
        self.mean[:], self.theta[:] = self.mean[0], self.theta[0]

    def _fit(self, h: int, data: Rows, after: Floats, noise: tuple[Floats, float]) -> None:
        """Set the weights of period h, given those in the targets."""
        _, _, r, _, legal, ended = data.columns
        B, d = data.gram.shape[:2]
        b = targets_of(
            data.values(after.reshape(B, d)),
            legal,
            ended,
            r,
            Targets(self.choices.gamma, *self.choices.clip),
        )
        z, g = noise[0].reshape(B, d), noise[1]
        sigma = 1.0 if self.reading.variance == "unknown" else self.sigma
        ridge = self.lam * sigma**2
        U, w = data.factor(ridge), data.sums(b)
        for i, (used, one) in enumerate(U):
            if len(one):
                w[i, used] = dtrsv(one, w[i, used], trans=1)  # U^{-T} A'b
        if not math.isnan(g):
            sigma = drawn_sigma(b @ b - (w * w).sum(), g)
        self.mean[h] = draw_blocks(U, ridge, w, 0.0, z)
        self.theta[h] = draw_blocks(U, ridge, w, sigma, z)


def has_varied_actions(phi: FeatureMap) -> bool:
    """Whether the actions differ from state to state, or some weights are known."""
    return bool(
        phi.known.size
        or type(phi).legal is not FeatureMap.legal
        or type(phi).following is not FeatureMap.following
    )
