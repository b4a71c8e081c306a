r"""How much noise? Four tables with the regret of some arms, a row after each quarter of a run.

- ``noise``: the bootstrap (:func:`rlsvi_core.bootstrap`) with its default κ beside RLSVI by
  ``value_range``, both told the same range.
- ``noise-sigma``: RLSVI with σ = V/1000 to V/2, where V is the width of the range of values, beside
  LSVI with four ε, each halved every eighth of a run. In the river and at the inventory RLSVI is also
  told a range of *returns*, by the least and the largest reward of a period.
- ``noise-bandits``: episodes of one step (:mod:`.bandits`).
- ``noise-default``: RLSVI with σ = V/50, V/200 or V/(2n) where they had not been compared: the
  problems of ``noise`` that are not in ``noise-sigma``, five more with a discount, and the bandits.

With a horizon regret is exactly expected. With a discount it is realised, though undiscounted: the
largest expected reward of an episode minus what the episode earned.

**What counts** was fixed before the seeds were run. The ratio of two arms' mean regrets at the end,
with its 95% interval over paired seeds, has the words of :func:`~...judging.outcomes.ratio_word`. A σ
is *good* if it has less than 3/2 of the regret of the best of the five, *bad* if it has more, and *open*
if Student's 95% interval of the difference holds 0 (:func:`judged`). LSVI's best ε is chosen in
hindsight, which favours it. Commit 49fefca has the whole protocol, with other arms and problems.

**The default.** Fixed before ``noise-default`` was run, and after ``noise-sigma``: V/50, the default
then, gives way to a σ that has less regret on the problems with several steps, by 5% at least in the
mean logarithm of its mean regret over the least of the three, if the worst such ratio is not larger
than that of V/50; of two, to the one with less. If its mean logarithm over the bandits is larger than
that of V/50 by 5%, the guide tells a σ for every episode of one step. By the letter
V/(2n) takes its place; V/200 has less on average, too, but its worst ratio, on a gamble, is larger by
some millionths. Seen afterwards: V/(2n) is ahead by the two gambles alone, for which the guide names
the bootstrap; without them it is the worst of the three and V/200 the best, which is the default now.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rlsvi_core import Agent, FiniteMDP, bootstrap, features, lsvi, rlsvi
from rlsvi_core.envs.chains import chain, deep_sea, river_swim
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.features import OneHot
from rlsvi_core.runtime.compilation import Array, Floats, Generator
from rlsvi_core.runtime.gym_adapter import finite_mdp

from ...counterexamples import gamble, long_gamble, toll
from ...engine import Plot, Rows, define_experiment, grid, quick_scale, streams
from ...judging.intervals import mean_interval
from ...judging.outcomes import last_rows, paired_ratio, ratio_word
from ..worlds import inventory, key_and_door
from .bandits import BANDITS, bandit

QUARTERS = 4  # of a run, with a row each
ROUNDS = 10_000  # at a bandit
BOOTSTRAP = "κ = 0.01"
UNTUNED = "by value_range"  # RLSVI
DEVIATION = "σ = deviation"
HALF = "σ = deviation/2"
SIGMAS = {f"V/{fraction}": fraction for fraction in (1000, 200, 50, 10, 2)}
RULE = "V/200"
RETURNS = "V/200, returns"
HALF_A_STEP = "V/2n"  # of n periods, or 1/(1 − γ)
CANDIDATES = ("V/50", "V/200", HALF_A_STEP)  # for the default
EPSILONS = {f"ε = {epsilon}": epsilon for epsilon in (0.03, 0.1, 0.3, 1.0)}  # at first
LSVI = "LSVI, ε-greedy"  # with the best of these
TOLERATED = 1.5  # times the regret of the best σ
Range = tuple[float, float]
Made = tuple[FiniteMDP, Any]  # with features


class Problem(NamedTuple):
    make: Callable[[Generator], Made]
    episodes: int
    told: Range  # of optimal values, rounded; at traps of returns
    returns: Range | None = None
    gamma: float | None = None  # or else a horizon


# --------------------------------------------------------------------------- problems


def one_hot(mdp: FiniteMDP) -> Made:
    return mdp, OneHot(mdp.H, mdp.S, mdp.A)


def timeless(mdp: FiniteMDP) -> Made:
    return mdp, OneHot(None, mdp.S, mdp.A)


def linear(mdp: FiniteMDP, Phi: Floats) -> Made:
    """Features of norm 1 on average."""
    return mdp, Phi / np.sqrt((Phi**2).sum(axis=-1).mean())


def coherent(rng: Generator) -> Made:
    mdp = chain(20)
    return linear(mdp, features.coherent(mdp.Q, 10, rng))


def agnostic(rng: Generator) -> Made:
    mdp = chain(20)
    return linear(mdp, features.agnostic(mdp.Q, 10, 0.03, rng))


def random(rng: Generator) -> Made:
    """As in the study of Theorem 1: total weights of the prior are 1."""
    return one_hot(DirichletPrior.symmetric(10, 10, 3, alpha_R=1 / 2, alpha_P=1 / 10).sample(rng))


def toy(name: str, rng: Generator, **more: Any) -> Made:
    import gymnasium

    return timeless(finite_mdp(gymnasium.make(name, **more)))


def cubic(mdp: FiniteMDP) -> Made:
    """A cubic in the state for each action."""
    powers = (np.arange(mdp.S) / (mdp.S - 1))[:, None] ** np.arange(4)
    Phi = np.einsum("si,ab->sabi", powers, np.eye(mdp.A)).reshape(mdp.S, mdp.A, -1)
    return linear(mdp, Phi)


PROBLEMS = {
    "gamble": Problem(lambda rng: linear(*gamble()), 4**7, (-2, 2)),
    "long gamble 4": Problem(lambda rng: linear(*long_gamble(4)), 4**7, (-4, 4)),
    "toll 13": Problem(lambda rng: linear(*toll(13, 1024)), 4**7, (-13, 13)),
    "chain 50": Problem(lambda rng: one_hot(chain(50)), 1000, (0, 1)),
    "deep sea 20": Problem(lambda rng: one_hot(deep_sea(20, rng)), 2000, (0, 1)),
    "deep sea 50": Problem(lambda rng: one_hot(deep_sea(50, rng)), 2000, (0, 1)),
    "key and door": Problem(lambda rng: one_hot(key_and_door()), 2000, (0, 1)),
    "coherent chain 20": Problem(coherent, 1000, (0, 1)),
    "agnostic chain 20": Problem(agnostic, 1000, (0, 1)),
    "river swim": Problem(lambda rng: one_hot(river_swim()), 2000, (0, 9.5), (0, 20)),
    "random MDPs 10": Problem(random, 2000, (-10, 0)),
    "inventory": Problem(lambda rng: one_hot(inventory()), 2000, (0, 217), (-680, 1400)),
}
DISCOUNTED = {
    "key and door, discounted": Problem(
        lambda rng: timeless(key_and_door()), 200, (0, 1), gamma=0.99
    ),
    "inventory, discounted": Problem(
        lambda rng: timeless(inventory()), 200, (0, 217), (-680, 1400), gamma=0.95
    ),
    "FrozenLake, discounted": Problem(partial(toy, "FrozenLake-v1"), 320, (0, 1), gamma=0.99),
}
FURTHER = {  # discounted too
    "FrozenLake 8×8": Problem(partial(toy, "FrozenLake8x8-v1"), 1000, (0, 1), gamma=0.99),
    "CliffWalking": Problem(
        partial(toy, "CliffWalking-v1", max_episode_steps=30), 320, (-20, 0), gamma=1 - 1 / 30
    ),
    "Taxi": Problem(partial(toy, "Taxi-v4"), 1000, (-10, 20), gamma=0.95),
    "inventory, cubic": Problem(lambda rng: cubic(inventory()), 200, (0, 217), gamma=0.95),
    "inventory, cubic, four times the range": Problem(
        lambda rng: cubic(inventory()), 200, (0, 868), gamma=0.95
    ),
}
SHARED = ("deep sea 20", "key and door", "river swim", "inventory")  # by two tables
BY_SIGMA = {name: PROBLEMS[name] for name in SHARED} | DISCOUNTED
UNSEEN = tuple(name for name in PROBLEMS if name not in BY_SIGMA)  # by noise-sigma


# --------------------------------------------------------------------------- a run


class Clocked:
    """An MDP whose horizon is a clock: it cuts episodes, and states that are never left and pay
    nothing end them."""

    def __init__(self, mdp: FiniteMDP) -> None:
        m = mdp.model
        stays = (m.successor == np.arange(mdp.S)[:, None, None]) & (m.reward == 0)
        self.ends: Array = (stays | (m.probability == 0)).all(axis=(0, 2, 3))
        self.H, self.start, self._step = mdp.H, mdp.start, mdp.step

    def step(self, h: int, s: int, a: int, rng: Generator) -> tuple[float, int, bool | str]:
        r, s_next, over = self._step(h, s, a, rng)
        return r, s_next, bool(self.ends[s_next]) or over


def halved(epsilon: float, every: int, episode: int) -> float:
    """ε, halved every so many episodes."""
    return float(epsilon * 2.0 ** -(episode // every))


def scored(agent: Agent, mdp: FiniteMDP, episodes: int, rng: Generator, quarters: int) -> Rows:
    """Regret after each quarter of a run, the first so many of them."""
    quarter, exact = episodes // QUARTERS, agent.H is not None
    run = agent.learn(mdp if exact else Clocked(mdp), quarters * quarter, rng, exact=exact)
    lost = np.cumsum(mdp.optimal_value - (run.expected if exact else run.reward))
    return [
        {"episode": n, "regret": round(float(lost[n - 1]), 4)}
        for n in range(quarter, quarters * quarter + 1, quarter)
    ]


def curve(problem: str, arm: str, seed: int, quarters: int) -> Rows:
    """Regret of the bootstrap, of RLSVI by ``value_range`` or with another σ, or of LSVI."""
    what = (PROBLEMS | DISCOUNTED)[problem]
    basis_rng, env_rng, agent_rng = streams(seed)
    mdp, phi = what.make(basis_rng)
    told = what.returns if arm == RETURNS and what.returns else what.told
    options: Any = {"value_range": told, "gamma": what.gamma, "rng": agent_rng}
    if arm == BOOTSTRAP:
        agent = bootstrap(phi, **options)
    elif arm in EPSILONS:
        epsilon = partial(halved, EPSILONS[arm], what.episodes // 8)
        agent = lsvi(phi, epsilon=epsilon, **options)
    elif arm == UNTUNED:
        agent = rlsvi(phi, **options)
    else:
        low, high = told
        fraction = SIGMAS[RULE if arm == RETURNS else arm]
        agent = rlsvi(phi, sigma=(high - low) / fraction, **options)
    return scored(agent, mdp, what.episodes, env_rng, quarters)


def choosing(problem: str, arm: str, seed: int, quarters: int) -> Rows:
    """Regret of the bootstrap, or of RLSVI with the default σ, a reward's deviation or half of that,
    at a bandit."""
    of, (basis_rng, env_rng, agent_rng) = BANDITS[problem], streams(seed)
    mdp, phi = bandit(of, basis_rng)
    told = (0.0, of.middle + of.spread)
    if arm == BOOTSTRAP:
        agent = bootstrap(phi, told, rng=agent_rng)
    else:
        sigma = {UNTUNED: None, DEVIATION: of.deviation, HALF: of.deviation / 2}[arm]
        agent = rlsvi(phi, sigma=sigma, value_range=told, rng=agent_rng)
    return scored(agent, mdp, ROUNDS, env_rng, quarters)


def default(problem: str, arm: str, seed: int, quarters: int) -> Rows:
    """Regret of RLSVI with a σ that could be the default."""
    basis_rng, env_rng, agent_rng = streams(seed)
    if problem in BANDITS:
        of = BANDITS[problem]
        mdp, phi = bandit(of, basis_rng)
        what = Problem(lambda rng: (mdp, phi), ROUNDS, (0.0, of.middle + of.spread))
    else:
        what = (PROBLEMS | FURTHER)[problem]
        mdp, phi = what.make(basis_rng)
    n = mdp.H if what.gamma is None else 1 / (1 - what.gamma)
    low, high = what.told
    sigma = (high - low) / (2 * n if arm == HALF_A_STEP else SIGMAS[arm])
    agent = rlsvi(phi, sigma=sigma, value_range=what.told, gamma=what.gamma, rng=agent_rng)
    return scored(agent, mdp, what.episodes, env_rng, quarters)


# --------------------------------------------------------------------------- what counts


def regrets(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Of each problem the regret at the end, a row for each seed, a column for each arm."""
    return {
        str(problem): runs.pivot(index="seed", columns="arm", values="regret")
        for problem, runs in last_rows(table, ["problem"]).groupby("problem", sort=False)
    }


