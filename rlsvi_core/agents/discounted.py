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
worse where a table was learned. With deterministic transitions σ can be smaller than suggested:
with :math:`(1 - \gamma)V/10` the deviation of a circle's value is at most a tenth of V.

**Cost.** A draw takes :math:`SA` normal numbers. A sweep then costs A steps for each state
visited, and one for each successor seen. Memory holds six numbers per pair and three per successor.
"""

import math
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from .. import checks
from ..compiled import Array, Floats, Ints, jit
from ..features import FeatureMap, OneHot
from ..regression import draw_weight, fill_normal
from .acting import choose
from .base import MOST_SWEEPS, SETTLED, LinearAgent
from .choices import Choices
from .finite import Targets
from .history import CountingAgent, History, target_sum

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
    """Algorithm 7 for the pairs with s that were visited; V holds γṼ."""
    for a in range(theta.shape[0]):
        if seen.n[0, s, a] > 0.0:
            total, M = target_sum(seen, 0, s, a, V), seen.n[0, s, a] + ridge  # line 1: A'b
            mean[a, s] = total / M  # line 2
            theta[a, s] = draw_weight(M, total, spread, z[a, s])  # line 3


@jit
def _estimate(
    seen: History,
    closed: Array | None,
    visited: Ints,
    ridge: float,
    spread: float,
    targets: Targets,
    sweeps: int,
    draw_again: bool,
    rng: Generator,
    after: Floats,
    mean: Floats,
    theta: Floats,
) -> tuple[Floats, Floats]:
    """So many fits; ``after`` is θ or the mean, whichever stands in targets. Returns γṼ and z."""
    A, S = theta.shape
    V, z = np.empty(S), np.zeros((A, S))
    for s in range(S):
        V[s] = _look_ahead(after, closed, targets, s)
    for sweep in range(sweeps):
        new = sweep == 0 or draw_again
        if new:
            if spread > 0.0:
                fill_normal(rng, z)
            for a in range(A):
                for s in range(S):
                    theta[a, s] = draw_weight(ridge, 0.0, spread, z[a, s])  # if it has no visits
        for s in visited:
            _fit(seen, s, V, ridge, spread, z, mean, theta)
        if new:
            for s in range(S):
                V[s] = _look_ahead(after, closed, targets, s)
        else:  # nothing else has changed
            for s in visited:
                V[s] = _look_ahead(after, closed, targets, s)
    return V, z


@jit
def _settle(
    seen: History,
    closed: Array | None,
    visited: Ints,
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
    n = visited.shape[0]
    for sweep in range(MOST_SWEEPS):
        change, largest = 0.0, 1.0
        for i in range(n):
            s = visited[i if sweep % 2 == 1 else n - 1 - i]
            _fit(seen, s, V, ridge, spread, z, mean, theta)
            value = _look_ahead(after, closed, targets, s)
            change, largest = max(change, abs(value - V[s])), max(largest, abs(value))
            V[s] = value
        if change <= SETTLED * largest:
            break


@jit
def _act(
    weights: Floats,
    closed: Array | None,
    s: int,
    epsilon: float,
    eta: float,
    q: Floats,
    p: Floats,
    u: float,
) -> int:
    for a in range(q.shape[0]):
        q[a] = weights[a, s]
        if closed is not None:  # noqa: SIM102, None is compiled without what follows
            if closed[0, s, a]:
                q[a] = -np.inf
    return choose(q, epsilon, eta, p, u)


class DiscountedAgent(CountingAgent):
    """Keeps counts of pairs and successors; the same interface and weights as ``VerbatimAgent``.

    ``theta`` is the (1, K) array of the weights of this episode, action by action, ``mean`` that of
    the posterior mean they were drawn around.

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
    DiscountedAgent(RLSVI, lam=1, sigma=0.02; 1 transitions seen)
    """

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
        self.theta, self.mean = np.zeros((1, features.K)), np.zeros((1, features.K))

    def _table(self, weights: Floats) -> Floats:
        """Weights as an (A, S) array, their order in the features."""
        return weights.reshape(self.A, self.S)

    def _values(self, h: int, s: int) -> Floats:
        self._period(h)  # checks h
        return self._table(self.theta)[:, checks.index("s", s, self.S)].copy()

    @property
    def Q(self) -> Floats:
        """The action values of this episode, a (1, S, A) array; −∞ where a mask forbids."""
        Q = self._table(self.theta).T[None].copy()
        if self._closed is not None:
            Q[self._closed] = -np.inf
        return Q

    def _twin(self) -> Self:
        twin = super()._twin()
        twin.theta, twin.mean = self.mean.copy(), self.mean.copy()
        return twin

    def _estimate(self) -> None:
        choices, mean, theta = self.choices, self._table(self.mean), self._table(self.theta)
        settle = choices.sweeps == math.inf
        problem = (
            self.seen,
            self._closed,
            np.flatnonzero(self.seen.n[0].any(axis=1)),
            self.lam * self.sigma**2,
            self.sigma if self.sample else 0.0,
            Targets(choices.gamma, *choices.clip),
        )
        after = theta if choices.reading.targets == "sample" else mean
        V, z = _estimate(
            *problem,
            1 if settle else int(choices.sweeps),
            choices.reading.draws == "per sweep",
            self.rng,
            after,
            mean,
            theta,
        )
        if settle:
            _settle(*problem, after, mean, theta, V, z)

    def act(self, h: int, s: int, legal: Any = None) -> int:
        """Choose an action for state s; ``legal`` lists those allowed, None: all."""
        h, s = self._period(h), checks.index("s", s, self.S)
        if legal is not None or self._closed is not None:
            self._close(h, s, legal)
        self._redraw_if_due()
        return _act(
            self._table(self.theta),
            self._closed,
            s,
            self.dither,
            self.eta,
            self._q,
            self._p,
            self.rng.random(),
        )
