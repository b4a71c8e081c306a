"""What the paper says, one function a statement; the register comes in the paper's order."""

from . import chain, extensions, foundations, recommender, register, regret, tetris, theory
from .register import REGISTER, Evidence, by_section, overview, scoreboard, tally

register.in_the_papers_order()

__all__ = [
           "REGISTER",
           "Evidence",
           "by_section",
           "chain",
           "extensions",
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
