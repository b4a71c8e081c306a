"""The figures of the chain: chapters 1 to 4, 6, 6a and 6b, A to C."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..style import COLOUR, LINE, MARK, NAME, canvas, styled
from . import runs, scaling

FEW = 5  # the paper averages five seeds; these are drawn one by one


def _spread(ax, table: pd.DataFrame, value: str, agent: str, *, singles: bool = True) -> None:
    """Median and 10–90% band over all seeds; the first five seeds as thin lines."""
    runs = table[table.agent == agent].pivot(index="episode", columns="seed", values=value)
    low, middle, high = np.quantile(runs, [0.1, 0.5, 0.9], axis=1)
    ax.fill_between(runs.index, low, high, color=COLOUR[agent], alpha=0.15, lw=0)
    if singles:
        ax.plot(runs.index, runs.iloc[:, :FEW], color=COLOUR[agent], lw=0.7, alpha=0.6)
    ax.plot(runs.index, middle, color=COLOUR[agent], ls=LINE[agent], lw=2.2, label=NAME[agent])


@styled
def chain_diagram(N: int = 50) -> Figure:
    """Figure 1: the chain. Solid arrows go left for sure, dashed ones right with a slip."""
    fig, ax = canvas(height=2.0)
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


@styled
def example1(table: pd.DataFrame) -> Figure:
    """Example 1: the first rewarded episode against the length of the chain."""
    fig, ax = canvas(height=3.6)
    N = np.arange(table.N.min(), table.N.max() + 1)
    exact = 2.0 ** (N - 1) / (1 - 1 / N) ** (N - 1)
    ax.plot(N, exact, color=COLOUR["theory"], ls=LINE["theory"], label="exact: $2^{N-1}/p^*$")
    ax.plot(N, 2.0 ** (N - 1), color="0.5", ls=":", label="the paper's bound: $2^{N-1}$")
    for shift, agent in zip((-0.12, 0.12, 0.0), ("epsilon-greedy", "boltzmann", "rlsvi"),
                            strict=True):
        waits = table[table.agent == agent].groupby("N").unrewarded.agg(["mean", "sem"])
        ax.errorbar(waits.index + shift, 1 + waits["mean"], 2 * waits["sem"], fmt=MARK[agent],
                    color=COLOUR[agent], ms=5, capsize=2, label=NAME[agent])
    ax.set(yscale="log", xlabel="chain length N", ylabel="episodes to the first reward")
    ax.legend()
    return fig


@styled
def fig2a(table: pd.DataFrame) -> Figure:
    """Figure 2(a): regret over the first 2000 episodes, realised and expected."""
    fig, axes = canvas(2, width=8.4, sharey=True)
    for ax, value, title in zip(axes, ("regret", "expected_regret"),
                                ("realised (as in the paper)", "expected (exact)"), strict=True):
        for agent in ("epsilon-greedy", "rlsvi"):
            _spread(ax, table, value, agent)
        ax.set(xlabel="episode", title=title)
    axes[0].set_ylabel("cumulative regret")
    axes[0].legend()
    return fig


@styled
def reach(table: pd.DataFrame, N: int = 50) -> Figure:
    """How far along the chain each agent gets: the furthest state of every 20 episodes."""
    fig, ax = canvas()
    for agent in ("epsilon-greedy", "rlsvi"):
        _spread(ax, table, "furthest", agent, singles=False)
    ax.axhline(N, color="black", lw=0.8)
    ax.text(table.episode.max(), N + 0.8, "the reward", ha="right", va="bottom", fontsize=9)
    ax.set(xlabel="episode", ylabel="furthest state reached", ylim=(0, N + 6), xscale="log")
    ax.legend(loc="center left")
    return fig


@styled
def value_samples(samples: dict[int, np.ndarray], truth: np.ndarray) -> Figure:
    """Sampled values along the path 1, 2, …, N after some numbers of episodes, and the truth."""
    fig, axes = canvas(len(samples), width=9.0, height=2.8, sharey=True)
    states = np.arange(1, truth.size + 1)
    for ax, (episodes, values) in zip(axes, samples.items(), strict=True):
        ax.plot(states, values.T, color=COLOUR["rlsvi"], lw=0.8, alpha=0.45)
        ax.plot(states, truth, color=COLOUR["truth"], lw=2)
        ax.set_yscale("symlog", linthresh=1)
        ax.set(title=f"after {episodes} episode{'s' * (episodes != 1)}", xlabel="state on the path")
    axes[0].set_ylabel("value of going right")
    return fig


@styled
def running_regret(realised: np.ndarray, exact: float) -> Figure:
    """The average realised regret of a policy, episode by episode, and its exact value."""
    fig, ax = canvas()
    n = np.arange(1, realised.shape[1] + 1)
    mean = realised.cumsum(axis=1) / n
    ax.plot(n, mean.T, color=COLOUR["rlsvi"], lw=0.8, alpha=0.6)
    ax.plot([], [], color=COLOUR["rlsvi"], lw=0.8, label="realised, averaged")
    ax.axhline(exact, color=COLOUR["truth"], lw=2, label="exact")
    ax.set(xscale="log", xlabel="episodes averaged", ylabel="regret per episode")
    ax.legend()
    return fig


@styled
def basis_fits(truth: np.ndarray, fits: dict[str, np.ndarray]) -> Figure:
    """A slice of Q* along the states, and the best that a basis can do."""
    fig, axes = canvas(len(fits), width=8.4, sharey=True)
    states = np.arange(1, truth.size + 1)
    for ax, (name, fit) in zip(axes, fits.items(), strict=True):
        ax.plot(states, truth, color=COLOUR["truth"], lw=2, label="$Q^*$")
        ax.plot(states, fit, color=COLOUR["epsilon-greedy"], ls="--", marker=".",
                label="best fit in the span")
        ax.set(title=name, xlabel="state")
    axes[0].set_ylabel("value of going right")
    axes[0].legend()
    return fig


@styled
def action_law(laws: dict[str, pd.DataFrame]) -> Figure:
    """The probability of each action against the parameter of a dithering scheme."""
    fig, axes = canvas(len(laws), width=8.4, sharey=True)
    for ax, (name, law) in zip(axes, laws.items(), strict=True):
        for (action, line), style in zip(law.items(), ("-", "--", ":", "-."), strict=False):
            ax.plot(law.index, line, ls=style, lw=2, label=action)
        ax.set(title=name, xlabel=law.index.name)
    axes[-1].set_xscale("log")
    axes[0].set_ylabel("probability")
    axes[0].legend()
    return fig


@styled
def fig2b(table: pd.DataFrame) -> Figure:
    """Figure 2(b): a million episodes. Left, regret; right, episodes with a suboptimal policy."""
    fig, axes = canvas(2, width=8.4)
    for agent in ("epsilon-greedy", "rlsvi"):
        for ax, value in zip(axes, ("regret", "suboptimal"), strict=True):
            runs = table[table.agent == agent].pivot(index="episode", columns="seed", values=value)
            ax.plot(runs.index, runs, color=COLOUR[agent], ls=LINE[agent], lw=1)
            ax.plot([], [], color=COLOUR[agent], ls=LINE[agent], label=NAME[agent])
    axes[0].set(xlabel="episode", ylabel="cumulative regret (realised)")
    axes[1].set(xlabel="episode", ylabel="suboptimal episodes", xscale="log", yscale="log")
    axes[0].legend()
    return fig


BUDGET = 20_000  # where runs of figures 3, 4, 12 and 13 are censored


def _times(ax, cells: pd.DataFrame) -> None:
    """Medians with intervals; what is censored is drawn at the budget, pointing upwards."""
    seen = cells[np.isfinite(cells["median"])]
    lost = cells.index.difference(seen.index)
    high = np.minimum(seen.high, BUDGET)
    ax.errorbar(seen.index, seen["median"], [seen["median"] - seen.low, high - seen["median"]],
                fmt="o", ms=4, capsize=2, color=COLOUR["rlsvi"], label="median, 95% interval")
    ax.plot(lost, np.full(len(lost), BUDGET), "^", color=COLOUR["rlsvi"])


@styled
def fig3(cells: pd.DataFrame, band: pd.DataFrame) -> Figure:
    """Figure 3: learning time against N, with the bounds it is held against."""
    fig, axes = canvas(2, width=8.6)
    N = cells.index.to_numpy(float)
    fine = np.linspace(N.min(), N.max(), 200)
    for ax in axes:
        ax.fill_between(band.index, band.low, band.high, color=COLOUR["rlsvi"], alpha=0.15, lw=0)
        ax.plot(band.index, band.fit, color=COLOUR["rlsvi"], lw=1)
        _times(ax, cells)
        ax.plot(N, cells.mean5, "x", color=COLOUR["epsilon-greedy"], ms=5,
                label="mean of 5 seeds (paper's statistic)")
        ax.plot(fine, (fine - 1) ** 2 * fine * 2 / 10, color=COLOUR["theory"], ls="-",
                label="$H^2SA/10$")
        ax.plot(fine, 2.0 ** (fine - 1), color="0.3", ls="--", label="$2^{N-1}$")
        ax.set(xlabel="chain length N")
    axes[0].set(ylabel="episodes to 10 rewards", ylim=(0, 1.15 * max(cells.mean5.max(),
                                                                     cells["median"].max())))
    axes[1].set(yscale="log", ylim=(10, 1e7))
    axes[1].legend(fontsize=8, loc=(0.33, 0.36))
    return fig


@styled
def fig4(cells: pd.DataFrame, band: pd.DataFrame, dimension: int = 100) -> Figure:
    """Figure 4: learning time against K, with a local polynomial through the medians."""
    fig, ax = canvas()
    ax.fill_between(band.index, band.low, band.high, color=COLOUR["rlsvi"], alpha=0.15, lw=0)
    ax.plot(band.index, band.fit, color=COLOUR["rlsvi"], lw=1.5, label="local polynomial")
    _times(ax, cells)
    ax.plot(cells.index, cells.mean5, "x", color=COLOUR["epsilon-greedy"], ms=5,
            label="mean of 5 seeds (paper's statistic)")
    ax.axvline(dimension, color="0.4", ls=":", lw=1)
    ax.text(dimension, 0, " SA", va="bottom", fontsize=9)
    ax.set(xlabel="number of features K", ylabel="episodes to 10 rewards", ylim=(0, None))
    ax.legend(fontsize=8)
    return fig


@styled
def fig5(by_N: pd.DataFrame, by_K: pd.DataFrame, laws: dict[str, scaling.PowerLaw]) -> Figure:
    """Figure 5: the same on logarithmic axes, where a power law is a line."""
    fig, axes = canvas(2, width=8.4, sharey=True)
    for ax, cells, name in zip(axes, (by_N, by_K), ("N", "K"), strict=True):
        _times(ax, cells)
        x, law = cells.index.to_numpy(float), laws[name]
        ax.plot(x, law.level * x**law.power, color=COLOUR["theory"], ls=LINE["theory"],
                label=f"median regression, slope {law.power:.2f}")
        ax.set(xscale="log", yscale="log",
               xlabel={"N": "chain length N", "K": "number of features K"}[name])
        ax.legend(fontsize=8)
    axes[0].set_ylabel("episodes to 10 rewards")
    return fig


@styled
def fig6(table: pd.DataFrame) -> Figure:
    """Figure 6: learning time against ρ in both readings, censored runs at the top."""
    fig, axes = canvas(2, width=8.6, sharey=True)
    for ax, noise in zip(axes, ("deviation", "variance"), strict=True):
        runs = table[table.noise == noise]
        learned, lost = runs[~runs.censored], runs[runs.censored]
        ax.plot(learned.rho, learned.tenth_reward, ".", ms=3, color=COLOUR["rlsvi"],
                label="learned")
        ax.plot(lost.rho, lost.tenth_reward * 1.25, "|", ms=5, color=COLOUR["epsilon-greedy"],
                label="not within 10 000")
        ax.set(title=f"ρ as {noise}", xlabel="ρ", yscale="log")
    axes[0].set_ylabel("episodes to 10 rewards")
    axes[0].legend(fontsize=8, loc="lower right")
    return fig


@styled
def success_rates(rates: dict[str, pd.Series]) -> Figure:
    """The share of runs that learn, in a sliding window over ρ."""
    fig, ax = canvas(height=2.8)
    for (name, rate), style in zip(rates.items(), ("-", "--"), strict=True):
        ax.plot(rate.index, rate, style, lw=2, label=f"ρ as {name}")
    ax.axhline(0.5, color="0.5", lw=0.8, ls=":")
    ax.set(xlabel="ρ", ylabel="share of runs that learn", ylim=(-0.02, 1.02))
    ax.legend()
    return fig


@styled
def sweep(table: pd.DataFrame, parameter: str, symbol: str) -> Figure:
    """Figures 10 and 11: regret curves for each value, and the regret at the end."""
    fig, axes = canvas(2, width=8.6, sharey=True)
    values = np.sort(table[parameter].unique())
    shades = plt.get_cmap("viridis")(np.linspace(0, 0.92, values.size))
    for value, shade in zip(values, shades, strict=True):
        curve = table[table[parameter] == value].groupby("episode").regret.median()
        axes[0].plot(curve.index, curve, color=shade, lw=1.5)
    last = table[table.episode == table.episode.max()].groupby(parameter).regret
    low, high = last.quantile(0.1), last.quantile(0.9)
    axes[1].fill_between(values, low, high, color="0.85", lw=0)
    axes[1].plot(values, last.median(), color="0.4", lw=1)
    axes[1].scatter(values, last.median(), c=shades, s=35, zorder=3)
    axes[0].set(xlabel="episode", ylabel="cumulative regret (realised)", title="median curves")
    axes[1].set(xscale="log", xlabel=symbol, title="after 10 000 episodes")
    return fig


@styled
def fig12(cells: pd.DataFrame, bands: dict[int, pd.DataFrame]) -> Figure:
    """Figure 12: learning time against K, one local polynomial for each chain length."""
    return _families(cells, bands, "K", "N")


@styled
def fig13(cells: pd.DataFrame, bands: dict[int, pd.DataFrame]) -> Figure:
    """Figure 13: learning time against N, one quadratic for each number of features."""
    return _families(cells, bands, "N", "K")


def _families(cells, bands, axis: str, family: str) -> Figure:
    fig, ax = canvas(height=3.6)
    shades = plt.get_cmap("viridis")(np.linspace(0, 0.88, len(bands)))
    marks = "os^Dv<>p"
    for (value, band), shade, mark in zip(bands.items(), shades, marks, strict=False):
        points = cells.xs(value, level=family)["median"]
        ax.fill_between(band.index, band.low, band.high, color=shade, alpha=0.15, lw=0)
        ax.plot(band.index, band.fit, color=shade, lw=1.5)
        ax.plot(points.index, points, mark, color=shade, ms=4, label=f"{family} = {value}")
    ax.set(xlabel={"N": "chain length N", "K": "number of features K"}[axis],
           ylabel="episodes to 10 rewards", ylim=(0, None))
    ax.legend(fontsize=8, ncols=2)
    return fig


@styled
def readings(cells: pd.DataFrame, budget: int) -> Figure:
    """Median learning time under each reading; the label says how many runs learned."""
    fig, ax = canvas(height=0.32 * len(cells) + 0.8, width=7.6)
    y = np.arange(len(cells))[::-1]
    high = np.minimum(cells.high, budget)
    ax.hlines(y, np.minimum(cells.low, budget), high, color="0.6", lw=2)
    learned = np.isfinite(cells["median"])
    ax.plot(cells["median"][learned], y[learned], "o", color=COLOUR["rlsvi"])
    ax.plot(np.full((~learned).sum(), budget), y[~learned], ">", color=COLOUR["epsilon-greedy"])
    for place, (_, cell) in zip(y, cells.iterrows(), strict=True):
        ax.text(budget * 1.15, place, f"{cell.runs - cell.censored:.0f}/{cell.runs:.0f} learned",
                va="center", fontsize=8)
    ax.set(yticks=y, yticklabels=cells.index, xscale="log", xlabel="episodes to 10 rewards",
           xlim=(100, budget * 3))
    ax.grid(axis="y", visible=False)
    return fig


@styled
def frontier(runs: dict[str, np.ndarray], N: int) -> Figure:
    """The furthest state of every episode, and the furthest so far."""
    fig, axes = canvas(len(runs), width=8.4, sharey=True)
    for ax, (agent, furthest) in zip(axes, runs.items(), strict=True):
        episodes = np.arange(1, furthest.size + 1)
        ax.plot(episodes, furthest + 1, ".", ms=2, color=COLOUR[agent], alpha=0.5)
        ax.plot(episodes, np.maximum.accumulate(furthest) + 1, color="black", lw=1.2,
                label="furthest so far")
        ax.axhline(N, color="0.5", lw=0.8, ls=":")
        ax.set(title=NAME[agent], xlabel="episode")
    axes[0].set_ylabel("furthest state")
    axes[0].legend(fontsize=8)
    return fig


def _with_medians(draw, by: str, smoother):
    """Draw from a table of runs what needs the medians of its cells."""
    def from_table(table: pd.DataFrame) -> Figure:
        return draw(runs.medians(table, by), scaling.smooth_band(table, by, smoother))
    return from_table


def _families_of(draw, axis: str, family: str, smoother):
    def from_table(table: pd.DataFrame) -> Figure:
        bands = {value: scaling.smooth_band(cell, axis, smoother)
                 for value, cell in table.groupby(family)}
        return draw(runs.medians(table, [family, axis]), bands)
    return from_table


DRAW = {  # how ``rlsvi plot`` draws each stored table
    "example1": example1, "fig2a": fig2a, "fig2b": fig2b, "fig6": fig6,
    "fig3": _with_medians(fig3, "N", scaling.local_polynomial),
    "fig4": _with_medians(fig4, "K", scaling.local_polynomial),
    "fig10": lambda table: sweep(table, "lam", "λ"),
    "fig11": lambda table: sweep(table, "sigma", "σ"),
    "fig13": _families_of(fig13, "N", "K", scaling.quadratic),
    "readings": lambda table: readings(scaling.reading_medians(table), 5000),
}
