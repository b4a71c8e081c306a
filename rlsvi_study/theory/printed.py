r"""Appendix G, displayed step by displayed step.

Each function below is one step of the paper's proof that Normal(α/n, 1/n) is stochastically
optimistic for Beta(α, β), and this for Dirichlet means. Its docstring states the step, its body
checks it.

Notation of the paper: A = α − 1, B = β − 1, n = α + β = A + B + 2, u = l_N − l_B the difference of
log densities, g = u′, h = u″.
"""

from itertools import pairwise

import numpy as np
import sympy as sp
from flint import arb

from rlsvi_core.optimism import order
from rlsvi_core.optimism.balls import decide, exact, root, sharpen, x_log_x
from rlsvi_core.optimism.crossings import (
    Pair,
    cdf_crossings,
    count_crossings,
    logistic,
    pdf_crossings,
)

from .steps import Finding, all_regions, identity, positive_coefficients, region, same, step

A, B, K, C, x = sp.symbols("A B K C x", positive=True)
alpha, beta = sp.symbols("alpha beta", positive=True)
n = A + B + 2


# --------------------------------------------------------------------- G: definitions

@step("Lemma 3", "four equivalent forms", "exact")
def equivalent_forms() -> Finding:
    """Optimism can be put in four equivalent ways: by maxima with an independent variable, by
    integrated tails, by a coupling X = Y + A + W, and by convex increasing functions."""
    rng, pairs, optimistic, disagree = np.random.default_rng(0), 200, 0, 0
    for _ in range(pairs):
        X, Y = order.random_law(rng), order.random_law(rng)
        forms = {order.by_maxima(X, Y), order.by_tails(X, Y),
                 order.by_coupling(X, Y) is not None, order.by_utility(X, Y, rng)}
        optimistic, disagree = optimistic + (True in forms), disagree + (len(forms) > 1)
    return Finding(disagree == 0, f"All four agree on {pairs} random pairs of finite laws, "
                   f"{optimistic} of them optimistic; {disagree} exceptions (instances, not a "
                   f"proof).",
                   {"pairs": pairs, "optimistic": optimistic, "exceptions": disagree})


@step("Lemma 4", "E[γ₁ | γ₁+γ₂] = k₁/(k₁+k₂) (γ₁+γ₂)", "symbolic")
def gamma_shares() -> Finding:
    """Given their sum, two independent gamma variables of one scale share it in proportion to
    their shapes."""
    k1, k2, s = sp.symbols("k1 k2 s", positive=True)

    def moment(shift, k1=k1, k2=k2):
        """∫ γ₁^shift f(γ₁) f(s − γ₁) dγ₁ up to factors without shift, by the beta integral."""
        return s ** (k1 + k2 - 1 + shift) * sp.gamma(k1 + shift) / sp.gamma(k1 + k2 + shift)

    def integrated(shift, k1, k2):
        return sp.integrate(sp.expand(x ** (k1 - 1 + shift) * (s - x) ** (k2 - 1)), (x, 0, s))

    share = sp.gammasimp(moment(1) / moment(0))
    shapes = [(1, 1), (1, 3), (2, 2), (4, 1)]
    return identity((share, k1 / (k1 + k2) * s), (s - share, k2 / (k1 + k2) * s),
                    *((integrated(1, *k) / integrated(0, *k), share.subs({k1: k[0], k2: k[1]}))
                      for k in shapes),
                    found="The ratio of two beta integrals is k₁s/(k₁+k₂); for whole shapes the "
                    "integrals were done as well.")


v1, vd, y = sp.symbols("v_1 v_d y", real=True)


@step("Lemma 5", "E[ỹ | y] = E[y]", "symbolic")
def conditional_mean_statement() -> Finding:
    """As stated, the matched beta variable has conditional mean E[y]."""
    slope = sp.diff(_conditional_mean(swapped=False), y)
    return Finding(not same(slope, sp.Integer(1)), "It is y itself, whose derivative in y is 1; "
                   "E[y] is a constant.", {})


@step("Lemma 5, proof", "γ_i ~ Gamma(α, 1)", "reading")
def gamma_index() -> Finding:
    """The gamma variable of component i has shape α."""
    return Finding(False, "The shape is α_i; otherwise the ratios would not be Dirichlet(α).", {})


@step("Lemma 5, proof", "β̃ = Σα⁰, α̃ = Σα¹", "symbolic")
def label_sums() -> Finding:
    """The sums of α⁰ and α¹ are β̃ and α̃ in this order."""
    a, v = sp.symbols("a v", positive=True)  # one term of each sum is enough
    zero, one = a * (v - v1) / (vd - v1), a * (vd - v) / (vd - v1)
    tilde_alpha, tilde_beta = a * (v - v1) / (vd - v1), a * (vd - v) / (vd - v1)
    if same(zero, tilde_alpha) and same(one, tilde_beta):
        return Finding(False, "By their definitions it is the other way round: Σα⁰ = α̃ and "
                       "Σα¹ = β̃. The labels are swapped.", {})
    return identity((zero, tilde_beta), (one, tilde_alpha), found="As printed.")


@step("Lemma 5, proof", "α = α⁰ + α¹", "symbolic")
def label_split() -> Finding:
    """The two parts of each α add up to it."""
    a, v = sp.symbols("a v", positive=True)
    return identity((a * (v - v1) / (vd - v1) + a * (vd - v) / (vd - v1), a),
                    found="α⁰ + α¹ = α for every v.")


def _conditional_mean(swapped: bool) -> sp.Expr:
    """E[ỹ | y] after step (a): v₁ weighs one part of the shares, v_d the other."""
    upper, lower = (y - v1) / (vd - v1), (vd - y) / (vd - v1)  # Σγᵢαᵢ⁰/αᵢγ̄ and Σγᵢαᵢ¹/αᵢγ̄
    return v1 * upper + vd * lower if swapped else v1 * lower + vd * upper


