r"""Both terms of the explicit bound are real: lower bounds for RLSVI, and the steps of their proofs.

The page *5. Proofs* has statements and proofs, under *Both terms are real*. :math:`\rho = \lambda\sigma^2`,
n are the visits of an arm so far, :math:`\kappa = n/(n+\rho)`, w and b in an index the worse and the
better arm (i and j there); ``pen`` is the price c of a step in the fourth step of the explicit bound.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from sympy import Rational, diff, erfc, exp, log, pi, sqrt, symbols

from rlsvi_core.optimism.balls import certified_sign

from ..judging.algebra import Sides
from ..parameters import min_sigma
from .shrunk_model import Array, fractions, optimal_values
from .upper_bound import (
    bound_terms,
    check_counting_sums,
    check_penalized_recursion,
    counting_identities,
    selection_identities,
    smallest_integer,
    step_cost,
    visit_sum_bound,
)

LAM = 2  # Theorem 1's smallest λ with weights of 1 in all
LEAST_H = 64  # of part (b)


# --------------------------------------------------------------------- later values stay low


def random_losses(rng: np.random.Generator, H: int) -> Array:
    """Some d_0 ≥ … ≥ d_H = 0: what is lost for sure from a period on."""
    return fractions(np.append(np.sort(rng.integers(0, 2 * H, H))[::-1], 0), 2)


def lemma_slack(n: Array, R: Array, w: Array, pen: Array, rho: Fraction, d: Array) -> Array:
    """U_k + Σ((1−κ)d_0 + pen) − D_k for k < H, with the arms that are played; R sums rewards."""
    kappa = n / (n + rho)
    P = kappa[:, None, :, None]
    V, mu = optimal_values(P, (R / (n + rho) + w)[:, None], np.zeros(1, int))
    U = optimal_values(P, (w - pen)[:, None], np.zeros(1, int))[0]
    costs = (1 - kappa) * d[0] + pen
    played = np.take_along_axis(costs, mu, 1)[:, 0]
    return (U[:-1, 0] + played[::-1].cumsum()[::-1]) - (V[:-1, 0] + d[:-1])


def check_later_values() -> bool:
    """If no arm pays more than d_{h+1} − d_h, D_k is at most what the proof says: as fractions in 300
    cases with any visits, rewards, noise and penalties."""
    rng, H = np.random.default_rng(8), 6
    for _ in range(300):
        A, rho = int(rng.integers(2, 5)), Fraction(int(rng.integers(1, 40)), 4)
        n = fractions(rng.integers(0, rng.choice([2, 30, 1000]), (H, A)))
        d, less = random_losses(rng, H), fractions(rng.integers(0, 3, (H, A)), 4)
        R = n * ((d[1:] - d[:-1])[:, None] - less)
        w, pen = (fractions(rng.integers(low, 60, (H, A)), 8) for low in (-60, 1))
        if (lemma_slack(n, R, w, pen, rho, d) < 0).any():
            return False
    return True


def max_high_episodes(A: Any, Lambda: Any, rho: Any, s2: Any, d_0: Any, xi: Any) -> Any:
    """In how many episodes more than 2ξH is left, at most."""
    return A * Lambda / (2 * xi) * (rho * d_0 + s2 * log(A) / (2 * xi))


def lemma_identities() -> list[Sides]:
    """Why D_k lags, what the choice of η leaves, and how often that is too much."""
    k, d_h, d_next, d_0, H, A, rho, s2, N, Lambda, xi = symbols(
        "k d_h d_next d_0 H A rho s2 N Lambda xi", positive=True
    )
    eta = log(A) / xi
    left = (rho * d_0 + s2 * log(A) / (2 * xi)) * A * H * Lambda
    return [
        (k * (d_next - d_h) + d_h - k * d_next, (1 - k) * d_h),
        (step_cost(log(A), s2 / N, eta), xi + s2 * log(A) / (2 * xi * N)),
        (exp(-eta * xi * H), A ** (-H)),
        (left / (2 * xi * H), max_high_episodes(A, Lambda, rho, s2, d_0, xi)),
    ]


def both_parts_identities() -> list[Sides]:
    """The lemma with d_0 = H/2 and ξ = 1/16; in (b), where 16σ² log A ≤ ρH, as a share of L/2S."""
    H, A, S, rho, s2, Lambda = symbols("H A S rho s2 Lambda", positive=True)
    often = max_high_episodes(A, Lambda, rho, s2, H / 2, Rational(1, 16))
    most, episodes = often.subs(s2, rho * H / (16 * log(A))), 40 * A * rho * H * Lambda
    return [
        (often, 4 * A * Lambda * (rho * H + 16 * s2 * log(A))),
        (80 * S * A * rho * H * Lambda / (2 * S), episodes),
        (most / episodes, Rational(1, 5)),
    ]


def mean_difference(kappa_w: Any, kappa_b: Any, R_w: Any, R_b: Any, V: Any) -> Any:
    """The mean of Q̃_w − Q̃_b, given that Ṽ_{h+1} = V."""
    return kappa_w * (R_w + V) - kappa_b * (R_b + V)


LATER = (
    selection_identities,
    check_penalized_recursion,
    counting_identities,
    check_counting_sums,
    check_later_values,
    lemma_identities,
    both_parts_identities,
)

# --------------------------------------------------------------------- (a) the first term


def min_share(p: Any) -> Any:
    """How often w is played at least, if with probability p whenever it is not ahead in visits."""
    return p / (1 + 2 * p)


def min_expected_visits(p: Fraction, L: int, A: int = 2) -> Fraction:
    """The smallest expected number of episodes without b over all that chances can be, if b is left
    out with probability p at least whenever some other arm has no more visits: by dynamic
    programming, backwards in time."""

    @cache
    def least(n_b: int, others: tuple[int, ...]) -> Fraction:
        if n_b + sum(others) == L:
            return Fraction(sum(others))
        low = p if min(others) <= n_b else Fraction(0)
        without = min(
            least(n_b, tuple(sorted((*others[:i], others[i] + 1, *others[i + 1 :]))))
            for i in range(A - 1)
        )
        return min(without, (1 - low) * least(n_b + 1, others) + low * without)

    return least(0, (0,) * (A - 1))


def check_min_visits() -> bool:
    """The count of part (a) is at least the exact one, with p = 4/25, about Φ(−1)."""
    p = Fraction(4, 25)
    return all(
        min_expected_visits(p, L, A) >= min_share(p) * L
        for A, most in ((2, 24), (3, 12), (4, 10))
        for L in range(1, most)
    )


def part_a_identities() -> list[Sides]:
    kw, kb, y, gap, n, rho, H, S, A, L, sigma = symbols(
        "k q y D n rho H S A L sigma", positive=True
    )
    p, N, late = symbols("p N late", positive=True)
    once = sigma * sqrt(2 * S * A / L)
    return [
        (mean_difference(kw, kb, -gap, 0, -y), (kb - kw) * y - kw * gap),
        ((n / (n + rho)) ** 2 * (n + rho), n - n * rho / (n + rho)),
        ((1 + 2 * p) * (N - min_share(p) * L), (N - p * (L - late)) + 2 * p * (N - late / 2)),
        ((A - 1) / A - Rational(1, 2), (A - 2) / (2 * A)),
        (S * H / 2 * once * L / (2 * S), sqrt(2) / 4 * sigma * H * sqrt(S * A * L)),
    ]


def part_a_constant() -> arb:
    """The constant of part (a), as a ball."""
    p = (1 / arb(2).sqrt()).erfc() / 2
    once = arb(2) ** -8 + (-arb(64)).exp()  # an episode with z = 0 of L′ ≥ 256, and too few starts
    return arb(2).sqrt() / 4 * min_share(p) * (arb(3) / 4 - arb(2) ** -8 - once)


def check_part_a_constant() -> bool:
    return certified_sign(lambda: part_a_constant() - arb("0.03")) > 0


FIRST_TERM = *LATER, part_a_identities, check_min_visits, check_part_a_constant


# --------------------------------------------------------------------- (b) the second term


class ProvedBound(NamedTuple):
    """What part (b) says of an MDP."""

    L: int  # from so many episodes on
    regret: float  # at least, after so many


def part_b_bound(H: int, S: int, A: int, lam: float, sigma: float) -> ProvedBound:
    """Part (b)."""
    rho = lam * sigma**2
    L = smallest_integer(lambda L: 80 * visit_sum_bound(L, S * A, rho) * rho * H <= L)
    return ProvedBound(L, 3 / 512 * rho * H**2 * S * (A - 1))


def part_b_at_printed(H: int, S: int = 1, A: int = 2) -> ProvedBound:
    """Part (b) at the smallest λ and σ printed."""
    return part_b_bound(H, S, A, LAM, np.sqrt(H**2 + 1.0))


def part_b_identities() -> list[Sides]:
    """N_c = 4N_a + e and (1 − κ)H = 32 + x, with e, x ≥ 0; n + ρ is N, with a for i and c for j."""
    N, e, x, rho, H, S, A, lam, t = symbols("N e x rho H S A lam t", positive=True)
    far = 32 + x  # (1 − κ)H
    mean, shrunk = 5 * far / 32, far / H
    gap = exp(-(t**2) / 2) / 2 - erfc(t / sqrt(2)) / 2  # 0 at both ends, rises and then falls
    return [
        (rho / N - rho / (4 * N + e), 3 * rho / (4 * N) + rho * e / (4 * N * (4 * N + e))),
        (1 / N + 1 / (4 * N + e), 5 / (4 * N) - e / (4 * N * (4 * N + e))),
        (3 * far / 16 - 1, mean + x / 32),
        (mean**2 / (2 * 5 * shrunk / (4 * lam)), 5 * lam * H / 16 + 5 * lam * H * x / 512),
        (diff(gap, t), exp(-(t**2) / 2) * (1 / sqrt(2 * pi) - t / 2)),
        (A * (rho * (H / 8 - 1) + 1), A * rho * H / 8 - A * (rho - 1)),
        (rho * (H / 32 - 1), rho * H / 64 + rho * (H - 64) / 64),
        (
            Rational(3, 4) * rho * H / 64 * H / 2 * S * (A - 1),
            Rational(3, 512) * rho * H**2 * S * (A - 1),
        ),
    ]


def check_unlikely_event() -> bool:
    """That all actions were not tried often enough has a probability below ¼; an episode with z = 0 is
    one of L′ ≥ 40AρHΛ."""
    once = arb(1) / (80 * LEAST_H)
    unlikely = arb(1) / 5 + arb(1) / 160 + arb(2) ** -LEAST_H + (-arb(LEAST_H)).exp() + once
    return certified_sign(lambda: arb(1) / 4 - unlikely) > 0


def check_second_term_growth() -> bool:
    """The proved regret over √T grows like a larger power of H than 3/2, and like S(A − 1)."""
    over = []
    for H in (LEAST_H * 10**k for k in range(10)):
        one = part_b_at_printed(H)
        over.append(np.log10(one.regret / np.sqrt(float(H * one.L))))
    sizes = [part_b_at_printed(LEAST_H, S, A).regret for S, A in ((1, 2), (4, 2), (1, 5))]
    return bool(min(np.diff(over)) > 1.5 and np.allclose(sizes, sizes[0] * np.array([1, 4, 4])))


def check_least_ridge() -> bool:
    """With ρ = m = 1 and the least σ the smaller of HL and Theorem 1's bound is at most √(H³SAT) times
    1 + √(log A Λ), as σ ≤ H and (1 + log(1 + x))/√x is bounded for x ≥ 1."""
    H, S, A, L = np.meshgrid(*[[1, 2, 5, 100, 10**4]] * 3, 10.0 ** np.arange(0, 40, 0.5))
    A, sigma = A + 1, min_sigma(H)
    most = np.minimum(H * L, sum(bound_terms(H, S, A, L, 1 / sigma**2, sigma)))
    logs = 1 + np.sqrt(np.log(A) * (1 + np.log1p(L / (S * A))))
    return bool((most <= H**2 * np.sqrt(S * A * L) * logs).all())


SECOND_TERM = (
    *LATER,
    part_b_identities,
    check_unlikely_event,
    check_second_term_growth,
    check_least_ridge,
)


def first_exceeding_H(printed: Callable[[int, float], float]) -> int:
    """The first H from which on part (b) is proved to exceed what is printed for H and T, at S = 1, A = 2
    and the smallest λ and σ printed; both grow with H."""

    def above(k: int) -> bool:
        H = LEAST_H + 2 * (k - 1)
        one = part_b_at_printed(H)
        return bool(one.regret > printed(H, float(H * one.L)))

    return LEAST_H + 2 * (smallest_integer(above) - 1)


def printed_rate_bound(H: int, T: float) -> float:
    """√(H³SAT) at S = 1, A = 2."""
    return float(np.sqrt(2.0 * H**3 * T))


def last_display_bound(H: int, T: float) -> float:
    """2SAH + ΣK log(T + K) + H√(SAHT log T) at S = 1, A = 2, 1ᵀα = 1 each, with the largest K."""
    K, pairs = 1.0 + H, 2
    return float(
        2 * pairs * H + pairs * H * K * np.log(T + K) + H * np.sqrt(pairs * H * T * np.log(T))
    )
