"""The figures of section 5: regret over the prior, its growth, and what λ and σ do to it."""

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from .. import style
from ..judging.intervals import student
from ..style import BY_AGENT, COLOUR, MARK, NAME, canvas, label_ends, styled
from . import runs as regret

NAMES = NAME | {
    "rlsvi": "RLSVI,\nTheorem 1's λ, σ",
    "rlsvi-small": "RLSVI,\nλ = 1, σ = ½",
}
BARS = {"errorbar": student, "err_style": "bars", "err_kws": {"capsize": 2}}
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
        for x, other, symbol, line, shade in zip(
            ("lam", "sigma"), ("sigma", "lam"), "λσ", ("-", "--"), shades, strict=True
        ):
            sns.lineplot(
                runs[runs[other] == 1],
                x=x,
                y="share",
                **BARS,
                color=shade,
                ls=line,
                marker="o",
                label=f"RLSVI, {symbol} times x",
                legend=ax is axes[0],
                ax=ax,
            )
        ax.axhline(1, color="0.4", lw=1, ls=":")
        ax.set(
            xscale="log",
            xlabel="factor x on Theorem 1's value",
            title=name,
            ylim=(0, 1.1),
            ylabel="regret / uniform policy's",
        )
    return fig


@styled
def theorem1_tuned(table: pd.DataFrame) -> Figure:
    """Mean regret against what is left of the noise or bonus that the analyses take: a share of
    Theorem 1's σ, or of UCBVI's bonus."""
    fig, ax = canvas(height=3.2)
    last, agents = table[table.episode == table.episode.max()], ["rlsvi", "ucbvi"]
    sns.lineplot(
        last,
        x="factor",
        y="regret",
        **AGENTS,
        **BARS,
        hue_order=agents,
        style_order=agents,
        legend=False,
        ax=ax,
    )
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="share of Theorem 1's σ, or of UCBVI's bonus",
        ylabel=f"regret after {style.digits(int(last.episode.max()))} episodes",
    )
    ends = last[last.factor == last.factor.max()].groupby("agent").regret.mean()
    label_ends(ax, {NAME[agent]: (ends[agent], COLOUR[agent]) for agent in agents})
    return fig


DRAW = {"theorem1": theorem1, "theorem1-scale": theorem1_scale, "theorem1-tuned": theorem1_tuned}
