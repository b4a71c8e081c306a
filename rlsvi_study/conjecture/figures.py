"""The figures of appendix B: regret over √T, which a constant times √T would make level, in the
worlds in which RLSVI fools itself; and why."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..intervals import student
from ..style import COLOUR, LINE, canvas, digits, ink, label_ends, shades, styled
from .claims import gamble_bound, imagined, looked_at, slopes, toll_bound

BARS = {"errorbar": student, "err_style": "bars", "err_kws": {"capsize": 2}}
PALE, OWN, DARK = shades("rlsvi", 3)
LOOKS = {"given": (OWN, "given\nfeature"), "truncated": (DARK, "given, Ṽ\ntruncated"),
         "one-hot": (PALE, "one-hot\nfeatures")}  # all are RLSVI
OVER = "mean regret / √T"


def _measured(ax: Axes, table: pd.DataFrame, H: int, colour: object) -> float:
    """One line; its height at the end."""
    own = table[table.episode >= 100]
    own = own.assign(over=own.regret / np.sqrt(H * own.episode))
    sns.lineplot(own, x="episode", y="over", **BARS, color=colour, marker="o", ax=ax)
    return float(own[own.episode == own.episode.max()].over.mean())


def _proved(ax: Axes, H: int, most: int, colour: object) -> float:
    """The lower bound, thin and dashed; its height at the end."""
    L = np.geomspace(100, most, 60).astype(int)
    bound = [gamble_bound(int(n), H) / np.sqrt(H * n) for n in L]
    ax.plot(L, bound, color=colour, ls=LINE["theory"], lw=1.1)
    return bound[-1]


@styled
def gamble(table: pd.DataFrame) -> Figure:
    """Mean regret on the gamble over √T along the run, with the agent's σ that of a reward and
    doubled, and what is proved."""
    fig, ax = canvas(height=3.4)
    own = table[table.factor == 1]
    ends = {f"measured:\npower {slopes(own).mean:.2f}": (_measured(ax, own, 1, OWN), OWN),
            "proved": (_proved(ax, 1, own.episode.max(), COLOUR["theory"]), COLOUR["theory"]),
            "with 2σ:\nbounded": (_measured(ax, table[table.factor == 2], 1, PALE), PALE)}
    ax.set(xscale="log", yscale="log", xlabel="episodes L", ylabel=OVER)
    label_ends(ax, ends)
    return fig


@styled
def long_gamble(table: pd.DataFrame) -> Figure:
    """Mean regret on the long gamble over √T along the run, by H, and what is proved."""
    fig, ax = canvas(height=3.4)
    ends = {}
    for (H, own), colour in zip(table.groupby("H"), (OWN, DARK), strict=False):
        name = f"H = {H}: power\n{slopes(own).mean:.2f}"
        ends[name] = _measured(ax, own, H, colour), colour
        ends[f"proved, {H}"] = _proved(ax, H, own.episode.max(), colour), colour
    ax.set(xscale="log", yscale="log", xlabel="episodes L", ylabel=OVER)
    label_ends(ax, ends)
    return fig


@styled
def toll(table: pd.DataFrame) -> Figure:
    """Mean regret of all runs at the toll over √T, against H, after as many episodes as the proof
    looks at: as printed, with truncated values, with one-hot features; and what is proved."""
    fig, ax = canvas(height=3.6)
    ends, H = {}, sorted(table.H.unique())
    over = table.assign(over=table.regret / np.sqrt(table.H * table.H.map(looked_at)))
    for agent, (colour, name) in LOOKS.items():
        own = over[over.agent == agent]
        sns.lineplot(own, x="H", y="over", **BARS, color=colour, marker="o", ax=ax)
        ends[name] = own[own.H == own.H.max()].over.mean(), colour
    proved = [toll_bound(int(h)) / np.sqrt(h * looked_at(int(h))) for h in H]
    ax.plot(H, proved, color=COLOUR["theory"], ls=LINE["theory"], lw=1.1)
    ends["proved, as\nprinted"] = proved[-1], COLOUR["theory"]
    ax.set(yscale="log", xlabel="horizon H (in brackets: episodes L)", ylabel=OVER,
           xticks=H, xticklabels=[f"{h}\n({digits(looked_at(int(h)))})" for h in H])
    label_ends(ax, ends)
    return fig


@styled
def amplification(H: int = 10, draws: int = 20_000) -> Figure:
    """What RLSVI imagines being alive is worth, X_h, after one start at the side where every other
    period walked: quartiles and the middle 90% of the draws, as it is and truncated."""
    fig, axes = canvas(2, height=3.4, sharey=True)
    walked, h = np.arange(1, H) % 2 == (H - 1) % 2, np.arange(1, H)
    for ax, (most, title, colour) in zip(axes, (
            (np.inf, "as printed", OWN), (1.0, "truncated to ±(H − h)", DARK)), strict=True):
        X = imagined(H, draws, most=most, walked=walked)
        levels = np.quantile(X, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
        for low, high, alpha in ((0, 4, 0.2), (1, 3, 0.35)):
            ax.fill_between(h, levels[low], levels[high], color=colour, alpha=alpha, lw=0)
        ax.plot(h, levels[2], color=colour, marker="o", label="median")
        ax.plot(h, X.mean(axis=0), color=COLOUR["truth"], lw=1, ls="--", label="mean")
        ax.axhline(0, color="black", lw=0.8)
        ax.set(yscale="symlog", xlabel="period h", ylabel="imagined value $X_h$", title=title)
        ax.invert_xaxis()  # value iteration runs backwards
        ax.legend(loc="upper left")
    axes[0].text(0.97, 0.04, "the truth is 0", transform=axes[0].transAxes, ha="right",
                 fontsize=9, color=ink(COLOUR["truth"]))
    return fig


DRAW = {"gamble": gamble, "long-gamble": long_gamble, "toll": toll}
