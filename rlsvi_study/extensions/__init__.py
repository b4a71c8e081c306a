"""Appendix F and section 7: what the paper proposes and does not try."""

from .. import Topic

TOPIC = Topic(
    tables=("incremental", "continual", "bootstrap"),
    claims=("7", "F"),
)
