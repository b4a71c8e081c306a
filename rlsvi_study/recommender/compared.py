"""Arms of the recommendation engine compared: in all, per customer at the end, and by what they have
learned. Intervals are Student's over instances, of paired differences."""

from functools import cache

import numpy as np
import pandas as pd

from rlsvi_core.envs.recommender import Recommender

from ..engine import streams
from ..judging.intervals import Mean, for_all, mean_interval
from .products import expected_likes
from .runs import MYOPIC, agent_of, curves, instance, rates

N, J = 10, 5


def opposite(interval: Mean) -> Mean:
    """The same difference, the other way round."""
    return Mean(-interval.mean, -interval.high, -interval.low)


def final_regret(table: pd.DataFrame, arm: str) -> pd.Series:
    """An arm's cumulative regret at the end, for each instance."""
    return curves(table, arm).iloc[-1]


def more_regret(table: pd.DataFrame, arm: str, than: str = "rlsvi", of: int = 1) -> Mean:
    """How much more regret an arm has than another at the end, paired by instance; one of so many
    comparisons that are to hold together."""
    return mean_interval(final_regret(table, arm) - final_regret(table, than), for_all(of))


def a_customer(table: pd.DataFrame, arm: str) -> pd.Series:
    """An arm's regret per customer over the last tenth of them, for each instance."""
    every = rates(table, arm)
    return every.iloc[-len(every) // 10 :].mean()


def ahead_at_the_end(table: pd.DataFrame, arm: str, of: int = 1) -> Mean:
    """By how many likes per customer RLSVI is ahead of an arm at the end, paired by instance; one
    of so many comparisons that are to hold together."""
    return mean_interval(a_customer(table, arm) - a_customer(table, "rlsvi"), for_all(of))


def least_squares(customers: Recommender, target: np.ndarray) -> np.ndarray:
    """The best fit of the basis to an (S, N) array, period by period, all states alike."""
    x, start, _ = customers.states
    fit = np.full(x.shape, -np.inf)
    for h in range(J):
        for a in range(N):
            s = start[h] + np.flatnonzero(x[start[h] : start[h + 1], a] == 0)
            rows = np.column_stack([np.ones(len(s)), x[s]])
            fit[s, a] = rows @ np.linalg.lstsq(rows, target[s, a], rcond=None)[0]
    return fit


@cache
def learned_better(arm: str, of: int) -> Mean:
    """By how many likes the policy that an arm has learned, played without dithering, is better
    than the optimal myopic one after 1200 customers of each of 20 instances."""
    better = []
    for seed, customers in enumerate(map(instance, range(20))):
        _, env_rng, agent_rng = streams((seed, 0))
        agent = agent_of(arm, N, J, agent_rng)
        agent.learn(customers, 1200, env_rng)
        agent.plan()
        better.append(
            expected_likes(customers.states, customers.P, agent.theta, 0.0, 0.0)
            - customers.evaluate(customers.myopic())[0]
        )
    return mean_interval(better, for_all(of))


def over_myopic(table: pd.DataFrame) -> dict[str, Mean]:
    """By how many likes per customer RLSVI is ahead of myopic play at the end, for each way to
    break its ties; the intervals hold together."""
    return {ties: ahead_at_the_end(table, arm, of=len(MYOPIC)) for ties, arm in MYOPIC.items()}
