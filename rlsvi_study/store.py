"""Results on disk: a tidy CSV and, beside it, a JSON that says exactly where it came from.

The JSON describes the table (``name``, ``place``, ``scale``, ``command``, ``constants``, ``grid``,
``seeds``, ``rows``, ``sha256``) and then says who answers for it. ``computed`` is written once and
stays: the code's fingerprint and revision, Python, packages, machine, CPU and wall-clock seconds,
when. When code moves, ``rlsvi verify --stamp`` recomputes a slice and appends to ``verified`` that
other code gives the same bits.

While a sweep runs, finished tasks go to a journal, one line each, flushed to disk at once; a
process killed in mid-line loses that line and no more. Only one process may write it. When all
tasks are in, the journal becomes the CSV (written whole, then renamed into place) and disappears.
"""

import io
import json
import os
import platform
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from . import StudyError
from .experiment import Experiment, Task
from .fingerprint import PACKAGES, digest, fingerprint

_chosen: Path | None = None


class StoreError(StudyError):
    """A stored table is missing, in use, or not what its provenance says."""


def results_folder() -> Path:
    """The folder in use, or the nearest one named ``results``, from here upwards."""
    if _chosen is not None:
        return _chosen
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "results").is_dir():
            return folder / "results"
    raise StoreError(f"no folder named 'results' in {here} or above it. The stored tables come "
                     f"with the project's repository: run inside a clone of it, or name a folder "
                     f"with --out.")


@contextmanager
def results_in(folder: Path | None) -> Iterator[None]:
    """Within this, ``folder`` is the folder in use, unless it is None."""
    global _chosen
    before, _chosen = _chosen, folder or _chosen
    try:
        yield
    finally:
        _chosen = before


def path(experiment: Experiment, scale: str, folder: Path) -> Path:
    return folder / f"{experiment.name}{'' if scale == 'paper' else '.' + scale}.csv"


def _json(value: Any, **layout: Any) -> str:
    return json.dumps(value, default=lambda number: number.item(), **layout)


def plain(value: Any) -> Any:
    """As it comes back from a JSON file."""
    return json.loads(_json(value))


def _write(target: Path, text: str) -> None:
    """All or nothing: a reader never sees half a file."""
    scratch = target.with_name(target.name + ".part")
    scratch.write_text(text, encoding="utf-8", newline="\n")
    os.replace(scratch, target)


# --------------------------------------------------------------------------- a sweep under way

class Journal:
    """The finished tasks of a sweep under way. Resumes if code and settings are the same.

    A journal of other code or settings is set aside under another name. A task that raised leaves
    its traceback in the log beside the journal and is due again next time.
    """

    def __init__(self, experiment: Experiment, scale: str, folder: Path,
                 say: Callable[[str], None] = print):
        folder.mkdir(parents=True, exist_ok=True)
        target = path(experiment, scale, folder)
        self.file, self.log = target.with_suffix(".journal"), target.with_suffix(".errors.log")
        setting = plain({"code": fingerprint(experiment.run),
                         **experiment.scales[scale].settings})
        self._lock = FileLock(target.with_suffix(".lock"))
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise StoreError(f"{experiment.name}: {self.file} is being written by {self._holder()}"
                             f". Wait for it, or use another --out.") from None
        kept = self._read(setting)
        if kept is None:
            aside = next(name for n in count(1) if not (name := target.with_suffix(
                f".{n}.journal")).exists())
            self.file.rename(aside)
            say(f"{experiment.name}: the runs kept in {self.file.name} are of other code or "
                f"settings; they are now in {aside.name}")
        self.done = {_json(entry["task"]): entry for entry in kept or []}
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": _now()}
        _write(self.file, "".join(_json(entry) + "\n" for entry in (
            {"holder": holder, **setting}, *self.done.values())))
        self.log.unlink(missing_ok=True)
        self._stream = self.file.open("a", encoding="utf-8", newline="\n")

    def _holder(self) -> str:
        try:
            with self.file.open(encoding="utf-8") as lines:
                return "process {pid} on {host}, since {since}".format(
                    **json.loads(lines.readline())["holder"])
        except (OSError, ValueError, KeyError):  # it has only just begun, or is about to end
            return "another process"

    def _read(self, setting: dict) -> list[dict] | None:
        """The finished tasks in the file, as far as it is whole; None if it is another sweep's."""
        entries: list[dict] = []
        if not self.file.exists():
            return entries
        for line in self.file.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):  # the line a kill cut short
                entries.append(json.loads(line))
        if not entries or {name: entries[0].get(name) for name in setting} != setting:
            return None
        return [entry for entry in entries[1:] if isinstance(entry, dict)
                and {"task", "rows", "seconds"} <= set(entry) and entry["rows"]]

    def has(self, task: Task) -> bool:
        return _json(task.label) in self.done

    def add(self, task: Task, rows: list[dict], seconds: float) -> None:
        entry = {"task": task.label, "rows": rows, "seconds": round(seconds, 3)}
        self.done[_json(task.label)] = entry
        self._stream.write(_json(entry) + "\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def failed(self, task: Task, traceback: str) -> None:
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"{task}\n{traceback}\n")

    def discard(self) -> None:
        self.file.unlink()

    def close(self) -> None:
        self._stream.close()
        with suppress(OSError):  # not everywhere may a file in use be removed
            Path(self._lock.lock_file).unlink()
        self._lock.release()


