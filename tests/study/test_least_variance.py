"""The least variance with which a normal is optimistic for Beta(n/2, n/2): c(n) is necessary and enough. The
page ``G-gauss-dirichlet`` has the proof; these are its steps, each with the sides that have to be equal."""

import numpy as np
import pytest
import sympy as sp
from flint import arb
from scipy import stats
from sympy import Rational, diff, pi, sqrt

from rlsvi_core.optimism import order
from rlsvi_core.optimism.balls import to_ball_rational, to_digits
from rlsvi_study.judging.algebra import expressions_equal

n, theta, x, y = sp.symbols("n theta x y", positive=True)
t = sp.symbols("t", real=True)
phi = sp.exp(-(x**2) / 2) / sqrt(2 * pi)
tail = sp.erfc(x / sqrt(2)) / 2
root_8c = sp.gamma((n + 1) / 2) / sp.gamma(n / 2 + 1)  # c(n) = root_8c²/8 = 1/(4(n + θ))


def necessary():
    """E|Y − ½| = Γ((n+1)/2)/(2√π Γ(n/2+1)) and E|X − ½| = √(2v/π), so that v is at least c(n)."""
    of_beta = 2 * sp.gamma(n) / (n * sp.gamma(n / 2) ** 2)  # times 2^(−n), by the density at ½
    yield sp.gammasimp(of_beta / root_8c), 2**n / (2 * sqrt(pi))
    yield pi / 2 * (1 / (2 * sqrt(pi))) ** 2, Rational(1, 8)
    yield 2 * (phi - x * tail).subs(x, 0), sqrt(2 / pi)


def between():
    """½ < θ, and θ < 3/5 for n ≥ 1: with y = n/2, 8c(n)(y + b) rises from y to y + 1 for b = ¼, falls for
    b = 3/10 and y ≥ ½, and tends to 1."""

    def step(b):
        return (y + 1 + b) * (y + Rational(1, 2)) ** 2 - (y + b) * (y + 1) ** 2

    ratio = sp.gammasimp(sp.expand_func(root_8c.subs(n, 2 * y + 2) / root_8c.subs(n, 2 * y)))
    yield ratio, (y + Rational(1, 2)) / (y + 1)
    yield step(Rational(1, 4)), Rational(1, 16)
    yield step(Rational(3, 10)), -(y - Rational(1, 2)) / 20


def gap_by_distance():
    """G/t has the slope −(K − J)/t²: the excesses are K and J less t times the tails, and J′ = tP′."""
    J, P = sp.Function("J")(t), sp.Function("P")(t)
    yield diff((phi - x * tail) / x, x), -phi / x**2
    yield diff(J / t - P, t).subs(diff(J, t), t * diff(P, t)), -J / t**2


def at_one_half():
    """log(K/J) has a slope of t times n/(¼ − t²) − 4(n + θ), which rises from −4θ: K − J is 0 at t = 0, first
    negative, then positive. So G/t rises from 0 and then falls to 0."""
    log_J = n / 2 * sp.log(Rational(1, 4) - t**2)  # up to a constant
    slope = n / (Rational(1, 4) - t**2) - 4 * (n + theta)
    yield diff(-2 * (n + theta) * t**2 - log_J, t), t * slope
    yield slope.subs(t, 0), -4 * theta
    yield diff(slope, t), 2 * n * t / (Rational(1, 4) - t**2) ** 2


@pytest.mark.parametrize("step", [necessary, between, gap_by_distance, at_one_half])
def test_a_step_holds_and_fails_with_one_side_changed(step):
    for left, right in step():
        assert expressions_equal(left, right)
        assert not expressions_equal(left, right + Rational(1, 1000))


def c(n):
    return (((n + 1) / 2).lgamma() - (n / 2 + 1).lgamma()).exp() ** 2 / 8


@pytest.mark.parametrize("n", [0.125, 0.5, 1, 2, 3, 8, 64])
def test_c_is_the_least_that_is_enough(n):
    """The mean deviation of the beta law by quadrature; the gap in balls, just above c(n) and just below."""
    deviation = 2 * stats.beta(n / 2, n / 2).expect(lambda y: y - 0.5, lb=0.5, ub=1)
    least = float(to_digits(lambda: c(arb(n))))
    assert least == pytest.approx(np.pi / 2 * deviation**2, rel=1e-6)
    law, levels = order.Beta(n / 2, n / 2), np.linspace(0.5, 1.1, 13)
    enough, less = (
        to_ball_rational(least) * (1 + to_ball_rational(off)) for off in (2.0**-40, -(2.0**-10))
    )
    assert order.exact_gap(order.Normal(0.5, enough), law, levels).min() >= 0
    assert order.exact_gap(order.Normal(0.5, less), law, levels)[0] < 0
