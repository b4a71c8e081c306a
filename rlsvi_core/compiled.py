"""One decorator for every hot loop: compiled by numba, cached, and never stale.

Numba notices when the file that holds a function changes, but not when a function it calls from
another file does. The machine code of a package that uses the decorator therefore lives in a folder
of its own, named after a hash of this library's whole source and the package's: any edit starts a
new one. The folder applies to these functions only; the cache of a user's own functions is not
touched.

Loops are plain, without BLAS and fastmath: the same inputs give the same bits as long as numpy,
numba and the machine are the same, and elsewhere wherever only ``+ − × ÷ √`` and numpy's generators
are used (tables computed on aarch64 were verified on x86_64). Not promised is the last bit of
``exp`` and ``log``, which come from the machine's mathematics library: they enter Boltzmann
exploration, the recommendation engine's answers, and numpy's gamma and beta draws.
"""

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event
from numba.core.caching import FunctionCache
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Generator = np.random.Generator
Seed = int | Generator | np.random.SeedSequence | None  # what numpy.random.default_rng takes
Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent


@cache
def cache_folder(*packages: Path) -> Path | None:
    """Where the machine code of today's sources is kept; None if no folder can be written."""
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted(package.rglob("*.py")):
            name = path.relative_to(package.parent).as_posix()
            digest.update(name.encode() + b"\0" + path.read_bytes())
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = root / "rlsvi_core" / digest.hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()  # numba would quietly go elsewhere
    except (OSError, RuntimeError):  # a read-only home, or none at all
        return None
    return folder


def _packages(function: Callable[..., Any]) -> list[Path]:
    """The folders of this library and of the package that holds a function."""
    top = sys.modules.get(function.__module__.partition(".")[0])
    where = getattr(top, "__path__", None)
    return [PACKAGE] if not where or Path(where[0]) == PACKAGE else [PACKAGE, Path(where[0])]


class _Cache(FunctionCache):  # type: ignore[misc]
    """A cache that recompiles when a file is truncated, for example by a full disk."""

    def load_overload(self, *wanted: Any) -> Any:
        try:
            return super().load_overload(*wanted)
        except (EOFError, pickle.UnpicklingError):
            self.flush()
            return None


def jit(function: Function) -> Function:
    """Compile a function at its first call, and keep the machine code for the next process."""
    folder = cache_folder(*_packages(function))
    if folder is None:
        return numba.njit(function)  # type: ignore[no-any-return]
    elsewhere = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)  # read when the decorator is applied
    try:
        compiled: Any = numba.njit(cache=True)(function)
        if hasattr(compiled, "_cache"):  # it has none if NUMBA_DISABLE_JIT is set
            compiled._cache = _Cache(function)
        return compiled  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = elsewhere


class _Notice(event.Listener):  # type: ignore[misc]
    """Prints once, at a terminal only, that the wait is for the compiler, so that logs and
    notebooks do not depend on whether machine code was cached."""

    said = False

    def on_start(self, event: Any) -> None:
        if not self.said and "rlsvi" in event.data["dispatcher"].__module__:
            self.said = True
            kept = "kept for the next time" if cache_folder(PACKAGE) else (
                "no folder to keep the result in")
            print(f"rlsvi_core: compiling, once (some seconds; {kept})", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


if sys.stderr is not None and sys.stderr.isatty():
    event.register("numba:compile", _Notice())
