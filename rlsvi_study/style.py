"""One look for every figure.

Colours come from sets that colour-blind readers can tell apart; line styles repeat what the colours
say, and an agent has the same ones in the whole book. Backgrounds are opaque white, so that figures
stay legible on a dark page. Figures are drawn by seaborn from tidy tables: pass ``palette=COLOUR``,
``dashes=DASHES``, ``markers=MARK`` with ``hue="agent"`` and ``style="agent"``.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import matplotlib.pyplot as plt
import seaborn as sns
from cycler import cycler
from matplotlib.figure import Figure

COLOUR = {"rlsvi": "#0072B2", "epsilon-greedy": "#D55E00", "boltzmann": "#E69F00",
          "lsvi": "#D55E00", "rlsvi-small": "#56B4E9", "psrl": "#882255", "ucbvi": "#CC79A7",
          "ucbvi-small": "#DDAA33", "uniform": "#666666", "truth": "#000000", "theory": "#009E73"}
DASHES = {"rlsvi": (), "epsilon-greedy": (5, 2), "boltzmann": (1, 1.5), "lsvi": (5, 2),
          "rlsvi-small": (6, 2, 6, 2), "psrl": (6, 2, 1, 2), "ucbvi": (1, 1),
          "ucbvi-small": (5, 1, 1, 1), "uniform": (4, 4), "truth": (), "theory": (6, 2, 1, 2)}
LINE: dict[str, Any] = {name: (0, dash) if dash else "-" for name, dash in DASHES.items()}
MARK = {"rlsvi": "o", "epsilon-greedy": "s", "boltzmann": "^", "lsvi": "s", "rlsvi-small": "D",
        "psrl": "P", "ucbvi": "X", "ucbvi-small": "v", "uniform": "d"}
NAME = {"rlsvi": "RLSVI", "epsilon-greedy": "LSVI, ε-greedy", "boltzmann": "LSVI, Boltzmann",
        "lsvi": "LSVI", "rlsvi-small": "RLSVI, λ = 1, σ = ½", "psrl": "PSRL", "ucbvi": "UCBVI",
        "ucbvi-small": "UCBVI, bonus/100", "uniform": "uniform"}
STYLE = sns.axes_style("ticks") | sns.plotting_context("notebook", rc={
    "font.size": 10, "axes.labelsize": 10, "axes.titlesize": 10.5, "xtick.labelsize": 9,
    "ytick.labelsize": 9, "legend.fontsize": 9, "legend.title_fontsize": 9,
    "lines.linewidth": 1.8, "lines.markersize": 5}) | {
    "figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white",
    "figure.dpi": 110, "axes.spines.top": False, "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=["#0072B2", "#D55E00", "#009E73", "#CC79A7"]),
    "axes.grid": True, "grid.alpha": 0.25, "legend.frameon": False,
    "figure.constrained_layout.use": True}


def styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Draw in the book's style, without touching the reader's own settings."""

    @wraps(draw)
    def in_style(*args: Any, **kwargs: Any) -> Figure:
        with plt.rc_context(STYLE):
            return draw(*args, **kwargs)

    return in_style


def canvas(columns: int = 1, *, width: float = 7.0, height: float = 3.2, **axes: Any):
    return plt.subplots(1, columns, figsize=(width, height), **axes)


def scientific(x: float) -> str:
    """A number for a caption: 1.5 × 10¹⁵."""
    digits, power = f"{x:.1e}".split("e")
    return f"{digits} × 10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
