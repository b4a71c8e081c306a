r"""Section 3, figure 1: the chain on which dithering is hopeless.

States :math:`1, \dots, N` (indices 0 to N−1), actions left (0) and right (1), horizon
:math:`H = N - 1`, start in state 1. Left always works; right works with probability
:math:`1 - 1/N` and otherwise moves left. Walls stop a move: left of state 1 is state 1, right of
state N is state N.

The only reward is 1 for state N. From state 1 it can be occupied at :math:`h = H` at the earliest,
so for anything an agent can meet it is a terminal reward, and that is how it is stored: then
:math:`Q^* \in [0, 1]` also in the states that no episode visits, as the paper's own footnote on
figure 6 assumes. The optimal policy goes right and earns :math:`p^* = (1 - 1/N)^{N-1}`.
"""

import numpy as np

from ..mdp import FiniteMDP

LEFT, RIGHT = 0, 1


def chain(N: int) -> FiniteMDP:
    """The N-state chain of figure 1."""
    if not (isinstance(N, (int, np.integer)) and N >= 2):
        raise ValueError(f"a chain has an integer number N of at least 2 states; N is {N!r}. "
                         f"Pass N=50, say.")
    P = np.zeros((N, 2, N))
    for s in range(N):
        left, right = max(s - 1, 0), min(s + 1, N - 1)
        P[s, LEFT, left] = 1.0
        P[s, RIGHT, left] += 1 / N
        P[s, RIGHT, right] += 1 - 1 / N
    return FiniteMDP.stationary(P, np.zeros_like(P), H=N - 1, terminal=np.eye(N)[N - 1])
