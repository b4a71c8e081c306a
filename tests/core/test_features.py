"""Generalization matrices: tabular, coherent (two readings) and agnostic."""

import itertools
import math
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from rlsvi_core import chain, features, rlsvi
from rlsvi_core.beyond import boxes
from rlsvi_core.envs import river_swim

RATE = 1e-6  # how often a statistical test of right code fails under a new seed

READINGS = ["stacked", "per_period"]
shapes = st.tuples(st.integers(1, 4), st.integers(2, 4), st.integers(2, 3))  # H, S, A


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


def distance_from_span(columns, target):
    theta = np.linalg.lstsq(columns, target, rcond=None)[0]
    return np.abs(columns @ theta - target).max()


def random_Q(seed, shape):
    return np.random.default_rng(seed).uniform(0, 1, shape)


# --- tabular --------------------------------------------------------------------------------


def test_tabular_is_the_identity_in_every_period(make_mdp):
    mdp = make_mdp(0, 3, 4, 2)
    Phi = features.tabular(mdp)
    assert Phi.shape == (3, 4, 2, 8)
    for h in range(3):
        assert np.array_equal(Phi[h].reshape(8, 8), np.eye(8))


def test_one_hot_stands_for_the_table_without_storing_it(make_mdp):
    mdp = make_mdp(0, 3, 4, 2)
    Phi, table = features.OneHot(3, 4, 2), features.tabular(mdp)
    assert (Phi.H, Phi.S, Phi.A, Phi.K) == table.shape
    for h, s in np.ndindex(3, 4):
        assert np.array_equal(Phi(h, s), table[h, s])
    assert features.OneHot(3, 4, 2) == Phi != features.OneHot(3, 2, 4)
    assert features.OneHot(200, 500, 6)(199, 499)[5, 2999] == 1  # 14 GB as a table
    with pytest.raises(IndexError, match=r"\bs\b"):
        Phi(0, 4)


def test_a_large_table_is_refused_in_favour_of_one_hot_features():
    with pytest.raises(ValueError, match=r"one_hot\(10, 2000, 2\)"):
        features.tabular(river_swim(2000, 10))


# --- coherent -------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
@given(st.integers(0, 10**9), shapes, st.integers(2, 4))
def test_coherent_span_contains_Q_and_the_constant(reading, seed, shape, K):
    Q = random_Q(seed, shape)
    Phi = features.coherent(Q, K, seed, reading=reading)
    for columns, q in zip(blocks(Phi, reading), blocks(Q, reading), strict=True):
        assert distance_from_span(columns, q) < 1e-8
        assert distance_from_span(columns, np.ones(len(q))) < 1e-8
        assert np.linalg.matrix_rank(columns) <= K


@given(st.integers(0, 10**9), shapes, st.integers(2, 4))
def test_one_theta_serves_all_periods_of_a_stacked_basis(seed, shape, K):
    Q = random_Q(seed, shape)
    Phi = features.coherent(Q, K, seed)
    theta = np.linalg.lstsq(Phi.reshape(-1, K), Q.ravel(), rcond=None)[0]
    for h in range(shape[0]):
        np.testing.assert_allclose(Phi[h] @ theta, Q[h], atol=1e-8)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("norm", [None, 1.0, 2.5])
def test_every_column_has_the_norm_and_HSA_by_default(reading, norm):
    Q = chain(6).Q
    Phi = features.coherent(Q, 4, 1, reading=reading, norm=norm)
    norms = np.sqrt((blocks(Phi, reading) ** 2).sum(axis=1))
    np.testing.assert_allclose(norms, Q.size if norm is None else norm, rtol=1e-13)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("N", [3, 8])
def test_coherent_equals_the_printed_projection_of_the_same_draws(reading, N):
    Q = chain(N).Q
    for seed in range(5):
        printed = printed_algorithm_6(Q, 4, seed, reading, Q.size)
        np.testing.assert_allclose(
            features.coherent(Q, 4, seed, reading=reading), printed, rtol=1e-8, atol=1e-8 * Q.size
        )


