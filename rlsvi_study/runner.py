"""Run an experiment's tasks on local cores or on a Dask cluster: a whole table, or a slice of one.

A task's rows depend on its setting and seed alone, so they are the same bits for any number of
workers, in any order. What is run is what is given: the function travels to the workers, by
reference where they can import it, and a worker on a cluster first compares its own code with ours.
A task that raises is named, and the others go on; so is one whose workers on a cluster die again
and again. Local workers end with this process, however it ends. Only this process writes.

``sweep`` computes a table; it can be stopped and resumed at any time. ``verify`` recomputes a few
runs at random and compares them to the bit: seconds for a table. ``stamp`` vouches for the whole
table when code has moved: by at least one run of every cell, a twentieth of all runs, and a
twentieth of the CPU time that the table took. Its draws are seeded with the fingerprint of the
code: nobody picks the slice, and another draw needs other code. Where a run can be cut
(``Experiment.length``) each cell is seen by a beginning, and what is left of the twentieth goes to
whole runs, because some things, such as a full buffer, happen late. If three tenths of a
run are left, one is drawn in three stamps of ten: every row of every table has its ``chance``.
"""

import ctypes
import math
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool
from tqdm import tqdm

from . import StudyError, store
from .experiment import Experiment, Rows, Task
from .fingerprint import Prints, departures, fingerprint, sources

PATIENCE = 10  # seconds to wait for a Dask scheduler, for a worker, and for news of a sweep
SHARE = 1 / 20  # of a table's runs and CPU time, for a stamp
BEGINNING = 1 / 10  # of the one run that every cell must have
GLANCE = 2.0  # CPU seconds that a run may take in ``verify``, where it can be cut
Outcome = tuple[Task, tuple[Rows, float, str]]  # rows, CPU seconds, traceback if the run raised


class RunError(StudyError):
    """Some runs were not finished."""


