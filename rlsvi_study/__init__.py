"""The paper's studies: what is computed, judged and drawn, one folder per topic."""

import ast
from typing import Any


class StudyError(Exception):
    """Something is missing or in the way; the message says what, and how to fix it."""


def value_of(text: str) -> Any:
    """The value typed after ``--set NAME=``: a Python literal, or else a string."""
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text
