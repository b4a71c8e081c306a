r"""Markov decision processes, solved exactly.

**With a finite horizon** (section 2): :math:`(\mathcal S, \mathcal A, H, P, R, \pi)`. An episode
starts in :math:`s_0 \sim \pi`; in period :math:`h = 0, \dots, H-1` the agent picks :math:`a_h`, the
next state is :math:`s_{h+1} \sim P_h(\cdot \mid s_h, a_h)` and a reward is drawn from
:math:`R_h(\cdot \mid s_h, a_h, s_{h+1})`. State :math:`s_H` ends the episode and adds one last
reward, with law :math:`R_H(\cdot \mid s_H)`. Backward induction gives

.. math::
    V^*_H(s) = \mathbb E[r_H \mid s], \qquad
    Q^*_h(s, a) = \mathbb E[r_h + V^*_{h+1}(s_{h+1}) \mid s, a], \qquad
    V^*_h(s) = \max_a Q^*_h(s, a),

and the same recursion with the policy's own actions gives :math:`V^\mu`. The regret of playing
:math:`\mu` for one episode is :math:`\sum_s \pi(s) (V^*_0(s) - V^\mu_0(s))`, exactly.

**Discounted** (appendix F.2): the same P and R in all periods, without end, and
:math:`Q^*(s, a) = \mathbb E[r_t + \gamma V^*(s_{t+1}) \mid s, a]`, the limit of value iteration. It
is run until a sweep changes nothing beyond rounding: a contraction by γ a sweep, so some
:math:`37/(1-\gamma)` sweeps do, and γ may be at most :math:`1 - 10^{-6}`. What an agent loses by
an action is its gap :math:`\Delta(s, a) = V^*(s) - Q^*(s, a) \ge 0`. Its regret is the sum of gaps
along its path; discounted from a start s, the expected sum is exactly
:math:`V^*(s) - V^{agent}(s)`. With the policy's own actions in place of the maximum the same
sweeps give :math:`V^\mu`.

Probabilities and mean rewards are stored by successor, not by state: ``successor[h, s, a]`` lists
the states that can follow, so a chain with two successors costs two additions a step however long
it is. A time-homogeneous MDP stores one period.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .runtime import checks
from .runtime.compilation import Floats, Generator, Ints, Seed, jit, jit_inline

__all__ = ["DiscountedMDP", "FiniteMDP"]


STEPS_PER_CALL = (
    3_000_000  # steps of a compiled loop between two looks at Ctrl-C: hundredths of a second
)
TRUNCATED = "cut"  # what a step says of an episode that only the clock has ended


class MDPArrays(NamedTuple):
    """The arrays a compiled loop needs. Leading axis: H periods, or 1 if time-homogeneous."""

    successor: Ints  # (T, S, A, B) states that can follow
    probability: Floats  # (T, S, A, B)
    cumulative: Floats  # (T, S, A, B) running sums, exactly 1 from the last successor on
    reward: Floats  # (T, S, A, B) mean of r_h given (s, a, s')
    terminal: Floats  # (S,) mean of r_H
    initial: Floats  # (S,) the distribution π
    support: Floats  # (2,) the two values a random reward takes, or empty: r is its mean
    last_support: Floats  # the same of r_H; (0, 0) if support is given and terminal rewards are not


@jit_inline
def period_index(successor: Ints, h: int) -> int:
    """Where period h is stored."""
    return h if successor.shape[0] > 1 else 0


@jit_inline
def sample_index(weights: Floats, u: float) -> int:
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


def sample_reward(mean: float, support: Floats, rng: Generator) -> float:
    """A reward with this mean."""
    if support.shape[0] == 0:
        return mean
    low, high = support
    drawn: float = high if rng.random() * (high - low) < mean - low else low
    return drawn


_sample_reward = jit_inline(sample_reward)


@jit_inline
def sample_first_state(model: MDPArrays, rng: Generator) -> int:
    """Draw s_0."""
    return sample_index(model.initial, rng.random())


@jit_inline
def sample_step(model: MDPArrays, h: int, s: int, a: int, rng: Generator) -> tuple[float, int]:
    """Draw (r_h, s_{h+1}). One uniform is used for the state whatever (h, s, a) is."""
    t = period_index(model.successor, h)
    u = rng.random()
    b = 0
    while u >= model.cumulative[t, s, a, b]:
        b += 1
    return _sample_reward(model.reward[t, s, a, b], model.support, rng), model.successor[t, s, a, b]


@jit_inline
def sample_terminal_reward(model: MDPArrays, s: int, rng: Generator) -> float:
    """Draw r_H."""
    return _sample_reward(model.terminal[s], model.last_support, rng)


def _step_in_python(model: MDPArrays, t: int, s: int, a: int, rng: Generator) -> tuple[float, int]:
    """:func:`sample_step` with the same draws for a call from Python, where handing a generator to
    compiled code takes longer than numpy's search; t is where the period is stored."""
    b = model.cumulative[t, s, a].searchsorted(rng.random(), side="right")
    r = sample_reward(model.reward[t, s, a, b], model.support, rng)
    return float(r), int(model.successor[t, s, a, b])


