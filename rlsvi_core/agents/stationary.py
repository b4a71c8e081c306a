r"""Appendix D: stationary RLSVI (Algorithms 7 and 8) and LSVI, for games of unknown length.

One value function for all time, :math:`Q(s, a) = \Phi(s, a)\theta`, fitted before every game to the
last N transitions. With the previous weights :math:`\tilde\theta^-` in the targets,

.. math::
    b_i = r_i + \gamma \max_\alpha (\Phi\tilde\theta^-)(s_{i+1}, \alpha),
    \qquad b_i = r_i \text{ if } s_{i+1} \text{ is terminal},

it is Bayesian linear regression as in Section 4. (The paper prints the terminal test on
:math:`s_i`, from which no action is ever taken.) RLSVI acts greedily on a sample from the
posterior, LSVI on its mean, with dithering. A fit holds these choices (:class:`Choices`):

- **What is** :math:`\Phi(s, a)` **?** The features are those of the board after the placement,
  and the rows it clears are known. ``reading`` is what they weigh: ``"board"`` nothing (the
  features alone, as the text has it), ``"value"`` one (:math:`Q = r + \phi\theta`, the usual form:
  reward plus discounted value of the board after it), ``"reward"`` a weight that is learned (the
  reward as one feature more). All three are one regression with the last weight fixed or free.
- **What stands in the targets?** ``targets="sample"`` is Algorithm 7; ``"mean"`` puts the posterior
  mean there and keeps the sample for acting. ``sweeps`` repeats the fit so many times a game.
- **Is** :math:`\sigma` **known?** Algorithm 7 fixes it. With ``variance="unknown"`` (appendix D.2)
  :math:`\sigma^2` has an inverse-gamma prior with shape 1 and scale 1 and
  :math:`\theta \mid \sigma^2 \sim N(0, \sigma^2 I/\lambda)`: with n rows,
  :math:`\sigma^2 \sim \mathrm{IG}(1 + n/2,\ 1 + (b^\top b - \bar\theta^\top A^\top b)/2)`, and the
  same :math:`\theta` given :math:`\sigma`.

Two forms, as for the episodic agents. ``VerbatimStationary`` rebuilds A and b from its transitions.
``FastStationary`` keeps a ring of one-byte features of all placements of the last N states; the
next state of a transition is the next place in the ring. Features are whole numbers, so
:math:`A^\top A` is an integer matrix that takes in a new row and lets go of an old one without
rounding; what remains is one pass over the ring for the targets. There the best placement is
found in single precision, twice as fast, and its value computed in double.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from ..compiled import jit
from ..envs.tetris import Tetris, draw_piece, place, placements
from ..mdp import draw
from ..regression import check_positive, solve, solve_transposed
from .base import action_probabilities

LONGEST = 10_000_000  # placements in a game, after which a policy is taken to play without end
READINGS = {"board": 0.0, "value": 1.0, "reward": math.nan}  # the weight of rows cleared, if fixed


class Choices(NamedTuple):
    """What to fit and how to act on it."""

    sample: bool  # act on a posterior sample (RLSVI) or on the mean (LSVI)
    lam: float
    sigma: float  # in the unknown-variance form, not used
    gamma: float
    N: int  # transitions kept
    reading: str
    targets: str
    sweeps: int
    variance: str
    epsilon: float  # LSVI: probability of a uniformly random placement in the first game …
    half_life: float  # … halved every so many games; infinite for a constant
    eta: float  # LSVI: Boltzmann temperature; 0 is greedy


def _one_of(name: str, value, valid) -> None:
    if value not in valid:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, valid))}; it is {value!r}. "
                         f"The docstring of rlsvi_core.agents.stationary says what they mean.")


def _checked(choices: Choices) -> Choices:
    check_positive(lam=choices.lam, sigma=choices.sigma)
    _one_of("reading", choices.reading, READINGS)
    _one_of("targets", choices.targets, ("sample", "mean"))
    _one_of("variance", choices.variance, ("known", "unknown"))
    for name, low, high in (("gamma", 0, 1), ("epsilon", 0, 1), ("eta", 0, math.inf)):
        if not low <= getattr(choices, name) <= high:
            raise ValueError(f"{name} must lie between {low} and {high}; it is "
                             f"{getattr(choices, name)!r}. 0 switches it off.")
    for name in ("N", "sweeps"):
        value = getattr(choices, name)
        if not (isinstance(value, (int, np.integer)) and value >= 1):
            raise ValueError(f"{name} must be a whole number of at least 1; it is {value!r}. The "
                             f"paper keeps N=100_000 transitions and fits once a game.")
    if not choices.half_life > 0:
        raise ValueError(f"half_life counts games and must be above 0; it is "
                         f"{choices.half_life!r}. Leave it out for a constant epsilon.")
    return choices


class Games(NamedTuple):
    """What a stretch of learning did, one entry a game."""

    score: np.ndarray  # rows cleared
    length: np.ndarray  # placements


@jit
def values(X, n, theta, q):
    """Fill q with the values of the n placements in the columns of X, in the precision of theta."""
    for a in range(n):
        q[a] = 0
    for k in range(theta.shape[0]):
        weight = theta[k]
        for a in range(n):  # the inner loop runs along memory: this is what gets vectorised
            q[a] += weight * theta.dtype.type(X[k, a])


@jit
def _choose(X, n, theta, epsilon, eta, q, p, rng):
    """Pick a placement: the best one, ties at random, or by dithering."""
    values(X, n, theta, q)
    action_probabilities(q[:n], epsilon, eta, p)
    return draw(p[:n], rng.random())


class StationaryAgent(ABC):
    """Algorithm 8: fit, play a game, remember it, repeat.

    ``theta`` holds K + 1 weights, the last one that of the rows a placement clears; ``mean`` the
    posterior mean they were drawn around. ``learn`` plays the agent's own game. To drive it
    yourself: ``plan()`` before each game, then ``act(X)`` and ``observe(X, a, ended)`` with the
    (n, K + 1) table X of the legal placements' features and rows cleared.
    """

    def __init__(self, game: Tetris, choices: Choices, rng=None):
        self.game, self.choices = game, _checked(choices)
        self.rng = np.random.default_rng(rng)
        fixed = READINGS[choices.reading]
        self.free = game.K + math.isnan(fixed)  # how many weights are learned
        self.theta = np.zeros(game.K + 1)
        self.theta[self.free:] = fixed
        self.mean = self.theta.copy()
        self.games = 0
        self._q, self._p = np.empty((2, game.A))
        self._rough = np.empty(game.A, np.float32)

    @abstractmethod
    def _fit(self, before, z, g) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and sample of the free weights, given the weights in the targets, standard
        normal draws z and, for an unknown variance, a function that draws a gamma variable."""

    @abstractmethod
    def _remember(self, X, a: int, ended: bool) -> None:
        """Take in one transition; X has a column a placement."""

    @property
    def epsilon(self) -> float:
        """The probability of a random placement in the coming game."""
        return self.choices.epsilon * 2.0 ** (-self.games / self.choices.half_life)

    def plan(self) -> None:
        """Algorithm 7: fix the weights for the coming game."""
        for _ in range(self.choices.sweeps):
            before = self.theta if self.choices.targets == "sample" else self.mean
            z = self.rng.standard_normal(self.free) if self.choices.sample else np.zeros(self.free)
            self.mean[:self.free], self.theta[:self.free] = self._fit(
                before.copy(), z, self.rng.standard_gamma)

    def act(self, X) -> int:
        """Choose one of the placements whose features and rows cleared are the rows of X."""
        return _choose(self._columns(X), len(X), self.theta, self.epsilon, self.choices.eta,
                       self._q, self._p, self.rng)

    def observe(self, X, a: int, ended: bool) -> None:
        """Take in that placement a of X was played, and whether that was the end of the game."""
        self._remember(self._columns(X), a, ended)
        self.games += ended

    def _columns(self, X) -> np.ndarray:
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.game.K + 1 or not 1 <= len(X) <= self.game.A:
            raise ValueError(f"X must have a row for each legal placement, from 1 to {self.game.A} "
                             f"of them, and K + 1 = {self.game.K + 1} columns, the features and "
                             f"the rows cleared; it has shape {X.shape}. Stack game.features and "
                             f"game.rewards.")
        return X.T

    def learn(self, games: int, rng=None) -> Games:
        """Play so many games; call again, with the same generator, to go on."""
        if not (isinstance(games, (int, np.integer)) and games >= 0):
            raise ValueError(f"games must be a whole number of at least 0; it is {games!r}. Pass "
                             f"games=1000, say.")
        rng = np.random.default_rng(rng)
        played = Games(np.zeros(games, np.int64), np.zeros(games, np.int64))
        for i in range(games):
            self.plan()
            played.score[i], played.length[i] = self._play(rng)
            if played.length[i] == LONGEST:
                raise RuntimeError(f"a game must end, and game {i + 1} has lasted {LONGEST} "
                                   f"placements: the policy plays on for ever. With the pieces "
                                   f"{self.game.pieces!r} that may be easy; pass more of them, or "
                                   f"fewer rows.")
        return played

    def _play(self, rng) -> tuple[int, int]:
        """One game; returns its score and length."""
        game, length = self.game, 0
        game.start(rng)
        while not game.over and length < LONGEST:
            X = np.column_stack([game.features, game.rewards])
            a = self.act(X)
            game.step(a)
            self.observe(X, a, game.over)
            length += 1
        return game.score, length


