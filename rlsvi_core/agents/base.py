r"""What all episodic agents share: the loop of Algorithms 2, 4 and 5, and the choice of an action.

The three loops differ in one line each, the action. One formula covers them:

.. math::
    \mathbb P(a \mid s) = \frac{\epsilon}{A} + (1 - \epsilon)\,
    \frac{e^{Q(s,a)/\eta}}{\sum_\alpha e^{Q(s,\alpha)/\eta}},

where :math:`\eta \to 0` puts equal mass on all maximisers. Greedy is
:math:`\epsilon = \eta = 0`. Ties are broken uniformly: Example 1 depends on it.

Every step uses one uniform of the agent's stream and at least one of the environment's, whatever
happens, so one changed action does not shift all later draws.
"""

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from ..compiled import jit
from ..mdp import FiniteMDP, draw, first_state, last_reward, step
from ..regression import check_positive


@jit
def action_probabilities(q, epsilon, eta, out):
    """Fill ``out`` with the law of the action, given the action values q at a state."""
    A = q.shape[0]
    top = -np.inf
    for a in range(A):
        top = max(top, q[a])
    total = 0.0
    for a in range(A):
        if eta > 0.0:
            out[a] = math.exp((q[a] - top) / eta)
        else:
            out[a] = 1.0 if q[a] == top else 0.0
        total += out[a]
    for a in range(A):
        out[a] = epsilon / A + (1.0 - epsilon) * out[a] / total


@jit
def values(Phi, theta, h, s, q):
    """Fill q with Q_h(s, ·) = Φ_h(s, ·) θ_h."""
    for a in range(q.shape[0]):
        total = 0.0
        for k in range(theta.shape[1]):
            total += Phi[h, s, a, k] * theta[h, k]
        q[a] = total


ENDED = -1  # in place of a next state: the episode is over and nothing follows


class Run(NamedTuple):
    """What a stretch of learning did, one entry an episode."""

    reward: np.ndarray  # realised Σ_h r_h
    expected: np.ndarray  # exact expected reward of the policy that was played
    furthest: np.ndarray  # largest state index visited


