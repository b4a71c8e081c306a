r"""How one acts: the law of the action, given the values of a state.

Every algorithm here is (what the regression's target is) × (how the estimate becomes an action) ×
(how time is indexed). The loops of the paper differ in one line each, the action, and one formula
covers them:

.. math::
    \mathbb P(a \mid s) = \frac{\epsilon}{A} + (1 - \epsilon)\,
    \frac{e^{Q(s,a)/\eta}}{\sum_\alpha e^{Q(s,\alpha)/\eta}},

where :math:`\eta \to 0` puts equal mass on all maximisers. Greedy is
:math:`\epsilon = \eta = 0`. Ties are broken uniformly: Example 1 depends on it.
"""

import math
from typing import Any

import numpy as np

from .. import checks
from ..compiled import Array, Floats, jit
from ..mdp import draw


@jit
def highest(q: Floats) -> float:
    """The largest of some values; q.max() takes the compiler ten times as long."""
    top = -np.inf
    for a in range(q.shape[0]):
        top = max(top, q[a])
    return top


@jit
def action_probabilities(q: Floats, epsilon: float, eta: float, out: Floats) -> None:
    """Fill ``out`` with the law of the action, given the action values q at a state; an action
    that a mask forbids has the value −∞."""
    A, top, total, open_ = q.shape[0], highest(q), 0.0, 0
    for a in range(A):
        if eta > 0.0:
            out[a] = math.exp((q[a] - top) / eta)  # Algorithm 4, line 5
        else:
            out[a] = 1.0 if q[a] == top else 0.0
        total += out[a]
        open_ += q[a] > -np.inf
    for a in range(A):  # Algorithm 5, lines 5 to 10
        dithering = epsilon / open_ if q[a] > -np.inf else 0.0
        out[a] = dithering + (1.0 - epsilon) * out[a] / total


@jit
def choose(q: Floats, epsilon: float, eta: float, p: Floats, u: float) -> int:
    """The action that a uniform u picks, given the values; ``p`` is scratch space."""
    action_probabilities(q, epsilon, eta, p)
    return draw(p, u)


@jit
def values(rows: Floats, theta: Floats, q: Floats) -> None:
    """Fill q with rows · θ, one value per action."""
    for a in range(q.shape[0]):
        total = 0.0
        for k in range(theta.shape[0]):
            total += rows[a, k] * theta[k]
        q[a] = total


def positions(numbers: Array, legal: Any) -> Array:
    """Where some of the actions are among all that have a row."""
    given, legal = legal, np.asarray(legal)
    if legal.size == 0:
        checks.fail("some action must be legal", "none is", "End the episode in such a state.")
    if (
        legal.dtype.kind not in "iu"
        or legal.ndim != 1
        or not np.isin(legal, numbers).all()
        or legal.dtype.itemsize == 1
        or (np.diff(legal) <= 0).any()
    ):  # a mask, not its places
        checks.fail(
            f"legal lists the numbers of actions, some of {numbers.tolist()}, in their order",
            f"it is {given!r}",
            f"Pass np.flatnonzero(mask), where mask has {numbers.size} entries.",
            IndexError,
        )
    return np.flatnonzero(np.isin(numbers, legal))
