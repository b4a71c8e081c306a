r"""Where the density or the distribution function of a normal and of a beta distribution cross in
(0, 1): in floats on a grid, and certified.

Positions are kept as y = log(x/(1 − x)), which has room for crossings that x can't tell from 0
or 1.

**Why none is missed.** Write A = α − 1, B = β − 1 and u = log f_N − log f_B for a normal of mean μ
and variance v. Multiplying the derivative by x(1 − x) gives a cubic with rational coefficients,

.. math:: x(1-x)\,u'(x) = \tfrac1v x^3 - \tfrac{1+\mu}v x^2 + (\tfrac\mu v + A + B) x - A,

whose real roots are isolated exactly. Between two of them u is monotone, and at the ends of (0, 1)
its limits are known, so the signs of u at the roots count its zeros. In the same way D = F_N − F_B
is monotone between density crossings, starts at F_N(0) > 0 and ends at F_N(1) − 1 < 0. Zeros are
enclosed by bisection with certified signs, α and β from 10⁻⁶ to 10⁶.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaln, expit, logit, ndtr
from scipy.stats import norm

from ..runtime.checks import fail
from ..runtime.compilation import Floats
from .balls import Undecided, arb, certified_sign, ctx, fmpq_poly, to_ball_rational
from .order import Beta, Normal

__all__ = [
    "Crossing",
    "Crossings",
    "cdf_crossings",
    "certify_crossings",
    "density_crossings",
    "find_zeros",
]

# ----------------------------------------------------------------------------- on a grid, in floats


def find_zeros(f: Callable[[Floats], Floats], grid: Floats) -> Floats:
    """Return the zeros of f between points of the grid where its sign changes.

    Two zeros between neighbours are missed; points where f is 0, as where floats end, are left out.

    >>> find_zeros(np.cos, np.linspace(0, 6, 50))
    array([1.57079633, 4.71238898])
    """
    signs = np.sign(f(grid))
    grid, signs = grid[signs != 0], signs[signs != 0]
    return np.array([brentq(f, *grid[i : i + 2]) for i in np.flatnonzero(np.diff(signs))])


def spread_logits(beta: Beta) -> Floats:
    """Return logits for a grid: dense around the mean by the deviation, and far out."""
    a, b = float(beta.alpha), float(beta.beta)
    deviation = min(1.0, math.sqrt((a + b) / a / b))  # of the logit, roughly
    return np.asarray(logit(a / (a + b)) + deviation * np.sinh(np.linspace(-44, 44, 2000)))


def density_crossings(normal: Normal, beta: Beta) -> Floats:
    """Return every x in (0, 1) where the two densities cross, as found on a grid.

    >>> density_crossings(Normal.matching_beta(2, 3), Beta(2, 3)).round(4)
    array([0.064 , 0.7153])
    """
    a, b, mean = float(beta.alpha), float(beta.beta), float(normal.mean)
    deviation = math.sqrt(normal.variance)

    def log_ratio(y: Floats) -> Floats:
        log_x, log_rest = -np.logaddexp(0, -y), -np.logaddexp(0, y)
        log_beta = (a - 1) * log_x + (b - 1) * log_rest - betaln(a, b)
        return np.asarray(norm.logpdf(expit(y), mean, deviation) - log_beta)

    return np.asarray(expit(find_zeros(log_ratio, spread_logits(beta))))


def cdf_crossings(normal: Normal, beta: Beta) -> Floats:
    """Return every x in (0, 1) where the two distribution functions cross, as found on a grid.

    >>> cdf_crossings(Normal.matching_beta(2, 3), Beta(2, 3)).round(4)
    array([0.371])
    >>> cdf_crossings(Normal.matching_beta(0.05, 0.05), Beta(0.05, 0.05)).round(4)
    array([0.1017, 0.5   , 0.8983])
    """
    a, b, mean = float(beta.alpha), float(beta.beta), float(normal.mean)
    deviation = math.sqrt(normal.variance)

    def difference(y: Floats) -> Floats:
        """F_N − F_B, right of ½ by the upper tails: computed where both are small."""
        left = y < 0
        x = expit(-np.abs(y))
        below_normal = ndtr((x - np.where(left, mean, 1 - mean)) / deviation)
        below_beta = betainc(np.where(left, a, b), np.where(left, b, a), x)
        return np.asarray(np.where(left, 1.0, -1.0) * (below_normal - below_beta))

    return np.asarray(expit(find_zeros(difference, spread_logits(beta))))


# ---------------------------------------------------------------------------------------- certified

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


class NormalBetaPair(NamedTuple):
    """A normal and a beta distribution, compared by functions of y = log(x/(1 − x))."""

    normal: Normal
    beta: Beta

    def log_ratio(self, y: arb) -> arb:
        """Return u = log f_N − log f_B."""
        return self._normal_log_density(logistic(y)) + self._minus_beta_log_density(
            -(-y).exp().log1p(), -y.exp().log1p()
        )

    def _normal_log_density(self, x: arb) -> arb:
        precision = arb(1 / to_ball_rational(self.normal.variance))
        off = x - arb(to_ball_rational(self.normal.mean))
        return -precision * off * off / 2 + (precision / (2 * arb.pi())).log() / 2

    def _minus_beta_log_density(self, log_x: arb, log_1_minus_x: arb) -> arb:
        """Return −log f_B."""
        a, b = to_ball_rational(self.beta.alpha), to_ball_rational(self.beta.beta)
        constant = arb(a).lgamma() + arb(b).lgamma() - arb(a + b).lgamma()
        return constant - arb(a - 1) * log_x - arb(b - 1) * log_1_minus_x

    def sign_at_zero(self) -> int:
        """Return the sign of u as x → 0: f_B vanishes for α > 1 and explodes for α < 1."""
        if self.beta.alpha != 1:
            return 1 if self.beta.alpha > 1 else -1
        return certified_sign(
            lambda: self._normal_log_density(arb(0)) + self._minus_beta_log_density(arb(0), arb(0))
        )

    def mirrored(self) -> NormalBetaPair:
        """Return the pair of 1 − X and 1 − Y: u is as it was."""
        normal = Normal(1 - self.normal.mean, self.normal.variance)
        return NormalBetaPair(normal, Beta(self.beta.beta, self.beta.alpha))

    def turning_points(self) -> list[Callable[[], arb]]:
        """Return the logits of the cubic's roots in (0, 1), each a function of the precision."""
        mean, v = to_ball_rational(self.normal.mean), to_ball_rational(self.normal.variance)
        A, B = to_ball_rational(self.beta.alpha) - 1, to_ball_rational(self.beta.beta) - 1
        cubic = fmpq_poly([-A, A + B + mean / v, -(1 + mean) / v, 1 / v])

        def roots() -> list[arb]:
            real = [z.real for z, _ in cubic.complex_roots() if z.imag == 0]
            return sorted(
                (x.log() - (1 - x).log() for x in real if 0 < x < 1), key=lambda y: float(y.mid())
            )

        def numbered(k: int) -> Callable[[], arb]:
            return lambda: roots()[k]

        return [numbered(k) for k in range(len(roots()))]

    def cdf_difference(self, y: arb) -> arb:
        """Return D = F_N − F_B, computed on the side where both are small."""
        if y > 0:
            return -self.mirrored().cdf_difference(-y)
        x, a, b = (
            logistic(y),
            arb(to_ball_rational(self.beta.alpha)),
            arb(to_ball_rational(self.beta.beta)),
        )
        v = (x - arb(to_ball_rational(self.normal.mean))) / arb(
            2 * to_ball_rational(self.normal.variance)
        ).sqrt()
        return (-v).erfc() / 2 - x.beta_lower(a, b, regularized=True)


