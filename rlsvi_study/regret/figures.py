"""The figures of section 5: regret over the prior, its growth, and what λ and σ do to it."""

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from rlsvi_core.optimism.order import Comparison

from .. import style
from ..intervals import student
from ..style import BY_AGENT, COLOUR, LINE, MARK, NAME, WIDTH, canvas, label_ends, styled
from . import runs as regret

NAMES = NAME | {"rlsvi": "RLSVI, Theorem 1's λ, σ"}
AXIS = {"episode": "episodes L", "S": "states S", "A": "actions A", "H": "horizon H"}
BARS = {"errorbar": student, "err_style": "bars", "err_kws": {"capsize": 2}}
AGENTS = BY_AGENT | {"markers": MARK}


@styled
def theorem1(table: pd.DataFrame) -> Figure:
    """Mean regret of every agent along L, and RLSVI's after equally many episodes along S, A, H."""
    fig = plt.figure(figsize=(WIDTH, 7.2))
    above, below = fig.subfigures(2, height_ratios=(1, 1.35))
    axes = [above.subplots(), *below.subplots(2, 2, sharey=True).flat]
    axes.pop().remove()
    for ax, (variable, bound) in zip(axes, regret.BOUND.items(), strict=True):
        known = regret.sizes(table, "rlsvi", variable)
        means = known.groupby(variable).regret.mean()
        if variable == "episode":
            runs, agents = table[table.episodes > regret.COMPARED], regret.AGENTS
        else:
            runs, agents = known, ["rlsvi"]
        sns.lineplot(runs, x=variable, y="regret", **AGENTS, **BARS, hue_order=agents,
                     style_order=agents, legend=False, ax=ax)
        ax.plot(means.index, 1.6 * means.iloc[-1] * (means.index / means.index[-1]) ** bound,
                color=COLOUR["truth"], lw=1.2, ls=":")
        slope = regret.power(table, "rlsvi", variable, repeats=1).power
        ax.set(xscale="log", yscale="log", xlabel=AXIS[variable], ylabel="expected regret")
        if variable == "episode":
            ax.set(ylim=(1, 1e7), title=f"all agents (RLSVI's slope at the end: {slope:.2f})")
            last = runs[runs.episode == runs.episode.max()].groupby("agent").regret.mean()
            label_ends(ax, {NAMES[agent]: (last[agent], COLOUR[agent]) for agent in agents} | {
                f"Theorem 1: slope {bound:g}": (1.6 * means.iloc[-1], COLOUR["truth"])})
        else:
            ax.set_title(f"slope {slope:.2f}, bound {bound:g}")
            ax.set_xticks(means.index, map(str, means.index))
            ax.minorticks_off()
    names = f"RLSVI after {style.digits(regret.COMPARED)} episodes", "slope of the bound"
    below.legend(ax.lines[:1] + ax.lines[-1:], names, **style.CORNER)
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
    shades = style.shades("rlsvi", 2)
    names = {"bandit": "H = S = 1, A = 2", "base": "H = S = 5, A = 3"}
    for ax, (problem, name) in zip(axes, names.items(), strict=True):
        runs = last[last.problem == problem]
        for x, other, symbol, line, shade in zip(("lam", "sigma"), ("sigma", "lam"), "λσ",
                                                 ("-", "--"), shades, strict=True):
            sns.lineplot(runs[runs[other] == 1], x=x, y="share", **BARS, color=shade, ls=line,
                         marker="o", label=f"RLSVI, {symbol} times x", legend=ax is axes[0], ax=ax)
        ax.axhline(1, color="0.4", lw=1, ls=":")
        ax.set(xscale="log", xlabel="factor x on Theorem 1's value", title=name, ylim=(0, 1.1),
               ylabel="regret / uniform policy's")
    return fig


@styled
def gaps(tests: dict[str, Comparison]) -> Figure:
    """Estimated gaps with their simultaneous bands."""
    fig, axes = canvas(2, -(-len(tests) // 2), height=4.6)
    for ax, (name, test) in zip(axes.flat, tests.items(), strict=True):
        look = "fails" if test.refuted else "theory"
        ax.fill_between(test.z, test.estimate - test.band, test.estimate + test.band,
                        color=COLOUR[look], alpha=0.3, lw=0)
        sns.lineplot(x=test.z, y=test.estimate, color=COLOUR[look], ls=LINE[look], ax=ax)
        ax.axhline(0, color="black", lw=0.8)
        ax.text(0.97, 0.07, "dips below 0" if test.refuted else "nowhere clearly below 0",
                ha="right", fontsize=9, color=style.ink(COLOUR[look]), transform=ax.transAxes)
        ax.set(title=name, xlabel="z", ylabel="gap G(z)")
    return fig


@styled
def theorem1_tuned(table: pd.DataFrame) -> Figure:
    """Mean regret against what is left of the noise or bonus that the analyses take: a share of
    Theorem 1's σ, or of UCBVI's bonus."""
    fig, ax = canvas(height=3.2)
    last, agents = table[table.episode == table.episode.max()], ["rlsvi", "ucbvi"]
    sns.lineplot(last, x="factor", y="regret", **AGENTS, **BARS, hue_order=agents,
                 style_order=agents, legend=False, ax=ax)
    ax.set(xscale="log", yscale="log", xlabel="share of Theorem 1's σ, or of UCBVI's bonus",
           ylabel=f"regret after {style.digits(int(last.episode.max()))} episodes")
    ends = last[last.factor == last.factor.max()].groupby("agent").regret.mean()
    label_ends(ax, {NAME[agent]: (ends[agent], COLOUR[agent]) for agent in agents})
    return fig


DRAW = {"theorem1": theorem1, "theorem1-scale": theorem1_scale, "theorem1-tuned": theorem1_tuned}
