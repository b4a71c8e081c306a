"""Every figure of the book, drawn from tidy tables. Nothing is computed here but quantiles.

Colours are the Okabe–Ito set, which colour-blind readers can tell apart; line styles repeat what
the colours say. Backgrounds are opaque white, so that figures stay legible on a dark page.
"""

from functools import wraps

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
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
FEW = 5  # the paper averages five seeds; these are drawn one by one


def _styled(draw):
    """Draw in the book's style, without touching the reader's own settings."""

    @wraps(draw)
    def styled(*args, **kwargs) -> Figure:
        with plt.rc_context(STYLE):
            return draw(*args, **kwargs)

    return styled


def _canvas(columns: int = 1, *, width: float = 7.0, height: float = 3.2, **axes):
    return plt.subplots(1, columns, figsize=(width, height), **axes)


def _spread(ax, table: pd.DataFrame, value: str, agent: str, *, singles: bool = True) -> None:
    """Median and 10–90% band over all seeds; the first five seeds as thin lines."""
    runs = table[table.agent == agent].pivot(index="episode", columns="seed", values=value)
    low, middle, high = np.quantile(runs, [0.1, 0.5, 0.9], axis=1)
    ax.fill_between(runs.index, low, high, color=COLOUR[agent], alpha=0.15, lw=0)
    if singles:
        ax.plot(runs.index, runs.iloc[:, :FEW], color=COLOUR[agent], lw=0.7, alpha=0.6)
    ax.plot(runs.index, middle, color=COLOUR[agent], ls=LINE[agent], lw=2.2, label=NAME[agent])


def scientific(x: float) -> str:
    """A number for a caption: 1.5 × 10¹⁵."""
    digits, power = f"{x:.1e}".split("e")
    return f"{digits} × 10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


@_styled
def chain_diagram(N: int = 50) -> Figure:
    """Figure 1: the chain. Solid arrows go left for sure, dashed ones right with a slip."""
    fig, ax = _canvas(height=2.0)
    ax.set(xlim=(-0.8, 5.8), ylim=(-0.85, 0.95), aspect="equal")
    ax.axis("off")
    places = {0: "1", 1: "2", 2: "3", 4: f"N−1\n= {N - 1}", 5: f"N\n= {N}"}
    for x, text in places.items():
        ax.add_patch(plt.Circle((x, 0), 0.27, fc="#F0B9A0" if x == 5 else "#E8EEF4", ec="black"))
        ax.text(x, 0, text, ha="center", va="center", fontsize=9 if x < 3 else 8)
    ax.text(3, 0, "· · ·", ha="center", va="center", fontsize=14)

    def arrow(start, end, bend, dashed):
        ax.annotate("", end, start, arrowprops={
            "arrowstyle": "-|>", "connectionstyle": f"arc3,rad={bend}", "shrinkA": 0, "shrinkB": 0,
            "color": COLOUR["rlsvi"] if dashed else "0.35", "ls": "--" if dashed else "-"})

    for x in (0, 1, 2, 3, 4):
        edge = (0.22 if x != 3 else 0.3), (0.22 if x != 2 else 0.3)
        arrow((x + edge[0], 0.17), (x + 1 - edge[1], 0.17), -0.35, True)
        arrow((x + 1 - edge[1], -0.17), (x + edge[0], -0.17), -0.35, False)
    ax.text(2.5, 0.72, "right: succeeds with probability 1 − 1/N, otherwise moves left",
            ha="center", color=COLOUR["rlsvi"], fontsize=9)
    ax.text(2.5, -0.78, "left: always succeeds", ha="center", color="0.25", fontsize=9)
    ax.text(0, 0.42, "start", ha="center", fontsize=9)
    ax.text(5, 0.42, "reward 1", ha="center", fontsize=9)
    return fig


@_styled
def example1(table: pd.DataFrame) -> Figure:
    """Example 1: the first rewarded episode against the length of the chain."""
    fig, ax = _canvas(height=3.6)
    N = np.arange(table.N.min(), table.N.max() + 1)
    exact = 2.0 ** (N - 1) / (1 - 1 / N) ** (N - 1)
    ax.plot(N, exact, color=COLOUR["theory"], ls=LINE["theory"], label="exact: $2^{N-1}/p^*$")
    ax.plot(N, 2.0 ** (N - 1), color="0.5", ls=":", label="the paper's bound: $2^{N-1}$")
    for shift, agent in zip((-0.12, 0.12, 0.0), ("epsilon-greedy", "boltzmann", "rlsvi"),
                            strict=True):
        waits = 1 + table[table.agent == agent].groupby("N").first_reward.agg(["mean", "sem"])
        ax.errorbar(waits.index + shift, waits["mean"], 2 * (waits["sem"] - 1), fmt=MARK[agent],
                    color=COLOUR[agent], ms=5, capsize=2, label=NAME[agent])
    ax.set(yscale="log", xlabel="chain length N", ylabel="episodes to the first reward")
    ax.legend()
    return fig


