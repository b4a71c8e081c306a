"""Every figure of the book, drawn from tidy tables; what is computed comes from ``experiments``."""

from . import chain, tetris
from .style import scientific

DRAW = {**chain.DRAW, **tetris.DRAW}  # how ``rlsvi plot`` draws each stored table

__all__ = ["DRAW", "chain", "scientific", "tetris"]
