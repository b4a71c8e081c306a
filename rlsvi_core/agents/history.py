r"""What was seen of numbered states, as counts: for each :math:`(s, a, h)` the visits, the sum of
rewards and, in a list, the states that followed with their counts. Memory grows with the pairs
visited.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from ..compiled import Floats, Ints, jit
from ..waiting import HELD
from .states import ENDED, FiniteStates


class History(NamedTuple):
    """Sufficient statistics. The states that followed (s, a, h) are a list, in increasing order."""

    n: Floats  # (H, S, A) visits
    total: Floats  # (H, S, A) sum of rewards; in the last period with the terminal ones
    first: Ints  # (H, S, A) the first node of its list, or −1
    state: Ints  # (M,) of a node: the state that followed
    number: Floats  # (M,) how often
    link: Ints  # (M,) the next node, or −1
    used: Ints  # (1,) nodes in use


def no_history(H: int, S: int, A: int) -> History:
    """Before any visit."""
    return History(
        np.zeros((H, S, A)),
        np.zeros((H, S, A)),
        np.full((H, S, A), -1),
        np.zeros(0, np.int64),
        np.zeros(0),
        np.zeros(0, np.int64),
        np.zeros(1, np.int64),
    )


@jit
def remember(seen: History, h: int, s: int, a: int, r: float, s_next: int) -> None:
    """Take in one transition."""
    seen.n[h, s, a] += 1.0
    seen.total[h, s, a] += r
    if s_next == ENDED:
        return
    before, node = -1, seen.first[h, s, a]
    while node >= 0 and seen.state[node] < s_next:
        before, node = node, seen.link[node]
    if node < 0 or seen.state[node] != s_next:
        new = seen.used[0]
        seen.used[0] += 1
        seen.state[new], seen.number[new], seen.link[new] = s_next, 0.0, node
        if before < 0:
            seen.first[h, s, a] = new
        else:
            seen.link[before] = new
        node = new
    seen.number[node] += 1.0


@jit
def _remember_all(seen: History, steps: Floats) -> None:
    for i in range(steps.shape[0]):
        h, s, a, s_next = int(steps[i, 0]), int(steps[i, 1]), int(steps[i, 2]), int(steps[i, 4])
        remember(seen, h, s, a, steps[i, 3], s_next)


def with_capacity(seen: History, nodes: int) -> History:
    """The same history with space for so many nodes in all."""
    if nodes <= (have := len(seen.state)):
        return seen
    return seen._replace(
        **{
            name: np.pad(getattr(seen, name), (0, max(nodes - have, have)))
            for name in ("state", "number", "link")
        }
    )


@jit
def target_sum(seen: History, h: int, s: int, a: int, V: Floats) -> float:
    """Σ r + Σ_{s'} n(s') V(s') over the visits to (s, a, h): A'b of a regression on one-hot
    features."""
    total, node = seen.total[h, s, a], seen.first[h, s, a]
    while node >= 0:
        total += seen.number[node] * V[seen.state[node]]
        node = seen.link[node]
    return float(total)


MOST_WAITING = 1000  # transitions


class CountingAgent(FiniteStates):
    """What agents with a history of S states share. Transitions are queued until the history is
    read: compiled code that processes many per call is ten times as fast."""

    def __init__(self, features: Any, lam: float, sigma: float, **options: Any) -> None:
        super().__init__(features, lam, sigma, **options)
        self._seen = no_history(self.H or 1, self.S, self.A)
        self._waiting: list[tuple[int, int, int, float, int]] = []

    @property
    def seen(self) -> History:
        """The history, with queued transitions processed."""
        if self._waiting:
            with HELD:
                steps = np.array(self._waiting, float)
                self._seen = with_capacity(self._seen, int(self._seen.used[0]) + len(steps))
                _remember_all(self._seen, steps)
                self._waiting = []
        return self._seen

    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        self._waiting.append((h, s, a, r, s_next))
        if len(self._waiting) == MOST_WAITING:
            self._seen = self.seen

    def _twin(self) -> Self:
        seen, twin = self.seen, super()._twin()
        twin._seen, twin._waiting = seen, []
        return twin
