"""The paper's experiments: one module per family of figures, one entry here per figure."""

from . import chain, extensions, recommender, regret, tetris
from .figure import Figure, Scale, Task
from .summary import median_interval

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for family in (chain, recommender, regret, tetris, extensions) for figure in family.ALL}

__all__ = ["FIGURES", "Figure", "Scale", "Task", "chain", "extensions", "median_interval",
           "recommender", "regret", "tetris"]
