"""Every figure of the book, drawn from tidy tables; what is computed comes from ``experiments``."""

from . import chain, optimism, regret
from .style import scientific

DRAW = {**chain.DRAW, **regret.DRAW}  # how ``rlsvi plot`` draws each stored table

__all__ = ["DRAW", "chain", "optimism", "regret", "scientific"]
