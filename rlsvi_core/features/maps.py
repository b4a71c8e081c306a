"""Feature maps: tables, functions, state features crossed with actions, and one-hot features.

A :class:`FeatureMap` computes the rows Φ_h(s, ·). ``FeatureMap.wrap`` makes one of an
(H, S, A, K) table, of an (S, A, K) one that serves all periods, or of a function of the
observation that returns (A, K) rows. Features that change with the period are a table or a subclass.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..runtime.checks import (
    MAX_COUNT,
    as_float_array,
    check_array,
    check_index,
    check_integer,
    fail,
)
from ..runtime.compilation import Array, Floats

__all__ = ["FeatureMap", "OneHot", "PerActionFeatures", "one_hot"]


def _check_horizon(H: Any) -> int | None:
    return (
        None
        if H is None
        else check_integer(
            "H", H, 1, hint="It counts the periods of an episode; leave it out to discount."
        )
    )


def _call_features(function: Callable[[Any], Any], s: Any) -> Floats:
    """What a user's function returns, as an array of numbers."""
    x = function(s)
    return (
        x
        if type(x) is np.ndarray and x.dtype == float
        else as_float_array("what features return", x)
    )


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
        The rows are block diagonal, with so many blocks; see :meth:`block_rows`.

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

    def block_rows(self, h: int, s: Any) -> Floats:
        """The rows without the zeros of a block-diagonal structure: an (n, d) array X with d =
        K/blocks, such that the values of all actions are ``X @ theta.reshape(blocks, d).T``."""
        return self(h, s)

    @staticmethod
    def wrap(features: Any, H: int | None = None) -> "FeatureMap":
        """A feature map as it is, or made of a table or a function; ``H`` gives it a horizon."""
        H = _check_horizon(H)
        if not isinstance(features, FeatureMap):
            return (
                FunctionFeatures(features, H) if callable(features) else FeatureTable(features, H)
            )
        _check_horizon(features.H)
        if features.H is not None and H not in (None, features.H):
            fail(f"H is the features' own, {features.H}; H={H} was given. Leave it out.")
        phi: FeatureMap = features
        for kind in (FeatureTable, PerActionFeatures, OneHot):
            kept = type(phi).block_rows is kind.block_rows
            if isinstance(phi, kind) and kept and type(phi).__call__ is not kind.__call__:
                phi = CustomFeatures(phi)
        return phi if H in (None, phi.H) else phi._with_horizon(H)

    def _with_horizon(self, H: int | None) -> "FeatureMap":
        """The same features for H periods."""
        longer = copy.copy(self)
        longer.H = H
        return longer


class FeatureTable(FeatureMap):
    """The rows of an (H, S, A, K) array, or of an (S, A, K) one, stored once, that serves all
    periods; states, actions and periods are numbers."""

    def __init__(self, Phi: Any, H: int | None = None) -> None:
        Phi = as_float_array("Phi", Phi)
        H = _check_horizon(H)
        axes = ("S", "A", "K") if Phi.ndim == 3 else ("H", "S", "A", "K")
        Phi = check_array("Phi", Phi, axes)
        if len(axes) == 3:
            self.H = H
            Phi = np.broadcast_to(Phi, (H or 1, *Phi.shape))
        elif H not in (None, len(Phi)):
            fail(f"Phi has its own H={len(Phi)} periods; H={H} was given. Leave it out.")
        else:
            self.H = len(Phi)
        self.Phi: Floats = Phi
        self.S, self.A, self.K = Phi.shape[1:]

    def _with_horizon(self, H: int | None) -> "FeatureTable":
        return FeatureTable(self.Phi[0], H)

    def __call__(self, h: int, s: int) -> Floats:
        h = 0 if self.H is None else h
        return np.asarray(
            self.Phi[check_index("h", h, len(self.Phi)), check_index("s", s, self.S or 0)]
        )


class FunctionFeatures(FeatureMap):
    """The rows that a function of the observation returns, the same in all periods."""

    def __init__(self, function: Callable[[Any], Any], H: int | None = None) -> None:
        self.function = function
        self.H = _check_horizon(H)

    def __call__(self, h: int, s: Any) -> Floats:
        return _call_features(self.function, s)


