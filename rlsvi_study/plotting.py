"""Draws any table as its ``Plot`` says: what ``rlsvi plot`` shows.

Of each picture the title says what is fixed in the runs, and what the marks are.
"""

import textwrap
from collections.abc import Sequence
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from . import StudyError
from .engine import Experiment, Plot, load_table
from .judging.intervals import student_ends
from .judging.register import typeset_numbers
from .style import COLOUR, NAME, STYLE, format_integer, readable_colour

SYMBOLS = {"lam": "λ", "sigma": "σ", "rho": "ρ", "gamma": "γ"}
SUMMARIES: dict[str, tuple[str, dict[str, Any]]] = {
    "median": ("median and 10–90%", {"estimator": "median", "errorbar": ("pi", 80)}),
    "mean": ("mean and 95% interval", {"estimator": "mean", "errorbar": student_ends}),
    "runs": ("each run", {}),
}
SIZES = {name: 10 for name in STYLE if name.endswith(("labelsize", "fontsize", "font.size"))}
SIZES["axes.titlesize"] = 10
WIDTH, PANEL = 8.0, 2.7  # inches; a panel's height
FEW = 6  # lines that dashes and bands can tell apart


class TablePart(NamedTuple):
    """One table of a picture, and the rows that are drawn: with a text for the line, the panel and
    the row of the picture in which each is."""

    experiment: Experiment
    scale: str
    plot: Plot
    axes: list[str]
    table: pd.DataFrame
    ends: bool  # whether the last row of each run is drawn, and no curves

    @property
    def seeds(self) -> int:
        return len(self.experiment.scales[self.scale].seeds)

    @property
    def lines(self) -> list[str]:
        return list(self.table["_line"].unique()) if self.plot.lines else []

    @property
    def panels(self) -> list[str]:
        return list(self.table["_panel"].unique())

    @property
    def height(self) -> float:
        """So many inches it needs."""
        marks = self.table["_row"].nunique() * max(1.0, len(self.lines) / 4)
        down = -(-len(self.panels) // 2) * max(PANEL, 0.8 + 0.3 * marks)
        return 1.2 + down + 0.1 * len(self.lines)


def format_setting(name: str, value: Any) -> str:
    """A setting in words: λ = 0.1, or the rule “top row”."""
    if isinstance(value, str):
        return f"{name} “{value}”"
    if not isinstance(value, (bool, np.bool_)) and isinstance(value, (int, float, np.number)):
        number = float(value)
        whole = number.is_integer() and abs(number) < 1e7
        value = format_integer(number) if whole else typeset_numbers(f"{number:g}")
    return f"{SYMBOLS.get(name, name)} = {value}"


def keep_on_one_line(text: str) -> str:
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def label_settings(table: pd.DataFrame, names: Sequence[str], width: int, quote: bool) -> pd.Series:
    """Texts by which runs of these settings are told apart."""
    agents = NAME if set(table.get("agent", ())) <= NAME.keys() else {}

    def say(cell: dict[str, Any]) -> str:
        texts = [
            format_setting(name, value)
            if quote or not isinstance(value, str)
            else agents.get(value, value)
            if name == "agent"
            else value
            for name, value in cell.items()
        ]
        text = ", ".join(texts)
        return (
            text
            if len(text) <= width
            else textwrap.fill(", ".join(map(keep_on_one_line, texts)), width)
        )

    cells = table[list(names)].drop_duplicates()
    texts = {tuple(cell.values()): say(cell) for cell in cells.to_dict("records")}
    return pd.Series(
        [texts[key] for key in table[list(names)].itertuples(False, None)], table.index
    )


def select_rows(experiment: Experiment, scale: str, plot: Plot, table: pd.DataFrame) -> TablePart:
    """What is drawn of a table; refused if it does not have what the plot names, or if runs with
    different settings would be one."""
    axes = list(dict.fromkeys(name for cell in experiment.scales[scale].grid for name in cell))
    rows = plot.y if isinstance(plot.y, tuple) else ()
    numbers = [plot.x] if isinstance(plot.y, tuple) else [plot.x, plot.y]
    named = [*rows, *plot.lines, *plot.panels]
    for name in (*numbers, *named, *plot.where):
        if name not in table:
            raise StudyError(
                f"{experiment.name} has no column {name!r}, which its plot names. It has "
                f"{', '.join(table)}."
            )
    for name in numbers:
        if table[name].dtype.kind not in "iuf":
            raise StudyError(
                f"{experiment.name}: along x and y are numbers; {name} is "
                f"{table[name].iloc[0]!r}. Name it in lines, or in a tuple as y."
            )
    for name, values in plot.where.items():
        if missing := [value for value in values if value not in set(table[name])]:
            raise StudyError(
                f"{experiment.name} has no {name} = {', '.join(map(str, missing))}, which its plot "
                f"names. It has {', '.join(map(str, table[name].unique()))}."
            )
        table = table[table[name].isin(values)]
    if ends := bool(rows) or plot.x in axes:
        table = table.groupby([*axes, "seed"], dropna=False, sort=False).tail(1)
    cells = table[axes].drop_duplicates()
    told = [name for name in axes if name in (*named, plot.x)]
    for _, same in cells.groupby(told, dropna=False) if told else [((), cells)]:
        if mixed := [name for name in axes if same[name].nunique(dropna=False) > 1 < len(same)]:
            raise StudyError(
                f"{experiment.name}: one mark would be of runs that differ in {', '.join(mixed)}. "
                f"Name that in the plot's lines, panels or where."
            )
    if plot.from_zero:
        first = table.groupby([*axes, "seed"], dropna=False).head(1)
        table = pd.concat([first.assign(**dict.fromkeys(numbers, 0)), table], ignore_index=True)
    table = table.assign(
        _line=label_settings(table, plot.lines, 60, False) if plot.lines else "",
        _panel=label_settings(table, plot.panels, 48, True) if plot.panels else "",
        _row=label_settings(table, rows, 40, False) if rows else "",
    )
    return TablePart(experiment, scale, plot, axes, table, ends)


def read_part(experiment: Experiment, scale: str, figure: str) -> TablePart:
    """A stored table, drawn as it says of this figure, or else of itself."""
    plot = experiment.figures.get(figure, experiment.plot)
    if plot is None:
        raise StudyError(
            f"{experiment.name} does not say how it is drawn. Add plot=Plot(x=…, y=…) to its table; "
            f"Plot is in rlsvi_study.engine."
        )
    return select_rows(experiment, scale, plot, load_table(experiment, scale))


def part_title(part: TablePart) -> str:
    """The title: which table, what is fixed in its runs, how many there are, and what is drawn."""
    arguments = signature(part.experiment.run).parameters.values()
    fixed = {one.name: one.default for one in arguments if one.default is not one.empty}
    fixed |= part.experiment.scales[part.scale].constants
    fixed |= {name: part.table[name].iloc[0] for name in part.axes}
    several = {name for name in part.axes if part.table[name].nunique() > 1}
    said = [
        format_setting(name, value)
        for name, value in fixed.items()
        if name not in {"every", *several} and isinstance(value, (int, float, str, np.number))
        if not isinstance(value, bool)
    ]
    what = SUMMARIES[part.plot.show][0]
    what = what if part.ends or len(part.lines) <= FEW else what.partition(" and ")[0]
    said += [format_setting("seeds", part.seeds), what]
    setting = "; ".join(keep_on_one_line(text) for text in said)
    title = f"{part.experiment.name}: {part.experiment.title}"
    return "\n".join(line for text in (title, setting) for line in textwrap.wrap(text, 92))


def choose_look(part: TablePart) -> dict[str, Any]:
    """Colours, and dashes if they are few, of the lines: those of the book for agents."""
    lines, agents = part.lines, {name: agent for agent, name in NAME.items()}
    if not lines:
        return {"color": COLOUR["rlsvi"]}
    if set(lines) <= agents.keys() and part.plot.lines == ("agent",):
        colours = [COLOUR[agents[line]] for line in lines]
    else:
        texts = part.table[part.plot.lines[0]].dtype.kind not in "iuf"
        colours = sns.color_palette("colorblind", len(lines))
        if len(lines) > FEW or not texts:
            colours = [
                tuple(readable_colour(one)) for one in sns.color_palette("viridis", len(lines))
            ]
    palette = dict(zip(lines, colours, strict=True))
    palette |= {"rlsvi": COLOUR["rlsvi"]} if "rlsvi" in palette else {}
    return {"hue": "_line", "hue_order": lines, "palette": palette}


def draw_panel(ax: Axes, part: TablePart, own: pd.DataFrame) -> None:
    """One panel."""
    plot, lines, look = part.plot, part.lines, choose_look(part)
    summary = SUMMARIES[plot.show][1]
    across, up = (plot.x, "_row") if isinstance(plot.y, tuple) else (plot.x, plot.y)
    look |= {"x": across, "y": up, "ax": ax}
    style = {"style": "_line", "style_order": lines} if lines else {}
    if up == "_row":
        order = list(part.table["_row"].unique())
        bars = {"linestyle": "none", "markersize": 4, "err_kws": {"lw": 1.5}}
        sns.pointplot(own, **look, **summary, order=order, dodge=len(lines) > 1 and 0.5, **bars)
    elif plot.show == "runs" and part.ends:
        sns.scatterplot(own, **look, **style, s=12, linewidth=0)
    elif plot.show == "runs":
        sns.lineplot(own, **look, units="seed", estimator=None, lw=0.9)
    elif part.ends:
        marks = {"markers": list("os^DvPXd<>ph*")[: len(lines)]} if lines else {"marker": "o"}
        bars = {"err_style": "bars", "err_kws": {"capsize": 2}, "lw": 1}
        sns.lineplot(own, **look, **style, **summary, **marks, dashes=False, **bars)
    elif len(lines) <= FEW:
        sns.lineplot(own, **look, **style, **summary, err_kws={"alpha": 0.15, "lw": 0})
    else:
        sns.lineplot(own, **look, estimator=summary["estimator"], errorbar=None)
    limit = part.experiment.scales[part.scale].constants.get(plot.stop)
    mark, measured = ("_row", across) if up == "_row" else (across, up)
    often = own.groupby([mark, "_line"])[measured].quantile(0.9)
    if limit is not None and often.max() >= limit:
        line = ax.axvline if up == "_row" else ax.axhline
        line(limit, color="0.4", lw=1, ls=":", label=f"stopped at {format_integer(limit)}")
    ax.set(title=own["_panel"].iloc[0], xlabel=plot.xlabel or SYMBOLS.get(across, across))
    ax.set(ylabel="" if up == "_row" else plot.ylabel or SYMBOLS.get(up, up))


def make_logarithmic(ax: Axes, log: str) -> None:
    """Make axes logarithmic. A few powers of ten have other numbers between them."""
    for axis in log:
        ax.set(**{f"{axis}scale": "log"})
        low, high = getattr(ax, f"get_{axis}lim")()
        if high < 100 * low:
            along = getattr(ax, f"{axis}axis")
            along.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
            along.set_major_formatter(lambda x, _: typeset_numbers(f"{x:g}"))
            along.set_minor_formatter(NullFormatter())


def draw_part(figure: Any, part: TablePart) -> None:
    """One table: its panels, two to a line, a legend below and a title above."""
    figure.suptitle(part_title(part), fontsize=10, x=0.01, ha="left")
    panels, rows = part.panels, isinstance(part.plot.y, tuple)
    down, across = -(-len(panels) // 2), min(len(panels), 2)
    grid = figure.subplots(down, across, squeeze=False, sharex=not rows, sharey=True)
    named: dict[str, Any] = {}
    for ax, panel in zip(grid.flat, panels, strict=False):
        draw_panel(ax, part, part.table[part.table["_panel"] == panel])
        handles, labels = ax.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
        if ax.get_legend():
            ax.get_legend().remove()
    for ax in grid.flat[len(panels) :]:
        ax.remove()
    for ax in grid.flat[: len(panels)]:  # after seaborn, which averages on the scale that it finds
        make_logarithmic(ax, part.plot.log)
    if named:
        columns = max(1, min(5, 90 // (8 + max(map(len, named)))))
        figure.legend(named.values(), named, loc="outside lower center", ncols=columns)


@plt.rc_context(STYLE | SIZES | {"figure.dpi": 150})
def draw_tables(parts: Sequence[TablePart]) -> Figure:
    """A picture of some tables, one below the other."""
    heights = [part.height for part in parts]
    figure = plt.figure(figsize=(WIDTH, sum(heights)))
    below = figure.subfigures(len(parts), 1, height_ratios=heights, squeeze=False)
    for place, part in zip(below.flat, parts, strict=True):
        draw_part(place, part)
    return figure
