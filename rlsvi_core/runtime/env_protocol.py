r"""What an environment is: what it returns, and the checks of one, at the entry and in every step.

An environment has ``start(rng)``, which returns the first state, and ``step(h, s, a, rng)``, which
returns the reward, the next state and whether the episode is over: False, True if nothing of value
follows, or ``"cut"`` if only the clock ran out, so that the next state keeps its value. It may have
``S`` and ``A``, the numbers of states and actions, ``H``, the number of steps after which the clock
runs out, and ``legal(h, s)``, the numbers of the actions allowed (no mask of 0 and 1), None for all.
It may write into its states: an agent sees copies, which it must not write into. A
:class:`~rlsvi_core.mdp.FiniteMDP` and a :class:`~rlsvi_core.mdp.DiscountedMDP` are environments, and
a Gymnasium environment is taken as one.
"""

import copy
from math import isclose
from typing import Any

import numpy as np

from ..learners.base import Learner
from ..mdp import TRUNCATED, DiscountedMDP
from . import checks
from .compilation import Floats, Generator

MAX_UNLIMITED_STEPS = (
    10_000  # steps, after which an episode that nobody limits is taken to be without end
)


def adapt_environment(
    env: Any, learner: Learner, gamma: float | None, rng: Any
) -> tuple[Any, Generator]:
    """An environment by its start and step, and its generator, where learner and discount fit it."""
    if hasattr(env, "reset") and hasattr(env, "action_space"):
        from .gym_adapter import GymEnvironment

        world = GymEnvironment(env, learner, rng)
        return world, world.rng
    for method in ("start", "step"):
        if isinstance(env, type) or not callable(getattr(env, method, None)):
            checks.fail(
                f"an environment has start and step, or is Gymnasium's; {env!r} has no {method}.",
                TypeError,
            )
    for name in ("S", "A"):
        mine = getattr(learner, name)
        given = _declared_size(env, name)
        if None not in (mine, given) and mine != given:
            checks.fail(f"the agent is made for {name} = {mine}; {env!r} has {name} = {given}.")
    if (
        isinstance(env, DiscountedMDP)
        and gamma is not None
        and not isclose(gamma, env.gamma, rel_tol=1e-6)
    ):
        checks.fail(
            f"agent and environment have one discount; gamma is {gamma:g} and {env.gamma:g}."
        )
    return env, checks.as_generator(rng)


def episode_limit(world: Any, H: int | None, limit: int | None) -> int | None:
    """After how many steps the clock cuts an episode; None: nobody says."""
    given = (
        ("the agent's horizon H", H),
        ("the environment's H", getattr(world, "H", None)),
        ("limit", limit),
    )
    known = [(name, steps) for name, steps in given if steps is not None]
    for name, steps in known:
        checks.check_integer(name, steps, 1, hint="It counts steps: 1000, say.")
    if len({steps for _, steps in known}) > 1:
        checks.fail(
            f"an episode has one length; {dict(known)}. Make the features for the environment's."
        )
    if not known and isinstance(world, DiscountedMDP):
        checks.fail(
            f"an episode must end; neither agent nor {world!r} says when. Pass limit=1000, say."
        )
    return int(known[0][1]) if known else None


def checked_step(
    env: Any, h: int, s: Any, a: int, rng: Generator, limit: int | None
) -> tuple[float, Any, bool | str]:
    """What the environment returns for the action of step h, checked."""
    outcome = env.step(h, s, a, rng)
    if not isinstance(outcome, tuple) or len(outcome) != 3:
        checks.fail(
            f"step returns (r, s_next, over); that of {env!r} returned {outcome!r}.", TypeError
        )
    r, s_next, over = outcome
    if over not in (False, True, TRUNCATED):
        checks.fail(f"over is False, True if nothing of value follows, or 'cut'; it is {over!r}.")
    if s_next is None and (not over or over == TRUNCATED):
        checks.fail(f"a state follows every step but the last; it is None and over is {over!r}.")
    if not over and h + 1 == (limit or MAX_UNLIMITED_STEPS):
        if limit is None:
            checks.fail(
                f"an episode must end; it has {MAX_UNLIMITED_STEPS} steps. Pass limit=1000, say.",
                RuntimeError,
            )
        over = TRUNCATED
    return checks.check_finite("reward", r), s_next, TRUNCATED if over == TRUNCATED else bool(over)


def legal_actions(env: Any, h: int, s: Any) -> Any:
    """What ``legal`` says; None: everything. The clock of an environment with H stops before period
    H, whose states, if they have a value, are asked for as if they were met a step earlier."""
    if not hasattr(env, "legal"):
        return None
    H = getattr(env, "H", None)
    return env.legal(h if H is None else min(h, H - 1), s)


def check_action_count(env: Any, q: Floats) -> None:
    """Refuse values that are not one for each action: those beyond would never be played."""
    A = _declared_size(env, "A")
    if A not in (None, q.size):
        checks.fail(f"features have a row for each of {A} actions; they have {q.size}.")


def copy_state(state: Any) -> Any:
    """The agent's copy of a state, because environments write into theirs; of an array one that
    features cannot write into, because it is not only theirs."""
    mine = copy.deepcopy(state)
    if isinstance(mine, np.ndarray):
        mine.flags.writeable = False
    return mine


def state_index(s: Any) -> int:
    """The number of a state, −1 if it has none."""
    return int(s) if isinstance(s, (int, np.integer)) else -1


def _declared_size(env: Any, name: str) -> int | None:
    """How many states or actions an environment says that it has."""
    size = getattr(env, name, None)
    return int(size) if isinstance(size, (int, np.integer)) else None
