r"""The recommendation engine: section 6.3 and appendix E.

The paper's study: 100 random instances (:math:`\gamma_{an} \sim N(0, 4)`, N = 10, J = 5), 1200
customers each; RLSVI and LSVI with Boltzmann exploration 10 times per instance, the bandits 100
times. ``regret`` is cumulative, :math:`\sum_l (V^*_0 - V^{\mu_l}_0)`, each customer's policy being
evaluated exactly over all states it can reach. A policy that dithers can reach all 4521; there, of
every ten customers in a row one, drawn at random, stands for the ten, which is unbiased.
``realised`` has the likes given in place of their expectation. Runs of an instance are averaged:
instances are the sample, a seed is one of them, and its run k meets the same customers whichever
agent serves. An arm that does not learn has a straight line, of which only the end is stored.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from rlsvi_core import Agent
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.runtime.checks import fail

from ..engine import Plot, Rows, define_experiment, grid, quick_scale, streams
from ..judging.intervals import mean_interval
from .bandit import BernoulliBandit
from .products import ProductLearner

PAPER_ETAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
LAM, VARIANCE = 0.2, 1e-3  # the paper's λ and σ²
TENTH = 10  # one in so many customers is evaluated where the agent dithers

BOLTZMANN = {eta: f"boltzmann {eta:g}" for eta in (*PAPER_ETAS, 0.03, 0.2, 0.3, 0.5)}
_EPSILON = (0.0, 0.01, 0.03, 0.1, 0.2, 0.3)
_NOISES = {f"σ² = {value:g}": {"sigma": value**0.5} for value in (1e-5, 1e-4, 1e-2, 1e-1, 1.0)}
_PRIORS = {f"λ = {value:g}": {"lam": value} for value in (2e-4, 2e-3, 2e-2, 2.0, 20.0, 200.0)}
_CHANGES: dict[str, dict[str, Any]] = {  # what the text leaves open, or states differently
    "shared weights": {"shared": True},
    "target over all": {"over_all": True},
    "rewards ±1": {"dislike": -1.0},
    "printed mean": {"lam_of_mean": LAM * VARIANCE},
    "ridge λσ²": {"lam": LAM * VARIANCE},
    **_NOISES,
    **_PRIORS,
}
_RLSVI: dict[str, Any] = {"agent": "rlsvi", "lam": LAM, "sigma": VARIANCE**0.5}
_LSVI: dict[str, Any] = {"lam": LAM, "sample": False}
ARMS: dict[str, dict[str, Any]] = {  # an arm as the tables call it: whose it is, and its settings
    "rlsvi": _RLSVI,
    "linear": _RLSVI | {"agent": "linear", "gamma": 0.0},  # RLSVI without what follows
    "bernoulli": {"agent": "bernoulli"},
    **{arm: _LSVI | {"agent": "boltzmann", "eta": eta} for eta, arm in BOLTZMANN.items()},
    **{f"epsilon {e:g}": _LSVI | {"agent": "epsilon-greedy", "epsilon": e} for e in _EPSILON},
}


def _add_variants(arm: str, *changes: str) -> None:
    """Add arms that differ from one by a single change each."""
    for change in changes:
        ARMS[f"{arm}, {change}"] = ARMS[arm] | _CHANGES[change]


_add_variants("rlsvi", "shared weights", "target over all", "rewards ±1")
_add_variants("linear", "rewards ±1", "printed mean")
_add_variants("boltzmann 0.1", "shared weights", "target over all", "rewards ±1")
_add_variants("boltzmann 0.3", "rewards ±1")
_add_variants("boltzmann 1", "rewards ±1")
_add_variants("epsilon 0.1", "rewards ±1")
_add_variants("boltzmann 0.1", "ridge λσ²")
_add_variants("boltzmann 0.3", "ridge λσ²")
_add_variants("epsilon 0.1", "ridge λσ²")
_add_variants("rlsvi", *_NOISES, *_PRIORS)

MYOPIC: dict[Any, str] = {
    ties: f"myopic, ties {ties}" for ties in ("uniform", "lowest", "best", "worst")
}
STANDING: dict[str, Callable[[Recommender], np.ndarray]] = {  # policies that do not learn
    "random": Recommender.uniform_policy,
    **{arm: partial(Recommender.myopic_policy, ties=ties) for ties, arm in MYOPIC.items()},
}


def random_customers(seed: int, N: int = 10, J: int = 5, c: float = 2.0) -> Recommender:
    """The seed's random customers."""
    return Recommender.random(c, streams(seed)[0], N=N, J=J)


