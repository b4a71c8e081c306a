r"""Appendix G, lemma by lemma, and the printed lines of their proofs.

The paper proves that Normal(α/n, 1/n) is stochastically optimistic for Beta(α, β), and this for
Dirichlet means. A ``step`` is a line of a proof: name, place, what is printed, the statement, the
sides that must be equal, what was found; a ``line`` is one that balls or a function decide.

Notation of the paper: A = α − 1, B = β − 1, n = α + β = A + B + 2, u = l_N − l_B the difference of
log densities, g = u′, h = u″.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from flint import arb
from sympy import Expr, Rational, diff, exp, integrate, limit, log, oo, pi, simplify, sqrt, symbols

from rlsvi_core.optimism.balls import Counterexample, Proof, decide, exact, root, sharpen, x_log_x

from ..judging.evidence import (
    LEMMA_5,
    LEMMA_6,
    PROVED,
    SEEN,
    Sides,
    each_is,
    identity,
    line,
    positive_inside,
    printed_lines,
    region,
    same,
    step,
)
from ..judging.outcomes import FAILS, HOLDS, MISPRINT, Judged, decided, unless
from ..judging.register import OURS, claim, fallen, remark
from . import crossings, forms

A, B, K, C, x = symbols("A B K C x", positive=True)
alpha, beta = symbols("alpha beta", positive=True)
n = A + B + 2


def _crossings(alpha: float, beta: float) -> dict[str, Any]:
    """Where the normal crosses Beta(α, β): the places, isolated, and how many there are."""
    pdf, cdf = (
        [c.x for c in cross(alpha, beta)]
        for cross in (crossings.pdf_crossings, crossings.cdf_crossings)
    )
    return {
        "alpha": alpha,
        "beta": beta,
        "pdf": pdf,
        "cdf": cdf,
        "densities": len(pdf),
        "functions": len(cdf),
    }


CROSSED = (
    "At α = {alpha:g}, β = {beta:g} the densities cross {densities} times and the distribution "
    "functions {functions}"
)


def _rewritten(pairs: list[Sides], outcome: Proof | Counterexample) -> Judged:
    """What balls decided about a rewriting, provided that it is one."""
    right = identity(*pairs)
    return region(outcome) if right.verdict == HOLDS else right


# --------------------------------------------------------------------- G: definitions


@claim(
    "G.equivalent-forms",
    place="Appendix G, Lemma 3",
    paper="four equivalent forms",
    kind="instances",
    verdict=HOLDS,
)
def equivalent_forms() -> Judged:
    """Four forms of optimism are equivalent: maxima with an independent variable, integrated
    tails, a coupling X = Y + A + W, convex increasing functions.

    A known theorem (Strassen's); on finite laws the four forms disagree in {exceptions} of {pairs}
    random pairs.

    Decided exactly or by linear programs; {optimistic} pairs are optimistic."""
    rng, pairs, optimistic, disagree = np.random.default_rng(0), 200, 0, 0
    for _ in range(pairs):
        X, Y = forms.random_law(rng), forms.random_law(rng)
        found = {
            forms.by_maxima(X, Y),
            forms.by_tails(X, Y),
            forms.by_coupling(X, Y) is not None,
            forms.by_utility(X, Y, rng),
        }
        optimistic, disagree = optimistic + (True in found), disagree + (len(found) > 1)
    return unless(disagree > 0, pairs=pairs, optimistic=optimistic, exceptions=disagree)


@claim(
    "G.gamma-shares",
    place="Appendix G, Lemma 4",
    paper="E[γ₁ | γ₁+γ₂] = k₁/(k₁+k₂) (γ₁+γ₂)",
    kind="symbolic",
    verdict=HOLDS,
)
def gamma_shares() -> Judged:
    """Independent gamma variables of one scale share their sum in proportion to their shapes.

    True: two beta integrals have this ratio.

    For all shapes by the gamma function, and integrated outright for whole ones."""
    k1, k2, s = symbols("k1 k2 s", positive=True)

    def moment(shift: int) -> Expr:
        """∫ γ₁^shift f(γ₁) f(s − γ₁) dγ₁ up to factors without shift, by the beta integral."""
        return s ** (k1 + k2 - 1 + shift) * sp.gamma(k1 + shift) / sp.gamma(k1 + k2 + shift)

    def integrated(shift: int, k1: int, k2: int) -> Expr:
        return integrate(sp.expand(x ** (k1 - 1 + shift) * (s - x) ** (k2 - 1)), (x, 0, s))

    share = sp.gammasimp(moment(1) / moment(0))
    return identity(
        (share, k1 / (k1 + k2) * s),
        (s - share, k2 / (k1 + k2) * s),
        *(
            (integrated(1, *k) / integrated(0, *k), share.subs({k1: k[0], k2: k[1]}))
            for k in ((1, 1), (1, 3), (2, 2), (4, 1))
        ),
    )


v1, vd, y = symbols("v_1 v_d y", real=True)


def mean_given_y(swapped: bool) -> Expr:
    """E[ỹ | y] after step (a): v₁ weighs one part of the shares, v_d the other."""
    upper, lower = (y - v1) / (vd - v1), (vd - y) / (vd - v1)  # Σγᵢαᵢ⁰/αᵢγ̄ and Σγᵢαᵢ¹/αᵢγ̄
    return v1 * upper + vd * lower if swapped else v1 * lower + vd * upper


_a, _v = symbols("a v", positive=True)  # one term of each sum over i is enough
_tilde_alpha, _tilde_beta = _a * (_v - v1) / (vd - v1), _a * (vd - _v) / (vd - v1)
alpha_0, alpha_1 = _a * (_v - v1) / (vd - v1), _a * (vd - _v) / (vd - v1)


@claim(
    "G.conditional-mean",
    place="Appendix G, Lemma 5",
    paper="E[ỹ | y] = E[y]",
    kind="symbolic",
    verdict=HOLDS,
)
def conditional_mean() -> Judged:
    """A matched beta variable ỹ can be coupled with the Dirichlet mean y so that E[ỹ | y] = y
    (printed is E[y], a misprint).

    Such a coupling exists; its conditional mean is y, which the proof ends with and optimism needs, not
    the constant E[y].

    Of {lines} printed lines of its proof {printed[holds]} holds and {printed[misprint]} are misprints."""
    printed = printed_lines(LEMMA_5)
    return unless(
        bool(fallen((f"{LEMMA_5}-repaired",))), lines=sum(printed.values()), printed=printed
    )


step(
    "conditional-mean-statement",
    "Lemma 5",
    "E[ỹ | y] = E[y]",
    "As stated, the matched beta variable has conditional mean E[y].",
    lambda: [(diff(mean_given_y(swapped=False), y), 0)],
    "It is y itself, whose derivative in y is 1; E[y] is a constant.",
    MISPRINT,
    meant=lambda: [(mean_given_y(swapped=False), y)],
    part_of=LEMMA_5,
)
remark(
    "G.gamma-index",
    "Appendix G, Lemma 5, proof",
    "γ_i ~ Gamma(α, 1)",
    MISPRINT,
    "The gamma variable of component i has shape α.",
    "The shape is α_i; otherwise the ratios would not be Dirichlet(α).",
    part_of=LEMMA_5,
)
step(
    "label-sums",
    "Lemma 5, proof",
    "β̃ = Σα⁰, α̃ = Σα¹",
    "The sums of α⁰ and α¹ are β̃ and α̃ in this order.",
    lambda: [(alpha_0, _tilde_beta), (alpha_1, _tilde_alpha)],
    "By their definitions it is the other way round: Σα⁰ = α̃ and Σα¹ = β̃.",
    MISPRINT,
    meant=lambda: [(alpha_0, _tilde_alpha), (alpha_1, _tilde_beta)],
    part_of=LEMMA_5,
)
step(
    "label-split",
    "Lemma 5, proof",
    "α = α⁰ + α¹",
    "The two parts of each α add up to it.",
    lambda: [(alpha_0 + alpha_1, _a)],
    "α⁰ + α¹ = α for every v.",
    part_of=LEMMA_5,
)
step(
    "conditional-mean-display",
    "Lemma 5, proof, last display",
    "= y",
    "With the labels as printed, the chain of equalities ends at y.",
    lambda: [(mean_given_y(swapped=True), y)],
    "It ends at v₁ + v_d − y, the mirror image of y: the labels are exchanged. With α⁰ and α¹ in "
    "each other's place it is y.",
    MISPRINT,
    meant=lambda: zip(map(mean_given_y, (True, False)), (v1 + vd - y, y), strict=True),
    part_of=LEMMA_5,
)
step(
    "conditional-mean-repaired",
    "Lemma 5, repaired",
    OURS,
    "With α⁰ and α¹ exchanged, the "
    "matched beta variable has conditional mean y, so it is optimistic for the Dirichlet mean.",
    lambda: [(mean_given_y(swapped=False), y)],
    "v₁(v_d − y) + v_d(y − v₁) = y(v_d − v₁).",
    part_of=LEMMA_5,
)


@claim(
    "G.single-crossing-implies-optimism",
    place="Appendix G, Definition 2",
    paper="single crossing implies optimism",
    kind="instances",
    verdict=HOLDS,
)
def single_crossing_implies_optimism() -> Judged:
    """A variable with at least another's mean, whose distribution function crosses the other's
    once, from above, is stochastically optimistic for it.

    True: the gap has the slope F_X − F_Y, so it rises from E X − E Y, which is not negative, and then
    falls to 0.

    Also tried exactly on finite laws: of {pairs} random pairs that cross once, {exceptions} are
    exceptions."""
    rng, tried, wrong = np.random.default_rng(1), 0, 0
    while tried < 200:
        X, Y = forms.random_law(rng), forms.random_law(rng)
        signs = [
            difference > 0
            for z in sorted({*X.values, *Y.values})  # of F_X − F_Y
            if (difference := Y.tail(z) - X.tail(z)) != 0
        ]
        turns = sum(before != after for before, after in pairwise(signs))
        if turns == 1 and signs[0] and X.mean >= Y.mean:
            tried, wrong = tried + 1, wrong + (not forms.by_tails(X, Y))
    return unless(wrong > 0, pairs=tried, exceptions=wrong)


# --------------------------------------------------------------------- what balls enclose below


def _minus_line_4(a: arb, c: arb) -> arb:
    """Minus line 4 of G.3.1, as K − K² and what is always negative."""
    k = (a / c).sqrt()
    return -(k - k * k - a * k * k - a * k - a - c * k**3 - c * k * k - c * k)


def _line_5_less_line_4(a: arb, b: arb) -> arb:
    """Of ∂f₁/∂B: ≥ 0 if the step from line 4 is right."""
    m, root_a = (a + b + 2).sqrt(), a.sqrt()
    return ((b / (b + 2)).sqrt() - b.sqrt() / (m - root_a)) / 3


def minus_slope_1(a: arb, b: arb) -> arb:
    """−∂f₁/∂B, with 1/(√n − √A) = (√n + √A)/(B+2)."""
    m = a + b + 2
    bracket = b * root(a) * (m.sqrt() + root(a)) / (b + 2) - a - 1
    return -bracket / (2 * m) - (1 - root(a / m)).log()


def minus_slope_1_far(s: arb, c: arb) -> arb:
    """A lower bound for it at A = 1/s, B = c s/9, by log(1 − y) ≤ −y: finite down to s = 0."""
    b = c * s / 9
    e = 1 + (b + 2) * s  # n = A e
    return ((1 + s) - b * (e.sqrt() + 1) / (b + 2)) / (2 * e) + 1 / e.sqrt()


def f_on_diagonal(a: arb) -> arb:
    """f₁ = f₂ at B = A."""
    m = 2 * a + 2
    return (
        (1 + a).log()
        + (2 * arb.pi() / m).log() / 2
        + (x_log_x(a) - a * m.log()) / 2
        + a * (1 - root(a / m)).log()
    )


def spare_of_line_2(t: arb) -> arb:
    """t {√A + log(1 − √(A/(A+2)))} at A = 1/t²: finite down to t = 0."""
    r = (1 + 2 * t * t).sqrt()
    return 1 + 2 * x_log_x(t) + t * (2 / (r * (r + 1))).log()


def _minus_A2_second(t: arb, root: Callable[[arb], arb] = root) -> arb:
    """−A² g̃₁″ at A = 1/t: finite down to t = 0."""
    return 1 / (1 + t) / (1 + t) + 1 / (1 + 3 * t) / (1 + 3 * t) + root(t) / 12 - 3 / (2 + 6 * t)


def _above_a_hundredth(value: Callable[[arb], arb]) -> Judged:
    third = float(sharpen(lambda: value(arb(1) / 3)))
    return unless(third <= 0.01, value=third, digits=15)


def _slope_at(point: Expr) -> Expr:
    """g′ with C = −B."""
    return simplify(diff(g, x).subs(B, -C).subs(x, point))


def _by_root_B(expression: Expr) -> Expr:
    return expression.subs(A, m**2 - B - 2).subs(B, b**2)


# --------------------------------------------------------------------- G.2: Gaussian against beta

STEPS_LEMMA_6 = (  # all that the repaired proof uses, for α + β ≥ 1; repaired.py tells it
    "G.enough-once",
    "G.mirror",
    "G.h-and-derivatives",
    "G.crossing-beta-bound",
    "G.crossing-left-of-mean",
    "G.crossing-tail-bound",  # β ≤ 1
    "G.crossing-right-of-mean",
    "G.missing-region",
    "G.convex",
    "G.convex-stationary-point",
    "G.convex-minimum",
    "G.convex-condition",  # AB ≥ 1/9
    "G.final-points",
    "G.final-points-ordered",
    "G.final-outside",
    "G.final-beta-range",
    "G.final-beta-function",
    "G.final-gap",
    "G.crossing-final-region",
)


@claim(
    "G.single-crossing",
    place="Appendix G, Lemma 6",
    paper="for any α > 0, β > 0",
    kind="certified",
    verdict=FAILS,
)
def single_crossing() -> Judged:
    """For any α, β > 0 the normal of mean α/n and variance 1/n, n = α + β, single-crossing
    dominates Beta(α, β).

    For α = β = {alpha:g} we find that the distribution functions cross {functions} times; with
    α + β ≥ 1, for which the recap claims to have proved it, the lemma is true, by a proof of ours.

    Of {lines} printed lines of its proof {printed[holds]} hold, {printed[misprint]} are misprints and
    {printed[fails]} fail. {steps} of the lines, printed and ours, make the repaired proof."""
    found, gaps, printed = _crossings(0.05, 0.05), fallen(STEPS_LEMMA_6), printed_lines(LEMMA_6)
    return Judged(
        decided(found["functions"] == 1, not gaps),
        found
        | {
            "lines": sum(printed.values()),
            "printed": printed,
            "steps": len(STEPS_LEMMA_6),
            "failed": gaps,
        },
    )


def _two_suffice() -> Judged:
    found = _crossings(0.05, 0.05)
    return unless(found["densities"] <= 2 and found["functions"] > 1, **found)


def _at_most_two() -> Judged:
    found = _crossings(1.001, 0.32)
    return unless(found["densities"] > 2, **found)


remark(
    "G.enough-once",
    "Appendix G, G.2",
    "it is enough that the CDFs cross at most once",
    HOLDS,
    "The means are equal, so it is enough for Lemma 6 that the distribution "
    "functions cross at most once on (0, 1).",
    "Both means are α/(α + β). Left of 0 the normal's is above, right of 1 below: at most one "
    "crossing is exactly one, from above.",
    part_of=LEMMA_6,
)
remark(
    "G.rolle",
    "Appendix G, G.3",
    "even stronger conditions",
    HOLDS,
    "Each condition implies the one before: h has no root, l′_N − l′_B at most one, l_N − l_B "
    "at most two.",
    "By Rolle's theorem, twice. The first is a goal that the final region gives "
    "up: h changes sign there.",
    part_of=LEMMA_6,
)
remark(
    "G.outside",
    "Appendix G, G.3",
    "f_N(0−) > f_B(0−), f_N(1+) > f_B(1+)",
    HOLDS,
    "Just outside [0, 1] the normal density is above the beta density.",
    "The beta density is zero there and the normal's is positive.",
    part_of=LEMMA_6,
)
line(
    "two-crossings-suffice",
    "G.3",
    "PDFs cross ≤ 2 times ⇒ CDFs cross ≤ once",
    "certified",
    FAILS,
    "If the densities cross at most twice on (0, 1), the distribution "
    "functions cross at most once.",
    _two_suffice,
    CROSSED + ", because the beta density also jumps past the normal's at 0 and at 1.",
)
line(
    "densities-cross-twice",
    "G.3",
    "the PDFs cross at most twice",
    "certified",
    FAILS,
    "The densities cross at most twice for all α and β of the lemma (α + β ≥ 1).",
    _at_most_two,
    CROSSED + ". It would follow from the false conclusion of G.3.1.",
)

log_B = (alpha - 1) * log(x) + (beta - 1) * log(1 - x)
log_N = -(alpha + beta) * (x - alpha / (alpha + beta)) ** 2 / 2
h = A / x**2 + B / (1 - x) ** 2 - n
g = (A + 1) - n * x + B / (1 - x) - A / x
_to_A_B = {alpha: A + 1, beta: B + 1}

step(
    "first-derivatives",
    "G.3",
    "l′_B, l′_N",
    "The first derivatives of the log densities.",
    lambda: [
        (diff(log_B, x), (alpha - 1) / x - (beta - 1) / (1 - x)),
        (diff(log_N, x), alpha - (alpha + beta) * x),
    ],
)
step(
    "second-derivatives",
    "G.3",
    "l″_B, l″_N",
    "The second derivatives of the log densities.",
    lambda: [
        (diff(log_B, x, 2), -(alpha - 1) / x**2 - (beta - 1) / (1 - x) ** 2),
        (diff(log_N, x, 2), -(alpha + beta)),
    ],
)
step(
    "h-and-derivatives",
    "G.3, equation (3)",
    "h = l″_N − l″_B, h′, h″",
    "h, h′ and h″.",
    lambda: [
        (diff(log_N - log_B, x, 2).subs(_to_A_B), h),
        (diff(h, x), -2 * (A / x**3 - B / (1 - x) ** 3)),
        (diff(h, x, 2), 6 * (A / x**4 + B / (1 - x) ** 4)),
    ],
)
step(
    "mirror",
    "G.3.1 and G.3.3",
    "by symmetry",
    "Exchanging α and β and x and 1 − x leaves the difference of log densities as it is.",
    lambda: [
        (
            log_N - log_B,
            (log_N - log_B).subs({alpha: beta, beta: alpha, x: 1 - x}, simultaneous=True),
        )
    ],
    "u(x; α, β) = u(1 − x; β, α).",
)


# --------------------------------------------------------------------- G.3.1: α > 1 ≥ β

step(
    "special-derivatives",
    "G.3.1",
    "g, g′ = h, g″ = h′",
    "g = u′ and its derivatives.",
    lambda: [
        (diff(log_N - log_B, x).subs(_to_A_B), g),
        (diff(g, x), h),
        (diff(g, x, 2), diff(h, x)),
    ],
)
line(
    "special-concave",
    "G.3.1",
    "B ≤ 0 ⇒ g″ ≤ 0",
    "symbolic",
    HOLDS,
    "For α > 1 ≥ β the function g is concave on (0, 1).",
    lambda: unless(not positive_inside(-diff(g, x, 2).subs(B, -C), x, A, C)),
    "With C = −B and x = 1/(1+t), −g″ has positive coefficients only.",
)

_x_K = sqrt(A / C) / (1 + sqrt(A / C))
g_at_K = g.subs(x, K / (1 + K))
cubic = -A * K**2 - A * K - A + B * K**3 + B * K**2 + B * K - K**2 + K
line_4 = (
    -A * (A / C)
    - A * sqrt(A / C)
    - A
    - C * (A / C) ** Rational(3, 2)
    - C * (A / C)
    - C * sqrt(A / C)
    - A / C
    + sqrt(A / C)
)
_line_5 = (
    -(A**2) / C
    - A ** Rational(3, 2) / sqrt(C)
    - A
    - A ** Rational(3, 2) / sqrt(C)
    - A
    - sqrt(A * C)
    - A / C
    + sqrt(A * C)
)

step(
    "special-stationary-point",
    "G.3.1",
    "g′ = A/x² + B/(1−x)² = 0",
    "The point x_K = K/(1+K) with K = √(−A/B) is where g′ vanishes.",
    lambda: [(_slope_at(_x_K), 0)],
    "The term −(α+β) was dropped: at x_K the derivative is "
    "−(α+β), so g is not largest there (nor smallest, as the text has it).",
    FAILS,
    true=lambda: [(_slope_at(_x_K), -(A - C + 2))],
)
step(
    "special-line-1",
    "G.3.1, g(x_K), line 1",
    "substitute x_K",
    "The value of g at K/(1+K).",
    lambda: [(g_at_K, (A + 1) - n * K / (1 + K) + B * (1 + K) - A * (1 + K) / K)],
)
step(
    "special-line-2",
    "G.3.1, g(x_K), line 2",
    "= a cubic in K",
    "That value equals a cubic in K.",
    lambda: [(g_at_K, cubic)],
    "The cubic is K(1+K) times the value; the sign is not affected.",
    MISPRINT,
    meant=lambda: [(g_at_K * K * (1 + K), cubic)],
)
step(
    "special-line-3",
    "G.3.1, g(x_K), line 3",
    "B = −C",
    "The cubic with C = −B.",
    lambda: [(cubic.subs(B, -C), -A * K**2 - A * K - A - C * K**3 - C * K**2 - C * K - K**2 + K)],
)
step(
    "special-line-4",
    "G.3.1, g(x_K), line 4",
    "K = (A/C)^½",
    "The cubic with K = √(A/C).",
    lambda: [(cubic.subs(B, -C).subs(K, sqrt(A / C)), line_4)],
)
step(
    "special-line-5",
    "G.3.1, g(x_K), line 5",
    "collect powers",
    "The powers of A and C collected; the last term is A^½ C^½.",
    lambda: [(line_4, _line_5)],
    "The last term should be A^½ C^(−½), which does not cancel the one before.",
    FAILS,
    true=lambda: [(line_4 - _line_5, sqrt(A / C) - sqrt(A * C))],
)
line(
    "special-line-6",
    "G.3.1, g(x_K), line 6",
    "≤ 0",
    "certified",
    FAILS,
    "The value at x_K is never positive.",
    lambda: region(decide(_minus_line_4, [(2.0**-10, 1.0), (2.0**-4, 1.0)])),
    "Up to line 4 only a factor K(1+K) > 0 is amiss, and there minus the value is "
    f"{SEEN} at A = {{point[0]:.4g}}, C = {{point[1]:.4g}}. It would follow from line 5.",
)


@claim(
    "G.special-no-root",
    place="Appendix G, G.3.1",
    paper="g has no root for α > 1 ≥ β",
    kind="certified",
    verdict=FAILS,
    part_of=LEMMA_6,
)
def special_no_root() -> Judged:
    """For α > 1 ≥ β the derivative of the log ratio has no root in (0, 1).

    At α = {alpha}, β = {beta:g}, whose sum exceeds 2, there are roots at x = {roots[0]:.3g} and
    {roots[1]:.3g}: the point tried for the maximum is not where it is."""
    roots = [
        float(crossings.logistic(turn()))
        for turn in crossings.Pair(exact(1.1), exact(1.0)).turning_points()
    ]
    return unless(bool(roots), alpha=1.1, beta=1.0, roots=roots)


_general = alpha - (alpha + beta) * x + (beta - 1) / (1 - x) - (alpha - 1) / x
at_one = _general.subs(beta, 1)  # the worst β, as g grows with it
_peak = sqrt((alpha - 1) / (alpha + 1))
step(
    "special-repaired",
    "G.3.1, repaired",
    OURS,
    "g has no sign change for any β ≤ 1 exactly if α ≥ 2/√3 ≈ 1.155.",
    lambda: [
        (diff(_general, beta), (1 - x + x**2) / (1 - x)),
        (at_one, alpha - (alpha + 1) * x - (alpha - 1) / x),
        (diff(at_one, x).subs(x, _peak), 0),
        (diff(at_one, x, 2), -2 * (alpha - 1) / x**3),
        (at_one.subs(x, _peak), alpha - 2 * sqrt(alpha**2 - 1)),
        (alpha**2 - 4 * (alpha**2 - 1), 4 - 3 * alpha**2),
    ],
    "g grows with β, and at β = 1 its largest value is α − 2√(α² − 1), ≤ 0 iff 3α² ≥ 4.",
)


# --------------------------------------------------------------------- the missing region


@claim(
    "G.missing-region",
    place="Appendix G, missing in G.3",
    paper=OURS,
    kind="symbolic",
    verdict=HOLDS,
    part_of=LEMMA_6,
)
def missing_region() -> Judged:
    """Not treated in the paper: for α, β ≤ 1 the log ratio is strictly concave, so the densities
    cross at most twice.

    −h = n + (1−α)/x² + (1−β)/(1−x)² > 0; but the count alone does not settle the lemma
    (G.two-crossings-suffice)."""
    a, b = symbols("a b", positive=True)  # a = 1 − α, b = 1 − β in [0, 1), so n = 2 − a − b > 0
    good = positive_inside(-h.subs({A: -a, B: -b}) - (2 - a - b), x, a, b)
    return unless(not good)


# --------------------------------------------------------------------- G.3.2: the convex case

_p, _q = symbols("p q", positive=True)  # p³ = A, q³ = B
_in_roots = {A: _p**3, B: _q**3, K: _p / _q}

line(
    "convex",
    "G.3.2",
    "h convex for α, β > 1",
    "symbolic",
    HOLDS,
    "For α, β > 1 the function h is convex on (0, 1).",
    lambda: unless(not positive_inside(diff(h, x, 2), x, A, B)),
    "With x = 1/(1+t), h″ has positive coefficients only.",
)
step(
    "convex-stationary-point",
    "G.3.2",
    "h′ = 0 at K/(1+K), K = (A/B)^{1/3}",
    "The minimum of h is at K/(1+K) with K the cube root of A/B.",
    lambda: [(diff(h, x).subs(_in_roots).subs(x, _p / (_p + _q)), 0)],
    "h′ vanishes there (the display leaves out the factor −2).",
)
_minimum = [
    A * (K + 1) ** 2 / K**2 + B * (K + 1) ** 2 - n,
    A * (2 / K + 1 / K**2) + B * (K**2 + 2 * K) - 2,
    3 * (sp.cbrt(A) ** 2 * sp.cbrt(B) + sp.cbrt(A) * sp.cbrt(B) ** 2) - 2,
]
step(
    "convex-minimum",
    "G.3.2, h(x_K)",
    "three lines",
    "By two other lines, the minimum of h is 3(A^{2/3}B^{1/3} + A^{1/3}B^{2/3}) − 2.",
    lambda: [
        (h.subs(x, K / (1 + K)), _minimum[0]),
        (_minimum[0], _minimum[1]),
        *pairwise(simplify(line.subs(_in_roots)) for line in _minimum),
    ],
)
step(
    "convex-condition",
    "G.3.2",
    "AB ≥ 1/9 ⇒ A^{2/3}B^{1/3} + A^{1/3}B^{2/3} ≥ 2/3",
    "A product of at least 1/9 makes the minimum of h nonnegative.",
    lambda: [
        (
            _p**2 * _q + _p * _q**2 - 2 * (_p * _q) ** Rational(3, 2),
            _p * _q * (sqrt(_p) - sqrt(_q)) ** 2,
        )
    ],
    "The sum is at least 2√(AB) ≥ 2/3, as p²q + pq² − 2(pq)^(3/2) = pq(√p − √q)². Where it is "
    "2/3, at A = B = 1/3, h touches zero in one point, and u′ still increases strictly.",
)


# --------------------------------------------------------------------- G.3.3: AB < 1/9

IN_REGION = [lambda a, b: 1 - 9 * a * b, lambda a, b: a - b]  # AB ≤ 1/9 and B ≤ A, as two signs

step(
    "final-beta-range",
    "G.3.3",
    "β ∈ (1, 4/3)",
    "In the final region with α ≥ β, β does not exceed 4/3.",
    lambda: [(A * B - B**2, B * (A - B))],
    "B² ≤ AB ≤ 1/9, so B ≤ 1/3.",
)
step(
    "final-beta-function",
    "G.3.3, equation (4)",
    "B(α, β) ≤ 1/α",
    "For β ≥ 1 the beta function is at most 1/α.",
    lambda: [(integrate(x ** (alpha - 1), (x, 0, 1)), 1 / alpha)],
    "(1 − x)^(β−1) ≤ 1, and ∫x^(α−1) = 1/α.",
)
mean = alpha / (alpha + beta)
line(
    "final-gap",
    "G.3.3, equation (5)",
    "gap ≥ l̃_B(x) − max l_N",
    "symbolic",
    HOLDS,
    "On [x₁, x₂] the lower bound for the log beta density is concave, so its smallest "
    "value is at an end; the largest log normal density is ½ log(n/2π).",
    lambda: unless(
        not positive_inside(-diff(A * log(x) + B * log(1 - x), x, 2), x, A, B)
        or not same(diff(log_N, x).subs(x, mean), 0)
        or not same(log_N.subs(x, mean), 0)  # log_N leaves out ½ log(n/2π)
    ),
    "The second derivative is −A/x² − B/(1−x)² < 0; l_N is largest at its mean.",
)

x1, x2 = sqrt(A / n), 1 - sqrt(B / n)
_h1, _h2 = A / x**2 - n, B / (1 - x) ** 2 - n
a, b, m = symbols("a b m", positive=True)  # A = a² or B = b², and n = m²
_r2 = 1 - x2
_slope_2 = (1 - A * sqrt(n / B)) / (2 * n) + log(B / n) / 2
_front = log(1 + A) + log(2 * pi) / 2 - log(n) / 2
f1 = _front + A * log(sqrt(A / n)) + B * log(1 - sqrt(A / n))
f2 = _front + A * log(1 - sqrt(B / n)) + B * log(sqrt(B / n))

step(
    "final-points",
    "G.3.3",
    "h ≥ h₁, h₂; x₁, x₂ their roots",
    "h₁ and h₂ bound h from below, with roots x₁ = √(A/n) and x₂ = 1 − √(B/n).",
    lambda: [
        (h - _h1, B / (1 - x) ** 2),
        (h - _h2, A / x**2),
        (_h1.subs(x, x1), 0),
        (_h2.subs(x, x2), 0),
    ],
    "h − h₁ = B/(1−x)² > 0 and h − h₂ = A/x² > 0.",
)
step(
    "final-points-ordered",
    "G.3.3",
    "x₁ < x₂",
    "The two points are in order (taken for granted).",
    lambda: [(a**2 + b**2 + 2 - (a + b) ** 2, 2 * (1 - a * b))],
    "x₁ < x₂ iff (√A + √B)² < n iff AB < 1.",
)
step(
    "final-outside",
    "G.3.3",
    "h > 0 outside [x₁, x₂]",
    "Outside [x₁, x₂] h is positive.",
    lambda: [(diff(_h1, x), -2 * A / x**3), (diff(_h2, x), 2 * B / (1 - x) ** 3)],
    "h₁ falls to its root x₁ and h₂ rises from its root x₂, and h exceeds both. The reason given, "
    "that h is convex and positive at two points, does not carry it.",
)
step(
    "final-f",
    "G.3.3",
    "f₁, f₂",
    "f₁ and f₂ are the bound l̃_B − max l_N at x₁ and x₂.",
    lambda: [(_front + A * log(at) + B * log(1 - at), f) for at, f in ((x1, f1), (x2, f2))],
)
step(
    "final-slope-1-equalities",
    "G.3.3, ∂f₁/∂B, lines 1–3",
    "three equalities",
    "The derivative of f₁ in B and two rewritings.",
    lambda: pairwise(
        line.subs(B, m**2 - A - 2).subs(A, a**2)
        for line in (
            diff(f1, B),
            -A / (2 * n)
            + log(1 - x1)
            + B * sqrt(A) / (2 * n ** Rational(3, 2) * (1 - x1))
            - 1 / (2 * n),
            (B * sqrt(A) / (sqrt(n) * (1 - x1)) - A - 1) / (2 * n) + log(1 - x1),
            (B * sqrt(A) / (sqrt(n) - sqrt(A)) - A - 1) / (2 * n) + log(1 - x1),
        )
    ),
)
step(
    "final-slope-1-line-4",
    "G.3.3, ∂f₁/∂B, line 4",
    "B√A ≤ √B/3, log(1−y) ≤ −y",
    "The first inequality uses AB ≤ 1/9 and log(1 − y) ≤ −y.",
    lambda: [(B * sqrt(A), sqrt(B) * sqrt(A * B)), (diff(-x - log(1 - x), x), x / (1 - x))],
    "B√A = √B·√(AB) ≤ √B/3, and −y − log(1 − y) rises from 0 with slope y/(1−y).",
)
line(
    "final-slope-1-line-5",
    "G.3.3, ∂f₁/∂B, line 5",
    "√n − √A ≥ √(B+2)",
    "certified",
    FAILS,
    "The second inequality replaces √n − √A by √(B+2) in a denominator.",
    lambda: region(decide(_line_5_less_line_4, [(2.0**-6, 1.0), (2.0**-6, 1.0)], where=IN_REGION)),
    "It is reversed: √n − √A = (B+2)/(√n + √A) ≤ √(B+2); at A = {point[0]:.4g}, B = {point[1]:.4g} "
    f"line 5 less line 4 is {SEEN}.",
)
step(
    "final-slope-1-end",
    "G.3.3, ∂f₁/∂B, lines 6–7",
    "≤ −A/(2n) − √(A/n) ≤ 0",
    "The last two inequalities.",
    lambda: [(B / (B + 2) / 9 - Rational(1, 9), -2 / (B + 2) / 9)],
    "⅓√(B/(B+2)) < ⅓ < 1, and both remaining terms are negative.",
)
line(
    "final-slope-1-repaired",
    "G.3.3, ∂f₁/∂B",
    "∂f₁/∂B ≤ 0",
    "certified",
    HOLDS,
    "f₁ falls in B on the whole region all the same.",
    lambda: region(
        decide(minus_slope_1, [(0.0, 1.0), (0.0, 0.34)], where=IN_REGION),
        decide(minus_slope_1_far, [(0.0, 1.0), (0.0, 1.0)]),
    ),
    PROVED,
)
step(
    "final-slope-2-equalities",
    "G.3.3, ∂f₂/∂B",
    "three equalities",
    "The derivative of f₂ in B and two rewritings.",
    lambda: pairwise(
        map(
            _by_root_B,
            (
                diff(f2, B),
                -A * (_r2 / (2 * B) + 1 / (2 * n))
                + log(_r2)
                + B * (A + 2) / (2 * B * n)
                - 1 / (2 * n),
                (A + 2 - A - 1 - A * sqrt(n / B)) / (2 * n) + log(_r2),
                _slope_2,
            ),
        )
    ),
)
step(
    "final-slope-2-mixed",
    "G.3.3, ∂²f₂/∂A∂B",
    "< 0, term by term",
    "The derivative of f₂ in B falls in A, term by term.",
    lambda: [
        (_by_root_B(diff(term, A)), _by_root_B(slope))
        for term, slope in (
            (1 / (2 * n), -1 / (2 * n**2)),
            (-A / (2 * sqrt(n * B)), -(A + 2 * B + 4) / (4 * n * sqrt(n * B))),
            (log(B / n) / 2, -1 / (2 * n)),
        )
    ],
    "The three terms are −1/(2n²), −(A+2B+4)/(4n√(nB)) and −1/(2n).",
)
step(
    "final-slope-2-at-zero",
    "G.3.3, ∂f₂/∂B at A = 0",
    "≤ 0",
    "At A = 0 the derivative of f₂ in B is not positive, by log y ≤ y − 1.",
    lambda: [
        (limit(_slope_2, A, 0), 1 / (2 * (B + 2)) + log(B / (B + 2)) / 2),
        ((1 / (B + 2) + B / (B + 2) - 1) / 2, -1 / (2 * (B + 2))),
    ],
    "The bound is −1/(2(B+2)).",
)


line(
    "final-largest-B",
    "G.3.3",
    "the largest B is 1/(9A)",
    "certified",
    FAILS,
    "For any A of the region, the largest B with B < A is 1/(9A).",
    lambda: region(decide(lambda a: 9 * a * a - 1, [(2.0**-10, 1.0)])),
    "For A < 1/3 it is A: at A = {point[0]:.4g} 9A² − 1 is " + SEEN + ". The argument covers only "
    "A ≥ 1/3.",
)

_s, _r = A + 1 / (9 * A) + 2, sqrt(1 + 2 * x**2)
_square = 9 * A**2 + 18 * A + 1  # = 9A·s
g1, g2 = (f.subs(B, 1 / (9 * A)) for f in (f1, f2))
g1_tilde = (
    log(1 + A) + A / 2 * log(A) - (1 + A) / 2 * log(A + 3) - 1 / (9 * sqrt(A)) + log(2 * pi) / 2
)
g2_tilde = (
    log(1 + A)
    - Rational(1, 3)
    - exp(-1) / 2
    - Rational(2, 3) * log(A + Rational(7, 3))
    + log(2 * pi) / 2
)

line(
    "final-diagonal",
    "G.3.3, missing",
    OURS,
    "certified",
    HOLDS,
    "Not treated in the paper: f₁ and f₂ are positive at B = A for A ≤ 1/3.",
    lambda: _rewritten([(f1.subs(B, A), f2.subs(B, A))], decide(f_on_diagonal, [(0.0, 0.34)])),
    PROVED,
)
step(
    "final-g1",
    "G.3.3, g₁",
    "two lines",
    "g₁ is f₁ on the boundary, and its rewriting.",
    lambda: [
        (
            g1.subs(_s, m**2),
            (
                log(1 + A)
                + A / 2 * log(A)
                - (1 + A) / 2 * log(_s)
                + log(1 - sqrt(A / _s)) / (9 * A)
                + log(2 * pi) / 2
            ).subs(_s, m**2),
        )
    ],
)
step(
    "final-p-increases",
    "G.3.3",
    "A + 1/(9A) increases for A ≥ 1/3",
    "The function A + 1/(9A) increases from A = 1/3 on.",
    lambda: [(diff(A + 1 / (9 * A), A), (3 * A - 1) * (3 * A + 1) / (9 * A**2))],
    "Its derivative is (3A − 1)(3A + 1)/(9A²).",
)
step(
    "final-g1-first-bound",
    "G.3.3, g₁ ≥, line 1",
    "1/(9A) ≤ 1",
    "The first bound for g₁ replaces 1/(9A) by 1 in one logarithm and by 0 in the other.",
    lambda: [(A + 3 - _s, 1 - 1 / (9 * A)), (_s - (A + 2), 1 / (9 * A))],
    "A + 2 ≤ A + 1/(9A) + 2 ≤ A + 3 for A ≥ 1/9, and both logarithms move the right way.",
)


line(
    "final-g1-second-bound",
    "G.3.3, g₁ ≥, line 2",
    "log(1 − √(A/(A+2))) ≥ −√A",
    "certified",
    HOLDS,
    "The second bound for g₁.",
    lambda: _rewritten(
        [((1 - sqrt(A / (A + 2))).subs(A, 1 / x**2), 2 * x**2 / (_r * (_r + 1)))],
        decide(spare_of_line_2, [(0.0, 1.75)]),
    ),
    PROVED,
)
step(
    "final-g1-slope",
    "G.3.3, g̃₁′",
    "two lines",
    "The derivative of g̃₁.",
    lambda: [
        (
            diff(g1_tilde, A),
            1 / (A + 1) + 1 / (A + 3) + log(A) / 2 + A ** Rational(-3, 2) / 18 - log(A + 3) / 2,
        )
    ],
    "As printed; the ≥ that follows is an equality.",
)

line(
    "final-g1-slope-decreases",
    "G.3.3, g̃₁′",
    "decreasing, with limit ≥ 0",
    "certified",
    HOLDS,
    "The derivative of g̃₁ decreases to a limit that is not negative, so g̃₁ increases.",
    lambda: _rewritten(
        [
            (limit(diff(g1_tilde, A), A, oo), 0),
            ((-(A**2) * diff(g1_tilde, A, 2)).subs(A, 1 / x), _minus_A2_second(x, root=sqrt)),
        ],
        decide(_minus_A2_second, [(0.0, 3.0)]),
    ),
    PROVED + " The limit is 0.",
)
line(
    "final-g1-value",
    "G.3.3",
    "g̃₁(1/3) > 0.01",
    "certified",
    HOLDS,
    "The lower bound g̃₁ exceeds 0.01 at 1/3.",
    lambda: _above_a_hundredth(
        lambda a: (
            (1 + a).log()
            + a * a.log() / 2
            - (1 + a) * (a + 3).log() / 2
            - 1 / (9 * a.sqrt())
            + (2 * arb.pi()).log() / 2
        )
    ),
    "g̃₁(1/3) = {value:.4f}.",
)
step(
    "final-g2",
    "G.3.3, g₂",
    "two lines",
    "g₂ is f₂ on the boundary, and its rewriting.",
    lambda: [
        (9 * A * _s, _square),
        (
            g2.subs(_s, m**2 / (9 * A)),
            (
                log(1 + A)
                + A * log(1 - sqrt(1 / _square))
                + log(1 / (9 * A)) / (18 * A)
                - (1 / (9 * A) + 1) / 2 * log(_s)
                + log(2 * pi) / 2
            )
            .subs(_square, m**2)
            .subs(_s, m**2 / (9 * A)),
        ),
    ],
)
step(
    "final-g2-first-bound",
    "G.3.3, g₂ ≥, line 1",
    "A log(1 − 1/√(9A²+18A+1)) ≥ −1/3",
    "The first bound for g₂.",
    lambda: [(_square - (3 * A + 1) ** 2, 12 * A), (1 / (m - 1), (1 / m) / (1 - 1 / m))],
    "log(1 − y) ≥ −y/(1 − y), and 1/y = √(9A²+18A+1) ≥ 3A + 1; the rest falls in 1/(9A) ≤ 1/3.",
)
step(
    "final-g2-second-bound",
    "G.3.3, g₂ ≥, line 2",
    "y log y ≥ −1/e",
    "The second bound for g₂.",
    lambda: [
        (diff(x * log(x), x).subs(x, exp(-1)), 0),
        ((x * log(x)).subs(x, exp(-1)), -exp(-1)),
        (diff(x * log(x), x, 2), 1 / x),
    ],
    "y log y is convex with minimum −1/e.",
)
step(
    "final-g2-slope",
    "G.3.3, g̃₂′",
    "= (A+5)/((A+1)(3A+7)) ≥ 0",
    "The derivative of g̃₂ is positive.",
    lambda: [(diff(g2_tilde, A), (A + 5) / ((A + 1) * (3 * A + 7)))],
)
line(
    "final-g2-value",
    "G.3.3",
    "g̃₂(1/3) > 0.01",
    "certified",
    HOLDS,
    "The lower bound g̃₂ exceeds 0.01 at 1/3.",
    lambda: _above_a_hundredth(
        lambda a: (
            (1 + a).log()
            - a
            - (-arb(1)).exp() / 2
            - 2 * (a + arb(7) / 3).log() / 3
            + (2 * arb.pi()).log() / 2
        )
    ),
    "g̃₂(1/3) = {value:.4f}.",
)


@claim(
    "G.final-two-crossings",
    place="Appendix G, G.3.3",
    paper="the densities cross twice in this region",
    kind="instances",
    verdict=HOLDS,
    part_of=LEMMA_6,
)
def final_two_crossings() -> Judged:
    """In the final region the densities cross exactly twice: once left of x₁, where u is convex and
    falls from +∞ to below zero, and once right of x₂. Counted at a grid of points.

    {points} points, {exceptions} exceptions."""
    points = [
        (1 + s, 1 + share * min(s, 1 / (9 * s)))
        for s in (0.01, 0.1, 0.3, 0.5, 2.0, 30.0)
        for share in (0.01, 0.3, 0.999)
    ]
    return each_is(2, [crossings.count_crossings(*point)[0] for point in points])


remark(
    "G.final-f-letter",
    "Appendix G, G.3.3",
    "f(x_i) = l_B(x_i) − max l_N",
    MISPRINT,
    "f is the log beta density less the largest log normal density.",
    "Its lower bound l̃_B is meant, as in equation (5) and in f₁ and f₂.",
    part_of=LEMMA_6,
)
