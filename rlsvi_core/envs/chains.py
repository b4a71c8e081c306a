r"""Chains and a deep sea on which dithering takes exponential time, and a chain that never ends.

**The chain** (section 3, figure 1). States :math:`1, \dots, N` (indices 0 to N−1), actions left (0)
and right (1), horizon :math:`H = N - 1`, start in state 1. Left always works; right works with
probability :math:`1 - 1/N` and otherwise moves left. Walls stop a move: left of state 1 is state 1,
right of state N is state N.

The only reward is 1 for state N. From state 1 it can be occupied at :math:`h = H` at the earliest,
so for anything an agent can meet it is a terminal reward, and that is how it is stored: then
:math:`Q^* \in [0, 1]` also in the states that no episode visits, as the paper's own footnote on
figure 6 assumes. The optimal policy goes right and earns :math:`p^* = (1 - 1/N)^{N-1}`.

**The lock** (for appendix F.2, which names no environment). States :math:`0, \dots, n-1`. Right
goes one state on; left goes back to state 0. Right in the last state pays 1 and goes back to state
0. Nothing is random, and nothing ever ends. To earn anything takes n moves to the right in a row:
an agent that acts uniformly waits :math:`2^{n+1} - 2` steps for it on average; the optimal policy
earns one reward every n steps, :math:`V^*(0) = \gamma^{n-1} / (1 - \gamma^n)`.

**The deep sea** (Osband et al., Behaviour suite for reinforcement learning, 2020). A diver sinks
through the N rows of an N × N grid, one per period, from the top left corner; the state is the
column, and the row is the period. An action moves left for nothing or right for 0.01/N; walls stop
a move. Right in the last column of the last row finds the treasure, 1, so the optimal policy always
goes right and earns 0.99; uniform play finds it once in :math:`2^N` episodes. Nothing in an
episode is random. Which action is right may be drawn, once and for each cell.

**River swim** (Strehl and Littman 2008, with the numbers of Osband, Russo and Van Roy 2013). Left
goes with the current and always works; from the left bank it pays 0.005. Right goes on with
probability 0.35, holds with 0.6 and is carried back with 0.05; it leaves the left bank with
probability 0.6, and at the other end pays 1 and holds with probability 0.6.
"""

import numpy as np

from ..mdp import DiscountedMDP, FiniteMDP
from ..runtime.checks import as_generator, check_integer
from ..runtime.compilation import Seed

__all__ = ["LEFT", "RIGHT", "chain", "deep_sea", "lock", "river_swim"]

LEFT, RIGHT = 0, 1


def chain(N: int) -> FiniteMDP:
    """The N-state chain of figure 1.

    Parameters
    ----------
    N : int
        Number of states, at least 2.

    Returns
    -------
    FiniteMDP
        With H = N − 1.

    Examples
    --------
    >>> chain(50), round(chain(50).optimal_value, 6)                # (1 − 1/50)^49
    (FiniteMDP(H=49, S=50, A=2), 0.371602)
    """
    N = check_integer("N", N, 2, hint="N counts a chain's states: pass N=50, say.")
    P = np.zeros((N, 2, N))
    for s in range(N):
        left = max(s - 1, 0)
        right = min(s + 1, N - 1)
        P[s, LEFT, left] = 1.0
        P[s, RIGHT, left] += 1 / N
        P[s, RIGHT, right] += 1 - 1 / N
    return FiniteMDP.stationary(P, np.zeros_like(P), H=N - 1, terminal=np.eye(N)[N - 1])


def lock(n: int, gamma: float = 0.99) -> DiscountedMDP:
    """The lock that opens after n moves to the right.

    Parameters
    ----------
    n : int
        Number of states.
    gamma : float
        The discount factor.

    Returns
    -------
    DiscountedMDP

    Examples
    --------
    >>> lock(2, gamma=0.5), lock(2, gamma=0.5).V.round(9)   # ½ / (1 − ¼), 1 / (1 − ¼)
    (DiscountedMDP(S=2, A=2, gamma=0.5), array([0.66666667, 1.33333333]))
    """
    n = check_integer("n", n, 1, hint="n counts the moves that open a lock: pass n=10, say.")
    P = np.zeros((n, 2, n))
    R = np.zeros((n, 2, n))
    for s in range(n):
        P[s, LEFT, 0] = P[s, RIGHT, (s + 1) % n] = 1.0
    R[n - 1, RIGHT, 0] = 1.0
    return DiscountedMDP(P, R, gamma)


def deep_sea(N: int, rng: Seed = None) -> FiniteMDP:
    """The deep sea of N × N cells.

    Parameters
    ----------
    N : int
        Number of rows, and of columns.
    rng : Generator, SeedSequence or int, optional
        Draws which action is right, a fair coin for each cell; by default it is ``RIGHT`` in all.

    Returns
    -------
    FiniteMDP
        With H = S = N.

    Examples
    --------
    >>> deep_sea(10, rng=1), round(deep_sea(10, rng=1).optimal_value, 9)
    (FiniteMDP(H=10, S=10, A=2), 0.99)
    """
    N = check_integer("N", N, 1, hint="N counts rows and columns: pass N=10, say.")
    swapped = (
        np.zeros((N, N), np.int64) if rng is None else as_generator(rng).integers(2, size=(N, N))
    )
    P = np.zeros((N, N, 2, N))
    R = np.zeros((N, N, 2, N))
    for h, s in np.ndindex(N, N):
        P[h, s, LEFT ^ swapped[h, s], max(s - 1, 0)] = 1.0
        P[h, s, RIGHT ^ swapped[h, s], min(s + 1, N - 1)] = 1.0
        R[h, s, RIGHT ^ swapped[h, s]] = -0.01 / N
    R[N - 1, N - 1, RIGHT ^ swapped[N - 1, N - 1]] += 1.0
    return FiniteMDP(P, R)


def river_swim(N: int = 6, H: int = 20) -> FiniteMDP:
    """The river with N states.

    Parameters
    ----------
    N : int
        Number of states, at least 2.
    H : int
        Number of periods.

    Returns
    -------
    FiniteMDP

    Examples
    --------
    >>> river_swim(), round(river_swim().optimal_value, 3)
    (FiniteMDP(H=20, S=6, A=2), 3.397)
    """
    N = check_integer("N", N, 2, hint="N counts a river's states: pass N=6, say.")
    P = np.zeros((N, 2, N))
    R = np.zeros((N, 2, N))
    for s in range(N):
        P[s, LEFT, max(s - 1, 0)] = 1.0
        P[s, RIGHT, max(s - 1, 0) : s + 2] = (0.4, 0.6) if s in (0, N - 1) else (0.05, 0.6, 0.35)
    R[0, LEFT] = 0.005
    R[N - 1, RIGHT] = 1.0
    return FiniteMDP.stationary(P, R, H=H)
