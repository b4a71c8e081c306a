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
def results_in(folder: Path) -> Iterator[None]:
    """Read and write results in this folder."""
    token = _chosen.set(folder.absolute())
    try:
        yield
    finally:
        _chosen.reset(token)


def results_folder() -> Path:
    """The folder of ``results_in``, or the nearest one named ``results``, from here upwards."""
    here = Path.cwd()
    nearest = (folder / "results" for folder in (here, *here.parents))
    folder = _chosen.get() or next(filter(Path.is_dir, nearest), None)
    if folder is None:
        raise StudyError(
            f"no folder named 'results' in {here} or above it. The stored tables come with the "
            f"project's repository: run inside a clone of it, or name a folder with --out."
        )
    if folder.exists() and not folder.is_dir():
        raise StudyError(
            f"results are stored in a folder; {folder} is a file. Name another place with --out."
        )
    return folder


def path(experiment: Experiment, scale: str, folder: Path | str | None = None) -> Path:
    """The file of a table."""
    suffix = "" if scale == "paper" else f".{scale}"
    return Path(folder or results_folder()) / f"{experiment.name}{suffix}.csv"


@contextmanager
def file_errors(file: Path) -> Iterator[None]:
    """What the system refuses, as a StudyError."""
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"{file} cannot be reached: {error.strerror or error}. What was stored and the runs "
            f"that are finished are kept; fix that and run the same command again, or name another "
            f"folder with --out."
        ) from error


def write(files: dict[Path, bytes]) -> None:
    """All of them or none; a reader never sees half a file."""
    scratch = {file: file.with_name(file.name + ".part") for file in files}
    before: dict[Path, bytes | None] = {}
    replaced = []
    try:
        for file, data in files.items():
            with file_errors(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                before[file] = file.read_bytes() if file.is_file() else None
                with scratch[file].open("wb") as stream:
                    stream.write(data)
                    stream.flush()
                    os.fsync(stream.fileno())
        for file in files:
            with file_errors(file):
                os.replace(scratch[file], file)
                replaced.append(file)
    except BaseException:
        for file in replaced:
            _put_back(file, before[file], scratch[file])
        raise
    finally:
        for part in scratch.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _put_back(file: Path, data: bytes | None, scratch: Path) -> None:
    with suppress(OSError):
        if data is None:
            file.unlink()
        else:
            scratch.write_bytes(data)
            os.replace(scratch, file)
