r"""Stochastic optimism (section 5, appendix G): X is stochastically optimistic for Y if
:math:`E\,u(X) \ge E\,u(Y)` for every convex increasing u.

All of it is in one function of a real z, the *gap*

.. math:: G(z) = E(X - z)^+ - E(Y - z)^+ = \int_z^\infty \{P(X \ge s) - P(Y \ge s)\}\, ds:

X is optimistic for Y exactly if :math:`G(z) \ge 0` for all z. ``estimate_gap`` has it from samples,
with standard errors; ``exact_gap`` to any precision, from each distribution's ``excess(z)`` =
E(X − z)⁺ in balls, far into the tails, where both are tiny and nearly equal. ``compare_samples`` is
a test by samples, at many z at once, and not a proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline
from scipy.optimize import minimize_scalar
from scipy.special import betainc, betaln, gammaln, ndtri, xlog1py, xlogy
from scipy.stats import norm

from ..runtime import checks
from ..runtime.compilation import Floats, Seed
from .balls import Number, arb, fmpq, to_ball_rational, to_digits, to_fraction, to_positive_fraction

__all__ = [
    "Beta",
    "Comparison",
    "DirichletMean",
    "FiniteDistribution",
    "GapEstimate",
    "Normal",
    "compare_samples",
    "estimate_gap",
    "exact_gap",
    "least_variance",
    "least_variance_at_half",
]

# ------------------------------------------------------ distributions; parameters are taken exactly


@dataclass(frozen=True)
class Normal:
    """The normal distribution."""

    mean: Number
    variance: Number

    def __post_init__(self) -> None:
        variance = to_positive_fraction("variance", self.variance)
        checks.set_frozen_fields(self, mean=to_fraction(self.mean), variance=variance)

    @classmethod
    def matching_beta(cls, alpha: Number, beta: Number) -> Normal:
        """Return the lemma's normal for Beta(α, β): mean α/(α+β), variance 1/(α+β)."""
        law = Beta(alpha, beta)
        return cls(law.mean, 1 / (law.alpha + law.beta))

    def sample(self, n: int, rng: Seed = None) -> Floats:
        """Return n draws."""
        deviation = math.sqrt(self.variance)
        return checks.as_generator(rng).normal(float(self.mean), deviation, check_draw_count(n))

    def _standardize(self, z: Number) -> arb:
        return (arb(to_ball_rational(z)) - arb(to_ball_rational(self.mean))) / arb(
            to_ball_rational(self.variance)
        ).sqrt()

    def tail(self, z: Number) -> arb:
        """Return P(X ≥ z)."""
        return (self._standardize(z) / arb(2).sqrt()).erfc() / 2

    def excess(self, z: Number) -> arb:
        """Return E(X − z)⁺ = √variance · ψ(v) with ψ(v) = φ(v) − v Φ(−v)."""
        v = self._standardize(z)
        density = (-v * v / 2).exp() / (2 * arb.pi()).sqrt()
        return arb(to_ball_rational(self.variance)).sqrt() * (density - v * self.tail(z))


