"""The figures of Tetris, chapters 6c and D, and the policies that play in the page."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rlsvi_core.envs.tetris import RULES, Tetris, placements

from .. import style
from ..intervals import student
from ..style import BAND, BY_AGENT, COLOUR, LINE, NAME, canvas, label_ends, panels, shades, styled
from . import runs

Table = pd.DataFrame
CURVE: dict[str, Any] = {"x": "game", "y": "score", **BAND, "estimator": "mean"}
ROWS = "rows per game"
SAYS = {  # an ending rule and a reading of Φ in words
    "top row": "a full top row ends it", "fits": "a piece must fit",
    "clears": "what is left must fit", "overflow": "sticking out ends it",
    "overflow top": "reaching the top row ends it", "value": "reward known",
    "reward": "reward a feature", "board": "reward left out"}


@styled
def fig7(table: Table) -> Figure:
    """The paper's Figure 7: learning curves on the full board, linear and logarithmic."""
    fig, axes = canvas(2)
    for ax, scale in zip(axes, ("linear", "log"), strict=True):
        sns.lineplot(table, **CURVE, **BY_AGENT, legend=scale == "log", ax=ax)
        for rows in runs.PAPER_LEVELS:  # as “respectively” has them
            ax.axhline(rows, color=COLOUR["paper"], lw=0.7)
        ax.axhline(runs.LSPI, color=COLOUR["paper"], lw=1, ls=":")
        ax.set(xlabel="game", ylabel=f"{ROWS}, mean of 50", yscale=scale)
    axes[1].set(ylabel="", ylim=(1, None))
    said = zip(("RLSVI", "LSVI", "LSPI"), (*runs.PAPER_LEVELS, runs.LSPI), strict=True)
    label_ends(axes[0], {f"the paper's\n{name}, {rows}": (rows, COLOUR["paper"])
                        for name, rows in said})
    style.legend(axes[1], loc="lower right")
    return fig


@styled
def small_multiples(table: Table, by: list[str], log: bool = True) -> Figure:
    """Learning curves of both agents, one panel for each value of ``by``; rows share an axis."""
    groups = list(table.groupby(by))
    fig, axes = panels(len(groups), sharex=True, sharey="all" if log else "row")
    for ax, (key, group) in zip(axes, groups, strict=True):
        sns.lineplot(group, **CURVE, **BY_AGENT, legend=ax is axes[0], ax=ax)
        rule, *reading = key
        ax.set(title=f"“{rule}”: " + (", ".join(map(SAYS.get, reading)) or SAYS[rule]),
               xlabel="game", ylabel=ROWS)
    if log:  # last: seaborn averages on the axis's scale
        plt.setp(axes, yscale="log", ylim=(1, None))
    style.legend(axes[0])
    return fig


def _dots(ax: Axes, table: Table, order: Sequence[str], middle: str = "mean",
          **columns: str) -> None:
    """A dot for every seed in the colour of its agent, and a bar for the middle of each line."""
    sns.stripplot(table, **columns, order=order, hue="agent", palette=COLOUR, size=4.5, alpha=0.5,
                  jitter=False, legend=False, ax=ax)
    sns.pointplot(table, **columns, order=order, estimator=middle, errorbar=None, color="black",
                  linestyle="none", marker="|", markersize=14, markeredgewidth=2.5, ax=ax)
    ax.set_ylabel("")


@styled
def schedules(table: Table) -> Figure:
    """LSVI's schedules, and RLSVI if it is there, best first: the mean score over the second half
    of the games, seed by seed."""
    by = [name for name in ("rule", "reading") if name in table]
    scores = runs.second_half(table.assign(agent=table.get("agent", "lsvi")),
                              [*by, "agent", "schedule", "seed"])
    if by:  # one scale for games of different scores: relative to the best schedule
        means = scores.groupby([*by, "schedule"]).transform("mean")
        scores /= means.groupby(by).transform("max")
    order = list(scores.groupby("schedule").mean().sort_values(ascending=False).index)
    fig, ax = canvas(height=0.6 + 0.28 * len(order))
    _dots(ax, scores.reset_index(), order, x="score", y="schedule")
    ax.set_xlabel("score over the second half, best schedule of each game = 1" if by else
                  f"{ROWS} over the second half")
    return fig


