"""What an experiment is: a function of (setting, seed) and the settings to call it with.

An experiment is declared by ``define_experiment``. It has two scales: ``quick`` (seconds, what the
book recomputes live) and ``paper``. The quick runs are a part of the paper's wherever that is
possible, so their rows can be compared exactly.

A user's own study is a file that defines ``EXPERIMENTS``, a dict of experiments by name; a whole
one is ``examples/own_study.py``, and the book's page ``own-problem`` explains it. ``rlsvi run
my_study.py --jobs 2`` computes it, ``list``, ``plot`` and ``verify`` take the file too, and results
go to a folder ``results`` beside it. In a notebook, pass the experiment to
``engine.run_experiment``.

``plot`` says how ``rlsvi plot`` draws the table.

``length`` names the constant that says how long a run is, where later rows do not change earlier
ones (learning curves, games). There ``rlsvi verify`` can recompute the beginning of a run.

``portable=False`` means that the bits of a run depend on BLAS, the mathematical library or another
package's arithmetic; ``compare.list_out_of_range`` has the rule by which it is compared instead.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from rlsvi_core.runtime.checks import fail

from .sources import Sources, sources_of

Rows = list[dict[str, Any]]


def to_json_text(value: Any, **layout: Any) -> str:
    """Numbers of numpy become Python's."""

    def plain(number: Any) -> Any:
        if not isinstance(number, np.generic):
            raise TypeError(f"here is a {type(number).__name__}")
        return number.item()

    return json.dumps(value, default=plain, **layout)


def _json_roundtrip(value: Any, **layout: Any) -> Any:
    return json.loads(to_json_text(value, **layout))


# --------------------------------------------------------------------------- what is run


class Task(NamedTuple):
    """One run, or its first share: cell and seed label the rows it produces."""

    cell: dict[str, Any]
    seed: int
    share: float = 1.0

    @property
    def label(self) -> dict[str, Any]:
        """As it is read again, in a journal and in a table."""
        return _json_roundtrip({**self.cell, "seed": self.seed})

    def label_rows(self, rows: Rows) -> Rows:
        """A run's rows, each with its cell and seed, as they are when they are read again: what is
        kept, compared and written is the same whether or not a sweep was interrupted."""
        label = self.label
        if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
            fail(f"a run returns a list of dicts, at least one row; it returned {rows!r}.")
        if twice := {name for row in rows for name in row} & label.keys():
            fail(
                f"the engine adds a run's cell and seed; its rows have {', '.join(sorted(twice))}."
            )
        for name, value in ((name, row[name]) for row in rows for name in row):
            if not (value is None or isinstance(value, (bool, int, float, str, np.generic))):
                fail(f"rows hold numbers, texts, truth values and None; {name} is {value!r}.")
        return [label | row for row in _json_roundtrip(rows)]

    def __str__(self) -> str:
        first = f", first {self.share:.1%}" if self.share < 1 else ""
        return ", ".join(f"{name}={value}" for name, value in self.label.items()) + first


@dataclass(frozen=True)
class Scale:
    constants: dict[str, Any]  # the same in every run
    grid: tuple[dict[str, Any], ...]  # what varies
    seeds: range

    def __post_init__(self) -> None:
        seeds = self.seeds
        if not (isinstance(seeds, range) and seeds.step == 1 and 0 <= seeds.start < seeds.stop):
            fail(f"seeds are a range in steps of 1; it is {seeds!r}. Try range(20).")
        try:
            constants, grid = dict(self.constants), tuple(map(dict, self.grid))
            to_json_text(constants, allow_nan=False)
            read = _json_roundtrip(grid, allow_nan=False)  # a tuple, say, comes back as a list
            cells = {frozenset(cell.items()) for cell in read}
        except (TypeError, ValueError) as error:
            fail(
                f"settings are finite numbers, texts, truth values and None by name; {error}. "
                "The constants may be lists of them."
            )
        # Copies: what the caller does with his own later is of no consequence.
        object.__setattr__(self, "constants", constants)
        object.__setattr__(self, "grid", grid)
        if any("seed" in each for each in (constants, *grid)):
            fail("a run gets its seed from the seeds; a setting is named seed. Rename it.")
        if not 0 < len(cells) == len(grid):
            fail(
                f"cells are at least one, each once; of {len(grid)}, {len(cells)} are distinct. "
                "Use grid(), and ({},) where nothing varies."
            )

    @property
    def tasks(self) -> list[Task]:
        return [Task(cell, seed) for cell in self.grid for seed in self.seeds]

    @property
    def settings(self) -> dict[str, Any]:
        """As a table's record has them when it is read again."""
        return _json_roundtrip(
            {
                "constants": self.constants,
                "grid": self.grid,
                "seeds": [self.seeds.start, self.seeds.stop],
            }
        )


@dataclass(frozen=True)
class Plot:
    """How a table is drawn: its columns along the axes, and the settings that tell runs apart.

    If ``x`` is a setting, or ``y`` names rows, the last row of each run is drawn; else curves are.
    A setting that is not named must not vary in what is drawn.
    """

    x: str
    y: str | tuple[str, ...]  # a column, or the settings that name a row of the picture each
    lines: tuple[str, ...] = ()  # the settings that a line, or a mark, stands for
    panels: tuple[str, ...] = ()
    show: Literal["median", "mean", "runs"] = "median"  # and 10 to 90%; and 95% interval; each run
    log: Literal["", "x", "y", "xy"] = ""
    where: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # the values that are drawn
    from_zero: bool = False  # whether runs begin at (0, 0), as sums do
    stop: str = ""  # the constant at which runs are stopped: drawn if one of them is
    xlabel: str = ""
    ylabel: str = ""


