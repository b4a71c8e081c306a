"""Appendix G: where a normal and a beta distribution cross, certified and on a grid."""

import math

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq
from scipy.special import betainc, betaln, ndtr

from rlsvi_core.optimism import (
    Beta,
    Normal,
    cdf_crossings,
    certify_crossings,
    density_crossings,
    find_zeros,
)
from rlsvi_core.optimism.balls import Undecided
from rlsvi_core.optimism.crossings import Crossing, NormalBetaPair

DIGITS = mpmath.mpf("1e-12")
shapes = st.floats(-3, 4).map(lambda e: 10.0**e)


def matching(alpha, beta):
    """The lemma's normal and the beta distribution."""
    return Normal.matching_beta(alpha, beta), Beta(alpha, beta)


def certify_densities(alpha, beta):
    return certify_crossings(*matching(alpha, beta)).density


def certify_cdfs(alpha, beta):
    return certify_crossings(*matching(alpha, beta)).cdf


def decimal(ball: arb) -> mpmath.mpf:
    return mpmath.mpf(ball.mid().str(60, radius=False))


# --- a second implementation, in mpmath and in floats ------------------------------------------


def log_ratio(alpha, beta, y):
    """log f_N − log f_B at x = 1/(1 + e^{−y}), at mpmath's precision."""
    a, b = mpmath.mpf(alpha), mpmath.mpf(beta)
    n, x = a + b, 1 / (1 + mpmath.exp(-y))
    log_x, log_rest = -mpmath.log1p(mpmath.exp(-y)), -mpmath.log1p(mpmath.exp(y))
    log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(n)
    return (
        mpmath.log(n / (2 * mpmath.pi)) / 2
        - n * (x - a / n) ** 2 / 2
        - (a - 1) * log_x
        - (b - 1) * log_rest
        + log_beta
    )


def difference(alpha, beta, y):
    """F_N − F_B on the side of ½ where x is small, the beta distribution by a series of positive terms."""
    if y > 0:
        return -difference(beta, alpha, -y)
    a, b = mpmath.mpf(alpha), mpmath.mpf(beta)
    n, x = a + b, 1 / (1 + mpmath.exp(-y))
    front = mpmath.exp(
        a * mpmath.log(x)
        - b * mpmath.log1p(mpmath.exp(y))
        + mpmath.loggamma(n)
        - mpmath.loggamma(a + 1)
        - mpmath.loggamma(b)
    )
    total, term, k = mpmath.mpf(0), mpmath.mpf(1), 0
    while term > total * mpmath.mpf(10) ** -mpmath.mp.dps:
        total, k, term = total + term, k + 1, term * (n + k) / (a + 1 + k) * x
    return mpmath.erfc((a / n - x) * mpmath.sqrt(n / 2)) / 2 - front * total


def changes_sign_at(f, alpha, beta, crossing):
    """Across logit ± 10⁻¹², hence across x(1 ± 10⁻¹²) and (1 − x)(1 ± 10⁻¹²) alike."""
    with mpmath.workdps(60):
        y = decimal(crossing.logit)
        return f(alpha, beta, y - DIGITS) * f(alpha, beta, y + DIGITS) < 0


GRID = np.sinh(np.linspace(-44, 44, 40_001))  # logits up to 6e18, denser towards 0


def dense_pdf_crossings(alpha, beta):
    """Sign changes of log f_N − log f_B on a grid of logits; None if one may hide in between."""
    n = alpha + beta

    def u(y):
        x = np.exp(-np.logaddexp(0, -y))
        return (
            math.log(n / (2 * math.pi)) / 2
            - n * (x - alpha / n) ** 2 / 2
            + betaln(alpha, beta)
            + (alpha - 1) * np.logaddexp(0, -y)
            + (beta - 1) * np.logaddexp(0, y)
        )

    values = u(GRID)
    if np.abs(values[1:-1][np.diff(np.sign(np.diff(values))) != 0]).min(initial=1) < 1e-5:
        return None
    return [
        brentq(u, GRID[k], GRID[k + 1], xtol=1e-14)
        for k in np.flatnonzero(np.diff(np.sign(values)))
    ]