def _bracket(f: Callable[[arb], arb], wanted: int, start: float, direction: int) -> float:
    """A place beyond ``start``, towards an end, where f has the sign it has in the limit."""
    for k in range(997):
        place = start + direction * 2.0**k
        # Undecided at the zero itself, or where f is too flat: further out it is clearer.
        with suppress(Undecided):
            if certified_sign(partial(f, arb(place)), 1024) == wanted:
                return place
    raise Undecided("a sign change too close to 0 or 1 to be found")


def _locate_zero(
    f: Callable[[arb], arb], left: float | None, right: float | None, sign_left: int
) -> Crossing:
    """The one zero between two places, f having ``sign_left`` at the left and not at the right.
    None stands for an end of (0, 1)."""
    start = _bracket(f, sign_left, right or 0.0, -1) if left is None else left
    end = _bracket(f, -sign_left, left or 0.0, 1) if right is None else right
    bits = 128 + max(0, math.frexp(max(abs(start), abs(end)))[1])
    if [certified_sign(partial(f, arb(edge)), 1024) for edge in (start, end)] != [
        sign_left,
        -sign_left,
    ]:
        raise Undecided(f"a zero within rounding of an extremum, between {start} and {end}")
    with ctx.workprec(bits):
        low, high = arb(start), arb(end)
        while high - low > arb(10) ** -DIGITS:
            cut, here = _bisect(f, low, high, 4 * bits)
            low, high = (cut, high) if here == sign_left else (low, cut)
        return Crossing(low.union(high))


