"""How much noise: the evidence of the guide."""

from ... import Topic

TOPIC = Topic(tables=("noise", "noise-bandits", "noise-default", "noise-sigma"))
