r"""Lemma 1 by profiles: two laws of the same mean are compared by one differential inequality.

The *profile* of a law with mean μ is what its largest share p exceeds the mean by,

.. math:: J(p) = \mathbb E[Y - \mu;\ Y > z], \qquad p = \mathbb P(Y > z), \qquad J' = z - \mu,

concave, with J(0) = J(1) = 0. As :math:`\mathbb E(Y - z)^+ = \max_p (J(p) - (z - \mu)p)`, of two laws of
the same mean that with the larger profile is stochastically optimistic for the other.

**A comparison.** Let T > 0 be continuous, and almost everywhere :math:`JJ'' \ge -T(J')` and
:math:`KK'' = -T(K')`. Then J ≤ K. For where J − K is largest and positive, J' = K', so that
:math:`(J-K)'' \ge T(K')/K - T(J')/J > 0` nearby, and no maximum is convex on both sides.

**The normal** N(μ, v) has :math:`K = \sqrt v\,\varphi(\Phi^{-1}(p))` and KK'' = −v.

**A Dirichlet mean** Y = P'V has, by Stein's identity (``sharp``), for every continuous g with compact
support and its integral h, :math:`n\,\mathbb E[(Y - \mu)h(Y)] = \mathbb E[s_P\,g(Y)]`, where
:math:`s_P \le Y(1-Y) \le \frac14`. The left side is :math:`n\int g(z)J\,dz`, so the law of Y has at
least the density nJ/(z(1−z)), and :math:`JJ'' \ge -z(1-z)/n \ge -1/(4n)`, with equality in the first
for a beta law.

- T = 1/(4n): the normal of variance 1/(4n) is optimistic for P'V (Lemma 1, with a quarter of its
  variance).
- T(x) = (μ+x)(1−μ−x)/n: the beta law of the same weight and mean is (Lemma 5).

**1/(4n + 4/3), all n > 0.** For n ≥ ½ see ``sharp``. For n ≤ 0.3 the coin's π/8 is smaller. Between,
the same bound holds with the true :math:`\theta_n` in place of ½.
"""

from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from rlsvi_core.optimism import order
from rlsvi_core.optimism.balls import Counterexample, Proof, decide, exact

from ..judging.algebra import Sides

__all__ = [
    "beta_profile",
    "c",
    "least",
    "normal_profile",
    "small_weights",
]

a, b, n, v, y, M, u = sp.symbols("a b n v y M u", positive=True)
x, z = sp.symbols("x z", real=True)


def c(n: arb) -> arb:
    """c(n), the least variance that is enough at mean ½."""
    return (((n + 1) / 2).lgamma() - (n / 2 + 1).lgamma()).exp() ** 2 / 8


def normal_profile(T: Any = v) -> list[Sides]:
    """K = √v φ(x) at p = Φ(−x): K' = √v x, KK'' = −T for T = v."""
    phi = sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)
    K, slope = sp.sqrt(v) * phi, sp.sqrt(v) * x
    return [(sp.diff(K, x) / -phi, slope), (K * sp.diff(slope, x) / -phi, -T)]


def beta_profile(total: Any = a + b) -> list[Sides]:
    """J of Beta(a, b), by z: dJ = −(z − μ) f dz, and JJ'' = −z(1−z)/n, up to the factor 1/B."""
    f = z ** (a - 1) * (1 - z) ** (b - 1)
    J = z**a * (1 - z) ** b / (a + b)
    return [
        (sp.diff(J, z) / f, -(z - a / (a + b))),
        (sp.simplify(J / f), z * (1 - z) / total),
    ]


def small_weights(margin: Any = 0) -> Proof | Counterexample:
    """(n/2) log((n+θ_n)/(n+⅓)) > 1/22 for n in [0.3, ½]; n + θ_n = 1/(4c(n))."""
    third = arb(1) / 3
    return decide(
        lambda n: n / 2 * (1 / (4 * c(n) * (n + third))).log() - arb(1) / 22 - margin,
        [(0.3, 0.5)],
    )


def least(
    weights: list[int], V: list[float], beta: bool = False, times: Any = 4
) -> tuple[float, float]:
    """For P ~ Dirichlet(weights): the least gap of the normal of variance 1/(times·n), or of the beta
    law, over P'V; and the largest nJ/f·4, or nJ/(f z(1−z)), which Stein's identity has at most 1."""
    law, total = order.DirichletMean.of(weights, V), int(sum(weights))
    mu = law.mean
    other = order.Beta.of(total * mu, total * (1 - mu)) if beta else None
    above = other or order.Normal.of(mu, exact(1) / (times * total))
    levels, step, ratio = np.linspace(0.05, 0.95, 19), 1e-4, 0.0
    for at in levels:
        # f by differences of the tail, whose error is of the order of step²
        lower, upper = (float(arb(law.tail(at + d))) for d in (-step, step))
        J = float(arb(law.excess(at))) + (at - float(mu)) * float(arb(law.tail(at)))
        ratio = max(
            ratio, total * J * 2 * step / (lower - upper) / (at * (1 - at) if beta else 0.25)
        )
    return float(order.gap(above, law, levels).min()), ratio
