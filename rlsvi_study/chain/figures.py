"""The figures of the chain: chapters 1 to 4, 6, 6a and 6b, A to C."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .. import style
from ..intervals import student
from ..style import (
    BAND,
    BY_AGENT,
    COLOUR,
    LINE,
    MARK,
    NAME,
    RANGE,
    STYLE,
    canvas,
    legend,
    styled,
    three,
)
from . import runs, scaling

FEW = 5  # the paper averages five seeds; these are drawn one by one
BUDGET = 20_000  # where runs of figures 3, 4, 12 and 13 are censored
AXIS = {"N": "chain length N", "K": "number of features K", "lam": "λ", "sigma": "σ"}
TIME = "episodes to 10 rewards"
EACH = BY_AGENT | {"units": "seed", "estimator": None}  # every run as a line
POINTS = {"linestyle": "", "err_style": "bars", "err_kws": {"capsize": 2}}
# Chapters 1 to 4: larger letters, for the width of a phone.
large = plt.rc_context(STYLE | {f"{name}size": 12.5 for name in (
    "font.", "axes.label", "axes.title", "xtick.label", "ytick.label", "legend.font")})


@large
def chain_diagram(N: int = 50) -> Figure:
    """Figure 1: the chain. Solid arrows go left for sure, dashed ones right with a slip."""
    fig, ax = canvas(height=2.0)
    ax.set(xlim=(-0.8, 5.8), ylim=(-0.85, 0.95), aspect="equal")
    ax.axis("off")
    for x, text in {0: "1", 1: "2", 2: "3", 4: f"N−1\n= {N - 1}", 5: f"N\n= {N}"}.items():
        ax.add_patch(plt.Circle((x, 0), 0.3, fc="#FBEFA9" if x == 5 else "#EEEEEE", ec="black"))
        ax.text(x, 0, text, ha="center", va="center")
    ax.text(3, 0, "· · ·", ha="center", va="center", fontsize=20)

    bent = {"arrowstyle": "-|>", "connectionstyle": "arc3,rad=-0.35", "shrinkA": 0, "shrinkB": 0}
    for x in range(5):
        left, right = x + (0.3 if x == 3 else 0.22), x + (0.7 if x == 2 else 0.78)
        ax.annotate("", (right, 0.17), (left, 0.17),
                    arrowprops=bent | {"color": "black", "ls": "--"})
        ax.annotate("", (left, -0.17), (right, -0.17), arrowprops=bent | {"color": "0.5"})
    ax.text(2.5, 0.72, "right: works with probability 1 − 1/N, else moves left",
            ha="center")
    ax.text(2.5, -0.78, "left: always works", ha="center", color="0.4")
    ax.text(0, 0.42, "start", ha="center")
    ax.text(5, 0.42, "reward 1", ha="center")
    return fig


@large
def example1(table: pd.DataFrame) -> Figure:
    """Example 1: the first rewarded episode against the length of the chain."""
    fig, ax = canvas(height=3.6)
    N = np.arange(table.N.min(), table.N.max() + 1)
    exact = 2.0 ** (N - 1) / (1 - 1 / N) ** (N - 1)
    ax.plot(N, exact, color=COLOUR["theory"], ls=LINE["theory"], label="exact: $2^{N-1}/p^*$")
    ax.plot(N, 2.0 ** (N - 1), color="0.5", ls=":", label="the paper's bound: $2^{N-1}$")
    beside = table.agent.map({"epsilon-greedy": -0.12, "boltzmann": 0.12, "rlsvi": 0.0})
    sns.lineplot(table.assign(N=table.N + beside, wait=1 + table.unrewarded), x="N", y="wait",
                 **BY_AGENT | {"dashes": False}, markers=MARK, **POINTS, ax=ax, errorbar=student)
    ax.set(yscale="log", xlabel=AXIS["N"], ylabel="episodes to the first reward")
    legend(ax)
    return fig


@large
def fig2a(table: pd.DataFrame) -> Figure:
    """Figure 2(a): realised regret over the first 2000 episodes."""
    fig, ax = canvas(height=3.6)
    look = {"x": "episode", "y": "regret", "ax": ax}
    sns.lineplot(table, **look, **BY_AGENT, **BAND)
    sns.lineplot(table[table.seed < FEW], **look, **EACH, lw=0.7, alpha=0.6, legend=False)
    ax.set_ylabel("cumulative regret")
    legend(ax)
    return fig


@large
def fan(x: np.ndarray, y: np.ndarray, mean: np.ndarray, draws: np.ndarray) -> Figure:
    """A line through some data: its posterior mean and samples, each an (intercept, slope)."""
    fig, ax = canvas(height=3.2)
    ends = np.array([0.0, 1.0])
    for line in draws:
        ax.plot(ends, line[0] + line[1] * ends, color=COLOUR["rlsvi"], lw=0.8, alpha=0.4)
    ax.plot(ends, mean[0] + mean[1] * ends, color=COLOUR["lsvi"], ls=LINE["lsvi"], lw=2.5,
            label="mean (LSVI)")
    ax.plot([], [], color=COLOUR["rlsvi"], lw=0.8, label="samples (RLSVI)")
    ax.plot(x, y, "o", color=COLOUR["truth"], label="data")
    ax.set(xlabel="place x", ylabel="reward", xlim=(0, 1))
    ax.legend(loc="upper left", ncols=3, columnspacing=1.2, borderaxespad=0)
    return fig


@large
def two_periods(pairs: dict[tuple[int, int, int], str]) -> Figure:
    """States from left to right, periods from top to bottom; each arrow, from state s of period h
    to a state of the next, has its label."""
    fig, ax = canvas(height=3.3)
    ax.set(xlim=(0, 4.5), ylim=(2.3, -0.3))
    ax.axis("off")
    for h, s, after in pairs:
        ax.annotate("", (after, h + 1), (s, h), arrowprops={"arrowstyle": "-|>", "color": "0.4",
                                                           "shrinkA": 13, "shrinkB": 13})
        side = 1 if after > s else -1
        ax.text(s + 0.35 * (after - s) + 0.2 * side, h + 0.35, pairs[h, s, after],
                ha="left" if side > 0 else "right", va="center")
    for h, s in sorted({(h, s) for h, s, _ in pairs} | {(h + 1, s) for h, _, s in pairs}):
        ax.text(s, h, str(s), ha="center", va="center", bbox={
            "boxstyle": "circle,pad=0.35", "fc": "#FBEFA9" if s == 4 else "#EEEEEE", "ec": "black"})
    for h, name in enumerate(("period 0", "period 1", "end")):
        ax.text(0, h, name, va="center", color="0.4")
    return fig


@large
def spreads(spread: dict[str, np.ndarray], tried: np.ndarray) -> Figure:
    """The standard deviation of a value over samples, by state and period, for each kind of target;
    a dot where data are. States that no episode can reach by a period are left out."""
    fig, axes = canvas(len(spread), height=4.2, sharey=True)
    H, S = tried.shape
    acted = range(min(H, S))  # further states are reached only at the end
    unreachable = np.arange(len(acted)) > np.arange(H)[:, None]
    for ax, (targets, values) in zip(axes, spread.items(), strict=True):
        sns.heatmap(pd.DataFrame(values[:, acted], columns=[s + 1 for s in acted]), vmin=0, vmax=1,
                    mask=unreachable, cmap="viridis", square=True, cbar=False, ax=ax)
        h, s = np.nonzero(tried)
        ax.plot(s + 0.5, h + 0.5, ".", color="white", ms=6)
        ax.set(title=f"the {targets} in the targets", xlabel="state", ylabel="period h")
        ax.tick_params(axis="y", rotation=0)
        ax.grid(visible=False)
    axes[-1].set_ylabel("")
    fig.colorbar(axes[0].collections[0], ax=axes, location="bottom", aspect=40, shrink=0.8,
                 label="standard deviation of the value of Right")
    return fig


@large
def value_samples(samples: dict[int, np.ndarray], truth: np.ndarray) -> Figure:
    """Sampled values along the path 1, 2, …, N after some numbers of episodes, and the truth: one
    sample as a line, and a band with the middle 80% of all."""
    fig, axes = canvas(2, -(-len(samples) // 2), height=5.0, sharex=True, sharey=True)
    states = np.arange(1, truth.size + 1)
    for ax, (episodes, values) in zip(axes.flat, samples.items(), strict=True):
        ax.fill_between(states, *np.quantile(values, (0.1, 0.9), axis=0), color=COLOUR["rlsvi"],
                        alpha=0.2, lw=0, label="RLSVI, 80% of samples")
        ax.plot(states, values[0], color=COLOUR["rlsvi"], lw=2.2, label="RLSVI, one sample")
        ax.plot(states, truth, color=COLOUR["truth"], lw=1.6, ls="--", label="truth, $Q^*$")
        ax.set(title=f"after {episodes} episode{'s' * (episodes != 1)}")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[1, 0].legend(loc="lower right")
    plt.setp(axes[-1], xlabel="state on the path")
    plt.setp(axes[:, 0], ylabel="value of going right")
    return fig


@large
def running_regret(realised: np.ndarray, exact: float) -> Figure:
    """The average realised regret of a policy, episode by episode, and its exact value."""
    fig, ax = canvas()
    n = np.arange(1, realised.shape[1] + 1)
    lines = ax.plot(n, (realised.cumsum(axis=1) / n).T, color="0.5", lw=0.8, alpha=0.6)
    lines[0].set_label("realised, averaged")
    ax.axhline(exact, color=COLOUR["truth"], lw=2, label="exact")
    ax.set(xscale="log", xlabel="episodes averaged", ylabel="regret per episode")
    ax.legend()
    return fig


@large
def basis_fits(truth: np.ndarray, fits: dict[str, np.ndarray]) -> Figure:
    """A slice of Q* along the states, and the best that a basis can do."""
    fig, axes = canvas(len(fits), sharey=True)
    states = np.arange(1, truth.size + 1)
    for ax, (name, fit) in zip(axes, fits.items(), strict=True):
        sns.lineplot(pd.DataFrame({"$Q^*$": truth, "best fit": fit}, states), ax=ax,
                     palette=[COLOUR["truth"], COLOUR["theory"]], dashes=[(), (3, 1)],
                     legend=ax is axes[0])
        ax.set(title=f"{name} features", xlabel="state", ylabel="value of going right")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].legend(loc="upper left")
    return fig


@styled
def action_law(laws: dict[str, pd.DataFrame]) -> Figure:
    """The probability of each action against the parameter of a dithering scheme."""
    fig, axes = canvas(len(laws), sharey=True)
    for ax, (name, law) in zip(axes, laws.items(), strict=True):
        sns.lineplot(law, palette=style.values(law.shape[1]), ax=ax, legend=ax is axes[0])
        ax.set(title=name, xlabel=law.index.name, ylabel="probability")
    axes[-1].set_xscale("log")
    return fig


@styled
def fig2b(table: pd.DataFrame) -> Figure:
    """Figure 2(b): a million episodes. Left, regret; right, episodes with a suboptimal policy."""
    fig, axes = canvas(2)
    for ax, value in zip(axes, ("regret", "suboptimal"), strict=True):
        sns.lineplot(table, x="episode", y=value, **EACH, lw=1, legend=False, ax=ax)
    axes[0].set(ylabel="cumulative regret (realised)", xticks=(0, 500_000, 1_000_000))
    for axis in (axes[0].xaxis, axes[0].yaxis):
        axis.set_major_formatter(style.digits)
    axes[1].set(ylabel="suboptimal episodes", xscale="log", yscale="log")
    last = table[table.episode == table.episode.max()].groupby("agent").suboptimal.median()
    style.label_ends(axes[1], {NAME[agent].replace(" ", "\n"): (y, COLOUR[agent])
                         for agent, y in last.items()})
    return fig


def _times(ax: Axes, table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Medians with intervals; what is censored is drawn at the budget, pointing upwards."""
    cells = runs.medians(table, axis)
    lost = cells.index[np.isinf(cells["median"])]
    sns.lineplot(three(cells.drop(lost), limit=BUDGET), x=axis, y="time", **RANGE, **POINTS,
                 marker="o", color=COLOUR["rlsvi"], label="RLSVI: median, 95% interval", ax=ax)
    ax.plot(lost, [BUDGET] * len(lost), "^", color=COLOUR["rlsvi"])
    ax.set(xlabel=AXIS[axis], ylabel=TIME)
    return cells


