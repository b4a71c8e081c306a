"""Who computes a run: which sources, with which packages, on which machine.

The sources are named by a hash (``sources``). A table's record holds it; a journal is resumed, and a
worker accepted, if theirs is the same; and it seeds the draws of ``rlsvi verify``. It does not show
that a table is right; recomputing its runs does.
"""

import os
import platform
import subprocess
import time
from functools import cache
from importlib.metadata import version
from typing import Any

from .sources import PACKAGES, Sources


def utc_timestamp() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@cache
def git_revision() -> str:
    """The commit of the packages, marked if files of theirs are not as committed: when this process
    first asks, because what is edited or committed while a table is computed is not its code."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(PACKAGES["rlsvi_study"]), *words],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")  # or the tree around it is another's
        dirty = git("status", "--porcelain", "--", *map(str, PACKAGES.values()))
        return git("rev-parse", "HEAD") + ("+changes" if dirty else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def describe_environment(sources: Sources) -> dict[str, Any]:
    """Which code, with which packages, on which machine."""
    packages = ("rlsvi-core", "numpy", "scipy", "numba", "pandas")
    return {
        "sources": sources.hash,
        "files": sources.files,
        "file": sources.study,
        "revision": git_revision(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
        },
    }
