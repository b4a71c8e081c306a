"""The figures of section 5: regret over the prior, the bound, what a draw is worth, the shrunk model."""

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from scipy import stats

from rlsvi_core.optimism import order

from ..judging.intervals import student_ends
from ..parameters import theorem1_prior
from ..style import (
    BARS,
    BY_AGENT,
    COLOUR,
    LINE,
    MARK,
    NAME,
    format_integer,
    label_line_ends,
    subplots,
    with_style,
)
from . import experiments as regret
from . import upper_bound

NAMES = NAME | {
    "rlsvi": "RLSVI, Theorem 1",
    "rlsvi-small": "RLSVI, σ = ½",
}
AGENTS = BY_AGENT | {"markers": MARK}


@with_style
def theorem1(table: pd.DataFrame) -> Figure:
    """Mean regret of every agent along L, and the slope of Theorem 1."""
    fig, ax = subplots(height=4.8)
    runs = table[table.episodes > regret.COMPARISON_EPISODES]
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
    means = regret.runs_by_size(table, "rlsvi", "episode").groupby("episode").regret.mean()
    above = (
        1.6 * means.iloc[-1] * (means.index / means.index[-1]) ** regret.BOUND_EXPONENTS["episode"]
    )
    ax.plot(means.index, above, color=COLOUR["truth"], lw=1.2, ls=":")
    ax.set(
        xscale="log", yscale="log", ylim=(1, None), xlabel="episodes L", ylabel="expected regret"
    )
    last = runs[runs.episode == runs.episode.max()].groupby("agent").regret.mean()
    label_line_ends(
        ax,
        {NAMES[agent]: (last[agent], COLOUR[agent]) for agent in regret.AGENTS}
        | {"slope ½": (above[-1], COLOUR["truth"])},
    )
    return fig


@with_style
def theorem1_bound(table: pd.DataFrame) -> Figure:
    """Measured regret, the explicit bound and uniform play along L, at the paper's λ and σ; shaded
    where the bound is above uniform play."""
    fig, ax = subplots(height=4.0)
    (H, S, A), L = regret.BASE.values(), np.geomspace(1, 1e7, 200)
    of = (table.H == H) & (table.S == S) & (table.A == A) & (table.parameters == "printed")
    runs, (lam, sigma) = table[of], regret.PARAMETERS["printed"](theorem1_prior(H, S, A))
    uniform = float((runs.uniform / runs.episode).mean())
    bound = upper_bound.regret_bound(H, S, A, L, lam, sigma, 1.0)
    ax.plot(L, uniform * L, color=COLOUR["uniform"], ls=LINE["uniform"], lw=1.6)
    ax.plot(L, bound, color=COLOUR["theory"], ls=LINE["theory"], lw=1.6)
    look = {"color": COLOUR["rlsvi"], "marker": MARK["rlsvi"]}
    sns.lineplot(
        runs, x="episode", y="regret", **look, errorbar=student_ends, err_style="bars", ax=ax
    )
    begins = upper_bound.episodes_until(uniform, H, S, A, lam, sigma)
    ax.axvspan(1, begins, color="0.93", lw=0)
    ax.text(2, 4e5, f"until {format_integer(begins)} episodes\nthe bound says nothing")
    ax.set(xlabel="episodes L", ylabel="expected regret")
    ax.set(
        xscale="log", yscale="log", xlim=(1, L[-1])
    )  # after seaborn, which averages on the scale
    last = runs[runs.episode == runs.episode.max()].regret.mean()
    label_line_ends(
        ax,
        {
            "uniform play": (uniform * L[-1], COLOUR["uniform"]),
            "our bound": (bound[-1], COLOUR["theory"]),
            "RLSVI,\nmeasured": (last, COLOUR["rlsvi"]),
        },
    )
    return fig


def _posterior(low: int, high: int) -> Any:
    return stats.beta(0.5 + high, 0.5 + low, loc=-1)


def _drawn(low: int, high: int, sigma2: float = 0.25, rho: float = 1.0) -> Any:
    n = low + high + rho
    return stats.norm(-low / n, np.sqrt(sigma2 / n))


@with_style
def chances(low: int, high: int, noises: dict[str, float]) -> Figure:
    """How much more the better of a sure z and a draw is worth with RLSVI's normal law, with each σ²,
    than with the posterior: the draw is stochastically optimistic where the gap is nowhere negative."""
    fig, ax = subplots(height=3.0)
    truth = _posterior(low, high)
    z = np.linspace(truth.mean() - 2.5 * truth.std(), truth.mean() + 3 * truth.std(), 101)
    beta = order.Beta(0.5 + high, 0.5 + low)
    for (name, sigma2), look in zip(noises.items(), ("theory", "fails"), strict=True):
        law = _drawn(low, high, sigma2)
        gap = order.exact_gap(order.Normal(1 + law.mean(), law.var()), beta, 1 + z, digits=6)
        ax.plot(z, gap, color=COLOUR[look], lw=1.8, label=f"{name} (σ² = {sigma2:.2g})")
        ax.fill_between(z, 0, np.minimum(gap, 0), color=COLOUR["fails"], alpha=0.3, lw=0)
    ax.axhline(0, color="black", lw=0.8)
    top = 1.7 * ax.get_ylim()[1]  # above the curves, for names
    ax.set(xlabel="z, a sure reward", ylabel="gap G(z)", ylim=(None, top))
    ax.legend(loc="upper right")
    return fig


@with_style
def leak() -> Figure:
    """The next state of a pair in the mean MDP: of each probability the shrunk model keeps the lower
    part, and the rest leaks to a state worth 0."""
    fig, ax = subplots(height=3.0)
    seen, prior, rho = np.array([5, 3, 1, 0]), np.full(4, 0.25), 4.0
    mean, shrunk = (seen + prior) / (seen.sum() + 1), seen / (seen.sum() + rho)
    states = [f"state {i + 1}" for i in range(len(seen))]
    ax.bar(states, shrunk, 0.55, color=COLOUR["rlsvi"], label="shrunk model")
    leaks = {"color": COLOUR["fails"], "alpha": 0.45, "hatch": "//", "ec": "white"}
    ax.bar(states, mean - shrunk, 0.55, shrunk, **leaks, label="leaks to a state worth 0")
    for x, height in enumerate(mean):
        ax.plot([x - 0.32, x + 0.32], [height] * 2, color=COLOUR["posterior"], lw=2.5)
    ax.plot([], color=COLOUR["posterior"], lw=2.5, label="mean MDP")
    ax.set(xlabel="next state", ylabel="probability", ylim=(0, 0.6))
    ax.legend(loc="upper right")
    return fig


DRAW = {"theorem1": theorem1, "theorem1-bound": theorem1_bound}
