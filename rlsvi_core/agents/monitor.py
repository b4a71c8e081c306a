r"""Whether the returns that come agree with the range of values that the user has given.

``value_range`` is the range of *optimal values*: the least and the largest :math:`V^*(s)`, what the
best policy earns on average from the worst and from the best state. Values in targets are cut to
it, which is right because :math:`V^*` lies inside. A single return may lie outside, by bad actions
or by luck, so a return alone is no reason to widen the range. Two things are:

- *Episodes bring more than the largest value on average.* No policy does; the mean of n returns may
  exceed it by chance, hardly by more than :math:`V/\sqrt n`, V being the width of the range.
- *The best of many episodes brings less than the least value.*

An episode that the clock cut has a return too: what it brought and, discounted, some value of the
state it was cut in, from the least to the largest.
"""

import math

from .. import checks
from ..compiled import Floats

MANY = 100  # episodes, of which one should have been as good as the least value


class RangeMonitor:
    """Warns, once, of returns that contradict the range of values: λ, σ and clipping depend on it.

    Parameters
    ----------
    value_range : tuple of float, optional
        The least and the largest value; None: nothing is compared.
    gamma : float
        The discount.
    """

    def __init__(self, value_range: tuple[float, float] | None, gamma: float) -> None:
        self.value_range, self.gamma = value_range, gamma  # no range after a warning
        self._steps, self._discount, self._total = 0, 1.0, 0.0  # of this episode
        self._episodes, self._sum, self._best = 0, 0.0, -math.inf  # of those before

    def add_reward(self, h: int, r: float, ended: bool) -> None:
        """Take in the reward of step h; episodes count if they are observed in order."""
        if self.value_range is None:
            return
        if h == 0:
            low, high = self.value_range
            if self._steps > 0:  # of an episode that was cut
                self._add(self._total + self._discount * low, self._total + self._discount * high)
            self._steps, self._discount, self._total = 0, 1.0, 0.0
        if self._steps == h:
            self._total += self._discount * r
            self._discount *= self.gamma
            self._steps += 1
            if ended:
                total, self._steps = self._total, 0
                self._add(total, total)

    def add_episodes(self, rewards: Floats) -> None:
        """Take in the sums of rewards of whole episodes, which are returns if nothing is
        discounted."""
        if self.value_range is not None and self.gamma == 1:
            for total in rewards.tolist():
                self._add(total, total)

    def _add(self, least: float, most: float) -> None:
        """Take in an episode whose return lies between two numbers."""
        if self.value_range is None:
            return
        low, high = self.value_range
        self._episodes += 1
        self._sum += least
        self._best = max(self._best, most)
        n, mean = self._episodes, self._sum / self._episodes
        slack = (high - low) / math.sqrt(n)
        if mean > high + slack:
            those = f"{n} episodes on average" if n > 1 else "the first episode"
            found = f"{those} brought {mean:g}"
        elif n >= MANY and self._best < low - slack:
            found = f"the best of {n} episodes brought {self._best:g}"
        else:
            return
        self.value_range = None
        checks.warn(
            "value_range has the least and the largest optimal value",
            f"it is ({low:g}, {high:g}), and {found}",
            "Widen it to what the best policy earns from the worst and from the best state, no "
            "further: lambda, sigma and clipping depend on it.",
        )
