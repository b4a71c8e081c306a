"""The paper's environments and two more that explorers are tried on: finite ones as functions that
return a FiniteMDP, and Tetris."""

from .chains import chain, deep_sea, lock, river_swim
from .tetris import Tetris

__all__ = ["Tetris", "chain", "deep_sea", "lock", "river_swim"]
