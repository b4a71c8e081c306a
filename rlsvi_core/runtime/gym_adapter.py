"""Gymnasium's environments (needs the ``gym`` extra): as an agent plays them, and, where everything is
known, as finite MDPs. ``Agent.learn`` and ``Agent.evaluate`` take one as it is.

An agent over S numbered states sees the number of a Discrete observation, counted from zero, or the
row-major index of a MultiDiscrete one. An agent with features of its own, S = None,
sees the observation as it is, from any space. Actions are numbered from zero. Where ``info`` has an
``action_mask``, the actions it allows are the legal ones; if one info has it, all later ones must.

*Terminated* means that nothing of value follows. *Truncated* does not: the clock ran out, but the
state that was reached keeps its value. An environment with a time limit has that as its H, which must
be the agent's if that has a horizon: the agent has no period for what follows H, and would learn no
values for periods that are never reached, although they stand in the targets of a truncated episode.
"""

import math
from typing import Any

import numpy as np

from ..learners.base import Learner
from ..mdp import TRUNCATED, FiniteMDP
from .checks import as_generator, check_array, check_index, check_integer, fail, missing_extra_error
from .compilation import Array, Generator

try:
    from gymnasium import wrappers
    from gymnasium.spaces import Box, Discrete, MultiDiscrete
except ModuleNotFoundError as error:
    raise missing_extra_error("A Gymnasium environment", "gymnasium", extra="gym") from error

# Of rewards, actions and observations these change none.
TRANSPARENT_WRAPPERS = (
    wrappers.HumanRendering,
    wrappers.OrderEnforcing,
    wrappers.PassiveEnvChecker,
    wrappers.RecordEpisodeStatistics,
    wrappers.RecordVideo,
    wrappers.RenderCollection,
    wrappers.TimeLimit,
)


class GymEnvironment:
    """A Gymnasium environment with ``start``, ``step`` and ``legal``, for one learner.

    Parameters
    ----------
    env : gymnasium.Env
        An environment with discrete actions.
    learner : Learner
        For its numbers of states and actions.
    seed : int, Generator or SeedSequence, optional
        For the first reset; the environment goes on from there.
    """

    def __init__(self, env: Any, learner: Learner, seed: Any = None) -> None:
        if hasattr(env, "single_action_space"):
            fail(
                f"an agent learns from one environment; {env} is several at once. Make one, by "
                "gymnasium.make in place of make_vec."
            )
        space = env.action_space
        A = learner.A
        if not isinstance(space, Discrete) or A not in (None, space.n):
            fail(
                f"actions are from Discrete({A or 'n'}); they are from {space}. Wrap the environment."
            )
        self.env = env
        self.A = int(space.n)
        self._first = int(space.start)
        self.H: int | None = None
        if env.has_wrapper_attr("_max_episode_steps"):
            self.H = env.get_wrapper_attr("_max_episode_steps")
        self._space = space = env.observation_space  # by way of every wrapper, so once
        self._sizes = self._component_sizes(space, learner.S)
        self._start = getattr(space, "start", 0)
        self._numbers = range(0)
        if isinstance(space, Discrete):
            self._numbers = range(int(space.start), int(space.start + space.n))
        self._seed: int | None = None
        if seed is not None:
            whole = isinstance(seed, (int, np.integer))
            self._seed = int(seed if whole else as_generator(seed).integers(2**31))
        self.rng: Generator = as_generator(self._seed)  # as Gymnasium makes it
        self._info: dict[str, Any] = {}
        self._masked = False  # whether an info has had a mask

    @staticmethod
    def _component_sizes(space: Any, S: int | None) -> list[int] | None:
        """The sizes of a numbered observation's components; None: the agent sees it as it is."""
        if S is None:
            return None
        sizes: list[int] = []
        if isinstance(space, Discrete):
            sizes = [int(space.n)]
        elif isinstance(space, MultiDiscrete):
            sizes = space.nvec.ravel().tolist()
        else:
            fail(
                f"the agent is for {S} states; an observation from {space} has no number. Number it by "
                "gymnasium.wrappers.TransformObservation, or pass features of what FlattenObservation "
                "makes of it."
            )
        if (n := math.prod(sizes)) != S:
            fail(
                f"the agent is for {S} states; the environment has {n}, {space}. Make features for {n}."
            )
        return sizes

    def _encode_observation(self, observed: Any) -> Any:
        """What the agent sees of an observation, checked."""
        space = self._space
        x = observed
        if isinstance(space, Box):  # its own check is slow
            x = np.asarray(observed).astype(space.dtype)
            exact = x.dtype.kind == "f" or np.array_equal(x, observed)  # 0.7 is no whole number
            inside = exact and x.shape == space.shape
            inside = inside and bool(((space.low <= x) & (x <= space.high)).all())
        else:
            inside = (type(x) is int and x in self._numbers) or space.contains(x)  # the same
        if not inside:
            fail(f"an observation lies in its space, {space}; the environment gave {observed!r}.")
        if self._sizes is None:
            return x
        x = x - self._start
        return int(
            x if len(self._sizes) == 1 else np.ravel_multi_index(tuple(x.ravel()), self._sizes)
        )

    def start(self, rng: Any) -> Any:
        """Reset; only the first time with the seed."""
        observed, self._info = self.env.reset(seed=self._seed)
        self._seed = None
        return self._encode_observation(observed)

    def step(self, h: int, s: Any, a: int, rng: Any) -> tuple[float, Any, bool | str]:
        """One step; ``h``, ``s`` and ``rng`` are the environment's own affair."""
        observed, r, terminated, truncated, self._info = self.env.step(self._first + a)
        over: bool | str = True if terminated else TRUNCATED if truncated else False
        return r, self._encode_observation(observed), over

    def legal(self, h: int, s: Any) -> Array | None:
        """What the last ``action_mask`` allows; None: everything."""
        given = self._info.get("action_mask")
        if given is None and not self._masked:
            return None
        self._masked = True
        if given is None:
            fail(f"every info has an action_mask, or none has; now one has {list(self._info)}.")
        mask = np.asarray(given)
        if mask.shape != (self.A,) or not mask.any() or not np.isin(mask, (0, 1)).all():
            fail(f"an action_mask has {self.A} entries 0 or 1, some of them 1; it is {given!r}.")
        return np.flatnonzero(mask)


