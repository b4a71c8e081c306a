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

A transition adds its square to one :math:`G_b`; one that leaves the window takes it away again, and
when the window has gone round, G is summed again, so that rounding does not pile up.

**Cost** for N transitions kept: :math:`d^2` for a transition and :math:`B d^3/3` for a plan, then
:math:`4 N A d` for each sweep (two products, of all next states with θ and of all rows with the
targets); memory for :math:`N (1 + A/B) d` numbers. Measured on one busy core, for MountainCar with
A = 3, d = 200 random Fourier features and a full window of 20 000: 70 microseconds per step (act
and observe), of which the features take 19, and 12 milliseconds per sweep. An observation's
features are computed once per step.

**What works.** Without a horizon, one fit per episode moves the values by one step of value
iteration, too little: hence ten sweeps by default, each starting from the weights of the last, all
with the same normal draws, so that they converge to the values of *one* random model. Clip the
targets to the range of values (``value_range`` of :func:`rlsvi_core.agents.rlsvi` does): where
features extrapolate, they may otherwise grow without bound.
"""

import math
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyr, dtrsv

from .. import checks
from ..compiled import Array, Floats
from ..features import FeatureMap
from ..regression import draw_blocks, drawn_sigma
from .base import Choices, positions, repeated
from .mapped import MappedAgent

__all__ = ["StoredAgent"]


class Rows:
    """The last transitions of one regression, and the squares of their rows."""

    def __init__(self, window: int | None, shape: tuple[int, ...], blocks: int) -> None:
        n, d = shape
        self.window, self.count, self.newest = window, 0, -1
        self.gram = np.zeros((blocks, d, d))  # the lower halves are used
        self._columns: list[Array] = [  # one entry per transition
            np.zeros((0, d)), np.zeros(0, np.int64), np.zeros(0), np.zeros((0, n, d)),
            np.zeros((0, n * blocks), np.bool_), np.zeros(0, np.bool_)]
        self._factor: tuple[float, Any] = (0.0, None)  # of which ridge

    @property
    def columns(self) -> list[Array]:
        """x, its block, r, the compact rows X' of what follows, which actions are open there, and
        whether nothing follows."""
        return [column[:self.count] for column in self._columns]

    def append(self, *transition: Any) -> None:
        """Take in x, its block, r, X', open and ended; in a full window, in place of the oldest."""
        i = self.newest = (self.newest + 1) % (self.window or self.count + 1)
        X, block, *_ = self._columns
        if i < self.count:
            self._square(X[i], block[i], -1.0)
        elif i == len(block):
            room = min(2 * i + 64, self.window or 2 * i + 64)
            self._columns = [np.concatenate([c, np.zeros((room - i, *c.shape[1:]), c.dtype)])
                             for c in self._columns]
        for column, value in zip(self._columns, transition, strict=True):
            column[i] = value
        self.count = max(self.count, i + 1)
        self._square(transition[0], transition[1], 1.0)
        if i + 1 == self.window:
            X, block, *_ = self.columns
            for b in range(len(self.gram)):
                mine = X[block == b]
                self.gram[b] = mine.T @ mine

    def _square(self, x: Floats, block: int, sign: float) -> None:
        dsyr(sign, x, a=self.gram[block].T, overwrite_a=1)
        self._factor = (0.0, None)

    def factor(self, ridge: float) -> Any:
        """The U_b, each as Fortran has it; kept until something is observed."""
        if self._factor[0] != ridge:
            try:
                L = np.linalg.cholesky(self.gram + ridge * np.eye(self.gram.shape[1]))
            except np.linalg.LinAlgError:
                checks.fail("lam * sigma^2 must not be lost beside the squares of the features",
                            f"it is {ridge:g}, and they add up to {self.gram.max():g}",
                            "Raise lam or sigma; rlsvi_core.suggest_parameters says how far.")
            self._factor = (ridge, L.transpose(0, 2, 1))
        return self._factor[1]


