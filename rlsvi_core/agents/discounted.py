r"""Algorithm 7 for one-hot features and a discount, at a cost that grows with the pairs visited.

With one feature for each pair :math:`(s, a)`, and no horizon, the regression is diagonal. Write
:math:`n` for the visits to a pair, :math:`n(s')` for how many of them led to :math:`s'` and
:math:`\sum r` for what they brought:

.. math::
    \tilde\theta(s, a) = \frac{\sum r + \gamma \sum_{s'} n(s')\, \tilde V(s')}{n + \lambda\sigma^2}
    + \frac{\sigma z(s, a)}{\sqrt{n + \lambda\sigma^2}},
    \qquad \tilde V(s) = \max_a \tilde\theta(s, a),

the maximum over what is allowed in s, cut to the range of values. A pair without visits has its
prior draw :math:`z / \sqrt\lambda`, for LSVI 0. What was seen is kept by ``history``.

**Sweeps.** A number of sweeps is so many fits, each with all values of the one before, as the
verbatim form makes them. With the same normal draws each of them is a step of value iteration in
one random model, a contraction if :math:`\gamma < 1`; ``sweeps=math.inf`` asks for its fixed point.
The other forms repeat fits until nothing changes. This one uses a state's new value at once
(Gauss–Seidel), which converges to the same fixed point sooner.

**Circles.** Take a circle of L pairs whose outcomes are known; the shortest is a step that leads
nowhere. An agent that walks it without end collects the noise of its pairs in every round. With n
visits each, the sampled value has a standard deviation near
:math:`\sigma / ((1 - \gamma) \sqrt{nL})`. Where transitions are deterministic, an agent whose
sample prefers the circle walks it until the time limit. So one-hot features have ``redraw="at
repeats"`` by default: a repeated state triggers another draw. In the study ``tasks-redraw`` that
earns more on Taxi while learning; without it Taxi delivers no passenger in as many episodes.
Drawing again after :math:`1/(1 - \gamma)` steps does nothing for tables in so few episodes. With
features of a box it earns more on Acrobot, whose first goals come sooner, and ends no better, so
there it is not the default. A vote of ten samples is nowhere better than the posterior mean, and
worse where a table was learned. With deterministic transitions choose
:math:`\sigma = (1 - \gamma)V/10`, less than suggested: then the deviation of a circle's value is at
most a tenth of V.

**Cost.** A draw takes one number of the agent's stream, a key, and the normal number of a weight is
a function of key and weight (``regression.normals_of``). So a draw costs what was seen, not
:math:`SA`: weights of other states are computed when they are looked at. A sweep then costs A steps
for each state seen, and one for each successor. Memory holds six numbers per pair and three per
successor.
"""

import math
from typing import Any, Self

import numpy as np

from .. import checks
from ..compiled import Array, Floats, Ints, jit
from ..features import FeatureMap, OneHot
from ..regression import draw_key, draw_weight, normals_of
from .acting import choose
from .base import SETTLED, LinearAgent
from .choices import MOST_SWEEPS, Choices
from .finite import Targets
from .history import CountingAgent, History, target_sum
from .states import ENDED

__all__ = ["DiscountedAgent"]


@jit
def _look_ahead(weights: Floats, closed: Array | None, targets: Targets, s: int) -> float:
    """γṼ(s), as it stands in a target."""
    top = -np.inf
    for a in range(weights.shape[0]):
        value = weights[a, s]
        if closed is not None:
            value = -np.inf if closed[0, s, a] else value
        top = max(top, value)
    return targets.gamma * min(max(top, targets.low), targets.high)


@jit
def _fit(
    seen: History,
    s: int,
    V: Floats,
    ridge: float,
    spread: float,
    z: Floats,
    mean: Floats,
    theta: Floats,
) -> None:
    """Algorithm 7 for the pairs with s that were visited; V holds γṼ, and z a normal number for
    each action."""
    for a in range(theta.shape[0]):
        if seen.n[0, s, a] > 0.0:
            total, M = target_sum(seen, 0, s, a, V), seen.n[0, s, a] + ridge  # line 1: A'b
            mean[a, s] = total / M  # line 2
            theta[a, s] = draw_weight(M, total, spread, z[a])  # line 3


