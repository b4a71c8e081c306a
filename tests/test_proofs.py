"""Appendix G step by step: every check runs, says what it found, and can fail."""

import json
import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rlsvi_core.optimism import order
from rlsvi_core.optimism.balls import Counterexample, Proof, decide, exact
from rlsvi_core.optimism.crossings import Pair
from rlsvi_study.theory import printed as appendix_g
from rlsvi_study.theory import repaired, steps
from rlsvi_study.theory.steps import STEPS, identity, region

RATE = 1e-6  # how often a statistical test of right code fails under a new seed
A, B, K = appendix_g.A, appendix_g.B, appendix_g.K
x = appendix_g.x

DO_NOT_HOLD = {
    "conditional-mean-statement", "gamma-index", "label-sums", "conditional-mean-display",
    "single-crossing",
    "two-crossings-suffice", "densities-cross-twice", "h-has-no-root", "special-stationary-point",
    "special-line-2", "special-line-5", "special-line-6", "special-no-root",
    "final-slope-1-line-5", "final-largest-B", "hypotheses", "marginals-control-the-maximum"}


@pytest.fixture(scope="module")
def findings():
    return {name: entry.check() for name, entry in STEPS.items()}


# --- what a step says --------------------------------------------------------------------------


def test_the_steps_that_hold_and_those_that_do_not(findings):
    assert {name for name, finding in findings.items() if not finding.holds} == DO_NOT_HOLD


def test_every_step_is_stated_and_filed():
    assert len(STEPS) > 70
    for name, entry in STEPS.items():
        assert entry.name == name
        assert entry.statement.endswith("."), name
        assert "\n" not in entry.statement
        assert entry.place
        assert entry.paper
        assert entry.kind in {"symbolic", "certified", "exact", "Monte Carlo", "reading"}, name


def test_every_finding_is_a_sentence_with_numbers(findings):
    for name, finding in findings.items():
        assert isinstance(finding.holds, bool), name
        assert finding.found.endswith("."), name
        assert json.loads(json.dumps(finding.numbers, allow_nan=False)).keys() \
            == finding.numbers.keys(), name


def test_certified_findings_say_how_and_sampled_ones_how_surely(findings):
    for name, finding in findings.items():
        numbers = finding.numbers
        if STEPS[name].kind == "certified":
            proved, refuted = {"boxes", "margin", "bits"}, {"point", "value", "bits"}
            places = {"crossings", "pdf", "roots", "value", "h", "points"}
            assert (proved if finding.holds else refuted) <= numbers.keys() or (
                places & numbers.keys()), name
            if proved <= numbers.keys():
                assert numbers["boxes"] >= 1
                assert numbers["bits"] >= 53
                assert 0 < numbers["margin"] < math.inf
        if STEPS[name].kind == "Monte Carlo":
            assert 0 < numbers["error_rate"] <= 1e-3, name


# --- counterexamples, computed a second time ---------------------------------------------------


def test_line_5_fails_at_the_point_found(findings):
    a, b = findings["final-slope-1-line-5"].numbers["point"]
    assert 0 < b <= a
    assert a * b <= 1 / 9
    n = a + b + 2
    line_4 = math.sqrt(b) / 3 / (math.sqrt(n) - math.sqrt(a))
    assert math.sqrt(b / (b + 2)) / 3 < line_4 - 1e-3


def test_g_is_positive_at_the_point_found(findings):
    a, c = findings["special-line-6"].numbers["point"]
    alpha, beta, k = 1 + a, 1 - c, math.sqrt(a / c)
    t = k / (1 + k)
    assert beta > 0
    assert alpha + beta >= 1
    assert alpha - (alpha + beta) * t + (beta - 1) / (1 - t) - (alpha - 1) / t > 1e-4


def test_the_roots_of_g_are_roots(findings):
    numbers = findings["special-no-root"].numbers
    alpha, beta = numbers["alpha"], numbers["beta"]
    for t in numbers["roots"]:
        assert alpha - (alpha + beta) * t + (beta - 1) / (1 - t) - (alpha - 1) / t == pytest.approx(
            0, abs=1e-12)


