"""The figures of the guide: RLSVI on tasks that others have made, and what to choose."""

from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..judging.intervals import student
from ..style import (
    BAND,
    BY_AGENT,
    COLOUR,
    MARK,
    NAME,
    canvas,
    digits,
    legend,
    panels,
    styled,
    values,
)
from . import sigma
from .runs import CONTROL, LAST, outcomes

EARNED = {
    "reward": "RLSVI while it learns",
    "mean": "its posterior mean, at the end",
    "vote": "a vote of its samples, at the end",
}
WORDS = {"start": "ε or η at the start", "c": "c in σ = cV", "option": ""}


def _named(table: pd.DataFrame, axes: list[Axes], drawn: list[str]) -> None:
    """A title to each panel, one legend to all, where there is something to tell apart."""
    for ax, task in zip(axes, drawn, strict=True):
        ax.set_title(task)
        if ax.get_legend():
            ax.get_legend().remove()
    if table.agent.nunique() > 1:
        legend(axes[0], axes[0].figure, loc="outside upper center", ncols=3)


def share(table: pd.DataFrame) -> pd.Series:
    """What the posterior mean's policy earns as a share of the optimum: 1 − loss/|optimum|, cut at
    0; exact."""
    return (1 - (table.best - table.greedy) / table.best.abs()).clip(lower=0)


@styled
def tables(*several: pd.DataFrame) -> Figure:
    """Share of the optimal return against episodes, a panel a task; medians and ranges of seeds."""
    table = pd.concat(several).assign(share=lambda all: share(all))
    tasks = list(table.task.unique())
    fig, axes = panels(len(tasks), height=3.2, sharey=True)
    for ax, task in zip(axes, tasks, strict=True):
        sns.lineplot(
            table[table.task == task],
            x="episode",
            y="share",
            ax=ax,
            **BY_AGENT,
            **BAND | {"errorbar": ("pi", 100)},
        )
        ax.axhline(0.95, color="0.5", lw=0.8, ls=":")
        ax.set(xlabel="episode", ylabel="share of the optimum")
        ax.xaxis.set_major_formatter(digits)
        ax.locator_params(axis="x", nbins=4)
    _named(table, axes, tasks)
    return fig


@styled
def curves(*several: pd.DataFrame) -> Figure:
    """Returns against episodes, a panel a task: medians over seeds and 10% to 90%; dotted, what
    counts as a solution."""
    table = pd.concat(several)
    tasks = [task for task in CONTROL if task in set(table.task)]
    fig, axes = panels(len(tasks), height=2.9, sharex=True)
    for ax, task in zip(axes, tasks, strict=True):
        sns.lineplot(table[table.task == task], x="episode", y="reward", ax=ax, **BY_AGENT, **BAND)
        ax.axhline(CONTROL[task].solved, color="0.4", lw=0.9, ls=":")
        ax.set(xlabel="episode", ylabel="mean return")
    _named(table, axes, tasks)
    return fig


@styled
def deep_sea(table: pd.DataFrame) -> Figure:
    """Episodes until the tenth goal against the depth; runs without one are left out."""
    fig, ax = canvas(height=4.2)
    sns.lineplot(
        table.dropna(),
        x="N",
        y="tenth_goal",
        markers=MARK,
        ax=ax,
        **BY_AGENT,
        **BAND | {"errorbar": ("pi", 100)},
    )
    ax.set(xscale="log", yscale="log", xlabel="depth N", ylabel="episodes to the tenth goal")
    ax.set_xticks(sorted(table.N.unique()), sorted(table.N.unique()))
    ax.minorticks_off()
    lost = [
        NAME[agent]
        for agent, runs in table.groupby("agent", sort=False)
        if runs.tenth_goal.isna().all()
    ]
    legend(ax, title=f"never: {', '.join(lost)}" if lost else None)
    return fig


@styled
def dots(table: pd.DataFrame) -> Figure:
    """The return of the last episodes of each run, by what was varied; a panel a task."""
    runs = outcomes(table)
    tasks = list(runs.task.unique())
    varied = next(column for column in ("start", "c", "option") if column in runs)
    fig, axes = panels(len(tasks), height=2.2)
    for ax, task in zip(axes, tasks, strict=True):
        sns.stripplot(
            runs[runs.task == task],
            x="last",
            y=varied,
            orient="h",
            hue="agent",
            palette=COLOUR,
            size=4,
            alpha=0.5,
            jitter=False,
            ax=ax,
        )
        ax.axvline(CONTROL[task].solved, color="0.4", lw=0.9, ls=":")
        ax.set(xlabel=f"mean of the last {LAST}", ylabel=WORDS[varied])
    _named(table, axes, tasks)
    return fig


