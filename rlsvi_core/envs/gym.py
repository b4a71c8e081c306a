"""A bridge to Gymnasium, both ways (needs the ``gym`` extra).

``play`` lets an agent learn in any Gymnasium environment, and ``each_episode`` does so one episode
at a time. An agent over S numbered states sees the number of a Discrete observation, counted from
zero, or the row-major index of a MultiDiscrete or MultiBinary one. An agent with features of its
own, S = None, sees the observation as it is, from any space. Actions are numbered from zero. Where
``info`` has an ``action_mask``, the actions it allows go to ``act`` as ``legal`` and to ``observe``
as ``legal_next``. An agent that does not take them may play if its own actions are always allowed;
an action that the mask forbids raises an error.

*Terminated* means that nothing of value follows: ``s_next`` is None. *Truncated* does not: the
clock ran out, but the state that was reached keeps its value. An episode lasts at most the
environment's time limit, or else the agent's horizon H; one of them must be there. If both are,
they must be equal. The agent has no period for what follows H, and would learn no values for
periods that are never reached, although they stand in the targets of a truncated episode.

For other agents our environments are registered: ``rlsvi_core/Chain-v0``, ``DeepSea-v0``,
``RiverSwim-v0``, ``Recommender-v0`` and ``Tetris-v0``. Gymnasium from 1.0 on loads no plugins by
itself, but imports the module before a colon. An action that the mask forbids ends an episode
without a reward.

>>> gymnasium.make("rlsvi_core.envs.gym:rlsvi_core/Chain-v0", N=50).observation_space
Discrete(50)
"""

import inspect
import math
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from itertools import count, islice
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .. import envs
from ..checks import (
    fail,
    instance,
    is_number,
    missing,
    one_of,
    warn,
    whole,
)
from ..compiled import Array, Floats
from ..episodes import After, Outcome, Run, check_after, empty_run, warn_if_coupled
from ..mdp import FiniteMDP
from ..waiting import HELD, bar
from .recommender import Recommender
from .tetris import SIDE, Tetris

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise missing("rlsvi_core.envs.gym", "gymnasium", extra="gym") from error

from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete

__all__ = ["Episode", "MDPEnv", "RecommenderEnv", "TetrisEnv", "each_episode", "play"]

Env = gymnasium.Env[Any, Any]
Info = dict[str, Any]
MANY = 20  # episodes without a goal that are worth a word
SEEDS = 2**64 - 1  # the largest: whatever a generator draws may be one


class Episode(NamedTuple):
    """The outcome of an episode."""

    reward: float  # the sum of its rewards
    length: int  # steps
    terminated: bool  # or else the clock ran out


def play(
    agent: Any,
    env: Env,
    episodes: int,
    seed: int | None = None,
    *,
    learn: bool = True,
    progress: bool = False,
    after: After | None = None,
) -> Floats:
    """Let an agent learn in an environment.

    Ctrl-C waits for the end of an episode, but not longer than a second or a second Ctrl-C. What was
    observed until then is learned, and an agent by rlsvi or lsvi has the record of the episodes that
    came to their end in ``run``. Call ``play`` again to go on.

    ``python -m benchmarks.tasks`` measures the cost of a step beside the environment's own. For
    computed features the plan before each episode grows with the transitions kept (``window``).

    Parameters
    ----------
    agent : Agent
        RLSVI, LSVI or another with ``plan``, ``act`` and ``observe``.
    env : gymnasium.Env
        An environment with discrete actions.
    episodes : int
        How many. Call it again to go on.
    seed : int, optional
        For the first reset; the environment goes on from there.
    learn : bool
        If False, the agent acts on the mean of its posterior (``greedy``) and learns nothing.
    progress : bool
        Show a bar.
    after : callable, optional
        Called after each episode with its :class:`~rlsvi_core.episodes.Outcome`: length, reward, the
        value claimed at its start, and redraws.

    Returns
    -------
    (episodes,) ndarray
        The reward of each.

    Examples
    --------
    >>> from rlsvi_core import features, rlsvi
    >>> lake = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=20)
    >>> agent = rlsvi(features.OneHot(H=20, S=16, A=4), rng=1)
    >>> play(agent, lake, episodes=600, seed=2)[-100:].mean() > 0.9
    np.True_
    """
    run = empty_run(episodes)
    check_after(after)
    total, claim = len(run.reward), after is not None and hasattr(agent, "values")
    some = islice(_checked(agent, env, seed, learn)(run, claim), total)
    run.furthest[:] = -1
    lost = learn and _is_new(agent) and getattr(agent, "H", None) is None
    if learn and isinstance(getattr(agent, "run", None), Run):
        agent.run = run
    with bar("play", total, progress) as shown:
        for i, episode in enumerate(some):
            lost = lost and not episode.terminated and episode.reward <= 0
            if after is not None:
                redraws = getattr(agent, "redraws", 0)
                after(Outcome(episode.length, episode.reward, float(run.claimed[i]), redraws))
            if shown is not None:
                shown.update()
    if lost and total >= MANY:
        warn(
            "an agent learns from reaching a goal",
            f"all {total} episodes were cut by the clock, the last after {run.length[-1]} steps, and "
            "none brought a reward above 0",
            "If the task has a goal, raise the time limit, or shorten the way: see whether redraw, "
            "sigma and the features suit it.",
        )
    return run.reward


