r"""Bases for observations in a box, :math:`s \in [low, high] \subset \mathbb R^m`.

Each gives state features :math:`\phi(s) \in \mathbb R^d` with :math:`\|\phi\| \le 1`, and every
action has weights of its own (:class:`rlsvi_core.features.maps.PerActionFeatures`):
:math:`Q(s, a) = \phi(s) \theta_a`, K = Ad. The box, a (low, high) pair or a Gymnasium ``Box``, says
which range matters; observations outside are clipped to it.
"""

import itertools
import math
from functools import partial
from typing import Any

import numpy as np

from ..runtime.checks import (
    MAX_ABS,
    as_float_array,
    as_generator,
    check_integer,
    check_positive,
    fail,
)
from ..runtime.compilation import Floats, Ints, Seed, jit
from .maps import PerActionFeatures

__all__ = ["polynomial", "random_fourier", "tiles"]


def _box_bounds(box: Any) -> tuple[Floats, Floats]:
    """The ends of a box, from a pair of arrays or a space that has them."""
    try:
        low, high = (box.low, box.high) if hasattr(box, "low") else box
    except (TypeError, ValueError):
        fail(f"a box is a pair (low, high) of arrays, or a space; it is {box!r}.")
    low = np.ravel(as_float_array("low", low))
    high = np.ravel(as_float_array("high", high))
    if (
        low.shape != high.shape
        or not low.size
        or not ((low < high) & (high < 1e30) & (low > -1e30)).all()
    ):
        fail(
            f"a box has finite ends with low < high in every coordinate; low is {low}, high {high}."
        )
    return low, high


@jit
def _scale_observation(low: Floats, high: Floats, left: float, x: Floats) -> bool:
    """Bring x from the box to [left, 1]ᵐ; returns whether it was finite."""
    for i in range(x.size):
        if not abs(x[i]) <= MAX_ABS:
            return False
        x[i] = min(max((x[i] - low[i]) / (high[i] - low[i]), 0.0), 1.0)
        x[i] = (1.0 - left) * x[i] + left
    return True


def _scaled_observation(low: Floats, high: Floats, s: Any, left: float = 0.0) -> Floats:
    """An observation in [left, 1]ᵐ."""
    x = as_float_array("an observation", s).ravel()
    if x.shape != low.shape or not _scale_observation(low, high, left, x):
        fail(f"an observation has the {low.size} coordinates of the box, all finite; it is {s!r}.")
    return x


def tiles(box: Any, A: int, tilings: int = 8, bins: int = 8) -> PerActionFeatures:
    """Tile coding: several grids over a box, shifted against each other; in each, one tile is on.

    Parameters
    ----------
    box : tuple of array_like, or gymnasium.spaces.Box
        (low, high), two arrays, or a space with ``low`` and ``high``.
    A : int
        Number of actions.
    tilings, bins : int
        How many grids, and tiles of a grid along a coordinate. There are
        d = tilings · (bins + 1)ᵐ features for m coordinates: for more than three, choose another
        basis.

    Returns
    -------
    PerActionFeatures
        ‖φ‖ = 1.

    Examples
    --------
    >>> tiles(([0.0], [1.0]), A=1, tilings=2, bins=2)(0, [0.3]).round(2)
    array([[0.71, 0.  , 0.  , 0.  , 0.71, 0.  ]])
    """
    low, high = _box_bounds(box)
    tilings = check_integer("tilings", tilings, 1, hint="Eight is usual.")
    bins = check_integer("bins", bins, 1, hint="Eight is usual.")
    d = tilings * (bins + 1) ** low.size
    PerActionFeatures.check_feature_count(A, d)
    odd = np.arange(1, 2 * low.size, 2)  # the usual displacement: 1, 3, 5, … along the axes
    shift = (np.arange(tilings)[:, None] * odd % tilings) / tilings
    strides = (bins + 1) ** np.arange(low.size)
    return PerActionFeatures(partial(_tile_features, low, high, bins, shift, strides), A, d)


@jit
def _active_tiles(x: Floats, bins: int, shift: Floats, strides: Ints) -> Ints:
    """The tile of each tiling that holds x."""
    on = np.empty(shift.shape[0], np.int64)
    n = strides[-1] * (bins + 1)
    for i in range(on.size):
        on[i] = i * n
        for j in range(x.size):
            on[i] += int(x[j] * bins * (1 - 1e-12) + shift[i, j]) * strides[j]
    return on


