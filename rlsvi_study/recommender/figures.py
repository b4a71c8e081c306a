"""The figures of the recommendation engine: chapters 6d and E."""

from collections.abc import Collection
from functools import partial

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..intervals import student
from ..style import COLOUR, MARK, NAME, canvas, styled
from .runs import ARMS, BOLTZMANN, MYOPIC, PAPER_ETAS, curves, rates

TOTAL, RATE = "cumulative regret (likes)", "regret of a customer (likes)"
ETAS = [BOLTZMANN[eta] for eta in PAPER_ETAS]
SHADES = {**COLOUR, "linear": "#AA4499", "bernoulli": "#999933",
          **dict(zip(ETAS, sns.color_palette("YlOrBr", 8)[2:], strict=True))}
RIVALS = {  # what each is called, and its colour: pale where dislikes count −1
    "rlsvi": ("RLSVI", COLOUR["rlsvi"]),
    "rlsvi, rewards ±1": ("RLSVI, rewards ±1", "#88CCEE"),
    "epsilon 0.1": ("ε-greedy, ε = 0.1", COLOUR["epsilon-greedy"]),
    "epsilon 0.1, rewards ±1": ("ε-greedy, rewards ±1", "#DDCC77"),
    "boltzmann 0.3, rewards ±1": ("Boltzmann, η = 0.3, ±1", "#CC6677")}
MARKS = {**MARK, "linear": "D"}
CALLED = {**NAME, "linear": "linear contextual bandit", "bernoulli": "Bernoulli bandit",
          **{arm: f"η = {eta:g}" for eta, arm in BOLTZMANN.items()},
          **{arm: name for arm, (name, _) in RIVALS.items()}}
SHADES |= {arm: colour for arm, (_, colour) in RIVALS.items()}
STANDING = {"uniform": ("any", "0.1", "--"), "best": ("best", "0.35", ":"),  # how a myopic policy
            "worst": ("worst", "0.6", "-.")}  # opens: its first product, grey, dashes


def _bands(ax: Axes, label: str, curve: dict[str, pd.DataFrame]) -> None:
    """Each arm's mean over instances and its 95% interval; the first arm's line is solid."""
    long = pd.concat(curve, names=["arm"]).melt(ignore_index=False).reset_index()
    sns.lineplot(long.replace({"arm": CALLED}), x="episode", y="value", hue="arm", style="arm",
                 palette={CALLED[arm]: SHADES[arm] for arm in curve}, errorbar=student, ax=ax)
    ax.set(xlabel="customer", ylabel=label)


def _with_myopic(ax: Axes, label: str, table: pd.DataFrame, curve, *arms: str) -> None:
    """The same, from 0 on and with the policies that do not learn."""
    _bands(ax, label, {arm: curve(table, arm) for arm in arms})
    for ties, (opens, grey, dashes) in STANDING.items():
        ax.plot(curve(table, MYOPIC[ties]).mean(axis=1), color=grey, ls=dashes, lw=1.3,
                label=f"myopic, {opens} first product")
    ax.set_ylim(0)


@styled
def fig8(table: pd.DataFrame, arms: Collection[str] = ("rlsvi", *ETAS)) -> Figure:
    """Figure 8: RLSVI and Boltzmann exploration; on the right, instance by instance."""
    fig, (total, paired) = canvas(2, width=9.0, height=3.6)
    curve = {arm: curves(table, arm) for arm in arms}
    _bands(total, TOTAL, curve)
    _bands(paired, "regret more than RLSVI's",
           {arm: own - curve["rlsvi"] for arm, own in curve.items()})
    paired.get_legend().remove()
    total.legend()
    return fig


@styled
def fig9(table: pd.DataFrame) -> Figure:
    """Figure 9: RLSVI, the bandits, and policies that know the model but do not plan."""
    fig, (total, rate) = canvas(2, width=9.0, height=3.8)
    _with_myopic(total, TOTAL, table, curves, "rlsvi", "linear", "bernoulli")
    _with_myopic(rate, RATE, table, rates, "rlsvi", "linear", "bernoulli")
    total.set_ylim(0, 1.5 * curves(table, "rlsvi").iloc[-1].mean())
    total.get_legend().remove()
    rate.legend()
    return fig


