r"""Appendix F.2: RLSVI without episodes, for a discounted MDP (the paper's Algorithm 13).

After every step, one round of value iteration by regression on all transitions so far, with the
current sample in the targets, and one move of the perturbation w:

.. math::
    b_\tau = r_\tau + \gamma \max_\alpha (\Phi\tilde\theta_t)(s_{\tau+1}, \alpha), \qquad
    \bar\theta_{t+1} = \tfrac1{\sigma^2}\Sigma_{t+1}A^\top b, \qquad
    \tilde\theta_{t+1} = \bar\theta_{t+1} + w_{t+1},

.. math:: w_{t+1} \sim N(\rho\, w_t,\ (1-\rho^2)\,\Sigma_{t+1}), \qquad w_0 = 0.

For a fixed Σ this has the marginal law N(0, Σ) in the long run whatever :math:`0 \le \rho < 1` is,
and ρ is the correlation of consecutive perturbations. That is the one choice to make:

- **as printed** :math:`\rho = \sqrt{1-\gamma^2}` (:func:`printed`): 0.14 for γ = 0.99, so nearly
  a fresh draw every step;
- **mended** :math:`\rho = \gamma`, the two coefficients exchanged: a perturbation that lasts as
  long as the discount looks ahead, which is what the text says it is for;
- ρ = 0 is a fresh draw every step, and ρ = 1 none at all (w stays 0): least-squares Q-iteration,
  the dithering control when ε > 0.

Two forms, as for the episodic agents: ``VerbatimContinual`` rebuilds A and b, ``FastContinual``
keeps the factor of :math:`M = A^\top A + \lambda\sigma^2 I`, :math:`c = \sum \phi r` and one
K-vector :math:`g(s') = \sum_{\tau: s_{\tau+1} = s'} \phi_\tau` a state, whatever t is.
"""

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..compiled import jit
from ..discounted import DiscountedMDP
from ..mdp import draw, first_state, step
from ..regression import add_row, check_positive, solve, solve_transposed
from .base import action_probabilities
from .verbatim import posterior


def printed(gamma: float) -> float:
    """The autocorrelation ρ of line 3 as printed."""
    return math.sqrt(1.0 - gamma**2)


class Steps(NamedTuple):
    """What a stretch of learning did, one entry a step."""

    state: np.ndarray  # and, last, the state it led to
    action: np.ndarray
    reward: np.ndarray


class ContinualAgent(ABC):
    """Drive it with ``act(s)`` and ``observe(s, a, r, s_next)``, or let it ``learn``."""

    def __init__(self, Phi, gamma: float, rho: float, lam: float = 1.0, sigma: float = 0.1, *,
                 epsilon: float = 0.0, rng=None):
        Phi = np.ascontiguousarray(Phi, dtype=float)
        if Phi.ndim != 3 or 0 in Phi.shape or not np.isfinite(Phi).all():
            raise ValueError(f"Phi must be a finite (S, A, K) array; it has shape {Phi.shape}. "
                             f"np.eye(S * A).reshape(S, A, -1) is the tabular one.")
        check_positive(lam=lam, sigma=sigma)
        for name, value in (("gamma", gamma), ("rho", rho), ("epsilon", epsilon)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must lie between 0 and 1; it is {value!r}. Use "
                                 f"rho=gamma for lasting perturbations, rho=0 for fresh ones.")
        self.Phi, self.gamma, self.rho = Phi, float(gamma), float(rho)
        self.lam, self.sigma, self.epsilon = float(lam), float(sigma), float(epsilon)
        self.S, self.A, self.K = Phi.shape
        self.rng = np.random.default_rng(rng)
        self.theta, self.w = np.zeros(self.K), np.zeros(self.K)

    @abstractmethod
    def _update(self, s: int, a: int, r: float, s_next: int) -> None:
        """Algorithm 13: from θ̃_t, w_t and the newest transition to θ̃_{t+1}, w_{t+1}."""

    def observe(self, s: int, a: int, r: float, s_next: int) -> None:
        """Take in one transition and estimate anew."""
        self._check_indices(s=(s, self.S), a=(a, self.A), s_next=(s_next, self.S))
        if not math.isfinite(r):
            raise ValueError(f"a reward must be finite; r is {r!r} in state {s}. Clip or drop it "
                             f"before the agent sees it.")
        self._update(s, a, float(r), s_next)

    def act(self, s: int) -> int:
        """A greedy action, ties at random (with probability ε any action)."""
        self._check_indices(s=(s, self.S))
        p = np.empty(self.A)
        action_probabilities(self.Phi[s] @ self.theta, self.epsilon, 0.0, p)
        return draw(p, self.rng.random())

    def learn(self, mdp: DiscountedMDP, steps: int, rng=None, start: int | None = None) -> Steps:
        """Live for so many steps. To go on, call again with the generator and the last state."""
        if (mdp.S, mdp.A) != (self.S, self.A):
            raise ValueError(f"the basis is for (S, A) = {(self.S, self.A)}; the MDP has "
                             f"{(mdp.S, mdp.A)}. Make the basis for this MDP.")
        if not (isinstance(steps, (int, np.integer)) and steps >= 0):
            raise ValueError(f"steps must be a whole number of at least 0; it is {steps!r}. Pass "
                             f"steps=1000, say.")
        self._check_indices(start=(0 if start is None else start, self.S))
        rng = np.random.default_rng(rng)
        done = Steps(np.zeros(steps + 1, np.int64), np.zeros(steps, np.int64), np.zeros(steps))
        done.state[0] = first_state(mdp.model, rng) if start is None else start
        self._live(mdp.model, rng, done)
        return done

    def _live(self, model, rng, done: Steps) -> None:
        """Act, observe, repeat; fills in ``done``."""
        for t in range(done.action.size):
            s = int(done.state[t])
            a = done.action[t] = self.act(s)
            done.reward[t], done.state[t + 1] = step(model, 0, s, a, rng)
            self.observe(s, a, done.reward[t], done.state[t + 1])

    @staticmethod
    def _check_indices(**indices: tuple[int, int]) -> None:
        for name, (value, size) in indices.items():
            if not (isinstance(value, (int, np.integer)) and 0 <= value < size):
                raise IndexError(f"{name} must be one of 0, …, {size - 1}; it is {value!r}. The "
                                 f"basis has axes (S, A, K).")


