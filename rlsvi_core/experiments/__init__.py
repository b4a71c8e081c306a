"""The paper's experiments: one module per family of figures, one entry here per figure."""

from . import chain, tetris
from .figure import Figure, Scale, Task
from .summary import median_interval

FIGURES: dict[str, Figure] = {figure.name: figure for figure in (*chain.ALL, *tetris.ALL)}

__all__ = ["FIGURES", "Figure", "Scale", "Task", "chain", "median_interval",
           "tetris"]