@step("Lemma 5, proof, last display", "= y", "symbolic")
def conditional_mean_display() -> Finding:
    """With the labels as printed, the chain of equalities ends at y."""
    result = _conditional_mean(swapped=True)
    if same(result, v1 + vd - y):
        return Finding(False, "With the printed labels the sum is v₁ + v_d − y, the mirror image "
                       "of y. With α⁰ and α¹ exchanged it is y.", {})
    return identity((result, y), found="y.")


@step("Lemma 5", "E[ỹ | y] = y", "symbolic")
def conditional_mean_repaired() -> Finding:
    """With α⁰ and α¹ exchanged, the conditional mean of the matched beta variable is y, so it is
    optimistic for the Dirichlet mean."""
    return identity((_conditional_mean(swapped=False), y),
                    found="v₁(v_d − y) + v_d(y − v₁) = y(v_d − v₁).")


@step("Definition 2", "single crossing implies optimism", "exact")
def single_crossing_implies_optimism() -> Finding:
    """A variable with at least the mean of another and a distribution function that crosses its
    once, from above, is stochastically optimistic for it."""
    rng, tried, wrong = np.random.default_rng(1), 0, 0
    while tried < 200:
        X, Y = order.random_law(rng), order.random_law(rng)
        points = sorted({*X.values, *Y.values})
        signs = [s for z in points if (s := Y.tail(z) - X.tail(z)) != 0]  # the sign of F_X − F_Y
        turns = [i for i in range(1, len(signs)) if (signs[i] > 0) != (signs[i - 1] > 0)]
        single = len(turns) == 1 and signs[0] > 0
        if single and X.mean >= Y.mean:
            tried, wrong = tried + 1, wrong + (not order.by_tails(X, Y))
    return Finding(wrong == 0, f"{tried} random pairs of finite laws that cross once: "
                   f"{wrong} exceptions (instances, not a proof).",
                   {"pairs": tried, "exceptions": wrong})


# --------------------------------------------------------------------- G.2: Gaussian against beta

@step("Lemma 6", "for any α > 0, β > 0", "certified")
def single_crossing() -> Finding:
    """The distribution functions of the normal and the beta law cross once, for any positive α
    and β."""
    crossings = cdf_crossings(0.05, 0.05)
    where = ", ".join(f"{c.x:.4g}" for c in crossings)
    return Finding(len(crossings) == 1, f"At α = β = 0.05 they cross {len(crossings)} times, at "
                   f"x = {where}.", {"alpha": 0.05, "beta": 0.05,
                                     "crossings": [c.x for c in crossings], "digits": 12})


@step("G.3", "f_N(0−) > f_B(0−), f_N(1+) > f_B(1+)", "reading")
def outside() -> Finding:
    """Just outside [0, 1] the normal density is above the beta density."""
    return Finding(True, "The beta density is zero there and the normal's is positive.", {})


@step("G.3", "PDFs cross ≤ 2 times ⇒ CDFs cross ≤ once", "certified")
def two_crossings_suffice() -> Finding:
    """If the densities cross at most twice on (0, 1), the distribution functions cross at most
    once."""
    pdfs, cdfs = count_crossings(0.05, 0.05)
    return Finding(not (pdfs <= 2 and cdfs > 1), f"At α = β = 0.05 the densities cross {pdfs} "
                   f"times and the distribution functions {cdfs} times: the beta density also "
                   f"jumps past the normal's at 0 and at 1.",
                   {"pdf": pdfs, "cdf": cdfs, "digits": 12})


@step("G.3", "the PDFs cross at most twice", "certified")
def densities_cross_twice() -> Finding:
    """The densities cross at most twice for all α and β of the lemma (α + β ≥ 1)."""
    a, b = 1.001, 0.32
    crossings, (_, cdfs) = pdf_crossings(a, b), count_crossings(a, b)
    where = ", ".join(f"{c.x:.3g}" for c in crossings)
    return Finding(len(crossings) <= 2, f"At α = {a}, β = {b} they cross {len(crossings)} times, "
                   f"at x = {where}; the distribution functions cross "
                   f"{'once' if cdfs == 1 else f'{cdfs} times'}.",
                   {"alpha": a, "beta": b, "pdf": [c.x for c in crossings], "cdf": cdfs,
                    "digits": 12})


log_B = (alpha - 1) * sp.log(x) + (beta - 1) * sp.log(1 - x)
log_N = -(alpha + beta) * (x - alpha / (alpha + beta)) ** 2 / 2


@step("G.3", "l′_B, l′_N", "symbolic")
def first_derivatives() -> Finding:
    """The first derivatives of the log densities."""
    return identity((sp.diff(log_B, x), (alpha - 1) / x - (beta - 1) / (1 - x)),
                    (sp.diff(log_N, x), alpha - (alpha + beta) * x), found="Both as printed.")


@step("G.3", "l″_B, l″_N", "symbolic")
def second_derivatives() -> Finding:
    """The second derivatives of the log densities."""
    return identity((sp.diff(log_B, x, 2), -(alpha - 1) / x**2 - (beta - 1) / (1 - x) ** 2),
                    (sp.diff(log_N, x, 2), -(alpha + beta)), found="Both as printed.")


h = A / x**2 + B / (1 - x) ** 2 - n
g = (A + 1) - n * x + B / (1 - x) - A / x
_to_A_B = {alpha: A + 1, beta: B + 1}


