"""The notebook's door: run a study's own function with few seeds, lay its stored runs behind, draw.

::

    live = sweep(learning_curve, range(3), agent=["rlsvi"], N=50, K=10, ...)  # computed now
    count_equal(live, "fig2a")  # 300 of 300 live rows equal the stored ones
    band("fig2a", live, "episode", "regret")  # the stored runs of the same setting, pale
    lines(live, "episode", "regret")
    finish("episode", "regret")

A table's name is the one that ``rlsvi list`` shows, and its settings are the arguments of its run.
Where nothing is stored, because a setting was edited or because there is no folder ``results``, a
line says so, and everything else runs on. The import gives matplotlib the look of the book.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from rlsvi_core import Agent
from rlsvi_core.runtime.checks import fail

from . import engine, style
from .catalogue import EXPERIMENTS
from .chain.experiments import rewarded_episodes
from .engine import grid
from .engine import streams as streams
from .engine.compare import unequal_cells
from .engine.experiment import Task

CLONE = Path(__file__).parents[1]  # has the stored tables, unless the package was installed alone
LENGTH_ARGUMENT = "budget"  # the argument that stops a run which has not learned
_told: set[str] = set()  # what is said once

plt.rcParams.update(style.STYLE | {"figure.figsize": (style.WIDTH, 3.8)})


# --------------------------------------------------------------------------- running


def sweep(run: Callable[..., Any], seeds: Iterable[int], /, **axes: Any) -> pd.DataFrame:
    """Run a study's function for every combination of the axes and every seed; return its rows.

    An axis is a list of values; what is no list is the same in every run. A row has them all, and
    its seed, as columns.
    """
    lists = {name: values if np.ndim(values) else [values] for name, values in axes.items()}
    if np.ndim(seeds) != 1:  # type: ignore[arg-type]
        fail(f"seeds must be a list; it is {seeds!r}. Try range(3).")
    tasks = [Task(cell, int(seed)) for cell in grid(**lists) for seed in seeds]
    if not tasks:
        fail("a sweep needs a seed, and a value of each axis; there is an empty list among them.")
    runs = (task.label_rows(run(seed=task.seed, **task.cell)) for task in tasks)
    return pd.DataFrame([row for rows in runs for row in rows])


def play_until(
    agent: Agent, mdp: Any, rng: np.random.Generator, rewards: int = 10, budget: int = 20_000
) -> int:
    """Play until so many episodes had a reward; return in which episode the last of these was.

    The paper measures learning time so. If the rewards do not come, it is the budget.
    """
    return min(rewarded_episodes(mdp, agent, rng, budget, rewards)[-1], budget)


# --------------------------------------------------------------------------- stored runs


def stored(name: str, **where: Any) -> pd.DataFrame:
    """Return the stored runs of a table, at full scale, that have the given settings."""
    settings = _stored_settings(name)
    for setting, has in settings.items():
        if setting in where and where[setting] not in has:
            fail(
                f"{name} has {_format_values(setting, has)}; {setting} = {where[setting]} is not stored."
            )
    if unknown := where.keys() - settings.keys():
        fail(f"the settings of {name} are {', '.join(settings)}; {min(unknown)} is none of them.")
    table = _read(name)
    for setting in where.keys() & set(table):
        table = table[table[setting] == where[setting]]
    if table.empty and "stored" not in _told:
        fail(f"{name} has each of these settings, but not together: {where}.")
    return table


def stored_like(
    name: str, live: pd.DataFrame | Mapping[str, Any], over: str = "seed"
) -> pd.DataFrame:
    """Return the stored runs with the settings of live ones, for all values of the axis ``over``.

    Where there are none, say so and return no row. Instead of live runs, settings may be given.
    """
    live = pd.DataFrame([live]) if isinstance(live, Mapping) else live
    settings, free = _stored_settings(name), {"seed", "every", over, *_length_settings(name)}
    where = {}
    for setting in settings.keys() & set(live) - free:
        if live[setting].nunique() > 1:
            fail(f"the live runs have several values of {setting}; pass those of one at a time.")
        where[setting] = live[setting].iloc[0]
    edited = _describe_missing(settings, live[list(where)])
    table = pd.DataFrame() if edited else stored(name, **where)
    if edited:
        _print_once(f"nothing stored for {edited}: {name} has no such runs")
    for axis in set(EXPERIMENTS[name].scales["paper"].grid[0]) - free - where.keys():
        fail(f"{name} has {_format_values(axis, settings[axis])}; say which, by a column {axis}.")
    return table if len(table) else live.iloc[:0]


def count_equal(live: pd.DataFrame, name: str) -> None:
    """Print how many live rows equal the stored ones, to the last bit, in the columns of both.

    A shorter run is compared over its beginning.
    """
    settings, table = _stored_settings(name), _read(name)
    if table.empty:
        return
    known = live[
        [column for column in live if column in settings and column not in _length_settings(name)]
    ]
    here = np.logical_and.reduce([known[column].isin(settings[column]) for column in known])
    edited = _describe_missing(settings, known)
    if not here.any():
        print(f"nothing stored for {edited}: nothing to compare")
        return
    label = [column for column in table if column in settings]
    row = "row of the run"
    ours, theirs = (
        runs.assign(**{row: runs.groupby(label).cumcount()}) for runs in (live[here], table)
    )
    both = ours[[*label, row]].merge(theirs, on=[*label, row], how="left", indicator="found")
    equal = both.found.to_numpy() == "both"
    for column in set(ours) & set(table) - {*label}:
        old, new = both[column].to_numpy(object), ours[column].to_numpy(object)
        if LENGTH_ARGUMENT in ours and column != "censored":
            old = np.minimum(old, ours[LENGTH_ARGUMENT].to_numpy(object))
        elif LENGTH_ARGUMENT in ours:
            old = np.where(ours[LENGTH_ARGUMENT] < settings[LENGTH_ARGUMENT][0], new, old)
        equal = equal & ~unequal_cells(old, new).astype(bool)
    rest = f"; nothing stored for {edited}" if edited else ""
    print(f"{equal.sum()} of {len(ours)} live rows equal the stored ones{rest}")


def _stored_settings(name: str) -> dict[str, list[Any]]:
    """The values of every setting of a stored table."""
    if name not in EXPERIMENTS:
        fail(f"there is no table {name!r}; the stored ones are {', '.join(EXPERIMENTS)}.")
    full = EXPERIMENTS[name].scales["paper"]
    found: dict[str, dict[Any, None]] = {}
    for cell in full.grid:
        for setting, value in (full.constants | cell).items():
            found.setdefault(setting, {})[value] = None
    return {setting: list(values) for setting, values in found.items()} | {"seed": [*full.seeds]}


def _length_settings(name: str) -> set[str]:
    """The settings that say how long a run may be, where a shorter run is a longer one's beginning."""
    return {LENGTH_ARGUMENT, EXPERIMENTS[name].length or LENGTH_ARGUMENT}


