"""Since 2016: what later work made of randomized value functions."""

from .. import Topic

TOPIC = Topic(tables=("since-tabular", "since-linear"))
