"""What to generalise by: tables, functions and the paper's bases."""

from .bases import agnostic, coherent, tabular
from .maps import FeatureMap, FeatureTable, FunctionFeatures, OneHot, PerActionFeatures, one_hot

__all__ = [
    "FeatureMap",
    "FeatureTable",
    "FunctionFeatures",
    "OneHot",
    "PerActionFeatures",
    "agnostic",
    "coherent",
    "one_hot",
    "tabular",
]
