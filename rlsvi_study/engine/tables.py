"""Stored tables: a tidy CSV and, beside it, a JSON that records its provenance.

A row is the same thing in memory, in the journal and in the table. A column that a CSV would not
give back as it was ('1' or 'NA' among texts, words among numbers) is refused.

The record is written once, with the table, and stays as it is however the code moves. It describes
the table (``name``, ``place``, ``scale``, ``command``, ``constants``, ``grid``, ``seeds``,
``rows``, ``sha256``) and says what ``computed`` it: a hash of the sources, the files of a study of
one's own, the revision, Python, packages, machine, CPU and wall-clock seconds, when. A table is
trusted because ``rlsvi verify`` recomputes parts of it.
"""

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import StudyError
from .compare import unequal_cells
from .experiment import Experiment, Rows, to_json_text
from .files import table_path, write_atomically
from .provenance import describe_environment, utc_timestamp
from .sources import digest

RECORD_FIELDS = {"command", "constants", "grid", "seeds", "rows", "sha256", "computed"}


def _parse_csv(data: bytes) -> pd.DataFrame:
    """Exact to the last bit since pandas 3.1."""
    return pd.read_csv(io.BytesIO(data), low_memory=False)


def rows_to_csv(rows: Rows) -> bytes:
    """The rows as a CSV, refused if it would not give them back."""
    table, data, back = pd.DataFrame(rows), b"", pd.DataFrame()
    with suppress(ValueError):
        data = table.to_csv(index=False, lineterminator="\n").encode()
        back = _parse_csv(data)
    for name in table:
        values = np.array([row.get(name) for row in rows], dtype=object)
        if (
            len(back) != len(rows)
            or name not in back
            or unequal_cells(back[name].to_numpy(dtype=object), values).any()
        ):
            raise StudyError(
                f"a table is a CSV; its column {name!r} would not come back as it was. Let it hold "
                f"numbers alone, or texts that read as no number and no missing value (not '1', "
                f"'NA', '')."
            )
    return data


def _study_location(experiment: Experiment, scale: str, folder: Path | str | None) -> str:
    """A hash of where the study's file lies, seen from the table: so no folder of a machine is
    named."""
    sources, target = experiment.sources, table_path(experiment, scale, folder)
    where = os.path.relpath(sources.folder / sources.study, target.parent)
    return digest(Path(where).as_posix().encode())[:16]


def save_table(
    experiment: Experiment,
    scale: str,
    folder: Path | str,
    runs: list[dict[str, Any]],
    *,
    command: str,
    wall_seconds: float,
) -> Path:
    """Write the table of all its runs, and its provenance."""
    rows = [row for run in runs for row in run["rows"]]
    data, target = rows_to_csv(rows), table_path(experiment, scale, folder)
    record = {
        "name": experiment.name,
        "place": experiment.place,
        "scale": scale,
        "command": command,
        **experiment.scales[scale].settings,
        "rows": len(rows),
        "sha256": digest(data),
        "computed": {
            **describe_environment(experiment.sources),
            "place": _study_location(experiment, scale, folder),
            "cpu_seconds": round(sum(run["seconds"] for run in runs), 1),
            "wall_seconds": round(wall_seconds, 1),
            "finished": utc_timestamp(),
        },
    }
    write_atomically(
        {target: data, target.with_suffix(".json"): f"{to_json_text(record, indent=1)}\n".encode()}
    )
    return target


def _restore_hint(experiment: Experiment, scale: str) -> str:
    return f"Restore the files, or recompute with: {experiment.command_line(scale)}"


def read_provenance(
    experiment: Experiment, scale: str = "paper", folder: Path | str | None = None
) -> dict[str, Any]:
    """The provenance of a stored table."""
    file = table_path(experiment, scale, folder).with_suffix(".json")
    if not file.exists():
        raise StudyError(
            f"{experiment.name} has no stored {scale} results: {file.name} is not in "
            f"{file.parent}. Compute them with: {experiment.command_line(scale)}"
        )
    try:
        found: dict[str, Any] = json.loads(file.read_bytes())
        whole = found.keys() >= RECORD_FIELDS and "cpu_seconds" in found["computed"]
    except (ValueError, AttributeError):  # no JSON, or no dict
        whole = False
    if not whole:
        raise StudyError(
            f"{file.name} says where a table came from; it is damaged. "
            f"{_restore_hint(experiment, scale)}"
        )
    return found


def read_checked(
    experiment: Experiment, scale: str = "paper", folder: Path | str | None = None
) -> tuple[dict[str, Any], bytes]:
    """Provenance and bytes of a table, refused if they are not as they were written."""
    found, file = read_provenance(experiment, scale, folder), table_path(experiment, scale, folder)
    data = file.read_bytes() if file.exists() else b""
    if digest(data) != found["sha256"]:
        damage = "edited or cut short" if data else "removed"
        raise StudyError(
            f"{file.name} was {damage}: its SHA-256 is another. {_restore_hint(experiment, scale)}"
        )
    return found, data


def load_table(
    experiment: Experiment, scale: str = "paper", folder: Path | str | None = None
) -> pd.DataFrame:
    """A stored table, refused if it is not the one its provenance and the experiment describe."""
    found, data = read_checked(experiment, scale, folder)
    file, setting = table_path(experiment, scale, folder), experiment.scales[scale]
    if {name: found[name] for name in setting.settings} != setting.settings:
        raise StudyError(
            f"{file.name} was computed with other settings than the experiment has now. "
            f"{_restore_hint(experiment, scale)}"
        )
    return _restore_none(_parse_csv(data), [task.label for task in setting.tasks])


def _restore_none(table: pd.DataFrame, labels: Rows) -> pd.DataFrame:
    """None comes back as None in an axis, and among texts and truth values; a column of measured
    numbers has NaN for it, as pandas does."""
    for name in table:
        axis = any(name in label and label[name] is None for label in labels)
        if table[name].isna().any() and (axis or table[name].dtype.kind not in "if"):
            column = table[name].astype(object)
            table[name] = column.where(column.notna(), None)
    return table


def is_table_current(experiment: Experiment, scale: str, folder: Path | str | None = None) -> bool:
    """Whether the table is stored as today's sources and settings would compute it."""
    try:
        load_table(experiment, scale, folder)
    except StudyError:
        return False
    computed = read_provenance(experiment, scale, folder)["computed"]
    return bool(computed.get("sources") == experiment.sources.hash)


def files_edited_since(
    experiment: Experiment, scale: str, folder: Path | str | None = None
) -> list[str]:
    """The user's files that were edited since they computed the table. Our packages change too often
    for that to be informative; ``rlsvi verify`` is."""
    then = read_provenance(experiment, scale, folder)["computed"].get("files", {})
    now = experiment.sources.files
    return sorted(name for name in {*then, *now} if then and then.get(name) != now.get(name))


def other_study_file(
    experiment: Experiment, scale: str, folder: Path | str | None = None
) -> str | None:
    """The user's file that wrote this table, if it is not the present one."""
    try:
        then = read_provenance(experiment, scale, folder)["computed"]
    except StudyError:
        return None
    here = then.get("place") == _study_location(experiment, scale, folder)
    return None if here else then.get("file")


class StoredTables(Mapping[str, pd.DataFrame]):
    """Stored tables by their experiments' names, each read when it is asked for."""

    def __init__(self, experiments: Mapping[str, Experiment]) -> None:
        self._experiments = experiments

    def __getitem__(self, name: str) -> pd.DataFrame:
        return load_table(self._experiments[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._experiments)

    def __len__(self) -> int:
        return len(self._experiments)
