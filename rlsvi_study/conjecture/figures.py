"""The figures of appendix B: two worlds in which RLSVI fools itself, and why."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from ..intervals import median_interval, student
from ..style import COLOUR, LINE, RANGE, canvas, digits, label_ends, shades, styled, three
from .claims import gamble_bound, imagined
from .runs import TOLL

BARS = {"errorbar": student, "err_style": "bars", "err_kws": {"capsize": 2}}
PALE, OWN, DARK = shades("rlsvi", 3)
LOOKS = {"given": (OWN, "given\nfeature"), "one-hot": (PALE, "one-hot\nfeatures"),
         "truncated": (DARK, "given, Ṽ\ntruncated")}  # all are RLSVI


@styled
def gamble(table: pd.DataFrame) -> Figure:
    """Mean regret on the gamble along the run, with the agent's σ that of a reward and doubled."""
    fig, ax = canvas(height=3.6)
    L = np.geomspace(100, table.episode.max(), 50).astype(int)
    bound = [gamble_bound(int(n)) for n in L]
    ends = {"square root\nof T": (np.sqrt(L[-1]), COLOUR["truth"]),
            "proved\nlower bound": (bound[-1], COLOUR["theory"])}
    for factor, colour, name in ((1.0, OWN, "RLSVI, σ\nof a reward"), (2.0, PALE, "RLSVI, 2σ")):
        own = table[table.factor == factor]
        sns.lineplot(own, x="episode", y="regret", **BARS, color=colour, marker="o", ax=ax)
        ends[name] = own[own.episode == own.episode.max()].regret.mean(), colour
    ax.plot(L, np.sqrt(L), color=COLOUR["truth"], ls=":", lw=1.2)
    ax.plot(L, bound, color=COLOUR["theory"], ls=LINE["theory"], lw=1.2)
    ax.set(xscale="log", yscale="log", xlabel="episodes L", ylabel="mean regret")
    label_ends(ax, ends)
    return fig


@styled
def toll(table: pd.DataFrame) -> Figure:
    """Regret at the toll against H: medians of the runs that walked at first (left), means of all
    (right)."""
    fig, axes = canvas(2, height=3.6, sharey=True)
    walked, ends = table[table.walked], {}
    for agent, (colour, name) in LOOKS.items():
        style = {"color": colour, "marker": "o"}
        cells = pd.DataFrame({H: median_interval(cell.regret)._asdict() for H, cell in walked[
            walked.agent == agent].groupby("H")}).T.rename_axis("H")
        sns.lineplot(three(cells), x="H", y="time", **RANGE, err_style="bars",
                     err_kws={"capsize": 2}, ax=axes[0], **style)
        own = table[table.agent == agent]
        sns.lineplot(own, x="H", y="regret", **BARS, ax=axes[1], **style)
        ends[name] = own[own.H == own.H.max()].regret.mean(), colour
    H = np.arange(5, 13)
    axes[0].plot(H, 4 * 2.0**H, color="0.4", ls=":")
    axes[0].text(6, 4 * 2.0**6 * 1.3, "slope of $2^H$", ha="right", color="0.4", fontsize=9)
    episodes = TOLL.scales["paper"].constants["episodes"]
    for ax, title in zip(axes, ("runs that walked at first", "all runs"), strict=True):
        ax.set(yscale="log", xlabel="horizon H", ylabel=f"regret of {digits(episodes)} episodes",
               title=title)
    label_ends(axes[1], ends)
    return fig


@styled
def amplification(H: int = 10, draws: int = 20_000) -> Figure:
    """What RLSVI imagines being alive is worth, X_h, after one walk: quartiles and the middle 90%
    of the draws, as it is and truncated. The truth is 0."""
    fig, axes = canvas(2, height=3.4, sharey=True)
    for ax, (most, title, colour) in zip(axes, (
            (np.inf, "as it is", OWN), (1.0, "truncated to ±(H − h)", DARK)), strict=True):
        X, h = imagined(H, draws, most=most), np.arange(1, H)
        levels = np.quantile(X, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
        for low, high, alpha in ((0, 4, 0.2), (1, 3, 0.35)):
            ax.fill_between(h, levels[low], levels[high], color=colour, alpha=alpha, lw=0)
        ax.plot(h, levels[2], color=colour, marker="o", label="median")
        ax.plot(h, X.mean(axis=0), color=COLOUR["truth"], lw=1, ls="--", label="mean")
        if most == np.inf:
            ax.plot(h, 1.97 * 4.0 ** (H - 1 - h), color="0.5", lw=1, ls=":",
                    label=r"$1.97 \cdot 4^{H-1-h}$")
        ax.axhline(0, color="black", lw=0.8)
        ax.set(yscale="symlog", xlabel="period h", ylabel="imagined value $X_h$", title=title)
        ax.invert_xaxis()  # value iteration runs backwards
        ax.legend(loc="upper left")
    return fig


DRAW = {"gamble": gamble, "toll": toll}
