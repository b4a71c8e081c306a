"""The figures of the recommendation engine: chapters 6d and E."""

from collections.abc import Collection
from functools import partial

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..intervals import student
from ..style import COLOUR, NAME, canvas, ink, label_ends, shades, styled
from .runs import ARMS, BOLTZMANN, MYOPIC, PAPER_ETAS, curves, rates

TOTAL, RATE = "cumulative regret (likes)", "regret per customer (likes)"
ETAS = [BOLTZMANN[eta] for eta in PAPER_ETAS]
SHADES = {**COLOUR, "linear": "#AA4499", "bernoulli": "#999933",
          **dict(zip(ETAS, shades("boltzmann", len(ETAS)), strict=True))}
RIVALS = {  # what each is called, and its colour: pale where dislikes count −1
    "rlsvi": ("RLSVI", COLOUR["rlsvi"]),
    "rlsvi, rewards ±1": ("RLSVI, ±1", COLOUR["rlsvi-small"]),
    "epsilon 0.1": ("ε-greedy", COLOUR["epsilon-greedy"]),
    "epsilon 0.1, rewards ±1": ("ε-greedy, ±1", "#EB9263"),
    "boltzmann 0.3, rewards ±1": ("Boltzmann, ±1", COLOUR["boltzmann"])}
CALLED = {**NAME, "linear": "linear bandit", "bernoulli": "Bernoulli bandit",
          **{arm: f"η = {eta:g}" for eta, arm in BOLTZMANN.items()},
          **{arm: name for arm, (name, _) in RIVALS.items()}}
SHADES |= {arm: colour for arm, (_, colour) in RIVALS.items()}
STANDING = {"uniform": ("any", "0.1"), "best": ("best", "0.35"),  # how a myopic policy opens:
            "worst": ("worst", "0.5")}  # its first product, and a grey


def _bands(ax: Axes, label: str, curve: dict[str, pd.DataFrame]) -> None:
    """Each arm's mean over instances and its 95% interval."""
    long = pd.concat(curve, names=["arm"]).melt(ignore_index=False).reset_index()
    sns.lineplot(long, x="episode", y="value", hue="arm", palette=SHADES, errorbar=student,
                 legend=False, ax=ax)
    ax.set(xlabel="customer", ylabel=label)


def _with_myopic(ax: Axes, label: str, table: pd.DataFrame, curve, *arms: str) -> None:
    """The same, from 0 on and with the policies that do not learn."""
    _bands(ax, label, {arm: curve(table, arm) for arm in arms})
    for ties, (_, grey) in STANDING.items():
        ax.plot(curve(table, MYOPIC[ties]).mean(axis=1), color=grey, ls="--", lw=1.3)
    ax.set_ylim(0)


def _ends(table: pd.DataFrame, curve, *arms: str) -> dict[str, tuple[float, str]]:
    """Where the lines end: learners and, in greys, those who know the model but do not plan."""
    looks = {arm: (CALLED[arm], SHADES[arm]) for arm in arms} | {
        MYOPIC[ties]: (f"myopic, {opens}\nfirst product", grey)
        for ties, (opens, grey) in STANDING.items()}
    return {name: (curve(table, arm).iloc[-1].mean(), colour)
            for arm, (name, colour) in looks.items()}


@styled
def fig8(table: pd.DataFrame, arms: Collection[str] = ("rlsvi", *ETAS)) -> Figure:
    """The paper's Figure 8: RLSVI and Boltzmann exploration; on the right, instance by instance."""
    fig, (total, paired) = canvas(2)
    curve = {arm: curves(table, arm) for arm in arms}
    more = {arm: own - curve["rlsvi"] for arm, own in curve.items()}
    _bands(total, TOTAL, curve)
    _bands(paired, "regret more than RLSVI's", more)
    label_ends(paired, {CALLED[arm]: (own.iloc[-1].mean(), SHADES[arm])
                       for arm, own in more.items()})
    return fig


@styled
def fig9(table: pd.DataFrame) -> Figure:
    """The paper's Figure 9: RLSVI, the bandits, and those who know the model but do not plan."""
    fig, (total, rate) = canvas(2, height=3.6)
    arms = "rlsvi", "linear", "bernoulli"
    _with_myopic(total, TOTAL, table, curves, *arms)
    _with_myopic(rate, RATE, table, rates, *arms)
    total.set_ylim(0, 1.5 * curves(table, "rlsvi").iloc[-1].mean())
    label_ends(rate, _ends(table, rates, *arms))
    return fig