def each_episode(
    agent: Any, env: Env, seed: int | None = None, *, learn: bool = True
) -> Iterator[Episode]:
    """The same, one episode at a time and without end, so that you can watch, save and stop.

    Between two episodes agent and environment can be pickled; restored, they continue bitwise
    identically.

    Parameters
    ----------
    agent, env, seed, learn
        As for :func:`play`.

    Returns
    -------
    Iterator of Episode

    Examples
    --------
    >>> from rlsvi_core import features, rlsvi
    >>> env = gymnasium.make("rlsvi_core/DeepSea-v0", N=5)  # 5 rows and the bottom, 5 columns
    >>> agent = rlsvi(features.OneHot(H=5, S=30, A=2), rng=1)
    >>> next(episode for episode in each_episode(agent, env, seed=2) if episode.reward > 0)
    Episode(reward=0.99, length=5, terminated=True)
    """
    return _checked(agent, env, seed, learn)(None, False)


def _checked(
    agent: Any, env: Env, seed: int | None, learn: bool
) -> Callable[[Run | None, bool], Iterator[Episode]]:
    """What plays episodes, or an error."""
    needed = ("plan", "act", "observe") if learn else ("greedy",)
    for name in needed:
        if isinstance(agent, type) or not hasattr(agent, name):
            fail(
                f"agent must have the methods {', '.join(needed)}",
                f"{agent!r} has no {name}",
                "Make one by rlsvi or lsvi.",
            )
    if seed is not None:
        seed = whole(
            "seed", seed, 0, SEEDS, hint="It starts the environment's generator: pass seed=1, say."
        )
    if not isinstance(env, gymnasium.Env):
        fail(
            "an environment is a single gymnasium.Env",
            f"it is {env!r}",
            "Make it by gymnasium.make; wrap one of the older gym with the package shimmy.",
        )
    takes = inspect.signature(env.unwrapped.reset).parameters
    if "seed" not in takes and all(p.kind is not p.VAR_KEYWORD for p in takes.values()):
        fail(
            "an environment is seeded by reset(seed=…)",
            f"the reset of {env} takes ({', '.join(takes)})",
            "Give it seed=None and options=None, and call super().reset(seed=seed) there.",
        )
    A, space = getattr(agent, "A", None), env.action_space
    if not isinstance(space, Discrete) or A not in (None, space.n):
        fail(
            f"actions are from Discrete({'n' if A is None else A})",
            f"the environment has {space}",
            "Make features for this number of actions; for continuous ones choose a "
            "few and wrap it in gymnasium.wrappers.TransformAction.",
        )
    read, longest = _reader(agent, env.observation_space), _longest(agent, env)
    own = getattr(agent, "rng", None)
    if learn and seed is not None and isinstance(own, np.random.Generator) and _is_new(agent):
        warn_if_coupled(own, np.random.default_rng(seed))  # as Gymnasium makes it
    return partial(_episodes, agent, env, seed, learn, read, longest)