class VerbatimContinual(ContinualAgent):
    """Keeps every transition and solves the printed problem after each step."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.data = []

    def _update(self, s, a, r, s_next):
        self.data.append((s, a, r, s_next))
        s, a, r, s_next = (np.array(column) for column in zip(*self.data, strict=True))
        V = (self.Phi @ self.theta).max(axis=1)
        A, b = self.Phi[s, a], r + self.gamma * V[s_next]
        mean, L = posterior(A, b, self.lam, self.sigma)
        noise = solve_triangular(L, self.rng.standard_normal(self.K), lower=True, trans="T")
        self.w = self.rho * self.w + math.sqrt(1 - self.rho**2) * noise
        self.theta = mean + self.w


class Sums(NamedTuple):
    """Everything the past has to say."""

    U: np.ndarray  # (K, K) factor of M
    c: np.ndarray  # (K,) Σ φ r
    g: np.ndarray  # (S, K) Σ φ over transitions into s'
    seen: np.ndarray  # (S,) whether any led there


@jit
def _q(Phi, theta, s, q):
    for a in range(q.shape[0]):
        q[a] = 0.0
        for k in range(theta.shape[0]):
            q[a] += Phi[s, a, k] * theta[k]


@jit
def _update(Phi, data, gamma, rho, sigma, rng, theta, w, s, a, r, s_next):
    S, A, K = Phi.shape
    q, row = np.empty(A), Phi[s, a].copy()
    data.seen[s_next] = True
    for k in range(K):
        data.c[k] += r * row[k]
        data.g[s_next, k] += row[k]
    add_row(data.U, row)
    x = data.c.copy()
    for i in range(S):
        if data.seen[i]:
            _q(Phi, theta, i, q)
            V = q.max()
            for k in range(K):
                x[k] += gamma * V * data.g[i, k]
    solve_transposed(data.U, x)
    solve(data.U, x)
    for k in range(K):
        row[k] = sigma * rng.standard_normal()
    solve(data.U, row)
    for k in range(K):
        w[k] = rho * w[k] + math.sqrt(1.0 - rho * rho) * row[k]
        theta[k] = x[k] + w[k]


@jit
def _live(model, Phi, data, gamma, rho, sigma, epsilon, rng, agent_rng, theta, w, state, action,
          reward):
    A = Phi.shape[1]
    q, p = np.empty(A), np.empty(A)
    for t in range(reward.shape[0]):
        s = state[t]
        _q(Phi, theta, s, q)
        action_probabilities(q, epsilon, 0.0, p)
        a = draw(p, agent_rng.random())
        r, s_next = step(model, 0, s, a, rng)
        _update(Phi, data, gamma, rho, sigma, agent_rng, theta, w, s, a, r, s_next)
        action[t], reward[t], state[t + 1] = a, r, s_next


class FastContinual(ContinualAgent):
    """Keeps sums, not data; the same interface and the same weights as ``VerbatimContinual``."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._data = Sums(math.sqrt(self.lam) * self.sigma * np.eye(self.K), np.zeros(self.K),
                          np.zeros((self.S, self.K)), np.zeros(self.S, np.bool_))

    def _update(self, s, a, r, s_next):
        _update(self.Phi, self._data, self.gamma, self.rho, self.sigma, self.rng, self.theta,
                self.w, s, a, r, s_next)

    def _live(self, model, rng, done):
        _live(model, self.Phi, self._data, self.gamma, self.rho, self.sigma, self.epsilon, rng,
              self.rng, self.theta, self.w, *done)