@styled
def later(table: pd.DataFrame) -> Figure:
    """The right panel of the paper's Figure 9 continued."""
    fig, ax = canvas(height=3.4)
    _with_myopic(ax, RATE, table, rates, "rlsvi", "linear")
    ax.set_ylim(0, 0.7)
    label_ends(ax, _ends(table, rates, "rlsvi", "linear"))
    return fig


def _setting(arm: str) -> str:
    """What is set, or differs from the paper, without the agent."""
    for agent, said in {"boltzmann ": "η = ", "epsilon ": "ε = ", "rlsvi, ": "", "linear, ": "",
                        "1e-05": "10⁻⁵", "0.0001": "10⁻⁴"}.items():
        arm = arm.replace(agent, said)
    return "as in the paper" if arm in ("rlsvi", "linear") else arm


@styled
def readings(table: pd.DataFrame) -> Figure:
    """Total regret of every arm with 95% intervals over instances, by agent and the least first."""
    last = table[table.episode == table.episode.max()]
    last = last.assign(agent=[ARMS[arm]["agent"] for arm in last.arm])
    mean, heads = last.groupby(["agent", "arm"]).regret.mean().sort_values(), {
        "rlsvi": "RLSVI", "linear": "linear bandit", "epsilon-greedy": "LSVI, ε-greedy",
        "boltzmann": "LSVI, Boltzmann"}
    columns = ("rlsvi", "linear"), ("epsilon-greedy", "boltzmann")
    fig, axes = canvas(2, height=5.6, sharex=True)
    for ax, agents in zip(axes, columns, strict=True):
        order = [line for agent in agents for line in (agent + ":", *mean[agent].index)]
        ax.axvline(last[last.arm == "rlsvi"].regret.mean(), color=COLOUR["rlsvi"], lw=1)
        sns.pointplot(last, x="regret", y="arm", hue="agent", palette=SHADES, errorbar=student,
                      order=order, hue_order=agents, linestyle="none", markersize=4,
                      err_kws={"lw": 2}, legend=False, ax=ax)
        ax.set_yticks(range(len(order)), [heads.get(line[:-1]) or _setting(line) for line in order])
        for line, label in zip(order, ax.get_yticklabels(), strict=True):
            if line.endswith(":"):
                label.set(weight="bold", color=ink(SHADES[line[:-1]]))
        ax.set(ylabel="", xlabel="total regret (likes)")
    axes[0].set_xlim(0)
    return fig


@styled
def openings(shares: np.ndarray, every: int, optimal: np.ndarray, myopic: np.ndarray) -> Figure:
    """Which product RLSVI opens with, window by window, and what each opening is worth."""
    fig, (when, worth) = canvas(2, height=3.4, width_ratios=(1.8, 1), sharey=True)
    starts = pd.Index(every * np.arange(len(shares)), name="customer")
    sns.heatmap(pd.DataFrame(shares, starts).T, cmap="Blues", vmin=0, vmax=1,
                xticklabels=len(shares) // 6, ax=when, cbar_kws={
                    "label": "share of the window", "location": "top", "shrink": 0.6})
    when.set_ylabel("first product shown")
    when.tick_params(rotation=0)
    rows = np.arange(shares.shape[1]) + 0.5
    worth.plot(optimal, rows, "o", color=COLOUR["truth"], label="then optimal: $Q^*_0$")
    worth.plot(myopic, rows, "s", color="0.3", mfc="none", ms=9, label="then myopic")
    worth.set_xlabel("expected likes\nafter this opening")
    worth.legend(loc="lower center", bbox_to_anchor=(0.5, 1))
    return fig


@styled
def informative(table: pd.DataFrame) -> Figure:
    """What an opening is worth against how much its answer says about the other products."""
    fig, axes = canvas(2, sharey=True)
    colours = {"other openings": "0.6", "optimal opening": COLOUR["truth"]}
    named = table.assign(opening=np.array([*colours])[table.best.astype(int)]).sort_values("best")
    for ax, column, label in zip(axes, ("says", "hears"), (
            r"what its answer says of others, $\|\gamma_{\cdot a}\|$",
            r"what answers say of it, $\|\gamma_{a \cdot}\|$"), strict=True):
        sns.scatterplot(named, x=column, y="gain", hue="opening", size="opening", palette=colours,
                        sizes=dict(zip(colours, (6, 18), strict=True)), lw=0, ax=ax)
        ax.set(xlabel=label, ylabel="$Q^*_0(a)$ less the average opening")
        ax.get_legend().remove()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


DRAW = {"recommender": fig9, "recommender-later": later, "recommender-readings": readings,
        "recommender-rivals": partial(fig8, arms=RIVALS)}
DRAW_FROM = {"fig8": (("recommender",), fig8), "fig9": (("recommender",), fig9)}
