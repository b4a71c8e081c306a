r"""Stein's identity for Dirichlet means, and the least variance that is enough for Lemma 1.

``profile`` has the proof of Lemma 1, by one comparison, and what is used here of profiles.

**Stein's identity.** Let P ~ Dirichlet(α), n = α'1 > 0, V ∈ [0, 1]^N, Y = P'V, μ = E Y.
Write P = G/T with independent gamma variables G_i of shapes α_i and their sum T, which is
independent of P and has mean n. Integration by parts, :math:`\mathbb E[(G_i - \alpha_i) h] =
\mathbb E[G_i \partial_i h]`, with h = f(Y) and :math:`\partial Y/\partial G_i = (V_i - Y)/T` gives

.. math:: n\,\mathbb E[(Y - \mu) f(Y)] = \mathbb E[\mathrm{Var}_P(V) f'(Y)],\quad
   \mathrm{Var}_P(V) = \sum_i P_i V_i^2 - Y^2 \le Y(1 - Y) \le \tfrac14.

**What is necessary.** A Dirichlet mean lies below the beta law of its mean m (Lemma 5), so let
Y ~ Beta(nm, n(1−m)). With u(x) = |x − ½| and m = ½, a normal of variance v can only be above if
v ≥ c(n) = (π/2)(E|Y − ½|)² = ⅛ (Γ((n+1)/2)/Γ(n/2+1))² = 1/(4(n+θ)) with θ > ½, and
θ < 3/5 for n ≥ 1.

**At mean ½** it is enough. Let t = z − m, K = √v φ(t/√v) and
:math:`J = \mathbb E[Y - m; Y > z] = z^{nm}(1-z)^{n(1-m)}/(n B(nm, n(1-m)))`. Then E(Y − z)⁺ = J − tP(Y > z),
so that G = K − J + tG′, (G/t)′ = −(K − J)/t². At m = ½ and v = c(n), K and J agree at t = 0, and log(K/J) has
the slope t(n/(¼ − t²) − 4(n + θ)), first negative, then positive, and tends to ∞. So K − J is first
negative, then positive; and for t > 0 G/t, which begins with G′ = 0, rises and then falls to 0.

**Touching.** Where G is least the tails are equal, so G = K − J. The
trapezoidal bound ψ′(a) > 1/a + 1/(2a²) gives
:math:`J \le \sqrt{c(n)/2\pi}\,\sqrt{4m(1-m)}\,e^{-n\,\mathrm{KL}(m \| z)}`, and
KL ≥ 2t² + 16∫₀ᵗ s(s−δ)² ds with δ = ½ − m. With Δ = √n δ and T = √n t, v = 1/(4(n+η)) is enough if

.. math:: \tfrac n2 \log\tfrac{n+\theta}{n+\eta} + 2\Delta^2 - 2\eta T^2 + 4T^4
   - \tfrac{32}3 \Delta T^3 + 8\Delta^2T^2 \ge 0 \text{ for all } T.

So v = 1/(4n + 4/3) is enough at every mean for n ≥ ½; with the true θ in place of ½ for n ≥ 0.3, and
below the coin's π/8 is smaller. And c(n) is where √n |m − ½| ≥ ⅝, n ≥ 1; ``means`` has all means.
"""

from typing import Any

import numpy as np
import sympy as sp
from flint import arb
from sympy import Expr, Rational, cancel, diff, exp, log, oo, pi, sqrt, symbols

from rlsvi_core.optimism import order
from rlsvi_core.optimism.balls import Proof, decide, exact, sharpen

from ..judging.evidence import LEMMA_1, LEMMA_5, identity, region, step
from ..judging.outcomes import HOLDS, Judged, unless
from ..judging.register import OURS, claim
from . import profile
from .profile import c

PLACE = "Lemma 1, by profiles"
LAWS = 25
n, a, g, u, v, x, y, V = symbols("n a g u v x y V", positive=True)
b, m, s, t, z, delta = symbols("b m s t z delta", real=True)

phi, Phi_minus = exp(-(x**2) / 2) / sqrt(2 * pi), sp.erfc(x / sqrt(2)) / 2  # φ(x) and Φ(−x)
psi_x = phi - x * Phi_minus  # E(ξ − x)⁺ of a standard normal ξ

# --------------------------------------------------------------------- Stein's identity

