"""The figures of the chain: chapters 1 to 4 and 6.1, A to C."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .. import style
from ..judging.intervals import student_ends
from ..judging.outcomes import last_rows
from ..judging.register import typeset_numbers
from ..style import (
    BAND,
    BY_AGENT,
    COLOUR,
    LINE,
    MARK,
    NAME,
    RANGE,
    add_legend,
    interval_rows,
    subplots,
    with_style,
)
from . import experiments, scaling

FEW = 5  # the paper averages five seeds; each of these is drawn
BUDGET = 20_000  # where runs of figures 3, 4, 12 and 13 are censored
AXIS = {"N": "chain length N", "K": "number of features K", "lam": "λ", "sigma": "σ"}
TIME = "episodes to 10 rewards"
EACH = BY_AGENT | {"units": "seed", "estimator": None}  # every run as a line
POINTS = {"linestyle": "", "err_style": "bars", "err_kws": {"capsize": 2}}


def carried_back(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], bend: float
) -> None:
    """The way by which a value is carried back to where it can be acted on: dotted, since nobody
    moves along it."""
    arc = {
        "connectionstyle": f"arc3,rad={bend}",
        "color": COLOUR["rlsvi"],
        "shrinkA": 12,
        "shrinkB": 12,
    }
    dots = {"arrowstyle": "-", "lw": 2.5, "ls": ":"}
    head = {"arrowstyle": "-|>,head_width=0.35,head_length=0.6", "lw": 0.1}
    for look in (dots, head):
        ax.annotate("", end, start, arrowprops=arc | look)


@with_style
def chain_diagram(N: int = 50) -> Figure:
    """Figure 1: the chain. Solid arrows go left for sure, dashed ones right with a slip."""
    fig, ax = subplots(height=2.0)
    ax.set(xlim=(-0.8, 5.8), ylim=(-0.85, 0.95), aspect="equal")
    ax.axis("off")
    for x, text in {0: "1", 1: "2", 2: "3", 4: f"N−1\n= {N - 1}", 5: f"N\n= {N}"}.items():
        ax.add_patch(plt.Circle((x, 0), 0.3, fc="#FBEFA9" if x == 5 else "#EEEEEE", ec="black"))
        ax.text(x, 0, text, ha="center", va="center")
    ax.text(3, 0, "· · ·", ha="center", va="center", fontsize=20)

    bent = {"arrowstyle": "-|>", "connectionstyle": "arc3,rad=-0.35", "shrinkA": 0, "shrinkB": 0}
    for x in range(5):
        left, right = x + (0.3 if x == 3 else 0.22), x + (0.7 if x == 2 else 0.78)
        ax.annotate(
            "", (right, 0.17), (left, 0.17), arrowprops=bent | {"color": "black", "ls": "--"}
        )
        ax.annotate("", (left, -0.17), (right, -0.17), arrowprops=bent | {"color": "0.5"})
    ax.text(2.5, 0.72, "right: works with probability 1 − 1/N, else moves left", ha="center")
    ax.text(2.5, -0.78, "left: always works", ha="center", color="0.4")
    ax.text(0, 0.42, "start", ha="center")
    ax.text(5, 0.42, "reward 1", ha="center")
    return fig


@with_style
def example1(table: pd.DataFrame) -> Figure:
    """Example 1: the first rewarded episode against the length of the chain."""
    fig, ax = subplots(height=3.6)
    N = np.arange(table.N.min(), table.N.max() + 1)
    exact = 2.0 ** (N - 1) / (1 - 1 / N) ** (N - 1)
    ax.plot(N, exact, color=COLOUR["theory"], ls=LINE["theory"], label="exact, 1/q")
    ax.plot(N, 2.0 ** (N - 1), color="0.5", ls=":", label="the paper's bound")
    beside = table.agent.map({"epsilon-greedy": -0.12, "boltzmann": 0.12, "rlsvi": 0.0})
    sns.lineplot(
        table.assign(N=table.N + beside, wait=1 + table.unrewarded),
        x="N",
        y="wait",
        **BY_AGENT | {"dashes": False},
        markers=MARK,
        **POINTS,
        ax=ax,
        errorbar=student_ends,
    )
    ax.set(yscale="log", xlabel=AXIS["N"], ylabel="episodes to the first reward")
    ax.yaxis.set_major_formatter(style.format_integer)
    add_legend(ax)
    return fig


@with_style
def fig2a(table: pd.DataFrame) -> Figure:
    """Figure 2(a): realised regret over the first 2000 episodes."""
    fig, ax = subplots(height=3.6)
    look = {"x": "episode", "y": "regret", "ax": ax}
    sns.lineplot(table, **look, **BY_AGENT, **BAND)
    sns.lineplot(table[table.seed < FEW], **look, **EACH, lw=0.7, alpha=0.6, legend=False)
    ax.set_ylabel("cumulative regret")
    add_legend(ax)
    return fig


@with_style
def fan(x: np.ndarray, y: np.ndarray, mean: np.ndarray, draws: np.ndarray) -> Figure:
    """A line through some data: its posterior mean and samples, each an (intercept, slope)."""
    fig, ax = subplots(height=3.2)
    ends = np.array([0.0, 1.0])
    for line in draws:
        ax.plot(ends, line[0] + line[1] * ends, color=COLOUR["rlsvi"], lw=0.8, alpha=0.4)
    ax.plot(
        ends,
        mean[0] + mean[1] * ends,
        color=COLOUR["lsvi"],
        ls=LINE["lsvi"],
        lw=2.5,
        label="mean (LSVI)",
    )
    ax.plot([], [], color=COLOUR["rlsvi"], lw=0.8, label="samples (RLSVI)")
    ax.plot(x, y, "o", color=COLOUR["truth"], label="data")
    ax.set(xlabel="place x", ylabel="reward", xlim=(0, 1))
    ax.legend(loc="upper left", ncols=3, columnspacing=1.2, borderaxespad=0)
    return fig


@with_style
def two_periods(pairs: dict[tuple[int, int, int], str]) -> Figure:
    """States from left to right, periods from top to bottom; each arrow, from state s of period h
    to a state of the next, has its label. The last one's value is carried back to the start."""
    fig, ax = subplots(height=3.3)
    ax.set(xlim=(0, 5.0), ylim=(2.3, -0.3))
    ax.axis("off")
    for h, s, after in pairs:
        ax.annotate(
            "",
            (after, h + 1),
            (s, h),
            arrowprops={"arrowstyle": "-|>", "color": "0.4", "shrinkA": 13, "shrinkB": 13},
        )
        side = 1 if after > s else -1
        ax.text(
            s + 0.35 * (after - s) + 0.2 * side,
            h + 0.35,
            pairs[h, s, after],
            ha="left" if side > 0 else "right",
            va="center",
        )
    for h, s in sorted({(h, s) for h, s, _ in pairs} | {(h + 1, s) for h, _, s in pairs}):
        ax.text(
            s,
            h,
            str(s),
            ha="center",
            va="center",
            bbox={
                "boxstyle": "circle,pad=0.35",
                "fc": "#FBEFA9" if s == 4 else "#EEEEEE",
                "ec": "black",
            },
        )
    for h, name in enumerate(("period 0", "period 1", "end")):
        ax.text(0, h, name, va="center", color="0.4")
    carried_back(ax, (4, 2), (2, 0), 0.62)
    said = "no move:\nthe fit carries\nvalues back"
    ax.text(4.0, 0.15, said, ha="left", va="center", color=style.readable_colour(COLOUR["rlsvi"]))
    return fig


