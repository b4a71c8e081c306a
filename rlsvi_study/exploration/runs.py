r"""What makes RLSVI explore? The agents of :mod:`.agents` on the chain and in the deep sea.

The **gain** of a run is what it earns over what uniform play earns, both as exact expectations; an
agent's share is its mean gain in units of RLSVI's. λ = 1 and σ = 0.1 for all, as in the paper's
experiments, and the largest value is 1. No agent is tuned.

**The rule**, written after a pilot on seeds 9000 and up, before those of the table were run. Agents
share a seed's basis or sea, so differences are taken seed by seed, with Student's intervals that
hold together, over all agents, problems and both questions, with 95% (:func:`judged`):

- an agent *explores* on a problem if its gain exceeds half of RLSVI's, and *does not* if it is less
  than half; where the interval contains zero, this is *open*;
- it is *better* or *worse* than RLSVI if the interval for the difference excludes zero, and *not
  told apart* otherwise.

Sampling is what makes RLSVI explore if ``spread`` and ``two draws`` explore on every problem and
``optimism`` on none; it is RLSVI's own optimism if this is the other way round. Optimism of another
kind is enough, without any sampling, where ``optimistic`` explores. The sample must stand in the
targets where ``mean`` does not explore.

The same rule holds for ``recommender-explore`` (the likes of 600 customers). One draw for all pairs
and two draws are left out there. Sizes were reduced for their cost, before any seed was run. Tetris
is judged apart, from tables that were there before (``tetris.claims``).
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from rlsvi_core import features
from rlsvi_core.compiled import Floats, Generator
from rlsvi_core.envs.chains import chain, deep_sea
from rlsvi_core.mdp import FiniteMDP

from ..engine import Experiment, Rows, Scale, grid, streams
from ..judging.intervals import for_all, mean_interval
from .agents import VALUES, learn

LAM, SIGMA, TOP = 1.0, 0.1, 1.0


def tabular(mdp: FiniteMDP) -> tuple[FiniteMDP, Floats]:
    return mdp, features.tabular(mdp)


def coherent(mdp: FiniteMDP, rng: Generator) -> tuple[FiniteMDP, Floats]:
    return mdp, features.coherent(mdp.Q, 10, rng)


PROBLEMS: dict[str, Callable[[Generator], tuple[FiniteMDP, Floats]]] = {
    "chain of 20, a table": lambda _: tabular(chain(20)),
    "chain of 30, 10 features": lambda rng: coherent(chain(30), rng),
    "deep sea 10": lambda rng: tabular(deep_sea(10, rng)),
}


def gain(seed: int, problem: str, agent: str, episodes: int) -> Rows:
    """What a run earns over uniform play, in optimal episodes; and which share of the optimal
    reward its last tenth earns."""
    made_rng, env_rng, agent_rng = streams(seed)
    mdp, Phi = PROBLEMS[problem](made_rng)
    earned = learn(mdp, agent, Phi, LAM, SIGMA, TOP, episodes, env_rng, agent_rng) / mdp.value
    uniform = mdp.evaluate(np.full(mdp.Q.shape, 1 / mdp.A))[0] @ mdp.initial / mdp.value
    return [
        {
            "gain": float(earned.sum() - episodes * uniform),
            "late": float(earned[-episodes // 10 :].mean()),
        }
    ]


def judged(gains: pd.DataFrame) -> pd.DataFrame:
    """The rule, for a table with a problem, an agent, a seed and a gain in each row: each agent's
    share with Student's interval for its own mean, whether it explores, and how it compares."""
    runs = {key: one.set_index("seed").gain for key, one in gains.groupby(["problem", "agent"])}
    level = for_all(2 * sum(agent != "sample" for _, agent in runs))
    rows = {}
    for (problem, agent), gain in runs.items():
        printed = runs[problem, "sample"]
        own, unit = mean_interval(gain), float(printed.mean())
        half, whole = (
            mean_interval((gain - share * printed).dropna(), level) for share in (0.5, 1.0)
        )
        rows[problem, agent] = {
            "share": own.mean / unit,
            "low": own.low / unit,
            "high": own.high / unit,
            "seeds": len(gain),
            "explores": "yes" if half.low > 0 else "no" if half.high < 0 else "open",
            "compared": "better"
            if whole.low > 0
            else "worse"
            if whole.high < 0
            else "not told apart",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["problem", "agent"])


_CELLS = grid(problem=PROBLEMS, agent=VALUES)

EXPERIMENTS = {
    "explore": Experiment(
        "explore",
        "Section 4",
        "RLSVI taken apart: sampling, optimism, or both",
        gain,
        {
            "quick": Scale({"episodes": 50}, _CELLS[:2], range(2)),
            "paper": Scale({"episodes": 600}, _CELLS, range(16)),
        },
    )
}
