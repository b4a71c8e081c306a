"""The figures of section 5: regret over the prior, its growth, and what λ and σ do to it."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rlsvi_core.agents import tabular
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.optimism.order import Comparison

from ..style import canvas, styled
from . import bias
from . import runs as regret

COLOUR = {"rlsvi": "#0072B2", "rlsvi-small": "#56B4E9", "psrl": "#009E73", "ucbvi": "#D55E00",
          "ucbvi-small": "#E69F00", "uniform": "#666666"}
LINE = {"rlsvi": "-", "rlsvi-small": "--", "psrl": "-.", "ucbvi": (0, (1, 1)),
        "ucbvi-small": (0, (5, 1, 1, 1)), "uniform": (0, (4, 4))}
MARK = {"rlsvi": "o", "rlsvi-small": "s", "psrl": "D", "ucbvi": "x", "ucbvi-small": "^",
        "uniform": "+"}
NAME = {"rlsvi": "RLSVI, Theorem 1's λ, σ", "rlsvi-small": "RLSVI, λ = 1, σ = ½", "psrl": "PSRL",
        "ucbvi": "UCBVI", "ucbvi-small": "UCBVI, bonus/100", "uniform": "uniform"}
LABEL = {"episode": "episodes L", "S": "states S", "A": "actions A", "H": "horizon H"}


def _bars(ax, cells: pd.DataFrame, agent: str, label: str) -> None:
    """Means with two standard errors either side."""
    ax.errorbar(cells.index, cells["mean"], 2 * cells["sem"], color=COLOUR[agent],
                ls=LINE[agent], marker=MARK[agent], ms=4, capsize=2, lw=1.5, label=label)


@styled
def theorem1(table: pd.DataFrame) -> Figure:
    """Mean regret of each agent along L, and after equally many episodes along S, A and H."""
    fig, axes = plt.subplots(2, 2, figsize=(9.2, 7.0))
    for ax, variable in zip(axes.flat, regret.BOUND, strict=True):
        for agent in COLOUR:
            runs = regret.sizes(table, agent, variable)
            if runs.empty:
                continue
            slope = f"slope {regret.power(table, agent, variable, repeats=1).power:.2f}"
            if variable == "episode":  # the whole curve; the slope is that of its end
                runs = table[(table.agent == agent) & (table.episodes > regret.COMPARED)]
                slope = f"{NAME[agent]}: {slope}"
            _bars(ax, regret.expected_regret(runs, variable), agent, slope)
        fitted = regret.expected_regret(regret.sizes(table, "rlsvi", variable), variable)["mean"]
        bound = regret.BOUND[variable]
        ax.plot(fitted.index, 1.6 * fitted.iloc[-1] * (fitted.index / fitted.index[-1]) ** bound,
                color="black", lw=1.2, ls=":", label=f"Theorem 1: slope {bound:g}")
        ax.set(xscale="log", yscale="log", xlabel=LABEL[variable])
        ax.legend(fontsize=7, loc="upper left" if variable == "episode" else "best")
    axes[0, 0].set_ylim(1, 1e7)
    for ax in axes[:, 0]:
        ax.set_ylabel("expected regret")
    for ax, variable in zip(axes.flat[1:], ("S", "A", "H"), strict=True):
        ticks = sorted(table[variable].unique())
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.minorticks_off()
    return fig


@styled
def decomposition(table: pd.DataFrame) -> Figure:
    """The two parts of the mean regret of an episode along the run: concentration and optimism."""
    fig, axes = canvas(2, width=8.6)
    long = table[table.episodes > regret.COMPARED].sort_values("episode")
    for agent in ("rlsvi", "rlsvi-small", "psrl"):
        mean = long[long.agent == agent].groupby("episode")[["regret", "concentration"]].mean()
        step = mean.diff().fillna(mean).div(np.diff(mean.index, prepend=0), axis=0)
        style = {"color": COLOUR[agent], "ls": LINE[agent], "marker": MARK[agent], "ms": 4}
        axes[0].plot(step.index, step.concentration, **style, label=NAME[agent])
        axes[1].plot(step.index, step.regret - step.concentration, **style)
    for ax, name in zip(axes, ("concentration Δ$^{conc}$", "optimism Δ$^{opt}$"), strict=True):
        ax.axhline(0, color="black", lw=0.8)
        ax.set(xscale="log", xlabel="episodes L", title=name)
    axes[0].set_ylabel("mean of an episode")
    axes[0].legend(fontsize=8)
    return fig


@styled
def theorem1_scale(table: pd.DataFrame) -> Figure:
    """Regret as a share of the uniform policy's, against the factor on λ or on σ."""
    fig, axes = canvas(2, width=8.6, sharey=True)
    last = table[table.episode == table.episode.max()]
    names = {"bandit": "H = S = 1, A = 2", "base": "H = S = 5, A = 3"}
    for ax, (problem, name) in zip(axes, names.items(), strict=True):
        runs = last[last.problem == problem]
        for parameter, other, symbol, agent in (("lam", "sigma", "λ", "rlsvi"),
                                                ("sigma", "lam", "σ", "ucbvi-small")):
            cells = runs[runs[other] == 1].groupby(parameter)
            total = cells.uniform.sum()
            share = cells.regret.sum() / total
            # Standard error of a ratio of means, by its linearisation.
            error = cells.apply(lambda c: (c.regret - c.uniform * c.regret.sum()
                                           / c.uniform.sum()).std() * len(c) ** 0.5) / total
            _bars(ax, pd.DataFrame({"mean": share, "sem": error}), agent, f"{symbol} times x")
        ax.axhline(1, color="0.4", lw=1, ls=":")
        ax.set(xscale="log", xlabel="factor x on Theorem 1's value", title=name, ylim=(0, 1.1))
    axes[0].set_ylabel("regret / uniform policy's")
    axes[0].legend(loc="lower right")
    return fig


