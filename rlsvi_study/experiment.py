"""What an experiment is: a function of (setting, seed) and the settings to call it with.

An experiment has two scales: ``quick`` (seconds, what the book recomputes live) and ``paper``. The
quick runs are a part of the paper's wherever that is possible, so their rows can be compared
exactly.

Two more fields tell ``rlsvi verify`` how to recompute a slice:

- ``length`` names the constant that says how long a run is, where later rows do not change earlier
  ones (learning curves, games). There a run can be verified by its beginning.
- ``along`` names an axis of the grid that is walked in steps too fine to be cells, such as the
  thousand values of ρ in figure 6. A cell is then what is left without it.
"""

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

Rows = list[dict[str, Any]]


class Task(NamedTuple):
    """One run, or its first share: cell and seed label the rows it produces."""

    cell: dict[str, Any]
    seed: int
    share: float = 1.0

    @property
    def label(self) -> dict[str, Any]:
        return {**self.cell, "seed": self.seed}

    def labelled(self, rows: Rows) -> Rows:
        return [{**self.label, **row} for row in rows]

    def __str__(self) -> str:
        first = f", first {self.share:.1%}" if self.share < 1 else ""
        return ", ".join(f"{name}={value}" for name, value in self.label.items()) + first


@dataclass(frozen=True)
class Scale:
    constants: dict[str, Any]  # the same in every run
    grid: tuple[dict[str, Any], ...]  # what varies
    seeds: range

    @property
    def tasks(self) -> list[Task]:
        return [Task(cell, seed) for cell in self.grid for seed in self.seeds]

    @property
    def settings(self) -> dict[str, Any]:
        """As a table's provenance has them when it is read again."""
        return json.loads(json.dumps({"constants": self.constants, "grid": self.grid, "seeds": [
            self.seeds.start, self.seeds.stop]}, default=lambda number: number.item()))


@dataclass(frozen=True)
class Experiment:
    name: str
    place: str  # where in the paper
    title: str
    run: Callable[..., Rows]  # run(seed=…, **constants, **cell) -> rows
    scales: dict[str, Scale]
    length: str | None = None
    along: str | None = None

    def cut(self, scale: str, task: Task, share: float) -> Task:
        """The first ``share`` of a run, made up to a whole row; all of it if runs cannot be cut."""
        if self.length is None:
            return task
        constants = self.scales[scale].constants
        whole, every = constants[self.length], constants.get("every", 1)
        rows = max(1, math.ceil(share * whole / every))
        return task._replace(share=min(1.0, every * rows / whole))

    def arguments(self, scale: str, task: Task) -> dict[str, Any]:
        """What ``run`` is called with."""
        found = {"seed": task.seed, **self.scales[scale].constants, **task.cell}
        cut = {} if task.share == 1 else {self.length: round(task.share * found[self.length])}
        return found | cut

    def rows(self, scale: str, task: Task) -> Rows:
        """One run's rows, each labelled with its cell and seed."""
        return task.labelled(self.run(**self.arguments(scale, task)))


def streams(seed: int | tuple[int, ...]) -> tuple[np.random.Generator, ...]:
    """Independent generators for basis, environment and agent, whatever runs beside this run."""
    return tuple(np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3))


def grid(**axes: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Every combination of the axes' values, the first axis slowest."""
    return tuple(dict(zip(axes, values, strict=True)) for values in product(*axes.values()))
