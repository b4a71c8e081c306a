r"""The gambles, which refute Conjecture 1 as printed: RLSVI's law after any games, and the steps.

After m games let losses lead by xm. The page *B. Proofs* has the theorem and its proof, for
λ, σ > 0, ρ = λσ², and a chance of 0.55 to win. The worlds are in ``counterexamples``.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from flint import arb, fmpq
from scipy.special import gammaln, log_ndtr, logsumexp
from scipy.stats import binom
from sympy import diff, erfc, exp, log, oo, pi, sqrt, symbols
from sympy import limit as tends_to

from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.optimism.balls import to_ball_rational

from ..counterexamples import gamble, long_gamble
from ..judging.algebra import Sides, expressions_equal
from ..judging.intervals import Mean, bootstrap_interval

WIN, LOSE = fmpq(11, 20), fmpq(9, 20)
WORST = {1: fmpq(73, 100), 4: fmpq(63, 200), 8: fmpq(24, 100)}  # x, by H; 1 is the gamble


def decay_rate(H: Any, x: Any) -> Any:
    """γ_x: after m games of which losses lead by xm, P(play) ≤ ½e^{−γ_x(m − 2Hρ)}."""
    return 2 * x**2 if H == 1 else H**2 * x**2 / (2 * (1 + (H - 1) * x**2))


def kl_divergence(x: arb) -> arb:
    """KL((1 − x)/2 ‖ 0.55) for 0 ≤ x < 1."""
    q = (1 - x) / 2
    return q * (q / WIN).log() + (1 - q) * ((1 - q) / LOSE).log()


def regret_exponent(H: int, x: fmpq) -> arb:
    """The power of L in the lower bound that the histories of this x give."""
    return 1 - kl_divergence(arb(x)) / decay_rate(H, arb(x))


def stored_ridge(H: int) -> fmpq:
    """ρ in the stored runs."""
    return fmpq(1) if H == 1 else fmpq(3, H**2)


def gamble_lower_bound(L: int, H: int = 1) -> float:
    """What the expected regret on a gamble is at least, with the worst of some x."""
    x = np.linspace(0.05, 1, 96)
    m = np.ceil(np.log(L) / decay_rate(H, x) + 2 * H * float(to_ball_rational(stored_ridge(H))))
    bad = binom.cdf(np.floor((1 - x) / 2 * m + 1e-9), m, 0.55)
    return float((0.1 * max(H, 2) / 2 * np.clip(L - m, 0, None) * bad).max())


def exact_posterior(
    world: tuple[FiniteMDP, np.ndarray], rho: Fraction, wins: int, losses: int
) -> tuple[Fraction, Fraction]:
    """Mean and variance of θ̃_0 on a gamble after such games, for σ = 1: Algorithm 1 with one
    feature in exact arithmetic. Won and lost have the same features for all actions, so a target
    is linear in the next period's weight."""
    mdp, Phi = world
    mean, variance = Fraction(0), Fraction(0)
    for h in reversed(range(mdp.H)):
        M, Ab, handed_on = rho, Fraction(0), Fraction(0)
        for n, s_next in ((wins, 1), (losses, 2)):
            s = s_next if h else 0
            phi = Fraction(Phi[h, s, 1, 0])
            r = Fraction(mdp.R[h, s, 1, s_next])
            M += n * phi**2
            if h == mdp.H - 1:
                Ab += n * phi * (r + Fraction(mdp.terminal[s_next]))
            else:
                Ab += n * phi * r
                handed_on += n * phi * Fraction(Phi[h + 1, s_next, 1, 0])
        mean = (Ab + handed_on * mean) / M
        variance = (handed_on / M) ** 2 * variance + 1 / M
    return mean, variance


# --------------------------------------------------------------------- the steps


def wait_identities() -> list[Sides]:
    """Φ(−y) ≤ ½e^{−y²/2} for y ≥ 0: the difference is 0 at 0, rises up to y = √(2/π) and then
    falls to 0. (1 − u)^n ≥ 1 − nu: the difference is u² times a sum of terms (n − 1 − j)(1 − u)^j,
    none of them negative. And ½e^{−c(m − 2Hρ)} = 1/(2L) at m = log(L)/c + 2Hρ."""
    y, u, c, L, twice_H_rho = symbols("y u c L r", positive=True)
    half_bell = exp(-(y**2) / 2) / 2
    spare = half_bell - erfc(y / sqrt(2)) / 2
    powers = [
        ((1 - u) ** n - 1 + n * u, u**2 * sum((n - 1 - j) * (1 - u) ** j for j in range(n - 1)))
        for n in range(2, 17, 2)
    ]
    m = log(L) / c + twice_H_rho
    return [
        (diff(spare, y), (sqrt(2 / pi) - y) * half_bell),
        (spare.subs(y, 0), 0),
        (tends_to(spare, y, oo), 0),
        *powers,
        (exp(-c * (m - twice_H_rho)) / 2, 1 / (2 * L)),
    ]


