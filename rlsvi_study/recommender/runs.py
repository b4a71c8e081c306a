r"""The recommendation engine: section 6.3 and appendix E.

The paper's study: 100 random instances (:math:`\gamma_{an} \sim N(0, 4)`, N = 10, J = 5), 1200
customers each; RLSVI and LSVI with Boltzmann exploration 10 times an instance, the bandits 100
times. ``regret`` is cumulative, :math:`\sum_l (V^*_0 - V^{\mu_l}_0)`, with each customer's policy
evaluated exactly over all states it can reach. A policy that dithers can reach all 4521 and changes
little from one customer to the next; there, of every ten customers in a row one, drawn at random,
is evaluated and stands for the ten, which is unbiased. ``realised`` has the likes that were given
in place of their expectation. Runs of an instance are averaged before anything else: instances are
the sample, and a row is one of them.

A seed is an instance. All arms meet the same customers: run k of instance i has the same
environment stream whoever serves. An arm that does not learn has a straight line, computed by
dynamic programming; only its end is stored.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from rlsvi_core.agents.bandits import BernoulliBandit, linear_bandit
from rlsvi_core.agents.products import lsvi, rlsvi
from rlsvi_core.envs.recommender import Recommender

from ..experiment import Experiment, Scale, streams
from ..intervals import mean_interval

PAPER_ETAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
LAM, VARIANCE = 0.2, 1e-3  # the paper's λ and σ²
TENTH = 10  # one in so many customers is evaluated where the agent dithers

ARMS: dict[str, Callable[..., Any]] = {
    "rlsvi": rlsvi, "linear": linear_bandit, "bernoulli": BernoulliBandit,
    **{f"boltzmann {eta:g}": partial(lsvi, eta=eta)
       for eta in (*PAPER_ETAS, 0.03, 0.2, 0.3, 0.5)},
    **{f"epsilon {epsilon:g}": partial(lsvi, epsilon=epsilon)
       for epsilon in (0.0, 0.01, 0.03, 0.1, 0.2, 0.3)},
    # what the text leaves open, or says otherwise
    "rlsvi, shared weights": partial(rlsvi, weights="shared"),
    "rlsvi, target over all": partial(rlsvi, over="all"),
    "rlsvi, rewards ±1": partial(rlsvi, dislike=-1.0),
    "linear, rewards ±1": partial(linear_bandit, dislike=-1.0),
    "linear, printed mean": partial(linear_bandit, mean="printed"),
    "boltzmann 0.1, shared weights": partial(lsvi, eta=0.1, weights="shared"),
    "boltzmann 0.1, target over all": partial(lsvi, eta=0.1, over="all"),
    **{f"boltzmann {eta:g}, rewards ±1": partial(lsvi, eta=eta, dislike=-1.0)
       for eta in (0.1, 0.3, 1.0)},
    "epsilon 0.1, rewards ±1": partial(lsvi, epsilon=0.1, dislike=-1.0),
    **{f"{name}, ridge λσ²": partial(lsvi, lam=LAM * VARIANCE, **dither) for name, dither in (
        ("boltzmann 0.1", {"eta": 0.1}), ("boltzmann 0.3", {"eta": 0.3}),
        ("epsilon 0.1", {"epsilon": 0.1}))},
    **{f"rlsvi, σ² = {variance:g}": partial(rlsvi, sigma=variance**0.5)
       for variance in (1e-5, 1e-4, 1e-2, 1e-1, 1.0)},
    **{f"rlsvi, λ = {lam:g}": partial(rlsvi, lam=lam)
       for lam in (2e-4, 2e-3, 2e-2, 2.0, 20.0, 200.0)},
}

STANDING: dict[str, Callable[[Recommender], np.ndarray]] = {  # policies that do not learn
    "random": Recommender.uniform,
    **{f"myopic, ties {ties}": partial(Recommender.myopic, ties=ties)
       for ties in ("uniform", "lowest", "best", "worst")},
}


def instance(seed: int, N: int = 10, J: int = 5, c: float = 2.0) -> Recommender:
    """The seed's random customers."""
    return Recommender.random(c, streams(seed)[0], N=N, J=J)


