"""Appendix B: Conjecture 1, and the small worlds that refute it."""

from .. import Topic

TOPIC = Topic(
    tables=("gamble", "long-gamble", "toll", "costly-road", "one-action-road", "largest-error"),
    figures={"road": ("costly-road", "largest-error")},
    claims=("B",),
)
