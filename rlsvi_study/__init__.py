"""The paper's studies: what is computed, judged and drawn, one folder per topic."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class StudyError(Exception):
    """Something is missing or in the way; the message says what, and how to fix it."""


class Topic(NamedTuple):
    """What a topic offers, in order. Its ``__init__`` says it, because its modules take seconds to
    import: ``experiments`` has one for each table, ``claims`` a judge for each claim."""

    tables: tuple[str, ...] = ()
    figures: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # of the paper: from which tables
    claims: tuple[str, ...] = ()  # the sections of the paper that it has claims of
