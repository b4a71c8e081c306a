r"""Conditions of the guide's advice on noise: bandits, what pays on the way to a goal, rare wins, a
discount, and two tasks with the range that the guide tells.

Agents are told a range of values; none is tuned. In the first two studies it is rounded as one would
guess it.

**One step** (``noise-bandits``). There are 50 arms. The mean of an arm is linear in ten features of
norm 1, a constant and nine at random, and lies within ``spread`` of ``middle``. A reward is a click,
1 or 0, or a score, the mean ± ``deviation``. The range of values is from 0 to ``middle + spread``.

==================  ======  ======  =========  ============
bandit              middle  spread  deviation  σ = V/50
==================  ======  ======  =========  ============
clicks, 5 ± 4%      0.05    0.04    0.22       0.0018
clicks, 50 ± 30%    0.5     0.3     0.5        0.016
clicks, 50 ± 4%     0.5     0.04    0.5        0.011
scores              0.5     0.4     0.02       0.018
==================  ======  ======  =========  ============

For clicks the deviation is that of an arm in the middle. RLSVI with σ = V/50, RLSVI with σ = the
deviation, and the bootstrap with its default κ play 10 000 rounds.

**What pays on the way** (``noise-steps``). Nothing is random. A *corridor* of 20 cells is walked in
19 steps, only the last cell pays 1 at the end; *key and door* is the grid of :mod:`..worlds`, where
opening the door pays 1. Besides,

- *goal*: nothing else pays;
- *small*: every pair of state and action pays its own amount, uniform in 0 to 0.02, in each period;
- *shifted*: the same, minus 0.02 in each period. With a horizon that shifts the values of all
  policies alike, so the problem is the same, but no step pays.

Features are a table (one-hot), ten that contain the optimal values (coherent), ten noisy copies of
them (agnostic, ρ = 0.03), and in the corridor polynomials of the position of degree 3 and 8. The last
three cannot represent the optimal values. RLSVI by ``value_range`` and the bootstrap with its default
κ play 500 episodes in the corridor and 1000 with key and door.

**Rare wins** (``noise-rare``). At a *late gamble* one leaves with nothing in any of four steps, or goes
on to a coin that is tossed at the end, so that no optimal value contains the win. It wins with
probability 55%, 10% or 2%. Outcomes lie 1 apart, and playing is worth a tenth of their deviation, so
that all three take about as many tosses to judge, and the first is nearly the gamble of
:mod:`..traps` in other units. Agents are told the range of returns, or (``optimal``) that of optimal values, both exact.
The bootstrap with κ = 0.01 and 1 and RLSVI by ``value_range`` play 5000 episodes.

**A discount** (in the same table). *Key and door*, where nothing else pays, with one table for all
time, γ = 1 − 1/H = 15/16, and the range 0 to 1: the bootstrap with its default κ, RLSVI by
``value_range``, and RLSVI with σ = (1 − γ)V/10, 1000 episodes. Regret is what was not earned.

**Ranges of optimal values** (``noise-ranges``). In the tables of :mod:`.runs` agents are told −100 to
20 in Taxi and −100 to 0 on CliffWalking. Optimal values with γ = 0.99 lie within 1 to 20 and −14 to −1,
so by the guide's rule one tells (0, 20) and (−14, 0). With these the same three agents play as many
episodes as there, 40 and 100. Nothing but Taxi's start is random, and every step on the way costs.

**What counts** was fixed before the stored seeds were run. Of each pair of agents take the ratio of
mean regrets at the end with its 95% interval over paired seeds (:func:`~..outcomes.ratio`), and the
words *better* (below 0.8), *worse* (above 1.25), *equal* and *open* (:func:`~..outcomes.word`).

- For one step the guide advises σ = the deviation of a reward if this is better than V/50 on at
  least two of the four bandits and worse on none. It names the bootstrap as another way if that is
  worse than σ = the deviation on none.
- For what pays on the way, cells are grouped by kind of features (table; contain the optimal
  values; do not) and by rewards. The guide advises the bootstrap for a group in which it is better
  than RLSVI somewhere and worse nowhere, RLSVI for one in which it is worse somewhere and better
  nowhere, and otherwise says that either may be ahead (:func:`advice`).

- For rare wins and the discount (:func:`rare`) an arm *stands* against another, over some problems,
  if it is better somewhere and worse nowhere, *falls* in the opposite case, and else it is *even*.

  ============================================= ==================================================
  arm, against, where                           what the guide says of gambles if it stands; falls;
                                                is even
  ============================================= ==================================================
  optimal, returns (κ = 0.01; all three)        range of optimal values; of returns; try both
  optimal, returns (κ = 1; all three)           the same, wherever it advises κ = 1
  κ = 1, κ = 0.01 (returns; 10% and 2%)         κ = 1 if the win is rare; the default; try both
  κ = 1, κ = 0.01 (returns; 55%)                κ = 1 for an even coin; the default; the default
  RLSVI, either range, κ = 0.01 (all three)     RLSVI; the bootstrap; try both
  ============================================= ==================================================

  In the maze, if RLSVI with the smaller σ stands against the bootstrap, the guide's row on a discount
  names it first, and the bootstrap only as what to try; if it falls, the other way round; if it is
  even, it names either. It names the smaller σ only if that does not fall against V/50, and says so
  if V/50, too, stands against the bootstrap. One maze does not undo that the bootstrap is ahead of
  V/50 in Taxi and CliffWalking, which are discounted (``noise-tasks``, ``noise-control``).

- For the ranges (:func:`ranged`) the bootstrap and the smaller σ are compared with RLSVI by
  ``value_range``, over both tasks.

  ================= ================================================================================
  outcome           what the guide says
  ================= ================================================================================
  smaller σ stands  the smaller σ in tables with a discount where nothing varies, also where every
                    step costs; the tree asks so before it asks whether every step pays or costs
  falls, or even    Taxi no longer counts for the smaller σ, whose row rests on key and door
  bootstrap stands  to try the bootstrap, too, if one discounts and nothing varies, as it does now, and
                    the same where every step costs
  falls             not to try it there
  even              to try it if it is better in one task and worse in the other; else not
  neither stands    "where nothing varies V/50 is too much" no longer without a condition
  ================= ================================================================================

  Whatever is found, what was said of a task by its loose range is said with that range, and beside it
  what was found here, in the rule's word for the task.

**Seen before.** For the ranges, trial runs with other seeds. With (−14, 0) RLSVI had a
regret of 1347 ± 2 on CliffWalking and the bootstrap 1737 ± 40 (8 seeds); with (0, 20) in Taxi it was
2645 ± 62 and 2221 ± 64 after 40 episodes, 2927 ± 30 and 2782 ± 45 after 160 (5 seeds). The smaller σ
had not been run. So we expect that the bootstrap does not stand. Final seeds are 90 000 on, 12 of them.

Two seeds, 60 000 and 60 001, of rare wins and the discount, which were timed; in the
maze the bootstrap had three times the regret of RLSVI with either σ. Similar gambles of one step had
been seen on 16 other seeds: with a win of 10% or 2% the bootstrap often gave up with the optimal range,
less often with that of returns, and never with that and κ = 1. Final seeds are 80 000 on, 20 of them.

Of the first two studies, three to eight seeds from 60 000 on of all, with ranges that were exact and
not rounded. There the bootstrap was behind in tables as soon as steps paid, whether left, right or
both pay the same, and not where they cost. So we expect: *shifted* removes the loss in tables. Final
seeds are 70 000 on, 20 for bandits and 16 for what pays.
"""

