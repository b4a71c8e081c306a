r"""Worlds of several topics, as finite MDPs.

**MDPs of low rank** are a family in which polynomial regret is proved. Jin, Yang, Wang and Jordan
(COLT 2020) call an MDP linear if, for known features φ and unknown measures :math:`\mu_h` and
vectors :math:`\theta_h`,

.. math::
    P_h(s' \mid s, a) = \phi(s, a)^\top \mu_h(s'), \qquad r_h(s, a) = \phi(s, a)^\top \theta_h.

Then :math:`Q_h^\pi` is linear in φ for *every* policy, and the features are closed under Bellman's
operator: whatever :math:`\tilde V` an agent imagines, :math:`r_h + P_h \tilde V` is
:math:`\phi^\top(\theta_h + \sum_{s'} \mu_h(s') \tilde V(s'))`. A linear :math:`Q^*` alone does not
give that. It is enough that φ(s, a) lies in the simplex, that each of the d rows of
:math:`\mu_h` is a distribution on states, and that :math:`\theta_h \in [0, 1]^d`: an action mixes d
kinds of outcome, and P has rank at most d.
"""

from typing import Any

import numpy as np

from rlsvi_core.checks import array_size, generator, whole
from rlsvi_core.compiled import Floats, Seed
from rlsvi_core.mdp import FiniteMDP


def low_rank(H: int, S: int, A: int, d: int, rng: Seed = None) -> tuple[FiniteMDP, Floats]:
    """A random linear MDP with rewards in [0, 1].

    Weights are eighth powers of uniform variables, scaled to sum to 1: with less uneven ones all
    actions would do nearly the same.

    Parameters
    ----------
    H, S, A, d : numbers of periods, states, actions and features.
    rng : draws φ, μ and θ.

    Returns
    -------
    (FiniteMDP, (H, S, A, d) array)
        and its features, the same in all periods.

    Examples
    --------
    >>> mdp, Phi = low_rank(H=5, S=20, A=4, d=3, rng=1)
    >>> mdp, [int(np.linalg.matrix_rank(P.reshape(80, 20))) for P in mdp.P]
    (FiniteMDP(H=5, S=20, A=4), [3, 3, 3, 3, 3])
    """
    H, S, A, d = (
        whole(name, size, 1, hint="It is a size: pass H=5, S=20, A=4, d=3, say.")
        for name, size in {"H": H, "S": S, "A": A, "d": d}.items()
    )
    array_size("P", H, S, A, max(S, d))
    rng = generator(rng)

    def mixtures(*shape: int) -> Floats:
        weights = rng.random(shape)
        for _ in range(3):
            weights *= weights  # only products: the same bits everywhere
        return weights / weights.sum(axis=-1, keepdims=True)

    phi, mu, theta = mixtures(S, A, d), mixtures(H, d, S), rng.random((H, d))
    P: Any = sum(phi[None, :, :, k, None] * mu[:, None, None, k] for k in range(d))  # without BLAS
    r: Any = sum(phi[None, :, :, k] * theta[:, None, None, k] for k in range(d))
    return FiniteMDP(P, np.repeat(r[..., None], S, axis=-1)), np.tile(phi, (H, 1, 1, 1))
