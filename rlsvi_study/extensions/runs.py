r"""Appendix F and section 7: what the paper proposes and does not try. Every setting here is ours.

- ``incremental_curve``: figure 2's chain, batch RLSVI against incremental RLSVI with several step
  sizes :math:`\nu_l`, the prior forgotten (as printed) or kept.
- ``opening_time``: continual RLSVI on a lock that opens after n moves in a row, with the
  perturbation as printed, mended, or drawn afresh, and least-squares Q-iteration as a control.
- ``bootstrap_time``: the chain, with a nonparametric bootstrap in place of the posterior sample.

``value_travels`` is the reason for what the first one finds. With frozen targets a period averages
what the period after it held in the *past*. Let every episode walk the same path, without noise,
to a reward of 1 at its end; then the value held k periods before the last one obeys

.. math::
    v_k(l+1) = v_k(l) + \beta_l\,(v_{k-1}(l) - v_k(l)), \qquad v_k(0) = 0, \quad
    v_0(1) = v_0(2) = \dots = 1,

where :math:`\beta_l` is the weight of the newest row among all. For :math:`\nu = 0`,
:math:`\beta_l = 1/(l+1)` and :math:`v_k(l) = P(R_l > k)` with :math:`R_l` the number of records
among l random numbers, whose mean is :math:`1 + \frac12 + \dots + \frac1l`: the value needs some
:math:`e^k` episodes to travel k periods. A constant :math:`\nu` takes about :math:`k/\nu`.
"""

import numpy as np
import pandas as pd

from rlsvi_core.agents import rlsvi
from rlsvi_core.agents.bootstrap import BootstrapAgent
from rlsvi_core.agents.continual import FastContinual, printed
from rlsvi_core.agents.incremental import incremental
from rlsvi_core.envs.chains import chain, lock
from rlsvi_core.features import coherent, tabular

from ..experiment import Experiment, Scale, grid, streams
from ..intervals import Median, median_interval

REWARDS_TO_LEARN = 10  # as in section 6.1

# ν_l for a horizon H. With 1/(l+2) row i counts in proportion to i + 2; H/(l+H+1) is the schedule
# under which Q-learning is known to be efficient (Jin et al. 2018).
STEP_SIZES = {
    "ν = 0": lambda H: 0.0,
    "ν = 1/(l+2)": lambda H: lambda l: 1 / (l + 2),
    "ν = H/(l+H+1)": lambda H: lambda l: H / (l + H + 1),
    "ν = 0.001": lambda H: 0.001,
    "ν = 0.01": lambda H: 0.01,
    "ν = 0.03": lambda H: 0.03,
    "ν = 0.1": lambda H: 0.1,
}


# --------------------------------------------------------------------------- the kinds of run

def incremental_curve(agent: str, prior: str, seed: int, N: int, lam: float, K: int, sigma: float,
                      episodes: int, every: int):
    """Exact expected regret and rewards along one run, a row every so many episodes."""
    mdp = chain(N)
    basis_rng, env_rng, agent_rng = streams(seed)
    Phi = coherent(mdp.Q, K, basis_rng)
    if agent == "batch":
        learner = rlsvi(Phi, lam, sigma, first_episode="prior", rng=agent_rng)
    else:
        learner = incremental(Phi, lam, sigma, STEP_SIZES[agent](mdp.H), prior=prior, rng=agent_rng)
    run = learner.learn(mdp, episodes, env_rng, exact=True)
    regret, rewards = np.cumsum(mdp.value - run.expected), np.cumsum(run.reward)
    tenth = int(np.searchsorted(rewards, REWARDS_TO_LEARN)) + 1  # episodes + 1 if it never came
    return [{"episode": n, "regret": round(float(regret[n - 1]), 6), "rewards": int(rewards[n - 1]),
             "tenth_reward": tenth if tenth <= n else 0,
             "furthest": 1 + int(run.furthest[:n].max())}
            for n in range(every, episodes + 1, every)]


def opening_time(agent: str, n: int, gamma: float, seed: int, lam: float, sigma: float,
                 steps: int):
    """Steps to the first reward of a tabular agent on the lock, and its regret after all steps."""
    mdp = lock(n, gamma)
    _, env_rng, agent_rng = streams(seed)
    rho = {"printed": printed(gamma), "mended": gamma, "fresh": 0.0, "greedy": 1.0,
           "epsilon-greedy": 1.0}[agent]
    learner = FastContinual(np.eye(2 * n).reshape(n, 2, 2 * n), gamma, rho, lam, sigma,
                            epsilon=0.1 if agent == "epsilon-greedy" else 0.0, rng=agent_rng)
    done = learner.learn(mdp, steps, env_rng)
    found = np.flatnonzero(done.reward)
    return [{"first_reward": int(found[0]) + 1 if found.size else steps,
             "lost": not found.size, "rewards": found.size,
             "regret": round(float(mdp.gaps[done.state[:-1], done.action].sum()), 6)}]


