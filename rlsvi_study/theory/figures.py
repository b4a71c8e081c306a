"""The figures of appendix G, the gap, the least variance and two densities; and those of Theorem 1,
what a draw is worth, the shrunk model, the cost of a long horizon and the bound."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from scipy import stats
from scipy.special import gammaln

from rlsvi_core.optimism import order

from ..judging.intervals import student
from ..style import (
    COLOUR,
    LINE,
    canvas,
    digits,
    label_ends,
    legend,
    panels,
    shades,
    styled,
)
from . import price, runs, theorem1
from .crossings import cdf_crossings, pdf_crossings

SMALLEST = {"printed": "paper's λ, σ", "repaired": "smallest λ, σ"}
WORLDS = {"prior": "over the prior", "tight": "one good action by a hair"}
REWARDS = {"prior": "prior rewards", "sure": "sure rewards"}


@styled
def density_grid(cases: Sequence[tuple[float, float]]) -> Figure:
    """Small multiples: both densities, their crossings (dots), and where the distribution
    functions cross (dotted lines)."""
    fig, axes = panels(len(cases), height=2.8, sharex=True)
    inside = np.linspace(1e-4, 1 - 1e-4, 700)
    for ax, (alpha, beta) in zip(axes, cases, strict=True):
        normal = stats.norm(alpha / (alpha + beta), (alpha + beta) ** -0.5)
        for name, law, x, look in (
            ("normal", normal, 2.2 * inside - 0.6, "normal"),
            ("beta", stats.beta(alpha, beta), inside, "posterior"),
        ):
            sns.lineplot(
                x=x,
                y=law.pdf(x),
                color=COLOUR[look],
                ls=LINE[look],
                label=name,
                legend=ax is axes[0],
                ax=ax,
            )
        points = [c.x for c in pdf_crossings(alpha, beta)]
        ax.plot(points, normal.pdf(points), "o", color="black", ms=4)
        for c in cdf_crossings(alpha, beta):
            ax.axvline(c.x, color=COLOUR["theory"], ls=":", lw=1.2)
        finite = stats.beta(alpha, beta).pdf(inside).max() if min(alpha, beta) > 1 else 0.0
        ax.set(
            ylim=(0, max(2.6 * normal.pdf(normal.mean()), 1.05 * finite)),
            xlabel="x",
            title=f"α = {alpha:g}, β = {beta:g}",
            ylabel="density" if ax in axes[::2] else "",
        )
    return fig


@styled
def shaded_gap(alpha: float, beta: float) -> Figure:
    """Lemma 1 for one beta law: its density and the normal's of variance 1/(4n), and the gap between
    them, shaded; also the gap of a normal of the same variance as the beta law."""
    fig, (left, right) = panels(2, height=2.8)
    law, n, x = stats.beta(alpha, beta), alpha + beta, np.linspace(-0.6, 1.3, 381)
    normal = stats.norm(law.mean(), (4 * n) ** -0.5)
    for name, of, look in (("normal", normal, "normal"), ("beta", law, "posterior")):
        left.plot(x, of.pdf(x), color=COLOUR[look], ls=LINE[look], label=name)
    room = 1.6  # above the curves, for names
    left.set(xlabel="x", ylabel="density", ylim=(0, room * law.pdf(x).max()))
    left.legend(loc="upper right")
    for variance, line in ((1 / (4 * n), "-"), (law.var(), "--")):
        G = order.gap(order.Normal.of(alpha / n, variance), order.Beta.of(alpha, beta), x, digits=6)
        right.plot(x, G, color=COLOUR["theory"], ls=line, label=f"variance {variance:.2g}")
        for look, where in (("theory", G >= 0), ("fails", G < 0)):
            right.fill_between(x, 0, G, where=where, color=COLOUR[look], alpha=0.3, lw=0)
    right.axhline(0, color="0.6", lw=0.8)
    right.set(xlabel="z", ylabel="gap G(z)", ylim=(None, room * right.get_ylim()[1]))
    right.legend(loc="upper right")
    return fig


@styled
def least_variance() -> Figure:
    """4n times the variance of the normal, against n: what was used, what is enough for every n,
    and the least, which is for n ≥ 1; shaded, what is open."""
    fig, ax = canvas(height=4.0)
    n = np.geomspace(0.1, 50, 400)
    least = np.exp(2 * (gammaln((n + 1) / 2) - gammaln(n / 2 + 1))) / 8
    proved = 1 / (4 * n + 4 / 3)
    for name, v, look, line, at in (
        ("the paper: 1/n", 1 / n, "paper", LINE["paper"], (0.11, 4.2)),
        ("by the urn: π/(8n)", np.pi / (8 * n), "normal", ":", (0.11, 1.65)),
        ("by profiles: 1/(4n)", 1 / (4 * n), "normal", "-", (0.11, 1.05)),
        ("for every n: 1/(4n + 4/3)", proved, "normal", "--", (1.2, 0.4)),
        ("least possible: c(n)", least, "theory", "-", (1.2, 0.3)),
        ("variance of Y at mean ½", 1 / (4 * n + 4), "posterior", LINE["posterior"], (1.2, 0.225)),
        ("open", np.full_like(n, np.nan), "theory", "-", (0.12, 0.4)),
    ):
        ax.plot(n, 4 * n * v, color=COLOUR[look], ls=line, lw=1.6)
        ax.text(*at, name, color=COLOUR[look])
    gap = {"where": n <= 1, "color": COLOUR["theory"], "alpha": 0.2, "lw": 0}
    ax.fill_between(n, 4 * n * least, 4 * n * proved, **gap)
    ticks = {"xticks": [0.1, 1, 10], "yticks": [0.1, 0.3, 1, 4]}
    ax.set(xscale="log", yscale="log", xlabel="n", ylabel="4n · variance", **ticks)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    return fig


def _posterior(low: int, high: int) -> Any:
    return stats.beta(0.5 + high, 0.5 + low, loc=-1)


def _drawn(low: int, high: int, sigma2: float = 0.25, rho: float = 1.0) -> Any:
    n = low + high + rho
    return stats.norm(-low / n, np.sqrt(sigma2 / n))


@styled
def chances(low: int, high: int, noises: dict[str, float]) -> Figure:
    """What the better of a sure z and a draw is worth beyond z, for the posterior and for RLSVI's
    normal law with each σ²: stochastic optimism is one curve nowhere below the other."""
    fig, axes = canvas(len(noises), sharey=True)
    truth = _posterior(low, high)
    z = np.linspace(truth.mean() - 2 * truth.std(), truth.mean() + 3 * truth.std(), 101)
    for ax, (name, sigma2) in zip(axes, noises.items(), strict=True):
        law = _drawn(low, high, sigma2)
        d = (law.mean() - z) / law.std()
        ours = law.std() * (stats.norm.pdf(d) + d * stats.norm.cdf(d))
        worth = ours - order.gap(
            order.Normal.of(1 + law.mean(), law.var()),
            order.Beta.of(0.5 + high, 0.5 + low),
            1 + z,
            digits=6,
        )
        for label, y, look in (("posterior", worth, "posterior"), ("RLSVI", ours, "rlsvi")):
            sns.lineplot(
                x=z,
                y=y,
                color=COLOUR[look],
                ls=LINE[look],
                label=label,
                legend=ax is axes[0],
                ax=ax,
            )
        for look, where in (("theory", ours >= worth), ("fails", ours < worth)):
            ax.fill_between(z, worth, ours, where=where, color=COLOUR[look], alpha=0.3, lw=0)
        ax.set(
            title=f"{name} (σ² = {sigma2:.2g})", xlabel="z, the sure reward", ylabel="E (draw − z)⁺"
        )
    return fig


@styled
def leak() -> Figure:
    """Where a visit of a pair goes in the shrunk model: to every state less often than in the mean
    MDP; the rest leaks to a state worth 0. An arrow is as wide as its probability."""
    fig, ax = canvas(height=3.4)
    seen, prior, rho = np.array([5, 3, 1, 0]), np.full(4, 0.25), 4.0
    mean, shrunk = (seen + prior) / (seen.sum() + 1), seen / (seen.sum() + rho)
    rows = [
        (f"state {i + 1}", *row, "truth") for i, row in enumerate(zip(mean, shrunk, strict=True))
    ]
    rows.append(("worth 0", 0.0, 1 - shrunk.sum(), "fails"))
    node = {"ha": "center", "va": "center"}
    box = {"boxstyle": "round,pad=0.4", "fc": "white", "lw": 1.5}
    for y, (name, theirs, ours, look) in zip((5.2, 4.2, 3.2, 2.2, 0.7), rows, strict=True):
        ink = COLOUR[look]
        if ours > 0:
            wide = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 18}
            ax.annotate("", (3.9, y), (1.7, 3.0), arrowprops=wide | {"lw": 14 * ours, "color": ink})
        ax.text(4.8, y, name, color=ink, bbox=box | {"ec": ink}, **node)
        ax.text(6.8, y, f"{ours:.3f}", color=ink, **node)
        ax.text(8.8, y, f"{theirs:.3f}", color=COLOUR["posterior"], **node)
    ax.text(1.0, 3.0, "a pair,\n9 visits", bbox=box | {"ec": "black"}, **node)
    ax.text(6.8, 6.1, "shrunk", **node)
    ax.text(8.8, 6.1, "mean MDP", color=COLOUR["posterior"], **node)
    ax.set(xlim=(0, 10), ylim=(0, 6.4))
    ax.axis("off")
    return fig


@styled
def theorem1_bound(table: pd.DataFrame) -> Figure:
    """Measured regret, the explicit bound, the paper's rate and uniform play along L, for the
    printed λ and σ and for the smallest that the proof allows."""
    fig, ax = canvas(height=4.2)
    (H, S, A), L = runs.BASE, np.geomspace(1, 1e7, 200)
    base = table[(table.H == H) & (table.S == S) & (table.A == A)]
    uniform = float((base.uniform / base.episode).mean())
    ends = {
        "uniform play": (uniform * L[-1], COLOUR["uniform"]),
        r"rate $\sqrt{H^3SAT}$": (H**2 * np.sqrt(S * A * L[-1]), COLOUR["truth"]),
    }
    for y, look, line in (
        (uniform * L, "uniform", LINE["uniform"]),
        (H**2 * np.sqrt(S * A * L), "truth", ":"),
    ):
        ax.plot(L, y, color=COLOUR[look], ls=line, lw=1.4)
    looks = zip((LINE["theory"], "-"), "os", shades("rlsvi", 2)[::-1], (-16, -40), strict=True)
    for (name, of), (dash, mark, shade, below) in zip(runs.PARAMETERS.items(), looks, strict=True):
        lam, sigma = of(runs.make_prior(H, S, A))
        own = base[base.parameters == name]
        sns.lineplot(
            own,
            x="episode",
            y="regret",
            color=shade,
            marker=mark,
            errorbar=student,
            err_style="bars",
            ax=ax,
        )
        last = own[own.episode == own.episode.max()]
        ax.annotate(
            f"RLSVI,\n{SMALLEST[name]}",
            (last.episode.iloc[0], last.regret.mean()),
            (22, below),
            textcoords="offset points",
            color=shade,
        )
        bound = theorem1.bound(H, S, A, L, lam, sigma, 1.0)
        ax.plot(L, bound, color=COLOUR["theory"], ls=dash, lw=1.4)
        ends[f"bound,\n{SMALLEST[name]}"] = bound[-1], COLOUR["theory"]
        begins = theorem1.episodes_until(uniform, H, S, A, lam, sigma)
        ax.axvline(begins, color="0.6", lw=0.8)
        ax.annotate(digits(begins), (begins, 2), ha="right", rotation=90, color="0.4")
    ax.set(xlabel="episodes L", ylabel="expected regret")
    ax.set(xscale="log", yscale="log")  # last: seaborn averages on the axis's scale
    label_ends(ax, ends)
    return fig


@styled
def long_horizon(table: pd.DataFrame) -> Figure:
    """Measured regret over the paper's rate against H, for one state and two actions at the
    smallest λ and σ printed, early and late; dashed, what is proved from below for the early."""
    fig, ax = canvas(height=3.8)
    rows = price.over_rate(table)
    rows = rows[(rows.times == 1) | (rows.times == rows.H)].assign(
        after=lambda of: np.where(of.times == 1, "λσ²", "Hλσ²")
    )
    colours = dict(zip(("prior", "sure"), shades("rlsvi", 2), strict=True))
    sns.lineplot(
        rows,
        x="H",
        y="ratio",
        hue="rewards",
        style="after",
        errorbar=student,
        err_style="bars",
        markers=["o", "s"],
        palette=colours,
        legend=False,
        ax=ax,
    )
    proved = price.at_least(1, 1) * np.sqrt(price.LAM / 2)
    ax.axhline(proved, color=COLOUR["fails"], ls="--", lw=1.4)
    ax.set(
        xscale="log",
        xticks=runs.HORIZONS,
        xticklabels=runs.HORIZONS,
        xlabel="horizon H",
        ylabel=r"regret / $\sqrt{H^3SAT}$",
        ylim=(0, None),
    )
    ax.minorticks_off()
    last = rows[rows.H == rows.H.max()].groupby(["rewards", "after"]).ratio.mean()
    label_ends(
        ax,
        {
            f"{REWARDS[rewards]},\nafter {after}": (ratio, colours[rewards])
            for (rewards, after), ratio in last.items()
        }
        | {"proved,\nafter λσ²": (proved, COLOUR["fails"])},
    )
    return fig


@styled
def collapsed(table: pd.DataFrame) -> Figure:
    """Measured regret over the bound's first term without logarithms against L/(SAH²), for one state
    and two actions, by H: one curve for each kind of MDP if √(H³SAT) is the rate."""
    fig, axes = panels(2, height=3.0, sharey=True)
    rows = price.over_first(table)
    rows = rows[(rows.S == 1) & (rows.A == 2) & rows.times.isin(runs.TIMES)]
    for ax, (world, title) in zip(axes, WORLDS.items(), strict=True):
        sns.lineplot(
            rows[rows.world == world],
            x="times",
            y="ratio",
            hue="H",
            style="H",
            errorbar=student,
            err_style="bars",
            markers=True,
            dashes=False,
            palette=shades("rlsvi", rows.H.nunique()),
            legend=ax is axes[0],
            ax=ax,
        )
        ax.set(
            title=title,
            xscale="log",
            xticks=runs.TIMES,
            xticklabels=runs.TIMES,
            xlabel=r"episodes over $SAH^2$",
            ylabel=r"regret / $\sigma\sqrt{SAHT}$",
            ylim=(0, None),
        )
        ax.minorticks_off()
    legend(axes[0], title="H")
    return fig


@styled
def boxes(table: pd.DataFrame) -> Figure:
    """How many boxes the proof that c(n) is enough at every mean takes, by pieces of 1/n."""
    fig, ax = canvas(height=2.8)
    ax.step(table.piece / len(table), table.boxes, where="post", color=COLOUR["theory"])
    ax.set(xlabel="1/n", ylabel="boxes", ylim=(0, None))
    return fig


DRAW = {
    "theorem1-bound": theorem1_bound,
    "price": long_horizon,
    "rate": collapsed,
    "every-mean": boxes,
}