def settings_of(arm: str) -> dict[str, Any]:
    """Return whose an arm is, and its settings; its numbers need not be those of the tables."""
    if arm in ARMS:
        return ARMS[arm].copy()
    agent, _, change = arm.partition(", ")
    kind, _, number = agent.partition(" ")
    symbol, _, value = change.partition(" = ")
    try:
        settings = ARMS[f"{kind} 0.1" if number else kind].copy()
        if number:
            settings[{"boltzmann": "eta", "epsilon": "epsilon"}[kind]] = float(number)
        if symbol == "λ":
            settings["lam"] = float(value)
        elif symbol == "σ²":
            settings["sigma"] = float(value) ** 0.5
        elif change:
            settings |= _CHANGES[change]
    except (KeyError, ValueError):
        fail(f"there is no arm {arm!r}. Try 'rlsvi, λ = 2', 'boltzmann 0.3' or a key of ARMS.")
    return settings


def make_agent(arm: str, N: int, J: int, rng: Any = None) -> Agent:
    """The agent that an arm names."""
    settings = settings_of(arm)
    if settings.pop("agent") == "bernoulli":
        return Agent(BernoulliBandit(N, J), rng=rng)
    acting = {one: settings.pop(one) for one in ("sample", "epsilon", "eta") if one in settings}
    return Agent(ProductLearner(N, J, **settings), **acting, rng=rng)


