"""The figures of Tetris, chapters 6c and D, and the policies that play in the page."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rlsvi_core.envs.tetris import Tetris, fill_placements

from .. import style
from ..judging.outcomes import last_rows
from ..style import (
    BAND,
    BY_AGENT,
    COLOUR,
    NAME,
    agent_shades,
    label_line_ends,
    subplot_grid,
    subplots,
    with_style,
)
from . import experiments

CURVE: dict[str, Any] = {"x": "game", "y": "score", **BAND, "estimator": "mean"}
ROWS = "rows per game"
SAYS = {  # ending rules and readings of Φ in a few words
    "top row": "a full square there ends it",
    "clears": "no placement left ends it",
    "value": "reward known",
    "reward": "reward a feature",
    "board": "reward left out",
}


def _by_rule(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The parts of a table by ending rule, with the titles of their panels."""
    return (
        {f"“{rule}”\n{SAYS[rule]}": part for rule, part in table.groupby("rule", sort=False)}
        if "rule" in table
        else {"": table}
    )


@with_style
def fig7(table: pd.DataFrame) -> Figure:
    """The paper's Figure 7: learning curves on the full board, a panel for each ending rule."""
    parts, levels = _by_rule(table), (*experiments.PAPER_LEVELS, experiments.LSPI)
    fig, axes = subplots(
        rows=len(parts), height=0.6 + 2.3 * len(parts), sharex=True, sharey=True, squeeze=False
    )
    for ax, (title, part) in zip(axes.flat, parts.items(), strict=True):
        sns.lineplot(part, **CURVE, **BY_AGENT, ax=ax)
        for rows, look in zip(levels, ("-", "-", ":"), strict=True):
            ax.axhline(rows, color=COLOUR["paper"], lw=0.8, ls=look)
        ax.set(title=title, xlabel="game", ylabel=ROWS)
        ax.get_legend().remove()
    axes.flat[0].lines[-2].set_label("paper, {} and {}".format(*experiments.PAPER_LEVELS))
    axes.flat[0].lines[-1].set_label(f"LSPI, {experiments.LSPI}")
    style.add_legend(axes.flat[0], fig, loc="outside upper center", ncols=2)
    return fig


@with_style
def mini(table: pd.DataFrame) -> Figure:
    """The paper's Figure 14: learning curves, a panel for each ending rule and reading of Φ."""
    groups = list(table.groupby(["rule", "reading"]))
    fig, axes = subplot_grid(len(groups), height=2.1, sharex=True, sharey="row")
    for ax, ((rule, reading), part) in zip(axes, groups, strict=True):
        sns.lineplot(part, **CURVE, **BY_AGENT, legend=ax is axes[0], ax=ax)
        ax.set(title=f"“{rule}”, {SAYS[reading]}", xlabel="game", ylabel=ROWS)
    style.add_legend(axes[0])
    return fig


def _dots(ax: Axes, table: pd.DataFrame, order: Sequence[str], **columns: str) -> None:
    """A dot for every seed in the colour of its agent, and a bar for the mean of each line."""
    sns.stripplot(
        table,
        **columns,
        order=order,
        hue="agent",
        palette=COLOUR,
        size=4.5,
        alpha=0.5,
        jitter=False,
        legend=False,
        ax=ax,
    )
    sns.pointplot(
        table,
        **columns,
        order=order,
        errorbar=None,
        color="black",
        linestyle="none",
        marker="|",
        markersize=14,
        markeredgewidth=2.5,
        ax=ax,
    )
    ax.set_ylabel("")


@with_style
def schedules(table: pd.DataFrame, games: int | None = None) -> Figure:
    """LSVI's schedules, and RLSVI if it is there, best first, a panel for each ending rule: each
    seed's mean score over the last games, or over the second half of them."""
    parts = _by_rule(table.assign(agent=table.get("agent", "lsvi")))
    scores = {
        title: experiments.final_scores(part, ["agent", "schedule"], games or table.game.max() / 2)
        for title, part in parts.items()
    }
    orders = [
        part.groupby("schedule").mean().sort_values(ascending=False).index
        for part in scores.values()
    ]
    fig, axes = subplots(
        rows=len(parts),
        height=0.6 + sum(0.25 + 0.27 * len(o) for o in orders),
        sharex=True,
        squeeze=False,
        height_ratios=[*map(len, orders)],
    )
    over = f"last {games} games" if games else "second half"
    for ax, (title, part), order in zip(axes.flat, scores.items(), orders, strict=True):
        _dots(ax, part.reset_index(), order, x="score", y="schedule")
        ax.set(title=title, xlabel=f"{ROWS} over the {over}")
        ax.label_outer()
    return fig


def variant(row: Any) -> str:
    """What differs from the algorithm of chapter 6.2, in words."""
    texts = {
        "reading": "Φ: {}",
        "targets": "{} in targets",
        "sweeps": "{} sweeps",
        "variance": "σ {}",
        "sigma": "σ = {:g}",
        "lam": "λ = {:g}",
    }
    words = [
        text.format(SAYS.get(getattr(row, name), getattr(row, name)))
        for name, text in texts.items()
        if getattr(row, name) != experiments.PLAIN[name]
    ]
    return ", ".join(words) or "as in chapter 6.2"


