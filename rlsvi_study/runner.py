"""Run an experiment's tasks on local cores or on a Dask cluster; stop and resume at any time.

A task's rows depend on its setting and seed alone, so they are the same bits for any number of
workers, in any order. What is run is what is given: the function travels to the workers, by
reference where they can import it, and a worker on a cluster first compares its own code with ours.
A task that raises is named, and the others go on. Only this process writes.
"""

import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool
from tqdm import tqdm

from . import StudyError, store
from .experiment import Experiment
from .fingerprint import departures, sources

PATIENCE = 10  # seconds to wait for a Dask scheduler, and for its first worker


class RunError(StudyError):
    """Some runs were not finished."""


class ClusterError(StudyError):
    """The Dask cluster cannot be used."""


class Outcome(NamedTuple):
    rows: list[dict]
    seconds: float  # of CPU time
    error: str = ""  # the traceback, if the run raised


def outcome(run: Callable, arguments: dict[str, Any]) -> Outcome:
    start = time.process_time()
    try:
        rows = run(**arguments)
        if not rows:
            raise ValueError(f"a run must return at least one row; it returned {rows!r}.")
    except Exception:
        return Outcome([], time.process_time() - start, traceback.format_exc())
    return Outcome(rows, time.process_time() - start)


def _numbered(i: int, run: Callable, arguments: dict[str, Any],
              code: dict[str, str] | None = None) -> tuple[int, Outcome]:
    """A call on a worker; refused if the code there is not the code that asks."""
    if code is not None and (other := departures(run, code)):
        raise ClusterError(f"{', '.join(other[:3])}{', …' if other[3:] else ''} "
                           f"{'is' if len(other) == 1 else 'are'} not as here")
    return i, outcome(run, arguments)


def _on_cluster(run: Callable, calls: list[dict[str, Any]],
                address: str) -> Iterator[tuple[int, Outcome]]:
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise ClusterError("Dask is not installed. Install it with: pip install "
                           "'rlsvi-core[dask]'") from error
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address} ({error}). Start one with "
                           f"'dask scheduler', or use --jobs.") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise ClusterError(f"the Dask scheduler at {address} has no workers. Start some with "
                               f"'dask worker {address}', or use --jobs.") from error
        code = sources(run)
        try:
            futures = [client.submit(_numbered, i, run, arguments, code, pure=False)
                       for i, arguments in enumerate(calls)]
            for _, result in as_completed(futures, with_results=True):
                yield result
        except Exception as error:
            raise ClusterError(f"a Dask worker at {address} cannot do it: {error}. Finished runs "
                               f"are kept; give the workers this code and run again.") from error


def outcomes(run: Callable, calls: list[dict[str, Any]], jobs: int = 1,
             dask: str | None = None) -> Iterator[tuple[int, Outcome]]:
    """What the calls give, as they finish, each with its place in the list."""
    if dask is not None:
        yield from _on_cluster(run, calls, dask)
    elif jobs == 1:
        for i, arguments in enumerate(calls):
            yield i, outcome(run, arguments)
    else:
        try:
            yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(
                delayed(_numbered)(i, run, arguments) for i, arguments in enumerate(calls))
        except BrokenProcessPool as error:
            raise RunError("a worker process died, perhaps for want of memory. Finished runs are "
                           "kept; run the same command to resume, or with fewer --jobs.") from error


def sweep(experiment: Experiment, scale: str, folder: Path, *, jobs: int = 1,
          dask: str | None = None, command: str = "rlsvi_study.runner.sweep",
          say: Callable[[str], None] = print) -> Path:
    """Compute an experiment's table; returns its path. Finished tasks survive Ctrl-C and kill -9.

    Tasks that raise are named as they do and at the end, by a RunError; their tracebacks are in a
    log beside the journal, and they are due again in the next sweep.
    """
    start = time.monotonic()
    journal = store.Journal(experiment, scale, folder, say)
    tasks = experiment.scales[scale].tasks
    todo = [task for task in tasks if not journal.has(task)]
    if len(todo) < len(tasks):
        say(f"{experiment.name}: resuming, {len(tasks) - len(todo)} of {len(tasks)} runs are done")
    calls, failed = [experiment.arguments(scale, task) for task in todo], 0
    try:
        with tqdm(total=len(tasks), initial=len(tasks) - len(todo), desc=experiment.name,
                  unit="run", disable=None) as bar:
            for i, (rows, seconds, error) in outcomes(experiment.run, calls, jobs, dask):
                if error:
                    failed += 1
                    journal.failed(todo[i], error)
                    with bar.external_write_mode():
                        say(f"{experiment.name}: {todo[i]} raised {error.splitlines()[-1]}")
                else:
                    journal.add(todo[i], [{**todo[i].label, **row} for row in rows], seconds)
                bar.update()
        if failed:
            raise RunError(f"{experiment.name}: {failed} of {len(tasks)} runs raised an error, see "
                           f"{journal.log}. The others are kept; run the same command to resume.")
        return store.save(experiment, scale, folder, journal, command=command,
                          wall_seconds=time.monotonic() - start)
    finally:
        journal.close()
