"""Section 5 and appendix G: stochastic optimism, exactly, by ball arithmetic and by samples."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from rlsvi_core.optimism.balls import (
    Counterexample,
    Proof,
    Undecided,
    certified_sign,
    decide,
    sqrt_ball,
    to_ball_rational,
    to_digits,
    x_log_x,
)
from rlsvi_core.optimism.order import (
    Beta,
    DirichletMean,
    FiniteDistribution,
    Normal,
    compare_samples,
    estimate_gap,
    exact_gap,
    least_variance,
    least_variance_at_half,
)

RATE = 1e-6  # how often a statistical test of right code fails under a new seed

finite_laws = st.lists(
    st.tuples(st.integers(-6, 6), st.integers(1, 5)), min_size=1, max_size=5
).map(lambda pairs: FiniteDistribution(*zip(*pairs, strict=True)))


def sharp(f, *args):
    """A law's answer, to fifteen digits."""
    return float(to_digits(lambda: arb(f(*args))))


def holds(ball, value):
    """The ball contains the number, given to high precision as a decimal string."""
    with ctx.workprec(400):
        return arb(value).overlaps(ball)


# --- laws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("v", [-8.5, -1, 0.25, 3, 12, 37])
def test_normal_tail_and_excess_are_integrals_of_the_density(v):
    """v deviations above the mean; in the far tail too no digit is lost."""
    mean, deviation = 0.75, 1.5
    law, z = Normal(mean, deviation**2), mean + v * deviation
    with mpmath.workdps(500):
        tail = mpmath.erfc(v / mpmath.sqrt(2)) / 2
        density = mpmath.exp(-(mpmath.mpf(v) ** 2) / 2) / mpmath.sqrt(2 * mpmath.pi)
        assert sharp(law.tail, z) == pytest.approx(float(tail), rel=1e-14)
        excess = float(deviation * (density - v * tail))
        assert sharp(law.excess, z) == pytest.approx(excess, rel=1e-14)


@pytest.mark.parametrize(("alpha", "beta"), [(3, 2), (50, 40), (0.5, 7), (2, 0.25)])
@pytest.mark.parametrize("z", [0.999, 0.75, 2.0**-20])
def test_beta_tail_and_excess_are_integrals_of_the_density(alpha, beta, z):
    law = Beta(alpha, beta)
    with mpmath.workdps(60):

        def above(power):
            """∫ (x − z)^power over the part above z, in u = 1 − x, whose small side is exact."""
            u = 1 - mpmath.mpf(z)
            weight = mpmath.beta(alpha, beta)
            return mpmath.quad(
                lambda y: (u - y) ** power * (1 - y) ** (alpha - 1) * y ** (beta - 1) / weight,
                [0, u / 1000, u / 10, u / 2, u],
            )

        assert sharp(law.tail, z) == pytest.approx(float(above(0)), rel=1e-9)
        assert sharp(law.excess, z) == pytest.approx(float(above(1)), rel=1e-9)


def test_a_beta_has_nothing_outside_its_range():
    law = Beta(3, 1)
    assert law.tail(0) == law.tail(-0.5) == 1
    assert law.tail(1) == law.excess(1) == law.excess(1.5) == 0
    assert law.excess(-0.5).overlaps(arb(to_ball_rational(1.25)))


@given(finite_laws, st.fractions(-8, 8, max_denominator=12))
def test_finite_laws_answer_in_rationals(law, z):
    pairs = [(Fraction(v), Fraction(w)) for v, w in zip(law.values, law.weights, strict=True)]
    assert sum(w for _, w in pairs) == 1
    assert law.excess(z) == to_ball_rational(
        sum((w * max(v - z, 0) for v, w in pairs), Fraction(0))
    )
    assert law.mean == sum(w * v for v, w in pairs)


@given(st.integers(1, 12), st.integers(1, 12), st.floats(0, 1))
def test_two_atoms_of_a_dirichlet_are_a_beta(a, b, z):
    law, beta = DirichletMean([a, b], [1, 0]), Beta(a, b)
    assert law.mean == beta.mean
    with ctx.workprec(200):
        assert beta.excess(z).overlaps(arb(law.excess(z)))


