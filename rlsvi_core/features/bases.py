r"""The paper's generalization matrices :math:`\Phi_h \in \mathbb R^{SA \times K}` (section 2,
appendix C).

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
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..mdp import FiniteMDP
from ..runtime import checks
from ..runtime.compilation import Floats, Seed, jit
from .maps import OneHot

__all__ = ["agnostic", "coherent", "tabular"]

MAX_TABLE_SIZE = 50_000_000  # numbers, 400 MB


@jit
def _dot(x: Floats, y: Floats) -> float:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@jit
def _orthonormal_rows(Psi: Floats) -> Floats:
    """An orthonormal basis of the rows' span; dependent rows drop out."""
    basis = np.empty_like(Psi)
    count = 0
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
    basis = _orthonormal_rows(Psi)  # Algorithm 6, line 5: P
    out = np.zeros_like(W)
    for k in range(W.shape[0]):
        x = out[k]  # plain loops: an array expression takes the compiler long
        for j in range(basis.shape[0]):
            overlap = _dot(basis[j], W[k])
            for i in range(x.shape[0]):
                x[i] += overlap * basis[j, i]  # line 8: PW
        scale = norm / math.sqrt(_dot(x, x))  # line 9
        for i in range(x.shape[0]):
            x[i] *= scale
    return out


def tabular(mdp: FiniteMDP) -> Floats:
    """One basis function for each state-action pair: Φ_h = I, no generalization.

    Parameters
    ----------
    mdp : FiniteMDP
        For its sizes.

    Returns
    -------
    (H, S, A, SA) ndarray
        ``features.one_hot(H, S, A)`` stands for it without storing it.

    Examples
    --------
    >>> from rlsvi_core import chain
    >>> tabular(chain(3)).shape
    (2, 3, 2, 6)
    """
    checks.check_instance("mdp", mdp, FiniteMDP, hint="rlsvi_core.chain(10) is one.")
    phi = OneHot(mdp.H, mdp.S, mdp.A)
    if (size := mdp.H * phi.K**2) > MAX_TABLE_SIZE:
        checks.fail(
            f"the table would have {size} numbers. features.one_hot{mdp.H, mdp.S, mdp.A} has none."
        )
    return np.asarray(phi)


def coherent(
    Q: ArrayLike,
    K: int,
    rng: Seed = None,
    *,
    reading: Literal["stacked", "per_period"] = "stacked",
    norm: float | None = None,
) -> Floats:
    """A random basis whose span contains Q* and the constant.

    Parameters
    ----------
    Q : (H, S, A) array_like
        Q*.
    K : int
        The number of columns, at least 2.
    rng : Generator, SeedSequence or int, optional
        A generator or its seed.
    reading : {"stacked", "per_period"}
        ``"stacked"`` as in appendix C, or ``"per_period"`` as in section 6.1.
    norm : float, optional
        2-norm of a column, of the stacked one (length HSA) or of each period's (length SA); by
        default HSA, as Algorithm 6 prints.

    Returns
    -------
    (H, S, A, K) ndarray

    Examples
    --------
    >>> Phi = coherent(np.eye(8).reshape(4, 8, 2), K=3, rng=1)
    >>> Phi.shape, np.linalg.norm(Phi[..., 0]).round(9)
    ((4, 8, 2, 3), np.float64(64.0))
    """
    checks.check_one_of("reading", reading, ("stacked", "per_period"))
    Q = checks.check_array("Q", Q, ("H", "S", "A"), hint="Pass mdp.Q.")
    K = checks.check_integer("K", K, 2, Q.size if reading == "stacked" else checks.MAX_COUNT)
    norm = checks.check_open_interval("norm", Q.size if norm is None else norm, 0, checks.MAX_ABS)
    rng = checks.as_generator(rng)
    # One block of all periods, or one block a period; columns are kept as contiguous rows.
    blocks = Q.reshape(1 if reading == "stacked" else len(Q), -1)
    Phi = np.empty((*blocks.shape, K))
    for b, q in enumerate(blocks):
        Psi = rng.standard_normal((q.size, K))  # Algorithm 6, line 1
        Psi[:, 0] = 1.0  # lines 2 to 4
        Psi[:, 1] = q
        W = rng.standard_normal((q.size, K))  # line 6
        W[:, 0] = 1.0  # line 7
        Phi[b] = _project_and_scale(np.ascontiguousarray(W.T), np.ascontiguousarray(Psi.T), norm).T
    return Phi.reshape(*Q.shape, K)  # lines 10 and 11


def agnostic(
    Q: ArrayLike,
    K: int,
    rho: float,
    rng: Seed = None,
    *,
    noise: Literal["variance", "deviation"] = "variance",
) -> Floats:
    """Noisy copies of Q*: φ_hk = Q*_h + noise.

    Parameters
    ----------
    Q : (H, S, A) array_like
        Q*.
    K : int
        The number of columns.
    rng : Generator, SeedSequence or int, optional
        A generator or its seed.
    rho : float
        The size of the noise; 0 gives exact copies.
    noise : {"variance", "deviation"}
        What ρ is, a ``"variance"``, as printed, or a standard ``"deviation"``.

    Returns
    -------
    (H, S, A, K) ndarray

    Examples
    --------
    >>> agnostic(np.zeros((2, 3, 2)), K=5, rho=0.1, rng=1).shape
    (2, 3, 2, 5)
    """
    checks.check_one_of(
        "noise", noise, ("variance", "deviation"), hint="It is printed as a variance."
    )
    rho = checks.check_range("rho", rho, 0, math.inf, hint="0 gives exact copies of Q*.")
    Q = checks.check_array("Q", Q, ("H", "S", "A"), hint="Pass mdp.Q.")
    K = checks.check_integer("K", K, 1, hint="K counts basis functions: pass K=10, say.")
    scale = math.sqrt(rho) if noise == "variance" else rho
    return Q[..., None] + scale * checks.as_generator(rng).standard_normal((*Q.shape, K))
