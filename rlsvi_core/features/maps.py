"""Feature maps: tables, functions, state features crossed with actions, and one-hot features.

A :class:`FeatureMap` computes the rows Φ_h(s, ·). ``FeatureMap.of`` makes one of an
(H, S, A, K) table, of an (S, A, K) one that serves all periods, or of a function of the
observation, or of period and observation, that returns (A, K) rows. ``check`` looks for what is
usually wrong.
"""

import copy
import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import MOST, array, array_size, fail, index, numbers, whole
from ..compiled import Array, Floats, Ints

__all__ = ["FeatureMap", "OneHot", "PerAction", "check", "one_hot"]


def _horizon(H: Any) -> int | None:
    return (
        None
        if H is None
        else whole("H", H, 1, hint="It counts the periods of an episode; leave it out to discount.")
    )


def _called(function: Callable[..., Any], of_period: bool, h: int, s: Any) -> Floats:
    """What a user's function returns, as an array of numbers."""
    x = function(h, s) if of_period else function(s)
    return x if type(x) is np.ndarray and x.dtype == float else numbers("what features return", x)


class FeatureMap:
    """(period, state) → one row of features for each action: what an agent generalises by.
    Subclass it and define ``__call__``.

    Attributes
    ----------
    H : int or None
        Number of periods, each with weights of its own, or None: one weight vector for all time.
    K : int
        Number of features whose weights are learned; 0 if it is known at the first call only.
    S, A : int or None
        Numbers of states and actions, where these are numbers.
    blocks : int
        The rows are block diagonal, with so many blocks; see :meth:`compact`.

    Examples
    --------
    >>> class Line(FeatureMap):                 # a position in [0, 1]; the actions: stay, jump
    ...     K = 4
    ...     def __call__(self, h, s):
    ...         return np.kron(np.eye(2), [1.0, s])
    >>> Line()(0, 0.5)
    array([[1. , 0.5, 0. , 0. ],
           [0. , 0. , 1. , 0.5]])
    """

    H: int | None = None
    K: int = 0
    S: int | None = None
    A: int | None = None
    blocks: int = 1

    def __call__(self, h: int, s: Any) -> Floats:
        """The (n, K) rows Φ(s, ·), one for each of n actions."""
        raise NotImplementedError

    def compact(self, h: int, s: Any) -> Floats:
        """The rows without the zeros of a block-diagonal structure: an (n, d) array X with d =
        K/blocks, such that the values of all actions are ``X @ theta.reshape(blocks, d).T``."""
        return self(h, s)

    @staticmethod
    def of(features: Any, H: int | None = None) -> "FeatureMap":
        """A feature map as it is, or made of a table or a function; ``H`` gives it a horizon."""
        H = _horizon(H)
        if isinstance(features, type):
            fail(
                "features are a map, a table or a function",
                f"{features.__name__} is a class",
                "Pass an instance of it.",
                TypeError,
            )
        if not isinstance(features, FeatureMap):
            return Computed(features, H) if callable(features) else Table(features, H)
        _horizon(features.H)
        if H in (None, features.H):
            return features
        if features.H is not None:
            fail(f"H is the features' own, {features.H}", f"H={H} was given", "Leave it out.")
        return features._over(H)

    def _over(self, H: int | None) -> "FeatureMap":
        """The same features for H periods."""
        longer = copy.copy(self)
        longer.H = H
        return longer


class Table(FeatureMap):
    """The rows of an (H, S, A, K) array, or of an (S, A, K) one, stored once, that serves all
    periods; states, actions and periods are numbers."""

    def __init__(self, Phi: Any, H: int | None = None) -> None:
        Phi, H = numbers("Phi", Phi), _horizon(H)
        axes = ("S", "A", "K") if Phi.ndim == 3 else ("H", "S", "A", "K")
        Phi = array(
            "Phi",
            Phi,
            axes,
            hint="It is a finite (H, S, A, K) array, or (S, A, K) for "
            "all periods; rlsvi_core.features makes such arrays.",
        )
        if len(axes) == 3:
            self.H, Phi = H, np.broadcast_to(Phi, (H or 1, *Phi.shape))
        elif H not in (None, len(Phi)):
            fail(f"Phi has its own H={len(Phi)} periods", f"H={H} was given", "Leave it out.")
        else:
            self.H = len(Phi)
        array_size("the regressions", len(Phi), Phi.shape[-1], Phi.shape[-1])
        self.Phi: Floats = Phi
        self.S, self.A, self.K = Phi.shape[1:]

    def __call__(self, h: int, s: int) -> Floats:
        h = 0 if self.H is None else h
        return np.asarray(self.Phi[index("h", h, len(self.Phi)), index("s", s, self.S or 0)])