def variant(row: Any) -> str:
    """What differs from the algorithm of chapter 6c, in words."""
    texts = {"reading": "Φ: {}", "targets": "{} in targets", "sweeps": "{} sweeps",
             "variance": "σ {}", "sigma": "σ = {:g}", "lam": "λ = {:g}"}
    words = [text.format(SAYS.get(getattr(row, name), getattr(row, name)))
             for name, text in texts.items() if getattr(row, name) != runs.PLAIN[name]]
    return ", ".join(words) or "as in chapter 6c"


@styled
def readings(table: Table, games: int = 100) -> Figure:
    """Every variant of Algorithm 7, agent by agent and the best first: when it learns, and how well
    it plays at the end."""
    named = table.assign(variant=[f"{NAME[row.agent]}, {variant(row)}"
                                  for row in table.itertuples()])
    cells, never = ["agent", "variant"], 1.08 * table.game.max()
    ends = runs.finals(named, cells, games)
    best = ends.groupby(cells).mean().sort_values(ascending=False)
    order = [line for agent in ("rlsvi", "lsvi") for line in (NAME[agent], *best[agent].index)]
    fig, axes = canvas(2, height=4.4, sharey=True)
    _dots(axes[0], runs.learned_at(named, cells).clip(upper=never).reset_index(), order, "median",
          x="game", y="variant")
    _dots(axes[1], ends.reset_index(), order, x="score", y="variant")
    axes[0].set_yticks(range(len(order)), [line.split(", ", 1)[-1] for line in order])
    for line, label in zip(order, axes[0].get_yticklabels(), strict=True):
        if ", " not in line:  # a heading
            label.set(weight="bold", color=COLOUR[line.lower()])
    axes[0].axvline(1.04 * table.game.max(), color="0.6", lw=1, ls=":")
    axes[0].set_xlabel(f"games until {runs.LEARNED} {ROWS}\n(beyond the dots: never)")
    axes[1].set(xlabel=f"{ROWS}, last {games} games", xscale="log")
    return fig


def _settings(axes: Sequence[Axes], table: Table, column: str, words: Callable[[Any], str],
              scale: str, **look: Any) -> None:
    """Learning curves of settings of one agent, a panel per agent: in shades of its colour, named
    at their ends."""
    parts = dict(list(table.groupby("agent", sort=False)))
    palettes = {agent: dict(zip(values := sorted(part[column].unique()),
                                shades(agent, len(values)), strict=True))
                for agent, part in parts.items()}
    for ax, (agent, part) in zip(axes, parts.items(), strict=True):
        sns.lineplot(part, hue=column, palette=palettes[agent], legend=False, **CURVE | look, ax=ax)
        ax.set(xlabel="game", ylabel=ROWS)
    plt.setp(axes, yscale=scale, ylim=(1 if scale == "log" else 0, None))  # last: seaborn averages
    for ax, (agent, part) in zip(axes, parts.items(), strict=True):  # on the axis's scale
        last = part[part.game == part.game.max()].groupby(column).score.mean()
        label_ends(ax, {words(value): (last[value], colour)
                       for value, colour in palettes[agent].items()})


@styled
def variants(table: Table, column: str, words: Callable[[Any], str], agent: str,
             scale: str = "linear", **look: Any) -> Figure:
    """Learning curves of variants of one agent."""
    fig, ax = canvas(height=2.9)
    _settings([ax], table.assign(agent=agent), column, words, scale, **look)
    return fig


variance = partial(variants, column="variance", words="σ {}".format, agent="rlsvi")
optimism = partial(variants, column="start", words="all boards\nworth {:.0f}".format,
                   agent="lsvi", scale="log", errorbar=None)
