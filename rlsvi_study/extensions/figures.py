"""The figures of appendix F and section 7: incremental, continual, bootstrapped."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import style
from ..judging.outcomes import last_rows
from ..style import (
    BY_AGENT,
    COLOUR,
    LINE,
    MARK,
    NAME,
    RANGE,
    interval_rows,
    readable_colour,
    subplots,
    with_style,
)
from . import experiments

ARMS = {  # of the table of incremental RLSVI, those that are drawn
    "batch, prior kept": "batch",
    "ν = H/(l+H+1), prior kept": "ν = H/(l+H+1)",
    "ν = 0.03, prior forgotten": "ν = 0.03",
    "ν = 0, prior kept": "ν = 0",
}
GAMMA = 0.95  # of the lock that is drawn


@with_style
def incremental(table: pd.DataFrame, N: int = 20) -> Figure:
    """Each seed's regret at the end on one chain, as a share of learning nothing."""
    last = last_rows(table).query("lam == 1 and N == @N")
    last = last.assign(
        arm=(last.agent + ", prior " + last.prior).map(ARMS),
        share=last.regret / last.regret.max(),
    )
    fig, ax = subplots(height=2.3)
    sns.stripplot(
        last,
        x="share",
        y="arm",
        order=list(ARMS.values()),
        color=COLOUR["incremental"],
        size=6,
        alpha=0.6,
        jitter=False,
        ax=ax,
    )
    ax.collections[0].set_facecolor(COLOUR["rlsvi"])
    ax.set(xlim=(0, 1.03), xlabel="regret as a share of learning nothing", ylabel="")
    return fig


@with_style
def travel(halves: Mapping[str, pd.Series]) -> Figure:
    """Episodes until half of a reward is known k periods before it; batch RLSVI needs one."""
    fig, ax = subplots(height=4.4)
    ends = {"batch": (1.0, COLOUR["rlsvi"])}
    at = max(halves.values(), key=len).index
    for (name, half), shade in zip(
        halves.items(), style.agent_shades("incremental", len(halves)), strict=True
    ):
        ax.plot(half, "o-", color=shade)
        if half.index[-1] == at[-1]:
            ends[name] = half.iloc[-1], shade
        else:  # not in the time that is drawn
            ax.text(
                half.index[-1] - 0.5, half.iloc[-1], name, ha="right", color=readable_colour(shade)
            )
    ax.plot(at, np.ones(len(at)), "o-", color=COLOUR["rlsvi"])
    ax.plot(at, np.exp(at), color=COLOUR["theory"], ls=LINE["theory"], zorder=1)
    most = 2 * max(half.max() for half in halves.values())
    ax.text(np.log(most) + 0.3, most, "$e^k$", va="top", color=readable_colour(COLOUR["theory"]))
    ax.set(
        yscale="log",
        ylim=(0.7, most),
        xlabel="periods k before the reward",
        ylabel="episodes until half of it is known",
    )
    style.label_line_ends(ax, ends)
    return fig


def _legend_above(ax: Axes) -> None:
    handles, names = ax.get_legend_handles_labels()
    ax.get_legend().remove()
    ax.figure.legend(
        handles,
        [NAME.get(name, name) for name in names],
        ncols=2,
        loc="outside upper center",
        columnspacing=1,
    )


def _waits(table: pd.DataFrame, x: str, uniform: Callable, label: str, **labels: str) -> Figure:
    """Median waits with intervals; what never came is drawn at the budget. Beside them how long an
    agent that dithers waits."""
    fig, ax = subplots(height=5)
    budget = int(table.first_reward[table["lost"]].max())
    times = interval_rows(experiments.median_waits(table, ["agent", x]), limit=budget)
    sns.lineplot(times, x=x, y="time", **BY_AGENT, markers=MARK, **RANGE, ax=ax)
    at = np.linspace(*times[x].agg(["min", "max"]))
    ax.plot(at, uniform(at), color="black", lw=1, ls=LINE["theory"], label=label)
    ax.axhline(budget, color="0.5", lw=0.8)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(yscale="log", ylim=(1, 2.2 * budget), **labels)
    _legend_above(ax)
    return fig


@with_style
def continual(table: pd.DataFrame) -> Figure:
    """Steps to the first reward against the length of the lock."""
    shown = table.agent.isin(["corrected", "printed", "greedy"]) & (table.gamma == GAMMA)
    return _waits(
        table[shown],
        "n",
        lambda n: 2 ** (n + 1) - 2,
        "uniform, mean (exact)",
        xlabel="length of the lock, moves n",
        ylabel="steps until it opens",
    )


@with_style
def bootstrap(table: pd.DataFrame) -> Figure:
    """Episodes to the first reward against the length of the chain, with tabular features."""
    return _waits(
        table[table.features == "tabular"],
        "N",
        lambda N: np.log(2) * 2 ** (N - 1) / (1 - 1 / N) ** (N - 1),
        "dithering, median",
        xlabel="chain length N",
        ylabel="episodes to the first reward",
    )


DRAW = {"incremental": incremental, "continual": continual, "bootstrap": bootstrap}