@pytest.mark.parametrize("z", [0.1, 0.5, 0.7, 0.95])
def test_a_dirichlet_mean_against_a_double_integral(z):
    """Dirichlet(1, 1, 2) over 0, ½, 1: density 6 r on p + q + r = 1, worth q/2 + r."""
    law = DirichletMean([1, 1, 2], [0, 0.5, 1])

    def inner(r):
        """6r ∫ (q/2 + r − z)⁺ dq over 0 ≤ q ≤ 1 − r."""
        low = min(max(0.0, 2 * (z - r)), 1 - r)
        return 6 * r * ((1 - r) ** 2 / 4 - low**2 / 4 + (r - z) * (1 - r - low))

    kinks = [kink for kink in (2 * z - 1, z) if 0 < kink < 1]
    integral = float(mpmath.quad(inner, [0, *kinks, 1]))
    assert sharp(law.excess, z) == pytest.approx(integral, rel=1e-9)


def test_all_the_weight_on_one_value():
    law = DirichletMean([3, 0], [0.25, 1])
    assert (law.excess(0), law.excess(0.5)) == (fmpq(1, 4), 0)


def test_a_colour_without_weight_is_never_drawn():
    assert (DirichletMean([0, 1e-3, 0], [0, 0.5, 1]).sample(10, 7) == 0.5).all()


# --- the gap -----------------------------------------------------------------------------------


def test_the_gap_changes_sign_where_a_normal_is_too_small():
    """Half the beta's own variance: the beta has the heavier shoulders."""
    small, beta = Normal(0.6, 1 / 50), Beta(3, 2)  # whose variance is 1/25
    assert (exact_gap(small, beta, [0.1, 0.5, 0.8]) < 0).all()
    assert exact_gap(small, beta, 1.0) > 0  # beyond 1 there is only the normal
    assert exact_gap(beta, small, 0.5) == -exact_gap(small, beta, 0.5)


def test_the_gap_keeps_its_digits_eight_deviations_out():
    """At z = −8 both excesses are about 8.5, their difference about 10⁻¹⁶."""
    with mpmath.workdps(60):
        density = mpmath.exp(-32) / mpmath.sqrt(2 * mpmath.pi)
        below = density - 8 * mpmath.erfc(8 / mpmath.sqrt(2)) / 2  # E(−8 − X)⁺
    got = float(exact_gap(Normal(0, 1), FiniteDistribution([-0.5, 0.25], [1, 2]), -8.0))
    assert got == pytest.approx(float(below), rel=1e-14)


def test_a_gap_of_zero_is_not_guessed():
    with pytest.raises(Undecided, match="zero"):
        exact_gap(Normal(0, 1), Normal(0, 1), 0.3)


# --- the least variance ------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 4, 20, 200])
def test_the_scan_finds_the_closed_form(n):
    """Also with whole weights; between neighbours in n the closed form differs by far more."""
    half = n // 2
    for Y in (Beta(half, half), DirichletMean([half, half], [0, 1])):
        assert least_variance(Y) == pytest.approx(least_variance_at_half(n), rel=1e-7)
    assert least_variance(Beta(0.3, 0.3)) == pytest.approx(least_variance_at_half(0.6), rel=1e-7)


@pytest.mark.parametrize(
    "Y",
    [
        DirichletMean([1, 3, 2], [0, 0.3, 1]),
        DirichletMean([5, 1], [0.2, 0.9]),
        DirichletMean([4, 0, 1, 9], [0.5, 0, 1, 0.75]),
        Beta(0.4, 1.7),
    ],
    ids=["three values", "two values", "four values", "beta"],
)
def test_a_little_more_than_the_least_variance_is_enough_and_a_little_less_is_not(Y):
    """By the exact gap, which the scan in floats knows nothing of."""
    v, z = least_variance(Y), np.linspace(*Y.support, 201)[1:-1]
    assert exact_gap(Normal(Y.mean, 1.0001 * v), Y, z, digits=3).min() > 0
    assert exact_gap(Normal(Y.mean, 0.999 * v), Y, z, digits=3).min() < 0


# --- samples -----------------------------------------------------------------------------------

PAIRS = [
    (Normal(0.4, 0.2), Beta(2, 3)),
    (Beta(0.5, 0.7), Normal(0.3, 0.05)),
    (DirichletMean([2, 1, 0, 3], [0.0, 0.3, 1.0, 0.9]), Normal.matching_beta(3, 2)),
]


@pytest.mark.parametrize("pair", PAIRS, ids=["narrower", "U-shaped", "lemma's"])
def test_the_estimated_gap_is_the_exact_one_within_four_standard_errors(pair):
    """At eight levels; were the code right, a new seed would fail once in 600 (all three pairs)."""
    X, Y = pair
    z = np.linspace(0.05, 0.9, 8)
    gap, error = estimate_gap(X.sample(200_000, rng=1), Y.sample(100_000, rng=2), z)
    assert (np.abs(gap - exact_gap(X, Y, z)) < 4 * error).all()
    assert error.max() < 0.003


