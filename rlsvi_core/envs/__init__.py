"""The paper's environments, two standard tests of exploration and two ordinary problems. Finite
ones are functions that return a FiniteMDP; Tetris is a class."""

from .chains import chain, deep_sea, lock, river_swim
from .ordinary import inventory, key_and_door
from .tetris import Tetris

__all__ = ["Tetris", "chain", "deep_sea", "inventory", "key_and_door", "lock", "river_swim"]
