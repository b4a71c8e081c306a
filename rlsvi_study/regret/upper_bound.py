r"""Theorem 1's bound with its constants, and the steps of its proof, each of which is checked.

.. math:: \mathbb E\,\mathrm{Regret}(T) \le \sigma\sqrt{2\log A \cdot \Lambda \cdot SAHT}
   + \tfrac12 H(H+1)\,SA\,\rho\Lambda, \qquad \Lambda = \tfrac1\rho + \log(1 + \tfrac L{SA\rho}) .

The page *5. Proofs* has the proof in five steps: 1 optimism, 2 the mean MDP, 3 the telescope through the
shrunk model, 4 the price of choosing, 5 counting. ``shrunk_model`` has the models that they speak of.
"""

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm
from sympy import diff, exp, log, oo, sqrt, symbols
from sympy import limit as tends_to

from ..judging.algebra import Sides
from ..judging.intervals import Mean, mean_interval, simultaneous_level
from ..judging.thresholds import CHOSEN
from ..parameters import min_sigma, theorem1_prior
from .experiments import BASE, PARAMETERS
from .shrunk_model import (
    Array,
    example_histories,
    fractions,
    optimal_values,
    optimism_violation,
    policy_values,
    sample_noise,
    shrunk_models,
    telescope,
)

# --------------------------------------------------------------------- the bound


def step_cost(log_A: Any, s2: Any, eta: Any) -> Any:
    """What a step costs whose noise has variance s2."""
    return log_A / eta + eta * s2 / 2


def noise_penalty(n: Array, rho: float, sigma: float, A: int, eta: float) -> Array:
    return step_cost(np.log(A), sigma**2 / (n + rho), eta)


class BoundTerms(NamedTuple):
    """The two terms of the bound."""

    noise: Array
    bias: Array


def bound_terms(H: Any, S: Any, A: Any, L: Any, lam: Any, sigma: Any) -> BoundTerms:
    """Both terms of the bound, all arguments broadcast."""
    H, S, A, L, sigma = (np.asarray(x, float) for x in (H, S, A, L, sigma))
    rho, pairs = lam * sigma**2, S * A
    visits = np.log1p(L / (pairs * rho))
    return BoundTerms(
        sigma * H * np.sqrt(pairs * L) * np.sqrt(2 * np.log(A) * (1 / rho + visits)),
        H * (H + 1) / 2 * pairs * (1 + rho * visits),
    )


def regret_bound(H: Any, S: Any, A: Any, L: Any, lam: Any, sigma: Any, m: Any) -> Array:
    """The bound on the expected regret of L episodes: infinite where its conditions are not met,
    which are ρ ≥ m = max(m_R, m_P) and the σ of step 1."""
    rho = lam * np.asarray(sigma, float) ** 2
    enough = sigma >= min_sigma(np.asarray(H)) * (1 - 1e-12)
    met = (rho >= m * (1 - 1e-12)) & enough
    return np.where(met, sum(bound_terms(H, S, A, L, lam, sigma)), np.inf)


def smallest_integer(reached: Callable[[int], bool]) -> int:
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
    return smallest_integer(lambda L: bool(sum(bound_terms(H, S, A, L, lam, sigma)) <= below * L))


def first_term_leads_from(H: int, S: int, A: int, m_R: float, m_P: float) -> int:
    """The first L for which the bound's first term is the larger, at the smallest λ and σ that
    are printed."""

    def leads(L: int) -> bool:
        noise, bias = bound_terms(H, S, A, L, m_R + m_P, np.sqrt(H**2 + 1))
        return bool(bias > noise)

    return smallest_integer(lambda L: not leads(L))


DIRICHLET = {
    "m_P = 1": (5, 5, 3, 1, 1),
    "m_P = S = 5": (5, 5, 3, 1, 5),
    "m_P = S = 20": (5, 20, 3, 1, 20),
}  # H, S, A, m_R, m_P


def check_rate() -> bool:
    """Whether at σ² = H² + 1 and the smallest λ that is printed or a larger one the bound's first term is
    at most √2 H²√(SAL), that is √(2H³SAT), times the root of the logarithms, and the larger term in the
    end."""
    sizes = [[1, 2, 5, 100, 10**4]] * 3
    H, S, A, lam, L = np.meshgrid(*sizes, [2.0, 2e3, 2e6], 10.0 ** np.arange(0, 60, 6))
    sigma, A = np.sqrt(H**2 + 1.0), A + 1
    noise, bias = bound_terms(H, S, A, L, lam, sigma)
    rho = lam * sigma**2
    logs = 2 * np.log(A) * (1 / rho + np.log1p(L / (S * A * rho)))
    rate = np.sqrt(2 * S * A * L * logs) * H**2
    return bool((noise <= rate * (1 + 1e-12)).all() and (bias < noise)[..., -1].all())