import math
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from rlsvi_core import FiniteMDP, features

from ..engine import Experiment, Rows, Scale
from ..judging.outcomes import ratio, word
from ..worlds import key_and_door
from .parts import (
    DEFAULT,
    FOREVER,
    QUARTERS,
    UNTUNED,
    Made,
    Problem,
    grid_task,
    linear,
    table,
    untuned,
)

DEVIATION = "σ = deviation"

# --------------------------------------------------------------------------- one step


class Bandit(NamedTuple):
    middle: float
    spread: float
    score: float | None = None  # the deviation of a score; None: clicks

    @property
    def deviation(self) -> float:
        return math.sqrt(self.middle * (1 - self.middle)) if self.score is None else self.score


def bandit(of: Bandit, rng: np.random.Generator, A: int = 50, K: int = 10) -> Made:
    """A bandit as an MDP of one period, whose two next states tell what was paid."""
    x, w = rng.standard_normal((A, K - 1)), rng.standard_normal(K - 1)
    x /= np.sqrt((x**2).sum(axis=1, keepdims=True))
    z = (x * w).sum(axis=1)
    mean = of.middle + of.spread * z / abs(z).max()
    phi = np.concatenate([np.ones((A, 1)), x], axis=1) / math.sqrt(2)
    P, R = np.zeros((2, 1, 2, A, 2))
    if of.score is None:
        P[..., 0], P[..., 1], R[..., 1] = 1 - mean, mean, 1.0
    else:
        P[:], R[..., 0], R[..., 1] = 0.5, mean - of.score, mean + of.score
    mdp = FiniteMDP(P, R)
    return Made(mdp, np.broadcast_to(phi, (1, 2, A, K)).copy(), mdp.value)


