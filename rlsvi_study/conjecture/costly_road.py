r"""The costly road: RLSVI as printed fails in a linear MDP, with the λ and σ that people use.

Two states, three features of length 1 at most, nothing random but the start: at the side with
probability p, else at the gate. On the road every step costs r, walk or leap.

========== ============================================ =========================================
period     gate, later dead                             side, later alive
========== ============================================ =========================================
0          quit: φ = (0, 0, x), reward 0                all actions: φ = (c, u, 0), reward −bu/x
.          leap: φ = (0, x, x), reward −b
1 to H − 1 all actions: φ = (0, 0, x), reward 0         walk: φ = (c, ½, 0), reward −r
.                                                       leap: φ = (c, u, 0), reward −r
========== ============================================ =========================================

Here x = √½ and c² + u² = 1. Transitions and rewards are linear in the features,
:math:`P(\text{alive} \mid \phi) = \phi_1/c`, :math:`P(\text{dead} \mid \phi) = \phi_3/x`,
:math:`r_0 = -b\phi_2/x` and :math:`r_h = -r\phi_1/c` after: a linear MDP (Jin et al. 2020), so the
features are closed under Bellman's operator. Jin et al. also ask for at most √d as the length of the
reward's weights and of :math:`\sum_{s'}\mu(s')`. That needs :math:`1/c^2 + 2 \le d`: with d > 3 there is
a third state, which no episode reaches, and whose actions have x times one of the other d − 3 coordinates
beside the third feature of the dead, so that μ is 0 in these coordinates.

The page *B. Proofs* has the theorem and its proof, with r̄ for r. There r ≤ min(σ, 1/√λ), ρ = λσ²,
:math:`n_0 = \lceil 20(\sigma/r)^2\log(20H)\rceil`, :math:`c^2 = \rho/(20n_0)` and
L = ⌈6n₀/p⌉ ≤ 4n₀((r/b) 1.17^(H−2) − 2). Here σ = 1, as only ρ and λr² matter.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import log_ndtr
from sympy import Matrix, sqrt, symbols

from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.runtime.checks import check_integer, check_positive, check_range
from rlsvi_core.runtime.compilation import Floats

from ..judging.algebra import Sides
from ..judging.intervals import Mean, mean_interval
from .hypotheses import is_bellman_closed, is_linear_mdp, meets_hypotheses

DEAD, ALIVE, AWAY = 0, 1, 2
X = math.sqrt(0.5)  # of the gate's features
WALK = 0.5  # a walk's second feature


def costly_road_mdp(
    H: int, p: float, c: float = 0.05, r: float = 0.15, b: float = 1.0, d: int = 3
) -> tuple[FiniteMDP, Floats]:
    """A linear MDP at whose gate a leap always loses, and on whose road every step costs the same.

    Parameters
    ----------
    H : number of periods, at least 2.
    p : the probability to start at the side.
    c : the first feature on the road.
    r : what each step on the road costs.
    b : what a leap at the gate costs.
    d : number of features.

    Returns
    -------
    (FiniteMDP, (H, 2, 2, 3) array)
        with states gate or dead (0) and side or alive (1), and the features. With d > 3 there is a
        third state, and as many actions as it needs.

    Examples
    --------
    >>> mdp, Phi = costly_road_mdp(H=4, p=0.1, c=0.6, r=0.25)
    >>> mdp.V[:, ALIVE].round(2), Phi[1, ALIVE]
    (array([-1.88, -0.75, -0.5 , -0.25,  0.  ]), array([[0.6, 0.5, 0. ],
           [0.6, 0.8, 0. ]]))
    """
    H = check_integer("H", H, 2, hint="The road begins in period 1: pass H=10, say.")
    d = check_integer("d", d, 3, hint="Gate and road need three features.")
    S, A = (2, 2) if d == 3 else (3, max(2, d - 3))
    check_positive(c=c, r=r, b=b)
    p = check_range("p", p, 0, 1, hint="So often an episode starts at the side: pass p=0.1, say.")
    c = check_range(
        "c", c, 0, 0.8, hint="It is small, so that walk and leap differ: pass c=0.05, say."
    )
    u = math.sqrt(1 - c * c)
    P, R, Phi = np.zeros((H, S, A, S)), np.zeros((H, S, A, S)), np.zeros((H, S, A, d))
    P[:, :, :, DEAD] = 1.0
    P[:, ALIVE] = np.eye(S)[ALIVE]
    Phi[:, DEAD, :, 2] = X
    Phi[0, DEAD, 1, 1] = X
    Phi[:, ALIVE, :, :2] = c, u
    Phi[1:, ALIVE, 0, 1] = WALK
    R[0, DEAD, 1] = -b
    R[0, ALIVE] = -b * u / X
    R[1:, ALIVE] = -r
    if d > 3:
        Phi[:, AWAY, :, 2] = X
        Phi[:, AWAY, range(A), np.minimum(np.arange(A) + 3, d - 1)] = X
    initial = np.zeros(S)
    initial[[DEAD, ALIVE]] = 1 - p, p
    return FiniteMDP(P, R, initial=initial), Phi


class Tuning(NamedTuple):
    """What the theorem is about, in units of σ."""

    H: int
    rho: float  # λσ²
    cost: float  # λr², at most 1 and, as r ≤ σ, at most ρ

    @property
    def step_cost(self) -> float:
        return math.sqrt(self.cost / self.rho)

    @property
    def n_0(self) -> int:
        """From so many starts at the side on, draws are harmless.

        >>> Tuning(H=10, rho=1.0, cost=1.0).n_0
        106
        """
        return math.ceil(20 / self.step_cost**2 * math.log(20 * self.H))

    @property
    def feature_scale(self) -> float:
        return math.sqrt(self.rho / (20 * self.n_0))


TUNINGS = tuple(
    Tuning(H, rho, share * min(1.0, rho))
    for H, rho, share in product(
        (2, 6, 10, 100, 1000), (1e-3, 0.1, 0.6, 1.0, 7.0, 1e4), (1.0, 0.03, 0.001)
    )
)
GROWTH, MOST_GROWTH = 1.17, 2.0  # a period multiplies by so much
WALKED = 2.4  # n₀ times so many rows are walks, at least
LOST = 9.0  # r times so much is lost on the way
POWER = 5200  # of 20H


class PeriodPosterior(NamedTuple):
    """One period's regression on the road, after these many walks and leaps."""

    mean: Floats  # the share of the next value in the weights
    covariance: Floats  # over σ²