def _smooth_times(ax: Axes, table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """The same over a smooth curve, beside the paper's statistic."""
    band = scaling.smooth_band(table, axis, scaling.local_polynomial)
    sns.lineplot(three(band, "fit"), x=axis, y="time", **RANGE, color=COLOUR["rlsvi"], lw=1,
                 label="RLSVI: smoothed, 95% band", ax=ax)
    cells = _times(ax, table, axis)
    ax.plot(cells.index, cells.mean5, "x", color=COLOUR["paper"],
            label="mean of 5 seeds (paper's statistic)")
    return cells


@styled
def fig3(table: pd.DataFrame) -> Figure:
    """Figure 3: learning time against N, with the bounds it is held against."""
    fig, axes = canvas(2, height=3.9)
    fine = np.linspace(table.N.min(), table.N.max(), 200)
    for ax in axes:
        cells = _smooth_times(ax, table, "N")
        ax.plot(fine, (fine - 1) ** 2 * fine * 2 / 10, color=COLOUR["theory"], label="$H^2SA/10$")
        ax.plot(fine, 2.0 ** (fine - 1), color="0.3", ls="--", label="$2^{N-1}$")
        ax.get_legend().remove()
    axes[0].set(title="linear axis",
                ylim=(0, 1.15 * max(cells.mean5.max(), cells["median"].max())))
    axes[1].set(title="logarithmic axis", yscale="log", ylim=(10, 1e9), ylabel="")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


@styled
def fig4(table: pd.DataFrame, dimension: int = 100) -> Figure:
    """Figure 4: learning time against K, with a local polynomial through the medians."""
    fig, ax = canvas()
    _smooth_times(ax, table, "K")
    ax.axvline(dimension, color="0.4", ls=":", lw=1)
    ax.text(dimension, 0, " SA", va="bottom", fontsize=9)
    ax.set_ylim(0, None)
    ax.legend()
    return fig


@styled
def fig5(lengths: pd.DataFrame, features: pd.DataFrame) -> Figure:
    """Figure 5: the same on logarithmic axes, where a power law is a line."""
    fig, axes = canvas(2, sharey=True)
    for ax, table, axis in zip(axes, (lengths, features), "NK", strict=True):
        x, law = _times(ax, table, axis).index.to_numpy(float), scaling.exponent(table, axis)
        ax.plot(x, law.level * x**law.power, color=COLOUR["theory"], ls=LINE["theory"])
        ax.text(0.97, 0.08, f"median regression:\nslope {law.power:.2f}", ha="right", fontsize=9,
                color=style.ink(COLOUR["theory"]), transform=ax.transAxes)
        ax.set(xscale="log", yscale="log")
        ax.legend(loc="upper left")
    return fig


@styled
def fig6(table: pd.DataFrame) -> Figure:
    """Figure 6: learning time against ρ in both readings, censored runs at the top."""
    fig, axes = canvas(2, sharey=True)
    never = f"not within {style.digits(table.tenth_reward.max())}"
    table = table.assign(run=np.where(table.censored, never, learned := "RLSVI learned"),
                         time=table.tenth_reward * np.where(table.censored, 1.25, 1))
    for ax, (noise, cell) in zip(axes, table.groupby("noise"), strict=True):
        sns.scatterplot(cell, x="rho", y="time", hue="run", style="run", s=14, linewidth=0, ax=ax,
                        hue_order=(learned, never), markers=["o", "^"],
                        palette=[COLOUR["rlsvi"], COLOUR["fails"]])
        ax.set(title=f"ρ as {noise}", xlabel="ρ", ylabel=TIME, yscale="log")
        ax.legend(loc="lower right")
    return fig


@styled
def success_rates(rates: pd.DataFrame) -> Figure:
    """The share of runs that learn, in a sliding window over ρ."""
    fig, ax = canvas(height=2.8)
    sns.lineplot(rates.rename(columns="ρ as {}".format), palette=style.shades("rlsvi", 2), ax=ax)
    ax.axhline(0.5, color="0.5", lw=0.8, ls=":")
    ax.set(xlabel="ρ", ylabel="share of runs that learn", ylim=(-0.02, 1.02))
    return fig


@styled
def sweep(table: pd.DataFrame, parameter: str) -> Figure:
    """Figures 10 and 11: regret curves for each value, and the regret at the end."""
    fig, axes = canvas(2, sharey=True)
    shades, name = style.values(table[parameter].nunique()), AXIS[parameter]
    sns.lineplot(table, x="episode", y="regret", hue=parameter, palette=shades, lw=1.5,
                 estimator="median", errorbar=None, legend=False, ax=axes[0])
    last = table[table.episode == table.episode.max()]
    sns.lineplot(last, x=parameter, y="regret", **BAND, color="0.4", lw=1, ax=axes[1])
    axes[1].scatter(parameter, "regret", c=shades, s=35, zorder=3,
                    data=last.groupby(parameter).regret.median().reset_index())
    axes[0].set(ylabel="cumulative regret (realised)", title=f"medians, {name} as on the right")
    axes[0].xaxis.set_major_formatter(style.digits)
    axes[1].set(xscale="log", xlabel=name,
                title=f"after {style.digits(table.episode.max())} episodes")
    if parameter == "lam":  # the scale that matters: λ as the spread of values before any data
        top = axes[1].secondary_xaxis("top", functions=(_spread, _spread_to_lam))
        top.set_xlabel("prior spread of a value ($Q^* \\leq 1$)")
        top.minorticks_off()
    return fig


def _spread(lam: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):  # outside the axis
        return runs.prior_spread(1.0) / np.sqrt(lam)


def _spread_to_lam(spread: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return (runs.prior_spread(1.0) / spread) ** 2


@styled
def families(table: pd.DataFrame, family: str, axis: str, smoother: Callable) -> Figure:
    """Learning time against one of N and K, a smooth curve for each value of the other.

    Figure 12: local polynomials in K for each N. Figure 13: quadratics in N for each K.
    """
    fig, ax = canvas(height=3.6)
    bands = {one: scaling.smooth_band(cell, axis, smoother) for one, cell in table.groupby(family)}
    look = {"hue": family, "palette": style.values(len(bands)), "ax": ax}
    sns.lineplot(three(pd.concat(bands, names=[family]), "fit"), x=axis, y="time", **RANGE, **look,
                 lw=1.5, legend=False)
    sns.scatterplot(runs.medians(table, [family, axis]), x=axis, y="median", style=family, s=30,
                    **look, markers=list("os^Dv<>p")[:len(bands)], legend=False)
    ax.set(xlabel=AXIS[axis], ylabel=TIME, ylim=(0, None))
    ends = {f"{family} = {one}": (band.index[-1], band.fit.iloc[-1]) for one, band in bands.items()}
    for name, (x, y) in ends.items():
        if x < (last := table[axis].max()):
            ax.annotate(name, (x, y), (6, 0), textcoords="offset points", va="center", fontsize=9)
    style.label_ends(ax, {name: (y, "black") for name, (x, y) in ends.items() if x == last})
    return fig


@styled
def readings(table: pd.DataFrame) -> Figure:
    """Median learning time under each reading, for both λ, and how many runs learned."""
    cells, budget = scaling.reading_medians(table), table.tenth_reward.max()
    order = cells.index.unique("label")
    fig, axes = canvas(2, height=0.32 * len(order) + 1, sharey=True)
    for ax, lam in zip(axes, cells.index.unique("lam").sort_values(), strict=True):
        group = cells.xs(lam, level="lam")
        lost = np.isinf(group["median"])
        sns.pointplot(three(group[~lost], limit=budget), x="time", y="label", order=order, **RANGE,
                      linestyle="none", color=COLOUR["rlsvi"], markersize=5,
                      err_kws={"color": "0.6", "lw": 2}, ax=ax)
        ax.plot(np.full(lost.sum(), budget), np.flatnonzero(np.isin(order, group.index[lost])), ">",
                color=COLOUR["fails"])
        for cell in group.itertuples():
            ax.text(budget * 1.3, list(order).index(cell.Index),
                    f"{cell.runs - cell.censored}/{cell.runs}", va="center", fontsize=9)
        ax.set(xscale="log", xlabel=TIME, ylabel="", xlim=(100, budget * 5),
               title=f"λ = {lam:g}")
        ax.grid(axis="y", visible=False)
    return fig


@styled
def frontier(runs: dict[str, np.ndarray], N: int) -> Figure:
    """The furthest state of every episode, and the furthest so far."""
    fig, axes = canvas(len(runs), sharey=True)
    for ax, (agent, furthest) in zip(axes, runs.items(), strict=True):
        reached = pd.Series(furthest + 1, np.arange(1, furthest.size + 1))
        ax.plot(reached, ".", ms=2, color=COLOUR[agent], alpha=0.5)
        ax.plot(reached.cummax(), color="black", lw=1.2, label="furthest so far")
        ax.axhline(N, color="0.5", lw=0.8, ls=":")
        ax.set(title=NAME[agent], xlabel="episode")
    axes[0].set_ylabel("furthest state")
    axes[0].legend()
    return fig


# How ``rlsvi plot`` draws each stored table …
DRAW: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "example1": example1, "fig2a": fig2a, "fig2b": fig2b, "fig3": fig3,
    "fig3-tabular": fig3, "fig4": fig4, "fig6": fig6,
    "fig10": lambda table: sweep(table, "lam"), "fig11": lambda table: sweep(table, "sigma"),
    "fig13": lambda table: families(table, "K", "N", scaling.quadratic), "readings": readings}
# … and the figures of the paper without a table of their own: whose they need, and the drawing.
DRAW_FROM: dict[str, tuple[tuple[str, ...], Callable[..., Figure]]] = {
    "fig1": ((), chain_diagram), "fig5": (("fig3", "fig4"), fig5),
    "fig12": (("fig13",), lambda table: families(table, "N", "K", scaling.local_polynomial))}
