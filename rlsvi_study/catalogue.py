"""Everything there is to run, to judge and to draw, from all topics.

Names are written down here, so that they are known before any topic is imported: a topic costs
seconds to import, and is when something of it is first asked for. A test holds the names to what
the topics define.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

TOPICS = {
    "chain": ("example1", "fig2a", "fig2b", "fig3", "fig4", "fig6", "fig10", "fig11", "fig13",
              "readings"),
    "recommender": ("recommender", "recommender-later", "recommender-readings"),
    "regret": ("theorem1", "theorem1-scale"),
    "tetris": ("fig7", "fig7-tuning", "fig14", "fig14-tuning", "tetris-top-row",
               "tetris-top-row-tuning", "tetris-rules", "tetris-readings", "tetris-variance",
               "tetris-widths", "tetris-schedules", "tetris-games", "tetris-optimism",
               "tetris-buffer", "tetris-known"),
    "extensions": ("incremental", "continual", "bootstrap"),
    "theory": ("theorem1-bound",),
    "conjecture": ("gamble", "toll")}
TOPIC = {name: topic for topic, names in TOPICS.items() for name in names}

# The paper's figures that are not one table each, and the tables they are drawn from.
FIGURES: dict[str, tuple[str, ...]] = {
    "fig1": (), "fig2": ("fig2a", "fig2b"), "fig5": ("fig3", "fig4"), "fig8": ("recommender",),
    "fig9": ("recommender",), "fig12": ("fig13",)}
JUDGES = ("chain.claims", "chain.foundations", "conjecture.claims", "extensions.claims",
          "recommender.claims", "regret.claims", "tetris.claims", "theory.claims")


def _module(name: str) -> Any:
    return import_module(f".{name}", __package__)


class _ByTopic(Mapping[str, Any]):
    """What the topics say under each experiment's name."""

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


def claims() -> dict[str, Any]:
    """The register, filled by all topics, in the paper's order."""
    for name in JUDGES:
        _module(name)
    register = _module("register")
    register.in_the_papers_order()
    return register.REGISTER