@step("G.3, equation (3)", "h = l″_N − l″_B, h′, h″", "symbolic")
def h_and_derivatives() -> Finding:
    """The function h and its first two derivatives."""
    return identity((sp.diff(log_N - log_B, x, 2).subs(_to_A_B), h),
                    (sp.diff(h, x), -2 * (A / x**3 - B / (1 - x) ** 3)),
                    (sp.diff(h, x, 2), 6 * (A / x**4 + B / (1 - x) ** 4)), found="As printed.")


@step("G.3", "h(x) = 0 has no solution in [0, 1]", "certified")
def h_has_no_root() -> Finding:
    """The goal set for the calculus: h has no root."""
    def h_at(t):  # α = β = 1.1
        small = arb(1) / 10
        return small / (t * t) + small / ((1 - t) * (1 - t)) - arb(22) / 10

    left, middle, right = (float(sharpen(lambda t=t: h_at(arb(t)))) for t in (0.125, 0.5, 0.875))
    return Finding(middle > 0, f"At α = β = 1.1, h is {left:.3g}, {middle:.3g} and {right:.3g} at "
                   f"x = 1/8, 1/2 and 7/8: it changes sign twice. The final region of the proof "
                   f"gives this goal up.", {"h": [left, middle, right], "digits": 15})


@step("G.3.1 and G.3.3", "by symmetry", "symbolic")
def mirror() -> Finding:
    """Exchanging α and β and x and 1 − x leaves the difference of log densities as it is."""
    u = log_N - log_B
    other = u.subs({alpha: beta, beta: alpha}, simultaneous=True).subs(x, 1 - x)
    return identity((u, other), found="u(x; α, β) = u(1 − x; β, α).")


# --------------------------------------------------------------------- G.3.1: α > 1 ≥ β

@step("G.3.1", "g, g′ = h, g″ = h′", "symbolic")
def special_derivatives() -> Finding:
    """The difference g of the first derivatives and its own derivatives."""
    return identity((sp.diff(log_N - log_B, x).subs(_to_A_B), g), (sp.diff(g, x), h),
                    (sp.diff(g, x, 2), sp.diff(h, x)), found="As printed.")


@step("G.3.1", "B ≤ 0 ⇒ g″ ≤ 0", "symbolic")
def special_concave() -> Finding:
    """For α > 1 ≥ β the function g is concave on (0, 1)."""
    t = sp.Symbol("t", positive=True)  # x = 1/(1+t), so that x and 1 − x are visibly positive
    second = sp.diff(g, x, 2).subs(B, -C).subs(x, 1 / (1 + t))
    numerator, denominator = sp.fraction(sp.together(-second))
    good = (positive_coefficients(numerator, A, C, t)
            and positive_coefficients(denominator, t))
    return Finding(bool(good), "With C = −B and x = 1/(1+t), −g″ has positive coefficients only."
                   if good else "The sign of g″ could not be read off.", {})


@step("G.3.1", "g′ = A/x² + B/(1−x)² = 0", "symbolic")
def special_stationary_point() -> Finding:
    """The point x_K = K/(1+K) with K = √(−A/B) is where g′ vanishes."""
    x_K = sp.sqrt(A / C) / (1 + sp.sqrt(A / C))
    left = sp.simplify(sp.diff(g, x).subs(B, -C).subs(x, x_K))
    if same(left, -(A - C + 2)):
        return Finding(False, "The term −(α+β) was dropped: at x_K the derivative is −(α+β), not "
                       "0. So x_K is not where g is largest (nor smallest, as the text has it).",
                       {})
    return identity((left, sp.Integer(0)), found="It vanishes.")


_g_at_K = g.subs(x, K / (1 + K))
_cubic = -A * K**2 - A * K - A + B * K**3 + B * K**2 + B * K - K**2 + K


@step("G.3.1, g(x_K), line 1", "substitute x_K", "symbolic")
def special_line_1() -> Finding:
    """The value of g at K/(1+K)."""
    printed = (A + 1) - n * K / (1 + K) + B * (1 + K) - A * (1 + K) / K
    return identity((_g_at_K, printed), found="As printed.")


@step("G.3.1, g(x_K), line 2", "= a cubic in K", "symbolic")
def special_line_2() -> Finding:
    """That value equals a cubic in K."""
    if same(_g_at_K * K * (1 + K), _cubic):
        return Finding(False, "The cubic is K(1+K) times the value: proportional, not equal. The "
                       "sign is not affected.", {})
    return identity((_g_at_K, _cubic), found="As printed.")


@step("G.3.1, g(x_K), line 3", "B = −C", "symbolic")
def special_line_3() -> Finding:
    """The cubic with C = −B."""
    printed = -A * K**2 - A * K - A - C * K**3 - C * K**2 - C * K - K**2 + K
    return identity((_cubic.subs(B, -C), printed), found="As printed.")


def _line_4():
    r = A / C
    return (-A * r - A * sp.sqrt(r) - A - C * r ** sp.Rational(3, 2) - C * r - C * sp.sqrt(r) - r
            + sp.sqrt(r))


@step("G.3.1, g(x_K), line 4", "K = (A/C)^½", "symbolic")
def special_line_4() -> Finding:
    """The cubic with K = √(A/C)."""
    return identity((_cubic.subs(B, -C).subs(K, sp.sqrt(A / C)), _line_4()), found="As printed.")


def _half(p, q):
    return A ** sp.Rational(p, 2) * C ** sp.Rational(q, 2)


@step("G.3.1, g(x_K), line 5", "collect powers", "symbolic")
def special_line_5() -> Finding:
    """The powers of A and C collected; the last term is A^½ C^½."""
    printed = (-_half(4, -2) - _half(3, -1) - A - _half(3, -1) - A - _half(1, 1) - _half(2, -2)
               + _half(1, 1))
    if same(_line_4() - printed, _half(1, -1) - _half(1, 1)):
        return Finding(False, "The last term should be A^½ C^(−½); as printed it cancels the "
                       "term before, which it does not.", {})
    return identity((_line_4(), printed), found="As printed.")


