r"""Bases for observations in a box, :math:`s \in [low, high] \subset \mathbb R^m`.

Each gives state features :math:`\phi(s) \in \mathbb R^d` with :math:`\|\phi\| \le 1`, and every
action has weights of its own (:class:`rlsvi_core.features.maps.PerAction`):
:math:`Q(s, a) = \phi(s) \theta_a`, K = Ad. The box, a (low, high) pair or a Gymnasium ``Box``, says
which range matters; observations outside are clipped to it.
"""

import itertools
import math
from functools import partial
from typing import Any

import numpy as np

from ..checks import LARGEST, fail, generator, numbers, positive, room, whole
from ..compiled import Floats, Ints, Seed
from .maps import PerAction

__all__ = ["fourier_basis", "polynomial", "random_fourier", "tiles"]


def _bounds(box: Any) -> tuple[Floats, Floats]:
    """The ends of a box, from a pair of arrays or a space that has them."""
    ends = (box.low, box.high) if hasattr(box, "low") else box
    if not (isinstance(ends, (tuple, list)) or (isinstance(ends, np.ndarray) and ends.ndim)) or (
            len(ends) != 2):
        fail("a box is a pair (low, high)", f"it is {box!r}",
             "Pass two arrays, the ends of the range that matters.")
    low, high = (np.ravel(numbers("an end of the box", end)) for end in ends)
    if low.shape != high.shape or not low.size or not (
            (low < high) & (high < 1e30) & (low > -1e30)).all():
        fail("a box has finite ends with low < high in every coordinate",
             f"low is {low.tolist()} and high {high.tolist()}",
             "Pass (low, high) with the range that matters; observations are clipped to it.")
    return low, high


def _unit(low: Floats, high: Floats, s: Any) -> Floats:
    """An observation in [0, 1]^m."""
    x = s if type(s) is np.ndarray and s.dtype == float else numbers("an observation", s)
    x = x.ravel()
    if x.shape != low.shape or not (np.abs(x) <= LARGEST).all():
        fail(f"an observation has the {low.size} coordinates of the box, all finite",
             f"it is {s!r}", "Pass the box of this observation space, and replace NaN.")
    return np.minimum(np.maximum((x - low) / (high - low), 0.0), 1.0)


def tiles(box: Any, A: int, tilings: int = 8, bins: int = 8) -> PerAction:
    """Tile coding: several grids over a box, shifted against each other; in each, one tile is on.

    Parameters
    ----------
    box : (low, high), two arrays, or a space with ``low`` and ``high``.
    A : number of actions.
    tilings, bins : how many grids, and tiles of a grid along a coordinate. There are
        d = tilings · (bins + 1)^m features for m coordinates: for more than three, choose another
        basis.

    Returns
    -------
    PerAction
        ‖φ‖ = 1.

    Examples
    --------
    >>> tiles(([0.0], [1.0]), A=1, tilings=2, bins=2)(0, [0.3]).round(2)
    array([[0.71, 0.  , 0.  , 0.  , 0.71, 0.  ]])
    """
    low, high = _bounds(box)
    tilings = whole("tilings", tilings, 1, hint="Eight is usual.")
    bins = whole("bins", bins, 1, hint="Eight is usual.")
    room("a row", tilings, *[bins + 1] * low.size)
    odd = np.arange(1, 2 * low.size, 2)  # the usual displacement: 1, 3, 5, … along the axes
    shift = (np.arange(tilings)[:, None] * odd % tilings) / tilings
    strides = (bins + 1) ** np.arange(low.size)
    d = tilings * (bins + 1) ** low.size
    room("the squares of the features", d, d)
    return PerAction(partial(_tiles, low, high, bins, shift, strides), A, d)


def _tiles(low: Floats, high: Floats, bins: int, shift: Floats, strides: Ints, s: Any) -> Floats:
    cells = (_unit(low, high, s) * bins * (1 - 1e-12) + shift).astype(int) @ strides
    n = (bins + 1) ** low.size
    phi = np.zeros(len(shift) * n)
    phi[np.arange(len(shift)) * n + cells] = 1 / math.sqrt(len(shift))
    return phi


