"""Everything that can be run, judged and drawn, from all topics or from a user's own file.

Each topic says in its ``__init__`` what it has. The modules behind that take seconds to import, and
are imported when they are first used.
"""

from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import StudyError, chain, conjecture, extensions, lemmas, recommender, regret, tetris
from .beyond import noise

if TYPE_CHECKING:
    from .judging.register import Claim

TOPICS = {  # by their names in this package, such as beyond.noise
    topic.__name__.removeprefix(f"{__package__}."): topic.TOPIC
    for topic in (chain, recommender, regret, tetris, extensions, lemmas, conjecture, noise)
}
TABLES = {name: topic for topic, has in TOPICS.items() for name in has.tables}
FIGURES = {name: tables for has in TOPICS.values() for name, tables in has.figures.items()}


def _import_module(name: str) -> Any:
    return import_module(f".{name}", __package__)


class _Experiments(Mapping[str, Any]):
    """The experiments of all topics, by name."""

    def __getitem__(self, name: str) -> Any:
        return _import_module(f"{TABLES[name]}.experiments").EXPERIMENTS[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)


EXPERIMENTS = _Experiments()


class Study(NamedTuple):
    experiments: Mapping[str, Any]
    figures: Mapping[str, tuple[str, ...]]  # the paper's, and the tables they are drawn from


PAPER_STUDY = Study(EXPERIMENTS, FIGURES)


def load_user_study(file: Path) -> Study:
    """What a user's own file defines as EXPERIMENTS.

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
    experiments = found.get("EXPERIMENTS")
    if not (isinstance(experiments, dict) and experiments):
        raise StudyError(
            f"{file} must define EXPERIMENTS, a dict of tables by name; it is {experiments!r}. "
            f"See the beginning of rlsvi_study/engine/experiment.py."
        )
    for name, one in experiments.items():
        if not isinstance(one, Experiment) or one.name != name or name in TABLES:
            raise StudyError(
                f"{file}: EXPERIMENTS must hold each table under its own name, which is none of "
                f"the paper's; {name!r} is {one!s:.60}. Rename it."
            )
    experiments = {
        name: replace(
            one, cli_name=shlex.join([file.name, name]), loaded=sources.with_data(one.data)
        )
        for name, one in experiments.items()
    }
    return Study(experiments, {})


def load_claims(sections: Collection[str] = ()) -> dict[str, "Claim"]:
    """The claims of these sections of the paper, or all, in its order; within a section, as written."""
    from .judging.register import REGISTER, SECTIONS

    sections = sections or SECTIONS
    for topic, has in TOPICS.items():
        if not set(sections).isdisjoint(has.claims):
            _import_module(f"{topic}.claims")
    if "1" in sections:
        _import_module("overall")
    return {
        id: claim
        for section in SECTIONS
        for id, claim in REGISTER.items()
        if claim.section == section in sections
    }
