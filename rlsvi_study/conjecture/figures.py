"""The figures of appendix B: regret over √T on the gambles, at the toll and on the costly road, where a
constant times √T would be level, and a drawing of the toll."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..style import (
    BARS,
    COLOUR,
    LINE,
    agent_shades,
    format_integer,
    label_line_ends,
    subplots,
    with_style,
)
from .costly_road import mean_errors
from .gambles import fitted_exponent
from .toll import proof_episodes, regret_lower_bound

PALE, OWN, DARK = agent_shades("rlsvi", 3)
LOOKS = {
    "given": (OWN, "as printed"),
    "truncated": (DARK, "Ṽ truncated"),
    "one-hot": (PALE, "one-hot\nfeatures"),
}  # all are RLSVI
OVER = "mean regret / √T"


def _measured(ax: Axes, table: pd.DataFrame, H: int, colour: object) -> float:
    """One line; its height at the end."""
    own = table[table.episode >= 100]
    own = own.assign(over=own.regret / np.sqrt(H * own.episode))
    sns.lineplot(own, x="episode", y="over", **BARS, color=colour, marker="o", ax=ax)
    return float(own[own.episode == own.episode.max()].over.mean())


@with_style
def gambles(*tables: pd.DataFrame) -> Figure:
    """Mean regret on the gambles over √T along the run, by the number of periods; for the gamble also
    with the agent's σ doubled."""
    fig, ax = subplots(height=4.4)
    table = pd.concat(tables).fillna({"H": 1, "factor": 1})
    table = table.assign(H=table.get("H", 1), factor=table.get("factor", 1))
    ends = {}
    for (factor, H), own in table.groupby(["factor", "H"]):
        colour = {1: PALE, 4: OWN}.get(H, DARK) if factor == 1 else "0.45"
        name = "gamble" if H == 1 else f"long, H = {H:.0f}"
        said = (
            f"{name}:\npower {fitted_exponent(own).mean:.2f}"
            if factor == 1
            else "gamble, 2σ:\nbounded"
        )
        ends[said] = _measured(ax, own, int(H), colour), colour
    ax.set(xscale="log", yscale="log", xlabel="episodes L", ylabel=OVER)
    label_line_ends(ax, ends)
    return fig


@with_style
def toll(table: pd.DataFrame) -> Figure:
    """Mean regret of all runs at the toll over √T, against H, after as many episodes as the proof
    looks at: as printed, with truncated values, with one-hot features; and the proved bound."""
    fig, ax = subplots(height=3.6)
    ends, H = {}, sorted(table.H.unique())
    over = table.assign(over=table.regret / np.sqrt(table.H * table.H.map(proof_episodes)))
    for agent, (colour, name) in LOOKS.items():
        own = over[over.agent == agent]
        sns.lineplot(own, x="H", y="over", **BARS, color=colour, marker="o", ax=ax)
        ends[name] = own[own.H == own.H.max()].over.mean(), colour
    proved = [
        regret_lower_bound(proof_episodes(int(h))) / np.sqrt(h * proof_episodes(int(h))) for h in H
    ]
    ax.plot(H, proved, color=COLOUR["theory"], ls=LINE["theory"], lw=1.1)
    ends["proved"] = proved[-1], COLOUR["theory"]
    ax.set(
        yscale="log",
        xlabel="horizon H (in brackets: episodes L)",
        ylabel=OVER,
        xticks=H,
        xticklabels=[f"{h}\n({format_integer(proof_episodes(int(h)))})" for h in H],
    )
    label_line_ends(ax, ends)
    return fig


