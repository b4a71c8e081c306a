"""What an experiment is: a function of (setting, seed) and the settings to call it with.

A figure has two scales: ``quick`` (seconds, what the book recomputes live) and ``paper``. The quick
runs are a part of the paper's wherever that is possible, so their rows can be compared exactly.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np


class Task(NamedTuple):
    """One run: a cell of the grid and a seed. Its fields label the rows it produces."""

    cell: dict[str, Any]
    seed: int

    @property
    def label(self) -> dict[str, Any]:
        return {**self.cell, "seed": self.seed}


@dataclass(frozen=True)
class Scale:
    constants: dict[str, Any]  # the same in every run
    grid: tuple[dict[str, Any], ...]  # what varies
    seeds: range

    @property
    def tasks(self) -> list[Task]:
        return [Task(cell, seed) for cell in self.grid for seed in self.seeds]


@dataclass(frozen=True)
class Experiment:
    name: str
    place: str  # where in the paper
    title: str
    run: Callable[..., list[dict[str, Any]]]  # run(seed=…, **constants, **cell) -> rows
    scales: dict[str, Scale]

    def rows(self, scale: str, task: Task) -> list[dict[str, Any]]:
        """One run's rows, each labelled with its cell and seed."""
        found = self.run(seed=task.seed, **self.scales[scale].constants, **task.cell)
        return [{**task.label, **row} for row in found]


def streams(seed: int | tuple[int, ...]) -> tuple[np.random.Generator, ...]:
    """Independent generators for basis, environment and agent, whatever runs beside this run."""
    return tuple(np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3))


def grid(**axes: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Every combination of the axes' values, the first axis slowest."""
    return tuple(dict(zip(axes, values, strict=True)) for values in product(*axes.values()))
