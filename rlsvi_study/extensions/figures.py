"""The figures of appendix F and section 7: incremental, continual, bootstrapped."""

from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from .. import style
from ..register import CONSISTENT, CONTRADICTED, FAILS, HOLDS, PARTLY
from ..style import BAND, BY_AGENT, COLOUR, LINE, MARK, NAME, RANGE, canvas, panels, styled, three
from . import runs

# The curves worth drawing: batch RLSVI in its colour, the incremental ones in shades of theirs.
CURVES = {"batch, prior kept": COLOUR["rlsvi"], **dict(zip(
    ("ν = 0, prior kept", "ν = 0.03, prior kept", "ν = 0.03, prior forgotten",
     "ν = H/(l+H+1), prior kept"), style.shades("incremental", 4), strict=True))}
VERDICTS = {HOLDS: ("#0B6E4F", ""), CONSISTENT: ("#A9C6E8", ".."), PARTLY: ("#DDBA8B", "//"),
            FAILS: ("#A32424", "\\\\"),  # colour and hatch: as on a page
            CONTRADICTED: ("#DE9B9B", "xx")}


@styled
def incremental(table: pd.DataFrame) -> Figure:
    """Regret along the run for N = 10; final regret of every arm for every N, as a share of all."""
    fig, (curves, final) = canvas(1, 2, height=6.4, height_ratios=(1, 1.3))
    arms = table.assign(arm=table.agent + ", prior " + table.prior)[table.lam == 1]
    shown = arms[(arms.N == 10) & arms.arm.isin(CURVES)]
    sns.lineplot(shown, x="episode", y="regret", **BAND, hue="arm", palette=CURVES, legend=False,
                 ax=curves)
    curves.set(ylabel="cumulative regret, N = 10")
    last = arms[arms.episode == arms.episode.max()]
    ends = last[last.N == 10].groupby("arm").regret.median()
    style.label_ends(curves, {arm.replace(", prior", ",\nprior"): (ends[arm], colour)
                       for arm, colour in CURVES.items()})
    median = last.groupby(["prior", "agent", "N"]).regret.median()
    share = (median / arms.groupby("N").regret.max()).unstack()
    share = share.loc[share.sum(axis=1).sort_values().index]  # the best first
    share.index = [f"{agent}, prior {prior}" for prior, agent in share.index]
    sns.heatmap(share, annot=True, fmt=".2f", cmap="Blues", vmin=0, vmax=1.2, cbar=False,
                linewidths=1, ax=final)
    final.set(title=f"regret after {arms.episode.max()} episodes, as a share of learning nothing",
              xlabel="length of the chain N", ylabel="")
    return fig


@styled
def travel(curves: dict[str, np.ndarray], depths: Sequence[int]) -> Figure:
    """How much of a reward is known k periods before it, episode by episode."""
    fig, axes = panels(len(curves), sharex=True, sharey=True)
    for ax, (name, v) in zip(axes, curves.items(), strict=True):
        sns.lineplot(pd.DataFrame({f"{k} before": v[:, k] for k in depths}), ax=ax, dashes=False,
                     palette=style.shades("incremental", len(depths)))
        handles, labels = ax.get_legend_handles_labels()
        ax.get_legend().remove()
        ax.set(title=name, xlabel="episodes", xscale="log", xlim=(1, len(v) - 1),
               ylabel="share of the reward known")
    fig.legend(handles, labels, title="periods", loc="lower right", bbox_to_anchor=(0.85, 0.15))
    return fig


@styled
def paths(perturbations: dict[str, np.ndarray]) -> Figure:
    """One coordinate of the perturbation along a run, for several laws."""
    fig, axes = canvas(len(perturbations), height=2.6, sharey=True)
    for ax, (name, w) in zip(axes, perturbations.items(), strict=True):
        sns.lineplot(w, color=COLOUR["rlsvi"], lw=0.9, ax=ax)
        ax.axhline(0, color="black", lw=0.6)
        ax.set(title=name, xlabel="step t", ylabel="one coordinate of w")
    return fig


def _waits(axes, table: pd.DataFrame, panel: str, x: str, uniform: Callable, label: str,
           title: str, place: dict, **labels: str) -> None:
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
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(yscale="log", ylim=(1, 2.2 * budget), title=f"{title}{value}", **labels)
        handles, names = ax.get_legend_handles_labels()
        ax.get_legend().remove()
    axes[0].figure.legend(handles, [NAME.get(name, name) for name in names], **place)


@styled
def continual(table: pd.DataFrame) -> Figure:
    """Steps to the first reward against the length of the lock, for each γ."""
    fig, axes = panels(3, height=3.0, sharex=True, sharey=True)
    _waits(axes, table[table.agent != "epsilon-greedy"], "gamma", "n", lambda n: 2 ** (n + 1) - 2,
           "uniform, mean (exact)", "γ = ", {"loc": "lower right", "bbox_to_anchor": (1, 0.15)},
           xlabel="length of the lock, moves n", ylabel="steps until it opens")
    return fig


@styled
def bootstrap(table: pd.DataFrame) -> Figure:
    """Episodes to the first reward against the length of the chain, tabular and coherent."""
    fig, axes = canvas(2, height=3.8, sharey=True, width_ratios=(1.5, 1))
    _waits(axes, table, "features", "N",
           lambda N: np.log(2) * 2 ** (N - 1) / (1 - 1 / N) ** (N - 1), "dithering, median", "",
           {"loc": "outside upper center", "ncols": 3},
           xlabel="chain length N", ylabel="episodes to the first reward")
    return fig


@styled
def verdicts(counts: dict[str, dict[str, int]]) -> Figure:
    """How many claims came out how, a bar for each section and appendix."""
    fig, ax = canvas(height=4.6)
    colours, hatches = zip(*VERDICTS.values(), strict=True)
    pd.DataFrame(counts).T[list(VERDICTS)].plot.barh(stacked=True, color=colours, ec="white",
                                                     width=0.8, ax=ax)
    for bars, hatch in zip(ax.containers, hatches, strict=True):
        plt.setp(bars, hatch=hatch)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)  # anew, with the hatches
    ax.set_axisbelow(True)
    ax.invert_yaxis()
    ax.set(xlabel="claims")
    return fig


DRAW = {"incremental": incremental, "continual": continual, "bootstrap": bootstrap}
