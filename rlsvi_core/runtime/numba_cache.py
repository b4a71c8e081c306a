"""Machine code kept in files for the next process, until something changes that it was made of.

Numba notices when the file that holds a function changes, but not when a function it calls from
another file does; and it compiles a whole file again for a comment. Here machine code is kept under
a fingerprint of the function, which covers its code and every global it uses: numbers, text, arrays
and tuples of them, the fields of records, the compiled functions that it calls, and all of these in
a module that it names. So an edit compiles again just what it changes. Other things, such as a
list, are covered by their name alone. The cache of a user's own functions is not touched.

This rests on private parts of numba, and nothing else does.
"""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import CodeType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator


@cache
def fingerprint(function: Callable[..., Any]) -> str:
    """Return a hash of a function's code, of what it encloses and of the globals it uses, which
    must be defined above it."""
    found: list[Any] = [_global_key(cell.cell_contents) for cell in function.__closure__ or ()]
    found.append(getattr(function, "inlining", {}))
    codes = [function.__code__]
    for code in codes:
        inner = [one for one in code.co_consts if isinstance(one, CodeType)]
        constants = [one for one in code.co_consts if one not in (*inner, function.__doc__)]
        codes += inner
        found += [code.co_code, code.co_varnames, code.co_names, constants]
        used = [name for name in code.co_names if name in function.__globals__]
        found += [(name, _global_key(function.__globals__[name], code.co_names)) for name in used]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def _global_key(value: Any, names: tuple[str, ...] = ()) -> Any:
    """Return what compiled code takes from a global; of a module, what has one of the names."""
    if hasattr(value, "py_func"):  # compiled too
        return fingerprint(value.py_func)
    if isinstance(value, ModuleType):
        used = [name for name in names if hasattr(value, name)]
        inner = tuple(name for name in names if name not in used)
        return value.__name__, [(name, _global_key(getattr(value, name), inner)) for name in used]
    if isinstance(value, tuple):  # perhaps a record
        return getattr(value, "_fields", ()), [_global_key(one) for one in value]
    if hasattr(value, "_fields"):  # a kind of record
        return value._fields
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.str, value.shape, value.tobytes()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    return getattr(value, "__name__", type(value).__name__)  # nothing of ours


def _record_fields(kinds: Any) -> list[tuple[str, ...]]:
    """Return the order of the fields in all records among some types: compiled code has only
    places."""
    records = [kind for kind in kinds if isinstance(kind, numba.types.BaseNamedTuple)]
    return [fields for one in records for fields in (one.fields, *_record_fields(one.types))]


class _Locator(_CacheLocator):  # type: ignore[misc]
    """The files of a function, named by its fingerprint."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._fingerprint = fingerprint(function)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "_Locator":
        return cls(function)

    def get_cache_path(self) -> str:
        root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        return os.path.join(root, "rlsvi_core")

    def get_source_stamp(self) -> str:
        return self._fingerprint

    def get_disambiguator(self) -> str:
        return self._fingerprint[:16]


class _Files(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_Locator]  # noqa: RUF012, numba's own


class _Cache(FunctionCache):  # type: ignore[misc]
    """A cache that costs time when it fails, and nothing else: files may be cut short by a full
    disk, name a record that has moved to another module, or be those of another numba, and there
    may be no folder that can be written."""

    _impl_class = _Files

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        """Return a key without numba's own hash of what a function encloses, which differs between
        processes if that is compiled; the fingerprint covers it."""
        return signature, codegen.magic_tuple(), tuple(_record_fields(signature))

    def load_overload(self, *wanted: Any) -> Any:
        try:
            return super().load_overload(*wanted)
        except Exception:
            with suppress(Exception):
                self.flush()
            return None

    def save_overload(self, *compiled: Any) -> None:
        with suppress(Exception):
            super().save_overload(*compiled)


def enable_disk_cache(compiled: Any) -> None:
    """Keep a compiled function's machine code."""
    compiled._cache = _Cache(compiled.py_func)
