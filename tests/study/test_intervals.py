"""Every interval against a closed form or a count."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from rlsvi_study.judging.intervals import (
    bootstrap_interval,
    mean_interval,
    median_interval,
    median_times,
    simultaneous_level,
    student_ends,
    summarize_cells,
)

# Student's quantiles at (1 + level) / 2, as tables print them.
T = {(2, 0.95): 12.706, (3, 0.95): 4.303, (5, 0.95): 2.776, (2, 0.9): 6.314, (5, 0.9): 2.132}


@pytest.mark.parametrize(("n", "level"), T)
def test_students_interval_is_the_tables(n, level):
    x = [k * k for k in range(n)]
    mean = sum(x) / n
    half = T[n, level] * math.sqrt(sum((one - mean) ** 2 for one in x) / (n - 1) / n)
    assert mean_interval(x, level) == pytest.approx((mean, mean - half, mean + half), abs=0.01)


def test_the_usual_level_is_95_percent():
    x = [1.0, 2.0, 4.0, 8.0]
    assert mean_interval(x) == mean_interval(x, 0.95)
    assert student_ends(x) == mean_interval(x)[1:]
    assert median_interval(range(20)) == median_interval(range(20), 0.95)
    assert simultaneous_level(3) == simultaneous_level(3, 0.95)


def test_one_value_alone_says_nothing_about_the_mean():
    assert mean_interval([3]) == (3, -math.inf, math.inf)


@pytest.mark.parametrize("level", [0.6, 0.9, 0.95, 0.99])
def test_the_medians_interval_is_the_narrowest_that_covers(level):
    """k-th smallest to k-th largest miss if fewer than k of n fair coins fall one way."""
    for n in range(1, 40):

        def missed(k, n=n):
            return 2 * sum(Fraction(math.comb(n, j), 2**n) for j in range(k))

        k = max([k for k in range(1, n // 2 + 1) if missed(k) < 1 - level], default=1)
        assert median_interval(range(1, n + 1), level) == ((n + 1) / 2, k, n + 1 - k)


def test_the_order_of_the_values_does_not_matter_and_infinity_is_a_value():
    assert median_interval([3.0, math.inf, 1.0]) == (3, 1, math.inf)


@pytest.mark.parametrize("values", [[], [math.nan], [1.0, math.nan]])
def test_a_median_needs_values(values):
    with pytest.raises(ValueError, match="NaN"):
        median_interval(values)


@pytest.mark.parametrize(("comparisons", "level"), [(1, 0.95), (2, 0.9), (6, 0.95)])
def test_independent_intervals_hold_together_with_the_level(comparisons, level):
    assert math.prod([simultaneous_level(comparisons, level)] * comparisons) == pytest.approx(
        level, rel=1e-12
    )


TABLE = pd.DataFrame(
    {
        "agent": ["a", "a", "b", "a", "b"],
        "N": [1, 1, 1, 2, 1],
        "time": [5.0, 7.0, 9.0, 2.0, 4.0],
        "never": [False, True, True, False, True],
    }
)


def test_cells_are_summed_up_one_by_one():
    assert summarize_cells(TABLE, "agent", lambda cell: {"sum": cell.time.sum()})[
        "sum"
    ].to_dict() == {
        "a": 14,
        "b": 13,
    }
    both = summarize_cells(TABLE, ("agent", "N"), lambda cell: {"sum": cell.time.sum()})
    assert both["sum"].to_dict() == {("a", 1): 12, ("a", 2): 2, ("b", 1): 13}
    assert both.index.names == ["agent", "N"]


def test_runs_that_never_got_there_take_infinitely_long_and_are_counted():
    times = median_times(TABLE, "agent", "time", "never")
    assert times.loc["a"].to_list() == [5, 2, np.inf, 3, 1]
    assert times.loc["b"].to_list() == [np.inf, np.inf, np.inf, 2, 2]
    assert list(times) == ["median", "low", "high", "runs", "never"]


@pytest.mark.parametrize("by", ["speed", ["agent", "speed"], [], 3])
def test_columns_that_are_not_there_are_named(by):
    table = pd.DataFrame({"agent": ["a", "b"], "time": [1.0, 2.0]})
    with pytest.raises(ValueError, match="columns"):
        summarize_cells(table, by, lambda cell: {"mean": cell.time.mean()})


def test_a_column_of_times_that_is_not_there_is_named():
    table = pd.DataFrame({"agent": ["a", "b"], "time": [1.0, 2.0]})
    with pytest.raises(ValueError, match="columns"):
        median_times(table, "agent", "time", "censored")


@pytest.mark.parametrize("level", [-0.5, 0, 1])
def test_a_level_lies_between_0_and_1(level):
    with pytest.raises(ValueError, match="level"):
        mean_interval([1.0, 2.0], level)


def test_there_is_at_least_one_comparison():
    with pytest.raises(ValueError, match="comparisons"):
        simultaneous_level(0)


def test_a_bootstrap_draws_from_each_sample_and_is_the_same_each_time():
    def apart(a, b):
        return a.mean(-1) - b.mean(-1)

    x, y = np.arange(1.0, 31), 2 * np.arange(20.0)
    found = bootstrap_interval(apart, x, y)
    assert found == bootstrap_interval(apart, x, y)
    half = 1.96 * (x.var() / 30 + y.var() / 20) ** 0.5
    assert found == pytest.approx((-3.5, -3.5 - half, -3.5 + half), abs=0.03 * half)
