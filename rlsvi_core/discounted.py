r"""Appendix F.2: the infinite-horizon discounted Markov decision process, solved.

An MDP :math:`(\mathcal S, \mathcal A, \gamma, P, R, \pi)`: from :math:`s_t` action :math:`a_t`
leads to :math:`s_{t+1} \sim P(\cdot \mid s_t, a_t)` with a reward, for ever, and

.. math::
    Q^*(s, a) = \mathbb E[r_t + \gamma V^*(s_{t+1}) \mid s, a], \qquad
    V^*(s) = \max_a Q^*(s, a).

Both are the limit of value iteration, here run until a sweep changes nothing beyond rounding: a
contraction by γ a sweep, so some :math:`37/(1-\gamma)` sweeps do.

What an agent loses by an action is its gap :math:`\Delta(s, a) = V^*(s) - Q^*(s, a) \ge 0`. Its
regret is the sum of gaps along its path; discounted from a start s, the expected sum is exactly
:math:`V^*(s) - V^{agent}(s)`.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .compiled import jit
from .mdp import FiniteMDP, Model


@jit
def _iterate(model, mu, gamma, Q):
    """Value iteration in place; a policy's own actions are weighted by mu, empty for the best."""
    successor, probability, _, reward, _, _, _ = model
    _, S, A, B = successor.shape
    rounding = 1e-15 * np.abs(reward).max() / (1.0 - gamma)  # of the largest value there can be
    V, changed = np.zeros(S), True
    while changed:
        changed = False
        for s in range(S):
            value = 0.0 if mu.shape[0] else -np.inf
            for a in range(A):
                total = 0.0
                for b in range(B):
                    total += probability[0, s, a, b] * (
                        reward[0, s, a, b] + gamma * V[successor[0, s, a, b]])
                Q[s, a] = total
                value = value + mu[s, a] * total if mu.shape[0] else max(value, total)
            changed |= abs(value - V[s]) > rounding
            V[s] = value
    return V


@dataclass(frozen=True, eq=False)
class DiscountedMDP:
    """A discounted MDP: P and R of shape (S, A, S), γ in (0, 1); the rest as in ``FiniteMDP``."""

    P: np.ndarray
    R: np.ndarray
    gamma: float
    initial: np.ndarray | None = None
    support: tuple[float, float] | None = None
    model: Model = field(init=False, repr=False)

    def __post_init__(self):
        if not (isinstance(self.gamma, (float, np.floating)) and 0 < self.gamma < 1):
            raise ValueError(f"the discount factor lies strictly between 0 and 1; gamma is "
                             f"{self.gamma!r}. Pass gamma=0.99, say.")
        one = FiniteMDP.stationary(self.P, self.R, H=1, initial=self.initial, support=self.support)
        for name, value in (("P", one.P[0]), ("R", one.R[0]), ("initial", one.initial),
                            ("model", one.model)):
            object.__setattr__(self, name, value)

    @property
    def S(self) -> int:
        return self.P.shape[0]

    @property
    def A(self) -> int:
        return self.P.shape[1]

    @cached_property
    def Q(self) -> np.ndarray:
        """Q* as an (S, A) array."""
        Q = np.empty((self.S, self.A))
        _iterate(self.model, np.empty((0, 0)), self.gamma, Q)
        return Q

    @property
    def V(self) -> np.ndarray:
        return self.Q.max(axis=1)

    @property
    def gaps(self) -> np.ndarray:
        """Δ(s, a) = V*(s) − Q*(s, a)."""
        return self.V[:, None] - self.Q

    def evaluate(self, policy) -> np.ndarray:
        """V^μ of a policy given as an (S, A) array of probabilities."""
        policy = np.ascontiguousarray(policy, dtype=float)
        if policy.shape != (self.S, self.A) or (policy < 0).any() or not np.allclose(
                policy.sum(axis=1), 1):
            raise ValueError(f"a policy has shape {(self.S, self.A)} and rows of probabilities "
                             f"that sum to 1; this one has shape {policy.shape} and sums "
                             f"{policy.sum(axis=-1)}. Index it [s, a].")
        return _iterate(self.model, policy, self.gamma, np.empty((self.S, self.A)))
