"""Lines that the paper prints in the proofs of Lemmas 5 and 6: those that fail or are misprints, and those
that the repaired proof of Lemma 6 uses (``single_crossing``). On the others nothing rests; they are not judged.

Notation of the paper: A = α − 1, B = β − 1, n = α + β = A + B + 2, u = log f_N − log f_B, g = u′, h = u″.
"""

from itertools import pairwise
from typing import Any

from flint import arb
from sympy import Expr, Rational, cbrt, diff, integrate, log, simplify, sqrt, symbols

from rlsvi_core.optimism import Beta, Normal, certify_crossings
from rlsvi_core.optimism.balls import decide
from rlsvi_core.optimism.crossings import NormalBetaPair, logistic

from ..judging.algebra import Sides, expressions_equal, judge_identities
from ..judging.evidence import is_positive_on_unit_interval, judge_misprint, judge_region
from ..judging.outcomes import FAILS, HOLDS, MISPRINT, Judgement, judge_unless
from ..judging.register import claim
from .single_crossing import A, B, h, n, x

# --------------------------------------------------------------------- Lemma 5

v1, vd, y = symbols("v_1 v_d y", real=True)


def mean_given_y(swapped: bool) -> Expr:
    """E[ỹ | y] after step (a): v₁ weighs one part of the shares, v_d the other."""
    upper = (y - v1) / (vd - v1)  # Σγᵢαᵢ⁰/αᵢγ̄
    lower = (vd - y) / (vd - v1)  # Σγᵢαᵢ¹/αᵢγ̄
    return v1 * upper + vd * lower if swapped else v1 * lower + vd * upper


@claim(
    "G.conditional-mean-statement",
    place="Appendix G, Lemma 5",
    paper="E[ỹ | y] = E[y]",
    kind="symbolic",
    verdict=MISPRINT,
    part_of="G.conditional-mean",
)
def conditional_mean_statement() -> Judgement:
    """As stated, the matched beta variable has conditional mean E[y].

    It is y itself, whose derivative in y is 1; E[y] is a constant."""
    mean = mean_given_y(swapped=False)
    return judge_misprint([(diff(mean, y), 0)], meant=[(mean, y)])


@claim(
    "G.gamma-index",
    place="Appendix G, Lemma 5, proof",
    paper="γ_i ~ Gamma(α, 1)",
    kind="reading",
    verdict=MISPRINT,
    part_of="G.conditional-mean",
)
def gamma_index() -> Judgement:
    """The gamma variable of component i has shape α.

    The shape is α_i; otherwise the ratios would not be Dirichlet(α)."""
    return Judgement(MISPRINT, {})


# a component's weight and worth; one term of each sum is enough
a, v = symbols("a v", positive=True)
tilde_alpha, tilde_beta = a * (v - v1) / (vd - v1), a * (vd - v) / (vd - v1)
alpha_0, alpha_1 = a * (v - v1) / (vd - v1), a * (vd - v) / (vd - v1)


@claim(
    "G.label-sums",
    place="Appendix G, Lemma 5, proof",
    paper="β̃ = Σα⁰, α̃ = Σα¹",
    kind="symbolic",
    verdict=MISPRINT,
    part_of="G.conditional-mean",
)
def label_sums() -> Judgement:
    """The sums of α⁰ and α¹ are β̃ and α̃ in this order.

    By their definitions it is the other way round: Σα⁰ = α̃ and Σα¹ = β̃."""
    return judge_misprint(
        [(alpha_0, tilde_beta), (alpha_1, tilde_alpha)],
        meant=[(alpha_0, tilde_alpha), (alpha_1, tilde_beta)],
    )


@claim(
    "G.conditional-mean-display",
    place="Appendix G, Lemma 5, proof, last display",
    paper="= y",
    kind="symbolic",
    verdict=MISPRINT,
    part_of="G.conditional-mean",
)
def conditional_mean_display() -> Judgement:
    """With the labels as printed, the chain of equalities ends at y.

    It ends at v₁ + v_d − y, the mirror image of y: the labels are exchanged. With α⁰ and α¹ in each
    other's place it is y."""
    mirrored, mean = mean_given_y(swapped=True), mean_given_y(swapped=False)
    return judge_misprint([(mirrored, y)], meant=[(mirrored, v1 + vd - y), (mean, y)])