class Agent(ABC):
    """An episodic agent with weights θ_h and action values Q_h = Φ_h θ_h.

    Any environment can drive it: ``plan()`` before each episode, ``act(h, s)`` for an action,
    ``observe(h, s, a, r, s_next)`` after each step. In the last period, r includes the terminal
    reward. An episode that ends before period H says so with ``s_next=None``: nothing of value
    follows. ``learn`` does all of this against a FiniteMDP.
    """

    def __init__(self, Phi, lam: float, sigma: float, *, sample: bool, epsilon: float = 0.0,
                 eta: float = 0.0, first_episode: str = "zero", rng=None):
        Phi = np.ascontiguousarray(Phi, dtype=float)
        if Phi.ndim != 4 or 0 in Phi.shape or not np.isfinite(Phi).all():
            raise ValueError(f"Phi must be a finite (H, S, A, K) array; it has shape {Phi.shape}. "
                             f"rlsvi_core.features makes such arrays.")
        check_positive(lam=lam, sigma=sigma)
        number = (int, float, np.number)
        if not (isinstance(epsilon, number) and 0 <= epsilon <= 1):
            raise ValueError(f"epsilon is a probability, a number from 0 to 1; it is {epsilon!r}. "
                             f"0 is greedy, 1 uniformly random.")
        if not (isinstance(eta, number) and 0 <= eta < math.inf):
            raise ValueError(f"eta is a temperature, a number of at least 0; it is {eta!r}. "
                             f"0 is greedy.")
        if first_episode not in ("zero", "prior"):
            raise ValueError(f"first_episode must be 'zero' (the footnote's rule) or 'prior' "
                             f"(Algorithm 1 as printed); it is {first_episode!r}. Choose one "
                             f"of the two.")
        self.Phi, self.lam, self.sigma, self.sample = Phi, float(lam), float(sigma), sample
        self.epsilon, self.eta, self.first_episode = float(epsilon), float(eta), first_episode
        self.H, self.S, self.A, self.K = Phi.shape
        self.rng = np.random.default_rng(rng)
        self.theta = np.zeros((self.H, self.K))
        self.transitions = 0  # how many have been observed

    @abstractmethod
    def _estimate(self) -> None:
        """Set theta from the data of all episodes so far."""

    @abstractmethod
    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        """Take in one transition; s_next is ENDED if nothing follows."""

    def plan(self) -> None:
        """Fix the weights for the coming episode."""
        if self.transitions > 0 or (self.sample and self.first_episode == "prior"):
            self._estimate()

    def observe(self, h: int, s: int, a: int, r: float, s_next: int | None) -> None:
        """Take in one transition."""
        ended = s_next is None
        self._check_indices(h=(h, self.H), s=(s, self.S), a=(a, self.A),
                            s_next=(0 if ended else s_next, self.S))
        if not math.isfinite(r):
            raise ValueError(f"a reward must be finite; r is {r!r} in period {h}. Clip or drop it "
                             f"before the agent sees it.")
        self._remember(h, s, a, float(r), ENDED if ended else s_next)
        self.transitions += 1

    def act(self, h: int, s: int) -> int:
        """Choose an action for state s in period h of the current episode."""
        self._check_indices(h=(h, self.H), s=(s, self.S))
        q, p = np.empty(self.A), np.empty(self.A)
        values(self.Phi, self.theta, h, s, q)
        action_probabilities(q, self.epsilon, self.eta, p)
        return draw(p, self.rng.random())

    @property
    def Q(self) -> np.ndarray:
        """The action values of this episode, Q_h = Φ_h θ_h, an (H, S, A) array."""
        Q = np.empty((self.H, self.S, self.A))
        for h, s in np.ndindex(self.H, self.S):
            values(self.Phi, self.theta, h, s, Q[h, s])
        return Q

    def policy(self) -> np.ndarray:
        """The law of the actions in this episode, an (H, S, A) array."""
        Q = self.Q
        p = np.empty_like(Q)
        for h, s in np.ndindex(self.H, self.S):
            action_probabilities(Q[h, s], self.epsilon, self.eta, p[h, s])
        return p

    def learn(self, mdp: FiniteMDP, episodes: int, rng=None, *, exact: bool = False) -> Run:
        """Algorithm 2: plan, play an episode greedily, remember it, repeat.

        Call it again to go on; pass the same environment generator. ``exact=True`` also evaluates
        each episode's policy by dynamic programming (``expected`` is NaN otherwise).
        """
        self._check_fits(mdp, episodes)
        rng, m = np.random.default_rng(rng), mdp.model
        reward, expected = np.zeros(episodes), np.full(episodes, np.nan)
        furthest = np.zeros(episodes, np.int64)
        for i in range(episodes):
            self.plan()
            if exact:
                expected[i] = m.initial @ mdp.evaluate(self.policy())[0]
            s = furthest[i] = first_state(m, rng)
            for h in range(self.H):
                a = self.act(h, s)
                r, s_next = step(m, h, s, a, rng)
                if h == self.H - 1:
                    r += last_reward(m, s_next, rng)
                self.observe(h, s, a, r, s_next)
                reward[i] += r
                s = s_next
                furthest[i] = max(furthest[i], s)
        return Run(reward, expected, furthest)

    @staticmethod
    def _check_indices(**indices: tuple[int, int]) -> None:
        for name, (value, size) in indices.items():
            if not (isinstance(value, (int, np.integer)) and 0 <= value < size):
                raise IndexError(f"{name} must be one of 0, …, {size - 1}; it is {value!r}. "
                                 f"The basis has axes (H, S, A, K).")

    def _check_fits(self, mdp: FiniteMDP, episodes: int) -> None:
        if (mdp.H, mdp.S, mdp.A) != self.Phi.shape[:3]:
            raise ValueError(f"the basis is for (H, S, A) = {self.Phi.shape[:3]}; the MDP has "
                             f"{(mdp.H, mdp.S, mdp.A)}. Make the basis from this MDP's Q.")
        if not (isinstance(episodes, (int, np.integer)) and episodes >= 0):
            raise ValueError(f"episodes must be a whole number of at least 0; it is {episodes!r}. "
                             f"Pass episodes=1000, say.")