def test_the_standard_error_is_how_far_estimates_lie_apart():
    """400 estimates; their deviation is known to 3.5%, so 5 such errors are 18%."""
    X, Y = PAIRS[0]
    rng = np.random.default_rng(1)
    found = [estimate_gap(X.sample(500, rng), Y.sample(900, rng), 0.5) for _ in range(400)]
    spread = np.std([one.gap for one in found])
    assert spread == pytest.approx(np.mean([one.standard_error for one in found]), rel=0.18)


def test_samples_refute_a_tenth_of_the_lemmas_variance_and_not_a_quarter():
    """At eleven levels and 4 standard errors: new seeds refute a true one less than once in 1400."""
    Y = DirichletMean([1, 2, 2], [0, 0, 1])
    y, z, n = Y.sample(50_000, rng=1), np.linspace(0, 1, 11), 5
    for share, refuted in ((1, False), (1 / 4, False), (1 / 10, True)):
        x = Normal(Y.mean, share / n).sample(50_000, rng=2)
        gap, error = estimate_gap(x, y, z)
        assert (gap < -4 * error).any() == refuted
        assert (exact_gap(Normal(Y.mean, share / n), Y, z) < 0).any() == refuted


def test_an_estimate_has_the_shape_of_its_levels():
    x, y = np.arange(100.0), np.ones(200)
    for z in (3.0, [1.0, 2.0], [[1.0, 2.0, 4.0]]):
        gap, error = estimate_gap(x, y, z)
        assert gap.shape == error.shape == np.shape(z)
    assert estimate_gap(x, y, 98.0) == pytest.approx((0.01, math.sqrt(0.0099 / 100)))


def test_true_optimism_is_refuted_no_more_often_than_stated():
    """Identical laws, 200 pairs at error rate 0.1. At one place the band misses one time in ten;
    at twenty together it misses no more often. Binomial limits at 10⁻⁶ a side."""
    error, trials, missed = 0.1, 200, {1: 0, 20: 0}
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        x, y = rng.exponential(size=3000), rng.exponential(size=500)
        for places in missed:
            outcome = compare_samples(x, y, error=error, places=places)
            assert outcome.refuted == (outcome.estimate < -outcome.band).any()
            missed[places] += bool((np.abs(outcome.estimate) > outcome.band).any())
    least, most = stats.binom.ppf(RATE, trials, error), stats.binom.isf(RATE, trials, error)
    assert least < missed[1] <= most
    assert 0 < missed[20] <= most


def test_a_planted_falsehood_is_refuted_where_it_is():
    """A normal with the beta's own variance loses in the shoulders of a U-shaped beta."""
    rng, n, alpha, beta = np.random.default_rng(3), 100_000, 0.5, 0.25
    mean = alpha / (alpha + beta)
    deviation = math.sqrt(mean * (1 - mean) / (alpha + beta + 1))
    y, noise = rng.beta(alpha, beta, n), rng.standard_normal(n)
    found = compare_samples(mean + deviation * noise, y, error=1e-3)
    assert found.refuted
    there = exact_gap(Normal(mean, deviation**2), Beta(alpha, beta), found.worst_z)
    assert there < 0
    k = int(np.argmin(found.estimate / found.band))
    assert (found.worst_z, found.gap) == (found.z[k], found.estimate[k])
    assert abs(found.gap - there) < found.band[k]
    assert found.shortfall == (found.band - found.estimate).max() > -found.gap
    assert not compare_samples(
        mean + noise / math.sqrt(alpha + beta), y
    ).refuted  # the lemma's variance


def test_the_estimates_are_mean_hinges():
    x, y = np.arange(200.0), np.arange(300.0) * 2
    outcome = compare_samples(x, y)
    for z, estimate in zip(outcome.z, outcome.estimate, strict=True):
        assert estimate == pytest.approx(np.maximum(x - z, 0).mean() - np.maximum(y - z, 0).mean())
    assert outcome.estimate[0] == pytest.approx(x.mean() - y.mean())
    assert (np.concatenate([x, y]) >= outcome.z[-1]).sum() >= 50


def test_constant_samples_compare():
    one, two = np.ones(200), np.full(200, 2.0)
    assert compare_samples(one, two).refuted
    assert not compare_samples(two, one).refuted
    assert not compare_samples(one, one).refuted


# --- balls: points -----------------------------------------------------------------------------


