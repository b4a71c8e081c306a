"""The engine of the studies: what an experiment is, how it is run, and how its table is kept.

Studies, notebooks and the command line import from here; what is not listed is the engine's own.
"""

from .experiment import Experiment, Rows, Scale, Task, grid, streams
from .runner import Check, RunError, sweep, verify
from .store import (
    Tables,
    chosen,
    command,
    current,
    differences,
    finished,
    load,
    other_file,
    path,
    provenance,
    results_folder,
    stale,
    stored,
    write,
)

__all__ = [
    "Check",
    "Experiment",
    "Rows",
    "RunError",
    "Scale",
    "Tables",
    "Task",
    "chosen",
    "command",
    "current",
    "differences",
    "finished",
    "grid",
    "load",
    "other_file",
    "path",
    "provenance",
    "results_folder",
    "stale",
    "stored",
    "streams",
    "sweep",
    "verify",
    "write",
]
