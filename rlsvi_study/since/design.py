"""What is compared, by which rule, and on which seeds.

An *arm* fixes some settings of a run: the agent, the range of rewards, own or one seed, the ridge,
the cut. What it leaves open is chosen.

1. **Choose.** On each problem an arm's open settings, σ or a factor and sometimes the ridge, are
   those with the least mean regret at the end over the seeds ``CHOOSING``; of equals the first in
   the grid, which has the largest.
2. **Judge.** On the seeds ``JUDGING``: the ratio of mean regrets at the end, of the arm that follows
   the advice to the one that does not, with a 95% bootstrap interval. Both arms are resampled
   together, because a seed gives both the same world. *Better*: the interval is below 0.8. *Worse*:
   it is above 1.25. *Equal*: it is between the two. *Open*: anything else.
3. **Problems stay apart.** There is no mean over problems. A piece of advice is stated with the
   problems on which it is worse, or is not stated.

In tables the range of rewards, own or one seed, and the ridge are crossed. Each of the three is
judged four times, with the other two at each of their levels (:func:`crossed`); ``ADVICE`` has the
ones that are drawn. Problems there are the chain of 20 states, river swim, deep sea 10 and 30, and
random MDPs with 5 and 10 states, 1024 episodes each. With linear features they are MDPs of rank 2,
4 and 8 and the chain of 20 states with ten coherent features, 1024 episodes, and the gamble, the
long gambles 4 and 8 and the tolls 9 and 13, 4096 episodes, all with features scaled to norm 1.

Grids, seeds and this rule were fixed before any of these seeds was run. Earlier tables on most of
these problems, with other grids and seeds and with σ tuned without a ridge, had been seen.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..engine import grid
from ..judging.outcomes import ratio, word

CHOOSING, JUDGING = range(2000, 2006), range(2006, 2020)  # seeds
PROBLEM = ["environment", "size"]
RESULT = ["seed", "episode", "regret"]

# --------------------------------------------------------------------------- grids

FACTORS = {"low": (0.0, -1.0), "noise": ("own", "one"), "ridge": (1.0, 0.01)}  # crossed
_RIDGE = {"ridge": FACTORS["ridge"]}
_OWN, _ONE = ({"low": (0.0,), "noise": (noise,)} for noise in ("own", "one"))
_CUT = {"low": (0.0,), "cut": (True,)}
_PUBLISHED = {"ridge": (1.0,), "factor": (1.0,)}
TABULAR = (
    *grid(agent=("rlsvi",), **FACTORS, factor=(0.3, 0.1, 0.03, 0.01)),  # σ
    *grid(agent=("russo", "clipped"), **_OWN, **_PUBLISHED),
    *grid(agent=("clipped",), **_OWN, **_RIDGE, factor=(0.003, 0.001, 3e-4)),
    *grid(agent=("single-seed",), **_ONE, **_PUBLISHED),
    *grid(agent=("single-seed",), **_ONE, **_RIDGE, factor=(0.01, 0.003, 0.001)),
    *grid(
        agent=("ucbvi",),
        low=(-1.0,),
        noise=("own",),
        ridge=(0.0,),  # it has none
        factor=(1.0, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5),
    ),
)
_SIGMAS = (1.0, 0.3, 0.1, 0.03, 0.01)  # in units of the width of the range of values
LINEAR = (
    *grid(agent=("rlsvi",), low=(0.0,), cut=(False, True), **_RIDGE, factor=_SIGMAS),
    *grid(agent=("lsvi-ucb",), **_CUT, **_PUBLISHED),
    *grid(agent=("lsvi-ucb",), **_CUT, **_RIDGE, factor=(0.03, 0.01, 0.003, 0.001)),
    *grid(agent=("bootstrap",), **_CUT, ridge=(0.0,), factor=(1.0, 0.1)),  # κ
)
SHIFTED = grid(agent=("rlsvi",), low=(-1.0,), cut=(True,), **_RIDGE, factor=_SIGMAS)

# --------------------------------------------------------------------------- advice

Arm = dict[str, Any]  # the settings that it fixes


class Advice(NamedTuple):
    """Two arms of a table by their names: without the advice, and with it."""

    table: str
    arms: dict[str, Arm]


def _two(table: str, common: Arm, **levels: Arm) -> Advice:
    return Advice(table, {name: common | level for name, level in levels.items()})


NAMES = {
    0.0: "rewards 0 to 1",
    -1.0: "rewards −1 to 0",
    "own": "own seeds",
    "one": "one seed",
    1.0: "ridge 1",
    0.01: "ridge 0.01",
}


def crossed(factor: str) -> Iterator[Advice]:
    """Both levels of one factor, at all levels of the other two; the second level is the advice."""
    others = [name for name in FACTORS if name != factor]
    for levels in product(*(FACTORS[name] for name in others)):
        common = {"agent": "rlsvi", **dict(zip(others, levels, strict=True))}
        yield Advice("since-tabular", {NAMES[x]: common | {factor: x} for x in FACTORS[factor]})


_TABLE = {"agent": "rlsvi", "noise": "own", "ridge": 0.01}
_LINEAR = {"agent": "rlsvi", "low": 0.0, "cut": True}
ADVICE = {
    "small constants": Advice(
        "since-tabular",
        {
            "published": {"agent": "russo"},
            "tuned": {"agent": "rlsvi", "low": 0.0, "noise": "own", "ridge": 1.0},
        },
    ),
    "rewards at most 0": _two(
        "since-tabular", _TABLE, **{NAMES[x]: {"low": x} for x in (0.0, -1.0)}
    ),
    "one seed": _two(
        "since-tabular", _TABLE | {"low": 0.0}, **{NAMES[x]: {"noise": x} for x in ("own", "one")}
    ),
    "one seed, rewards at most 0": _two(
        "since-tabular", _TABLE | {"low": -1.0}, **{NAMES[x]: {"noise": x} for x in ("own", "one")}
    ),
    "a small ridge": _two(
        "since-tabular", _TABLE | {"low": 0.0}, **{NAMES[x]: {"ridge": x} for x in (1.0, 0.01)}
    ),
    "noise, not a bonus": Advice(
        "since-tabular",
        {"bonus": {"agent": "ucbvi"}, "noise": {"agent": "rlsvi", "low": -1.0, "noise": "own"}},
    ),
    "clipped": Advice(
        "since-tabular",
        {"plain": {"agent": "rlsvi", "low": 0.0, "noise": "own"}, "clipped": {"agent": "clipped"}},
    ),
    "Bernstein noise, truncated": Advice(
        "since-tabular",
        {
            "plain": {"agent": "rlsvi", "low": 0.0, "noise": "one"},
            "single seed": {"agent": "single-seed"},
        },
    ),
    "small constants, linear": Advice(
        "since-linear",
        {
            "published": {"agent": "lsvi-ucb", "factor": 1.0, "ridge": 1.0},
            "tuned": {"agent": "lsvi-ucb", "ridge": 1.0},
        },
    ),
    "rewards at most 0, linear": _two(
        "since-linear",
        {"agent": "rlsvi", "cut": True, "ridge": 0.01},
        **{NAMES[x]: {"low": x} for x in (0.0, -1.0)},
    ),
    "a small ridge, linear": _two(
        "since-linear", _LINEAR, **{NAMES[x]: {"ridge": x} for x in (1.0, 0.01)}
    ),
    "truncated values": _two(
        "since-linear",
        {"agent": "rlsvi", "low": 0.0},
        **{"not truncated": {"cut": False}, "truncated": {"cut": True}},
    ),
    "noise, not a bonus, linear": Advice(
        "since-linear", {"bonus": {"agent": "lsvi-ucb"}, "noise": _LINEAR}
    ),
    "large noise": _two(
        "since-linear",
        _LINEAR | {"ridge": 0.01},
        **{"σ = V/100": {"factor": 0.01}, "σ = V": {"factor": 1.0}},
    ),
    "bootstrap": Advice(
        "since-linear", {"noise": _LINEAR, "bootstrap": {"agent": "bootstrap", "factor": 0.1}}
    ),
}


# --------------------------------------------------------------------------- the rule


def at_best(table: pd.DataFrame, arm: Arm) -> pd.DataFrame:
    """The judged runs of an arm, with its open settings as chosen for each problem."""
    own = table[np.logical_and.reduce([table[name] == level for name, level in arm.items()])]
    settings = [*PROBLEM, *own.columns.difference([*PROBLEM, *RESULT], sort=False)]
    tried = final(own[own.seed.isin(CHOOSING)]).groupby(settings, sort=False).regret.mean()
    best = pd.DataFrame(list(tried.groupby(PROBLEM, sort=False).idxmin()), columns=settings)
    return own[own.seed.isin(JUDGING)].merge(best)


def final(table: pd.DataFrame) -> pd.DataFrame:
    """The last row of every run."""
    return table[table.episode == table.groupby(PROBLEM).episode.transform("max")]


def compare(table: pd.DataFrame, advice: Advice) -> pd.DataFrame:
    """Mean regrets at the end without and with the advice, their ratio, its interval and the word,
    a row for each problem that both arms met."""
    without, with_it = (
        final(at_best(table, arm)).pivot(index="seed", columns=PROBLEM, values="regret")
        for arm in advice.arms.values()
    )
    rows = {}
    for problem in without.columns.intersection(with_it.columns, sort=False):
        times, low, high = ratio(with_it[problem], without[problem])
        rows[problem] = {
            "without": without[problem].mean(),
            "with": with_it[problem].mean(),
            "ratio": times,
            "low": low,
            "high": high,
            "word": word(low, high),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(PROBLEM)


def summary(found: pd.DataFrame) -> str:
    """The words of a comparison with the problems they hold for, and the ratios of the decided."""
    parts = []
    for said in ("better", "worse", "equal", "open"):
        named = [
            f"{environment} {size}"
            + (f" (×{float(f'{row.ratio:.2g}'):g})" if said in ("better", "worse") else "")
            for (environment, size), row in found[found.word == said].iterrows()
        ]
        if named:
            parts.append(f"{said} on {', '.join(named)}")
    return "; ".join(parts)