@step("G.3.1, g(x_K), line 6", "≤ 0", "certified")
def special_line_6() -> Finding:
    """The value at x_K is never positive."""
    def minus_value(a, c):  # line 4, as K − K² and what is always negative
        k = (a / c).sqrt()
        return -(k - k * k - a * k * k - a * k - a - c * k**3 - c * k * k - c * k)

    return region(decide(minus_value, [(2.0**-10, 1.0), (2.0**-4, 1.0)]),
                  refuted=" Up to line 4 only a factor K(1+K) > 0 is amiss: g(x_K) is positive.")


@step("G.3.1", "g has no root for α > 1 ≥ β", "certified")
def special_no_root() -> Finding:
    """For α > 1 ≥ β the derivative of the log ratio has no root in (0, 1)."""
    pair = Pair(exact(1.1), exact(1.0))
    turns = [float(logistic(turn())) for turn in pair.turning_points()]
    where = ", ".join(f"{t:.3g}" for t in turns)
    return Finding(not turns, f"At α = 1.1, β = 1 there are {len(turns)} roots, isolated at x = "
                   f"{where}.", {"alpha": 1.1, "beta": 1.0, "roots": turns})


@step("G.3.1, repaired", "g ≤ 0 for all β ≤ 1 iff α ≥ 2/√3", "symbolic")
def special_repaired() -> Finding:
    """g has no sign change for any β ≤ 1 exactly if α ≥ 2/√3 ≈ 1.155."""
    general = alpha - (alpha + beta) * x + (beta - 1) / (1 - x) - (alpha - 1) / x
    grows = sp.diff(general, beta)  # so the worst β is 1
    at_one = general.subs(beta, 1)
    peak = sp.sqrt((alpha - 1) / (alpha + 1))
    return identity((grows, (1 - x + x**2) / (1 - x)),
                    (at_one, alpha - (alpha + 1) * x - (alpha - 1) / x),
                    (sp.diff(at_one, x).subs(x, peak), sp.Integer(0)),
                    (sp.diff(at_one, x, 2), -2 * (alpha - 1) / x**3),
                    (at_one.subs(x, peak), alpha - 2 * sp.sqrt(alpha**2 - 1)),
                    (alpha**2 - 4 * (alpha**2 - 1), 4 - 3 * alpha**2),
                    found="∂g/∂β = (1 − x + x²)/(1 − x) > 0, so β = 1 is the worst case; there "
                    "the largest g is α − 2√(α² − 1), which is ≤ 0 iff 3α² ≥ 4.")


# --------------------------------------------------------------------- the missing region

@step("missing in G.3", "α ≤ 1, β ≤ 1", "symbolic")
def missing_region() -> Finding:
    """Not treated in the paper: for α, β ≤ 1 the log ratio is strictly concave, so the densities
    cross at most twice."""
    t = sp.Symbol("t", positive=True)
    a, b = sp.symbols("a b", positive=True)  # a = 1 − α, b = 1 − β in [0, 1)
    second = -h.subs({A: -a, B: -b}).subs(x, 1 / (1 + t))
    rest = sp.expand(sp.together(second - (2 - a - b)))  # what is left beside n = 2 − a − b > 0
    numerator, denominator = sp.fraction(sp.together(rest))
    good = positive_coefficients(numerator, a, b, t) and positive_coefficients(denominator, t)
    pdfs, cdfs = count_crossings(0.05, 0.05)
    return Finding(bool(good), f"−h = n + (1−α)/x² + (1−β)/(1−x)² > 0. But at α = β = 0.05 {pdfs} "
                   f"density crossings go with {cdfs} of the distribution functions: here the "
                   f"count alone does not settle the lemma.", {"pdf": pdfs, "cdf": cdfs})


# --------------------------------------------------------------------- G.3.2: the convex case

_p, _q = sp.symbols("p q", positive=True)  # p³ = A, q³ = B
_h_min = [A * (K + 1) ** 2 / K**2 + B * (K + 1) ** 2 - n,
          A * (2 / K + 1 / K**2) + B * (K**2 + 2 * K) - 2,
          3 * (A ** sp.Rational(2, 3) * B ** sp.Rational(1, 3)
               + A ** sp.Rational(1, 3) * B ** sp.Rational(2, 3)) - 2]


@step("G.3.2", "h convex for α, β > 1", "symbolic")
def convex() -> Finding:
    """For α, β > 1 the function h is convex on (0, 1)."""
    t = sp.Symbol("t", positive=True)
    numerator, denominator = sp.fraction(sp.together(sp.diff(h, x, 2).subs(x, 1 / (1 + t))))
    good = positive_coefficients(numerator, A, B, t) and positive_coefficients(denominator, t)
    return Finding(bool(good), "With x = 1/(1+t), h″ has positive coefficients only." if good
                   else "The sign of h″ could not be read off.", {})


@step("G.3.2", "h′ = 0 at K/(1+K), K = (A/B)^{1/3}", "symbolic")
def convex_stationary_point() -> Finding:
    """The minimum of h is at K/(1+K) with K the cube root of A/B."""
    slope = sp.diff(h, x).subs({A: _p**3, B: _q**3}).subs(x, _p / (_p + _q))
    return identity((slope, sp.Integer(0)), found="h′ vanishes there (the display leaves out the "
                    "factor −2).")


@step("G.3.2, h(x_K)", "three lines", "symbolic")
def convex_minimum() -> Finding:
    """The minimum of h is 3(A^{2/3}B^{1/3} + A^{1/3}B^{2/3}) − 2, by way of two other lines."""
    in_roots = {A: _p**3, B: _q**3, K: _p / _q}
    first, second, third = (sp.simplify(line.subs(in_roots)) for line in _h_min)
    at_K = h.subs(x, K / (1 + K))
    return identity((at_K, _h_min[0]), (_h_min[0], _h_min[1]), (first, second), (second, third),
                    found="All three lines agree.")