def _bisect(f: Callable[[arb], arb], low: arb, high: arb, bits: int) -> tuple[arb, int]:
    """A place between, and the sign there. If the middle is the very zero, cut beside it."""
    for share in (0.5, 0.4375):
        place = (low + (high - low) * share).mid()
        with suppress(Undecided):
            return place, certified_sign(partial(f, place), bits)
    raise Undecided(f"no sign could be settled between {low} and {high}")


def _enclose_zeros(f: Callable[[arb], arb], turns: list[float], signs: list[int]) -> list[Crossing]:
    """All zeros of f, which has these signs at 0, at its turns and at 1, and no other turn."""
    between = zip(pairwise([None, *turns, None]), pairwise(signs), strict=True)
    return [_locate_zero(f, *places, a) for places, (a, b) in between if a != b]


class Crossings(NamedTuple):
    """Every crossing in (0, 1), in order: of the densities, and of the distribution functions."""

    density: list[Crossing]
    cdf: list[Crossing]


def certify_crossings(normal: Normal, beta: Beta) -> Crossings:
    """Count and enclose, with proof, the crossings of a normal and a beta distribution.

    >>> found = certify_crossings(Normal.matching_beta(0.05, 0.05), Beta(0.05, 0.05))
    >>> [round(crossing.x, 4) for crossing in found.cdf], len(found.density)
    ([0.1017, 0.5, 0.8983], 2)
    """
    shapes = float(beta.alpha), float(beta.beta)
    if not 1e-6 <= min(shapes) <= max(shapes) <= 1e6:
        fail(
            f"""alpha and beta must lie between 1e-6 and 1e6 for a certified answer; they are
            {shapes[0]:g} and {shapes[1]:g}. Beyond, no precision was tried."""
        )
    pair = NormalBetaPair(normal, beta)
    turns = pair.turning_points()

    def ratio_at(turn: Callable[[], arb]) -> Callable[[], arb]:
        return lambda: pair.log_ratio(turn())

    inner = [certified_sign(ratio_at(turn)) for turn in turns]
    with ctx.workprec(128):
        places = [float(turn().mid()) for turn in turns]
    ends = pair.sign_at_zero(), pair.mirrored().sign_at_zero()
    density = _enclose_zeros(pair.log_ratio, places, [ends[0], *inner, ends[1]])
    inner = [
        certified_sign(partial(pair.cdf_difference, c.logit), 1024) for c in density
    ]  # extrema of D
    extrema = [float(c.logit.mid()) for c in density]
    return Crossings(density, _enclose_zeros(pair.cdf_difference, extrema, [1, *inner, -1]))
