"""RLSVI taken apart: how much of its gain each part reaches."""

import pandas as pd
from matplotlib.figure import Figure

from ..style import COLOUR, panels, styled
from .runs import judged

WORDS = {
    "sample": "RLSVI, as printed",
    "spread": "its spread alone",
    "two draws": "targets by two draws",
    "one draw": "one draw for all pairs",
    "optimism": "its optimism alone",
    "mean": "mean in the targets",
    "optimistic": "optimistic LSVI",
    "lsvi": "LSVI, greedy",
}
LOOK = {"yes": COLOUR["theory"], "open": "#888888", "no": COLOUR["fails"]}


@styled
def parts(gains: pd.DataFrame) -> Figure:
    """Shares of RLSVI's gain with Student's intervals, a panel for each problem; the colour says
    whether an agent explores by the rule."""
    found, problems = judged(gains), list(dict.fromkeys(gains.problem))
    fig, axes = panels(len(problems), height=3.0, sharey=True)
    at = {agent: -row for row, agent in enumerate(WORDS)}
    for ax, problem in zip(axes, problems, strict=True):
        for agent, one in found.loc[problem].iterrows():
            ax.plot([one.low, one.high], [at[agent]] * 2, color=LOOK[one.explores], lw=1.4)
            ax.plot(one.share, at[agent], "o", color=LOOK[one.explores], ms=5)
        ax.axvline(1, color="black", lw=0.7)
        ax.set(title=problem, xlim=(-0.15, 1.85), xticks=(0, 1), xlabel="share of RLSVI's gain")
    axes[0].set_yticks([*at.values()], [*WORDS.values()])
    return fig


DRAW = {"explore": parts}
