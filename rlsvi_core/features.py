r"""What to generalise by: the paper's generalization matrices, and features for a problem of one's
own.

A :class:`FeatureMap` says what the rows :math:`\Phi_h(s, \cdot)` are. It is made of a table, of a
function, or by one of the bases for boxes below.

**Tables** :math:`\Phi_h \in \mathbb R^{SA \times K}` (section 2, appendix C) are (H, S, A, K) arrays,
so :math:`\Phi_h(s, a)` is ``Phi[h, s, a]``, or (S, A, K) arrays, if they do not depend on the period.

**Coherent.** :math:`Q^*` lies in the span, which is otherwise uninformative: project random
vectors on a random K-dimensional subspace that contains the constant and :math:`Q^*`. The paper
describes this twice. Its Algorithm 6 (appendix C) *stacks* all periods into vectors of length HSA,
projects once, and scales each stacked column to 2-norm HSA. Section 6.1 does it *per period*: one
subspace of :math:`\mathbb R^{SA}` for each h, columns of equal 2-norm that is not given.

**Agnostic.** Columns :math:`\phi_{hk} \sim N(Q^*_h, \rho I)`: noisy copies of the truth. As
printed, ρ is a variance; the paper's talk of its "scale" suggests a standard deviation.

The projection is done by Gram–Schmidt in plain loops (twice, which is enough), never through
:math:`(\Psi^\top\Psi)^{-1}` and without BLAS: the same seed gives the same bits everywhere.

**Boxes.** For an observation :math:`s \in [low, high]`, ``tiles``, ``random_fourier``,
``fourier_basis`` and ``polynomial`` give state features :math:`\phi(s) \in \mathbb R^d` with
:math:`\|\phi\| \le 1`, and each action has weights of its own (:class:`PerAction`):
:math:`Q(s, a) = \phi(s) \theta_a`, K = Ad. ``check`` looks for what is usually wrong.
"""

import copy
import inspect
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .checks import array, between, fail, indices, one_of, positive, whole
from .compiled import Array, Floats, Ints, Seed, jit
from .mdp import FiniteMDP

__all__ = ["FeatureMap", "OneHot", "PerAction", "agnostic", "check", "coherent", "fourier_basis",
           "from_transformer", "one_hot", "polynomial", "random_fourier", "tabular", "tiles"]


class FeatureMap:
    """(period, state) → one row of features for each legal action: what an agent generalises by.
    Subclass it and say what ``__call__`` returns.

    Attributes
    ----------
    H : number of periods, each with weights of its own, or None: one weight vector for all time.
    K : number of features whose weights are learned; 0 if that shows at the first call only.
    S, A : numbers of states and actions, where these are numbers.
    known : weights of the rows' further, last columns, if there are such.
    blocks : the rows are block diagonal, with so many blocks; see :meth:`compact`.

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
    known: Floats = np.zeros(0)
    blocks: int = 1

    def __call__(self, h: int, s: Any) -> Floats:
        """The (n, K) rows Φ(s, ·), one for each of the n legal actions."""
        raise NotImplementedError

    def legal(self, h: int, s: Any) -> Array:
        """The numbers of the legal actions, in the order of the rows; 0, …, n − 1 by default."""
        return np.arange(len(self(h, s)))

    def following(self, h: int, s: Any) -> Floats:
        """The rows over which a target's maximum is taken; those of the legal actions."""
        return self(h, s)

    def compact(self, h: int, s: Any) -> Floats:
        """The rows without the zeros of a block-diagonal structure: an (n, d) array X with d =
        K/blocks, such that the values of all actions are ``X @ theta.reshape(blocks, d).T``."""
        return self(h, s)

    @staticmethod
    def of(features: Any, H: int | None = None) -> "FeatureMap":
        """A feature map as it is, or made of a table or a function; ``H`` gives it a horizon."""
        if H is not None:
            whole("H", H, 1, mend="It counts the periods of an episode; leave it out to discount.")
        if not isinstance(features, FeatureMap):
            return Computed(features, H) if callable(features) else Table(features, H)
        if H in (None, features.H):
            return features
        if features.H is not None:
            fail(f"H is the features' own, {features.H}", f"H={H} was given", "Leave it out.")
        features = copy.copy(features)
        features.H = H
        return features