HEADS = ("", "state, action", "n", "z", "target", "value")


def by_hand(ax: Axes, rows: list[tuple[str, ...]], top: float, step: float) -> None:
    """A table of text. A thick line stands where the first column changes, which is then said."""
    for i, row in enumerate([HEADS, *rows]):
        y, before = top - step * i, [HEADS, HEADS, *rows][i]
        if i and row[0] != before[0]:
            ax.plot((0.05, 6.95), 2 * [y + step / 2], color="0.3", lw=1.2)
            ax.text(0.1, y, row[0], va="center")
        elif i:
            ax.plot((1.85, 6.95), 2 * [y + step / 2], color="0.8", lw=0.8)
        for x, text in zip((1.85, 3.4, 4.1, 4.95, 6.0), row[1:], strict=True):
            ax.text(x, y, text.replace("-", "−"), va="center", color="black" if i else "0.35")


def states(ax: Axes, y: float, names: str, apart: float) -> None:
    """A row of them, the last of which pays."""
    for i, name in enumerate(names):
        circle = {
            "boxstyle": "circle,pad=0.25",
            "fc": "#EEEEEE" if i < len(names) - 1 else "#FBEFA9",
            "ec": "black",
        }
        at = {"ha": "center", "va": "center", "bbox": None if name == "…" else circle}
        ax.text(0.75 + apart * i, y, f"${name}$", **at)