@styled
def redrawn(table: pd.DataFrame) -> Figure:
    """Mean returns with Student's intervals, by when the sample is drawn again: of all episodes,
    and of two policies at the end. A panel a task."""
    tasks = list(table.task.unique())
    returns = table.melt(["task", "again", "seed"], list(EARNED), "of", "earned")
    fig, axes = panels(len(tasks), height=3.4, sharey=True)
    for ax, task in zip(axes, tasks, strict=True):
        sns.pointplot(
            returns[returns.task == task].replace({"of": EARNED}),
            x="earned",
            y="again",
            hue="of",
            errorbar=student,
            dodge=0.4,
            linestyle="none",
            markersize=4,
            markers=["o", "s", "D"],
            palette=values(3),
            err_kws={"lw": 1.5},
            ax=ax,
        )
        ax.set(xlabel="mean return", ylabel="")
    legend(axes[0], fig, loc="outside upper center")
    _named(table.assign(agent="rlsvi"), axes, tasks)
    return fig


@styled
def noise(table: pd.DataFrame) -> Figure:
    """Regret in units of the best σ's on each problem, by σ and beside the rivals' best; means and
    Student's intervals. Problems with a horizon left, discounted ones right."""
    runs = sigma.regrets(table).drop(columns="returns", level="arm")
    times = (runs / sigma.judged(table)["mean"].groupby("problem").min()).melt(value_name="times")
    times["task"] = times.problem.str.removesuffix(", discounted")
    order, tasks = [*sigma.SIGMAS, *sigma.RIVALS.values()], list(times.task.unique())
    look = dict(zip(tasks, zip(values(len(tasks)), "osD^v", strict=True), strict=True))
    fig, axes = canvas(2, height=5.4, sharey=True)
    for ax, title, discounted in zip(axes, ("with a horizon", "discounted"), (0, 1), strict=True):
        own = times[times.problem.str.endswith(", discounted") == bool(discounted)]
        drawn = [task for task in tasks if task in set(own.task)]
        for arms, line in ((list(sigma.SIGMAS), "-"), (list(sigma.RIVALS.values()), "none")):
            sns.pointplot(
                own[own.arm.isin(arms)],
                x="arm",
                y="times",
                hue="task",
                order=order,
                hue_order=drawn,
                errorbar=student,
                palette=[look[task][0] for task in drawn],
                markers=[look[task][1] for task in drawn],
                markersize=4,
                err_kws={"lw": 1.5},
                lw=1.5,
                linestyles=line,
                legend=line == "-",
                ax=ax,
            )
        ax.set(
            title=title,
            xlabel="σ, or a rival’s best setting",
            ylabel="regret / regret of the best σ",
        )
        ax.tick_params(axis="x", rotation=60)
        ax.axhline(sigma.TOLERATED, color="0.5", lw=0.8, ls=":")
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


CHOICES = (  # questions, the answer that decides, and what to take then
    ("Few actions, and states that you\ncan number or describe?", "no", "a deep method"),
    ("Is an episode one step?", "yes", "rlsvi, σ = a\nreward’s deviation"),
    ("Does one random outcome\ndecide an episode?", "yes", "bootstrap,\nrange of returns"),
    ("Does nearly every step pay or cost?", "yes", "rlsvi, or LSVI\nwith a tuned ε"),
    ("Do outcomes vary, or\ndo you not know?", "yes", "rlsvi"),
    ("Are states numbered, and does\nsomething pay on the way?", "yes", "rlsvi"),
    ("Are states numbered, and\ndo you discount?", "yes", "rlsvi,\nσ = (1 − γ)V/10"),
    ("Are states numbered, or do features\ncontain the optimal values?", "yes", "bootstrap"),
)
OTHERWISE = "rlsvi"


@styled
def choices() -> Figure:
    """The guide's decision tree: from the top, the first question that decides."""
    fig, ax = canvas(height=0.82 * (len(CHOICES) + 0.6))
    colour = {"rlsvi": COLOUR["rlsvi"], "boots": COLOUR["weights"]}
    box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "0.6"}

    def leaf(x: float, y: float, take: str) -> None:
        edge = colour.get(take[:5], "0.3")
        ax.text(x, y, take, ha="center", va="center", bbox=box | {"edgecolor": edge, "lw": 2})

    arrow = {"arrowstyle": "-|>", "color": "0.4", "shrinkA": 0, "shrinkB": 0}
    for row, (question, decides, take) in enumerate(CHOICES):
        y = -row
        ax.annotate("", (0.71, y), (0.57, y), arrowprops=arrow)
        ax.annotate("", (0.28, y - 0.66), (0.28, y - 0.34), arrowprops=arrow)
        ax.text(0.635, y + 0.06, decides, ha="center", va="bottom")
        ax.text(0.3, y - 0.5, "yes" if decides == "no" else "no", va="center")
        ax.text(0.28, y, question, ha="center", va="center", bbox=box)
        leaf(0.86, y, take)
    leaf(0.28, -len(CHOICES) + 0.05, OTHERWISE)
    ax.set(xlim=(0, 1.02), ylim=(-len(CHOICES) - 0.25, 0.4))
    ax.axis("off")
    return fig


DRAW = {
    "tasks-control": curves,
    "tasks-epsilon": curves,
    "tasks-boltzmann": curves,
    "tasks-tuning": dots,
    "tasks-rule": dots,
    "tasks-options": dots,
    "tasks-tabular": tables,
    "tasks-tabular-large": tables,
    "tasks-redraw": redrawn,
    "tasks-deep-sea": deep_sea,
    "tasks-sigma": noise,
    "tasks-curves": curves,
    "tasks-tables": tables,
}
