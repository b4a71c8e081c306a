"""Where the tails meet: what the theorem of ``means`` leaves to ball arithmetic.

In its symbols, with e = 1/n, D2 = Δ² and d2 = δ². A function returns a ball around its formula, rounding
errors included.
"""

from collections.abc import Callable
from typing import Any

from flint import arb

from rlsvi_core.optimism.balls import Counterexample, Proof, decide, root

HALF, TWELFTH, X_MOST, ERROR = arb(1) / 2, arb(1) / 12, arb(37) / 100, arb(1) / 10**4
LESS, MORE, H = arb(52) / 5, arb(8), arb(3) / 4
SLICES = 64  # of 1/n


def theta_far(e: Any, c: Any) -> Any:
    """A bound for θ at 1/e: ½ + 2e/(16 + ce)."""
    return (1 + 4 * e / (16 + c * e)) / 2


def theta(e: Any, c: Any) -> Any:
    """θ at n = 1/e, if it is as above at n + 4, since N(n) = N(n+2)((n+1)/(n+2))²."""
    there = theta_far(e / (1 + 4 * e), c)
    for k in (3, 1):
        there = (e + (1 + k * e) ** 2 / (1 + (k + 1) * e) * there) / (1 + (k + 1) * e)
    return there


def _monotone(f: Callable[[arb], arb], x: arb) -> arb:
    return f(x.lower()).union(f(x.upper()))


def decay(x: arb) -> arb:
    """φ(x) = (1 − e⁻ˣ)/x, which falls."""
    return _monotone(lambda x: -(-x).expm1() / x if x else arb(1), x)


def growth(x: arb) -> arb:
    """−log(1 − x)/x, which rises."""
    return _monotone(lambda x: -(-x).log1p() / x if x else arb(1), x)


def theta_below(e: arb) -> arb:
    return _monotone(lambda e: theta(e, LESS), e)


def theta_above(e: arb) -> arb:
    return _monotone(lambda e: theta(e, MORE), e)


def gauss(nodes: int) -> list[tuple[arb, arb]]:
    """Nodes and weights on [0, 1]."""
    rule = (arb.legendre_p_root(nodes, k, weight=True) for k in range(nodes))
    return [((1 + x) / 2, w / 2) for x, w in rule]


INNER, OUTER = gauss(4), gauss(10)


def curvature(e: arb, at: arb, more: arb | int) -> arb:
    """n² times the bound for w″(n·at)."""
    near, far = 1 - at / (at + e), at + (1 + more) * e
    return near**2 / (2 * at**2) + (1 - at / far) / (1 + more) / (6 * far**2)


def height_below(e: arb, d2: arb) -> arb:
    """A lower bound for −log μ over δ² = d2, by Gauss' rule; at δ = ½ the logarithm is infinite."""
    side = root(d2) / arb(6).sqrt()
    sides = [curvature(e, HALF + one, TWELFTH) for one in (side, -side)]
    return 2 * growth((4 * d2).min(arb(19) / 20)) + (sides[0] + sides[1]) / 2


def height_above(e: arb, d2: arb) -> arb:
    """The upper one, by Lobatto's."""
    side = root(d2)
    sides = [curvature(e, HALF + one, 0) for one in (side, -side)]
    return 2 * growth(4 * d2) + (10 * curvature(e, HALF, 0) + sides[0] + sides[1]) / 12


def bend(s: arb, D2: arb, d2: arb, last: arb) -> arb:
    """16∫ξp/(1 − 4εp) dξ at S = sΔ, with 1 + x + last·x² for 1/(1 − x)."""
    total = arb(0)
    for node, weight in INNER:
        y = (node * s - 1) ** 2
        x = 4 * d2 * y
        total += weight * node * y * (1 + x * (1 + last * x))
    return 16 * D2 * total


def rates(ell: arb) -> tuple[arb, arb]:
    """κ and C."""
    return arb(7) / 5 + ell, (2 + ell) / 3


def skew(e: arb, ell: arb) -> arb:
    """The bound for ρ̂."""
    kappa, C = rates(ell)
    share = 1 / (1 + e * kappa)
    return arb(4) / 3 + H * (1 - share) * (1 - C / kappa * share)


def psi(e: arb, Delta: arb, R: arb) -> arb:
    """Ψ, below G/(Mδ²)."""
    D2 = Delta**2
    d2, low = e * D2, theta_below(e)
    height, nu, s0 = height_below(e, d2), 1 + e * low, arb(1) / 4 - d2
    mu, first = (-height * d2).exp(), height * decay(height * d2)  # first = γ/Δ²
    inside = ERROR * arb(0, 1)
    for node, weight in OUTER:
        s = node * R
        S2 = s**2 * D2
        X, x = bend(s, D2, d2, 1 / (1 - X_MOST)) - 2 * low, 2 * nu * S2
        inside += weight * (
            2 * nu * first * D2 * decay(x) - mu * (-x).exp() * X * decay(e * X * S2)
        )
    return first - R * mu / (2 * s0) * skew(e, d2 / s0) + R**2 * inside


def quotient_below(e: arb, Delta: arb, R: arb) -> arb:
    """A lower bound for D/δ²."""
    D2 = Delta**2
    return height_below(e, e * D2) + R**2 * (bend(R, D2, e * D2, arb(1)) - 2 * theta_above(e))


def quotient_above(e: arb, Delta: arb, R: arb) -> arb:
    """An upper bound for D/δ²."""
    D2 = Delta**2
    X = bend(R, D2, e * D2, 1 / (1 - X_MOST)) - 2 * theta_below(e)
    return height_above(e, e * D2) + R**2 * X


def reach(e: arb) -> arb:
    """√n r, or more."""
    return (theta_above(e) / (1 + e * theta_above(e))).sqrt() / 2


def skewed_spare(v: arb, ell: arb) -> arb:
    """η̄′ less the bound for η′ at η = η̄; η̄ = v·rate, so that nothing is divided by v."""
    kappa, C = rates(ell)
    left = (-kappa * v).exp()
    rate = H * (kappa * decay(kappa * v) - C * left)
    eta, rho = v * rate, arb(4) / 3 + v * rate
    return (
        H * left * (kappa - C + kappa * C * v)
        + 3 * rate / (2 * decay(2 * (1 + 2 * ell) * v))
        - arb(4) / 3
        - eta
        - ell / 2 * rho**3
    )


def unreached(v: arb, ell: arb) -> arb:
    """2/3 − η̄."""
    kappa, C = rates(ell)
    return arb(2) / 3 - H * (1 - (-kappa * v).exp() * (1 + C * v))


MEET = (  # where the tails can meet and the gap be least
    lambda e, Delta, R: 1 - 4 * (1 + 2 * e) * Delta**2,
    lambda e, Delta, R: reach(e) - (R - 1) * Delta,
    quotient_above,
    lambda e, Delta, R: -quotient_below(e, Delta, R),
)


def touching(piece: int) -> Proof | Counterexample:
    """Whether Ψ > 0 where the tails can meet and 1/n is in this one of 64 equal pieces of [0, 1]."""

    def scaled(f: Callable[..., arb]) -> Callable[..., arb]:  # to halve the edge that matters most
        return lambda e, Delta, R: f(e / 20, Delta / 60, R / 9)

    ends = 20 * piece / SLICES, 20 * (piece + 1) / SLICES
    return decide(scaled(psi), [ends, (0.0, 30.0), (0.0, 22.5)], where=[*map(scaled, MEET)])
