r"""Appendix F and section 7: what the paper proposes and does not try. Every setting here is ours.

``value_propagation`` is why incremental RLSVI falls behind. With frozen targets a period averages
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

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from rlsvi_core import Agent, Options, rlsvi
from rlsvi_core.envs.chains import chain, lock
from rlsvi_core.features import coherent, tabular
from rlsvi_core.learners.appendix_f import (
    ContinualLearner,
    PriorHandling,
    continual_step,
    incremental,
)
from rlsvi_core.learners.sums import FeatureSums, add_transition
from rlsvi_core.mdp import DiscountedMDP, MDPArrays, sample_first_state, sample_step
from rlsvi_core.runtime.compilation import Array, Floats, Generator, Ints, jit
from rlsvi_core.runtime.loop import fill_action_values, sample_action

from ..engine import Plot, Rows, define_experiment, grid, quick_scale, streams
from ..judging.intervals import median_times
from .resampling import ResamplingLearner

StepSize = float | Callable[[int], float]


def _constant_step_size(nu: float) -> Callable[[int], StepSize]:
    return lambda H: nu


REWARDS_TO_LEARN = 10  # as in section 6.1

# ν_l for a horizon H. With 1/(l+2) row i counts in proportion to i + 2; H/(l+H+1) is the schedule
# under which Q-learning is known to be efficient (Jin et al. 2018).
STEP_SIZES: dict[str, Callable[[int], StepSize]] = {
    "ν = 0": lambda H: 0.0,
    "ν = 1/(l+2)": lambda H: lambda l: 1 / (l + 2),
    "ν = H/(l+H+1)": lambda H: lambda l: H / (l + H + 1),
    **{f"ν = {nu}": _constant_step_size(nu) for nu in (0.001, 0.01, 0.03, 0.1)},
}


def step_size(name: str, H: int) -> StepSize:
    """Return the step size of a name for a horizon H; every constant has one, ν = 0.05 say."""
    return STEP_SIZES[name](H) if name in STEP_SIZES else float(name.removeprefix("ν = "))


def printed_rho(gamma: float) -> float:
    """The autocorrelation ρ of Algorithm 13's third line as printed."""
    return math.sqrt(1.0 - gamma**2)


# The autocorrelation ρ of the perturbation for a discount γ. With ρ = 1 it stays at w_0 = 0, which
# is least-squares Q-iteration.
PERTURBATIONS: dict[str, Callable[[float], float]] = {
    "printed": printed_rho,
    "corrected": lambda gamma: gamma,
    "fresh": lambda gamma: 0.0,
    "greedy": lambda gamma: 1.0,
    "epsilon-greedy": lambda gamma: 1.0,
}

BOOTSTRAPS = {
    "bootstrap": {"resample": True, "random_prior": False},
    "bootstrap + prior": {"resample": True, "random_prior": True},
    "prior": {"resample": False, "random_prior": True},
}


# --------------------------------------------------------------------------- the kinds of run


def incremental_curve(
    agent: str,
    prior: PriorHandling,
    seed: int,
    N: int,
    lam: float,
    K: int,
    sigma: float,
    episodes: int,
    every: int,
) -> Rows:
    """Exact expected regret and rewards along one run, a row every so many episodes; the prior is
    forgotten, as printed, or kept."""
    mdp = chain(N)
    basis_rng, env_rng, agent_rng = streams(seed)
    Phi = coherent(mdp.Q, K, basis_rng)
    learner = (
        rlsvi(Phi, lam, sigma, options=Options(first="prior"), rng=agent_rng)
        if agent == "batch"
        else incremental(Phi, lam, sigma, step_size(agent, mdp.H), prior=prior, rng=agent_rng)
    )
    run = learner.learn(mdp, episodes, env_rng, exact=True)
    regret, rewards = np.cumsum(mdp.optimal_value - run.expected), np.cumsum(run.reward)
    tenth = int(np.searchsorted(rewards, REWARDS_TO_LEARN)) + 1  # episodes + 1 if it never came
    return [
        {
            "episode": n,
            "regret": round(float(regret[n - 1]), 6),
            "rewards": int(rewards[n - 1]),
            "tenth_reward": tenth if tenth <= n else 0,
            "furthest": 1 + int(run.max_state[:n].max()),
        }
        for n in range(every, episodes + 1, every)
    ]


