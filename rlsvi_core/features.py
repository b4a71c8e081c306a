r"""Generalization matrices :math:`\Phi_h \in \mathbb R^{SA \times K}` (section 2, appendix C).

Every basis is an (H, S, A, K) array, so :math:`\Phi_h(s, a)` is ``Phi[h, s, a]``.

**Coherent.** :math:`Q^*` lies in the span, which is otherwise uninformative: project random
vectors on a random K-dimensional subspace that contains the constant and :math:`Q^*`. The paper
describes this twice. Its Algorithm 6 (appendix C) *stacks* all periods into vectors of length HSA,
projects once, and scales each stacked column to 2-norm HSA. Section 6.1 does it *per period*: one
subspace of :math:`\mathbb R^{SA}` for each h, columns of equal 2-norm that is not given.

**Agnostic.** Columns :math:`\phi_{hk} \sim N(Q^*_h, \rho I)`: noisy copies of the truth. As
printed, ρ is a variance; the paper's talk of its "scale" suggests a standard deviation.

The projection is done by Gram–Schmidt in plain loops (twice, which is enough), never through
:math:`(\Psi^\top\Psi)^{-1}` and without BLAS: the same seed gives the same bits everywhere.
"""

import math
from typing import Any, Literal

import numpy as np

from . import checks
from .checks import positive as check_positive
from .compiled import Array, Floats, jit


class FeatureMap:
    """(period, state) → one row of features for each legal action: what an agent generalises by.

    Subclass it and say what ``__call__`` returns. ``H`` is the number of periods, each with weights
    of its own, or None: one weight vector for all time. ``K`` counts the features whose weights are
    learned; rows may have further, last columns whose weights are ``known``. ``S`` and ``A`` count
    states and actions where these are numbers.
    """

    H: int | None = None
    K: int
    S: int | None = None
    A: int | None = None
    known: Floats = np.zeros(0)

    def __call__(self, h: int, s: Any) -> Floats:
        """The (n, K) rows Φ(s, ·), one for each of the n legal actions."""
        raise NotImplementedError

    def legal(self, h: int, s: Any) -> Array:
        """The numbers of the legal actions, in the order of the rows; 0, …, n − 1 by default."""
        return np.arange(len(self(h, s)))

    def following(self, h: int, s: Any) -> Floats:
        """The rows over which a target's maximum is taken; those of the legal actions."""
        return self(h, s)

    @staticmethod
    def of(features: Any) -> "FeatureMap":
        """A feature map as it is, or one made of an (H, S, A, K) table."""
        return features if isinstance(features, FeatureMap) else Table(features)


class Table(FeatureMap):
    """The rows of an (H, S, A, K) array; states, actions and periods are numbers."""

    def __init__(self, Phi: Any) -> None:
        self.Phi = checks.array("Phi", Phi, (None, None, None, None), mend="It is a finite "
                                "(H, S, A, K) array; rlsvi_core.features makes such arrays.")
        self.H, self.S, self.A, self.K = self.Phi.shape

    def __call__(self, h: int, s: int) -> Floats:
        checks.indices(h=(h, self.Phi.shape[0]), s=(s, self.Phi.shape[1]))
        return self.Phi[h, s]


class OneHot(FeatureMap):
    """One feature for each state-action pair, Φ_h = I, without storing it; see :func:`one_hot`."""

    H: int
    S: int
    A: int

    def __init__(self, H: int, S: int, A: int) -> None:
        for name, value in (("H", H), ("S", S), ("A", A)):
            setattr(self, name, checks.whole(name, value, 1, mend="Pass H=5, S=5, A=3, say."))
        self.K = self.S * self.A

    def __repr__(self) -> str:
        return f"OneHot(H={self.H}, S={self.S}, A={self.A})"

    def __call__(self, h: int, s: int) -> Floats:
        checks.indices(h=(h, self.H), s=(s, self.S))
        return np.eye(self.A, self.K, k=s * self.A)