def _how_many(ax: Axes, y: float, when: pd.Series, agent: str) -> None:
    """Right of the axes: how many seeds learn."""
    ax.text(
        1.02,
        y,
        f"{np.isfinite(when).sum()} of {len(when)}",
        va="center",
        color=style.readable_colour(COLOUR[agent]),
        transform=ax.get_yaxis_transform(),
    )


@with_style
def readings(table: pd.DataFrame, games: int = 100) -> Figure:
    """Every variant of Algorithm 7, agent by agent and the best first: how well it plays at the
    end, and how many of its seeds learn."""
    named = table.assign(
        variant=[f"{NAME[row.agent]}, {variant(row)}" for row in table.itertuples()]
    )
    cells = ["agent", "variant"]
    ends, when = (
        experiments.final_scores(named, cells, games),
        experiments.first_learned_game(named, cells),
    )
    best = ends.groupby(cells).mean().sort_values(ascending=False)
    order = [line for agent in ("rlsvi", "lsvi") for line in (NAME[agent], *best[agent].index)]
    fig, ax = subplots(height=4.4)
    _dots(ax, ends.reset_index(), order, x="score", y="variant")
    ax.set_yticks(range(len(order)), [line.split(", ", 1)[-1] for line in order])
    for (y, line), label in zip(enumerate(order), ax.get_yticklabels(), strict=True):
        agent = line.split(", ")[0].lower()
        if line == NAME[agent]:  # a heading
            label.set(weight="bold", color=COLOUR[agent])
        else:
            _how_many(ax, y, when[agent, line], agent)
    ax.text(1.02, 0, "learn", va="center", transform=ax.get_yaxis_transform())
    ax.set(xlabel=f"{ROWS}, last {games} games", xscale="log")
    ax.xaxis.set_major_formatter(style.format_integer)
    return fig


@with_style
def optimism(table: pd.DataFrame, rlsvi: pd.DataFrame) -> Figure:
    """Learning curves of greedy LSVI begun with several values, and of RLSVI on the same games of
    the same seeds."""
    starts = sorted(table.start.unique())
    names = {start: f"LSVI, {style.format_integer(start)}" for start in starts}
    palette = dict(zip(names.values(), agent_shades("lsvi", len(starts)), strict=True))
    palette[NAME["rlsvi"]] = COLOUR["rlsvi"]
    same = rlsvi.seed.isin(table.seed) & (rlsvi.game <= table.game.max())
    curves = pd.concat(
        [
            table.assign(line=table.start.map(names)),
            rlsvi[same].assign(line=NAME["rlsvi"]),
        ]
    )
    fig, ax = subplots(height=2.9)
    sns.lineplot(
        curves, hue="line", palette=palette, legend=False, **CURVE | {"errorbar": None}, ax=ax
    )
    ax.set(xlabel="game", ylabel=ROWS, yscale="log", ylim=(1, None))
    ax.yaxis.set_major_formatter(style.format_integer)
    ends = last_rows(curves, time="game").groupby("line").score.mean()
    label_line_ends(ax, {name: (ends[name], colour) for name, colour in palette.items()})
    return fig


@with_style
def discount(table: pd.DataFrame) -> Figure:
    """Learning curves with several discounts, a panel per agent: in shades of its colour, named at
    their ends."""
    fig, axes = subplots(2, height=2.9, sharey=True)
    parts = dict(list(table.groupby("agent", sort=False)))
    palettes = {}
    for ax, (agent, part) in zip(axes, parts.items(), strict=True):
        discounts = sorted(part.gamma.unique())
        palette = dict(zip(discounts, agent_shades(agent, len(discounts)), strict=True))
        sns.lineplot(part, hue="gamma", palette=palette, legend=False, **CURVE, ax=ax)
        ax.set(title=NAME[agent], xlabel="game", ylabel=ROWS)
        palettes[agent] = palette
    plt.setp(axes, yscale="log", ylim=(1, None))  # last: seaborn averages on the axis's scale
    for ax, (agent, part) in zip(axes, parts.items(), strict=True):
        ends = last_rows(part, time="game").groupby("gamma").score.mean()
        ax.yaxis.set_major_formatter(style.format_integer)
        label_line_ends(
            ax, {f"γ = {gamma:g}": (ends[gamma], look) for gamma, look in palettes[agent].items()}
        )
    return fig


@with_style
def value_scale(table: pd.DataFrame) -> Figure:
    """The value of the empty board in each agent's mean weights, game by game."""
    fig, ax = subplots(height=3.2)
    sns.lineplot(
        table,
        x="game",
        y="w22",
        hue="agent",
        palette=COLOUR,
        units="seed",
        estimator=None,
        lw=0.5,
        alpha=0.4,
        legend=False,
        ax=ax,
    )
    sns.lineplot(
        table, x="game", y="w22", **BY_AGENT, estimator="median", errorbar=None, lw=2.2, ax=ax
    )
    ax.axhline(40, color="black", lw=1, ls=":")
    ax.text(
        table.game.max(),
        40,
        "0.4 rows per placement, discounted ",
        ha="right",
        va="bottom",
    )
    ax.set(xlabel="game", ylabel="value of the empty board", yscale="log")
    ax.yaxis.set_major_formatter(style.format_integer)
    style.add_legend(ax)
    return fig


