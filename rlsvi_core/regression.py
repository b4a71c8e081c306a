r"""Section 4, line 3 of Algorithm 1: the Gaussian posterior over the weights.

Targets :math:`y_i = \phi_i \theta + w_i` with noise :math:`w_i \sim N(0, \sigma^2)` and prior
:math:`\theta \sim N(0, I/\lambda)`. With the rows :math:`\phi_i` in :math:`A` and the targets in
:math:`b`, Algorithm 1 prints

.. math::
    \bar\theta = \tfrac1{\sigma^2} \Sigma A^\top b, \qquad
    \Sigma = \bigl(\tfrac1{\sigma^2} A^\top A + \lambda I\bigr)^{-1}.

The inverse is never formed. Multiplying the precision by :math:`\sigma^2` gives
:math:`M = A^\top A + \lambda\sigma^2 I = U^\top U` with :math:`U` upper triangular, and then

.. math::
    \bar\theta = U^{-1} U^{-\top} A^\top b, \qquad
    \tilde\theta = U^{-1}\bigl(U^{-\top} A^\top b + \sigma z\bigr), \quad z \sim N(0, I).

A new row is rotated into :math:`U` by K Givens rotations, which is how a QR factorisation of
:math:`[\sqrt{\lambda}\sigma I; A]` would take it: the factor keeps the accuracy of the rows, not of
their squares. A target carried along as an extra column of :math:`U` turns into
:math:`w = U^{-\top} A^\top b` by the same rotations, and what is left of it is the new part of the
residual :math:`b^\top b - w^\top w`.

Least-squares value iteration is the same object with :math:`\sigma = 1` and no noise: its ridge
is :math:`\lambda`, where RLSVI's is :math:`\lambda\sigma^2`.

If :math:`\sigma` **is unknown** (appendix D.2), :math:`\sigma^2` has an inverse-gamma prior with
shape 1 and scale 1 and :math:`\theta \mid \sigma^2 \sim N(0, \sigma^2 I/\lambda)`. After n rows
:math:`\sigma^2 \sim \mathrm{IG}(1 + n/2,\ 1 + (b^\top b - w^\top w)/2)`, with the factor that
:math:`\sigma = 1` gives, and then :math:`\theta` as above.

Scaling laws. Features times :math:`c` and targets times :math:`d` give the same posterior for
:math:`\phi\theta` (times :math:`d`) if :math:`\lambda` becomes :math:`\lambda c^2/d^2` and
:math:`\sigma` becomes :math:`d\sigma`; see :func:`rescale`.
"""

import math
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrsv

from . import checks
from .compiled import Array, Floats, Generator, Ints, jit

__all__ = ["GaussianPosterior", "rescale", "suggest_parameters"]

NOISE = 0.02  # the σ that :func:`suggest_parameters` has for values in a range of 1

# The loops below count from zero, or run down a column: that is what the compiler vectorises.


@jit
def add_row(U: Floats, row: Floats) -> None:
    """Rotate a row into the upper-triangular U, so U'U grows by row'row; destroys ``row``.

    U is (K, K), or (K, K + 1) with the row's target in the extra column.
    """
    K, width = U.shape
    for k in range(K):
        x = row[k]
        if x == 0.0:
            continue
        diagonal = U[k, k]
        r = math.sqrt(diagonal * diagonal + x * x)
        inverse = 1.0 / r
        c, s = diagonal * inverse, x * inverse
        U[k, k] = r
        for i in range(width - k - 1):
            j = k + 1 + i
            u, v = U[k, j], row[j]
            U[k, j] = c * u + s * v
            row[j] = c * v - s * u


@jit
def solve_transposed(U: Floats, x: Floats) -> None:
    """Overwrite x by U^{-T} x."""
    K = x.shape[0]
    for k in range(K):
        v = x[k] / U[k, k]
        x[k] = v
        for i in range(K - k - 1):
            x[k + 1 + i] -= v * U[k, k + 1 + i]


@jit
def solve(U: Floats, x: Floats) -> None:
    """Overwrite x by U^{-1} x."""
    for k in range(x.shape[0] - 1, -1, -1):
        v = x[k] / U[k, k]
        x[k] = v
        for j in range(k):
            x[j] -= v * U[j, k]


@jit
def draw(U: Floats, w: Floats, sigma: float, z: Floats, theta: Floats) -> None:
    """Overwrite theta by θ̃ = U⁻¹(w + σz), the posterior mean if σ is 0.

    w is U⁻ᵀA'b, or a part of it, and theta the rest of it, or 0.
    """
    for k in range(theta.shape[0]):
        theta[k] += w[k] + sigma * z[k]
    solve(U, theta)


@jit
def draw_weight(M: float, Ab: float, sigma: float, z: float) -> float:
    """The same for one weight: A'A + λσ² is the number M, and A'b another."""
    return Ab / M + sigma / math.sqrt(M) * z