class Table(FeatureMap):
    """The rows of an (H, S, A, K) array, or of an (S, A, K) one, stored once, that serves all
    periods; states, actions and periods are numbers."""

    def __init__(self, Phi: Any, H: int | None = None) -> None:
        axes = ("S", "A", "K") if np.ndim(Phi) == 3 else ("H", "S", "A", "K")
        Phi = array("Phi", Phi, axes, mend="It is a finite (H, S, A, K) array, or (S, A, K) for "
                    "all periods; rlsvi_core.features makes such arrays.")
        if len(axes) == 3:
            self.H, Phi = H, np.broadcast_to(Phi, (H or 1, *Phi.shape))
        elif H not in (None, len(Phi)):
            fail(f"Phi has its own H={len(Phi)} periods", f"H={H} was given", "Leave it out.")
        else:
            self.H = len(Phi)
        self.Phi: Floats = Phi
        self.S, self.A, self.K = Phi.shape[1:]

    def __call__(self, h: int, s: int) -> Floats:
        h = 0 if self.H is None else h
        indices(h=(h, len(self.Phi)), s=(s, self.Phi.shape[1]))
        return np.asarray(self.Phi[h, s])


def _of_period(function: Callable[..., Any]) -> bool:
    """Whether a feature function is one of period and observation, not of the latter alone."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # something built in
        return False
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
               for p in parameters) == 2


class Computed(FeatureMap):
    """The rows that a function of the observation, or of period and observation, returns."""

    def __init__(self, function: Callable[..., Any], H: int | None = None) -> None:
        self.function, self.H, self._of_period = function, H, _of_period(function)

    def __call__(self, h: int, s: Any) -> Floats:
        rows = self.function(h, s) if self._of_period else self.function(s)
        return np.asarray(rows, float)


class PerAction(FeatureMap):
    """State features crossed with the actions: each action has weights of its own for them.

    Parameters
    ----------
    phi : a function of the observation, or of period and observation, that returns d features.
    A : number of actions.
    d : number of features; if it is left out, the first call tells.
    H : number of periods, or None for one weight vector for all time.

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
        self.A = self.blocks = whole("A", A, 1, mend="A counts actions: env.action_space.n, say.")
        self.H, self.K = H, A * whole("d", d, mend="d counts features; 0: the first call tells.")

    def __repr__(self) -> str:
        return f"PerAction(A={self.A}" + f", d={self.K // self.blocks}" * (self.K > 0) + ")"

    def compact(self, h: int, s: Any) -> Floats:
        return np.asarray(self.phi(h, s) if self._of_period else self.phi(s), float)[None]

    def __call__(self, h: int, s: Any) -> Floats:
        return np.kron(np.eye(self.blocks), self.compact(h, s))


@jit
def _dot(x: Floats, y: Floats) -> float:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@jit
def _orthonormal_rows(Psi: Floats) -> Floats:
    """An orthonormal basis of the rows' span; dependent rows drop out."""
    basis, count = np.empty_like(Psi), 0
    for k in range(Psi.shape[0]):
        x = Psi[k].copy()
        size = math.sqrt(_dot(x, x))
        for _ in range(2):
            for j in range(count):
                x -= _dot(basis[j], x) * basis[j]
        left = math.sqrt(_dot(x, x))
        if left > 1e-10 * size:
            for i in range(x.shape[0]):
                basis[count, i] = x[i] / left
            count += 1
    return basis[:count]


@jit
def _project_and_scale(W: Floats, Psi: Floats, norm: float) -> Floats:
    """Project the rows of W on the span of the rows of Psi and give each the 2-norm ``norm``."""
    basis, out = _orthonormal_rows(Psi), np.zeros_like(W)
    for k in range(W.shape[0]):
        x = out[k]  # plain loops: an array expression takes the compiler long
        for j in range(basis.shape[0]):
            overlap = _dot(basis[j], W[k])
            for i in range(x.shape[0]):
                x[i] += overlap * basis[j, i]
        scale = norm / math.sqrt(_dot(x, x))
        for i in range(x.shape[0]):
            x[i] *= scale
    return out