def test_the_two_readings_differ_and_stacked_is_the_default():
    Q = chain(5).Q
    stacked, per_period = (features.coherent(Q, 4, 1, reading=reading) for reading in READINGS)
    assert np.array_equal(features.coherent(Q, 4, 1), stacked)
    assert not np.allclose(stacked, per_period)
    assert (
        max(distance_from_span(stacked[h].reshape(10, 4), Q[h].ravel()) for h in range(4)) < 1e-10
    )


def test_the_first_column_is_constant():
    for reading in READINGS:
        Phi = features.coherent(chain(5).Q, 4, 1, reading=reading)
        np.testing.assert_allclose(Phi[..., 0], Phi[0, 0, 0, 0], rtol=1e-12)


def test_a_constant_Q_adds_no_dimension_and_does_no_harm():
    Phi = features.coherent(np.full((2, 3, 2), 0.25), 3, 1)
    assert np.isfinite(Phi).all()
    assert np.linalg.matrix_rank(Phi.reshape(12, 3)) == 2


def test_a_period_can_hold_more_columns_than_it_has_dimensions():
    Q = random_Q(3, (2, 3, 2))
    Phi = features.coherent(Q, 9, 1, reading="per_period").reshape(2, 6, 9)
    for h in range(2):
        assert np.linalg.matrix_rank(Phi[h]) == 6
        np.testing.assert_allclose((Phi[h] ** 2).sum(axis=0), 12.0**2, rtol=1e-12)
    # The space is full, so the projection leaves the random vectors as they were drawn.
    rng = np.random.default_rng(1)
    rng.standard_normal((6, 9))
    W = rng.standard_normal((6, 9))[:, 1:]
    np.testing.assert_allclose(Phi[0][:, 1:], 12 * W / np.sqrt((W**2).sum(axis=0)), rtol=1e-10)


@pytest.mark.parametrize(
    "make",
    [
        lambda Q, seed: features.coherent(Q, 4, seed),
        lambda Q, seed: features.coherent(Q, 4, seed, reading="per_period"),
        lambda Q, seed: features.agnostic(Q, 4, 0.3, seed),
    ],
)
def test_a_basis_is_a_function_of_the_seed(make):
    Q = chain(5).Q
    assert np.array_equal(make(Q, 1), make(Q, 1))
    assert np.array_equal(make(Q, 1), make(Q, np.random.default_rng(1)))
    assert not np.allclose(make(Q, 1), make(Q, 2))


# --- agnostic -------------------------------------------------------------------------------


def test_agnostic_without_noise_copies_Q_exactly():
    Q = chain(6).Q
    for noise in ("variance", "deviation"):
        Phi = features.agnostic(Q, 3, 0.0, 1, noise=noise)
        assert all(np.array_equal(Phi[..., k], Q) for k in range(3))


def test_rho_as_a_variance_is_its_root_as_a_deviation():
    Q = chain(6).Q
    assert np.array_equal(
        features.agnostic(Q, 3, 0.25, 1), features.agnostic(Q, 3, 0.5, 1, noise="deviation")
    )


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


# --- what is refused ------------------------------------------------------------------------

Q0 = np.zeros((2, 3, 2)) + np.arange(2)


@pytest.mark.parametrize(
    ("call", "keyword"),
    [
        (lambda: features.coherent(Q0, 3, reading="tall"), "reading"),
        (lambda: features.coherent(Q0[0], 3), "shape"),
        (lambda: features.coherent(Q0 * np.nan, 3), "Q"),
        (lambda: features.coherent(Q0, 1), "K"),
        (lambda: features.coherent(Q0, 3.0), "K"),
        (lambda: features.coherent(Q0, 13), "K"),
        (lambda: features.coherent(Q0, 3, norm=0.0), "norm"),
        (lambda: features.agnostic(Q0, 0, 0.1), "K"),
        (lambda: features.agnostic(Q0, 2, -0.1), "rho"),
        (lambda: features.agnostic(Q0, 2, math.nan), "rho"),
        (lambda: features.agnostic(Q0, 2, math.inf), "rho"),
        (lambda: features.agnostic(Q0[0], 2, 0.1), "shape"),
        (lambda: features.OneHot(2, 0, 2), "S"),
        (lambda: features.agnostic(Q0, 2, 0.1, noise="std"), "noise"),
    ],
)
def test_what_cannot_be_is_refused(call, keyword):
    with pytest.raises(ValueError, match=keyword):
        call()


