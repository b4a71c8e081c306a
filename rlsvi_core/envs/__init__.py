"""The paper's environments: finite ones as functions that return a FiniteMDP, and Tetris."""

from .chains import chain, lock
from .tetris import Tetris

__all__ = ["Tetris", "chain", "lock"]