WRONG_IN_LEMMA_5 = (
    conditional_mean_statement,
    gamma_index,
    label_sums,
    conditional_mean_display,
)


def conditional_mean_repaired() -> list[Sides]:
    """With α⁰ and α¹ exchanged, the matched beta variable has conditional mean y, so it is optimistic for
    the Dirichlet mean: v₁(v_d − y) + v_d(y − v₁) = y(v_d − v₁)."""
    return [(mean_given_y(swapped=False), y)]


STEPS_LEMMA_5 = (conditional_mean_repaired,)

# --------------------------------------------------------------------- Lemma 6: crossings

alpha, beta = symbols("alpha beta", positive=True)
log_B = (alpha - 1) * log(x) + (beta - 1) * log(1 - x)
log_N = -(alpha + beta) * (x - alpha / (alpha + beta)) ** 2 / 2  # without ½ log(n/2π)


def count_crossings(alpha: float, beta: float) -> dict[str, Any]:
    """Return where the lemma's normal and Beta(α, β) cross on (0, 1), and how often."""
    found = certify_crossings(Normal.matching_beta(alpha, beta), Beta(alpha, beta))
    return {
        "alpha": alpha,
        "beta": beta,
        "pdf": [crossing.x for crossing in found.density],
        "cdf": [crossing.x for crossing in found.cdf],
        "densities": len(found.density),
        "functions": len(found.cdf),
    }