def _tile_features(
    low: Floats, high: Floats, bins: int, shift: Floats, strides: Ints, s: Any
) -> Floats:
    on = _active_tiles(_scaled_observation(low, high, s), bins, shift, strides)
    phi = np.zeros(on.size * (bins + 1) ** low.size)
    phi[on] = 1 / math.sqrt(on.size)
    return phi


def _random_fourier_features(low: Floats, high: Floats, W: Floats, scale: float, s: Any) -> Floats:
    """cos and sin of some frequencies: ‖φ‖ = 1."""
    angle = W @ _scaled_observation(low, high, s)
    phi = np.empty(2 * angle.size)
    np.cos(angle, out=phi[: angle.size])
    np.sin(angle, out=phi[angle.size :])
    phi *= scale
    return phi


def random_fourier(
    box: Any, A: int, d: int = 200, length_scale: float = 0.25, rng: Seed = None
) -> PerActionFeatures:
    """Random Fourier features (Rahimi and Recht 2007): φ(s)·φ(s') ≈ exp(−‖x − x'‖²/2ℓ²), with the
    box scaled to [0, 1]ᵐ.

    Parameters
    ----------
    box, A
        As for :func:`tiles`.
    d : int
        Number of features, an even one.
    length_scale : float or array_like
        ℓ, how far to generalise, as a part of the box: one number, or one a coordinate.
    rng : Generator, SeedSequence or int, optional
        A seed or generator for the frequencies.

    Returns
    -------
    PerActionFeatures
        ‖φ‖ = 1.

    Examples
    --------
    >>> phi = random_fourier(([-1.2, -0.07], [0.6, 0.07]), A=3, d=100, rng=1)
    >>> phi, np.linalg.norm(phi.block_rows(0, [0.1, 0.0])).round(9)
    (PerActionFeatures(A=3, d=100), np.float64(1.0))
    """
    low, high = _box_bounds(box)
    if check_integer("d", d, 2, hint="Pass d=200, say.") % 2:
        fail(f"d is even: a cosine and a sine for each frequency; it is {d}.")
    scale = as_float_array("length_scale", length_scale)
    if scale.shape not in ((), low.shape):
        fail(f"length_scale is one number or {low.size}, as coordinates; it is {length_scale!r}.")
    for one in scale.flat:
        check_positive(length_scale=one)
    PerActionFeatures.check_feature_count(A, d)
    W = as_generator(rng).standard_normal((d // 2, low.size)) / scale
    return PerActionFeatures(
        partial(_random_fourier_features, low, high, W, math.sqrt(2 / d)), A, d
    )


def polynomial(box: Any, A: int, degree: int = 2) -> PerActionFeatures:
    """All monomials up to a total degree, of the observation scaled to [−1, 1]ᵐ.

    Parameters
    ----------
    box, A
        As for :func:`tiles`.
    degree : int
        The highest total degree.

    Returns
    -------
    PerActionFeatures
        ‖φ‖ ≤ 1.

    Examples
    --------
    >>> polynomial(([0.0, 0.0], [1.0, 1.0]), A=1, degree=1)(0, [1.0, 0.5]).round(2)
    array([[0.58, 0.  , 0.58]])
    """
    low, high = _box_bounds(box)
    degree = check_integer("degree", degree, 1, hint="Two is usual.")
    m = low.size
    d = math.comb(m + degree, degree)
    PerActionFeatures.check_feature_count(A, d)
    # A monomial of lower degree has the factor 1, number m, for what it lacks.
    factors = itertools.combinations_with_replacement(range(m + 1), degree)
    C = np.array([np.bincount(some, minlength=m + 1)[:m] for some in factors])[::-1]
    C = np.ascontiguousarray(C, np.int64)
    return PerActionFeatures(
        partial(_monomial_features, low, high, np.arange(degree + 1.0), C), A, d
    )


@jit
def _monomial_products(powers: Floats, C: Ints) -> Floats:
    """The monomials, of the powers of each coordinate."""
    phi = np.empty(C.shape[0])
    scale = math.sqrt(C.shape[0])
    for k in range(C.shape[0]):
        x = powers[0, C[k, 0]]
        for i in range(1, C.shape[1]):
            x *= powers[i, C[k, i]]
        phi[k] = x / scale
    return phi


def _monomial_features(low: Floats, high: Floats, exponents: Floats, C: Ints, s: Any) -> Floats:
    return _monomial_products(_scaled_observation(low, high, s, -1.0)[:, None] ** exponents, C)
