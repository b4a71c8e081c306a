"""The record of episodes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import checks
from .compiled import Floats, Generator, Ints, jit


class Run(NamedTuple):
    """The record of a learning run, one entry per episode.

    Attributes
    ----------
    reward
        The sum of its rewards.
    expected
        The exact expected reward of the policy that was played; NaN without ``exact=True``.
    claimed
        What the agent's own values promised for it; NaN likewise.
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
    """The record of so many episodes, checked, before they are played."""
    episodes = checks.whole("episodes", episodes, hint="Pass episodes=1000, say.")
    return Run(
        reward=np.zeros(episodes),
        expected=np.full(episodes, np.nan),
        claimed=np.full(episodes, np.nan),
        opening=np.zeros(episodes, np.int64),
        length=np.zeros(episodes, np.int64),
        furthest=np.zeros(episodes, np.int64),
    )


@jit
def record_step(run: Run, i: int, h: int, a: int, r: float, s_next: int) -> None:
    """What step h of episode i adds to the record."""
    run.reward[i] += r
    run.furthest[i] = max(run.furthest[i], s_next)
    if h == 0:
        run.opening[i] = a


def part(run: Run, start: int, stop: int) -> Run:
    """The record of some of the episodes, in the same arrays."""
    return Run._make(column[start:stop] for column in run)


def played(run: Run) -> int:
    """How many episodes have come to their end: the length is recorded last."""
    return int(np.count_nonzero(run.length))


class Outcome(NamedTuple):
    """What a callback is told of an episode.

    Attributes
    ----------
    length
        The number of steps.
    reward
        The sum of its rewards.
    claimed
        What the agent's values promised at its start; NaN if it has none.
    redraws
        How often the agent drew again on the way.
    """

    length: int
    reward: float
    claimed: float
    redraws: int


After = Callable[[Outcome], object]  # the callback


def check_after(after: Any) -> None:
    if after is not None and not callable(after):
        checks.fail(
            "after is called with the outcome of each episode",
            f"it is {after!r}",
            "Pass after=print, say.",
        )


def warn_if_coupled(own: Generator, environment: Generator) -> None:
    """Mention generators that will draw the same numbers."""
    same = repr(own.bit_generator.state) == repr(environment.bit_generator.state)
    if same and own is not environment:
        checks.warn(
            "agent and environment draw from streams of their own",
            "both were given the same seed, so that actions and outcomes depend on each other",
            "Give one of them another.",
        )
