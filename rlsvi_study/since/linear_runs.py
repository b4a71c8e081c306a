r"""Since 2016: regret of RLSVI and of what came after it, with linear features.

Worlds, by size:

- ``low-rank``, linear MDPs by the number d of features (H = 5, 20 states, 4 actions), where
  polynomial regret is proved;
- ``chain``, the paper's chain by its number N of states, with ten coherent features: only
  :math:`Q^*` is linear;
- ``gamble``, ``long gamble`` and ``toll`` of :mod:`rlsvi_study.traps` by H, with one feature, on
  which RLSVI fails. One episode in 1024 starts at the toll's side road.

All agents get the same features, scaled so that the longest has norm 1, and are told what the
rewards to come can add up to: H − h in a linear MDP, 1 on the chain, which pays once, and what
rewards within ±1 allow in the traps. V is the width of that range. RLSVI has σ = ``factor`` V,
with and without truncated values. LSVI-UCB has so much of its published bonus. Random weights on the data (:func:`rlsvi_core.bootstrap`) have κ = ``factor``, and no ridge. In linear
MDPs, whose features sum to 1, RLSVI with truncated values also runs with rewards from −1 to 0; elsewhere
:math:`Q^*` would no longer be linear.

Regret is the exact expected shortfall of all episodes so far. :mod:`.design` has the grids
and the rule.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rlsvi_core import FiniteMDP, bootstrap, chain, features
from rlsvi_core.compiled import Floats, Generator

from ..engine import Experiment, Rows, Scale, streams
from ..traps import gamble, long_gamble, toll
from ..worlds import low_rank
from .design import CHOOSING, JUDGING, LINEAR, SHIFTED
from .linear import Variant, changed, lsvi_ucb

SHORT, LONG = 4**5, 4**6  # episodes


class World(NamedTuple):
    mdp: FiniteMDP
    Phi: Floats
    value_range: Floats  # (H, 2): the least and the largest value in each period


def to_come(H: int, low: float, high: float) -> Floats:
    """The range of values if each period pays from low to high."""
    return np.outer(np.arange(H, 0, -1), [low, high])


def linear_mdp(d: int, low: float, rng: Generator) -> World:
    mdp, Phi = low_rank(5, 20, 4, d, rng)
    return World(FiniteMDP(mdp.P, mdp.R + low), Phi, to_come(5, low, low + 1.0))


def coherent_chain(N: int, rng: Generator) -> World:
    mdp = chain(N)
    return World(mdp, features.coherent(mdp.Q, 10, rng), np.tile([0.0, 1.0], (mdp.H, 1)))


WORLDS: dict[str, Callable[[int, float, Generator], World]] = {
    "low-rank": linear_mdp,
    "chain": lambda N, _, rng: coherent_chain(N, rng),
    "gamble": lambda H, *_: World(*gamble(), to_come(H + 1, -1.0, 1.0)[:H]),  # two rewards
    "long gamble": lambda H, *_: World(*long_gamble(H), to_come(H, -1.0, 1.0)),
    "toll": lambda H, *_: World(*toll(H, L=1024), to_come(H, -1.0, 1.0)),
}


def scaled(Phi: Floats) -> Floats:
    """The features, the longest of norm 1."""
    longest: float = np.sqrt((Phi * Phi).sum(axis=-1).max())
    return Phi / longest


def curve(
    environment: str,
    size: int,
    episodes: int,
    agent: str,
    low: float,
    cut: bool,
    ridge: float,
    factor: float,
    seed: int,
) -> Rows:
    """Regret along one run, at episodes 16, 64, 256, …"""
    world_rng, env, own = streams(seed)
    mdp, Phi, value_range = WORLDS[environment](size, low, world_rng)
    Phi, width = scaled(Phi), float(value_range[0, 1] - value_range[0, 0])
    if agent == "bootstrap":
        ends = float(value_range.min()), float(value_range.max())
        learner = bootstrap(Phi, ends, factor, rng=own)
    else:
        if agent == "rlsvi":
            variant = Variant(ridge, sigma=factor * width)
        else:
            variant = lsvi_ucb(Phi.shape[3], mdp.H, width, episodes, factor)._replace(ridge=ridge)
        learner = changed(Phi, variant, value_range if cut else None, own)
    regret = (mdp.value - learner.learn(mdp, episodes, env, exact=True).expected).cumsum()
    return [
        {"episode": 4**k, "regret": round(regret[4**k - 1], 3)}
        for k in range(2, 12)
        if 4**k <= episodes
    ]


def _cells(episodes: int, arms: tuple[dict, ...], **problems: tuple[int, ...]) -> tuple[dict, ...]:
    return tuple(
        {"environment": environment, "size": size, "episodes": episodes, **arm}
        for environment, sizes in problems.items()
        for size in sizes
        for arm in arms
    )


EXPERIMENTS = {
    "since-linear": Experiment(
        "since-linear",
        "Since 2016",
        "Regret of RLSVI and its descendants with linear features",
        curve,
        {
            "quick": Scale({}, _cells(4**3, LINEAR, **{"low-rank": (4,)}), range(2)),
            "paper": Scale(
                {},
                (
                    *_cells(SHORT, LINEAR, **{"low-rank": (2, 4, 8), "chain": (20,)}),
                    *_cells(SHORT, SHIFTED, **{"low-rank": (2, 4, 8)}),
                    *_cells(
                        LONG, LINEAR, **{"gamble": (1,), "long gamble": (4, 8), "toll": (9, 13)}
                    ),
                ),
                range(CHOOSING.start, JUDGING.stop),
            ),
        },
    )
}
