"""How a recomputed run is compared with the stored one: to the bit, or by the range of the seeds."""

from typing import Any

import numpy as np
import pandas as pd

from .experiment import Rows, Task


def unequal_cells(old: Any, new: Any) -> Any:
    """Where two columns differ; None and NaN are both an empty cell."""
    return (old != new) & ~(pd.isna(old) & pd.isna(new))


def _select_run(stored: pd.DataFrame, label: dict[str, Any]) -> pd.DataFrame:
    """The stored rows with this label."""
    found = np.ones(len(stored), bool)
    for name, value in label.items():
        found &= ~unequal_cells(stored[name].to_numpy(), value)
    return stored[found]


def list_differences(stored: pd.DataFrame, task: Task, rows: Rows) -> list[str]:
    """Where a recomputed run, or its first share, departs from the stored one, to the last bit."""
    before = _select_run(stored, task.label)
    before = before.head(round(task.share * len(before)))
    if len(before) != len(rows):
        return [f"{task}: {len(before)} rows are stored, {len(rows)} were recomputed"]
    if set(before) != set(rows[0]):
        return [
            f"{task}: columns {', '.join(before)} are stored, {', '.join(rows[0])} were recomputed"
        ]
    found = []
    for column in rows[0]:
        old = before[column].to_numpy(dtype=object)
        new = np.array([row[column] for row in rows], dtype=object)
        if (other := unequal_cells(old, new)).any():
            i = other.argmax()
            found.append(
                f"{task}, line {before.index[i] + 2}, {column}: stored {old[i]}, "
                f"recomputed {new[i]}"
            )
    return found


def list_out_of_range(stored: pd.DataFrame, task: Task, rows: Rows) -> list[str]:
    """Where a recomputed run is not even of the stored kind, for one that is not portable.

    It must have the columns and as many rows, and the mean of its column ``reward`` must lie in the
    range of those of the stored seeds of its cell, widened on both sides by its own width.
    """
    cell = {name: value for name, value in task.label.items() if name != "seed"}
    now, others = pd.DataFrame(rows), _select_run(stored, cell)
    n = round(task.share * len(others) / others.seed.nunique())
    if len(now) != n or set(now) != set(stored):
        return [
            f"{task}: {n} rows with {', '.join(stored)} are stored, {len(now)} with "
            f"{', '.join(now)} were recomputed"
        ]
    if "reward" not in now:
        return [f"{task}: not equal, and there is no column reward by which its range is judged"]
    means = others.groupby("seed").head(n).groupby("seed").reward.mean()
    low, high, mean = means.min(), means.max(), now.reward.mean()
    if not 2 * low - high <= mean <= 2 * high - low:
        return [f"{task}: stored means of reward are from {low:g} to {high:g}, recomputed {mean:g}"]
    return []
