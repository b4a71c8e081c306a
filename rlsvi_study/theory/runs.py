"""Appendix G: the part of the proof of ``theory.means`` that takes minutes: is Ψ > 0 wherever the tails can
meet, for 1/n in a piece of [0, 1]? Nothing is random.
"""

from ..engine import Experiment, Rows, Scale, grid
from .meeting import SLICES, touching


def boxes_of(piece: int, seed: int) -> Rows:
    """How many boxes the proof for this piece of 1/n takes, and what is left in the tightest."""
    boxes, margin, _ = touching(piece)
    return [{"boxes": boxes, "margin": margin}]


EVERY_MEAN = Experiment(
    "every-mean",
    "Appendix G, Lemma 1",
    "That c(n) is enough at every mean, by ball arithmetic, for pieces of 1/n",
    boxes_of,
    {
        "quick": Scale({}, grid(piece=(24,)), range(1)),
        "paper": Scale({}, grid(piece=range(SLICES)), range(1)),
    },
)
EXPERIMENTS = {EVERY_MEAN.name: EVERY_MEAN}