def evaluation_mask(agent: Agent, episodes: int, rng: Any) -> np.ndarray:
    """Which customers' policies to evaluate: all, or one in ten for an agent that dithers."""
    if not (agent.epsilon or agent.eta):
        return np.ones(episodes, bool)
    return (
        np.arange(episodes) % TENTH
        == np.repeat(rng.integers(TENTH, size=-(-episodes // TENTH)), TENTH)[:episodes]
    )


def learning_curve(
    arm: str,
    runs: int,
    seed: int,
    N: int,
    J: int,
    c: float,
    episodes: int,
    every: int,
    exact: bool = True,
) -> Rows:
    """Mean regret over the runs of one instance, a row every so many customers, with the share of
    them who were first shown the product that the optimal policy opens with. Without ``exact`` there
    is only the realised regret, which costs less."""
    customers = random_customers(seed, N, J, c)  # Algorithm 9, line 2; line 1 is over the seeds
    best = customers.Q[0].argmax()
    if arm in STANDING:
        policy = STANDING[arm](customers)
        total = episodes * (customers.optimal_value - customers.evaluate(policy)[0])
        return [
            {
                "episode": episodes,
                "regret": round(float(total), 3),
                "realised": np.nan,
                "best_opening": round(float(policy[0, best]), 3),
            }
        ]
    regret, realised, opening = np.zeros((3, episodes))  # line 10: averages
    for k in range(runs):  # lines 3 to 8
        which_rng, env_rng, agent_rng = streams((seed, k))
        agent = make_agent(arm, N, J, agent_rng)
        which = evaluation_mask(agent, episodes, which_rng) & exact
        run = agent.learn(customers, episodes, env_rng, exact=which)
        if exact:
            expected = run.expected[which]
            regret += (
                customers.optimal_value - np.repeat(expected, episodes // len(expected))
            ) / runs
        realised += (customers.optimal_value - run.reward) / runs
        opening += (run.first_action == best) / runs
    total, given = regret.cumsum(), realised.cumsum()
    return [
        {
            "episode": n,
            **({"regret": round(float(total[n - 1]), 3)} if exact else {}),
            "realised": round(float(given[n - 1]), 3),
            "best_opening": round(float(opening[n - every : n].mean()), 3),
        }
        for n in range(every, episodes + 1, every)
    ]


# --------------------------------------------------------------------------- summaries


def regret_curves(table: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Cumulative regret from customer 0 on: one column per instance, one row per episode."""
    total = table[table.arm == arm].pivot(index="episode", columns="seed", values="regret")
    total.loc[0] = 0.0
    return total.reindex(sorted({0, *table.episode})).interpolate("index")  # a line by its end


def regret_rates(table: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Regret per customer, averaged between the rows of the table."""
    total = regret_curves(table, arm)
    return total.diff().iloc[1:].div(np.diff(total.index), axis=0)


def first_lead_episode(
    worse: pd.DataFrame, better: pd.DataFrame, level: float = 0.95
) -> int | None:
    """The first episode from which on, to the end, the paired interval of worse − better is
    above 0; None if it is not at the end."""
    low = (worse - better).apply(lambda row: mean_interval(row, level).low, axis=1)
    ahead = low.index[low[::-1].cummin()[::-1] > 0]
    return int(ahead[0]) if ahead.size else None


# --------------------------------------------------------------------------- the experiments

_STUDY = {"N": 10, "J": 5, "c": 2.0, "episodes": 1200, "every": 30}
_LINES = grid(arm=STANDING, runs=(1,))
_PAPER = (
    grid(arm=("rlsvi", *(BOLTZMANN[eta] for eta in PAPER_ETAS)), runs=(10,))
    + grid(arm=("linear", "bernoulli"), runs=(100,))
    + _LINES
)
_LONGER = grid(arm=("rlsvi", "linear"), runs=(2,)) + _LINES
_EVERY_ARM = grid(arm=[arm for arm in ARMS if arm != "bernoulli"], runs=(2,))
_RIVALS = grid(
    arm=(
        "rlsvi",
        "rlsvi, rewards ±1",
        "epsilon 0.1",
        "epsilon 0.1, rewards ±1",
        "boltzmann 0.3, rewards ±1",
    ),
    runs=(10,),
)  # the best of the readings

_TOTALS = Plot("regret", ("arm",), show="mean", xlabel="regret after all customers (likes)")
_CURVES = Plot(
    "episode",
    "regret",
    ("arm",),
    show="mean",
    from_zero=True,
    xlabel="customer",
    ylabel="cumulative regret (likes)",
)
_FIGURE_8 = ("rlsvi", *(BOLTZMANN[eta] for eta in PAPER_ETAS))
_FIGURE_9 = ("rlsvi", "linear", "bernoulli", MYOPIC["uniform"], MYOPIC["best"])

EXPERIMENTS = {
    one.name: one
    for one in (
        define_experiment(
            "recommender",
            place="Section 6.3, figures 8 and 9; Algorithm 9",
            title="Recommendations: RLSVI, Boltzmann exploration, bandits, myopic policies",
            run=learning_curve,
            constants=_STUDY,
            cells=_PAPER,
            seeds=range(100),
            quick=quick_scale(cells=_PAPER, seeds=range(1)),
            plot=_TOTALS,
            figures={
                "fig8": replace(_CURVES, where={"arm": _FIGURE_8}),
                "fig9": replace(_CURVES, where={"arm": _FIGURE_9}),
            },
        ),
        define_experiment(
            "recommender-later",
            place="Section 6.3",
            title="Recommendations: figure 9 continued to 6000 customers",
            run=learning_curve,
            constants=_STUDY | {"episodes": 6000, "every": 200},
            cells=_LONGER,
            seeds=range(40),
            quick=quick_scale(cells=_LONGER, seeds=range(1)),
            plot=_CURVES,
        ),
        define_experiment(
            "recommender-readings",
            place="Section 6.3 and appendix E",
            title="Recommendations: what each choice of the experimenter does",
            run=learning_curve,
            constants=_STUDY | {"every": 100},
            cells=_EVERY_ARM,
            seeds=range(20),
            quick=quick_scale(cells=_EVERY_ARM[:2], seeds=range(2)),
            plot=_TOTALS,
        ),
        define_experiment(
            "recommender-rivals",
            place="Section 6.3",
            title="Recommendations: RLSVI and the strongest rivals among the readings",
            run=learning_curve,
            constants=_STUDY,
            cells=_RIVALS,
            seeds=range(100),
            quick=quick_scale(cells=_RIVALS, seeds=range(1)),
            plot=_CURVES,
        ),
    )
}