# --------------------------------------------------------------------------- tables

def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _revision() -> str:
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(PACKAGES["rlsvi_study"]), *words], check=True,
                              capture_output=True, text=True).stdout.strip()
    try:
        dirty = git("status", "--porcelain", "--", *map(str, PACKAGES.values()))
        return git("rev-parse", "HEAD") + ("+changes" if dirty else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _computer() -> dict[str, Any]:
    packages = ("rlsvi-core", "numpy", "scipy", "numba", "pandas")
    return {"python": platform.python_version(),
            "packages": {name: version(name) for name in packages},
            "machine": {"system": platform.system(), "architecture": platform.machine(),
                        "cores": os.cpu_count()}}


def save(experiment: Experiment, scale: str, folder: Path, journal: Journal, *, command: str,
         wall_seconds: float) -> Path:
    """Turn a complete journal into the CSV and its provenance."""
    setting = experiment.scales[scale]
    entries = [journal.done[_json(task.label)] for task in setting.tasks]
    table = pd.DataFrame([row for entry in entries for row in entry["rows"]])
    text = table.to_csv(index=False, lineterminator="\n")
    target = path(experiment, scale, folder)
    record = {
        "name": experiment.name, "place": experiment.place, "scale": scale, "command": command,
        **setting.settings, "rows": len(table), "sha256": digest(text.encode()),
        "computed": {"code": fingerprint(experiment.run), "revision": _revision(), **_computer(),
                     "cpu_seconds": round(sum(entry["seconds"] for entry in entries), 1),
                     "wall_seconds": round(wall_seconds, 1), "finished": _now()},
        "verified": []}
    _write(target.with_suffix(".json"), _json(record, indent=1) + "\n")
    _write(target, text)
    journal.discard()
    return target


def provenance(experiment: Experiment, scale: str = "paper",
               folder: Path | None = None) -> dict[str, Any]:
    record = path(experiment, scale, folder or results_folder()).with_suffix(".json")
    if not record.exists():
        raise StoreError(f"{experiment.name} has no stored {scale} results: {record.name} is not "
                         f"in {record.parent}. Compute them with: "
                         f"rlsvi run {experiment.name} --scale {scale}")
    return json.loads(record.read_text(encoding="utf-8"))


def vouched(experiment: Experiment, record: dict[str, Any]) -> str | None:
    """'computed' or 'verified' if today's code did that to the table, else None."""
    code = fingerprint(experiment.run)
    if record["computed"]["code"] == code:
        return "computed"
    return "verified" if code in (one["code"] for one in record["verified"]) else None


def add_verification(experiment: Experiment, scale: str, folder: Path, **found: Any) -> None:
    """Append that today's code gave the same bits; nothing else of the record changes."""
    record = provenance(experiment, scale, folder)
    record["verified"].append({"code": fingerprint(experiment.run), **_computer(), **found,
                               "date": _now()})
    _write(path(experiment, scale, folder).with_suffix(".json"), _json(record, indent=1) + "\n")


def load(experiment: Experiment, scale: str = "paper", folder: Path | None = None) -> pd.DataFrame:
    """A stored table, refused if it is not the one its provenance describes."""
    folder = folder or results_folder()
    record, target = provenance(experiment, scale, folder), path(experiment, scale, folder)
    mend = f"recompute with: rlsvi run {experiment.name} --scale {scale}"
    if not target.exists():
        raise StoreError(f"{target.name} is missing, though {target.stem}.json describes it. "
                         f"Restore it, or {mend}")
    if digest(data := target.read_bytes()) != record["sha256"]:
        raise StoreError(f"{target.name} is not the table that {target.stem}.json describes (its "
                         f"SHA-256 differs): it was edited or cut short. Restore both files, or "
                         f"{mend}")
    return pd.read_csv(io.BytesIO(data))  # exact to the last bit since pandas 3.1


def differences(stored: pd.DataFrame, task: Task, rows: list[dict],
                share: float = 1.0) -> list[str]:
    """Where a recomputed run, or its first share, departs from the stored one, to the last bit."""
    mask = pd.Series(True, index=stored.index)
    for name, value in task.label.items():
        mask &= stored[name] == value
    before, now = stored[mask], pd.DataFrame(rows)
    before = before.head(round(share * len(before)))
    if len(before) != len(now):
        return [f"{task}: {len(before)} rows are stored, {len(now)} were recomputed"]
    if set(before.columns) != set(now.columns):
        return [f"{task}: columns {', '.join(before.columns)} are stored, "
                f"{', '.join(now.columns)} were recomputed"]
    found = []
    for column in now.columns:
        for i in range(len(now)):
            old, new = before[column].iloc[i], now[column].iloc[i]
            if old != new and not (pd.isna(old) and pd.isna(new)):
                found.append(f"{task}, line {before.index[i] + 2}, {column}: "
                             f"stored {old}, recomputed {new}")
                break
    return found
