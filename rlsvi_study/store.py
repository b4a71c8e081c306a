"""Results on disk: a tidy CSV and, beside it, a JSON that says exactly where it came from.

While a sweep runs, finished tasks go to a journal, one line each, flushed to disk at once; a
process killed in mid-line loses that line and no more. When all tasks are in, the journal becomes
the CSV (written whole, then renamed into place) and disappears.
"""

import ast
import hashlib
import inspect
import io
import json
import os
import platform
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from rlsvi_core.compiled import PACKAGE

from .experiment import Experiment, Task


def _imports(file: Path) -> Iterator[Path]:
    """The package's files that a file imports from. All its imports are relative."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for name in (alias.name for alias in node.names):
                places = (home / f"{name}.py", home / name / "__init__.py",
                          home.with_suffix(".py"), home / "__init__.py")
                yield next(place for place in places if place.is_file())


@cache
def _hash_of_all_behind(module: Path) -> str:
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting.extend(_imports(file))
    return _digest(b"".join(path.read_bytes() for path in sorted(found)))[:16]


def code_hash(figure: Experiment) -> str:
    """A fingerprint of the code a figure's runs depend on: its module and all it imports."""
    return _hash_of_all_behind(Path(inspect.getfile(figure.run)).resolve())


class StoreError(Exception):
    """A stored table is missing or is not what its provenance says."""


def results_folder() -> Path:
    """The nearest ``results`` folder, from here upwards."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "results").is_dir():
            return folder / "results"
    raise StoreError(f"no folder named 'results' in {here} or above it. Run inside the project, "
                     f"or name a folder with --out.")


def path(figure: Experiment, scale: str, folder: Path) -> Path:
    return folder / f"{figure.name}{'' if scale == 'paper' else '.' + scale}.csv"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(target: Path, text: str) -> None:
    """All or nothing: a reader never sees half a file."""
    scratch = target.with_name(target.name + ".part")
    scratch.write_text(text, encoding="utf-8", newline="\n")
    os.replace(scratch, target)


class Journal:
    """The finished tasks of a sweep under way. Resumes if code and settings are the same."""

    def __init__(self, figure: Experiment, scale: str, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.file = path(figure, scale, folder).with_suffix(".journal")
        setting = figure.scales[scale]
        header = {"code": code_hash(figure), "constants": setting.constants, "grid": setting.grid,
                  "seeds": [setting.seeds.start, setting.seeds.stop]}
        self.done: dict[str, dict[str, Any]] = {}
        kept = self._read(json.loads(json.dumps(header)))
        _write(self.file, "".join(json.dumps(entry) + "\n" for entry in (header, *kept)))
        self._stream = self.file.open("a", encoding="utf-8", newline="\n")

    def _read(self, header: dict) -> list[dict]:
        if not self.file.exists():
            return []
        entries = []
        for line in self.file.read_text(encoding="utf-8").splitlines():
            try:
                entries.append(json.loads(line))
            except json.JSONDecodeError:  # the line a kill cut short
                break
        if not entries or entries[0] != header:
            return []
        self.done = {json.dumps(entry["task"]): entry for entry in entries[1:]}
        return entries[1:]

    def has(self, task: Task) -> bool:
        return json.dumps(task.label) in self.done

    def add(self, task: Task, rows: list[dict], seconds: float) -> None:
        entry = {"task": task.label, "rows": rows, "seconds": round(seconds, 3)}
        self.done[json.dumps(task.label)] = entry
        self._stream.write(json.dumps(entry) + "\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        self._stream.close()

    def discard(self) -> None:
        self.close()
        self.file.unlink()


def _revision() -> str:
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(PACKAGE), *words], capture_output=True, text=True,
                              check=True).stdout.strip()
    try:
        dirty = git("status", "--porcelain", "--", ".")
        return git("rev-parse", "HEAD") + ("+changes" if dirty else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def save(figure: Experiment, scale: str, folder: Path, journal: Journal, *, command: str,
         wall_seconds: float) -> Path:
    """Turn a complete journal into the CSV and its provenance."""
    setting = figure.scales[scale]
    entries = [journal.done[json.dumps(task.label)] for task in setting.tasks]
    table = pd.DataFrame([row for entry in entries for row in entry["rows"]])
    text = table.to_csv(index=False, lineterminator="\n")
    target = path(figure, scale, folder)
    provenance = {
        "figure": figure.name, "place": figure.place, "scale": scale, "command": command,
        "constants": setting.constants, "grid": setting.grid,
        "seeds": [setting.seeds.start, setting.seeds.stop],
        "rows": len(table), "sha256": _digest(text.encode()),
        "cpu_seconds": round(sum(entry["seconds"] for entry in entries), 1),
        "wall_seconds": round(wall_seconds, 1),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "code": code_hash(figure), "revision": _revision(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("rlsvi-core", "numpy", "numba", "pandas")},
        "machine": {"system": platform.system(), "architecture": platform.machine(),
                    "cores": os.cpu_count()},
    }
    _write(target.with_suffix(".json"), json.dumps(provenance, indent=1) + "\n")
    _write(target, text)
    journal.discard()
    return target


def provenance(figure: Experiment, scale: str = "paper",
               folder: Path | None = None) -> dict[str, Any]:
    record = path(figure, scale, folder or results_folder()).with_suffix(".json")
    if not record.exists():
        raise StoreError(f"{figure.name} has no stored {scale} results ({record.name} is missing). "
                         f"Compute them with: rlsvi run {figure.name} --scale {scale}")
    return json.loads(record.read_text(encoding="utf-8"))


def load(figure: Experiment, scale: str = "paper", folder: Path | None = None) -> pd.DataFrame:
    """A stored table, refused if it is not the one its provenance describes."""
    folder = folder or results_folder()
    record, target = provenance(figure, scale, folder), path(figure, scale, folder)
    if not target.exists():
        raise StoreError(f"{target.name} is missing, though {target.stem}.json describes it. "
                         f"Restore it, or recompute with: rlsvi run {figure.name} --scale {scale}")
    if _digest(data := target.read_bytes()) != record["sha256"]:
        raise StoreError(f"{target.name} is not the table that {target.stem}.json describes (its "
                         f"SHA-256 differs): it was edited or cut short. Restore both files, or "
                         f"recompute with: rlsvi run {figure.name} --scale {scale}")
    return pd.read_csv(io.BytesIO(data))


def differences(stored: pd.DataFrame, task: Task, rows: list[dict]) -> list[str]:
    """Where a recomputed run departs from the stored one, to the last bit; empty if nowhere."""
    mask = pd.Series(True, index=stored.index)
    for name, value in task.label.items():
        mask &= stored[name] == value
    label = ", ".join(f"{name}={value}" for name, value in task.label.items())
    before, now = stored[mask], pd.DataFrame(rows)
    if len(before) != len(now):
        return [f"{label}: {len(before)} rows are stored, {len(now)} were recomputed"]
    if set(before.columns) != set(now.columns):
        return [f"{label}: columns {', '.join(before.columns)} are stored, "
                f"{', '.join(now.columns)} were recomputed"]
    found = []
    for column in now.columns:
        for i in range(len(now)):
            old, new = before[column].iloc[i], now[column].iloc[i]
            if old != new and not (pd.isna(old) and pd.isna(new)):
                found.append(f"{label}, line {before.index[i] + 2}, {column}: "
                             f"stored {old}, recomputed {new}")
                break
    return found
