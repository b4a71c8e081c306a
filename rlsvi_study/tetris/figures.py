"""The figures of Tetris: chapters 6c and D, and the games to watch."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rlsvi_core.envs.tetris import Tetris

from ..style import COLOUR, LINE, NAME, canvas, styled
from . import players
from . import runs as tetris

AGENT = {"rlsvi": "rlsvi", "lsvi": "epsilon-greedy"}  # whose colours and line styles to wear
LABEL = {"rlsvi": NAME["rlsvi"], "lsvi": "LSVI"}


def _band(ax, table: pd.DataFrame, **look) -> None:
    """Mean over the seeds of every block's mean score, with a 10–90% band of the seeds."""
    runs = table.pivot(index="game", columns="seed", values="score")
    (line,) = ax.plot(runs.index, runs.mean(axis=1), lw=2, **look)
    ax.fill_between(runs.index, *np.quantile(runs, [0.1, 0.9], axis=1), alpha=0.15, lw=0,
                    color=line.get_color())


def _curves(ax, table: pd.DataFrame) -> None:
    """Both agents' bands, each in its own colour and line style."""
    for agent, name in LABEL.items():
        _band(ax, table[table.agent == agent], color=COLOUR[AGENT[agent]], ls=LINE[AGENT[agent]],
              label=name)


def _landmarks(ax) -> None:
    ax.axhline(tetris.LSPI, color="black", lw=1, ls=":")
    ax.text(ax.get_xlim()[1], tetris.LSPI, "LSPI 3183 ", ha="right", va="top", fontsize=8)
    ax.axhspan(*tetris.PAPER_LEVELS, color=COLOUR["theory"], alpha=0.18, lw=0)


@styled
def fig7(table: pd.DataFrame) -> Figure:
    """Figure 7: learning curves on the full board, on a linear and a logarithmic axis."""
    fig, axes = canvas(2, width=8.6)
    for ax, scale in zip(axes, ("linear", "log"), strict=True):
        _curves(ax, table)
        ax.set(xlabel="game", yscale=scale)
        _landmarks(ax)
    axes[0].set_ylabel("rows a game, mean of 50 games")
    axes[1].legend(loc="center right")
    return fig


@styled
def small_multiples(table: pd.DataFrame, by: list[str], log: bool = True) -> Figure:
    """Learning curves of both agents, one panel for each value of ``by``."""
    groups, columns = list(table.groupby(by, sort=False)), 3
    rows = -(-len(groups) // columns)
    fig, axes = plt.subplots(rows, columns, figsize=(9.0, 2.4 * rows), sharex=True, sharey=log)
    for ax, (key, group) in zip(np.ravel(axes), groups, strict=True):
        _curves(ax, group)
        ax.set(title=", ".join(f"{value}" for value in key), xlabel="game",
               yscale="log" if log else "linear")
        ax.title.set_fontsize(9)
    np.ravel(axes)[0].set_ylabel("rows a game")
    np.ravel(axes)[0].legend(fontsize=8)
    return fig


@styled
def schedules(table: pd.DataFrame) -> Figure:
    """LSVI's schedules, and RLSVI if it is there: the mean score over the second half of the games,
    seed by seed."""
    half = table[table.game > table.game.max() / 2]
    by = [name for name in ("rule", "reading") if name in table]
    if by:  # one scale for games of different scores: relative to the best schedule
        best = half.groupby([*by, "schedule"]).score.mean().groupby(by).max()
        half = half.assign(score=half.score / best.loc[
            pd.MultiIndex.from_frame(half[by])].to_numpy())
    scores = half.groupby(["schedule", *by, "seed"], sort=False).score.mean()
    names = table.schedule.unique()
    fig, ax = canvas(height=0.6 + 0.28 * len(names))
    for y, name in enumerate(names):
        runs, agent = scores.loc[name], "rlsvi" if name == LABEL["rlsvi"] else "lsvi"
        ax.plot(runs, np.full(len(runs), y), "o", ms=4, color=COLOUR[AGENT[agent]], alpha=0.5)
        ax.plot(runs.mean(), y, "|", ms=16, mew=2.5, color="black")
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -0.6), xlabel=(
        "score over the second half, best schedule of each game = 1" if by else
        "rows a game over the second half"))
    return fig


def variant(row) -> str:
    """A reading in words: the agent, and what differs from the printed algorithm."""
    words = [f"Φ = {row.reading}"] if row.reading != "value" else []
    words += ["mean in targets"] if row.targets == "mean" else []
    words += [f"{row.sweeps} sweeps"] if row.sweeps > 1 else []
    words += ["σ unknown"] if row.variance == "unknown" else []
    words += [f"σ = {row.sigma:g}"] if row.sigma != 1 else []
    words += [f"λ = {row.lam:g}"] if row.lam != 1 else []
    return f"{LABEL[row.agent]}, {', '.join(words) or 'as in figure 7'}"


