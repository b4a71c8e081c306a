"""Which sources compute a run, as they were when they were loaded.

Of our two packages every module counts. Of a user's study these files count: every ``*.py`` in its
folder and below, and the data that the experiment names. What is installed elsewhere does not, nor
a hidden file or folder, or an environment below. So a study has a folder of its own. In a notebook that is
the working directory, and the text of the function counts with all that it names there.

The hash is plain and coarse on purpose: any edit, of a comment too, gives another. It is taken when
the study is loaded, and what a run uses must not be written before it has ended. So the rows of a
table are of one code, the one whose hash is in its record.
"""

import hashlib
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import invalidate_caches
from pathlib import Path
from types import FunctionType
from typing import Any

import joblib

import rlsvi_core
from rlsvi_core.runtime.checks import fail

from .. import StudyError

PACKAGES = {
    "rlsvi_core": Path(rlsvi_core.__file__).resolve().parent,
    "rlsvi_study": Path(__file__).resolve().parents[1],
}
MOST_FILES = 1000


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


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


@cache
def _content(file: Path, written: tuple[int, int]) -> str:
    return digest(file.read_bytes())[:16]


def _hash(file: Path) -> str:
    """Of what a file holds; it is read again only if it was written again."""
    status = file.stat()
    return _content(file, (status.st_mtime_ns, status.st_size))


def _specs() -> dict[str, Any]:
    """What is imported here, by its file."""
    specs = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    return {getattr(spec, "origin", None) or "": spec for spec in specs}


@dataclass(frozen=True)
class Sources:
    """Hashes of the files of a study, by their names relative to its folder. None: it is ours."""

    folder: Path
    files: dict[str, str]
    study: str = ""  # the file that defines it, unless that is a notebook

    @property
    def hash(self) -> str:
        """Of our packages, and of the study where it is none of ours."""
        own = json.dumps(self.files, sort_keys=True) if self.files else None
        return digest((packages_hash() + own).encode())[:16] if own else packages_hash()

    def with_data(self, data: Iterable[str]) -> "Sources":
        """With these files too, which the runs read."""
        return replace(self, files=self.files | {name: _hash(self.folder / name) for name in data})

    def edited(self) -> list[str]:
        """The files that are in use in this process and hold something else by now, or here. Not
        all need be here: the code of a study may have travelled with its function."""
        other = [
            name
            for name, hash in self.files.items()
            if (self.folder / name).is_file() and _hash(self.folder / name) != hash
        ]
        return [
            name
            for name in other
            if name == self.study or name[-3:] != ".py" or str(self.folder / name) in _specs()
        ]


def _python_files(folder: Path) -> Iterator[Path]:
    for here, below, names in os.walk(folder):
        place = Path(here)
        below[:] = sorted(
            name
            for name in below
            if not name.startswith(".")
            and place / name not in PACKAGES.values()
            and not any((place / name / mark).exists() for mark in ("pyvenv.cfg", "conda-meta"))
        )
        for name in sorted(names):
            if name.endswith(".py") and not name.startswith("."):  # editors keep theirs so
                yield place / name


_seen: dict[Path, tuple[Any, str]] = {}  # of modules, with their specs, which a reload makes anew


def sources_in(folder: Path, study: str = "") -> Sources:
    """A study's modules. One in memory counts as its file was when we first saw it there."""
    specs, files = _specs(), {}
    for file in _python_files(folder):
        spec = specs.get(str(file))
        if spec and _seen.get(file, (None,))[0] is not spec:
            _seen[file] = spec, _hash(file)
        files[file.relative_to(folder).as_posix()] = _seen[file][1] if spec else _hash(file)
        if len(files) > MOST_FILES:
            fail(
                f"every Python file in a study's folder and below counts; {folder} has more than "
                f"{MOST_FILES}. Move the study, and what it imports.",
                StudyError,
            )
    return Sources(folder, files, study)


def sources_of(run: Callable[..., Any], data: Iterable[str] = ()) -> Sources:
    """The sources of a function that was imported, or typed into a notebook."""
    while isinstance(run, partial):
        run = run.func
    run = inspect.unwrap(run)
    if not isinstance(run, FunctionType):
        fail(f"an experiment's run is a function; it is {run!r}. Write one with 'def'.")
    own = Path(run.__code__.co_filename).resolve()
    if any(own.is_relative_to(package) for package in PACKAGES.values()):
        return Sources(own.parent, {})
    if own.is_file():
        return sources_in(own.parent, own.name).with_data(data)
    found = sources_in(Path.cwd()).with_data(data)
    return replace(found, files={"a notebook": _hash_of_typed(run), **found.files})


_beside: list[str] = []  # the folder of the last study
_known: set[str] = set()  # the modules of all studies until now


def import_from(folder: Path) -> None:
    """Let modules be imported that lie in a study's folder, as they are now, and no longer those of
    the last study; from the end of the path, so that a tqdm.py there hides no tqdm."""
    _known.update(map(str, _python_files(folder)))
    for name, module in list(sys.modules.items()):
        if name != "__main__" and getattr(module, "__file__", None) in _known:
            del sys.modules[name]
    sys.path[:] = [place for place in sys.path if place not in _beside]
    _beside[:] = [] if str(folder) in sys.path else [str(folder)]
    sys.path += _beside
    invalidate_caches()


# --------------------------------------------------------------------------- in a notebook


def _text(value: Any, notebook: str) -> str:
    """What a value is: a function of the notebook by its text, all else by its content."""
    value = inspect.unwrap(value)
    try:
        if isinstance(value, FunctionType) and value.__module__ == notebook:
            return inspect.getsource(value)
        if isinstance(value, type) and value.__module__ == notebook:
            return "\n".join(
                f"{name} {_text(part, notebook)}"
                for name, part in vars(value).items()
                if isinstance(part, FunctionType) or not name.startswith("__")
            )
        return str(joblib.hash(value))
    except Exception:  # it cannot be pickled, or a decorator of a class made it
        return type(value).__qualname__


def _hash_of_typed(function: FunctionType) -> str:
    """A hash of the function's text and of what it names in its notebook, by way of others too."""
    try:
        inspect.getsource(function)
    except OSError:
        fail(
            f"a run has a source, so that edits are noticed; none is found of {function.__name__}. "
            "Write it in a file, or in a notebook as a 'def'."
        )
    space = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    texts, due = {}, {"": function}
    while due:
        name, value = due.popitem()
        texts[name] = _text(value, function.__module__)
        words = {*re.findall(r"\w+", texts[name])} & space.keys() - texts.keys()
        due |= {word: space[word] for word in words}
    return digest(json.dumps(texts, sort_keys=True).encode())[:16]
