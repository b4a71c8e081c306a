"""The chain: sections 1 to 4 and 6.1, appendices A and C."""

from .. import Topic

TOPIC = Topic(
    tables=(
        "example1",
        "fig2a",
        "fig2b",
        "fig3",
        "fig3-long",
        "fig3-tabular",
        "fig4",
        "fig6",
        "fig6-small",
        "fig10",
        "fig11",
        "fig13",
        "readings",
    ),
    figures={
        "fig1": (),
        "fig2": ("fig2a", "fig2b"),
        "fig5": ("fig3", "fig4"),
        "fig12": ("fig13",),
    },
    claims=("3", "4", "6.1", "C"),
)
