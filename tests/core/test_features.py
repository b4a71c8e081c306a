"""Generalization matrices: tabular, coherent (two readings) and agnostic."""

import itertools
import math
import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.stats import chi2

from rlsvi_core import chain, features
from rlsvi_core.features import boxes

RATE = 1e-6  # how often a statistical test of right code fails under a new seed

READINGS = ["stacked", "per_period"]


def blocks(array, reading):
    """Columns as the reading sees them: one tall matrix, or one a period."""
    H, S, A, *K = array.shape
    n = 1 if reading == "stacked" else H
    return array.reshape(n, H * S * A // n, *K)


def printed_algorithm_6(Q, K, seed, reading, norm):
    """Ψ (Ψ'Ψ)⁻¹ Ψ' W with columns scaled, from the same draws."""
    rng, out = np.random.default_rng(seed), []
    for q in blocks(Q, reading):
        Psi = rng.standard_normal((len(q), K))
        Psi[:, 0], Psi[:, 1] = 1, q
        W = rng.standard_normal((len(q), K))
        W[:, 0] = 1
        WP = Psi @ np.linalg.inv(Psi.T @ Psi) @ Psi.T @ W
        out.append(WP / np.sqrt((WP**2).sum(axis=0)) * norm)
    return np.stack(out).reshape(*Q.shape, K)


# --- tabular --------------------------------------------------------------------------------


def test_one_hot_stands_for_the_table_without_storing_it(make_mdp):
    mdp = make_mdp(1, 3, 4, 2)
    Phi, table = features.OneHot(3, 4, 2), features.tabular(mdp)
    assert (Phi.H, Phi.S, Phi.A, Phi.K) == table.shape
    for h, s in np.ndindex(3, 4):
        assert np.array_equal(Phi(h, s), table[h, s])
        assert np.array_equal(table[h, s], np.eye(8)[2 * s : 2 * s + 2])
    assert features.OneHot(3, 4, 2) == Phi != features.OneHot(3, 2, 4)
    assert features.OneHot(200, 500, 6)(199, 499)[5, 2999] == 1  # 14 GB as a table


# --- coherent -------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(("N", "norm"), [(3, None), (8, 2.5)])
def test_coherent_equals_the_printed_projection_of_the_same_draws(reading, N, norm):
    Q, more = chain(N).Q, {} if reading == "stacked" else {"reading": reading}  # by default, HSA
    for seed in range(1, 6):
        size = Q.size if norm is None else norm
        printed = printed_algorithm_6(Q, 4, seed, reading, size)
        Phi = features.coherent(Q, 4, seed, norm=norm, **more)
        np.testing.assert_allclose(Phi, printed, rtol=1e-8, atol=1e-8 * size)


def test_a_basis_does_not_depend_on_the_unit_of_rewards():
    Q = chain(6).Q
    small, usual = (features.coherent(unit * Q, 4, 3) for unit in (2.0**-60, 1.0))
    np.testing.assert_allclose(small, usual, rtol=1e-12)


def test_a_constant_Q_adds_no_dimension_and_does_no_harm():
    Phi = features.coherent(np.full((2, 3, 2), 0.25), 3, 1)
    assert np.isfinite(Phi).all()
    assert np.linalg.matrix_rank(Phi.reshape(12, 3)) == 2


def test_a_period_can_hold_more_columns_than_it_has_dimensions():
    Q = np.random.default_rng(3).random((2, 3, 2))
    Phi = features.coherent(Q, 9, 1, reading="per_period").reshape(2, 6, 9)
    for h in range(2):
        assert np.linalg.matrix_rank(Phi[h]) == 6
        np.testing.assert_allclose((Phi[h] ** 2).sum(axis=0), 12.0**2, rtol=1e-12)
    # The space is full, so the projection leaves the random vectors as they were drawn.
    rng = np.random.default_rng(1)
    rng.standard_normal((6, 9))
    W = rng.standard_normal((6, 9))[:, 1:]
    np.testing.assert_allclose(Phi[0][:, 1:], 12 * W / np.sqrt((W**2).sum(axis=0)), rtol=1e-10)


# --- agnostic -------------------------------------------------------------------------------


def test_agnostic_without_noise_copies_Q_exactly():
    Q = chain(6).Q
    for noise in ("variance", "deviation"):
        Phi = features.agnostic(Q, 3, 0.0, 1, noise=noise)
        assert all(np.array_equal(Phi[..., k], Q) for k in range(3))


@pytest.mark.parametrize(("noise", "deviation"), [("variance", math.sqrt(0.3)), ("deviation", 0.3)])
def test_agnostic_columns_are_normal_about_Q(noise, deviation):
    # Three exact chi-square laws, two-sided at RATE / 3 each.
    Q = chain(20).Q
    x = ((features.agnostic(Q, 20, 0.3, 5, noise=noise) - Q[..., None]) / deviation).reshape(-1, 20)
    n = len(x)
    for statistic, freedom in (
        (n * (x.mean(axis=0) ** 2).sum(), 20),
        ((x**2).sum(), 20 * n),
        ((x.sum(axis=1) ** 2).sum() / 20, n),
    ):
        assert RATE / 6 < chi2.cdf(statistic, freedom) < 1 - RATE / 6


# --- a problem of one's own -----------------------------------------------------------------------

BOX = (np.array([-1.2, -0.07]), np.array([0.6, 0.07]))
BASES = {
    "tiles": lambda: boxes.tiles(BOX, 3),
    "random Fourier": lambda: boxes.random_fourier(BOX, 3, d=100, rng=1),
    "polynomial": lambda: boxes.polynomial(BOX, 3, degree=3),
}


@pytest.mark.parametrize("name", BASES)
def test_a_basis_for_boxes_is_bounded_and_crossed_with_the_actions(name):
    phi = BASES[name]()
    for s in np.random.default_rng(1).uniform(*BOX, (40, 2)):
        x = phi.block_rows(0, s)
        assert x.shape == (1, phi.K // 3)
        norm = np.linalg.norm(x)
        assert norm <= 1 + 1e-12
        assert norm == pytest.approx(1) or name == "polynomial"
        np.testing.assert_array_equal(phi(0, s), np.kron(np.eye(3), x))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(phi))(0, s), phi(0, s))


