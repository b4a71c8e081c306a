"""One decorator for every hot loop: compiled by numba, kept for the next process, and compiled again
when a source changes.

Loops are plain, without BLAS and fastmath: the same inputs give the same bits as long as numpy,
numba and the machine are the same, and elsewhere wherever only ``+ − × ÷ √`` and numpy's generators
are used (tables computed on aarch64 were verified on x86_64). Not promised is the last bit of
``exp`` and ``log``, which come from the machine's mathematics library: they enter Boltzmann
exploration, the recommendation engine's answers, and numpy's gamma and beta draws.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Generator = np.random.Generator
Seed = int | Generator | np.random.SeedSequence | None  # what numpy.random.default_rng takes
Function = TypeVar("Function", bound=Callable[..., Any])


def _inlining() -> dict[str, bool]:
    """Numba's options for a function that is inlined. Counting the references to arrays in records
    would take a quarter of the time. That a function which allocates nothing need not count them is
    an option private to numba; where it has gone, they are counted."""
    options = {"forceinline": True}
    with suppress(ImportError, AttributeError):
        from numba.core.options import DefaultOptions

        if hasattr(DefaultOptions, "_nrt"):
            options["_nrt"] = False
    return options


INLINING = _inlining()


@cache
def _folder(package: str) -> str:
    """Where machine code is kept: numba does not see when a function changes in another file that
    one calls, so all sources of this package and of the function's name a folder. None: nowhere."""
    found = hashlib.sha256()
    for name in sorted({"rlsvi_core", package}):
        file = getattr(sys.modules.get(name), "__file__", None)
        for source in (
            sorted(Path(file).parent.rglob("*.py")) if file and "." not in package else ()
        ):
            found.update(source.read_bytes())
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "rlsvi_core" / found.hexdigest()[:16]
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return str(folder) if os.access(folder, os.W_OK) else ""


def jit(function: Function) -> Function:
    """Compile a function at its first call, and keep the machine code for the next process."""
    folder = _folder(function.__module__.partition(".")[0])
    usual = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = folder
    try:
        kept = bool(folder) and os.path.exists(function.__code__.co_filename)
        return numba.njit(function, cache=kept, **getattr(function, "inlining", {}))  # type: ignore
    finally:
        numba.config.CACHE_DIR = usual


def inlined(function: Function) -> Function:
    """The same for what every step calls, as a part of its callers. It must not make an array."""
    function.inlining = INLINING  # type: ignore[attr-defined]
    return jit(function)


class _Notice(event.Listener):  # type: ignore[misc]
    """Prints once, at a terminal only, that the wait is for the compiler, so that logs and
    notebooks do not depend on whether machine code was cached."""

    said = False

    def on_start(self, event: Any) -> None:
        if not self.said and "rlsvi" in event.data["dispatcher"].__module__:
            self.said = True
            print("rlsvi_core: compiling, once (some seconds)", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


if sys.stderr is not None and sys.stderr.isatty():
    event.register("numba:compile", _Notice())
