"""How much noise: regret of the bootstrap and of tuned rivals beside that of RLSVI by ``value_range``."""

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from ..intervals import ratio
from ..style import COLOUR, MARK, RANGE, canvas, legend, styled, three, values
from . import FINAL, TUNING
from .runs import GRID, KAPPAS, UNTUNED, final, regrets

LOOKS = {  # colour and mark of each arm
    **{kappa: (colour, "o") for kappa, colour in zip(KAPPAS, values(len(KAPPAS)), strict=True)},
    **{agent: (COLOUR[agent], MARK[agent]) for agent in GRID},
}


@styled
def ratios(*tables: pd.DataFrame) -> Figure:
    """How many times the regret of RLSVI by ``value_range`` each agent has, problem by problem."""
    found = {
        (problem, arm): ratio(regret[arm], regret[UNTUNED])._asdict()
        for table in tables
        for problem, regret in regrets(table).items()
        for arm in regret
        if arm != UNTUNED
    }
    cells = pd.DataFrame.from_dict(found, orient="index").rename_axis(["problem", "arm"])
    shown = three(cells, "mean")
    arms = [arm for arm in LOOKS if arm in set(shown.arm)]
    fig, ax = canvas(height=1.2 + 0.3 * shown.problem.nunique())
    sns.pointplot(
        shown,
        x="time",
        y="problem",
        hue="arm",
        hue_order=arms,
        palette=[LOOKS[arm][0] for arm in arms],
        markers=[LOOKS[arm][1] for arm in arms],
        linestyle="none",
        markersize=4,
        dodge=0.6,
        err_kws={"lw": 1.2},
        ax=ax,
        **RANGE,
    )
    ax.axvline(1, color="0.4", lw=0.9, ls=":")
    ax.set(xscale="log", xlabel="regret / regret of RLSVI by value_range", ylabel="")
    ax.get_legend().remove()
    legend(ax, fig, loc="outside upper center", ncols=4)
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


DRAW = dict.fromkeys(TUNING, settings) | dict.fromkeys((*FINAL, "noise"), ratios)
