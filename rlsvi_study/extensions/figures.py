"""The figures of appendix F and section 7: incremental, continual, bootstrapped."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..style import COLOUR, LINE, canvas, styled
from . import runs

# (agent, prior) of the curves worth drawing, with colour, line and label.
CURVES = {("batch", "kept"): (COLOUR["rlsvi"], "-", "batch"),
          ("ν = 0", "kept"): ("#666666", ":", "ν = 0"),
          ("ν = H/(l+H+1)", "kept"): ("#009E73", "-.", "ν = H/(l+H+1), prior kept"),
          ("ν = 0.03", "forgotten"): ("#D55E00", "--", "ν = 0.03, prior forgotten"),
          ("ν = 0.03", "kept"): ("#CC79A7", (0, (5, 1, 1, 1)), "ν = 0.03, prior kept")}
LIVES = {"mended": (COLOUR["rlsvi"], "-", "o", "ρ = γ (mended)"),
         "printed": ("#D55E00", "--", "s", "ρ = √(1−γ²) (printed)"),
         "fresh": ("#E69F00", ":", "^", "ρ = 0 (fresh)"),
         "greedy": ("#666666", "-.", "x", "greedy, ties at random")}
SAMPLES = {"rlsvi": (COLOUR["rlsvi"], "-", "o", "RLSVI"),
           "prior": ("#009E73", "-.", "D", "random prior alone"),
           "bootstrap + prior": ("#CC79A7", "--", "s", "bootstrap, random prior"),
           "bootstrap": ("#D55E00", ":", "^", "bootstrap alone")}

VERDICTS = {"holds": ("#0072B2", ""), "holds in part": ("#56B4E9", "//"),
            "does not hold": ("#D55E00", "\\\\"), "misprint": ("#E69F00", ".."),
            "can't be checked here": ("#999999", "")}


@styled
def incremental(table: pd.DataFrame) -> Figure:
    """Regret along the run for N = 10; final regret of every arm for every N, as a share of all."""
    fig, (left, right) = canvas(2, width=9.6, height=4.0, width_ratios=(1, 1.15))
    for arm, (colour, line, label) in CURVES.items():
        one = table[(table.agent == arm[0]) & (table.prior == arm[1]) & (table.N == 10)
                    & (table.lam == 1)].pivot(index="episode", columns="seed", values="regret")
        low, middle, high = np.quantile(one, [0.1, 0.5, 0.9], axis=1)
        left.fill_between(one.index, low, high, color=colour, alpha=0.13, lw=0)
        left.plot(one.index, middle, color=colour, ls=line, lw=2, label=label)
    left.set(xlabel="episode", ylabel="cumulative regret, N = 10")
    left.legend(fontsize=8)
    lengths = sorted(table.N.unique())
    arms = list(dict.fromkeys(zip(table.agent, table.prior, strict=True)))
    for N, mark, colour in zip(lengths, "v^so", ("#E69F00", "#009E73", "#CC79A7", "#0072B2"),
                               strict=True):
        final = runs.final_regret(table, N, 1.0)
        worst = table[(table.N == N) & (table.lam == 1)].regret.max()
        right.plot([final[arm].median() / worst for arm in arms], range(len(arms)), mark, ms=5,
                   color=colour, alpha=0.8, label=f"N = {N}")
    right.set_yticks(range(len(arms)), [f"{a}, {p}" if a not in ("batch", "ν = 0") else a
                                        for a, p in arms], fontsize=8)
    right.invert_yaxis()
    right.set(xlabel="final regret / that of learning nothing", xlim=(0, 1.05))
    right.legend(fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0),
                 columnspacing=0.8, handletextpad=0.1)
    return fig


@styled
def travel(curves: dict[str, np.ndarray], depths) -> Figure:
    """How much of a reward is known k periods before it, episode by episode."""
    fig, axes = canvas(len(curves), width=9.0, height=2.9, sharey=True)
    for ax, (name, v) in zip(axes, curves.items(), strict=True):
        for k, colour, line in zip(depths, ("#0072B2", "#009E73", "#E69F00", "#D55E00"),
                                   ("-", "-.", "--", ":"), strict=True):
            ax.plot(range(len(v)), v[:, k], color=colour, ls=line, lw=1.8, label=f"k = {k}")
        ax.set(title=name, xlabel="episodes", xscale="log", xlim=(1, len(v) - 1))
    axes[0].set_ylabel("share of the reward known")
    axes[-1].legend(fontsize=8, loc="lower right")
    return fig


@styled
def paths(perturbations: dict[str, np.ndarray]) -> Figure:
    """One coordinate of the perturbation along a run, for several laws."""
    fig, axes = canvas(len(perturbations), width=9.0, height=2.6, sharey=True)
    for ax, (name, w) in zip(axes, perturbations.items(), strict=True):
        ax.plot(w, color=COLOUR["rlsvi"], lw=0.9)
        ax.axhline(0, color="black", lw=0.6)
        ax.set(title=name, xlabel="step t")
    axes[0].set_ylabel("one coordinate of w")
    return fig


def _medians(ax, cells: pd.DataFrame, budget: int, style) -> None:
    """Medians with intervals; a median beyond the budget sits at the top."""
    colour, line, mark, label = style
    x = cells.index.to_numpy(float)
    middle, low, high = (np.minimum(cells[c].to_numpy(float), budget)
                         for c in ("median", "low", "high"))
    ax.fill_between(x, low, high, color=colour, alpha=0.13, lw=0)
    ax.plot(x, middle, color=colour, ls=line, marker=mark, ms=4, lw=1.6, label=label)


@styled
def continual(table: pd.DataFrame) -> Figure:
    """Steps to the first reward against the length of the lock, for each γ."""
    fig, axes = canvas(3, width=9.6, height=3.4, sharey=True)
    budget = int(table.first_reward[table["lost"]].max())
    cells = runs.waits(table, ["gamma", "agent", "n"])
    for ax, gamma in zip(axes, sorted(table.gamma.unique()), strict=True):
        for agent, style in LIVES.items():
            _medians(ax, cells.loc[gamma, agent], budget, style)
        n = np.array(sorted(table.n.unique()), float)
        ax.plot(n, 2 ** (n + 1) - 2, color="black", lw=1, ls=LINE["theory"],
                label="uniform, mean (exact)")
        ax.axhline(budget, color="0.5", lw=0.8)
        ax.set(yscale="log", ylim=(1, 2.2 * budget), xlabel="moves n", title=f"γ = {gamma:g}")
    axes[0].set_ylabel("steps to the first reward")
    axes[0].legend(fontsize=7, loc="lower right")
    return fig


@styled
def bootstrap(table: pd.DataFrame) -> Figure:
    """Episodes to the first reward against the length of the chain, tabular and coherent."""
    fig, axes = canvas(2, width=8.6, height=3.4, sharey=True, width_ratios=(1.5, 1))
    budget = int(table.first_reward.max())
    cells = runs.waits(table, ["features", "agent", "N"])
    for ax, features in zip(axes, ("tabular", "coherent"), strict=True):
        for agent, style in SAMPLES.items():
            _medians(ax, cells.loc[features, agent], budget, style)
        N = np.arange(*(cells.loc[features].index.get_level_values("N").sort_values()[[0, -1]]
                        + [0, 1]), dtype=float)
        exact = np.log(2) * 2 ** (N - 1) / (1 - 1 / N) ** (N - 1)
        ax.plot(N, exact, color="black", lw=1, ls=LINE["theory"], label="dithering, median")
        ax.axhline(budget, color="0.5", lw=0.8)
        ax.set(yscale="log", ylim=(1, 2.2 * budget), xlabel="chain length N", title=features)
    axes[0].set_ylabel("episodes to the first reward")
    axes[0].legend(fontsize=8, loc="lower right")
    return fig


@styled
def verdicts(counts: dict[str, dict[str, int]]) -> Figure:
    """How many statements came out how, a bar for each section and appendix."""
    fig, ax = canvas(width=8.2, height=4.6)
    ax.set_axisbelow(True)
    left = np.zeros(len(counts))
    for verdict, (colour, hatch) in VERDICTS.items():
        width = np.array([one[verdict] for one in counts.values()])
        ax.barh(range(len(counts)), width, left=left, color=colour, hatch=hatch, ec="white",
                label=verdict)
        left += width
    ax.set_yticks(range(len(counts)), counts)
    ax.invert_yaxis()
    ax.set(xlabel="statements")
    ax.legend(loc="upper right")
    return fig


DRAW = {"incremental": incremental, "continual": continual, "bootstrap": bootstrap}
