r"""Least-squares policy iteration (Lagoudakis and Parr, 2003) on the same 22 features.

LSVI fits :math:`\phi\theta` to targets that hold the previous weights. LSPI takes from these only
their policy, the greedy one, and solves for weights that are their own target (LSTD-Q): with
:math:`\phi_i` the board after placement i, and :math:`\phi_i', r_i'` the board and the rows of the
placement that the policy prefers in the next state (zero after the last one),

.. math::
    \Big(\sum_i \phi_i(\phi_i - \gamma\phi_i')^\top + \lambda I\Big)\,\theta
    = \gamma \sum_i \phi_i r_i' .

A policy plays some games and is evaluated; the greedy policy for the result plays the next ones.
With ``replay`` the sums run over the last N placements of all policies, without it over the
policy's own alone, at most N: then this is LSTD(0), and the loop the policy iteration of Bertsekas
and Ioffe (1996) for their λ = 0. It begins with all weights zero, or with a policy that scores.
"""

from typing import Any

import numpy as np

from rlsvi_core.agents import Choices
from rlsvi_core.compiled import Floats, jit
from rlsvi_core.envs.tetris import Tetris

from ..engine import Experiment, Rows, Scale, streams
from .ring import PRINTED, Placements, Ring, RingAgent, column_values

STARTS = {"nothing": (0.0, 0.0), "scoring": (-1.0, -10.0)}  # of the largest height, of the holes


@jit
def lstd(ring: Ring, policy: Floats, gamma: float, A: Floats, b: Floats) -> None:
    """Fill in Σ φ(φ − γφ')' and γ Σ φ r' with one pass over the ring."""
    N, K, q = ring.n.shape[0], b.shape[0], np.empty(ring.X.shape[2])
    x, ahead = np.empty(K), np.empty(K)
    A[:], b[:] = 0.0, 0.0
    for i in range(ring.at[1]):
        x[:], ahead[:], r = ring.X[i, :K, ring.a[i]], 0.0, 0.0
        if not ring.ended[i]:
            j = (i + 1) % N
            column_values(ring.X[j], ring.n[j], policy, q)
            best = ring.a[j]  # of equals, the one that was played
            for a in range(ring.n[j]):
                best = a if q[a] > q[best] else best
            ahead[:], r = ring.X[j, :K, best], float(ring.X[j, K, best])
        for k in range(K):
            b[k] += gamma * r * x[k]
            for m in range(K):
                A[k, m] += x[k] * (x[m] - gamma * ahead[m])


@jit
def eliminate(A: Floats, b: Floats) -> None:
    """Gauss with row pivots: b becomes the solution of Aθ = b, and A is used up. Written out, as
    LAPACK's last bits are the machine's own."""
    K = b.shape[0]
    for k in range(K):
        pivot = k
        for i in range(k + 1, K):
            pivot = i if abs(A[i, k]) > abs(A[pivot, k]) else pivot
        for m in range(K):
            A[k, m], A[pivot, m] = A[pivot, m], A[k, m]
        b[k], b[pivot] = b[pivot], b[k]
        for i in range(k + 1, K):
            factor = A[i, k] / A[k, k]
            b[i] -= factor * b[k]
            for m in range(k, K):
                A[i, m] -= factor * A[k, m]
    for k in range(K - 1, -1, -1):
        for m in range(k + 1, K):
            b[k] -= A[k, m] * b[m]
        b[k] /= A[k, k]


class PolicyIteration(RingAgent):
    """Plays greedily, with the same weights for so many games each time."""

    def __init__(
        self, features: Placements, start: str, replay: bool, each: int, rng: Any = None
    ) -> None:
        super().__init__(
            features, 1.0, 1.0, sample=False, rng=rng, choices=Choices(gamma=0.99, **PRINTED)
        )
        self.replay, self.each = replay, each
        self.theta[19:21] = STARTS[start]

    def _estimate(self) -> None:
        if self.episode % self.each:
            return
        A, b = np.empty((self.free, self.free)), np.empty(self.free)
        lstd(self.ring, self.theta, self.choices.gamma, A, b)
        eliminate(A + self.lam * np.eye(self.free), b)
        self.theta[: self.free] = self.mean[: self.free] = b
        if not self.replay:
            self.ring.at[:] = 0


def policies(seed: int, rule: str, start: str, replay: bool, each: int, count: int) -> Rows:
    """The mean score of every policy's games."""
    _, env_rng, agent_rng = streams(seed)
    game = Tetris(rule=rule)
    player = PolicyIteration(Placements(game), start, replay, each, rng=agent_rng)
    return [
        {"policy": n, "score": float(player.learn(game, each, env_rng).reward.mean())}
        for n in range(1, count + 1)
    ]


_WAYS = (
    ("nothing", True, 50),
    ("nothing", False, 50),
    ("scoring", True, 50),
    ("scoring", False, 50),
    ("scoring", False, 200),
)
_CELLS = tuple(
    {"rule": rule, "start": start, "replay": replay, "each": each}
    for rule, ways in (("clears", _WAYS), ("top row", _WAYS[:4]))
    for start, replay, each in ways
)

ITERATION = Experiment(
    "tetris-lspi",
    "Section 6.2",
    "Least-squares policy iteration, twenty policies",
    policies,
    {
        "quick": Scale({"count": 2}, _CELLS[3:4], range(1)),
        "paper": Scale({"count": 20}, _CELLS, range(10)),
    },
    length="count",
)
