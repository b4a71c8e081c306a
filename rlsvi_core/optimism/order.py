r"""Stochastic optimism (section 5, appendix G): X is stochastically optimistic for Y if
:math:`E\,u(X) \ge E\,u(Y)` for every convex increasing u.

All of it is in one function of a real z, the *gap*

.. math:: G(z) = E(X - z)^+ - E(Y - z)^+ = \int_z^\infty \{P(X \ge s) - P(Y \ge s)\}\, ds:

X is optimistic for Y exactly if :math:`G(z) \ge 0` for all z. A law therefore needs two methods,
``tail(z)`` = P(X ≥ z) and ``excess(z)`` = E(X − z)⁺. Both return balls, so the gap can be computed
to any precision, far into the tails, where both excesses are tiny and nearly equal.

Laws known only by samples are compared by ``compare``, which is a test and not a proof.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike
from scipy.stats import norm

from .. import checks
from ..compiled import Floats, Seed
from .balls import Number, exact, positive, sharpen

__all__ = ["Beta", "DirichletMean", "Finite", "Normal", "compare", "gap"]


class Normal(NamedTuple):
    """The normal law; ``Normal.of(mean, variance)`` takes any numbers."""

    mean: fmpq
    variance: fmpq

    @classmethod
    def of(cls, mean: Number, variance: Number) -> "Normal":
        """The law with these parameters, taken exactly."""
        return cls(exact(mean), positive("variance", variance))

    @classmethod
    def matching(cls, alpha: Number, beta: Number) -> "Normal":
        """The lemma's normal for Beta(α, β): mean α/(α+β), variance 1/(α+β)."""
        a = positive("alpha", alpha)
        b = positive("beta", beta)
        return cls(a / (a + b), 1 / (a + b))

    def _standard(self, z: Number) -> arb:
        return (arb(exact(z)) - arb(self.mean)) / arb(self.variance).sqrt()

    def tail(self, z: Number) -> arb:
        return (self._standard(z) / arb(2).sqrt()).erfc() / 2

    def excess(self, z: Number) -> arb:
        """√variance · ψ(v) with ψ(v) = φ(v) − v Φ(−v)."""
        v = self._standard(z)
        density = (-v * v / 2).exp() / (2 * arb.pi()).sqrt()
        return arb(self.variance).sqrt() * (density - v * self.tail(z))


class Beta(NamedTuple):
    """The beta law; ``Beta.of(alpha, beta)`` takes any numbers."""

    alpha: fmpq
    beta: fmpq

    @classmethod
    def of(cls, alpha: Number, beta: Number) -> "Beta":
        """The law with these parameters, taken exactly."""
        return cls(positive("alpha", alpha), positive("beta", beta))

    @property
    def mean(self) -> fmpq:
        return self.alpha / (self.alpha + self.beta)

    def tail(self, z: Number) -> arb:
        z = exact(z)
        if not 0 < z < 1:
            return arb(int(z <= 0))
        a = arb(self.alpha)
        b = arb(self.beta)
        if z < self.mean:  # there the tail is large, and its complement far quicker to compute
            return 1 - arb(z).beta_lower(a, b, regularized=True)
        return arb(1 - z).beta_lower(b, a, regularized=True)

    def excess(self, z: Number) -> arb:
        """E[X; X ≥ z] − z P(X ≥ z), the first term through Beta(α+1, β)."""
        z = exact(z)
        if z <= 0:
            return arb(self.mean - z)
        return arb(self.mean) * Beta(self.alpha + 1, self.beta).tail(z) - arb(z) * self.tail(z)


class Finite(NamedTuple):
    """A law with finitely many values; every question about it has a rational answer.
    ``Finite.of(values, weights)`` takes any numbers."""

    values: tuple[fmpq, ...]
    weights: tuple[fmpq, ...]

    @classmethod
    def of(cls, values: Sequence[Number], weights: Sequence[Number]) -> "Finite":
        mass = [exact(w) for w in weights]
        if len(values) != len(mass) or not sum(mass) > 0 or min(mass) < 0:
            checks.fail(
                f"a law has as many weights ≥ 0, some > 0, as values; {weights!r} for {values!r}."
            )
        return cls(tuple(exact(v) for v in values), tuple(w / sum(mass) for w in mass))

    @property
    def mean(self) -> fmpq:
        return sum((w * v for v, w in zip(*self, strict=True)), fmpq(0))

    def tail(self, z: Number) -> fmpq:
        return sum((w for v, w in zip(*self, strict=True) if v >= exact(z)), fmpq(0))

    def excess(self, z: Number) -> fmpq:
        z = exact(z)
        return sum((w * (v - z) for v, w in zip(*self, strict=True) if v > z), fmpq(0))