BANDITS = {
    "clicks, 5 ± 4%": Bandit(0.05, 0.04),
    "clicks, 50 ± 30%": Bandit(0.5, 0.3),
    "clicks, 50 ± 4%": Bandit(0.5, 0.04),
    "scores": Bandit(0.5, 0.4, 0.02),
}


def choosing(problem: str, arm: str, seed: int, quarters: int) -> Rows:
    """Regret of an agent on a bandit, after each quarter of a run."""
    of = BANDITS[problem]
    what = Problem("bandits", partial(bandit, of), 10_000, (0.0, of.middle + of.spread))
    return untuned(what, arm, seed, quarters, of.deviation if arm == DEVIATION else None)


# --------------------------------------------------------------------------- what pays on the way

SMALL = 0.02
TOLD = {"goal": (0.0, 1.0), "small": (0.0, 1.3), "shifted": (-0.2, 1.0)}
EPISODES = {"corridor": 500, "key and door": 1000}


def corridor(N: int = 20) -> FiniteMDP:
    """N cells in a row, just enough steps, and 1 for who ends in the last cell."""
    P = np.zeros((N, 2, N))
    for s in range(N):
        P[s, 0, max(s - 1, 0)] = P[s, 1, min(s + 1, N - 1)] = 1.0
    return FiniteMDP.stationary(P, np.zeros_like(P), H=N - 1, terminal=np.eye(N)[N - 1])


WORLDS = {"corridor": corridor, "key and door": key_and_door}


def paying(world: str, pays: str, rng: np.random.Generator) -> FiniteMDP:
    """The world with its rewards on the way, which are drawn in any case."""
    mdp = WORLDS[world]()
    paid = SMALL * rng.random((mdp.S, mdp.A, 1))
    extra = {"goal": 0.0 * paid, "small": paid, "shifted": paid - SMALL}[pays]
    P, R = (np.broadcast_to(x, (mdp.H, *x.shape[1:])) for x in (mdp.P, mdp.R))
    return FiniteMDP(P, R + extra, initial=mdp.initial, terminal=mdp.terminal)


def polynomials(mdp: FiniteMDP, degree: int) -> Made:
    """Legendre's, of the place in [−1, 1], for each action."""
    powers = np.polynomial.legendre.legvander(np.linspace(-1, 1, mdp.S), degree)
    phi = np.zeros((mdp.H, mdp.S, mdp.A, mdp.A, degree + 1))
    for a in range(mdp.A):
        phi[:, :, a, a] = powers
    return linear(mdp, phi.reshape(mdp.H, mdp.S, mdp.A, -1))


def represented(mdp: FiniteMDP, kind: str, rng: np.random.Generator) -> Made:
    if kind == "table":
        return table(mdp)
    if kind == "coherent":
        return linear(mdp, features.coherent(mdp.Q, 10, rng))
    if kind == "agnostic":
        return linear(mdp, features.agnostic(mdp.Q, 10, 0.03, rng))
    return polynomials(mdp, int(kind.removeprefix("degree ")))


KINDS = {  # what features are to the optimal values
    "table": "table",
    "coherent": "contain",
    "agnostic": "do not",
    "degree 3": "do not",
    "degree 8": "do not",
}
STEPS = {
    f"{world}, {pays}, {kind}": (world, pays, kind)
    for world, pays, kind in product(WORLDS, TOLD, KINDS)
    if world == "corridor" or not kind.startswith("degree")
}


