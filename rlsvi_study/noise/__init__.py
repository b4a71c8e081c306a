"""How much noise: random weights on the data, against RLSVI and others."""

from .. import Topic

FINAL = "noise-tables", "noise-dear", "noise-linear", "noise-tasks"
TOPIC = Topic(
    tables=("noise-tuning", "noise-tuning-dear", "noise-tuning-tasks", *FINAL),
    figures={"noise": FINAL},
)