# --- a problem of one's own -----------------------------------------------------------------------

BOX = (np.array([-1.2, -0.07]), np.array([0.6, 0.07]))
BASES = {
    "tiles": lambda: boxes.tiles(BOX, 3),
    "random Fourier": lambda: boxes.random_fourier(BOX, 3, d=100, rng=1),
    "Fourier basis": lambda: boxes.fourier_basis(BOX, 3, order=4),
    "polynomial": lambda: boxes.polynomial(BOX, 3, degree=3),
    "one-hot": lambda: features.one_hot(None, [4, 5], 3),
}


def some_observations(name, n=40):
    rng = np.random.default_rng(1)
    return [rng.integers(0, [4, 5]) if name == "one-hot" else rng.uniform(*BOX) for _ in range(n)]


@pytest.mark.parametrize("name", BASES)
def test_a_basis_for_boxes_is_bounded_and_crossed_with_the_actions(name):
    phi = BASES[name]()
    for s in some_observations(name):
        x = phi.compact(0, s)
        assert x.shape == (1, phi.K // 3)
        assert np.linalg.norm(x) <= 1 + 1e-12
        np.testing.assert_array_equal(phi(0, s), np.kron(np.eye(3), x))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(phi))(0, s), phi(0, s))
    assert features.check(phi, some_observations(name)) == []


@pytest.mark.parametrize("name", ["tiles", "random Fourier", "one-hot"])
def test_these_have_norm_one(name):
    for s in some_observations(name):
        assert np.linalg.norm(BASES[name]().compact(0, s)) == pytest.approx(1)


def test_what_lies_outside_a_box_is_clipped_to_it():
    for name in set(BASES) - {"one-hot"}:
        phi = BASES[name]()
        np.testing.assert_array_equal(phi(0, [9.0, 0.0]), phi(0, [0.6, 0.0]))


def test_random_fourier_features_approximate_their_kernel():
    phi = boxes.random_fourier(([0.0], [2.0]), 1, d=20_000, length_scale=0.3, rng=1)
    for x in (0.0, 0.2, 0.7):
        inner = phi.compact(0, [0.5])[0] @ phi.compact(0, [0.5 + x])[0]
        assert inner == pytest.approx(math.exp(-((x / 2 / 0.3) ** 2) / 2), abs=0.05)  # 7 deviations


def test_tiles_share_what_is_near_and_nothing_that_is_far():
    phi = boxes.tiles(([0.0, 0.0], [1.0, 1.0]), 1, tilings=8, bins=4)
    at = [phi.compact(0, s)[0] for s in ([0.5, 0.5], [0.51, 0.5], [0.9, 0.5], [1, 1], [0, 0])]
    assert np.count_nonzero(at[0]) == 8
    assert 0.7 < at[0] @ at[1] <= 1
    assert at[0] @ at[2] == at[3] @ at[4] == 0
    alone = boxes.tiles(([0.0, 0.0], [1.0, 1.0]), 1, tilings=1, bins=4)
    middles = itertools.product((0.125, 0.375, 0.625, 0.875), repeat=2)
    on = {int(alone.compact(0, middle).argmax()) for middle in middles}
    assert len(on) == 16  # every cell of a grid has a tile of its own


def test_tilings_are_displaced_by_one_step_and_by_three_along_two_axes():
    """Four tilings of one tile a side, two with what sticks out: shifts (0, 0), (1, 3), (2, 2) and
    (3, 1), in quarters."""
    phi = boxes.tiles(([0.0, 0.0], [1.0, 1.0]), 1, tilings=4, bins=1)
    assert np.flatnonzero(phi.compact(0, [0.3, 0.3])).tolist() == [0, 4 + 2, 8, 12 + 1]


