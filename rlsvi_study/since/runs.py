r"""Since 2016: the regret of RLSVI's tabular descendants, with published and with tuned constants.

Agents: the paper's RLSVI with Theorem 1's λ and σ (``rlsvi``) and with the λ = 1, σ = 0.1 of its
experiments (``rlsvi-0.1``), the variants of :mod:`.tabular`, PSRL and UCBVI. All are told H, S, A
and that a period pays between 0 and 1. So rewards are shifted and scaled to [0, 1], for UCBVI, PSRL
and Theorem 1 to [−1, 0], and the terminal reward is part of the last period's. That changes no
policy's regret but by the scale, which is taken out again. It does matter to an agent whose prior
mean is 0, the least value or the largest: ``rlsvi-0.1-low`` is ``rlsvi-0.1`` with rewards in
[−1, 0]. PSRL's posterior knows two rewards. It is told −1 or 0 by a coin with the reward's mean.

Five agents have a ``factor``, on the standard deviation of their noise or on their bonus.
``since-tuning`` tries factors on seeds of its own and on small problems; :func:`best_factors` is
the rule, ``TUNED`` what it found. ``since-tabular`` has other seeds, and larger problems too. Its
first 30 seeds are for finding, the other 30 for checking what was found. ``ADVICE`` for tables was
chosen after a pilot on seeds 0 to 7; for linear features (:mod:`.linear_runs`) it was chosen with
the means of all seeds in view, for gambles and toll after six runs on seeds from 100 on.

Regret is the exact expected shortfall of all episodes so far.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rlsvi_core.agents import Choices, Reading
from rlsvi_core.agents.rivals import psrl, ucbvi
from rlsvi_core.agents.tabular import QTableAgent, TabularAgent, theorem1_parameters
from rlsvi_core.envs.chains import chain, deep_sea, river_swim
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.features import OneHot

from ..engine import Experiment, Rows, Scale, grid, streams
from ..worlds import World, paying
from . import linear_runs
from .tabular import VARIANTS, PerturbedAgent

EPISODES = 2**11
FACTORS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 3e-5, 1e-5)
TUNED = {"rlsvi": 0.003, "ucbvi": 1e-4, "russo": 0.001, "clipped": 3e-4, "single-seed": 0.003}
FIRST = range(30)  # the seeds from which advice is read; the others check it

Arm = tuple[str, str]  # an agent, and its constants


class Comparison(NamedTuple):
    """Whose regret is larger than whose, on which problems; if none is named, on all."""

    short: str
    table: str
    more: Arm
    less: Arm
    environments: tuple[str, ...] = ()


ADVICE = {
    "no constants of a theorem": Comparison(
        "theorem", "since-tabular", ("single-seed", "published"), ("rlsvi-0.1-low", "published")
    ),
    "rewards below zero": Comparison(
        "shift", "since-tabular", ("rlsvi-0.1", "published"), ("rlsvi-0.1-low", "published")
    ),
    "noise of its own for each pair": Comparison(
        "shared", "since-tabular", ("single-seed", "tuned"), ("rlsvi", "tuned")
    ),
    "noise before a bonus": Comparison(
        "bonus", "since-tabular", ("ucbvi", "tuned"), ("rlsvi", "tuned")
    ),
    "a small ridge in linear MDPs": Comparison(
        "ridge", "since-linear", ("langevin", "tuned"), ("rlsvi", "tuned"), ("low-rank",)
    ),
    "a bonus on the coherent chain": Comparison(
        "chain", "since-linear", ("rlsvi", "tuned"), ("lsvi-ucb", "tuned"), ("chain",)
    ),
    "a cut at the toll": Comparison(
        "cut", "since-linear", ("rlsvi", "tuned"), ("langevin", "tuned"), ("toll",)
    ),
    "large noise on the gambles": Comparison(
        "noise",
        "since-linear",
        ("langevin", "tuned"),
        ("langevin", "published"),
        ("gamble", "long gamble"),
    ),
}


# --------------------------------------------------------------------------- worlds


def make_prior(H: int, S: int, A: int) -> DirichletPrior:
    """As in the study of Theorem 1: total weights are 1."""
    return DirichletPrior.symmetric(H, S, A, alpha_R=1 / 2, alpha_P=1 / S)


WORLDS: dict[str, Callable[[int, np.random.Generator], World]] = {
    "chain": lambda N, _: World(chain(N), 0.0, 1.0),
    "river swim": lambda N, _: World(river_swim(N), 0.0, 1.0),
    "deep sea": lambda N, rng: World(deep_sea(N, rng), -0.01 / N, 1.0),
    "random": lambda S, rng: World(make_prior(S, S, 3).sample(rng), -1.0, 0.0),
}


# --------------------------------------------------------------------------- agents


def theorem1(prior: DirichletPrior, factor: float, rng: np.random.Generator) -> TabularAgent:
    lam, sigma = theorem1_parameters(prior)
    return TabularAgent(
        OneHot(*prior.shape),
        lam,
        factor * sigma,
        sample=True,
        choices=Choices(reading=Reading(first_episode="prior")),
        rng=rng,
    )


def experiments(prior: DirichletPrior, *_: float, rng: np.random.Generator) -> TabularAgent:
    return TabularAgent(OneHot(*prior.shape), 1.0, 0.1, sample=True, rng=rng)


def variant(name: str) -> Callable[..., PerturbedAgent]:
    return lambda prior, _, factor, rng: PerturbedAgent(
        OneHot(*prior.shape), VARIANTS[name]._replace(factor=factor), rng
    )


class Contender(NamedTuple):
    make: Callable[..., QTableAgent]  # of a prior, episodes, a factor and rng
    low: float  # a period pays from low to low + 1
    tossed: bool = False


AGENTS = {
    "rlsvi": Contender(lambda prior, _, factor, rng: theorem1(prior, factor, rng), -1.0),
    "rlsvi-0.1": Contender(experiments, 0.0),
    "rlsvi-0.1-low": Contender(experiments, -1.0),
    "psrl": Contender(lambda prior, *_, rng: psrl(prior, rng=rng), -1.0, tossed=True),
    "ucbvi": Contender(lambda prior, L, factor, rng: ucbvi(prior, L, factor, rng=rng), -1.0),
    **{name: Contender(variant(name), 0.0) for name in VARIANTS},
}


# --------------------------------------------------------------------------- runs


def tuning(
    environment: str, size: int, agent: str, factor: float, seed: int, episodes: int
) -> Rows:
    """Regret along one run, at episodes 32, 128, 512, …"""
    world_rng, env_rng, agent_rng = streams(seed)
    world = WORLDS[environment](size, world_rng)
    make, low, tossed = AGENTS[agent]
    mdp = paying(world, low, tossed)
    learner = make(make_prior(mdp.H, mdp.S, mdp.A), episodes, factor, rng=agent_rng)
    run = learner.learn(mdp, episodes, env_rng, exact=True)
    regret = (world.high - world.low) * (mdp.value - run.expected).cumsum()
    return [
        {"episode": l, "regret": round(regret[l - 1], 4)}
        for l in (2**5, 2**7, 2**9, 2**11)
        if l <= episodes
    ]


def curve(
    environment: str, size: int, agent: str, constants: str, seed: int, episodes: int
) -> Rows:
    """The same with published or with tuned constants."""
    factor = TUNED[agent] if constants == "tuned" else 1.0
    return tuning(environment, size, agent, factor, seed, episodes)


# --------------------------------------------------------------------------- summaries


def final(table: pd.DataFrame) -> pd.DataFrame:
    """The last row of every run."""
    return table.groupby(list(table.columns.difference(["episode", "regret"]))).tail(1)


def best_factors(table: pd.DataFrame) -> dict[str, float]:
    """Of each agent the factor with the least geometric mean, over problems, of the mean regret at
    the end; of equals the largest, which explores most."""
    means = final(table).groupby(["agent", "factor", "environment", "size"]).regret.mean()
    score = np.log(means).groupby(["agent", "factor"]).mean().unstack("agent")
    return {agent: float(score[agent][::-1].idxmin()) for agent in TUNED}


class Ratio(NamedTuple):  # with a 95% interval
    ratio: float
    low: float
    high: float


def compare(table: pd.DataFrame, advice: Comparison) -> Ratio:
    """How many times the regret of the better arm the worse one has."""
    of = advice.environments
    return ratio(table[table.environment.isin(of)] if of else table, advice.more, advice.less)


def ratio(table: pd.DataFrame, one: Arm, other: Arm, *, repeats: int = 1000, rng: int = 0) -> Ratio:
    """How many times the regret of another arm one has: the geometric mean, over the problems that
    both met, of the ratio of mean regrets at the end; bootstrap over seeds."""
    runs = final(table).set_index(["agent", "constants", "environment", "size", "seed"]).regret
    ours, theirs = (
        runs.sort_index().loc[arm].unstack(["environment", "size"]) for arm in (one, other)
    )
    common = ours.columns.intersection(theirs.columns)
    ours, theirs = ours[common].to_numpy(), theirs[common].to_numpy()
    generator = np.random.default_rng(rng)

    def geometric(seeds: np.ndarray) -> float:
        return float(np.exp(np.log(ours[seeds].mean(axis=0) / theirs[seeds].mean(axis=0)).mean()))

    n = len(ours)
    draws = [geometric(generator.integers(n, size=n)) for _ in range(repeats)]
    return Ratio(geometric(np.arange(n)), *np.quantile(draws, [0.025, 0.975]).tolist())


# --------------------------------------------------------------------------- the experiments


def _cells(problems: Mapping[str, tuple[int, ...]], *arms: dict[str, Any]) -> tuple[dict, ...]:
    return tuple(
        {"environment": environment, "size": size, **arm}
        for environment, sizes in problems.items()
        for size in sizes
        for arm in arms
    )


_SMALL = {"chain": (10,), "river swim": (6,), "deep sea": (10,), "random": (5,)}
_ALL = {"chain": (10, 20), "river swim": (6,), "deep sea": (10, 20, 50), "random": (5, 10)}
_ARMS = (
    *grid(agent=TUNED, constants=("published", "tuned")),
    *grid(agent=("rlsvi-0.1", "rlsvi-0.1-low", "psrl"), constants=("published",)),
)
LARGEST = {
    "psrl": 10,  # a sample costs S times as much as the others'
    "published": 20,
}  # where no agent learns anything with them


def _affordable(environment: str, size: int, agent: str, constants: str) -> bool:
    return size <= (
        LARGEST["published"]
        if agent in TUNED and constants == "published"
        else LARGEST.get(agent, math.inf)
    )


EXPERIMENTS = {
    one.name: one
    for one in (
        Experiment(
            "since-tuning",
            "Since 2016",
            "Regret with a common factor on the noise or the bonus",
            tuning,
            {
                "quick": Scale(
                    {"episodes": 2**9},
                    _cells({"random": (5,)}, *grid(agent=TUNED, factor=FACTORS[::4])),
                    range(1000, 1002),
                ),
                "paper": Scale(
                    {"episodes": EPISODES},
                    _cells(_SMALL, *grid(agent=TUNED, factor=FACTORS)),
                    range(1000, 1010),
                ),
            },
        ),
        Experiment(
            "since-tabular",
            "Since 2016",
            "Regret of RLSVI's tabular descendants",
            curve,
            {
                "quick": Scale({"episodes": 2**9}, _cells({"random": (5,)}, *_ARMS), range(2)),
                "paper": Scale(
                    {"episodes": EPISODES},
                    tuple(cell for cell in _cells(_ALL, *_ARMS) if _affordable(**cell)),
                    range(60),
                ),
            },
        ),
    )
}
EXPERIMENTS |= linear_runs.EXPERIMENTS  # with linear features