@styled
def later(table: pd.DataFrame) -> Figure:
    """Figure 9's right panel continued."""
    fig, ax = canvas(height=3.4)
    _with_myopic(ax, RATE, table, rates, "rlsvi", "linear")
    ax.set_ylim(0, 0.7)
    ax.legend(loc="center right", bbox_to_anchor=(1, 0.7))
    return fig


@styled
def readings(table: pd.DataFrame) -> Figure:
    """Total regret of every arm, with 95% intervals over instances."""
    last = table[table.episode == table.episode.max()]
    last = last.assign(agent=[ARMS[arm]["agent"] for arm in last.arm], arm=last.arm.replace({
        "rlsvi": "RLSVI", "linear": "linear bandit", "boltzmann": "Boltzmann η =",
        "epsilon": "ε-greedy ε ="}, regex=True))
    fig, ax = canvas(width=7.5, height=0.24 * last.arm.nunique() + 0.8)
    ax.axvline(last[last.arm == "RLSVI"].regret.mean(), color=COLOUR["rlsvi"], lw=1)
    sns.pointplot(last, x="regret", y="arm", hue="agent", palette=SHADES, errorbar=student,
                  markers=[MARKS[agent] for agent in last.agent.unique()], linestyle="none",
                  markersize=5, err_kws={"lw": 2}, legend=False, ax=ax)
    ax.set(xlim=(0, None), ylabel="", xlabel=f"regret after {last.episode.max()} customers (likes)")
    return fig


@styled
def openings(shares: np.ndarray, every: int, optimal: np.ndarray, myopic: np.ndarray) -> Figure:
    """Which product RLSVI opens with, window by window, and what each opening is worth."""
    fig, (when, worth) = canvas(2, width=9.0, height=3.6, width_ratios=(1.6, 1), sharey=True)
    starts = pd.Index(every * np.arange(len(shares)), name="customer")
    sns.heatmap(pd.DataFrame(shares, starts).T, cmap="Blues", vmin=0, vmax=1, cbar=False,
                xticklabels=len(shares) // 6, ax=when)
    when.set_ylabel("first product shown")
    when.tick_params(rotation=0)
    rows = np.arange(shares.shape[1]) + 0.5
    worth.plot(optimal, rows, "o", color=COLOUR["rlsvi"], label="then optimal: $Q^*_0$")
    worth.plot(myopic, rows, "s", color="0.3", mfc="none", ms=9, label="then myopic")
    worth.set_xlabel("expected likes after this opening")
    worth.legend()
    return fig


@styled
def informative(table: pd.DataFrame) -> Figure:
    """What an opening is worth against how much its answer says about the other products."""
    fig, axes = canvas(2, width=9.0, height=3.2, sharey=True)
    colours = {"other openings": "0.6", "optimal opening": COLOUR["rlsvi"]}
    named = table.assign(opening=np.array([*colours])[table.best.astype(int)]).sort_values("best")
    for ax, column, label in zip(axes, ("says", "hears"), (
            r"what its answer says of others, $\|\gamma_{\cdot a}\|$",
            r"what answers say of it, $\|\gamma_{a \cdot}\|$"), strict=True):
        sns.scatterplot(named, x=column, y="gain", hue="opening", size="opening", palette=colours,
                        sizes=dict(zip(colours, (6, 18), strict=True)), lw=0, ax=ax)
        ax.set(xlabel=label, ylabel="$Q^*_0(a)$ less the average opening")
        ax.legend()
    return fig


DRAW = {"recommender": fig9, "recommender-later": later, "recommender-readings": readings,
        "recommender-rivals": partial(fig8, arms=RIVALS)}
DRAW_FROM = {"fig8": (("recommender",), fig8), "fig9": (("recommender",), fig9)}
