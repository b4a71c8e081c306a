"""Section 5 and appendix G: stochastic optimism, exactly, by ball arithmetic and by samples."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from rlsvi_core.optimism import order
from rlsvi_core.optimism.balls import (
    Counterexample,
    Proof,
    Undecided,
    decide,
    exact,
    root,
    sharpen,
    sign,
    x_log_x,
)
from rlsvi_core.optimism.order import Beta, DirichletMean, Finite, Normal, compare, gap
from rlsvi_study.theory.forms import by_coupling, by_maxima, by_tails, by_utility

RATE = 1e-6  # how often a statistical test of right code fails under a new seed

finite_laws = st.lists(
    st.tuples(st.integers(-6, 6), st.integers(1, 5)), min_size=1, max_size=5
).map(lambda pairs: Finite.of(*zip(*pairs, strict=True)))
shapes = st.floats(math.log(0.05), math.log(200)).map(math.exp)
places = st.floats(-1, 2)


def sharp(f, *args):
    """A law's answer, to fifteen digits."""
    return float(sharpen(lambda: arb(f(*args))))


def holds(ball, value):
    """The ball contains the number, given to high precision as a decimal string."""
    with ctx.workprec(400):
        return arb(value).overlaps(ball)


# --- laws: the normal and the beta ------------------------------------------------------------


@settings(max_examples=20)
@given(st.floats(-3, 3), st.floats(0.05, 20), st.floats(-8, 8))
def test_normal_tail_and_excess_are_integrals_of_the_density(mean, variance, v):
    sd = math.sqrt(variance)
    z, reference, law = mean + v * sd, stats.norm(mean, sd), Normal.of(mean, variance)
    assert sharp(law.tail, z) == pytest.approx(reference.sf(z), rel=1e-11)
    integral = (
        quad(
            lambda s: reference.sf(z + s * sd),
            0,
            12 + max(0, -v),
            epsabs=0,
            epsrel=1e-11,
            limit=200,
        )[0]
        * sd
    )
    assert sharp(law.excess, z) == pytest.approx(integral, rel=1e-8)


@pytest.mark.parametrize("v", [-40, -8.5, -1, 0, 3, 8, 12, 25, 37])
def test_normal_answers_keep_their_digits_far_out(v):
    with mpmath.workdps(500):
        tail = mpmath.erfc(v / mpmath.sqrt(2)) / 2
        excess = mpmath.exp(-(mpmath.mpf(v) ** 2) / 2) / mpmath.sqrt(2 * mpmath.pi) - v * tail
        law = Normal.of(0, 1)
        assert sharp(law.tail, v) == pytest.approx(float(tail), rel=1e-14)
        assert sharp(law.excess, v) == pytest.approx(float(excess), rel=1e-14)
        assert holds(sharpen(lambda: law.excess(v), 50), mpmath.nstr(excess, 80))


@settings(max_examples=20)
@given(shapes, shapes, st.floats(1e-3, 1 - 1e-3))
def test_beta_tail_and_excess_are_integrals_of_the_density(alpha, beta, z):
    law, reference = Beta.of(alpha, beta), stats.beta(alpha, beta)
    assume(reference.sf(z) > 1e-250)
    assert sharp(law.tail, z) == pytest.approx(reference.sf(z), rel=1e-9)
    integral = quad(
        reference.sf,
        z,
        1,
        epsabs=0,
        epsrel=1e-10,
        limit=400,
        points=[z + (1 - z) * s for s in (0.001, 0.01, 0.1, 0.5)],
    )[0]
    assert sharp(law.excess, z) == pytest.approx(integral, rel=1e-6)


@pytest.mark.parametrize(("alpha", "beta"), [(3, 2), (50, 40), (0.5, 7), (2, 0.25)])
@pytest.mark.parametrize("z", [1 - 2.0**-30, 0.999, 0.75, 2.0**-20])
def test_beta_answers_keep_their_digits_far_out(alpha, beta, z):
    with mpmath.workdps(120):

        def upper(a):  # from the small side, 1 − z being exact
            return mpmath.betainc(beta, a, 0, 1 - mpmath.mpf(z), regularized=True)

        tail = upper(alpha)
        excess = mpmath.mpf(alpha) / (alpha + beta) * upper(alpha + 1) - z * tail
        assert sharp(Beta.of(alpha, beta).tail, z) == pytest.approx(float(tail), rel=1e-14)
        assert sharp(Beta.of(alpha, beta).excess, z) == pytest.approx(float(excess), rel=1e-14)