@step("G.3.2", "AB ≥ 1/9 ⇒ A^{2/3}B^{1/3} + A^{1/3}B^{2/3} ≥ 2/3", "symbolic")
def convex_condition() -> Finding:
    """A product of at least 1/9 makes the minimum of h nonnegative."""
    return identity((_p**2 * _q + _p * _q**2 - 2 * (_p * _q) ** sp.Rational(3, 2),
                      _p * _q * (sp.sqrt(_p) - sp.sqrt(_q)) ** 2),
                      found="By p²q + pq² − 2(pq)^{3/2} = pq(√p − √q)² ≥ 0 the sum is at least "
                      "2√(AB) ≥ 2/3. It is 2/3 at A = B = 1/3, where h touches zero in one point; "
                      "u′ is still strictly increasing, so nothing is lost.")


# --------------------------------------------------------------------- G.3.3: AB < 1/9

def _product(a, b):
    return 1 - 9 * a * b


def _ordered(a, b):
    return a - b


@step("G.3.3", "β ∈ (1, 4/3)", "symbolic")
def final_beta_range() -> Finding:
    """In the final region with α ≥ β, β does not exceed 4/3."""
    return identity((A * B - B**2, B * (A - B)), found="B² ≤ AB ≤ 1/9, so B ≤ 1/3.")


@step("G.3.3, equation (4)", "B(α, β) ≤ 1/α", "symbolic")
def final_beta_function() -> Finding:
    """For β ≥ 1 the beta function is at most 1/α."""
    bound = sp.integrate(x ** (alpha - 1), (x, 0, 1))
    return identity((bound, 1 / alpha), found="(1 − x)^{β−1} ≤ 1, and ∫x^{α−1} = 1/α.")


@step("G.3.3, equation (5)", "gap ≥ l̃_B(x) − max l_N", "symbolic")
def final_gap() -> Finding:
    """On [x₁, x₂] the lower bound for the log beta density is concave, so its smallest value is
    at an end; the largest log normal density is ½ log(n/2π)."""
    bound = A * sp.log(x) + B * sp.log(1 - x)
    t = sp.Symbol("t", positive=True)
    numerator, denominator = sp.fraction(sp.together(-sp.diff(bound, x, 2).subs(x, 1 / (1 + t))))
    good = positive_coefficients(numerator, A, B, t) and positive_coefficients(denominator, t)
    peak = alpha / (alpha + beta)
    good = good and same(sp.diff(log_N, x).subs(x, peak), sp.Integer(0))
    good = good and same(log_N.subs(x, peak), sp.Integer(0))  # log_N leaves out ½ log(n/2π)
    return Finding(bool(good), "The second derivative is −A/x² − B/(1−x)² < 0, and l_N is largest "
                   "at its mean." if good else "Could not be shown.", {})


_x1, _x2 = sp.sqrt(A / n), 1 - sp.sqrt(B / n)


@step("G.3.3", "h ≥ h₁, h₂; x₁, x₂ their roots", "symbolic")
def final_points() -> Finding:
    """h₁ and h₂ bound h from below, with roots x₁ = √(A/n) and x₂ = 1 − √(B/n)."""
    h1, h2 = A / x**2 - n, B / (1 - x) ** 2 - n
    return identity((h - h1, B / (1 - x) ** 2), (h - h2, A / x**2),
                    (h1.subs(x, _x1), sp.Integer(0)), (h2.subs(x, _x2), sp.Integer(0)),
                    found="h − h₁ = B/(1−x)² > 0 and h − h₂ = A/x² > 0.")


@step("G.3.3", "x₁ < x₂", "symbolic")
def final_points_ordered() -> Finding:
    """The two points are in order (the paper takes it for granted)."""
    return identity((a**2 + b**2 + 2 - (a + b) ** 2, 2 * (1 - a * b)),
                    found="x₁ < x₂ iff (√A + √B)² < n iff AB < 1.")


@step("G.3.3", "h > 0 outside [x₁, x₂]", "symbolic")
def final_outside() -> Finding:
    """Outside [x₁, x₂] h is positive."""
    h1, h2 = A / x**2 - n, B / (1 - x) ** 2 - n
    return identity((sp.diff(h1, x), -2 * A / x**3), (sp.diff(h2, x), 2 * B / (1 - x) ** 3),
                    found="h₁ falls to its root x₁ and h₂ rises from its root x₂, and h exceeds "
                    "both. The reason the paper gives, convexity, is not enough by itself.")


_log_front = sp.log(1 + A) + sp.log(2 * sp.pi) / 2 - sp.log(n) / 2


def _f(point):
    return _log_front + A * sp.log(point) + B * sp.log(1 - point)


f1 = (sp.log(1 + A) + A * sp.log(sp.sqrt(A / n)) + B * sp.log(1 - sp.sqrt(A / n))
      + sp.log(2 * sp.pi) / 2 - sp.log(n) / 2)
f2 = (sp.log(1 + A) + A * sp.log(1 - sp.sqrt(B / n)) + B * sp.log(sp.sqrt(B / n))
      + sp.log(2 * sp.pi) / 2 - sp.log(n) / 2)


@step("G.3.3", "f₁, f₂", "symbolic")
def final_f() -> Finding:
    """f₁ and f₂ are the bound l̃_B − max l_N at x₁ and x₂."""
    return identity((_f(_x1), f1), (_f(_x2), f2), found="Both as printed.")


a, b, m = sp.symbols("a b m", positive=True)  # A = a² or B = b², and n = m²


def _by_root_A(expression):
    return expression.subs(B, m**2 - A - 2).subs(A, a**2)