@styled
def readings(table: pd.DataFrame, games: int = 100) -> Figure:
    """Every variant of Algorithm 7: when it learns, and how well it plays at the end."""
    cells = ["agent", "reading", "targets", "sweeps", "variance", "lam", "sigma"]
    fig, axes = canvas(2, width=9.0, height=4.2, sharey=True)
    names, never = [], 1.08 * table.game.max()
    when = tetris.learned_at(table, cells).clip(upper=never)
    final = tetris.finals(table, cells, games)
    for y, (key, group) in enumerate(table.groupby(cells, sort=False)):
        names.append(variant(group.iloc[0]))
        look = {"color": COLOUR[AGENT[group.iloc[0].agent]]}
        for ax, runs, middle in ((axes[0], when.loc[key], "median"),
                                 (axes[1], final.loc[key], "mean")):
            ax.plot(runs, y + np.linspace(-0.2, 0.2, len(runs)), "o", ms=3.5, alpha=0.6, **look)
            ax.plot(runs.agg(middle), y, "|", ms=15, mew=2.5, color="black")
    axes[0].axvline(1.04 * table.game.max(), color="0.6", lw=1, ls=":")
    axes[0].set(yticks=range(len(names)), yticklabels=names,
                xlabel=f"games until {tetris.LEARNED} rows a game (right: never)")
    axes[1].set(xlabel=f"rows a game, last {games} games", xscale="log")
    axes[0].invert_yaxis()
    return fig


@styled
def variance(table: pd.DataFrame) -> Figure:
    """RLSVI with its noise variance known and unknown: means and 10–90% bands over the seeds."""
    fig, ax = canvas(height=2.9)
    for (name, group), colour, style in zip(
            table.groupby("variance"), (COLOUR["rlsvi"], COLOUR["theory"]), ("-", "--"),
            strict=False):
        _band(ax, group, ls=style, color=colour, label=f"σ {name}")
    ax.set(xlabel="game", ylabel="rows a game, mean of 50 games")
    ax.legend()
    return fig


@styled
def widths(table: pd.DataFrame) -> Figure:
    """Mini-Tetris: RLSVI minus the best LSVI, with its interval, against the width of the board."""
    found = tetris.gaps(table, ["reading", "rule", "width"])
    fig, axes = plt.subplots(2, 3, figsize=(9.0, 4.8), sharex=True, sharey=True)
    for ax, ((reading, rule), gap) in zip(
            axes.flat, found.groupby(["reading", "rule"], sort=False), strict=True):
        x = gap.index.get_level_values("width")
        ax.errorbar(x, gap["mean"], yerr=[gap["mean"] - gap.low, gap.high - gap["mean"]],
                    fmt="o", ms=5, lw=1.5, color=COLOUR["rlsvi"])
        ax.axhline(0, color="black", lw=0.8)
        ax.set_title(f"Φ = {reading}, {rule}", fontsize=9)
        ax.set_xlabel("columns")
    for ax in axes[:, 0]:
        ax.set_ylabel("RLSVI − LSVI, rows")
    return fig


@styled
def weights(table: pd.DataFrame) -> Figure:
    """What RLSVI has learned: the mean weights after the last game, over seeds that learned."""
    last = table[(table.game == table.game.max()) & (table.agent == "rlsvi")
                 & (table.score > tetris.LEARNED)]
    fig, axes = canvas(2, width=9.0, height=2.9, gridspec_kw={"width_ratios": (3, 1)})
    for ax, columns, names in ((axes[0], range(1, 20), [*range(1, 11), *range(1, 10)]),
                               (axes[1], range(20, 22), ["largest\nheight", "holes"])):
        values = last[[f"w{k}" for k in columns]]
        ax.bar(range(len(columns)), values.mean(), color=[
            COLOUR["rlsvi"] if k <= 10 else COLOUR["theory"] if k < 20 else "0.55"
            for k in columns], yerr=values.std(), error_kw={"lw": 1})
        ax.set(xticks=range(len(columns)), xticklabels=names)
        ax.axhline(0, color="black", lw=0.8)
    axes[0].set(xlabel="column heights (blue), then differences of neighbours (green)",
                ylabel="weight, rows")
    axes[1].set_xlabel("the other two")
    return fig


@styled
def value_scale(table: pd.DataFrame) -> Figure:
    """The value of the empty board in each agent's mean weights, game by game."""
    fig, ax = canvas(height=2.9)
    for agent in ("rlsvi", "lsvi"):
        runs = table[table.agent == agent].pivot(index="game", columns="seed", values="w22")
        ax.plot(runs.index, runs, color=COLOUR[AGENT[agent]], lw=0.5, alpha=0.4)
        ax.plot(runs.index, runs.median(axis=1), color=COLOUR[AGENT[agent]],
                ls=LINE[AGENT[agent]], lw=2.2, label=LABEL[agent])
    ax.axhline(40, color="black", lw=1, ls=":")
    ax.text(table.game.max(), 40, "0.4 rows a step for ever, discounted ", ha="right", va="bottom",
            fontsize=8)
    ax.set(xlabel="game", ylabel="value of the empty board", yscale="log")
    ax.legend()
    return fig