def test_the_fourier_basis_and_polynomials_are_their_formulas():
    x = np.array([0.3, 0.8])
    wave = boxes.fourier_basis(([0.0, 0.0], [1.0, 1.0]), 1, order=1).compact(0, x)[0] * 2
    np.testing.assert_allclose(
        wave, [1, math.cos(0.8 * math.pi), math.cos(0.3 * math.pi), math.cos(1.1 * math.pi)]
    )
    power = boxes.polynomial(([-1.0, -1.0], [1.0, 1.0]), 1, degree=2).compact(0, x)[0]
    np.testing.assert_allclose(power * math.sqrt(6), [1, 0.8, 0.64, 0.3, 0.24, 0.09])


@pytest.mark.parametrize(("m", "degree"), [(1, 5), (2, 3), (3, 2), (4, 3)])
def test_monomials_are_in_the_order_of_their_exponents(m, degree):
    x, some = np.linspace(0.2, 0.9, m), itertools.product(range(degree + 1), repeat=m)
    exponents = np.array([one for one in some if sum(one) <= degree])
    phi = boxes.polynomial((-np.ones(m), np.ones(m)), 1, degree).compact(0, x)[0]
    expected = (x**exponents).prod(axis=1) / math.sqrt(len(exponents))
    np.testing.assert_allclose(phi, expected, rtol=1e-14)


def test_polynomials_of_many_coordinates_make_only_the_monomials_they_keep():
    tracemalloc.start()
    for m, degree, d in ((14, 2, 120), (128, 1, 129), (40, 3, 12341)):
        assert boxes.polynomial((np.zeros(m), np.ones(m)), 1, degree).K == d
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


def test_a_space_with_ends_serves_as_a_box():
    class Box:
        low, high = BOX

    np.testing.assert_array_equal(
        boxes.tiles(Box(), 3)(0, [0.0, 0.0]), boxes.tiles(BOX, 3)(0, [0.0, 0.0])
    )


def test_a_function_is_called_with_the_period_if_it_takes_two_arguments():
    of = features.FeatureMap.of
    assert of(lambda s: [[s]])(4, 2.0) == 2
    assert of(lambda h, s: [[h]])(4, 2.0) == 4
    assert of(lambda s, scale=3.0: [[s * scale]])(4, 2.0) == 6
    assert of(np.atleast_2d)(4, 2.0) == 2
    assert of(lambda s: [[s]], 5).H == of(BASES["tiles"](), 5).H == 5


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda s: [1.0, s], "shape"),
        (lambda s: [[1.0] * (1 + (s > 0.5))] * 2, "shape"),
        (lambda s: [[1.0, 0.0 / s if s else np.nan]] * 1, "NaN"),
        (lambda s: [[1.0, s], [1.0, s]], "actions"),
        (lambda s: [[1.0, 0.0], [0.0, 1.0]], "observations"),
        (lambda s: [[1.0, s], [1000.0, s]], "norms"),
        (lambda s: [[np.cos(s), np.sin(s)], [0.0, 100.5]], "norms"),
        (lambda s: 0.01 * np.array([[np.cos(s), np.sin(s)], [0.0, 1.0]]), "norm 1"),
        (lambda s: 100 * np.array([[np.cos(s), np.sin(s)], [0.0, 1.0]]), "norm 1"),
        (lambda s: [["a"]], "array"),
        (lambda s: [[{}]], "array"),
        (lambda s: [[1.0], [1.0, 2.0]], "array"),
    ],
)
def test_check_says_what_is_wrong(function, found):
    (said, *_) = features.check(function, [0.0, 0.25, 0.5, 0.75])
    assert found in said


