"""The paper's studies: what is computed, judged and drawn, one topic a folder."""

import ast
from typing import Any


class StudyError(Exception):
    """Something is missing or in the way; the message says what, and how to fix it."""


def value_of(text: str) -> Any:
    """What is typed after ``--set NAME=``: a Python literal, or else a text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text