@styled
def optimism(table: pd.DataFrame) -> Figure:
    """Greedy LSVI whose values start high: learning curves, one line a start."""
    fig, ax = canvas(height=2.9)
    for (start, runs), style in zip(table.groupby("start"), ("--", "-", "-."), strict=True):
        curve = runs.groupby("game").score.mean()
        ax.plot(curve.index, curve, style, lw=2, label=f"every board worth {start:.0f} at first")
    ax.set(xlabel="game", ylabel="rows a game", yscale="log")
    ax.legend(fontsize=8)
    return fig


@styled
def buffer(table: pd.DataFrame) -> Figure:
    """RLSVI with buffers of several sizes: means and 10–90% bands over the seeds."""
    fig, ax = canvas(height=2.9)
    for (N, group), style in zip(table.groupby("N"), (":", "--", "-"), strict=False):
        _band(ax, group, ls=style, label=f"N = {N:,}")
    ax.set(xlabel="game", ylabel="rows a game, mean of 50 games", yscale="log")
    ax.legend()
    return fig


@styled
def known(table: pd.DataFrame, published: dict[str, float]) -> Figure:
    """Published players: our means beside the reported ones, and the law of their scores."""
    fig, axes = canvas(2, width=9.0, height=2.9)
    for y, (player, style) in enumerate(zip(published, ("-", "--", "-."), strict=True)):
        axes[0].plot(published[player], y, "D", ms=9, mfc="none", color="black",
                     label="reported" if y == 0 else None)
        for rule, shift, marker in (("fits", -0.12, "o"), ("clears", 0.12, "s")):
            scores = table[(table.player == player) & (table.rule == rule)].score
            axes[0].errorbar(scores.mean(), y + shift, xerr=1.96 * scores.sem(), fmt=marker, ms=5,
                             color=COLOUR["rlsvi" if rule == "fits" else "theory"],
                             label=f"here, rule “{rule}”" if y == 0 else None)
        x = np.sort(table[(table.player == player) & (table.rule == "fits")].score)
        axes[1].plot(x / x.mean(), 1 - np.arange(1, x.size + 1) / (x.size + 1), style, lw=1.8,
                     label=player)
    axes[0].set(yticks=range(len(published)), yticklabels=published, xlabel="rows a game",
                xlim=(0, None), ylim=(len(published) - 0.5, -0.5))
    axes[0].legend(fontsize=8, loc="lower left")
    grid = np.linspace(0, 5, 50)
    axes[1].plot(grid, np.exp(-grid), ":", color="black", lw=1.5, label="exponential law")
    axes[1].set(xlabel="rows, in units of the player's mean", ylabel="share of games with more",
                yscale="log", ylim=(5e-3, 1.1), xlim=(0, 5.5))
    axes[1].legend(fontsize=8)
    return fig


@styled
def games(table: pd.DataFrame) -> Figure:
    """Rows cleared along the stored games."""
    fig, ax = canvas(height=2.6)
    for (policy, part), rows in table.groupby(["policy", "part"], sort=False):
        ax.plot(rows.step, rows.score, label=f"{policy}, {part} part")
    ax.set(xlabel="placement", ylabel="rows cleared", xscale="log", yscale="symlog", ylim=(0, None))
    ax.legend(fontsize=8)
    return fig


def player(table: pd.DataFrame, policy: str, title: str) -> str:
    """A stored game as HTML: its placements as JSON, for ``tetris.js`` to play."""
    game = Tetris()
    first, row = game.model.first, game.model.row
    parts = []
    for part, rows in table[table.policy == policy].groupby("part", sort=False):
        start = rows.iloc[0]
        parts.append({
            "name": part, "step": int(start.step), "score": int(start.score - start.cleared),
            "board": [int(bits, 16) for bits in start.board.split()],
            "moves": [[game.pieces.index(move.piece), move.orientation, move.column]
                      for move in rows.itertuples()]})
    shapes = [[[int(bits) for bits in row[o] if bits] for o in range(first[p], first[p + 1])]
              for p in range(len(game.pieces))]
    data = json.dumps({"title": title, "width": game.width, "height": game.height,
                       "names": game.pieces, "shapes": shapes, "parts": parts},
                      separators=(",", ":"))
    return (f'<div class="tetris"><p>{title}. The player needs JavaScript and works on the '
            f"book's pages.</p><script type=\"application/json\">{data}</script></div>\n"
            '<link rel="stylesheet" href="../_static/tetris.css">\n'
            '<script src="../_static/tetris.js" defer></script>')


DRAW = {  # how ``rlsvi plot`` draws each stored table
    "fig7": fig7, "fig7-tuning": schedules, "fig14-tuning": schedules, "tetris-top-row": fig7,
    "tetris-schedules": schedules,
    "tetris-top-row-tuning": schedules, "tetris-variance": variance, "tetris-widths": widths,
    "fig14": lambda table: small_multiples(table, ["reading", "rule"], log=False),
    "tetris-rules": lambda table: small_multiples(table, ["rule"]),
    "tetris-readings": readings, "tetris-games": games,
    "tetris-known": lambda table: known(table, players.PUBLISHED),
    "tetris-optimism": optimism, "tetris-buffer": buffer}
