"""What an experiment is: a function of (setting, seed) and the settings to call it with.

An experiment has two scales: ``quick`` (seconds, what the book recomputes live) and ``paper``. The
quick runs are a part of the paper's wherever that is possible, so their rows can be compared
exactly.

A user's own study is a file that defines ``EXPERIMENTS``, a dict of experiments by name, and, to
draw them, ``DRAW``, a dict of functions from an experiment's table to a figure; a whole one is
``examples/own_study.py``, and the book's page ``own-study`` explains it. ``rlsvi run my_study.py --jobs 2`` computes it, ``list``, ``plot`` and
``verify`` take the file too, and results go to a folder ``results`` beside it. With ``--set lam=2``
a constant gets another value, an axis only this one, and ``--set seeds=20`` sets the number of
seeds; such a table has a name of its own. In a notebook, pass the experiment to ``engine.sweep``
and use ``having(lam=2)`` in place of ``--set``.

``length`` names the constant that says how long a run is, where later rows do not change earlier
ones (learning curves, games). There ``rlsvi verify`` can recompute the beginning of a run.

``portable=False`` means that the bits of a run depend on BLAS, the mathematical library or another
package's arithmetic; ``compare.out_of_range`` has the rule by which it is compared instead.
"""

import ast
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from itertools import islice, product
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import numpy as np

from rlsvi_core.checks import fail, is_number, set_fields

from .. import StudyError
from .sources import Sources, sources_of

MOST_SEEDS = 10**6
MOST_CELLS = 10**5
Rows = list[dict[str, Any]]
Value = TypeVar("Value")
_fail = partial(fail, error=StudyError)


def _must(good: Any, rule: str, value: Any, hint: str) -> None:
    if not good:
        _fail(rule, f"it is {value!r}", hint)


def _is_text(value: Any) -> bool:
    """Whether it is one that a file can hold: no half of a pair of surrogates."""
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _is_scalar(value: Any) -> bool:
    """Whether it can be written down, and compared when it is read again."""
    return (
        value is None or isinstance(value, (bool, np.bool_)) or _is_text(value) or is_number(value)
    )


def _is_setting(value: Any) -> bool:
    return _is_scalar(value) or (isinstance(value, (list, tuple)) and all(map(_is_setting, value)))


def _check_settings(what: str, values: Any, allowed: Callable[[Any], bool], kind: str) -> None:
    _must(
        isinstance(values, dict) and all(isinstance(name, str) for name in values),
        f"{what} must be a dict of values by name",
        values,
        "Write {'lam': 1.0}, say, or {}.",
    )
    for name, value in values.items():
        _must(
            name not in ("seed", "seeds"),
            "a setting has a name other than seed and seeds",
            name,
            "Give seeds to the Scale: range(20), say.",
        )
        if not allowed(value):
            _fail(kind, f"{name} is {value!r}", "Name what you mean, and make it in the run.")


def _check_constants(values: Any) -> None:
    rule = "constants are finite numbers, strings, truth values and None, or lists of them"
    _check_settings("constants", values, _is_setting, rule)


def _check_cell(values: Any) -> None:
    rule = "axes have finite numbers, strings, truth values and None, one to a column"
    _check_settings("a cell", values, _is_scalar, rule)


def as_json(value: Any, **layout: Any) -> str:
    """Numbers of numpy become Python's."""

    def plain(number: Any) -> Any:
        if not isinstance(number, np.generic) or isinstance(number, np.longdouble):
            _fail(
                "settings and rows hold numbers, strings, truth values and None",
                f"here is a {type(number).__name__}",
                "Take it apart, one value to a column.",
            )
        return number.item()

    return json.dumps(value, default=plain, **layout)


def _read_again(value: Value) -> Value:
    again: Value = json.loads(as_json(value))
    return again


