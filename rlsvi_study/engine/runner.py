"""Run an experiment's tasks on local cores or on a Dask cluster: a whole table, or a part of one.

A task's rows depend on its setting and seed alone, so they are the same bits for any number of
workers, in any order. The function and its arguments travel to the workers; a function that they
can import travels as its name. A worker compares its code with that of the process that asks; if a
file that a run uses was edited meanwhile, the run does not count and the sweep stops. A run that
raises is named, and the others go on; so is a run that kills its workers on a cluster. Only this
process writes, and local workers do not outlive it.

``run_experiment`` computes a table; it can be stopped and resumed at any time. ``verify_table``
recomputes runs of a stored table, or beginnings of runs, as many as a budget of CPU time has room
for, and compares them bitwise. The hash of the current sources seeds the choice, so no one picks
the runs, and other sources draw others.
"""

import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from pickle import PicklingError
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from .. import StudyError
from . import compare, tables
from .experiment import Experiment, Rows, Task
from .files import table_path
from .journal import Journal
from .sources import Sources, import_from, packages_hash

PATIENCE = 10  # seconds to wait for a Dask scheduler, and for its first worker
LOG_EVERY = 30  # seconds between lines of progress in a log
Call = tuple[Task, Callable[..., Rows], dict[str, Any], str, Sources]


class TaskResult(NamedTuple):
    """What became of a task."""

    task: Task
    rows: Rows
    cpu_seconds: float
    error: str  # a traceback, if the run raised


def _run_task(
    task: Task, run: Callable[..., Rows], arguments: dict[str, Any], packages: str, sources: Sources
) -> TaskResult:
    """A call on a worker; refused if the code there is not the one that asks."""
    if packages_hash() != packages:
        raise StudyError("rlsvi_core or rlsvi_study is another version on a worker. Run it again.")
    start, rows, error = time.process_time(), [], ""
    try:
        rows = task.label_rows(run(**arguments))
    except KeyboardInterrupt:
        raise
    except BaseException:
        error = traceback.format_exc()
    seconds = time.process_time() - start
    if edited := sources.edited():
        raise StudyError(
            f"all rows of a table must be of one code; these files were edited, or are another "
            f"version on a worker: {', '.join(edited)}. No table is written. Put them back and run "
            f"it again to resume, or run it anew with what they are now."
        )
    return TaskResult(task, rows, seconds, error)