class CustomFeatures(FeatureMap):
    """The rows of a subclass that has a ``__call__`` of its own: what is known of its parent's rows
    does not hold for them."""

    def __init__(self, features: FeatureMap) -> None:
        self.features = features
        self.H = features.H
        self.K = features.K
        self.S = features.S
        self.A = features.A

    def __call__(self, h: int, s: Any) -> Floats:
        return self.features(h, s)


class PerActionFeatures(FeatureMap):
    """State features crossed with the actions: each action has weights of its own for them.

    Parameters
    ----------
    phi : callable
        A function of the observation that returns d features.
    A : int
        Number of actions.
    d : int
        Number of features; if left out, it is taken from the first call.
    H : int, optional
        Number of periods, or None for one weight vector for all time.

    Examples
    --------
    >>> line = PerActionFeatures(lambda s: [1.0, s], A=2)
    >>> line(0, 0.5)
    array([[1. , 0.5, 0. , 0. ],
           [0. , 0. , 1. , 0.5]])
    >>> line.block_rows(0, 0.5)
    array([[1. , 0.5]])
    """

    def __init__(self, phi: Callable[[Any], Any], A: int, d: int = 0, H: int | None = None) -> None:
        self.phi = phi
        d = check_integer("d", d, hint="d counts features; 0: the first call tells.")
        self.A = self.blocks = self.check_feature_count(A, d)
        self.H = _check_horizon(H)
        self.K = self.A * d

    @staticmethod
    def check_feature_count(A: Any, d: int) -> int:
        """Refuse more features than a regression has memory for, a d × d matrix for each action,
        before anything is made; returns the number of actions, checked."""
        n = check_integer("A", A, 1, hint="A counts actions: env.action_space.n, say.")
        if d > (most := math.isqrt(MAX_COUNT // n)):
            fail(f"for {n} actions there is memory for {most} features; there are {d}.")
        return n

    def __repr__(self) -> str:
        d = f", d={self.K // self.blocks}" if self.K > 0 else ""
        return f"PerActionFeatures(A={self.A}{d})"

    def block_rows(self, h: int, s: Any) -> Floats:
        """φ(s) as the one row of a (1, d) array."""
        phi = _call_features(self.phi, s)
        if not self.K:
            self.check_feature_count(self.blocks, phi.size)
        if phi.ndim != 1 or not phi.size or (self.K and phi.size * self.blocks != self.K):
            d = self.K // self.blocks
            fail(
                f"phi returns a vector of {d or 'd'} state features; it returned shape {phi.shape}."
            )
        return phi[None]

    def __call__(self, h: int, s: Any) -> Floats:
        return np.asarray(np.kron(np.eye(self.blocks), self.block_rows(h, s)), float)


@dataclass(frozen=True)
class OneHot(FeatureMap):
    """One feature for each state-action pair, Φ_h = I, without storing the table.

    With a horizon the features are in the order of the pairs (s, a), all actions of a state side by
    side. Without one they are state features crossed with actions, all states of an action side by
    side, in as many blocks as there are actions. A plan looks at each pair and at each state that was
    seen to follow it: it is fast where few states can follow, and slow where any of many can.

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
                    self, name, check_integer(name, value, 1, hint="Pass H=5, S=3, A=2, say.")
                )
        object.__setattr__(self, "K", self.S * self.A)
        object.__setattr__(self, "blocks", self.A if self.H is None else 1)

    def _with_horizon(self, H: int | None) -> "OneHot":
        return replace(self, H=H)

    def __call__(self, h: int, s: int) -> Floats:
        if self.H is None:
            return np.asarray(np.kron(np.eye(self.A), self.block_rows(h, s)), float)
        check_index("h", h, self.H)
        return np.eye(self.A, self.K, check_index("s", s, self.S) * self.A)

    def block_rows(self, h: int, s: int) -> Floats:
        """Without a horizon the indicator of s, as the one row of a (1, S) array."""
        return np.eye(1, self.S, check_index("s", s, self.S)) if self.H is None else self(h, s)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self.H is None:
            return np.array([self(0, s) for s in range(self.S)], dtype)
        table = np.eye(self.K, dtype=dtype).reshape(1, self.S, self.A, self.K)
        return np.tile(table, (self.H, 1, 1, 1))


one_hot = OneHot  # by the name that bases have