def _literal(text: str) -> Any:
    """The value of a Python literal; of what is none, the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text


def _like(old: Any, new: Any) -> Any:
    """The new value in the type of the old one; a TypeError if it has none. None has no type."""
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        return type(old)(_like(old[0] if old else None, one) for one in new)
    if isinstance(old, (float, np.floating)) and type(new) in (int, float):
        return float(new)
    old = old.item() if isinstance(old, np.generic) else old
    if not (old is None or type(old) is type(new)):
        raise TypeError
    return new


def _read(text: str, old: Any) -> Any:
    """What is typed after ``--set NAME=``, in the type of the value that it replaces."""
    value = _literal(text.title() if isinstance(old, (bool, np.bool_)) else text)
    return text if isinstance(old, str) and not isinstance(value, str) else _like(old, value)


def _typed(value: Any) -> str:
    """As one types it after ``--set``: a text without quotes, unless it reads as something else."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str) and _literal(value) == value else repr(value)


def _quoted(value: Any) -> str:
    """The same in the name of a file, where a text has no dot: the scale follows one."""
    text = quote(_typed(value), safe="")
    return text.replace(".", "%2E") if isinstance(value, str) else text


class Task(NamedTuple):
    """One run, or its first share: cell and seed label the rows it produces."""

    cell: dict[str, Any]
    seed: int
    share: float = 1.0

    @property
    def label(self) -> dict[str, Any]:
        """As it is read again, in a journal and in a table."""
        return _read_again({**self.cell, "seed": self.seed})

    def labelled(self, rows: Rows) -> Rows:
        """A run's rows, each with its cell and seed, as they are when they are read again: what is
        kept, compared and written is the same whether or not a sweep was interrupted."""
        if not (
            isinstance(rows, list)
            and rows
            and all(
                isinstance(row, dict) and all(isinstance(name, str) for name in row) for row in rows
            )
        ):
            _fail(
                "a run must return a list of dicts, at least one row",
                f"it returned {rows!s}",
                "Let it end in return [{'reward': 1.0}], say.",
            )
        if twice := {name for row in rows for name in row} & set(self.label):
            _fail(
                "a run's rows get its cell and seed as columns",
                f"they have {', '.join(sorted(twice))} already",
                "Leave that to the engine.",
            )
        for name, value in ((name, row[name]) for row in rows for name in row):
            if not (_is_text(name) and name.isprintable() and name.strip()):
                _fail("columns have names to be read", f"one is {name!r}", "Use words.")
            if not (_is_scalar(value) or isinstance(value, (float, np.floating))):
                _fail(
                    "rows hold numbers, texts, truth values and None",
                    f"{name} is {value!r}",
                    "Take it apart, one value to a column.",
                )
        label = self.label
        return [label | row for row in _read_again(rows)]

    def __str__(self) -> str:
        first = f", first {self.share:.1%}" if self.share < 1 else ""
        return ", ".join(f"{name}={value}" for name, value in self.label.items()) + first


@dataclass(frozen=True)
class Scale:
    constants: dict[str, Any]  # the same in every run
    grid: tuple[dict[str, Any], ...]  # what varies
    seeds: range

    def __post_init__(self) -> None:
        _must(
            isinstance(self.seeds, range)
            and self.seeds.step == 1
            and self.seeds.start >= 0
            and 1 <= self.seeds.stop - self.seeds.start <= MOST_SEEDS,
            "seeds must be a range of at least one, in steps of 1",
            self.seeds,
            f"Try range(20); at most {MOST_SEEDS}.",
        )
        _must(
            isinstance(self.grid, (tuple, list)),
            "a grid must be a tuple of cells",
            self.grid,
            "Use grid(), and ({},) where nothing varies.",
        )
        _check_constants(self.constants)
        for cell in self.grid:
            _check_cell(cell)
        set_fields(  # what the caller does with his own later is of no consequence
            self,
            constants=dict(self.constants),
            grid=tuple(dict(cell) for cell in self.grid),
        )
        cells = Counter(frozenset(cell.items()) for cell in self.grid)
        most = max(cells.values(), default=0)
        if most != 1:
            _fail(
                "a grid must have at least one cell, each once",
                f"one is there {most} times",
                "Use grid(), and ({},) where nothing varies.",
            )

    @property
    def tasks(self) -> list[Task]:
        return [Task(cell, seed) for cell in self.grid for seed in self.seeds]

    @property
    def settings(self) -> dict[str, Any]:
        """As a table's record has them when it is read again."""
        return _read_again(
            {
                "constants": self.constants,
                "grid": self.grid,
                "seeds": [self.seeds.start, self.seeds.stop],
            }
        )

    def having(self, **values: Any) -> "Scale":
        """With these constants; where a name is an axis of the grid, with this value alone; and
        with so many ``seeds``."""
        seeds = values.pop("seeds", self.seeds)
        count = isinstance(seeds, (int, np.integer)) and not isinstance(seeds, bool)
        axes = {name for cell in self.grid for name in cell}
        cells = [cell | {name: values[name] for name in cell.keys() & values} for cell in self.grid]
        return Scale(
            self.constants | {name: values[name] for name in values if name not in axes},
            tuple({str(cell): cell for cell in cells}.values()),
            range(seeds) if count else seeds,
        )


