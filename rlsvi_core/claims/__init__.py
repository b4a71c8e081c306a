"""What the paper says, one function a statement; the register comes in the paper's order."""

from . import chain, foundations, recommender, register, regret, tetris, theory
from .register import REGISTER, Evidence, overview, scoreboard, tally

register.in_the_papers_order()

__all__ = [
           "REGISTER",
           "Evidence",
           "chain",
           "foundations",
           "overview",
           "recommender",
           "register",
           "regret",
           "scoreboard",
           "tally",
           "tetris",
           "theory",
]