def bootstrap_time(agent: str, features: str, N: int, seed: int, lam: float, sigma: float, K: int,
                   budget: int):
    """Episodes to the first and the tenth reward; the largest weight before the first."""
    mdp = chain(N)
    basis_rng, env_rng, agent_rng = streams(seed)
    Phi = tabular(mdp) if features == "tabular" else coherent(mdp.Q, K, basis_rng)
    if agent == "rlsvi":
        learner = rlsvi(Phi, lam, sigma, rng=agent_rng)
    else:
        learner = BootstrapAgent(Phi, lam, sigma, resample="bootstrap" in agent,
                                 random_prior="prior" in agent, rng=agent_rng)
    found, largest, l = [], 0.0, 0
    while l < budget and len(found) < REWARDS_TO_LEARN:
        l += 1
        run = learner.learn(mdp, 1, env_rng)
        if not found:
            largest = max(largest, float(np.abs(learner.theta).max()))
        if run.reward[0] > 0:
            found.append(l)
    return [{"first_reward": found[0] if found else budget, "lost": not found,
             "tenth_reward": l, "censored": len(found) < REWARDS_TO_LEARN,
             "largest_weight": largest}]


# --------------------------------------------------------------------------- summaries

def value_travels(k: int, nu, episodes: int) -> np.ndarray:
    """v_0, …, v_k after each number of episodes: an (episodes + 1, k + 1) array."""
    v = np.zeros((episodes + 1, k + 1))
    weight = 0.0
    for l in range(episodes):
        weight = (1 - (nu(l) if callable(nu) else nu)) * weight + 1
        v[l + 1, 0] = 1.0
        v[l + 1, 1:] = v[l, 1:] + (v[l, :-1] - v[l, 1:]) / weight
    return v


def waits(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Median wait for the first reward, its interval, and how many of the runs found none."""
    lost = table["lost"]
    times = table.assign(time=table.first_reward.astype(float).where(~lost, np.inf))
    rows = {key: {**median_interval(cell.time)._asdict(), "runs": len(cell),
                  "lost": int(cell["lost"].sum())} for key, cell in times.groupby(by)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(by)


def final_regret(table: pd.DataFrame, N: int, lam: float) -> pd.DataFrame:
    """Each run's regret at the end: one column for each (agent, prior), one row a seed."""
    last = table[(table.N == N) & (table.lam == lam) & (table.episode == table.episode.max())]
    return last.pivot(index="seed", columns=["agent", "prior"], values="regret")


def regret_ratio(table: pd.DataFrame, N: int, lam: float) -> dict[tuple[str, str], Median]:
    """Incremental over batch regret, seed by seed: the median and its interval."""
    regret = final_regret(table, N, lam)
    batch = regret["batch", "kept"]
    return {arm: median_interval(regret[arm] / batch) for arm in regret if arm[0] != "batch"}


# --------------------------------------------------------------------------- the figures

def _cells(arms, **axes):
    """Every arm with every combination of the axes' values, the arms slowest."""
    return tuple({**arm, **cell} for arm in arms for cell in grid(**axes))


_ARMS = ({"agent": "batch", "prior": "kept"}, {"agent": "ν = 0", "prior": "kept"},
         *({"agent": agent, "prior": prior} for agent in STEP_SIZES if agent != "ν = 0"
           for prior in ("forgotten", "kept")))
_INCREMENTAL = {"K": 10, "sigma": 0.1, "episodes": 2000, "every": 200}

INCREMENTAL = Experiment(
    "incremental", "Appendix F.1", "Regret of batch and incremental RLSVI on the chain",
    incremental_curve, {
        "quick": Scale(_INCREMENTAL, _cells(_ARMS[:3], N=(10,), lam=(1.0,)), range(2)),
        "paper": Scale(_INCREMENTAL, _cells(_ARMS, N=(5, 10, 20, 50), lam=(1.0,))
                       + _cells(_ARMS, N=(10,), lam=(100.0, 1e4)), range(20))}, length="episodes")

_CONTINUAL = {"lam": 1.0, "sigma": 0.1, "steps": 20_000}
_LIVES = tuple({"agent": agent} for agent in (
    "printed", "mended", "fresh", "greedy", "epsilon-greedy"))

CONTINUAL = Experiment(
    "continual", "Appendix F.2, Algorithm 13", "Steps to open a lock of n moves",
    opening_time, {
        "quick": Scale(_CONTINUAL, _cells(_LIVES, n=(4, 8), gamma=(0.95,)), range(2)),
        "paper": Scale(_CONTINUAL, _cells(_LIVES, n=(2, 4, 6, 8, 10, 12, 16, 20, 24),
                                          gamma=(0.9, 0.95, 0.99)), range(20))})

_BOOTSTRAP = {"lam": 1.0, "sigma": 0.1, "K": 10, "budget": 1000}
_SAMPLES = tuple({"agent": agent} for agent in (
    "bootstrap", "bootstrap + prior", "prior", "rlsvi"))

BOOTSTRAP = Experiment(
    "bootstrap", "Section 7", "Learning time with a bootstrap in place of the posterior",
    bootstrap_time, {
        "quick": Scale(_BOOTSTRAP, _cells(_SAMPLES, features=("tabular",), N=(4,)), range(2)),
        "paper": Scale(_BOOTSTRAP, _cells(_SAMPLES, features=("tabular",), N=(4, 6, 8, 10, 12, 14))
                       + _cells(_SAMPLES, features=("coherent",), N=(10, 20)), range(20))})

EXPERIMENTS = {e.name: e for e in (
    INCREMENTAL, CONTINUAL, BOOTSTRAP)}