buffer = partial(variants, column="N", agent="rlsvi", scale="log",
                 words=lambda n: f"the last\n{style.digits(n)}")


@styled
def discount(table: Table) -> Figure:
    """Learning curves of both agents with several discounts."""
    fig, axes = canvas(2, height=2.9, sharey=True)
    _settings(axes, table, "gamma", "γ = {:g}".format, "log")
    for ax, agent in zip(axes, table.agent.unique(), strict=True):
        ax.set_title(NAME[agent])
    return fig


def way(row: Any) -> str:
    """A kind of policy iteration in words."""
    data = "buffer" if row.replay else f"own {row.each} games"
    return f"from {'a scoring policy' if row.start == 'scoring' else row.start}, {data}"


@styled
def iteration(table: Table) -> Figure:
    """Policy iteration, seed by seed: the best policy and the last ones; and the way there."""
    named = table.assign(way=[way(row) for row in table.itertuples()])
    ends = pd.concat({
        "best": named.groupby(["rule", "way", "seed"], sort=False).score.max(),
        "last four": named[named.policy > named.policy.max() - 4].groupby(
            ["rule", "way", "seed"], sort=False).score.mean()}, names=["policies"]).reset_index()
    fig, axes = plt.subplot_mosaic([["clears", "top row"], ["way", "way"]], figsize=(7.0, 5.4),
                                   height_ratios=(1.25, 1))
    for rule, part in ends.groupby("rule", sort=False):
        ax = axes[rule]
        sns.stripplot(part.assign(score=part.score + 1), x="score", y="way", hue="policies",
                      dodge=True, jitter=False, size=4.5, alpha=0.6, ax=ax,
                      palette=["0.2", "0.6"], order=named.way.unique())
        ax.axvline(runs.LSPI, color=COLOUR["paper"], lw=1, ls=":")
        ax.set(title=f"“{rule}”", xscale="log", xlabel=f"{ROWS} + 1", ylabel="")
        handles, labels = ax.get_legend_handles_labels()
        ax.legend().remove()
    fig.legend(handles, [f"{label} of twenty policies" for label in labels], ncols=2,
               loc="outside upper right")
    axes["top row"].set_yticklabels([])
    shown = named[(named.start == "scoring") & named.replay & (named.rule == "clears")]
    sns.lineplot(shown, x="policy", y="score", units="seed", estimator=None, lw=0.8, alpha=0.7,
                 color="0.5", ax=axes["way"])
    axes["way"].axhline(runs.LSPI, color=COLOUR["paper"], lw=1, ls=":")
    axes["way"].set(title="from a scoring policy with the buffer, “clears”: run by run",
                    xlabel="policy", yscale="log", ylabel=ROWS)
    label_ends(axes["way"], {f"the paper's\nLSPI, {runs.LSPI}": (runs.LSPI, COLOUR["paper"])})
    return fig


@styled
def widths(table: Table) -> Figure:
    """Mini-Tetris: RLSVI minus the best LSVI, with its interval, against the width of the board."""
    by = ["reading", "rule", "width"]
    leads = pd.concat({key: runs.lead(cell) for key, cell in table.groupby(by)},
                      names=by).reset_index(name="lead")
    groups = list(leads.groupby(["rule", "reading"]))
    fig, axes = panels(len(groups), height=2.0, sharex=True, sharey=True)
    for ax, ((rule, reading), part) in zip(axes, groups, strict=True):
        sns.lineplot(part, x="width", y="lead", errorbar=student, err_style="bars", marker="o",
                     ms=7, linestyle="none", color=COLOUR["rlsvi"], ax=ax)
        ax.axhline(0, color="black", lw=0.8)
        ax.set(title=f"“{rule}”: {SAYS[reading]}", xlabel="columns", ylabel="RLSVI − LSVI, rows")
    return fig


