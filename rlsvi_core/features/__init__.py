"""What to generalise by: tables, functions, the paper's bases, and bases for boxes."""

from .boxes import fourier_basis, polynomial, random_fourier, tiles
from .maps import (
    Computed,
    FeatureMap,
    OneHot,
    PerAction,
    Table,
    check,
    from_transformer,
    one_hot,
)
from .paper import agnostic, coherent, tabular

__all__ = [
    "Computed",
    "FeatureMap",
    "OneHot",
    "PerAction",
    "Table",
    "agnostic",
    "check",
    "coherent",
    "fourier_basis",
    "from_transformer",
    "one_hot",
    "polynomial",
    "random_fourier",
    "tabular",
    "tiles",
]
