"""Results on disk: a tidy CSV and, beside it, a JSON with its provenance.

A row is the same thing in memory, in the journal and in the table: what JSON makes of it. A column
that a CSV would not give back as it was ('1', 'NA', lists, numbers among words) has JSON in its
cells, and the provenance names it (``json``).

The JSON is written once, with the table, and stays as it is however the code moves. It describes
the table (``name``, ``place``, ``scale``, ``command``, ``constants``, ``grid``, ``seeds``,
``rows``, ``json``, ``sha256``) and says what ``computed`` it: a hash of the sources (None if they
had changes that no revision has), of a file of one's own alone, the revision, Python, packages,
machine, CPU and wall-clock seconds, when. A table is trusted because ``rlsvi verify`` recomputes
parts of it.

While a sweep runs, finished tasks go to a journal, one line each, flushed to disk at once; a
process killed in mid-line loses that line and no more. Each line has a seal, a hash of it and of
the code and settings it was computed with: what was edited or belongs elsewhere is recomputed.
Only one process may write. When all tasks are in, the journal becomes the CSV and disappears. Files
are written whole, then renamed into place, so that whatever goes wrong leaves what was there.
"""

import io
import json
import os
import platform
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from filelock import FileLock, Timeout

from .. import StudyError
from .experiment import Experiment, Task, as_json
from .sources import PACKAGES, digest, source_hash, study_hash

chosen: ContextVar[Path | None] = ContextVar("chosen", default=None)  # a folder of results


def results_folder() -> Path:
    """The chosen folder, or the nearest one named ``results``, from here upwards."""
    here = Path.cwd()
    nearest = (folder / "results" for folder in (here, *here.parents))
    if folder := chosen.get() or next(filter(Path.is_dir, nearest), None):
        if folder.exists() and not folder.is_dir():
            raise StudyError(
                f"results are stored in a folder; {folder} is a file. Name another "
                f"place with --out."
            )
        return folder
    raise StudyError(
        f"no folder named 'results' in {here} or above it. The stored tables come "
        f"with the project's repository: run inside a clone of it, or name a folder "
        f"with --out."
    )


def path(experiment: Experiment, scale: str, folder: Path | str | None = None) -> Path:
    name = f"{experiment.name}{'' if scale == 'paper' else '.' + scale}.csv"
    return Path(folder or results_folder()) / name


def command(experiment: Experiment, scale: str) -> str:
    return f"rlsvi run {experiment.words or experiment.name} --scale {scale}"


@contextmanager
def _reaching(file: Path) -> Iterator[None]:
    """What the system refuses, in one line."""
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"{file} cannot be reached: {error.strerror or error}. What was stored "
            f"and the runs that are finished are kept; fix that and run the same "
            f"command again, or name another folder with --out."
        ) from error