class VerbatimStationary(StationaryAgent):
    """Keeps its transitions one by one and solves the printed problem before each game."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.data = deque(maxlen=self.choices.N)  # Φ(s_i, ·), a_i, whether s_{i+1} is terminal

    def _remember(self, X, a, ended):
        self.data.append((X.T.astype(float), a, ended))

    def regression_problem(self, before):
        """Line 1 of Algorithm 7, the known part of Q moved to the left-hand side."""
        c, free = self.choices, self.free
        A, b = np.zeros((len(self.data), free)), np.zeros(len(self.data))
        for i, (X, a, ended) in enumerate(self.data):
            r = X[a, -1]
            next_value = 0.0 if ended else (self.data[i + 1][0] @ before).max()
            A[i], b[i] = X[a, :free], r + c.gamma * next_value - X[a, free:] @ before[free:]
        return A, b

    def _fit(self, before, z, g):
        """Lines 2 and 3 of Algorithm 7."""
        c, (A, b) = self.choices, self.regression_problem(before)
        sigma = 1.0 if c.variance == "unknown" else c.sigma
        L = np.linalg.cholesky(A.T @ A / sigma**2 + c.lam * np.eye(self.free))
        mean = cho_solve((L, True), A.T @ b / sigma**2)
        scale = 1.0
        if c.variance == "unknown" and c.sample:
            scale = math.sqrt((1 + (b @ b - mean @ A.T @ b) / 2) / g(1 + len(b) / 2))
        return mean, mean + scale * solve_triangular(L, z, lower=True, trans="T")


class Ring(NamedTuple):
    """The last N states with all their placements, and what they sum to."""

    X: np.ndarray  # (N, K + 1, A) bytes: features and rows cleared, a column a placement
    n: np.ndarray  # (N,) how many placements there were
    a: np.ndarray  # (N,) which was played
    ended: np.ndarray  # (N,) whether the next state was terminal
    AA: np.ndarray  # (K + 1, K + 1) Σ x x' over the placements played, exact; its lower half
    at: np.ndarray  # (2,) where the next transition goes; how many there are


@jit
def _add_square(AA, X, a, sign):
    """Add the square of one placement's features to the lower half of AA."""
    for k in range(AA.shape[0]):
        x = sign * np.int64(X[k, a])
        for j in range(k + 1):
            AA[k, j] += x * X[j, a]


