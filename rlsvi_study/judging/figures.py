"""The figure of chapter 7: how many claims came out how."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from ..style import canvas, styled
from .outcomes import DEPENDS, FAILS, HOLDS

LOOKS = {  # colours as on a page, and hatches
    HOLDS: ("#0B6E4F", ""),
    DEPENDS: ("#F0C67C", "//"),
    FAILS: ("#6B0D1A", "\\\\"),
}


@styled
def verdicts(counts: dict[str, dict[str, int]]) -> Figure:
    """How many claims came out how, a bar for each section and appendix."""
    fig, ax = canvas(height=6)
    colours, hatches = zip(*LOOKS.values(), strict=True)
    pd.DataFrame(counts).T[list(LOOKS)].plot.barh(
        stacked=True, color=colours, ec="white", width=0.8, ax=ax
    )
    for bars, hatch in zip(ax.containers, hatches, strict=True):
        plt.setp(bars, hatch=hatch)
    ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1), ncols=3)  # again, with the hatches
    ax.set_axisbelow(True)
    ax.invert_yaxis()
    ax.set(xlabel="claims")
    return fig