@dataclass(frozen=True)
class Experiment:
    name: str
    place: str  # where in the paper, or on what
    title: str
    run: Callable[..., Rows]  # run(seed=…, **constants, **cell) -> rows
    scales: dict[str, Scale]
    length: str | None = None
    portable: bool = True
    cli_name: str = ""  # after "rlsvi run", if not by the name
    data: tuple[str, ...] = ()  # files that the runs read, in the study's folder or below
    plot: Plot | None = None
    figures: Mapping[str, Plot] = field(default_factory=dict)  # other pictures of the same table
    loaded: Sources | None = field(default=None, repr=False)  # the engine's: see sources

    def __post_init__(self) -> None:
        for name, form in (
            (self.name, r"(?!verdicts$)[\w-]+"),  # which the judges write
            *((scale, r"[^\W\d][\w-]*") for scale in self.scales),
        ):
            if not re.fullmatch(form, name):
                fail(
                    f"the name of an experiment or a scale names files; it is {name!r}. "
                    "Use letters, digits and '-', and not 'verdicts'."
                )
        for scale in self.scales.values():
            if self.length is not None and self.length not in scale.constants:
                fail(
                    f"{self.name}: length is one of the constants; it is {self.length!r}. "
                    "Without it runs are not cut."
                )
            for axes in {tuple(cell) for cell in scale.grid}:
                try:
                    signature(self.run).bind(**{"seed": 0} | scale.constants | dict.fromkeys(axes))
                except (TypeError, ValueError) as error:  # no function; a builtin's are not known
                    fail(f"{self.name}: run takes seed, constants and axes; {error}.")
        sources_of(self.run)  # sees its modules as they are now, when they have just been loaded

    @property
    def sources(self) -> Sources:
        """The code and data that its runs rest on, as they were when they were loaded."""
        return self.loaded or sources_of(self.run, self.data)

    def command_line(self, scale: str) -> str:
        """What one types to compute its table."""
        return f"rlsvi run {self.cli_name or self.name} --scale {scale}"

    def truncate_task(self, scale: str, task: Task, share: float) -> Task:
        """The first ``share`` of a run, made up to a whole row; all of it if runs cannot be cut."""
        if self.length is None:
            return task
        constants = self.scales[scale].constants
        whole, every = constants[self.length], constants.get("every", 1)
        rows = max(1, math.ceil(share * whole / every))
        return task._replace(share=min(1.0, every * rows / whole))

    def run_arguments(self, scale: str, task: Task) -> dict[str, Any]:
        """What ``run`` is called with."""
        found = {"seed": task.seed, **self.scales[scale].constants, **task.cell}
        if self.length is not None and task.share < 1:
            found[self.length] = round(task.share * found[self.length])
        return deepcopy(found)  # what a run does to its lists, it does to no other's

    def compute_rows(self, scale: str, task: Task) -> Rows:
        """One run's rows, each labelled with its cell and seed."""
        return task.label_rows(self.run(**self.run_arguments(scale, task)))


def streams(seed: int | tuple[int, ...]) -> tuple[np.random.Generator, ...]:
    """Independent generators for basis, environment and agent, whatever runs beside this run."""
    return tuple(map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3)))


def grid(**axes: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Every combination of the axes' values, the first axis slowest."""
    for name, values in axes.items():
        if isinstance(values, str):  # which would be one cell a letter
            fail(f"an axis lists its values; {name} is {values!r}. Put it into a list.")
    return tuple(dict(zip(axes, values, strict=True)) for values in product(*axes.values()))


# --------------------------------------------------------------------------- how it is declared

Cells = tuple[dict[str, Any], ...]


def quick_scale(cells: Cells, seeds: range, **constants: Any) -> Scale:
    """The quick scale of ``define_experiment``: what it runs, and the constants that it changes."""
    return Scale(constants, cells, seeds)


def define_experiment(
    name: str,
    *,
    place: str,
    title: str,
    run: Callable[..., Rows],
    cells: Cells = ({},),
    seeds: range,
    constants: Mapping[str, Any] | None = None,
    quick: Scale | None = None,
    length: str | None = None,
    portable: bool = True,
    data: tuple[str, ...] = (),
    plot: Plot | None = None,
    figures: Mapping[str, Plot] | None = None,
) -> Experiment:
    """A table, declared by one call: the experiment that computes it.

    ::

        define_experiment(
            "strength",
            place="RiverSwim",
            title="Regret for two strengths of prior",
            run=learning_curve,
            constants={"sigma": 0.5, "episodes": 500},
            cells=grid(lam=(0.1, 1.0)),
            seeds=range(20),
            quick=quick_scale(cells=grid(lam=(0.1,)), seeds=range(2), episodes=50),
            plot=Plot(x="episode", y="regret", lines=("lam",)),
        )

    The quick scale has the same constants, but for those that it changes. Without ``quick`` there
    is the paper's scale alone.
    """
    common = dict(constants or {})
    scales = {"paper": Scale(common, cells, seeds)}
    if quick:
        scales = {"quick": replace(quick, constants=common | quick.constants), **scales}
    return Experiment(
        name,
        place,
        title,
        run,
        scales,
        length=length,
        portable=portable,
        data=data,
        plot=plot,
        figures=figures or {},
    )