def test_g_keeps_its_sign_from_two_over_root_three_on():
    limit = 2 / math.sqrt(3)
    assert len(Pair(exact(limit - 1e-9), exact(1)).turning_points()) == 2
    for beta in (1.0, 0.999, 0.5, 1e-3):
        assert not Pair(exact(limit + 1e-9), exact(beta)).turning_points()


# --- proofs, against dense grids ----------------------------------------------------------------


def psi(v):
    return stats.norm.pdf(v) - v * stats.norm.sf(v)


def mills(v):
    return stats.norm.cdf(v) / stats.norm.pdf(v)


def F(a, b):
    n = a + b + 2
    return (math.log(1 + a) + (a * math.log(a / n) + b * math.log(b / n)) / 2
            + math.log(2 * math.pi / n) / 2)


def minus_second(A):
    """−A² g̃₁″(A), from the printed g̃₁."""
    second = sp.diff(appendix_g._g1_tilde, appendix_g.A, 2)
    return -A**2 * sp.lambdify(appendix_g.A, second)(A)


def test_margins_are_below_what_a_grid_finds(findings):
    """A rewriting that is not the function it stands for would show here."""
    s, t = math.sqrt(math.pi / 8), np.linspace(1e-6, 0.25, 400)
    coin = [stats.norm.pdf(t / s) / s - 0.5,
            s * psi((0.25 + 3 * t) / s) - (0.75 - 3 * t) ** 2 / 4]
    f = [sp.lambdify((A, B), g) for g in (appendix_g.f1, appendix_g.f2)]
    diagonal = np.linspace(1e-6, 1 / 3, 300)
    wide = 1 / np.linspace(1e-3, math.sqrt(3), 2000) ** 2  # A from 1/3 on
    left, right = np.linspace(-0.5, 0, 300), np.linspace(0.5, 0.625, 300)
    region_F = [F(a, min(a, 1 / (9 * a)) * c) for a in np.geomspace(1e-6, 1e3, 300)
                for c in np.linspace(1e-3, 1, 30)]
    for name, values in {
            "coin-below-normal": np.concatenate(coin),
            "final-diagonal": np.concatenate([g(diagonal, diagonal) for g in f]),
            "final-g1-second-bound": (np.log(1 - np.sqrt(wide / (wide + 2))) + np.sqrt(wide))
            / np.sqrt(wide),
            "final-g1-slope-decreases": minus_second(wide),
            "crossing-left-of-mean": np.concatenate(
                [mills(left) - 1 - left, 4 * right * mills(-right) - 1]),
            "crossing-final-region": np.array(region_F)}.items():
        assert 0 < findings[name].numbers["margin"] <= values.min(), name


@given(st.floats(1e-6, 1), st.floats(1e-6, 1))
def test_the_far_bound_is_below_F_and_equal_to_it_up_to_e_squared(s, c):
    value, bound = repaired.F(1 / arb(s), arb(c) * arb(s) / 9), repaired.F_far(arb(s), arb(c))
    assert float(value) == pytest.approx(F(1 / s, c * s / 9), rel=1e-9, abs=1e-9)
    if s > math.exp(-2):
        assert float(bound) == pytest.approx(float(value), rel=1e-9, abs=1e-9)
    else:
        assert bound < value + 1e-9
    around = repaired.F_far(arb(0).union(arb(s)), arb(0).union(arb(c)))
    assert around.overlaps(bound)


@given(st.floats(-6, 6))
def test_the_normal_functions(v):
    with mpmath.workdps(40):
        cdf, pdf = mpmath.ncdf(v), mpmath.npdf(v)
        assert float(repaired.mills(arb(v))) == pytest.approx(float(cdf / pdf), rel=1e-9)
        assert float(repaired.psi(arb(v))) == pytest.approx(float(pdf - v * mpmath.ncdf(-v)),
                                                            abs=1e-12)
        s = mpmath.sqrt(mpmath.pi / 8)
        q = s * (mpmath.npdf(v / s) - v / s * mpmath.ncdf(-v / s)) - (1 - mpmath.mpf(v)) ** 2 / 4
        assert float(repaired.q(arb(v))) == pytest.approx(float(q), abs=1e-11)