@dataclass(frozen=True)
class OneHot(FeatureMap):
    """One feature for each state-action pair, Φ_h = I, without storing the table.

    Parameters
    ----------
    H, S, A : periods, states and actions.

    Examples
    --------
    >>> Phi = OneHot(200, 500, 6)                           # 14 GB as an array
    >>> Phi, Phi(0, 499).shape
    (OneHot(H=200, S=500, A=6), (6, 3000))
    """

    H: int
    S: int
    A: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            whole(name, value, 1, mend="Pass H=5, S=3, A=2, say.")
        object.__setattr__(self, "K", self.S * self.A)

    def __call__(self, h: int, s: int) -> Floats:
        indices(h=(h, self.H), s=(s, self.S))
        return np.eye(self.A, self.K, s * self.A)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        table = np.eye(self.K, dtype=dtype).reshape(1, self.S, self.A, self.K)
        return np.tile(table, (self.H, 1, 1, 1))


def tabular(mdp: FiniteMDP) -> Floats:
    """One basis function for each state-action pair: Φ_h = I, no generalization.

    Parameters
    ----------
    mdp : a FiniteMDP.

    Returns
    -------
    (H, S, A, SA) array; :class:`OneHot` stands for it without storing it.

    Examples
    --------
    >>> from rlsvi_core import chain
    >>> tabular(chain(3)).shape
    (2, 3, 2, 6)
    """
    return np.asarray(OneHot(mdp.H, mdp.S, mdp.A))


def coherent(Q: ArrayLike, K: int, rng: Seed = None, *,
             reading: Literal["stacked", "per_period"] = "stacked",
             norm: float | None = None) -> Floats:
    """A random basis whose span contains Q* and the constant.

    Parameters
    ----------
    Q, K, rng : Q* as an (H, S, A) array, the number of columns (at least 2), and a seed.
    reading : ``"stacked"`` as in appendix C, or ``"per_period"`` as in section 6.1.
    norm : 2-norm of a column, of the stacked one (length HSA) or of each period's (length SA); by
        default HSA, as Algorithm 6 prints.

    Returns
    -------
    (H, S, A, K) array.

    Examples
    --------
    >>> Phi = coherent(np.eye(8).reshape(4, 8, 2), K=3, rng=1)
    >>> Phi.shape, np.linalg.norm(Phi[..., 0]).round(9)
    ((4, 8, 2, 3), np.float64(64.0))
    """
    one_of("reading", reading, ("stacked", "per_period"),
           mend="They are those of appendix C and of section 6.1.")
    Q = array("Q", Q, ("H", "S", "A"), mend="Pass mdp.Q.")
    whole("K", K, 2, Q.size if reading == "stacked" else None,
          mend="More columns than the space has dimensions only repeat each other.")
    norm = float(Q.size) if norm is None else norm
    positive(norm=norm)
    rng = np.random.default_rng(rng)
    # One block of all periods, or one block a period; columns are kept as contiguous rows.
    blocks = Q.reshape(1 if reading == "stacked" else len(Q), -1)
    Phi = np.empty((*blocks.shape, K))
    for b, q in enumerate(blocks):
        Psi = rng.standard_normal((q.size, K))
        Psi[:, 0], Psi[:, 1] = 1.0, q
        W = rng.standard_normal((q.size, K))
        W[:, 0] = 1.0
        Phi[b] = _project_and_scale(np.ascontiguousarray(W.T), np.ascontiguousarray(Psi.T), norm).T
    return Phi.reshape(*Q.shape, K)


def agnostic(Q: ArrayLike, K: int, rho: float, rng: Seed = None, *,
             noise: Literal["variance", "deviation"] = "variance") -> Floats:
    """Noisy copies of Q*: φ_hk = Q*_h + noise.

    Parameters
    ----------
    Q, K, rng : Q* as an (H, S, A) array, the number of columns, and a seed.
    rho : the size of the noise; 0 gives exact copies.
    noise : what ρ is, a ``"variance"``, as printed, or a standard ``"deviation"``.

    Returns
    -------
    (H, S, A, K) array.

    Examples
    --------
    >>> agnostic(np.zeros((2, 3, 2)), K=5, rho=0.1, rng=1).shape
    (2, 3, 2, 5)
    """
    one_of("noise", noise, ("variance", "deviation"), mend="It is printed as a variance.")
    between("rho", rho, 0, math.inf, mend="0 gives exact copies of Q*.")
    Q = array("Q", Q, ("H", "S", "A"), mend="Pass mdp.Q.")
    whole("K", K, 1, mend="K counts basis functions: pass K=10, say.")
    scale = math.sqrt(rho) if noise == "variance" else rho
    return Q[..., None] + scale * np.random.default_rng(rng).standard_normal((*Q.shape, K))