def _by_root_B(expression):
    return expression.subs(A, m**2 - B - 2).subs(B, b**2)


def _slope_lines_1():
    r = sp.sqrt(A / n)
    return [
        -A / (2 * n) + sp.log(1 - r) + B * sp.sqrt(A) / (2 * n ** sp.Rational(3, 2) * (1 - r))
        - 1 / (2 * n),
        (B * sp.sqrt(A) / (sp.sqrt(n) * (1 - r)) - A - 1) / (2 * n) + sp.log(1 - r),
        (B * sp.sqrt(A) / (sp.sqrt(n) - sp.sqrt(A)) - A - 1) / (2 * n) + sp.log(1 - r)]


@step("G.3.3, ∂f₁/∂B, lines 1–3", "three equalities", "symbolic")
def final_slope_1_equalities() -> Finding:
    """The derivative of f₁ in B and two rewritings."""
    lines = [_by_root_A(line) for line in (sp.diff(f1, B), *_slope_lines_1())]
    return identity(*pairwise(lines), found="All three agree.")


@step("G.3.3, ∂f₁/∂B, line 4", "B√A ≤ √B/3, log(1−y) ≤ −y", "symbolic")
def final_slope_1_line_4() -> Finding:
    """The first inequality uses AB ≤ 1/9 and log(1 − y) ≤ −y."""
    return identity((B * sp.sqrt(A), sp.sqrt(B) * sp.sqrt(A * B)),
                    (sp.diff(-x - sp.log(1 - x), x), x / (1 - x)),
                    found="B√A = √B·√(AB) ≤ √B/3, and −y − log(1 − y) rises from 0 with slope "
                    "y/(1−y).")


def _slope_line_5(a, b):
    """Line 5 minus line 4, which must be ≥ 0 if the step is right."""
    m, root_a = (a + b + 2).sqrt(), a.sqrt()
    return ((b / (b + 2)).sqrt() - b.sqrt() / (m - root_a)) / 3


@step("G.3.3, ∂f₁/∂B, line 5", "√n − √A ≥ √(B+2)", "certified")
def final_slope_1_line_5() -> Finding:
    """The second inequality replaces √n − √A by √(B+2) in a denominator."""
    return region(decide(_slope_line_5, [(2.0**-6, 1.0), (2.0**-6, 1.0)],
                         where=[_product, _ordered]),
                  refuted=" It is reversed: √n − √A = (B+2)/(√n + √A) ≤ √(B+2).")


@step("G.3.3, ∂f₁/∂B, lines 6–7", "≤ −A/(2n) − √(A/n) ≤ 0", "symbolic")
def final_slope_1_end() -> Finding:
    """The last two inequalities."""
    return identity((sp.Rational(1, 3) ** 2 * B / (B + 2) - sp.Rational(1, 9),
                     -sp.Rational(2, 9) / (B + 2)),
                    found="⅓√(B/(B+2)) < ⅓ < 1, and both remaining terms are negative.")


def _minus_slope_1(a, b):
    """−∂f₁/∂B, with 1/(√n − √A) = (√n + √A)/(B+2)."""
    m = a + b + 2
    bracket = b * root(a) * (m.sqrt() + root(a)) / (b + 2) - a - 1
    return -bracket / (2 * m) - (1 - root(a / m)).log()


def _minus_slope_1_far(s, c):
    """A lower bound for it at A = 1/s, B = c s/9, by log(1 − y) ≤ −y: finite down to s = 0."""
    b = c * s / 9
    e = 1 + (b + 2) * s  # n = A e
    return ((1 + s) - b * (e.sqrt() + 1) / (b + 2)) / (2 * e) + 1 / e.sqrt()


@step("G.3.3, ∂f₁/∂B", "∂f₁/∂B ≤ 0", "certified")
def final_slope_1_repaired() -> Finding:
    """f₁ falls in B on the whole region all the same."""
    return all_regions(decide(_minus_slope_1, [(0.0, 1.0), (0.0, 0.34)],
                              where=[_product, _ordered]),
                       decide(_minus_slope_1_far, [(0.0, 1.0), (0.0, 1.0)]))


def _slope_lines_2():
    r = sp.sqrt(B / n)
    return [
        -A * (r / (2 * B) + 1 / (2 * n)) + sp.log(r) + B * (A + 2) / (2 * B * n) - 1 / (2 * n),
        (A + 2 - A - 1 - A * sp.sqrt(n / B)) / (2 * n) + sp.log(r),
        (1 - A * sp.sqrt(n / B)) / (2 * n) + sp.log(B / n) / 2]


@step("G.3.3, ∂f₂/∂B", "three equalities", "symbolic")
def final_slope_2_equalities() -> Finding:
    """The derivative of f₂ in B and two rewritings."""
    lines = [_by_root_B(line) for line in (sp.diff(f2, B), *_slope_lines_2())]
    return identity(*pairwise(lines), found="All three agree.")


@step("G.3.3, ∂²f₂/∂A∂B", "< 0, term by term", "symbolic")
def final_slope_2_mixed() -> Finding:
    """The derivative of f₂ in B falls in A, term by term."""
    terms = [1 / (2 * n), -A / (2 * sp.sqrt(n * B)), sp.log(B / n) / 2]
    closed = [-1 / (2 * n**2), -(A + 2 * B + 4) / (4 * n * sp.sqrt(n * B)), -1 / (2 * n)]
    return identity(*((_by_root_B(sp.diff(t, A)), _by_root_B(c))
                      for t, c in zip(terms, closed, strict=True)),
                    found="The three terms are −1/(2n²), −(A+2B+4)/(4n√(nB)) and −1/(2n).")