# --- planted falsehoods: computer algebra -------------------------------------------------------


def test_an_identity_with_one_wrong_coefficient_fails():
    right = identity(((A + B) ** 2, A**2 + 2 * A * B + B**2), found="As printed.")
    wrong = identity((A, A), ((A + B) ** 2, A**2 + sp.Rational(2001, 1000) * A * B + B**2),
                     found="As printed.")
    assert right == (True, "As printed.", {"identities": 1})
    assert not wrong.holds
    assert wrong.numbers["difference"] == pytest.approx(0.001 * 2 / 7 * 3 / 7)
    assert wrong.found.endswith("at A = 2/7, B = 3/7.")


SYMBOLIC = sorted(name for name, entry in STEPS.items() if entry.kind == "symbolic")


@pytest.mark.parametrize("module", [appendix_g, repaired], ids=lambda module: module.__name__)
def test_no_step_s_identity_survives_a_small_change(module, monkeypatch):
    """The first pair that each true step compares, with its right side off by a thousandth."""
    compared, survivors = 0, []

    def perturbed(*pairs, found):
        nonlocal compared
        left, right = pairs[0]
        off = right * sp.Rational(1001, 1000) if right != 0 else sp.Rational(1, 1000)
        compared += 1
        if steps.same(left, off):
            survivors.append((left, right))
        return steps.Finding(True, found, {})

    monkeypatch.setattr(module, "identity", perturbed)
    for name in SYMBOLIC:
        if STEPS[name].check.__module__ == module.__name__ and name not in DO_NOT_HOLD:
            STEPS[name].check()
    assert compared > 5
    assert not survivors


@pytest.mark.parametrize(("name", "change", "fails"), [
    ("log_B", sp.log(x) / 100, ["first-derivatives", "second-derivatives", "h-and-derivatives"]),
    ("h", x / 1000, ["h-and-derivatives", "special-derivatives"]),
    ("g", x / 1000, ["special-derivatives"]),
    ("_g_at_K", K / 1000, ["special-line-1"]),
    ("_cubic", K / 1000, ["special-line-3", "special-line-4"]),
    ("_x1", sp.Rational(1, 1000), ["final-points", "final-f"]),
    ("f1", A * B / 100, ["final-f", "final-slope-1-equalities"]),
    ("f2", B / 100, ["final-f", "final-slope-2-equalities"]),
    ("_g1", A / 100, ["final-g1"]),
    ("_g1_tilde", A / 100, ["final-g1-slope", "final-g1-slope-decreases"]),
    ("_g2", A / 100, ["final-g2"]),
    ("_g2_tilde", A / 100, ["final-g2-slope"]),
])
def test_a_wrong_formula_fails_the_steps_that_rest_on_it(name, change, fails, monkeypatch):
    monkeypatch.setattr(appendix_g, name, getattr(appendix_g, name) + change)
    for step in fails:
        assert not STEPS[step].check().holds, step


def test_signs_are_read_off_coefficients():
    assert steps.positive_coefficients(A * B + 2, A, B)
    assert not steps.positive_coefficients((A - B) ** 2, A, B)
    assert not steps.positive_coefficients(sp.Integer(0), A)


@pytest.mark.parametrize("step", ["special-concave", "convex", "missing-region"])
def test_a_wrong_sign_is_not_read_off(step, monkeypatch):
    monkeypatch.setattr(appendix_g, "h", -appendix_g.h)
    monkeypatch.setattr(appendix_g, "g", -appendix_g.g)
    assert not STEPS[step].check().holds


# --- planted falsehoods: ball arithmetic --------------------------------------------------------