@jit
def _keep(ring, X, n, a, ended):
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
def _targets(ring, before, free, gamma, q, Ab):
    """Fill in A'b with one pass over the ring; returns b'b."""
    N, K = ring.n.shape[0], before.shape[0] - 1
    rough = before.astype(np.float32)
    Ab[:] = 0.0
    bb = 0.0
    for i in range(ring.at[1]):
        a, r = ring.a[i], float(ring.X[i, K, ring.a[i]])
        b = r if free > K else r - before[K] * r
        if not ring.ended[i]:
            j = (i + 1) % N
            values(ring.X[j], ring.n[j], rough, q)
            best = 0
            for k in range(1, ring.n[j]):
                best = k if q[k] > q[best] else best
            for k in range(K + 1):
                b += gamma * before[k] * ring.X[j, k, best]
        for k in range(free):
            Ab[k] += ring.X[i, k, a] * b
        bb += b * b
    return bb


@jit
def _cholesky(AA, ridge, U):
    """The upper-triangular U with U'U = AA + ridge I, for the leading block that U has room for."""
    K = U.shape[0]
    for k in range(K):
        for j in range(k, K):
            total = AA[j, k] + (ridge if k == j else 0.0)
            for i in range(k):
                total -= U[i, k] * U[i, j]
            U[k, j] = math.sqrt(total) if j == k else total / U[k, k]


