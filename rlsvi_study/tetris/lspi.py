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

import numpy as np

from rlsvi_core import Agent, Options
from rlsvi_core.envs.tetris import Tetris
from rlsvi_core.learners.base import RegressionProblem, Weights
from rlsvi_core.runtime.compilation import Floats, Generator, jit

from ..engine import Plot, Rows, define_experiment, quick_scale, streams
from .ring import (
    WINDOW,
    Interpretation,
    PlacementFeatures,
    RingBuffer,
    RingLearner,
    fill_column_values,
)

STARTS = {"nothing": (0.0, 0.0), "scoring": (-1.0, -10.0)}  # of the largest height, of the holes


@jit
def add_lstd_sums(buffer: RingBuffer, policy: Floats, gamma: float, A: Floats, b: Floats) -> None:
    """Fill in Σ φ(φ − γφ')' and γ Σ φ r' with one pass over the ring."""
    N, K, q = buffer.a.shape[0], b.shape[0], np.empty(buffer.X.shape[2])
    x, ahead = np.empty(K), np.empty(K)
    A[:], b[:] = 0.0, 0.0
    for i in range(buffer.at[1]):
        x[:], ahead[:], r = buffer.X[i, :K, buffer.a[i]], 0.0, 0.0
        if not buffer.ended[i]:
            j = (i + 1) % N
            fill_column_values(buffer.X[j], buffer.n[j], policy, q)
            best = buffer.a[j]  # of equals, the one that was played
            for a in range(buffer.n[j]):
                best = a if q[a] > q[best] else best
            ahead[:], r = buffer.X[j, :K, best], float(buffer.X[j, K, best])
        for k in range(K):
            b[k] += gamma * r * x[k]
            for m in range(K):
                A[k, m] += x[k] * (x[m] - gamma * ahead[m])


@jit
def solve_by_elimination(A: Floats, b: Floats) -> None:
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


class PolicyIterationLearner(RingLearner):
    """Plays by one policy until it is improved."""

    compile_player = RingLearner.compile_player  # it calls fit

    def __init__(self, game: Tetris, start: str) -> None:
        problem = RegressionProblem(
            PlacementFeatures(game), 1.0, 1.0, 0.99, options=Options(window=WINDOW)
        )
        super().__init__(problem, Interpretation())
        self.policy = self.reading.initial_weights(self.K).theta[0]
        self.policy[19:21] = STARTS[start]

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        theta, mean = np.tile(self.policy, (2, 1, 1))
        return Weights(theta, mean)

    def improve(self, replay: bool) -> None:
        """Take the greedy policy for the values of this one; without replay, forget its games."""
        A, b = np.empty((self.free, self.free)), np.empty(self.free)
        add_lstd_sums(self.buffer, self.policy, self.problem.gamma, A, b)
        solve_by_elimination(A + self.problem.lam * np.eye(self.free), b)
        self.policy[: self.free] = b
        if not replay:
            self.buffer.at[:] = 0


def run_policy_iteration(
    seed: int, rule: str, start: str, replay: bool, each: int, count: int
) -> Rows:
    """The mean score of every policy's games."""
    _, env_rng, agent_rng = streams(seed)
    game = Tetris(rule=rule)
    learner, found = PolicyIterationLearner(game, start), []
    player = Agent(learner, rng=agent_rng)
    for n in range(1, count + 1):
        found.append({"policy": n, "score": float(player.learn(game, each, env_rng).reward.mean())})
        learner.improve(replay)
    return found


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

ITERATION = define_experiment(
    "tetris-lspi",
    place="Section 6.2",
    title="Least-squares policy iteration, twenty policies",
    run=run_policy_iteration,
    constants={"count": 20},
    cells=_CELLS,
    seeds=range(10),
    quick=quick_scale(cells=_CELLS[3:4], seeds=range(1), count=2),
    length="count",
    plot=Plot(
        "policy",
        "score",
        ("start", "replay", "each"),
        ("rule",),
        show="mean",
        ylabel="mean score of its games",
    ),
)