@jit
def _estimate(
    seen: History,
    closed: Array | None,
    states: Ints,
    ridge: float,
    spread: float,
    targets: Targets,
    keys: Ints,
    sweeps: int,
    after: Floats,
    mean: Floats,
    theta: Floats,
) -> tuple[Floats, Floats]:
    """So many fits of the states that were seen, with a new draw for each of the first ones that
    has a key; ``after`` is θ or the mean, whichever stands in targets. Returns γṼ and z."""
    A, S = theta.shape
    n, V = states.shape[0], np.empty(S)
    z = np.zeros((n, A))
    for s in states:
        V[s] = _look_ahead(after, closed, targets, s)
    for sweep in range(sweeps):
        if sweep < keys.shape[0]:
            for a in range(A):
                if spread > 0.0:
                    z[:, a] = normals_of(keys[sweep], a * S + states)
                for i in range(n):
                    theta[a, states[i]] = draw_weight(ridge, 0.0, spread, z[i, a])  # if not visited
        for i in range(n):
            _fit(seen, states[i], V, ridge, spread, z[i], mean, theta)
        for s in states:
            V[s] = _look_ahead(after, closed, targets, s)
    return V, z


@jit
def _settle(
    seen: History,
    closed: Array | None,
    states: Ints,
    ridge: float,
    spread: float,
    targets: Targets,
    after: Floats,
    mean: Floats,
    theta: Floats,
    V: Floats,
    z: Floats,
) -> None:
    """Gauss–Seidel: state by state, forwards and backwards, until no value changes."""
    n = states.shape[0]
    for sweep in range(MOST_SWEEPS):
        change, largest = 0.0, 1.0
        for j in range(n):
            i = j if sweep % 2 == 1 else n - 1 - j
            s = states[i]
            _fit(seen, s, V, ridge, spread, z[i], mean, theta)
            value = _look_ahead(after, closed, targets, s)
            change, largest = max(change, abs(value - V[s])), max(largest, abs(value))
            V[s] = value
        if change <= SETTLED * largest:
            break


