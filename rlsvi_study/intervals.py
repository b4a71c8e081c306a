"""Honest summaries of a handful of heavy-tailed runs."""

from typing import NamedTuple

import numpy as np
from scipy.stats import binom
from scipy.stats import t as student


class Interval(NamedTuple):
    median: float
    low: float
    high: float


def median_interval(values, level: float = 0.95) -> Interval:
    """The median and a distribution-free interval for it, from order statistics.

    With n independent values, the k-th smallest and the k-th largest enclose the true median with
    probability 1 − 2 P(Binomial(n, ½) < k), whatever the distribution. Censored runs enter as
    infinity. With too few values for the level, the interval is the whole range.
    """
    x = np.sort(np.asarray(values, dtype=float))
    if x.size == 0 or np.isnan(x).any():
        raise ValueError("median_interval needs at least one value and no NaN; "
                         "give censored runs as infinity.")
    k = int(binom.ppf((1 - level) / 2, x.size, 0.5))
    k = max(k, 1)
    middle = x[(x.size - 1) // 2], x[x.size // 2]
    median = middle[0] if middle[0] == middle[1] else sum(middle) / 2
    return Interval(float(median), float(x[k - 1]), float(x[-k]))


def mean_interval(values, level: float = 0.95) -> tuple[float, float, float]:
    """Mean over instances with Student's interval."""
    x = np.asarray(values, dtype=float)
    half = student.ppf((1 + level) / 2, x.size - 1) * x.std(ddof=1) / np.sqrt(x.size)
    return float(x.mean()), float(x.mean() - half), float(x.mean() + half)
