r"""RLSVI and LSVI without generalization (:math:`\Phi_h = I`): a table of values, with a horizon as in
section 5, or with a discount.

Write :math:`n` for the visits to :math:`(s, a, h)`, :math:`\hat R, \hat P` for what was seen there,
:math:`\tilde V_h = \max_a \tilde Q_h`. With one-hot features the regression of Algorithm 1 is
diagonal and has a closed form,

.. math::
    \tilde Q_h(s, a) \sim N\Bigl(\frac{n (\hat R + \hat P^\top \tilde V_{h+1})}
    {n + \lambda\sigma^2},\ \frac{\sigma^2}{n + \lambda\sigma^2}\Bigr);

before any data this is the prior :math:`N(0, 1/\lambda)`. **LSVI** is its mean with
:math:`\sigma = 1`. A plan costs :math:`O(HSA)` and one step per successor seen.

**Without a horizon** (Algorithm 7) one table follows itself: :math:`\tilde V_{h+1}` is that of
the fit before, discounted. A number of sweeps is so many fits with the same normal draws, each with
all values of the one before, as Algorithm 7 makes them: steps of value iteration in one random
model, a contraction if :math:`\gamma < 1`. A plan costs :math:`O(SA)`, and each sweep A steps for
each state and one for each successor seen.

**Circles.** Take a circle of L pairs whose outcomes are known; the shortest is a step that leads
nowhere. An agent without a horizon that walks it without end collects the noise of its pairs in
every round. With n visits each, the sampled value has a standard deviation near
:math:`\sigma / ((1 - \gamma) \sqrt{nL})`. Where transitions are deterministic, an agent whose sample
prefers the circle walks it until the time limit. So with one-hot features a repeated state triggers
another draw, by default. With deterministic transitions choose :math:`\sigma = (1 - \gamma)V/10`,
less than suggested: then the deviation of a circle's value is at most a tenth of V.

**What was seen** is a :class:`TransitionCounts`: for each :math:`(s, a, h)` the visits, the sum of
rewards and, in a list, the states that followed with their counts. Memory grows with the pairs
visited. A history by outcomes also tells rewards apart: its lists have an entry for each :math:`(r,
s')`. Lists serve well where few states follow a pair. They are searched from their start and lie in
memory as they grew, so that where any of many states may follow, an entry costs two to three times
as much as in order, and a transition as many looks as the list is long.
"""

from typing import Any, NamedTuple

import numpy as np

from ..features import OneHot
from ..regression import draw_posterior_scalar, sample_noise
from ..runtime.compilation import Array, Floats, Generator, Ints, jit, jit_inline
from ..runtime.loop import max_value
from .base import TERMINAL, CompiledLearner, RegressionProblem, TargetSpec, compile_parts


class TransitionCounts(NamedTuple):
    """Sufficient statistics. What followed (s, a, h) is a list, by state and, if outcomes are told
    apart, by reward. Compiled functions take this record, or another with these fields."""

    n: Floats  # (H, S, A) visits
    total: Floats  # (H, S, A) sum of rewards; in the last period with the terminal ones
    first: Ints  # (H, S, A) the first node of its list, or −1
    state: Ints  # (M,) of a node: the state that followed, or ENDED
    reward: Floats  # (M,) the reward, if outcomes are told apart
    number: Floats  # (M,) how often
    link: Ints  # (M,) the next node, or −1
    used: Ints  # (2,) nodes in use, and transitions taken in
    apart: bool  # whether outcomes are told apart


def empty_counts(H: int, S: int, A: int, apart: bool = False) -> TransitionCounts:
    """Before any visit."""
    visits, total = np.zeros((2, H, S, A))
    first = np.full((H, S, A), -1)
    none = np.zeros(0, np.int64)
    zeros = np.zeros(0)
    return TransitionCounts(
        visits, total, first, none, zeros, zeros, none, np.zeros(2, np.int64), apart
    )


