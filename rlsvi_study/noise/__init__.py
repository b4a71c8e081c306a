"""How much noise: random weights on the data, against RLSVI and others."""

from .. import Topic

TUNING = "noise-tuning", "noise-tuning-dear", "noise-tuning-tasks"
FINAL = ("noise-linear",)
TOPIC = Topic(tables=(*TUNING, *FINAL))
