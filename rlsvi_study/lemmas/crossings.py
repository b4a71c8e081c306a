r"""Where the densities of Normal(α/n, 1/n) and Beta(α, β), n = α + β, cross; and where the
distribution functions do.

Write A = α − 1, B = β − 1 and u = log f_N − log f_B on (0, 1). Multiplying the derivative by
x(1 − x) gives a cubic with rational coefficients,

.. math:: x(1-x)\,u'(x) = n x^3 - (n+\alpha) x^2 + (\alpha + A + B) x - A,

whose real roots are isolated exactly. Between two of them u is monotone, and at the ends of (0, 1)
its limits are known, so the signs of u at the roots count its zeros: none is missed, however close
to 0 or 1. In the same way D = F_N − F_B is monotone between density crossings, starts at
F_N(0) > 0 and ends at F_N(1) − 1 < 0.

Positions are kept as y = log(x/(1 − x)), which has room for crossings that x can't tell from 0 or
1, and are enclosed by bisection with certified signs. Parameters may range from 10⁻⁶ to 10⁶.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from flint import arb, ctx, fmpq, fmpq_poly

from rlsvi_core.checks import fail
from rlsvi_core.optimism.balls import Number, Undecided, positive, sign

DIGITS = 13  # of the logit, absolute: at least as many of x and of 1 − x, relative


def logistic(y: arb) -> arb:
    return 1 / (1 + (-y).exp())


class Crossing(NamedTuple):
    """A crossing at x, enclosed: both its distance from 0 and from 1 to at least 12 digits."""

    logit: arb

    @property
    def x(self) -> float:
        y = self.logit
        return float(logistic(y)) if abs(y) < 708 else float(y > 0)  # else x is no normal float


class Pair(NamedTuple):
    """The normal and the beta law with the same mean, as functions of y = log(x/(1 − x))."""

    alpha: fmpq
    beta: fmpq

    @property
    def n(self) -> fmpq:
        return self.alpha + self.beta

    def log_ratio(self, y: arb) -> arb:
        """u = log f_N − log f_B."""
        return self._normal(logistic(y)) + self._beta(-(-y).exp().log1p(), -y.exp().log1p())

    def _normal(self, x: arb) -> arb:
        n, off = arb(self.n), x - arb(self.alpha / self.n)
        return -n * off * off / 2 + (n / (2 * arb.pi())).log() / 2

    def _beta(self, log_x: arb, log_1_minus_x: arb) -> arb:
        """−log f_B."""
        constant = arb(self.alpha).lgamma() + arb(self.beta).lgamma() - arb(self.n).lgamma()
        return constant - arb(self.alpha - 1) * log_x - arb(self.beta - 1) * log_1_minus_x

    def sign_at_zero(self) -> int:
        """Of u as x → 0: f_B vanishes there for α > 1, explodes for α < 1, is finite for α = 1."""
        if self.alpha != 1:
            return 1 if self.alpha > 1 else -1
        return sign(lambda: self._normal(arb(0)) + self._beta(arb(0), arb(0)))

    def mirrored(self) -> "Pair":
        """x → 1 − x swaps α and β and leaves u as it is."""
        return Pair(self.beta, self.alpha)

    def turning_points(self) -> list[Callable[[], arb]]:
        """Logits of the cubic's roots in (0, 1), in order, each as a function of the precision."""
        a, b, n = self.alpha, self.beta, self.n
        cubic = fmpq_poly([1 - a, 2 * a + b - 2, -(n + a), n])

        def roots() -> list[arb]:
            real = [z.real for z, _ in cubic.complex_roots() if z.imag == 0]
            return sorted(
                (x.log() - (1 - x).log() for x in real if 0 < x < 1), key=lambda y: float(y.mid())
            )

        def numbered(k: int) -> Callable[[], arb]:
            return lambda: roots()[k]

        return [numbered(k) for k in range(len(roots()))]

    def difference(self, y: arb) -> arb:
        """D = F_N − F_B, computed on the side where both are small."""
        if y > 0:
            return -self.mirrored().difference(-y)
        x, a, b = logistic(y), arb(self.alpha), arb(self.beta)
        v = (x - arb(self.alpha / self.n)) * (arb(self.n) / 2).sqrt()
        return (-v).erfc() / 2 - x.beta_lower(a, b, regularized=True)


