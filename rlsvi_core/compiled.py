"""One decorator for every hot loop: compiled by numba, cached, and never stale.

Numba notices when the file that holds a function changes, but not when a function it calls
from another file does. The cache therefore lives in a folder named after a hash of the
package's whole source: any edit starts a new one.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).parent


def source_hash(files: Iterable[Path]) -> str:
    """A short fingerprint of some of the package's files."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(os.path.relpath(path, PACKAGE).encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _use_own_cache() -> None:
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "rlsvi_core" / source_hash(PACKAGE.rglob("*.py"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # a read-only home: numba falls back to its own choice of folder
        return
    os.environ.setdefault("NUMBA_CACHE_DIR", str(folder))


_use_own_cache()

import numba  # noqa: E402  (reads NUMBA_CACHE_DIR when it is imported)

# No fastmath: results are the same to the last bit on every machine and for any vector width.
jit = numba.njit(cache=True)