def _describe_missing(settings: Mapping[str, list[Any]], runs: pd.DataFrame) -> str:
    """What the runs have been given that is not stored: N = 7, K = 3."""
    edited = {
        setting: [value for value in runs[setting].unique() if value not in settings[setting]]
        for setting in runs
    }
    return ", ".join(
        _format_values(setting, values) for setting, values in edited.items() if values
    )


def _format_values(setting: str, values: list[Any]) -> str:
    texts = [str(value) for value in values]
    if len(texts) > 12:
        texts[5:-2] = ["…"]
    return f"{setting} = {', '.join(texts)}"


def _read(name: str) -> pd.DataFrame:
    """A stored table, checked against its own hash and settings; without the file, no row."""
    here = Path.cwd()
    for folder in (here, *here.parents, CLONE):
        if (folder / "results" / f"{name}.csv").is_file():
            return engine.load_table(EXPERIMENTS[name], folder=folder / "results")
    if "stored" not in _told:
        print("no folder 'results' with the stored runs here: pictures have the live ones alone")
    _told.add("stored")
    return pd.DataFrame(columns=[*EXPERIMENTS[name].scales["paper"].grid[0], "seed"])


def _print_once(line: str) -> None:
    """Print a line, once a figure."""
    said = plt.gcf().__dict__.setdefault("_said", set()) if plt.get_fignums() else set()
    if line not in said:
        print(line)
    said.add(line)


