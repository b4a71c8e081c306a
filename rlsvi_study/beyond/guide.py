"""The guide's decision tree."""

from matplotlib.figure import Figure

from ..style import COLOUR, canvas, styled

CHOICES = (  # questions, the answer that decides, and what to take then
    ("Few actions, and states that you\ncan number or describe?", "no", "a deep method"),
    ("Is an episode one step?", "yes", "rlsvi, σ = a\nreward’s deviation"),
    ("Does one random outcome\ndecide an episode?", "yes", "bootstrap,\nrange of returns"),
    ("Does nearly every step pay or cost?", "yes", "rlsvi, or LSVI\nwith a tuned ε"),
    ("Do outcomes vary, or\ndo you not know?", "yes", "rlsvi"),
    ("Are states numbered, and\ndo you discount?", "yes", "rlsvi,\nσ = (1 − γ)V/10"),
    ("Does only the goal pay, and can\nfeatures represent optimal values?", "yes", "bootstrap"),
)
OTHERWISE = "rlsvi"


@styled
def choices() -> Figure:
    """The guide's decision tree: from the top, the first question that decides."""
    fig, ax = canvas(height=0.82 * (len(CHOICES) + 0.6))
    colour = {"rlsvi": COLOUR["rlsvi"], "boots": COLOUR["weights"]}
    box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "0.6"}

    def leaf(x: float, y: float, take: str) -> None:
        edge = colour.get(take[:5], "0.3")
        ax.text(x, y, take, ha="center", va="center", bbox=box | {"edgecolor": edge, "lw": 2})

    arrow = {"arrowstyle": "-|>", "color": "0.4", "shrinkA": 0, "shrinkB": 0}
    for row, (question, decides, take) in enumerate(CHOICES):
        y = -row
        ax.annotate("", (0.71, y), (0.57, y), arrowprops=arrow)
        ax.annotate("", (0.28, y - 0.66), (0.28, y - 0.34), arrowprops=arrow)
        ax.text(0.635, y + 0.06, decides, ha="center", va="bottom")
        ax.text(0.3, y - 0.5, "yes" if decides == "no" else "no", va="center")
        ax.text(0.28, y, question, ha="center", va="center", bbox=box)
        leaf(0.86, y, take)
    leaf(0.28, -len(CHOICES) + 0.05, OTHERWISE)
    ax.set(xlim=(0, 1.02), ylim=(-len(CHOICES) - 0.25, 0.4))
    ax.axis("off")
    return fig
