"""The figures of section 5: regret over the prior, its growth, and what λ and σ do to it."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from rlsvi_core.agents import tabular
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.optimism.order import Comparison

from ..intervals import student
from ..style import BY_AGENT, COLOUR, LINE, MARK, NAME, canvas, styled
from . import bias
from . import runs as regret

NAMES = NAME | {"rlsvi": "RLSVI, Theorem 1's λ, σ"}
AXIS = {"episode": "episodes L", "S": "states S", "A": "actions A", "H": "horizon H"}
BARS = {"errorbar": student, "err_style": "bars", "err_kws": {"capsize": 2}}
AGENTS = BY_AGENT | {"markers": MARK}


def _rename(legend, names):
    legend.set_title("")
    for text in legend.get_texts():
        text.set_text(names.get(text.get_text(), text.get_text()))


@styled
def theorem1(table: pd.DataFrame) -> Figure:
    """Mean regret of each agent along L, and after equally many episodes along S, A and H."""
    fig, axes = canvas(2, 2, height=6.6)
    for ax, (variable, bound) in zip(axes.flat, regret.BOUND.items(), strict=True):
        ends = {agent: runs for agent in regret.AGENTS
                if not (runs := regret.sizes(table, agent, variable)).empty}
        slopes = {agent: f"slope {regret.power(table, agent, variable, repeats=1).power:.2f}"
                  for agent in ends}
        runs, known = pd.concat(ends.values()), ends["rlsvi"].groupby(variable).regret.mean()
        if variable == "episode":  # the whole curve; the slope is that of its end
            runs = table[table.episodes > regret.COMPARED]
            slopes = {agent: f"{NAMES[agent]}: {slope}" for agent, slope in slopes.items()}
        ax.plot(known.index, 1.6 * known.iloc[-1] * (known.index / known.index[-1]) ** bound,
                color=COLOUR["truth"], lw=1.2, ls=":", label=f"Theorem 1: slope {bound:g}")
        sns.lineplot(runs, x=variable, y="regret", **AGENTS, **BARS, hue_order=ends,
                     style_order=ends, ax=ax)
        _rename(ax.get_legend(), slopes)
        ax.set(xscale="log", yscale="log", xlabel=AXIS[variable], ylabel="expected regret",
               ylim=(1, 1e7) if variable == "episode" else (known.iloc[0] / 200, None))
        if variable != "episode":
            ax.set_xticks(known.index, map(str, known.index))
            ax.minorticks_off()
    return fig


@styled
def decomposition(table: pd.DataFrame) -> Figure:
    """The two parts of the mean regret of an episode along the run: concentration and optimism."""
    fig, axes = canvas(2)
    agents = ["rlsvi", "rlsvi-small", "psrl"]
    long = table[(table.episodes > regret.COMPARED) & table.agent.isin(agents)]
    sums = long.pivot(index=["agent", "seed"], columns="episode")
    parts = {"concentration Δ$^{conc}$": sums.concentration,
             "optimism Δ$^{opt}$": sums.regret - sums.concentration}
    for ax, (name, part) in zip(axes, parts.items(), strict=True):
        each = part.diff(axis=1).fillna(part) / np.diff(part.columns, prepend=0)
        ax.axhline(0, color="black", lw=0.8)
        sns.lineplot(each.melt(ignore_index=False).reset_index(), x="episode", y="value",
                     hue_order=agents, style_order=agents, **AGENTS, **BARS, ax=ax)
        ax.set(xscale="log", xlabel="episodes L", ylabel="mean of an episode", title=name)
    axes[0].get_legend().remove()
    _rename(axes[1].get_legend(), NAMES)
    axes[1].set_ylim(bottom=-2.4)  # room for it
    return fig


@styled
def theorem1_scale(table: pd.DataFrame) -> Figure:
    """Regret as a share of the uniform policy's, against the factor on λ or on σ."""
    fig, axes = canvas(2, sharey=True)
    last = table[table.episode == table.episode.max()]
    cells = last.groupby(["problem", "lam", "sigma"])[["regret", "uniform"]].transform("mean")
    # Student's interval for a ratio of means, by its linearisation.
    ratio = cells.regret / cells.uniform
    last = last.assign(share=ratio + (last.regret - ratio * last.uniform) / cells.uniform)
    names = {"bandit": "H = S = 1, A = 2", "base": "H = S = 5, A = 3"}
    for ax, (problem, name) in zip(axes, names.items(), strict=True):
        runs = last[last.problem == problem]
        for x, other, symbol, look in (("lam", "sigma", "λ", "rlsvi"),
                                       ("sigma", "lam", "σ", "theory")):
            sns.lineplot(runs[runs[other] == 1], x=x, y="share", **BARS, color=COLOUR[look],
                         ls=LINE[look], marker="o", label=f"{symbol} times x",
                         legend=ax is axes[0], ax=ax)
        ax.axhline(1, color="0.4", lw=1, ls=":")
        ax.set(xscale="log", xlabel="factor x on Theorem 1's value", title=name, ylim=(0, 1.1),
               ylabel="regret / uniform policy's")
    return fig


@styled
def gaps(tests: dict[str, Comparison]) -> Figure:
    """Estimated gaps with their simultaneous bands."""
    fig, axes = canvas(len(tests), height=2.8)
    for ax, (name, test) in zip(axes, tests.items(), strict=True):
        look = "lsvi" if test.refuted else "rlsvi"
        ax.fill_between(test.z, test.estimate - test.band, test.estimate + test.band,
                        color=COLOUR[look], alpha=0.3, lw=0)
        sns.lineplot(x=test.z, y=test.estimate, color=COLOUR[look], ls=LINE[look], ax=ax)
        ax.axhline(0, color="black", lw=0.8)
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("z")
    axes[0].set_ylabel("G(z)")
    return fig


@styled
def bias_sizes(H: int) -> Figure:
    """b^R, b^P and the noise against the number of visits: by definition, and as printed."""
    fig, axes = canvas(3, height=2.8)
    prior, n = DirichletPrior.symmetric(H, 1, 1, 0.5, 1.0), np.geomspace(1, 1e5, 60)
    sizes = {"by definition": ("rlsvi", [bias.largest(prior, v, *tabular.theorem_1(prior))
                                         for v in n]),
             "as printed": ("lsvi", [bias.printed(prior, v) for v in n])}
    for i, (ax, term) in enumerate(zip(axes, ("$b^R$", "$b^P$", "noise $w$"), strict=True)):
        for name, (look, size) in sizes.items():
            sns.lineplot(x=n, y=[terms[i].max() for terms in size], color=COLOUR[look],
                         ls=LINE[look], label=name, legend=i == 0, ax=ax)
        ax.set(xscale="log", yscale="log", xlabel="visits n", ylabel="size", title=term)
    return fig


DRAW = {"theorem1": theorem1, "theorem1-scale": theorem1_scale}
