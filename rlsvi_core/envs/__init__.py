"""The paper's environments and two standard tests of exploration. Finite ones are functions that
return a FiniteMDP; Tetris is a class."""

from .chains import chain, deep_sea, lock, river_swim
from .tetris import Tetris

__all__ = ["Tetris", "chain", "deep_sea", "lock", "river_swim"]
