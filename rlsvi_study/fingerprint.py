"""What code stands behind a table: a fingerprint that changes when its meaning can.

It covers the module that holds an experiment's ``run`` and whatever that imports of our two
packages or from its own folder; and what those import, and so on. Of each module the syntax tree
counts, without docstrings: comments, line breaks and the text of explanations may change freely. A
package's ``__init__`` counts where names are imported from it. Claims, drawings and the command
line import the runs, not the other way round: they do not count.

Of a function typed into a notebook, its source counts, and that of everything it names: other
functions, the methods of classes, plain constants, and files of ours or in the notebook's folder.
"""

import ast
import hashlib
import inspect
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from . import StudyError

PACKAGES = {name: Path(find_spec(name).origin).parent for name in ("rlsvi_core", "rlsvi_study")}
Prints = dict[str, str]  # of the meaning of every module that counts


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _meaning(node: Any) -> Any:
    """A syntax tree as plain data, without docstrings and empty fields.

    Python's versions differ in which fields there are, not in those that are filled.
    """
    if isinstance(node, ast.AST):
        return [type(node).__name__, *([name, _meaning(value)] for name, value in
                                       ast.iter_fields(node) if value not in (None, []))]
    if isinstance(node, list):
        return [_meaning(one) for one in node if not (
            isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
            and isinstance(one.value.value, str))]
    return repr(node)


def _print_of(tree: ast.AST) -> str:
    return digest(json.dumps(_meaning(tree)).encode())


def _root(file: Path) -> Path:
    """The folder from which a module is imported: above its outermost package."""
    return next(folder for folder in file.parents if not (folder / "__init__.py").is_file())


def _module(root: Path, parts: list[str]) -> Path | None:
    """The file of a module or of a package."""
    place = root.joinpath(*parts)
    return next((file for file in (place.with_name(place.name + ".py"), place / "__init__.py")
                 if file.is_file()), None)


def _imports(file: Path, tree: ast.AST) -> Iterator[Path | None]:
    """The files a module imports from, as far as they count; None for all others."""
    root = _root(file)

    def home(top: str) -> Path:
        if top in PACKAGES and not (root / top).is_dir():
            return PACKAGES[top].parent
        own = root.name != "site-packages" or top == file.relative_to(root).parts[0]
        return root if own or top in PACKAGES else file  # in a file, nothing is found

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top, *parts = alias.name.split(".")
                yield _module(home(top), [top, *parts])
                if alias.asname is None:  # binds the outermost package: all its names
                    yield _module(home(top), [top])
        elif isinstance(node, ast.ImportFrom):
            parts = node.module.split(".") if node.module else []
            folder = file.parents[node.level - 1] if node.level else home(parts[0])
            for alias in node.names:
                yield _module(folder, [*parts, alias.name]) or _module(folder, parts)


@cache
def _parsed(file: Path, text: bytes) -> tuple[str, frozenset[Path]]:
    """A print of the module's meaning, and the files it imports from."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:  # no Python, or with null bytes
        raise StudyError(f"what a run imports must be Python; {file.name} is not ({error}). Mend "
                         f"it, or take it away.") from error
    return _print_of(tree), frozenset(found.resolve() for found in _imports(file, tree) if found)


def behind(files: Iterable[Path]) -> Prints:
    """The files and all that they import."""
    waiting, found = list(files), {}
    while waiting:
        file = waiting.pop()
        name = file.relative_to(_root(file)).as_posix()
        if name not in found:
            found[name], imported = _parsed(file, file.read_bytes())
            waiting.extend(imported)
    return found


def _typed(name: str, run: FunctionType, found: Prints) -> Iterator[Path]:
    """Take in a function without a file; yields the files of ours behind what it names."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(run)))
    except (OSError, TypeError, SyntaxError) as error:
        raise StudyError(f"the source of {name} cannot be found ({error}). Write it in a file, or "
                         f"in a notebook as a 'def'.") from error
    found[name] = _print_of(tree)
    known = run.__globals__ | inspect.getclosurevars(run).nonlocals
    own = {*run.__code__.co_varnames, *run.__code__.co_cellvars}  # not the notebook's of that name
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for used in names - own - set(found):
        value = known.get(used)
        module = value if isinstance(value, ModuleType) else inspect.getmodule(value)
        file = Path(getattr(module, "__file__", None) or "").resolve()
        if file.is_file() and (module.__name__.split(".")[0] in PACKAGES
                               or file.parent == Path.cwd()):
            yield file
        elif isinstance(value, int | float | str | tuple | list | dict):
            found[used] = repr(value)
        for key, one in (vars(value) if isinstance(value, type) else {"": value}).items():
            label = f"{used}.{key}" if key else used
            place = one.__code__.co_filename if inspect.isfunction(one) else __file__
            generated = key and place == "<string>"  # as some of a dataclass's methods are
            if label not in found and not generated and not Path(place).is_file():
                yield from _typed(label, one, found)


def _plain(run: Callable[..., Any]) -> tuple[FunctionType, Path]:
    """The function itself, without arguments given beforehand and without decorators; its file."""
    while isinstance(run, partial):
        run = run.func
    run = inspect.unwrap(run)
    if not isinstance(run, FunctionType):
        raise StudyError(f"an experiment's run must be a function; it is {run!r}.")
    return run, Path(run.__code__.co_filename).resolve()


def sources(run: Callable[..., Any]) -> Prints:
    """Every module that counts for the function, with a print of its meaning."""
    (function, file), found = _plain(run), {}
    files = [file] if file.is_file() else list(_typed(function.__name__, function, found))
    return dict(sorted((found | behind(files)).items()))


def fingerprint(run: Callable[..., Any]) -> str:
    return digest(json.dumps(sources(run)).encode())[:16]


def departures(run: Callable[..., Any], expected: Prints) -> list[str]:
    """Which sources are other here than where ``expected`` was made: asked by a remote worker.

    A function whose file is not here brought its own code along, but not what it imports of ours.
    """
    if _plain(run)[1].is_file():
        here = sources(run)
    else:
        ours = {name: PACKAGES[top].parent / name for name in expected
                if (top := name.split("/")[0]) in PACKAGES}
        here, expected = behind(ours.values()), {name: expected[name] for name in ours}
    return sorted(name for name in here | expected if here.get(name) != expected.get(name))
