"""Which sources compute a run: a plain hash of our two packages and of the study's own file.

It is coarse on purpose: any edit gives another hash. A table's provenance names it; a journal is
resumed, and a cluster's worker accepted, if theirs is the same; and it seeds the draws of ``rlsvi
verify``. It does not show that a table is right; recomputing its runs does.
"""

import hashlib
import inspect
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

from .. import StudyError

PACKAGES = {name: Path(find_spec(name).origin).parent for name in ("rlsvi_core", "rlsvi_study")}


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


def packages_hash() -> str:
    """Of the names and the bytes of every module of both packages."""
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
