"""Appendix G: the proof, step by step, and its repair."""

from .. import Topic

TOPIC = Topic(
    tables=("theorem1-bound", "price", "rate", "every-mean"),
    claims=("5", "G"),
)