def wrong_arm_bound(lam: float, sigma: float, episodes: int) -> float:
    """A proven lower bound for RLSVI's expected regret on the bandit (H = S = 1, A = 2).

    After l episodes the two means differ by at most l/(l + λσ²) and the variances sum to at least
    2σ²/(l + λσ²), so the worse arm is played with probability at least Φ(−l/√(2σ²(l + λσ²))).
    Each time costs |R_1 − R_2|, whose mean is 4/π² for the Dirichlet(½, ½) prior.
    """
    l = np.arange(episodes)
    return float(4 / np.pi**2 * norm.cdf(-l / np.sqrt(2 * sigma**2 * (l + lam * sigma**2))).sum())


# --------------------------------------------------------------------- the steps


def check_mean_optimism() -> bool:
    """Step 1: given any data the mean of Ṽ_0 is at least that of V*_0, with the smallest ρ and σ
    that the proof allows: 8000 draws each for random and adversarial histories."""
    rng = np.random.default_rng(1)
    for H, A in ((1, 2), (3, 2), (4, 3)):
        for data in example_histories(rng, H=H, A=A).values():
            above = optimism_violation(
                data.as_floats(), float(data.m), min_sigma(H), np.zeros(2), 8000, rng
            )
            if above > CHOSEN["standard errors"]:
                return False
    return True


def check_telescope() -> bool:
    """Step 3: Ṽ_0 − V̄_0 = E_sh Σ(b′ + w) with 0 ≤ b′ ≤ (H − h)ρ/(n + ρ), and P^sh ≤ P̄ entrywise;
    as fractions, for random and adversarial histories."""
    rng = np.random.default_rng(3)
    for _, which in product(range(5), range(6)):
        data = list(example_histories(rng).values())[which]
        w = fractions(rng.integers(-40, 40, data.seen_P.shape[:3]), 16)
        for rho in (data.m, 3 * data.m):
            left, right, bias, most = telescope(data, rho, w, fractions([0, 0]))
            given = shrunk_models(data, rho)
            within = (
                (bias >= 0).all() and (bias <= most).all() and (given.P_sh <= given.P_bar).all()
            )
            if not within or (left != right).any():
                return False
    return True


def shrunk_bias_identities() -> list[Sides]:
    """Step 3: rewards that sum to −k and prior weight c on −1, of m in all, give the bias
    R^sh − R̄ = k(ρ−m)/((n+ρ)(n+m)) + c/(n+m), a sum of positive terms; at most, for k = n and
    c = m, it is ρ/(n+ρ). The rows of P̄ − P^sh add up to the same."""
    n, m, e, k, c = symbols("n m e k c", positive=True)
    rho = m + e

    def lift(k: Any, c: Any) -> Any:
        return -k / (n + rho) + (k + c) / (n + m)

    return [
        (lift(k, c), k * e / ((n + rho) * (n + m)) + c / (n + m)),
        (lift(n, m), rho / (n + rho)),
    ]


def selection_identities() -> list[Sides]:
    """Step 4: the penalty is chosen so that E exp(η(w − pen)) = 1/A, and η so that both its parts
    weigh the same: with s² = σ²/(n+ρ), E e^(η(w−pen)) = e^(η²s²/2 − log A − η²s²/2), and the best η
    makes the sum of penalties √(2 T log A · σ² Σ 1/(n+ρ))."""
    eta, s2, z, A = symbols("eta s2 z A", positive=True)
    T, X, logA = symbols("T X l", positive=True)  # X = σ² Σ 1/(n + ρ)
    total = T * step_cost(logA, X / T, eta)
    found = sqrt(2 * T * logA / X)
    # E e^{ηw} = e^{η² s²/2}: the exponent −w²/(2s²) + ηw completed to a square.
    return [
        (-(z**2) / (2 * s2) + eta * z, -((z - eta * s2) ** 2) / (2 * s2) + eta**2 * s2 / 2),
        (exp(eta**2 * s2 / 2 - eta * step_cost(log(A), s2, eta)), 1 / A),
        (diff(total, eta).subs(eta, found), 0),
        (total.subs(eta, found), sqrt(2 * T * logA * X)),
    ]