# --------------------------------------------------------------------------- drawing


def band(
    name: str,
    live: pd.DataFrame | Mapping[str, Any],
    x: str,
    y: str,
    look: str = "rlsvi",
    label: str | None = None,
    ax: Axes | None = None,
) -> None:
    """Draw the stored runs with the settings of live ones: their median, and the middle 80%."""
    table, ax = stored_like(name, live, over=x), ax or plt.gca()
    if table.empty:
        return
    low, median, high = (table.groupby(x)[y].quantile(share) for share in (0.1, 0.5, 0.9))
    ax.fill_between(low.index, low, high, color=_line_colour(look), alpha=0.15, lw=0)
    label = label or f"{_line_label(look)}, {table.seed.nunique()} stored"
    ax.plot(median, color=_line_colour(look), lw=1, dashes=(4, 3), label=label)


def lines(
    live: pd.DataFrame,
    x: str,
    y: str,
    look: str = "rlsvi",
    label: str | None = None,
    ax: Axes | None = None,
) -> None:
    """Draw each live run as a line, in the look of an agent."""
    ax, label = ax or plt.gca(), label or f"{_line_label(look)}, {live.seed.nunique()} live"
    for i, (_, run) in enumerate(live.groupby("seed")):
        ax.plot(
            run[x],
            run[y],
            color=_line_colour(look),
            ls=style.LINE.get(look, "-"),
            label="_" * (i > 0) + label,
        )


def dots(
    live: pd.DataFrame,
    x: str,
    y: str,
    look: str = "rlsvi",
    label: str | None = None,
    ax: Axes | None = None,
) -> None:
    """Draw each live run as a dot, and their medians as a line."""
    ax, label = ax or plt.gca(), label or f"{_line_label(look)}, {live.seed.nunique()} live"
    mark, median = style.MARK.get(look, "o"), live.groupby(x)[y].median()
    ax.plot(live[x], live[y], mark, color=_line_colour(look), alpha=0.6, mew=0)
    ax.plot(median, mark + "-", color=_line_colour(look), ms=0, label=label)


def finish(
    xlabel: str | None = None,
    ylabel: str | None = None,
    ax: Axes | None = None,
    legend: str = "best",
    **axes: Any,
) -> None:
    """Label the axes, add the legend, show the figure; ``axes`` are those of matplotlib's ``set``.

    A legend that is ``outside lower center`` stands below the axes.
    """
    ax = ax or plt.gca()
    ax.set(**{"xlabel": xlabel, "ylabel": ylabel} | axes)
    for one in ax.figure.axes:
        for axis, (low, high) in ((one.xaxis, one.get_xlim()), (one.yaxis, one.get_ylim())):
            if 1000 <= high <= 1e7 or (axis.get_scale() == "log" and 1 <= low < high <= 1e7):
                axis.set_major_formatter(style.format_integer)
    found = ax.get_legend_handles_labels()
    if legend.startswith("outside"):
        ax.figure.legend(*found, loc=legend, ncols=2)
    elif found[0]:
        ax.legend(loc=legend)
    plt.show()


def _line_colour(look: str) -> Any:
    """An agent's colour, darkened to a contrast of 3:1 with white; or any of matplotlib's."""
    return style.readable_colour(style.COLOUR.get(look, look), contrast=3)


def _line_label(look: str) -> str:
    return style.NAME.get(look, "runs")