class DirichletMean(NamedTuple):
    r"""P'V for P ~ Dirichlet(α) with whole-number α, exactly.

    By the Hermite–Genocchi formula :math:`E f^{(n-1)}(P'V) = (n-1)!\, f[t_1, …, t_n]`, a divided
    difference over knots that repeat each :math:`V_i` :math:`\alpha_i` times. With
    :math:`f(x) = (x-z)_+^n / n!` the left side is the excess.
    """

    knots: tuple[fmpq, ...]

    @classmethod
    def of(cls, alpha: Sequence[int], V: Sequence[Number]) -> "DirichletMean":
        whole_alpha, _ = check_values(alpha, V)
        if (whole_alpha != np.floor(whole_alpha)).any() or whole_alpha.sum() > 10_000:
            checks.fail(
                f"the exact law takes whole α, some thousands in all; got {whole_alpha}. Sample it."
            )
        return cls(
            tuple(
                sorted(exact(v) for a, v in zip(whole_alpha, V, strict=True) for _ in range(int(a)))
            )
        )

    @property
    def mean(self) -> fmpq:
        return sum(self.knots, fmpq(0)) / len(self.knots)

    def tail(self, z: Number) -> fmpq:
        return self._difference(exact(z), len(self.knots) - 1)

    def excess(self, z: Number) -> fmpq:
        n = len(self.knots)
        return self._difference(exact(z), n) / n

    def _difference(self, z: fmpq, power: int) -> fmpq:
        """[t_1, …, t_n] (x − z)₊^power; a repeated knot takes a derivative."""
        t = self.knots
        n = len(self.knots)
        table = [self._at_one_point(x - z, power, 0) for x in t]
        for j in range(1, n):
            table = [
                (table[i + 1] - table[i]) / (t[i + j] - t[i])
                if t[i + j] != t[i]
                else self._at_one_point(t[i] - z, power, j)
                for i in range(n - j)
            ]
        return table[0]

    @staticmethod
    def _at_one_point(y: fmpq, power: int, order: int) -> fmpq:
        """The order-th derivative of y₊^power over order!, a binomial coefficient times a power."""
        if y < 0 or order > power or (y == 0 and order < power):
            return fmpq(0)
        return math.comb(power, order) * y ** (power - order)


def check_values(alpha: Any, V: Any) -> tuple[Floats, Floats]:
    """The rules of Lemma 1: α ≥ 0 with a positive sum, V in [0, 1], equally many."""
    alpha = checks.array("α", alpha, ("n",), hint="It is a vector of weights.")
    V = checks.array("V", V, alpha.shape, hint="Pair each weight with its value.")
    if (alpha < 0).any() or not alpha.sum() > 0:
        checks.fail(f"α must be ≥ 0 with a positive sum; got {alpha.tolist()}.")
    checks.none_of((V < 0) | (V > 1), "V must lie in [0, 1]", "V", V)
    return alpha, V


def dirichlet_samples(alpha: ArrayLike, V: ArrayLike, n: int, rng: Seed = None) -> Floats:
    """n draws of P'V for P ~ Dirichlet(α), any α."""
    alpha, V = check_values(alpha, V)
    there = alpha > 0
    n = checks.whole("n", n, hint="It counts draws: pass n=1000, say.")
    return np.asarray(checks.generator(rng).dirichlet(alpha[there], n) @ V[there])


Law = Normal | Beta | Finite | DirichletMean  # or what else has a tail and an excess


def gap(X: Law, Y: Law, z: ArrayLike, digits: int = 15) -> Floats:
    """G(z) at each z, to so many digits however small it is: X is optimistic if none is negative.

    Parameters
    ----------
    X, Y : Normal, Beta, Finite or DirichletMean
        Laws.
    z : array_like
        Where.
    digits : int
        How many digits.

    Returns
    -------
    ndarray
        Of the shape of z.

    Examples
    --------
    >>> gap(Normal.matching(2, 3), Beta.of(2, 3), [0.0, 0.5, 0.99]).round(3)
    array([0.045, 0.089, 0.02 ])
    """
    digits = checks.whole("digits", digits, 1, 1000, hint="15 is a float's.")
    z = checks.array("z", z, np.shape(z))

    def at(z: float) -> float:
        return float(sharpen(lambda: arb(X.excess(float(z)) - Y.excess(float(z))), digits))

    return np.asarray(np.vectorize(at, otypes=[float])(z))


# ------------------------------------------------------- laws known by samples


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


def compare(x: ArrayLike, y: ArrayLike, *, error: float = 0.01, places: int = 60) -> Comparison:
    r"""Is the law of the sample x optimistic for that of the sample y?

    Each estimate of the gap is normal by the central limit theorem; the error rate is divided among
    the places, so the band holds at all of them together. The samples must be independent.

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
    >>> compare(rng.normal(0, 1, 1000), rng.normal(0, 2, 1000)).refuted     # wider is optimistic
    True
    """
    x, y = (
        checks.array(f"sample {name}", sample, ("n",), hint="It is a vector.")
        for name, sample in (("x", x), ("y", y))
    )
    if min(x.size, y.size) < 100:
        checks.fail(f"samples have at least 100 numbers; got {x.size} and {y.size}.")
    error = checks.inside("the error rate", error, 0, 1, hint="Pass error=0.01, say.")
    places = checks.whole("places", places, 1, 10_000, hint="60 is usual.")
    pooled = np.sort(np.concatenate([x, y]))
    z = np.unique(np.quantile(pooled, np.linspace(0, 1 - 50 / pooled.size, places), method="lower"))
    estimate = np.empty(z.size)
    deviation = np.empty(z.size)
    for k, s in enumerate(z):
        u = np.maximum(x - s, 0)
        v = np.maximum(y - s, 0)
        estimate[k] = u.mean() - v.mean()
        deviation[k] = np.sqrt(u.var() / x.size + v.var() / y.size)
    band = norm.isf(error / (2 * z.size)) * deviation
    errors = np.where(deviation > 0, deviation, 1.0)  # 0 where all samples agree
    worst = int(np.argmin(estimate / errors))
    return Comparison(
        bool((estimate + band < 0).any()),
        float(z[worst]),
        float(estimate[worst]),
        float(max(0.0, (band - estimate).max())),
        error,
        z,
        estimate,
        band,
    )
