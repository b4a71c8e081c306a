r"""Two worlds of the guide, as finite MDPs.

**The inventory** (Puterman, *Markov Decision Processes*, 1994, section 3.2). A shop with room for M
units has s of them at the beginning of a period. It orders a units, which arrive at once and as far
as there is room, so that it has :math:`u = \min(s + a, M)`. Then customers ask for D units and buy
what there is; what they miss is lost. The period pays

.. math:: 8 \min(D, u) - [4 + 2 (u - s)]\, 1(u > s) - u,

the price of what was sold, less the costs of an order, of its units and of holding stock. These
are Puterman's numbers. The demand here is geometric with mean 4,
:math:`\mathbb P(D \ge d) = 0.8^d`: a period may bring nobody, or empty the shop. The reward is
random, and so is the next stock :math:`u - \min(D, u)`, from which it follows.

**The key and the door.** A grid of N × N cells, in which nothing is random. The agent starts in the
top left corner. The key lies in the bottom left one and the door is in the top right one. The door
opens for one who has the key, which pays 1, and nothing follows. A state is a cell without the key,
or a cell with it, or the last one, *through the door*. Walls stop a move. The shortest way takes
3(N − 1) steps, and by default there are 4(N − 1) periods.
"""

import numpy as np

from rlsvi_core.mdp import FiniteMDP

PRICE, ORDER, UNIT, HOLDING = 8.0, 4.0, 2.0, 1.0
ANOTHER = 0.8  # the chance that one unit more is asked for


def inventory(M: int = 10, H: int = 20) -> FiniteMDP:
    """A shop with room for M units, which starts empty.

    Parameters
    ----------
    M : int
        The largest stock, and the largest order.
    H : int
        Number of periods.

    Returns
    -------
    FiniteMDP
        With S = A = M + 1.

    Examples
    --------
    >>> shop = inventory()
    >>> shop, round(shop.optimal_value, 1)
    (FiniteMDP(H=20, S=11, A=11), 193.2)
    >>> shop.Q[0].argmax(axis=1)  # order up to the brim, once there are fewer than four
    array([10,  9,  8,  7,  0,  0,  0,  0,  0,  0,  0])
    """
    P, R = np.zeros((2, M + 1, M + 1, M + 1))
    asked = np.cumprod([1.0] + [ANOTHER] * M)  # P(D ≥ d)
    for s, a in np.ndindex(M + 1, M + 1):
        u = min(s + a, M)
        cost = (ORDER + UNIT * (u - s) if u > s else 0.0) + HOLDING * u
        for sold in range(u + 1):
            P[s, a, u - sold] = asked[sold] * (1.0 if sold == u else 1 - ANOTHER)
            R[s, a, u - sold] = PRICE * sold - cost
    return FiniteMDP.stationary(P, R, H=H)


def key_and_door(N: int = 5, H: int | None = None) -> FiniteMDP:
    """A grid of N × N cells with a key and a door.

    Parameters
    ----------
    N : int
        Number of rows, and of columns, at least 2.
    H : int, optional
        Number of periods; 4(N − 1) by default.

    Returns
    -------
    FiniteMDP
        With S = 2N² + 1; the actions are up, down, left and right.

    Examples
    --------
    >>> key_and_door(), key_and_door().optimal_value, key_and_door(5, H=11).optimal_value
    (FiniteMDP(H=16, S=51, A=4), 1.0, 0.0)
    """
    S = 2 * N * N + 1
    P, R = np.zeros((2, S, 4, S))
    P[S - 1, :, S - 1] = 1.0
    for key, row, column in np.ndindex(2, N, N):
        for a, (down, right) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
            y, x = min(max(row + down, 0), N - 1), min(max(column + right, 0), N - 1)
            opened = key == 1 and (y, x) == (0, N - 1)
            with_key = key == 1 or (y, x) == (N - 1, 0)
            s = (key * N + row) * N + column
            s_next = S - 1 if opened else (with_key * N + y) * N + x
            P[s, a, s_next], R[s, a, s_next] = 1.0, opened
    return FiniteMDP.stationary(P, R, H=4 * (N - 1) if H is None else H)
