"""What makes RLSVI explore: section 4."""

from .. import Topic

TOPIC = Topic(
    tables=("explore",),
    claims=("4",),
)
