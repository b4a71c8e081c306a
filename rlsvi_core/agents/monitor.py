"""Whether the returns that come agree with the range of values that the user has given."""

from .. import checks
from ..compiled import Floats

MARGIN = 0.01  # of the range: the deep sea, with a treasure of 1, costs 0.009 on the way


class RangeMonitor:
    """Warns, once, of a return outside the range of values by more than a hundredth of it: λ, σ and
    clipping depend on the range.

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

    def add_reward(self, h: int, r: float, ended: bool) -> None:
        """Take in the reward of step h; episodes count if they are observed in order."""
        if self.value_range is None:
            return
        if h == 0:
            low, high = self.value_range
            if not min(low, 0) <= self._total <= max(high, 0):  # of an episode that was cut
                self._compare(self._total)
            self._steps, self._discount, self._total = 0, 1.0, 0.0
        if self._steps == h:
            self._total += self._discount * r
            self._discount *= self.gamma
            self._steps += 1
            if ended:
                self._compare(self._total)

    def add_episodes(self, rewards: Floats) -> None:
        """Take in the sums of rewards of whole episodes, which are returns if nothing is
        discounted."""
        if self.gamma == 1 and rewards.size:
            self._compare(rewards.min())
            self._compare(rewards.max())

    def _compare(self, total: float) -> None:
        if self.value_range is None:
            return
        low, high = self.value_range
        margin = MARGIN * (high - low)
        if not low - margin <= total <= high + margin:
            self.value_range = None
            checks.warn(
                "value_range has the least and the largest discounted sum of rewards",
                f"it is ({low:g}, {high:g}), and an episode brought {total:g}",
                "Widen it, not beyond what can happen: lambda, sigma and clipping depend on it.",
            )