def with_capacity(seen: TransitionCounts, more: int) -> TransitionCounts:
    """The same history with room for so many nodes more."""
    have = len(seen.state)
    wanted = int(seen.used[0]) + more
    if wanted <= have:
        return seen
    extra = max(wanted - have, have)
    nodes = ("state", "reward", "number", "link")
    room: dict[str, Any] = {name: np.pad(getattr(seen, name), (0, extra)) for name in nodes}
    return seen._replace(**room)


@jit_inline
def count_transition(seen: Any, h: int, s: int, a: int, r: float, s_next: int) -> None:
    """Take in one transition, into the list if something follows or outcomes are told apart. One
    function, and not one for each case that calls a third: every level costs a loop a tenth of its
    time."""
    seen.n[h, s, a] += 1.0
    seen.total[h, s, a] += r
    seen.used[1] += 1
    if s_next == TERMINAL and not seen.apart:
        return
    key = r if seen.apart else 0.0
    before = -1
    node = seen.first[h, s, a]
    while node >= 0 and (
        seen.state[node] < s_next or (seen.state[node] == s_next and seen.reward[node] < key)
    ):
        before = node
        node = seen.link[node]
    if node < 0 or seen.state[node] != s_next or seen.reward[node] != key:
        new = seen.used[0]
        seen.used[0] += 1
        seen.state[new] = s_next
        seen.reward[new] = key
        seen.number[new] = 0.0
        seen.link[new] = node
        if before < 0:
            seen.first[h, s, a] = new
        else:
            seen.link[before] = new
        node = new
    seen.number[node] += 1.0


@jit_inline
def target_sum(seen: Any, h: int, s: int, a: int, V: Floats) -> float:
    """Σ r + Σ_{s'} n(s') V(s') over the visits to (s, a, h): A'b of a regression on one-hot
    features."""
    total = seen.total[h, s, a]
    node = seen.first[h, s, a]
    while node >= 0:
        total += seen.number[node] * V[seen.state[node]]
        node = seen.link[node]
    return float(total)


@jit_inline
def mask_forbidden(closed: Array, h: int, Q: Floats) -> None:
    """Give what masks have ``closed``, a (T, S, A) array or an empty one, the value −∞."""
    for s in range(closed.shape[1] if closed.size > 0 else 0):
        for a in range(closed.shape[2]):
            if closed[h, s, a]:
                Q[h, s, a] = -np.inf


@jit_inline
def fill_next_values(closed: Array, h: int, Q: Floats, targets: TargetSpec, V: Floats) -> float:
    """Fill V with γṼ_h as it stands in targets, truncated; returns by how much that changes it."""
    mask_forbidden(closed, h, Q)
    change = 0.0
    for s in range(V.shape[0]):
        value = targets.gamma * min(max(max_value(Q[h, s]), targets.low), targets.high)
        change = max(change, abs(value - V[s]))
        V[s] = value
    return change


@jit
def value_iteration(
    seen: Any,
    ridge: float,
    sigma: float,
    targets: TargetSpec,
    closed: Array,
    rng: Generator,
    Q: Floats,
) -> None:
    """Q̃ = (Σ r + Σ n(s') γṼ)/M + σz/√M with M = n + λσ², backwards in time; σ = 0 for the mean.
    Noise is drawn in the order of the plain algorithms."""
    H, S, A = Q.shape
    V = np.zeros(S)
    z = 0.0
    prior = draw_posterior_scalar(ridge, 0.0, sigma, 1.0)  # of most pairs, often
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                n = seen.n[h, s, a]
                if sigma > 0.0:
                    z = sample_noise(rng)
                if n == 0.0:
                    Q[h, s, a] = prior * z
                    continue
                total = seen.total[h, s, a] if h == H - 1 else target_sum(seen, h, s, a, V)
                Q[h, s, a] = draw_posterior_scalar(n + ridge, total, sigma, z)
        fill_next_values(closed, h, Q, targets, V)


