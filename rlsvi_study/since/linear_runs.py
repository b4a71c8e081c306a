r"""Since 2016: regret of RLSVI and of what came after it, with linear features.

Worlds, by size:

- ``low-rank``, linear MDPs by the number d of features (H = 5, 20 states, 4 actions), where
  polynomial regret is proved;
- ``chain``, the paper's chain by its number N of states, with ten coherent features: only
  :math:`Q^*` is linear;
- ``gamble``, ``long gamble`` and ``toll`` of :mod:`rlsvi_study.traps` by H, with one feature, on
  which RLSVI fails. One episode in 1024 starts at the toll's side road.

All agents get the same features, and are told what the rewards to come can add up to: H − h in a
linear MDP, 1 on the chain, which pays once, and what rewards within ±1 allow in the traps. RLSVI
has no use for that. It has σ = 1, the largest reward, and λ = 1 (on the long gamble 3/H²), as
Conjecture 1 has.

Each agent has one ``factor``, on RLSVI's σ, on the bonus or on the noise. ``since-linear-tuning``
tries factors on seeds of its own, on a low-rank family and a chain; :func:`best_factors` is the
rule, and ``TUNED`` what it found. Nothing is tuned on the traps. Regret is the exact expected
shortfall of all episodes so far.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from rlsvi_core import FiniteMDP, chain, features, rlsvi
from rlsvi_core.compiled import Floats

from ..engine import Experiment, Rows, Scale, grid, streams
from ..traps import gamble, long_gamble, toll
from ..worlds import low_rank
from .linear import VARIANTS, learn

SHORT, LONG = 4**5, 4**7  # episodes
FACTORS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
TUNED = {"rlsvi": 0.1, "lsvi-ucb": 0.003, "lsvi-phe": 0.01, "langevin": 0.03}


class World(NamedTuple):
    mdp: FiniteMDP
    Phi: Floats
    value_range: Floats  # (H, 2): the least and the largest value in each period
    lam: float = 1.0  # of RLSVI


def to_come(H: int, low: float, high: float) -> Floats:
    """The range of values if each period pays from low to high."""
    return np.outer(np.arange(H, 0, -1), [low, high])


def coherent_chain(N: int, rng: np.random.Generator) -> World:
    mdp = chain(N)
    return World(mdp, features.coherent(mdp.Q, 10, rng), np.tile([0.0, 1.0], (mdp.H, 1)))


WORLDS: dict[str, Callable[[int, np.random.Generator], World]] = {
    "low-rank": lambda d, rng: World(*low_rank(5, 20, 4, d, rng), to_come(5, 0.0, 1.0)),
    "chain": coherent_chain,
    "gamble": lambda H, _: World(*gamble(), to_come(H + 1, -1.0, 1.0)[:H]),  # two rewards
    "long gamble": lambda H, _: World(*long_gamble(H), to_come(H, -1.0, 1.0), 3 / H**2),
    "toll": lambda H, _: World(*toll(H, L=1024), to_come(H, -1.0, 1.0)),
}


def tuning(
    environment: str, size: int, agent: str, factor: float, seed: int, episodes: int
) -> Rows:
    """Regret along one run, at episodes 16, 64, 256, …"""
    world_rng, env, own = streams(seed)
    mdp, Phi, value_range, lam = WORLDS[environment](size, world_rng)
    if agent == "rlsvi":
        expected = rlsvi(Phi, lam, factor, rng=own).learn(mdp, episodes, env, exact=True).expected
    else:
        width = float(value_range[0, 1] - value_range[0, 0])
        variant = VARIANTS[agent](Phi.shape[3], mdp.H, width, episodes, factor)
        expected = learn(mdp, Phi, variant, episodes, env, own, value_range).expected
    regret = (mdp.value - expected).cumsum()
    return [
        {"episode": 4**k, "regret": round(regret[4**k - 1], 4)}
        for k in range(2, 12)
        if 4**k <= episodes
    ]


def curve(
    environment: str, size: int, agent: str, constants: str, seed: int, episodes: int
) -> Rows:
    """The same with published or with tuned constants."""
    factor = TUNED[agent] if constants == "tuned" else 1.0
    return tuning(environment, size, agent, factor, seed, episodes)


def best_factors(table: pd.DataFrame) -> dict[str, float]:
    """Of each agent the largest factor, which explores most, whose mean regret at the end, in the
    geometric mean over problems, is at most a tenth above the least."""
    final = table[table.episode == table.episode.max()]
    means = final.groupby(["agent", "factor", "environment", "size"]).regret.mean()
    score = np.exp(np.log(means).groupby(["agent", "factor"]).mean()).unstack("agent")
    good = score <= 1.1 * score.min()
    return {agent: float(good.index[good[agent]].max()) for agent in TUNED}


def _cells(problems: dict[str, tuple[int, ...]], **arms: tuple) -> tuple[dict, ...]:
    return tuple(
        {"environment": environment, "size": size, **arm}
        for environment, sizes in problems.items()
        for size in sizes
        for arm in grid(**arms)
    )


_AGENTS = tuple(TUNED)
_ARMS = {"agent": _AGENTS, "constants": ("published", "tuned")}

EXPERIMENTS = {
    one.name: one
    for one in (
        Experiment(
            "since-linear-tuning",
            "Since 2016",
            "Regret with a factor on σ, noise or bonus",
            tuning,
            {
                "quick": Scale(
                    {"episodes": 4**4},
                    _cells({"low-rank": (4,)}, agent=_AGENTS, factor=FACTORS[::3]),
                    range(1000, 1002),
                ),
                "paper": Scale(
                    {"episodes": SHORT},
                    _cells({"low-rank": (4,), "chain": (10,)}, agent=_AGENTS, factor=FACTORS),
                    range(1000, 1010),
                ),
            },
        ),
        Experiment(
            "since-linear",
            "Since 2016",
            "Regret of RLSVI's descendants with linear features",
            curve,
            {
                "quick": Scale({}, _cells({"low-rank": (4,)}, episodes=(4**4,), **_ARMS), range(2)),
                "paper": Scale(
                    {},
                    (
                        *_cells(
                            {"low-rank": (2, 4, 8), "chain": (10, 20)}, episodes=(SHORT,), **_ARMS
                        ),
                        *_cells(
                            {"gamble": (1,), "long gamble": (4, 8), "toll": (9, 13)},
                            episodes=(LONG,),
                            **_ARMS,
                        ),
                    ),
                    range(60),
                ),
            },
        ),
    )
}
