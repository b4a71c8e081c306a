"""Which sources compute a run, as they were when they were loaded.

Of our two packages every module counts. Of a user's study these files count: its own, every module
below its folder that it imports (by way of others and inside functions too), and the data that the
experiment names. What nobody imports does not, so several studies can share a folder; nor does what
is installed elsewhere. Of a function typed into a notebook count its text and what it uses of the
notebook, functions and values, and the modules among that below the working directory.

The hash is plain and coarse on purpose: any edit, of a comment too, gives another. It is taken when
the study is loaded, and the files must not be touched before a run has ended, wherever it runs. So
the rows of a table are of one code, the one whose hash is in its record.
"""

import hashlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib import invalidate_caches
from modulefinder import ModuleFinder
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import rlsvi_core

from .. import StudyError

PACKAGES = {
    "rlsvi_core": Path(rlsvi_core.__file__).parent,
    "rlsvi_study": Path(__file__).parents[1],
}


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


class Stamp(NamedTuple):
    """What a file holds, and when that was written: an edit is noticed even if it is undone."""

    hash: str
    written: tuple[int, int] | None  # None for a text that is in no file


def _written(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _stamp(file: Path) -> Stamp:
    written = _written(file)  # before it is read: an edit in between is noticed later
    try:
        return Stamp(digest(file.read_bytes())[:16], written)
    except OSError as error:
        raise StudyError(
            f"a study's files must be readable; {file} is not: {error.strerror}. Correct its name "
            f"in the experiment's data, or put it there."
        ) from error


@dataclass(frozen=True)
class Sources:
    """The files of a study that count, by their names relative to its folder. None: it is ours."""

    folder: Path
    files: dict[str, Stamp]

    @property
    def hashes(self) -> dict[str, str]:
        return {name: stamp.hash for name, stamp in self.files.items()}

    @property
    def hash(self) -> str:
        return digest(json.dumps(self.hashes, sort_keys=True).encode())[:16] if self.files else ""

    def touched(self) -> list[str]:
        """The files that were written since they were loaded."""
        return [
            name
            for name, stamp in self.files.items()
            if stamp.written and _written(self.folder / name) != stamp.written
        ]

    def others_here(self) -> list[str]:
        """The files that hold something else on this machine, if they are on it: the code of a
        study may have travelled with its function."""

        def here(name: str) -> Path:
            module = sys.modules.get(_module(name))
            return Path(getattr(module, "__file__", None) or self.folder / name)

        return [
            name
            for name, stamp in self.files.items()
            if stamp.written and here(name).is_file() and _stamp(here(name)).hash != stamp.hash
        ]

    def import_anew(self) -> None:
        """Let a worker of a cluster import what lies beside the study, if it is there, and not keep
        what another version of it has imported."""
        _import_from(self.folder)
        for name in self.files:
            sys.modules.pop(_module(name), None)
        invalidate_caches()

    def refuse_unseen(self, before: Collection[str]) -> None:
        """Of the modules imported since, all below the folder must count. One whose name is computed
        by what imports it does not."""
        new = (getattr(sys.modules[name], "__file__", None) for name in sys.modules.keys() - before)
        below = [Path(file) for file in new if file and _is_studys(Path(file), self.folder)]
        unseen = {_relative(file, self.folder) for file in below} - self.files.keys()
        if self.files and unseen:
            raise StudyError(
                f"what a study imports must be named where it is imported, so that edits are "
                f"noticed; that does not hold of {', '.join(sorted(unseen))}. Write 'import', or "
                f"name it in the experiment's data."
            )


_beside: list[str] = []  # the folder of the last study
_loaded: set[Path] = set()  # the files of all studies that were loaded


def _import_from(folder: Path) -> None:
    """Let modules be imported that lie in a study's folder, and no longer those of the last study;
    from the end of the path, so that a tqdm.py there hides no tqdm."""
    sys.path[:] = [place for place in sys.path if place not in _beside]
    _beside[:] = [] if str(folder) in sys.path else [str(folder)]
    sys.path += _beside


def about_to_load(file: Path) -> Sources:
    """What a study's file is going to be loaded from, when it can import what lies beside it. The
    modules of other studies are forgotten: this one may have others of the same names, and their
    files may have been edited since."""
    files = list(modules_of(file, file.parent).values())
    _import_from(file.parent)
    for name, module in list(sys.modules.items()):
        if name != "__main__" and Path(getattr(module, "__file__", None) or "") in _loaded:
            del sys.modules[name]
    invalidate_caches()
    _loaded.update(files)
    return Sources(file.parent, {_relative(one, file.parent): _stamp(one) for one in files})


def source_hash(sources: Sources) -> str:
    """Of our packages, and of the study where it is none of ours."""
    return (
        digest((packages_hash() + sources.hash).encode())[:16] if sources.files else packages_hash()
    )


# --------------------------------------------------------------------------- which files count


def _relative(file: Path, folder: Path) -> str:
    return Path(os.path.relpath(file, folder)).as_posix()


def _module(name: str) -> str:
    """The module that a file is imported as."""
    return name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def _is_ours(file: Path) -> bool:
    return any(file.is_relative_to(folder) for folder in PACKAGES.values())


def _is_studys(place: Path, folder: Path) -> bool:
    """Whether it lies below the study's folder and is not an environment there, such as .venv."""
    installed = [
        prefix
        for prefix in map(Path, (sys.prefix, sys.base_prefix))
        if not folder.is_relative_to(prefix)
    ]
    return (
        place.is_relative_to(folder)
        and not any(place.is_relative_to(prefix) for prefix in installed)
        and not _is_ours(place)
    )


def modules_of(file: Path, folder: Path, name: str = "__main__") -> dict[str, Path]:
    """The file, and the modules below the folder that it imports, by their names."""
    places = [folder, *(Path(place) for place in sys.path if _is_studys(Path(place), folder))]
    finder = ModuleFinder(list(map(str, places)), excludes=list(PACKAGES))
    try:
        finder.run_script(str(file))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise StudyError(
            f"{file} and what it imports must be readable as Python; it raised "
            f"{type(error).__name__}: {error}. Fix that; 'python {file}' shows where it is."
        ) from error
    del finder.modules["__main__"]
    found = {other: getattr(one, "__file__", None) for other, one in finder.modules.items()}
    return {name: file} | {other: Path(path) for other, path in found.items() if path}


_modules: dict[Path, tuple[Any, Stamp]] = {}  # with their specs, which a reload makes anew
_functions: WeakKeyDictionary[FunctionType, dict[Path, Stamp]] = WeakKeyDictionary()


def _as_loaded(name: str, file: Path) -> Stamp:
    """What a module in memory was made of when we first saw it; of one that is not there, what its
    file holds now."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if spec is None or not spec.origin or Path(spec.origin).resolve() != file.resolve():
        return _stamp(file)
    if file not in _modules or _modules[file][0] is not spec:
        _modules[file] = spec, _stamp(file)
    return _modules[file][1]


def _stamps(file: Path, folder: Path, name: str = "__main__") -> dict[Path, Stamp]:
    return {one: _as_loaded(name, one) for name, one in modules_of(file, folder, name).items()}


def _function(run: Callable[..., Any]) -> FunctionType:
    """The function itself, without arguments given beforehand and without decorators."""
    while isinstance(run, partial):
        run = run.func
    run = inspect.unwrap(run)
    if not isinstance(run, FunctionType):
        raise StudyError(f"an experiment's run must be a function; it is {run!r}.")
    return run


def sources_of(
    run: Callable[..., Any], data: Collection[str] = (), file: Path | None = None
) -> Sources:
    """The sources of a function, and of the study's file that runs it, if there is one."""
    function = _function(run)
    own = Path(function.__code__.co_filename).resolve()
    folder = file.parent if file else own.parent if own.is_file() else Path.cwd()
    stamps = _stamps(file, folder) if file else {}
    texts = {}
    if not own.is_file():
        text, roots = _typed(function, folder)
        texts["a notebook"] = Stamp(digest(text.encode())[:16], None)
        for name, root in roots.items():
            stamps |= _stamps(root, folder, name)
    elif own not in stamps and not _is_ours(own):
        if function not in _functions:
            _functions[function] = _stamps(own, own.parent, function.__module__)
        stamps |= _functions[function]
    stamps |= {folder / name: _stamp(folder / name) for name in data}
    return Sources(folder, texts | {_relative(one, folder): stamps[one] for one in sorted(stamps)})


# --------------------------------------------------------------------------- in a notebook


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _used(function: FunctionType) -> dict[str, Any]:
    """What a function uses of its notebook, by name; by way of other functions and classes too."""
    found: dict[str, Any] = {}
    due = [function]
    while due:
        one = due.pop()
        near = zip(one.__code__.co_freevars, map(_content, one.__closure__ or ()), strict=True)
        space = one.__globals__ | dict(near)
        names = {*_names(one.__code__), *one.__code__.co_freevars}
        for name in (names & space.keys()) - found.keys():
            value = found[name] = inspect.unwrap(space[name])
            parts = vars(value).values() if isinstance(value, type) else [value]
            due += [
                part
                for part in parts
                if isinstance(part, FunctionType) and part.__globals__ is function.__globals__
            ]
    return found


def _text(value: Any, space: dict[str, Any]) -> str:
    """What a value of a notebook is, in words: a function by its text, numbers by themselves."""
    value = inspect.unwrap(value)
    if isinstance(value, FunctionType) and value.__globals__ is space:
        try:
            return inspect.getsource(value)
        except (OSError, TypeError):  # a decorator of a class made it
            return value.__code__.co_code.hex()
    if isinstance(value, type) and value.__module__ == space["__name__"]:
        return "\n".join(
            f"{name} {_text(part, space)}"
            for name, part in vars(value).items()
            if isinstance(inspect.unwrap(part), FunctionType) or not name.startswith("__")
        )

    def other(part: Any) -> Any:
        return digest(part.tobytes()) if hasattr(part, "tobytes") else type(part).__qualname__

    try:
        return json.dumps(value, default=other, skipkeys=True)
    except (ValueError, RecursionError):  # it contains itself
        return other(value)


def _typed(function: FunctionType, folder: Path) -> tuple[str, dict[str, Path]]:
    """The text of a function and of what it uses of its notebook, and the modules among that."""
    used = _used(function)
    try:
        texts = [inspect.getsource(function)]
    except (OSError, TypeError) as error:
        raise StudyError(
            f"the source of {function.__name__} cannot be found. Write it in a file, or in a "
            f"notebook as a 'def'."
        ) from error
    texts += [f"{name} {_text(used[name], function.__globals__)}" for name in sorted(used)]
    modules = {
        value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", None))
        for value in used.values()
    }
    files = {name: getattr(sys.modules.get(name), "__file__", None) for name in sorted(modules)}
    return "\n".join(texts), {
        name: Path(file) for name, file in files.items() if file and _is_studys(Path(file), folder)
    }