def period_posterior(walks: float, leaps: float, tuning: Tuning) -> PeriodPosterior:
    """The regression of the road's two features.

    >>> one = period_posterior(100, 0, Tuning(H=10, rho=1.0, cost=1.0))
    >>> one.mean.round(3)
    array([0.083, 1.92 ])
    """
    walk, leap = road_features(tuning.feature_scale)
    M = tuning.rho * np.eye(2)
    M += walks * np.outer(walk, walk) + leaps * np.outer(leap, leap)
    inverse = np.asarray(np.linalg.inv(M), float)
    return PeriodPosterior(inverse @ (walks * walk + leaps * leap), inverse)


def road_features(c: float) -> tuple[Floats, Floats]:
    """Walk and leap."""
    return np.array([c, WALK]), np.array([c, math.sqrt(1 - c * c)])


def walk_leap_counts(
    low: float, high: float, walked: float, n_0: int
) -> Iterator[tuple[float, float]]:
    """(walks, leaps): so many rows as multiples of n₀, of which at least ``walked`` are walks."""
    for n in np.linspace(low, high, 9):
        for walks in np.linspace(walked, n, 21):
            yield walks * n_0, (n - walks) * n_0


# --------------------------------------------------------------------- the steps


def check_linear_road() -> bool:
    """The costly road is a linear MDP, deterministic but for its start, with exactly one θ, no feature
    longer than 1, and features that are closed under Bellman's operator. If d ≥ 1/c² + 2, r ≤ 1 and
    b ≤ √½ rewards lie in [−1, 0], and the reward's weights and Σμ are no longer than √d. It meets the hypotheses of Conjecture 1 if
    no cost is above σ and λΣ‖θ‖² ≤ dH, and not if λ is larger."""
    rng = np.random.default_rng(1)
    for H, c, r, b in product((2, 3, 8), (0.3, 0.55), (0.1, 1.0), (0.2, 0.7)):
        d = math.ceil(1 / c**2 + 2)
        for K in (3, d):
            mdp, Phi = world = costly_road_mdp(H, 0.3, c, r, b, K)
            weights = H * (H - 1) * (2 * H - 1) / 6 + (H - 1) ** 2  # of r²/c² in Σ‖θ‖²
            most = K * H / (weights * (r / c) ** 2 + (b / X) ** 2)
            sigma = max(r, b / X)
            if not (
                meets_hypotheses(world, most * (1 - 1e-9), sigma)
                and not meets_hypotheses(world, most * (1 + 1e-6), sigma)
                and is_linear_mdp(mdp, Phi)
                and is_bellman_closed(mdp, Phi, rng)
                and set(np.unique(mdp.P)) == {0.0, 1.0}
                and np.linalg.norm(Phi, axis=-1).max() <= 1 + 1e-12
            ):
                return False
        rewards = (mdp.P * mdp.R).sum(axis=3)
        for phi, reward in zip(Phi, rewards, strict=True):  # of the last, with d features
            both = np.column_stack([reward.ravel(), np.ones(reward.size)])
            weights = np.linalg.lstsq(phi.reshape(-1, d), both, rcond=None)[0]
            if np.linalg.norm(weights, axis=0).max() > math.sqrt(d):
                return False
        if rewards.min() < -1 or rewards.max() > 0:
            return False
    return True


