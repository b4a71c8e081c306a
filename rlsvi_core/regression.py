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
"""

import math
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrsv

from .runtime import checks
from .runtime.compilation import Array, Floats, Generator, jit, jit_inline

__all__ = ["GaussianPosterior", "suggest_parameters"]

SIGMA_PER_UNIT_RANGE = 0.005  # the σ that :func:`suggest_parameters` has for values in a range of 1

# λσ² beside a row of features, squared: less is refused, and less than the second is mentioned
MIN_RIDGE = 1e-14
SAFE_RIDGE = 1e-9

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
        c = diagonal * inverse
        s = x * inverse
        U[k, k] = r
        for i in range(width - k - 1):
            j = k + 1 + i
            u = U[k, j]
            v = row[j]
            U[k, j] = c * u + s * v
            row[j] = c * v - s * u


@jit
def factorize_upper(M: Floats) -> None:
    """Overwrite the upper half of M by U with U'U = M."""
    K = M.shape[0]
    for k in range(K):
        for i in range(k):
            u = M[i, k]
            for j in range(k, K):
                M[k, j] -= u * M[i, j]
        root = math.sqrt(M[k, k])
        for j in range(k, K):
            M[k, j] /= root


@jit
def solve_upper_transposed(U: Floats, x: Floats) -> None:
    """Overwrite x by U^{-T} x."""
    K = x.shape[0]
    for k in range(K):
        v = x[k] / U[k, k]
        x[k] = v
        for i in range(K - k - 1):
            x[k + 1 + i] -= v * U[k, k + 1 + i]


@jit
def solve_upper(U: Floats, x: Floats) -> None:
    """Overwrite x by U^{-1} x."""
    for k in range(x.shape[0] - 1, -1, -1):
        v = x[k] / U[k, k]
        x[k] = v
        for j in range(k):
            x[j] -= v * U[j, k]


@jit
def fill_posterior_draw(U: Floats, w: Floats, sigma: float, z: Floats, theta: Floats) -> None:
    """Overwrite theta by θ̃ = U⁻¹(w + σz), the posterior mean if σ is 0.

    w is U⁻ᵀA'b, or a part of it, and theta the rest of it, or 0.
    """
    for k in range(theta.shape[0]):
        theta[k] += w[k] + sigma * z[k]
    solve_upper(U, theta)


@jit_inline
def draw_posterior_scalar(M: float, Ab: float, sigma: float, z: float) -> float:
    """The same for one weight: A'A + λσ² is the number M, and A'b another."""
    return Ab / M + sigma / math.sqrt(M) * z


def draw_posterior_blocks(U: Array, w: Floats, sigma: float, z: Floats) -> Floats:
    """The same for blocks of many weights, by BLAS: (B, d) arrays w and z give B·d weights; U has a
    factor for each block, in Fortran's order."""
    return np.concatenate([dtrsv(one, x) for one, x in zip(U, w + sigma * z, strict=True)])


@jit_inline
def sample_noise(rng: Generator) -> float:
    """One number of z: the law of the noise, for every algorithm."""
    return rng.standard_normal()


@jit
def fill_noise(rng: Generator, z: Floats) -> None:
    """Fill z, of any shape, with noise."""
    flat = z.reshape(z.size)
    for k in range(z.size):
        flat[k] = sample_noise(rng)


@jit
def _add_rows(U: Floats, rows: Floats) -> float:
    """Rotate in many rows with their targets; returns what they add to the residual."""
    residual = 0.0
    for i in range(rows.shape[0]):
        add_row(U, rows[i])
        residual += rows[i, U.shape[0]] ** 2
    return residual