def dense_cdf_crossings(alpha, beta):
    """The same for F_N − F_B, leaving out places where floats can't tell it from zero."""
    n = alpha + beta

    def D(y):
        x, rest = np.exp(-np.logaddexp(0, -y)), np.exp(-np.logaddexp(0, y))
        low = ndtr((x - alpha / n) * math.sqrt(n)), betainc(alpha, beta, x)
        high = ndtr((rest - beta / n) * math.sqrt(n)), betainc(beta, alpha, rest)
        return np.where(y < 0, low[0] - low[1], high[1] - high[0]), np.where(
            y < 0, low[0] + low[1], high[0] + high[1]
        )

    value, size = D(GRID)
    y = GRID[(np.abs(value) > 1e-11 * size) & (size > 1e-280)]
    signs = np.sign(D(y)[0])
    return [
        brentq(lambda t: float(D(np.array(t))[0]), y[k], y[k + 1], xtol=1e-14)
        for k in np.flatnonzero(np.diff(signs))
    ]


# --- counts and places -------------------------------------------------------------------------


def logits(crossings):
    return [float(crossing.logit) for crossing in crossings]


def mirrored(one, other):
    """Whether swapped parameters have the same crossings, seen from the other side."""
    return len(one) == len(other) and all(
        float(abs(c.logit + d.logit)) < 1e-12
        and c.x == pytest.approx(Crossing(-d.logit).x, rel=1e-12)
        for c, d in zip(one, other[::-1], strict=True)
    )


@settings(max_examples=25)
@given(shapes, shapes)
def test_density_crossings_are_those_of_a_dense_search_to_twelve_digits(alpha, beta):
    found, dense = certify_densities(alpha, beta), dense_pdf_crossings(alpha, beta)
    assume(dense is not None)
    assert logits(found) == pytest.approx(dense, rel=1e-6, abs=1e-6)
    for crossing in found:
        assert changes_sign_at(log_ratio, alpha, beta, crossing)
        assert float(crossing.logit.rad()) < 1e-12
    assert mirrored(found, certify_densities(beta, alpha))


@settings(max_examples=20)
@given(shapes, shapes)
def test_cdf_crossings_are_those_of_a_dense_search_to_twelve_digits(alpha, beta):
    found = certify_cdfs(alpha, beta)
    assert logits(found) == pytest.approx(dense_cdf_crossings(alpha, beta), rel=1e-6, abs=1e-6)
    assert all(changes_sign_at(difference, alpha, beta, crossing) for crossing in found)
    assert len(found) == 1 or alpha + beta < 1
    assert mirrored(found, certify_cdfs(beta, alpha))


small = st.floats(-3, -0.7).map(lambda e: 10.0**e)


@settings(max_examples=15)
@given(small, st.floats(-0.3, 0.3))
def test_small_parameters_near_the_diagonal(alpha, tilt):
    """Where the distribution functions cross three times, or once."""
    beta = alpha * math.exp(tilt)
    crossings = certify_cdfs(alpha, beta)
    assert len(crossings) in (1, 3)
    assert logits(crossings) == pytest.approx(dense_cdf_crossings(alpha, beta), rel=1e-6, abs=1e-6)
    assert all(changes_sign_at(difference, alpha, beta, c) for c in crossings)


# --- known cases -------------------------------------------------------------------------------


def test_two_density_crossings_can_make_three_cdf_crossings():
    assert len(certify_densities(0.05, 0.05)) == 2
    found = certify_cdfs(0.05, 0.05)
    left, centre, right = (crossing.x for crossing in found)
    assert all(changes_sign_at(difference, 0.05, 0.05, crossing) for crossing in found)
    assert centre == pytest.approx(0.5, rel=1e-12)
    assert left + right == pytest.approx(1, rel=1e-12)


def test_three_density_crossings_can_make_one_cdf_crossing():
    for at in ((1.001, 0.32), (0.32, 1.001)):
        assert (len(certify_densities(*at)), len(certify_cdfs(*at))) == (3, 1)


def test_the_uniform_distribution_has_one_cdf_crossing_and_no_density_crossing():
    assert not certify_densities(1, 1)  # √(2/2π) < 1
    [centre] = certify_cdfs(1, 1)
    assert centre.x == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("other", [1e-3, 40.0])
def test_a_parameter_of_exactly_one(other):
    """The beta density is then finite and positive at one end."""
    for alpha, beta in ((1, other), (other, 1)):
        found = certify_densities(alpha, beta)
        assert logits(found) == pytest.approx(dense_pdf_crossings(alpha, beta), abs=1e-6)
        assert all(changes_sign_at(log_ratio, alpha, beta, crossing) for crossing in found)
        assert len(certify_cdfs(alpha, beta)) == 1