def one_hot(H: int | None, S: int | ArrayLike, A: int) -> FeatureMap:
    """One feature for each state-action pair; for several discrete components, one for each value
    of each component, and action.

    Parameters
    ----------
    H : number of periods, or None for one weight vector for all time.
    S : number of states, or the sizes of the components (``space.nvec`` of a MultiDiscrete).
        Components then add up; to tell all their combinations apart, number them by
        ``np.ravel_multi_index`` and pass that many states.
    A : number of actions.

    Returns
    -------
    FeatureMap
        :class:`OneHot`, which has a fast form, for H periods and S states; else ‖φ‖ = 1.

    Examples
    --------
    >>> one_hot(10, 16, 4)
    OneHot(H=10, S=16, A=4)
    >>> one_hot(None, (2, 3), 1)(0, (1, 2)).round(2)
    array([[0.  , 0.71, 0.  , 0.  , 0.71]])
    """
    sizes = np.atleast_1d(np.asarray(S))
    if H is not None and np.ndim(S) == 0:
        return OneHot(H, int(sizes[0]), A)
    for n in sizes.tolist():
        whole("S", n, 1, mend="It counts states, or the values of each component.")
    return PerAction(partial(_indicators, sizes), A, int(sizes.sum()), H)


def _indicators(sizes: Array, s: Any) -> Floats:
    s = np.atleast_1d(s)
    if s.shape != sizes.shape or (s < 0).any() or (s >= sizes).any():
        fail(f"a state has components from 0 to below {sizes.tolist()}", f"it is {s.tolist()}",
             "Pass the sizes of the observation space.", IndexError)
    phi = np.zeros(sizes.sum())
    phi[np.cumsum(sizes) - sizes + s] = 1 / math.sqrt(sizes.size)
    return phi


def _bounds(box: Any) -> tuple[Floats, Floats]:
    """The ends of a box, from a pair of arrays or a space that has them."""
    low, high = (np.ravel(np.asarray(end, float)) for end in (
        (box.low, box.high) if hasattr(box, "low") else box))
    if low.shape != high.shape or not ((low < high) & (high < 1e30) & (low > -1e30)).all():
        fail("a box has finite ends with low < high in every coordinate",
             f"low is {low.tolist()} and high {high.tolist()}",
             "Pass (low, high) with the range that matters; observations are clipped to it.")
    return low, high


def _unit(low: Floats, high: Floats, s: Any) -> Floats:
    """An observation in [0, 1]^m."""
    x = np.ravel(np.asarray(s, float))
    if x.shape != low.shape or not math.isfinite(x.sum()):
        fail(f"an observation has the {low.size} coordinates of the box, all finite",
             f"it is {s!r}", "Pass the box of this observation space, and mend NaN.")
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
    whole("tilings", tilings, 1, mend="Eight is usual.")
    whole("bins", bins, 1, mend="Eight is usual.")
    odd = np.arange(1, 2 * low.size, 2)  # the usual displacement: 1, 3, 5, … along the axes
    shift = (np.arange(tilings)[:, None] * odd % tilings) / tilings
    strides = (bins + 1) ** np.arange(low.size)
    d = tilings * (bins + 1) ** low.size
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
    """Random Fourier features (Rahimi and Recht 2007): φ(s)·φ(s') ≈ exp(−|x − x'|²/2ℓ²), with the
    box scaled to [0, 1]^m.

    Parameters
    ----------
    box : (low, high), two arrays, or a space with ``low`` and ``high``.
    A : number of actions.
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
    if whole("d", d, 2, mend="Pass d=200, say.") % 2:
        fail("d is even: a cosine and a sine for each frequency", f"it is {d}", "Pass d=200, say.")
    scale = np.broadcast_to(np.asarray(length_scale, float), low.shape)
    positive(length_scale=scale.min())
    W = np.random.default_rng(rng).standard_normal((d // 2, low.size)) / scale
    return PerAction(partial(_waves, low, high, W, math.sqrt(2 / d)), A, d)


def _exponents(m: int, most: int) -> Floats:
    return np.array(list(itertools.product(range(most + 1), repeat=m)), float)


def fourier_basis(box: Any, A: int, order: int = 3) -> PerAction:
    """The Fourier basis (Konidaris et al. 2011): cos(π c·x), c ∈ {0, …, order}^m, x in [0, 1]^m.

    Parameters
    ----------
    box : (low, high), two arrays, or a space with ``low`` and ``high``.
    A : number of actions.
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
    C = _exponents(low.size, whole("order", order, 1, mend="Three is usual."))
    return PerAction(partial(_cosines, low, high, math.pi * C), A, len(C))