def suggest_parameters(
    value_range: tuple[float, float], feature_norm: float = 1.0
) -> tuple[float, float]:
    r"""(λ, σ) from the range of values alone.

    With :math:`V = \max(V_{max}, 0) - \min(V_{min}, 0)`, the width of the range together with 0,
    and features of norm :math:`\|\phi\|`,

    .. math:: \lambda = \|\phi\|^2 / V^2, \qquad \sigma = V / 200.

    So before any data the standard deviation of a value is V, and one observation reduces it to a
    two-hundredth of that. The prior's mean is 0: were V only the width of a range far above 0, no value
    drawn for an untried action could compete with that of a tried one. In other units of rewards
    or features the posterior of the values is the same.

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
    (0.0001, 0.5)
    >>> suggest_parameters((90, 100))
    (0.0001, 0.5)
    """
    low, high = checks.check_bounds("value_range", value_range)
    checks.check_positive(feature_norm=feature_norm)
    V = max(high, 0.0) - min(low, 0.0)
    hint = "Choose other units of reward: lam is one over its square."
    checks.check_range("the width of value_range and 0", V, 1e-49, 1e49, hint=hint)
    return (feature_norm / V) * (feature_norm / V), SIGMA_PER_UNIT_RANGE * V


def check_ridge(square: float, ridge: float, before: float = 0.0) -> None:
    """Refuse a λσ² with which sums lose the digits of the values, or say how many they lose, beside
    the largest row of features, squared; before, the largest was another."""
    found = f"lam * sigma^2 is {ridge:g}, and the largest row of features, squared, {square:g}"
    if ridge < MIN_RIDGE * square:
        checks.fail(f"{found}; its share must be at least {MIN_RIDGE:g}. Raise lam or sigma.")
    if SAFE_RIDGE * before <= ridge < SAFE_RIDGE * square:
        checks.warn(f"{found}; below a share of {SAFE_RIDGE:g} first values lose digits.")


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
        checks.check_positive(lam=lam, sigma=sigma)
        self.K = checks.check_integer("K", K, 1, hint="K counts features.")
        self.lam = float(lam)
        self.sigma = float(sigma)
        self.n = 0  # rows so far
        self.residual = 0.0  # b'b − w'w
        self._U = np.zeros((self.K, self.K + 1))
        np.fill_diagonal(self._U, math.sqrt(lam) * sigma)

    def __repr__(self) -> str:
        return f"GaussianPosterior(K={self.K}, lam={self.lam:g}, sigma={self.sigma:g}, n={self.n})"

    def add_rows(self, A: Any, b: Any) -> "GaussianPosterior":
        """Take in the observations b = Aθ + noise, a row φ of A each; returns itself."""
        b = checks.check_array("b", b, (np.size(b),), hint="It has one target a row.")
        A = checks.check_array("A", A, (b.size, self.K))
        rows = np.column_stack([A, b])
        self.residual += _add_rows(self._U, rows)
        self.n += len(rows)
        return self

    def add_row(self, phi: Any, y: float) -> "GaussianPosterior":
        """Take in one observation y = φθ + noise."""
        return self.add_rows(checks.as_float_array("phi", phi)[None], [y])

    @property
    def mean(self) -> Floats:
        """θ̄."""
        return self._solve_draw(0.0, np.zeros(self.K))

    def sample(self, rng: Any = None) -> Floats:
        """One draw θ̃ = θ̄ + σ U⁻¹ z."""
        z = np.empty(self.K)
        fill_noise(checks.as_generator(rng), z)
        return self.draw_with_noise(z)

    def draw_with_noise(self, z: Floats, sigma: float | None = None) -> Floats:
        """The draw that noise z of one's own gives, by this σ or another."""
        z = checks.check_array("z", z, (self.K,), hint="Pass rng.standard_normal(K).")
        return self._solve_draw(self.sigma if sigma is None else sigma, z)

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
            solve_upper(self._U, column)
        return np.asarray(root.T @ root)

    def _solve_draw(self, sigma: float, z: Floats) -> Floats:
        theta = np.zeros(self.K)
        fill_posterior_draw(self._U, self._U[:, self.K], sigma, z, theta)
        return theta
