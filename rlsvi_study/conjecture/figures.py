"""The figures of appendix B: two worlds in which RLSVI fools itself, and why."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from ..intervals import student
from ..style import COLOUR, LINE, canvas, digits, ink, label_ends, shades, styled
from .claims import gamble_bound, imagined, looked_at, toll_bound
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
    """Mean regret of all runs at the toll over √T, against H: where the proof looks (left), and
    after as many episodes for each H (right). √T times a constant would be level."""
    fig, (left, right) = canvas(2, height=3.6, sharey=True)
    episodes, ends = TOLL.scales["paper"].constants["episodes"], {}
    for agent, (colour, name) in LOOKS.items():
        own = table[table.agent == agent]
        own = own.assign(late=own.regret / np.sqrt(own.H * episodes))
        sns.lineplot(own, x="H", y="late", **BARS, color=colour, marker="o", ax=right)
        ends[name] = own[own.H == own.H.max()].late.mean(), colour
    given = table[(table.agent == "given") & (table.H >= 6)]
    given = given.assign(share=given.early / np.sqrt(given.H * given.H.map(looked_at)))
    sns.lineplot(given, x="H", y="share", **BARS, color=OWN, marker="o", ax=left)
    H = np.arange(6, 13)
    proved = [toll_bound(int(h)) / np.sqrt(h * looked_at(int(h))) for h in H]
    left.plot(H, proved, color=COLOUR["theory"], ls=LINE["theory"], lw=1.2)
    left.text(H[-1], 1.3 * proved[-1], "proved\nlower bound", ha="right", fontsize=9,
              color=ink(COLOUR["theory"]))
    left.axhline(given[given.H == 6].share.mean(), color=COLOUR["truth"], ls=":", lw=1.2)
    left.text(H[-1], given[given.H == 6].share.mean() / 1.2, "a constant times √T", ha="right",
              va="top", fontsize=9, color=ink(COLOUR["truth"]))
    for ax, title in ((left, "after $4^{H-2}/9$ episodes"),
                      (right, f"after {digits(episodes)} episodes")):
        ax.set(yscale="log", xlabel="horizon H", ylabel="mean regret / √T", title=title)
    label_ends(right, ends)
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