@with_style
def table_to_fill(rows: list[tuple[str, ...]]) -> Figure:
    """Two periods by hand, as a table with room to write."""
    height = 0.4 * (len(rows) + 1)
    fig, ax = subplots(height=height)
    ax.set(xlim=(0, 7), ylim=(0, height))
    ax.axis("off")
    by_hand(ax, rows, height - 0.2, 0.4)
    return fig


@with_style
def board(rows: list[tuple[str, ...]]) -> Figure:
    """The board at the end of lecture 1, with the letters of its plan."""
    fig, ax = subplots(height=7.8)
    ax.set(xlim=(0, 7), ylim=(0, 7.8))
    ax.axis("off")
    for x, y, text in (
        (0.1, 7.5, "(a)"),
        (0.55, 7.05, r"Right slips left: $1/N$"),
        (0.1, 6.6, r"(b)  $\theta = 0$: coin flips"),
        (0.1, 6.15, r"(c)  $q = p^*\,2^{-(N-1)}$"),
        (0.1, 5.7, r"(d)  wait  $1/q - 1$"),
        (3.6, 7.5, r"(j)  for $h = H-1, \dots, 0$:"),
        (4.05, 6.9, r"$b_i = r_i + \max_\alpha\,\tilde Q_{h+1}(s'_i, \alpha)$"),
        (4.05, 6.3, r"$\Sigma = (A^T A/\sigma^2 + \lambda I)^{-1}$"),
        (4.05, 5.7, r"$\tilde\theta_h \sim N(\Sigma A^T b/\sigma^2,\; \Sigma)$"),
        (0.1, 5.0, "(e)"),
        (3.6, 5.0, r"(f)  $\tilde Q = \frac{n}{n+1}\,\bar b + z\,/\,\sqrt{n+1}$"),
        (0.1, 0.9, r"(k)  $\mathrm{Var}\,\tilde Q_h = c^2\,\mathrm{Var}\,\tilde V_{h+1} + \dots$"),
        (3.9, 0.9, r"$c = n\,/\,(n + \lambda\sigma^2)$"),
        (0.1, 0.35, r"(l)  $\tilde Q = \bar Q$ + optimism + spread"),
    ):
        ax.text(x, y, text, va="center")
    states(ax, 7.5, "12…N", 0.7)
    states(ax, 5.0, "1234", 0.8)
    for x, head in ((0.75, "<|-|>"), (1.55, "<|-|>"), (2.35, "-|>")):
        ends = {"arrowstyle": head, "color": "0.4", "shrinkA": 12, "shrinkB": 12}
        ax.annotate("", (x + 0.8, 5.0), (x, 5.0), arrowprops=ends)
    for x, text in ((1.55, "start"), (3.15, "reward")):
        ax.text(x, 4.62, text, ha="center", va="center", color="0.35")
    for y in (5.35, 4.45, 1.3):
        ax.plot((0, 7), (y, y), color="0.3", lw=1.2)
    by_hand(ax, rows, 4.22, 0.34)
    return fig