@step("G.3.3, ∂f₂/∂B at A = 0", "≤ 0", "symbolic")
def final_slope_2_at_zero() -> Finding:
    """At A = 0 the derivative of f₂ in B is not positive, by log y ≤ y − 1."""
    at_zero = sp.limit(_slope_lines_2()[2], A, 0)
    bound = (1 / (B + 2) + B / (B + 2) - 1) / 2
    return identity((at_zero, 1 / (2 * (B + 2)) + sp.log(B / (B + 2)) / 2),
                    (bound, -1 / (2 * (B + 2))), found="The bound is −1/(2(B+2)).")


def _log_front_ball(a, b):
    m = a + b + 2
    return (1 + a).log() + (2 * arb.pi() / m).log() / 2


def _f1_ball(a, b):
    m = a + b + 2
    return (_log_front_ball(a, b) + (x_log_x(a) - a * m.log()) / 2
            + b * (1 - root(a / m)).log())


def _f2_ball(a, b):
    m = a + b + 2
    return (_log_front_ball(a, b) + (x_log_x(b) - b * m.log()) / 2
            + a * (1 - root(b / m)).log())


@step("G.3.3", "the largest B is 1/(9A)", "certified")
def final_largest_B() -> Finding:
    """For any A of the region, the largest B with B < A is 1/(9A)."""
    outcome = decide(lambda a: 9 * a * a - 1, [(2.0**-10, 1.0)])
    return region(outcome, refuted=" For A < 1/3 the largest B is A itself: the argument that "
                  "follows covers only A ≥ 1/3.")


@step("G.3.3, missing", "f₁, f₂ > 0 at B = A ≤ 1/3", "certified")
def final_diagonal() -> Finding:
    """Not treated in the paper: f₁ and f₂ are positive at B = A for A ≤ 1/3."""
    outcomes = [decide(lambda a, f=f: f(a, a), [(0.0, 0.34)]) for f in (_f1_ball, _f2_ball)]
    return all_regions(*outcomes)


_g1 = f1.subs(B, 1 / (9 * A))
_g2 = f2.subs(B, 1 / (9 * A))
_s = A + 1 / (9 * A) + 2


@step("G.3.3, g₁", "two lines", "symbolic")
def final_g1() -> Finding:
    """g₁ is f₁ on the boundary, and its rewriting."""
    printed = (sp.log(1 + A) + A / 2 * sp.log(A) - (1 + A) / 2 * sp.log(_s)
               + sp.log(1 - sp.sqrt(A / _s)) / (9 * A) + sp.log(2 * sp.pi) / 2)
    size = sp.Symbol("m", positive=True)
    left, right = (e.subs(_s, size**2) for e in (_g1, printed))
    return identity((left, right), found="As printed.")


@step("G.3.3", "A + 1/(9A) increases for A ≥ 1/3", "symbolic")
def final_p_increases() -> Finding:
    """The function A + 1/(9A) increases from A = 1/3 on."""
    return identity((sp.diff(A + 1 / (9 * A), A), (3 * A - 1) * (3 * A + 1) / (9 * A**2)),
                    found="Its derivative is (3A − 1)(3A + 1)/(9A²).")


@step("G.3.3, g₁ ≥, line 1", "1/(9A) ≤ 1", "symbolic")
def final_g1_first_bound() -> Finding:
    """The first bound for g₁ replaces 1/(9A) by 1 in one logarithm and by 0 in the other."""
    return identity((A + 3 - _s, 1 - 1 / (9 * A)), (_s - (A + 2), 1 / (9 * A)),
                    found="A + 2 ≤ A + 1/(9A) + 2 ≤ A + 3 for A ≥ 1/9, and both logarithms move "
                    "the right way.")


def _spare_of_line_2(t):
    """t {√A + log(1 − √(A/(A+2)))} at A = 1/t²: finite down to t = 0."""
    r = (1 + 2 * t * t).sqrt()
    return 1 + 2 * x_log_x(t) + t * (2 / (r * (r + 1))).log()


@step("G.3.3, g₁ ≥, line 2", "log(1 − √(A/(A+2))) ≥ −√A", "certified")
def final_g1_second_bound() -> Finding:
    """The second bound for g₁."""
    t, r = sp.symbols("t r", positive=True)
    inner = (1 - sp.sqrt(A / (A + 2))).subs(A, 1 / t**2)  # = 2t²/(r(r+1)) with r² = 1 + 2t²
    claimed = (2 * t**2 / (r * (r + 1))).subs(r, sp.sqrt(1 + 2 * t**2))
    if not same(inner, claimed):
        return Finding(False, "The map to t = 1/√A is wrong.", {})
    return region(decide(_spare_of_line_2, [(0.0, 1.75)]))


_g1_tilde = (sp.log(1 + A) + A / 2 * sp.log(A) - (1 + A) / 2 * sp.log(A + 3)
             - 1 / (9 * sp.sqrt(A)) + sp.log(2 * sp.pi) / 2)


@step("G.3.3, g̃₁′", "two lines", "symbolic")
def final_g1_slope() -> Finding:
    """The derivative of g̃₁."""
    printed = (1 / (A + 1) + 1 / (A + 3) + sp.log(A) / 2 + A ** sp.Rational(-3, 2) / 18
               - sp.log(A + 3) / 2)
    return identity((sp.diff(_g1_tilde, A), printed), found="As printed; the ≥ that follows is an "
                    "equality.")


def _minus_A2_second(t, root=root):
    """−A² g̃₁″ at A = 1/t: finite down to t = 0."""
    return 1 / (1 + t) / (1 + t) + 1 / (1 + 3 * t) / (1 + 3 * t) + root(t) / 12 - 3 / (2 + 6 * t)