@jit
def _dot(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@jit
def _subtract_projection(x, basis, count):
    for j in range(count):
        overlap = _dot(basis[j], x)
        for i in range(x.shape[0]):
            x[i] -= overlap * basis[j, i]


@jit
def _orthonormal_rows(Psi):
    """An orthonormal basis of the rows' span; dependent rows drop out."""
    basis = np.empty_like(Psi)
    count = 0
    for k in range(Psi.shape[0]):
        x = Psi[k].copy()
        size = math.sqrt(_dot(x, x))
        _subtract_projection(x, basis, count)
        _subtract_projection(x, basis, count)
        left = math.sqrt(_dot(x, x))
        if left > 1e-10 * size:
            basis[count] = x / left
            count += 1
    return basis[:count]


@jit
def _project_and_scale(W, Psi, norm):
    """Project the rows of W on the span of the rows of Psi and give each the 2-norm ``norm``."""
    basis = _orthonormal_rows(Psi)
    out = np.empty_like(W)
    for k in range(W.shape[0]):
        x = np.zeros(W.shape[1])
        for j in range(basis.shape[0]):
            x += _dot(basis[j], W[k]) * basis[j]
        out[k] = x * (norm / math.sqrt(_dot(x, x)))
    return out


def _check(Q, K: int, least: int, most: int | None = None) -> np.ndarray:
    Q = np.asarray(Q, dtype=float)
    if Q.ndim != 3 or not np.isfinite(Q).all():
        raise ValueError(f"Q must be a finite (H, S, A) array; it has shape {Q.shape}. "
                         f"Pass mdp.Q.")
    if not (isinstance(K, (int, np.integer)) and K >= least):
        raise ValueError(f"K counts basis functions and must be an integer of at least {least}; "
                         f"it is {K!r}. Pass K=10, say.")
    if most is not None and K > most:
        raise ValueError(f"K must not exceed the dimension {most} of the space; it is {K}. "
                         f"Beyond that the columns only repeat each other.")
    return Q


def tabular(mdp) -> np.ndarray:
    """One basis function for each state-action pair: Φ_h = I, no generalization."""
    SA = mdp.S * mdp.A
    return np.tile(np.eye(SA).reshape(1, mdp.S, mdp.A, SA), (mdp.H, 1, 1, 1))


def coherent(Q, K: int, rng=None, *, reading: Literal["stacked", "per_period"] = "stacked",
             norm: float | None = None) -> np.ndarray:
    """A random basis whose span contains Q* and the constant.

    ``reading`` chooses between the paper's two descriptions. ``norm`` is the 2-norm of a column:
    of the stacked column (length HSA), or of each period's (length SA). The default, HSA, is what
    Algorithm 6 prints.
    """
    if reading not in ("stacked", "per_period"):
        raise ValueError(f"reading must be 'stacked' (appendix C) or 'per_period' (section 6.1); "
                         f"it is {reading!r}. Choose one of the two.")
    Q = _check(Q, K, 2, np.size(Q) if reading == "stacked" else None)
    H, S, A = Q.shape
    norm = float(Q.size) if norm is None else norm
    check_positive(norm=norm)
    rng = np.random.default_rng(rng)
    # One block of all periods, or one block a period; columns are kept as contiguous rows.
    blocks = Q.reshape(1 if reading == "stacked" else H, -1)
    Phi = np.empty((*blocks.shape, K))
    for b, q in enumerate(blocks):
        Psi = rng.standard_normal((q.size, K))
        Psi[:, 0], Psi[:, 1] = 1.0, q
        W = rng.standard_normal((q.size, K))
        W[:, 0] = 1.0
        Phi[b] = _project_and_scale(np.ascontiguousarray(W.T), np.ascontiguousarray(Psi.T), norm).T
    return Phi.reshape(H, S, A, K)


def agnostic(Q, K: int, rho: float, rng=None, *,
             noise: Literal["variance", "deviation"] = "variance") -> np.ndarray:
    """Noisy copies of Q*: φ_hk = Q*_h + noise, where ρ is the noise's variance or deviation."""
    if noise not in ("variance", "deviation"):
        raise ValueError(f"noise must be 'variance' (as printed) or 'deviation'; it is {noise!r}. "
                         f"Choose one of the two.")
    if not (isinstance(rho, (int, float, np.number)) and 0 <= rho < math.inf):
        raise ValueError(f"rho must be a finite number of at least 0; it is {rho!r}. "
                         f"0 gives exact copies of Q*.")
    Q = _check(Q, K, 1)
    scale = math.sqrt(rho) if noise == "variance" else rho
    return Q[..., None] + scale * np.random.default_rng(rng).standard_normal((*Q.shape, K))