def compared(table: pd.DataFrame, other: str = UNTUNED) -> pd.DataFrame:
    """How many times the regret of another arm each has at the end, the interval, and the word."""
    found = {}
    for problem, regret in regrets(table).items():
        for arm in regret.columns.drop(other):
            times = paired_ratio(regret[arm], regret[other])
            found[problem, arm] = times._asdict() | {"word": ratio_word(times.low, times.high)}
    return pd.DataFrame.from_dict(found, orient="index").rename_axis(["problem", "arm"])


def with_best_epsilon(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """``regrets``, but of LSVI the ε with the least mean alone, under one name."""
    found = {}
    for problem, regret in regrets(table).items():
        rivals = regret[list(EPSILONS)]
        best = rivals[rivals.mean().idxmin()]
        found[problem] = regret.drop(columns=list(EPSILONS)).assign(**{LSVI: best})
    return found


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Of each σ on each problem how many times the least mean regret of the five it has, and whether
    it is good."""
    found = {}
    for problem, regret in regrets(table).items():
        ours = regret[list(SIGMAS)]
        best = ours[ours.mean().idxmin()]
        for sigma in SIGMAS:
            _, low, high = mean_interval(ours[sigma] - TOLERATED * best)
            found[problem, sigma] = {
                "times": ours[sigma].mean() / best.mean(),
                "word": "good" if high < 0 else "bad" if low > 0 else "open",
            }
    return pd.DataFrame.from_dict(found, orient="index").rename_axis(["problem", "arm"])


def candidates(table: pd.DataFrame) -> pd.DataFrame:
    """Of each σ that could be the default, on each problem, the mean regret over the least."""
    means = {problem: regret.mean() for problem, regret in regrets(table).items()}
    return pd.DataFrame({problem: mean / mean.min() for problem, mean in means.items()}).T


# --------------------------------------------------------------------------- the experiments

_NOISE = grid(problem=PROBLEMS, arm=(BOOTSTRAP, UNTUNED))
_BANDITS = grid(problem=BANDITS, arm=(UNTUNED, DEVIATION, HALF, BOOTSTRAP))
_SIGMA = tuple(
    {"problem": problem, "arm": arm}
    for problem, what in BY_SIGMA.items()
    for arm in (*SIGMAS, *([] if what.returns is None else [RETURNS]), *EPSILONS)
)
_DEFAULT = grid(problem=(*UNSEEN, *FURTHER, *BANDITS), arm=CANDIDATES)
_WHOLE = {"quarters": QUARTERS}

_AT_THE_END = Plot(
    "regret", ("problem",), ("arm",), show="mean", log="x", xlabel="regret at the end"
)

EXPERIMENTS = {
    one.name: one
    for one in (
        define_experiment(
            "noise",
            place="ours",
            title="How much noise: a bootstrap beside RLSVI",
            run=curve,
            constants=_WHOLE,
            cells=_NOISE,
            seeds=range(40_000, 40_012),
            quick=quick_scale(cells=_NOISE[-6:-4], seeds=range(40_000, 40_002), quarters=1),
            length="quarters",
            plot=_AT_THE_END,
        ),
        define_experiment(
            "noise-bandits",
            place="ours",
            title="How much noise: bandits",
            run=choosing,
            constants=_WHOLE,
            cells=_BANDITS,
            seeds=range(70_000, 70_020),
            quick=quick_scale(cells=_BANDITS[:3], seeds=range(70_000, 70_002), quarters=1),
            length="quarters",
            plot=_AT_THE_END,
        ),
        define_experiment(
            "noise-default",
            place="ours",
            title="How much noise: three rules for a default",
            run=default,
            constants=_WHOLE,
            cells=_DEFAULT,
            seeds=range(90_000, 90_020),
            quick=quick_scale(cells=_DEFAULT[-3:], seeds=range(90_000, 90_002), quarters=1),
            length="quarters",
            plot=_AT_THE_END,
        ),
        define_experiment(
            "noise-sigma",
            place="ours",
            title="How much noise: other σ, a range of returns, and ε-greedy LSVI",
            run=curve,
            constants=_WHOLE,
            cells=_SIGMA,
            seeds=range(30),
            quick=quick_scale(cells=_SIGMA[:10], seeds=range(2), quarters=1),
            length="quarters",
            plot=Plot(
                "regret",
                ("arm",),
                panels=("problem",),
                show="mean",
                log="x",
                xlabel="regret at the end",
            ),
        ),
    )
}
