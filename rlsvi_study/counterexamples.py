r"""Four worlds in which a linear :math:`Q^*` is not enough (for appendix B, Conjecture 1).

Each has features with :math:`Q^*_h = \Phi_h \theta_h` for exactly one small θ, and is returned as
``(mdp, Phi)``. The first three have a single feature (K = 1), and RLSVI fails on them.

**gamble** (H = 1). Playing pays :math:`r_0 = r_1 = +\sigma` with probability p, else
:math:`r_0 = r_1 = -\sigma`; passing pays nothing. So :math:`Q^*(\text{play}) = 2(2p - 1)\sigma`.
Every reward lies within ±σ, but a return is ±2σ. An agent that takes σ for the noise of a return
underestimates its standard deviation by a factor of two.

**long_gamble** (H ≥ 2, no terminal reward). The same coin decides all H rewards.

========== ================================== =====================================
state      in period 0                        after
========== ================================== =====================================
start      pass: φ = 0, r = 0, to out
.          play: φ = 1, r = ±σ, to won/lost
won, lost                                     all actions: φ = ±1, r = ±σ, stay
out                                           all actions: φ = 0, r = 0, stay
========== ================================== =====================================

Won and lost tell the later periods the same, :math:`\theta_h = (H - h)\sigma`, so nothing there is
in doubt for long. :math:`\theta_0 = (2p - 1)H\sigma`, and a return is ±Hσ.

**toll** (H ≥ 2). Two states: the gate, or dead (0), and the side road, or alive (1). An episode
starts at the side with probability 1/L. The features of the dead are zero, and c = 1/G.

========== ========================================= =========================================
period     gate                                      side, alive
========== ========================================= =========================================
0          quit: φ = 0, r = 0, dead                  all actions: φ = 1, r = −c, alive
.          leap: φ = G, r = −1, dead
1 to H − 1 dead: φ = 0, r = 0, dead                  walk: φ = 1, r = 0, alive
.                                                    leap: φ = G, r = 0, alive
========== ========================================= =========================================

Nothing is ever won, so :math:`\theta_0 = -c` and :math:`\theta_h = 0` after. But the features are
not closed under Bellman's operator: a positive guess at :math:`\theta_{h+1}`, made from one walk,
is worth G times as much to :math:`\tilde V_{h+1}`, and is handed back from period to period.

**needle** (in the manner of Wang, Wang and Kakade 2021: no algorithm finds it soon). Unit vectors
:math:`v_0, \dots, v_{m-1}` with :math:`|\langle v_a, v_b\rangle| \le \gamma \le 1/4`, one of them,
:math:`v_*`, hidden; :math:`C_{ab} = \langle v_a, v_b\rangle + 2\gamma`. In state a, action
:math:`b \ne a` has the feature :math:`C_{ab} v_b`. It pays :math:`-2\gamma C_{ab}` and leads to
state b with probability :math:`C_{ab} \le 3/4`, else to the dead end; but the hidden action pays
:math:`C_{a*}` and ends, and in the last period any action pays
:math:`C_{ab}\langle v_b, v_*\rangle`. Action a in state a ends with nothing. Then
:math:`Q^*_h(a, b) = C_{ab}\langle v_b, v_*\rangle`, that is :math:`\theta_h = v_*`: by induction
:math:`V^*_{h+1}(b) = C_{b*}`, and
:math:`C_{ab}(-2\gamma + C_{b*}) = C_{ab}\langle v_b, v_*\rangle`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.runtime.checks import check_array, check_integer, check_positive, check_range, fail
from rlsvi_core.runtime.compilation import Floats

__all__ = ["gamble", "long_gamble", "needle", "toll"]

PLAY_HINT = "Playing is worth it only above one half: pass p=0.55, say."


def gamble(p: float = 0.55, sigma: float = 1.0) -> tuple[FiniteMDP, Floats]:
    """A gamble that is worth taking, and looks certain while it is lost.

    Parameters
    ----------
    p : the probability to win, above one half.
    sigma : the size of the two rewards.

    Returns
    -------
    (FiniteMDP, (1, 3, 2, 1) array)
        with actions pass (0) and play (1), and the features.

    Examples
    --------
    >>> mdp, Phi = gamble()
    >>> mdp.Q[0, 0].round(9), Phi[0, 0, :, 0]
    (array([0. , 0.2]), array([0., 1.]))
    """
    check_positive(sigma=sigma)
    p = check_range("p", p, 0.5, 1, hint=PLAY_HINT)
    P, R = np.zeros((2, 1, 3, 2, 3))
    P[..., 0, 0] = 1.0  # pass: state 0; play: state 1 is won, 2 lost
    P[..., 1, 1], P[..., 1, 2] = p, 1 - p
    R[..., 1, 1], R[..., 1, 2] = sigma, -sigma
    Phi = np.zeros((1, 3, 2, 1))
    Phi[:, :, 1] = 1.0
    return FiniteMDP(P, R, terminal=[0.0, sigma, -sigma]), Phi


def long_gamble(H: int, p: float = 0.55, sigma: float = 1.0) -> tuple[FiniteMDP, Floats]:
    """The gamble, for H rewards: the longer, the more certain it looks while it is lost.

    Parameters
    ----------
    H : number of periods, at least 2.
    p : the probability to win, above one half.
    sigma : the size of the rewards.

    Returns
    -------
    (FiniteMDP, (H, 4, 2, 1) array)
        with states start (0), won (1), lost (2), out (3), actions pass (0) and play (1), and the
        features.

    Examples
    --------
    >>> mdp, Phi = long_gamble(H=4)
    >>> mdp.Q[0, 0].round(9), mdp.Q[1:, 1, 0], Phi[1, 1:3, 0, 0]
    (array([0. , 0.4]), array([3., 2., 1.]), array([ 1., -1.]))
    """
    H = check_integer("H", H, 2, hint="With one period it is gamble(); pass H=8, say.")
    check_positive(sigma=sigma)
    p = check_range("p", p, 0.5, 1, hint=PLAY_HINT)
    P, R, Phi = np.zeros((H, 4, 2, 4)), np.zeros((H, 4, 2, 4)), np.zeros((H, 4, 2, 1))
    P[..., 3] = 1.0  # out, unless something else is said
    P[0, 0, 1], R[0, 0, 1], Phi[0, 0, 1] = (0, p, 1 - p, 0), (0, sigma, -sigma, 0), 1.0
    for s, sign in ((1, 1.0), (2, -1.0)):
        P[1:, s], R[1:, s], Phi[1:, s] = np.eye(4)[s], sign * sigma, sign
    return FiniteMDP(P, R), Phi


def toll(H: int, L: float, G: float = 16.0) -> tuple[FiniteMDP, Floats]:
    """A gate at which a leap always loses, while sampled values make it exponentially attractive.

    Parameters
    ----------
    H : number of periods, at least 2.
    L : an episode starts at the side with probability 1/L.
    G : the size of the leap's feature; c = 1/G.

    Returns
    -------
    (FiniteMDP, (H, 2, 2, 1) array)
        with states gate or dead (0) and side or alive (1), and the features.

    Examples
    --------
    >>> mdp, Phi = toll(H=5, L=20)
    >>> mdp.Q[:2, 0], Phi[0, 0, :, 0], mdp.initial
    (array([[ 0., -1.],
           [ 0.,  0.]]), array([ 0., 16.]), array([0.95, 0.05]))
    """
    H = check_integer(
        "H", H, 2, hint="The toll needs a period to pay in and a later one: pass H=8, say."
    )
    check_positive(G=G)
    L = check_range(
        "L", L, 1, math.inf, hint="One episode in L starts at the side: pass L=100, say."
    )
    P, R, Phi = np.zeros((H, 2, 2, 2)), np.zeros((H, 2, 2, 2)), np.zeros((H, 2, 2, 1))
    P[:, 0, :, 0] = P[:, 1, :, 1] = 1.0
    Phi[0, :, :, 0], Phi[1:, 1, :, 0] = ((0, G), (1, 1)), (1, G)
    R[0] = -Phi[0] / G
    return FiniteMDP(P, R, initial=[1 - 1 / L, 1 / L]), Phi


def needle(vectors: ArrayLike, hidden: int, H: int) -> tuple[FiniteMDP, Floats]:
    """One good action among many; the others give almost no information about it.

    Parameters
    ----------
    vectors : (m, K) array of unit vectors, pairwise products within ±¼.
    hidden : the number of the good action, not 0, where episodes start.
    H : number of periods.

    Returns
    -------
    (FiniteMDP, (H, m + 1, m, K) array)
        with the last state as the dead end, and the features.

    Examples
    --------
    >>> mdp, Phi = needle(np.eye(4), hidden=2, H=3)
    >>> mdp, mdp.optimal_value, bool(np.allclose(Phi @ np.eye(4)[2], mdp.Q))
    (FiniteMDP(H=3, S=5, A=4), 0.5, True)
    """
    v = check_array("vectors", vectors, ("m", "K"), hint="Pass np.eye(8), say.")
    m, gamma = len(v), 0.25
    check_integer(
        "hidden", hidden, 1, m - 1, hint="It numbers an action; episodes start in state 0."
    )
    H = check_integer("H", H, 1, hint="It counts periods: pass H=5, say.")
    inner = v @ v.T
    largest = np.abs(inner - np.eye(m)).max()
    if largest > gamma + 1e-12:
        fail(f"vectors have length 1 and products within ±1/4; one is off by {largest:.3g}.")
    C = np.where(np.eye(m, dtype=bool), 0.0, inner + 2 * gamma)
    P, R = np.zeros((H, m + 1, m, m + 1)), np.zeros((H, m + 1, m, m + 1))
    for b in range(m):
        P[:-1, :m, b, b] = 0.0 if b == hidden else C[:, b]
        R[:-1, :m, b] = (C[:, b] if b == hidden else -2 * gamma * C[:, b])[:, None]
    P[..., m] = 1.0 - P[..., :m].sum(axis=-1)
    R[-1, :m] = (C * inner[hidden])[:, :, None]
    Phi = np.zeros((H, m + 1, m, v.shape[1]))
    Phi[:, :m] = C[:, :, None] * v
    return FiniteMDP(P, R), Phi
