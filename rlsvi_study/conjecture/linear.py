r"""The linear toll: RLSVI as printed fails in a linear MDP, for every λ and σ.

Two states as at the toll of ``traps``, three features, nothing random but the start: at the side with
probability 1/L, else at the gate.

========== ============================================ =========================================
period     gate, later dead                             side, later alive
========== ============================================ =========================================
0          quit: φ = (0, 0, 1), r = 0                   all actions: φ = (1, 1, 0), r = −b
.          leap: φ = (0, 1, 1), r = −b
1 to H − 1 all actions: φ = (0, 0, 1), r = 0            walk: φ = (1, 1, 0), r = 0
.                                                       leap: φ = (1, u, 0), r = 0
========== ============================================ =========================================

Transitions and rewards are linear in the features, :math:`P(\text{alive} \mid \phi) = \phi_1`,
:math:`P(\text{dead} \mid \phi) = \phi_3`, :math:`r_0 = -b\phi_2`: a linear MDP (Jin et al. 2020,
who also bound the lengths of features and weights). So the features are closed under Bellman's
operator: whatever :math:`\tilde V` the next period has, the update has the weights
:math:`(\tilde V(\text{alive}), -b 1(h = 0), \tilde V(\text{dead}))`. If gate and dead, side and
alive are counted apart, there are four states, and the features are the same in all periods.

**What one observation hands on.** With :math:`\rho = \lambda\sigma^2`, one transition with the
feature φ and the target y moves the mean value of φ' to :math:`y\,\phi'^\top\phi/(\|\phi\|^2 +
\rho)`. So with the next value X of being alive, a walk moves that of a leap to
:math:`a_w X = \frac{1+u}{2+\rho} X`, and a leap to :math:`a_l X = \frac{1+u^2}{1+u^2+\rho} X`. With
:math:`u = 15 + 8\rho` the first is 8, the second at least :math:`\frac{480}{481}`.

**Why sampled values grow.** The best action is worth at least a leap, :math:`X_h \ge a_hX_{h+1} + N_h`,
where :math:`N_h` is the noise of a leap's value, normal with mean 0 and a variance of at least
:math:`a_l\sigma^2`, and independent of the other periods'. As :math:`a_h \ge 0`, this can be put into
itself: :math:`X_1` is at least a normal variable of mean 0 whose standard deviation is at least
:math:`\sqrt{a_l}\,\sigma\,a_1 \cdots a_{H-2}`.

**In other units.** With features divided by :math:`\sqrt{1 + u^2}` no feature is longer than 1, and
:math:`\rho = (1 + u^2)\rho'` for the ridge :math:`\rho' = \lambda\sigma^2` of these units.
"""

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from rlsvi_core import rlsvi
from rlsvi_core.agent import Agent
from rlsvi_core.checks import array_size, between, fail, positive, whole
from rlsvi_core.compiled import Floats
from rlsvi_core.mdp import FiniteMDP

from ..judging.intervals import Mean

__all__ = [
    "is_closed",
    "is_linear",
    "least_regret",
    "linear_toll",
    "long_leap",
    "most_episodes",
    "most_together",
    "one_start",
    "outcome",
    "passed_on",
    "reach",
    "unit_leap",
]

DEAD, ALIVE = 0, 1
FACTOR = 8  # by which a walk multiplies
KEPT = 480 / 481  # what a leap passes on, at least
UNDECIDED = "nothing is said"
RISES, LEVEL = 1.2, 1.5  # from each H to the next, at least; from the first to the last, at most


def linear_toll(
    H: int, L: float, u: float = 23.0, b: float = 1.0, unit: bool = False
) -> tuple[FiniteMDP, Floats]:
    """A linear MDP at whose gate a leap always loses, while sampled values make it attractive.

    Parameters
    ----------
    H : number of periods, at least 2.
    L : an episode starts at the side with probability 1/L.
    u : the second feature of a leap on the road; 15 + 8ρ in the theorem.
    b : what a leap at the gate costs.
    unit : divide the features by √(1 + u²), so that the longest has length 1.

    Returns
    -------
    (FiniteMDP, (H, 2, 2, 3) array)
        with states gate or dead (0) and side or alive (1), and the features.

    Examples
    --------
    >>> mdp, Phi = linear_toll(H=5, L=20)
    >>> mdp.Q[:2, 0], Phi[0, 0], Phi[1, 1]
    (array([[ 0., -1.],
           [ 0.,  0.]]), array([[0., 0., 1.],
           [0., 1., 1.]]), array([[ 1.,  1.,  0.],
           [ 1., 23.,  0.]]))
    """
    H = whole("H", H, 2, hint="The toll needs a period to pay in and a later one: pass H=8, say.")
    array_size("H", H, 2, 2, 3)
    positive(u=u, b=b)
    L = between("L", L, 1, math.inf, hint="One episode in L starts at the side: pass L=100, say.")
    P, R, Phi = np.zeros((H, 2, 2, 2)), np.zeros((H, 2, 2, 2)), np.zeros((H, 2, 2, 3))
    P[:, DEAD, :, DEAD] = P[:, ALIVE, :, ALIVE] = 1.0
    Phi[:, DEAD], Phi[:, ALIVE] = (0, 0, 1), (1, 1, 0)
    Phi[0, DEAD, 1, 1], Phi[1:, ALIVE, 1, 1] = 1.0, u
    R[0] = -b * Phi[0, :, :, 1:2]
    return FiniteMDP(P, R, initial=[1 - 1 / L, 1 / L]), Phi / (math.hypot(1, u) if unit else 1.0)