def check_gamble_posterior() -> bool:
    """On the gambles θ̃_0 has the mean −xσΣκ^j and the variance σ²(1 + x²Σκ^{2j})/(m + ρ) that the
    proof says, and at most −mean/deviation ≥ √(2γ_x(m − 2Hρ)): in fractions, for one period and
    for 2 to 12, up to 1000 games."""
    for H, rho in ((1, Fraction(1)), *((H, Fraction(3, H**2)) for H in range(2, 13))):
        for m, w in ((1, 0), (7, 2), (40, 19), (300, 60), (1000, 300)):
            x, kappa = 1 - Fraction(2 * w, m), m / (m + rho)
            if H == 1:
                proved = -2 * x * kappa, 1 / (m + rho)
            else:
                proved = (
                    -x * sum(kappa**j for j in range(1, H + 1)),
                    (1 + x**2 * sum(kappa ** (2 * j) for j in range(1, H))) / (m + rho),
                )
            found = exact_posterior(gamble() if H == 1 else long_gamble(H), rho, w, m - w)
            mean, variance = found
            if found != proved or mean**2 / variance < 2 * decay_rate(H, x) * (m - 2 * H * rho):
                return False
    return True


def check_bad_histories() -> bool:
    """At most qm of m games are won with probability at least (9/11)(q/(2 − q))e^{−mD}/(m + 1),
    compared with the exact one up to m = 400; that gives the powers 0.647 on the gamble, 0.857 and
    0.955 on the long one with H = 4 and 8. With all games lost the power is
    1 − (2/H) log(1/0.45), which tends to 1."""
    for x in WORST.values():
        q, D = (1 - x) / 2, kl_divergence(arb(x))
        first = math.ceil(Fraction(int(2 / q * 1000), 1000)) + 1
        for m in range(first, 400, 3):
            k = int((q * m).floor())
            lost = sum(math.comb(m, j) * 11**j * 9 ** (m - j) for j in range(k + 1))
            least = arb(LOSE / WIN * q / (2 - q)) * (-m * D).exp() / (m + 1)
            if not arb(fmpq(lost, 20**m)) > least:
                return False
    proved = {1: fmpq(647, 1000), 4: fmpq(857, 1000), 8: fmpq(955, 1000)}
    H = symbols("H", positive=True)
    all_lost = expressions_equal(1 / decay_rate(H, 1), 2 / H)
    return all_lost and all(bool(regret_exponent(H, x) > arb(proved[H])) for H, x in WORST.items())


STEPS = wait_identities, check_gamble_posterior, check_bad_histories


# --------------------------------------------------------------------- what is measured


def log_wait(f: float, m: int) -> float:
    """Log of the mean number of episodes up to the next game after m games on the gamble, if the
    agent's σ is f times that of the rewards and λ = 1: Σ_w P(w wins)/Φ(z), to rounding."""
    wins, factorials = np.arange(m + 1), gammaln(np.arange(1.0, m + 2))
    z = 2 * (2 * wins - m) / (f * math.sqrt(m + f * f))
    log_chance = (
        factorials[m]
        - factorials
        - factorials[::-1]
        + wins * math.log(0.55)
        + (m - wins) * math.log(0.45)
    )
    return float(logsumexp(log_chance - log_ndtr(z)))


def regret_after_waits(f: float, games: int) -> float:
    """Expected regret on the gamble up to so many games, if one waits for them: 0.2 a pass."""
    return 0.2 * sum(math.expm1(log_wait(f, m)) for m in range(games))


def fitted_exponent(table: pd.DataFrame) -> Mean:
    """The power of L that mean regret follows over the last three decades, and its interval when
    runs are resampled."""
    last = table.episode.max()
    late, early = (
        table[table.episode == L].sort_values("seed").regret.to_numpy()
        for L in (last, last // 1000)
    )
    return bootstrap_interval(
        lambda i: np.log10(late[i].mean(-1) / early[i].mean(-1)) / 3, np.arange(len(late))
    )


def gamble_runs(tables: Mapping[str, pd.DataFrame]) -> dict[int, pd.DataFrame]:
    """The runs on each gamble with the σ of a reward, by H."""
    short, long = tables["gamble"], tables["long-gamble"]
    return {1: short[short.factor == 1], **{int(H): own for H, own in long.groupby("H")}}
