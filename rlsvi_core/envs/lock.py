r"""A continuing chain that dithering cannot open, for appendix F.2 (which names no environment).

States :math:`0, \dots, n-1`. Right goes one state on; left goes back to state 0. Right in the last
state pays 1 and goes back to state 0. Nothing is random, and nothing ever ends.

To earn anything takes n moves to the right in a row. An agent that acts uniformly waits
:math:`2^{n+1} - 2` steps for it in the mean; the optimal policy earns one reward every n steps,

.. math::
    V^*(0) = \frac{\gamma^{n-1}}{1 - \gamma^n}.
"""

import numpy as np

from ..discounted import DiscountedMDP

LEFT, RIGHT = 0, 1


def lock(n: int, gamma: float = 0.99) -> DiscountedMDP:
    """The lock that opens after n moves to the right."""
    if not (isinstance(n, (int, np.integer)) and n >= 1):
        raise ValueError(f"a lock takes an integer number n of at least 1 moves; n is {n!r}. "
                         f"Pass n=10, say.")
    P, R = np.zeros((n, 2, n)), np.zeros((n, 2, n))
    for s in range(n):
        P[s, LEFT, 0] = P[s, RIGHT, (s + 1) % n] = 1.0
    R[n - 1, RIGHT, 0] = 1.0
    return DiscountedMDP(P, R, gamma)