def walking(problem: str, arm: str, seed: int, quarters: int) -> Rows:
    """Regret of an agent where nothing is random, after each quarter of a run."""
    world, pays, kind = STEPS[problem]

    def make(rng: np.random.Generator) -> Made:
        return represented(paying(world, pays, rng), kind, rng)

    return untuned(Problem("steps", make, EPISODES[world], TOLD[pays]), arm, seed, quarters)


# --------------------------------------------------------------------------- rare wins, and a discount

WINS = {"win 55%": 0.55, "win 10%": 0.1, "win 2%": 0.02}
MAZE = "key and door, discounted"
SMALLER = "σ = (1 − γ)V/10"
OPTIMAL = ", optimal"  # told the range of optimal values, not that of returns
TOLD_RETURNS = [DEFAULT, "κ = 1", UNTUNED]
RARE = {
    **{win: [*TOLD_RETURNS, *(arm + OPTIMAL for arm in TOLD_RETURNS)] for win in WINS},
    MAZE: [DEFAULT, UNTUNED, SMALLER],
}


def late_gamble(p: float, H: int = 4) -> FiniteMDP:
    """Leave with nothing, or go on for H steps to a coin. Its two outcomes lie 1 apart, and their
    mean is a tenth of their deviation."""
    lost = 0.1 * math.sqrt(p * (1 - p)) - p
    P, R = np.zeros((2, H, 3, 2, 3))  # on the way (or lost), out, won
    P[..., 1] = 1.0
    P[:-1, 0, 1], P[-1, 0, 1] = (1, 0, 0), (1 - p, 0, p)
    R[-1, 0, 1] = lost, 0.0, lost + 1
    return FiniteMDP(P, R)


def playing(problem: str, arm: str, seed: int, quarters: int) -> Rows:
    """Regret of an agent at a gamble or in the discounted maze, after each quarter of a run."""
    if problem == MAZE:
        maze = key_and_door()
        made = Made(maze, features.one_hot(None, maze.S, maze.A), maze.value)
        what = Problem("rare", lambda rng: made, 1000, (0.0, 1.0), {"gamma": 1 - 1 / maze.H})
        return untuned(what, arm, seed, quarters, 1 / maze.H / 10 if arm == SMALLER else None)
    mdp = late_gamble(WINS[problem])
    paid = mdp.R[-1, 0, 1]
    told = (0.0, mdp.value) if arm.endswith(OPTIMAL) else (float(paid.min()), float(paid.max()))
    what = Problem("rare", lambda rng: table(mdp), 5000, told)
    return untuned(what, arm.removesuffix(OPTIMAL), seed, quarters)


# --------------------------------------------------------------------------- ranges of optimal values

RANGED = {
    "Taxi": Problem("ranges", lambda rng: grid_task("Taxi-v4"), 40, (0.0, 20.0), FOREVER),
    "CliffWalking": Problem(
        "ranges",
        lambda rng: grid_task("CliffWalking-v1", max_episode_steps=200),
        100,
        (-14.0, 0.0),
        FOREVER,
    ),
}


def driving(problem: str, arm: str, seed: int, quarters: int) -> Rows:
    """Regret of an agent that is told the range of optimal values, after each quarter of a run."""
    what = RANGED[problem]
    smaller = (1 - FOREVER["gamma"]) * (what.told[1] - what.told[0]) / 10
    return untuned(what, arm, seed, quarters, smaller if arm == SMALLER else None)


# --------------------------------------------------------------------------- the rule


def against(table: pd.DataFrame, other: str = UNTUNED) -> pd.DataFrame:
    """How many times the regret of another arm each has at the end, the interval, and the word."""
    ends, found = table[table.episode == table.groupby("problem").episode.transform("max")], {}
    for problem, runs in ends.groupby("problem", sort=False):
        regret = runs.pivot(index="seed", columns="arm", values="regret")
        for arm in regret.columns.drop(other):
            times = ratio(regret[arm], regret[other])
            found[problem, arm] = times._asdict() | {"word": word(times.low, times.high)}
    return pd.DataFrame.from_dict(found, orient="index").rename_axis(["problem", "arm"])