@step("G.3.3, g̃₁′", "decreasing, with limit ≥ 0", "certified")
def final_g1_slope_decreases() -> Finding:
    """The derivative of g̃₁ decreases to a limit that is not negative, so g̃₁ increases."""
    slope, t = sp.diff(_g1_tilde, A), sp.Symbol("t", positive=True)
    limit = sp.limit(slope, A, sp.oo)
    mapped = (-(A**2) * sp.diff(slope, A)).subs(A, 1 / t)
    if limit != 0 or not same(mapped, _minus_A2_second(t, root=sp.sqrt)):
        return Finding(False, f"The limit is {limit}, or the map to t = 1/A is wrong.", {})
    return region(decide(_minus_A2_second, [(0.0, 3.0)]), proved=" The limit is 0.")


@step("G.3.3", "g̃₁(1/3) > 0.01", "certified")
def final_g1_value() -> Finding:
    """The lower bound g̃₁ exceeds 0.01 at 1/3."""
    def value():
        a = arb(1) / 3
        return ((1 + a).log() + a * a.log() / 2 - (1 + a) * (a + 3).log() / 2
                - 1 / (9 * a.sqrt()) + (2 * arb.pi()).log() / 2)

    v = float(sharpen(value))
    return Finding(v > 0.01, f"g̃₁(1/3) = {v:.4f}.", {"value": v, "digits": 15})


@step("G.3.3, g₂", "two lines", "symbolic")
def final_g2() -> Finding:
    """g₂ is f₂ on the boundary, and its rewriting."""
    square = 9 * A**2 + 18 * A + 1
    printed = (sp.log(1 + A) + A * sp.log(1 - sp.sqrt(1 / square))
               + sp.log(1 / (9 * A)) / (18 * A) - (1 / (9 * A) + 1) / 2 * sp.log(_s)
               + sp.log(2 * sp.pi) / 2)
    size = sp.Symbol("m", positive=True)  # m² = 9A²+18A+1 = 9A·s
    left = _g2.subs(_s, size**2 / (9 * A))
    right = printed.subs(square, size**2).subs(_s, size**2 / (9 * A))
    return identity((9 * A * _s, square), (left, right), found="As printed.")


@step("G.3.3, g₂ ≥, line 1", "A log(1 − 1/√(9A²+18A+1)) ≥ −1/3", "symbolic")
def final_g2_first_bound() -> Finding:
    """The first bound for g₂."""
    return identity((9 * A**2 + 18 * A + 1 - (3 * A + 1) ** 2, 12 * A),
                    (1 / (sp.Symbol("r") - 1), (1 / sp.Symbol("r")) / (1 - 1 / sp.Symbol("r"))),
                    found="log(1 − y) ≥ −y/(1 − y) with y = 1/√(9A²+18A+1), and √(9A²+18A+1) ≥ "
                    "3A + 1; the other factor falls in 1/(9A) ≤ 1/3.")


@step("G.3.3, g₂ ≥, line 2", "y log y ≥ −1/e", "symbolic")
def final_g2_second_bound() -> Finding:
    """The second bound for g₂."""
    slope = sp.diff(x * sp.log(x), x)
    return identity((slope.subs(x, sp.exp(-1)), sp.Integer(0)),
                    ((x * sp.log(x)).subs(x, sp.exp(-1)), -sp.exp(-1)),
                    (sp.diff(slope, x), 1 / x), found="y log y is convex with minimum −1/e.")


_g2_tilde = (sp.log(1 + A) - sp.Rational(1, 3) - sp.exp(-1) / 2
             - sp.Rational(2, 3) * sp.log(A + sp.Rational(7, 3)) + sp.log(2 * sp.pi) / 2)


@step("G.3.3, g̃₂′", "= (A+5)/((A+1)(3A+7)) ≥ 0", "symbolic")
def final_g2_slope() -> Finding:
    """The derivative of g̃₂ is positive."""
    return identity((sp.diff(_g2_tilde, A), (A + 5) / ((A + 1) * (3 * A + 7))),
                    found="As printed.")


@step("G.3.3", "g̃₂(1/3) > 0.01", "certified")
def final_g2_value() -> Finding:
    """The lower bound g̃₂ exceeds 0.01 at 1/3."""
    def value():
        a = arb(1) / 3
        return ((1 + a).log() - a - (-arb(1)).exp() / 2 - 2 * (a + arb(7) / 3).log() / 3
                + (2 * arb.pi()).log() / 2)

    v = float(sharpen(value))
    return Finding(v > 0.01, f"g̃₂(1/3) = {v:.4f}.", {"value": v, "digits": 15})


@step("G.3.3", "the densities cross twice in this region", "certified")
def final_two_crossings() -> Finding:
    """In the final region the densities cross exactly twice: once left of x₁, where u is convex and
    falls from +∞ to below zero, and once right of x₂. Counted at a grid of points."""
    points = [(1 + s, 1 + share * min(s, 1 / (9 * s))) for s in (0.01, 0.1, 0.3, 0.5, 2.0, 30.0)
              for share in (0.01, 0.3, 0.999)]
    counts = {count_crossings(*point)[0] for point in points}
    return Finding(counts == {2}, f"{len(points)} points, numbers of crossings found: "
                   f"{', '.join(map(str, sorted(counts)))}.", {"points": len(points), "digits": 12})


@step("G.4", "for all α, β > 0 such that α + β ≥ 1", "reading")
def hypotheses() -> Finding:
    """The result is stated for one and the same set of α throughout."""
    stated = ["α ∈ [0,∞)^N with α'1 ≥ 2", "α ∈ [1,∞)^N with α'1 ≥ 2", "α ∈ ℕ^d", "any α, β > 0",
              "α + β ≥ 1"]
    return Finding(len(set(stated)) == 1, f"{len(set(stated))} different hypotheses appear: "
                   f"{'; '.join(stated)}.", {"versions": len(set(stated))})