def write(files: dict[Path, bytes]) -> None:
    """All of them or none; a reader never sees half a file."""
    scratch = {file: file.with_name(file.name + ".part") for file in files}
    before, replaced = {}, []
    try:
        for file, data in files.items():
            with _reaching(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                before[file] = file.read_bytes() if file.is_file() else None
                with scratch[file].open("wb") as stream:
                    stream.write(data)
                    stream.flush()
                    os.fsync(stream.fileno())
        for file in files:
            with _reaching(file):
                os.replace(scratch[file], file)
                replaced.append(file)
    except BaseException:
        for file in replaced:
            _put_back(file, before[file], scratch[file])
        raise
    finally:
        for part in scratch.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _put_back(file: Path, data: bytes | None, scratch: Path) -> None:
    with suppress(OSError):
        if data is None:
            return file.unlink()
        scratch.write_bytes(data)
        os.replace(scratch, file)


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """No other process writes the table meanwhile; who does is named by the journal's first line."""
    lock = FileLock(target.with_suffix(".lock"))
    with _reaching(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:  # an OSError too
            header = next(iter(_lines(target.with_suffix(".journal"))), None)
            holder = header.get("holder") if isinstance(header, dict) else None
            raise StudyError(
                f"{target} is being written by {holder or 'another process'}. Wait "
                f"for it, or use another --out."
            ) from None
    try:
        yield
    finally:
        with suppress(OSError):  # not everywhere may a file in use be removed
            Path(lock.lock_file).unlink()
        lock.release()


# --------------------------------------------------------------------------- a sweep under way


def _lines(journal: Path) -> list[Any]:
    """The content of each line; None if it cannot be read, because a kill cut it short or worse."""

    def said(line: bytes) -> Any:
        with suppress(ValueError, RecursionError):
            return json.loads(line)

    with _reaching(journal), suppress(FileNotFoundError):
        return [said(line) for line in journal.read_bytes().splitlines()]
    return []


def _setting(experiment: Experiment, scale: str) -> dict[str, Any]:
    """What a journal must agree with to be resumed."""
    return {"sources": source_hash(experiment.run), **experiment.scales[scale].settings}


def _print(setting: dict[str, Any]) -> str:
    return digest(as_json(setting).encode())


def _sealed(entry: dict[str, Any], print_: str) -> dict[str, Any]:
    """With a hash of it and of the code and settings it was computed with."""
    return {**entry, "seal": digest((print_ + as_json(entry)).encode())[:16]}


def _kept(journal: Path, setting: dict[str, Any]) -> tuple[dict[str, Any], int] | None:
    """The finished tasks in a journal, and how many of its lines are none: cut short, edited or
    without rows. None if it is of other code or settings."""
    header, *entries = _lines(journal) or [setting]
    if not (isinstance(header, dict) and setting.items() <= header.items()):
        return None
    print_ = _print(setting)

    def whole(entry: Any) -> bool:
        return (
            isinstance(entry, dict)
            and bool(entry.get("rows"))
            and entry
            == _sealed({name: value for name, value in entry.items() if name != "seal"}, print_)
        )

    kept = [entry for entry in entries if whole(entry)]
    return {as_json(entry["task"]): entry for entry in kept}, len(entries) - len(kept)


def finished(experiment: Experiment, scale: str, folder: Path | str | None = None) -> int:
    """How many runs of a sweep are done that has not written its table, or not yet."""
    journal = path(experiment, scale, folder).with_suffix(".journal")
    if not journal.exists():
        return 0
    kept, _ = _kept(journal, _setting(experiment, scale)) or ({}, 0)
    return len(kept)


class Journal:
    """The finished tasks of a sweep under way. Resumes if code and settings are the same.

    A journal of other code or settings, or none of ours, is set aside under another name. A task
    that raised leaves its traceback in the log beside the journal and is due again next time.
    """

    def __init__(
        self,
        experiment: Experiment,
        scale: str,
        folder: Path | str,
        say: Callable[[str], None] = print,
    ):
        setting, target = _setting(experiment, scale), path(experiment, scale, folder)
        self._print = _print(setting)
        self.file, self.log = target.with_suffix(".journal"), target.with_suffix(".errors.log")
        with ExitStack() as held:
            held.enter_context(_alone(target))
            self.done = self._resumed(setting, lambda text: say(f"{experiment.name}: {text}"))
            holder = f"process {os.getpid()} on {socket.gethostname()}, since {_now()}"
            write(
                {
                    self.file: "".join(
                        as_json(entry) + "\n"
                        for entry in ({"holder": holder, **setting}, *self.done.values())
                    ).encode()
                }
            )
            with _reaching(self.file):
                self.log.unlink(missing_ok=True)
                self._stream = held.enter_context(self.file.open("ab"))
            self._held = held.pop_all()
        self._columns = {frozenset(entry["rows"][0]) for entry in self.done.values()}

    def _resumed(self, setting: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
        """The tasks that an earlier process finished; another sweep's are set aside."""
        if found := _kept(self.file, setting):
            done, lost = found
            if lost:
                say(
                    f"{lost} of the lines in {self.file.name} were cut short or edited; those "
                    f"runs are recomputed"
                )
            return done
        aside = next(
            name for n in count(1) if not (name := self.file.with_suffix(f".{n}.journal")).exists()
        )
        with _reaching(self.file):
            self.file.rename(aside)
        say(
            f"the runs kept in {self.file.name} are of other code or settings; they are now in "
            f"{aside.name}"
        )
        return {}

    def has(self, task: Task) -> bool:
        return as_json(task.label) in self.done

    def add(self, task: Task, rows: list[dict], seconds: float) -> None:
        self._columns |= {frozenset(row) for row in rows}
        if len(self._columns) > 1:
            some = frozenset.union(*self._columns) - frozenset.intersection(*self._columns)
            raise StudyError(
                f"all rows of a table must have the same columns; at {task} some have "
                f"and some have not {', '.join(sorted(some))}. Give every row every "
                f"column, None where there is nothing."
            )
        entry = _sealed(
            {"task": task.label, "rows": rows, "seconds": round(seconds, 3)}, self._print
        )
        with _reaching(self.file):
            self._stream.write((as_json(entry) + "\n").encode())
            self._stream.flush()
            os.fsync(self._stream.fileno())
        self.done[as_json(task.label)] = entry

    def failed(self, task: Task, traceback: str) -> None:
        with (
            _reaching(self.log),
            self.log.open("a", encoding="utf-8", errors="backslashreplace") as log,
        ):
            log.write(f"{task}\n{traceback}\n")

    def close(self) -> None:
        with suppress(OSError):  # what the disk refused was said when it did
            self._held.close()


# --------------------------------------------------------------------------- tables


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _revision() -> str:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(PACKAGES["rlsvi_study"]), *words],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")  # or the tree around it is another's
        dirty = git("status", "--porcelain", "--", *map(str, PACKAGES.values()))
        return git("rev-parse", "HEAD") + ("+changes" if dirty else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _who(experiment: Experiment) -> dict[str, Any]:
    """Which code, with which packages, on which machine."""
    packages = ("rlsvi-core", "numpy", "scipy", "numba", "pandas")
    return {
        "sources": source_hash(experiment.run),
        "study": study_hash(experiment.run),
        "revision": _revision(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
        },
    }


def _objects(values: list[Any]) -> np.ndarray:
    return pd.Series(values, dtype=object).to_numpy()


def _read(data: bytes, as_text: Iterable[str] = ()) -> pd.DataFrame:
    """A table, some of whose columns hold JSON. Exact to the last bit since pandas 3.1."""
    table = pd.read_csv(
        io.BytesIO(data),
        low_memory=False,
        converters=dict.fromkeys(as_text, lambda text: [json.loads(text)]),
    )  # a bare null would be made NaN
    return table.assign(**{name: _objects([one for (one,) in table[name]]) for name in as_text})


def _unlike(old: Any, new: Any) -> Any:
    """Where they differ; None and NaN are both an empty cell."""
    return (old != new) & ~(pd.isna(old) & pd.isna(new))


def _survives(values: list[Any]) -> bool:
    """Whether a column comes back as it was from a CSV, where '1' is a number, 'NA' is nothing and
    a text with a carriage return is two lines."""
    text = pd.DataFrame({"value": values}).to_csv(lineterminator="\n")
    with suppress(ValueError):
        back = _read(text.encode())
        return (
            len(back) == len(values)
            and not _unlike(back["value"].to_numpy(dtype=object), _objects(values)).any()
        )
    return False


def save(
    experiment: Experiment,
    scale: str,
    folder: Path | str,
    journal: Journal,
    *,
    command: str,
    wall_seconds: float,
) -> Path:
    """Turn a complete journal into the CSV and its provenance."""
    setting = experiment.scales[scale]
    if missing := [task for task in setting.tasks if not journal.has(task)]:
        raise StudyError(
            f"a table has all its runs; {len(missing)} of {len(setting.tasks)} are "
            f"not in {journal.file}, first {missing[0]}. Run the same command to "
            f"resume."
        )
    entries = [journal.done[as_json(task.label)] for task in setting.tasks]
    rows = [row for entry in entries for row in entry["rows"]]
    table, as_text = pd.DataFrame(rows), []
    for name in table:
        if not _survives(values := [row[name] for row in rows]):
            table[name] = [as_json(value) for value in values]
            as_text.append(name)
    text = table.to_csv(index=False, lineterminator="\n")
    target = path(experiment, scale, folder)
    record = {
        "name": experiment.name,
        "place": experiment.place,
        "scale": scale,
        "command": command,
        **setting.settings,
        "rows": len(table),
        "json": as_text,
        "sha256": digest(text.encode()),
        "computed": {
            **_who(experiment),
            "cpu_seconds": round(sum(entry["seconds"] for entry in entries), 1),
            "wall_seconds": round(wall_seconds, 1),
            "finished": _now(),
        },
    }
    write({target: text.encode(), target.with_suffix(".json"): _text(record)})
    with _reaching(journal.file):
        journal.file.unlink()
    return target


def _text(record: dict[str, Any]) -> bytes:
    return (as_json(record, indent=1) + "\n").encode()


RECORD = {
    "constants": dict,
    "grid": list,
    "seeds": list,
    "rows": int,
    "sha256": str,
    "computed": dict,
}


def _flaw(record: Any) -> str | None:
    """What keeps it from being a table's provenance."""
    if not isinstance(record, dict):
        return f"it holds a {type(record).__name__}"
    if wrong := [name for name, kind in RECORD.items() if not isinstance(record.get(name), kind)]:
        return f"{wrong[0]} is not as it was written"
    if not isinstance(record.get("json", []), list):
        return "json is not as it was written"
    if not isinstance(record["computed"].get("cpu_seconds"), int | float):
        return "computed is not as it was written"
    return None


def provenance(
    experiment: Experiment, scale: str = "paper", folder: Path | str | None = None
) -> dict[str, Any]:
    record = path(experiment, scale, folder).with_suffix(".json")
    if not record.exists():
        raise StudyError(
            f"{experiment.name} has no stored {scale} results: {record.name} is not "
            f"in {record.parent}. Compute them with: {command(experiment, scale)}"
        )
    try:
        with _reaching(record):
            found = json.loads(record.read_bytes())
        flaw = _flaw(found)
    except (ValueError, RecursionError):
        flaw = "it is no JSON"
    if flaw:
        raise StudyError(
            f"{record.name} says where a table came from; it is damaged: {flaw}. "
            f"Restore the files, or recompute with: {command(experiment, scale)}"
        )
    return found


def stored(
    experiment: Experiment, scale: str = "paper", folder: Path | str | None = None
) -> tuple[dict[str, Any], bytes]:
    """Provenance and bytes of a table, refused if they are not as they were written."""
    record, target = provenance(experiment, scale, folder), path(experiment, scale, folder)
    with _reaching(target):
        data = target.read_bytes() if target.exists() else b""
    if digest(data) != record["sha256"]:
        _refuse(
            experiment,
            scale,
            target,
            f"was {'edited or cut short' if data else 'removed'}: its SHA-256 is another",
        )
    return record, data


def _refuse(experiment: Experiment, scale: str, target: Path, wrong: str) -> NoReturn:
    raise StudyError(
        f"{target.name} {wrong}. Restore the files, or recompute with: {command(experiment, scale)}"
    )


def load(
    experiment: Experiment, scale: str = "paper", folder: Path | str | None = None
) -> pd.DataFrame:
    """A stored table, refused if it is not the one its provenance and the experiment describe."""
    (record, data), target = stored(experiment, scale, folder), path(experiment, scale, folder)
    setting, table = experiment.scales[scale], None
    if {name: record[name] for name in setting.settings} != setting.settings:
        _refuse(
            experiment,
            scale,
            target,
            "was computed with other settings than the experiment has now",
        )
    label = {name for task in setting.tasks for name in task.label}
    with suppress(ValueError, KeyError, TypeError):
        table = _read(data, record.get("json", []))
    if table is None or len(table) != record["rows"] or not label <= set(table):
        _refuse(
            experiment,
            scale,
            target,
            f"was edited, though its SHA-256 is right: written were "
            f"{record['rows']} rows with {', '.join(sorted(label))}",
        )
    return table


def current(experiment: Experiment, scale: str, folder: Path | str | None = None) -> bool:
    """Whether the table is stored as today's sources and settings would compute it."""
    try:
        load(experiment, scale, folder)
        computed = provenance(experiment, scale, folder)["computed"]
    except StudyError:
        return False
    return bool(computed.get("sources") == source_hash(experiment.run))


def other_file(experiment: Experiment, scale: str, folder: Path | str | None = None) -> str | None:
    """The user's file that wrote this table, if it is not the present one."""
    try:
        then = provenance(experiment, scale, folder)["command"]
    except StudyError:
        return None
    old, new = (Path(shlex.split(one)[2]).name for one in (then, command(experiment, scale)))
    return None if old == new else old


def stale(experiment: Experiment, scale: str, folder: Path | str | None = None) -> bool:
    """Whether the user's file was edited since it computed the table. Our packages change too often
    for that to be informative; ``rlsvi verify`` is."""
    then = provenance(experiment, scale, folder)["computed"].get("study")
    return then not in (None, study_hash(experiment.run))


class Tables(Mapping[str, pd.DataFrame]):
    """Stored tables by their experiments' names, each read when it is asked for."""

    def __init__(self, experiments: Mapping[str, Experiment]) -> None:
        self._experiments = experiments

    def __getitem__(self, name: str) -> pd.DataFrame:
        return load(self._experiments[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._experiments)

    def __len__(self) -> int:
        return len(self._experiments)


def _labelled(stored: pd.DataFrame, label: dict[str, Any]) -> pd.DataFrame:
    """The rows with this label."""
    rows = np.ones(len(stored), bool)
    for name, value in label.items():
        rows &= ~_unlike(
            stored[name].to_numpy(),
            _objects([value] * len(stored)) if isinstance(value, list) else value,
        )
    return stored[rows]


def differences(stored: pd.DataFrame, task: Task, rows: list[dict]) -> list[str]:
    """Where a recomputed run, or its first share, departs from the stored one, to the last bit."""
    before = _labelled(stored, task.label)
    before = before.head(round(task.share * len(before)))
    if len(before) != len(rows):
        return [f"{task}: {len(before)} rows are stored, {len(rows)} were recomputed"]
    if set(before) != set(rows[0]):
        return [
            f"{task}: columns {', '.join(before)} are stored, {', '.join(rows[0])} were recomputed"
        ]
    found = []
    for column in rows[0]:
        old, new = before[column].to_numpy(dtype=object), _objects([row[column] for row in rows])
        if (other := _unlike(old, new)).any():
            i = other.argmax()
            found.append(
                f"{task}, line {before.index[i] + 2}, {column}: stored {old[i]}, "
                f"recomputed {new[i]}"
            )
    return found


def outside(stored: pd.DataFrame, task: Task, rows: list[dict]) -> list[str]:
    """Where a recomputed run is not even of the stored kind, for one that is not portable.

    It must have the columns and as many rows, and the mean of its column ``reward`` must lie in the
    range of those of the stored seeds of its cell, widened on both sides by its own width.
    """
    cell = {name: value for name, value in task.label.items() if name != "seed"}
    now, others = pd.DataFrame(rows), _labelled(stored, cell)
    n = round(task.share * len(others) / others.seed.nunique())
    if len(now) != n or set(now) != set(stored):
        return [
            f"{task}: {n} rows with {', '.join(stored)} are stored, {len(now)} with "
            f"{', '.join(now)} were recomputed"
        ]
    means = others.groupby("seed").head(n).groupby("seed").reward.mean()
    low, high, mean = means.min(), means.max(), now.reward.mean()
    if not 2 * low - high <= mean <= 2 * high - low:
        return [f"{task}: stored means of reward are from {low:g} to {high:g}, recomputed {mean:g}"]
    return []