class StoredAgent(MappedAgent):
    """Keeps its transitions in arrays; the same interface and weights as ``VerbatimAgent``.

    Between ``observe(h, s, a, r, s_next)`` and the following ``act(h + 1, s_next)`` an observation
    is recognised as the same object, and its features are computed once: do not change it in place.

    Parameters
    ----------
    features, lam, sigma, options : as for :class:`rlsvi_core.agents.base.LinearAgent`.

    Examples
    --------
    >>> import numpy as np
    >>> from rlsvi_core import rlsvi
    >>> agent = rlsvi(lambda s: np.kron(np.eye(2), [1.0, s]), value_range=(0, 1), rng=1)
    >>> agent.plan()
    >>> a = agent.act(0, 0.5)
    >>> agent.observe(0, 0.5, a, r=1.0, s_next=None)
    >>> agent
    StoredAgent(RLSVI, lam=1, sigma=0.02; 1 transitions seen)
    """

    OFFERS = frozenset({"gamma", "clip", "weights", "window", "sweeps", "draws", "targets",
                        "variance", "half_life"})

    @classmethod
    def suits(cls, features: FeatureMap, choices: Choices) -> bool:
        """Whether every state has the same actions, and the choices are offered."""
        return not has_varied_actions(features) and super().suits(features, choices)

    def __init__(self, features: Any, lam: float, sigma: float, **options: Any) -> None:
        self._shape: tuple[int, ...] = (0, 0)
        self._last: tuple[Any, Any, Floats] = (None, None, np.zeros(0))
        super().__init__(features, lam, sigma, **options)
        if has_varied_actions(self.features):
            checks.fail("StoredAgent needs the same actions in every state and no known weights",
                        f"{type(self.features).__name__} has others", "Leave form out, or pass "
                        "form=VerbatimAgent.")

    def _allocate(self, K: int) -> None:
        B = self.features.blocks
        A = self.A or self._shape[0] * B
        if K == 0 or A == 0:  # the first observation will tell
            self.data, self.theta = [], np.zeros((self.H or 1, 0))
            self.mean = self.theta.copy()
            return
        self._shape, self.A, self._numbers = (A // B, K // B), A, np.arange(A)
        super()._allocate(K)

    def _no_data(self) -> Rows:
        return Rows(self.choices.window, self._shape, self.features.blocks)

    def _rows(self, h: int, s: Any) -> Floats:
        """The compact rows of an observation, checked."""
        X = checks.numbers("features", self.features.compact(h, s))  # a map may use it again
        if self._shape == (0, 0) and X.ndim == 2 and X.size:
            self._shape = X.shape
            self._allocate(X.shape[1] * self.features.blocks)
            if not self.has_no_data:
                self._estimate()
        if X.shape != self._shape:
            rows = self._shape[0] or "actions"
            checks.fail(f"features must have shape ({rows}, {self._shape[1] or 'K'}) for every "
                        f"observation", f"for {s!r} they have {X.shape}", "Return a row for each "
                        "action, the same number of them always; legal= says which are allowed.")
        flat = X.ravel()
        if not math.isfinite(flat @ flat):
            checks.fail("features must be finite", f"for {s!r} entry "
                        f"{np.argwhere(~np.isfinite(X))[:1].tolist()} is not",
                        "rlsvi_core.features.check says where; scale or correct the observation.")
        return X

    def _recalled(self, h: int, s: Any) -> Floats:
        """The same, without a second call for the observation that was the last one."""
        if self._last[0] != h or self._last[1] is not s:
            self._last = (h, s, self._rows(h, s))
        return self._last[2]

    def plan(self) -> None:
        """Fix the weights for the coming episode."""
        self._last = (None, None, np.zeros(0))  # reset may have changed it in place
        super().plan()

    def _actions(self, h: int, s: Any) -> Array:
        self._recalled(h, s)
        return self._numbers

    def values(self, h: int, s: Any) -> Floats:
        """Q̃(s, ·), one value per action."""
        period, X = self._period(h), self._recalled(h, s)
        return np.asarray(X @ self.theta[period].reshape(-1, X.shape[1]).T).ravel()

    def _keep(self, h: int, s: Any, at: int, r: float, s_next: Any | None,
              legal_next: Any) -> None:
        here, B = self._recalled(h, s), self.features.blocks
        there, legal = np.zeros(self._shape), np.ones(self.A or 0, bool)
        if s_next is not None:
            there = self._rows(h + 1, s_next)
            if legal_next is not None:
                legal[:] = False
                legal[positions(self._numbers, legal_next)] = True
            self._last = (h + 1, s_next, there)
        self.data[h if self.apart else 0].append(
            here[at // B], at % B, r, there, legal, s_next is None)

    def _estimate(self) -> None:
        if not self.data:  # nothing is known yet, not even K
            return
        in_targets = self.theta if self.choices.targets == "sample" else self.mean
        after = in_targets[0] if self.H is None else np.zeros_like(in_targets[0])
        if self.apart:
            for h in reversed(range(len(self.data))):
                self._fit(h, self.data[h], after, self._noise(self.data[h].count))
                after = in_targets[h]
            return
        (data,) = self.data
        noise = self._noise(data.count)
        for sweep in repeated(self.H or self.choices.sweeps, in_targets[0]):
            if sweep > 0 and self.choices.draws == "per sweep":
                noise = self._noise(data.count)
            self._fit(0, data, after, noise)
            after = in_targets[0]
        self.mean[:], self.theta[:] = self.mean[0], self.theta[0]

    def _fit(self, h: int, data: Rows, after: Floats, noise: tuple[Floats, float]) -> None:
        """Set the weights of period h, given those in the targets."""
        X, block, r, following, legal, ended = data.columns
        B, d = data.gram.shape[:2]
        q = (after.reshape(B, d) @ following.reshape(-1, d).T).T.reshape(legal.shape)
        V = np.full(len(r), -np.inf)
        for a in range(legal.shape[1]):
            np.maximum(V, q[:, a], out=V, where=legal[:, a])
        V = np.minimum(np.maximum(V, self.choices.clip[0]), self.choices.clip[1])
        b = r + self.choices.gamma * np.where(ended, 0.0, V)
        apart = np.zeros((B, len(b)))
        apart[block, np.arange(len(b))] = b
        z, g = noise[0].reshape(B, d), noise[1]
        sigma = 1.0 if self.choices.variance == "unknown" else self.sigma
        U, w = data.factor(self.lam * sigma**2), apart @ X
        w = np.array([dtrsv(U[i], w[i], trans=1) for i in range(B)])  # U^{-T} A'b
        if not math.isnan(g):
            sigma = drawn_sigma(b @ b - (w * w).sum(), g)
        self.mean[h] = draw_blocks(U, w, 0.0, z)
        self.theta[h] = draw_blocks(U, w, sigma, z)


def has_varied_actions(phi: FeatureMap) -> bool:
    """Whether the actions differ from state to state, or some weights are known."""
    return bool(phi.known.size or type(phi).legal is not FeatureMap.legal
                or type(phi).following is not FeatureMap.following)
