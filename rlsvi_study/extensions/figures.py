"""The figures of appendix F and section 7: incremental, continual, bootstrapped."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import style
from ..judging.outcomes import last_rows
from ..style import BAND, BY_AGENT, COLOUR, LINE, MARK, NAME, RANGE, canvas, ink, styled, three
from . import runs

# The curves worth drawing: batch RLSVI in its colour, the incremental ones in shades of theirs.
CURVES = {
    "batch, prior kept": COLOUR["rlsvi"],
    **dict(
        zip(
            ("ν = 0, prior kept", "ν = 0.03, prior forgotten", "ν = H/(l+H+1), prior kept"),
            style.shades("incremental", 3),
            strict=True,
        )
    ),
}
CALLED = {
    **NAME,
    **{arm: f"incremental, {arm}" for arm in CURVES},
    "batch, prior kept": "RLSVI, batch",
}
GAMMA = 0.95  # of the lock that is drawn


@styled
def incremental(table: pd.DataFrame) -> Figure:
    """Regret at the end against the length of the chain, as a share of learning nothing."""
    fig, ax = canvas(height=5.2)
    last = last_rows(table).query("lam == 1")
    last = last.assign(
        arm=last.agent + ", prior " + last.prior,
        share=last.regret / last.groupby("N").regret.transform("max"),
    )
    sns.lineplot(
        last[last.arm.isin(CURVES)],
        x="N",
        y="share",
        **BAND,
        hue="arm",
        palette=CURVES,
        hue_order=list(CURVES),
        marker="o",
        ax=ax,
    )
    ax.set(
        xscale="log",
        xlabel="length of the chain N",
        ylim=(0, 1.05),
        ylabel="share of the regret of\nlearning nothing",
    )
    ax.set_xticks(sorted(last.N.unique()), sorted(last.N.unique()), minor=False)
    ax.minorticks_off()
    _legend_above(ax, 1)
    return fig


@styled
def travel(halves: Mapping[str, pd.Series]) -> Figure:
    """Episodes until half of a reward is known k periods before it; batch RLSVI needs one."""
    fig, ax = canvas(height=4.4)
    ends = {"batch": (1.0, COLOUR["rlsvi"])}
    at = max(halves.values(), key=len).index
    for (name, half), shade in zip(
        halves.items(), style.shades("incremental", len(halves)), strict=True
    ):
        ax.plot(half, "o-", color=shade)
        if half.index[-1] == at[-1]:
            ends[name] = half.iloc[-1], shade
        else:  # not in the time that is drawn
            ax.text(half.index[-1] - 0.5, half.iloc[-1], name, ha="right", color=ink(shade))
    ax.plot(at, np.ones(len(at)), "o-", color=COLOUR["rlsvi"])
    ax.plot(at, np.exp(at), color=COLOUR["theory"], ls=LINE["theory"], zorder=1)
    most = 2 * max(half.max() for half in halves.values())
    ax.text(np.log(most) + 0.3, most, "$e^k$", va="top", color=ink(COLOUR["theory"]))
    ax.set(
        yscale="log",
        ylim=(0.7, most),
        xlabel="periods k before the reward",
        ylabel="episodes until half of it is known",
    )
    style.label_ends(ax, ends)
    return fig


@styled
def paths(perturbations: Mapping[str, np.ndarray]) -> Figure:
    """One coordinate of the perturbation along a run, for several laws."""
    fig, ax = canvas(height=3.6)
    for (name, w), agent in zip(perturbations.items(), ("printed", "corrected"), strict=True):
        ax.plot(w, color=COLOUR[agent], lw=1 if agent == "printed" else 2.4, label=name)
    ax.axhline(0, color="black", lw=0.6)
    ax.set(xlabel="step t", ylabel="one coordinate of w")
    _legend_above(ax)
    return fig


def _legend_above(ax: Axes, columns: int = 2) -> None:
    handles, names = ax.get_legend_handles_labels()
    if ax.get_legend():
        ax.get_legend().remove()
    ax.figure.legend(
        handles,
        [CALLED.get(name, name) for name in names],
        ncols=columns,
        loc="outside upper center",
        columnspacing=1,
    )


def _waits(table: pd.DataFrame, x: str, uniform: Callable, label: str, **labels: str) -> Figure:
    """Median waits with intervals; what never came is drawn at the budget. Beside them how long an
    agent that dithers waits."""
    fig, ax = canvas(height=5)
    budget = int(table.first_reward[table["lost"]].max())
    times = three(runs.waits(table, ["agent", x]), limit=budget)
    sns.lineplot(times, x=x, y="time", **BY_AGENT, markers=MARK, **RANGE, ax=ax)
    at = np.linspace(*times[x].agg(["min", "max"]))
    ax.plot(at, uniform(at), color="black", lw=1, ls=LINE["theory"], label=label)
    ax.axhline(budget, color="0.5", lw=0.8)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(yscale="log", ylim=(1, 2.2 * budget), **labels)
    _legend_above(ax)
    return fig


@styled
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


@styled
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
