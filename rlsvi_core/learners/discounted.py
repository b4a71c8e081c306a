r"""Algorithm 7 for one-hot features and a discount, at a cost that grows with the pairs visited.

With one feature for each pair :math:`(s, a)`, and no horizon, the regression is diagonal. Write
:math:`n` for the visits to a pair, :math:`n(s')` for how many of them led to :math:`s'` and
:math:`\sum r` for what they brought:

.. math::
    \tilde\theta(s, a) = \frac{\sum r + \gamma \sum_{s'} n(s')\, \tilde V(s')}{n + \lambda\sigma^2}
    + \frac{\sigma z(s, a)}{\sqrt{n + \lambda\sigma^2}},
    \qquad \tilde V(s) = \max_a \tilde\theta(s, a),

the maximum over what is allowed in s, truncated to the range of values. A pair without visits has
its prior draw :math:`z / \sqrt\lambda`, for LSVI 0. What was seen is kept by ``counts``.

**Sweeps.** A number of sweeps is so many fits, each with all values of the one before, as the
printed form makes them. With the same normal draws each of them is a step of value iteration in
one random model, a contraction if :math:`\gamma < 1`.

**Circles.** Take a circle of L pairs whose outcomes are known; the shortest is a step that leads
nowhere. An agent that walks it without end collects the noise of its pairs in every round. With n
visits each, the sampled value has a standard deviation near
:math:`\sigma / ((1 - \gamma) \sqrt{nL})`. Where transitions are deterministic, an agent whose
sample prefers the circle walks it until the time limit. So with one-hot features a repeated state
triggers another draw, by default. With deterministic
transitions choose :math:`\sigma = (1 - \gamma)V/10`, less than
suggested: then the deviation of a circle's value is at most a tenth of V.

**Cost.** A draw takes one number of the agent's stream, a key, and the normal number of a weight is
a function of key and weight. So a draw costs what was seen, not :math:`SA`: weights of other states
are computed when they are looked at. A sweep then costs A steps for each state seen, and one for
each successor. Memory holds three numbers per pair, and four per successor; a draw, two for each
action of a state seen.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..compiled import Array, Floats, Generator, Ints, jit
from ..features import OneHot
from ..learner import Problem, Targets
from ..regression import draw_weight
from .counts import Counting, History, target_sum


@jit
def _mixed(x: Array) -> Array:
    """SplitMix64's function of 64 bits (Steele, Lea and Flood 2014), as uniforms in [0, 1)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(((x ^ (x >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53)