@given(shapes, shapes, places)
def test_beta_outside_its_range_and_by_reflection(alpha, beta, z):
    law, mirrored = Beta.of(alpha, beta), Beta.of(beta, alpha)
    with ctx.workprec(400):
        if z <= 0:
            assert law.tail(z) == 1
            assert law.excess(z).overlaps(arb(law.mean - exact(z)))
        elif z >= 1:
            assert law.tail(z) == 0
            assert law.excess(z) == 0
        else:  # E(X − z)⁺ − E(z − X)⁺ = E X − z
            left = law.excess(z) - mirrored.excess(1 - exact(z))
            assert left.overlaps(arb(law.mean - exact(z)))


@given(
    st.sampled_from(
        [
            (Normal.of(0.3, 0.2), st.floats(-4, 4)),
            (Beta.of(2.5, 0.75), st.floats(0.01, 0.99)),
            (DirichletMean.of([2, 1, 1], [0, 0.25, 1]), st.floats(0.01, 0.99)),
        ]
    ),
    st.data(),
)
def test_the_excess_falls_at_the_rate_of_the_tail(law_and_places, data):
    """E(X − z)⁺ − E(X − z − h)⁺ lies between h P(X ≥ z + h) and h P(X ≥ z)."""
    law, where = law_and_places
    z, h = data.draw(where), 2.0**-30
    with ctx.workprec(200):
        drop = arb(law.excess(z)) - arb(law.excess(exact(z) + exact(h)))
        assert not drop < arb(law.tail(exact(z) + exact(h))) * h
        assert not drop > arb(law.tail(z)) * h


# --- laws: finite, and means of a Dirichlet ----------------------------------------------------


@given(finite_laws, st.fractions(-8, 8, max_denominator=12))
def test_finite_laws_answer_in_rationals(law, z):
    pairs = [
        (Fraction(int(v.p), int(v.q)), Fraction(int(w.p), int(w.q)))
        for v, w in zip(*law, strict=True)
    ]
    assert sum(w for _, w in pairs) == 1
    assert law.tail(z) == exact(sum((w for v, w in pairs if v >= z), Fraction(0)))
    assert law.excess(z) == exact(sum((w * max(v - z, 0) for v, w in pairs), Fraction(0)))
    assert law.mean == exact(sum(w * v for v, w in pairs))


@given(st.integers(1, 12), st.integers(1, 12), st.floats(0, 1))
def test_two_atoms_of_a_dirichlet_are_a_beta(a, b, z):
    law, beta = DirichletMean.of([a, b], [1, 0]), Beta.of(a, b)
    assert law.mean == beta.mean
    with ctx.workprec(200):
        assert beta.tail(z).overlaps(arb(law.tail(z))) or z == 0
        assert beta.excess(z).overlaps(arb(law.excess(z)))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8)), min_size=2, max_size=5),
    st.fractions(-1, 2, max_denominator=20),
)
def test_repeated_values_are_one_value(pairs, z):
    """Colours of one worth may be merged; an α of zero is as good as absent."""
    assume(sum(a for a, _ in pairs) > 0)
    merged = {}
    for a, v in pairs:
        merged[v] = merged.get(v, 0) + a
    one = DirichletMean.of([a for a, _ in pairs], [v / 8 for _, v in pairs])
    merged = {v: a for v, a in merged.items() if a}
    other = DirichletMean.of(list(merged.values()), [v / 8 for v in merged])
    assert one == other
    assert one.tail(z) == other.tail(z)
    assert 0 <= one.tail(z) <= 1
    assert one.excess(z) >= max(fmpq(0), one.mean - exact(z))  # Jensen


def test_a_dirichlet_mean_against_a_double_integral():
    """Dirichlet(1, 1, 2) over 0, ½, 1: density 6 r on p + q + r = 1, worth q/2 + r."""
    law = DirichletMean.of([1, 1, 2], [0, 0.5, 1])
    for z in (Fraction(1, 10), Fraction(1, 2), Fraction(7, 10), Fraction(19, 20)):
        s = float(z)

        def inner(r, s=s):
            """6r ∫ (q/2 + r − s)⁺ dq over 0 ≤ q ≤ 1 − r."""
            low = min(max(0.0, 2 * (s - r)), 1 - r)
            return 6 * r * ((1 - r) ** 2 / 4 - low**2 / 4 + (r - s) * (1 - r - low))

        kinks = [k for k in (2 * s - 1, s) if 0 < k < 1]
        assert sharp(law.excess, z) == pytest.approx(
            float(mpmath.quad(inner, [0, *kinks, 1])), rel=1e-9
        )