@with_style
def costly_road(regret: pd.DataFrame, error: pd.DataFrame) -> Figure:
    """The costly road by H: mean regret over √T, and the largest error of a sampled value, which is drawn
    for random linear MDPs, too."""
    fig, (above, below) = subplots(1, 2, height=6.6)
    agents = {
        "printed": (OWN, "as printed"),
        "truncated": (DARK, "truncated\nto [−H, 0]"),
        "bootstrap": (COLOUR["weights"], "bootstrap"),
    }
    worlds = {
        "costly road": (OWN, "costly road"),
        "random coordinates": (PALE, "random linear\nMDPs"),
        "simplex": (PALE, ""),
    }
    over = regret.assign(over=regret.regret / np.sqrt(regret.H * regret.episodes))
    ends = {}
    for agent, (colour, name) in agents.items():
        own = over[over.agent == agent]
        sns.lineplot(own, x="H", y="over", **BARS, color=colour, marker="o", ax=above)
        ends[name] = own[own.H == own.H.max()].over.mean(), colour
    at = regret.groupby("H").episodes.first()
    above.set(xlabel="horizon H (in brackets: episodes L)", ylabel=OVER, yscale="log")
    above.set_xticks(at.index, [f"{H}\n({format_integer(L)})" for H, L in at.items()])
    label_line_ends(above, ends)
    ends = {}
    for world, (colour, name) in worlds.items():
        means = mean_errors(error, world)
        below.plot(list(means), list(means.values()), color=colour, marker="o")
        if name:
            ends[name] = means[max(means)], colour
    below.set(xlabel="horizon H", ylabel="largest error", yscale="log", xticks=list(means))
    label_line_ends(below, ends)
    return fig


Place = tuple[float, float]


def _diagram(
    height: float, nodes: dict[str, Place], arrows: list[tuple[str, str, float, str, Place, object]]
) -> Figure:
    """States and what leads from one to another: (from, to, bend, words, where they stand, colour).
    A phone shows half the size, so letters are large."""
    fig, ax = subplots(height=height)
    for start, end, bend, words, (x, y), colour in arrows:
        style = {"arrowstyle": "-|>", "lw": 2, "color": colour, "shrinkA": 26, "shrinkB": 36}
        style |= {"connectionstyle": f"arc3,rad={bend}", "mutation_scale": 22}
        ax.annotate("", nodes[end], nodes[start], arrowprops=style)
        ax.text(x, y, words, size=17, ha="center", va="center", color=colour)
    for name, (x, y) in nodes.items():
        box = {"boxstyle": "round,pad=0.4", "fc": "white", "ec": COLOUR["truth"], "lw": 1.5}
        ax.text(x, y, name, size=17, ha="center", va="center", bbox=box)
    ax.set(xlim=(0, 10), ylim=(0, height * 10 / 7))
    ax.axis("off")
    return fig


@with_style
def toll_drawing() -> Figure:
    """The toll: a gate at which a leap loses, a road that is rarely seen, and the weight that both
    share."""
    nodes = {"gate": (1.0, 4.4), "dead": (8.8, 4.4), "side": (1.0, 1.2), "alive": (4.6, 1.2)}
    nodes["end"] = (8.8, 1.2)
    fig = _diagram(
        4.0,
        nodes,
        [
            ("gate", "dead", -0.2, "quit: φ = 0, pays 0", (4.9, 5.5), COLOUR["truth"]),
            ("gate", "dead", 0.2, "leap: φ = 16, costs 1", (4.9, 3.35), COLOUR["fails"]),
            ("side", "alive", 0.0, "φ = 1", (2.75, 1.6), COLOUR["truth"]),
            ("alive", "end", -0.25, "walk: φ = 1", (6.9, 2.2), COLOUR["truth"]),
            ("alive", "end", 0.25, "leap: φ = 16", (6.9, 0.25), OWN),
        ],
    )
    ax = fig.axes[0]
    ax.text(6.65, 1.2, "H − 1 times", size=17, ha="center", va="center")
    ax.plot([1.0, 1.0], [1.8, 2.3], [1.0, 1.0], [3.3, 3.8], color=OWN, lw=2, ls=":")
    ax.text(1.0, 2.8, "one weight, θ₀", size=17, ha="center", va="center", color=OWN)
    return fig


DRAW = {
    "gamble": gambles,
    "long-gamble": gambles,
    "toll": toll,
    "road": costly_road,
}
