r"""Appendix D: stationary RLSVI (Algorithms 7 and 8) and LSVI, for games of unknown length.

One value function for all time, :math:`Q(s, a) = \Phi(s, a)\theta`, fitted before every game to the
last N transitions with the previous weights in the targets. :class:`Interpretation` says how the
paper is read where it leaves something open, and every fit has noise of its own.

**What is** :math:`\Phi(s, a)` **?** The features are those of the board after the placement, and
the rows it clears are known. A reading's ``rows`` is what they weigh: ``"board"`` nothing (the
features alone, as the text has it), ``"value"`` one (:math:`Q = r + \phi\theta`, the usual form:
reward plus discounted value of the board after it), ``"reward"`` a weight that is learned (the
reward as one feature more). All three are one regression with the last weight fixed or free.

``RingLearner`` keeps the one-byte features of all placements of the last N states; the next state
of a transition is the next place in the ring, or the state that a game under way has reached.
Features are whole numbers, so :math:`A^\top A` is an integer matrix that takes in a new row and
lets go of an old one without rounding; what remains is one pass over the ring for the targets.
There the best placement is found in single precision, twice as fast, and its value computed in
double.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rlsvi_core import Learner, Run
from rlsvi_core.envs.tetris import GameArrays, Tetris, draw_piece, fill_placements, place_and_clear
from rlsvi_core.features import FeatureMap
from rlsvi_core.learners.base import RegressionProblem, Weights
from rlsvi_core.regression import fill_noise, fill_posterior_draw, solve_upper_transposed
from rlsvi_core.runtime import checks
from rlsvi_core.runtime.compilation import Array, Floats, Generator, Ints, jit, jit_inline
from rlsvi_core.runtime.loop import PlayRequest, max_value, sample_action

WINDOW = 100_000  # N, as the paper has it
MAX_GAME_LENGTH = (
    10_000_000  # placements in a game, after which a policy is taken to play without end
)
FIXED_WEIGHTS: dict[str, tuple[float, ...]] = {"board": (0.0,), "value": (1.0,), "reward": ()}


class PosteriorNoise(NamedTuple):
    z: Floats  # of the weights; for the mean, zeros
    g: float  # of an unknown variance, Gamma(1 + n/2) after n rows, or else NaN


@dataclass(frozen=True)
class Interpretation:
    r"""How the paper is read.

    Parameters
    ----------
    rows : {"board", "value", "reward"}
        What the rows cleared weigh; see above.
    targets : {"sample", "mean"}
        Whose values stand in the targets.
    variance : {"known", "unknown"}
        Whether σ is given, or drawn from appendix D.2's posterior: :math:`\sigma^2 = (1 + \rho/2)/g`
        with the residual :math:`\rho = b^\top b - w^\top w`. The problem's σ is 1 then.
    """

    rows: str = "value"
    targets: str = "sample"
    variance: str = "known"

    def __post_init__(self) -> None:
        for name, offered in (
            ("rows", FIXED_WEIGHTS),
            ("targets", ("sample", "mean")),
            ("variance", ("known", "unknown")),
        ):
            hint = "The docstring of rlsvi_study.tetris.ring says what they mean."
            checks.check_one_of(name, getattr(self, name), offered, hint=hint)

    @property
    def fixed_weights(self) -> Floats:
        """The last weights, those that are not learned."""
        return np.array(FIXED_WEIGHTS[self.rows])

    def initial_weights(self, K: int) -> Weights:
        """K weights before any data."""
        theta, mean = np.zeros((2, 1, K))
        theta[:, K - self.fixed_weights.size :] = mean[:, K - self.fixed_weights.size :] = (
            self.fixed_weights
        )
        return Weights(theta, mean)

    def target_weights(self, theta: Floats, mean: Floats) -> Floats:
        return mean if self.targets == "mean" else theta

    def draw_noise(self, rng: Generator | None, K: int, rows: int) -> PosteriorNoise:
        """What a draw of K weights after so many rows needs."""
        z, g = np.zeros(K), math.nan
        if rng is not None:
            fill_noise(rng, z)
            if self.variance == "unknown":
                g = float(rng.standard_gamma(1 + rows / 2))
        return PosteriorNoise(z, g)


def draw_sigma(sigma: float, residual: float, g: float) -> float:
    """σ, or its draw if it is unknown."""
    return sigma if math.isnan(g) else math.sqrt((1 + max(residual, 0.0) / 2) / g)


class PlacementFeatures(FeatureMap):
    """The benchmark features of the boards after each legal placement and, last, the rows it clears;
    a state is the table of these.

    >>> game = Tetris(10, 20)
    >>> PlacementFeatures(game)(0, game.start(1)).shape           # of an O, in nine places
    (9, 23)
    """

    def __init__(self, game: Tetris) -> None:
        self.game, self.K = game, game.K + 1

    def __call__(self, h: int, s: Any) -> Floats:
        return np.array(s, float)


@jit
def fill_column_values(X: Array, n: int | np.int64, theta: Array, q: Array) -> None:
    """Fill q with the values of the n placements in the columns of X, in the precision of theta."""
    for a in range(n):
        q[a] = 0
    for k in range(theta.shape[0]):
        weight = theta[k]
        for a in range(n):  # the inner loop runs along memory: this is what gets vectorised
            q[a] += weight * theta.dtype.type(X[k, a])


class RingBuffer(NamedTuple):
    """The last N states with all their placements, and what they sum to; one place more is for the
    state that a game under way has reached."""

    X: Array  # (N + 1, K + 1, A) bytes: features and rows cleared, one column per placement
    n: Array  # (N + 1,) how many placements there are
    a: Array  # (N,) which was played
    ended: Array  # (N,) whether the next state was terminal
    AA: Array  # (K + 1, K + 1) Σ x x' over the placements played, exact; its lower half
    at: Array  # (2,) where the next transition goes; how many there are


def empty_buffer(game: Tetris, N: int) -> RingBuffer:
    return RingBuffer(
        np.zeros((N + 1, game.K + 1, game.most), game.dtype),
        np.zeros(N + 1, np.int16),
        np.zeros(N, np.int16),
        np.zeros(N, np.bool_),
        np.zeros((game.K + 1, game.K + 1), np.int64),
        np.zeros(2, np.int64),
    )


@jit
def _add_square(AA: Ints, X: Array, a: int, sign: int) -> None:
    """Add the square of one placement's features to the lower half of AA."""
    for k in range(AA.shape[0]):
        x = sign * np.int64(X[k, a])
        for j in range(k + 1):
            AA[k, j] += x * X[j, a]