def test_all_the_weight_on_one_value():
    law = DirichletMean.of([3, 0], [0.25, 1])
    assert (law.tail(0.25), law.tail(0.26), law.excess(0), law.excess(0.5)) == (1, 0, fmpq(1, 4), 0)
    assert DirichletMean.of([1], [0.5]).excess(0.25) == fmpq(1, 4)


def test_exact_dirichlet_means_agree_with_samples():
    """The mean hinge of 200 000 draws lies within 6 standard errors at six places; were the code
    right, one new seed in 10⁷ would fail."""
    alpha, V, rng = [2, 1, 3], [0.0, 0.3, 0.9], np.random.default_rng(0)
    x = order.dirichlet_samples(alpha, V, 200_000, rng)
    law = DirichletMean.of(alpha, V)
    for z in (0.1, 0.3, 0.5, 0.6, 0.7, 0.8):
        hinge = np.maximum(x - z, 0)
        assert abs(hinge.mean() - sharp(law.excess, z)) < 6 * hinge.std() / math.sqrt(x.size)


def test_samples_of_a_dirichlet_leave_out_colours_without_weight():
    x = order.dirichlet_samples([0, 1e-3, 0], [0, 0.5, 1], 10, np.random.default_rng(0))
    assert (x == 0.5).all()


# --- the gap -----------------------------------------------------------------------------------


@given(shapes, shapes, st.floats(-2, 8))
def test_the_gap_of_the_lemma_is_positive_also_where_it_is_tiny(alpha, beta, v):
    z = alpha / (alpha + beta) + v / math.sqrt(alpha + beta)
    normal, law = Normal.matching(alpha, beta), Beta.of(alpha, beta)
    assert gap(normal, law, z) > 0
    assert gap(law, normal, z) == -gap(normal, law, z)


def test_the_gap_changes_sign_where_a_normal_is_too_small():
    """Half the beta's own variance: the beta has the heavier shoulders."""
    small = Normal.of(0.5, 1 / 40)  # Beta(2, 2) has variance 1/20
    assert (gap(small, Beta.of(2, 2), [0.1, 0.5, 0.9]) < 0).all()
    assert gap(small, Beta.of(2, 2), 1.0) > 0  # beyond 1 there is only the normal


def test_the_gap_keeps_its_digits_eight_deviations_out():
    """At z = −8 both excesses are about 8.5, their difference about 10⁻¹⁶."""
    with mpmath.workdps(60):
        below = (
            mpmath.exp(-32) / mpmath.sqrt(2 * mpmath.pi) - 8 * mpmath.erfc(8 / mpmath.sqrt(2)) / 2
        )  # E(−8 − X)⁺
    got = float(gap(Normal.of(0, 1), Finite.of([-0.5, 0.5], [1, 1]), -8.0))
    assert got == pytest.approx(float(below), rel=1e-14)


def test_a_gap_of_zero_is_not_guessed():
    with pytest.raises(Undecided, match="zero"):
        gap(Normal.of(0, 1), Normal.of(0, 1), 0.3)


# --- the four forms ----------------------------------------------------------------------------


def all_forms(X, Y):
    return [
        by_maxima(X, Y),
        by_tails(X, Y),
        by_coupling(X, Y) is not None,
        by_utility(X, Y, np.random.default_rng(0)),
    ]


@settings(max_examples=100)
@given(finite_laws, finite_laws)
def test_the_four_forms_agree(X, Y):
    forms = all_forms(X, Y)
    assert len(set(forms)) == 1, forms
    points = sorted({*X.values, *Y.values})  # the definition itself, at every kink and below
    assert forms[0] == (X.mean >= Y.mean and all(X.excess(z) >= Y.excess(z) for z in points))