@dataclass(frozen=True)
class Beta:
    """The beta distribution."""

    alpha: Number
    beta: Number

    def __post_init__(self) -> None:
        alpha, beta = (
            to_positive_fraction("alpha", self.alpha),
            to_positive_fraction("beta", self.beta),
        )
        checks.set_frozen_fields(self, alpha=alpha, beta=beta)

    @property
    def mean(self) -> Number:
        return self.alpha / (self.alpha + self.beta)

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, 1.0

    def sample(self, n: int, rng: Seed = None) -> Floats:
        """Return n draws."""
        return checks.as_generator(rng).beta(
            float(self.alpha), float(self.beta), check_draw_count(n)
        )

    def tail(self, z: Number) -> arb:
        """Return P(Y ≥ z)."""
        z = to_fraction(z)
        if not 0 < z < 1:
            return arb(to_ball_rational(int(z <= 0)))
        a, b = arb(to_ball_rational(self.alpha)), arb(to_ball_rational(self.beta))
        if z < self.mean:  # there the tail is large, and its complement far quicker to compute
            return 1 - arb(to_ball_rational(z)).beta_lower(a, b, regularized=True)
        return arb(to_ball_rational(1 - z)).beta_lower(b, a, regularized=True)

    def excess(self, z: Number) -> arb:
        """Return E(Y − z)⁺ = E[Y; Y ≥ z] − z P(Y ≥ z), the first term through Beta(α+1, β)."""
        z, mean = to_ball_rational(z), to_ball_rational(self.mean)
        if z <= 0:
            return arb(mean - z)
        return arb(mean) * Beta(self.alpha + 1, self.beta).tail(z) - arb(z) * self.tail(z)

    def profile(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the smaller of P(Y < z) and P(Y > z), and E[Y − mean; Y > z], in floats."""
        a, b = float(self.alpha), float(self.beta)
        share = np.minimum(betainc(a, b, z), betainc(b, a, 1 - z))
        return share, np.exp(xlogy(a, z) + xlog1py(b, -z) - betaln(a, b)) / (a + b)


@dataclass(frozen=True)
class FiniteDistribution:
    """A distribution of finitely many values, whose excess is rational."""

    values: Sequence[Number]
    weights: Sequence[Number]

    def __post_init__(self) -> None:
        mass = [to_fraction(w) for w in self.weights]
        if len(self.values) != len(mass) or not sum(mass) > 0 or min(mass) < 0:
            checks.fail(
                "values and weights pair up, weights ≥ 0 and some > 0; they are "
                f"{self.values!r} and {self.weights!r}."
            )
        weights = tuple(w / sum(mass) for w in mass)
        checks.set_frozen_fields(self, values=tuple(map(to_fraction, self.values)), weights=weights)

    @property
    def mean(self) -> Number:
        return sum(w * v for v, w in zip(self.values, self.weights, strict=True))

    def excess(self, z: Number) -> fmpq:
        """Return E(Y − z)⁺."""
        z = to_fraction(z)
        pairs = zip(self.values, self.weights, strict=True)
        return to_ball_rational(sum(w * (v - z) for v, w in pairs if v > z))


@dataclass(frozen=True)
class DirichletMean:
    r"""P'V for P ~ Dirichlet(α); any α can be sampled, whole numbers have an exact excess.

    By the Hermite–Genocchi formula :math:`E f^{(n-1)}(P'V) = (n-1)!\, f[t_1, …, t_n]`, a divided
    difference over knots that repeat each :math:`V_i` :math:`\alpha_i` times. With
    :math:`f(x) = (x-z)_+^n / n!` the left side is the excess; and the density is a B-spline.
    """

    alpha: Sequence[Number]
    V: Sequence[Number]

    def __post_init__(self) -> None:
        weights = checks.check_array("α", self.alpha, ("n",), hint="It is a vector of weights.")
        values = checks.check_array(
            "V", self.V, weights.shape, hint="Pair each weight with its value."
        )
        if (weights < 0).any() or not weights.sum() > 0:
            checks.fail(f"α must be ≥ 0 with a positive sum; got {weights.tolist()}.")
        checks.reject_entries((values < 0) | (values > 1), "V must lie in [0, 1]", "V", values)
        used = [pair for pair in zip(self.alpha, self.V, strict=True) if pair[0] > 0]
        alpha, V = (tuple(map(to_fraction, part)) for part in zip(*used, strict=True))
        checks.set_frozen_fields(self, alpha=alpha, V=V)

    @property
    def mean(self) -> Number:
        return sum(a * v for a, v in zip(self.alpha, self.V, strict=True)) / sum(self.alpha)

    @property
    def support(self) -> tuple[float, float]:
        return float(min(self.V)), float(max(self.V))

    @property
    def knots(self) -> list[Number]:
        """Return each value as often as its whole-number weight says, in order."""
        if any(a != int(a) for a in self.alpha) or sum(self.alpha) > 10_000:
            alpha = [float(a) for a in self.alpha]
            checks.fail(f"α must be whole numbers, some thousands in all; got {alpha}. Sample it.")
        return sorted(v for a, v in zip(self.alpha, self.V, strict=True) for _ in range(int(a)))

    def sample(self, n: int, rng: Seed = None) -> Floats:
        """Return n draws."""
        alpha, V = np.array(self.alpha, float), np.array(self.V, float)
        return np.asarray(checks.as_generator(rng).dirichlet(alpha, check_draw_count(n)) @ V)

    def excess(self, z: Number) -> fmpq:
        """Return E(Y − z)⁺: [t_1, …, t_n] (x − z)₊^n / n; a repeated knot takes a derivative."""
        t, z = [to_ball_rational(knot) for knot in self.knots], to_ball_rational(z)
        n = len(t)
        table = [divide_at_one_knot(x - z, n, 0) for x in t]
        for j in range(1, n):
            table = [
                (table[i + 1] - table[i]) / (t[i + j] - t[i])
                if t[i + j] != t[i]
                else divide_at_one_knot(t[i] - z, n, j)
                for i in range(n - j)
            ]
        return table[0] / n

    def profile(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the smaller of P(Y < z) and P(Y > z), and E[Y − mean; Y > z], in floats."""
        t, mean = np.array(self.knots, float), float(self.mean)
        lower = integrate_spline(t, z)
        upper = integrate_spline(-t[::-1], -z)
        share, excess = np.where(z < mean, lower, upper)  # sums of positive terms
        return np.minimum(lower[0], upper[0]), excess + np.abs(z - mean) * share


def divide_at_one_knot(y: fmpq, power: int, order: int) -> fmpq:
    """Return the order-th derivative of y₊^power over order!: a binomial times a power."""
    if y < 0 or order > power or (y == 0 and order < power):
        return fmpq(0)
    return math.comb(power, order) * y ** (power - order)


def integrate_spline(t: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return P(Y < z) and E(z − Y)⁺ if the density of Y is the B-spline with knots t."""
    factor = (len(t) - 1) / (t[-1] - t[0])
    spline = BSpline.basis_element(t)
    return factor * spline.antiderivative(1)(z), factor * spline.antiderivative(2)(z)


def check_draw_count(n: Any) -> int:
    """Check a number of draws."""
    return checks.check_integer("n", n, hint="It counts draws: pass n=1000, say.")


# or what else has an excess
Distribution: TypeAlias = Normal | Beta | FiniteDistribution | DirichletMean

# ------------------------------------------------------------------------------------- the gap


class GapEstimate(NamedTuple):
    """The gap from samples, at each z."""

    gap: Floats
    standard_error: Floats


def check_sample(name: str, values: ArrayLike) -> Floats:
    """Check a sample."""
    values = checks.check_array(f"sample {name}", values, ("n",), hint="It is a vector.")
    if values.size < 100:
        checks.fail(f"samples have at least 100 numbers; {name} has {values.size}.")
    return values


def estimate_gap(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> GapEstimate:
    """Estimate G(z) = E(X − z)⁺ − E(Y − z)⁺ at each z from independent samples of X and Y.

    Where no draw lies above z both numbers are 0, which says nothing.

    Examples
    --------
    >>> Y = DirichletMean([1, 2, 1], [0, 0.5, 1])
    >>> x, y = Normal(0.5, 1 / 4).sample(10**5, rng=1), Y.sample(10**5, rng=2)
    >>> gap, error = estimate_gap(x, y, [0.0, 0.5, 0.9])
    >>> print(gap.round(3), error.round(4))
    [0.039 0.135 0.059] [0.0015 0.001  0.0005]
    """
    x, y = check_sample("x", x), check_sample("y", y)
    z = checks.check_array("z", z, np.shape(z))
    gap, error = np.empty(z.shape), np.empty(z.shape)
    for k, level in np.ndenumerate(z):
        u, v = np.maximum(x - level, 0), np.maximum(y - level, 0)
        gap[k] = u.mean() - v.mean()
        error[k] = np.sqrt(u.var() / x.size + v.var() / y.size)
    return GapEstimate(gap, error)


def exact_gap(X: Distribution, Y: Distribution, z: ArrayLike, digits: int = 15) -> Floats:
    """Compute G(z) = E(X − z)⁺ − E(Y − z)⁺ at each z, to so many digits however small it is.

    Parameters
    ----------
    X, Y : Normal, Beta, FiniteDistribution or DirichletMean
        Distributions.
    z : array_like
        Where.
    digits : int
        How many digits are certified.

    Returns
    -------
    ndarray
        Of the shape of z.

    Examples
    --------
    >>> exact_gap(Normal(0.5, 1 / 4), DirichletMean([1, 2, 1], [0, 0.5, 1]), [0.0, 0.5, 0.9])
    array([0.04165774, 0.13697114, 0.06000362])
    """
    digits = checks.check_integer("digits", digits, 1, 1000, hint="15 is a float's.")
    z = checks.check_array("z", z, np.shape(z))

    def compute(z: float) -> float:
        return float(to_digits(lambda: arb(X.excess(float(z)) - Y.excess(float(z))), digits))

    return np.asarray(np.vectorize(compute, otypes=[float])(z))


# ------------------------------------------------------------------------------ the least variance


def least_variance(Y: Beta | DirichletMean) -> float:
    r"""Compute the least variance with which a normal of the same mean is optimistic for Y.

    Let J be what the share p of largest values exceeds the mean by, on average times p. Of two
    distributions of one mean, that with the larger J at every p is optimistic (chapter G). The
    normal has :math:`J = \sqrt v\,\varphi(\Phi^{-1}(p))`, so the least v is the largest
    :math:`(J_Y/\varphi(\Phi^{-1}(p)))^2`, found by a scan in floats. Lemma 1 has v = 1/n.

    Examples
    --------
    >>> for n in (2, 4, 20):
    ...     Y = DirichletMean([n // 2, n // 2], [0, 1])
    ...     print(round(n * least_variance(Y), 4), round(n * least_variance_at_half(n), 4))
    0.1963 0.1963
    0.2209 0.2209
    0.2438 0.2438
    """
    low, high = Y.support
    if low == high:
        checks.fail(f"V must have two different values of weight above 0; all are {low}.")

    def needed(z: Floats) -> Floats:
        share, excess = Y.profile(z)
        normal = norm.pdf(ndtri(share))
        ratio = np.divide(excess, normal, out=np.zeros_like(excess), where=normal > 0)
        return np.asarray(ratio**2)

    z = np.linspace(low, high, 1001)
    best = int(np.argmax(needed(z[1:-1]))) + 1
    peak = minimize_scalar(
        lambda level: -float(needed(np.array([level]))[0]), bounds=z[[best - 1, best + 1]]
    )
    return float(max(-peak.fun, needed(z[[best]])[0]))


def least_variance_at_half(n: float) -> float:
    """Compute c(n) = (Γ((n+1)/2)/Γ(n/2+1))²/8, the least variance for Beta(n/2, n/2).

    So it is enough for every Dirichlet mean of weight n and mean ½, and no less is.
    """
    checks.check_positive(n=n)
    return float(np.exp(2 * (gammaln((n + 1) / 2) - gammaln(n / 2 + 1))) / 8)


# -------------------------------------------------------------------------------- a test by samples


class Comparison(NamedTuple):
    """The outcome of a sampled comparison; the band is simultaneous over all z examined."""

    refuted: bool  # some z has the whole band below zero
    worst_z: float  # where the gap is most negative, in standard errors
    gap: float  # the estimated gap there
    shortfall: float  # with the stated confidence the gap is at no z examined below minus this
    error: float  # an upper bound for the chance that a true optimism is refuted
    z: Floats
    estimate: Floats
    band: Floats  # half the width at each z

    def __str__(self) -> str:
        verdict = "refuted" if self.refuted else "not refuted"
        return (
            f"optimism {verdict} at error rate {self.error:g}: worst z = {self.worst_z:.3g}, "
            f"gap {self.gap:.2g}; short by at most {self.shortfall:.2g}"
        )


def compare_samples(
    x: ArrayLike, y: ArrayLike, *, error: float = 0.01, places: int = 60
) -> Comparison:
    r"""Test by independent samples whether X is optimistic for Y.

    Each estimate of the gap is normal by the central limit theorem; the error rate is divided among
    the places, so the band holds at all of them together.

    Parameters
    ----------
    x, y : array_like
        Samples, vectors.
    error : float
        How often a true optimism may be refuted.
    places : int
        How many z are examined: one below all samples, where the gap is that of the means, and
        quantiles of the pooled sample, up to the last one with 50 samples above.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> compare_samples(rng.normal(0, 1, 1000), rng.normal(0, 2, 1000)).refuted     # wider is optimistic
    True
    """
    x, y = check_sample("x", x), check_sample("y", y)
    error = checks.check_open_interval("the error rate", error, 0, 1, hint="Pass error=0.01, say.")
    places = checks.check_integer("places", places, 1, 10_000, hint="60 is usual.")
    pooled = np.sort(np.concatenate([x, y]))
    z = np.unique(np.quantile(pooled, np.linspace(0, 1 - 50 / pooled.size, places), method="lower"))
    gap, deviation = estimate_gap(x, y, z)
    band = norm.isf(error / (2 * z.size)) * deviation
    worst = int(np.argmin(gap / np.where(deviation > 0, deviation, 1.0)))  # 0 where samples agree
    return Comparison(
        bool((gap + band < 0).any()),
        float(z[worst]),
        float(gap[worst]),
        float(max(0.0, (band - gap).max())),
        error,
        z,
        gap,
        band,
    )