@pytest.mark.parametrize("nudge", [1e-3, 2.0**-52])
@pytest.mark.parametrize("beta", [0.3, 30.0])
def test_crossings_that_a_float_can_not_tell_from_the_ends(nudge, beta):
    """Close to α = 1 the log ratio ends at ±∞ but only where x^|α−1| matters: if its value at
    α = 1 has the other sign, there is a crossing near x = exp(−|u(0)|/|α−1|)."""
    at_one = float(log_ratio(1, beta, mpmath.mpf(-2000)))
    for alpha in (1 + nudge, 1 - nudge):
        crossings = certify_densities(alpha, beta)
        extra = (at_one > 0) != (alpha > 1)
        assert len(crossings) == len(certify_densities(1, beta)) + extra
        assert all(changes_sign_at(log_ratio, alpha, beta, c) for c in crossings)
        assert len(certify_cdfs(alpha, beta)) == 1
        if extra:
            first = float(crossings[0].logit)
            assert first == pytest.approx(-abs(at_one) / abs(alpha - 1), rel=0.02, abs=3)
            assert crossings[0].x == (0 if first < -745 else pytest.approx(math.exp(first)))


def test_the_turning_points_are_the_roots_of_the_cubic():
    # −0.1 + 1.2x − 3.2x² + 2.1x³ = (x − 1)(2.1x² − 1.1x + 0.1)
    pair = NormalBetaPair(*matching(1.1, 1.0))
    roots = [float(1 / (1 + (-turn()).exp())) for turn in pair.turning_points()]
    assert roots == pytest.approx([(1.1 - math.sqrt(0.37)) / 4.2, (1.1 + math.sqrt(0.37)) / 4.2])


# --- any normal, and the grid --------------------------------------------------------------------


def test_a_symmetric_pair_crosses_once_at_one_half():
    assert cdf_crossings(*matching(3, 3)) == pytest.approx([0.5], abs=1e-15)
    [half] = certify_cdfs(3, 3)
    assert half.x == pytest.approx(0.5, rel=1e-12)


def test_the_grid_finds_one_zero_and_three():
    assert len(cdf_crossings(*matching(2, 3))) == 1
    assert cdf_crossings(*matching(0.05, 0.05)).round(4).tolist() == [0.1017, 0.5, 0.8983]


@settings(max_examples=40)
@given(st.floats(0.5, 2), st.floats(-0.5, 1.5), shapes, shapes)
def test_the_grid_finds_what_is_certified_for_any_normal(factor, mean, alpha, beta):
    """Where no two zeros lie as close as the grid, and none where floats end."""
    assume(max(alpha, beta) < 1000)
    for normal in (Normal(mean, factor / (alpha + beta)), Normal.matching_beta(alpha, beta)):
        pair = normal, Beta(alpha, beta)
        try:
            certified = certify_crossings(*pair)
        except Undecided:  # far in a tail no precision was enough, and that is said
            assume(False)
        for found, there in (
            (density_crossings(*pair), certified.density),
            (cdf_crossings(*pair), certified.cdf),
        ):
            assert found == pytest.approx([c.x for c in there], rel=1e-6, abs=1e-300)


def test_a_normal_of_another_mean_crosses_where_both_are_equal():
    """The densities and distribution functions by scipy, at certified places."""
    pair = Normal(0.3, 0.02), Beta(3, 4)
    normal, beta = stats.norm(0.3, math.sqrt(0.02)), stats.beta(3, 4)
    found = certify_crossings(*pair)
    assert len(found.density) == 2
    for crossing in found.density:
        assert normal.pdf(crossing.x) == pytest.approx(beta.pdf(crossing.x), rel=1e-10)
    for crossing in found.cdf:
        assert normal.cdf(crossing.x) == pytest.approx(beta.cdf(crossing.x), rel=1e-10)


def test_zeros_on_the_grid_are_found_once_and_a_flat_stretch_is_no_zero():
    assert find_zeros(lambda x: x**3 - x, np.linspace(-2, 2, 9)) == pytest.approx([-1, 0, 1])
    assert find_zeros(lambda x: np.maximum(x, 0), np.linspace(-2, 2, 9)).size == 0


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, 2e6])
def test_parameters_must_be_positive_and_within_what_was_tried(bad):
    with pytest.raises(ValueError, match="alpha"):
        certify_cdfs(bad, 1)
    with pytest.raises(ValueError, match="beta"):
        certify_cdfs(1, bad)
