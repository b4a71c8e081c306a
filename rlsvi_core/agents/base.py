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


class Run(NamedTuple):
    """What a stretch of learning did, one entry an episode."""

    reward: np.ndarray  # realised Σ_h r_h
    expected: np.ndarray  # exact expected reward of the policy that was played
    furthest: np.ndarray  # largest state index visited


class Agent(ABC):
    """An episodic agent with weights θ_h and action values Q_h = Φ_h θ_h.

    Any environment can drive it: ``plan()`` before each episode, ``act(h, s)`` for an action,
    ``observe(h, s, a, r, s_next)`` after each step. In the last period, r includes the terminal
    reward. ``learn`` does all of this against a FiniteMDP.
    """

    def __init__(self, Phi, lam: float, sigma: float, *, sample: bool, epsilon: float = 0.0,
                 eta: float = 0.0, first_episode: str = "zero", rng=None):
        Phi = np.ascontiguousarray(Phi, dtype=float)
        if Phi.ndim != 4 or 0 in Phi.shape or not np.isfinite(Phi).all():
            raise ValueError(f"Phi must be a finite (H, S, A, K) array; it has shape {Phi.shape}. "
                             f"rlsvi_core.bases makes such arrays.")
        check_positive(lam=lam, sigma=sigma)
        if not 0 <= epsilon <= 1:
            raise ValueError(f"epsilon is a probability; it is {epsilon!r}.")
        if not 0 <= eta < math.inf:
            raise ValueError(f"eta is a temperature of at least 0; it is {eta!r}.")
        if first_episode not in ("zero", "prior"):
            raise ValueError(f"first_episode must be 'zero' (the footnote's rule) or 'prior' "
                             f"(Algorithm 1 as printed); it is {first_episode!r}.")
        self.Phi, self.lam, self.sigma, self.sample = Phi, float(lam), float(sigma), sample
        self.epsilon, self.eta, self.first_episode = float(epsilon), float(eta), first_episode
        self.H, self.S, self.A, self.K = Phi.shape
        self.rng = np.random.default_rng(rng)
        self.theta = np.zeros((self.H, self.K))
        self.episodes = 0  # episodes of data the next plan will rest on

    @abstractmethod
    def _estimate(self) -> None:
        """Set theta from the data of all episodes so far."""

    @abstractmethod
    def observe(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        """Take in one transition."""

    def plan(self) -> None:
        """Fix the weights for the coming episode."""
        if self.episodes > 0 or self.sample and self.first_episode == "prior":
            self._estimate()

    def act(self, h: int, s: int) -> int:
        p = np.empty(self.A)
        action_probabilities(self.Phi[h, s] @ self.theta[h], self.epsilon, self.eta, p)
        return draw(p, self.rng.random())

    def policy(self) -> np.ndarray:
        """The law of the actions in this episode, an (H, S, A) array."""
        p = np.empty((self.H, self.S, self.A))
        for h, s in np.ndindex(self.H, self.S):
            action_probabilities(self.Phi[h, s] @ self.theta[h], self.epsilon, self.eta, p[h, s])
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

    def _check_fits(self, mdp: FiniteMDP, episodes: int) -> None:
        if (mdp.H, mdp.S, mdp.A) != self.Phi.shape[:3]:
            raise ValueError(f"the basis is for (H, S, A) = {self.Phi.shape[:3]}; the MDP has "
                             f"{(mdp.H, mdp.S, mdp.A)}. Make the basis from this MDP's Q.")
        if not (isinstance(episodes, (int, np.integer)) and episodes >= 0):
            raise ValueError(f"episodes must be a whole number; it is {episodes!r}.")
