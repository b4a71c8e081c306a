"""Theorem 1: the proof, step by step, and its repair."""

from .. import Topic

TOPIC = Topic(tables=("theorem1-bound", "price", "rate"))