def test_what_lies_outside_a_box_is_clipped_to_it():
    for name in BASES:
        phi = BASES[name]()
        np.testing.assert_array_equal(phi(0, [9.0, 0.0]), phi(0, [0.6, 0.0]))


def test_random_fourier_features_approximate_their_kernel():
    phi = boxes.random_fourier(([0.0], [2.0]), 1, d=20_000, length_scale=0.3, rng=1)
    for x in (0.0, 0.2, 0.7):
        inner = phi.block_rows(0, [0.5])[0] @ phi.block_rows(0, [0.5 + x])[0]
        assert inner == pytest.approx(math.exp(-((x / 2 / 0.3) ** 2) / 2), abs=0.05)  # 7 deviations


def test_tiles_share_what_is_near_and_nothing_that_is_far():
    phi = boxes.tiles(([0.0, 0.0], [1.0, 1.0]), 1, tilings=8, bins=4)
    at = [phi.block_rows(0, s)[0] for s in ([0.5, 0.5], [0.51, 0.5], [0.9, 0.5], [1, 1], [0, 0])]
    assert np.count_nonzero(at[0]) == 8
    assert 0.7 < at[0] @ at[1] <= 1
    assert at[0] @ at[2] == at[3] @ at[4] == 0
    alone = boxes.tiles(([0.0, 0.0], [1.0, 1.0]), 1, tilings=1, bins=4)
    middles = itertools.product((0.125, 0.375, 0.625, 0.875), repeat=2)
    on = {int(alone.block_rows(0, middle).argmax()) for middle in middles}
    assert len(on) == 16  # every cell of a grid has a tile of its own


def test_tilings_are_displaced_by_one_step_and_by_three_along_two_axes():
    """Four tilings of one tile a side, two with what sticks out: shifts (0, 0), (1, 3), (2, 2) and
    (3, 1), in quarters."""
    phi = boxes.tiles(([0.0, 0.0], [1.0, 1.0]), 1, tilings=4, bins=1)
    assert np.flatnonzero(phi.block_rows(0, [0.3, 0.3])).tolist() == [0, 4 + 2, 8, 12 + 1]


def test_polynomials_are_their_formula():
    x = np.array([0.3, 0.8])
    power = boxes.polynomial(([-1.0, -1.0], [1.0, 1.0]), 1, degree=2).block_rows(0, x)[0]
    np.testing.assert_allclose(power * math.sqrt(6), [1, 0.8, 0.64, 0.3, 0.24, 0.09])


@pytest.mark.parametrize(("m", "degree"), [(1, 5), (2, 3), (3, 2), (4, 3)])
def test_monomials_are_in_the_order_of_their_exponents(m, degree):
    x, some = np.linspace(0.2, 0.9, m), itertools.product(range(degree + 1), repeat=m)
    exponents = np.array([one for one in some if sum(one) <= degree])
    phi = boxes.polynomial((-np.ones(m), np.ones(m)), 1, degree).block_rows(0, x)[0]
    expected = (x**exponents).prod(axis=1) / math.sqrt(len(exponents))
    np.testing.assert_allclose(phi, expected, rtol=1e-14)


def test_polynomials_of_many_coordinates_make_only_the_monomials_they_keep():
    tracemalloc.start()
    for m, degree, d in ((14, 2, 120), (128, 1, 129), (40, 3, 12341)):
        assert boxes.polynomial((np.zeros(m), np.ones(m)), 1, degree).K == d
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


def test_a_function_is_one_of_the_observation():
    of = features.FeatureMap.wrap
    assert of(lambda s, scale=3.0: [[s * scale]])(4, 2.0) == 6
    assert of(np.atleast_2d, 5)(4, 2.0) == 2
    assert of(lambda s: [[s]], 5).H == of(BASES["tiles"](), 5).H == 5


CUBE = np.zeros(8), np.ones(8)
TOO_LARGE = {
    "tiles": lambda: boxes.tiles(CUBE, 3),
    "polynomial": lambda: boxes.polynomial(CUBE, 4, degree=12),
    "random Fourier": lambda: boxes.random_fourier(CUBE, 2, d=10**6),
    "given": lambda: features.PerActionFeatures(lambda s: [s], 2, d=10**6),
    "returned": lambda: features.PerActionFeatures(lambda s: np.zeros(10**5), 2)(0, 0.5),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_features_that_memory_has_no_room_for_are_refused_before_they_are_made(name):
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"memory|numbers"):
        TOO_LARGE[name]()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10e6