def _follow(parent: int) -> None:
    """Let a worker end with the process that asks: killed by the kernel where that is Linux, even
    in the middle of a run; elsewhere before its next one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # too late for the kernel
        os._exit(1)


def _outcome(task: Task, run: Callable, arguments: dict[str, Any], code: Prints | None = None,
             parent: int | None = None) -> Outcome:
    """A call on a worker, a child of ``parent`` if that is given; refused if the code there is not
    the code that asks."""
    if parent not in (None, os.getpid()):
        _follow(parent)
    if code is not None and (other := departures(run, code)):
        raise StudyError(f"not as here: {', '.join(other[:3])}{', …' if other[3:] else ''}")
    start = time.process_time()
    try:
        return task, (task.labelled(run(**arguments)), time.process_time() - start, "")
    except (Exception, SystemExit):
        return task, ([], time.process_time() - start, traceback.format_exc())


def _on_cluster(calls: list[tuple], code: Prints, address: str) -> Iterator[Outcome]:
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise StudyError("Dask is not installed. Install it with: pip install "
                         "'rlsvi-core[dask]'") from error
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise StudyError(f"no Dask scheduler answers at {address} ({error}). Start one with "
                         f"'dask scheduler', or use --jobs.") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
            tasks = {client.submit(_outcome, *call, code, pure=False): call[0] for call in calls}
            news = time.monotonic()
            while tasks:
                for future in [one for one in tasks if one.done()]:
                    try:
                        found = future.result(timeout=PATIENCE)
                    except TimeoutError:  # it died with its worker, and will be done again
                        continue
                    except KilledWorker as error:  # more often than is bad luck
                        deaths = f"workers that died of it: {error.allowed_failures + 1}"
                        found = tasks[future], ([], 0.0, f"KilledWorker ({deaths})")
                    del tasks[future]
                    news = time.monotonic()
                    yield found
                if time.monotonic() > news + PATIENCE:  # is anybody still there?
                    client.wait_for_workers(1, timeout=PATIENCE)
                    news = time.monotonic()
                time.sleep(0.02)
        except TimeoutError as error:
            raise StudyError(f"the Dask scheduler at {address} has no workers. Finished runs are "
                             f"kept; start some with 'dask worker {address}' and run the same "
                             f"command, or use --jobs.") from error
        except Exception as error:
            raise StudyError(f"a Dask worker at {address} cannot do it: {error}. Finished runs "
                             f"are kept; give the workers this code and run again.") from error


def outcomes(experiment: Experiment, scale: str, tasks: list[Task], jobs: int = 1,
             dask: str | None = None) -> Iterator[Outcome]:
    """What the tasks give, as they finish."""
    calls = [(task, experiment.run, experiment.arguments(scale, task)) for task in tasks]
    jobs = max(1, min(jobs, len(calls)))
    try:
        yield from _on_cluster(calls, sources(experiment.run), dask) if dask else Parallel(
            jobs, return_as="generator_unordered")(delayed(_outcome)(*call, parent=os.getpid())
                                                   for call in calls)
    except BrokenProcessPool as error:
        raise RunError("a worker process died, perhaps for want of memory. Finished runs are "
                       "kept; run the same command to resume, or with fewer --jobs.") from error


def sweep(experiment: Experiment, scale: str, folder: Path | str, *, jobs: int = 1,
          dask: str | None = None, command: str = "rlsvi_study.runner.sweep",
          say: Callable[[str], None] = print) -> Path:
    """Compute an experiment's table; returns its path. Finished tasks survive Ctrl-C and kill -9.

    Tasks that raise are named as they do and at the end, by a RunError; their tracebacks are in a
    log beside the journal, and they are due again in the next sweep.
    """
    start, failed = time.monotonic(), 0
    journal = store.Journal(experiment, scale, folder, say)
    tasks = experiment.scales[scale].tasks
    todo = [task for task in tasks if not journal.has(task)]
    if done := len(tasks) - len(todo):
        say(f"{experiment.name}: resuming, {done} of {len(tasks)} runs are done")
    try:
        with tqdm(total=len(tasks), initial=done, desc=experiment.name, unit="run",
                  disable=None) as bar:
            for task, (rows, seconds, error) in outcomes(experiment, scale, todo, jobs, dask):
                if error:
                    failed += 1
                    journal.failed(task, error)
                    with bar.external_write_mode():
                        say(f"{experiment.name}: {task} raised {error.splitlines()[-1]}")
                else:
                    journal.add(task, rows, seconds)
                bar.update()
        if failed:
            raise RunError(f"{experiment.name}: {failed} of {len(tasks)} runs raised an error, see "
                           f"{journal.log}. The others are kept; run the same command to resume.")
        return store.save(experiment, scale, folder, journal, command=command,
                          wall_seconds=time.monotonic() - start)
    finally:
        journal.close()


# --------------------------------------------------------------------------- a slice, once more

class Table:
    """A stored table, and what a run of it took."""

    def __init__(self, experiment: Experiment, scale: str, folder: Path | str):
        self.experiment, self.scale, self.tasks = experiment, scale, experiment.scales[scale].tasks
        self.rows = store.load(experiment, scale, folder)
        computed = store.provenance(experiment, scale, folder)["computed"]
        self.seconds = max(computed["cpu_seconds"] / len(self.tasks), 1e-9)
        self.alike = 0  # recomputed runs that need not be equal to the bit, and were not

    def recompute(self, tasks: list[Task], jobs: int) -> Iterator[tuple[Task, list[str], float]]:
        """Each task as it is done, where it departs from the stored rows, and its CPU seconds."""
        for task, (rows, seconds, error) in outcomes(self.experiment, self.scale, tasks, jobs):
            wrong = [f"{task} raised {error.splitlines()[-1]}"] if error else (
                store.differences(self.rows, task, rows))
            if wrong and not (error or self.experiment.portable):
                wrong = store.outside(self.rows, task, rows)
                self.alike += not wrong
            yield task, wrong, seconds


def verify(experiment: Experiment, scale: str, folder: Path | str, *, runs: int = 2, seed: int,
           jobs: int = 1, say: Callable[[str], None] = print) -> list[str]:
    """Recompute some runs, or their beginnings, and compare; returns what differs."""
    table, found, alike = Table(experiment, scale, folder), [], 0
    chosen = np.random.default_rng(seed).permutation(len(table.tasks))[:runs]
    parts = [experiment.cut(scale, table.tasks[i], GLANCE / table.seconds) for i in sorted(chosen)]
    for part, wrong, _ in table.recompute(parts, jobs):
        say(f"{experiment.name}: {part}: "
            f"{'DIFFERS' if wrong else 'alike' if table.alike > alike else 'equal'}")
        found, alike = found + wrong, table.alike
    return found


def stamp(experiment: Experiment, scale: str, folder: Path | str, *, jobs: int = 1) -> list[str]:
    """Recompute a twentieth of a table and, if all is equal to the bit, write that down; of a table
    that is not portable, also how many runs were only ``alike``."""
    table = Table(experiment, scale, folder)
    rng = np.random.default_rng(int(fingerprint(experiment.run), 16))
    luck = rng.random()
    shuffled = [table.tasks[i] for i in rng.permutation(len(table.tasks))]
    first = {str({k: v for k, v in task.cell.items() if k != experiment.along}): task
             for task in reversed(shuffled)}  # one of each cell
    others = [task for task in shuffled if task not in first.values()]
    due = SHARE * len(table.tasks)  # in runs
    batch, done = [experiment.cut(scale, task, BEGINNING) for task in first.values()], []
    spent, found = 0.0, []
    with tqdm(desc=experiment.name, unit="run", disable=None) as bar:
        while batch and not found:
            bar.total = len(done) + len(batch)
            for part, wrong, seconds in table.recompute(batch, jobs):
                done, spent, found = [*done, part], spent + seconds, found + wrong
                bar.update()
            # As many more as should do, a part of a run by luck; then look again. Runs differ,
            # beginnings are cheap and the compiler's time is not ours: both measures must be full.
            left = due - min(sum(part.share for part in done), spent / table.seconds)
            more = max(0, math.floor(left + luck))
            batch, others = others[:more], others[more:]
    if not found:
        store.add_verification(experiment, scale, folder, runs=len(done),
                               whole=sum(part.share == 1 for part in done), of=len(table.tasks),
                               cpu_seconds=round(spent, 1),
                               **({} if experiment.portable else {"alike": table.alike}))
    return found


def chance(experiment: Experiment, scale: str, place: float = 1.0) -> float:
    """How likely a stamp recomputes a given row, which stands at ``place`` of its run, from 0 to 1:
    an edited row with a mended hash is noticed with this probability, or more where the twentieth
    of the CPU time is the larger one."""
    tasks = experiment.scales[scale].tasks
    cells = len({str({k: v for k, v in task.cell.items() if k != experiment.along})
                 for task in tasks})
    beginning = experiment.cut(scale, tasks[0], BEGINNING).share
    whole = max(0.0, SHARE - beginning * cells / len(tasks))
    return whole + cells / len(tasks) * (place <= beginning)