def check_penalized_recursion() -> bool:
    """Step 4: given any data, E exp(η U_0) ≤ 1, and the noise along the policy that maximises Ṽ is
    on average at most the penalties along it: 8000 draws for each history."""
    rng = np.random.default_rng(4)
    for H, A in ((1, 4), (3, 2), (3, 4)):
        for data in example_histories(rng, H=H, A=A).values():
            data = data.as_floats()
            rho, sigma = data.m, min_sigma(H)
            given, w = shrunk_models(data, rho), sample_noise(rng, data, rho, sigma, 8000)
            for scale in (0.5, 1.0):  # of the η that is best if all pairs were like the average one
                eta = scale * np.sqrt(2 * np.log(A) / (sigma**2 / (given.n + rho)).mean())
                pen = noise_penalty(given.n, rho, sigma, A, eta)
                U = optimal_values(given.P_sh, w - pen, np.zeros(2))[0][:, 0]
                mu = optimal_values(given.P_sh, given.R_sh + w, np.zeros(2))[1]
                excess = policy_values(given.P_sh, w - pen, mu, np.zeros(2))[:, 0]
                for values, most in ((np.exp(eta * U), 1), (excess, 0)):
                    error = values.std(0) / np.sqrt(len(values))
                    if ((values.mean(0) - most) / error).max() > CHOSEN["standard errors"]:
                        return False
    return True


def counting_identities() -> list[Sides]:
    """Step 5: 1/(x + 1) ≤ log(1 + 1/x) for x > 0, as the difference falls to 0 with slope
    −1/(x(1+x)²); summed over x = j − 1 + ρ, Σ_{0<j<N} 1/(j + ρ) ≤ log(1 + N/ρ). That is concave
    in N: a period costs most when its visits are spread evenly."""
    x, N, r = symbols("x N r", positive=True)
    spare = log(1 + 1 / x) - 1 / (1 + x)
    return [
        (diff(spare, x), -1 / (x * (1 + x) ** 2)),
        (tends_to(spare, x, oo), 0),
        (diff(log(1 + N / r), N, 2), -1 / (N + r) ** 2),
    ]


def visit_sum_bound(L: int, pairs: int, rho: float) -> float:
    """SAΛ, at least the Σ 1/(n + ρ) of a period."""
    return float(pairs * (1 / rho + np.log1p(L / (pairs * rho))))


def check_counting_sums() -> bool:
    """Step 5 on the histories that cost most and on random ones: Σ 1/(n + ρ) ≤ SAΛ in a period."""
    rng = np.random.default_rng(5)
    for L, pairs, rho in product((1, 10, 1000, 100_000), (1, 4, 15, 400), (1.0, 10.0, 1000.0)):
        in_turn = np.arange(L) // pairs
        uneven = np.sort(rng.choice(pairs, L, p=rng.dirichlet(np.ones(pairs))))
        random = np.arange(L) - np.searchsorted(uneven, uneven)  # a pair after the other
        for n in (in_turn, random, np.arange(L)):
            if (1 / (n + rho)).sum() > visit_sum_bound(L, pairs, rho):
                return False
    return True


STEPS = (
    check_mean_optimism,
    check_telescope,
    shrunk_bias_identities,
    selection_identities,
    check_penalized_recursion,
    counting_identities,
    check_counting_sums,
)


# --------------------------------------------------------------------- what is measured


def add_bound(table: pd.DataFrame) -> pd.DataFrame:
    """Mean regret of each cell of the table, uniform play's, the bound, and the share of it."""
    cells = table.groupby(["parameters", "H", "S", "A", "episode"])
    means = cells[["regret", "uniform"]].mean().reset_index()

    def row(cell: Any) -> float:
        size = cell.H, cell.S, cell.A
        given = PARAMETERS[cell.parameters](theorem1_prior(*size))
        return float(regret_bound(*size, cell.episode, *given, 1.0))

    means = means.assign(bound=[row(cell) for cell in means.itertuples()])
    return means.assign(share=means.regret / means.bound)


def largest_share_of_bound(table: pd.DataFrame) -> Mean:
    """Of the bound that is measured in any cell, with an interval for all of them together."""
    cells = add_bound(table)
    worst = cells.loc[cells.share.idxmax()]
    setting = worst[["parameters", "H", "S", "A", "episode"]].to_frame().T.infer_objects()
    there = table.merge(setting)
    return mean_interval(there.regret / worst.bound, simultaneous_level(len(cells)))


def nontrivial_from(table: pd.DataFrame) -> dict[str, int]:
    """From how many episodes on the bound is below uniform play's regret at the base, by λ and σ."""
    H, S, A = BASE.values()
    base = table[(table.H == H) & (table.S == S) & (table.A == A)]
    last = base[base.episode == base.episode.max()]
    uniform, prior = float((last.uniform / last.episode).mean()), theorem1_prior(H, S, A)
    return {name: episodes_until(uniform, H, S, A, *of(prior)) for name, of in PARAMETERS.items()}