def _of_period(function: Callable[..., Any]) -> bool:
    """Whether a feature function is one of period and observation, not of the latter alone."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # something built in
        return False
    except TypeError:
        fail(
            "features are a function of the observation, or of period and observation",
            f"it is {function!r}",
            "Pass lambda s: table[s], say.",
            TypeError,
        )
    takes = {n for n in range(3) if _can_bind(signature, n)}
    if takes.isdisjoint({1, 2}):
        fail(
            "features are a function of the observation, or of period and observation",
            f"it takes {signature}",
            "Pass lambda s: …, or lambda h, s: …; give other arguments a default.",
        )
    return 1 not in takes


def _can_bind(signature: inspect.Signature, n: int) -> bool:
    """Whether a function can be called with n arguments."""
    try:
        signature.bind(*range(n))
    except TypeError:
        return False
    return True


class Computed(FeatureMap):
    """The rows that a function of the observation, or of period and observation, returns."""

    def __init__(self, function: Callable[..., Any], H: int | None = None) -> None:
        self.function, self.H, self._of_period = function, _horizon(H), _of_period(function)

    def __call__(self, h: int, s: Any) -> Floats:
        return _called(self.function, self._of_period, h, s)


class PerAction(FeatureMap):
    """State features crossed with the actions: each action has weights of its own for them.

    Parameters
    ----------
    phi : callable
        A function of the observation, or of period and observation, that returns d features.
    A : int
        Number of actions.
    d : int
        Number of features; if left out, it is taken from the first call.
    H : int, optional
        Number of periods, or None for one weight vector for all time.

    Examples
    --------
    >>> line = PerAction(lambda s: [1.0, s], A=2)
    >>> line(0, 0.5)
    array([[1. , 0.5, 0. , 0. ],
           [0. , 0. , 1. , 0.5]])
    >>> line.compact(0, 0.5)
    array([[1. , 0.5]])
    """

    def __init__(self, phi: Callable[..., Any], A: int, d: int = 0, H: int | None = None) -> None:
        self.phi, self._of_period = phi, _of_period(phi)
        d = whole("d", d, hint="d counts features; 0: the first call tells.")
        self.A = self.blocks = self.check_size(A, d, f"d is {d}", "Choose fewer.")
        self.H, self.K = _horizon(H), self.A * d

    @staticmethod
    def check_size(A: Any, d: int, found: str, hint: str) -> int:
        """Refuse more features than a regression has memory for, a d × d matrix for each action,
        before anything is made; returns the number of actions, checked."""
        n = whole("A", A, 1, hint="A counts actions: env.action_space.n, say.")
        if d > (most := math.isqrt(MOST // n)):
            fail(f"for {n} actions there is memory for {most} features", found, hint)
        return n

    def __repr__(self) -> str:
        d = f", d={self.K // self.blocks}" if self.K > 0 else ""
        return f"PerAction(A={self.A}{d})"

    def compact(self, h: int, s: Any) -> Floats:
        """φ(s) as the one row of a (1, d) array."""
        phi = _called(self.phi, self._of_period, h, s)
        if not self.K:
            self.check_size(self.blocks, phi.size, f"phi returned {phi.size}", "Choose fewer.")
        if phi.ndim != 1 or not phi.size or (self.K and phi.size * self.blocks != self.K):
            d = self.K // self.blocks
            fail(
                f"phi returns a vector of {d or 'd'} features",
                f"it returned shape {phi.shape}",
                f"Pass d={phi.size}, or leave d out."
                if phi.ndim == 1 and phi.size
                else "Return the state's "
                "features alone, as a list; PerAction crosses them with the actions.",
            )
        return phi[None]

    def __call__(self, h: int, s: Any) -> Floats:
        return np.asarray(np.kron(np.eye(self.blocks), self.compact(h, s)), float)


@dataclass(frozen=True)
class OneHot(FeatureMap):
    """One feature for each state-action pair, Φ_h = I, without storing the table.

    With a horizon the features are in the order of the pairs (s, a), all actions of a state side by
    side. Without one they are state features crossed with actions, all states of an action side by
    side, in as many blocks as there are actions.

    Parameters
    ----------
    H, S, A : int
        Periods, states and actions; ``H=None`` is one weight vector for all time.

    Examples
    --------
    >>> Phi = OneHot(200, 500, 6)                           # 14 GB as an array
    >>> Phi, Phi(0, 499).shape
    (OneHot(H=200, S=500, A=6), (6, 3000))
    >>> OneHot(None, 3, 2)(0, 1)
    array([[0., 1., 0., 0., 0., 0.],
           [0., 0., 0., 0., 1., 0.]])
    """

    H: int | None
    S: int
    A: int

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            if name != "H" or value is not None:
                object.__setattr__(
                    self, name, whole(name, value, 1, hint="Pass H=5, S=3, A=2, say.")
                )
        array_size("a table of values", 5, self.H or 1, self.S, self.A)  # and of what was seen
        object.__setattr__(self, "K", self.S * self.A)
        object.__setattr__(self, "blocks", self.A if self.H is None else 1)

    def _over(self, H: int | None) -> "OneHot":
        return replace(self, H=H)

    def __call__(self, h: int, s: int) -> Floats:
        array_size("the rows", self.A, self.K)
        if self.H is None:
            return np.asarray(np.kron(np.eye(self.A), self.compact(h, s)), float)
        index("h", h, self.H)
        return np.eye(self.A, self.K, index("s", s, self.S) * self.A)

    def compact(self, h: int, s: int) -> Floats:
        """Without a horizon the indicator of s, as the one row of a (1, S) array."""
        return np.eye(1, self.S, index("s", s, self.S)) if self.H is None else self(h, s)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array_size("the table", self.H or 1, self.K, self.K)
        if self.H is None:
            return np.array([self(0, s) for s in range(self.S)], dtype)
        table = np.eye(self.K, dtype=dtype).reshape(1, self.S, self.A, self.K)
        return np.tile(table, (self.H, 1, 1, 1))


def one_hot(H: int | None, S: int | ArrayLike, A: int) -> FeatureMap:
    """One feature for each state-action pair; for several discrete components, one for each value
    of each component, and action.

    Parameters
    ----------
    H : int or None
        Number of periods, or None for one weight vector for all time.
    S : int or array_like of int
        Number of states, or the sizes of the components (``space.nvec`` of a MultiDiscrete).
        Components then add up; to tell all their combinations apart, number them by
        ``np.ravel_multi_index`` and pass that many states.
    A : int
        Number of actions.

    Returns
    -------
    FeatureMap
        :class:`OneHot`, which has fast forms with and without H, for S states; else ‖φ‖ = 1.

    Examples
    --------
    >>> one_hot(10, 16, 4)
    OneHot(H=10, S=16, A=4)
    >>> one_hot(None, (2, 3), 1)(0, (1, 2)).round(2)
    array([[0.  , 0.71, 0.  , 0.  , 0.71]])
    """
    if not isinstance(S, (list, tuple, np.ndarray)):
        n = whole("S", S, 1, hint="It counts states, or the values of each component.")
        return OneHot(H, n, A)
    sizes = [whole("S", n, 1, hint="It counts the values of each component.") for n in S]
    return PerAction(partial(_indicators, np.array(sizes, np.int64)), A, sum(sizes), H)


def _indicators(sizes: Ints, s: Any) -> Floats:
    """One feature on for each component, such that ‖φ‖ = 1."""
    s = np.atleast_1d(s)
    if s.shape != sizes.shape or s.dtype.kind not in "iu" or (s < 0).any() or (s >= sizes).any():
        fail(
            f"a state has components from 0 to below {sizes.tolist()}",
            f"it is {s.tolist()}",
            "Pass the sizes of the observation space.",
            IndexError,
        )
    phi = np.zeros(sizes.sum())
    phi[np.cumsum(sizes) - sizes + s] = 1 / math.sqrt(sizes.size)
    return phi


def check(features: Any, observations: Iterable[Any], h: int = 0) -> list[str]:
    """List what is wrong with features, by trying them on some observations.

    Parameters
    ----------
    features : FeatureMap, array_like or callable
        A feature map, a table, or a function of the observation, or of period and observation.
    observations : iterable
        Some dozens that an agent may meet.
    h : int
        The period to try.

    Returns
    -------
    list of str
        One sentence per problem; empty if there is none.

    Examples
    --------
    >>> check(lambda s: np.kron(np.eye(2), [1.0, s]), [0.1, 0.5])
    []
    >>> check(lambda s: [[1.0, s], [s, 1.0]], [0.5, float("nan")])
    ['observation 1 gives NaN or infinite features']
    """
    phi, found = FeatureMap.of(features), list[str]()
    rows = list[Floats]()
    for i, s in enumerate(observations):
        try:
            x = np.array(phi(h, s), float)  # a copy: a function may use its array again
        except Exception as error:  # whatever the function does
            return [f"observation {i} gives no array of numbers: {type(error).__name__}: {error}"]
        if x.ndim != 2 or x.size == 0:
            return [f"observation {i} gives shape {x.shape}; it must be (actions, K)"]
        if rows and x.shape != rows[0].shape:
            return [
                f"observation {i} gives shape {x.shape}, and observation 0 {rows[0].shape}: "
                f"the number of features must not change, and masks say what is legal"
            ]
        if not np.isfinite(x).all():
            found.append(f"observation {i} gives NaN or infinite features")
        rows.append(x)
    if not rows:
        fail("check tries some observations", "there are none", "Pass env.reset()[0], say.")
    X = np.array(rows)
    norms = np.sqrt((X**2).sum(axis=2))
    if X.shape[1] > 1 and (X == X[:, :1]).all(where=np.isfinite(X)):
        found.append("all actions have the same row everywhere: the agent cannot tell them apart")
    if len(X) > 1 and (X == X[:1]).all():
        found.append("all observations have the same rows: the agent cannot tell them apart")
    if (small := norms.min()) < (large := norms.max()) / 100:
        found.append(
            f"the norms of rows range from {small:.3g} to {large:.3g}: one lambda cannot "
            f"suit all; scale them to 1"
        )
    elif small < 0.1 or large > 10:
        found.append(
            f"the norms of rows range from {small:.3g} to {large:.3g}: lambda and sigma from "
            f"value_range are for rows of norm 1; scale them to it"
        )
    return found