STACK = (0b1111101111, 0b1101111111, 0b1111111011, 0b0111111111, 0b0111111111)  # six rows high
TRIES = {  # piece, column and width of three placements
    "fits, and\nclears rows": ("L", 8, 2),
    "sticks out,\nclears rows": ("I", 9, 1),
    "sticks out": ("O", 5, 2),
}
FATES = {"goes on": COLOUR["theory"], "ends the game": COLOUR["fails"], "not allowed": "0.75"}


def fates(rule: str) -> dict[str, tuple[str, list[tuple[int, int]]]]:
    """What a rule says to three placements on one board, and the squares that each would fill."""
    found = {}
    for name, (piece, column, width) in TRIES.items():
        outcome, lands = "not allowed", (7, 0)
        for asked in ("overflow", rule):  # there every placement is legal: where would it land?
            game = Tetris(10, 6, piece, asked)
            game.rows[: len(STACK)] = STACK
            X, over, where = game.placement_buffers()
            for a in range(fill_placements(game.model, game.rows, 0, X, over, where)):
                o, c, y = where[a]
                if (c, game.model.size[o, 0]) == (column, width) and (y, o) <= lands:
                    lands = y, o  # the lower of two orientations
                    if asked == rule:
                        outcome = "ends the game" if over[a] else "goes on"
        y, o = lands
        found[name] = (
            outcome,
            [
                (column + x, y + i)
                for i in range(game.model.size[o, 1])
                for x in range(width)
                if game.model.row[o, i] >> x & 1
            ],
        )
    return found


@with_style
def endings() -> Figure:
    """What becomes of three placements, one below the other, under each admitted ending rule."""
    rules = [rule for rule, one in experiments.RULE_TABLES.items() if one.admitted]
    fig, axes = subplots(len(rules), len(TRIES), height=4.6, sharex=True, sharey=True)
    stack = [(x, y) for y, row in enumerate(STACK) for x in range(10) if row >> x & 1]
    for column, rule in zip(axes.T, rules, strict=True):
        for ax, (name, (fate, piece)) in zip(column, fates(rule).items(), strict=True):
            for squares, colour in ((stack, "0.35"), (piece, FATES[fate])):
                for corner in squares:
                    ax.add_patch(plt.Rectangle(corner, 1, 1, fc=colour, ec="white", lw=0.8))
            ax.axhline(6, color="black", lw=1.2, ls="--")
            ax.set(xlim=(0, 10), ylim=(2, 8), aspect="equal", xticks=[], yticks=[])
            ax.set_ylabel(name if ax.get_subplotspec().is_first_col() else "")
            ax.grid(visible=False)
            ax.spines[["left", "right", "bottom"]].set_visible(True)
        column[0].set_title(f"“{rule}”")
    fig.legend(
        handles=[
            plt.Rectangle((0, 0), 1, 1, fc=colour, label=fate) for fate, colour in FATES.items()
        ],
        loc="outside upper center",
        ncols=3,
    )
    return fig


def player(table: pd.DataFrame) -> str:
    """Two policies of figure 7's first seed as HTML, for ``player.js`` to play: its mean weights,
    in ten-thousandths as they are stored, after the first block of games and after the last."""
    curve = table[(table.agent == "rlsvi") & (table.seed == 0)]
    policies = escape(
        json.dumps(
            [
                [
                    f"RLSVI after {row.game} games",
                    [round(1e4 * getattr(row, f"w{k}")) for k in range(1, 24)],
                ]
                for row in curve.iloc[[0, -1]].itertuples()
            ],
            separators=(",", ":"),
        )
    )
    scripts = "".join(
        f'<script src="../_static/{name}.js" defer></script>\n'
        for name in ("rlsvi", "ui", "tetris", "player")
    )
    return f"""<link rel="stylesheet" href="../_static/widgets.css">
<div class="widget" data-widget="tetris" data-policies="{policies}">
<p>An early and a late policy of one run of RLSVI play on this page. You get the same pieces, and
when you drop one, both catch up with you.</p>
<noscript>This needs JavaScript.</noscript></div>
{scripts}"""


DRAW = {  # how ``rlsvi plot`` draws each stored table
    "fig7": fig7,
    "tetris-top-row": fig7,
    "fig14": mini,
    **dict.fromkeys(
        (
            "tetris-schedules",
            "tetris-top-row-schedules",
            "tetris-touches",
            "tetris-overflow-top",
        ),
        schedules,
    ),
    "tetris-readings": readings,
    **dict.fromkeys(("tetris-discount", "tetris-top-row-discount"), discount),
}
