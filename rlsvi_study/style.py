"""One look for every figure.

Colours come from sets that colour-blind readers can tell apart; line styles repeat the distinction.
An agent has the same ones in the whole book, and nothing else has its colour. Backgrounds are
opaque white, legible on a dark page. A figure is as wide as the page's column, 7 inches of 96
pixels, and has two pixels for each of them. A phone shows it at half its size, so letters have 13
points, which are 9 pixels there.
``interval_rows`` draws given intervals. Seaborn estimates on the scale of the axis it finds: draw
first, make an axis logarithmic after.
"""

from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from .judging.register import typeset_numbers

AGENTS: dict[str, tuple[str, tuple, str, str]] = {  # colour, dashes, mark and name of each
    "rlsvi": ("#0072B2", (), "o", "RLSVI"),
    "epsilon-greedy": ("#D55E00", (5, 2), "s", "LSVI, ε-greedy"),
    "boltzmann": ("#E69F00", (1, 1.5), "^", "LSVI, Boltzmann"),
    "lsvi": ("#D55E00", (5, 2), "s", "LSVI"),
    "rlsvi-small": ("#56B4E9", (6, 2, 6, 2), "D", "RLSVI, λ = 1, σ = ½"),
    "psrl": ("#882255", (6, 2, 1, 2), "P", "PSRL"),
    "ucbvi": ("#CC6677", (1, 1), "X", "UCBVI"),
    "ucbvi-small": ("#DDAA33", (5, 1, 1, 1), "v", "UCBVI, bonus/100"),
    "uniform": ("#888888", (4, 4), "d", "uniform"),
    "corrected": ("#0072B2", (), "o", "RLSVI, ρ = γ (corrected)"),
    "printed": ("#56B4E9", (5, 2), "s", "RLSVI, ρ = √(1−γ²) (printed)"),
    "fresh": ("#8FB8D0", (1, 1.5), "^", "RLSVI, ρ = 0 (a fresh draw each step)"),
    "greedy": ("#666666", (6, 2, 1, 2), "X", "greedy, ties at random"),
    "prior": ("#117733", (6, 2, 1, 2), "D", "random prior alone"),
    "bootstrap + prior": ("#CC79A7", (5, 1, 1, 1), "P", "resampling, random prior"),
    "bootstrap": ("#661100", (1, 1.5), "^", "resampling alone"),
    "incremental": ("#44AA99", (6, 2, 6, 2), "v", "RLSVI, incremental"),
    "weights": ("#228833", (5, 1, 1, 1), "^", "bootstrap"),
}
THINGS: dict[str, tuple[str, tuple]] = {  # colour and dashes of what is no agent
    "truth": ("#000000", ()),
    "paper": ("#000000", (1, 1.5)),  # the paper's numbers and what it prints
    "theory": ("#009E73", (6, 2, 1, 2)),  # bounds and exact formulas; what goes well
    "fails": ("#A32424", (5, 2)),  # what does not
    "posterior": ("#8C510A", (5, 2)),  # and the beta law, of which one arm's is an example
    "normal": ("#332288", ()),
}
COLOUR, DASHES = ({name: look[i] for name, look in (AGENTS | THINGS).items()} for i in range(2))
WORD_COLOUR = {  # what a ratio of regrets is called
    "better": COLOUR["theory"],
    "equal": "#555555",
    "open": "#8A8A8A",
    "worse": COLOUR["fails"],
}
MARK = {agent: mark for agent, (_, _, mark, _) in AGENTS.items()}
NAME = {agent: name for agent, (_, _, _, name) in AGENTS.items()}
LINE: dict[str, Any] = {agent: (0, dash) if dash else "-" for agent, dash in DASHES.items()}
RANGE: dict[str, Any] = {
    "estimator": "median",
    "errorbar": ("pi", 100),
}  # for what ``interval_rows`` gives
WIDTH = 7.0  # inches
STYLE = (
    sns.axes_style("ticks")
    | sns.plotting_context(
        "notebook",
        rc=dict.fromkeys(
            (
                "font.size",
                "axes.labelsize",
                "axes.titlesize",
                "xtick.labelsize",
                "ytick.labelsize",
                "legend.fontsize",
                "legend.title_fontsize",
            ),
            13,
        )
        | {
            "lines.linewidth": 1.8,
            "lines.markersize": 5,
        },
    )
    | {
        "figure.facecolor": "white",
        "axes.facecolor": "white",
        "savefig.facecolor": "white",
        "figure.dpi": 2 * 96,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.prop_cycle": cycler(color=[COLOUR["rlsvi"]]),  # a lone curve is RLSVI's
        "axes.grid": True,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    }
)
# so many, for settings and cases, in their order
sequential_palette = partial(sns.color_palette, "viridis")
with_style = plt.rc_context(STYLE)  # a decorator: the reader's own settings are left alone


def subplots(
    columns: int = 1, rows: int = 1, *, width: float = WIDTH, height: float = 3.2, **axes: Any
) -> tuple[Figure, Any]:
    return plt.subplots(rows, columns, figsize=(width, height), **axes)


def interval_rows(
    cells: pd.DataFrame, middle: str = "median", limit: float = float("inf")
) -> pd.DataFrame:
    """Low, middle and high of each cell as three rows of ``time``, cut at a limit: their median is
    the middle and their range the interval, so with ``RANGE`` seaborn draws what is given."""
    return cells[["low", middle, "high"]].clip(upper=limit).stack().rename("time").reset_index()


def add_legend(ax: Axes, on: Any = None, **place: Any) -> None:
    """A legend, on the axes or their figure, with the names of the book and without a heading."""
    handles, labels = ax.get_legend_handles_labels()
    (on or ax).legend(handles, [NAME.get(label, label) for label in labels], **place)


def agent_shades(agent: str, count: int) -> list:
    """So many shades of an agent's colour, from pale to dark, for settings of that agent."""
    own = COLOUR[agent]
    return sns.blend_palette(
        [sns.light_palette(own, 8)[5], own, sns.dark_palette(own, 8)[3]], count
    )


def readable_colour(colour: Any, contrast: float = 4.5) -> np.ndarray:
    """A colour, darkened until it has the contrast to white that WCAG asks for: 4.5 for text, 3 for
    lines."""
    rgb = np.array(to_rgb(colour))
    while 1.05 / (0.05 + rgb**2.2 @ (0.2126, 0.7152, 0.0722)) < contrast:
        rgb *= 0.97
    return rgb


def format_integer(x: float, _: Any = None) -> str:
    """A whole number as the book writes it: 1200, and 10 000 with a narrow space. For ticks too."""
    return typeset_numbers(f"{x:.0f}")


def format_scientific(x: float) -> str:
    """A number for a caption: 1.5 × 10¹⁵."""
    digits, power = f"{x:.1e}".split("e")
    return f"{digits} × 10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
