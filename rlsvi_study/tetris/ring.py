r"""Appendix D: stationary RLSVI (Algorithms 7 and 8) and LSVI, for games of unknown length.

One value function for all time, :math:`Q(s, a) = \Phi(s, a)\theta`, fitted before every game to the
last N transitions with the previous weights in the targets; ``rlsvi_core.agents.verbatim`` does it
for any feature map. Here is the form for Tetris, whose feature map is :class:`Placements`.

**What is** :math:`\Phi(s, a)` **?** The features are those of the board after the placement, and
the rows it clears are known. ``reading`` is what they weigh: ``"board"`` nothing (the features
alone, as the text has it), ``"value"`` one (:math:`Q = r + \phi\theta`, the usual form: reward plus
discounted value of the board after it), ``"reward"`` a weight that is learned (the reward as one
feature more). All three are one regression with the last weight fixed or free.

``RingAgent`` keeps a ring of one-byte features of all placements of the last N states; the next
state of a transition is the next place in the ring, or the state that a game under way has
reached. Features are whole numbers, so :math:`A^\top A` is an integer matrix that takes in a new
row and lets go of an old one without rounding; what remains is one pass over the ring for the
targets. There the best placement is found in single precision, twice as fast, and its value
computed in double.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import Generator

from rlsvi_core import checks
from rlsvi_core.agents.base import LinearAgent
from rlsvi_core.agents.choices import Choices
from rlsvi_core.compiled import Array, Floats, Ints, jit
from rlsvi_core.envs import tetris
from rlsvi_core.envs.tetris import Tetris
from rlsvi_core.episodes import Run
from rlsvi_core.features import FeatureMap
from rlsvi_core.kernels import (
    choose,
    draw,
    draw_noise,
    draw_piece,
    drawn_sigma,
    place,
    placements,
    repeated,
    solve_transposed,
)
from rlsvi_core.waiting import HELD

__all__ = ["Placements", "RingAgent"]

PRINTED: dict[str, Any] = {"window": 100_000, "sweeps": 1}  # the paper's choices

LONGEST = 10_000_000  # placements in a game, after which a policy is taken to play without end
READINGS: dict[str, tuple[float, ...]] = {"board": (0.0,), "value": (1.0,), "reward": ()}


@jit
def column_values(X: Array, n: int | np.int64, theta: Array, q: Array) -> None:
    """Fill q with the values of the n placements in the columns of X, in the precision of theta."""
    for a in range(n):
        q[a] = 0
    for k in range(theta.shape[0]):
        weight = theta[k]
        for a in range(n):  # the inner loop runs along memory: this is what gets vectorised
            q[a] += weight * theta.dtype.type(X[k, a])


class Ring(NamedTuple):
    """The last N states with all their placements, and what they sum to."""

    X: Array  # (N, K + 1, A) bytes: features and rows cleared, one column per placement
    n: Array  # (N,) how many placements there were
    a: Array  # (N,) which was played
    ended: Array  # (N,) whether the next state was terminal
    AA: Array  # (K + 1, K + 1) Σ x x' over the placements played, exact; its lower half
    at: Array  # (2,) where the next transition goes; how many there are


@jit
def _add_square(AA: Ints, X: Array, a: int, sign: int) -> None:
    """Add the square of one placement's features to the lower half of AA."""
    for k in range(AA.shape[0]):
        x = sign * np.int64(X[k, a])
        for j in range(k + 1):
            AA[k, j] += x * X[j, a]


@jit
def _keep(ring: Ring, X: Array, n: int, a: int, ended: bool) -> None:
    """Write a transition over the oldest one."""
    i, count = ring.at
    if count == ring.n.shape[0]:
        _add_square(ring.AA, ring.X[i], ring.a[i], -1)
    for k in range(X.shape[0]):
        for j in range(n):
            ring.X[i, k, j] = X[k, j]
    ring.n[i], ring.a[i], ring.ended[i] = n, a, ended
    _add_square(ring.AA, X, a, 1)
    ring.at[0] = (i + 1) % ring.n.shape[0]
    ring.at[1] = min(count + 1, ring.n.shape[0])