def check_feature_count() -> bool:
    """In the theorem 1/c² ≤ 406 log(20H)/(λr²), and with 160 H² log(20H) features λΣ‖θ‖² ≤ dH if
    2λb² ≤ 1."""
    for one in TUNINGS:
        log = math.log(20 * one.H)
        weights = one.H * (one.H - 1) * (2 * one.H - 1) / 6 + (one.H - 1) ** 2
        squares = weights * one.cost / one.feature_scale**2 + 1
        if 1 / one.feature_scale**2 > 406 * log / one.cost or squares > 160 * one.H**3 * log:
            return False
    return True


def check_early_draws() -> bool:
    """After n₀ ≤ n ≤ 5n₀ starts at the side, of which any share walked in a period, θ₂ and a walk's value
    have means below 0 by 1.77 √log(20H) standard deviations or more, if the next value is at most 0. So
    with probability 1 − 1/(20H) the period walks and its value is below 0."""
    for one in TUNINGS:
        walk, _ = road_features(one.feature_scale)
        enough = 1.77 * math.sqrt(math.log(20 * one.H))
        for split in walk_leap_counts(1, 5, 0, one.n_0):
            mean, covariance = period_posterior(*split, one)
            second = one.step_cost * mean[1] / math.sqrt(covariance[1, 1])
            whole_walk = one.step_cost * (walk @ mean) / math.sqrt(walk @ covariance @ walk)
            if min(second, whole_walk) < enough:
                return False
        if 2 * math.exp(log_ndtr(-enough)) > 1 / (20 * one.H):
            return False
    return True


def check_amplification() -> bool:
    """After 4n₀ ≤ n ≤ 5n₀ starts, of which at least 2.4n₀ walked, a leap is worth 1.17 to 2 times the
    next value, and its noise has a standard deviation of at least σ/√(5.1n₀). The costs of all periods
    take at most 9r of what the last one sampled: 1.17/0.17 + 2."""
    for one in TUNINGS:
        _, leap = road_features(one.feature_scale)
        for split in walk_leap_counts(4, 5, WALKED, one.n_0):
            mean, covariance = period_posterior(*split, one)
            if not GROWTH <= leap @ mean <= MOST_GROWTH:
                return False
            if leap @ covariance @ leap < 1 / (5.1 * one.n_0):
                return False
    return GROWTH / (GROWTH - 1) + MOST_GROWTH <= LOST


def gate_identities() -> list[Sides]:
    """After n starts at the side, m leaps and k quits θ̃_{0,2} is, up to a positive factor and noise,
    nuρ(X₁ − bu/x)/(ρ + nc²) − mx(b(ρ + kx²) − ρY)/(ρ + (m + k)x²): the normal equations of period 0,
    without θ_1 and θ_3."""
    rho, b, n, m, k, c, u, x = symbols("rho b n m k c u x", positive=True)
    X_1, Y = symbols("X_1 Y", real=True)
    side, leaps, quits = Matrix([c, u, 0]), Matrix([0, x, x]), Matrix([0, 0, x])
    M = rho * Matrix.eye(3) + n * side * side.T + m * leaps * leaps.T + k * quits * quits.T
    right = n * (X_1 - b * u / x) * side + m * (Y - b) * leaps + k * Y * quits
    rest = M.extract([1], [0, 2]) * Matrix.diag(1 / M[0, 0], 1 / M[2, 2])
    factor = (M.extract([1], [1]) - rest * M.extract([0, 2], [1]))[0]
    pull = (right.extract([1], [0]) - rest * right.extract([0, 2], [0]))[0]
    return [
        (M[0, 2], 0),
        (
            factor,
            rho
            + n * u**2 * rho / (rho + n * c**2)
            + m * x**2 * (rho + k * x**2) / (rho + (m + k) * x**2),
        ),
        (
            pull,
            n * u * rho * (X_1 - b * u / x) / (rho + n * c**2)
            - m * x * (b * (rho + k * x**2) - rho * Y) / (rho + (m + k) * x**2),
        ),
    ]


def check_few_leaps() -> bool:
    """With n ≥ 4n₀ and X₁ ≥ rΠ the first term is at least the second with Y = 0, for every number of leaps
    up to L ≤ 4n₀(rΠ/b − 2): 0.8 · 4n₀u(rΠ − bu/x) ≥ Lbx."""
    for one, over in product(TUNINGS, (2.5, 10.0, 1e6)):  # rΠ/b
        u = math.sqrt(1 - one.feature_scale**2)
        L = 4 * one.n_0 * (over - 2)
        for n in (4 * one.n_0, 5 * one.n_0):
            if one.rho / (one.rho + n * one.feature_scale**2) < 0.8 - 1e-12:
                return False
        if 0.8 * 4 * one.n_0 * u * (over - u / X) < L * X:
            return False
    return True


