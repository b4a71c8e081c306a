"""Appendix G: a lemma's verdict falls with any step of its proof, and what refutes a printed line does so."""

import math

import numpy as np
import pytest
import sympy as sp
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from rlsvi_core.optimism import Beta, Normal, certify_crossings, order
from rlsvi_study.judging import evidence
from rlsvi_study.judging.algebra import expressions_equal, judge_identities
from rlsvi_study.judging.evidence import failed_steps, judge_misprint
from rlsvi_study.judging.outcomes import DEPENDS, FAILS, HOLDS, MISPRINT, Judgement
from rlsvi_study.judging.register import REGISTER
from rlsvi_study.lemmas import claims, printed_lines, single_crossing
from rlsvi_study.lemmas.printed_lines import NormalBetaPair

A, B, C, K, x = (getattr(printed_lines, name) for name in "ABCKx")


# --- lemmas and their steps ---------------------------------------------------------------------


@pytest.fixture
def only(monkeypatch):
    """One step of a proof fails, the others hold; the printed lines are not judged."""

    def judging(module, steps, fails):
        def stub(step):
            def one():
                return step is not fails

            one.__name__ = step.__name__
            return one

        monkeypatch.setattr(module, steps, tuple(map(stub, getattr(module, steps))))
        monkeypatch.setattr(printed_lines, "WRONG_IN_LEMMA_5", ())
        monkeypatch.setattr(printed_lines, "WRONG_IN_LEMMA_6", ())

    return judging


@pytest.fixture
def cross_times(monkeypatch):
    """Any two distribution functions cross so often."""
    found = certify_crossings(Normal.matching_beta(2, 3), Beta(2, 3))

    def pretend(times):
        crossed = found._replace(cdf=times * found.cdf)
        monkeypatch.setattr(printed_lines, "certify_crossings", lambda *_: crossed)

    return pretend


def named(step):
    return [step.__name__] if step else []


@pytest.mark.parametrize("step", [None, *claims.STEPS_LEMMA_1])
def test_lemma_1_falls_with_any_of_its_steps(step, only, monkeypatch):
    only(claims, "STEPS_LEMMA_1", step)
    monkeypatch.setattr(order, "exact_gap", lambda normal, law, z: np.ones(len(z)))
    for judge in (claims.gauss_dirichlet, claims.elegant_proof):
        found = judge()
        assert found.verdict == (FAILS if step else HOLDS)
        assert found.numbers["failed"] == named(step)


@pytest.mark.parametrize("step", [None, *claims.STEPS_LEMMA_6])
def test_the_repaired_lemma_6_falls_with_any_of_its_steps(step, only, cross_times):
    only(claims, "STEPS_LEMMA_6", step)
    found = claims.single_crossing()
    assert found.verdict == (FAILS if step else DEPENDS)  # it is false for small α + β
    assert found.numbers["failed"] == named(step)
    cross_times(1)
    assert claims.single_crossing().verdict == (FAILS if step else HOLDS)


@pytest.mark.parametrize(("times", "verdict"), [(1, HOLDS), (2, DEPENDS), (3, DEPENDS)])
def test_lemma_6_asks_for_one_crossing_of_any_two_shapes(times, verdict, only, cross_times):
    only(claims, "STEPS_LEMMA_6", None)
    cross_times(times)
    assert claims.single_crossing().verdict == verdict


@pytest.mark.parametrize("step", [None, *printed_lines.STEPS_LEMMA_5])
def test_lemma_5_stands_on_its_repaired_step(step, only):
    only(printed_lines, "STEPS_LEMMA_5", step)
    assert claims.conditional_mean().verdict == (FAILS if step else HOLDS)


def test_every_printed_line_that_is_judged_is_wrong_or_a_step():
    lines_5, lines_6 = (
        {line.judge for line in REGISTER.values() if line.part_of == id}
        for id in ("G.conditional-mean", "G.single-crossing")
    )
    assert lines_5 == set(printed_lines.WRONG_IN_LEMMA_5)
    assert lines_6 >= set(printed_lines.WRONG_IN_LEMMA_6)
    assert lines_6 - set(printed_lines.WRONG_IN_LEMMA_6) <= set(claims.STEPS_LEMMA_6)
    assert set(printed_lines.CONSEQUENTIAL_ERRORS) < set(printed_lines.WRONG_IN_LEMMA_6)