@jit
def _targets(
    ring: Ring, under_way: Array, before: Floats, free: int, gamma: float, Ab: Floats
) -> float:
    """Fill in A'b with one pass over the ring; returns b'b."""
    N, K = ring.n.shape[0], before.shape[0] - 1
    newest = (ring.at[0] - 1) % N
    rough, q = before.astype(np.float32), np.empty(ring.X.shape[2], np.float32)
    Ab[:] = 0.0
    bb = 0.0
    for i in range(ring.at[1]):
        a, r = ring.a[i], float(ring.X[i, K, ring.a[i]])
        b = r if free > K else r - before[K] * r
        if not ring.ended[i]:
            there, n = ring.X[(i + 1) % N], np.int64(ring.n[(i + 1) % N])
            if i == newest:
                there, n = under_way, under_way.shape[1]
            column_values(there, n, rough, q)
            best = 0
            for k in range(1, n):
                best = k if q[k] > q[best] else best
            for k in range(K + 1):
                b += gamma * before[k] * there[k, best]
        for k in range(free):
            Ab[k] += ring.X[i, k, a] * b
        bb += b * b
    return float(bb)


@jit
def _cholesky(AA: Ints, ridge: float, U: Floats) -> None:
    """The upper-triangular U with U'U = AA + ridge I, for the leading block that U has room for."""
    K = U.shape[0]
    for k in range(K):
        for j in range(k, K):
            total = AA[j, k] + (ridge if k == j else 0.0)
            for i in range(k):
                total -= U[i, k] * U[i, j]
            U[k, j] = math.sqrt(total) if j == k else total / U[k, k]


@jit
def _play(
    model: tetris.Model,
    ring: Ring,
    theta: Floats,
    epsilon: float,
    eta: float,
    X: Array,
    over: Array,
    where: Ints,
    rng: Generator,
    agent_rng: Generator,
    longest: int,
) -> tuple[int, int, int]:
    """One game; returns its score, its length and the first placement."""
    rows, q, p = np.zeros(model.height + 4, np.int64), np.empty(X.shape[1]), np.empty(X.shape[1])
    score, length, ended, opening = 0, 0, False, 0
    n = placements(model, rows, draw_piece(model, rng), X, over, where)
    spare, spare_over, spare_where = np.empty_like(X), np.empty_like(over), np.empty_like(where)
    while not ended and length < longest:
        column_values(X, n, theta, q)
        a = choose(q[:n], epsilon, eta, p[:n], agent_rng.random())
        opening = a if length == 0 else opening
        score += place(model, rows, where[a, 0], where[a, 1], where[a, 2])
        length += 1
        ended, n_next = over[a], 0
        if not ended:
            n_next = placements(model, rows, draw_piece(model, rng), spare, spare_over, spare_where)
            ended = n_next == 0
        _keep(ring, X, n, a, ended)
        X, spare, over, spare_over = spare, X, spare_over, over
        where, spare_where, n = spare_where, where, n_next
    return score, length, opening


