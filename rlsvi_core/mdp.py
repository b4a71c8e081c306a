r"""Section 2: the finite-horizon Markov decision process, solved exactly.

An MDP is a tuple :math:`(\mathcal S, \mathcal A, H, P, R, \pi)`. An episode starts in
:math:`s_0 \sim \pi`; in period :math:`h = 0, \dots, H-1` the agent picks :math:`a_h`, the next
state is :math:`s_{h+1} \sim P_h(\cdot \mid s_h, a_h)` and a reward is drawn from
:math:`R_h(\cdot \mid s_h, a_h, s_{h+1})`. State :math:`s_H` ends the episode and adds one last
reward, with law :math:`R_H(\cdot \mid s_H)`. Backward induction gives

.. math::
    V^*_H(s) = \mathbb E[r_H \mid s], \qquad
    Q^*_h(s, a) = \mathbb E[r_h + V^*_{h+1}(s_{h+1}) \mid s, a], \qquad
    V^*_h(s) = \max_a Q^*_h(s, a),

and the same recursion with the policy's own actions gives :math:`V^\mu`. The regret of playing
:math:`\mu` for one episode is :math:`\sum_s \pi(s) (V^*_0(s) - V^\mu_0(s))`, exactly.

Probabilities and mean rewards are stored by successor, not by state: ``successor[h, s, a]`` lists
the states that can follow, so a chain with two successors costs two additions a step however long
it is. A time-homogeneous MDP stores one period.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .compiled import jit


class Model(NamedTuple):
    """The arrays a compiled loop needs. Leading axis: H periods, or 1 if time-homogeneous."""

    successor: np.ndarray  # (T, S, A, B) states that can follow
    probability: np.ndarray  # (T, S, A, B)
    cumulative: np.ndarray  # (T, S, A, B) running sums, exactly 1 from the last successor on
    reward: np.ndarray  # (T, S, A, B) mean of r_h given (s, a, s')
    terminal: np.ndarray  # (S,) mean of r_H
    initial: np.ndarray  # (S,) the distribution π
    support: np.ndarray  # (2,) the two values a random reward takes, or empty: r is its mean


@jit
def period(successor, h):
    """Where period h is stored."""
    return h if successor.shape[0] > 1 else 0


@jit
def draw(weights, u):
    """The index that a uniform u picks from probabilities that sum to one."""
    last = 0
    total = 0.0
    for i in range(weights.shape[0]):
        if weights[i] > 0.0:
            last = i
            total += weights[i]
            if u < total:
                return i
    return last  # the probabilities sum to a hair less than u


@jit
def _realise(mean, support, rng):
    """A reward with this mean."""
    if support.shape[0] == 0:
        return mean
    low, high = support
    return high if rng.random() * (high - low) < mean - low else low


@jit
def first_state(model, rng):
    return draw(model.initial, rng.random())


@jit
def step(model, h, s, a, rng):
    """Draw (r_h, s_{h+1}). One uniform is used for the state whatever (h, s, a) is."""
    successor, _, cumulative, reward, _, _, support = model
    t = period(successor, h)
    u = rng.random()
    b = 0
    while u >= cumulative[t, s, a, b]:
        b += 1
    return _realise(reward[t, s, a, b], support, rng), successor[t, s, a, b]


@jit
def last_reward(model, s, rng):
    return _realise(model.terminal[s], model.support, rng)


def _by_successor(P: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, ...]:
    """Pack the nonzero entries of P[..., s'] to the left; zeros pad the rest."""
    width = int((P > 0).sum(axis=-1).max())
    order = np.argsort(P <= 0, axis=-1, kind="stable")[..., :width]
    probability = np.take_along_axis(P, order, axis=-1)
    cumulative = np.cumsum(probability, axis=-1)
    remaining = (probability > 0)[..., ::-1].cumsum(axis=-1)[..., ::-1]
    cumulative[remaining <= 1] = 1.0  # the last successor takes what rounding left over
    reward = np.where(probability > 0, np.take_along_axis(R, order, axis=-1), 0.0)
    return order.astype(np.int64), probability, cumulative, reward


def _fail(rule: str, found: str, mend: str):
    raise ValueError(f"{rule}; {found}. {mend}")


def _checked(name: str, values, shape: tuple[int, ...]) -> np.ndarray:
    array = np.array(values, dtype=float, order="C")  # our own: later edits cannot reach it
    if array.shape != shape:
        _fail(f"{name} must have shape {shape}", f"it has shape {array.shape}",
              "See FiniteMDP's docstring for the axes")
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        where = tuple(int(i) for i in bad[0])
        _fail(f"{name} must be finite", f"{name}{list(where)} is {array[where]}",
              "Replace NaN and infinite entries")
    return array


def _check_distribution(name: str, p: np.ndarray) -> None:
    bad = np.argwhere(p < 0)
    if bad.size:
        where = tuple(int(i) for i in bad[0])
        _fail(f"{name} holds probabilities, which are not negative",
              f"{name}{list(where)} is {p[where]:g}", "Check the sign")
    total = p.sum(axis=-1)
    bad = np.argwhere(np.abs(total - 1) > 1e-9)
    if bad.size or (p.ndim == 1 and abs(float(total) - 1) > 1e-9):
        where = tuple(int(i) for i in bad[0]) if p.ndim > 1 else ()
        _fail(f"each row of {name} must sum to 1",
              f"{name}{list(where) if where else ''} sums to {float(total[where]):.12g}",
              "Normalise the last axis")


@dataclass(frozen=True, eq=False)
class FiniteMDP:
    """A finite-horizon MDP with everything known exactly.

    Parameters
    ----------
    P : (H, S, A, S) array, ``P[h, s, a, s']`` transition probabilities.
    R : (H, S, A, S) array, ``R[h, s, a, s']`` mean rewards.
    terminal : (S,) array, mean terminal rewards; zero by default.
    initial : (S,) array, the distribution π of s_0; state 0 by default.
    support : ``None`` (a reward equals its mean) or ``(low, high)``: every reward is one of these
        two values, with the mean given by ``R`` or ``terminal``.

    For a time-homogeneous MDP use :meth:`stationary`, which stores a single period.
    """

    P: np.ndarray
    R: np.ndarray
    terminal: np.ndarray | None = None
    initial: np.ndarray | None = None
    support: tuple[float, float] | None = None
    horizon: int | None = field(default=None, repr=False)
    model: Model = field(init=False, repr=False)

    def __post_init__(self):
        P = np.asarray(self.P, dtype=float)
        if P.ndim != 4 or 0 in P.shape or P.shape[1] != P.shape[3]:
            _fail("P must have shape (H, S, A, S) with no empty axis", f"it has shape {P.shape}",
                  "For a time-homogeneous MDP call FiniteMDP.stationary(P, R, H=...)")
        T, S, A, _ = P.shape
        H = T if self.horizon is None else self.horizon
        if not (isinstance(H, (int, np.integer)) and H >= 1):
            _fail("the horizon counts periods and must be an integer of at least 1",
                  f"it is {H!r}", "Pass H=10, say")
        if T not in (1, H):
            _fail(f"P must hold one period or all {H} of the horizon", f"it holds {T}",
                  "Leave horizon out: it is the length of P")
        P = _checked("P", P, P.shape)
        _check_distribution("P", P)
        R = _checked("R", self.R, P.shape)
        terminal = np.zeros(S) if self.terminal is None else _checked(
            "terminal", self.terminal, (S,))
        initial = np.eye(S)[0] if self.initial is None else _checked("initial", self.initial, (S,))
        _check_distribution("initial", initial)
        support = np.zeros(0)
        if self.support is not None:
            support = _checked("support", self.support, (2,))
            low, high = support
            if not low < high:
                _fail("support must be (low, high) with low < high", f"it is ({low:g}, {high:g})",
                      "Leave it out for rewards without noise")
            for name, mean in (("R", R), ("terminal", terminal)):
                bad = np.argwhere((mean < low) | (mean > high))
                if bad.size:
                    where = tuple(int(i) for i in bad[0])
                    _fail(f"mean rewards must lie in the support [{low:g}, {high:g}]",
                          f"{name}{list(where)} is {mean[where]:g}", "Widen the support")
        for name, value in (("P", P), ("R", R), ("terminal", terminal), ("initial", initial),
                            ("horizon", H),
                            ("model", Model(*_by_successor(P, R), terminal, initial, support))):
            object.__setattr__(self, name, value)

    @classmethod
    def stationary(cls, P, R, H: int, **rest) -> "FiniteMDP":
        """The MDP whose P (S, A, S) and R (S, A, S) are the same in all H periods."""
        P, R = np.asarray(P, dtype=float), np.asarray(R, dtype=float)
        if P.ndim != 3:
            _fail("a time-homogeneous P has shape (S, A, S)", f"it has shape {P.shape}",
                  "For a P that changes with the period call FiniteMDP(P, R)")
        return cls(P[None], R[None], horizon=H, **rest)

    @property
    def H(self) -> int:
        return self.horizon

    @property
    def S(self) -> int:
        return self.P.shape[1]

    @property
    def A(self) -> int:
        return self.P.shape[2]

    def _lookahead(self, h: int, V: np.ndarray) -> np.ndarray:
        """E[r_h + V(s_{h+1}) | s, a] for every (s, a)."""
        m, t = self.model, period(self.model.successor, h)
        # Summed successor by successor, without BLAS: the same bits on every machine.
        return sum(m.probability[t, :, :, b] * (m.reward[t, :, :, b] + V[m.successor[t, :, :, b]])
                   for b in range(m.successor.shape[3]))

    @cached_property
    def Q(self) -> np.ndarray:
        """Q* as an (H, S, A) array, by backward induction over all states, reachable or not."""
        Q, V = np.empty((self.H, self.S, self.A)), self.model.terminal
        for h in reversed(range(self.H)):
            Q[h] = self._lookahead(h, V)
            V = Q[h].max(axis=1)
        return Q

    @cached_property
    def V(self) -> np.ndarray:
        """V* as an (H + 1, S) array; the last row is the terminal reward."""
        return np.vstack([self.Q.max(axis=2), self.model.terminal])

    def _from_start(self, V: np.ndarray) -> float:
        return float((self.model.initial * V[0]).sum())

    @cached_property
    def optimal_actions(self) -> np.ndarray:
        """(H, S, A) mask: a policy is optimal iff it picks a marked action in every (h, s)."""
        best = self.Q.max(axis=2, keepdims=True)
        scale = max(np.abs(self.R).max(), np.abs(self.terminal).max())
        return self.Q >= best - 1e-13 * self.H * scale  # actions that differ by rounding are tied

    @property
    def value(self) -> float:
        """The optimal expected reward of an episode, E[V*_0(s_0)]."""
        return self._from_start(self.V)

    def action_probabilities(self, policy) -> np.ndarray:
        """A policy as an (H, S, A) array of probabilities.

        ``policy`` is an (H, S) integer array of actions or already such an array.
        """
        policy = np.asarray(policy)
        if policy.ndim == 2:
            if policy.shape != (self.H, self.S) or not np.issubdtype(policy.dtype, np.integer):
                _fail(f"a deterministic policy is an integer array of shape {(self.H, self.S)}",
                      f"got {policy.dtype} of shape {policy.shape}", "Index it [h, s]")
            bad = np.argwhere((policy < 0) | (policy >= self.A))
            if bad.size:
                h, s = (int(i) for i in bad[0])
                _fail(f"actions are 0, …, {self.A - 1}", f"policy[{h}, {s}] is {policy[h, s]}",
                      "Number actions from zero")
            return np.eye(self.A)[policy]
        policy = _checked("policy", policy, (self.H, self.S, self.A))
        _check_distribution("policy", policy)
        return policy

    def evaluate(self, policy) -> np.ndarray:
        """V^μ as an (H + 1, S) array, exactly."""
        mu = self.action_probabilities(policy)
        V = np.empty((self.H + 1, self.S))
        V[self.H] = self.model.terminal
        for h in reversed(range(self.H)):
            V[h] = (mu[h] * self._lookahead(h, V[h + 1])).sum(axis=1)
        return V

    def regret(self, policy) -> float:
        """Expected shortfall of one episode of this policy, exactly."""
        return self.value - self._from_start(self.evaluate(policy))

    def occupancy(self, policy) -> np.ndarray:
        """P(s_h = s) under the policy as an (H + 1, S) array, exactly."""
        mu, m = self.action_probabilities(policy), self.model
        d = np.zeros((self.H + 1, self.S))
        d[0] = m.initial
        for h in range(self.H):
            t = period(m.successor, h)
            flow = d[h][:, None, None] * mu[h][:, :, None] * m.probability[t]
            np.add.at(d[h + 1], m.successor[t], flow)
        return d

    def simulate(self, policy, episodes: int, rng=None):
        """Play a policy: states (L, H+1), actions (L, H) and rewards (L, H+1)."""
        mu = np.ascontiguousarray(self.action_probabilities(policy))
        return _simulate(self.model, mu, episodes, np.random.default_rng(rng))

    def start(self, rng: np.random.Generator) -> int:
        """Begin an episode: s_0 ~ π."""
        return int(first_state(self.model, rng))

    def step(self, h: int, s: int, a: int, rng: np.random.Generator) -> tuple[float, int, bool]:
        """The reward of period h, the next state, and whether the episode is over. The last
        period's reward includes the terminal one."""
        r, s_next = step(self.model, h, s, a, rng)
        over = h == self.H - 1
        return (r + last_reward(self.model, s_next, rng) if over else r), int(s_next), over


@jit
def _simulate(model, mu, episodes, rng):
    H = mu.shape[0]
    states = np.empty((episodes, H + 1), np.int64)
    actions = np.empty((episodes, H), np.int64)
    rewards = np.empty((episodes, H + 1))
    for episode in range(episodes):
        s = first_state(model, rng)
        for h in range(H):
            a = draw(mu[h, s], rng.random())
            states[episode, h], actions[episode, h] = s, a
            rewards[episode, h], s = step(model, h, s, a, rng)
        states[episode, H] = s
        rewards[episode, H] = last_reward(model, s, rng)
    return states, actions, rewards