@dataclass(frozen=True)
class Experiment:
    name: str
    place: str  # where in the paper, or on what
    title: str
    run: Callable[..., Rows]  # run(seed=…, **constants, **cell) -> rows
    scales: dict[str, Scale]
    length: str | None = None
    portable: bool = True
    words: str = ""  # to be typed after "rlsvi run", if not the name
    data: tuple[str, ...] = ()  # files that the runs read, in the study's folder or below
    loaded: Sources | None = field(default=None, repr=False)  # the engine's: see sources

    def __post_init__(self) -> None:
        scales = self.scales if isinstance(self.scales, dict) else {}
        for what, name, form in (
            ("an experiment's", self.name, r"[\w-]+(\+[\w-]+=[\w.%~-]*)*"),
            *(("a scale's", one, r"[^\W\d][\w-]*") for one in scales),
        ):
            _must(
                isinstance(name, str) and re.fullmatch(form, name),
                f"{what} name names files: letters, digits and '-'",
                name,
                "Keep other words for the title.",
            )
        _must(
            self.name != "verdicts" and ("+" not in self.name or "--set" in self.words),
            "an experiment's name is none that has a meaning: 'verdicts' is the judges' file, and "
            "'+' begins what is set",
            self.name,
            "Choose another.",
        )
        for label in ("place", "title", "words"):
            _must(
                isinstance(getattr(self, label), str),
                f"{self.name}: {label} must be a text",
                getattr(self, label),
                "Write '' where there is nothing to say.",
            )
        _must(
            isinstance(self.portable, bool),
            f"{self.name}: portable must be True or False",
            self.portable,
            "Say which.",
        )
        _must(
            isinstance(self.data, (tuple, list)) and all(map(_is_text, self.data)),
            f"{self.name}: data must be a list of names of files",
            self.data,
            "Write data=['prices.csv'], say.",
        )
        _must(
            scales and all(isinstance(one, Scale) for one in scales.values()),
            f"{self.name}: scales must be a dict of them by name, at least one",
            self.scales,
            "Write {'quick': Scale(…)}.",
        )
        for scale in scales.values():
            if self.length is not None:
                _must(
                    isinstance(self.length, str) and self.length in scale.constants,
                    f"{self.name}: length must be one of the constants",
                    self.length,
                    "Or leave it out: runs are then not cut.",
                )
                for name in {self.length, "every"} & scale.constants.keys():
                    value = scale.constants[name]
                    _must(
                        isinstance(value, (int, np.integer)) and value >= 1,
                        f"{self.name}: {name} must be a whole number of at least 1",
                        value,
                        "It counts what a run is long in.",
                    )
            for axes in {tuple(cell) for cell in scale.grid}:
                try:
                    signature(self.run).bind(**{"seed": 0} | scale.constants | dict.fromkeys(axes))
                except (TypeError, ValueError) as error:  # no function; a builtin's are not known
                    _fail(
                        f"{self.name}: run is called with seed, every constant and every axis",
                        str(error),
                        "Change its arguments, the constants or the grid.",
                    )

        with suppress(StudyError):  # which a sweep reports
            self.sources  # noqa: B018  as its files are now, when they have just been loaded

    @property
    def sources(self) -> Sources:
        """The code and data that its runs rest on, as they were when they were loaded."""
        return self.loaded or sources_of(self.run, self.data)

    def command(self, scale: str) -> str:
        """What one types to compute its table."""
        return f"rlsvi run {self.words or self.name} --scale {scale}"

    @property
    def settable(self) -> list[str]:
        """The names of constants and axes, and ``seeds``: what ``having`` can change."""
        return list(
            dict.fromkeys(
                [
                    "seeds",
                    *(
                        name
                        for scale in self.scales.values()
                        for cell in scale.grid
                        for name in scale.constants | cell
                    ),
                ]
            )
        )

    def read(self, name: str, text: str) -> Any:
        """A value of a setting, typed as a text: in the type that the setting has."""
        old = [
            values[name]
            for scale in self.scales.values()
            for values in (scale.constants, *scale.grid)
            if name in values
        ]
        for one in old or [1]:  # seeds are a number
            with suppress(TypeError):
                return _read(text, one)
        _fail(
            f"a setting keeps its type; {name} of {self.name} is {old[0] if old else 1!r}",
            f"it was set to {text!r}",
            "Type it like that: 0.5, true, '(1, 2)', or a word where it is one.",
        )

    def having(self, **values: Any) -> "Experiment":
        """The same with other settings, under another name."""
        return replace(
            self,
            scales={name: scale.having(**values) for name, scale in self.scales.items()},
            name=self.name + "".join(f"+{name}={_quoted(values[name])}" for name in values),
            words=" ".join(
                [
                    self.words or self.name,
                    *("--set " + shlex.quote(f"{name}={_typed(values[name])}") for name in values),
                ]
            ),
        )

    def _constants(self, scale: str, task: Task) -> dict[str, Any]:
        _must(
            isinstance(scale, str) and scale in self.scales,
            f"{self.name}: its scales are {', '.join(self.scales)}",
            scale,
            "Name one of them.",
        )
        _must(isinstance(task, Task), "a task must be a Task", task, "Take one of Scale.tasks.")
        return self.scales[scale].constants

    def cut(self, scale: str, task: Task, share: float) -> Task:
        """The first ``share`` of a run, made up to a whole row; all of it if runs cannot be cut."""
        constants = self._constants(scale, task)
        _must(
            is_number(share) and share >= 0,
            "share must be a finite number of at least 0",
            share,
            "It is a part of 1.",
        )
        if self.length is None:
            return task
        whole, every = constants[self.length], constants.get("every", 1)
        rows = max(1, math.ceil(share * whole / every))
        return task._replace(share=min(1.0, every * rows / whole))

    def arguments(self, scale: str, task: Task) -> dict[str, Any]:
        """What ``run`` is called with."""
        constants = self._constants(scale, task)
        found = {"seed": task.seed, **constants, **task.cell}
        if self.length is not None and task.share < 1:
            found[self.length] = round(task.share * found[self.length])
        return deepcopy(found)  # what a run does to its lists, it does to no other's

    def rows(self, scale: str, task: Task) -> Rows:
        """One run's rows, each labelled with its cell and seed."""
        arguments = self.arguments(scale, task)
        return task.labelled(self.run(**arguments))


