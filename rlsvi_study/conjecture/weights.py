r"""Appendix B's traps and an agent whose noise comes from the data: what can be proved.

The agent is :func:`rlsvi_core.bootstrap` with the world's one feature. Its weights are gamma
variates; write :math:`\Gamma(n)` for one, each time another, and :math:`q = 1 - p`.

**Gamble.** Let the range be the two returns, ±2σ. After k of m gambles were won, the agent plays if
:math:`\Gamma(k) + \Gamma(\kappa) > \Gamma(m - k) + \Gamma(\kappa)`, that is with probability

.. math:: \pi(k, m) = \mathbb P\bigl(\text{Beta}(k + \kappa, m - k + \kappa) > \tfrac12\bigr),
    \qquad \text{for } \kappa = 1:\ \mathbb P\bigl(\text{Bin}(m + 1, \tfrac12) \le k\bigr):

Thompson sampling for a coin with the prior Beta(κ, κ), which plays if the coin drawn is won more
often than not. What is won does not depend on when it is played, so :math:`k_m \sim \text{Bin}(m,
p)`, and before the next play there is a geometric number of passes:

.. math:: \mathbb E[\text{passes}] = \sum_{m \ge 0} \mathbb E\Bigl[\frac1{\pi(k_m, m)} - 1\Bigr].

*It is finite for every p > ½ and every κ > 0.* Where :math:`k \le m/2`: since :math:`x^{a-1} \ge
2^{-a}` on [½, 1], :math:`\int_{1/2}^1 x^{a-1} (1 - x)^{b-1} dx \ge 2^{-a-b}/b`, so that
:math:`1/\pi` is at most :math:`2^{m + 2\kappa}` times a polynomial in m, divided by
:math:`\binom mk` and, if κ < 1, by κ. Then :math:`\mathbb P(k_m = k)/\pi` is a polynomial times
:math:`(2p)^k (2q)^{m-k} \le (4pq)^{m/2}`, and :math:`4pq < 1`. Where :math:`k > m/2`:
:math:`\pi \ge ½`, and :math:`\mathbb E[1 - \pi] = \mathbb P(\Gamma(k_m + \kappa) \le \Gamma(m - k_m
+ \kappa)) \le (1 - t^2)^{-\kappa} \bigl(\frac{1 - t(p - q)}{1 - t^2}\bigr)^m` by Chernoff's bound,
which falls geometrically for :math:`0 < t < p - q`. For κ = 1 the constants are :func:`most_passes`.

So regret stays below a constant, without a threshold for p. Smaller κ make it larger, by no more than
1/κ. With weights :math:`\kappa\,\text{Exp}(1)` on the imagined outcomes there would be a threshold:
after m losses in a row such an agent plays with probability
:math:`\frac12 (\kappa/(1 + \kappa))^m`, so a lost start alone costs
:math:`\sum_m 2 (q (1 + \kappa)/\kappa)^m` passes, infinitely many unless
:math:`\kappa > q/p`; in L episodes about :math:`L^{1 - \log(1/q)/\log(1 + 1/\kappa)}` of them, two
thirds of a power for κ = 0.1 and p = 0.55.

**Long gamble.** Let the range be ±Hσ. A won and a lost gamble tell the later periods the same, so
with g and G for the difference and the sum of the two imagined weights of a period, :math:`\theta_h
= (\Gamma(m)(\sigma + \theta_{h+1}) + H\sigma g_h)/(\Gamma(m) + G_h)` for h ≥ 1
(:func:`later_weight`), and the agent plays if :math:`X D + g_0 > 0`, where
:math:`X = (\sigma + \theta_1)/(H\sigma)` is independent of :math:`D = \Gamma(k) - \Gamma(m - k)` and
of :math:`g_0`. To flip the signs of all g after period 0 does not change the law, and of two such draws
one at least has X ≤ 1, and one at least has X > 0. So the agent plays with a probability of at least
¼π(k, m), whatever H is, and *regret is bounded, for every H, p > ½ and κ > 0*: by a constant without H and
O(H log H) more (the proof is in appendix B).

**Toll.** Let the range be ±H, and n be the leaps and s the side starts so far. A leap is the pair
that spans period 0 (the side road is 1/G of it), and what follows the side road is cut to at
most H. So the agent leaps only if :math:`\Gamma(n) < \frac HG \Gamma(s) + H\,\Gamma(\kappa)`. By
Chernoff's bound, for :math:`0 < t < 1/H`,

.. math:: \mathbb P(\text{leap} \mid n, s) \le (1 + t)^{-n} (1 - tH/G)^{-s} (1 - tH)^{-\kappa} .

For the number of leaps in L episodes to exceed n, one must be made when it is n. Hence, if at most s
of the episodes start at the side, :math:`\mathbb E[\text{leaps}] \le \sum_n \min(1, L\,\mathbb
P(\text{leap} \mid n, s))`, about :math:`sH/G + 2H \log L`: no exponential in H. The proof uses
no more than the cut; it ignores that what follows the side road is learned too.
"""

