"""Tetris: section 6.2 and appendix D."""

from .. import Topic

TOPIC = Topic(
    tables=(
        "fig7",
        "fig14",
        "fig14-tuning",
        "tetris-top-row",
        "tetris-touches",
        "tetris-overflow-top",
        "tetris-readings",
        "tetris-variance",
        "tetris-widths",
        "tetris-board",
        "tetris-board-explores",
        "tetris-schedules",
        "tetris-top-row-schedules",
        "tetris-touches-schedules",
        "tetris-overflow-top-schedules",
        "tetris-discount",
        "tetris-top-row-discount",
        "tetris-top-row-variance",
        "tetris-other-rules-discount",
        "tetris-other-rules-variance",
        "tetris-optimism",
        "tetris-lspi",
        "tetris-tuning",
    ),
    figures={"fig7": ("tetris-top-row", "fig7")},
    claims=("6.2", "D"),
)