def streams(seed: int | tuple[int, ...]) -> tuple[np.random.Generator, ...]:
    """Independent generators for basis, environment and agent, whatever runs beside this run."""
    try:
        if seed is None:  # numpy would ask the machine for one
            raise TypeError
        sequence = np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        _fail(
            "a seed is a whole number of at least 0, or some of them",
            f"it is {seed!r}",
            "Pass 1, say.",
        )
    return tuple(np.random.default_rng(s) for s in sequence.spawn(3))


def grid(**axes: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Every combination of the axes' values, the first axis slowest."""
    for name, values in axes.items():
        if (
            not isinstance(values, Iterable)
            or isinstance(values, (str, bytes))
            or getattr(values, "ndim", 1) == 0
        ):
            _fail("an axis lists its values", f"{name} is {values!r}", "Put it into a list.")
    listed = {name: list(islice(values, MOST_CELLS + 1)) for name, values in axes.items()}
    if (size := math.prod(len(values) for values in listed.values())) > MOST_CELLS:
        _fail(
            f"a grid has at most {MOST_CELLS} cells",
            f"this one has {size} or more",
            "Leave some values out.",
        )
    cells = tuple(dict(zip(axes, values, strict=True)) for values in product(*listed.values()))
    for cell in cells:
        _check_cell(cell)
    return cells