@jit
def _play(model, ring, theta, epsilon, eta, X, over, where, q, p, rng, agent_rng, longest):
    """One game; returns its score and length."""
    rows = np.zeros(model.height + 4, np.int64)
    score, length, ended = 0, 0, False
    n = placements(model, rows, draw_piece(model, rng), X, over, where)
    spare, spare_over, spare_where = np.empty_like(X), np.empty_like(over), np.empty_like(where)
    while not ended and length < longest:
        a = _choose(X, n, theta, epsilon, eta, q, p, agent_rng)
        score += place(model, rows, where[a, 0], where[a, 1], where[a, 2])
        length += 1
        ended, n_next = over[a], 0
        if not ended:
            n_next = placements(model, rows, draw_piece(model, rng), spare, spare_over, spare_where)
            ended = n_next == 0
        _keep(ring, X, n, a, ended)
        X, spare, over, spare_over = spare, X, spare_over, over
        where, spare_where, n = spare_where, where, n_next
    return score, length


class FastStationary(StationaryAgent):
    """Keeps bytes and sums; the same interface and the same weights as ``VerbatimStationary``."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        N, K, A = self.choices.N, self.game.K, self.game.A
        self.ring = Ring(np.zeros((N, K + 1, A), self.game.dtype), np.zeros(N, np.int16),
                         np.zeros(N, np.int16), np.zeros(N, np.bool_),
                         np.zeros((K + 1, K + 1), np.int64), np.zeros(2, np.int64))

    def _remember(self, X, a, ended):
        _keep(self.ring, X, X.shape[1], a, ended)

    def _fit(self, before, z, g):
        c, x, U = self.choices, np.empty(self.free), np.zeros((self.free, self.free))
        sigma = 1.0 if c.variance == "unknown" else c.sigma
        bb = _targets(self.ring, before, self.free, c.gamma, self._rough, x)
        _cholesky(self.ring.AA, c.lam * sigma**2, U)
        solve_transposed(U, x)
        if c.variance == "unknown" and c.sample:
            sigma = math.sqrt((1 + (bb - (x * x).sum()) / 2) / g(1 + self.ring.at[1] / 2))
        mean, theta = x.copy(), x + sigma * z
        solve(U, mean)
        solve(U, theta)
        return mean, theta

    def _play(self, rng):
        played = _play(self.game.model, self.ring, self.theta, self.epsilon, self.choices.eta,
                       *self.game.buffers(), self._q, self._p, rng, self.rng, LONGEST)
        self.games += 1
        return played


def rlsvi(game: Tetris, lam: float = 1.0, sigma: float = 1.0, *, gamma: float = 0.99,
          N: int = 100_000, reading: str = "value", targets: str = "sample", sweeps: int = 1,
          variance: str = "known", rng=None,
          form: type[StationaryAgent] = FastStationary) -> StationaryAgent:
    """Algorithms 7 and 8: a posterior sample of the weights, and greedy placements."""
    return form(game, Choices(True, lam, sigma, gamma, N, reading, targets, sweeps, variance,
                              0.0, math.inf, 0.0), rng)


def lsvi(game: Tetris, lam: float = 1.0, *, epsilon: float = 0.0, half_life: float = math.inf,
         eta: float = 0.0, gamma: float = 0.99, N: int = 100_000, reading: str = "value",
         sweeps: int = 1, rng=None,
         form: type[StationaryAgent] = FastStationary) -> StationaryAgent:
    """The posterior mean, with greedy, ε-greedy (constant or annealed) or Boltzmann placements."""
    return form(game, Choices(False, lam, 1.0, gamma, N, reading, "mean", sweeps, "known",
                              epsilon, half_life, eta), rng)
