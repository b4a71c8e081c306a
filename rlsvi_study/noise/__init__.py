"""How much noise: random weights on the data, against RLSVI and others."""

from .. import Topic

TUNING = "noise-tuning", "noise-tuning-dear", "noise-tuning-tasks"
FINAL = "noise-tables", "noise-dear", "noise-linear", "noise-tasks", "noise-control"
CONDITIONS = "noise-bandits", "noise-steps", "noise-rare", "noise-ranges"
TOPIC = Topic(tables=(*TUNING, *FINAL, *CONDITIONS), figures={"noise": FINAL})