@jit
def _write_state(buffer: RingBuffer, i: int, X: Array, n: int) -> None:
    for k in range(X.shape[0]):
        for j in range(n):
            buffer.X[i, k, j] = X[k, j]
    buffer.n[i] = n


@jit
def _store_transition(
    buffer: RingBuffer, X: Array, n: int, a: int, there: Array, n_there: int
) -> None:
    """Write a transition over the oldest one; if nothing is there, the game has ended."""
    i, count = buffer.at
    N = buffer.a.shape[0]
    if count == N:
        _add_square(buffer.AA, buffer.X[i], buffer.a[i], -1)
    _write_state(buffer, i, X, n)
    _write_state(buffer, N, there, n_there)
    buffer.a[i], buffer.ended[i] = a, n_there == 0
    _add_square(buffer.AA, X, a, 1)
    buffer.at[0] = (i + 1) % N
    buffer.at[1] = min(count + 1, N)


@jit_inline
def next_index(buffer: RingBuffer, i: int) -> int:
    """Where the state after place i is."""
    N, j = buffer.a.shape[0], (i + 1) % buffer.a.shape[0]
    return N if j == buffer.at[0] else j


@jit
def _target_sums(buffer: RingBuffer, before: Floats, free: int, gamma: float, Ab: Floats) -> float:
    """Fill in A'b with one pass over the ring; returns b'b."""
    K = before.shape[0] - 1
    rough, q = before.astype(np.float32), np.empty(buffer.X.shape[2], np.float32)
    Ab[:] = 0.0
    bb = 0.0
    for i in range(buffer.at[1]):
        a, r = buffer.a[i], float(buffer.X[i, K, buffer.a[i]])
        b = r if free > K else r - before[K] * r
        if not buffer.ended[i]:
            j = next_index(buffer, i)
            there, n = buffer.X[j], np.int64(buffer.n[j])
            fill_column_values(there, n, rough, q)
            best = 0
            for k in range(1, n):
                best = k if q[k] > q[best] else best
            for k in range(K + 1):
                b += gamma * before[k] * there[k, best]
        for k in range(free):
            Ab[k] += buffer.X[i, k, a] * b
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
def _play_game(
    model: GameArrays,
    X: Array,
    over: Array,
    where: Ints,
    buffer: RingBuffer,
    theta: Floats,
    epsilon: float,
    eta: float,
    rng: Generator,
    own: Generator,
    longest: int,
    count: Ints,
    run: Run,
    i: int,
) -> None:
    """One game, entry i of the record."""
    rows, q, p = np.zeros(model.height + 4, np.int64), np.empty(X.shape[1]), np.empty(X.shape[1])
    length, ended = 0, False
    n = fill_placements(model, rows, draw_piece(model, rng), X, over, where)
    spare, spare_over, spare_where = np.empty_like(X), np.empty_like(over), np.empty_like(where)
    while not ended and length < longest:
        fill_column_values(X, n, theta, q)
        a = sample_action(q[:n], epsilon, eta, p[:n], own.random())
        if length == 0:
            run.first_action[i], run.predicted_value[i] = a, max_value(q[:n])
        run.reward[i] += place_and_clear(model, rows, where[a, 0], where[a, 1], where[a, 2])
        length += 1
        n_next = 0
        if not over[a]:
            n_next = fill_placements(
                model, rows, draw_piece(model, rng), spare, spare_over, spare_where
            )
        ended = n_next == 0
        _store_transition(buffer, X, n, a, spare, n_next)
        X, spare, over, spare_over = spare, X, spare_over, over
        where, spare_where, n = spare_where, where, n_next
    count[1] += length
    run.length[i] = length