@_styled
def fig2a(table: pd.DataFrame) -> Figure:
    """Figure 2(a): regret over the first 2000 episodes, realised and expected."""
    fig, axes = _canvas(2, width=8.4, sharey=True)
    for ax, value, title in zip(axes, ("regret", "expected_regret"),
                                ("realised (as in the paper)", "expected (exact)"), strict=True):
        for agent in ("epsilon-greedy", "rlsvi"):
            _spread(ax, table, value, agent)
        ax.set(xlabel="episode", title=title)
    axes[0].set_ylabel("cumulative regret")
    axes[0].legend()
    return fig


@_styled
def reach(table: pd.DataFrame, N: int = 50) -> Figure:
    """How far along the chain each agent gets: the furthest state of every 20 episodes."""
    fig, ax = _canvas()
    for agent in ("epsilon-greedy", "rlsvi"):
        _spread(ax, table, "furthest", agent, singles=False)
    ax.axhline(N, color="black", lw=0.8)
    ax.text(table.episode.max(), N + 0.8, "the reward", ha="right", va="bottom", fontsize=9)
    ax.set(xlabel="episode", ylabel="furthest state reached", ylim=(0, N + 6), xscale="log")
    ax.legend(loc="center left")
    return fig


@_styled
def value_samples(samples: dict[int, np.ndarray], truth: np.ndarray) -> Figure:
    """Sampled values along the path 1, 2, …, N after some numbers of episodes, and the truth."""
    fig, axes = _canvas(len(samples), width=9.0, height=2.8, sharey=True)
    states = np.arange(1, truth.size + 1)
    for ax, (episodes, values) in zip(axes, samples.items(), strict=True):
        ax.plot(states, values.T, color=COLOUR["rlsvi"], lw=0.8, alpha=0.45)
        ax.plot(states, truth, color=COLOUR["truth"], lw=2)
        ax.set_yscale("symlog", linthresh=1)
        ax.set(title=f"after {episodes} episode{'s' * (episodes != 1)}", xlabel="state on the path")
    axes[0].set_ylabel("value of going right")
    return fig


@_styled
def running_regret(realised: np.ndarray, exact: float) -> Figure:
    """The average realised regret of a policy, episode by episode, and its exact value."""
    fig, ax = _canvas()
    n = np.arange(1, realised.shape[1] + 1)
    mean = realised.cumsum(axis=1) / n
    ax.plot(n, mean.T, color=COLOUR["rlsvi"], lw=0.8, alpha=0.6)
    ax.plot([], [], color=COLOUR["rlsvi"], lw=0.8, label="realised, averaged")
    ax.axhline(exact, color=COLOUR["truth"], lw=2, label="exact")
    ax.set(xscale="log", xlabel="episodes averaged", ylabel="regret per episode")
    ax.legend()
    return fig


@_styled
def basis_fits(truth: np.ndarray, fits: dict[str, np.ndarray]) -> Figure:
    """A slice of Q* along the states, and the best that a basis can do."""
    fig, axes = _canvas(len(fits), width=8.4, sharey=True)
    states = np.arange(1, truth.size + 1)
    for ax, (name, fit) in zip(axes, fits.items(), strict=True):
        ax.plot(states, truth, color=COLOUR["truth"], lw=2, label="$Q^*$")
        ax.plot(states, fit, color=COLOUR["epsilon-greedy"], ls="--", marker=".",
                label="best fit in the span")
        ax.set(title=name, xlabel="state")
    axes[0].set_ylabel("value of going right")
    axes[0].legend()
    return fig


@_styled
def action_law(laws: dict[str, pd.DataFrame]) -> Figure:
    """The probability of each action against the parameter of a dithering scheme."""
    fig, axes = _canvas(len(laws), width=8.4, sharey=True)
    for ax, (name, law) in zip(axes, laws.items(), strict=True):
        for (action, line), style in zip(law.items(), ("-", "--", ":", "-."), strict=False):
            ax.plot(law.index, line, ls=style, lw=2, label=action)
        ax.set(title=name, xlabel=law.index.name)
    axes[-1].set_xscale("log")
    axes[0].set_ylabel("probability")
    axes[0].legend()
    return fig


DRAW = {"example1": example1, "fig2a": fig2a}  # the figures that have a stored table