def draw_blocks(
    factors: list[tuple[Any, Array]], ridge: float, w: Floats, sigma: float, z: Floats
) -> Floats:
    """The same for blocks of many weights, by BLAS: (B, d) arrays w and z give B·d weights. Each
    block has the places of those weights that have data, and their factor in Fortran's order; to
    the others only the prior's part of M, the ridge, applies."""
    x = w + sigma * z
    theta = x / math.sqrt(ridge)
    for b, (seen, U) in enumerate(factors):
        if len(U):
            theta[b, seen] = dtrsv(U, x[b, seen])
    return np.asarray(theta.ravel())


@jit
def fill_normal(rng: Generator, z: Floats) -> None:
    """Fill z, of any shape, with standard normal draws."""
    flat = z.reshape(z.size)
    for k in range(z.size):
        flat[k] = rng.standard_normal()


@jit
def _mixed(x: Array) -> Array:
    """SplitMix64's function of 64 bits (Steele, Lea and Flood 2014), as uniforms in [0, 1)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(((x ^ (x >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53)


@jit
def normals_of(key: int, k: Ints) -> Floats:
    """Standard normal numbers k = 0, 1, … of those that a key stands for (Box and Muller's, of
    SplitMix64's uniforms 2k and 2k + 1): each is the same, whichever others are asked for."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    x = np.uint64(key) + (2 * k + 1).astype(np.uint64) * golden
    return np.sqrt(-2.0 * np.log1p(-_mixed(x))) * np.cos(2.0 * np.pi * _mixed(x + golden))


def draw_key(rng: Generator) -> int:
    """A key for :func:`normals_of`."""
    return int(rng.integers(2**63))


def draw_noise(rng: Generator, K: int, rows: int | None = None) -> tuple[Floats, float]:
    """What a draw of K weights needs: z ~ N(0, I) and, if the variance is unknown after so many
    rows, g ~ Gamma(1 + rows/2); see :func:`drawn_sigma`."""
    z = rng.standard_normal(K)
    return z, math.nan if rows is None else float(rng.standard_gamma(1 + rows / 2))


def drawn_sigma(residual: float, g: float) -> float:
    """The draw of an unknown σ: the residual is b'b − w'w, and g a gamma variate."""
    return math.sqrt((1 + max(residual, 0.0) / 2) / g)


@jit
def _add_rows(U: Floats, rows: Floats) -> float:
    """Rotate in many rows with their targets; returns what they add to the residual."""
    residual = 0.0
    for i in range(rows.shape[0]):
        add_row(U, rows[i])
        residual += rows[i, U.shape[0]] ** 2
    return residual


def rescale(
    lam: float, sigma: float, *, features: float = 1.0, targets: float = 1.0
) -> tuple[float, float]:
    """The (λ, σ) that undo a change of units.

    Parameters
    ----------
    lam, sigma : float
        The parameters in the old units.
    features, targets : float
        The factors by which features and targets (rewards) were multiplied.

    Returns
    -------
    tuple of float
        λ and σ that give the same posterior for φθ, in the new units.

    Examples
    --------
    >>> rescale(1.0, 0.1, targets=100.0)  # rewards in cents instead of euros
    (0.0001, 10.0)
    """
    checks.positive(lam=lam, sigma=sigma, features=features, targets=targets)
    ratio = float(features) / float(targets)
    new = lam * ratio * ratio, sigma * targets
    if not all(1 / checks.LARGEST <= x <= checks.LARGEST for x in new):
        checks.fail(
            f"lam and sigma must be from {1 / checks.LARGEST:g} to {checks.LARGEST:g}",
            "in the new units they are {:g} and {:g}".format(*new),
            "Choose units in which features and targets are of a size near 1.",
        )
    return new


def suggest_parameters(
    value_range: tuple[float, float], feature_norm: float = 1.0
) -> tuple[float, float]:
    r"""(λ, σ) from the range of values alone.

    With :math:`V = \max(V_{max}, 0) - \min(V_{min}, 0)`, the width of the range together with 0,
    and features of norm :math:`\|\phi\|`,

    .. math:: \lambda = \|\phi\|^2 / V^2, \qquad \sigma = V / 50.

    So before any data the standard deviation of a value is V, and one observation reduces it to a
    fiftieth of that. The prior's mean is 0: were V only the width of a range far above 0, no value
    drawn for an untried action could compete with that of a tried one. It is :func:`rescale`
    applied to λ = 1 and σ = 1/50 on a problem whose values and features have size 1, so rewards in
    other units change nothing.

    σ is the noise in a target. The guide's table of choices says where
    :func:`rlsvi_core.agents.bootstrap`, which has none, is better, and on which problems that was
    measured.

    Parameters
    ----------
    value_range : tuple of float
        The least and the largest optimal value: the (discounted) sum of rewards that the best
        policy earns on average from the worst state and from the best.
    feature_norm : float
        The 2-norm of a row of features, where it is not 1.

    Returns
    -------
    tuple of float
        λ and σ.

    Examples
    --------
    >>> suggest_parameters((-100, 0))
    (0.0001, 2.0)
    >>> suggest_parameters((90, 100))
    (0.0001, 2.0)
    """
    low, high = checks.pair(
        "value_range",
        value_range,
        hint="Pass what the best policy earns from the worst state and from the best.",
    )
    checks.positive(feature_norm=feature_norm)
    return rescale(1.0, NOISE, features=feature_norm, targets=float(max(high, 0) - min(low, 0)))


class GaussianPosterior:
    """The posterior over θ after some rows, N(mean, Σ), held as a triangular factor.

    Parameters
    ----------
    K : int
        Number of features.
    lam : float
        Prior precision λ of each weight.
    sigma : float
        Standard deviation σ of the noise in a target.

    Examples
    --------
    >>> posterior = GaussianPosterior(2, lam=1.0, sigma=1.0)
    >>> posterior.add_rows([[1.0, 0.0], [0.0, 1.0]], [2.0, 4.0]).mean
    array([1., 2.])
    """

    def __init__(self, K: int, lam: float = 1.0, sigma: float = 1.0) -> None:
        checks.positive(lam=lam, sigma=sigma)
        self.K = checks.whole("K", K, 1, hint="K counts features.")
        checks.array_size("the factor", self.K, self.K)
        self.lam, self.sigma = float(lam), float(sigma)
        self.n, self.residual = 0, 0.0  # rows so far; b'b − w'w
        self._U = np.zeros((self.K, self.K + 1))
        np.fill_diagonal(self._U, math.sqrt(lam) * sigma)

    def __repr__(self) -> str:
        return f"GaussianPosterior(K={self.K}, lam={self.lam:g}, sigma={self.sigma:g}, n={self.n})"

    def add_rows(self, A: Any, b: Any) -> "GaussianPosterior":
        """Take in the observations b = Aθ + noise, a row φ of A each; returns itself."""
        A, b = checks.numbers("A", A), checks.numbers("b", b)
        if A.ndim != 2 or A.shape[1] != self.K or b.shape != A.shape[:1]:
            checks.fail(
                f"rows must hold K={self.K} features each, with one target a row",
                f"A has shape {A.shape} and b {b.shape}",
                "Stack the φ(s, a) and their targets.",
            )
        rows = np.column_stack([A, b])
        if (wrong := ~(np.abs(rows) <= checks.LARGEST)).any():
            bad = int(np.argwhere(wrong)[0, 0])
            checks.fail(
                "features and targets must be finite",
                f"row {bad} is {rows[bad]}",
                "Drop or correct the observation.",
            )
        self.residual += _add_rows(self._U, rows)
        self.n += len(rows)
        return self

    def add_row(self, phi: Any, y: float) -> "GaussianPosterior":
        """Take in one observation y = φθ + noise."""
        return self.add_rows(checks.numbers("phi", phi)[None], [y])

    @property
    def mean(self) -> Floats:
        """θ̄."""
        return self._drawn(0.0, np.zeros(self.K))

    def sample(self, rng: Any = None, *, unknown_variance: bool = False) -> Floats:
        """One draw θ̃ = θ̄ + σ U⁻¹ z; with an unknown variance σ is drawn as well, after z."""
        unknown = unknown_variance
        return self.draw(*draw_noise(checks.generator(rng), self.K, self.n if unknown else None))

    def draw(self, z: Floats, g: float = math.nan) -> Floats:
        """The draw that noise of one's own gives: z of K standard normals, and for an unknown
        variance a Gamma(1 + n/2) variate."""
        z = checks.array("z", z, (self.K,), hint="Pass rng.standard_normal(K).")
        if isinstance(g, float) and math.isnan(g):
            return self._drawn(self.sigma, z)
        checks.inside("g", g, 0, checks.LARGEST, hint="Pass rng.standard_gamma(1 + n / 2).")
        return self._drawn(drawn_sigma(self.residual, g), z)

    @property
    def precision(self) -> Floats:
        """Σ⁻¹ = A'A/σ² + λI."""
        factor = self._U[:, : self.K] / self.sigma
        return np.asarray(factor.T @ factor)

    @property
    def covariance(self) -> Floats:
        """Σ, for looking at; the algorithms never need it."""
        root = self.sigma * np.eye(self.K)
        for column in root:
            solve(self._U, column)
        return np.asarray(root.T @ root)

    def _drawn(self, sigma: float, z: Floats) -> Floats:
        theta = np.zeros(self.K)
        draw(self._U, self._U[:, self.K], sigma, z, theta)
        return theta