@styled
def weights(table: Table) -> Figure:
    """What RLSVI has learned: the mean weights after the last game, over seeds that learned."""
    learned = table[(table.agent == "rlsvi") & (table.score > runs.LEARNED)]
    columns = learned[learned.game == table.game.max()].filter(regex="^w").to_numpy()
    pale, dark = shades("rlsvi", 2)
    colours = [pale] * 10 + [dark] * 9 + [COLOUR["rlsvi"]] * 2  # as in runs.GROUPS
    fig, axes = canvas(2, height=2.9, width_ratios=(3, 1))
    for ax, part, names in ((axes[0], slice(0, 19), [*range(1, 11), *range(1, 10)]),
                            (axes[1], slice(19, 21), ["largest\nheight", "holes"])):
        sns.barplot(columns[:, part], palette=colours[part], saturation=1, errorbar="sd",
                    err_kws={"lw": 1}, ax=ax)
        ax.set_xticks(range(len(names)), names)
        ax.axhline(0, color="black", lw=0.8)
    axes[0].set(xlabel="column heights (pale), then differences of neighbours (dark)",
                ylabel="weight, rows")
    axes[1].set(xlabel="the other two", ylabel="")
    return fig


@styled
def value_scale(table: Table) -> Figure:
    """The value of the empty board in each agent's mean weights, game by game."""
    fig, ax = canvas(height=2.9)
    sns.lineplot(table, x="game", y="w22", hue="agent", palette=COLOUR, units="seed",
                 estimator=None, lw=0.5, alpha=0.4, legend=False, ax=ax)
    sns.lineplot(table, x="game", y="w22", **BY_AGENT, estimator="median", errorbar=None, lw=2.2,
                 ax=ax)
    ax.axhline(40, color="black", lw=1, ls=":")
    ax.text(table.game.max(), 40, "0.4 rows per step for ever, discounted ", ha="right",
            va="bottom", fontsize=9)
    ax.set(xlabel="game", ylabel="value of the empty board", yscale="log")
    style.legend(ax)
    return fig


@styled
def known(table: Table) -> Figure:
    """Published players: their mean scores here, and the law of their scores."""
    fig, (means, law) = canvas(2, height=2.9)
    sns.pointplot(table.assign(rule="rule “" + table.rule + "”"), x="score", y="player", hue="rule",
                  errorbar=student, dodge=0.25, linestyle="none", markers=["o", "s"], markersize=5,
                  palette=["0.2", "0.6"], err_kws={"lw": 1.5}, ax=means)
    means.set(xlabel=ROWS, ylabel="", xlim=(0, None))
    means.legend(loc="lower left")
    scores = table[table.rule == "fits"].groupby("player").score
    sns.lineplot(x=scores.transform(lambda x: x / x.mean()), hue=table.player, style=table.player,
                 y=scores.transform(lambda x: 1 - x.rank(method="first") / (x.size + 1)),
                 palette=sns.color_palette("Greys_d", table.player.nunique()), estimator=None,
                 ax=law)
    grid = np.linspace(0, 5, 50)
    law.plot(grid, np.exp(-grid), color=COLOUR["theory"], ls=LINE["theory"],
             label="exponential law")
    law.set(xlabel="rows, in units of the player's mean", ylabel="share of games with more",
            yscale="log", ylim=(5e-3, 1.1), xlim=(0, 5.5))
    law.legend()
    return fig


STACK = (0b1111101111, 0b1101111111, 0b1111111011, 0b0111111111, 0b0111111111)  # six rows high
TRIES = {"a": ("I", 0, 4), "b": ("O", 5, 2), "c": ("I", 9, 1)}  # piece, column and width
FATES = {"goes on": COLOUR["theory"], "ends the game": COLOUR["fails"], "not allowed": "0.75"}