def _pack_successors(P: Floats, R: Floats) -> tuple[Ints, Floats, Floats]:
    """Successors, their probabilities and mean rewards: the nonzero entries of P[..., s'] packed
    to the left; zeros pad."""
    width = int((P > 0).sum(axis=-1).max())
    order = np.argsort(P <= 0, axis=-1, kind="stable")[..., :width]
    probability = np.take_along_axis(P, order, axis=-1)
    reward = np.where(probability > 0, np.take_along_axis(R, order, axis=-1), 0.0)
    return order.astype(np.int64), probability, reward


def _cumulative_probabilities(probability: Floats) -> Floats:
    """Running sums; the last successor takes what rounding left over."""
    cumulative = np.cumsum(probability, axis=-1)
    remaining = (probability > 0)[..., ::-1].cumsum(axis=-1)[..., ::-1]
    cumulative[remaining <= 1] = 1.0
    return cumulative


def _check_rewards(R: Any, shape: tuple[int, ...]) -> Floats:
    """Mean rewards of this shape; without its last axis, they do not depend on s'."""
    R = checks.as_float_array("R", R)
    if R.ndim == len(shape) - 1:
        return np.broadcast_to(checks.check_array("R", R, shape[:-1])[..., None], shape)
    return checks.check_array("R", R, shape)


