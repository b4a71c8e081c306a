"""Every figure of the book, drawn from tidy tables; what is computed comes from ``experiments``."""

from . import chain, recommender
from .style import scientific

DRAW = {**chain.DRAW, **recommender.DRAW}  # how ``rlsvi plot`` draws each stored table

__all__ = ["DRAW", "chain", "recommender", "scientific"]
