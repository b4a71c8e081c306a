"""Regret with more noise and less, and of the bootstrap beside RLSVI."""

from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...judging.intervals import student_ends
from ...style import (
    RANGE,
    WORD_COLOUR,
    add_legend,
    interval_rows,
    sequential_palette,
    subplots,
    with_style,
)
from .experiments import (
    BOOTSTRAP,
    DEVIATION,
    HALF,
    LSVI,
    RETURNS,
    SIGMAS,
    TOLERATED,
    compared,
    judged,
    with_best_epsilon,
)


def _beside_one(
    cells: pd.DataFrame, ax: Axes, hue: str, hues: list[str], dodge: Any, **more: Any
) -> None:
    """Ratios of regrets, a line for each problem, beside 1."""
    sns.pointplot(
        interval_rows(cells, "mean"),
        x="time",
        y="problem",
        hue=hue,
        palette=WORD_COLOUR if hue == "word" else sequential_palette(len(hues)),
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


@with_style
def ratios(table: pd.DataFrame) -> Figure:
    """How many times the regret of RLSVI by ``value_range`` the bootstrap has, from the problem on
    which it helps most to the one on which it costs most."""
    found = compared(table).droplevel("arm").set_index("word", append=True)
    words = [said for said in WORD_COLOUR if said in found.index.unique("word")]
    fig, ax = subplots(height=1.6 + 0.27 * len(found))
    _beside_one(found.sort_values("mean"), ax, "word", words, False)
    ax.set(xscale="log", xlabel="regret of the bootstrap / regret of RLSVI", ylabel="")
    add_legend(ax, fig, loc="outside upper center", ncols=4)
    return fig


@with_style
def bandits(table: pd.DataFrame) -> Figure:
    """How many times the regret of RLSVI by ``value_range`` the others have on each bandit."""
    fig, ax = subplots(height=4.8)
    arms = [DEVIATION, HALF, "bootstrap, κ = 0.01"]
    cells = compared(table).rename(index={BOOTSTRAP: arms[2]}, level="arm")
    _beside_one(cells, ax, "arm", arms, 0.4, markers=["o", "s", "^"])
    ax.set(xscale="log", xlabel="regret / regret with σ = V/200", ylabel="")
    ax.set_xticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
    ax.minorticks_off()
    add_legend(ax, fig, loc="outside upper center", ncols=3)
    return fig


@with_style
def sigmas(table: pd.DataFrame) -> Figure:
    """Regret in units of the best σ's on each problem, by σ and of LSVI; means and Student's
    intervals. Problems with a horizon left, discounted ones right."""
    best = judged(table).times.eq(1).loc[lambda is_best: is_best].reset_index()
    units = dict(zip(best.problem, best.arm, strict=True))
    times = pd.concat(
        (regret.drop(columns=RETURNS, errors="ignore") / regret[units[problem]].mean())
        .melt(var_name="arm", value_name="times")
        .assign(problem=problem)
        for problem, regret in with_best_epsilon(table).items()
    )
    times["task"] = times.problem.str.removesuffix(", discounted")
    tasks = list(times.task.unique())
    look = dict(zip(tasks, zip(sequential_palette(len(tasks)), "osD^v", strict=True), strict=True))
    fig, axes = subplots(2, height=5.4, sharey=True)
    for ax, title, discounted in zip(axes, ("with a horizon", "discounted"), (0, 1), strict=True):
        own = times[times.problem.str.endswith(", discounted") == bool(discounted)]
        drawn = [task for task in tasks if task in set(own.task)]
        for arms, line in ((list(SIGMAS), "-"), ([LSVI], "none")):
            sns.pointplot(
                own[own.arm.isin(arms)],
                x="arm",
                y="times",
                hue="task",
                order=[*SIGMAS, LSVI],
                hue_order=drawn,
                errorbar=student_ends,
                palette=[look[task][0] for task in drawn],
                markers=[look[task][1] for task in drawn],
                markersize=4,
                err_kws={"lw": 1.5},
                lw=1.5,
                linestyles=line,
                legend=line == "-",
                ax=ax,
            )
        ax.set(title=title, xlabel="σ, or the best ε", ylabel="regret / regret of the best σ")
        ax.tick_params(axis="x", rotation=60)
        ax.axhline(TOLERATED, color="0.5", lw=0.8, ls=":")
        ax.get_legend().remove()
    named: dict[str, Any] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    fig.legend(named.values(), named, loc="outside upper center", ncols=3)
    axes[0].set(yscale="log")  # of both, after both are drawn
    axes[0].set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes[0].minorticks_off()
    return fig


DRAW = {"noise": ratios, "noise-bandits": bandits, "noise-sigma": sigmas}
