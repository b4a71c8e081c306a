"""Standard tasks: Gymnasium's, sparse ones and the deep sea, with one rule for λ and σ."""

from .. import Topic

TOPIC = Topic(
    tables=(
        "tasks-control",
        "tasks-epsilon",
        "tasks-boltzmann",
        "tasks-tuning",
        "tasks-rule",
        "tasks-options",
        "tasks-tabular",
        "tasks-tabular-large",
        "tasks-redraw",
        "tasks-deep-sea",
        "tasks-sigma",
    ),
    figures={
        "tasks-curves": ("tasks-control", "tasks-epsilon", "tasks-boltzmann"),
        "tasks-tables": ("tasks-tabular", "tasks-tabular-large"),
    },
)
