"""The paper's studies: what is computed, judged and drawn, one topic a folder."""


class StudyError(Exception):
    """Something is missing or in the way; the message says what, and how to fix it."""