def evaluated(agent, episodes: int, rng) -> np.ndarray:
    """Which customers' policies to evaluate: all, or one in ten for an agent that dithers."""
    if not (getattr(agent, "epsilon", 0.0) or getattr(agent, "eta", 0.0)):
        return np.ones(episodes, bool)
    return np.arange(episodes) % TENTH == np.repeat(
        rng.integers(TENTH, size=-(-episodes // TENTH)), TENTH)[:episodes]


def learning_curve(arm: str, runs: int, seed: int, N: int, J: int, c: float, episodes: int,
                   every: int):
    """Mean regret over the runs of one instance, a row every so many customers.

    ``best_opening`` is the share of customers since the last row who were first shown the product
    that the optimal policy opens with.
    """
    customers = instance(seed, N, J, c)
    if arm in STANDING:
        policy = STANDING[arm](customers)
        regret = customers.value - customers.evaluate(policy)[0]
        return [{"episode": episodes, "regret": round(float(episodes * regret), 3),
                 "realised": np.nan, "best_opening": round(float(
                     policy[0, customers.Q[0].argmax()]), 3)}]
    regret, realised, opening = np.zeros((3, episodes))
    for k in range(runs):
        which_rng, env_rng, agent_rng = streams((seed, k))
        agent = ARMS[arm](N, J, rng=agent_rng)
        exact = evaluated(agent, episodes, which_rng)
        run = agent.learn(customers, episodes, env_rng, exact=exact)
        expected = run.expected[exact]
        regret += (customers.value - np.repeat(expected, episodes // len(expected))) / runs
        realised += (customers.value - run.likes) / runs
        opening += (run.opening == customers.Q[0].argmax()) / runs
    total, given = regret.cumsum(), realised.cumsum()
    return [{"episode": n, "regret": round(float(total[n - 1]), 3),
             "realised": round(float(given[n - 1]), 3),
             "best_opening": round(float(opening[n - every:n].mean()), 3)}
            for n in range(every, episodes + 1, every)]


# --------------------------------------------------------------------------- summaries

def curves(table: pd.DataFrame, arm: str, value: str = "regret") -> pd.DataFrame:
    """One column an instance, one row an episode."""
    return table[table.arm == arm].pivot(index="episode", columns="seed", values=value)


def rates(table: pd.DataFrame, arm: str, value: str = "regret") -> pd.DataFrame:
    """Regret a customer, averaged between the rows of the table."""
    total = curves(table, arm, value)
    total.loc[0] = 0.0
    total = total.sort_index()
    return total.diff().iloc[1:].div(np.diff(total.index), axis=0)


def ahead_from(worse: pd.DataFrame, better: pd.DataFrame) -> int | None:
    """The first episode from which on, to the end, the paired interval of worse − better is
    above 0; None if it is not at the end."""
    difference = worse - better
    low = np.array([mean_interval(row)[1] for row in difference.to_numpy()])
    behind = np.flatnonzero(low <= 0)
    if behind.size == 0:
        return int(difference.index[0])
    return None if behind[-1] == len(low) - 1 else int(difference.index[behind[-1] + 1])


# --------------------------------------------------------------------------- the figures

_STUDY = {"N": 10, "J": 5, "c": 2.0, "episodes": 1200, "every": 30}


def _cells(runs: int, *arms: str) -> tuple[dict[str, Any], ...]:
    return tuple({"arm": arm, "runs": runs} for arm in arms)


_PAPER = (*_cells(10, "rlsvi", *(f"boltzmann {eta:g}" for eta in PAPER_ETAS)),
          *_cells(100, "linear", "bernoulli"), *_cells(1, *STANDING))

STUDY = Experiment(
    "recommender", "Section 6.3, figures 8 and 9; Algorithm 9",
    "Recommendations: RLSVI, Boltzmann exploration, bandits, myopic policies", learning_curve, {
        "quick": Scale(_STUDY, _PAPER, range(1)),
        "paper": Scale(_STUDY, _PAPER, range(100))})

_LATER = _STUDY | {"episodes": 6000, "every": 200}
_LATER_ARMS = (*_cells(2, "rlsvi", "linear"), *_cells(1, *STANDING))

LATER = Experiment(
    "recommender-later", "Section 6.3", "Recommendations: figure 9 continued to 6000 customers",
    learning_curve, {"quick": Scale(_LATER, _LATER_ARMS, range(1)),
                     "paper": Scale(_LATER, _LATER_ARMS, range(40))})

_READINGS = _cells(2, *(arm for arm in ARMS if arm != "bernoulli"))

READINGS = Experiment(
    "recommender-readings", "Section 6.3 and appendix E",
    "Recommendations: what each choice of the experimenter does", learning_curve, {
        "quick": Scale(_STUDY | {"every": 100}, _READINGS[:2], range(2)),
        "paper": Scale(_STUDY | {"every": 100}, _READINGS, range(20))})

EXPERIMENTS = {e.name: e for e in (
    STUDY, LATER, READINGS)}