def _is_new(agent: Any) -> bool:
    """Whether it is one of ours and has seen nothing yet."""
    return getattr(agent, "transitions", None) == 0


def _time_limit(env: Env) -> int | None:
    limit: int | None = (
        env.get_wrapper_attr("_max_episode_steps")
        if env.has_wrapper_attr("_max_episode_steps")
        else None
    )
    return limit


def _longest(agent: Any, env: Env) -> int:
    """How many steps an episode may have."""
    H: int | None = getattr(agent, "H", None)
    limit = _time_limit(env)
    ends = getattr(env.unwrapped, "_max_episode_steps", None) == limit  # as ours do, terminated
    if H is not None and limit is not None and (limit > H or (limit < H and not ends)):
        fail(
            "the agent's horizon is the length of an episode",
            f"H is {H}, and {env} may last {limit} steps",
            f"Make features with H={limit}, or the environment by gymnasium.make(…, "
            f"max_episode_steps={H}).",
        )
    if (longest := limit if H is None else H) is None:
        fail(
            "an episode must end",
            f"neither the agent, which has no horizon, nor {env} says when",
            "Wrap it: gymnasium.wrappers.TimeLimit(env, 1000), say.",
        )
    return longest


def _reader(agent: Any, space: Any) -> Callable[[Any], Any]:
    """What turns an observation, checked, into what the agent sees."""
    S, first = getattr(agent, "S", None), getattr(space, "start", 0)
    sizes = list[int]()
    if isinstance(space, Discrete):
        sizes = [int(space.n)]
    elif isinstance(space, MultiDiscrete):
        sizes = space.nvec.ravel().tolist()
    elif isinstance(space, MultiBinary):
        sizes = [2] * math.prod(space.shape)
    if S is not None and (not sizes or math.prod(sizes) != S):
        few = 1 < len(sizes) < 100  # else their product is too long to be written
        states = f", which is {math.prod(sizes)} states" if few else ""
        fail(
            f"the agent's table is for {S} states",
            f"the environment has {space}{states}",
            "Make features for this "
            "number of states, or use a function of the observation as features.",
        )
    numbers = range(first, first + sizes[0]) if isinstance(space, Discrete) else ()

    def refuse(observed: Any) -> NoReturn:
        fail(
            f"an observation lies in its space, {space}",
            f"the environment gave {observed!r}",
            "Correct one of them; gymnasium.utils.env_checker.check_env finds more.",
        )

    def read_box(observed: Any) -> Array:
        """What lies in a Box, as its type has it; its own check is slow."""
        given = observed if type(observed) is np.ndarray else np.asarray(observed)
        if given.shape != shape or given.dtype.kind not in "biuf":
            refuse(observed)
        x = np.array(given, dtype)  # a copy: some environments write into the old one
        if not (given.dtype == dtype or dtype.kind == "f" or (x == given).all()):
            refuse(observed)  # what is whole stays so
        if np.count_nonzero((low <= x) & (x <= high)) < x.size:
            refuse(observed)
        return x

    def read(observed: Any) -> Any:
        if type(observed) is not int or observed not in numbers:
            observed = deepcopy(observed)
            if not space.contains(observed):
                refuse(observed)
        if S is None:
            return observed
        return int(
            observed - first
            if len(sizes) == 1
            else np.ravel_multi_index(tuple((observed - first).ravel()), sizes)
        )

    if isinstance(space, Box):
        shape, dtype, low, high = space.shape, space.dtype, space.low, space.high
        return read_box
    return read


def _legal(info: Info, A: int) -> Array | None:
    """The possible actions, where the environment says that not all are."""
    given = info.get("action_mask")
    if given is None:
        return None
    mask = np.asarray(given)
    if mask.shape != (A,) or mask.dtype.kind not in "biuf" or not ((mask == 0) | (mask == 1)).all():
        fail(
            f"an action_mask has {A} entries, each 0 or 1",
            f"it is {given!r}",
            "Give it one for each action of the action space, numbered from its start.",
        )
    if not mask.any():
        fail(
            "an action_mask allows some action",
            f"it is {given!r}",
            "End the episode (terminated) where nothing can be done.",
        )
    return np.flatnonzero(mask)


