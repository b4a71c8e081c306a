"""Who computes a run: which sources, with which packages, on which machine.

The sources are named by a plain hash of our two packages and of the study's own file. It is coarse
on purpose: any edit gives another hash. A table's record holds it; a journal is resumed, and a
cluster's worker accepted, if theirs is the same; and it seeds the draws of ``rlsvi verify``. It
does not show that a table is right; recomputing its runs does.
"""

import hashlib
import inspect
import os
import platform
import subprocess
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from types import FunctionType
from typing import Any

import rlsvi_core

from .. import StudyError

PACKAGES = {
    "rlsvi_core": Path(rlsvi_core.__file__).parent,
    "rlsvi_study": Path(__file__).parents[1],
}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _function(run: Callable[..., Any]) -> FunctionType:
    """The function itself, without arguments given beforehand and without decorators."""
    while isinstance(run, partial):
        run = run.func
    run = inspect.unwrap(run)
    if not isinstance(run, FunctionType):
        raise StudyError(f"an experiment's run must be a function; it is {run!r}.")
    return run


@cache
def packages_hash() -> str:
    """Of the names and the bytes of every module of both packages, as they were when this process
    first asked: what is edited later, it does not run."""
    found = hashlib.sha256()
    for package, folder in PACKAGES.items():
        for file in sorted(folder.rglob("*.py")):
            name = f"{package}/{file.relative_to(folder).as_posix()}"
            found.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def study_hash(run: Callable[..., Any]) -> str | None:
    """Of the file that holds the function, if that is none of ours; of a function typed into a
    notebook, of its own text; None where neither is available, as on a worker to which the function
    has travelled."""
    function = _function(run)
    file = Path(function.__code__.co_filename).resolve()
    if any(file.is_relative_to(folder) for folder in PACKAGES.values()):
        return ""
    try:
        text = file.read_text("utf8") if file.is_file() else inspect.getsource(function)
    except (OSError, TypeError):
        return None
    return digest(text.encode())[:16]


def source_hash(run: Callable[..., Any]) -> str:
    """Of our packages, and of the study's own file where it is none of ours."""
    study = study_hash(run)
    if study is None:
        raise StudyError(
            f"the source of {_function(run).__name__} cannot be found. Write it in a "
            f"file, or in a notebook as a 'def'."
        )
    return digest((packages_hash() + study).encode())[:16] if study else packages_hash()


def now() -> str:
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


def computed_by(run: Callable[..., Any]) -> dict[str, Any]:
    """Which code, with which packages, on which machine."""
    packages = ("rlsvi-core", "numpy", "scipy", "numba", "pandas")
    return {
        "sources": source_hash(run),
        "study": study_hash(run),
        "revision": _revision(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
        },
    }
