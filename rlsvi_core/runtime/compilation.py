"""One decorator for every hot loop: compiled by numba, kept for the next process, and compiled again
when something changes that it uses (``machine_code.py``).

Loops are plain, without BLAS and fastmath: the same inputs give the same bits as long as numpy,
numba and the machine are the same, and elsewhere wherever only ``+ − × ÷ √`` and numpy's generators
are used (tables computed on aarch64 were verified on x86_64). Not promised is the last bit of
``exp`` and ``log``, which come from the machine's mathematics library: they enter Boltzmann
exploration, the recommendation engine's answers, and numpy's gamma and beta draws.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
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


def _inline_options() -> dict[str, bool]:
    """Numba's options for a function that is inlined. Counting the references to arrays in records
    would take a quarter of the time. That a function which allocates nothing need not count them is
    an option private to numba; where it has gone, they are counted."""
    options = {"forceinline": True}
    with suppress(ImportError, AttributeError):
        from numba.core.options import DefaultOptions

        if hasattr(DefaultOptions, "_nrt"):
            options["_nrt"] = False
    return options


INLINE_OPTIONS = _inline_options()


def jit(function: Function) -> Function:
    """Compile a function at its first call, and keep the machine code for the next process."""
    compiled: Any = numba.njit(function, **getattr(function, "inlining", {}))
    # What keeps machine code rests on private parts of numba. Where they have moved, every process
    # compiles for itself.
    with suppress(ImportError, AttributeError):
        from .numba_cache import enable_disk_cache

        enable_disk_cache(compiled)
    return compiled  # type: ignore[no-any-return]


def jit_inline(function: Function) -> Function:
    """The same for what every step calls, as a part of its callers. It must not make an array."""
    function.inlining = INLINE_OPTIONS  # type: ignore[attr-defined]
    return jit(function)


class _CompileNotice(event.Listener):  # type: ignore[misc]
    """Prints once, at a terminal only, that the wait is for the compiler, so that logs and
    notebooks do not depend on whether machine code was cached."""

    printed = False

    def on_start(self, event: Any) -> None:
        if not self.printed and "rlsvi" in event.data["dispatcher"].__module__:
            self.printed = True
            print("rlsvi_core: compiling, once (some seconds)", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


if sys.stderr is not None and sys.stderr.isatty():
    event.register("numba:compile", _CompileNotice())