def _refuse_step(found: str) -> NoReturn:
    fail(
        "step returns (observation, reward, terminated, truncated, info)",
        found,
        "The older gym "
        "had four: say whether `done` was the end (terminated) or the clock (truncated).",
    )


def _episodes(
    agent: Any,
    env: Env,
    seed: int | None,
    learn: bool,
    read: Callable[[Any], Any],
    longest: int,
    run: Run | None,
    claim: bool,
) -> Iterator[Episode]:
    """One after the other, on record as long as there is a record with place for them, and if that
    is asked for with the value claimed at the start."""
    space: Any = env.action_space
    A, first, choose = int(space.n), int(space.start), agent.act if learn else agent.greedy
    masks = getattr(agent, "takes_masks", "legal" in inspect.signature(choose).parameters)
    checked, warned, told = False, _time_limit(env) is not None, False
    for i in count():
        with HELD:
            HELD.outside = True
            begun = env.reset(seed=seed)
            HELD.outside = False
            if not (isinstance(begun, tuple) and len(begun) == 2 and isinstance(begun[1], dict)):
                fail(
                    "reset returns (observation, info)",
                    f"it returned {begun!r}",
                    "Bring the environment to Gymnasium's interface.",
                )
            seed, s, legal = None, read(begun[0]), _legal(begun[1], A)
            if not checked and hasattr(agent, "check_actions"):
                agent.check_actions(A, s)
            checked, total, h, terminated, truncated = True, 0.0, 0, False, False
            if learn:
                agent.plan()
            opening, claimed = 0, float(agent.values(0, s, legal).max()) if claim else math.nan
            while not (terminated or truncated or h == longest):
                if HELD.since is not None:
                    HELD.raise_late()
                a = choose(h, s) if legal is None or not masks else choose(h, s, legal)
                if not (masks or legal is None or a in legal):
                    fail(
                        f"the environment forbids action {a} here",
                        f"{agent!r} takes no masks and chose it; allowed are {legal.tolist()}",
                        "Use an agent by rlsvi or lsvi, or give its act the argument legal.",
                    )
                HELD.outside = True
                try:
                    stepped = env.step(first + a)
                except ValueError as error:  # a wrapper has unpacked what is not five values
                    if "to unpack (expected 5" not in str(error):
                        raise
                    _refuse_step(str(error))
                HELD.outside = False
                if not isinstance(stepped, tuple) or len(stepped) != 5:
                    _refuse_step(
                        f"it returned {len(stepped)} values"
                        if isinstance(stepped, tuple)
                        else f"it returned {stepped!r}"
                    )
                observed, reward, terminated, truncated, info = stepped
                if type(terminated) is not bool or type(truncated) is not bool:
                    terminated, truncated = (
                        terminated,
                        truncated,
                    )
                if type(info) is not dict:
                    instance(
                        "info", info, dict, hint="Let step return {} where there is nothing to say."
                    )
                if not is_number(reward):
                    fail(
                        "a reward is a finite number",
                        f"step {h} of the episode gave {reward!r}",
                        "Let step return a float; the agent has not seen it.",
                    )
                r, s_next = float(reward), read(observed)
                legal = None if terminated or not info else _legal(info, A)
                if learn and legal is not None and masks:
                    agent.observe(h, s, a, r, s_next, legal)
                elif learn:
                    agent.observe(h, s, a, r, None if terminated else s_next)
                opening = a if h == 0 else opening
                s, h, total = s_next, h + 1, total + r
            if run is not None:
                run.reward[i], run.opening[i] = total, opening
                run.claimed[i] = claimed
                run.length[i] = h  # last: now it counts
            if truncated and not terminated and h < (getattr(agent, "H", None) or 0) and not told:
                told = True
                warn(
                    "the agent's horizon is the length of an episode",
                    f"H is {getattr(agent, 'H', None)}, and {env} cut one after {h} steps",
                    f"Make features with H={h} if that is its time limit.",
                )
            if not (terminated or truncated or warned):
                warned = True
                warn(
                    "an episode is cut at the agent's horizon",
                    f"H is {h}, and {env} has no time limit",
                    f"If that is meant, say so: gymnasium.wrappers.TimeLimit(env, {h}).",
                )
        yield Episode(total, h, bool(terminated))