class RingLearner(Learner):
    """Keeps bytes and sums. The reward of a placement is the last
    column of its state. There must be a ``window``."""

    def __init__(self, problem: RegressionProblem, reading: Interpretation) -> None:
        phi, window = problem.features, problem.options.window
        assert isinstance(phi, PlacementFeatures)
        assert window is not None
        self.problem, self.reading, self.game = problem, reading, phi.game
        self.K, self.free = phi.K, phi.K - reading.fixed_weights.size
        self.buffer = empty_buffer(phi.game, window)

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        problem, reading, rows = self.problem, self.reading, int(self.buffer.at[1])
        before = reading.initial_weights(self.K) if before is None else before
        theta, mean = before.theta.copy(), before.mean.copy()
        if rng is None and not rows:
            return Weights(theta, mean)
        after, free = reading.target_weights(theta, mean)[0], self.free
        for _ in range(problem.n_sweeps(rng is None and before is None)):
            noise = reading.draw_noise(rng, free, rows)
            mean[0, :free], theta[0, :free] = self._solve(after, noise)
        return Weights(theta, mean)

    def _solve(self, after: Floats, noise: PosteriorNoise) -> tuple[Floats, Floats]:
        """Posterior mean and sample of the free weights, given the weights in the targets."""
        problem, x, U = self.problem, np.empty(self.free), np.zeros((self.free, self.free))
        mean, theta = np.zeros((2, self.free))
        bb = _target_sums(self.buffer, after, self.free, problem.gamma, x)
        _cholesky(self.buffer.AA, problem.ridge, U)
        solve_upper_transposed(U, x)
        fill_posterior_draw(U, x, 0.0, noise.z, mean)
        fill_posterior_draw(
            U, x, draw_sigma(problem.sigma, bb - (x * x).sum(), noise.g), noise.z, theta
        )
        return mean, theta

    def values(self, fitted: Weights, h: int, s: Any) -> Floats:
        X, q = self._check_state(s), np.empty(len(s))
        fill_column_values(X.T, len(X), fitted.theta[0], q)
        return q

    def add(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        X, there = self._check_state(s), self._check_state(s if s_next is None else s_next)
        reached = self.buffer.X[-1, :, : self.buffer.n[-1]]
        if reached.size and not np.array_equal(X.T, reached):
            checks.fail(
                f"a placement is one of the state that the last one led to; this has {len(X)}. "
                "Observe a game in its order, to its end (s_next=None)."
            )
        a = checks.check_index("a", a, len(X))
        _store_transition(self.buffer, X.T, len(X), a, there.T, 0 if s_next is None else len(there))

    def _check_state(self, s: Any) -> Array:
        """A state, of the type the ring keeps."""
        X, game = np.asarray(s), self.game
        fits = X.ndim == 2 and X.shape[1] == self.K and 1 <= len(X) <= game.most
        if not fits or X.dtype != game.dtype:
            checks.fail(
                f"a state has 1 to {game.most} rows and {self.K} columns (features, rows cleared) "
                f"of type {np.dtype(game.dtype)}; it has shape {X.shape} and type {X.dtype}."
            )
        return X

    def compile_player(
        self, env: Any, limit: int | None
    ) -> Callable[[Weights, PlayRequest], None] | None:
        sizes = self.game.K, self.game.most, self.game.dtype
        under_way = self.buffer.n[-1] > 0
        if type(env) is not Tetris or (env.K, env.most, env.dtype) != sizes:
            return None
        if limit is not None or under_way:
            return None
        return functools.partial(self._play_games, env)

    def empty_fit(self) -> Weights:
        return Weights(*self.reading.initial_weights(self.K))

    def _play_games(self, game: Tetris, fitted: Weights, task: PlayRequest) -> None:
        """Algorithm 8, a compiled call for each game."""
        count, run = task.counts, task.run
        for i in range(len(run.reward)):
            drawn = self.fit(task.agent_rng if task.sample else None, fitted)
            fitted.theta[:] = drawn.theta
            fitted.mean[:] = drawn.mean
            count[0] += 1
            _play_game(
                game.model,
                *game.placement_buffers(),
                self.buffer,
                fitted.theta[0],
                task.epsilon[i],
                task.eta,
                task.rng,
                task.agent_rng,
                MAX_GAME_LENGTH,
                count,
                run,
                i,
            )
            if run.length[i] == MAX_GAME_LENGTH:
                checks.fail(
                    f"a game ends; one with the pieces {game.pieces!r} has {MAX_GAME_LENGTH} placements. "
                    "Pass more of the pieces, or fewer rows.",
                    RuntimeError,
                )