@styled
def gaps(tests: dict[str, Comparison]) -> Figure:
    """Estimated gaps with their simultaneous bands."""
    fig, axes = canvas(len(tests), width=9.6, height=2.8)
    for ax, (name, test) in zip(axes, tests.items(), strict=True):
        low, high = test.estimate - test.band, test.estimate + test.band
        shade = COLOUR["ucbvi" if test.refuted else "rlsvi"]
        ax.fill_between(test.z, low, high, color=shade, alpha=0.3, lw=0)
        ax.plot(test.z, test.estimate, color=shade, ls="--" if test.refuted else "-", lw=1.6)
        ax.axhline(0, color="black", lw=0.8)
        ax.set(title=name, xlabel="z")
        ax.title.set_fontsize(9)
    axes[0].set_ylabel("G(z)")
    return fig


@styled
def bias_sizes(H: int) -> Figure:
    """b^R, b^P and the noise against the number of visits: by definition, and as printed."""
    fig, axes = canvas(3, width=9.6, height=2.8)
    prior = DirichletPrior.symmetric(H, 1, 1, 0.5, 1.0)
    n = np.geomspace(1, 1e5, 60)
    defined, printed = (np.array([[part.max() for part in parts(v)] for v in n]).T for parts in (
        lambda v: bias.largest(prior, v, *tabular.theorem_1(prior)),
        lambda v: bias.printed(prior, v)))
    for ax, ours, theirs, name in zip(axes, defined, printed, ("$b^R$", "$b^P$", "noise $w$"),
                                      strict=True):
        ax.plot(n, ours, color=COLOUR["rlsvi"], lw=2, label="by definition")
        ax.plot(n, theirs, color=COLOUR["ucbvi"], ls="--", lw=2, label="as printed")
        ax.set(xscale="log", yscale="log", xlabel="visits n", title=name)
    axes[0].set_ylabel("size")
    axes[0].legend(fontsize=8)
    return fig


DRAW = {"theorem1": theorem1, "theorem1_scale": theorem1_scale}
