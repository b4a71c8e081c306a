"""A sweep under way: what is finished survives whatever happens to the process.

Finished runs go to a journal beside the table, one line each, flushed to disk at once; a process
killed in mid-line loses that line and no more. The first line says with which code and settings
they were computed; with others they are computed again. Only one process may write.
"""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from .. import StudyError
from .experiment import Experiment, Rows, Task, to_json_text
from .files import table_path, write_atomically
from .provenance import utc_timestamp


def _lines(journal: Path) -> list[dict[str, Any]]:
    """What each line holds; nothing if it cannot be read, because a kill cut it short or worse."""

    def content(line: bytes) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    return list(map(content, journal.read_bytes().splitlines())) if journal.exists() else []


def _setting(experiment: Experiment, scale: str) -> dict[str, Any]:
    """What a journal must agree with to be resumed."""
    sources = experiment.sources
    return {
        "sources": sources.hash,
        "files": sources.files,
        **experiment.scales[scale].settings,
    }


def _finished(journal: Path, setting: dict[str, Any]) -> tuple[dict[str, Any], int] | None:
    """The finished runs by their labels, and how many lines are none: cut short. None if the
    journal is of other code or settings."""
    header, *entries = _lines(journal) or [setting]
    if not setting.items() <= header.items():
        return None
    whole = [entry for entry in entries if entry.keys() >= {"task", "rows", "seconds"}]
    found = {to_json_text(entry["task"]): entry for entry in whole}
    return found, len(entries) - len(found)


def finished(experiment: Experiment, scale: str, folder: Path | str | None = None) -> int:
    """How many runs of a sweep are done that has not written its table, or not yet."""
    journal = table_path(experiment, scale, folder).with_suffix(".journal")
    runs, _ = _finished(journal, _setting(experiment, scale)) or ({}, 0)
    return len(runs)


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """No other process writes the table meanwhile; who does is named by the journal's first line."""
    lock = FileLock(target.with_suffix(".lock"))
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        header = next(iter(_lines(target.with_suffix(".journal"))), {})
        raise StudyError(
            f"{target} is being written by {header.get('holder', 'another process')}. Wait for it, "
            f"or use another --out."
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):  # not everywhere may a file in use be removed
            Path(lock.lock_file).unlink()
        lock.release()


class Journal:
    """The finished runs of a sweep under way. Resumes if code and settings are the same.

    The last runs of other code or settings are set aside as ``.journal.old``. A run that raised leaves its traceback in the log beside the journal and is due again next time.
    """

    def __init__(
        self,
        experiment: Experiment,
        scale: str,
        folder: Path | str,
        say: Callable[[str], None] = print,
    ) -> None:
        target = table_path(experiment, scale, folder)
        self.file, self.log = target.with_suffix(".journal"), target.with_suffix(".errors.log")
        self._setting = _setting(experiment, scale)
        with ExitStack() as opened:
            opened.enter_context(_locked(target))
            self._runs = self._resumed(lambda text: say(f"{experiment.name}: {text}"))
            holder = f"process {os.getpid()} on {socket.gethostname()}, since {utc_timestamp()}"
            lines = [{"holder": holder, **self._setting}, *self._runs.values()]
            write_atomically(
                {self.file: "".join(to_json_text(line) + "\n" for line in lines).encode()}
            )
            self.log.unlink(missing_ok=True)
            self._stream = opened.enter_context(self.file.open("ab"))
            self._opened = opened.pop_all()
        self._columns = {frozenset(run["rows"][0]) for run in self._runs.values()}

    def _resumed(self, say: Callable[[str], None]) -> dict[str, Any]:
        """The runs that an earlier process finished; another sweep's are set aside."""
        if found := _finished(self.file, self._setting):
            runs, lost = found
            if lost:
                say(f"{lost} lines in {self.file.name} were cut short; those runs are recomputed")
            return runs
        header, *entries = _lines(self.file)
        if entries:
            other = [name for name, value in self._setting.items() if header.get(name) != value]
            aside = self.file.with_suffix(".journal.old")
            self.file.replace(aside)
            say(
                f"the runs kept in {self.file.name} are of other code or settings "
                f"({', '.join(other)}); they are now in {aside.name}"
            )
        return {}

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what the disk refused was reported when it did
            self._opened.close()

    def __contains__(self, task: Task) -> bool:
        return to_json_text(task.label) in self._runs

    def __getitem__(self, task: Task) -> dict[str, Any]:
        """The rows of a finished run, and its CPU seconds."""
        run: dict[str, Any] = self._runs[to_json_text(task.label)]
        return run

    def add(self, task: Task, rows: Rows, seconds: float) -> None:
        self._columns |= {frozenset(row) for row in rows}
        if len(self._columns) > 1:
            some = frozenset.union(*self._columns) - frozenset.intersection(*self._columns)
            raise StudyError(
                f"all rows of a table must have the same columns; at {task} some have and some "
                f"have not {', '.join(sorted(some))}. Give every row every column, None where "
                f"there is nothing."
            )
        run = {"task": task.label, "rows": rows, "seconds": round(seconds, 3)}
        self._stream.write((to_json_text(run) + "\n").encode())
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._runs[to_json_text(task.label)] = run

    def add_failure(self, task: Task, traceback: str) -> None:
        with self.log.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"{task}\n{traceback}\n")

    def remove(self) -> None:
        """Its table is written."""
        self.file.unlink()
