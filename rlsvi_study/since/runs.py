r"""Since 2016: the regret of RLSVI's tabular descendants.

RLSVI with a constant σ (``rlsvi``) is crossed: rewards from 0 to 1 or from −1 to 0, own noise for
each pair or one z for an episode, ridge 1 or 0.01, and four σ. The published variants of
:mod:`.tabular` and UCBVI run with their constants, factor 1; clipped, single seed and UCBVI also
with smaller ones, the first two with both ridges (UCBVI has none). :mod:`.design` has the grids and
the rule by which they are compared.

All are told H, S, A and that a period pays between ``low`` and low + 1. So rewards are shifted and
scaled, and the terminal reward is part of the last period's. That changes no policy's regret but by
the scale, which is taken out again. It matters to an agent whose prior mean is 0, the least value
or the largest. Regret is the exact expected shortfall of all episodes so far.
"""

from collections.abc import Callable, Mapping
from typing import Any

from rlsvi_core import Agent, FiniteMDP
from rlsvi_core.compiled import Generator
from rlsvi_core.envs.chains import chain, deep_sea, river_swim

from ..engine import Experiment, Rows, Scale, streams
from ..parameters import make_prior
from ..rivals import ucbvi
from ..worlds import World, paying
from . import linear_runs
from .design import CHOOSING, JUDGING, TABULAR
from .tabular import VARIANTS, Perturbed

EPISODES = 4**5

# --------------------------------------------------------------------------- worlds


WORLDS: dict[str, Callable[[int, Generator], World]] = {
    "chain": lambda N, _: World(chain(N), 0.0, 1.0),
    "river swim": lambda N, _: World(river_swim(N), 0.0, 1.0),
    "deep sea": lambda N, rng: World(deep_sea(N, rng), -0.01 / N, 1.0),
    "random": lambda S, rng: World(make_prior(S, S, 3).sample(rng), -1.0, 0.0),
}


# --------------------------------------------------------------------------- runs


def make_agent(
    mdp: FiniteMDP,
    agent: str,
    low: float,
    noise: str,
    ridge: float,
    factor: float,
    episodes: int,
    rng: Generator,
) -> Agent:
    if agent == "ucbvi":
        return ucbvi(make_prior(mdp.H, mdp.S, mdp.A), episodes, factor, rng=rng)
    variant = VARIANTS[agent]._replace(factor=factor, ridge=ridge, shared=noise == "one", low=low)
    return Agent(Perturbed(mdp.H, mdp.S, mdp.A, variant), rng=rng)


def curve(
    environment: str,
    size: int,
    agent: str,
    low: float,
    noise: str,
    ridge: float,
    factor: float,
    seed: int,
    episodes: int,
) -> Rows:
    """Regret along one run, at episodes 16, 64, 256, …"""
    world_rng, env_rng, agent_rng = streams(seed)
    world = WORLDS[environment](size, world_rng)
    mdp = paying(world, low)
    learner = make_agent(mdp, agent, low, noise, ridge, factor, episodes, agent_rng)
    run = learner.learn(mdp, episodes, env_rng, exact=True)
    regret = (world.high - world.low) * (mdp.value - run.expected).cumsum()
    return [
        {"episode": 4**k, "regret": round(regret[4**k - 1], 3)}
        for k in range(2, 12)
        if 4**k <= episodes
    ]


# --------------------------------------------------------------------------- the experiments


def _cells(problems: Mapping[str, tuple[int, ...]], *arms: dict[str, Any]) -> tuple[dict, ...]:
    return tuple(
        {"environment": environment, "size": size, **arm}
        for environment, sizes in problems.items()
        for size in sizes
        for arm in arms
    )


EXPERIMENTS = {
    "since-tabular": Experiment(
        "since-tabular",
        "Since 2016",
        "Regret of RLSVI and its tabular descendants, crossed",
        curve,
        {
            "quick": Scale({"episodes": 4**3}, _cells({"random": (5,)}, *TABULAR), range(2)),
            "paper": Scale(
                {"episodes": EPISODES},
                _cells(
                    {"chain": (20,), "river swim": (6,), "deep sea": (10, 30), "random": (5, 10)},
                    *TABULAR,
                ),
                range(CHOOSING.start, JUDGING.stop),
            ),
        },
    )
} | linear_runs.EXPERIMENTS  # with linear features
