"""The figures of the recommendation engine: chapters 6d and E."""

from collections.abc import Collection
from functools import partial

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..judging.intervals import student_ends
from ..judging.outcomes import last_rows
from ..style import (
    COLOUR,
    NAME,
    agent_shades,
    label_line_ends,
    readable_colour,
    subplots,
    with_style,
)
from .experiments import ARMS, BOLTZMANN, MYOPIC, PAPER_ETAS, regret_curves, regret_rates

TOTAL, RATE = "cumulative regret (likes)", "regret per customer (likes)"
ETAS = [BOLTZMANN[eta] for eta in PAPER_ETAS]
SHADES = {
    **COLOUR,
    "linear": "#AA4499",
    "bernoulli": "#999933",
    **dict(zip(ETAS, agent_shades("boltzmann", len(ETAS)), strict=True)),
}
RIVALS = {  # what each is called, and its colour: pale where dislikes count −1
    "rlsvi": ("RLSVI", COLOUR["rlsvi"]),
    "rlsvi, rewards ±1": ("RLSVI, ±1", COLOUR["rlsvi-small"]),
    "epsilon 0.1": ("ε-greedy", COLOUR["epsilon-greedy"]),
    "epsilon 0.1, rewards ±1": ("ε-greedy, ±1", "#EB9263"),
    "boltzmann 0.3, rewards ±1": ("Boltzmann, ±1", COLOUR["boltzmann"]),
}
CALLED = {
    **NAME,
    "linear": "linear bandit",
    "bernoulli": "Bernoulli bandit",
    **{arm: f"η = {eta:g}" if eta > 0.01 else "η ≤ 0.01" for eta, arm in BOLTZMANN.items()},
    **{arm: name for arm, (name, _) in RIVALS.items()},
}
SHADES |= {arm: colour for arm, (_, colour) in RIVALS.items()}
HEADS = {
    "rlsvi": "RLSVI",
    "linear": "linear bandit",
    "epsilon-greedy": "LSVI, ε-greedy",
    "boltzmann": "LSVI, Boltzmann",
}
ASKED = (  # of all arms, those that appendix E names
    "rlsvi",
    "rlsvi, rewards ±1",
    "rlsvi, λ = 0.0002",
    "rlsvi, λ = 2",
    "rlsvi, σ² = 1e-05",
    "rlsvi, σ² = 0.01",
    "rlsvi, σ² = 0.1",
    "rlsvi, target over all",
    "rlsvi, shared weights",
    "linear",
    "linear, printed mean",
    "boltzmann 0.1",
    "epsilon 0.1",
    "epsilon 0.1, rewards ±1",
    "epsilon 0.1, ridge λσ²",
    "boltzmann 0.3",
    "boltzmann 0.3, rewards ±1",
    "boltzmann 0.3, ridge λσ²",
)
STANDING = {"uniform": ("random", "0.1"), "best": ("best", "0.35")}  # first product; a grey


def _bands(ax: Axes, label: str, curve: dict[str, pd.DataFrame]) -> None:
    """Each arm's mean over instances and its 95% interval."""
    long = pd.concat(curve, names=["arm"]).melt(ignore_index=False).reset_index()
    sns.lineplot(
        long,
        x="episode",
        y="value",
        hue="arm",
        palette=SHADES,
        errorbar=student_ends,
        legend=False,
        ax=ax,
    )
    ax.set(xlabel="customer", ylabel=label)


@with_style
def fig8(table: pd.DataFrame, arms: Collection[str] = ("rlsvi", *ETAS)) -> Figure:
    """The paper's Figure 8: cumulative regret of RLSVI and of agents that dither."""
    fig, ax = subplots(height=4.4)
    curve = {arm: regret_curves(table, arm) for arm in arms}
    _bands(ax, TOTAL, curve)
    ax.set_ylim(0)
    label_line_ends(
        ax, {CALLED[arm]: (own.iloc[-1].mean(), SHADES[arm]) for arm, own in curve.items()}
    )
    return fig


@with_style
def fig9(table: pd.DataFrame) -> Figure:
    """The paper's Figure 9: RLSVI, the bandits, and policies that know the model but do not plan.
    Above, cumulative regret; below, regret per customer."""
    fig, axes = subplots(1, 2, height=7.6, sharex=True)
    arms = "rlsvi", "linear", "bernoulli"
    for ax, label, curve, most in zip(
        axes, (TOTAL, RATE), (regret_curves, regret_rates), (750, 2), strict=True
    ):
        shown = {arm: curve(table, arm) for arm in arms}
        _bands(ax, label, shown)
        ends = {CALLED[arm]: (own.iloc[-1].mean(), SHADES[arm]) for arm, own in shown.items()}
        for ties, (opens, grey) in STANDING.items():
            mean = curve(table, MYOPIC[ties]).mean(axis=1)
            ax.plot(mean, color=grey, ls="--", lw=1.3)
            ends[f"myopic, {opens}\nfirst product"] = mean.iloc[-1], grey
        ax.set_ylim(0, most)
        label_line_ends(ax, {name: end for name, end in ends.items() if end[0] < most})
    axes[0].set_xlabel("customer")
    return fig


def _setting(arm: str) -> str:
    """What is set, or differs from the paper, without the agent."""
    for agent, said in {
        "boltzmann ": "η = ",
        "epsilon ": "ε = ",
        "rlsvi, ": "",
        "linear, ": "",
        "1e-05": "10⁻⁵",
        "0.0001": "10⁻⁴",
    }.items():
        arm = arm.replace(agent, said)
    return "as in the paper" if arm in ("rlsvi", "linear") else arm


@with_style
def readings(table: pd.DataFrame) -> Figure:
    """Total regret of the arms that answer a question, with 95% intervals over instances; by agent,
    the least first."""
    last = last_rows(table[table.arm.isin(ASKED)])
    last = last.assign(agent=[ARMS[arm]["agent"] for arm in last.arm])
    mean = last.groupby(["agent", "arm"]).regret.mean().sort_values()
    order = [line for agent in HEADS for line in (agent + ":", *mean[agent].index)]
    fig, ax = subplots(height=7.8)
    ax.axvline(last[last.arm == "rlsvi"].regret.mean(), color=COLOUR["rlsvi"], lw=1)
    sns.pointplot(
        last,
        x="regret",
        y="arm",
        hue="agent",
        palette=SHADES,
        errorbar=student_ends,
        order=order,
        hue_order=list(HEADS),
        linestyle="none",
        markersize=5,
        err_kws={"lw": 2},
        legend=False,
        ax=ax,
    )
    ax.set_yticks(range(len(order)), [HEADS.get(line[:-1]) or _setting(line) for line in order])
    for line, label in zip(order, ax.get_yticklabels(), strict=True):
        if line.endswith(":"):
            label.set(weight="bold", color=readable_colour(SHADES[line[:-1]]))
    ax.set(ylabel="", xlabel="total regret (likes)", xlim=(0, None))
    return fig


DRAW = {
    "fig8": fig8,
    "fig9": fig9,
    "recommender": fig9,
    "recommender-readings": readings,
    "recommender-rivals": partial(fig8, arms=RIVALS),
}
