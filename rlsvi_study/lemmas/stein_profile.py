r"""Lemma 1 by profiles, in four steps that need no beta law; the page ``G-gauss-dirichlet`` has the proof.

The *profile* of a law with mean μ is what its largest share p exceeds the mean by,
:math:`J(p) = \mathbb E[Y - \mu;\ Y > z]` with :math:`p = \mathbb P(Y > z)`. Of two laws of the same
mean that with the larger profile is stochastically optimistic for the other. The normal's has
JJ'' = −v. That of Y = P'V has JJ'' ≥ −1/(4n), by Stein's identity, so it is below that of the
normal of variance v = 1/(4n).

Each step gives the sides that have to be equal.
"""

from collections.abc import Iterable
from typing import Any

import sympy as sp
from sympy import Expr, Rational, cancel, diff, exp, oo, pi, sqrt, symbols

from ..judging.algebra import Sides

g, a, v, y, V = symbols("g a v y V", positive=True)
x = symbols("x", real=True)
P = symbols("P_1:4", positive=True)
alpha = symbols("alpha_1:4", positive=True)
WORTH = (0, V, 1)
Y = sum(p * worth for p, worth in zip(P, WORTH, strict=True))
SPREAD = sum(p * worth**2 for p, worth in zip(P, WORTH, strict=True)) - Y**2  # Var_P(V)
MEAN = sum(weight * worth for weight, worth in zip(alpha, WORTH, strict=True)) / sum(alpha)


def stein_gamma() -> Iterable[Sides]:
    """E[(γ − a)h(γ)] = E[γh′(γ)] for a gamma variable of any shape a > 0, and P'V changes with γᵢ at
    the rate (Vᵢ − P'V)/Σγ.

    g^a e^(−g) has the derivative (a − g)g^(a−1) e^(−g) and vanishes at 0 and at ∞: no boundary term,
    however small a is."""
    shape = g**a * exp(-g)  # the density times g, up to a factor
    yield diff(shape, g), (a - g) * shape / g
    yield sp.limit(shape, g, 0), 0
    yield sp.limit(shape, g, oo), 0
    total = sum(P)  # here P stands for the gamma variables
    for variable, worth in zip(P, WORTH, strict=True):
        yield diff(Y / total, variable), (worth - Y / total) / total


def dirichlet_expectation(polynomial: Expr, weights: tuple[Any, ...]) -> Expr:
    """The expectation of a polynomial in P, if P ~ Dirichlet(weights)."""
    total = 0
    for powers, factor in sp.Poly(sp.expand(polynomial), *P).terms():
        rising = [sp.rf(weight, power) for weight, power in zip(weights, powers, strict=True)]
        moment = sp.prod(rising) / sp.rf(sum(weights), sum(powers))
        total += factor * sp.expand_func(moment)
    return total


def stein_dirichlet() -> Iterable[Sides]:
    """n E[(Y − μ)f(Y)] = E[Var_P(V) f′(Y)] for Y = P'V, P ~ Dirichlet(α): by moments, for three colours
    of any weights and f(y) = y, y², y³."""
    for k in (1, 2, 3):
        covariance = sum(alpha) * dirichlet_expectation((Y - MEAN) * Y**k, alpha)
        yield cancel(covariance - dirichlet_expectation(k * SPREAD * Y ** (k - 1), alpha)), 0


def stein_variance() -> Iterable[Sides]:
    """Var_P(V) ≤ Y(1 − Y) ≤ ¼ if V ∈ [0, 1]^N: Y(1 − Y) − Var_P(V) = ΣPᵢVᵢ(1 − Vᵢ), and
    ¼ − Y(1 − Y) = (Y − ½)²."""
    yield Y * (1 - Y) - SPREAD, P[1] * V * (1 - V)
    yield Rational(1, 4) - y * (1 - y), (y - Rational(1, 2)) ** 2


def normal_profile() -> Iterable[Sides]:
    """The profile of N(μ, v) is K = √v φ(x) at p = Φ(−x), so that K′ = √v x and KK″ = −v."""
    phi = exp(-(x**2) / 2) / sqrt(2 * pi)
    K = sqrt(v) * phi
    slope = sqrt(v) * x
    yield diff(K, x) / -phi, slope
    yield K * diff(slope, x) / -phi, -v


STEPS_LEMMA_1 = (stein_gamma, stein_dirichlet, stein_variance, normal_profile)
