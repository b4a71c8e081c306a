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

The page *B. Proofs* has the theorem and its proof; ρ = λσ², and with u = 15 + 8ρ a walk multiplies by
eight. With features divided by :math:`\sqrt{1 + u^2}` no feature is longer than 1, and
:math:`\rho = (1 + u^2)\rho'` for the ridge :math:`\rho' = \lambda\sigma^2` of these units.
"""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from sympy import Matrix, symbols

from rlsvi_core.checks import array_size, between, fail, positive, whole
from rlsvi_core.compiled import Floats
from rlsvi_core.mdp import FiniteMDP

from ..judging.algebra import Sides
from .hypotheses import is_closed, is_instance, is_linear
from .toll import least_regret

DEAD, ALIVE = 0, 1
FACTOR = 8  # by which a walk multiplies
KEPT = Fraction(480, 481)  # what a leap passes on, at least


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


def long_leap(rho: Any) -> Any:
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
    return float(KEPT) ** (H / 2) * FACTOR ** (H / 2 - 1)


def most_episodes(H: int, rho: float, sigma: float = 1.0) -> int:
    """After how many episodes the theorem looks, at most, if a step costs 1: σρ/(1 + ρ) Π.

    >>> [most_episodes(H, rho=1.0, sigma=H) for H in (5, 7, 9, 11)]
    [56, 628, 6455, 62993]
    """
    return math.floor(sigma * rho / (1 + rho) * reach(H))


# --------------------------------------------------------------------- the steps


def linear_toll_is_linear() -> bool:
    """The linear toll is a linear MDP, deterministic but for its start, whose features are closed
    under Bellman's operator; it meets every hypothesis of Conjecture 1 if b ≤ σ and λb² ≤ 3H, and
    not if λ is larger: H = 2 to 40, three ρ, features as they are and divided by √(1 + u²)."""
    rng, b = np.random.default_rng(1), 1.0
    for H, rho, unit in product(range(2, 41), (0.01, 1.0, 144.0), (False, True)):
        u = long_leap(rho)
        mdp, Phi = world = linear_toll(H, 50, u, b, unit)
        most = 3 * H / b**2 / ((1 + u * u) if unit else 1)  # λ in the units of these features
        longest = 1 if unit else math.hypot(1, u)
        if not (
            is_instance(world, most * (1 - 1e-9), b)
            and not is_instance(world, most * (1 + 1e-6), b)
            and is_linear(mdp, Phi)
            and is_closed(mdp, Phi, rng)
            and set(np.unique(mdp.P)) == {0.0, 1.0}
            and math.isclose(np.linalg.norm(Phi, axis=-1).max(), longest)
        ):
            return False
    return True


def on_the_road() -> list[Sides]:
    """With u = 15 + 8ρ one observation with the target X hands on 8X to a leap (1, u) after a walk
    (1, 1), and at least 480/481 of it after a leap, as 1 + u² − 480ρ = (8ρ − 15)² + 1; the noise of
    a leap's value has a variance of at least 480σ²/481. The rests are not negative."""
    rho, X = symbols("rho X", positive=True)
    u, pairs = long_leap(rho), list[Sides]()
    leap, longest = Matrix([1, u]), 1 + u**2
    for phi, share, rest in (
        (Matrix([1, 1]), 8, (u - 1) ** 2 / (rho * (2 + rho))),
        (leap, longest / (longest + rho), 0),
    ):
        M = phi * phi.T + rho * Matrix.eye(2)
        size = (phi.T * phi)[0]
        pairs += [
            ((leap.T * M.inv() * phi)[0] * X, share * X),
            ((leap.T * M.inv() * leap)[0], longest / (size + rho) + rest),
        ]
    return [*pairs, (longest - 480 * rho, (8 * rho - 15) ** 2 + 1)]


def at_the_gate() -> list[Sides]:
    """After one start at the side, m leaps and q quits θ̃_{0,2} is, up to a positive factor and
    noise, ρ(X_1 − b)/(1 + ρ) − m((q + ρ)b − ρY)/(m + q + ρ): the normal equations of period 0, of
    the world's own features, without θ_1 and θ_3."""
    rho, b, m, q = symbols("rho b m q", positive=True)
    X, Y = symbols("X Y", real=True)
    _, Phi = linear_toll(3, 50)
    side, leaps, quits = (Matrix(Phi[0, s, a].astype(int)) for s, a in ((1, 0), (0, 1), (0, 0)))
    M = rho * Matrix.eye(3) + side * side.T + m * leaps * leaps.T + q * quits * quits.T
    right = (X - b) * side + m * (Y - b) * leaps + q * Y * quits
    rest = M.extract([1], [0, 2]) * Matrix.diag(1 / M[0, 0], 1 / M[2, 2])
    factor = (M.extract([1], [1]) - rest * M.extract([0, 2], [1]))[0]
    pull = (right.extract([1], [0]) - rest * right.extract([0, 2], [0]))[0]
    return [
        (M[0, 2], 0),
        (factor, rho + rho / (1 + rho) + m * (q + rho) / (m + q + rho)),
        (pull, rho * (X - b) / (1 + rho) - m * ((q + rho) * b - rho * Y) / (m + q + rho)),
    ]


def enough_walks() -> bool:
    """If W of the periods 1 to H − 2 walked, at least half, 8^W κ^(H−2−W) √κ is at least Π, with
    κ = 480/481: in fractions for H = 2 to 40."""
    return all(
        64**W * KEPT ** (2 * (H - 2 - W) + 1) >= KEPT**H * 8 ** (H - 2)
        for H in range(2, 41)
        for W in range(-(-(H - 2) // 2), H - 1)
    )


def linear_toll_grows() -> bool:
    """With σ = H, noise as large as any return could be, and λ = 1/H² the least regret over √T
    grows from H to H + 2, for H = 20, 40 and 60, while no feature is longer than 24."""

    def over_root_T(H: int) -> float:
        L = most_episodes(H, 1.0, H)
        return least_regret(L) / math.sqrt(L * H)

    return all(over_root_T(H + 2) > over_root_T(H) for H in (20, 40, 60))


STEPS = linear_toll_is_linear, on_the_road, at_the_gate, enough_walks, linear_toll_grows
