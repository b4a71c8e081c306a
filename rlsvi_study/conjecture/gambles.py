r"""The gambles of Conjecture 1: RLSVI's law after any games, and how long it stays silent.

After m games let losses lead by xm. Chapter B has the proofs; here are their functions, exact, in balls
or in floating point, for λ, σ > 0, ρ = λσ², and a chance of 0.55 to win.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from flint import arb, fmpq
from scipy.special import gammaln, log_ndtr, logsumexp
from scipy.stats import binom

from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.optimism.balls import exact

from ..judging.intervals import Mean, bootstrap

WIN, LOSE = fmpq(11, 20), fmpq(9, 20)
WORST = {1: fmpq(73, 100), 4: fmpq(63, 200), 8: fmpq(24, 100)}  # x, by H; 1 is the gamble
NOISE = {  # f* lies between, by H
    1: (fmpq(1684, 1000), fmpq(1685, 1000)),
    4: (fmpq(2650, 1000), fmpq(2651, 1000)),
    8: (fmpq(4751, 1000), fmpq(4752, 1000)),
}


def certainty(H: Any, x: Any) -> Any:
    """c_x: after m games of which losses lead by xm, P(play) ≤ ½e^{−c_x(m − 2Hρ)}."""
    return 2 * x**2 if H == 1 else H**2 * x**2 / (2 * (1 + (H - 1) * x**2))


def divergence(x: arb) -> arb:
    """KL((1 − x)/2 ‖ 0.55) for 0 ≤ x < 1."""
    q = (1 - x) / 2
    return q * (q / WIN).log() + (1 - q) * ((1 - q) / LOSE).log()


def power(H: int, x: fmpq) -> arb:
    """The power of L in the lower bound that the histories of this x give."""
    return 1 - divergence(arb(x)) / certainty(H, arb(x))


def ridge(H: int) -> fmpq:
    """ρ in the stored runs."""
    return fmpq(1) if H == 1 else fmpq(3, H**2)


def gamble_bound(L: int, H: int = 1) -> float:
    """What the expected regret on a gamble is at least, with the worst of some x."""
    x = np.linspace(0.05, 1, 96)
    m = np.ceil(np.log(L) / certainty(H, x) + 2 * H * float(exact(ridge(H))))
    bad = binom.cdf(np.floor((1 - x) / 2 * m + 1e-9), m, 0.55)
    return float((0.1 * max(H, 2) / 2 * np.clip(L - m, 0, None) * bad).max())


def law(
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
                Ab, handed_on = (
                    Ab + n * phi * r,
                    handed_on + n * phi * Fraction(Phi[h + 1, s_next, 1, 0]),
                )
        mean = (Ab + handed_on * mean) / M
        variance = (handed_on / M) ** 2 * variance + 1 / M
    return mean, variance


def silence(f: float, m: int) -> float:
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


def threshold_between(H: int, low: fmpq, high: fmpq, steps: int = 20_000) -> bool:
    """Whether f* is certified to lie between these numbers: at the worst x it is above the first, and
    between two neighbours of a grid, as c_x and KL grow with x, never above the second."""
    grid = [arb(fmpq(i, steps)) for i in range(steps + 1)]
    x = arb(WORST[H])
    above = certainty(H, x) > low**2 * divergence(x)
    below = all(certainty(H, b) < high**2 * divergence(a) for a, b in pairwise(grid))
    return bool(above and below)


@cache
def regret_in_the_end(f: float, games: int) -> float:
    """Expected regret on the gamble up to so many games, if one waits for them: 0.2 a pass."""
    return 0.2 * sum(math.expm1(silence(f, m)) for m in range(games))


def later_regret(games: int) -> arb:
    """What it is at most after so many games (200 or more) with f = 2 and λσ² = 1. With d = m − 2w
    after w wins, C(m, w)/2^m ≤ e^{−d²/2m} bounds what a history adds by
    0.99^{m/2} (9/11)^{d/2} √(2π) (1 + d/√(m + 4)) if d ≥ 0, and by 0.99^{m/2} e^{γ|d| − d²/(m + 4)}
    with γ = ½ log(11/9) if d < 0."""
    m, r = arb(games), arb(fmpq(9, 11))
    gamma = (1 / r).log() / 2
    shrink = (arb(fmpq(99, 100)).log() / 2).exp()
    lost = (2 * arb.pi()).sqrt() * (1 / (1 - r) + 2 * r / (1 - r) ** 2 / (m + 4).sqrt())
    lost *= shrink**games / (1 - shrink)
    rate = -arb(fmpq(99, 100)).log() / 2 - gamma**2 / 4
    won = (gamma**2 - rate * m).exp() * (1 + (arb.pi() * (m + 4)).sqrt() / 2)
    ratio = (-rate + 1 / (2 * (m + 4))).exp()  # a term over the one before it, at most
    return (lost + won / (1 - ratio)) / 5


def pooled(kappa: Any, H: int, x2: Any) -> Any:
    """What y²f²/(x²m) is on the long gamble, for x² = x2; at κ = 1 it is H²/(1 + (H − 1)x²)."""
    later = sum(kappa ** (2 * j) for j in range(1, H))
    return kappa * sum(kappa**j for j in range(H)) ** 2 / (1 + x2 * later)


def slopes(table: pd.DataFrame) -> Mean:
    """The power of L that mean regret follows over the last three decades, and its interval when
    runs are resampled."""
    last = table.episode.max()
    late, early = (
        table[table.episode == L].sort_values("seed").regret.to_numpy()
        for L in (last, last // 1000)
    )
    return bootstrap(
        lambda i: np.log10(late[i].mean(-1) / early[i].mean(-1)) / 3, np.arange(len(late))
    )


def gamble_tables(tables: Mapping[str, pd.DataFrame]) -> dict[int, pd.DataFrame]:
    """The runs on each gamble with the σ of a reward, by H."""
    short, long = tables["gamble"], tables["long-gamble"]
    return {1: short[short.factor == 1], **{int(H): own for H, own in long.groupby("H")}}
