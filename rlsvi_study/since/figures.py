"""Since 2016: which work answers which question, regret at the end of all runs, and tuning."""

from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from ..intervals import student
from ..style import BY_AGENT, COLOUR, MARK, NAME, canvas, legend, panels, styled
from .runs import final

BARS = {"errorbar": student, "err_style": "bars", "err_kws": {"capsize": 2}}
WORKS = {  # questions of the paper, and who answered them when
    "Is Theorem 1 right,\nand is it best?": (
        (2016, "this paper:\nTheorem 1"),
        (2018, "Jin et al.: lower\nbound for all"),
        (2019, "Osband et al.:\njournal version"),
    ),
    "What holds in\nthe worst case?": (
        (2019, "Russo:\nmore noise"),
        (2021, "Agrawal et al.:\nclip values"),
        (2022, "Xiong et al.:\na single seed"),
    ),
    "And with linear\nfeatures?": (
        (2020, "Zanette et al.; Jin et al.:\nLSVI-UCB"),
        (2021, "Ishfaq et al.:\nLSVI-PHE"),
    ),
    "Can a draw\nbe cheaper?": (
        (2018, "Osband et al.:\nrandom priors"),
        (2024, "Ishfaq et al.:\nLangevin, others"),
    ),
    "Is a linear $Q^*$\nenough?": (
        (2016, "this paper:\nConjecture 1"),
        (2020, "Du et al.:\nnot if nearly"),
        (2021, "Weisz et al., Wang et al.:\nno"),
    ),
}


@styled
def timeline() -> Figure:
    """Each work at its year, in the row of the question that it answers."""
    fig, ax = canvas(height=5.2)
    for row, works in enumerate(WORKS.values()):
        ax.plot([year for year, _ in works], [row] * len(works), "-o", color=COLOUR["theory"])
        for i, (year, words) in enumerate(works):
            ax.annotate(
                words,
                (year, row),
                (0, 7 if i % 2 else -7),
                textcoords="offset points",
                ha="center",
                va="bottom" if i % 2 else "top",
                fontsize=9,
            )
    ax.set(
        yticks=range(len(WORKS)),
        yticklabels=WORKS,
        xticks=range(2016, 2025, 2),
        xlim=(2015.2, 2024.9),
        ylim=(len(WORKS) - 0.4, -0.6),
        xlabel="year of publication",
    )
    ax.grid(visible=False, axis="y")
    return fig


@styled
def tuning(table: pd.DataFrame) -> Figure:
    """Mean regret at the end along the factor, a panel for each problem."""
    problems = final(table).groupby(["environment", "size"], sort=False)
    agents = list(table.agent.unique())
    fig, axes = panels(len(problems), height=2.8, sharex=True)
    for ax, ((environment, size), own) in zip(axes, problems, strict=True):
        sns.lineplot(
            own,
            x="factor",
            y="regret",
            **BY_AGENT,
            **BARS,
            markers=MARK,
            hue_order=agents,
            style_order=agents,
            ax=ax,
        )
        ax.set(
            xscale="log",
            yscale="log",
            xlabel="factor",
            ylabel="mean regret",
            title=f"{environment} {size}",
        )
        ax.get_legend().remove()
    legend(ax, fig, loc="outside lower center", ncols=3)
    return fig


def relative(table: pd.DataFrame) -> pd.DataFrame:
    """Regret at the end of each run, in units of the least mean on the problem."""
    last = final(table)
    last = last.assign(problem=last.environment + " " + last["size"].astype(str))
    means = last.groupby(["problem", "agent", "constants"]).regret.mean()
    return last.assign(times=last.regret / last.problem.map(means.groupby("problem").min()))


@styled
def regret(*tables: pd.DataFrame) -> Figure:
    """Mean regret at the end in units of the problem's best, a panel for each table; with tuned
    constants filled, with published ones hollow."""
    fig, axes = canvas(len(tables), height=8.0, squeeze=False)
    handles: dict[str, Any] = {}
    for ax, table in zip(axes[0], tables, strict=True):
        runs = relative(table)
        agents = list(runs.agent.unique())
        for constants, look in (("published", {"markerfacecolor": "white"}), ("tuned", {})):
            sns.pointplot(
                runs[runs.constants == constants],
                x="times",
                y="problem",
                hue="agent",
                order=runs.problem.unique(),
                hue_order=agents,
                palette=COLOUR,
                markers=[MARK[agent] for agent in agents],
                linestyle="none",
                dodge=0.7,
                errorbar=student,
                err_kws={"linewidth": 1},
                markersize=5,
                markeredgewidth=1.2,
                ax=ax,
                **look,
            )
            handles |= {
                NAME[agent]: handle
                for handle, agent in zip(*ax.get_legend_handles_labels(), strict=True)
            }
            ax.get_legend().remove()
        ax.set(xscale="log", xlabel="mean regret / least mean regret", ylabel="")
    fig.legend(handles.values(), handles, loc="outside lower center", ncols=3)
    return fig


DRAW = {
    "since-tuning": tuning,
    "since-linear-tuning": tuning,
    "since-tabular": regret,
    "since-linear": regret,
}
