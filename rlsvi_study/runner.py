"""Run a figure's tasks on local cores or on a Dask cluster; stop at any time, resume at any time.

A task's rows depend on its setting and seed alone, so they are the same bits for any number of
workers, in any order. Only this process writes.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from . import store
from .catalogue import EXPERIMENTS
from .experiment import Experiment, Task


def run_task(name: str, scale: str, task: Task) -> tuple[Task, list[dict], float]:
    """One run and its CPU seconds. Named, not passed: workers import the figure themselves."""
    start = time.process_time()
    rows = EXPERIMENTS[name].rows(scale, Task(*task))
    return Task(*task), rows, time.process_time() - start


class ClusterError(Exception):
    """The Dask cluster cannot be used."""


def _cluster(address: str):
    try:
        from distributed import Client
        return Client(address, timeout="10s")
    except ImportError as error:
        raise ClusterError("Dask is not installed. Install it with: pip install "
                           "'rlsvi-core[dask]'") from error
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address} ({error}). Start one with "
                           f"'dask scheduler', or use --jobs.") from error


def _results(figure: Experiment, scale: str, tasks: list[Task], jobs: int,
             dask: str | None) -> Iterator[tuple[Task, list[dict], float]]:
    if dask is not None:
        import distributed
        with _cluster(dask) as client:
            futures = [client.submit(run_task, figure.name, scale, task, pure=False)
                       for task in tasks]
            for _, result in distributed.as_completed(futures, with_results=True):
                yield result
    elif jobs == 1:
        for task in tasks:
            yield run_task(figure.name, scale, task)
    else:
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(
            delayed(run_task)(figure.name, scale, task) for task in tasks)


def sweep(figure: Experiment, scale: str, folder: Path, *, jobs: int = 1, dask: str | None = None,
          command: str = "rlsvi_core.runner.sweep", say: Callable[[str], None] = print) -> Path:
    """Compute a figure's table; returns its path. Finished tasks survive Ctrl-C and kill -9."""
    start = time.monotonic()
    journal = store.Journal(figure, scale, folder)
    tasks = figure.scales[scale].tasks
    todo = [task for task in tasks if not journal.has(task)]
    if len(todo) < len(tasks):
        say(f"{figure.name}: resuming, {len(tasks) - len(todo)} of {len(tasks)} runs are done")
    try:
        with tqdm(total=len(tasks), initial=len(tasks) - len(todo), desc=figure.name, unit="run",
                  disable=None) as bar:
            for task, rows, seconds in _results(figure, scale, todo, jobs, dask):
                journal.add(task, rows, seconds)
                bar.update()
        return store.save(figure, scale, folder, journal, command=command,
                          wall_seconds=time.monotonic() - start)
    finally:
        journal.close()


def verify(figure: Experiment, scale: str, folder: Path, *, runs: int = 2, rng=None) -> list[str]:
    """Recompute some runs of a stored table; returns the differences, none if all is well."""
    stored, tasks = store.load(figure, scale, folder), figure.scales[scale].tasks
    recorded = store.provenance(figure, scale, folder)["rows"]
    if recorded != len(stored):
        return [f"{recorded} rows are recorded, {len(stored)} are stored"]
    chosen = np.random.default_rng(rng).choice(len(tasks), min(runs, len(tasks)), replace=False)
    return [difference for i in sorted(chosen)
            for difference in store.differences(stored, tasks[i], run_task(
                figure.name, scale, tasks[i])[1])]