class DiscountedAgent(CountingAgent):
    """Keeps counts of pairs and successors; the same interface and weights as ``VerbatimAgent``.

    ``theta`` is a copy of the weights of this episode, a (1, K) array, action by action, ``mean`` one
    of the posterior mean they were drawn around.

    Parameters
    ----------
    features : OneHot
        One-hot features without a horizon.
    lam, sigma, options
        As for :class:`rlsvi_core.agents.base.LinearAgent`.

    Examples
    --------
    >>> from rlsvi_core import features, rlsvi
    >>> agent = rlsvi(features.one_hot(None, 50_000, 4), value_range=(0, 1), gamma=0.9, rng=1)
    >>> agent.observe(0, 49_999, 3, r=1.0, s_next=0)
    >>> agent.plan()
    >>> agent
    DiscountedAgent(RLSVI, lam=1, sigma=0.02, gamma=0.9, clip=(0, 1), sweeps=10, redraw='at repeats'; one-hot features, discount; 1 transitions seen)
    """

    MADE_FOR = "one-hot features, discount"
    OFFERS = LinearAgent.OFFERS | {
        "gamma",
        "clip",
        "sweeps",
        "draws",
        "targets",
        "half_life",
        "redraw",
    }
    takes_masks = True
    timeless = True

    @classmethod
    def suits(cls, features: FeatureMap, choices: Choices) -> bool:
        """Whether features are one-hot and without a horizon, and the choices are offered."""
        return (
            isinstance(features, OneHot) and features.H is None and super().suits(features, choices)
        )

    def __init__(self, features: OneHot, lam: float, sigma: float, **options: Any) -> None:
        checks.instance(
            "features", features, OneHot, hint="features.one_hot(None, S, A) makes them."
        )
        if features.H is not None:
            checks.fail(
                "DiscountedAgent is for features without a horizon",
                f"H is {features.H}",
                "Pass features.one_hot(None, S, A), or leave form out.",
            )
        checks.array_size("the weights", features.S, features.A)
        super().__init__(features, lam, sigma, **options)
        self._theta, self._mean = np.zeros((self.A, self.S)), np.zeros((self.A, self.S))
        self._key: int | None = None  # of the draw; without one, weights are 0 before any data
        self._states: dict[int, None] = {}  # seen, in their order: what ``_theta`` is right for

    def _unseen(self, states: Ints) -> Floats:
        """The (A, ·) weights of some states without data: the prior's draw."""
        if self._key is None:
            return np.zeros((self.A, states.size))
        k = self.S * np.arange(self.A)[:, None] + states
        z = normals_of(self._key, k.ravel()).reshape(k.shape)
        return z / math.sqrt(self.lam)

    @property
    def theta(self) -> Floats:  # type: ignore[override]
        """The weights of this episode, a copy."""
        theta = self._theta.copy()
        unseen = np.setdiff1d(np.arange(self.S), list(self._states))
        theta[:, unseen] = self._unseen(unseen)
        return theta.reshape(1, -1)

    @property
    def mean(self) -> Floats:
        """The posterior mean that they were drawn around, a copy."""
        return self._mean.reshape(1, -1).copy()

    def _values(self, h: int, s: int) -> Floats:
        self._period(h)  # checks h
        s = checks.index("s", s, self.S)
        if s in self._states:
            return self._theta[:, s].copy()
        return self._unseen(np.array([s]))[:, 0]

    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        for new in {s, s_next} - {ENDED} - self._states.keys():
            self._theta[:, new] = self._values(0, new)
            self._states[new] = None
        super()._remember(h, s, a, r, s_next)

    @property
    def Q(self) -> Floats:
        """The action values of this episode, a (1, S, A) array; −∞ where a mask forbids."""
        Q = self.theta.reshape(self.A, self.S).T[None].copy()
        if self._closed is not None:
            Q[self._closed] = -np.inf
        return Q

    def _twin(self) -> Self:
        twin = super()._twin()
        twin._theta, twin._mean = self._mean.copy(), self._mean.copy()
        twin._key, twin._states = None, dict(self._states)
        return twin

    def _estimate(self) -> None:
        choices, mean, theta = self.choices, self._mean, self._theta
        settle = choices.sweeps == math.inf
        sweeps = 1 if settle else int(choices.sweeps)
        draws = sweeps if choices.reading.draws == "per sweep" else 1
        keys = [draw_key(self.rng) if self.sample else 0 for _ in range(draws)]
        problem = (
            self.seen,
            self._closed,
            np.fromiter(self._states, np.int64, len(self._states)),
            self.lam * self.sigma**2,
            self.sigma if self.sample else 0.0,
            Targets(choices.gamma, *choices.clip),
        )
        after = theta if choices.reading.targets == "sample" else mean
        V, z = _estimate(*problem, np.array(keys), sweeps, after, mean, theta)
        if settle:
            _settle(*problem, after, mean, theta, V, z)
        self._key = keys[-1] if self.sample else None

    def act(self, h: int, s: int, legal: Any = None) -> int:
        """Choose an action for state s; ``legal`` lists those allowed, None: all."""
        period, s = self._period(h), checks.index("s", s, self.S)
        if self.episode < 0:
            self._warn_unplanned()
        if legal is not None or self._closed is not None:
            self._close(period, s, legal)
        self._redraw_if_due()
        q = self._values(h, s)
        if self._closed is not None:
            q[self._closed[period, s]] = -np.inf
        return choose(q, self.dither, self.eta, self._p, self.rng.random())
