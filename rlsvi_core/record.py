"""The record of a stretch of learning."""

from typing import NamedTuple

import numpy as np

from . import checks
from .compiled import Floats, Ints


class Run(NamedTuple):
    """The record of a learning run, one entry per episode.

    Attributes
    ----------
    reward
        The sum of its rewards.
    expected
        The exact expected reward of the policy as it was planned; NaN without ``exact=True``.
    claimed
        What the agent's own values promised at its first state.
    opening
        The first action.
    length
        The number of steps.
    furthest
        The largest state visited; −1 where states are not numbers.
    """

    reward: Floats
    expected: Floats
    claimed: Floats
    opening: Ints
    length: Ints
    furthest: Ints


def empty_run(episodes: int) -> Run:
    """The record of so many episodes, before they are played: zeros, for which a system takes no
    memory until something else is written."""
    episodes = checks.whole("episodes", episodes, hint="Pass episodes=1000, say.")
    return Run(
        reward=np.zeros(episodes),
        expected=np.zeros(episodes),
        claimed=np.zeros(episodes),
        opening=np.zeros(episodes, np.int64),
        length=np.zeros(episodes, np.int64),
        furthest=np.zeros(episodes, np.int64),
    )


def part(run: Run, start: int, stop: int) -> Run:
    """The record of some of the episodes, in the same arrays."""
    return Run._make(column[start:stop] for column in run)
