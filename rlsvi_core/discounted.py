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
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .checks import array, distribution, fail
from .compiled import Floats, jit
from .mdp import FiniteMDP, Model

__all__ = ["DiscountedMDP"]


@jit
def _iterate(model: Model, mu: Floats, gamma: float, Q: Floats) -> Floats:
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
    """A discounted MDP with everything known.

    Parameters
    ----------
    P, R : (S, A, S) arrays
        Transition probabilities and mean rewards.
    gamma : float
        The discount factor, strictly between 0 and 1.
    initial, support : optional
        As in :class:`~rlsvi_core.mdp.FiniteMDP`.

    Examples
    --------
    >>> DiscountedMDP(np.ones((1, 1, 1)), np.ones((1, 1, 1)), gamma=0.5).V      # 1 + 1/2 + 1/4 + …
    array([2.])
    """

    P: Floats
    R: Floats
    gamma: float
    initial: Any = None
    support: tuple[float, float] | None = None
    model: Model = field(init=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.gamma, (float, np.floating)) and 0 < self.gamma < 1):
            fail("the discount factor lies strictly between 0 and 1", f"gamma is {self.gamma!r}",
                 "Pass gamma=0.99, say.")
        one = FiniteMDP.stationary(self.P, self.R, H=1, initial=self.initial, support=self.support)
        self.__dict__.update(P=one.P[0], R=one.R[0], initial=one.initial, model=one.model)

    def __repr__(self) -> str:
        return f"DiscountedMDP(S={self.S}, A={self.A}, gamma={self.gamma:g})"

    @property
    def S(self) -> int:
        """The number of states."""
        return int(self.P.shape[0])

    @property
    def A(self) -> int:
        """The number of actions."""
        return int(self.P.shape[1])

    @cached_property
    def Q(self) -> Floats:
        """Q* as an (S, A) array."""
        Q = np.empty((self.S, self.A))
        _iterate(self.model, np.empty((0, 0)), self.gamma, Q)
        return Q

    @cached_property
    def V(self) -> Floats:
        """V* as an (S,) array."""
        return np.asarray(self.Q.max(axis=1))

    @property
    def gaps(self) -> Floats:
        """Δ(s, a) = V*(s) − Q*(s, a), an (S, A) array."""
        return self.V[:, None] - self.Q

    def evaluate(self, policy: ArrayLike) -> Floats:
        """V^μ as an (S,) array, for a policy given as an (S, A) array of probabilities."""
        mu = array("policy", policy, (self.S, self.A), mend="Index it [s, a].")
        distribution("policy", mu)
        return _iterate(self.model, mu, self.gamma, np.empty((self.S, self.A)))
