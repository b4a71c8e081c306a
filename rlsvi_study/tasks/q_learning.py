r"""Tabular Q-learning (Watkins 1989), as textbooks print it: after each step

.. math:: Q(s, a) \leftarrow Q(s, a) + \alpha \bigl(r + \gamma \max_{a'} Q(s', a') - Q(s, a)\bigr).

With a horizon every period has a table of its own, γ = 1 and the last period's target is r alone.
Without one there is a single table, and nothing follows a state that ends an episode. Exploration is
by ε-greedy actions, by a start of Q above all values, or by both.
"""

from typing import Any, NamedTuple

import numpy as np

from rlsvi_core import Learner
from rlsvi_core.agent import compiled_loop, highest
from rlsvi_core.compiled import Floats, Generator, inlined, jit
from rlsvi_core.learner import ENDED
from rlsvi_core.learners.counts import table_values


class Data(NamedTuple):
    alpha: float
    gamma: float
    further: int  # by how many tables the next step's is further: 1 with a horizon, 0 without
    Q: Floats  # (H, S, A) or (1, S, A)


@jit
def _fit(data: Data, rng: Generator) -> None:
    """Nothing: the values change with every step."""


@inlined
def _add(data: Data, h: int, s: int, a: int, r: float, s_next: int) -> None:
    Q, target, after = data.Q, r, h + data.further
    if s_next != ENDED and after < Q.shape[0]:
        target += data.gamma * highest(Q[after, s_next])
    Q[h, s, a] += data.alpha * (target - Q[h, s, a])


class QLearning(Learner):
    """Q-learning with the step size α, from a table that is ``start`` everywhere."""

    loop = staticmethod(compiled_loop(_fit, table_values, _add))

    def __init__(
        self, H: int | None, S: int, A: int, alpha: float, gamma: float, start: float
    ) -> None:
        self.H, self.S, self.A = H, S, A
        self._data = Data(alpha, gamma, 0 if H is None else 1, np.full((H or 1, S, A), start))

    def data(self, fitted: Any, sample: bool) -> Data:
        return self._data

    def fit(self, rng: Generator | None, before: Any) -> None:
        """Nothing is fitted at once."""

    def values(self, fitted: Any, h: int, s: int) -> Floats:
        return np.array(self._data.Q[h if self.H else 0, s])

    def add(self, h: int, s: int, a: int, r: float, s_next: int | None) -> None:
        _add(self._data, h if self.H else 0, s, a, r, ENDED if s_next is None else s_next)
