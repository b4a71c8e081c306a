"""Where results lie, and how their files are written: whole, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from .. import StudyError
from .experiment import Experiment

_chosen: ContextVar[Path | None] = ContextVar("chosen", default=None)


@contextmanager
def use_results_folder(folder: Path) -> Iterator[None]:
    """Read and write results in this folder."""
    token = _chosen.set(folder.absolute())
    try:
        yield
    finally:
        _chosen.reset(token)


def results_folder() -> Path:
    """The folder of ``use_results_folder``, or the nearest one named ``results``, from here
    upwards."""
    here = Path.cwd()
    nearest = (folder / "results" for folder in (here, *here.parents))
    folder = _chosen.get() or next(filter(Path.is_dir, nearest), None)
    if folder is None:
        raise StudyError(
            f"no folder named 'results' in {here} or above it. The stored tables come with the "
            f"project's repository: run inside a clone of it, or name a folder with --out."
        )
    return folder


def table_path(experiment: Experiment, scale: str, folder: Path | str | None = None) -> Path:
    """The file of a table."""
    suffix = "" if scale == "paper" else f".{scale}"
    return Path(folder or results_folder()) / f"{experiment.name}{suffix}.csv"


def write_atomically(files: dict[Path, bytes]) -> None:
    """None is replaced before all are on the disk, so a full one leaves what was there, and a
    reader never sees half a file."""
    scratch = {file: file.with_name(file.name + ".part") for file in files}
    try:
        for file, data in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            scratch[file].unlink(missing_ok=True)
            with scratch[file].open("xb") as stream:  # a new file, at no link that somebody left
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        for file in files:
            os.replace(scratch[file], file)
    finally:
        for part in scratch.values():
            with suppress(OSError):
                part.unlink()