P = symbols("P_1:4", positive=True)
alpha = symbols("alpha_1:4", positive=True)
WORTH = (0, V, 1)
Y = sum(p * v for p, v in zip(P, WORTH, strict=True))
spread = sum(p * v**2 for p, v in zip(P, WORTH, strict=True)) - Y**2  # Var_P(V)


def moment(powers: tuple[int, ...], weights: tuple[Any, ...]) -> Expr:
    """E ∏ P_i^{k_i} under the Dirichlet law."""
    rising = [sp.rf(weight, k) for weight, k in zip(weights, powers, strict=True)]
    return sp.expand_func(sp.prod(rising) / sp.rf(sum(weights), sum(powers)))


def mean(expression: Expr, weights: tuple[Any, ...]) -> Expr:
    """The expectation of a polynomial in P."""
    terms = sp.Poly(sp.expand(expression), *P).terms()
    return sum(factor * moment(powers, weights) for powers, factor in terms)


mu = sum(weight * v for weight, v in zip(alpha, WORTH, strict=True)) / sum(alpha)
shape = g**a * exp(-g)  # a gamma density times g, up to a factor

step(
    "stein-gamma",
    PLACE,
    OURS,
    "E[(γ − a)h(γ)] = E[γh′(γ)] for a gamma variable of any shape a > 0, and P'V changes with γᵢ "
    "at the rate (Vᵢ − P'V)/Σγ.",
    lambda: [
        (diff(shape, g), (a - g) * shape / g),
        (sp.limit(shape, g, 0), 0),
        (sp.limit(shape, g, oo), 0),
        *((diff(Y / sum(P), p), (v - Y / sum(P)) / sum(P)) for p, v in zip(P, WORTH, strict=True)),
    ],
    "g^a e^(−g) has the derivative (a − g)g^(a−1) e^(−g) and vanishes at 0 and at ∞: no boundary "
    "term, however small a is.",
    part_of=LEMMA_1,
)
step(
    "stein-dirichlet",
    PLACE,
    OURS,
    "n E[(Y − μ)f(Y)] = E[Var_P(V) f′(Y)] for Y = P'V, P ~ Dirichlet(α).",
    lambda: [
        (
            cancel(
                sum(alpha) * mean((Y - mu) * Y**k, alpha) - mean(k * spread * Y ** (k - 1), alpha)
            ),
            0,
        )
        for k in (1, 2, 3)
    ],
    "Also by moments, for three colours of any weights and f(y) = y, y², y³.",
    part_of=LEMMA_1,
)
step(
    "stein-variance",
    PLACE,
    OURS,
    "Var_P(V) ≤ Y(1 − Y) ≤ ¼ if V ∈ [0, 1]^N.",
    lambda: [
        (Y * (1 - Y) - spread, P[1] * V * (1 - V)),
        (Rational(1, 4) - y * (1 - y), (y - Rational(1, 2)) ** 2),
    ],
    "Y(1 − Y) − Var_P(V) = ΣPᵢVᵢ(1 − Vᵢ), and ¼ − Y(1 − Y) = (Y − ½)².",
    part_of=LEMMA_1,
)

# --------------------------------------------------------------------- profiles


def tried(beta: bool) -> tuple[float, float]:
    """The least gap, and the largest share of the density that Stein's identity promises, over some
    Dirichlet means."""
    rng, found = np.random.default_rng(5), list[tuple[float, float]]()
    for _ in range(LAWS):
        weights = rng.integers(1, 4, rng.integers(3, 6)).tolist()
        worth = [0.0, *(rng.integers(1, 8, len(weights) - 2) / 8), 1.0]
        found.append(profile.least(weights, worth, beta))
    gaps, shares = zip(*found, strict=True)
    return float(min(gaps)), float(max(shares))


@claim(
    "G.profile-normal",
    place=f"Appendix G, {PLACE}",
    paper=OURS,
    kind="symbolic",
    verdict=HOLDS,
    part_of=LEMMA_1,
)
def profile_normal() -> Judged:
    """The profile K of N(μ, v), the mean of Y − μ over the largest share p, has KK″ = −v; that of P'V
    has JJ″ ≥ −1/(4n), so with v = 1/(4n) it is nowhere larger.

    K = √v φ(x) at p = Φ(−x), so K′ = √v x. By Stein's identity the law of P'V has at least the density
    4nJ: of {laws} laws that were tried J is at most {share:.3f} of what that allows.

    The gap is at least {gap:.2g} for these."""
    algebra, (gap, share) = identity(*profile.normal_profile()), tried(beta=False)
    wrong = algebra.verdict != HOLDS or gap < 0 or share > 1
    return unless(wrong, laws=LAWS, gap=gap, share=share)


