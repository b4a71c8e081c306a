"""Which sources compute a run, as they were when they were loaded.

Of our two packages every module counts. Of a user's study these files count: every ``*.py`` in its
folder and below, and the data that the experiment names. What is installed elsewhere does not, nor
a hidden folder or an environment below. So a study has a folder of its own. In a notebook that is
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
from typing import Any, NamedTuple

import joblib

import rlsvi_core
from rlsvi_core.checks import fail

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


def _written(file: Path) -> tuple[int, int] | None:
    """When, and how much; None if it is gone."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


class Stamp(NamedTuple):
    """What a file holds, and when that was written: an edit is noticed even if it is undone."""

    hash: str
    written: tuple[int, int] | None  # None for a text that is in no file


@cache
def _content(file: Path, written: tuple[int, int] | None) -> Stamp:
    return Stamp(digest(file.read_bytes())[:16], written)


def _stamp(file: Path) -> Stamp:
    return _content(file, _written(file))


@dataclass(frozen=True)
class Sources:
    """The files of a study that count, by their names relative to its folder. None: it is ours."""

    folder: Path
    files: dict[str, Stamp]
    study: str = ""  # the one that defines it, unless that is a notebook

    @property
    def hashes(self) -> dict[str, str]:
        return {name: stamp.hash for name, stamp in self.files.items()}

    @property
    def hash(self) -> str:
        """Of our packages, and of the study where it is none of ours."""
        own = json.dumps(self.hashes, sort_keys=True) if self.files else None
        return digest((packages_hash() + own).encode())[:16] if own else packages_hash()

    def having(self, data: Iterable[str]) -> "Sources":
        """With these files too, which the runs read."""
        more = {name: _stamp(self.folder / name) for name in data}
        return replace(self, files=self.files | more)

    def touched(self) -> list[str]:
        """The files that were written since they were loaded; of modules, those in use here."""
        return [
            name
            for name, stamp in self.files.items()
            if stamp.written
            and _written(self.folder / name) != stamp.written
            and (name == self.study or name[-3:] != ".py" or str(self.folder / name) in _specs())
        ]

    def others_here(self) -> list[str]:
        """The files that hold something else on this machine, if they are on it: the code of a
        study may have travelled with its function."""

        def here(name: str) -> Path:
            module = name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            return Path(getattr(sys.modules.get(module), "__file__", None) or self.folder / name)

        return [
            name
            for name, stamp in self.files.items()
            if stamp.written and here(name).is_file() and _stamp(here(name)).hash != stamp.hash
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
        yield from (place / name for name in sorted(names) if name.endswith(".py"))


def _specs() -> dict[str, Any]:
    """What is imported here, by its file."""
    specs = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    return {getattr(spec, "origin", None) or "": spec for spec in specs}


_seen: dict[Path, tuple[Any, Stamp]] = {}  # of modules, with their specs, which a reload makes anew


def sources_in(folder: Path, study: str = "") -> Sources:
    """A study's modules. One in memory counts as its file was when we first saw it there."""
    specs, files = _specs(), {}
    for file in _python_files(folder):
        spec = specs.get(str(file))
        if spec and _seen.get(file, (None,))[0] is not spec:
            _seen[file] = spec, _stamp(file)
        files[file.relative_to(folder).as_posix()] = _seen[file][1] if spec else _stamp(file)
        if len(files) > MOST_FILES:
            fail(
                "a study has a folder of its own, since every Python file in it and below counts",
                f"{folder} has more than {MOST_FILES} of them",
                "Move the study, and what it imports.",
                StudyError,
            )
    return Sources(folder, files, study)


def sources_of(run: Callable[..., Any], data: Iterable[str] = ()) -> Sources:
    """The sources of a function that was imported, or typed into a notebook."""
    while isinstance(run, partial):
        run = run.func
    run = inspect.unwrap(run)
    if not isinstance(run, FunctionType):
        fail("an experiment's run must be a function", f"it is {run!r}", "Write one with 'def'.")
    own = Path(run.__code__.co_filename).resolve()
    if any(own.is_relative_to(package) for package in PACKAGES.values()):
        return Sources(own.parent, {})
    if own.is_file():
        return sources_in(own.parent, own.name).having(data)
    found = sources_in(Path.cwd()).having(data)
    return replace(found, files={"a notebook": Stamp(_typed(run), None), **found.files})


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


def _typed(function: FunctionType) -> str:
    """A hash of the function's text and of what it names in its notebook, by way of others too."""
    try:
        inspect.getsource(function)
    except OSError:
        fail(
            "a run has a source, so that edits are noticed",
            f"that of {function.__name__} cannot be found",
            "Write it in a file, or in a notebook as a 'def'.",
        )
    space = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    texts, due = {}, {"": function}
    while due:
        name, value = due.popitem()
        texts[name] = _text(value, function.__module__)
        words = {*re.findall(r"\w+", texts[name])} & space.keys() - texts.keys()
        due |= {word: space[word] for word in words}
    return digest(json.dumps(texts, sort_keys=True).encode())[:16]