@dataclass(frozen=True, eq=False)
class FiniteMDP:
    """A finite-horizon MDP with everything known exactly.

    Parameters
    ----------
    P, R : (H, S, A, S) array_like
        Probabilities and mean rewards of transitions ``[h, s, a, s']``. R may leave out the last
        axis: (H, S, A).
    terminal : (S,) array_like, optional
        Mean terminal rewards; zero by default.
    initial : (S,) array_like, optional
        The distribution π of s_0; state 0 by default.
    support : tuple of float, optional
        (low, high): every reward is one of these two values, with the mean given by ``R`` or, if
        there are terminal rewards, by ``terminal``. By default a reward equals its mean.
    H : int, optional
        For :meth:`stationary`, which stores a single period of a time-homogeneous MDP.

    Methods take a policy as an (H, S) integer array of actions or as an (H, S, A) array of their
    probabilities.

    Examples
    --------
    >>> P = np.full((2, 3, 2, 3), 1 / 3)                    # two periods, three states, two actions
    >>> mdp = FiniteMDP(P, np.zeros_like(P), terminal=[0, 0, 3])
    >>> mdp, round(mdp.optimal_value, 6)
    (FiniteMDP(H=2, S=3, A=2), 1.0)
    """

    P: Any
    R: Any
    terminal: Any = None
    initial: Any = None
    support: tuple[float, float] | None = None
    H: Any = None
    S: int = field(init=False)
    A: int = field(init=False)
    model: MDPArrays = field(init=False)

    def __post_init__(self) -> None:
        P = checks.check_array("P", self.P, ("H", "S", "A", "S"))
        P = checks.check_probabilities("P", P)
        R = _check_rewards(self.R, P.shape)
        successor, probability, reward = _pack_successors(P, R)
        T, S, A, _ = P.shape
        H = T
        if self.H is not None:
            H = checks.check_integer("H", self.H, 1, hint="It counts periods: pass H=10.")
        if T not in (1, H):
            checks.fail(f"P holds one period or all {H} of the horizon; it holds {T}. Leave H out.")
        terminal = np.zeros(S) if self.terminal is None else self.terminal
        terminal = checks.check_array("terminal", terminal, (S,))
        initial = np.arange(S) == 0 if self.initial is None else self.initial
        initial = checks.check_probabilities(
            "initial", checks.check_array("initial", initial, (S,))
        )
        support = last_support = np.zeros(0)
        if self.support is not None:
            hint = "Leave it out for rewards without noise."
            support = np.array(checks.check_bounds("support", self.support, hint=hint))
            last_support = np.zeros(2) if self.terminal is None else support
            for name, mean, (low, high), possible in (
                ("reward", reward, support, probability > 0),
                ("terminal", terminal, last_support, True),
            ):
                checks.reject_entries(
                    possible & ((mean < low) | (mean > high)),
                    f"mean rewards must lie in the support [{low:g}, {high:g}]",
                    name,
                    mean,
                )
        model = MDPArrays(
            successor,
            probability,
            _cumulative_probabilities(probability),
            reward,
            terminal,
            initial,
            support,
            last_support,
        )
        checks.set_frozen_fields(
            self, P=P, R=R, terminal=terminal, initial=initial, H=H, S=S, A=A, model=model
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        checks.set_frozen_fields(self, **state)  # a copy is as fixed as what it was made of

    def __repr__(self) -> str:
        return f"FiniteMDP(H={self.H}, S={self.S}, A={self.A})"

    @classmethod
    def stationary(cls, P: ArrayLike, R: ArrayLike, H: int, **rest: Any) -> "FiniteMDP":
        """The MDP whose P (S, A, S) and R (S, A, S) are the same in all H periods. R may leave out
        the last axis."""
        H = checks.check_integer("H", H, 1, hint="It counts periods: pass H=10.")
        P = checks.check_array("P", P, ("S", "A", "S"))
        return cls(P[None], _check_rewards(R, P.shape)[None], H=H, **rest)

    def _backup_period(self, h: int, V: Floats) -> Floats:
        """E[r_h + V(s_{h+1}) | s, a] for every (s, a)."""
        m = self.model
        t = period_index(self.model.successor, h)
        # Summed successor by successor, without BLAS: the same bits on every machine.
        return sum(
            (
                m.probability[t, :, :, b] * (m.reward[t, :, :, b] + V[m.successor[t, :, :, b]])
                for b in range(m.successor.shape[3])
            ),
            np.zeros((self.S, self.A)),
        )

    @cached_property
    def Q(self) -> Floats:
        """Q* as an (H, S, A) array, by backward induction over all states, reachable or not."""
        Q = np.empty((self.H, self.S, self.A))
        V = self.model.terminal
        for h in reversed(range(self.H)):
            Q[h] = self._backup_period(h, V)
            V = Q[h].max(axis=1)
        return checks.as_read_only(Q)

    @cached_property
    def V(self) -> Floats:
        """V* as an (H + 1, S) array; the last row is the terminal reward."""
        return checks.as_read_only(np.vstack([self.Q.max(axis=2), self.terminal]))

    @property
    def optimal_value(self) -> float:
        """The optimal expected reward of an episode, E[V*_0(s_0)]."""
        return float((self.initial * self.V[0]).sum())

    def evaluate(self, policy: ArrayLike) -> Floats:
        """V^μ as an (H + 1, S) array, exactly."""
        mu = checks.policy_probabilities(policy, (self.H, self.S, self.A))
        V = np.vstack([np.empty((self.H, self.S)), self.terminal])
        for h in reversed(range(self.H)):
            V[h] = (mu[h] * self._backup_period(h, V[h + 1])).sum(axis=1)
        return V

    def regret(self, policy: ArrayLike) -> float:
        """Expected shortfall of one episode of this policy, exactly."""
        return self.optimal_value - float((self.initial * self.evaluate(policy)[0]).sum())

    def occupancy(self, policy: ArrayLike) -> Floats:
        """P(s_h = s) under the policy as an (H + 1, S) array, exactly."""
        mu = checks.policy_probabilities(policy, (self.H, self.S, self.A))
        m = self.model
        d = np.vstack([m.initial, np.zeros((self.H, self.S))])
        for h in range(self.H):
            t = period_index(m.successor, h)
            np.add.at(
                d[h + 1], m.successor[t], d[h][:, None, None] * mu[h][:, :, None] * m.probability[t]
            )
        return d

    def simulate(
        self, policy: ArrayLike, episodes: int, rng: Seed = None
    ) -> tuple[Ints, Ints, Floats]:
        """Play a policy: states (L, H+1), actions (L, H) and rewards (L, H+1)."""
        mu = checks.policy_probabilities(policy, (self.H, self.S, self.A))
        episodes = checks.check_integer("episodes", episodes, hint="Pass episodes=100, say.")
        rng = checks.as_generator(rng)
        states = np.empty((episodes, self.H + 1), np.int64)
        actions = np.empty((episodes, self.H), np.int64)
        rewards = np.empty((episodes, self.H + 1))
        some = max(STEPS_PER_CALL // (self.H * self.A), 1)
        for i in range(0, episodes, some):
            piece = slice(i, i + some)
            _simulate_episodes(self.model, mu, rng, states[piece], actions[piece], rewards[piece])
        return states, actions, rewards

    def start(self, rng: np.random.Generator) -> int:
        """Begin an episode: s_0 ~ π."""
        return int(sample_index(self.model.initial, rng.random()))

    def step(
        self, h: int, s: int, a: int, rng: np.random.Generator
    ) -> tuple[float, int, bool | str]:
        """The reward of period h, the next state, and whether the episode is over: ``"cut"``, since
        it is the clock that ends it. The last period's reward includes the terminal one."""
        h = checks.check_index("h", h, self.H)
        s = checks.check_index("s", s, self.S)
        a = checks.check_index("a", a, self.A)
        m = self.model
        r, s_next = _step_in_python(m, h if len(m.successor) > 1 else 0, s, a, rng)
        if h < self.H - 1:
            return r, s_next, False
        return r + float(sample_reward(m.terminal[s_next], m.last_support, rng)), s_next, TRUNCATED


@jit
def _simulate_episodes(
    model: MDPArrays, mu: Floats, rng: Generator, states: Ints, actions: Ints, rewards: Floats
) -> None:
    H = mu.shape[0]
    for episode in range(states.shape[0]):
        s = sample_first_state(model, rng)
        for h in range(H):
            a = sample_index(mu[h, s], rng.random())
            states[episode, h] = s
            actions[episode, h] = a
            rewards[episode, h], s = sample_step(model, h, s, a, rng)
        states[episode, H] = s
        rewards[episode, H] = sample_terminal_reward(model, s, rng)


@jit
def _lookahead_value(model: MDPArrays, gamma: float, V: Floats, s: int, a: int) -> float:
    """E[r + γV(s') | s, a]."""
    total = 0.0
    for b in range(model.successor.shape[3]):
        total += model.probability[0, s, a, b] * (
            model.reward[0, s, a, b] + gamma * V[model.successor[0, s, a, b]]
        )
    return total


@jit
def _value_tolerance(model: MDPArrays, gamma: float) -> float:
    """That of the largest value there can be."""
    return float(1e-15 * np.abs(model.reward).max() / (1.0 - gamma))


@jit
def _iterate_values(
    model: MDPArrays, gamma: float, mu: Floats, Q: Floats, V: Floats, sweeps: int
) -> bool:
    """Value iteration by so many sweeps, unless one changes nothing before; whether none did. With
    the actions of a policy, or with the best ones if mu is empty."""
    S, A = Q.shape
    best = mu.size == 0
    rounding = _value_tolerance(model, gamma)
    for _ in range(sweeps):
        changed = False
        for s in range(S):
            value = 0.0
            for a in range(A):
                if best or mu[s, a] > 0.0:
                    Q[s, a] = _lookahead_value(model, gamma, V, s, a)
                if not best and mu[s, a] > 0.0:
                    value += mu[s, a] * Q[s, a]
            if best:
                value = Q[s].max()
            changed |= abs(value - V[s]) > rounding
            V[s] = value
        if not changed:
            return False
    return True


@dataclass(frozen=True, eq=False)
class DiscountedMDP:
    """A discounted MDP with everything known.

    Parameters
    ----------
    P, R : (S, A, S) array_like
        Transition probabilities and mean rewards. R may leave out the last axis.
    gamma : float
        The discount factor, above 0 and at most 1 − 1e-6.
    initial, support
        As in :class:`FiniteMDP`.

    Examples
    --------
    >>> DiscountedMDP(np.ones((1, 1, 1)), np.ones((1, 1, 1)), gamma=0.5).V      # 1 + 1/2 + 1/4 + …
    array([2.])
    """

    P: Any
    R: Any
    gamma: float
    initial: Any = None
    support: tuple[float, float] | None = None
    S: int = field(init=False)
    A: int = field(init=False)
    model: MDPArrays = field(init=False)

    def __post_init__(self) -> None:
        gamma = checks.check_open_interval(
            "gamma", self.gamma, 0, 1, hint="It discounts: pass gamma=0.99, say."
        )
        if gamma > 1 - 1e-6:
            checks.fail(
                f"gamma is at most 1 - 1e-6, for 37/(1 - gamma) sweeps; it is 1 - {1 - gamma:.3g}."
            )
        one = FiniteMDP.stationary(self.P, self.R, H=1, initial=self.initial, support=self.support)
        checks.set_frozen_fields(
            self,
            P=one.P[0],
            R=one.R[0],
            gamma=gamma,
            initial=one.initial,
            S=one.S,
            A=one.A,
            model=one.model,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        checks.set_frozen_fields(self, **state)  # a copy is as fixed as what it was made of

    def __repr__(self) -> str:
        return f"DiscountedMDP(S={self.S}, A={self.A}, gamma={self.gamma:g})"

    @cached_property
    def Q(self) -> Floats:
        """Q* as an (S, A) array."""
        return checks.as_read_only(self._solve_values(np.empty((0, 0)))[0])

    @cached_property
    def V(self) -> Floats:
        """V* as an (S,) array."""
        return checks.as_read_only(np.asarray(self.Q.max(axis=1)))

    def evaluate(self, policy: ArrayLike) -> Floats:
        """V^μ as an (S,) array, for a policy of (S,) actions or (S, A) probabilities of them."""
        mu = checks.policy_probabilities(policy, (self.S, self.A))
        return self._solve_values(mu)[1]

    def _solve_values(self, mu: Floats) -> tuple[Floats, Floats]:
        """The values of a policy, or the largest: those of actions and those of states."""
        Q = np.zeros((self.S, self.A))
        V = np.zeros(self.S)
        # as many as a compiled call makes
        some = max(STEPS_PER_CALL // self.model.successor.size, 1)
        while _iterate_values(self.model, self.gamma, mu, Q, V, some):
            pass
        return Q, V

    def start(self, rng: np.random.Generator) -> int:
        """Begin: s_0 ~ π."""
        return int(sample_index(self.model.initial, rng.random()))

    def step(self, h: int, s: int, a: int, rng: np.random.Generator) -> tuple[float, int, bool]:
        """A reward, the next state, and False: it never ends by itself. All periods h are alike."""
        s = checks.check_index("s", s, self.S)
        a = checks.check_index("a", a, self.A)
        r, s_next = _step_in_python(self.model, 0, s, a, rng)
        return r, s_next, False

    @property
    def action_gaps(self) -> Floats:
        """Δ(s, a) = V*(s) − Q*(s, a), an (S, A) array."""
        return self.V[:, None] - self.Q
