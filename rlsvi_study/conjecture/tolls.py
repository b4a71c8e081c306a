r"""The toll of Conjecture 1: the recursion of the sampled values, and what it costs.

:math:`X_h = \tilde V_h(\text{alive})` after one start at the side, drawn backwards from
:math:`X_H = 0`. Chapter B has the proofs; ρ = λσ², G = 8(1 + ρ), and the stored runs have λ = σ = 1.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from flint import fmpq

from ..judging.intervals import Mean, mean_interval
from .runs import TOLL_G, looked_at

KAPPA, ONE = fmpq(256, 257), fmpq(1)
RIDGES = (fmpq(1, 100), fmpq(1, 4), ONE, fmpq(9), fmpq(144))  # some ρ
RATE = Fraction(121, 1000)  # of silence, with truncated values


def leap(rho: fmpq) -> fmpq:
    """G, the leap's feature."""
    return 8 * (1 + rho)


def factors(walked: bool, rho: fmpq = ONE) -> tuple[fmpq, fmpq]:
    """(a, d/σ²) with X_h ≥ a X_{h+1} + N_h, where N_h is normal with mean 0 and variance d."""
    G = leap(rho)
    phi = ONE if walked else G
    return G * phi / (phi**2 + rho), G**2 / (phi**2 + rho)


def spread(walked: Sequence[bool], rho: fmpq = ONE) -> fmpq:
    """The variance over σ² of the normal variable that X_1 is at least, if the periods 1 to H − 1
    walked or leapt like this."""
    total, product = fmpq(0), ONE
    for one in walked:
        a, d = factors(one, rho)
        total, product = total + product**2 * d, product * a
    return total


def least_spread(H: int, walks: int, rho: fmpq = ONE) -> fmpq:
    """What the proof has it at least, if so many of these periods walked, and one did."""
    return fmpq(64) ** walks * KAPPA ** (2 * (H - 1 - walks)) * (1 + rho)


def squared_limit(H: int, rho: fmpq = ONE) -> fmpq:
    """What L² may be at most, if a leap costs σ."""
    return (8 * KAPPA) ** (H - 1) / (64 * (1 + rho))


def imagined(
    H: int, draws: int, rng: int = 0, most: float = math.inf, walked: np.ndarray | None = None
) -> np.ndarray:
    """X_1, …, X_{H−1} as the columns of a (draws, H − 1) array; X_h is cut to ±most (H − h).
    Each of these periods walked, or those that are said."""
    generator, X = np.random.default_rng(rng), np.zeros(draws)
    columns: list[np.ndarray] = []
    walked = np.ones(H - 1, bool) if walked is None else walked
    for h in range(H - 1, 0, -1):
        phi = 1.0 if walked[h - 1] else TOLL_G
        theta = phi * X / (1 + phi**2) + generator.normal(0, 1 / math.sqrt(1 + phi**2), draws)
        X = np.maximum(theta, TOLL_G * theta).clip(-most * (H - h), most * (H - h))
        columns.insert(0, X)
    return np.column_stack(columns)


def over_root_T(table: pd.DataFrame, agent: str = "given") -> dict[int, Mean]:
    """Mean regret of all runs over √T where the proof looks, by H, with Student's interval."""
    return {
        int(H): mean_interval(cell.regret / math.sqrt(H * looked_at(H)))
        for H, cell in table[table.agent == agent].groupby("H")
    }


def truncated_bound(H: int, L: int) -> float:
    """What the expected regret at the toll is at most with truncated values."""
    return H / 8 + math.log(L) / float(RATE) + 2.5
