"""Appendix G: the proof, step by step, and its repair."""

from .. import Topic

TOPIC = Topic(
    tables=("every-mean",),
    claims=("5", "G"),
)