def finite_mdp(env: Any, H: int | None = None) -> FiniteMDP:
    """The MDP of a Gymnasium environment that has a table ``P[s][a]`` of
    (probability, s', reward, terminated), as FrozenLake, CliffWalking and Taxi do.

    H is its time limit by default. From the end of an episode on nothing is earned: a state that
    ends it is never left. If a state does so only sometimes, one state more, the last, stands for
    the end. Values are exact in the states that an episode can meet. The table knows nothing of
    wrappers, so one that changes rewards, actions or observations is refused.
    """
    raw: Any = getattr(env, "unwrapped", None)
    if not hasattr(raw, "P") or not hasattr(raw, "initial_state_distrib"):
        fail(f"an MDP is made of P and initial_state_distrib; {env} has none.")
    wrapped = env
    while wrapped is not raw:
        if type(wrapped) not in TRANSPARENT_WRAPPERS:
            fail(f"a table knows no wrapper {type(wrapped).__name__}. Pass env.unwrapped and H.")
        wrapped = wrapped.env
    if H is None and getattr(env, "spec", None) is not None:
        H = env.spec.max_episode_steps
    H = check_integer("H", H, 1, hint="The environment has no time limit: pass H=100, say.")
    S = len(raw.P)
    A = len(raw.P[0])
    initial = check_array("initial_state_distrib", raw.initial_state_distrib, (S,))
    outcomes = {
        (s, a): [(p, check_index("s'", t, S), r, over) for p, t, r, over in raw.P[s][a]]
        for s, a in np.ndindex(S, A)
    }
    met = set[int]()
    ends = set[int]()
    todo = [int(s) for s in np.flatnonzero(initial)]
    while todo:
        met.add(s := todo.pop())
        for p, s_next, _, over in (row for a in range(A) for row in outcomes[s, a]):
            if p > 0 and over:
                ends.add(s_next)
            elif p > 0 and s_next not in met:
                todo.append(s_next)
    more = int(not ends.isdisjoint(met))  # a state that stands for the end
    P = np.zeros((S + more, A, S + more))
    R = np.zeros_like(P)
    for s, a in np.ndindex(S, A):
        for p, s_next, r, over in outcomes[s, a]:
            s_next = S if over and more else s_next
            P[s, a, s_next] += p
            R[s, a, s_next] += p * r
    R /= np.where(P > 0, P, 1)  # the mean reward, given s'
    for s in {S} if more else ends:
        P[s] = np.eye(S + more)[s]
        R[s] = 0.0
    return FiniteMDP.stationary(P, R, H, initial=np.append(initial, np.zeros(more)))