def test_a_normal_of_too_small_a_variance_fails_the_lemma(monkeypatch):
    monkeypatch.setattr(order, "Normal", lambda mean, variance: Normal(mean, variance / 8))
    assert claims.gauss_dirichlet().verdict == FAILS


@pytest.mark.parametrize(("gap", "verdict"), [(1e-9, HOLDS), (0.0, HOLDS), (-1e-9, FAILS)])
def test_optimism_asks_for_a_gap_that_is_not_negative(gap, verdict, only, monkeypatch):
    only(claims, "STEPS_LEMMA_1", None)
    monkeypatch.setattr(order, "exact_gap", lambda normal, law, z: np.full(len(z), gap))
    assert claims.gauss_dirichlet().verdict == verdict


# --- counterexamples, computed a second time ---------------------------------------------------


def test_line_5_fails_at_the_point_found():
    a, b = printed_lines.final_slope_1_line_5().numbers["point"]
    assert 0 < b <= a
    assert a * b <= 1 / 9
    n = a + b + 2
    line_4 = math.sqrt(b) / 3 / (math.sqrt(n) - math.sqrt(a))
    assert math.sqrt(b / (b + 2)) / 3 < line_4 - 1e-3


def g(alpha, beta, t):
    """The derivative of log f_N − log f_B."""
    return alpha - (alpha + beta) * t + (beta - 1) / (1 - t) - (alpha - 1) / t


def test_g_is_positive_at_the_point_found():
    a, c = printed_lines.special_line_6().numbers["point"]
    alpha, beta, k = 1 + a, 1 - c, math.sqrt(a / c)
    assert beta > 0
    assert alpha + beta >= 1
    assert g(alpha, beta, k / (1 + k)) > 1e-4


def test_the_roots_of_g_are_roots():
    found = printed_lines.special_no_root().numbers
    for t in found["roots"]:
        assert g(found["alpha"], found["beta"], t) == pytest.approx(0, abs=1e-12)


def test_h_changes_sign_twice_in_the_final_region():
    at = printed_lines.h.subs({A: sp.Rational(1, 10), B: sp.Rational(1, 10)})
    left, middle, right = (at.subs(x, sp.Rational(k, 8)) for k in (1, 4, 7))
    assert middle < 0 < min(left, right)


def matching_pair(alpha, beta):
    return NormalBetaPair(Normal.matching_beta(alpha, beta), Beta(alpha, beta))


def test_g_keeps_its_sign_from_two_over_root_three_on():
    limit = 2 / math.sqrt(3)
    assert len(matching_pair(limit - 1e-9, 1).turning_points()) == 2
    for beta in (1.0, 0.999, 0.5, 1e-3):
        assert not matching_pair(limit + 1e-9, beta).turning_points()


# --- what balls enclose -------------------------------------------------------------------------


def F(a, b):
    n = a + b + 2
    return (
        math.log(1 + a)
        + (a * math.log(a / n) + b * math.log(b / n)) / 2
        + math.log(2 * math.pi / n) / 2
    )


@given(st.floats(1e-6, 1), st.floats(1e-6, 1))
def test_the_far_bound_is_below_F_and_equal_to_it_up_to_e_squared(s, c):
    value = single_crossing.F(1 / arb(s), arb(c) * arb(s) / 9)
    bound = single_crossing.F_far(arb(s), arb(c))
    assert float(value) == pytest.approx(F(1 / s, c * s / 9), rel=1e-9, abs=1e-9)
    if s > math.exp(-2):
        assert float(bound) == pytest.approx(float(value), rel=1e-9, abs=1e-9)
    else:
        assert bound < value + 1e-9
    around = single_crossing.F_far(arb(0).union(arb(s)), arb(0).union(arb(c)))
    assert around.overlaps(bound)


@pytest.mark.parametrize(("name", "less"), [("F", 0.05), ("F_far", 0.3)])
def test_a_function_with_less_to_spare_fails_its_step(name, less, monkeypatch):
    true = getattr(single_crossing, name)
    monkeypatch.setattr(single_crossing, name, lambda *at: true(*at) - less)
    assert failed_steps([single_crossing.check_final_region]) == ["check_final_region"]


