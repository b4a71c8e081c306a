"""Everything that can be run, judged and drawn, from all topics or from a user's own file.

Each topic says in its ``__init__`` what it has. The modules behind that take seconds to import, and
are imported when they are first used. Only ``claims`` imports the judges of all topics, since some
rest on the verdicts of another topic.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from . import (
    StudyError,
    chain,
    conjecture,
    exploration,
    extensions,
    noise,
    recommender,
    regret,
    since,
    tasks,
    tetris,
    theory,
)
from .judging.register import REGISTER, Claim

TOPICS = {
    topic.__name__.rpartition(".")[2]: topic.TOPIC
    for topic in (
        chain,
        recommender,
        regret,
        tetris,
        extensions,
        theory,
        conjecture,
        exploration,
        tasks,
        noise,
        since,
    )
}
TABLES = {name: topic for topic, has in TOPICS.items() for name in has.tables}
FIGURES = {name: tables for has in TOPICS.values() for name, tables in has.figures.items()}
TOPIC = TABLES | {name: topic for topic, has in TOPICS.items() for name in has.figures}


def _module(name: str) -> Any:
    return import_module(f".{name}", __package__)


class _Experiments(Mapping[str, Any]):
    """The experiments of all topics, by name."""

    def __getitem__(self, name: str) -> Any:
        return _module(f"{TABLES[name]}.runs").EXPERIMENTS[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)


EXPERIMENTS = _Experiments()


def drawings(name: str) -> dict[str, tuple[tuple[str, ...], Callable[..., Any]]]:
    """The pictures behind a name: from which tables each is drawn, and how. A name without a
    drawing of its own stands for those of its tables."""
    tables, draw = FIGURES.get(name, (name,)), _module(f"{TOPIC[name]}.figures").DRAW
    if name in draw:
        return {name: (tables, draw[name])}
    return {table: ((table,), draw[table]) for table in tables if table in draw}


class Study(NamedTuple):
    experiments: Mapping[str, Any]
    figures: Mapping[str, tuple[str, ...]]  # other names, and the tables they stand for
    drawn: Collection[str]
    drawings: Callable[[str], dict[str, tuple[tuple[str, ...], Callable[..., Any]]]]


THE_PAPERS = Study(EXPERIMENTS, FIGURES, tuple(TOPIC), drawings)


def study(file: Path) -> Study:
    """What a user's own file defines as EXPERIMENTS and DRAW.

    Its module is not kept under a name, so its functions travel to workers with all they use.
    """
    import runpy
    import shlex
    from dataclasses import replace
    from traceback import format_exception_only

    from .engine import Experiment
    from .engine.sources import import_from, sources_in

    path = file.resolve()
    import_from(path.parent)
    sources = sources_in(path.parent, path.name)  # before: what is edited meanwhile is noticed
    try:
        found = runpy.run_path(str(path), run_name=file.stem)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        *_, last = format_exception_only(error)
        raise StudyError(
            f"{file} must be importable; it raised {last.strip()} Fix that; 'python "
            f"{file}' shows where it is."
        ) from error
    experiments, draw = found.get("EXPERIMENTS"), found.get("DRAW", {})
    if not (isinstance(experiments, dict) and experiments):
        raise StudyError(
            f"{file} must define EXPERIMENTS, a dict of experiments by name; it is "
            f"{experiments!r}. See the beginning of rlsvi_study/engine/experiment.py."
        )
    for name, one in experiments.items():
        if not isinstance(one, Experiment) or one.name != name or name in TABLES:
            raise StudyError(
                f"{file}: EXPERIMENTS must hold each Experiment under its own name, "
                f"which is none of the paper's; {name!r} is {one!s:.60}. Rename it."
            )
    if not (isinstance(draw, dict) and all(map(callable, draw.values()))):
        raise StudyError(
            f"{file}: DRAW must be a dict of functions by experiment's name; it is "
            f"{draw!s:.60}. Write DRAW = {{name: function}}."
        )
    if wrong := [name for name in draw if name not in experiments]:
        raise StudyError(
            f"{file}: DRAW must have names of EXPERIMENTS, {', '.join(experiments)}; "
            f"it has {wrong[0]!r}. Rename it."
        )
    experiments = {
        name: replace(one, words=shlex.join([file.name, name]), loaded=sources.having(one.data))
        for name, one in experiments.items()
    }
    return Study(
        experiments,
        {},
        tuple(draw),
        lambda name: {name: ((name,), draw[name])},
    )


@cache
def claims() -> dict[str, Claim]:
    """The register, filled by all topics, in the paper's order; within a section, as written."""
    for topic in TOPICS:
        if find_spec(f".{topic}.claims", __package__):
            _module(f"{topic}.claims")
    for id in sorted(REGISTER, key=lambda id: (id[0].isalpha(), REGISTER[id].section)):
        REGISTER[id] = REGISTER.pop(id)
    return REGISTER
