"""The paper's environments: finite ones as functions that return a FiniteMDP, and Tetris."""

from .chain import chain
from .tetris import Tetris

__all__ = ["Tetris", "chain"]
