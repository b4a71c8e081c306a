"""How much noise: regret of the bootstrap beside that of RLSVI by ``value_range``, and of tuned rivals."""

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from ..intervals import ratio, word
from ..style import COLOUR, RANGE, WORD_COLOUR, canvas, legend, styled, three
from . import FINAL, TUNING
from .conditions import DEVIATION, against
from .parts import DEFAULT, UNTUNED
from .runs import final, regrets


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
    sns.pointplot(
        three(cells.sort_values("mean"), "mean"),
        x="time",
        y="problem",
        hue="word",
        palette=WORD_COLOUR,
        hue_order=[said for said in WORD_COLOUR if said in cells.index.unique("word")],
        linestyle="none",
        markersize=5,
        dodge=False,
        err_kws={"lw": 1.5},
        ax=ax,
        **RANGE,
    )
    ax.axvline(1, color="0.4", lw=0.9, ls=":")
    ax.set(xscale="log", xlabel="regret of the bootstrap / regret of RLSVI", ylabel="")
    ax.get_legend().remove()
    legend(ax, fig, loc="outside upper center", ncols=4)
    return fig


@styled
def bandits(table: pd.DataFrame) -> Figure:
    """How many times the regret of RLSVI by ``value_range`` the others have on each bandit."""
    fig, ax = canvas(height=3.4)
    cells = against(table).rename(index={DEFAULT: "bootstrap"}, level="arm")
    sns.pointplot(
        three(cells, "mean"),
        x="time",
        y="problem",
        hue="arm",
        palette={DEVIATION: COLOUR["rlsvi"], "bootstrap": COLOUR["weights"]},
        markers=["o", "^"],
        linestyle="none",
        markersize=5,
        dodge=0.3,
        err_kws={"lw": 1.5},
        ax=ax,
        **RANGE,
    )
    ax.axvline(1, color="0.4", lw=0.9, ls=":")
    ax.set(xscale="log", xlabel="regret / regret with σ = V/50", ylabel="")
    ax.get_legend().remove()
    legend(ax, fig, loc="outside upper center", ncols=2)
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
    **dict.fromkeys((*FINAL, "noise", "noise-steps"), ratios),
    "noise-bandits": bandits,
}
