r"""Chain experiments: Example 1 (section 3), section 6.1 and appendix C.

Three kinds of run cover all of them:

- ``first_arrival`` plays a tabular agent until its first reward. Until then dithering agents act
  uniformly at random, so the wait is geometric with success probability :math:`p^* 2^{-(N-1)}`.
- ``learning_curve`` records regret along a run, realised (what the paper plots) and expected,
  :math:`\sum_l (V^*_0 - V^{\mu_l}_0)`, by exact evaluation of each episode's policy.
- ``time_to_learn`` plays until the tenth reward, the paper's proxy for learning time. A run that
  does not get there within its budget is marked as censored.

Where the paper prints a setting it is used; its five seeds are seeds 0–4. Where it does not print
a grid (chain lengths, numbers of features, λ, σ), the grid here is ours. Up to N = 200 figure 3
could not tell a quadratic from an exponential with an offset, so N = 300 and 400 were run after it,
with the same criterion.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from rlsvi_core import Agent, Options, features, lsvi, rlsvi
from rlsvi_core.envs.chains import LEFT, RIGHT, chain
from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.runtime.compilation import Generator, Seed

from ..engine import Plot, Rows, define_experiment, grid, quick_scale, streams
from ..judging.intervals import Median, median_interval, median_times

REWARDS_TO_LEARN = 10  # section 6.1: "episodes until 10 rewards" is the proxy for learning time
DITHER: dict[str, Any] = {"epsilon-greedy": {"epsilon": 0.1}, "boltzmann": {"eta": 0.1}}


def make_agent(agent: str, Phi: Any, lam: float, sigma: float, rng: Seed) -> Agent:
    if agent != "rlsvi":
        return lsvi(Phi, lam, **DITHER[agent], rng=rng)
    with warnings.catch_warnings():  # the smallest λ and σ of Figures 10 and 11 cost digits
        warnings.filterwarnings("ignore", r"lam \* sigma")
        return rlsvi(Phi, lam, sigma, rng=rng)


# --------------------------------------------------------------------------- the kinds of run


def first_arrival(agent: str, N: int, seed: int, lam: float, sigma: float, budget: int) -> Rows:
    """Count the unrewarded episodes of a tabular agent before its first reward (the paper's l*)."""
    mdp = chain(N)
    _, env_rng, agent_rng = streams(seed)
    learner = make_agent(agent, features.tabular(mdp), lam, sigma, agent_rng)
    (first,) = rewarded_episodes(mdp, learner, env_rng, budget, count=1)
    return [{"unrewarded": min(first - 1, budget), "censored": first > budget}]


def learning_curve(
    agent: str, seed: int, N: int, K: int, lam: float, sigma: float, episodes: int, every: int
) -> Rows:
    """Regret along one run, a row every so many episodes. Memory does not grow with episodes.

    ``lapses`` are suboptimal episodes after the first reward; ``last_suboptimal`` is the latest
    suboptimal episode so far; ``tenth_reward`` is the episode of the tenth reward, 0 before it.
    """
    mdp = chain(N)
    basis_rng, env_rng, agent_rng = streams(seed)
    learner = make_agent(agent, features.coherent(mdp.Q, K, basis_rng), lam, sigma, agent_rng)
    rows, rewards, shortfall, suboptimal, lapses, last, tenth = [], 0, 0.0, 0, 0, 0, 0
    for n in range(every, episodes + 1, every):
        run, episode = learner.learn(mdp, every, env_rng, exact=True), np.arange(n - every, n) + 1
        missed = run.expected < mdp.optimal_value - 1e-9
        total = rewards + np.cumsum(run.reward)
        tenth = tenth or int(min(episode[total >= REWARDS_TO_LEARN], default=0))
        last = int(max(episode[missed], default=last))
        rewards = int(total[-1])
        shortfall += float((mdp.optimal_value - run.expected).sum())
        suboptimal += int(missed.sum())
        lapses += int((missed & (total > run.reward)).sum())  # a reward came before
        rows.append(
            {
                "episode": n,
                "rewards": rewards,
                "regret": n * mdp.optimal_value - rewards,
                "expected_regret": shortfall,
                "suboptimal": suboptimal,
                "lapses": lapses,
                "last_suboptimal": last,
                "tenth_reward": tenth,
                "furthest": 1 + int(run.max_state.max()),
            }
        )
    return rows


def time_to_learn(
    seed: int,
    N: int,
    K: int,
    lam: float,
    sigma: float,
    budget: int,
    reading: Literal["stacked", "per_period"] = "stacked",
    norm: str = "HSA",
    constant: str = "rescaled",
    opening: str = "uniform",
) -> Rows:
    """Episodes until the first and the tenth reward, coherent features, under one reading.

    ``norm`` of a column; ``constant``: whether the constant column is rescaled like the rest or
    left at 1; ``opening``: the first episode has θ̃ = 0 with ties broken uniformly (the default),
    to the left or to the right, or a sample from the prior.
    """
    mdp = chain(N)
    basis_rng, env_rng, agent_rng = streams(seed)
    HSA, SA = mdp.Q.size, mdp.S * mdp.A
    size = {"HSA": HSA, "SA": SA, "√HSA": HSA**0.5, "√SA": SA**0.5, "1": 1.0}[norm]
    Phi = features.coherent(mdp.Q, K, basis_rng, reading=reading, norm=size)
    if constant == "left at 1":
        Phi[..., 0] = 1.0
    options = Options(first="prior" if opening == "prior" else "uniform")
    with warnings.catch_warnings():
        # With many features of norm HSA the first K episodes' values have fewer than four digits.
        warnings.filterwarnings("ignore", r"lam \* sigma")
        learner = rlsvi(Phi, lam, sigma, options=options, rng=agent_rng)
    # All values are equal in the first episode and never again: ties to one side are that episode.
    tie = {"left": LEFT, "right": RIGHT}.get(opening)
    played = [] if tie is None else [_play_constant_action(mdp, learner, tie, env_rng)]
    return _learning_time_row(mdp, learner, env_rng, budget, played)


def tabular_time_to_learn(seed: int, N: int, lam: float, sigma: float, budget: int) -> Rows:
    """The same without generalization: a feature of its own for each state, action and period."""
    mdp = chain(N)
    _, env_rng, agent_rng = streams(seed)
    one_hot = features.one_hot(mdp.H, mdp.S, mdp.A)
    return _learning_time_row(mdp, rlsvi(one_hot, lam, sigma, rng=agent_rng), env_rng, budget)


def agnostic_time_to_learn(
    seed: int,
    noise: Literal["variance", "deviation"],
    rho: float,
    N: int,
    K: int,
    lam: float,
    sigma: float,
    budget: int,
) -> Rows:
    """The same with noisy copies of Q* as features. Each ρ has draws of its own."""
    mdp = chain(N)
    basis_rng, env_rng, agent_rng = streams((seed, round(1000 * rho)))
    Phi = features.agnostic(mdp.Q, K, rho, basis_rng, noise=noise)
    return _learning_time_row(mdp, rlsvi(Phi, lam, sigma, rng=agent_rng), env_rng, budget)


def _play_constant_action(mdp: FiniteMDP, learner: Agent, action: int, env_rng: Generator) -> float:
    """One episode of the same action throughout; returns its reward (the chain's is terminal)."""
    s = mdp.start(env_rng)
    for h in range(mdp.H):
        r, s_next, _ = mdp.step(h, s, action, env_rng)
        learner.observe(h, s, action, r, s_next)
        s = s_next
    return r


def _learning_time_row(
    mdp: FiniteMDP,
    learner: Agent,
    env_rng: Generator,
    budget: int,
    played: Sequence[float] = (),
) -> Rows:
    waits = rewarded_episodes(mdp, learner, env_rng, budget, REWARDS_TO_LEARN, played)
    return [
        {
            "first_reward": min(waits[0], budget),
            "tenth_reward": min(waits[-1], budget),
            "censored": waits[-1] > budget,
        }
    ]


def rewarded_episodes(
    mdp: FiniteMDP,
    learner: Agent,
    env_rng: Generator,
    budget: int,
    count: int,
    played: Sequence[float] = (),
) -> list[int]:
    """Return the first ``count`` episodes with a reward, from 1; budget + 1 for those that never came.

    ``played`` are the rewards of episodes already over.
    """
    done, found = len(played), [1 + l for l, reward in enumerate(played) if reward]
    while done < budget and len(found) < count:
        run = learner.learn(mdp, min(128, budget - done), env_rng)
        found += (1 + done + np.flatnonzero(run.reward)).tolist()
        done += len(run.reward)
    return (found + [budget + 1] * count)[:count]


# --------------------------------------------------------------------------- summaries


def learning_times(table: pd.DataFrame) -> pd.Series:
    """Episode of the tenth reward, for each agent and seed; infinity if it never came."""
    tenth = table.groupby(["agent", "seed"]).tenth_reward.max().astype(float)
    return tenth.where(tenth > 0, np.inf)


def median_learning_time(table: pd.DataFrame, agent: str) -> Median:
    return median_interval(learning_times(table).loc[agent])


def median_learning_times(table: pd.DataFrame, by: str | list[str]) -> pd.DataFrame:
    """Median learning time with its interval, runs, censored runs, and the paper's own statistic:
    the mean of five seeds."""
    few = table[table.seed < 5].groupby(by).tenth_reward.mean()
    return median_times(table, by, "tenth_reward", "censored").assign(mean5=few)


def prior_value_std(lam: float, N: int = 50, K: int = 10) -> float:
    """The standard deviation of a value before any data, where weights are N(0, I/λ): its root
    mean square over states, actions and periods. The K columns have norm HSA."""
    return float(np.sqrt(K * (N - 1) * N * 2 / lam))


# --------------------------------------------------------------------------- the experiments


_PRINTED = {"lam": 1.0, "sigma": 0.1}
_FIFTY = {"N": 50, "K": 10}
_CURVE = _PRINTED | _FIFTY
_TIMES = _PRINTED | {"budget": 20_000}
_SWEEP = _FIFTY | {"agent": "rlsvi", "episodes": 10_000, "every": 200}
_AGENTS = ("rlsvi", *DITHER)
_PAIR = grid(agent=("rlsvi", "epsilon-greedy"))
_NOISE = ("deviation", "variance")  # two readings of ρ
_SMALL = (0.01, 0.02, 0.04)  # from where on a region is one: a threshold's ends and value
_BASIS = grid(reading=("stacked",), norm=("HSA", "SA", "√HSA", "1")) + grid(
    reading=("per_period",), norm=("HSA", "SA", "√SA", "1")
)
_PLAIN = {"constant": "rescaled", "opening": "uniform"}
_READINGS = (
    *({**basis, **_PLAIN, "lam": lam} for lam in (1.0, 100.0) for basis in _BASIS),
    *(
        {**_BASIS[0], **_PLAIN, "lam": 1.0, **change}
        for change in ({"constant": "left at 1"}, *grid(opening=("prior", "left", "right")))
    ),
)

_TIME = "episodes until the tenth reward"
_REGRET = Plot("episode", "regret", ("agent",), ylabel="cumulative regret")
_BY_N = Plot("N", "tenth_reward", stop="budget", xlabel="length N of the chain", ylabel=_TIME)
_BY_K = replace(_BY_N, x="K", xlabel="number K of features")

EXPERIMENTS = {
    one.name: one
    for one in (
        define_experiment(
            "example1",
            place="Section 3, Example 1",
            title="First rewarded episode against the length of the chain",
            run=first_arrival,
            constants=_PRINTED | {"budget": 1_000_000},
            cells=grid(agent=_AGENTS, N=range(2, 15, 2)),
            seeds=range(100),
            quick=quick_scale(cells=grid(agent=_AGENTS, N=(2, 4, 6, 8)), seeds=range(10)),
            plot=Plot(
                "N",
                "unrewarded",
                ("agent",),
                show="mean",
                log="y",
                xlabel="length N of the chain",
                ylabel="episodes before the first reward",
            ),
        ),
        define_experiment(
            "fig2a",
            place="Section 6.1, figure 2(a)",
            title="Regret on a 50-chain, first 2000 episodes",
            run=learning_curve,
            constants=_CURVE | {"episodes": 2000, "every": 20},
            cells=_PAIR,
            seeds=range(50),
            quick=quick_scale(cells=_PAIR, seeds=range(3)),
            length="episodes",
            plot=_REGRET,
        ),
        define_experiment(
            "fig2b",
            place="Section 6.1, figure 2(b)",
            title="Regret on a 50-chain, first million episodes",
            run=learning_curve,
            constants=_CURVE | {"episodes": 1_000_000, "every": 5000},
            cells=_PAIR,
            seeds=range(5),
            quick=quick_scale(cells=_PAIR[:1], seeds=range(2), episodes=20_000),
            length="episodes",
            plot=Plot(
                "episode",
                "suboptimal",
                ("agent",),
                show="runs",
                log="xy",
                ylabel="suboptimal policies so far",
            ),
        ),
        define_experiment(
            "fig3",
            place="Section 6.1, figure 3",
            title="Learning time against the length of the chain, K = 10",
            run=time_to_learn,
            constants=_TIMES | {"K": 10},
            cells=grid(N=(*range(10, 101, 10), 125, 150, 175, 200)),
            seeds=range(50),
            quick=quick_scale(cells=grid(N=(10, 20, 30)), seeds=range(4)),
            plot=_BY_N,
            figures={"fig5": replace(_BY_N, log="xy")},
        ),
        define_experiment(
            "fig3-long",
            place="Section 6.1, figure 5",
            title="Learning time on chains longer than figure 3's, K = 10",
            run=time_to_learn,
            constants=_TIMES | {"K": 10},
            cells=grid(N=(300, 400)),
            seeds=range(50),
            quick=quick_scale(cells=grid(N=(300,)), seeds=range(1)),
            plot=_BY_N,
        ),
        define_experiment(
            "fig3-tabular",
            place="Section 6.1, figure 3",
            title="Learning time of tabular RLSVI against the length of the chain",
            run=tabular_time_to_learn,
            constants=_PRINTED | {"budget": 50_000},
            cells=grid(N=range(10, 61, 10)),
            seeds=range(50),
            quick=quick_scale(cells=grid(N=(10, 20)), seeds=range(4)),
            plot=_BY_N,
        ),
        define_experiment(
            "fig4",
            place="Section 6.1, figure 4",
            title="Learning time against the number of features, N = 50",
            run=time_to_learn,
            constants=_TIMES | {"N": 50},
            cells=grid(K=(2, 4, 6, 8, 10, 15, *range(20, 121, 10), 150)),
            seeds=range(50),
            quick=quick_scale(cells=grid(K=(2, 10, 20)), seeds=range(4)),
            plot=_BY_K,
            figures={"fig5": replace(_BY_K, log="xy")},
        ),
        define_experiment(
            "fig6",
            place="Section 6.1, figure 6",
            title="Learning time against the error of the basis, N = K = 20",
            run=agnostic_time_to_learn,
            constants=_PRINTED | {"N": 20, "K": 20, "budget": 10_000},
            cells=grid(noise=_NOISE, rho=[i / 1000 for i in range(1001)]),
            seeds=range(1),
            quick=quick_scale(cells=grid(noise=_NOISE, rho=(0.0, 0.05, 0.1)), seeds=range(1)),
            plot=replace(_BY_N, x="rho", panels=("noise",), show="runs", log="y", xlabel="ρ"),
        ),
        define_experiment(
            "fig6-small",
            place="Section 6.1, figure 6",
            title="Learning time with a small error of the basis and with none, N = K = 20",
            run=agnostic_time_to_learn,
            constants=_PRINTED | {"N": 20, "K": 20, "budget": 10_000},
            cells=grid(noise=("deviation",), rho=(0.0,)) + grid(noise=_NOISE, rho=_SMALL),
            seeds=range(1, 51),
            quick=quick_scale(cells=grid(noise=_NOISE, rho=(0.0, 0.04)), seeds=range(1, 3)),
            plot=replace(_BY_N, x="rho", lines=("noise",), log="y", xlabel="ρ"),
        ),
        define_experiment(
            "fig10",
            place="Appendix C, figure 10",
            title="Regret for λ over twelve orders of magnitude, σ = 0.1",
            run=learning_curve,
            constants=_SWEEP | {"sigma": 0.1},
            cells=grid(lam=[10.0**k for k in range(-6, 7)]),
            seeds=range(20),
            quick=quick_scale(cells=grid(lam=(1.0, 1e6)), seeds=range(1)),
            length="episodes",
            plot=replace(_REGRET, lines=("lam",)),
        ),
        define_experiment(
            "fig11",
            place="Appendix C, figure 11",
            title="Regret for σ over seven orders of magnitude, λ = 100",
            run=learning_curve,
            constants=_SWEEP | {"lam": 100.0},
            cells=grid(sigma=[10.0**k for k in range(-5, 3)]),
            seeds=range(20),
            quick=quick_scale(cells=grid(sigma=(0.1, 10.0)), seeds=range(1)),
            length="episodes",
            plot=replace(_REGRET, lines=("sigma",)),
        ),
        define_experiment(
            "fig13",
            place="Appendix C, figures 12 and 13",
            title="Learning time against both N and K",
            run=time_to_learn,
            constants=_TIMES,
            cells=grid(K=(2, 5, 10, 20, 40), N=(10, 20, 30, 40, 60, 80, 100))
            + grid(K=(80,), N=(10, 20, 30, 40, 60)),
            seeds=range(20),
            quick=quick_scale(cells=grid(K=(5, 10), N=(10, 20)), seeds=range(2)),
            plot=replace(_BY_N, lines=("K",)),
            figures={"fig12": replace(_BY_K, lines=("N",))},
        ),
        define_experiment(
            "readings",
            place="Section 6.1 and appendix C",
            title="What each reading of the text does to figure 2",
            run=time_to_learn,
            constants=_FIFTY | {"sigma": 0.1, "budget": 5000},
            cells=_READINGS,
            seeds=range(50),
            quick=quick_scale(cells=_READINGS[:1], seeds=range(3)),
            plot=Plot(
                "tenth_reward",
                ("reading", "norm", "constant", "opening"),
                ("lam",),
                log="x",
                stop="budget",
                xlabel=_TIME,
            ),
        ),
    )
}