def _fits(rows: Floats, wanted: Floats) -> bool:
    return bool(np.allclose(rows @ np.linalg.lstsq(rows, wanted, rcond=None)[0], wanted))


def is_linear(mdp: FiniteMDP, Phi: Floats) -> bool:
    """Whether in every period transitions and mean rewards are linear in the features."""
    for P, R, phi in zip(mdp.P, mdp.R, Phi, strict=True):
        rows = phi.reshape(-1, Phi.shape[-1])
        both = np.column_stack([P.reshape(len(rows), -1), (P * R).sum(axis=2).ravel()])
        if not _fits(rows, both):
            return False
    return True


def is_closed(mdp: FiniteMDP, Phi: Floats, rng: np.random.Generator) -> bool:
    """Whether the Bellman update of Φθ is some Φθ', for a random θ in each period."""
    for h in range(mdp.H - 1):
        V = (Phi[h + 1] @ rng.normal(0, 3, Phi.shape[-1])).max(axis=1)
        update = (mdp.P[h] * (mdp.R[h] + V)).sum(axis=2).ravel()
        if not _fits(Phi[h].reshape(update.size, -1), update):
            return False
    return True


def one_start(H: int, walked: np.ndarray, rng: int) -> Agent:
    """RLSVI as printed with σ = H and λ = 1/H², after one start at the side; u = 23."""
    mdp, Phi = linear_toll(H, L=50)
    agent = rlsvi(Phi, 1 / H**2, float(H), rng=rng)
    for h in range(H):
        action = 1 if h and not walked[h - 1] else 0
        agent.observe(h, ALIVE, action, mdp.R[h, ALIVE, action, ALIVE], ALIVE)
    return agent


def long_leap(rho: float) -> float:
    """u, with which a walk multiplies by eight.

    >>> long_leap(1.0)
    23.0
    """
    return 2 * FACTOR - 1 + FACTOR * rho


def unit_leap(ridge: float) -> float:
    """The same where the longest feature has length 1 and λσ² is the ridge: 1 + u = 8(2 + ρ) with
    ρ = (1 + u²) ridge. There is such a u for a ridge of at most 1/481.

    >>> u = unit_leap(1 / 2500)
    >>> round((1 + u) / (2 + (1 + u * u) / 2500), 9)
    8.0
    """
    spare = 1 - 4 * FACTOR * ridge * (2 * FACTOR - 1 + FACTOR * ridge)
    if not (ridge > 0 and spare >= 0):
        fail("a walk multiplies by 8 for ridges up to 1/481", f"it is {ridge}", "Pass 1/2500, say.")
    return (1 - math.sqrt(spare)) / (2 * FACTOR * ridge)


def passed_on(walked: bool, u: float, rho: float) -> float:
    """The share of the next value that a leap is worth after one observation.

    >>> passed_on(True, 23.0, 1.0), round(passed_on(False, 23.0, 1.0), 4)
    (8.0, 0.9981)
    """
    return (1 + u) / (2 + rho) if walked else (1 + u * u) / (1 + u * u + rho)


def reach(H: int) -> float:
    """Π: if at least half of the periods 1 to H − 2 walked, X_1 is at least a normal variable of mean 0
    and of this standard deviation, times σ.

    >>> round(reach(8))
    508
    """
    return float(KEPT ** (H / 2) * FACTOR ** (H / 2 - 1))


def most_episodes(H: int, rho: float, sigma: float = 1.0, b: float = 1.0) -> int:
    """After how many episodes the theorem looks, at most: (σ/b) ρ/(1 + ρ) Π.

    >>> [most_episodes(H, rho=1.0, sigma=H) for H in (5, 7, 9, 11)]
    [56, 628, 6455, 62993]
    """
    return math.floor(sigma / b * rho / (1 + rho) * reach(H))


def least_regret(L: int, b: float = 1.0) -> float:
    """What the expected regret of L episodes is then at least: each later one leaps with probability
    Φ(−1)/2 or more, if episode i > 1 was the only one to start at the side.

    >>> round(least_regret(1000), 1)
    14.5
    """
    leaps = 0.5 * 0.5 * math.erfc(1 / math.sqrt(2))
    return b * leaps * (L - 1) * (L - 2) / (2 * math.e * L)


def most_together(ridge: float) -> float:
    """The largest a_w·a_l on a grid of walks (1, w) and leaps (1, u), where a leap has length 1; all of
    them are below 1/(2√ρ(1 + ρ)), the limit for w = u√ρ and u → ∞.

    >>> most_together(0.17) > 1 > most_together(0.19)
    True
    """
    u, share = np.meshgrid(np.geomspace(1, 1e5, 400), np.geomspace(1e-3, 1, 400))
    w, s = share * u, 1 / (1 + u * u)
    return float((s * (1 + w * u) / (s * (1 + w * w) + ridge) / (1 + ridge)).max())


def outcome(by_H: Mapping[int, Mean]) -> str:
    """By the rule that was fixed before the runs (``runs``): what an agent does whose mean regret over
    √T is this.

    >>> rising = {H: Mean(x, 0.9 * x, 1.1 * x) for H, x in ((5, 1.0), (7, 2.0), (9, 4.0))}
    >>> outcome(rising), outcome({5: rising[9], 7: rising[5]}), outcome({5: rising[5], 7: rising[7]})
    ('fails', 'does not', 'fails')
    """
    *others, last = (by_H[H] for H in sorted(by_H))
    means = [one.mean for one in (*others, last)]
    rises = all(b >= RISES * a for a, b in pairwise(means))
    if rises and all(last.low > one.high for one in others):
        return "fails"
    return "does not" if means[-1] <= LEVEL * means[0] else UNDECIDED