@given(finite_laws, st.integers(0, 3), st.integers(0, 3))
def test_drift_and_noise_make_optimism(Y, drift, noise):
    """X = Y + A + W by construction, and never the other way round unless A = W = 0."""
    X = Finite.of(
        [v + drift + s for v in Y.values for s in (-noise, noise)],
        [w for w in Y.weights for _ in range(2)],
    )
    assert all(all_forms(X, Y))
    if drift or noise:
        assert not any(all_forms(Y, X))


PLANTED = {
    "a smaller mean": (Finite.of([0, 1], [1, 1]), Finite.of([0, 1], [1, 2])),
    "equal means, less spread": (Finite.of([1], [1]), Finite.of([0, 2], [1, 1])),
    "a larger mean, a smaller reach": (Finite.of([3], [1]), Finite.of([0, 4], [1, 1])),
    "wrong in the middle only": (Finite.of([-4, 0, 4], [3, 10, 3]), Finite.of([-2, 2], [1, 1])),
}


@pytest.mark.parametrize(
    "form",
    [
        by_maxima,
        by_tails,
        lambda X, Y: by_coupling(X, Y) is not None,
        lambda X, Y: by_utility(X, Y, np.random.default_rng(0), trials=0),
    ],
    ids=["maxima", "tails", "coupling", "utility"],
)
@pytest.mark.parametrize("case", PLANTED)
def test_every_form_by_itself_refuses_a_pair_that_is_not_optimistic(form, case):
    X, Y = PLANTED[case]
    assert not form(X, Y)
    assert form(X, X)


@settings(max_examples=60)
@given(finite_laws, finite_laws)
def test_a_coupling_has_the_right_marginals_and_drift(X, Y):
    joint = by_coupling(X, Y)
    assume(joint is not None)
    x, p = (np.array([float(arb(t)) for t in part]) for part in X)
    y, q = (np.array([float(arb(t)) for t in part]) for part in Y)
    assert joint.shape == (y.size, x.size)
    assert (joint >= -1e-9).all()
    assert np.allclose(joint.sum(axis=1), q, atol=1e-8)
    assert np.allclose(joint.sum(axis=0), p, atol=1e-8)
    assert (joint @ x >= y * q - 1e-7).all()


# --- samples -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.standard_normal(n),
        lambda rng, n: rng.exponential(size=n),
        lambda rng, n: rng.beta(0.3, 0.7, n),
    ],
    ids=["normal", "exponential", "beta"],
)
def test_true_optimism_is_refuted_no_more_often_than_stated(draw):
    """Identical laws, 200 pairs at error rate 0.1. At one place the band misses one time in ten;
    at twenty together it misses no more often. Binomial limits at 10⁻⁶ a side."""
    error, trials, missed = 0.1, 200, {1: 0, 20: 0}
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        x, y = draw(rng, 1500), draw(rng, 1000)
        for places in missed:
            outcome = compare(x, y, error=error, places=places)
            assert outcome.refuted == (outcome.estimate < -outcome.band).any()
            missed[places] += bool((np.abs(outcome.estimate) > outcome.band).any())
    least, most = stats.binom.ppf(RATE, trials, error), stats.binom.isf(RATE, trials, error)
    assert least < missed[1] <= most
    assert 0 < missed[20] <= most


def test_a_planted_falsehood_is_refuted_where_it_is():
    """A normal with the beta's own variance loses in the shoulders of a U-shaped beta; one with
    half of it loses at the mean."""
    rng, n = np.random.default_rng(0), 100_000
    alpha = beta = 0.5
    sd = math.sqrt(alpha * beta / (alpha + beta) ** 2 / (alpha + beta + 1))
    y, noise = rng.beta(alpha, beta, n), rng.standard_normal(n)
    shoulder = compare(0.5 + sd * noise, y, error=RATE**0.5)
    assert shoulder.refuted
    assert 0.5 < shoulder.worst_z < 1
    exact_gap = gap(Normal.of(0.5, sd**2), Beta.of(alpha, beta), shoulder.worst_z)
    assert exact_gap < 0
    assert abs(shoulder.gap - exact_gap) < shoulder.band[shoulder.z == shoulder.worst_z][0]
    small = compare(0.5 + sd / math.sqrt(2) * noise, y)
    assert small.refuted
    assert small.estimate.min() < -0.05  # at the mean: sd/√(4π) against 1/(2π)
    assert "refuted" in str(small)
    assert not compare(0.5 + noise, y).refuted  # the lemma's variance, 1/(α + β)


