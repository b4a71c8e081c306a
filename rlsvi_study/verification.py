"""Recompute a slice of a stored table and compare it to the bit.

``verify`` takes a few runs at random: seconds for a table. ``stamp`` vouches for the whole table
when code has moved. It recomputes at least one run of every cell, a twentieth of all runs, and as
much as takes a twentieth of the CPU time that the table took when it was computed. Its draws are
seeded with the fingerprint of the code: nobody picks the slice, and another draw needs other code.

Where later rows do not change earlier ones a run is cut (``Experiment.length``): each cell is seen
by a beginning, and what is left of the twentieth goes to whole runs, because some things, such as a
full buffer, happen late.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from . import store
from .experiment import Experiment, Task
from .fingerprint import fingerprint
from .runner import outcomes

SHARE = 1 / 20  # of a table's CPU time, for a stamp
BEGINNING = 1 / 10  # of the one run that every cell must have
GLANCE = 2.0  # CPU seconds that a run may take in ``verify``, where it can be cut


class Part(NamedTuple):
    """A run up to an end, which may be its own."""

    task: Task
    end: int
    whole: int
    unit: str | None

    @property
    def share(self) -> float:
        return self.end / self.whole

    def __str__(self) -> str:
        return f"{self.task}" + (
            f", first {self.end} of {self.whole} {self.unit}" if self.end < self.whole else "")


class Table:
    """A stored table and what it took, refused if the experiment now has other settings."""

    def __init__(self, experiment: Experiment, scale: str, folder: Path):
        self.experiment, self.scale = experiment, scale
        self.rows, record = (read(experiment, scale, folder)
                             for read in (store.load, store.provenance))
        self.tasks = experiment.scales[scale].tasks
        self.seconds = max(record["computed"]["cpu_seconds"] / len(self.tasks), 1e-9)  # for a run
        settings = store.plain(experiment.scales[scale].settings)
        if {name: record[name] for name in settings} != settings:
            raise store.StoreError(f"{experiment.name} is stored with other settings than it has "
                                   f"now. Recompute it with: rlsvi run {experiment.name} --scale "
                                   f"{scale}")

    def part(self, task: Task, share: float) -> Part:
        return Part(task, *self.experiment.cut(self.scale, share), self.experiment.length)

    def recompute(self, parts: list[Part], jobs: int) -> Iterator[tuple[Part, list[str], float]]:
        """Each part as it is done, where it departs from the stored rows, and its CPU seconds."""
        calls = [self.experiment.arguments(self.scale, part.task, part.end) for part in parts]
        for i, (rows, seconds, error) in outcomes(self.experiment.run, calls, jobs):
            task, found = parts[i].task, [f"{parts[i]} raised {error.splitlines()[-1]}"
                                          ] if error else []
            yield parts[i], found or store.differences(
                self.rows, task, [{**task.label, **row} for row in rows], parts[i].share), seconds


def verify(experiment: Experiment, scale: str, folder: Path, *, runs: int = 2, seed: int,
           jobs: int = 1, say: Callable[[str], None] = print) -> list[str]:
    """Recompute some runs of a stored table; returns the differences, none if all is well."""
    table, found = Table(experiment, scale, folder), []
    chosen = np.random.default_rng(seed).permutation(len(table.tasks))[:runs]
    parts = [table.part(table.tasks[i], GLANCE / table.seconds) for i in sorted(chosen)]
    for part, wrong, _ in table.recompute(parts, jobs):
        say(f"{experiment.name}: {part}: {'DIFFERS' if wrong else 'equal'}")
        found += wrong
    return found


def in_order(experiment: Experiment, tasks: list[Task], rng: np.random.Generator) -> tuple[
        list[Task], list[Task]]:
    """The tasks shuffled: one of each cell, and all others."""
    shuffled = [tasks[i] for i in rng.permutation(len(tasks))]
    first: dict[str, Task] = {}
    for task in shuffled:
        first.setdefault(str({k: v for k, v in task.cell.items() if k != experiment.along}), task)
    return list(first.values()), [task for task in shuffled if task not in first.values()]


def stamp(experiment: Experiment, scale: str, folder: Path, *, jobs: int = 1) -> list[str]:
    """Recompute a twentieth of a table and, if all is equal to the bit, write that down."""
    table = Table(experiment, scale, folder)
    rng = np.random.default_rng(int(fingerprint(experiment.run), 16))
    first, others = in_order(experiment, table.tasks, rng)
    due = SHARE * len(table.tasks)  # in runs
    batch, done = [table.part(task, BEGINNING) for task in first], []
    spent, found = 0.0, []
    with tqdm(desc=experiment.name, unit="run", disable=None) as bar:
        while batch and not found:
            bar.total = len(done) + len(batch)
            for part, wrong, seconds in table.recompute(batch, jobs):
                done, spent, found = [*done, part], spent + seconds, found + wrong
                bar.update()
            # As many more as should do, the last one cut; then look again. Runs differ, beginnings
            # are cheap and the compiler's time is not ours: both measures must be full.
            left = max(due - sum(part.share for part in done),
                       due - spent / table.seconds)
            batch = [table.part(task, max(left - i, BEGINNING))
                     for i, task in enumerate(others) if i < left]
            others = others[len(batch):]
    if not found:
        store.add_verification(experiment, scale, folder, runs=len(done),
                               whole=sum(part.share == 1 for part in done), of=len(table.tasks),
                               cpu_seconds=round(spent, 1))
    return found