@claim(
    "G.profile-beta",
    place=f"Appendix G, {PLACE}",
    paper=OURS,
    kind="symbolic",
    verdict=HOLDS,
    part_of=LEMMA_5,
)
def profile_beta() -> Judged:
    """The profile J of Beta(a, b), n = a + b, has JJ″ = −z(1 − z)/n at z = μ + J′; that of P'V with the
    same n and mean has at least that, so it is nowhere larger: Lemma 5 without a coupling.

    J = z^a(1 − z)^b/(nB(a, b)). By Stein's identity the law of P'V has at least the density
    nJ/(z(1 − z)): of {laws} laws that were tried J is at most {share:.3f} of what that allows.

    The gap is at least {gap:.2g} for these."""
    algebra, (gap, share) = identity(*profile.beta_profile()), tried(beta=True)
    wrong = algebra.verdict != HOLDS or gap < 0 or share > 1
    return unless(wrong, laws=LAWS, gap=gap, share=share)


STEPS_PROFILE = (  # all that Lemma 1 stands on
    "G.stein-gamma",
    "G.stein-dirichlet",
    "G.stein-variance",
    "G.profile-normal",
)

# --------------------------------------------------------------------- the least variance

SHARP = "Lemma 1, the least variance"
root_8c = sp.gamma((n + 1) / 2) / sp.gamma(n / 2 + 1)
log_J = a * log(z) + (n - a) * log(1 - z)  # of nB(a, n − a)J, for a = nm


def at_least_c(n: float) -> Any:
    """A rational number above c(n), by one part in 10¹² at most."""
    return exact(float(sharpen(lambda: c(arb(n))))) * (1 + exact(2.0**-41))


step(
    "sharp-necessary",
    SHARP,
    OURS,
    "At mean ½, E|X − ½| ≥ E|Y − ½| requires a variance of at least c(n).",
    lambda: [
        (
            sp.gammasimp(2 * sp.gamma(n) / (n * sp.gamma(n / 2) ** 2) / root_8c),
            2**n / (2 * sqrt(pi)),
        ),
        (pi / 2 * (1 / (2 * sqrt(pi))) ** 2, Rational(1, 8)),
        (2 * psi_x.subs(x, 0), sqrt(2 / pi)),
        (sp.limit(root_8c**2 / 8, n, 0), pi / 8),
        (root_8c.subs(n, 1) ** 2 / 8, 1 / (2 * pi)),
        (root_8c.subs(n, 2) ** 2 / 8, pi / 32),
    ],
    "E|Y − ½| = 2J = Γ((n+1)/2)/(2√π Γ(n/2+1)), and E|X − ½| = √(2v/π).",
    part_of=LEMMA_1,
)


def turn(b: Any) -> Expr:
    """(y + 1 + b)(y + ½)² − (y + b)(y + 1)²: the sign of the step of (y + b)(Γ(y+½)/Γ(y+1))²."""
    return (y + 1 + b) * (y + Rational(1, 2)) ** 2 - (y + b) * (y + 1) ** 2


step(
    "sharp-between",
    SHARP,
    OURS,
    "c(n) = 1/(4(n + θ)) with θ > ½, and θ < 3/5 for n ≥ 1.",
    lambda: [
        (turn(Rational(1, 4)), Rational(1, 16)),
        (turn(Rational(3, 10)), -(y - Rational(1, 2)) / 20),
        (
            sp.gammasimp(sp.expand_func(root_8c.subs(n, 2 * y + 2) / root_8c.subs(n, 2 * y))),
            (y + Rational(1, 2)) / (y + 1),
        ),
    ],
    "With y = n/2, 8c(n)(y + b) rises from y to y + 1 for b = ¼, falls for b = 3/10 and y ≥ ½, and "
    "tends to 1.",
    part_of=LEMMA_1,
)


J, P_tail = sp.Function("J")(t), sp.Function("P")(t)
step(
    "gap-by-distance",
    SHARP,
    OURS,
    "The slope of G/t is −(K − J)/t².",
    lambda: [
        (diff(psi_x / x, x), -phi / x**2),
        (diff(J / t - P_tail, t).subs(diff(J, t), t * diff(P_tail, t)), -J / t**2),
    ],
    "The excesses are K and J less t times the tails, and J′ = tP′.",
    part_of=LEMMA_1,
)


