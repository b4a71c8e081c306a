"""What to generalise by: tables, functions and the paper's bases."""

from .maps import Computed, FeatureMap, OneHot, PerAction, Table, one_hot
from .paper import agnostic, coherent, tabular

__all__ = [
    "Computed",
    "FeatureMap",
    "OneHot",
    "PerAction",
    "Table",
    "agnostic",
    "coherent",
    "one_hot",
    "tabular",
]
