r"""The toll, which refutes Conjecture 1 as meant: the recursion of the sampled values, and the steps.

:math:`X_h = \tilde V_h(\text{alive})` after one start at the side, drawn backwards from
:math:`X_H = 0`. The page *B. Proofs* has the theorem and its proof; ρ = λσ², G = 8(1 + ρ), and the
stored runs have λ = σ = 1. The world is in ``counterexamples``.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
from flint import arb, fmpq

from ..counterexamples import toll
from ..judging.intervals import Mean, mean_interval

TOLL_G = 16.0  # in the runs
KAPPA, ONE = fmpq(256, 257), fmpq(1)
RIDGES = (fmpq(1, 100), fmpq(1, 4), ONE, fmpq(9), fmpq(144))  # some ρ


def proof_episodes(H: int) -> int:
    """After how many episodes the proof looks at the toll: κ^H 8^{H/2 − 1}/8, κ = G²/(1 + G²)."""
    kappa = TOLL_G**2 / (1 + TOLL_G**2)
    return math.floor(kappa**H * 8 ** (H / 2 - 2))


def leap_feature(rho: fmpq) -> fmpq:
    """G, the leap's feature."""
    return 8 * (1 + rho)


def recursion_factors(walked: bool, rho: fmpq = ONE) -> tuple[fmpq, fmpq]:
    """(a, d/σ²) with X_h ≥ a X_{h+1} + N_h, where N_h is normal with mean 0 and variance d."""
    G = leap_feature(rho)
    phi = ONE if walked else G
    return G * phi / (phi**2 + rho), G**2 / (phi**2 + rho)


def lower_bound_variance(walked: Sequence[bool], rho: fmpq = ONE) -> fmpq:
    """The variance over σ² of the normal variable that X_1 is at least, if the periods 1 to H − 1
    walked or leapt like this."""
    total, grown = fmpq(0), ONE
    for one in walked:
        a, d = recursion_factors(one, rho)
        total, grown = total + grown**2 * d, grown * a
    return total


def proved_variance(H: int, walks: int, rho: fmpq = ONE) -> fmpq:
    """What the proof has it at least, if so many of these periods walked, and one did."""
    return fmpq(64) ** walks * KAPPA ** (2 * (H - 1 - walks)) * (1 + rho)


def max_squared_L(H: int, rho: fmpq = ONE) -> fmpq:
    """What L² may be at most, if a leap costs σ."""
    return (8 * KAPPA) ** (H - 1) / (64 * (1 + rho))


def regret_lower_bound(L: int, b: float = 1.0) -> float:
    """What the expected regret of L episodes is then at least: each later one leaps with probability Φ(−1)/2 or more, if episode i > 1 was the only one to start at
    the side.

    >>> round(regret_lower_bound(1000), 1)
    14.5
    """
    leaps = 0.5 * 0.5 * math.erfc(1 / math.sqrt(2))
    return b * leaps * (L - 1) * (L - 2) / (2 * math.e * L)


# --------------------------------------------------------------------- the steps


def check_toll_posterior() -> bool:
    """After one start at the side and n leaps θ̃_h and θ̃_0 have the laws that the proof says: in
    fractions for ρ = 1, 3 and 7, from the world's own features and rewards."""
    X = Fraction(7, 3)
    for rho, n, walked in product((1, 3, 7), (0, 1, 5, 40), (True, False)):  # 1/G is a float
        G = 8 * (1 + rho)
        mdp, Phi = toll(3, 20, G)
        phi = Fraction(Phi[1, 1, 0 if walked else 1, 0])
        later = phi * X / (phi**2 + rho), 1 / (phi**2 + rho)  # by the regression with σ = 1
        side, gate = Fraction(Phi[0, 1, 0, 0]), Fraction(Phi[0, 0, 1, 0])
        M = rho + side**2 + n * gate**2
        b = side * (Fraction(mdp.R[0, 1, 0, 1]) + X) + n * gate * Fraction(mdp.R[0, 0, 1, 0])
        a, d = (Fraction(int(x.p), int(x.q)) for x in recursion_factors(walked, fmpq(rho)))
        cost = (X - Fraction(1, G) - G * n) / (1 + rho + G**2 * n)
        if (G * later[0], G**2 * later[1], b / M) != (a * X, d, cost):
            return False
    return True


def check_toll_recursion() -> bool:
    """X_h ≥ a_h X_{h+1} + N_h with independent normal N_h: after a walk a = 8 and N_h has the
    variance 64(1 + ρ)σ², after a leap a ≥ κ = 256/257. So if W ≥ (H − 1)/2 of the periods walked,
    X_1 is at least a normal variable of mean 0 and a standard deviation of
    s ≥ 8^W κ^(H−1−W) √(1 + ρ) σ, and L ≤ (8κ)^((H−1)/2)σ/(8b√(1 + ρ)) leaps cost at most s: in
    fractions for all orders of walks and leaps up to H = 9. The L of the runs is in range for
    H = 7 to 33, and regret is at least 0.0145 b(L−1)(L−2)/L."""
    orders = [order for n in range(1, 9) for order in product((True, False), repeat=n)]
    for rho in RIDGES:
        (a, d), (kappa, _) = recursion_factors(True, rho), recursion_factors(False, rho)
        if (a, d) != (8, 64 * (1 + rho)) or not KAPPA <= kappa <= 1:
            return False
        for order in orders:  # of the periods 1 to H − 1
            H, walks = len(order) + 1, sum(order)
            if 2 * walks >= H - 1:
                least, cost = (
                    proved_variance(H, walks, rho),
                    leap_feature(rho) ** 2 * max_squared_L(H, rho),
                )
                if not lower_bound_variance(order, rho) >= least >= cost:
                    return False
    in_range = all(9 <= proof_episodes(H) ** 2 <= max_squared_L(H) for H in range(7, 34))
    share = (1 / arb(2).sqrt()).erfc() / (8 * arb(1).exp())  # ½Φ(−1)/2e
    regret = float(share) * 999_999 * 999_998 / 10**6
    near = math.isclose(regret_lower_bound(10**6), regret)
    return in_range and near and bool(share >= arb(fmpq(145, 10**4)))


STEPS = check_toll_posterior, check_toll_recursion


# --------------------------------------------------------------------- what is measured


def simulate_recursion(
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


def regret_per_sqrt_T(table: pd.DataFrame, agent: str = "given") -> dict[int, Mean]:
    """Mean regret of all runs over √T where the proof looks, by H, with Student's interval."""
    return {
        int(H): mean_interval(cell.regret / math.sqrt(H * proof_episodes(H)))
        for H, cell in table[table.agent == agent].groupby("H")
    }