def quotient_slope(t: Any, delta: Any) -> Expr:
    """What log(K/J) changes by with t, over t, for the variance 1/(4(n + g))."""
    return n / (Rational(1, 4) - (t - delta) ** 2) - 4 * (n + g)


step(
    "quotient",
    SHARP,
    OURS,
    "log(K/J) has the slope t(n/(¼ − (t − δ)²) − 4(n + θ)), which is not positive for (t − δ)² ≤ θ/(4(n + θ)).",
    lambda: [
        (
            diff(-2 * (n + g) * t**2 - log_J.subs({z: t + m, a: n * m}), t),
            t * quotient_slope(t, Rational(1, 2) - m),
        ),
        (quotient_slope(t, delta).subs(t, delta + sqrt(g / (n + g)) / 2), 0),
    ],
    "Of closed forms; the bracket rises with (t − δ)².",
    part_of=LEMMA_1,
)


@claim(
    "G.sharp-at-half",
    place=f"Appendix G, {SHARP}",
    paper=OURS,
    kind="certified",
    verdict=HOLDS,
    part_of=LEMMA_1,
)
def sharp_at_half() -> Judged:
    """At mean ½ and for every n > 0, N(½, c(n)) is optimistic for P'V: for t > 0 the gap over t rises
    from 0 and then falls to 0.

    There K = J at t = 0, and the slope of log(K/J) over t, n/(¼ − t²) − 4(n + θ), rises from −4θ: K − J is
    negative, then positive.

    At 7 n the gap at 12 levels is at least {smallest:.2g}."""
    slope = quotient_slope(t, 0)
    algebra = identity(
        (slope.subs(t, 0), -4 * g), (diff(slope, t), 2 * n * t / (Rational(1, 4) - t**2) ** 2)
    )
    levels, sizes = np.linspace(0.52, 1.1, 12), (0.125, 0.5, 1.0, 2.0, 3.0, 8.0, 64.0)
    smallest = min(
        order.gap(order.Normal.of(0.5, at_least_c(n)), order.Beta.of(n / 2, n / 2), levels).min()
        for n in sizes
    )
    return unless(algebra.verdict != HOLDS or bool(smallest < 0), smallest=float(smallest))


# --------------------------------------------------------------------- other means


def divergence_spare(q: Any) -> Any:
    """1/(¼ − q) − 4 − 16q, with q = (s − δ)²."""
    return 64 * q**2 / (1 - 4 * q)


def excess_of_divergence(t: Any, delta: Any) -> Any:
    """16∫₀ᵗ s(s − δ)² ds."""
    return 4 * t**4 - 32 * delta * t**3 / 3 + 8 * delta**2 * t**2


step(
    "touching",
    SHARP,
    OURS,
    "Where the tails are equal the gap is √v φ(t/√v) − J, t = z − m, with J = E[Y − m; Y > z] = "
    "z^{nm}(1−z)^{n(1−m)}/(nB(nm, n(1−m))).",
    lambda: [
        (diff(log_J, z), (a - n * z) / (z * (1 - z))),
        (diff(-phi, x), x * phi),
        (diff(-m * log(z) - (1 - m) * log(1 - z), z), (z - m) / (z * (1 - z))),
    ],
    "nJB falls with the slope n(z − m) times the beta density's numerator; E(Y − z)⁺ = J − tP(Y > "
    "z), and J changes with z like e^(−n KL(m‖z)).",
    part_of=LEMMA_1,
)
step(
    "trapezoid",
    SHARP,
    OURS,
    "ψ′(a) > 1/a + 1/(2a²), so J at z = m is at most √(4m(1−m)) times its value at m = ½.",
    lambda: [
        (
            1 / a**2 - 1 / a + 1 / (a + 1) - 1 / (2 * a**2) + 1 / (2 * (a + 1) ** 2),
            (1 / a - 1 / (a + 1)) ** 2 / 2,
        ),
        (diff(a * log(a) - log(a) / 2, a, 2), 1 / a + 1 / (2 * a**2)),
    ],
    "The difference falls by ½(1/a − 1/(a+1))² from a to a + 1, to 0; so log J − ½ log(m(1−m)) is "
    "concave and symmetric in m.",
    part_of=LEMMA_1,
)
step(
    "pinsker",
    SHARP,
    OURS,
    "KL(m‖m+t) ≥ 2t² + 16∫₀ᵗ s(s − δ)² ds, δ = ½ − m.",
    lambda: [
        (1 / (Rational(1, 4) - y) - 4 - 16 * y, divergence_spare(y)),
        (
            Rational(1, 4) - (s - delta) ** 2,
            (Rational(1, 2) - delta + s) * (Rational(1, 2) + delta - s),
        ),
        (sp.integrate(16 * s * (s - delta) ** 2, (s, 0, t)), excess_of_divergence(t, delta)),
    ],
    "KL = ∫₀ᵗ s/(¼ − (s − δ)²) ds, and 1/(¼ − q) = 4 + 16q + 64q²/(1 − 4q).",
    part_of=LEMMA_1,
)


