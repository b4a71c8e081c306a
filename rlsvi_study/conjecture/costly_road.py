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
a third state, which no episode reaches, and whose actions have the other d − 3 coordinates.

The page *B. Proofs* has the theorem and its proof; ρ = λσ².
"""

import math

import numpy as np

from rlsvi_core.checks import array_size, between, positive, whole
from rlsvi_core.compiled import Floats
from rlsvi_core.mdp import FiniteMDP

DEAD, ALIVE, AWAY = 0, 1, 2
X = math.sqrt(0.5)  # of the gate's features
WALK = 0.5  # a walk's second feature


def costly_road(
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
    >>> mdp, Phi = costly_road(H=4, p=0.1, c=0.6, r=0.25)
    >>> mdp.V[:, ALIVE].round(2), Phi[1, ALIVE]
    (array([-1.88, -0.75, -0.5 , -0.25,  0.  ]), array([[0.6, 0.5, 0. ],
           [0.6, 0.8, 0. ]]))
    """
    H = whole("H", H, 2, hint="The road begins in period 1: pass H=10, say.")
    d = whole("d", d, 3, hint="Gate and road need three features.")
    S, A = (2, 2) if d == 3 else (3, max(2, d - 3))
    array_size("H", H, S, A, max(S, d))
    positive(c=c, r=r, b=b)
    p = between("p", p, 0, 1, hint="So often an episode starts at the side: pass p=0.1, say.")
    c = between("c", c, 0, 0.8, hint="It is small, so that walk and leap differ: pass c=0.05, say.")
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
