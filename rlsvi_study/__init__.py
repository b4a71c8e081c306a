"""The paper's studies: what is computed, judged and drawn, one folder per topic."""

import ast
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class StudyError(Exception):
    """Something is missing or in the way; the message says what, and how to fix it."""


class Topic(NamedTuple):
    """What a topic offers, in order. Its ``__init__`` says it, because its modules take seconds to
    import: ``runs`` has an experiment for each table, ``figures`` a drawing for each name."""

    tables: tuple[str, ...]
    figures: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # others: from which tables


def value_of(text: str) -> Any:
    """The value typed after ``--set NAME=``: a Python literal, or else a string."""
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text
