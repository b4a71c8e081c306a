"""Section 4: the Gaussian posterior over weights."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsvi_core.regression import (
    GaussianPosterior,
    add_row,
    factorize_upper,
    solve_upper,
    solve_upper_transposed,
)

problems = st.tuples(
    st.integers(0, 10**9),
    st.integers(1, 6),
    st.integers(0, 12),
    st.sampled_from([1e-2, 1.0, 30.0]),
    st.sampled_from([0.1, 1.0, 4.0]),
)


def drawn(problem):
    seed, K, n, lam, sigma = problem
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, K)), rng.standard_normal(n), lam, sigma


def fitted(A, b, lam=1.0, sigma=1.0):
    posterior = GaussianPosterior(A.shape[1], lam, sigma)
    for phi, y in zip(A, b, strict=True):
        posterior.add_row(phi, y)
    return posterior


def printed(A, b, lam, sigma):
    """Line 3 of Algorithm 1, inverse and all."""
    Sigma = np.linalg.inv(A.T @ A / sigma**2 + lam * np.eye(A.shape[1]))
    return Sigma @ A.T @ b / sigma**2, Sigma


def exact_fit(A, b, ridge):
    """A θ̄ in rational arithmetic, rounded once at the end."""
    n, K = A.shape
    F = [[Fraction(x) for x in row] for row in A]
    M = [
        [sum(F[i][j] * F[i][k] for i in range(n)) + (j == k) * Fraction(ridge) for k in range(K)]
        + [sum(F[i][j] * Fraction(b[i]) for i in range(n))]
        for j in range(K)
    ]
    for j in range(K):  # Gauss-Jordan; the matrix is positive definite, so no pivoting
        M[j] = [x / M[j][j] for x in M[j]]
        for i in range(K):
            if i != j:
                M[i] = [x - M[i][j] * y for x, y in zip(M[i], M[j], strict=True)]
    return np.array([float(sum(F[i][j] * M[j][K] for j in range(K))) for i in range(n)])


# --- identities -----------------------------------------------------------------------------


@given(problems)
def test_mean_covariance_and_precision_are_the_printed_formulas(problem):
    A, b, lam, sigma = drawn(problem)
    posterior, (mean, Sigma) = fitted(A, b, lam, sigma), printed(A, b, lam, sigma)
    scale = np.abs(mean).max() + 1e-30
    np.testing.assert_allclose(posterior.mean / scale, mean / scale, atol=1e-9)
    np.testing.assert_allclose(posterior.covariance, Sigma, rtol=1e-8, atol=1e-10 * Sigma.max())
    precision = A.T @ A / sigma**2 + lam * np.eye(A.shape[1])
    np.testing.assert_allclose(
        posterior.precision, precision, rtol=1e-12, atol=1e-13 * precision.max()
    )


def test_reading_changes_nothing_and_rows_are_left_as_they_were():
    posterior, phi = GaussianPosterior(2), np.array([1.0, 2.0])
    assert posterior.add_row(phi, 3.0) is posterior
    assert phi.tolist() == [1, 2]
    first, second = (
        [posterior.mean, posterior.covariance, posterior.sample(2), posterior.precision]
        for _ in range(2)
    )
    assert all(map(np.array_equal, first, second))


# --- sampling -------------------------------------------------------------------------------


@given(problems)
def test_a_sample_is_the_mean_plus_sigma_U_inverse_z(problem):
    A, b, lam, sigma = drawn(problem)
    K = A.shape[1]
    z = np.random.default_rng(9).standard_normal(K)
    U = np.linalg.cholesky(A.T @ A + lam * sigma**2 * np.eye(K)).T
    expected = printed(A, b, lam, sigma)[0] + sigma * np.linalg.solve(U, z)
    np.testing.assert_allclose(
        fitted(A, b, lam, sigma).sample(9), expected, atol=1e-8 * (1 + np.abs(expected).max())
    )


def test_noise_of_ones_own_and_the_residual():
    """By which the law of the noise can be another, or its variance unknown."""
    A, b, lam, sigma = drawn((1, 3, 5, 0.5, 2.0))
    posterior = fitted(A[:3], b[:3], lam, sigma).add_rows(A[3:], b[3:])
    mean, z = posterior.mean, np.array([0.5, 1.0, -1.0])
    squares = ((b - A @ mean) ** 2).sum() + lam * sigma**2 * mean @ mean
    assert posterior.residual == pytest.approx(squares)
    np.testing.assert_allclose(
        posterior.draw_with_noise(z, 3.0) - mean, 1.5 * (posterior.draw_with_noise(z) - mean)
    )


# --- accuracy -------------------------------------------------------------------------------


def hard(kind):
    rng = np.random.default_rng(6)
    A, b = rng.standard_normal((12, 5)), rng.standard_normal(12)
    if kind == "collinear":
        A[:, 4], A[:, 3] = A[:, 0] + A[:, 1], A[:, 0] * (1 + 1e-9)
    elif kind == "scaled":
        A *= 10.0 ** np.array([-6, -3, 0, 3, 6])
    else:  # badly scaled and, but for a part in 10^7, collinear
        A[:, 4] = A[:, 0] + 1e-7 * A[:, 4]
        A *= 10.0 ** np.array([6, -6, 3, -3, 0])
    return A, b


@pytest.mark.parametrize("kind", ["collinear", "scaled", "both"])
@pytest.mark.parametrize("lam", [1e-12, 1e-6, 1.0])
def test_fitted_values_are_accurate_in_the_hardest_problems(kind, lam):
    A, b = hard(kind)
    exact = exact_fit(A, b, lam)
    error = np.abs(A @ fitted(A, b, lam).mean - exact).max() / np.abs(exact).max()
    assert error < 1e-8


# --- scaling laws ---------------------------------------------------------------------------


@given(problems, st.integers(-8, 8), st.integers(-8, 8))
def test_powers_of_two_rescale_the_posterior_to_the_last_bit(problem, i, j):
    A, b, lam, sigma = drawn(problem)
    c, d = 2.0**i, 2.0**j
    one = fitted(A, b, lam, sigma)
    two = fitted(c * A, d * b, lam * (c / d) ** 2, sigma * d)
    assert np.array_equal(two.mean * c, one.mean * d)
    assert np.array_equal(two.sample(7) * c, one.sample(7) * d)


# --- the compiled pieces --------------------------------------------------------------------


@given(st.integers(0, 10**9), st.integers(1, 7))
def test_triangular_solves_undo_triangular_products(seed, K):
    rng = np.random.default_rng(seed)
    U = np.triu(rng.standard_normal((K, K)), 1) + np.diag(rng.uniform(1, 2, K))
    x = rng.standard_normal(K)
    below = U + np.tril(np.full((K, K), np.nan), -1)  # what lies below is never read
    for solver, y in ((solve_upper, U @ x), (solve_upper_transposed, U.T @ x)):
        solver(below, y)
        np.testing.assert_allclose(y, x, atol=1e-10)
    M = U.T @ U
    factorize_upper(M)
    np.testing.assert_allclose(np.triu(M), U, atol=1e-10)


@given(st.integers(0, 10**9), st.integers(1, 7), st.booleans())
def test_add_row_keeps_a_triangle_with_positive_diagonal_and_adds_the_outer_product(seed, K, y):
    rng = np.random.default_rng(seed)
    U = np.triu(rng.standard_normal((K, K + y)), 1)
    U[np.arange(K), np.arange(K)] = rng.uniform(0.5, 2, K)
    row = rng.standard_normal(K + y) * (rng.random(K + y) < 0.8)
    before, square = U.copy(), U[:, :K].T @ U + np.outer(row[:K], row)
    add_row(U, row.copy())
    np.testing.assert_allclose(U[:, :K].T @ U, square, atol=1e-12)
    assert not np.tril(U[:, :K], -1).any()
    assert (np.diag(U) >= np.diag(before)).all()


def test_a_row_that_is_refused_leaves_no_trace():
    posterior = GaussianPosterior(2)
    with pytest.raises(ValueError, match="finite"):
        posterior.add_rows([[1.0, 2.0], [1.0, math.nan]], [3.0, 4.0])
    assert np.array_equal(posterior.covariance, np.eye(2))
    assert posterior.n == 0


# --- normal numbers by a key ------------------------------------------------------------------
