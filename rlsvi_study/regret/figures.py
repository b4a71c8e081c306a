"""The figures of section 5: regret over the prior, the bound, what a draw is worth, the shrunk model."""

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from scipy import stats

from rlsvi_core.optimism import order

from ..judging.intervals import student
from ..parameters import make_prior
from ..style import (
    BARS,
    BY_AGENT,
    COLOUR,
    LINE,
    MARK,
    NAME,
    canvas,
    digits,
    label_ends,
    shades,
    styled,
)
from . import runs as regret
from . import upper_bound

SMALLEST = {"printed": "paper's λ, σ", "repaired": "smallest λ, σ"}

NAMES = NAME | {
    "rlsvi": "RLSVI,\nTheorem 1's λ, σ",
    "rlsvi-small": "RLSVI,\nλ = 1, σ = ½",
}
AGENTS = BY_AGENT | {"markers": MARK}


@styled
def theorem1(table: pd.DataFrame) -> Figure:
    """Mean regret of every agent along L, and the slope of Theorem 1."""
    fig, ax = canvas(height=4.2)
    runs = table[table.episodes > regret.COMPARED]
    sns.lineplot(
        runs,
        x="episode",
        y="regret",
        **AGENTS,
        **BARS,
        hue_order=regret.AGENTS,
        style_order=regret.AGENTS,
        legend=False,
        ax=ax,
    )
    means = regret.sizes(table, "rlsvi", "episode").groupby("episode").regret.mean()
    above = 1.6 * means.iloc[-1] * (means.index / means.index[-1]) ** regret.BOUND["episode"]
    ax.plot(means.index, above, color=COLOUR["truth"], lw=1.2, ls=":")
    ax.set(
        xscale="log", yscale="log", ylim=(1, None), xlabel="episodes L", ylabel="expected regret"
    )
    last = runs[runs.episode == runs.episode.max()].groupby("agent").regret.mean()
    label_ends(
        ax,
        {NAMES[agent]: (last[agent], COLOUR[agent]) for agent in regret.AGENTS}
        | {"slope ½": (above[-1], COLOUR["truth"])},
    )
    return fig


@styled
def theorem1_bound(table: pd.DataFrame) -> Figure:
    """Measured regret, the explicit bound, the paper's rate and uniform play along L, for the
    printed λ and σ and for the smallest that the proof allows."""
    fig, ax = canvas(height=4.2)
    (H, S, A), L = regret.BASE.values(), np.geomspace(1, 1e7, 200)
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
    for (name, of), (dash, mark, shade, below) in zip(
        regret.PARAMETERS.items(), looks, strict=True
    ):
        lam, sigma = of(make_prior(H, S, A))
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
        bound = upper_bound.bound(H, S, A, L, lam, sigma, 1.0)
        ax.plot(L, bound, color=COLOUR["theory"], ls=dash, lw=1.4)
        ends[f"bound,\n{SMALLEST[name]}"] = bound[-1], COLOUR["theory"]
        begins = upper_bound.episodes_until(uniform, H, S, A, lam, sigma)
        ax.axvline(begins, color="0.6", lw=0.8)
        ax.annotate(digits(begins), (begins, 2), ha="right", rotation=90, color="0.4")
    ax.set(xlabel="episodes L", ylabel="expected regret")
    ax.set(xscale="log", yscale="log")  # last: seaborn averages on the axis's scale
    label_ends(ax, ends)
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


DRAW = {"theorem1": theorem1, "theorem1-bound": theorem1_bound}