@jit
def normals_of(key: int, k: Ints) -> Floats:
    """Standard normal numbers k = 0, 1, … of those that a key stands for (Box and Muller's, of
    SplitMix64's uniforms 2k and 2k + 1): each is the same, whichever others are asked for."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    x = np.uint64(key) + (2 * k + 1).astype(np.uint64) * golden
    return np.sqrt(-2.0 * np.log1p(-_mixed(x))) * np.cos(2.0 * np.pi * _mixed(x + golden))


def draw_key(rng: Generator) -> int:
    """A key for :func:`normals_of`."""
    return int(rng.integers(2**63))


@jit
def _look_ahead(q: Floats, closed: Array, targets: Targets, s: int) -> float:
    """γṼ(s), as it stands in a target."""
    top = -np.inf
    for a in range(q.shape[0]):
        if closed.size == 0 or not closed[0, s, a]:
            top = max(top, q[a])
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
            mean[a] = total / M  # line 2
            theta[a] = draw_weight(M, total, spread, z[a])  # line 3


@jit
def _estimate(
    seen: History,
    closed: Array,
    states: Ints,
    ridge: float,
    spread: float,
    targets: Targets,
    key: int,
    sweeps: int,
    mean: Floats,
    theta: Floats,
) -> None:
    """So many fits of the states that were seen, all with the noise of the key; the targets of the
    first have the values of θ as it is given. One that changes no value is the last."""
    (n, A), S = theta.shape, seen.n.shape[1]
    V, z = np.empty(S), np.zeros((n, A))
    for i in range(n):
        V[states[i]] = _look_ahead(theta[i], closed, targets, states[i])
    for a in range(A):
        if spread > 0.0:
            z[:, a] = normals_of(key, a * S + states)
        for i in range(n):
            theta[i, a] = draw_weight(ridge, 0.0, spread, z[i, a])  # if not visited
    for _ in range(sweeps):
        changed = False
        for i in range(n):
            _fit(seen, states[i], V, ridge, spread, z[i], mean[i], theta[i])
        for i in range(n):
            value = _look_ahead(theta[i], closed, targets, states[i])
            changed = changed or value != V[states[i]]
            V[states[i]] = value
        if not changed:
            break


class Drawn(NamedTuple):
    """The values of an episode, at the n states that had been seen, in the order of their first
    visits."""

    sample: Floats  # (n, A)
    mean: Floats  # (n, A) what they were drawn around
    key: int | None  # of the draw; None: other states have values of 0


class Discounted(Counting):
    """Keeps counts of pairs and successors; the same weights as ``Printed`` if that draws its noise
    by key.

    Examples
    --------
    >>> from rlsvi_core import features, rlsvi
    >>> agent = rlsvi(features.one_hot(None, 50_000, 4), value_range=(0, 1), gamma=0.9, rng=1)
    >>> agent.observe(0, 49_999, 3, r=1.0, s_next=0)
    >>> agent.plan()
    >>> agent.mean_values(0, 49_999).round(4)
    array([0.    , 0.    , 0.    , 0.9996])
    """

    def __init__(self, problem: Problem) -> None:
        phi = problem.features
        assert isinstance(phi, OneHot)
        checks.array_size("the weights", phi.S, phi.A)
        super().__init__(None, phi.S, phi.A)
        self.problem = problem
        self._places: dict[int, int] = {}  # of the states seen, in the order of first visits

    def add(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: Any = None
    ) -> None:
        super().add(h, s, a, r, s_next, legal_next)
        self._places.setdefault(int(s), len(self._places))
        if s_next is not None:
            self._places.setdefault(int(s_next), len(self._places))

    def unseen(self, key: int | None, states: Ints) -> Floats:
        """The (·, A) values of some states without data: the prior's draw."""
        _, S, A = self._seen.n.shape
        if key is None:
            return np.zeros((states.size, A))
        k = S * np.arange(A) + states[:, None]
        z: Floats = normals_of(key, k.ravel()).reshape(k.shape)
        return z / math.sqrt(self.problem.lam)

    def fit(self, rng: Generator | None, before: Drawn | None) -> Drawn:
        problem, A = self.problem, self._seen.n.shape[2]
        states = np.fromiter(self._places, np.int64, len(self._places))
        theta, mean = np.zeros((2, states.size, A))
        if not states.size and (rng is None or problem.options.first == "uniform"):
            return Drawn(theta, mean, None)
        if before is not None:
            known = len(before.mean)  # the first ones of all
            mean[:known] = before.mean
            theta[:known] = before.mean if rng is None else before.sample
            if rng is not None and known < states.size:
                theta[known:] = self.unseen(before.key, states[known:])
        key = 0 if rng is None else draw_key(rng)
        _estimate(
            self.seen,
            self.masks.closed,
            states,
            problem.ridge,
            0.0 if rng is None else problem.sigma,
            Targets(problem.gamma, problem.low, problem.high),
            key,
            problem.sweeps(rng, before),
            mean,
            theta,
        )
        return Drawn(theta, mean, None if rng is None else key)

    def values(self, fitted: Drawn, h: int, s: int) -> Floats:
        s = checks.index("s", s, self._seen.n.shape[1])
        known = fitted.sample
        place = self._places.get(s, len(known))
        q = known[place].copy() if place < len(known) else self.unseen(fitted.key, np.array([s]))[0]
        return self.masks.masked(0, s, q)
