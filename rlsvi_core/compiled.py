"""One decorator for every hot loop: compiled by numba, cached, and never stale.

Numba notices when the file that holds a function changes, but not when a function it calls from
another file does. The machine code of this library therefore lives in a folder of its own, named
after a hash of the library's whole source: any edit starts a new one. The folder is set for our
functions alone; where the user's own functions are cached is the user's business.

Loops are plain, without BLAS and fastmath: the same inputs give the same bits as long as numpy,
numba and the machine are the same, and elsewhere wherever only ``+ − × ÷ √`` and numpy's generators
are used (tables computed on aarch64 were verified on x86_64). Not promised is the last bit of
``exp`` and ``log``, which come from the machine's mathematics library: they enter Boltzmann
exploration, the recommendation engine's answers, and numpy's gamma and beta draws.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
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

PACKAGE = Path(__file__).parent


def cache_folder() -> Path | None:
    """Where the machine code of today's source is kept; None if no folder can be written."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = root / "rlsvi_core" / digest.hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()  # numba would quietly go elsewhere
    except (OSError, RuntimeError):  # a read-only home, or none at all
        return None
    return folder


_FOLDER = cache_folder()


def jit(function: Function) -> Function:
    """Compile a function at its first call, and keep the machine code for the next process."""
    if _FOLDER is None:
        return numba.njit(function)  # type: ignore[no-any-return]
    elsewhere = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_FOLDER)  # read when the decorator is applied
    try:
        return numba.njit(cache=True)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = elsewhere


class _Notice(event.Listener):  # type: ignore[misc]
    """Tells a person at a terminal, once, that the wait is for the compiler. Logs and notebooks
    stay the same whether or not the machine code was there."""

    said = False

    def on_start(self, event: Any) -> None:
        if not self.said and "rlsvi" in event.data["dispatcher"].__module__:
            self.said = True
            kept = "kept for the next time" if _FOLDER else "no folder to keep the result in"
            print(f"rlsvi_core: compiling, once (some seconds; {kept})", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


if sys.stderr is not None and sys.stderr.isatty():
    event.register("numba:compile", _Notice())