def test_minus_line_4_is_what_balls_enclose():
    for a, c in ((0.03, 0.2), (0.3, 0.05), (1.4, 0.7)):
        value = printed_lines.minus_line_4(arb(a), arb(c))
        assert float(value) == pytest.approx(-float(printed_lines.line_4.subs({A: a, C: c})))


# --- Lemma 5 by profiles ------------------------------------------------------------------------


def test_the_profile_of_a_beta_law_solves_the_equation_that_the_proof_of_lemma_5_compares():
    """J = z^a(1 − z)^b/(nB(a, b)): dJ = −(z − μ) f dz, and JJ″ = −z(1 − z)/n."""
    a, b, z = sp.symbols("a b z", positive=True)
    density = z ** (a - 1) * (1 - z) ** (b - 1)  # times B(a, b), as J is
    J = z**a * (1 - z) ** b / (a + b)
    assert expressions_equal(sp.diff(J, z) / density, -(z - a / (a + b)))
    assert expressions_equal(sp.simplify(J / density), z * (1 - z) / (a + b))


# --- evidence -----------------------------------------------------------------------------------


def test_an_identity_with_one_wrong_coefficient_fails():
    right = judge_identities(((A + B) ** 2, A**2 + 2 * A * B + B**2))
    wrong = judge_identities((A, A), ((A + B) ** 2, A**2 + sp.Rational(2001, 1000) * A * B + B**2))
    assert (right.verdict, right.numbers) == (HOLDS, {"identities": 1})
    assert wrong.verdict == FAILS
    assert wrong.numbers["difference"] == pytest.approx(0.001 * 2 / 7 * 3 / 7)


def test_what_is_printed_what_is_meant_and_neither():
    square = (A + B) ** 2
    for printed_as, verdict in (
        (A**2 + 2 * A * B + B**2, HOLDS),
        (A**2 + B**2, MISPRINT),
        (A**2 + 3 * B**2, FAILS),
    ):
        truth = [(square, printed_as + 2 * A * B)]
        assert judge_misprint([(square, printed_as)], truth).verdict == verdict
    assert judge_misprint([(square, A**2 + B**2)], [], [(square, square)]).verdict == FAILS


def test_steps_of_each_kind_can_fail():
    def no():
        return False

    def unequal():
        yield A, A
        yield A, B

    def misprint():
        return Judgement(MISPRINT, {})

    def right():
        yield A * B, B * A

    assert failed_steps([no, right, unequal, misprint]) == ["no", "unequal", "misprint"]


def test_signs_are_read_off_coefficients():
    assert evidence.has_positive_coefficients(A * B + 2, A, B)
    assert not evidence.has_positive_coefficients((A - B) ** 2, A, B)
    assert not evidence.has_positive_coefficients(sp.Integer(0), A)


@pytest.mark.parametrize(
    ("expression", "positive"),
    [
        (x * (1 - x), True),
        (1 / (1 - x) - 1, True),
        (x + A * (1 - x), True),
        (2 * x - 1, False),
        (x - 1, False),
        (x - A, False),
    ],
)
def test_positive_inside_means_for_all_x_between_0_and_1(expression, positive):
    assert evidence.is_positive_on_unit_interval(expression, x, A) == positive


def test_the_final_region_is_covered(monkeypatch):
    boxes, decide = [], single_crossing.decide

    def noted(f, box, **how):
        boxes.append(box[0])
        return decide(f, box, **how)

    monkeypatch.setattr(single_crossing, "decide", noted)
    assert single_crossing.check_final_region()
    (low, diagonal), (start, middle), (zero, last) = boxes
    assert low == zero == 0
    assert diagonal >= 1 / 3
    assert start <= diagonal
    assert min(middle, last) >= 1


def test_left_of_the_mean_the_whole_margin_is_needed(monkeypatch):
    monkeypatch.setattr(single_crossing, "expressions_equal", lambda *_: True)
    monkeypatch.setattr(single_crossing, "R_0", 1 + sp.Rational(1, 33))
    assert not single_crossing.positive_left_of_mean()
