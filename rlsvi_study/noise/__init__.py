"""How much noise: random weights on the data, against RLSVI and others."""

from .. import Topic

TUNING = "noise-tuning", "noise-tuning-dear", "noise-tuning-tasks"
FINAL = "noise-tables", "noise-dear", "noise-linear", "noise-tasks", "noise-control"
TOPIC = Topic(tables=(*TUNING, *FINAL), figures={"noise": FINAL})
