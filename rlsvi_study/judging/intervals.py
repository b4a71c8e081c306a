"""Every interval of the project: Student's for means, order statistics for medians, the bootstrap
for what is made of several.

All are 95% unless stated otherwise, and refer to the runs given: a seed is one draw.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from rlsvi_core.runtime.checks import (
    as_float_array,
    check_instance,
    check_integer,
    check_open_interval,
    fail,
)


def format_interval(interval: tuple[float, ...], form: str) -> str:
    """A number and its interval as print has them.

    >>> f"{Mean(2.04, 1.5, 2.5):.1f} and {Mean(-1.0, -2.0, float('inf')):+.0f}"
    '2.0 (1.5–2.5) and -1 (-2 to +∞)'
    """
    if not form:
        return str(interval)
    number, low, high = (f"{one:{form}}".replace("inf", "∞") for one in interval[:3])
    return f"{number} ({low}{' to ' if low[0] in '+-' else '–'}{high})"


class Mean(NamedTuple):
    mean: float
    low: float
    high: float

    def __format__(self, form: str) -> str:
        return format_interval(self, form)


class Median(NamedTuple):
    median: float
    low: float
    high: float

    def __format__(self, form: str) -> str:
        return format_interval(self, form)


def _check_sample(values: Any, infinite: bool) -> np.ndarray:
    """Some numbers, none of them NaN; only times may be infinite."""
    x = as_float_array("values", values)
    if x.ndim != 1 or x.size == 0 or np.isnan(x).any() or not (infinite or np.isfinite(x).all()):
        fail(
            f"an interval needs at least one value and no NaN; values are {values!r}. "
            "Give censored runs as infinity, and ask for their median."
        )
    return x


def _check_level(level: float) -> float:
    return check_open_interval("level", level, 0, 1, hint="Pass level=0.95, say.")


def mean_interval(values: Any, level: float = 0.95) -> Mean:
    """The mean and Student's interval for it; one value alone has an infinite one."""
    x, level = _check_sample(values, infinite=False), _check_level(level)
    half = (
        stats.t.ppf((1 + level) / 2, x.size - 1) * x.std(ddof=1) / np.sqrt(x.size)
        if x.size > 1
        else np.inf
    )
    return Mean(float(x.mean()), float(x.mean() - half), float(x.mean() + half))


def simultaneous_level(comparisons: int, level: float = 0.95) -> float:
    """The level each of so many intervals needs for all to hold together with this one (Šidák).

    >>> round(simultaneous_level(6), 4)
    0.9915
    """
    return _check_level(level) ** (
        1 / check_integer("comparisons", comparisons, 1, hint="It counts intervals.")
    )


def student_ends(values: Any) -> tuple[float, float]:
    """The interval's ends, as seaborn wants them for ``errorbar=student_ends``."""
    return mean_interval(values)[1:]


def median_interval(values: Any, level: float = 0.95) -> Median:
    """The median and a distribution-free interval for it, from order statistics.

    With n independent values, the k-th smallest and the k-th largest enclose the true median with
    probability 1 − 2 P(Binomial(n, ½) < k), whatever the distribution. Censored runs enter as
    infinity. With too few values for the level, the interval is the whole range.
    """
    x, level = np.sort(_check_sample(values, infinite=True)), _check_level(level)
    k = max(int(stats.binom.ppf((1 - level) / 2, x.size, 0.5)), 1)
    return Median(float(np.median(x)), float(x[k - 1]), float(x[-k]))


def bootstrap_interval(of: Callable[..., Any], *samples: Any, repeats: int = 10_000) -> Mean:
    """A statistic of some samples and its 95% bootstrap interval. Seeds are resampled from each
    sample separately; the statistic is computed along the last axis."""
    rng, samples = np.random.default_rng(0), tuple(map(np.asarray, samples))
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = of(*(x[rng.integers(len(x), size=(repeats, len(x)))] for x in samples))
        low, high = np.quantile(drawn, (0.025, 0.975), method="nearest")
        return Mean(float(of(*samples)), float(low), float(high))


def _column_names(table: Any, by: Any) -> Any:
    """The name of a column, or the names of some."""
    check_instance("table", table, pd.DataFrame, hint="engine.load reads one.")
    names = [by] if isinstance(by, str) else by
    if not (
        isinstance(names, (list, tuple))
        and names
        and all(isinstance(name, str) and name in table for name in names)
    ):
        fail(f"columns are some of {', '.join(map(str, table))}; it is {by!r}.")
    return by if isinstance(by, str) else list(by)


def summarize_cells(
    table: pd.DataFrame, by: str | Sequence[str], summary: Callable[[pd.DataFrame], dict[str, Any]]
) -> pd.DataFrame:
    """One row of summaries for each cell of the table."""
    by = _column_names(table, by)
    rows = {key: summary(cell) for key, cell in table.groupby(by)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(by)


def median_times(
    table: pd.DataFrame, by: str | Sequence[str], time: str, censored: str
) -> pd.DataFrame:
    """Median time of each cell, its interval, runs, and how many never got there: those take
    infinitely long."""
    _column_names(table, (time, censored))
    return summarize_cells(
        table,
        by,
        lambda cell: {
            **median_interval(cell[time].where(~cell[censored], np.inf))._asdict(),
            "runs": len(cell),
            censored: int(cell[censored].sum()),
        },
    )
