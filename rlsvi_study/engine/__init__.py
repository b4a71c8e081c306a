"""The engine of the studies: what an experiment is, how it is run, and how its table is stored.

Studies, notebooks and the command line import from here; what is not listed is the engine's own.
"""

from .compare import list_differences
from .experiment import (
    Experiment,
    Plot,
    Rows,
    Scale,
    Task,
    define_experiment,
    grid,
    quick_scale,
    streams,
)
from .files import results_folder, table_path, use_results_folder, write_atomically
from .journal import finished
from .provenance import git_revision
from .runner import VerifyResult, run_experiment, verify_table
from .tables import StoredTables, files_edited_since, load_table, read_checked, read_provenance

__all__ = [
    "Experiment",
    "Plot",
    "Rows",
    "Scale",
    "StoredTables",
    "Task",
    "VerifyResult",
    "define_experiment",
    "files_edited_since",
    "finished",
    "git_revision",
    "grid",
    "list_differences",
    "load_table",
    "quick_scale",
    "read_checked",
    "read_provenance",
    "results_folder",
    "run_experiment",
    "streams",
    "table_path",
    "use_results_folder",
    "verify_table",
    "write_atomically",
]
