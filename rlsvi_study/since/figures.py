"""Since 2016: which work answers which question, a slope for each piece of advice, and regret over
episodes."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..judging.intervals import student
from ..style import COLOUR, WORD_COLOUR, canvas, panels, styled
from .design import ADVICE, PROBLEM, Arm, at_best, compare, final

WORKS = {  # questions of the paper, and who answered them when
    "Is Theorem 1 right, and is it best?": (
        (2016, "this paper:\nTheorem 1"),
        (2018, "Jin et al.: lower\nbound for all"),
        (2019, "Osband et al.:\njournal version"),
        (2024, "Zhang et al.: best\nrate at once"),
    ),
    "What holds in the worst case?": (
        (2019, "Russo:\nmore noise"),
        (2021, "Agrawal et al.:\nclipped values"),
        (2022, "Xiong et al.: one seed;\nTiapkin et al.: bootstrap"),
    ),
    "And with linear features?": (
        (2020, "Zanette et al.;\nJin et al.: LSVI-UCB"),
        (2023, "He et al., Agarwal et al.:\nbest rate, by a bonus"),
    ),
    "Does it work in deep networks?": (
        (2016, "bootstrapped\nDQN"),
        (2018, "random\npriors"),
        (2020, "bsuite"),
        (2023, "epinets"),
        (2024, "Langevin,\nHyperAgent"),
    ),
    "Is a linear Q* enough?": (
        (2016, "this paper:\nConjecture 1"),
        (2020, "Du et al.:\nnot if nearly"),
        (2021, "Weisz et al.,\nWang et al.: no"),
        (2024, "Wu et al., Golowich\nand Moitra: if closed"),
    ),
}


@styled
def timeline() -> Figure:
    """Each work at its year, in the row of the question that it answers."""
    fig, ax = canvas(height=8.2)
    for row, (question, works) in enumerate(WORKS.items()):
        ax.text(2014.8, row - 0.52, question, weight="bold", va="center")
        ax.plot([year for year, _ in works], [row] * len(works), "-o", color=COLOUR["theory"])
        for i, (year, words) in enumerate(works):
            ax.annotate(
                words,
                (year, row),
                (0, 6 if i % 2 else -6),
                textcoords="offset points",
                ha="center",
                va="bottom" if i % 2 else "top",
            )
    ax.set(
        yticks=[],
        xticks=range(2016, 2025, 2),
        xlim=(2014.8, 2025.6),
        ylim=(len(WORKS) - 0.45, -0.65),
        xlabel="year of publication",
    )
    ax.spines["left"].set_visible(False)
    return fig


# --------------------------------------------------------------------------- slopes

DRAWN = {  # pieces of advice of each table, in the order of the chapter
    "since-tabular": (
        "small constants",
        "rewards at most 0",
        "one seed",
        "one seed, rewards at most 0",
        "a small ridge",
        "noise, not a bonus",
    ),
    "since-linear": (
        "a small ridge, linear",
        "truncated values",
        "noise, not a bonus, linear",
        "large noise",
    ),
}

BETWEEN = {"large noise": ("\n\nbootstrap", {"agent": "bootstrap", "factor": 0.1})}  # a third arm


def apart(heights: np.ndarray, gap: float, top: float) -> np.ndarray:
    """Heights of labels, moved up where they are closer than the gap, and down from the top."""
    moved, order = heights.copy(), heights.argsort()
    for below, above in pairwise(order):
        moved[above] = max(moved[above], moved[below] + gap)
    moved[order[-1]] = min(moved[order[-1]], top)
    for above, below in pairwise(order[::-1]):
        moved[below] = min(moved[below], moved[above] - gap)
    return moved


def slope(ax: Axes, table: pd.DataFrame, piece: str) -> None:
    """Mean regret at the end without and with a piece of advice, a line for each problem."""
    advice = ADVICE[piece]
    found, ticks = compare(table, advice), list(advice.arms)
    heights = [found["without"], found["with"]]
    if piece in BETWEEN:
        middle, arm = BETWEEN[piece]
        means = final(at_best(table, arm)).groupby(PROBLEM).regret.mean()
        heights.insert(1, means.reindex(found.index))
        ticks.insert(1, middle)
    for problem, word in found.word.items():
        ax.plot(
            np.linspace(0, 1, len(ticks)),
            [height[problem] for height in heights],
            marker="o",
            color=WORD_COLOUR[word],
            linestyle=":" if word == "open" else "-",
        )
    below = "noise, small to large" if piece in BETWEEN else "without, and with it"
    ax.set(yscale="log", xlim=(-0.2, 2.3), title=piece, xlabel=below)
    ax.yaxis.set_minor_formatter("")
    low, high = ax.get_ylim()
    room = np.log(high / low)
    labels = apart(np.log(found["with"].to_numpy()), 0.085 * room, np.log(high) - 0.03 * room)
    for (problem, row), height in zip(found.iterrows(), np.exp(labels), strict=True):
        colour = WORD_COLOUR[row.word]
        ax.plot([1, 1.22], [row["with"], height], color=colour, lw=0.6)  # to its label
        ax.text(1.26, height, "{} {}".format(*problem), color=colour, va="center")
    ax.set_xticks(np.linspace(0, 1, len(ticks)), [tick.replace(" ", "\n", 1) for tick in ticks])
    ax.grid(visible=False, axis="x")


@styled
def slopes(table: pd.DataFrame, name: str) -> Figure:
    """A panel for each piece of advice that a table can judge."""
    fig, axes = panels(len(DRAWN[name]), height=3.4)
    for ax, piece in zip(axes, DRAWN[name], strict=True):
        slope(ax, table, piece)
    fig.supylabel("mean regret", size="medium")
    return fig


# --------------------------------------------------------------------------- all at once

TINT = {"better": "#BFE5D6", "equal": "#DDDDDD", "open": "#F6F6F6", "worse": "#EFC4C4"}


def times(ratio: float) -> str:
    """A ratio in two digits."""
    return f"{float(f'{ratio:.2g}'):g}" if ratio >= 0.01 else "<.01"


@styled
def matrix(parts: Mapping[str, Mapping[str, pd.DataFrame]]) -> Figure:
    """What the rule found: for each part a row for each piece of advice and a column for each
    problem, with the ratio of mean regrets in it where it is decided."""
    rows = [len(part) for part in parts.values()]
    fig, axes = canvas(
        rows=len(parts),
        height=0.24 * sum(rows) + 1.3 * len(parts),
        height_ratios=rows,
        squeeze=False,
    )
    for ax, (title, part) in zip(axes.flat, parts.items(), strict=True):
        problems = list(dict.fromkeys(key for found in part.values() for key in found.index))
        for y, found in enumerate(part.values()):
            for problem, row in found.iterrows():
                x = problems.index(problem)
                ax.add_patch(plt.Rectangle((x, y), 1, 1, fc=TINT[row.word], ec="white", lw=2))
                said = "" if row.word == "open" else times(row.ratio)
                ax.text(x + 0.5, y + 0.5, said, ha="center", va="center", size=10)
        names = [f"{name} {size}".replace("-", "-\n").replace(" ", "\n") for name, size in problems]
        ax.set(xlim=(0, len(problems)), ylim=(len(part), 0), title=title)
        ax.set_xticks(np.arange(len(problems)) + 0.5, names, size=10 if len(names) < 8 else 9)
        ax.set_yticks(np.arange(len(part)) + 0.5, list(part), size=10)
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
    fig.legend(
        [plt.Rectangle((0, 0), 1, 1, fc=colour, ec="0.6", lw=0.5) for colour in TINT.values()],
        TINT,
        loc="outside lower center",
        ncols=len(TINT),
    )
    return fig


# --------------------------------------------------------------------------- curves

CURVES: dict[str, dict[str, tuple[Arm, str]]] = {  # arms and their colours
    "since-tabular": {
        "RLSVI, tuned": ({"agent": "rlsvi", "low": -1.0, "noise": "own"}, "rlsvi"),
        "UCBVI, LSVI-UCB, tuned": ({"agent": "ucbvi"}, "ucbvi"),
        "Russo 2019, published": ({"agent": "russo"}, "russo"),
    },
    "since-linear": {
        "RLSVI, tuned": ({"agent": "rlsvi", "low": 0.0, "cut": True}, "rlsvi"),
        "UCBVI, LSVI-UCB, tuned": ({"agent": "lsvi-ucb"}, "ucbvi"),
        "UCBVI, LSVI-UCB, published": ({"agent": "lsvi-ucb", "factor": 1.0, "ridge": 1.0}, "ucbvi"),
        "bootstrap, κ = 0.1": ({"agent": "bootstrap", "factor": 0.1}, "weights"),
    },
}
SHOWN = {
    "since-tabular": (("chain", 20), ("river swim", 6), ("deep sea", 30)),
    "since-linear": (("low-rank", 4), ("long gamble", 8), ("toll", 13)),
}


@styled
def curves(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Mean regret over episodes, a row for each table and a panel for each problem."""
    fig, grid = canvas(3, len(tables), height=6.8, squeeze=False)
    for row, (name, table) in zip(grid, tables.items(), strict=True):
        for label, (arm, colour) in CURVES[name].items():
            runs = at_best(table, arm)
            for ax, (environment, size) in zip(row, SHOWN[name], strict=True):
                own = runs[(runs.environment == environment) & (runs["size"] == size)]
                sns.lineplot(
                    own,
                    x="episode",
                    y="regret",
                    color=COLOUR[colour],
                    linestyle=":" if "published" in label else "-",
                    marker="o",
                    errorbar=student,
                    err_kws={"alpha": 0.15, "lw": 0},
                    label=label,
                    legend=False,
                    ax=ax,
                )
        for ax, (environment, size) in zip(row, SHOWN[name], strict=True):
            ax.set(xscale="log", yscale="log", title=f"{environment} {size}", xlabel="", ylabel="")
        row[0].set_ylabel("mean regret")
        row[1].set_xlabel("episode")
    handles: dict[str, Any] = {}
    for row in grid:
        lines, labels = row[0].get_legend_handles_labels()
        handles |= dict(zip(labels, lines, strict=True))
    fig.legend(handles.values(), handles, loc="outside lower center", ncols=2)
    return fig


DRAW = {
    "since-tabular": lambda table: slopes(table, "since-tabular"),
    "since-linear": lambda table: slopes(table, "since-linear"),
}