class _Ours(gymnasium.Env[Any, int]):
    """What ``start(rng)`` begins and ``step(h, s, a, rng)`` goes on with, as Gymnasium has it."""

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012
    action_space: Any

    def __init__(
        self,
        inner: Any,
        observations: Any,
        A: int,
        H: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        one_of("render_mode", render_mode, (None, "ansi", "rgb_array"), hint="None is unseen.")
        self.inner, self._over, self._max_episode_steps = inner, True, H  # no episode under way
        self.observation_space, self.action_space = observations, Discrete(A)
        self.render_mode, self._s = render_mode, None

    def _board(self) -> Array:
        """What there is to see, as rows of zeros and ones, the lowest first."""
        raise NotImplementedError

    def render(self) -> Any:
        """The state as text, or as pixels, 8 × 8 to a square."""
        board = self._board()[::-1]
        if self.render_mode == "rgb_array":
            full = np.kron(board, np.ones((8, 8), np.int64))
            return np.array([[238, 238, 238], [31, 78, 121]], np.uint8)[full]
        text = "\n".join("".join(".#"[square] for square in row) for row in board)
        return text if self.render_mode == "ansi" else None

    def _observed(self) -> Any:
        return self._s

    def _possible(self) -> dict[int, int] | None:
        """The possible actions, each with its number inside; None if all are."""
        return None

    def _info(self) -> Info:
        if (possible := self._possible()) is None:
            return {}
        return {"action_mask": np.isin(range(self.action_space.n), [*possible]).astype(np.int8)}

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        if seed is not None:
            seed = whole("seed", seed, 0, SEEDS, hint="It starts the generator: pass seed=1, say.")
        super().reset(seed=seed)
        self._h, self._over, self._s = 0, False, self.inner.start(self.np_random)
        return self._observed(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, Info]:
        if self._over or isinstance(action, bool) or not self.action_space.contains(action):
            fail(
                f"step needs an action from {self.action_space} in an episode under way",
                f"got {action!r} after the end" if self._over else f"got {action!r}",
                "Call reset() to start one.",
            )
        a, possible, r, self._over = int(action), self._possible(), 0.0, True
        if possible is None or a in possible:
            a = a if possible is None else possible[a]
            r, self._s, self._over = self.inner.step(self._h, self._s, a, self.np_random)
        self._h += 1
        return self._observed(), float(r), self._over, False, self._info()


class MDPEnv(_Ours):
    """A FiniteMDP as an environment: H steps, and the last reward includes the terminal one.

    Parameters
    ----------
    mdp : FiniteMDP
        The MDP to play.
    clock : bool
        Whether the observation is (h, s), for agents that do not count periods, or s alone.
    render_mode : {"ansi", "rgb_array"}, optional
        ``"ansi"`` for text, ``"rgb_array"`` for a picture, None for neither: a square for each state,
        the one that was reached full; with a clock, a row of them for each period.

    Examples
    --------
    >>> env = MDPEnv(envs.chain(3), render_mode="ansi")
    >>> env.reset(seed=1), env.step(0), env.render()
    ((0, {}), (0, 0.0, False, False, {}), '#..')
    """

    def __init__(self, mdp: FiniteMDP, clock: bool = False, render_mode: str | None = None) -> None:
        instance("mdp", mdp, FiniteMDP, hint="rlsvi_core.chain(10) is one.")
        space = MultiDiscrete([mdp.H + 1, mdp.S]) if clock else Discrete(mdp.S)
        super().__init__(mdp, space, mdp.A, mdp.H, render_mode)
        self.clock = clock

    def _board(self) -> Array:
        board = np.zeros((self.inner.H + 1 if self.clock else 1, self.inner.S), int)
        if self._s is not None:
            board[-1 - self._h if self.clock else 0, self._s] = 1  # time runs downwards
        return board

    def _observed(self) -> Any:
        return np.array([self._h, self._s]) if self.clock else self._s


class RecommenderEnv(_Ours):
    """The customers of section 6.3, one per episode: the observation is x, what she answered.

    Parameters
    ----------
    customers : Recommender
        A :class:`rlsvi_core.envs.recommender.Recommender`.
    render_mode : {"ansi", "rgb_array"}, optional
        ``"ansi"`` for text, ``"rgb_array"`` for a picture, None for neither: above, the products she
        liked; below, those she did not.

    Examples
    --------
    >>> env = RecommenderEnv(Recommender.random(rng=1, N=3, J=2))
    >>> x, info = env.reset(seed=1)
    >>> x, r, _, _, info = env.step(2)
    >>> x, info["action_mask"]                              # a dislike; 0 and 1 are left
    (array([ 0,  0, -1], dtype=int8), array([1, 1, 0], dtype=int8))
    """

    def __init__(self, customers: Recommender, render_mode: str | None = None) -> None:
        instance("customers", customers, Recommender, hint="Recommender.random() makes some.")
        space = MultiDiscrete([3] * customers.N, np.int8, start=[-1] * customers.N)
        super().__init__(customers, space, customers.N, customers.J, render_mode)

    def _observed(self) -> Array:
        return np.array(self._s)

    def _board(self) -> Array:
        x = np.zeros(self.inner.N) if self._s is None else np.asarray(self._s)
        return np.array([x < 0, x > 0]).astype(int)

    def _possible(self) -> dict[int, int]:
        return {a: a for a in np.flatnonzero(self._s == 0).tolist()}


class TetrisEnv(_Ours):
    """Tetris, one placement per step: action W·q + c drops the piece, turned q times, in column c.
    The observation lists the squares, bottom row first, and last the piece; the reward is the
    number of rows cleared. ``inner`` is the game, with the features of each placement.

    Parameters
    ----------
    width, height, pieces, rule
        See :class:`rlsvi_core.envs.tetris.Tetris`.
    render_mode : {"ansi", "rgb_array"}, optional
        ``"ansi"`` for text, ``"rgb_array"`` for a picture, None for neither.

    Examples
    --------
    >>> env = TetrisEnv(4, 4, render_mode="ansi")
    >>> _, info = env.reset(seed=2)
    >>> _ = env.step(env.action_space.sample(info["action_mask"]))
    >>> env.render().count("#")
    4
    """

    def __init__(
        self,
        width: int = 10,
        height: int = 20,
        pieces: str = "IJLOSTZ",
        rule: str = "top row",
        render_mode: str | None = None,
    ) -> None:
        game = Tetris(width, height, pieces, rule)
        space = MultiDiscrete([2] * (game.width * game.height) + [len(pieces)])
        super().__init__(game, space, SIDE * game.width, render_mode=render_mode)

    def _board(self) -> Array:
        rows = self.inner.rows[: self.inner.height, None]
        return np.asarray(rows >> np.arange(self.inner.width) & 1)

    def _observed(self) -> Array:
        return np.append(self._board(), self.inner.piece)

    def _possible(self) -> dict[int, int]:
        first, W = self.inner.model.first[self.inner.piece], self.inner.width
        return {int((o - first) * W + c): i for i, (o, c, _) in enumerate(self.inner.spots)}


def _finite(kind: str, clock: bool = False, render_mode: str | None = None, **sizes: Any) -> MDPEnv:
    return MDPEnv(getattr(envs, kind)(**sizes), clock, render_mode)


_finite.metadata = _Ours.metadata  # type: ignore[attr-defined]


def _recommender(render_mode: str | None = None, **settings: Any) -> RecommenderEnv:
    return RecommenderEnv(Recommender.random(**settings), render_mode)


_recommender.metadata = _Ours.metadata  # type: ignore[attr-defined]


for _name, _made, _settings in (
    ("Chain", _finite, {"kind": "chain", "N": 50}),
    ("DeepSea", _finite, {"kind": "deep_sea", "clock": True, "N": 10}),
    ("RiverSwim", _finite, {"kind": "river_swim"}),
    ("Recommender", _recommender, {"rng": 0}),
    ("Tetris", TetrisEnv, {}),
):
    gymnasium.register(f"rlsvi_core/{_name}-v0", f"{__name__}:{_made.__name__}", kwargs=_settings)