@jit
def _continual_loop(
    model: MDPArrays,
    Phi: Floats,
    closed: Array,
    sums: FeatureSums,
    gamma: float,
    rho: float,
    sigma: float,
    epsilon: float,
    rng: Generator,
    own: Generator,
    state: Ints,
    action: Ints,
    reward: Floats,
) -> None:
    """Act, observe, plan, repeat, and fill in the record."""
    _, _, A, K = Phi.shape
    q, p, row = np.empty(A), np.empty(A), np.empty(K)
    theta, w = np.zeros(K), np.zeros(K)
    s = sample_first_state(model, rng)
    for t in range(reward.shape[0]):
        fill_action_values(Phi[0, s], theta, q)
        a = sample_action(q, epsilon, 0.0, p, own.random())
        r, s_next = sample_step(model, 0, s, a, rng)
        add_transition(Phi, sums, 0, s, a, r, s_next, row)
        continual_step(Phi, closed, sums, gamma, rho, sigma, own, theta, w)
        state[t], action[t], reward[t] = s, a, r
        s = s_next


def run_continual(
    learner: ContinualLearner,
    mdp: DiscountedMDP,
    steps: int,
    rng: Generator,
    own: Generator,
    epsilon: float = 0.0,
) -> tuple[Ints, Ints, Floats]:
    """States, actions and rewards of so many steps: those of ``Agent(learner, redraw=1)``, whose
    record has their sums alone."""
    data = learner.record
    life = np.zeros(steps, np.int64), np.zeros(steps, np.int64), np.zeros(steps)
    _continual_loop(
        mdp.model,
        data.Phi,
        data.closed,
        data.sums,
        data.gamma,
        data.rho,
        data.sigma,
        epsilon,
        rng,
        own,
        *life,
    )
    return life


def opening_time(
    agent: str, n: int, gamma: float, seed: int, lam: float, sigma: float, steps: int
) -> Rows:
    """Steps to the first reward of a tabular agent on the lock, and its regret after all steps."""
    mdp = lock(n, gamma)
    _, env_rng, agent_rng = streams(seed)
    Phi = np.eye(2 * n).reshape(n, 2, 2 * n)
    learner = ContinualLearner(Phi, gamma, PERTURBATIONS[agent](gamma), lam, sigma)
    epsilon = 0.1 * (agent == "epsilon-greedy")
    state, action, reward = run_continual(learner, mdp, steps, env_rng, agent_rng, epsilon)
    found = np.flatnonzero(reward)
    return [
        {
            "first_reward": int(found[0]) + 1 if found.size else steps,
            "lost": not found.size,
            "rewards": found.size,
            "regret": round(float(mdp.action_gaps[state, action].sum()), 6),
        }
    ]


def bootstrap_time(
    agent: str, features: str, N: int, seed: int, lam: float, sigma: float, K: int, budget: int
) -> Rows:
    """Episodes to the first and the tenth reward; the largest weight before the first."""
    mdp = chain(N)
    basis_rng, env_rng, agent_rng = streams(seed)
    Phi = tabular(mdp) if features == "tabular" else coherent(mdp.Q, K, basis_rng)
    learner = (
        rlsvi(Phi, lam, sigma, rng=agent_rng)
        if agent == "rlsvi"
        else Agent(ResamplingLearner(Phi, lam, sigma, **BOOTSTRAPS[agent]), rng=agent_rng)
    )
    found, largest, l = list[int](), 0.0, 0
    while l < budget and len(found) < REWARDS_TO_LEARN:
        l += 1
        run = learner.learn(mdp, 1, env_rng)
        if not found:
            largest = max(largest, float(np.abs(learner.theta).max()))
        if run.reward[0] > 0:
            found.append(l)
    return [
        {
            "first_reward": found[0] if found else budget,
            "lost": not found,
            "tenth_reward": l,
            "censored": len(found) < REWARDS_TO_LEARN,
            "largest_weight": largest,
        }
    ]