def _waves(low: Floats, high: Floats, W: Floats, scale: float, s: Any) -> Floats:
    """cos and sin of some frequencies: ‖φ‖ = 1."""
    angle = W @ _unit(low, high, s)
    return scale * np.concatenate([np.cos(angle), np.sin(angle)])


def random_fourier(box: Any, A: int, d: int = 200, length_scale: float = 0.25,
                   rng: Seed = None) -> PerAction:
    """Random Fourier features (Rahimi and Recht 2007): φ(s)·φ(s') ≈ exp(−‖x − x'‖²/2ℓ²), with the
    box scaled to [0, 1]^m.

    Parameters
    ----------
    box, A : as for :func:`tiles`.
    d : number of features, an even one.
    length_scale : ℓ, how far to generalise, as a part of the box: one number, or one a coordinate.
    rng : a seed or generator for the frequencies.

    Returns
    -------
    PerAction
        ‖φ‖ = 1.

    Examples
    --------
    >>> phi = random_fourier(([-1.2, -0.07], [0.6, 0.07]), A=3, d=100, rng=1)
    >>> phi, np.linalg.norm(phi.compact(0, [0.1, 0.0])).round(9)
    (PerAction(A=3, d=100), np.float64(1.0))
    """
    low, high = _bounds(box)
    if whole("d", d, 2, hint="Pass d=200, say.") % 2:
        fail("d is even: a cosine and a sine for each frequency", f"it is {d}", "Pass d=200, say.")
    scale = numbers("length_scale", length_scale)
    if scale.shape not in ((), low.shape):
        fail(f"length_scale is one number, or one for each of {low.size} coordinates",
             f"it is {length_scale!r}", "Pass length_scale=0.25, say.")
    for one in scale.flat:
        positive(length_scale=one)
    room("the frequencies", d // 2, low.size)
    W = generator(rng).standard_normal((d // 2, low.size)) / scale
    return PerAction(partial(_waves, low, high, W, math.sqrt(2 / d)), A, d)


def _exponents(m: int, most: int) -> Floats:
    room("the exponents", *[most + 1] * m, m)
    return np.array(list(itertools.product(range(most + 1), repeat=m)), float)


def fourier_basis(box: Any, A: int, order: int = 3) -> PerAction:
    """The Fourier basis (Konidaris et al. 2011): cos(π c·x), c ∈ {0, …, order}^m, x in [0, 1]^m.

    Parameters
    ----------
    box, A : as for :func:`tiles`.
    order : the highest frequency; there are d = (order + 1)^m features.

    Returns
    -------
    PerAction
        ‖φ‖ ≤ 1.

    Examples
    --------
    >>> fourier_basis(([0.0], [2.0]), A=1, order=3)(0, [1.0]).round(2)
    array([[ 0.5,  0. , -0.5, -0. ]])
    """
    low, high = _bounds(box)
    C = _exponents(low.size, whole("order", order, 1, hint="Three is usual."))
    return PerAction(partial(_cosines, low, high, math.pi * C), A, len(C))


def _cosines(low: Floats, high: Floats, W: Floats, s: Any) -> Floats:
    return np.asarray(np.cos(W @ _unit(low, high, s)) / math.sqrt(len(W)))


def polynomial(box: Any, A: int, degree: int = 2) -> PerAction:
    """All monomials up to a total degree, of the observation scaled to [−1, 1]^m.

    Parameters
    ----------
    box, A : as for :func:`tiles`.
    degree : the highest total degree.

    Returns
    -------
    PerAction
        ‖φ‖ ≤ 1.

    Examples
    --------
    >>> polynomial(([0.0, 0.0], [1.0, 1.0]), A=1, degree=1)(0, [1.0, 0.5]).round(2)
    array([[0.58, 0.  , 0.58]])
    """
    low, high = _bounds(box)
    C = _exponents(low.size, whole("degree", degree, 1, hint="Two is usual."))
    C = C[C.sum(axis=1) <= degree]
    return PerAction(partial(_monomials, low, high, C), A, len(C))


def _monomials(low: Floats, high: Floats, C: Floats, s: Any) -> Floats:
    x = 2 * _unit(low, high, s) - 1
    return np.asarray(np.prod(x**C, axis=1) / math.sqrt(len(C)))