class RingAgent(LinearAgent):
    """Keeps bytes and sums; the same interface and the same weights as ``VerbatimAgent``.

    ``theta`` holds K + 1 weights, the last one that of the rows a placement clears; ``mean`` the
    posterior mean they were drawn around. A state is the table ``game.table``: a row of features
    and rows cleared for each legal placement. The ring has a size, so there must be a ``window``.
    """

    features: "Placements"
    OFFERS = LinearAgent.OFFERS | {
        "gamma",
        "window",
        "sweeps",
        "draws",
        "targets",
        "variance",
        "half_life",
    }

    @classmethod
    def suits(cls, features: FeatureMap, choices: Choices) -> bool:
        return choices.window is not None and super().suits(features, choices)

    def __init__(self, features: "Placements", lam: float, sigma: float, **options: Any) -> None:
        checks.instance("features", features, Placements, hint="Placements(Tetris()) makes them.")
        super().__init__(features, lam, sigma, **options)
        game, N = features.game, self.choices.window
        if N is None:
            checks.fail("a ring has a size", "window is None", "Pass window=100_000, the paper's.")
        self.free = features.K
        self.theta = np.zeros(game.K + 1)
        self.theta[self.free :] = features.known
        self.mean = self.theta.copy()
        checks.array_size("the window", N, game.K + 1, game.A)
        self.ring = Ring(
            np.zeros((N, game.K + 1, game.A), game.dtype),
            np.zeros(N, np.int16),
            np.zeros(N, np.int16),
            np.zeros(N, np.bool_),
            np.zeros((game.K + 1, game.K + 1), np.int64),
            np.zeros(2, np.int64),
        )
        self._under_way = np.zeros((game.K + 1, 0), game.dtype)  # the state a game has reached

    def _twin(self) -> Self:
        twin = super()._twin()
        twin.theta, twin.mean = self.mean.copy(), self.mean.copy()
        return twin

    def _fit(self, before: Floats, z: Floats, g: float) -> tuple[Floats, Floats]:
        """Posterior mean and sample of the free weights, given the weights in the targets."""
        x, U = np.empty(self.free), np.zeros((self.free, self.free))
        mean, theta = np.zeros((2, self.free))
        sigma = 1.0 if self.reading.variance == "unknown" else self.sigma
        bb = _targets(self.ring, self._under_way, before, self.free, self.choices.gamma, x)
        _cholesky(self.ring.AA, self.lam * sigma**2, U)
        solve_transposed(U, x)
        if not math.isnan(g):
            sigma = drawn_sigma(bb - (x * x).sum(), g)
        draw(U, x, 0.0, z, mean)
        draw(U, x, sigma, z, theta)
        return mean, theta

    def _noise(self) -> tuple[Floats, float]:
        if not self.sample:
            return np.zeros(self.free), math.nan
        unknown = self.reading.variance == "unknown"
        return draw_noise(self.rng, self.free, int(self.ring.at[1]) if unknown else None)

    def _estimate(self) -> None:
        before = self.theta if self.reading.targets == "sample" else self.mean
        for sweep in repeated(self.choices.sweeps, before):
            if sweep == 0 or self.reading.draws == "per sweep":
                noise = self._noise()
            self.mean[: self.free], self.theta[: self.free] = self._fit(before.copy(), *noise)

    def _values(self, h: int, s: Any) -> Floats:
        X, q = self.features.checked(s), np.full(self.features.game.A, -np.inf)
        column_values(X.T, len(X), self.theta, q)
        return q

    def act(self, h: int, s: Any, legal: Any = None) -> int:
        """Choose one of the placements whose features and rows cleared are the rows of s."""
        self._refuse_mask(legal)
        checks.whole("h", h, hint="It counts the placements of a game, from zero.")
        X = self.features.checked(s)
        q, p = np.empty((2, len(X)))
        column_values(X.T, len(X), self.theta, q)
        return choose(q, self.dither, self.eta, p, self.rng.random())

    def observe(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        """Take in that placement a of s was played; ``s_next=None`` at the end of the game."""
        self._refuse_mask(legal_next)
        checks.whole("h", h, hint="It counts the placements of a game, from zero.")
        X = self.features.checked(s)
        a = checks.index("a", a, len(X))
        checks.finite("r", r)
        if r != X[a, -1]:
            checks.fail(
                "the reward is the number of rows cleared, the last column of the state",
                f"r is {r} and the column says {X[a, -1]}",
                "Pass what step returned.",
            )
        if self._under_way.size and not np.array_equal(X.T, self._under_way):
            checks.fail(
                "a placement is one of the state that the last one led to",
                f"a state with {len(X)} placements is not that",
                "Observe a game in its order, to its end (s_next=None).",
            )
        there = X[:0] if s_next is None else self.features.checked(s_next)
        with HELD:
            _keep(self.ring, X.T, len(X), a, s_next is None)
            self._under_way = np.ascontiguousarray(there.T)
            self.transitions += 1
            self._returns.add_reward(h, float(r), s_next is None)

    def _prepare(self, env: Any, episodes: int, rng: Any, exact: Any) -> tuple[Generator, Run, Any]:
        game = self.features.game
        if not isinstance(env, Tetris) or (env.K, env.A, env.dtype) != (game.K, game.A, game.dtype):
            checks.fail(
                f"the features are for {game!r}",
                f"the environment is {env!r}",
                "Make the features from this game.",
            )
        if self._under_way.size:
            checks.fail(
                "learn begins with a new game",
                "one is under way",
                "Observe its end first (s_next=None).",
            )
        if exact:
            checks.fail(
                "only what is known exactly is evaluated so", "Tetris is not", "Leave exact out."
            )
        return super()._prepare(env, episodes, rng, exact)

    def _play(self, env: Tetris, exact: Any, rng: Generator, run: Run, start: int) -> None:
        run.furthest[:] = -1
        for i in range(len(run.reward)):
            self.plan()
            run.reward[i], run.length[i], run.opening[i] = _play(
                env.model,
                self.ring,
                self.theta,
                self.dither,
                self.eta,
                *env.buffers(),
                rng,
                self.rng,
                LONGEST,
            )
            self.transitions += int(run.length[i])
            self._returns.add_episodes(run.reward[i : i + 1])
            if run.length[i] == LONGEST:
                checks.fail(
                    "a game must end",
                    f"game {start + i + 1} has lasted {LONGEST} placements: the "
                    f"policy plays on without end",
                    f"With the pieces {env.pieces!r} that "
                    f"may be easy: pass more of them, or fewer rows.",
                    RuntimeError,
                )


class Placements(FeatureMap):
    """The benchmark features of the boards after each legal placement; states are tables.

    Parameters
    ----------
    game : a :class:`rlsvi_core.envs.tetris.Tetris`, for its sizes.
    reading : what the rows cleared weigh, ``"board"``, ``"value"`` or ``"reward"``; see above.

    Examples
    --------
    >>> game = Tetris(10, 20)
    >>> Placements(game).K, Placements(game, reading="reward").K
    (22, 23)
    """

    fast = RingAgent

    def __init__(self, game: Tetris, reading: str = "value") -> None:
        checks.instance("game", game, Tetris, hint="Tetris(10, 20) is the usual one.")
        checks.one_of(
            "reading",
            reading,
            READINGS,
            hint="The docstring of rlsvi_study.tetris.ring says what they mean.",
        )
        self.game, self.reading = game, reading
        self.known = np.array(READINGS[reading])
        self.K, self.A = game.K + 1 - len(self.known), game.A

    def checked(self, s: Any) -> Array:
        """The table of a state, of the type the ring keeps."""
        X = s if type(s) is np.ndarray and s.dtype == self.game.dtype else checks.numbers("s", s)
        kind = np.iinfo(self.game.dtype)
        if X.ndim != 2 or X.shape[1] != self.game.K + 1 or not 1 <= len(X) <= self.game.A:
            checks.fail(
                f"a state has a row for each legal placement, from 1 to {self.game.A} of "
                f"them, and K + 1 = {self.game.K + 1} columns, the features and the rows "
                f"cleared",
                f"it has shape {X.shape}",
                "Pass game.table.",
            )
        if (
            X.dtype != self.game.dtype
            and not ((X == np.floor(X)) & (X >= 0) & (X <= kind.max)).all()
        ):
            checks.fail(
                f"features are whole numbers from 0 to {kind.max}",
                f"they range from {X.min()} to {X.max()}",
                "For other features use VerbatimAgent.",
            )
        return X.astype(self.game.dtype, order="C")

    def __call__(self, h: int, s: Any) -> Floats:
        return checks.array("s", s, (None, self.game.K + 1), hint="Pass game.table.")