@with_style
def spreads(spread: dict[str, np.ndarray], tried: np.ndarray) -> Figure:
    """The standard deviation of a value over samples, by state and period, for each kind of target;
    a dot where data are. States that no episode can reach by a period are left out."""
    fig, axes = subplots(len(spread), height=4.2, sharey=True)
    H, S = tried.shape
    acted = range(min(H, S))  # further states are reached only at the end
    unreachable = np.arange(len(acted)) > np.arange(H)[:, None]
    for ax, (targets, values) in zip(axes, spread.items(), strict=True):
        sns.heatmap(
            pd.DataFrame(values[:, acted], columns=[s + 1 for s in acted]),
            vmin=0,
            vmax=1,
            mask=unreachable,
            cmap="viridis",
            square=True,
            cbar=False,
            ax=ax,
        )
        h, s = np.nonzero(tried)
        ax.plot(s + 0.5, h + 0.5, ".", color="white", ms=6)
        ax.set(title=f"the {targets} in the targets", xlabel="state", ylabel="period h")
        ax.tick_params(axis="y", rotation=0)
        ax.grid(visible=False)
    axes[-1].set_ylabel("")
    carried_back(axes[0], (H, H - 2.2), (2.2, 0), 0.0)
    fig.colorbar(
        axes[0].collections[0],
        ax=axes,
        location="bottom",
        aspect=40,
        shrink=0.8,
        label="standard deviation of the value of Right",
    )
    return fig


