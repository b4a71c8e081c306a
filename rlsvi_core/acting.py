r"""How one acts. The loops of the paper (Algorithms 2, 4, 5, 8 and 12) differ in one line each, the
action, and one formula covers them:

.. math::
    \mathbb P(a \mid s) = \frac{\epsilon}{A} + (1 - \epsilon)\,
    \frac{e^{Q(s,a)/\eta}}{\sum_\alpha e^{Q(s,\alpha)/\eta}},

where :math:`\eta \to 0` puts equal mass on all maximisers. Greedy is :math:`\epsilon = \eta = 0`.
Ties are broken uniformly: Example 1 depends on it.
"""

import math

import numpy as np

from .compiled import Floats, inlined
from .mdp import draw


@inlined
def highest(q: Floats) -> float:
    """The largest of some values. (To compile ``q.max()`` would take ten times as long.)"""
    top = -np.inf
    for a in range(q.shape[0]):
        top = max(top, q[a])
    return top


@inlined
def action_probabilities(q: Floats, epsilon: float, eta: float, out: Floats) -> None:
    """Fill ``out`` with the law of the action, given the action values q at a state; an action
    that a mask forbids has the value −∞."""
    A = q.shape[0]
    top = highest(q)
    total = 0.0
    open_ = 0
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


@inlined
def choose(q: Floats, epsilon: float, eta: float, p: Floats, u: float) -> int:
    """The action that a uniform u picks, given the values; ``p`` is scratch space."""
    action_probabilities(q, epsilon, eta, p)
    return draw(p, u)


@inlined
def row_values(rows: Floats, theta: Floats, q: Floats) -> None:
    """Fill q with rows · θ, one value per action."""
    for a in range(q.shape[0]):
        total = 0.0
        for k in range(theta.shape[0]):
            total += rows[a, k] * theta[k]
        q[a] = total