def _start_worker(parent: int, files: dict[str, str]) -> None:
    """A worker is for one state of these files, since what it has imported it keeps; and it ends
    soon after the process that it works for, which may be killed. Compiled code lets no other
    thread run, so another process has to look."""
    packages_hash()
    both_run = f"kill -0 {parent} && kill -0 {os.getpid()}"
    subprocess.Popen(
        ["sh", "-c", f"while {both_run}; do sleep 1; done; kill -9 {os.getpid()}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


_served = ""  # on a cluster's worker: the study whose modules it has imported


def _run_on_worker(
    task: Task, packed: bytes, arguments: dict[str, Any], packages: str, sources: Sources
) -> TaskResult:
    """A call on a cluster's worker, which may have served other studies."""
    global _served
    from cloudpickle import loads

    if sources.hash != _served:
        import_from(sources.folder)
    _served = sources.hash
    return _run_task(task, loads(packed), arguments, packages, sources)


def _run_on_cluster(calls: list[Call], address: str) -> Iterator[TaskResult]:
    try:
        from cloudpickle import dumps
        from distributed import Client, KilledWorker, as_completed
    except ImportError as error:
        raise StudyError(
            "Dask is not installed. Install it with: pip install 'rlsvi-core[dask]'"
        ) from error
    try:
        client = Client(address, timeout=PATIENCE)
    except Exception as error:  # of an odd address, almost any
        raise ConnectionError(
            f"no Dask scheduler answers at {address} ({error!s:.200}); start one with "
            f"'dask scheduler', or use --jobs"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise ConnectionError(
                f"the Dask scheduler at {address} has no workers; start some with "
                f"'dask worker {address}', or use --jobs"
            ) from error
        tasks = {
            client.submit(_run_on_worker, task, dumps(run), *rest, pure=False): task
            for task, run, *rest in calls
        }
        for future in as_completed(list(tasks)):
            task = tasks.pop(future)
            try:
                yield future.result()
            except KilledWorker as error:  # more often than by chance
                deaths = f"workers that died of it: {error.allowed_failures + 1}"
                yield TaskResult(task, [], 0.0, f"KilledWorker ({deaths})")
            except Exception as error:
                raise StudyError(
                    f"a Dask worker at {address} cannot do it: {error}. Give the workers this code "
                    f"and run it again to resume."
                ) from error


def run_tasks(
    experiment: Experiment, scale: str, tasks: list[Task], jobs: int = 1, dask: str | None = None
) -> Iterator[TaskResult]:
    """What the tasks give, as they finish."""
    sources, packages = experiment.sources, packages_hash()
    calls = [
        (task, experiment.run, experiment.run_arguments(scale, task), packages, sources)
        for task in tasks
    ]
    try:
        if dask:
            yield from _run_on_cluster(calls, dask)
        else:
            yield from Parallel(
                max(1, min(jobs, len(calls))),
                return_as="generator_unordered",
                initializer=_start_worker,
                initargs=(os.getpid(), sources.files),
            )(delayed(_run_task)(*call) for call in calls)
    except PicklingError as error:
        reason = str(error.__cause__ or error).strip(' "\n').splitlines()[-1]
        raise StudyError(
            f"{experiment.name}: what its run uses must travel to other processes; {reason:.200}. "
            f"Make it inside the run, or use --jobs 1."
        ) from error
    except BrokenProcessPool as error:
        raise StudyError(
            "a worker process died, perhaps for want of memory. Run it again to resume, or with "
            "fewer --jobs."
        ) from error


def _with_progress(
    name: str, done: int, total: int, found: Iterator[TaskResult]
) -> Iterator[tuple[tqdm, TaskResult]]:
    """With a bar in a terminal, and a line now and then in a log."""
    start = said = time.monotonic()
    with tqdm(total=total, initial=done, desc=name, unit="run", disable=None) as bar:
        for n, outcome in enumerate(found, start=done + 1):
            yield bar, outcome
            bar.update()
            if bar.disable and time.monotonic() >= said + LOG_EVERY:
                said = time.monotonic()
                line = tqdm.format_meter(
                    n, total, said - start, ncols=0, prefix=name, unit="run", initial=done
                )
                print(line, file=sys.stderr, flush=True)


def _compute_missing_runs(
    journal: Journal,
    experiment: Experiment,
    scale: str,
    jobs: int,
    dask: str | None,
    say: Callable[[str], None],
) -> None:
    """Compute the runs that are due; a StudyError if some raise."""
    name, tasks = experiment.name, experiment.scales[scale].tasks
    due = [task for task in tasks if task not in journal]
    done = len(tasks) - len(due)
    if done:
        say(f"{name}: resuming, {done} of {len(tasks)} runs are done")
    found = run_tasks(experiment, scale, due, jobs, dask)
    for bar, (task, rows, seconds, error) in _with_progress(name, done, len(tasks), found):
        if error:
            journal.add_failure(task, error)
            with bar.external_write_mode():
                say(f"{name}: {task} raised {error.splitlines()[-1]}")
        else:
            own = [{k: row[k] for k in row.keys() - task.label.keys()} for row in rows]
            tables.rows_to_csv(own)  # refused now, not when all are done
            journal.add(task, rows, seconds)
    if failed := sum(task not in journal for task in tasks):
        raise StudyError(
            f"{name}: {failed} of {len(tasks)} runs raised an error, see {journal.log}. The others "
            f"are kept; run the same command to resume."
        )


def run_experiment(
    experiment: Experiment,
    scale: str,
    folder: Path | str,
    *,
    jobs: int = 1,
    dask: str | None = None,
    again: bool = True,
    command: str = "rlsvi_study.engine.sweep",
    say: Callable[[str], None] = print,
) -> Path:
    """Compute an experiment's table; returns its path. Finished runs survive Ctrl-C and kill -9.

    Runs that raise are named as they do and at the end, by a StudyError; their tracebacks are in a
    log beside the journal, and they are due again in the next sweep. Without ``again`` a table that
    this code has stored stays as it is, and one that another study's file wrote is not replaced.
    """
    if scale not in experiment.scales:
        scales = ", ".join(experiment.scales)
        raise StudyError(f"the scales of {experiment.name} are {scales}; got {scale!r}.")
    start, folder = time.monotonic(), Path(folder).absolute()  # a run may go elsewhere
    experiment = replace(experiment, loaded=experiment.sources)
    name, target = experiment.name, table_path(experiment, scale, folder)
    if not again and tables.is_table_current(experiment, scale, folder):
        say(f"{name}: already stored, by this code, in {target}; --again recomputes it")
        return target
    if not again and (other := tables.other_study_file(experiment, scale, folder)):
        raise StudyError(
            f"{target} was computed by another file, {other}, and would be lost. Give the "
            f"experiment another name, name another folder with --out, or overwrite it with "
            f"--again."
        )
    tasks = experiment.scales[scale].tasks
    tables.rows_to_csv([task.label for task in tasks])  # what cannot be stored need not be computed
    with Journal(experiment, scale, folder, say) as journal:
        _compute_missing_runs(journal, experiment, scale, jobs, dask, say)
        tables.save_table(
            experiment,
            scale,
            folder,
            [journal[task] for task in tasks],
            command=command,
            wall_seconds=time.monotonic() - start,
        )
        journal.remove()
    say(f"{name}: wrote {target}")
    return target


# --------------------------------------------------------------------------- a part, once more


class VerifyResult(NamedTuple):
    """What recomputing a part of a table came to."""

    parts: list[Task]  # the runs, or beginnings of runs, that were recomputed
    within: int  # of those, not equal, but within the range of the seeds (``compare.list_out_of_range``)
    differences: list[str]
    cpu_seconds: float
    share: float  # of the table's rows
    missing: str = ""  # the package for want of which nothing was recomputed


def choose_tasks(experiment: Experiment, scale: str, seconds: float, per_run: float) -> list[Task]:
    """Some runs at random, as many as ``seconds`` have room for if a run takes ``per_run``.

    If they have room for a part of one only, half of them buy its beginning, and the other half
    the whole run in as many draws of a hundred as they can pay for: no row is beyond reach. There
    is always one part, so that every table is looked at; a run that cannot be cut is whole.
    """
    tasks = experiment.scales[scale].tasks
    rng = np.random.default_rng([int(experiment.sources.hash, 16), *experiment.name.encode()])
    order, left = rng.permutation(len(tasks)), seconds / per_run  # in runs
    if left < 1:
        left = 1 if rng.random() < left / 2 else left / 2
    parts: list[Task] = []
    for i in order:
        part = experiment.truncate_task(scale, tasks[i], max(left, 0.0))
        if parts and part.share > left:
            break
        parts.append(part)
        left -= part.share
    return parts


def verify_table(
    experiment: Experiment, scale: str, folder: Path | str, *, seconds: float, jobs: int = 1
) -> VerifyResult:
    """Recompute a part of a stored table within a budget of CPU time, and compare to the bit."""
    stored = tables.load_table(experiment, scale, folder)
    computed = tables.read_provenance(experiment, scale, folder)["computed"]
    tasks = experiment.scales[scale].tasks
    parts = choose_tasks(
        experiment, scale, seconds, max(computed["cpu_seconds"] / len(tasks), 1e-3)
    )
    differences: list[str] = []
    within, spent, recomputed = 0, 0.0, 0
    for part, rows, cpu, error in run_tasks(experiment, scale, parts, jobs):
        spent += cpu
        recomputed += len(rows)
        if error:
            last = error.splitlines()[-1]
            if last.startswith("ModuleNotFoundError"):
                return VerifyResult([], 0, [], spent, 0.0, last.partition(": ")[2])
            differences.append(f"{part} raised {last}")
            continue
        found = compare.list_differences(stored, part, rows)
        if found and not experiment.portable:
            found = compare.list_out_of_range(stored, part, rows)
            within += not found
        differences += found
    return VerifyResult(parts, within, differences, spent, recomputed / len(stored))