def _bracket(f: Callable[[arb], arb], wanted: int, start: float, direction: int) -> float:
    """A place beyond ``start``, towards an end, where f has the sign it has in the limit."""
    for k in range(997):
        place = start + direction * 2.0**k
        # Undecided at the zero itself, or where f is too flat: further out it is clearer.
        with suppress(Undecided):
            if sign(partial(f, arb(place)), 1024) == wanted:
                return place
    raise Undecided("a sign change too close to 0 or 1 to be found")


def _locate(
    f: Callable[[arb], arb], left: float | None, right: float | None, sign_left: int
) -> Crossing:
    """The one zero between two places, f having ``sign_left`` at the left and not at the right.
    None stands for an end of (0, 1)."""
    start = _bracket(f, sign_left, right or 0.0, -1) if left is None else left
    end = _bracket(f, -sign_left, left or 0.0, 1) if right is None else right
    bits = 128 + max(0, math.frexp(max(abs(start), abs(end)))[1])
    if [sign(partial(f, arb(edge)), 1024) for edge in (start, end)] != [sign_left, -sign_left]:
        raise Undecided(f"a zero within rounding of an extremum, between {start} and {end}")
    with ctx.workprec(bits):
        low, high = arb(start), arb(end)
        while high - low > arb(10) ** -DIGITS:
            cut, here = _cut(f, low, high, 4 * bits)
            low, high = (cut, high) if here == sign_left else (low, cut)
        return Crossing(low.union(high))


def _cut(f: Callable[[arb], arb], low: arb, high: arb, bits: int) -> tuple[arb, int]:
    """A place between, and the sign there. If the middle is the very zero, cut beside it."""
    for share in (0.5, 0.4375):
        place = (low + (high - low) * share).mid()
        with suppress(Undecided):
            return place, sign(partial(f, place), bits)
    raise Undecided(f"no sign could be settled between {low} and {high}")


def _zeros(f: Callable[[arb], arb], turns: list[float], signs: list[int]) -> list[Crossing]:
    """All zeros of f, which has these signs at 0, at its turns and at 1, and no other turn."""
    between = zip(pairwise([None, *turns, None]), pairwise(signs), strict=True)
    return [_locate(f, *places, a) for places, (a, b) in between if a != b]


def _pair(alpha: Number, beta: Number) -> Pair:
    pair = Pair(positive("alpha", alpha), positive("beta", beta))
    if not fmpq(1, 10**6) <= min(pair) <= max(pair) <= 10**6:
        fail(f"alpha and beta lie between 1e-6 and 1e6; they are {alpha} and {beta}.")
    return pair


def pdf_crossings(alpha: Number, beta: Number) -> list[Crossing]:
    """Every x in (0, 1) where the two densities cross, in order; for α, β from 1e-6 to 1e6."""
    pair = _pair(alpha, beta)
    turns = pair.turning_points()

    def ratio_at(turn: Callable[[], arb]) -> Callable[[], arb]:
        return lambda: pair.log_ratio(turn())

    signs = [
        pair.sign_at_zero(),
        *(sign(ratio_at(turn)) for turn in turns),
        pair.mirrored().sign_at_zero(),
    ]
    with ctx.workprec(128):
        places = [float(turn().mid()) for turn in turns]
    return _zeros(pair.log_ratio, places, signs)


def _cdf_signs(pair: Pair, crossings: list[Crossing]) -> list[int]:
    """The sign of D at 0, at each density crossing (an extremum of D), and at 1."""
    return [1, *(sign(partial(pair.difference, c.logit), 1024) for c in crossings), -1]


def cdf_crossings(alpha: Number, beta: Number) -> list[Crossing]:
    """Every x in (0, 1) where the two distribution functions cross, in order."""
    pair, turns = _pair(alpha, beta), pdf_crossings(alpha, beta)
    return _zeros(pair.difference, [float(c.logit.mid()) for c in turns], _cdf_signs(pair, turns))


def places(alpha: float, beta: float) -> dict[str, Any]:
    """Where the densities and the distribution functions cross on (0, 1), and how often."""
    pdf = [crossing.x for crossing in pdf_crossings(alpha, beta)]
    cdf = [crossing.x for crossing in cdf_crossings(alpha, beta)]
    return {
        "alpha": alpha,
        "beta": beta,
        "pdf": pdf,
        "cdf": cdf,
        "densities": len(pdf),
        "functions": len(cdf),
    }
