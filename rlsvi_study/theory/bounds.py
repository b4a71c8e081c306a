r"""Theorem 1's bound with its constants, and the sums that it is made of.

.. math:: \mathbb E\,\mathrm{Regret}(T) \le \sigma\sqrt{2\log A \cdot \Lambda \cdot SAHT}
   + \tfrac12 H(H+1)\,SA\,\rho\Lambda, \qquad \Lambda = \tfrac1\rho + \log(1 + \tfrac L{SA\rho}) .
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

Array = np.ndarray


def price(log_A: Any, s2: Any, eta: Any) -> Any:
    """What a step costs whose noise has variance s2."""
    return log_A / eta + eta * s2 / 2


def penalty(n: Array, rho: float, sigma: float, A: int, eta: float) -> Array:
    return price(np.log(A), sigma**2 / (n + rho), eta)


def enough_sigma(H: Any, G: Any = 0.0) -> Any:
    """The σ that step 1 needs."""
    return np.sqrt((1 + (np.asarray(H) - 1 + G) ** 2) / 4)


class Terms(NamedTuple):
    """The two terms of the bound."""

    noise: Array
    bias: Array


def terms(
    H: Any, S: Any, A: Any, L: Any, lam: Any, sigma: Any, G: Any = 0.0, *, log_L: bool = True
) -> Terms:
    """Both terms of the bound, all arguments broadcast; the first with log L, or without."""
    H, S, A, L, sigma = (np.asarray(x, float) for x in (H, S, A, L, sigma))
    rho, pairs = lam * sigma**2, S * A
    visits = np.log1p(L / (pairs * rho))
    noise = (
        np.sqrt(2 * np.log(A) * (1 / rho + visits))
        if log_L
        else 2 * np.sqrt(2 + 2 * np.log(pairs)) + 2 / np.sqrt(2 * np.pi)
    )
    return Terms(
        sigma * H * np.sqrt(pairs * L) * noise, H * (H + 1 + 2 * G) / 2 * pairs * (1 + rho * visits)
    )


def bound(
    H: Any,
    S: Any,
    A: Any,
    L: Any,
    lam: Any,
    sigma: Any,
    m: Any,
    G: Any = 0.0,
    *,
    log_L: bool = True,
) -> Array:
    """The bound on the expected regret of L episodes: infinite where its conditions are not met,
    which are ρ ≥ m = max(m_R, m_P), the σ of step 1, and ρ ≥ 1 without log L."""
    rho = lam * np.asarray(sigma, float) ** 2
    met = (
        (rho >= m * (1 - 1e-12))
        & (log_L | (rho >= 1 - 1e-12))
        & (sigma >= enough_sigma(H, G) * (1 - 1e-12))
    )
    return np.where(met, sum(terms(H, S, A, L, lam, sigma, G, log_L=log_L)), np.inf)


def first(reached: Callable[[int], bool]) -> int:
    """The first whole number at which it is, by doubling and halving."""
    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def episodes_until(below: float, H: int, S: int, A: int, lam: float, sigma: float) -> int:
    """The first L for which the bound is at most ``below`` per episode."""
    return first(lambda L: bool(sum(terms(H, S, A, L, lam, sigma)) <= below * L))


def second_leads_until(H: int, S: int, A: int, m_R: float, m_P: float) -> int:
    """The first L for which the bound's first term is the larger, at the smallest λ and σ that
    are printed."""

    def leads(L: int) -> bool:
        noise, bias = terms(H, S, A, L, m_R + m_P, np.sqrt(H**2 + 1))
        return bool(bias > noise)

    return first(lambda L: not leads(L))


def counted(L: int, pairs: int, rho: float) -> float:
    """SAΛ, at least the Σ 1/(n + ρ) of a period."""
    return float(pairs * (1 / rho + np.log1p(L / (pairs * rho))))


def rooted(L: int, pairs: int) -> float:
    """2√(SAL(2 + 2 log SA)), at least the Σ t/√(n + ρ) of a period if ρ ≥ 1."""
    return float(2 * np.sqrt(pairs * L * (2 + 2 * np.log(pairs))))


def bandit_regret(low: tuple[Array, Array], L: int, lam: float, sigma: float) -> Array:
    """Expected regret of L episodes for H = S = 1, A = 2, where the arms pay −1 with the
    probabilities ``low``: every history is enumerated, and its chance is exact up to rounding."""
    rho, best_arm, regret = lam * sigma**2, np.minimum(*low), np.zeros(np.shape(low[0]))
    reached: dict[tuple[int, int, int, int], Array] = {(0, 0, 0, 0): np.ones_like(regret)}
    for _ in range(L):
        ahead: dict[tuple[int, int, int, int], Array] = {}
        for (n, k, n_2, k_2), chance in reached.items():
            M, M_2 = n + rho, n_2 + rho
            first = norm.cdf((k_2 / M_2 - k / M) / (sigma * np.sqrt(1 / M + 1 / M_2)))
            regret += chance * (first * low[0] + (1 - first) * low[1] - best_arm)
            for after, p in (
                ((n + 1, k + 1, n_2, k_2), first * low[0]),
                ((n + 1, k, n_2, k_2), first * (1 - low[0])),
                ((n, k, n_2 + 1, k_2 + 1), (1 - first) * low[1]),
                ((n, k, n_2 + 1, k_2), (1 - first) * (1 - low[1])),
            ):
                ahead[after] = ahead.get(after, 0) + chance * p
        reached = ahead
    return regret


def wrong_arm_bound(lam: float, sigma: float, episodes: int) -> float:
    """A proven lower bound for RLSVI's expected regret on the bandit (H = S = 1, A = 2).

    After l episodes the two means differ by at most l/(l + λσ²) and the variances sum to at least
    2σ²/(l + λσ²), so the worse arm is played with probability at least Φ(−l/√(2σ²(l + λσ²))).
    Each time costs |R_1 − R_2|, whose mean is 4/π² for the Dirichlet(½, ½) prior.
    """
    l = np.arange(episodes)
    return float(4 / np.pi**2 * norm.cdf(-l / np.sqrt(2 * sigma**2 * (l + lam * sigma**2))).sum())
