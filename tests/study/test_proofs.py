"""Appendix G line by line: every check runs, says what it found, and can fail."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rlsvi_core.optimism import order
from rlsvi_core.optimism.balls import Counterexample, Proof, decide, exact
from rlsvi_study import catalogue
from rlsvi_study.judging import evidence, verdicts
from rlsvi_study.judging.evidence import identity, instead, region
from rlsvi_study.judging.outcomes import FAILS, HOLDS, MISPRINT, Judged, unless
from rlsvi_study.judging.register import OURS, REGISTER, lines_of
from rlsvi_study.theory import forms, means, printed, repaired, sharp
from rlsvi_study.theory.crossings import Pair, pdf_crossings

RATE = 1e-6  # how often a statistical test of right code fails under a new seed
A, B, K, x = printed.A, printed.B, printed.K, printed.x
OF_SECTION_5 = {"shrunk_noise", "theorem_conditions", "marginals_control_the_maximum"}
STEPS = {
    name: one
    for one in catalogue.claims().values()
    if (name := one.id.split(".", 1)[1].replace("-", "_"))
    and (one.id.startswith("G.") or name in OF_SECTION_5)
}


@pytest.fixture(scope="module")
def findings():
    """As stored: another test judges every claim and compares."""
    stored = verdicts.stored()
    return {name: stored[step.id] for name, step in STEPS.items()}


# --- lemmas and their lines ---------------------------------------------------------------------

LEMMAS = evidence.LEMMA_1, evidence.LEMMA_5, evidence.LEMMA_6


def test_what_we_add_to_the_proofs_holds():
    assert all(step.verdict == HOLDS for step in STEPS.values() if step.paper == OURS)


def test_printed_lines_are_counted_by_their_verdicts():
    counts = [evidence.printed_lines(lemma) for lemma in LEMMAS]
    assert sum(counts[0].values()) == 0  # the lines of Lemma 1 are ours
    assert evidence.printed_lines(*LEMMAS) == {
        verdict: sum(one[verdict] for one in counts) for verdict in counts[0]
    }
    assert sum(evidence.printed_lines(*LEMMAS).values()) == sum(
        one.paper != OURS for lemma in LEMMAS for one in lines_of(lemma).values()
    )


@pytest.fixture
def quick(monkeypatch):
    """Only one step is judged, the others hold."""

    def judging(steps, fallen):
        for id in steps:
            monkeypatch.setitem(
                REGISTER,
                id,
                dataclasses.replace(REGISTER[id], judge=lambda id=id: unless(id == fallen)),
            )

    return judging


@pytest.mark.parametrize("step", [None, *sharp.STEPS_PROFILE])
def test_lemma_1_falls_with_any_of_its_steps(step, quick, monkeypatch):
    quick(sharp.STEPS_PROFILE, step)
    monkeypatch.setattr(order, "gap", lambda normal, law, z: np.ones(len(z)))
    found = repaired.gauss_dirichlet()
    assert found.verdict == (FAILS if step else HOLDS)
    assert found.numbers["failed"] == [step] * bool(step)


@pytest.mark.parametrize("step", [None, *printed.STEPS_LEMMA_6])
def test_the_repaired_lemma_6_falls_with_any_of_its_steps(step, quick):
    quick(printed.STEPS_LEMMA_6, step)
    found = printed.single_crossing()
    assert found.verdict == FAILS  # as printed, it is false for small α + β
    assert found.numbers["failed"] == [step] * bool(step)


def test_every_step_of_a_lemma_is_a_line_of_it_and_no_step_of_lemma_1_is_left_out():
    assert set(printed.STEPS_LEMMA_6) <= lines_of(evidence.LEMMA_6).keys()
    theorem = {*means.STEPS_MEANS, "G.sharp-at-every-mean"}
    proofs = {*sharp.STEPS_PROFILE, *sharp.STEPS_SHARP, *theorem, *repaired.STEPS_URN}
    assert lines_of(evidence.LEMMA_1).keys() - proofs == {
        "G.gauss-dirichlet-sampled",
        "G.sharp-below-one",
    }  # which are only tried
    crossing = {id for id in lines_of(evidence.LEMMA_6) if id.startswith("G.crossing-")}
    assert crossing - set(printed.STEPS_LEMMA_6) == {"G.crossing-sampled"}


@pytest.mark.parametrize(
    ("statement", "repaired", "verdict"),
    [(HOLDS, HOLDS, HOLDS), (MISPRINT, HOLDS, HOLDS), (MISPRINT, FAILS, FAILS)],
)
def test_lemma_5_is_judged_as_meant(statement, repaired, verdict, monkeypatch):
    for line, said in (("statement", statement), ("repaired", repaired)):
        id = f"G.conditional-mean-{line}"
        monkeypatch.setitem(
            REGISTER,
            id,
            dataclasses.replace(REGISTER[id], judge=lambda said=said: Judged(said, {})),
        )
    assert printed.conditional_mean().verdict == verdict


# --- what the proofs' checks say ----------------------------------------------------------------


def test_certified_findings_say_how_and_sampled_ones_how_surely(findings):
    for name, found in findings.items():
        numbers = found.numbers
        if STEPS[name].kind == "certified":
            proved, refuted = {"boxes", "margin", "bits"}, {"point", "value", "bits"}
            places = {"crossings", "pdf", "roots", "value", "points", "smallest"}
            assert (proved if found.verdict == HOLDS else refuted) <= numbers.keys() or (
                places & numbers.keys()
            ), name
            if proved <= numbers.keys():
                assert numbers["boxes"] >= 1
                assert numbers["bits"] >= 53
                assert 0 < numbers["margin"] < math.inf
        if STEPS[name].kind == "Monte Carlo":
            assert 0 < numbers["error_rate"] <= 1e-3, name


# --- counterexamples, computed a second time ---------------------------------------------------


def test_line_5_fails_at_the_point_found(findings):
    a, b = findings["final_slope_1_line_5"].numbers["point"]
    assert 0 < b <= a
    assert a * b <= 1 / 9
    n = a + b + 2
    line_4 = math.sqrt(b) / 3 / (math.sqrt(n) - math.sqrt(a))
    assert math.sqrt(b / (b + 2)) / 3 < line_4 - 1e-3


def test_g_is_positive_at_the_point_found(findings):
    a, c = findings["special_line_6"].numbers["point"]
    alpha, beta, k = 1 + a, 1 - c, math.sqrt(a / c)
    t = k / (1 + k)
    assert beta > 0
    assert alpha + beta >= 1
    assert alpha - (alpha + beta) * t + (beta - 1) / (1 - t) - (alpha - 1) / t > 1e-4


def test_the_roots_of_g_are_roots(findings):
    numbers = findings["special_no_root"].numbers
    alpha, beta = numbers["alpha"], numbers["beta"]
    for t in numbers["roots"]:
        assert alpha - (alpha + beta) * t + (beta - 1) / (1 - t) - (alpha - 1) / t == pytest.approx(
            0, abs=1e-12
        )


def test_h_changes_sign_twice_in_the_final_region():
    at = printed.h.subs({A: sp.Rational(1, 10), B: sp.Rational(1, 10)})
    left, middle, right = (at.subs(x, sp.Rational(k, 8)) for k in (1, 4, 7))
    assert middle < 0 < min(left, right)


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
    return (
        math.log(1 + a)
        + (a * math.log(a / n) + b * math.log(b / n)) / 2
        + math.log(2 * math.pi / n) / 2
    )


def minus_second(A):
    """−A² g̃₁″(A), from the printed g̃₁."""
    second = sp.diff(printed.g1_tilde, printed.A, 2)
    return -(A**2) * sp.lambdify(printed.A, second)(A)


def test_margins_are_below_what_a_grid_finds(findings):
    """A rewriting that is not the function it stands for would show here."""
    f = [sp.lambdify((A, B), g) for g in (printed.f1, printed.f2)]
    diagonal = np.linspace(1e-6, 1 / 3, 300)
    wide = 1 / np.linspace(1e-3, math.sqrt(3), 2000) ** 2  # A from 1/3 on
    region_F = [
        F(a, min(a, 1 / (9 * a)) * c)
        for a in np.geomspace(1e-6, 1e3, 300)
        for c in np.linspace(1e-3, 1, 30)
    ]
    for name, values in {
        "final_diagonal": np.concatenate([g(diagonal, diagonal) for g in f]),
        "final_g1_second_bound": (np.log(1 - np.sqrt(wide / (wide + 2))) + np.sqrt(wide))
        / np.sqrt(wide),
        "final_g1_slope_decreases": minus_second(wide),
        "crossing_final_region": np.array(region_F),
    }.items():
        assert 0 < findings[name].numbers["margin"] <= values.min(), name


def test_what_short_proofs_show_is_there_on_a_grid():
    s, t = math.sqrt(math.pi / 8), np.linspace(0, 1, 400)[1:]
    assert (s * psi(t / s) > (1 - t) ** 2 / 4).all()
    left, right = np.linspace(-0.5, 0, 300), np.linspace(0.5, 0.625, 300)
    assert (mills(left) > 1 + left).all()
    assert (4 * right * mills(-right) - 1 > repaired.over_chord(right, mills(0))).all()
    assert (repaired.over_chord(right, mills(0)) > 0).all()
    for a, b in ((0.1, 0.05), (0.3, 0.3), (5, 0.01)):
        slope = (F(a, b * (1 + 1e-6)) - F(a, b * (1 - 1e-6))) / (2e-6 * b)
        assert float(repaired.F_slope(a, b)) == pytest.approx(slope, rel=1e-5)
        assert slope < 0


@pytest.mark.parametrize(("p", "t"), [(0.9, 0.5), (0.5, -1.0), (0.3, 0.2), (0.3, -0.2), (0.2, 1)])
def test_what_a_coin_exceeds(p, t):
    """p(1 − p − t)⁺ for t ≥ 0; below 0 it is −t and the mirror image."""

    def excess(p, t):
        return p * max(1 - p - t, 0) + (1 - p) * max(-p - t, 0)

    says = p * max(1 - p - t, 0) if t >= 0 else -t + (1 - p) * max(p + t, 0)
    assert excess(p, t) == pytest.approx(says)
    assert says + min(t, 0) <= (1 - abs(t)) ** 2 / 4


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
        assert float(repaired.psi(arb(v))) == pytest.approx(
            float(pdf - v * mpmath.ncdf(-v)), abs=1e-12
        )
        s = mpmath.sqrt(mpmath.pi / 8)
        q = s * (mpmath.npdf(v / s) - v / s * mpmath.ncdf(-v / s)) - (1 - mpmath.mpf(v)) ** 2 / 4
        assert float(repaired.q(arb(v))) == pytest.approx(float(q), abs=1e-11)


# --- planted falsehoods: computer algebra -------------------------------------------------------


def test_an_identity_with_one_wrong_coefficient_fails():
    right = identity(((A + B) ** 2, A**2 + 2 * A * B + B**2))
    wrong = identity((A, A), ((A + B) ** 2, A**2 + sp.Rational(2001, 1000) * A * B + B**2))
    assert (right.verdict, right.numbers) == (HOLDS, {"identities": 1})
    assert wrong.verdict == FAILS
    assert wrong.numbers["difference"] == pytest.approx(0.001 * 2 / 7 * 3 / 7)


def test_no_step_s_identity_survives_a_small_change(monkeypatch):
    """The first pair that each true step compares, with its right side off by a thousandth."""
    compared, survivors = 0, []

    def perturbed(*pairs):
        nonlocal compared
        left, right = pairs[0]
        off = right * sp.Rational(1001, 1000) if right != 0 else sp.Rational(1, 1000)
        compared += 1
        if evidence.same(left, off):
            survivors.append((left, right))
        return Judged(HOLDS, {})

    for module in (evidence, printed, sharp, repaired):
        monkeypatch.setattr(module, "identity", perturbed)
    for step in STEPS.values():
        if (step.kind, step.verdict) == ("symbolic", HOLDS):
            step.judge()
    assert compared
    assert not survivors


@pytest.mark.parametrize(
    ("name", "change", "fails"),
    [
        (
            "log_B",
            sp.log(x) / 100,
            ["first_derivatives", "second_derivatives", "h_and_derivatives"],
        ),
        ("h", x / 1000, ["h_and_derivatives", "special_derivatives"]),
        ("g", x / 1000, ["special_derivatives"]),
        ("g_at_K", K / 1000, ["special_line_1"]),
        ("cubic", K / 1000, ["special_line_3", "special_line_4"]),
        ("x1", sp.Rational(1, 1000), ["final_points", "final_f"]),
        ("f1", A * B / 100, ["final_f", "final_slope_1_equalities"]),
        ("f2", B / 100, ["final_f", "final_slope_2_equalities", "final_diagonal"]),
        ("g1", A / 100, ["final_g1"]),
        ("g1_tilde", A / 100, ["final_g1_slope", "final_g1_slope_decreases"]),
        ("g2", A / 100, ["final_g2"]),
        ("g2_tilde", A / 100, ["final_g2_slope"]),
    ],
)
def test_a_wrong_formula_fails_the_steps_that_rest_on_it(name, change, fails, monkeypatch):
    monkeypatch.setattr(printed, name, getattr(printed, name) + change)
    for step in fails:
        assert STEPS[step].judge().verdict == FAILS, step


def test_what_is_printed_what_is_meant_and_neither():
    square = (A + B) ** 2
    for printed_as, verdict in (
        (A**2 + 2 * A * B + B**2, HOLDS),
        (A**2 + B**2, MISPRINT),
        (A**2 + 3 * B**2, FAILS),
    ):
        truth = [(square, printed_as + 2 * A * B)]
        assert instead([(square, printed_as)], truth).verdict == verdict
    assert instead([(square, A**2 + B**2)], [], [(square, square)]).verdict == FAILS


@pytest.mark.parametrize(
    ("name", "wrong", "verdicts"),
    [
        ("cubic", printed.g_at_K, {"special_line_2": HOLDS}),
        ("cubic", printed.cubic + K, {"special_line_2": FAILS}),
        ("line_4", printed.line_4 + A, {"special_line_5": FAILS}),
        ("g", printed.g + printed.n * x, {"special_stationary_point": HOLDS}),
        ("alpha_0", printed.alpha_1, {"label_sums": FAILS}),
        (
            "mean_given_y",
            lambda swapped: printed.y if swapped else printed.v1,
            {"conditional_mean_display": HOLDS, "conditional_mean_statement": HOLDS},
        ),
        (
            "mean_given_y",
            lambda swapped: 2 * printed.y,
            {"conditional_mean_display": FAILS, "conditional_mean_statement": FAILS},
        ),
        ("decide", lambda *_, **__: Counterexample((0.5,), -1.0, 53), {"final_largest_B": FAILS}),
        (
            "decide",
            lambda *_, **__: Proof(1, 0.1, 53),
            dict.fromkeys(("final_largest_B", "special_line_6", "final_slope_1_line_5"), HOLDS),
        ),
    ],
)
def test_the_label_of_what_is_wrong_is_computed(name, wrong, verdicts, monkeypatch):
    """A misprint is one only while what was meant holds; a part holds only if it was proved."""
    monkeypatch.setattr(printed, name, wrong)
    assert {step: STEPS[step].judge().verdict for step in verdicts} == verdicts


def test_signs_are_read_off_coefficients():
    assert evidence.positive_coefficients(A * B + 2, A, B)
    assert not evidence.positive_coefficients((A - B) ** 2, A, B)
    assert not evidence.positive_coefficients(sp.Integer(0), A)


@pytest.mark.parametrize("step", ["special_concave", "convex", "missing_region"])
def test_a_wrong_sign_is_not_read_off(step, monkeypatch):
    monkeypatch.setattr(printed, "h", -printed.h)
    monkeypatch.setattr(printed, "g", -printed.g)
    assert STEPS[step].judge().verdict == FAILS


# --- planted falsehoods: ball arithmetic --------------------------------------------------------


def test_a_variance_just_below_pi_over_eight_is_refuted():
    def q(t, variance):
        s = arb(variance).sqrt()
        return s * repaired.psi(t / s) - (1 - t) * (1 - t) / 4

    outcome = decide(lambda t: q(t, 0.38), [(0.0, 1.0)])
    assert isinstance(outcome, Counterexample)
    assert region(outcome).verdict == FAILS
    assert isinstance(decide(lambda t: q(t, 0.40), [(0.0, 1.0)]), Proof)


def test_a_mills_ratio_that_is_asked_too_much_is_refuted():
    outcome = decide(lambda v: repaired.mills(v) - 1.3 - v, [(0.0, 1.0)])
    assert isinstance(outcome, Counterexample)
    [v] = outcome.point
    assert stats.norm.cdf(v) / stats.norm.pdf(v) < 1.3 + v


@pytest.mark.parametrize(
    ("module", "name", "less", "step"),
    [
        (repaired, "F", 0.05, "crossing_final_region"),
        (repaired, "F_far", 0.3, "crossing_final_region"),
        (printed, "f_on_diagonal", 0.3, "final_diagonal"),
    ],
)
def test_a_function_with_less_to_spare_than_claimed_fails_its_step(
    module, name, less, step, monkeypatch
):
    true = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *at: true(*at) - less)
    finding = STEPS[step].judge()
    assert finding.verdict == FAILS
    assert finding.numbers["value"] < 0


def test_a_coin_with_more_to_outweigh_fails_its_step(monkeypatch):
    true = repaired.q
    monkeypatch.setattr(repaired, "q", lambda t: true(t) - 0.02)
    assert repaired.coin_below_normal().verdict == FAILS


def test_a_point_with_three_crossings_fails_the_grid(monkeypatch):
    monkeypatch.setattr(
        repaired, "count_crossings", lambda a, b: (2, 3) if a == b == 1e4 else (2, 1)
    )
    assert STEPS["crossing_sampled"].judge().verdict == FAILS


def test_laws_that_cross_otherwise_change_the_verdicts(monkeypatch):
    crossing = pdf_crossings(2, 3)[:1]
    for name in ("cdf_crossings", "pdf_crossings"):
        monkeypatch.setattr(printed.crossings, name, lambda *_: crossing)
    monkeypatch.setattr(printed.crossings, "count_crossings", lambda *_: (1, 1))
    monkeypatch.setattr(printed.crossings.Pair, "turning_points", lambda _: [])
    verdicts = {
        "single_crossing": HOLDS,
        "two_crossings_suffice": HOLDS,
        "densities_cross_twice": HOLDS,
        "special_no_root": HOLDS,
        "final_two_crossings": FAILS,
    }
    assert {step: STEPS[step].judge().verdict for step in verdicts} == verdicts


# --- planted falsehoods: exact laws and samples -------------------------------------------------


@pytest.mark.parametrize("form", ["by_maxima", "by_tails", "by_coupling", "by_utility"])
def test_a_form_that_says_yes_to_everything_is_found_out(form, monkeypatch):
    for other in {"by_coupling", "by_utility"} - {form}:  # the slow ones
        monkeypatch.setattr(
            forms,
            other,
            lambda X, Y, *_: (
                forms.by_maxima(X, Y) or None
                if form != "by_maxima"
                else forms.by_tails(X, Y) or None
            ),
        )
    monkeypatch.setattr(forms, form, lambda *_: True)
    finding = printed.equivalent_forms()
    assert finding.verdict == FAILS
    assert finding.numbers["exceptions"] > 0


def test_a_criterion_that_refuses_is_found_out(monkeypatch):
    true = forms.by_tails
    monkeypatch.setattr(forms, "by_tails", lambda X, Y: true(X, Y) and X.values[0] != 0)
    assert printed.single_crossing_implies_optimism().verdict == FAILS


def test_a_maximum_that_its_marginals_control_would_hold(monkeypatch):
    monkeypatch.setattr(forms, "by_tails", lambda X, Y: True)
    assert repaired.marginals_control_the_maximum().verdict == HOLDS


def test_a_normal_of_too_small_a_variance_fails_the_lemma(monkeypatch):
    monkeypatch.setattr(
        order.Normal, "of", classmethod(lambda cls, mean, variance: cls(mean, exact(variance) / 8))
    )
    assert repaired.gauss_dirichlet().verdict == FAILS


@pytest.mark.parametrize(("gap", "verdict"), [(1e-9, HOLDS), (0.0, HOLDS), (-1e-9, FAILS)])
def test_optimism_asks_for_a_gap_that_is_not_negative(gap, verdict, quick, monkeypatch):
    quick(sharp.STEPS_PROFILE, None)
    monkeypatch.setattr(order, "gap", lambda normal, law, z: np.full(len(z), gap))
    assert repaired.gauss_dirichlet().verdict == verdict


@pytest.mark.parametrize(("times", "verdict"), [(1, HOLDS), (2, FAILS), (3, FAILS)])
def test_lemma_6_asks_for_one_crossing(times, verdict, quick, monkeypatch):
    quick(printed.STEPS_LEMMA_6, None)
    monkeypatch.setattr(
        printed.crossings, "cdf_crossings", lambda *_: times * pdf_crossings(2, 3)[:1]
    )
    assert printed.single_crossing().verdict == verdict


def test_a_law_with_more_spread_fails_the_sampled_lemma(monkeypatch):
    true = order.dirichlet_samples
    monkeypatch.setattr(
        order, "dirichlet_samples", lambda alpha, V, n, rng: true(np.asarray(alpha) / 50, V, n, rng)
    )
    assert repaired.gauss_dirichlet_sampled().verdict == FAILS


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
    assert repaired.urn_limit().verdict == (HOLDS if reinforced == 1 else FAILS)


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


@pytest.mark.parametrize(
    ("alpha", "V", "named"),
    [
        ([1, 1], [0, 1.5], "V"),
        ([1, 1], [-0.25, 1], "V"),
        ([1, -2], [0, 1], "α"),
        ([0, 0], [0, 1], "α"),
        ([1, 1, 1], [0, 1], "V"),
        ([[1, 1]], [[0, 1]], "α"),
        ([1, math.nan], [0, 1], "α"),
        ([1, 1], [0, math.inf], "V"),
    ],
)
def test_bad_urns_are_refused(alpha, V, named):
    with pytest.raises(ValueError, match=named):
        repaired.urn(alpha, V, 3, 5, np.random.default_rng(0))


@pytest.mark.parametrize(("s", "c"), [(0.01, 1.0), (0.5, 3.0), (1.0, 9.0)])
def test_far_out_the_slope_loses_only_what_the_logarithm_does(s, c):
    """−log(1 − y) − y ≥ 0, with y = √(A/n); all else is the same in other variables."""
    A, B = 1 / s, c * s / 9
    y = math.sqrt(A / (A + B + 2))
    near, far = printed.minus_slope_1(arb(A), arb(B)), printed.minus_slope_1_far(arb(s), arb(c))
    assert float(near - far) == pytest.approx(-math.log(1 - y) - y, rel=1e-12)


@pytest.mark.parametrize(
    ("balls", "formula", "symbols"),
    [
        ("minus_slope_1", -sp.diff(printed.f1, B), (A, B)),
        ("f_on_diagonal", printed.f1.subs(B, A), (A,)),
        ("spare_of_line_2", x * (1 / x + sp.log(1 - 1 / sp.sqrt(1 + 2 * x**2))), (x,)),
    ],
)
def test_what_balls_enclose_is_the_formula(balls, formula, symbols):
    for point in ((0.03, 0.2), (0.3, 0.05), (1.4, 0.7)):
        at = dict(zip(symbols, point, strict=False))
        value = getattr(printed, balls)(*map(arb, at.values()))
        assert float(value) == pytest.approx(float(formula.subs(at)), rel=1e-12)


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
    assert evidence.positive_inside(expression, x, A) == positive


# --- the least variance ------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0.5, 1, 2, 7, 300])
def test_the_least_variance_has_the_mean_deviation_of_the_beta_law_of_mean_one_half(n):
    """By quadrature; the rational number that stands for it is above, if not by much."""
    deviation = 2 * stats.beta(n / 2, n / 2).expect(lambda y: y - 0.5, lb=0.5, ub=1)
    assert float(sharp.c(arb(n))) == pytest.approx(math.pi / 2 * deviation**2, rel=1e-6)
    with ctx.workprec(128):
        assert 0 < arb(sharp.at_least_c(n)) / sharp.c(arb(n)) - 1 < 1e-12


@pytest.mark.parametrize(("n", "m"), [(1, 0.3), (4, 0.45), (9, 0.1)])
def test_where_tails_meet_the_gap_is_bounded_as_the_proof_has_it(n, m):
    """log(√v φ/J) against its lower bound, at v = 1/(4(n + η)) and many levels."""
    z = np.linspace(0.01, 0.99, 99)
    t, theta = z - m, float(1 / (4 * sharp.c(arb(n)))) - n
    log_J = stats.beta.logpdf(z, n * m, n * (1 - m)) + np.log(z * (1 - z) / n)
    for eta in (0, 1 / 3, theta):
        v = 1 / (4 * (n + eta))
        spare = stats.norm.logpdf(t, 0, math.sqrt(v)) + math.log(v) - log_J
        bound = sharp.touching_gap(t * math.sqrt(n), (0.5 - m) * math.sqrt(n), eta)
        assert (n * spare >= n / 2 * math.log((n + theta) / (n + eta)) + bound - 1e-12).all()
