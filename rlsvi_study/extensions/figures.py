"""The figures of appendix F and section 7: incremental, continual, bootstrapped."""

from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from ..register import CONTRADICTED, CONVENTION, FAILS, HOLDS, MISPRINT, OPEN, PARTLY
from ..style import BAND, BY_AGENT, COLOUR, LINE, MARK, RANGE, canvas, legend, styled, three
from . import runs

# The curves worth drawing, with colour and dashes.
CURVES = {"batch, prior kept": (COLOUR["rlsvi"], ()),
          "ν = 0, prior kept": ("#666666", (1, 1.5)),
          "ν = H/(l+H+1), prior kept": ("#009E73", (6, 2, 1, 2)),
          "ν = 0.03, prior forgotten": ("#D55E00", (5, 2)),
          "ν = 0.03, prior kept": ("#CC79A7", (5, 1, 1, 1))}
LENGTHS = {5: ("#E69F00", "v"), 10: ("#009E73", "^"), 20: ("#CC79A7", "s"), 50: ("#0072B2", "o")}
VERDICTS = {HOLDS: ("#0072B2", ""), PARTLY: ("#56B4E9", "//"), FAILS: ("#D55E00", "\\\\"),
            MISPRINT: ("#E69F00", ".."), CONTRADICTED: ("#CC79A7", "xx"),
            CONVENTION: ("#F0E442", ""), OPEN: ("#999999", "")}  # colour and hatch


@styled
def incremental(table: pd.DataFrame) -> Figure:
    """Regret along the run for N = 10; final regret of every arm for every N, as a share of all."""
    fig, (left, right) = canvas(2, width=9.6, height=4.2, width_ratios=(1, 1.15))
    runs_ = table.assign(arm=table.agent + ", prior " + table.prior)[table.lam == 1]
    colours, dashes = ({arm: look[i] for arm, look in CURVES.items()} for i in (0, 1))
    sns.lineplot(runs_[(runs_.N == 10) & runs_.arm.isin(CURVES)], x="episode", y="regret", **BAND,
                 hue="arm", style="arm", hue_order=CURVES, palette=colours, dashes=dashes, ax=left)
    left.set(ylabel="cumulative regret, N = 10")
    left.legend()
    final = runs_[runs_.episode == runs_.episode.max()].groupby(["arm", "N"], sort=False).regret
    share = (final.median() / runs_.groupby("N").regret.max()).rename("share").reset_index()
    colours, marks = ({N: look[i] for N, look in LENGTHS.items()} for i in (0, 1))
    sns.scatterplot(share, x="share", y="arm", hue="N", style="N", palette=colours, markers=marks,
                    s=35, alpha=0.8, ax=right)
    right.set(xlabel="final regret / that of learning nothing", ylabel="", xlim=(0, 1.05))
    right.legend(title="N", ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return fig


@styled
def travel(curves: dict[str, np.ndarray], depths: Sequence[int]) -> Figure:
    """How much of a reward is known k periods before it, episode by episode."""
    fig, axes = canvas(len(curves), width=9.0, height=2.9, sharey=True)
    for ax, (name, v) in zip(axes, curves.items(), strict=True):
        sns.lineplot(pd.DataFrame({f"k = {k}": v[:, k] for k in depths}), ax=ax,
                     legend=ax is axes[-1])
        ax.set(title=name, xlabel="episodes", xscale="log", xlim=(1, len(v) - 1),
               ylabel="share of the reward known")
    return fig


@styled
def paths(perturbations: dict[str, np.ndarray]) -> Figure:
    """One coordinate of the perturbation along a run, for several laws."""
    fig, axes = canvas(len(perturbations), width=9.0, height=2.6, sharey=True)
    for ax, (name, w) in zip(axes, perturbations.items(), strict=True):
        sns.lineplot(w, color=COLOUR["rlsvi"], lw=0.9, ax=ax)
        ax.axhline(0, color="black", lw=0.6)
        ax.set(title=name, xlabel="step t", ylabel="one coordinate of w")
    return fig


def _waits(axes, table: pd.DataFrame, panel: str, x: str, uniform: Callable, label: str,
           title: str, **labels: str) -> None:
    """Median waits with intervals, a panel for each value of a column; what never came is drawn at
    the budget. Beside them how long a uniformly random agent waits."""
    budget = int(table.first_reward[table["lost"]].max())
    times = three(runs.waits(table, [panel, "agent", x]), limit=budget)
    for ax, value in zip(axes, table[panel].unique(), strict=True):
        sns.lineplot(times[times[panel] == value], x=x, y="time", **BY_AGENT, markers=MARK,
                     **RANGE, lw=1.6, ax=ax)
        at = np.linspace(*times[x][times[panel] == value].agg(["min", "max"]))
        ax.plot(at, uniform(at), color="black", lw=1, ls=LINE["theory"], label=label)
        ax.axhline(budget, color="0.5", lw=0.8)
        ax.set(yscale="log", ylim=(1, 2.2 * budget), title=f"{title}{value}", **labels)
        ax.get_legend().remove()
    legend(axes[0], loc="lower right")


@styled
def continual(table: pd.DataFrame) -> Figure:
    """Steps to the first reward against the length of the lock, for each γ."""
    fig, axes = canvas(3, width=9.6, height=3.8, sharey=True)
    _waits(axes, table[table.agent != "epsilon-greedy"], "gamma", "n", lambda n: 2 ** (n + 1) - 2,
           "uniform, mean (exact)", "γ = ", xlabel="moves n", ylabel="steps to the first reward")
    return fig


@styled
def bootstrap(table: pd.DataFrame) -> Figure:
    """Episodes to the first reward against the length of the chain, tabular and coherent."""
    fig, axes = canvas(2, width=8.6, height=3.6, sharey=True, width_ratios=(1.5, 1))
    _waits(axes, table, "features", "N",
           lambda N: np.log(2) * 2 ** (N - 1) / (1 - 1 / N) ** (N - 1), "dithering, median", "",
           xlabel="chain length N", ylabel="episodes to the first reward")
    return fig


@styled
def verdicts(counts: dict[str, dict[str, int]]) -> Figure:
    """How many statements came out how, a bar for each section and appendix."""
    fig, ax = canvas(width=8.2, height=4.6)
    colours, hatches = zip(*VERDICTS.values(), strict=True)
    pd.DataFrame(counts).T[list(VERDICTS)].plot.barh(stacked=True, color=colours, ec="white",
                                                     width=0.8, ax=ax)
    for bars, hatch in zip(ax.containers, hatches, strict=True):
        plt.setp(bars, hatch=hatch)
    ax.set_axisbelow(True)
    ax.invert_yaxis()
    ax.set(xlabel="statements")
    return fig


DRAW = {"incremental": incremental, "continual": continual, "bootstrap": bootstrap}