def _cosines(low: Floats, high: Floats, W: Floats, s: Any) -> Floats:
    return np.asarray(np.cos(W @ _unit(low, high, s)) / math.sqrt(len(W)))


def polynomial(box: Any, A: int, degree: int = 2) -> PerAction:
    """All monomials up to a total degree, of the observation scaled to [−1, 1]^m.

    Parameters
    ----------
    box : (low, high), two arrays, or a space with ``low`` and ``high``.
    A : number of actions.
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
    C = _exponents(low.size, whole("degree", degree, 1, mend="Two is usual."))
    C = C[C.sum(axis=1) <= degree]
    return PerAction(partial(_monomials, low, high, C), A, len(C))


def _monomials(low: Floats, high: Floats, C: Floats, s: Any) -> Floats:
    x = 2 * _unit(low, high, s) - 1
    return np.asarray(np.prod(x**C, axis=1) / math.sqrt(len(C)))


def from_transformer(transformer: Any, A: int) -> PerAction:
    """Any fitted scikit-learn transformer as features: a scaler, an ``RBFSampler``, a pipeline.

    Parameters
    ----------
    transformer : has ``transform``, which takes an (n, m) array and returns an (n, d) one.
    A : number of actions.

    Returns
    -------
    PerAction

    Examples
    --------
    >>> class Centred:
    ...     def transform(self, X):
    ...         return np.asarray(X) - 0.5
    >>> from_transformer(Centred(), A=1)(0, [0.5, 1.0])
    array([[0. , 0.5]])
    """
    if not hasattr(transformer, "transform"):
        fail("a transformer has a method transform", f"{transformer!r} has none",
             "Pass a fitted scikit-learn transformer; a plain function goes to PerAction.")
    return PerAction(partial(_transformed, transformer), A)


def _transformed(transformer: Any, s: Any) -> Floats:
    rows = transformer.transform(np.reshape(s, (1, -1)))
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)[0]


def check(features: Any, observations: Iterable[Any], h: int = 0) -> list[str]:
    """Say what is wrong with features, by trying them on some observations.

    Parameters
    ----------
    features : a feature map, a table, or a function of the observation, or of period and
        observation.
    observations : some dozens that an agent may meet.
    h : the period to try.

    Returns
    -------
    list of str
        What was found, a sentence each; empty if all is well.

    Examples
    --------
    >>> check(lambda s: np.kron(np.eye(2), [1.0, s]), [0.1, 0.5])
    []
    >>> check(lambda s: [[s, 1.0], [s, 1.0]], [1.0, float("nan")])
    ['observation 1 gives NaN or infinite features', 'all actions have the same row everywhere: the agent cannot tell them apart']
    """
    phi, found, rows = FeatureMap.of(features), [], []
    for i, s in enumerate(observations):
        try:
            x = np.asarray(phi(h, s), float)
        except (TypeError, ValueError) as error:
            return [f"observation {i} gives no array of numbers: {error}"]
        if x.ndim != 2 or x.size == 0:
            return [f"observation {i} gives shape {x.shape}; it must be (actions, K)"]
        if rows and x.shape != rows[0].shape:
            return [f"observation {i} gives shape {x.shape}, and observation 0 {rows[0].shape}: "
                    f"the number of features must not change, and masks say what is legal"]
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
        found.append(f"the norms of rows range from {small:.3g} to {large:.3g}: one lambda cannot "
                     f"suit all; scale them to 1")
    return found
