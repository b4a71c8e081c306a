"""Lemma 6 for α + β ≥ 1, repaired: the steps of the proof that are ours. The page ``G-proofs`` has the
proof; ``printed_lines`` has the printed lines that it uses.

Notation: A = α − 1, B = β − 1, n = α + β, v = √n (x − μ) and R = Φ/φ. A step says whether it holds,
or gives the sides that have to be equal.
"""

from collections.abc import Iterable

from flint import arb
from sympy import (
    Expr,
    Rational,
    diff,
    erf,
    erfc,
    exp,
    integrate,
    log,
    oo,
    pi,
    sqrt,
    symbols,
)
from sympy import limit as tends_to

from rlsvi_core.optimism.balls import decide, x_log_x

from ..judging.algebra import Sides, expressions_equal
from ..judging.evidence import is_positive_on_unit_interval, judge_region
from ..judging.outcomes import HOLDS

A, B, x = symbols("A B x", positive=True)
n = A + B + 2
h = A / x**2 + B / (1 - x) ** 2 - n  # the second derivative of log f_N − log f_B

z = symbols("z", real=True)
phi = exp(-(z**2) / 2) / sqrt(2 * pi)
upper_tail = erfc(z / sqrt(2)) / 2  # Φ(−z)
R = (1 + erf(z / sqrt(2))) / 2 / phi
R_MINUS = upper_tail / phi  # R(−z)
R_0 = sqrt(pi / 2)

# --------------------------------------------------------------------- β ≤ 1


def beta_cdf_bound() -> Iterable[Sides]:
    """For β ≤ 1 the beta distribution function is at most x f_B(x)/α: (1 − t)^(β−1) rises in t, so it can
    be taken out at t = x; and x√n = v + α/√n in the brace."""
    alpha, more, t, v, total = symbols("alpha more t v total", positive=True)  # more = 1 − β
    yield diff((1 - x) ** (-more), x), more * (1 - x) ** (-more - 1)
    yield integrate(t ** (alpha - 1), (t, 0, x)), x**alpha / alpha
    at = alpha / total + v / sqrt(total)  # x, by v
    yield at * sqrt(total), v + alpha / sqrt(total)


def chord_bound(t: Expr, start: Expr) -> Expr:
    """4t(R(0) − t) − 1, at most 4tR(−t) − 1."""
    return 4 * t * (start - t) - 1


def positive_left_of_mean() -> bool:
    """Left of the mean the brace is positive whenever α + β ≥ 1.

    With k = 1/√n ≤ 1 and v/α ≤ k²v it is enough that R(v) > k + k²v. The largest of these over k is
    1 + v for v ≥ −½ and −1/(4v) below. R(−t) + t rises from √(π/2) with slope tR(−t), so
    R(v) > 1 + v; and 4tR(−t) − 1 ≥ 4t(√(π/2) − 1) − (2t − 1)² > 0 for t in [½, ⅝]. There
    ``normal_tail_bound`` takes over."""
    sides = (
        (diff(R_MINUS + z, z), z * R_MINUS),
        (R_MINUS.subs(z, 0), R_0),
        (chord_bound(z, R_0), 4 * z * (R_0 - 1) - (2 * z - 1) ** 2),
    )
    positive = bool(R_0 > 1 + Rational(1, 32))  # 4t(R(0) − 1) ≥ 2(R(0) − 1), and (2t − 1)² ≤ 1/16
    return positive and all(expressions_equal(*pair) for pair in sides)


def normal_tail_bound() -> Iterable[Sides]:
    """The classical lower bound for the normal tail, t φ(t)/(1+t²), for all t > 0; it exceeds φ(t)/(4t)
    once 3t² ≥ 1. The difference falls to 0 with slope −2φ/(1+t²)²."""
    spare = upper_tail - z / (1 + z**2) * phi
    yield diff(spare, z), -2 * phi / (1 + z**2) ** 2
    yield tends_to(spare, z, oo), 0
    yield z / (1 + z**2) - 1 / (4 * z), (3 * z**2 - 1) / (4 * z * (1 + z**2))


def positive_right_of_mean() -> Iterable[Sides]:
    """Right of the mean the brace is positive if α ≥ 1: R′ = 1 + vR ≥ 1 and R(0) = √(π/2) > 1 ≥ 1/√n, so
    α(R − 1/√n) > v."""
    yield diff(R, z), 1 + z * R
    yield R.subs(z, 0), R_0


def check_both_below_one() -> bool:
    """Not treated in the paper: for α, β ≤ 1 the log ratio is strictly concave, so the densities cross at
    most twice. −h = n + (1−α)/x² + (1−β)/(1−x)² > 0."""
    a, b = symbols("a b", positive=True)  # 1 − α and 1 − β, in [0, 1)
    smallest = 2 - a - b  # n > 0
    return is_positive_on_unit_interval(-h.subs({A: -a, B: -b}) - smallest, x, a, b)


# --------------------------------------------------------------------- α ≥ β > 1, AB ≤ 1/9


def F(a: arb, b: arb) -> arb:
    """F(A, B)."""
    n = a + b + 2
    return (
        (1 + a).log()
        + (x_log_x(a) - a * n.log() + x_log_x(b) - b * n.log()) / 2
        + (2 * arb.pi() / n).log() / 2
    )


def F_far(s: arb, c: arb) -> arb:
    """A lower bound for F at A = 1/s, B = c s/9 that is finite down to s = 0: ½ log A is lowered
    to at most 1."""
    b = c * s / 9
    e = (b + 2) * s  # n = A(1 + e)
    return (
        (1 + s).log()
        + _half_log_at_most_one(s)
        - e.log1p() / 2
        - (b + 2) * _log1p_ratio(e) / 2
        + x_log_x(b) / 2
        + c * x_log_x(s) / 18
        - b * e.log1p() / 2
        + (2 * arb.pi()).log() / 2
    )


def _half_log_at_most_one(s: arb) -> arb:
    """The smaller of ½ log(1/s) and 1, for s ≥ 0."""
    if s > 0:
        return (-s.log() / 2).min(arb(1))
    return (-s.upper().log() / 2).min(arb(1)).union(arb(1))


def _log1p_ratio(e: arb) -> arb:
    """log(1 + e)/e for e ≥ 0; it falls from 1."""
    if e > 0:
        return e.log1p() / e
    return (e.upper().log1p() / e.upper()).union(arb(1))


def F_falls_in_B() -> Iterable[Sides]:
    """∂F/∂B = ½(log(B/n) + 1/n) < 0, since log(n/B) ≥ 1 − B/n > 1/n: so the edge B = min(A, 1/(9A)) is
    enough."""
    f = log(1 + A) + A / 2 * log(A / n) + B / 2 * log(B / n) + log(2 * pi / n) / 2
    yield diff(f, B), (log(B / n) + 1 / n) / 2
    yield 1 - B / n - 1 / n, (A + 1) / n


def check_final_region() -> bool:
    """For α ≥ β > 1 with AB ≤ 1/9 the beta density exceeds the normal's largest on [x₁, x₂]: F > 0 on the
    edge, in balls."""
    edge = judge_region(
        decide(lambda a: F(a, a), [(0.0, 0.34)]),
        decide(lambda a: F(a, 1 / (9 * a)), [(0.33, 1.0)]),
        decide(lambda s: F_far(s, arb(1)), [(0.0, 1.0)]),
    )
    return edge.verdict == HOLDS
