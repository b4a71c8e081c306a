r"""Section 4: Bayesian linear regression, the one posterior behind every algorithm of the paper.

Prior :math:`\theta \sim N(0, I/\lambda)`, data :math:`y_i = \phi_i \theta + \sigma\varepsilon_i`.
With the rows stacked in :math:`A` and the targets in :math:`b`, Algorithm 1 prints

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
:math:`U^{-\top} A^\top b` by the same rotations.

Least-squares value iteration is the same object with :math:`\sigma = 1` and no noise: its ridge
is :math:`\lambda`, where RLSVI's is :math:`\lambda\sigma^2`.

Scaling laws. Features times :math:`c` and targets times :math:`d` give the same posterior for
:math:`\phi\theta` (times :math:`d`) if :math:`\lambda` becomes :math:`\lambda c^2/d^2` and
:math:`\sigma` becomes :math:`d\sigma`; see :func:`rescale`.
"""

import math

import numpy as np

from .compiled import jit

# The loops below count from zero, or run down a column: that is what the compiler vectorises.


@jit
def add_row(U, row):
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
def solve_transposed(U, x):
    """Overwrite x by U^{-T} x."""
    K = x.shape[0]
    for k in range(K):
        v = x[k] / U[k, k]
        x[k] = v
        for i in range(K - k - 1):
            x[k + 1 + i] -= v * U[k, k + 1 + i]


@jit
def solve(U, x):
    """Overwrite x by U^{-1} x."""
    for k in range(x.shape[0] - 1, -1, -1):
        v = x[k] / U[k, k]
        x[k] = v
        for j in range(k):
            x[j] -= v * U[j, k]


def check_positive(**parameters: float) -> None:
    """λ and σ divide something in every formula: refuse zero, negative and non-finite values."""
    for name, value in parameters.items():
        if not (isinstance(value, (int, float, np.number)) and 0 < value < math.inf):
            raise ValueError(f"{name} must be a finite number above 0; it is {value!r}. "
                             f"For a nearly flat prior or nearly noiseless data use a small value, "
                             f"such as {name}=1e-6.")


def rescale(lam: float, sigma: float, *, features: float = 1.0, targets: float = 1.0):
    """The (λ, σ) that undo a change of units: features times ``features``, targets likewise."""
    check_positive(lam=lam, sigma=sigma, features=features, targets=targets)
    return lam * (features / targets) ** 2, sigma * targets


class GaussianPosterior:
    """The posterior over θ after some rows: N(mean, Σ), held as a triangular factor."""

    def __init__(self, K: int, lam: float = 1.0, sigma: float = 1.0):
        check_positive(lam=lam, sigma=sigma)
        if not (isinstance(K, (int, np.integer)) and K >= 1):
            raise ValueError(f"K counts features and must be an integer of at least 1; "
                             f"it is {K!r}.")
        self.K, self.lam, self.sigma = int(K), float(lam), float(sigma)
        self._U = np.zeros((K, K + 1))
        np.fill_diagonal(self._U, math.sqrt(lam) * sigma)

    def add_row(self, phi, y: float) -> "GaussianPosterior":
        """Take in one observation y = φθ + noise."""
        if np.shape(phi) != (self.K,):
            raise ValueError(f"a row must hold K={self.K} features; this one has shape "
                             f"{np.shape(phi)}. Pass φ(s, a) and its target.")
        row = np.append(np.asarray(phi, dtype=float), float(y))
        if not np.isfinite(row).all():
            raise ValueError(f"features and target must be finite; got {phi!r} and {y!r}. "
                             f"Drop or mend the observation.")
        add_row(self._U, row)
        return self

    @property
    def mean(self) -> np.ndarray:
        return self._back(self._U[:, self.K].copy())

    def sample(self, rng=None) -> np.ndarray:
        """One draw θ̃ = θ̄ + σ U⁻¹ z."""
        z = np.random.default_rng(rng).standard_normal(self.K)
        return self._back(self._U[:, self.K] + self.sigma * z)

    @property
    def precision(self) -> np.ndarray:
        """Σ⁻¹ = A'A/σ² + λI."""
        factor = self._U[:, : self.K] / self.sigma
        return factor.T @ factor

    @property
    def covariance(self) -> np.ndarray:
        """Σ, for looking at; the algorithms never need it."""
        root = np.column_stack([self._back(e) for e in self.sigma * np.eye(self.K)])
        return root @ root.T

    def _back(self, x: np.ndarray) -> np.ndarray:
        solve(self._U, x)
        return x