@with_style
def value_samples(samples: dict[int, np.ndarray], truth: np.ndarray) -> Figure:
    """Sampled values along the path 1, 2, …, N after some numbers of episodes, and the truth: one
    sample as a line, and a band with the middle 80% of all."""
    fig, axes = subplots(2, -(-len(samples) // 2), height=5.0, sharex=True, sharey=True)
    states = np.arange(1, truth.size + 1)
    for ax, (episodes, values) in zip(axes.flat, samples.items(), strict=True):
        ax.fill_between(
            states,
            *np.quantile(values, (0.1, 0.9), axis=0),
            color=COLOUR["rlsvi"],
            alpha=0.2,
            lw=0,
            label="RLSVI, 80% of samples",
        )
        ax.plot(states, values[0], color=COLOUR["rlsvi"], lw=2.2, label="RLSVI, one sample")
        ax.plot(states, truth, color=COLOUR["truth"], lw=1.6, ls="--", label="truth, Q*")
        ax.set(title=f"after {episodes} episode{'s' * (episodes != 1)}")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[1, 0].legend(loc="lower right")
    plt.setp(axes[-1], xlabel="state on the path")
    plt.setp(axes[:, 0], ylabel="value of going right")
    return fig


@with_style
def running_regret(realised: np.ndarray, exact: float) -> Figure:
    """The average realised regret of a policy, episode by episode, and its exact value."""
    fig, ax = subplots()
    n = np.arange(1, realised.shape[1] + 1)
    lines = ax.plot(n, (realised.cumsum(axis=1) / n).T, color="0.5", lw=0.8, alpha=0.6)
    lines[0].set_label("realised, averaged")
    ax.axhline(exact, color=COLOUR["truth"], lw=2, label="exact")
    ax.set(xscale="log", xlabel="episodes averaged", ylabel="regret per episode")
    ax.xaxis.set_major_formatter(style.format_integer)
    ax.legend()
    return fig


@with_style
def basis_fits(truth: np.ndarray, fits: dict[str, np.ndarray]) -> Figure:
    """A slice of Q* along the states, and the best that a basis can do."""
    fig, axes = subplots(len(fits), sharey=True)
    states = np.arange(1, truth.size + 1)
    for ax, (name, fit) in zip(axes, fits.items(), strict=True):
        sns.lineplot(
            pd.DataFrame({"Q*": truth, "best fit": fit}, states),
            ax=ax,
            palette=[COLOUR["truth"], COLOUR["theory"]],
            dashes=[(), (3, 1)],
            legend=ax is axes[0],
        )
        ax.set(title=f"{name} features", xlabel="state", ylabel="value of going right")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].legend(loc="upper left")
    return fig


@with_style
def action_law(laws: dict[str, pd.DataFrame]) -> Figure:
    """The probability of each action against the parameter of a dithering scheme."""
    fig, axes = subplots(len(laws), sharey=True)
    for ax, (name, law) in zip(axes, laws.items(), strict=True):
        sns.lineplot(
            law, palette=style.sequential_palette(law.shape[1]), ax=ax, legend=ax is axes[-1]
        )
        ax.set(title=name, xlabel=law.index.name, ylabel="probability")
    axes[-1].set_xscale("log")
    axes[-1].xaxis.set_major_formatter("{x:g}")
    axes[-1].legend(loc="upper right")
    return fig


@with_style
def fig2b(table: pd.DataFrame, start: pd.DataFrame | None = None) -> Figure:
    """Figure 2(b): the suboptimal policies so far over a million episodes, each run a line, and a
    dot at the last one of RLSVI. On the chain a suboptimal policy earns nothing, so regret is V*
    times their number. The table of Figure 2(a), if given, has the first episodes of these runs."""
    fig, ax = subplots(height=3.8)
    if start is not None:
        table = pd.concat([start[start.seed.isin(table.seed)], table])
    sns.lineplot(table, x="episode", y="suboptimal", ax=ax, legend=False, **EACH)
    ends = last_rows(table).groupby("agent")
    ours = ends.get_group("rlsvi")
    ax.plot(ours.last_suboptimal, ours.suboptimal, MARK["rlsvi"], color=COLOUR["rlsvi"], ms=6)
    ax.set(xscale="log", yscale="log", ylabel="suboptimal policies so far")
    ax.set_xticks([100, 10_000, 1_000_000])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(style.format_integer)
    style.label_line_ends(
        ax, {NAME[agent]: (of.suboptimal.median(), COLOUR[agent]) for agent, of in ends}
    )
    return fig


def _times(ax: Axes, table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Medians with intervals; what is censored is drawn at the budget, pointing upwards."""
    cells = experiments.median_learning_times(table, axis)
    lost = cells.index[np.isinf(cells["median"])]
    sns.lineplot(
        interval_rows(cells.drop(lost), limit=BUDGET),
        x=axis,
        y="time",
        **RANGE,
        **POINTS,
        marker="o",
        color=COLOUR["rlsvi"],
        label="RLSVI: median, 95% interval",
        ax=ax,
    )
    ax.plot(lost, [BUDGET] * len(lost), "^", color=COLOUR["rlsvi"])
    ax.set(xlabel=AXIS[axis], ylabel=TIME)
    return cells


def _smooth_times(ax: Axes, table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """The same over a smooth curve, beside the paper's statistic."""
    band = scaling.smooth_band(table, axis, scaling.local_linear_fit)
    sns.lineplot(
        interval_rows(band, "fit"),
        x=axis,
        y="time",
        **RANGE,
        color=COLOUR["rlsvi"],
        lw=1,
        label="RLSVI: smoothed, 95% band",
        ax=ax,
    )
    cells = _times(ax, table, axis)
    ax.plot(
        cells.index,
        cells.mean5,
        "x",
        color=COLOUR["paper"],
        label="mean of 5 seeds (paper's statistic)",
    )
    return cells


@with_style
def fig3(table: pd.DataFrame, alone: pd.DataFrame | None = None) -> Figure:
    """Figure 3: learning time against N, with the bounds it is held against; beside it, if given,
    that of an agent without generalization."""
    fig, ax = subplots(height=4.0)
    _smooth_times(ax, table, "N")
    if alone is not None:
        tabular = experiments.median_learning_times(alone, "N")
        sns.lineplot(
            interval_rows(tabular),
            x="N",
            y="time",
            **RANGE,
            **POINTS | {"linestyle": "-"},
            marker="s",
            color=style.agent_shades("rlsvi", 3)[2],
            ax=ax,
        )
        ax.annotate(
            "RLSVI, tabular",
            (tabular.index[-1], tabular["median"].iloc[-1]),
            (0, 8),
            textcoords="offset points",
            ha="center",
        )
    fine = np.linspace(table.N.min(), table.N.max(), 400)
    for bound, height in {
        "$H^2SA/10$": (fine - 1) ** 2 * fine * 2 / 10,
        "$2^{N-1}$": 2.0 ** (fine - 1),
    }.items():
        ax.plot(fine, height, color=COLOUR["theory"], ls="-" if "H" in bound else "--")
        ax.annotate(
            bound,
            (np.interp(2e4, height, fine), 2e4),
            (6, -2),
            va="top",
            textcoords="offset points",
            color=style.readable_colour(COLOUR["theory"]),
        )
    ax.set(yscale="log", ylim=(20, 2e6))
    return fig


@with_style
def fig4(table: pd.DataFrame, dimension: int = 100) -> Figure:
    """Figure 4: learning time against K, with a local polynomial through the medians."""
    fig, ax = subplots(height=3.8)
    _smooth_times(ax, table, "K")
    ax.axvline(dimension, color="0.4", ls=":", lw=1)
    ax.text(dimension, 0.9, " SA", transform=ax.get_xaxis_transform())
    ax.set_ylim(0, None)
    ax.legend()
    return fig


@with_style
def fig5(lengths: pd.DataFrame, features: pd.DataFrame) -> Figure:
    """Figure 5: the same on logarithmic axes, where a power law is a line."""
    fig, axes = subplots(2, sharey=True)
    for ax, table, axis in zip(axes, (lengths, features), "NK", strict=True):
        x, law = _times(ax, table, axis).index.to_numpy(float), scaling.fit_power_law(table, axis)
        ax.plot(x, law.level * x**law.power, color=COLOUR["theory"], ls=LINE["theory"])
        ax.text(
            0.97,
            0.08,
            f"slope {law.power:.2f}",
            ha="right",
            color=style.readable_colour(COLOUR["theory"]),
            transform=ax.transAxes,
        )
        ax.set(xscale="log", yscale="log")
        ax.get_legend().remove()
    return fig


@with_style
def fig6(table: pd.DataFrame) -> Figure:
    """Figure 6: learning time against ρ in both readings, censored runs at the top."""
    fig, axes = subplots(2, height=3.8, sharey=True)
    never = f"not within {style.format_integer(table.tenth_reward.max())}"
    table = table.assign(
        run=np.where(table.censored, never, learned := "RLSVI learned"),
        time=table.tenth_reward * np.where(table.censored, 1.25, 1),
    )
    for ax, (noise, cell) in zip(axes, table.groupby("noise"), strict=True):
        sns.scatterplot(
            cell,
            x="rho",
            y="time",
            hue="run",
            style="run",
            s=14,
            linewidth=0,
            ax=ax,
            hue_order=(learned, never),
            markers=["o", "^"],
            palette=[COLOUR["rlsvi"], COLOUR["fails"]],
        )
        ax.set(title=f"ρ as {noise}", xlabel="ρ", ylabel=TIME, yscale="log")
        ax.get_legend().remove()
    add_legend(axes[0], on=fig, loc="outside lower center", ncols=2, markerscale=2)
    return fig


@with_style
def sweep(table: pd.DataFrame, parameter: str) -> Figure:
    """Figures 10 and 11: median regret curves for each value; those that end low share a name."""
    fig, ax = subplots(height=3.8)
    shades, name = style.sequential_palette(table[parameter].nunique()), AXIS[parameter]
    sns.lineplot(
        table,
        x="episode",
        y="regret",
        hue=parameter,
        palette=shades,
        lw=1.5,
        estimator="median",
        errorbar=None,
        legend=False,
        ax=ax,
    )
    ax.set(ylabel="cumulative regret (realised)")
    ax.xaxis.set_major_formatter(style.format_integer)
    last = last_rows(table).groupby(parameter).regret.median()
    high = last[last > last.max() / 10]
    ends = {f"{name} = {typeset_numbers(f'{value:g}')}": y for value, y in high.items()}
    low = last.drop(high.index)
    ends[f"{name} ≤ {typeset_numbers(f'{low.index.max():g}')}"] = low.median()
    style.label_line_ends(ax, {text: (y, "black") for text, y in ends.items()})
    return fig


@with_style
def families(table: pd.DataFrame) -> Figure:
    """Learning time against one of N and K, a smooth curve for each value of the other.

    Figure 12: local polynomials in K for each N. Figure 13: quadratics in N for each K.
    """
    fig, axes = subplots(1, 2, height=7.2)
    for ax, (family, axis), smoother in zip(
        axes,
        (("N", "K"), ("K", "N")),
        (scaling.local_linear_fit, scaling.quadratic_fit),
        strict=True,
    ):
        bands = {
            one: scaling.smooth_band(cell, axis, smoother) for one, cell in table.groupby(family)
        }
        look = {
            "hue": family,
            "palette": style.sequential_palette(len(bands)),
            "ax": ax,
            "legend": False,
        }
        sns.lineplot(
            interval_rows(pd.concat(bands, names=[family]), "fit"),
            x=axis,
            y="time",
            **RANGE,
            **look,
            lw=1.5,
        )
        sns.scatterplot(
            experiments.median_learning_times(table, [family, axis]),
            x=axis,
            y="median",
            style=family,
            s=30,
            **look,
            markers=list("os^Dv<>p")[: len(bands)],
        )
        ax.set(xlabel=AXIS[axis], ylabel=TIME, ylim=(0, None))
        ends = {
            f"{family} = {one}": (band.index[-1], band.fit.iloc[-1]) for one, band in bands.items()
        }
        last = table[axis].max()
        for name, (x, y) in ends.items():
            if x < last:
                ax.annotate(name, (x, y), (6, 0), textcoords="offset points", va="center")
        style.label_line_ends(
            ax, {name: (y, "black") for name, (x, y) in ends.items() if x == last}
        )
    return fig


@with_style
def readings(table: pd.DataFrame) -> Figure:
    """Median learning time under each reading, for both λ, and how many runs learned."""
    cells, budget = scaling.interpretation_medians(table), table.tenth_reward.max()
    order = list(cells.index.unique("label"))
    fig, ax = subplots(height=0.4 * len(order) + 1)
    shades = style.agent_shades("rlsvi", 3)[::2]
    for lam, shade, mark, beside, count in zip(
        (1.0, 100.0), shades, "so", (-0.15, 0.15), (1.4, 6), strict=True
    ):
        ax.plot(budget * count, -0.8, mark, ms=6, color=shade)
        ax.text(budget * count * 1.2, -0.8, f"λ = {lam:g}", va="center")
        for cell in cells.xs(lam, level="lam").itertuples():
            row, lost = order.index(cell.Index), np.isinf(cell.median)
            ax.plot([cell.low, min(cell.high, budget)], [row + beside] * 2, color="0.6", lw=2)
            ax.plot(
                budget if lost else cell.median,
                row + beside,
                ">" if lost else mark,
                ms=6,
                color=COLOUR["fails"] if lost else shade,
            )
            ax.text(
                budget * count,
                row,
                f"{cell.runs - cell.censored}/{cell.runs}",
                va="center",
            )
    ax.set(
        xscale="log",
        xlabel=TIME,
        xlim=(200, budget * 22),
        ylim=(len(order) - 0.4, -1.2),
        yticks=range(len(order)),
        yticklabels=order,
        xticks=(200, 1000, 5000),
    )
    ax.xaxis.set_major_formatter(style.format_integer)
    ax.xaxis.minorticks_off()
    ax.grid(axis="y", visible=False)
    return fig


def spreads_of_readings(readings: pd.DataFrame, by_lambda: pd.DataFrame) -> pd.DataFrame:
    """Runs of both tables with the spread of a value before any data: the norm of the features and
    λ as one number. Runs of the sweep in λ are cut at the other table's budget."""
    H, SA, budget = 49, 100, readings.tenth_reward.max()
    size = {"HSA": H * SA, "SA": SA, "√HSA": (H * SA) ** 0.5, "√SA": SA**0.5, "1": 1.0}
    plain = readings.query("constant == 'rescaled' and opening == 'uniform'")
    length = plain.reading.map({"stacked": H * SA, "per_period": SA})  # of a column
    feature = plain.norm.map(size) / np.sqrt(length)  # its root mean square
    late = last_rows(by_lambda)
    late = late.assign(
        reading="sweep",
        norm="HSA",
        censored=(late.tenth_reward == 0) | (late.tenth_reward > budget),
        spread=experiments.prior_value_std(1.0) / np.sqrt(late.lam),
    )
    return pd.concat([late, plain.assign(spread=feature * np.sqrt(10 / plain.lam))])


@with_style
def prior_spread(readings: pd.DataFrame, by_lambda: pd.DataFrame) -> Figure:
    """Learning time against the spread of a value before any data, for every norm and λ."""
    table, budget = spreads_of_readings(readings, by_lambda), readings.tenth_reward.max()
    cells = experiments.median_learning_times(table, ["reading", "spread", "norm", "lam"])
    fig, ax = subplots(height=3.8)
    names = {
        "sweep": "stacked, norm HSA, λ varies",
        "stacked": "stacked, norm and λ vary",
        "per_period": "per period, norm and λ vary",
    }
    for (reading, name), mark, colour in zip(
        names.items(), ("o-", "s", "D"), style.sequential_palette(3), strict=True
    ):
        cell = cells.loc[reading].reset_index()
        lost = np.isinf(cell["median"])
        ax.plot(cell.spread[lost], np.full(lost.sum(), budget * 1.25), "^", color=colour)
        known = cell[~lost].assign(high=cell.high.clip(upper=budget))
        away = (known["median"] - known.low, known.high - known["median"])
        ax.errorbar(
            known.spread,
            known["median"],
            away,
            fmt=mark,
            color=colour,
            label=name,
            lw=1.2,
            capsize=2,
            mfc="none" if mark == "s" else colour,
            ms=7 if mark == "s" else 5,
        )
    ax.axvline(1, color="0.5", lw=0.8, ls=":")
    ax.text(0.85, 200, "$Q^* \\leq 1$", ha="right")
    ax.text(
        2, budget * 1.25, f"▲ median run not within {style.format_integer(budget)}", va="center"
    )
    ax.set(
        xscale="log",
        yscale="log",
        ylabel=TIME,
        xlabel="spread of a value before any data",
        ylim=(180, 9000),
        yticks=(200, 500, 1000, 2000, 5000),
    )
    ax.yaxis.set_major_formatter(style.format_integer)
    ax.minorticks_off()
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.9))
    return fig


# How ``rlsvi plot`` draws each stored table and some of the paper's figures
DRAW: dict[str, Callable[..., Figure]] = {
    "fig1": chain_diagram,
    "example1": example1,
    "fig2a": fig2a,
    "fig2b": fig2b,
    "fig3": fig3,
    "fig3-tabular": fig3,
    "fig4": fig4,
    "fig5": fig5,
    "fig6": fig6,
    "fig10": lambda table: sweep(table, "lam"),
    "fig11": lambda table: sweep(table, "sigma"),
    "fig12": families,
    "fig13": families,
    "readings": readings,
}
