"""Everything that can be run, judged and drawn, from all topics or from a user's own file.

Names are listed here, so that they are available before any topic is imported: a topic takes
seconds to import, and is imported when it is first used. A test holds the names to what
the topics define.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from . import StudyError

TOPICS = {
    "chain": (
        "example1",
        "fig2a",
        "fig2b",
        "fig3",
        "fig3-tabular",
        "fig4",
        "fig6",
        "fig10",
        "fig11",
        "fig13",
        "readings",
    ),
    "recommender": (
        "recommender",
        "recommender-later",
        "recommender-readings",
        "recommender-rivals",
    ),
    "regret": ("theorem1", "theorem1-scale", "theorem1-tuned"),
    "tetris": (
        "fig7",
        "fig7-tuning",
        "fig14",
        "fig14-tuning",
        "tetris-top-row",
        "tetris-top-row-tuning",
        "tetris-rules",
        "tetris-readings",
        "tetris-variance",
        "tetris-widths",
        "tetris-schedules",
        "tetris-top-row-schedules",
        "tetris-discount",
        "tetris-optimism",
        "tetris-buffer",
        "tetris-lspi",
        "tetris-known",
    ),
    "extensions": ("incremental", "continual", "bootstrap"),
    "theory": ("theorem1-bound", "price"),
    "conjecture": ("gamble", "long-gamble", "toll"),
    "tasks": (
        "tasks-control",
        "tasks-epsilon",
        "tasks-boltzmann",
        "tasks-tuning",
        "tasks-rule",
        "tasks-options",
        "tasks-tabular",
        "tasks-tabular-large",
        "tasks-redraw",
        "tasks-deep-sea",
    ),
    "since": ("since-tuning", "since-tabular", "since-linear-tuning", "since-linear"),
}
TOPIC = {name: topic for topic, names in TOPICS.items() for name in names}

# The figures that are not one table each, and the tables they are drawn from.
FIGURES: dict[str, tuple[str, ...]] = {
    "fig1": (),
    "fig2": ("fig2a", "fig2b"),
    "fig5": ("fig3", "fig4"),
    "fig8": ("recommender",),
    "fig9": ("recommender",),
    "fig12": ("fig13",),
    "tasks-curves": ("tasks-control", "tasks-epsilon", "tasks-boltzmann"),
    "tasks-tables": ("tasks-tabular", "tasks-tabular-large"),
}


def _module(name: str) -> Any:
    return import_module(f".{name}", __package__)


class _ByTopic(Mapping[str, Any]):
    """What the topics define under each experiment's name."""

    def __init__(self, module: str, table: str):
        self._module, self._table = module, table

    def __getitem__(self, name: str) -> Any:
        return getattr(_module(f"{TOPIC[name]}.{self._module}"), self._table)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TOPIC)

    def __len__(self) -> int:
        return len(TOPIC)


EXPERIMENTS = _ByTopic("runs", "EXPERIMENTS")
DRAW = _ByTopic("figures", "DRAW")


def drawings(name: str) -> dict[str, tuple[tuple[str, ...], Callable[..., Any]]]:
    """The pictures behind a name: from which tables each is drawn, and how."""
    if name in TOPIC or name == "fig2":
        return {table: ((table,), DRAW[table]) for table in FIGURES.get(name, (name,))}
    topic = TOPIC[FIGURES[name][0]] if FIGURES[name] else "chain"
    return {name: _module(f"{topic}.figures").DRAW_FROM[name]}


class Study(NamedTuple):
    experiments: Mapping[str, Any]
    figures: Mapping[str, tuple[str, ...]]  # other names, and the tables they stand for
    drawn: Collection[str]
    drawings: Callable[[str], dict[str, tuple[tuple[str, ...], Callable[..., Any]]]]


THE_PAPERS = Study(EXPERIMENTS, FIGURES, (*TOPIC, *FIGURES), drawings)


def study(file: Path) -> Study:
    """What a user's own file defines as EXPERIMENTS and DRAW.

    Its module is not kept under a name, so its functions travel to workers with all they use.
    """
    import runpy
    from dataclasses import replace
    from traceback import format_exception_only

    from .engine import Experiment

    sys.path.append(str(file.resolve().parent))  # for what lies beside it; tqdm.py hides no tqdm
    try:
        found = runpy.run_path(str(file.resolve()), run_name=file.stem)
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
        if not isinstance(one, Experiment) or one.name != name or name in TOPIC:
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
    return Study(
        {name: replace(one, words=f"{file.name} {name}") for name, one in experiments.items()},
        {},
        tuple(draw),
        lambda name: {name: ((name,), draw[name])},
    )


def claims() -> dict[str, Any]:
    """The register, filled by all topics, in the paper's order."""
    register = _module("register")
    everything = register.claims_of(*register.TOPICS)
    for id in sorted(everything, key=lambda id: (id[0].isalpha(), id.rsplit(".", 1)[0])):
        register.REGISTER[id] = register.REGISTER.pop(id)  # within a section, as written
    return register.REGISTER
