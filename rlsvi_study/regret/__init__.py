"""Regret over the prior: section 5."""

from .. import Topic

TOPIC = Topic(
    tables=("theorem1", "theorem1-scale", "theorem1-tuned"),
    claims=("5", "6"),
)