def test_the_shortfall_and_the_verdict_follow_from_the_band():
    rng = np.random.default_rng(1)
    fine = compare(rng.normal(0.2, 1, 20_000), rng.normal(0, 1, 20_000))
    assert not fine.refuted
    assert fine.shortfall == max(0, (fine.band - fine.estimate).max())
    assert fine.z[0] == min(fine.z)
    assert (np.diff(fine.z) > 0).all()
    assert "not refuted" in str(fine)
    bad = compare(rng.normal(-0.2, 1, 20_000), rng.normal(0, 1, 20_000))
    assert bad.refuted
    assert bad.shortfall >= -bad.gap > 0
    k = int(np.argmin(bad.estimate / bad.band))
    assert (bad.worst_z, bad.gap) == (bad.z[k], bad.estimate[k])


def test_the_estimates_are_mean_hinges():
    x, y = np.arange(200.0), np.arange(200.0) * 2
    outcome = compare(x, y)
    for z, estimate in zip(outcome.z, outcome.estimate, strict=True):
        assert estimate == pytest.approx(np.maximum(x - z, 0).mean() - np.maximum(y - z, 0).mean())
    assert outcome.estimate[0] == pytest.approx(x.mean() - y.mean())
    assert (np.concatenate([x, y]) >= outcome.z[-1]).sum() >= 50


def test_a_comparison_is_reproducible_and_a_smaller_error_rate_widens_it():
    x, y = np.random.default_rng(2).normal(size=(2, 500))
    first, again = compare(x, y), compare(x, y)
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    assert (compare(x, y, error=0.001).band > compare(x, y, error=0.1).band).all()


def test_constant_samples_compare():
    one, two = np.ones(200), np.full(200, 2.0)
    assert compare(one, two).refuted
    assert not compare(two, one).refuted
    assert not compare(one, one).refuted


@pytest.mark.parametrize(
    ("change", "keyword"),
    [
        ({"x": [1.0] * 99}, "100"),
        ({"y": np.ones((200, 2))}, "sample y"),
        ({"x": [np.nan] * 200}, "sample x"),
        ({"y": [*[0.0] * 200, -np.inf]}, "sample y"),
        ({"error": 0.0}, "error"),
        ({"error": 1.0}, "error"),
        ({"error": np.nan}, "error"),
    ],
)
def test_bad_samples_are_refused(change, keyword):
    sound = {"x": np.arange(200.0), "y": np.arange(200.0)} | change
    with pytest.raises(ValueError, match=keyword):
        compare(sound.pop("x"), sound.pop("y"), **sound)


@pytest.mark.parametrize(
    ("make", "keyword"),
    [
        (lambda: Normal.of(0, 0), "variance"),
        (lambda: Normal.of(math.nan, 1), "finite"),
        (lambda: Normal.matching(-1, 2), "alpha"),
        (lambda: Beta.of(1, -2.5), "beta"),
        (lambda: Beta.of(math.nan, 1), "alpha"),
        (lambda: Beta.of(math.inf, 1), "finite"),
        (lambda: Beta.of(1, 1).tail(math.nan), "finite"),
        (lambda: Finite.of([], []), "weights"),
        (lambda: Finite.of([1, 2], [1]), "weights"),
        (lambda: Finite.of([1, 2], [1, -1]), "weights"),
        (lambda: Finite.of([1, 2], [0, 0]), "weights"),
        (lambda: Finite.of([math.inf], [1]), "finite"),
        (lambda: DirichletMean.of([0.5, 1], [0, 1]), "whole"),
        (lambda: DirichletMean.of([1, 1], [0, 2]), "V"),
        (lambda: order.dirichlet_samples([1, -1], [0, 1], 5, None), "α"),
        (lambda: order.dirichlet_samples([0, 0], [0, 1], 5, None), "sum"),
        (lambda: order.dirichlet_samples([1, 1], [0, 1, 1], 5, None), "V"),
        (lambda: order.dirichlet_samples([1, math.inf], [0, 1], 5, None), "α"),
    ],
)
def test_bad_laws_are_refused(make, keyword):
    with pytest.raises(ValueError, match=keyword):
        make()


# --- balls: points -----------------------------------------------------------------------------


