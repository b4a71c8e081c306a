"""How much noise: regret of the bootstrap beside that of RLSVI by ``value_range``, and of tuned rivals."""

from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..judging.outcomes import ratio, word
from ..style import COLOUR, RANGE, WORD_COLOUR, canvas, legend, styled, three, values
from . import FINAL, TUNING
from .conditions import DEVIATION, KINDS, SMALLER, STEPS, TOLD, against
from .parts import DEFAULT, UNTUNED
from .runs import final, regrets


def _beside_one(
    cells: pd.DataFrame, ax: Axes, y: str, hue: str, hues: list[str], dodge: Any, **more: Any
) -> None:
    """Ratios of regrets, a line each of ``y``, beside 1."""
    sns.pointplot(
        three(cells, "mean"),
        x="time",
        y=y,
        hue=hue,
        palette=WORD_COLOUR if hue == "word" else values(len(hues)),
        hue_order=hues,
        linestyle="none",
        markersize=5,
        dodge=dodge,
        err_kws={"lw": 1.5},
        ax=ax,
        **RANGE,
        **more,
    )
    ax.axvline(1, color="0.4", lw=0.9, ls=":")
    ax.get_legend().remove()


@styled
def ratios(*tables: pd.DataFrame) -> Figure:
    """How many times the regret of RLSVI by ``value_range`` the bootstrap has with its default κ, from
    the problem on which it helps most to the one on which it costs most."""
    found = {}
    for table in tables:
        for problem, regret in regrets(table).items():
            times = ratio(regret[DEFAULT], regret[UNTUNED])
            found[problem, word(times.low, times.high)] = times._asdict()
    cells = pd.DataFrame.from_dict(found, orient="index").rename_axis(["problem", "word"])
    fig, ax = canvas(height=1.6 + 0.27 * len(cells))
    words = [said for said in WORD_COLOUR if said in cells.index.unique("word")]
    _beside_one(cells.sort_values("mean"), ax, "problem", "word", words, False)
    ax.set(xscale="log", xlabel="regret of the bootstrap / regret of RLSVI", ylabel="")
    legend(ax, fig, loc="outside upper center", ncols=4)
    return fig


@styled
def bandits(table: pd.DataFrame) -> Figure:
    """How many times the regret of RLSVI by ``value_range`` the others have on each bandit, or task."""
    fig, ax = canvas(height=3.4)
    other = DEVIATION if DEVIATION in set(table.arm) else SMALLER
    arms = [other, "bootstrap, κ = 0.01"]
    cells = against(table).rename(index={DEFAULT: arms[1]}, level="arm")
    _beside_one(cells, ax, "problem", "arm", arms, 0.3, markers=["o", "^"])
    ax.set(xscale="log", xlabel="regret / regret with σ = V/50", ylabel="")
    ax.set_xticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
    ax.minorticks_off()
    legend(ax, fig, loc="outside upper center", ncols=2)
    return fig


@styled
def rare(table: pd.DataFrame) -> Figure:
    """How many times the regret of the bootstrap with its default κ and the range of returns the
    others have on each gamble and in the maze."""
    fig, ax = canvas(height=5.2)
    cells = against(table, DEFAULT)
    _beside_one(cells, ax, "problem", "arm", list(cells.index.unique("arm")), 0.5)
    ax.set(xscale="log", xlabel="regret / regret with κ = 0.01, told returns", ylabel="")
    ax.set_xticks([0.2, 0.5, 1, 2, 5, 10, 20], ["0.2", "0.5", "1", "2", "5", "10", "20"])
    ax.minorticks_off()
    legend(ax, fig, loc="outside upper center", ncols=2)
    return fig


@styled
def steps(table: pd.DataFrame) -> Figure:
    """How many times the regret of RLSVI by ``value_range`` the bootstrap has where nothing is
    random, by features and by what pays; a panel a world."""
    cells = against(table).reset_index()
    cells[["world", "pays", "features"]] = [STEPS[problem] for problem in cells.problem]
    fig, axes = canvas(2, height=4.2, sharex=True, sharey=True)
    for ax, (world, own) in zip(axes, cells.groupby("world", sort=False), strict=True):
        own = own.set_index(["features", "pays"])
        _beside_one(
            own, ax, "features", "pays", list(TOLD), 0.5, order=list(KINDS), markers=["o", "s", "D"]
        )
        ax.set(title=world, xlabel="regret / RLSVI’s", ylabel="")
    axes[0].set(xscale="log")  # of both, after both are drawn
    axes[0].set_xticks([0.2, 0.5, 1, 2, 4], ["0.2", "0.5", "1", "2", "4"])
    axes[0].minorticks_off()
    legend(axes[0], fig, loc="outside upper center", ncols=3)
    return fig


@styled
def settings(table: pd.DataFrame) -> Figure:
    """Mean regret of a rival's nine settings, in units of the least on the problem."""
    ends = final(table)
    least = ends.groupby(["problem", "agent", "setting"]).regret.mean().groupby("problem").min()
    shown = ends.assign(times=ends.regret / ends.problem.map(least))
    fig, ax = canvas(height=1.2 + 0.3 * shown.problem.nunique())
    sns.stripplot(
        shown.groupby(["problem", "agent", "setting"], sort=False).times.mean().reset_index(),
        x="times",
        y="problem",
        hue="agent",
        palette=COLOUR,
        dodge=True,
        size=3,
        ax=ax,
    )
    ax.set(xscale="log", xlabel="mean regret / least mean regret", ylabel="")
    ax.get_legend().remove()
    legend(ax, fig, loc="outside upper center", ncols=4)
    return fig


DRAW = {
    **dict.fromkeys(TUNING, settings),
    **dict.fromkeys((*FINAL, "noise"), ratios),
    "noise-bandits": bandits,
    "noise-steps": steps,
    "noise-rare": rare,
    "noise-ranges": bandits,
}
