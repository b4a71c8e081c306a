r"""Chain experiments: Example 1 (section 3) and figure 2(a) (section 6.1).

**Example 1.** Until the reward is first seen, dithering agents act uniformly at random, so the
first rewarded episode :math:`l^*` is geometric with success probability :math:`p^* 2^{-(N-1)}`.
The experiment plays until then.

**Figure 2(a).** A 50-state chain, K = 10 coherent features (Algorithm 6), σ = 0.1, λ = 1, 2000
episodes; RLSVI against ε-greedy LSVI on the same basis, with the same environment noise. Seeds 0–4
stand for the paper's five. Regret is recorded twice: realised (what the paper plots) and expected,
:math:`\sum_l (V^*_0 - V^{\mu_l}_0)`, by exact evaluation of each episode's policy.
"""

import numpy as np
import pandas as pd

from .. import bases
from ..agents import Agent, lsvi, rlsvi
from ..envs import chain
from .figure import Figure, Scale, streams
from .summary import Interval, median_interval

REWARDS_TO_LEARN = 10  # section 6.1: "episodes until 10 rewards" is the proxy for learning time


def make_agent(agent: str, Phi, lam: float, sigma: float, rng) -> Agent:
    match agent:
        case "rlsvi":
            return rlsvi(Phi, lam, sigma, rng=rng)
        case "epsilon-greedy":
            return lsvi(Phi, lam, epsilon=0.1, rng=rng)
        case "boltzmann":
            return lsvi(Phi, lam, eta=0.1, rng=rng)
    raise ValueError(f"agent must be 'rlsvi', 'epsilon-greedy' or 'boltzmann'; it is {agent!r}.")


def first_arrival(agent: str, N: int, seed: int, lam: float, sigma: float, budget: int):
    """Play a tabular agent on the N-chain until its first reward, or until the budget is spent."""
    mdp = chain(N)
    _, env_rng, agent_rng = streams(seed)
    learner = make_agent(agent, bases.tabular(mdp), lam, sigma, agent_rng)
    for start in range(0, budget, 256):
        rewarded = np.flatnonzero(learner.learn(mdp, min(256, budget - start), env_rng).reward)
        if rewarded.size:
            return [{"first_reward": start + int(rewarded[0]), "censored": False}]
    return [{"first_reward": budget, "censored": True}]


def learning_curve(agent: str, seed: int, N: int, K: int, lam: float, sigma: float,
                   episodes: int, every: int):
    """Regret along one run, a row every so many episodes."""
    mdp = chain(N)
    basis_rng, env_rng, agent_rng = streams(seed)
    learner = make_agent(agent, bases.coherent(mdp.Q, K, basis_rng), lam, sigma, agent_rng)
    run = learner.learn(mdp, episodes, env_rng, exact=True)
    rewards = np.cumsum(run.reward)
    shortfall = np.cumsum(mdp.value - run.expected)
    return [{"episode": n,
             "rewards": int(rewards[n - 1]),
             "regret": n * mdp.value - float(rewards[n - 1]),
             "expected_regret": float(shortfall[n - 1]),
             "suboptimal": int((run.expected[:n] < mdp.value - 1e-9).sum()),
             "furthest": 1 + int(run.furthest[n - every:n].max())}
            for n in range(every, episodes + 1, every)]


def learning_times(table: pd.DataFrame) -> pd.Series:
    """First recorded episode with ten rewards, for each agent and seed; infinity if never."""
    learned = table[table.rewards >= REWARDS_TO_LEARN].groupby(["agent", "seed"]).episode.min()
    runs = table.groupby(["agent", "seed"]).size().index
    return learned.reindex(runs).astype(float).fillna(np.inf)


def learning_time(table: pd.DataFrame, agent: str) -> Interval:
    return median_interval(learning_times(table).loc[agent])


_ARRIVAL = {"lam": 1.0, "sigma": 0.1, "budget": 1_000_000}
_AGENTS = ("rlsvi", "epsilon-greedy", "boltzmann")


def _arrival_grid(*lengths: int):
    return tuple({"agent": agent, "N": N} for agent in _AGENTS for N in lengths)


EXAMPLE_1 = Figure(
    name="example1",
    place="Section 3, Example 1",
    title="First rewarded episode against the length of the chain",
    run=first_arrival,
    scales={
        "quick": Scale(_ARRIVAL, _arrival_grid(2, 4, 6, 8), range(10)),
        "paper": Scale(_ARRIVAL, _arrival_grid(2, 4, 6, 8, 10, 12, 14), range(100)),
    },
)

_FIGURE_2A = {"N": 50, "K": 10, "lam": 1.0, "sigma": 0.1, "episodes": 2000, "every": 20}
_PAIR = ({"agent": "rlsvi"}, {"agent": "epsilon-greedy"})

FIGURE_2A = Figure(
    name="fig2a",
    place="Section 6.1, figure 2(a)",
    title="Regret on a 50-chain, first 2000 episodes",
    run=learning_curve,
    scales={
        "quick": Scale(_FIGURE_2A, _PAIR, range(3)),
        "paper": Scale(_FIGURE_2A, _PAIR, range(50)),
    },
)