@given(st.floats(-1e300, 1e300, allow_subnormal=True), st.fractions())
def test_floats_fractions_and_rationals_are_taken_exactly(x, r):
    assert Fraction(int(to_ball_rational(x).p), int(to_ball_rational(x).q)) == Fraction(x)
    assert Fraction(int(to_ball_rational(r).p), int(to_ball_rational(r).q)) == r
    assert to_ball_rational(to_ball_rational(r)) == to_ball_rational(r)


def ball_of(low, high):
    return arb(low).union(arb(high))


positive_reals = st.floats(1e-12, 8)


@given(positive_reals, positive_reals, st.floats(0, 1))
def test_x_log_x_and_root_enclose_their_values(one, other, share):
    low, high = sorted((one, other))
    inside = low + (high - low) * share
    assume(low <= inside <= high)
    with mpmath.workdps(60):
        log = mpmath.nstr(inside * mpmath.log(inside), 50)
        square_root = mpmath.nstr(mpmath.sqrt(inside), 50)
    for edge in (low, 0.0):  # also from zero on
        assert holds(x_log_x(ball_of(edge, high)), log)
        assert holds(sqrt_ball(ball_of(edge, high)), square_root)
    assert holds(x_log_x(ball_of(0, high)), 0)
    assert holds(sqrt_ball(ball_of(0, high)), 0)
    if high < 1 / math.e:  # tight: from h log h to 0
        assert x_log_x(ball_of(0, high)) > arb(high) * arb(high).log() * 1.0001 - 1e-9
        assert x_log_x(ball_of(0, high)) < 1e-9


@given(st.fractions(max_denominator=10**6).filter(bool), st.integers(0, 400))
def test_sharpen_and_sign_see_through_cancellation(r, size):
    """r + 10^size − 10^size: the digits appear only at high precision."""

    def value():
        big = (arb(10) ** size).sqrt() * arb(3).sqrt()
        return big + arb(to_ball_rational(r)) - big

    ball = to_digits(value, 20)
    assert holds(ball, to_ball_rational(r))
    assert ball.rel_accuracy_bits() >= 66
    assert certified_sign(value) == (1 if r > 0 else -1)


def test_a_zero_is_never_decided():
    with pytest.raises(Undecided, match="zero"):
        certified_sign(lambda: arb(2).sqrt() ** 2 - 2)
    with pytest.raises(Undecided, match="digits"):
        to_digits(lambda: arb(2).sqrt() ** 2 - 2)


# --- balls: regions ----------------------------------------------------------------------------


@given(st.fractions(-2, 2, max_denominator=64), st.integers(1, 40))
def test_the_margin_bounds_the_smallest_value_from_below(centre, spare):
    smallest = spare / 64
    outcome = decide(lambda x: (x - arb(to_ball_rational(centre))) ** 2 + smallest, [(-3.0, 3.0)])
    assert isinstance(outcome, Proof)
    assert 0 < outcome.margin <= smallest * (1 + 1e-12)


@given(st.fractions(-2, 2, max_denominator=64), st.integers(1, 40))
def test_a_false_inequality_ends_in_a_counterexample(centre, deep):
    def f(x):
        return (x - arb(to_ball_rational(centre))) ** 2 - arb(deep) / 4096

    outcome = decide(f, [(-3.0, 3.0)])
    assert isinstance(outcome, Counterexample)
    value = (to_ball_rational(outcome.point[0]) - to_ball_rational(centre)) ** 2 - fmpq(deep, 4096)
    assert value < 0
    assert outcome.value == pytest.approx(int(value.p) / int(value.q))


def test_a_function_that_touches_zero_is_undecided():
    with pytest.raises(Undecided, match="boxes"):
        decide(lambda x: (x - arb(1) / 3) ** 2, [(0.0, 1.0)], limit=200)


def test_the_condition_cuts_the_region_and_counterexamples_obey_it():
    """1.01 − x − y is positive on the triangle below the diagonal, and not beyond it."""

    def f(x, y):
        return 1 - x - y + 0.01

    square = [(0.0, 1.0), (0.0, 1.0)]
    assert isinstance(decide(f, square, where=[lambda x, y: 1 - x - y]), Proof)
    above = decide(f, square, where=[lambda x, y: y - 2 * x])  # fails only beyond both lines
    assert isinstance(above, Counterexample)
    x, y = above.point
    assert y >= 2 * x
    assert x + y > 1.01


def test_a_function_without_a_value_is_not_proved():
    """A logarithm that reaches zero is an undefined ball, never a positive one."""
    with pytest.raises(Undecided):
        decide(lambda x: 1 + (x * 0).log() * 0, [(0.0, 1.0)], limit=50)
