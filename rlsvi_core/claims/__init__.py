"""What the paper says, one function a statement; the register comes in the paper's order."""

from . import chain, foundations, register, tetris
from .register import REGISTER, Evidence, scoreboard, tally

register.in_the_papers_order()

__all__ = ["REGISTER", "Evidence", "chain", "foundations", "register", "scoreboard", "tally",
           "tetris"]