@claim(
    "G.enough-once",
    place="Appendix G, G.2",
    paper="it is enough that the CDFs cross at most once",
    kind="reading",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def one_crossing_suffices() -> Judgement:
    """The means are equal, so it is enough for Lemma 6 that the distribution functions cross at most once
    on (0, 1).

    Both means are α/(α + β). Left of 0 the normal's is above, right of 1 below: at most one crossing is
    exactly one, from above."""
    return Judgement(HOLDS, {})


@claim(
    "G.two-crossings-suffice",
    place="Appendix G, G.3",
    paper="PDFs cross ≤ 2 times ⇒ CDFs cross ≤ once",
    kind="certified",
    verdict=FAILS,
    part_of="G.single-crossing",
)
def two_crossings_suffice() -> Judgement:
    """If the densities cross at most twice on (0, 1), the distribution functions cross at most once.

    At α = {alpha:g}, β = {beta:g} the densities cross {densities} times and the distribution functions
    {functions}, because the beta density also jumps past the normal's at 0 and at 1."""
    found = count_crossings(0.05, 0.05)
    return judge_unless(found["densities"] <= 2 and found["functions"] > 1, **found)


@claim(
    "G.densities-cross-twice",
    place="Appendix G, G.3",
    paper="the PDFs cross at most twice",
    kind="certified",
    verdict=FAILS,
    part_of="G.single-crossing",
)
def densities_cross_twice() -> Judgement:
    """The densities cross at most twice for all α and β of the lemma (α + β ≥ 1).

    At α = {alpha:g}, β = {beta:g} the densities cross {densities} times and the distribution functions
    {functions}. It would follow from the false conclusion of G.3.1."""
    found = count_crossings(1.001, 0.32)
    return judge_unless(found["densities"] > 2, **found)


@claim(
    "G.h-and-derivatives",
    place="Appendix G, G.3, equation (3)",
    paper="h = l″_N − l″_B, h′, h″",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def h_and_derivatives() -> Judgement:
    """h, h′ and h″.

    As printed."""
    return judge_identities(
        (diff(log_N - log_B, x, 2).subs({alpha: A + 1, beta: B + 1}), h),
        (diff(h, x), -2 * (A / x**3 - B / (1 - x) ** 3)),
        (diff(h, x, 2), 6 * (A / x**4 + B / (1 - x) ** 4)),
    )


@claim(
    "G.mirror",
    place="Appendix G, G.3.1 and G.3.3",
    paper="by symmetry",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def symmetric_under_exchange() -> Judgement:
    """Exchanging α and β and x and 1 − x leaves the difference of log densities as it is.

    u(x; α, β) = u(1 − x; β, α)."""
    u = log_N - log_B
    mirrored = u.subs({alpha: beta, beta: alpha, x: 1 - x}, simultaneous=True)
    return judge_identities((u, mirrored))


# --------------------------------------------------------------------- G.3.1: α > 1 ≥ β

C, K = symbols("C K", positive=True)  # C = −B
g = (A + 1) - n * x + B / (1 - x) - A / x
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
line_5 = (
    -(A**2) / C
    - A ** Rational(3, 2) / sqrt(C)
    - A
    - A ** Rational(3, 2) / sqrt(C)
    - A
    - sqrt(A * C)
    - A / C
    + sqrt(A * C)
)


@claim(
    "G.special-stationary-point",
    place="Appendix G, G.3.1",
    paper="g′ = A/x² + B/(1−x)² = 0",
    kind="symbolic",
    verdict=FAILS,
    part_of="G.single-crossing",
)
def special_stationary_point() -> Judgement:
    """The point x_K = K/(1+K) with K = √(−A/B) is where g′ vanishes.

    The term −(α+β) was dropped: at x_K the derivative is −(α+β), so g is not largest there (nor smallest,
    as the text has it)."""
    ratio = sqrt(A / C)
    slope = simplify(diff(g, x).subs(B, -C).subs(x, ratio / (1 + ratio)))
    return judge_misprint([(slope, 0)], true=[(slope, -(A - C + 2))])


@claim(
    "G.special-line-2",
    place="Appendix G, G.3.1, g(x_K), line 2",
    paper="= a cubic in K",
    kind="symbolic",
    verdict=MISPRINT,
    part_of="G.single-crossing",
)
def special_line_2() -> Judgement:
    """That value equals a cubic in K.

    The cubic is K(1+K) times the value; the sign is not affected."""
    return judge_misprint([(g_at_K, cubic)], meant=[(g_at_K * K * (1 + K), cubic)])


@claim(
    "G.special-line-5",
    place="Appendix G, G.3.1, g(x_K), line 5",
    paper="collect powers",
    kind="symbolic",
    verdict=FAILS,
    part_of="G.single-crossing",
)
def special_line_5() -> Judgement:
    """The powers of A and C collected; the last term is A^½ C^½.

    The last term should be A^½ C^(−½), which does not cancel the one before."""
    return judge_misprint([(line_4, line_5)], true=[(line_4 - line_5, sqrt(A / C) - sqrt(A * C))])


def minus_line_4(a: arb, c: arb) -> arb:
    """Minus line 4 of G.3.1, as K − K² and what is always negative."""
    k = (a / c).sqrt()
    return -(k - k * k - a * k * k - a * k - a - c * k**3 - c * k * k - c * k)


@claim(
    "G.special-line-6",
    place="Appendix G, G.3.1, g(x_K), line 6",
    paper="≤ 0",
    kind="certified",
    verdict=FAILS,
    part_of="G.single-crossing",
)
def special_line_6() -> Judgement:
    """The value at x_K is never positive.

    Up to line 4 only a factor K(1+K) > 0 is amiss, and there minus the value is {value:.3g} (balls, {bits}
    bits) at A = {point[0]:.4g}, C = {point[1]:.4g}. It would follow from line 5."""
    up_to_line_4 = judge_identities((cubic.subs(B, -C).subs(K, sqrt(A / C)), line_4))
    if up_to_line_4.verdict != HOLDS:
        return up_to_line_4
    return judge_region(decide(minus_line_4, [(2.0**-10, 1.0), (2.0**-4, 1.0)]))


@claim(
    "G.special-no-root",
    place="Appendix G, G.3.1",
    paper="g has no root for α > 1 ≥ β",
    kind="certified",
    verdict=FAILS,
    part_of="G.single-crossing",
)
def special_no_root() -> Judgement:
    """For α > 1 ≥ β the derivative of the log ratio has no root in (0, 1).

    At α = {alpha}, β = {beta:g}, whose sum exceeds 2, there are roots at x = {roots[0]:.3g} and
    {roots[1]:.3g}: the point tried for the maximum is not where it is."""
    pair = NormalBetaPair(Normal.matching_beta(1.1, 1.0), Beta(1.1, 1.0))
    roots = [float(logistic(turn())) for turn in pair.turning_points()]
    return judge_unless(bool(roots), alpha=1.1, beta=1.0, roots=roots)


# --------------------------------------------------------------------- G.3.2: the convex case

p, q = symbols("p q", positive=True)  # p³ = A, q³ = B
IN_ROOTS = {A: p**3, B: q**3, K: p / q}


@claim(
    "G.convex",
    place="Appendix G, G.3.2",
    paper="h convex for α, β > 1",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def h_is_convex() -> Judgement:
    """For α, β > 1 the function h is convex on (0, 1).

    With x = 1/(1+t), h″ has positive coefficients only."""
    return judge_unless(not is_positive_on_unit_interval(diff(h, x, 2), x, A, B))


@claim(
    "G.convex-stationary-point",
    place="Appendix G, G.3.2",
    paper="h′ = 0 at K/(1+K), K = (A/B)^{1/3}",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def convex_stationary_point() -> Judgement:
    """The minimum of h is at K/(1+K) with K the cube root of A/B.

    h′ vanishes there (the display leaves out the factor −2)."""
    return judge_identities((diff(h, x).subs(IN_ROOTS).subs(x, p / (p + q)), 0))


@claim(
    "G.convex-minimum",
    place="Appendix G, G.3.2, h(x_K)",
    paper="three lines",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def convex_minimum() -> Judgement:
    """By two other lines, the minimum of h is 3(A^{2/3}B^{1/3} + A^{1/3}B^{2/3}) − 2.

    As printed."""
    lines = (
        A * (K + 1) ** 2 / K**2 + B * (K + 1) ** 2 - n,
        A * (2 / K + 1 / K**2) + B * (K**2 + 2 * K) - 2,
        3 * (cbrt(A) ** 2 * cbrt(B) + cbrt(A) * cbrt(B) ** 2) - 2,
    )
    return judge_identities(
        (h.subs(x, K / (1 + K)), lines[0]),
        (lines[0], lines[1]),
        *pairwise(simplify(one.subs(IN_ROOTS)) for one in lines),
    )


@claim(
    "G.convex-condition",
    place="Appendix G, G.3.2",
    paper="AB ≥ 1/9 ⇒ A^{2/3}B^{1/3} + A^{1/3}B^{2/3} ≥ 2/3",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def convex_condition() -> Judgement:
    """A product of at least 1/9 makes the minimum of h nonnegative.

    The sum is at least 2√(AB) ≥ 2/3, as p²q + pq² − 2(pq)^(3/2) = pq(√p − √q)². Where it is 2/3, at
    A = B = 1/3, h touches zero in one point, and u′ still increases strictly."""
    spare = p**2 * q + p * q**2 - 2 * (p * q) ** Rational(3, 2)
    return judge_identities((spare, p * q * (sqrt(p) - sqrt(q)) ** 2))


# --------------------------------------------------------------------- G.3.3: AB < 1/9

x1, x2 = sqrt(A / n), 1 - sqrt(B / n)
h1, h2 = A / x**2 - n, B / (1 - x) ** 2 - n


@claim(
    "G.final-beta-range",
    place="Appendix G, G.3.3",
    paper="β ∈ (1, 4/3)",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def final_beta_range() -> Judgement:
    """In the final region with α ≥ β, β does not exceed 4/3.

    B² ≤ AB ≤ 1/9, so B ≤ 1/3."""
    return judge_identities((A * B - B**2, B * (A - B)))


@claim(
    "G.final-beta-function",
    place="Appendix G, G.3.3, equation (4)",
    paper="B(α, β) ≤ 1/α",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def final_beta_function() -> Judgement:
    """For β ≥ 1 the beta function is at most 1/α.

    (1 − x)^(β−1) ≤ 1, and ∫x^(α−1) = 1/α."""
    return judge_identities((integrate(x ** (alpha - 1), (x, 0, 1)), 1 / alpha))


@claim(
    "G.final-gap",
    place="Appendix G, G.3.3, equation (5)",
    paper="gap ≥ l̃_B(x) − max l_N",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def final_gap() -> Judgement:
    """On [x₁, x₂] the lower bound for the log beta density is concave, so its smallest value is at an end;
    the largest log normal density is ½ log(n/2π).

    The second derivative is −A/x² − B/(1−x)² < 0; l_N is largest at its mean."""
    concave = is_positive_on_unit_interval(-diff(A * log(x) + B * log(1 - x), x, 2), x, A, B)
    mean = alpha / (alpha + beta)
    largest = expressions_equal(diff(log_N, x).subs(x, mean), 0) and expressions_equal(
        log_N.subs(x, mean), 0
    )
    return judge_unless(not concave or not largest)


@claim(
    "G.final-points",
    place="Appendix G, G.3.3",
    paper="h ≥ h₁, h₂; x₁, x₂ their roots",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def final_points() -> Judgement:
    """h₁ and h₂ bound h from below, with roots x₁ = √(A/n) and x₂ = 1 − √(B/n).

    h − h₁ = B/(1−x)² > 0 and h − h₂ = A/x² > 0."""
    return judge_identities(
        (h - h1, B / (1 - x) ** 2),
        (h - h2, A / x**2),
        (h1.subs(x, x1), 0),
        (h2.subs(x, x2), 0),
    )


@claim(
    "G.final-points-ordered",
    place="Appendix G, G.3.3",
    paper="x₁ < x₂",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def final_points_ordered() -> Judgement:
    """The two points are in order (taken for granted).

    x₁ < x₂ iff (√A + √B)² < n iff AB < 1."""
    return judge_identities((n - (sqrt(A) + sqrt(B)) ** 2, 2 * (1 - sqrt(A * B))))


@claim(
    "G.final-outside",
    place="Appendix G, G.3.3",
    paper="h > 0 outside [x₁, x₂]",
    kind="symbolic",
    verdict=HOLDS,
    part_of="G.single-crossing",
)
def final_outside() -> Judgement:
    """Outside [x₁, x₂] h is positive.

    h₁ falls to its root x₁ and h₂ rises from its root x₂, and h exceeds both. The reason given, that h is
    convex and positive at two points, does not carry it."""
    return judge_identities((diff(h1, x), -2 * A / x**3), (diff(h2, x), 2 * B / (1 - x) ** 3))


def line_5_less_line_4(a: arb, b: arb) -> arb:
    """Of ∂f₁/∂B: ≥ 0 if the step from line 4 is right."""
    m, root_a = (a + b + 2).sqrt(), a.sqrt()
    return ((b / (b + 2)).sqrt() - b.sqrt() / (m - root_a)) / 3


@claim(
    "G.final-slope-1-line-5",
    place="Appendix G, G.3.3, ∂f₁/∂B, line 5",
    paper="√n − √A ≥ √(B+2)",
    kind="certified",
    verdict=FAILS,
    part_of="G.single-crossing",
)
def final_slope_1_line_5() -> Judgement:
    """The second inequality replaces √n − √A by √(B+2) in a denominator.

    It is reversed: √n − √A = (B+2)/(√n + √A) ≤ √(B+2); at A = {point[0]:.4g}, B = {point[1]:.4g} line 5
    less line 4 is {value:.3g} (balls, {bits} bits)."""
    in_the_region = [lambda a, b: 1 - 9 * a * b, lambda a, b: a - b]  # AB ≤ 1/9 and B ≤ A
    box = [(2.0**-6, 1.0), (2.0**-6, 1.0)]
    return judge_region(decide(line_5_less_line_4, box, where=in_the_region))


@claim(
    "G.final-largest-B",
    place="Appendix G, G.3.3",
    paper="the largest B is 1/(9A)",
    kind="certified",
    verdict=FAILS,
    part_of="G.single-crossing",
)
def final_largest_B() -> Judgement:
    """For any A of the region, the largest B with B < A is 1/(9A).

    For A < 1/3 it is A: at A = {point[0]:.4g} 9A² − 1 is {value:.3g} (balls, {bits} bits). The argument
    covers only A ≥ 1/3."""
    return judge_region(decide(lambda a: 9 * a * a - 1, [(2.0**-10, 1.0)]))


@claim(
    "G.final-f-letter",
    place="Appendix G, G.3.3",
    paper="f(x_i) = l_B(x_i) − max l_N",
    kind="reading",
    verdict=MISPRINT,
    part_of="G.single-crossing",
)
def final_f_letter() -> Judgement:
    """f is the log beta density less the largest log normal density.

    Its lower bound l̃_B is meant, as in equation (5) and in f₁ and f₂."""
    return Judgement(MISPRINT, {})


WRONG_IN_LEMMA_6 = (
    two_crossings_suffice,
    densities_cross_twice,
    special_stationary_point,
    special_line_2,
    special_line_5,
    special_line_6,
    special_no_root,
    final_slope_1_line_5,
    final_largest_B,
    final_f_letter,
)

CONSEQUENTIAL_ERRORS = (
    densities_cross_twice,
    special_line_6,
    special_no_root,
)  # from false lines before them
