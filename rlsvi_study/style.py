"""One look for every figure.

Colours are the Okabe–Ito set, which colour-blind readers can tell apart; line styles repeat what
the colours say. Backgrounds are opaque white, so that figures stay legible on a dark page.
"""

from functools import wraps

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.figure import Figure

COLOUR = {"rlsvi": "#0072B2", "epsilon-greedy": "#D55E00", "boltzmann": "#E69F00",
          "truth": "#000000", "theory": "#009E73"}
LINE = {"rlsvi": "-", "epsilon-greedy": "--", "boltzmann": ":", "truth": "-", "theory": "-."}
NAME = {"rlsvi": "RLSVI", "epsilon-greedy": "LSVI, ε-greedy", "boltzmann": "LSVI, Boltzmann"}
MARK = {"rlsvi": "o", "epsilon-greedy": "s", "boltzmann": "^"}
STYLE = {"figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white",
         "figure.dpi": 110, "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
         "axes.prop_cycle": cycler(color=["#0072B2", "#D55E00", "#009E73", "#CC79A7"]),
         "axes.grid": True, "grid.alpha": 0.25, "legend.frameon": False,
         "figure.constrained_layout.use": True}


def styled(draw):
    """Draw in the book's style, without touching the reader's own settings."""

    @wraps(draw)
    def styled(*args, **kwargs) -> Figure:
        with plt.rc_context(STYLE):
            return draw(*args, **kwargs)

    return styled


def canvas(columns: int = 1, *, width: float = 7.0, height: float = 3.2, **axes):
    return plt.subplots(1, columns, figsize=(width, height), **axes)


def scientific(x: float) -> str:
    """A number for a caption: 1.5 × 10¹⁵."""
    digits, power = f"{x:.1e}".split("e")
    return f"{digits} × 10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