def check_counting() -> bool:
    """n₀ ≥ 73 and n₀ ≥ 73ρ. Of 3n₀ starts 2.4n₀ walk throughout but for e^{−0.4n₀}, if each does with probability
    19/20. At least 5n₀ of L episodes start at the side but for e^{−n₀/12}. So bL/51 episodes start at
    the gate meanwhile and, by ½ · ½, leap if N ≥ 10r; and this has at least the probability
    (20H)^{−5200} · 51/60."""
    divergence = 0.8 * math.log(0.8 / 0.95) + 0.2 * math.log(0.2 / 0.05)
    if 3 * divergence < 0.4 or 2.4 > 0.8 * 3:
        return False
    for one in TUNINGS:
        n_0 = one.n_0
        L = 6 * n_0 / 0.5 + 1  # for the largest p; a smaller one gives more
        gate = 0.5 * (L - 1) / 6 * (1 - math.exp(-n_0 / 12))  # (1 − p)n₀/p, p ≤ ½
        share = gate * (1 - math.exp(-0.4 * n_0)) / 4
        tail = log_ndtr(-10 * one.step_cost * math.sqrt(5.1 * n_0))
        if (
            n_0 < 73 * max(1, one.rho)
            or share < L / 51
            or tail < math.log(51 / 60) - POWER * math.log(20 * one.H)
        ):
            return False
    return True


def proved_growth(H: int, cost: float = 1.0) -> float:
    """The logarithm of the least regret over √T that the theorem has for the longest run, with r = b:
    √(L/H)(20H)^{−5200}b/60.

    >>> proved_growth(10**6) < 0 < proved_growth(1_200_000)
    True
    """
    log = math.log(20 * H)
    episodes = math.log(4 * 20 / cost * log) + (H - 2) * math.log(GROWTH)
    return 0.5 * (episodes - math.log(H)) - POWER * log - math.log(60)


def check_road_growth() -> bool:
    """The theorem's regret over √T grows from some H on, for ever and exponentially."""
    return all(
        proved_growth(H + H // 10) > proved_growth(H) + H // 200 for H in (10**6, 10**7, 10**8)
    )


def observation_identities() -> list[Sides]:
    """t/(t² + ρ) ≤ 1/(2√ρ), with equality at t = √ρ; and n equal observations of length √(ρ/n) hand on
    √(n/ρ)/2 of their target to a feature of length 1."""
    t, rho, n = symbols("t rho n", positive=True)
    length = sqrt(rho / n)
    return [
        (
            1 / (2 * sqrt(rho)) - t / (t**2 + rho),
            (t - sqrt(rho)) ** 2 / (2 * sqrt(rho) * (t**2 + rho)),
        ),
        (n * length / (n * length**2 + rho), sqrt(n / rho) / 2),
    ]


STEPS = (
    check_linear_road,
    check_feature_count,
    check_early_draws,
    check_amplification,
    gate_identities,
    check_few_leaps,
    check_counting,
    check_road_growth,
    observation_identities,
)


# --------------------------------------------------------------------- what is measured


def regret_per_sqrt_T(table: pd.DataFrame, agent: str) -> dict[int, Mean]:
    """Mean regret over √T by H, with Student's interval."""
    return {
        int(H): mean_interval(cell.regret / np.sqrt(H * cell.episodes))
        for H, cell in table[table.agent == agent].groupby("H")
    }


def mean_errors(table: pd.DataFrame, world: str) -> dict[int, float]:
    """The geometric mean of the largest errors, by H."""
    return {
        int(H): math.exp(np.log(cell.error).mean())
        for H, cell in table[table.world == world].groupby("H")
    }


def regret_trend(means: Sequence[float]) -> str:
    """The word for regret over √T at rising H, by the rule of ``experiments``."""
    if all(later >= 1.5 * early for early, later in pairwise(means)):
        return "grows"
    return "does not grow" if means[-1] <= 2 * means[0] else "between"


def error_trend(errors: Mapping[int, float]) -> str:
    """The word for the largest error, by the rule of ``experiments``, whose two halves do not
    exclude each other: errors whose share of H tends to a constant from below can meet both."""
    factors = [later / early for early, later in pairwise(errors.values())]
    first, last = min(errors), max(errors)
    grows = all(later > early for early, later in pairwise(factors))
    level = errors[last] / last <= 1.5 * errors[first] / first
    if grows and level:
        return "both"
    return "grows" if grows else "does not grow" if level else "between"
