"""Every figure of the book, drawn from tidy tables; what is computed comes from ``experiments``."""

from . import chain, extensions, optimism, recommender, regret, tetris
from .style import scientific

# How ``rlsvi plot`` draws each stored table.
DRAW = {**chain.DRAW, **recommender.DRAW, **regret.DRAW, **tetris.DRAW, **extensions.DRAW}

__all__ = ["DRAW", "chain", "extensions", "optimism", "recommender", "regret", "scientific",
           "tetris"]