def fates(rule: str) -> dict[str, tuple[str, list[tuple[int, int]]]]:
    """What a rule says to three placements on one board, and the squares that each would fill."""
    found = {}
    for name, (piece, column, width) in TRIES.items():
        outcome, squares = "not allowed", []
        for asked in ("overflow", rule):  # there every placement is legal: where would it land?
            game = Tetris(10, 6, piece, asked)
            game.rows[:len(STACK)] = STACK
            X, over, where = game.buffers()
            for a in range(placements(game.model, game.rows, 0, X, over, where)):
                o, c, y = where[a]
                if (c, game.model.size[o, 0]) == (column, width):
                    squares = [(c + x, y + i) for i in range(game.model.size[o, 1])
                               for x in range(width) if game.model.row[o, i] >> x & 1]
                    if asked == rule:
                        outcome = "ends the game" if over[a] else "goes on"
        found[name] = outcome, squares
    return found


@styled
def endings() -> Figure:
    """The five ending rules as five boards: one stack, three placements, and their fates."""
    fig, axes = panels(len(RULES), height=2.4, sharey=True)
    stack = [(x, y) for y, row in enumerate(STACK) for x in range(10) if row >> x & 1]
    for ax, rule in zip(axes, RULES, strict=True):
        pieces = fates(rule)
        for colour, squares in (("0.35", stack), *((FATES[fate], part)
                                                   for fate, part in pieces.values())):
            for x, y in squares:
                ax.add_patch(plt.Rectangle((x, y), 1, 1, fc=colour, ec="white", lw=0.8))
        for name, (fate, ((x, y), *_)) in pieces.items():
            ax.text(x + 0.5, y + 0.45, name, ha="center", va="center", weight="bold", fontsize=9,
                    color="white" if fate == "ends the game" else "black")
        ax.axhline(6, color="black", lw=1.2, ls="--")
        ax.set(title=f"“{rule}”", xlim=(0, 10), ylim=(0, 8), aspect="equal", xticks=[], yticks=[])
        ax.grid(visible=False)
        ax.spines[["left", "right", "bottom"]].set_visible(True)
    fig.legend(handles=[plt.Rectangle((0, 0), 1, 1, fc=colour, label=fate)
                        for fate, colour in FATES.items()], **style.CORNER)
    return fig


def player(table: Table) -> str:
    """Two policies of figure 7's first seed as HTML, for ``player.js`` to play: its mean weights,
    in ten-thousandths as they are stored, after the first block of games and after the last."""
    curve = table[(table.agent == "rlsvi") & (table.seed == 0)]
    policies = escape(json.dumps([
        [f"RLSVI after {row.game} games",
         [round(1e4 * getattr(row, f"w{k}")) for k in range(1, 24)]]
        for row in curve.iloc[[0, -1]].itertuples()], separators=(",", ":")))
    scripts = "".join(f'<script src="../_static/{name}.js" defer></script>\n'
                      for name in ("rlsvi", "ui", "tetris", "player"))
    return f"""<link rel="stylesheet" href="../_static/widgets.css">
<div class="widget" data-widget="tetris" data-policies="{policies}">
<p>What RLSVI knew early and late in one run of our Figure 7, playing now on this page. It
learned under the rule “clears”; choose the rule under which it plays. All get the same pieces, and
so do you: when you drop one, the others keep up with you.</p>
<noscript>This needs JavaScript.</noscript></div>
{scripts}"""


DRAW = {  # how ``rlsvi plot`` draws each stored table
    "fig7": fig7, "tetris-top-row": fig7,
    **dict.fromkeys(("fig7-tuning", "fig14-tuning", "tetris-top-row-tuning", "tetris-schedules",
                     "tetris-top-row-schedules"), schedules),
    "fig14": lambda table: small_multiples(table, ["rule", "reading"], log=False),
    "tetris-rules": lambda table: small_multiples(table, ["rule"]),
    "tetris-variance": variance, "tetris-widths": widths, "tetris-readings": readings,
    "tetris-known": known, "tetris-optimism": optimism, "tetris-buffer": buffer,
    "tetris-discount": discount, "tetris-lspi": iteration}
