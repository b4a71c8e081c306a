"""Appendix G: three lemmas, the lines printed for them, and what repairs their proofs."""

from .. import Topic

TOPIC = Topic(claims=("G",))