def test_a_variance_just_below_pi_over_eight_is_refuted():
    def q(t, variance):
        s = arb(variance).sqrt()
        return s * repaired.psi(t / s) - (1 - t) * (1 - t) / 4

    outcome = decide(lambda t: q(t, 0.38), [(0.0, 1.0)])
    assert isinstance(outcome, Counterexample)
    assert not region(outcome).holds
    assert isinstance(decide(lambda t: q(t, 0.40), [(0.0, 1.0)]), Proof)


def test_a_mills_ratio_that_is_asked_too_much_is_refuted():
    outcome = decide(lambda v: repaired.mills(v) - 1.3 - v, [(0.0, 1.0)])
    assert isinstance(outcome, Counterexample)
    [v] = outcome.point
    assert stats.norm.cdf(v) / stats.norm.pdf(v) < 1.3 + v


@pytest.mark.parametrize(("module", "name", "less", "step"), [
    (repaired, "F", 0.05, "crossing-final-region"),
    (repaired, "F_far", 0.3, "crossing-final-region"),
    (repaired, "q", 0.02, "coin-below-normal"),
    (repaired, "mills", 0.3, "crossing-left-of-mean"),
    (appendix_g, "_f1_ball", 0.3, "final-diagonal"),
    (appendix_g, "_f2_ball", 0.3, "final-diagonal"),
])
def test_a_function_with_less_to_spare_than_claimed_fails_its_step(module, name, less, step,
                                                                   monkeypatch):
    true = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *at: true(*at) - less)
    finding = STEPS[step].check()
    assert not finding.holds
    assert finding.found.startswith("Fails at (")
    assert finding.numbers["value"] < 0


def test_a_point_with_three_crossings_fails_the_grid(monkeypatch):
    monkeypatch.setattr(repaired, "count_crossings",
                        lambda a, b: (2, 3) if a == b == 1e4 else (2, 1))
    assert not STEPS["crossing-sampled"].check().holds


# --- planted falsehoods: exact laws and samples -------------------------------------------------


@pytest.mark.parametrize("form", ["by_maxima", "by_tails", "by_coupling", "by_utility"])
def test_a_form_that_says_yes_to_everything_is_found_out(form, monkeypatch):
    for other in {"by_coupling", "by_utility"} - {form}:  # the slow ones
        monkeypatch.setattr(order, other, lambda X, Y, *_: order.by_maxima(X, Y) or None
                            if form != "by_maxima" else order.by_tails(X, Y) or None)
    monkeypatch.setattr(order, form, lambda *_: True)
    finding = appendix_g.equivalent_forms()
    assert not finding.holds
    assert finding.numbers["exceptions"] > 50


def test_a_criterion_that_refuses_is_found_out(monkeypatch):
    true = order.by_tails
    monkeypatch.setattr(order, "by_tails", lambda X, Y: true(X, Y) and X.values[0] != 0)
    assert not appendix_g.single_crossing_implies_optimism().holds


def test_a_normal_of_too_small_a_variance_fails_the_lemma(monkeypatch):
    monkeypatch.setattr(order.Normal, "of", classmethod(
        lambda cls, mean, variance: cls(mean, exact(variance) / 8)))
    assert not repaired.gauss_dirichlet().holds


def test_a_law_with_more_spread_fails_the_sampled_lemma(monkeypatch):
    true = order.dirichlet_samples
    monkeypatch.setattr(order, "dirichlet_samples", lambda alpha, V, n, rng: true(
        np.asarray(alpha) / 50, V, n, rng))
    finding = repaired.gauss_dirichlet_sampled()
    assert not finding.holds
    assert "0 refuted" not in finding.found


def another_urn(reinforced, draws=300):
    """An urn by another hand, which adds this many units of the colour drawn."""
    def urn(alpha, V, _, paths, rng):
        weights, V = np.tile(np.asarray(alpha, float), (paths, 1)), np.asarray(V, float)
        for _ in range(draws):
            level = rng.random((paths, 1)) * weights.sum(axis=1, keepdims=True)
            drawn = (weights.cumsum(axis=1) <= level).sum(axis=1)
            weights[np.arange(paths), drawn] += reinforced
        return weights @ V[:, None] / weights.sum(axis=1, keepdims=True)
    return urn