def preferred(said: set[str], ours: str, theirs: str) -> str:
    """Ours if it is better somewhere and worse nowhere, theirs in the opposite case, or either."""
    if ("better" in said) == ("worse" in said):
        return "either"
    return ours if "better" in said else theirs


def advice(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """What to take for each kind of features and of rewards: the rule for what pays on the way."""
    words = against(table).word.xs(DEFAULT, level="arm")
    heard: dict[tuple[str, str], set[str]] = {}
    for problem, said in words.items():
        _, pays, kind = STEPS[str(problem)]
        heard.setdefault((KINDS[kind], pays), set()).add(said)
    return {group: preferred(said, "bootstrap", "rlsvi") for group, said in heard.items()}


def rare(table: pd.DataFrame) -> dict[str, str]:
    """What to take at gambles and with a discount: the rule for rare wins."""
    gambles, maze = table[table.problem != MAZE], table[table.problem == MAZE]

    def words(runs: pd.DataFrame, arms: list[str], other: str, only: str = "") -> set[str]:
        found = against(runs[runs.problem.str.contains(only)], other).word
        return {*found[found.index.isin(arms, level="arm")]}

    at_one, some = "κ = 1", "10%|2%"
    either_range = [UNTUNED, UNTUNED + OPTIMAL]
    return {
        "range": preferred(words(gambles, [DEFAULT + OPTIMAL], DEFAULT), "optimal", "returns"),
        "range, κ = 1": preferred(words(gambles, [at_one + OPTIMAL], at_one), "optimal", "returns"),
        "κ, rare win": preferred(words(gambles, [at_one], DEFAULT, some), at_one, DEFAULT),
        "κ, even coin": preferred(words(gambles, [at_one], DEFAULT, "55%"), at_one, DEFAULT),
        "agent": preferred(words(gambles, either_range, DEFAULT), "rlsvi", "bootstrap"),
        "discount": preferred(words(maze, [SMALLER], DEFAULT), SMALLER, "bootstrap"),
        "discount, V/50": preferred(words(maze, [UNTUNED], DEFAULT), "rlsvi", "bootstrap"),
        "discount, σ": preferred(words(maze, [SMALLER], UNTUNED), SMALLER, "V/50"),
    }


def ranged(table: pd.DataFrame) -> dict[str, str]:
    """What is ahead in tasks that are told the range of optimal values: the rule for the ranges."""
    words = against(table).word
    return {
        "σ": preferred({*words.xs(SMALLER, level="arm")}, SMALLER, "V/50"),
        "agent": preferred({*words.xs(DEFAULT, level="arm")}, "bootstrap", "rlsvi"),
    }


# --------------------------------------------------------------------------- the experiments


def _cells(arms: dict[str, list[str]]) -> tuple[dict[str, str], ...]:
    """Each problem with its arms."""
    return tuple({"problem": problem, "arm": arm} for problem in arms for arm in arms[problem])


CONDITIONS = tuple(
    Experiment(
        name,
        "ours",
        f"How much noise: {title}",
        run,
        {
            "quick": Scale({"quarters": 1}, cells[:few], seeds[:2]),
            "paper": Scale({"quarters": QUARTERS}, cells, seeds),
        },
        length="quarters",
        portable=run is not driving,  # Gymnasium's tasks
    )
    for name, title, run, cells, few, seeds in (
        (
            "noise-bandits",
            "bandits",
            choosing,
            _cells({name: [UNTUNED, DEVIATION, DEFAULT] for name in BANDITS}),
            3,
            range(70_000, 70_020),
        ),
        (
            "noise-steps",
            "what pays on the way",
            walking,
            _cells({name: [UNTUNED, DEFAULT] for name in STEPS}),
            2,
            range(70_000, 70_016),
        ),
        (
            "noise-rare",
            "rare wins, and a discount",
            playing,
            _cells(RARE),
            6,
            range(80_000, 80_020),
        ),
        (
            "noise-ranges",
            "ranges of optimal values",
            driving,
            _cells({name: [UNTUNED, SMALLER, DEFAULT] for name in RANGED}),
            3,
            range(90_000, 90_012),
        ),
    )
)