import math

import numpy as np
from scipy import stats

from rlsvi_core.compiled import Floats

__all__ = [
    "expected_passes",
    "later_weight",
    "leap_probability",
    "most_leaps",
    "most_passes",
    "play_probability",
]

DEEP = 300  # lost gambles beyond half of them, after which what is left is below 1e-12 for p = 0.55


def play_probability(won: float, lost: float, kappa: float) -> float:
    """π, with which the gamble is played.

    >>> play_probability(1, 2, kappa=1), stats.binom(4, 0.5).cdf(1)
    (0.3125, 0.3125)
    """
    return float(stats.beta.sf(0.5, won + kappa, lost + kappa))


def expected_passes(p: float, kappa: float, plays: int) -> float:
    """E[passes] before so many plays.

    >>> round(expected_passes(0.8, 1.0, plays=200), 3)
    5.515
    """
    total = 0.0
    for m in range(plays):
        k = np.arange(max(0, m // 2 - DEEP), m + 1)
        play = stats.beta.sf(0.5, k + kappa, m - k + kappa)
        total += float(stats.binom.pmf(k, m, p) @ (1 / play - 1))
    return total


def most_passes(p: float) -> float:
    """The bound of the proof for κ = 1, where P(Bin(m + 1, ½) ≤ k) ≥ C(m + 1, k)/2^{m + 1}.

    >>> most_passes(0.8) > expected_passes(0.8, 1.0, plays=200)
    True
    """
    q = 1 - p
    root = math.sqrt(p * q)
    few = 2 * p / ((p - q) * (1 - 2 * root))
    many = (1 + math.sqrt(p / q)) / (0.5 - root)
    return few + many


def later_weight(games: Floats, imagined: Floats, difference: Floats) -> Floats:
    """θ̃_1/σ on the long gamble, cut to ±H: (H − 1, draws) arrays with Γ(m), G and g of the periods
    from 1 on.

    >>> later_weight(np.ones((2, 1)), np.zeros((2, 1)), np.zeros((2, 1)))
    array([2.])
    """
    H, theta = len(games) + 1, np.zeros(games.shape[1])
    for own, G, g in zip(games[::-1], imagined[::-1], difference[::-1], strict=True):
        theta = ((own * (1 + theta) + H * g) / (own + G)).clip(-H, H)
    return theta


def leap_probability(leaps: int, sides: int, H: int, G: float, kappa: float) -> float:
    """The bound on P(leap | n, s) with the best t.

    >>> leap_probability(0, 0, H=5, G=16.0, kappa=1.0)
    1.0
    """
    t = np.linspace(0, 1 / H, 200, endpoint=False)
    exponent = -leaps * np.log1p(t) - sides * np.log1p(-t * H / G) - kappa * np.log1p(-t * H)
    return float(np.exp(exponent.min()))


def most_leaps(episodes: int, sides: int, H: int, G: float, kappa: float) -> float:
    """The bound on E[leaps], if at most so many of the episodes start at the side.

    >>> 60 < most_leaps(1000, 5, H=5, G=16.0, kappa=1.0) < 80
    True
    """
    total, n, more = 0.0, 0, 1.0
    while more > 1e-9:
        more = min(1.0, episodes * leap_probability(n, sides, H, G, kappa))
        total, n = total + more, n + 1
    return total
