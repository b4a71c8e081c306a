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
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from . import StudyError
from .experiment import Experiment, Task, as_json
from .fingerprint import PACKAGES, digest, fingerprint

chosen: ContextVar[Path | None] = ContextVar("chosen", default=None)  # a folder of results


def results_folder() -> Path:
    """The chosen folder, or the nearest one named ``results``, from here upwards."""
    here = Path.cwd()
    nearest = (folder / "results" for folder in (here, *here.parents))
    if folder := chosen.get() or next(filter(Path.is_dir, nearest), None):
        return folder
    raise StudyError(f"no folder named 'results' in {here} or above it. The stored tables come "
                     f"with the project's repository: run inside a clone of it, or name a folder "
                     f"with --out.")


def path(experiment: Experiment, scale: str, folder: Path | str | None = None) -> Path:
    name = f"{experiment.name}{'' if scale == 'paper' else '.' + scale}.csv"
    return Path(folder or results_folder()) / name


def command(experiment: Experiment, scale: str) -> str:
    return f"rlsvi run {experiment.words or experiment.name} --scale {scale}"


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

    def __init__(self, experiment: Experiment, scale: str, folder: Path | str,
                 say: Callable[[str], None] = print):
        setting = {"code": fingerprint(experiment.run), **experiment.scales[scale].settings}
        target = path(experiment, scale, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.file, self.log = target.with_suffix(".journal"), target.with_suffix(".errors.log")
        self._lock = FileLock(target.with_suffix(".lock"))
        try:
            self._lock.acquire(timeout=0)
        except Timeout:  # if the file is not yet there, its writer has only just begun
            header, *_ = self._entries() or [{"holder": "another process"}]
            raise StudyError(f"{experiment.name}: {self.file} is being written by "
                             f"{header['holder']}. Wait for it, or use another --out.") from None
        self.done = self._kept(setting, lambda text: say(f"{experiment.name}: {text}"))
        holder = f"process {os.getpid()} on {socket.gethostname()}, since {_now()}"
        _write(self.file, "".join(as_json(entry) + "\n" for entry in (
            {"holder": holder, **setting}, *self.done.values())))
        self.log.unlink(missing_ok=True)
        self._columns = {frozenset(entry["rows"][0]) for entry in self.done.values()}
        self._stream = self.file.open("a", encoding="utf-8", newline="\n")

    def _entries(self) -> list[Any]:
        """What the file says, as far as it is whole: a kill may have cut a line short."""
        entries = []
        with suppress(FileNotFoundError):
            for line in self.file.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    entries.append(json.loads(line))
        return entries

    def _kept(self, setting: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
        """The tasks that an earlier process finished; another sweep's are set aside."""
        header, *entries = self._entries() or [setting]
        if {name: header.get(name) for name in setting} == setting:
            return {as_json(entry["task"]): entry for entry in entries
                    if isinstance(entry, dict) and entry.get("rows")}
        aside = next(name for n in count(1) if not (
            name := self.file.with_suffix(f".{n}.journal")).exists())
        self.file.rename(aside)
        say(f"the runs kept in {self.file.name} are of other code or settings; they are now in "
            f"{aside.name}")
        return {}

    def has(self, task: Task) -> bool:
        return as_json(task.label) in self.done

    def add(self, task: Task, rows: list[dict], seconds: float) -> None:
        self._columns |= {frozenset(row) for row in rows}
        if len(self._columns) > 1:
            some = frozenset.union(*self._columns) - frozenset.intersection(*self._columns)
            raise StudyError(f"all rows of a table must have the same columns; at {task} some have "
                             f"and some have not {', '.join(sorted(some))}. Give every row every "
                             f"column, None where there is nothing.")
        entry = {"task": task.label, "rows": rows, "seconds": round(seconds, 3)}
        self.done[as_json(task.label)] = entry
        self._stream.write(as_json(entry) + "\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def failed(self, task: Task, traceback: str) -> None:
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"{task}\n{traceback}\n")

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


def _who(experiment: Experiment) -> dict[str, Any]:
    """Which code, with which packages, on which machine."""
    packages = ("rlsvi-core", "numpy", "scipy", "numba", "pandas")
    return {"code": fingerprint(experiment.run), "revision": _revision(),
            "python": platform.python_version(),
            "packages": {name: version(name) for name in packages},
            "machine": {"system": platform.system(), "architecture": platform.machine(),
                        "cores": os.cpu_count()}}


def save(experiment: Experiment, scale: str, folder: Path | str, journal: Journal, *, command: str,
         wall_seconds: float) -> Path:
    """Turn a complete journal into the CSV and its provenance."""
    setting = experiment.scales[scale]
    entries = [journal.done[as_json(task.label)] for task in setting.tasks]
    table = pd.DataFrame([row for entry in entries for row in entry["rows"]])
    text = table.to_csv(index=False, lineterminator="\n")
    target = path(experiment, scale, folder)
    record = {
        "name": experiment.name, "place": experiment.place, "scale": scale, "command": command,
        **setting.settings, "rows": len(table), "sha256": digest(text.encode()),
        "computed": {**_who(experiment),
                     "cpu_seconds": round(sum(entry["seconds"] for entry in entries), 1),
                     "wall_seconds": round(wall_seconds, 1), "finished": _now()},
        "verified": []}
    _write(target.with_suffix(".json"), as_json(record, indent=1) + "\n")
    _write(target, text)
    journal.file.unlink()
    return target


def provenance(experiment: Experiment, scale: str = "paper",
               folder: Path | str | None = None) -> dict[str, Any]:
    record = path(experiment, scale, folder).with_suffix(".json")
    if not record.exists():
        raise StudyError(f"{experiment.name} has no stored {scale} results: {record.name} is not "
                         f"in {record.parent}. Compute them with: {command(experiment, scale)}")
    return json.loads(record.read_text(encoding="utf-8"))


def vouched(experiment: Experiment, record: dict[str, Any]) -> str | None:
    """'computed' or 'verified' if today's code did that to the table, else None."""
    code = fingerprint(experiment.run)
    if record["computed"]["code"] == code:
        return "computed"
    return "verified" if code in (one["code"] for one in record["verified"]) else None


def add_verification(experiment: Experiment, scale: str, folder: Path | str, **found: Any) -> None:
    """Append that today's code gave the same bits; nothing else of the record changes."""
    record = provenance(experiment, scale, folder)
    record["verified"].append({**_who(experiment), **found, "date": _now()})
    _write(path(experiment, scale, folder).with_suffix(".json"), as_json(record, indent=1) + "\n")


def load(experiment: Experiment, scale: str = "paper",
         folder: Path | str | None = None) -> pd.DataFrame:
    """A stored table, refused if it is not the one its provenance and the experiment describe."""
    record, target = provenance(experiment, scale, folder), path(experiment, scale, folder)
    data = target.read_bytes() if target.exists() else b""
    settings = experiment.scales[scale].settings
    wrong = None
    if digest(data) != record["sha256"]:
        wrong = f"was {'edited or cut short' if data else 'removed'}: its SHA-256 is another"
    elif {name: record[name] for name in settings} != settings:
        wrong = "was computed with other settings than the experiment has now"
    if wrong:
        raise StudyError(f"{target.name} {wrong}. Restore the files, or recompute with: "
                         f"{command(experiment, scale)}")
    return pd.read_csv(io.BytesIO(data))  # exact to the last bit since pandas 3.1


def differences(stored: pd.DataFrame, task: Task, rows: list[dict]) -> list[str]:
    """Where a recomputed run, or its first share, departs from the stored one, to the last bit."""
    before = stored[(stored[list(task.label)] == pd.Series(task.label)).all(axis=1)]
    before, now = before.head(round(task.share * len(before))), pd.DataFrame(rows)
    if len(before) != len(now):
        return [f"{task}: {len(before)} rows are stored, {len(now)} were recomputed"]
    if set(before) != set(now):
        return [f"{task}: columns {', '.join(before)} are stored, {', '.join(now)} were recomputed"]
    found = []
    for column in now:
        old, new = before[column].to_numpy(), now[column].to_numpy()
        if (other := (old != new) & ~(pd.isna(old) & pd.isna(new))).any():
            i = other.argmax()
            found.append(f"{task}, line {before.index[i] + 2}, {column}: stored {old[i]}, "
                         f"recomputed {new[i]}")
    return found