@pytest.mark.parametrize(
    ("call", "keyword"),
    [
        (lambda: boxes.tiles(([0.0], [np.inf]), 2), "box"),
        (lambda: boxes.tiles(([0.0], [3.4e38]), 2), "box"),
        (lambda: boxes.polynomial(([1.0], [0.0]), 2), "box"),
        (lambda: boxes.random_fourier(BOX, 2, d=7), "d"),
        (lambda: boxes.random_fourier(BOX, 2, length_scale=-1), "length_scale"),
        (lambda: boxes.tiles(BOX, 0), "A"),
        (lambda: boxes.tiles(BOX, 2)(0, [1.0]), "coordinates"),
        (lambda: boxes.tiles(BOX, 2)(0, [np.nan, 0.0]), "finite"),
        (lambda: features.check(lambda s: [[s]], []), "observations"),
        (lambda: features.PerAction(lambda s: [], 2)(0, 1), "features"),
    ],
)
def test_what_no_basis_can_have_is_refused(call, keyword):
    with pytest.raises(ValueError, match=keyword):
        call()


def test_a_component_out_of_range_is_refused():
    with pytest.raises(IndexError, match="component"):
        BASES["one-hot"]()(0, [4, 0])


def test_check_is_not_misled_by_an_array_that_is_used_again():
    buffer = np.zeros((2, 2))

    def reuses(s):
        buffer[:] = [[1.0, s], [s, 1.0]]
        return buffer

    assert features.check(reuses, [0.1, 0.5]) == []


CUBE = np.zeros(8), np.ones(8)
TOO_LARGE = {
    "tiles": lambda: boxes.tiles(CUBE, 3),
    "Fourier basis": lambda: boxes.fourier_basis(CUBE, 4),
    "of a picture": lambda: boxes.fourier_basis((np.zeros(10**5), np.ones(10**5)), 1),
    "polynomial": lambda: boxes.polynomial(CUBE, 4, degree=12),
    "random Fourier": lambda: boxes.random_fourier(CUBE, 2, d=10**6),
    "given": lambda: features.PerAction(lambda s: [s], 2, d=10**6),
    "returned": lambda: features.PerAction(lambda s: np.zeros(10**5), 2)(0, 0.5),
    "components": lambda: features.one_hot(None, [10**5, 10**5], 2),
    "one-hot": lambda: features.one_hot(1000, 10**6, 10),
    "one-hot for all time": lambda: features.one_hot(None, 10**8, 10),
    "table": lambda: features.Table(np.zeros((2, 1, 1, 40_000))),
    "for each period": lambda: rlsvi(boxes.random_fourier(CUBE, 4, d=2000), H=100),
    "computed": lambda: rlsvi(lambda s: np.zeros((2, 10**5)), H=3).act(0, 0.5),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_features_that_memory_has_no_room_for_are_refused_before_they_are_made(name):
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"memory|numbers"):
        TOO_LARGE[name]()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10e6


def test_features_of_a_box_that_fit_are_made():
    assert boxes.tiles(([0, 0], [1, 1]), 3).K == 3 * 648
    assert boxes.fourier_basis(CUBE, 4, order=1).K == 4 * 256


@pytest.mark.parametrize(
    "function",
    [lambda: 1, lambda h, s, a: 1, lambda *, s: 1],
    ids=["none", "three", "by keyword"],
)
@pytest.mark.parametrize("make", [features.Computed, lambda phi: features.PerAction(phi, 2)])
def test_features_are_a_function_of_one_or_two_arguments(function, make):
    with pytest.raises(ValueError, match="function"):
        make(function)


@pytest.mark.parametrize(
    ("phi", "d"), [(lambda s: [1.0, s], 3), (lambda s: [[1.0, s]], 2), (lambda s: s, 0)]
)
def test_features_of_another_number_than_was_said_are_refused(phi, d):
    for call in (
        lambda phi: phi(0, 0.5),
        lambda phi: phi.compact(0, 0.5),
        lambda phi: rlsvi(phi, rng=1).act(0, 0.5),
    ):
        with pytest.raises(ValueError, match="vector"):
            call(features.PerAction(phi, 2, d))
