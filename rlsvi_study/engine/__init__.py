"""The engine of the studies: what an experiment is, how it is run, and how its table is stored.

Studies, notebooks and the command line import from here; what is not listed is the engine's own.
"""

from .compare import differences
from .experiment import Experiment, Plot, Rows, Scale, Task, grid, quick, streams, table
from .files import path, results_folder, results_in, write
from .journal import finished
from .provenance import revision
from .runner import Check, sweep, verify
from .tables import Tables, edited_since, load, record, stored

__all__ = [
    "Check",
    "Experiment",
    "Plot",
    "Rows",
    "Scale",
    "Tables",
    "Task",
    "differences",
    "edited_since",
    "finished",
    "grid",
    "load",
    "path",
    "quick",
    "record",
    "results_folder",
    "results_in",
    "revision",
    "stored",
    "streams",
    "sweep",
    "table",
    "verify",
    "write",
]