# --------------------------------------------------------------------------- summaries


def value_propagation(k: int, nu: StepSize, episodes: int) -> np.ndarray:
    """v_0, …, v_k after each number of episodes: an (episodes + 1, k + 1) array."""
    v, weight = np.zeros((episodes + 1, k + 1)), 0.0
    v[1:, 0] = 1.0
    for l in range(episodes):
        weight = (1 - (nu(l) if callable(nu) else nu)) * weight + 1
        v[l + 1, 1:] = v[l, 1:] + (v[l, :-1] - v[l, 1:]) / weight
    return v


def median_waits(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Median wait for the first reward, its interval, and how many of the runs found none."""
    return median_times(table, by, "first_reward", "lost")


# --------------------------------------------------------------------------- the experiments


def _cross(arms: Rows, **axes: Any) -> tuple[dict[str, Any], ...]:
    """Every arm with every combination of the axes' values, the arms slowest."""
    return tuple({**arm, **cell} for arm in arms for cell in grid(**axes))


_ARMS = [
    *grid(agent=("batch", "ν = 0"), prior=("kept",)),  # with ν = 0 nothing is forgotten
    *grid(agent=list(STEP_SIZES)[1:], prior=("forgotten", "kept")),
]
_CHAINS = (*_cross(_ARMS, N=(5, 10, 20, 50), lam=(1.0,)), *_cross(_ARMS, N=(10,), lam=(100.0, 1e4)))
_SAMPLES = (*BOOTSTRAPS, "rlsvi")
_WAITS = (
    *grid(agent=_SAMPLES, features=("tabular",), N=(4, 6, 8, 10, 12, 14)),
    *grid(agent=_SAMPLES, features=("coherent",), N=(10, 20)),
)


EXPERIMENTS = {
    one.name: one
    for one in (
        define_experiment(
            "incremental",
            place="Appendix F.1",
            title="Regret of batch and incremental RLSVI on the chain",
            run=incremental_curve,
            constants={"K": 10, "sigma": 0.1, "episodes": 2000, "every": 200},
            cells=_CHAINS,
            seeds=range(20),
            quick=quick_scale(cells=_cross(_ARMS[:3], N=(10,), lam=(1.0,)), seeds=range(2)),
            length="episodes",
            plot=Plot(
                "regret", ("agent", "prior"), panels=("N", "lam"), xlabel="regret at the end"
            ),
        ),
        define_experiment(
            "continual",
            place="Appendix F.2, Algorithm 13",
            title="Steps to open a lock of n moves",
            run=opening_time,
            constants={"lam": 1.0, "sigma": 0.1, "steps": 20_000},
            cells=grid(
                agent=PERTURBATIONS, n=(2, 4, 6, 8, 10, 12, 16, 20, 24), gamma=(0.9, 0.95, 0.99)
            ),
            seeds=range(20),
            quick=quick_scale(
                cells=grid(agent=PERTURBATIONS, n=(4, 8), gamma=(0.95,)), seeds=range(2)
            ),
            plot=Plot(
                "n",
                "first_reward",
                ("agent",),
                ("gamma",),
                log="y",
                stop="steps",
                xlabel="moves n of the lock",
                ylabel="steps until it opens",
            ),
        ),
        define_experiment(
            "bootstrap",
            place="Section 7",
            title="Learning time with a bootstrap in place of the posterior",
            run=bootstrap_time,
            constants={"lam": 1.0, "sigma": 0.1, "K": 10, "budget": 1000},
            cells=_WAITS,
            seeds=range(20),
            quick=quick_scale(
                cells=grid(agent=_SAMPLES, features=("tabular",), N=(4,)), seeds=range(2)
            ),
            plot=Plot(
                "N",
                "first_reward",
                ("agent",),
                ("features",),
                log="y",
                stop="budget",
                xlabel="length N of the chain",
                ylabel="episodes to the first reward",
            ),
        ),
    )
}