@jit
def sweep_values(
    seen: Any,
    ridge: float,
    sigma: float,
    targets: TargetSpec,
    sweeps: int,
    closed: Array,
    rng: Generator,
    Q: Floats,
) -> float:
    """So many fits of one table that follows itself, all with the same noise; the targets of the
    first have the values that Q is given with. One that changes no value is the last; returns by how
    much the last one changed them."""
    _, S, A = Q.shape
    V = np.zeros(S)
    z = np.zeros((S, A))
    change = fill_next_values(closed, 0, Q, targets, V)
    if sigma > 0.0:
        for a in range(A):  # the order of one-hot features
            for s in range(S):
                z[s, a] = sample_noise(rng)
    for s in range(S):
        for a in range(A):
            Q[0, s, a] = draw_posterior_scalar(ridge, 0.0, sigma, z[s, a])  # if not visited
    for _ in range(sweeps):
        for s in range(S):
            for a in range(A):
                n = seen.n[0, s, a]
                if n > 0.0:
                    total = target_sum(seen, 0, s, a, V)
                    Q[0, s, a] = draw_posterior_scalar(n + ridge, total, sigma, z[s, a])
        change = fill_next_values(closed, 0, Q, targets, V)
        if change == 0.0:
            break
    return change


class CountRecord(NamedTuple):
    """What compiled code works on."""

    seen: TransitionCounts
    prior: bool  # whether the first episode is drawn from it
    ridge: float
    targets: TargetSpec
    closed: Array  # (T, S, A) what masks forbid, or empty
    sigma: float  # or 0 for the mean
    sweeps: int  # fits of one table; 0 where there is a horizon, and a table for each period
    fitted: Floats  # (T, S, A) the values


@jit
def _fit_counts(data: CountRecord, rng: Generator) -> float:
    """Returns by how much the last of several sweeps changed the values."""
    seen, prior, ridge, targets, closed, sigma, sweeps, Q = data
    if not prior and seen.used[1] == 0:
        return 0.0
    if sweeps == 0:
        value_iteration(seen, ridge, sigma, targets, closed, rng, Q)
        return 0.0
    return sweep_values(seen, ridge, sigma, targets, sweeps, closed, rng, Q)


@jit_inline
def fill_table_values(data: Any, h: int, s: int, q: Floats) -> None:
    """Those of a table."""
    for a in range(q.shape[0]):
        q[a] = data.fitted[h, s, a]


@jit_inline
def add_to_record(data: Any, h: int, s: int, a: int, r: float, s_next: int) -> None:
    """Take a transition into the history of a record."""
    count_transition(data.seen, h, s, a, r, s_next)


class TabularLearner(CompiledLearner):
    """Keeps a history, ``seen`` of its record, and fits a table of values to it."""

    @property
    def transition_counts(self) -> TransitionCounts:
        """The history, with queued transitions taken in."""
        self.flush_queue()
        return self.record.seen  # type: ignore[no-any-return]

    def reserve(self, episodes: int, steps: int) -> None:
        self.record = self.record._replace(seen=with_capacity(self.record.seen, steps))


class CountLearner(TabularLearner):
    """RLSVI and LSVI in closed form; the same values as the plain algorithms.

    Examples
    --------
    >>> from rlsvi_core import features, rlsvi
    >>> agent = rlsvi(features.one_hot(None, 500, 4), value_range=(0, 1), gamma=0.9, rng=1)
    >>> agent.observe(0, 499, 3, r=1.0, s_next=0)
    >>> agent.plan()
    >>> agent.mean_values(0, 499).round(6)
    array([0.      , 0.      , 0.      , 0.999975])
    """

    parts = compile_parts(_fit_counts, fill_table_values, add_to_record)

    def __init__(self, problem: RegressionProblem) -> None:
        phi = problem.features
        assert isinstance(phi, OneHot)
        self.problem = problem
        shape = phi.H or 1, phi.S, phi.A
        record = CountRecord(
            empty_counts(*shape),
            problem.options.first == "prior",
            problem.ridge,
            problem.targets,
            np.zeros((0, *shape[1:]), bool),
            problem.sigma,
            0,
            np.zeros(shape),
        )
        super().__init__(phi.H, phi.S, phi.A, record)
