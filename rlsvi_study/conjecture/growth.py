r"""Do many observations amplify? Sampled errors on a road that n episodes have walked along.

Every period has one state with two actions, walk (feature :math:`\phi_w`) and leap (:math:`\phi_l`),
both of which lead to the next period; the mean rewards are such that :math:`Q^*_h = \phi\theta_h`,
and rewards have no noise. RLSVI as printed plays n episodes, and then draws once more. Wanted is the
error :math:`e_h = \tilde V_h - V^*_h` of that draw in the first period.

**Backwards in one pass.** What episode j does in period h depends on the data of the earlier
episodes in h and on its own draw of the later periods, so all n + 1 draws can be followed together
from the last period to the first: with the rows A of period h before episode j,

.. math:: \tilde\theta_h = M^{-1} A^\top\bigl(A\theta_h + e_{h+1} 1\bigr) + \sigma M^{-1/2} z, \qquad
   M = A^\top A + \rho I .

For fixed n the vector of the n + 1 errors is a Markov chain in h with the same law in all periods.

**Growth.** An error that has become large and positive makes a leap look best, and is handed on by the
factor :math:`\eta = \phi_l^\top M^{-1} A^\top 1`. Its mean logarithm :math:`\Lambda_n` over the data
that n episodes leave tells whether large errors grow from period to period.

Three cases, all with σ = λ = 1:

- ``prior``: one feature, ½ for a walk, 1 for a leap, and :math:`\theta_h \sim N(0, 1)`, the agent's
  own prior. Each mean reward lies in [−1, 1] with a probability above ½.
- ``linear``: two features, a walk (0.1, ½g), a leap (0.1, g), g = √0.99, and θ = (0, −½): a linear MDP
  (:math:`P(\text{next} \mid \phi) = 10\phi_1`) with :math:`\|\phi\| \le 1` and λσ² = 1. Walking pays
  nothing, leaping costs ½g².
- ``low-rank``: MDPs of low rank drawn at random (``worlds.low_rank``: S = 20, A = 4, d = 4, features in
  the simplex), episodes from their start; the error is that of its value.

The rule, fixed before the stored runs. The first case repeats what another program had shown
(:math:`\Lambda_n` about −0.04, 0.04 and 0.1 at n = 6, 10, 30); for the second, a few hundred draws with
other seeds had been looked at; the third is new. A seed is a batch of 500 roads, or of 20 MDPs, and
gives the mean of log η over the second half of the periods that the pass visits and the 90% quantile
of :math:`e`. Over 20 batches, with Student's 95% intervals, a case *amplifies* at n if the interval of
:math:`\Lambda_n` lies above 0 and that of the mean logarithm of the quantile at the largest H lies
above those at all smaller H; it *does not* if the interval of :math:`\Lambda_n` lies below 0 and the
quantile at the largest H is less than twice that at the smallest; else nothing is said. For
low rank there is no :math:`\Lambda_n`; there e/H is compared, and it amplifies if the interval at
the largest H lies above those at all smaller H, does not if the mean at the largest H is at
most that at the smallest. Nothing here is a proof.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from rlsvi_core import rlsvi
from rlsvi_core.compiled import Floats, Generator

from ..engine import Rows, streams
from ..judging.intervals import mean_interval
from ..worlds import low_rank

__all__ = ["Road", "outcome", "sampled_errors"]

UNDECIDED = "nothing is said"
ROADS, WORLDS, ALPHA, DEAR = 500, 20, 0.1, 0.5


class Road(NamedTuple):
    """Features as (first, second); a first of 0 is no feature. θ = (0, −dear), or of the prior."""

    walk: tuple[float, float]
    leap: tuple[float, float]
    dear: float | None  # None: the second weight is drawn from N(0, 1/λ)
    rho: float = 1.0


LONG = math.sqrt(1 - ALPHA**2)
CASES = {
    "prior": Road((0.0, 0.5), (0.0, 1.0), None),
    "linear": Road((ALPHA, LONG / 2), (ALPHA, LONG), DEAR),
}


def sampled_errors(road: Road, H: int, n: int, roads: int, rng: Generator) -> tuple[Floats, Floats]:
    """The error of the draw after n episodes in the first of H − 1 periods, for so many roads, and the
    mean of log η in each period, from the last one; σ = 1.

    >>> e, growth = sampled_errors(CASES["prior"], 5, 3, 2, np.random.default_rng(1))
    >>> e.shape, growth.shape
    ((2,), (4,))
    """
    (w1, w2), (l1, l2) = road.walk, road.leap
    V, best, growth = np.zeros((n + 1, roads)), np.zeros(roads), np.zeros(H - 1)
    for h in range(H - 1):
        theta = np.full(roads, 0.0 if road.dear is None else -road.dear)
        if road.dear is None:
            theta = rng.standard_normal(roads) / math.sqrt(road.rho)
        M11, M12, M22 = np.full(roads, road.rho), np.zeros(roads), np.full(roads, road.rho)
        s1, s2, drawn = np.zeros(roads), np.zeros(roads), np.empty_like(V)
        for j in range(n + 1):
            e, z = V[j] - best, rng.standard_normal((2, roads))
            u11, u12 = np.sqrt(M11), M12 / np.sqrt(M11)  # M = U'U
            u22 = np.sqrt(M22 - u12 * u12)
            x1 = (s1 * e + M12 * theta) / u11
            x2 = ((s2 * e + (M22 - road.rho) * theta) - u12 * x1) / u22
            second = (x2 + z[1]) / u22
            first = (x1 + z[0] - u12 * second) / u11
            walk, leap = w1 * first + w2 * second, l1 * first + l2 * second
            drawn[j], leaps = np.maximum(walk, leap), leap > walk
            if j < n:
                a, b = np.where(leaps, l1, w1), np.where(leaps, l2, w2)
                M11, M12, M22, s1, s2 = M11 + a * a, M12 + a * b, M22 + b * b, s1 + a, s2 + b
        eta = (l1 * (M22 * s1 - M12 * s2) + l2 * (M11 * s2 - M12 * s1)) / (M11 * M22 - M12 * M12)
        growth[h] = np.log(eta).mean()
        V, best = drawn, np.maximum(w2 * theta, l2 * theta)
    return V[n] - best, growth


def growth_rows(case: str, n: int, H: int, seed: int) -> Rows:
    """Λ_n and the 90% quantile of the error, over one batch."""
    basis, env, own = streams((seed, H, n))
    if case in CASES:
        e, growth = sampled_errors(CASES[case], H, n, ROADS, own)
        return [{"growth": float(growth[H // 2 :].mean()), "error": float(np.quantile(e, 0.9))}]
    errors = []
    for _ in range(WORLDS):
        mdp, Phi = low_rank(H, 20, 4, 4, basis)
        agent = rlsvi(Phi, 1.0, 1.0, rng=own)
        agent.learn(mdp, n, env)
        agent.plan()
        errors.append(max(agent.values(0, 0)) - mdp.Q[0, 0].max())
    return [{"growth": None, "error": float(np.quantile(errors, 0.9))}]


def outcome(table: pd.DataFrame) -> str:
    """What the rule says of one case and one n: Λ_n has its sign at every H.

    >>> rows = [(H, 0.1 + s / 1000, H**2.0 + s) for H in (50, 100, 200) for s in range(4)]
    >>> road = pd.DataFrame(rows, columns=["H", "growth", "error"])
    >>> outcome(road), outcome(road.assign(growth=-road.growth)), outcome(road.assign(growth=None))
    ('amplifies', 'nothing is said', 'amplifies')
    """
    roads, by_H = table.growth.notna().all(), table.groupby("H")
    sizes = [mean_interval(np.log10(own.error) if roads else own.error / H) for H, own in by_H]
    growth = [mean_interval(own.growth) for _, own in by_H] if roads else []
    first, last = sizes[0], sizes[-1]
    rises = all(last.low > one.high for one in sizes[:-1])
    if rises and all(one.low > 0 for one in growth):
        return "amplifies"
    falls = last.mean < first.mean + math.log10(2) if roads else last.mean <= first.mean
    return "does not" if falls and all(one.high < 0 for one in growth) else UNDECIDED
