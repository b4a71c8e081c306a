r"""Random linear MDPs in which every step costs: where RLSVI as printed is not amplified.

Features are points of a simplex, :math:`P(s' \mid \phi) = \sum_k \phi_k \mu_k(s')` with laws
:math:`\mu_k`, and a step costs :math:`\sum_k \phi_k \eta_k` with :math:`0 \le \eta_k \le 1`. All are
drawn anew in each period. In *random coordinates* the features are multiplied by a Gaussian matrix,
then divided by the largest length.
"""

import numpy as np

from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.runtime.compilation import Floats, Generator

S, A, D = 12, 4, 4  # states, actions, features


def low_rank(H: int, turned: bool, rng: Generator) -> tuple[FiniteMDP, Floats]:
    """A random MDP of rank four, and its features; episodes start in state 0.

    >>> mdp, Phi = low_rank(3, True, np.random.default_rng(1))
    >>> mdp, Phi.shape, round(float(np.linalg.norm(Phi, axis=3).max()), 9)
    (FiniteMDP(H=3, S=12, A=4), (3, 12, 4, 4), 1.0)
    """
    Phi = rng.dirichlet(np.ones(D), (H, S, A))
    mu = rng.dirichlet(np.ones(S), (H, D))
    cost = rng.uniform(0, 1, (H, D))
    P = np.einsum("hsak,hkt->hsat", Phi, mu)
    R = -np.einsum("hsak,hk->hsa", Phi, cost)
    if turned:
        Phi = np.einsum("hsak,hkj->hsaj", Phi, rng.standard_normal((H, D, D)))
        Phi /= np.linalg.norm(Phi, axis=3).max()
    return FiniteMDP(P, R), Phi