def touching_gap(T: Any, Delta: Any, eta: Any) -> Any:
    """n log(√v φ/J) is at least this plus (n/2) log((n+θ)/(n+η))."""
    return 2 * Delta**2 - 2 * eta * T**2 + excess_of_divergence(T, Delta)


@claim(
    "G.every-mean",
    place=f"Appendix G, {SHARP}",
    paper=OURS,
    kind="certified",
    verdict=HOLDS,
    part_of=LEMMA_1,
)
def every_mean() -> Judged:
    """For every n > 0 the normal of variance 1/(4n + 4/3) is optimistic for P'V, whatever the mean.

    Where the tails meet, n log(√v φ/J) is more than (n/2) log((n+½)/(n+⅓)) − 1/22, which rises from
    {value:.2g} at n = ½; for n from 0.3 to ½ the same holds with c(n)'s own θ in place of ½, and for
    n ≤ 0.3 the coin's π/8 (G.coin-below-normal) is smaller.

    In balls, from 0.3 to ½ by {margin:.2g} at least."""
    half, third = Rational(1, 2), Rational(1, 3)
    nearest = Rational(8, 3) * t**3 / (1 + 4 * t**2)  # the Δ where it is least
    good = identity(
        (diff(touching_gap(t, b, third), b).subs(b, nearest), 0),
        (
            (1 + 4 * t**2) * touching_gap(t, nearest, third),
            -2 * t**2 / 3 + 4 * t**4 / 3 + 16 * t**6 / 9,
        ),
        # n log((n+½)/(n+⅓)) rises, as log(q) ≥ 1 − 1/q
        (
            1 - (n + third) / (n + half) + n / (n + half) - n / (n + third),
            1 / (18 * (n + half) * (n + third)),
        ),
    )
    # (1 + 4y)/22 − 2y/3 + 4y²/3 has no root
    discriminant = (Rational(4, 22) - Rational(2, 3)) ** 2 - Rational(16, 3) / 22
    margin = sharpen(lambda: (arb(6) / 5).log() / 4 - arb(1) / 22)
    small = profile.small_weights()
    coin = sharpen(lambda: 1 / (arb(4) * 3 / 10 + arb(4) / 3) - arb.pi() / 8)  # falls in n
    return unless(
        good.verdict != HOLDS
        or not discriminant < 0
        or not margin > 0
        or not isinstance(small, Proof)
        or not coin > 0,
        value=float(margin),
        margin=small.margin if isinstance(small, Proof) else None,
    )


@claim(
    "G.away-from-half",
    place=f"Appendix G, {SHARP}",
    paper=OURS,
    kind="certified",
    verdict=HOLDS,
    part_of=LEMMA_1,
)
def away_from_half() -> Judged:
    """For n ≥ 1 the variance c(n) is enough where √n |m − ½| ≥ ⅝.

    The tails can meet only where √v φ > J: proved in balls, by {margin:.2g} at least (boxes: {boxes},
    bits: {bits})."""
    # With θ < 3/5: up to |T| = 1.1 the bound rises in Δ from a positive value at ⅝; beyond, its
    # least value over Δ, times (1 + 4y)/y³ with s = 1/y = 1/T² < 1/1.2, is positive.
    edge, most = arb(5) / 8, arb(3) / 5
    return region(
        decide(lambda T: touching_gap(T, edge, most), [(-1.1, 1.1)]),
        decide(lambda T: 4 * edge - 32 * T**3 / 3 + 16 * edge * T**2, [(-1.1, 1.1)]),
        decide(lambda s: arb(16) / 9 - (8 * most - 4) * s - 2 * most * s * s, [(0.0, 1 / 1.2)]),
    )


STEPS_SHARP = (
    "G.sharp-necessary",
    "G.sharp-between",
    "G.gap-by-distance",
    "G.quotient",
    "G.sharp-at-half",
    "G.touching",
    "G.trapezoid",
    "G.pinsker",
    "G.every-mean",
    "G.away-from-half",
)