@given(st.floats(-1e300, 1e300, allow_subnormal=True), st.fractions())
def test_floats_fractions_and_rationals_are_taken_exactly(x, r):
    assert Fraction(int(exact(x).p), int(exact(x).q)) == Fraction(x)
    assert Fraction(int(exact(r).p), int(exact(r).q)) == r
    assert exact(exact(r)) == exact(r)


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
        assert holds(root(ball_of(edge, high)), square_root)
    assert holds(x_log_x(ball_of(0, high)), 0)
    assert holds(root(ball_of(0, high)), 0)
    if high < 1 / math.e:  # tight: from h log h to 0
        assert x_log_x(ball_of(0, high)) > arb(high) * arb(high).log() * 1.0001 - 1e-9
        assert x_log_x(ball_of(0, high)) < 1e-9


@given(st.fractions(max_denominator=10**6).filter(bool), st.integers(0, 400))
def test_sharpen_and_sign_see_through_cancellation(r, size):
    """r + 10^size − 10^size: the digits appear only at high precision."""

    def value():
        big = (arb(10) ** size).sqrt() * arb(3).sqrt()
        return big + arb(exact(r)) - big

    ball = sharpen(value, 20)
    assert holds(ball, exact(r))
    assert ball.rel_accuracy_bits() >= 66
    assert sign(value) == (1 if r > 0 else -1)


def test_a_zero_is_never_decided():
    with pytest.raises(Undecided, match="zero"):
        sign(lambda: arb(2).sqrt() ** 2 - 2)
    with pytest.raises(Undecided, match="digits"):
        sharpen(lambda: arb(2).sqrt() ** 2 - 2)


# --- balls: regions ----------------------------------------------------------------------------


def test_a_true_inequality_is_proved_with_a_true_margin():
    outcome = decide(lambda x: x * x - x + 0.26, [(0.0, 1.0)])  # smallest value 0.01, at ½
    assert isinstance(outcome, Proof)
    assert outcome.boxes > 10
    assert 0 < outcome.margin <= 0.0100001
    assert outcome.bits == 64


@given(st.fractions(-2, 2, max_denominator=64), st.integers(1, 40))
def test_the_margin_bounds_the_smallest_value_from_below(centre, spare):
    smallest = spare / 64
    outcome = decide(lambda x: (x - arb(exact(centre))) ** 2 + smallest, [(-3.0, 3.0)])
    assert isinstance(outcome, Proof)
    assert 0 < outcome.margin <= smallest * (1 + 1e-12)


@given(st.fractions(-2, 2, max_denominator=64), st.integers(1, 40))
def test_a_false_inequality_ends_in_a_counterexample(centre, deep):
    def f(x):
        return (x - arb(exact(centre))) ** 2 - arb(deep) / 4096

    outcome = decide(f, [(-3.0, 3.0)])
    assert isinstance(outcome, Counterexample)
    value = (exact(outcome.point[0]) - exact(centre)) ** 2 - fmpq(deep, 4096)
    assert value < 0
    assert outcome.value == pytest.approx(int(value.p) / int(value.q))


def test_a_function_that_touches_zero_is_undecided():
    with pytest.raises(Undecided, match="boxes"):
        decide(lambda x: (x - arb(1) / 3) ** 2, [(0.0, 1.0)], limit=200)


def test_the_condition_cuts_the_region_and_counterexamples_obey_it():
    def f(x, y):
        return 1 - x - y + 0.01

    def below(x, y):
        return 1 - x - y

    square = [(0.0, 1.0), (0.0, 1.0)]
    assert isinstance(decide(f, square, where=[below]), Proof)
    outcome = decide(f, square)
    assert isinstance(outcome, Counterexample)
    above = decide(f, square, where=[lambda x, y: y - 2 * x])  # fails only beyond both lines
    assert isinstance(above, Counterexample)
    x, y = above.point
    assert y >= 2 * x
    assert x + y > 1.01


@pytest.mark.parametrize(
    "edge", [(0.0, math.inf), (-math.inf, 0.0), (math.nan, 1.0), (1.0, 1.0), (2.0, 1.0)]
)
def test_unbounded_and_empty_boxes_are_refused(edge):
    with pytest.raises(ValueError, match="edge"):
        decide(lambda x, y: x, [(0.0, 1.0), edge])


def test_a_function_without_a_value_is_not_proved():
    """A logarithm that reaches zero is an undefined ball, never a positive one."""
    with pytest.raises(Undecided):
        decide(lambda x: 1 + (x * 0).log() * 0, [(0.0, 1.0)], limit=50)
