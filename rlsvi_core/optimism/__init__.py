"""Section 5 and appendix G in numbers: stochastic optimism by samples and exactly, the least
variance, and where a normal and a beta distribution cross. What is exact or certified needs the
``proofs`` extra.

>>> normal, Y = Normal(0.5, 1 / 4), DirichletMean([1, 2, 1], [0, 0.5, 1])
>>> exact_gap(normal, Y, [0.2, 0.5, 0.8]).round(2)
array([0.08, 0.14, 0.08])
>>> estimate_gap(normal.sample(10**5, rng=1), Y.sample(10**5, rng=2), [0.2, 0.5, 0.8]).gap.round(2)
array([0.08, 0.13, 0.08])
"""

from .crossings import cdf_crossings, certify_crossings, density_crossings, find_zeros
from .order import (
    Beta,
    DirichletMean,
    FiniteDistribution,
    Normal,
    compare_samples,
    estimate_gap,
    exact_gap,
    least_variance,
    least_variance_at_half,
)

__all__ = [
    "Beta",
    "DirichletMean",
    "FiniteDistribution",
    "Normal",
    "cdf_crossings",
    "certify_crossings",
    "compare_samples",
    "density_crossings",
    "estimate_gap",
    "exact_gap",
    "find_zeros",
    "least_variance",
    "least_variance_at_half",
]