@pytest.mark.parametrize("reinforced", [0, 0.5, 1, 2])
def test_only_an_urn_that_adds_one_unit_has_the_dirichlet_limit(reinforced, monkeypatch):
    monkeypatch.setattr(repaired, "urn", another_urn(reinforced))
    assert repaired.urn_limit().holds == (reinforced == 1)


# --- the urn ------------------------------------------------------------------------------------


def test_the_urn_starts_at_the_mean_and_moves_by_its_rule():
    alpha, V, paths = [0.5, 1.0, 0.0, 0.3], [0.0, 0.4, 0.7, 1.0], 400
    M = repaired.urn(alpha, V, 6, paths, np.random.default_rng(0))
    assert M.shape == (paths, 7)
    assert (M[:, 0] == np.dot(alpha, V) / np.sum(alpha)).all()
    for k in range(6):
        drawn = M[:, k] + (M[:, k + 1] - M[:, k]) * (np.sum(alpha) + k + 1)
        off = np.abs(drawn[:, None] - np.array(V))
        assert off.min(axis=1).max() < 1e-12
        assert (off.argmin(axis=1) != 2).all()  # no weight, never drawn
    assert repaired.urn(alpha, V, 0, 3, np.random.default_rng(0)).shape == (3, 1)
    again = repaired.urn(alpha, V, 6, paths, np.random.default_rng(0))
    assert (M == again).all()


def test_the_urn_is_a_martingale():
    """The mean stays within 6 standard errors at five times; one new seed in 10⁷ would fail."""
    M = repaired.urn([0.5, 1.0, 0.3], [0.0, 0.4, 1.0], 60, 40_000, np.random.default_rng(1))
    for k in (1, 2, 5, 20, 60):
        error = M[:, k].std() / math.sqrt(len(M))
        assert abs(M[:, k].mean() - M[0, 0]) < 6 * error


def test_a_colour_drawn_is_likelier_to_be_drawn_again():
    """P(I₁ = I₂ = i) = αᵢ(αᵢ+1)/(n(n+1)), by a binomial test at 10⁻⁶ for each of three colours."""
    alpha, V, paths = np.array([0.5, 1.0, 0.3]), np.array([0.0, 0.4, 1.0]), 40_000
    n, M = alpha.sum(), repaired.urn([0.5, 1.0, 0.3], V, 2, 40_000, np.random.default_rng(2))
    first = np.abs((M[:, [1]] - M[:, [0]]) * (n + 1) + M[:, [0]] - V).argmin(axis=1)
    second = np.abs((M[:, [2]] - M[:, [1]]) * (n + 2) + M[:, [1]] - V).argmin(axis=1)
    for i in range(3):
        twice = int(((first == i) & (second == i)).sum())
        chance = alpha[i] * (alpha[i] + 1) / (n * (n + 1))
        assert stats.binomtest(twice, paths, chance).pvalue > RATE


@pytest.mark.parametrize(("alpha", "V", "rule"), [
    ([1, 1], [0, 1.5], r"V must lie in \[0, 1\]; V\[1\] is 1\.5"),
    ([1, 1], [-0.25, 1], r"V must lie in \[0, 1\]; V\[0\] is -0\.25"),
    ([1, -2], [0, 1], r"α must be ≥ 0 with a positive sum; got \[1\.0, -2\.0\]"),
    ([0, 0], [0, 1], "α must be ≥ 0 with a positive sum"),
    ([1, 1, 1], [0, 1], r"vectors of one length; got shapes \(3,\) and \(2,\)"),
    ([[1, 1]], [[0, 1]], r"got shapes \(1, 2\) and \(1, 2\)"),
    ([1, math.nan], [0, 1], r"α must be finite; α\[1\] is nan"),
    ([1, 1], [0, math.inf], r"V must be finite; V\[1\] is inf"),
])
def test_bad_urns_are_refused(alpha, V, rule):
    with pytest.raises(ValueError, match=rule):
        repaired.urn(alpha, V, 3, 5, np.random.default_rng(0))
