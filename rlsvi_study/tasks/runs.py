r"""Standard tasks, with one rule for λ and σ.

A user with a new task does not know a good λ or σ for it, but knows the range of values. The
rule (:func:`rlsvi_core.suggest_parameters`) is :math:`\lambda = 1/V^2` and :math:`\sigma = cV` with
c = 1/50, V being the width of the range of values and features having norm 1. It is the same for
all tasks here, and LSVI has the same ridge :math:`\lambda\sigma^2 = c^2`, features and targets.

- ``tasks-tabular`` and ``tasks-tabular-large``: Gymnasium's tables as MDPs with a horizon, weights
  for each period. ``greedy`` is the exact expected return of the posterior mean's policy,
  ``reward`` what the episodes since the last row earned on average, ``best`` the optimum. ε starts
  from 1 and is halved every eighth of a run. CliffWalking, which has no time limit, lasts 50 steps
  here, and Taxi 20 in place of 200, which is enough for every start.
- ``tasks-control`` (RLSVI), ``tasks-epsilon`` and ``tasks-boltzmann`` (LSVI): few features,
  polynomials or, for CartPole, its lowest waves; all transitions are kept. ``reward`` is the mean
  of the last ``every`` episodes, ``first_goal`` the first that reached the goal, ``greedy``, at the
  end, the mean of ten on the posterior mean. ε or η/V starts from ``start`` and is halved every
  ``half_life`` episodes; ``tasks-tuning`` tries two starts on seeds of its own, and ``SCHEDULES``
  has what is better in the last 20 of 100 episodes (where reward is sparse, the larger). Features,
  discounts, c and Acrobot's twenty sweeps were chosen by RLSVI's returns on seeds 1000 to 1085.
- ``tasks-rule``: RLSVI with other c; ``tasks-options``: other sweeps, targets and windows, no clip,
  and 200 random Fourier features.
- ``tasks-redraw``: what drawing again in mid-episode does (:mod:`.redraw`) where one sample for
  a whole episode may lead in a circle. ``reward`` is the mean of all episodes, ``last`` of the last
  fifth; ``mean`` and ``vote`` are what the posterior mean and a vote of ten samples earn at the
  end, exact for tables. Tables have one-hot features, γ = 0.99 and a hundred sweeps. Numbers of
  episodes, sweeps and Taxi's second σ were chosen on seed 1000.
- ``tasks-deep-sea``: episodes until the first and the tenth goal.
- ``tasks-sigma``: σ = V/f with other f, on problems of all kinds (:mod:`.sigma`).

Tables and the deep sea are compiled plain loops. The rest goes through BLAS, ``cos`` and
Gymnasium's own arithmetic: elsewhere a run is another one of its kind (``portable=False``).
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rlsvi_core import Agent, Options, features, lsvi, rlsvi, suggest_parameters
from rlsvi_core.beyond import boxes
from rlsvi_core.beyond.known import finite_mdp
from rlsvi_core.compiled import Floats
from rlsvi_core.envs.chains import deep_sea
from rlsvi_core.features import FeatureMap, OneHot
from rlsvi_core.learners.rows import Rows as RowsLearner

from ..engine import Experiment, Rows, Scale, grid, streams
from ..judging.intervals import mean_interval
from .ensemble import Ensemble
from .redraw import Vote
from .sigma import SIGMA

C = suggest_parameters((0, 1))[1]  # σ = CV
ROWS = 20  # of a learning curve with tables
LAST = 100  # episodes whose mean return says whether a task is solved, as is usual in Gymnasium


class Tabular(NamedTuple):
    name: str
    settings: dict[str, Any]
    H: int
    value_range: tuple[float, float]


Box = tuple[list[float], list[float]]
Basis = Callable[[Any, int, np.random.Generator], FeatureMap]  # of a box, for so many actions


class Control(NamedTuple):
    name: str
    settings: dict[str, Any]
    box: Box | int  # the range that matters, or the number of states
    basis: Basis
    gamma: float
    value_range: tuple[float, float]
    solved: float  # the mean return of the last episodes that counts as a solution
    ends: bool = True  # whether the goal is to end the episode, or not to
    sweeps: float = 10  # per episode, as is usual


def powers(degree: int) -> Basis:
    return lambda box, A, rng: boxes.polynomial(box, A, degree)


def waves(order: int) -> Basis:
    return lambda box, A, rng: boxes.fourier_basis(box, A, order)


def random_waves(d: int, length_scale: float) -> Basis:
    return lambda box, A, rng: boxes.random_fourier(box, A, d, length_scale, rng)


def cells(S: int, A: int, rng: Any) -> features.FeatureMap:
    return features.one_hot(None, S, A)


TABULAR = {
    "CliffWalking": Tabular("CliffWalking-v1", {}, 50, (-14, 0)),
    "FrozenLake 4×4": Tabular("FrozenLake-v1", {"map_name": "4x4"}, 100, (0, 1)),
    "FrozenLake 8×8": Tabular("FrozenLake-v1", {"map_name": "8x8"}, 100, (0, 1)),
    "Taxi": Tabular("Taxi-v4", {}, 20, (0, 20)),
}
CAR = ([-1.2, -0.07], [0.6, 0.07])
POLE = ([-2.4, -3.0, -0.21, -3.0], [2.4, 3.0, 0.21, 3.0])
ARMS = ([-1.0] * 4 + [-5.0, -9.0], [1.0] * 4 + [5.0, 9.0])  # the speeds that Acrobot usually has
CONTROL = {
    "MountainCar": Control("MountainCar-v0", {}, CAR, powers(8), 0.99, (-100, 0), -130),
    "CartPole": Control("CartPole-v1", {}, POLE, waves(2), 0.995, (0, 200), 450, ends=False),
    "Acrobot": Control("Acrobot-v1", {}, ARMS, powers(3), 0.99, (-100, 0), -110, sweeps=20),
    "sparse MountainCar": Control(
        "MountainCar-v0", {"sparse": True}, CAR, powers(8), 0.99, (0, 1), 0.9
    ),
    **{
        f"corridor {N}": Control("corridor", {"N": N}, ([0.0], [1.0]), powers(8), 0.99, (0, 1), 0.9)
        for N in (20, 40)
    },
}


class Circle(NamedTuple):
    """A task in which a sample that is kept for an episode may lead in a circle."""

    task: Control
    episodes: int
    c: float = C


_TAXI = Control("Taxi-v4", {}, 500, cells, 0.99, (0, 20), 7.5, sweeps=100)
CIRCLES = {
    "MountainCar": Circle(CONTROL["MountainCar"], 40),
    "Acrobot": Circle(CONTROL["Acrobot"], 20),
    "FrozenLake 8×8": Circle(
        Control("FrozenLake-v1", {"map_name": "8x8"}, 64, cells, 0.99, (0, 1), 0.7, sweeps=100), 150
    ),
    "Taxi": Circle(_TAXI, 30),
    "Taxi, σ = V/1000": Circle(_TAXI, 60, c=0.001),
}
VOTERS = 10

OPTIONS: dict[str, dict[str, Any]] = {
    "as proposed": {},
    "1 sweep": {"sweeps": 1},
    "mean in targets": {},
    "no clip": {"truncate": False},
    "window 5000": {"window": 5000},
    "random Fourier": {},
}


class OnTheMean(RowsLearner):
    """RLSVI with the posterior mean in the targets."""

    def in_targets(self, theta: Floats, mean: Floats) -> Floats:
        return mean


# --------------------------------------------------------------------------- the kinds of run


def tabular(task: str, agent: str, episodes: int, seed: int, rows: int) -> Rows:
    """A learning curve with weights for each state, action and period, or its first rows."""
    from ..environments import make

    name, settings, H, value_range = TABULAR[task]
    mdp = finite_mdp(make(name, **settings), H)
    _, env_rng, agent_rng = streams(seed)
    table, (lam, sigma) = OneHot(mdp.H, mdp.S, mdp.A), suggest_parameters(value_range)
    player = (
        rlsvi(table, lam, sigma, rng=agent_rng)
        if agent == "rlsvi"
        else lsvi(table, lam * sigma**2, rng=agent_rng)
    )
    every, found = episodes // ROWS, []
    for n in range(every, rows * every + 1, every):
        if agent != "rlsvi":
            player.epsilon = 2.0 ** (-8 * (n - every) / episodes)
        reward = player.learn(mdp, every, env_rng).reward.mean()
        policy = [[player.greedy(h, s) for s in range(mdp.S)] for h in range(mdp.H)]
        found.append(
            {
                "episode": n,
                "reward": round(float(reward), 6),
                "best": round(mdp.value, 6),
                "greedy": round(mdp.value - mdp.regret(policy), 6),
            }
        )
    return found


def control(
    task: str,
    agent: str,
    seed: int,
    episodes: int,
    every: int,
    start: float = 0.0,
    half_life: float = 1.0,
    c: float = C,
    option: str = "as proposed",
    whole: int = 200,
) -> Rows:
    """A learning curve on a task with observations in a box. After as many episodes as a ``whole``
    run has, ten more are played on the posterior mean."""
    from ..environments import make

    name, settings, box, basis, gamma, (low, high), _, ends, sweeps = CONTROL[task]
    if option == "random Fourier":
        basis = random_waves(200, length_scale=1.0)
    env, V = make(name, **settings), high - low
    basis_rng, env_rng, agent_rng = streams(seed)
    phi = basis(box, int(env.action_space.n), basis_rng)
    options: dict[str, Any] = {
        "value_range": (low, high),
        "gamma": gamma,
        "options": Options(**{"sweeps": sweeps} | OPTIONS[option]),
        "rng": agent_rng,
    }
    player = rlsvi(phi, sigma=c * V, **options) if agent == "rlsvi" else lsvi(phi, **options)
    if option == "mean in targets":
        player.learner = OnTheMean(player.learner.problem)
    rewards, first, rows = list[float](), None, list[dict[str, Any]]()
    env_seed = int(env_rng.integers(2**31))  # for the first reset; then it goes on by itself
    for n in range(1, episodes + 1):
        level = start * 2.0 ** (-(n - 1) / half_life)
        if agent == "epsilon-greedy":
            player.epsilon = level
        elif agent == "boltzmann":
            player.eta = level * V
        rewards.append(player.learn(env, 1, env_seed if n == 1 else None).reward[0])
        if first is None and env.terminated == ends:
            first = n
        if n % every == 0:
            rows.append(
                {
                    "episode": n,
                    "reward": round(float(np.mean(rewards[-every:])), 6),
                    "first_goal": first,
                    "greedy": None,
                }
            )
    if episodes == whole:
        rows[-1]["greedy"] = round(float(player.evaluate(env, 10).mean()), 6)
    return rows


def diving(agent: str, N: int, seed: int, episodes: int) -> Rows:
    """Episodes in a deep sea, whose actions are drawn by the seed, until the tenth goal."""
    basis_rng, env_rng, agent_rng = streams(seed)
    mdp = deep_sea(N, basis_rng)
    table = OneHot(mdp.H, mdp.S, mdp.A)
    options: Any = {"value_range": (0, 1), "options": Options(truncate=False), "rng": agent_rng}
    if agent == "ensemble":
        player = Agent(Ensemble(table, 1.0, C, M=MEMBERS, rng=agent_rng), rng=agent_rng)
    elif agent == "epsilon-greedy":
        player = lsvi(table, epsilon=0.1, **options)
    elif agent == "rlsvi":
        player = rlsvi(table, **options)
    else:  # rows of features have norm 1 on average
        norm = math.sqrt(mdp.Q.size / K)
        player = rlsvi(features.coherent(mdp.Q, K, basis_rng, norm=norm), **options)
    goals, n = list[int](), 0
    while len(goals) < 10 and n < episodes:
        reward = player.learn(mdp, 50, env_rng).reward
        goals += (n + 1 + np.flatnonzero(reward > 0)).tolist()
        n += 50
    return [
        {
            "first_goal": goals[0] if goals else None,
            "tenth_goal": goals[9] if len(goals) > 9 else None,
        }
    ]


def circling(task: str, again: str, seed: int, share: float) -> Rows:
    """Learning by RLSVI that draws ``again`` in mid-episode, for a ``share`` of the task's
    episodes; and what its posterior mean and a vote of samples earn at the end."""
    from ..environments import make

    (name, settings, box, basis, gamma, (low, high), _, _, sweeps), episodes, c = CIRCLES[task]
    env = make(name, **settings)
    basis_rng, env_rng, agent_rng = streams(seed)
    redraw = {"never": math.inf, "after 1/(1−γ) steps": round(1 / (1 - gamma)), "at a repeat": None}
    player = rlsvi(
        basis(box, int(env.action_space.n), basis_rng),
        value_range=(low, high),
        sigma=c * (high - low),
        gamma=gamma,
        options=Options(sweeps=sweeps, redraw=redraw[again]),
        rng=agent_rng,
    )
    rewards, goals, env_seed = list[float](), list[int](), int(env_rng.integers(2**31))
    for n in range(1, round(share * episodes) + 1):
        rewards.append(player.learn(env, 1, env_seed if n == 1 else None).reward[0])
        if env.terminated and (rewards[-1] > 0 or name != "FrozenLake-v1"):  # a hole is no goal
            goals.append(n)
    return [
        {
            "reward": round(float(np.mean(rewards)), 6),
            "last": round(float(np.mean(rewards[-(len(rewards) // 5) :])), 6),
            "first_goal": goals[0] if goals else None,
            "mean": _earned(player, env),
            "vote": _earned(Vote(player, VOTERS, agent_rng), env),
        }
    ]


def _earned(agent: Agent, env: Any) -> float:
    """The expected return of a policy, exact where the environment has a table, or else the mean of
    ten episodes."""
    raw, S = env.unwrapped, agent.learner.S
    if S is None:
        return round(float(agent.evaluate(env, 10).mean()), 6)
    mdp = finite_mdp(env)
    legal = [
        np.flatnonzero(raw.action_mask(s)) if hasattr(raw, "action_mask") else None
        for s in range(S)
    ]
    policy = [agent.greedy(0, s, legal[s]) for s in range(S)]
    policy += [0] * (mdp.S - S)  # after the end
    return round(mdp.value - mdp.regret([policy] * mdp.H), 6)


# --------------------------------------------------------------------------- summaries


def outcomes(table: pd.DataFrame, last: int = LAST) -> pd.DataFrame:
    """One row per run: the mean return of the last episodes, whether that solves the task, the
    first episode that reached the goal (NaN: none did), and the posterior mean's return."""
    late = table[table.episode > table.episode.max() - last]
    by = [column for column in table if column not in ("episode", "reward", "first_goal", "greedy")]
    runs = (
        late.groupby(by, sort=False, dropna=False)
        .agg(last=("reward", "mean"), greedy=("greedy", "last"), first_goal=("first_goal", "last"))
        .reset_index()
    )
    return runs.assign(solved=runs["last"] >= runs.task.map(lambda task: CONTROL[task].solved))


def solved(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Of each cell: runs, how many solved the task or reached the goal at all, and medians."""
    return (
        outcomes(table)
        .groupby(by, sort=False)
        .agg(
            runs=("seed", "size"),
            solved=("solved", "sum"),
            reached=("first_goal", "count"),
            first_goal=("first_goal", "median"),
            last=("last", "median"),
            greedy=("greedy", "median"),
        )
    )


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """What drawing again brings to the mean reward of all episodes, seed by seed: the mean
    difference to one draw per episode, and Student's 95% interval."""
    pairs = table.pivot(index="seed", columns=["task", "again"], values="reward")
    return pd.DataFrame.from_dict(
        {
            (task, again): mean_interval(pairs[task, again] - pairs[task, "never"])._asdict()
            for task, again in pairs
            if again != "never"
        },
        orient="index",
    ).rename_axis(["task", "again"])


# --------------------------------------------------------------------------- the experiments

K, MEMBERS = 10, 20  # of the deep sea: coherent features, and members of the ensemble
STARTS = {"epsilon-greedy": (0.1, 1.0), "boltzmann": (0.003, 0.03)}  # tried, of ε and η/V
SCHEDULES = {
    ("MountainCar", "epsilon-greedy"): 1.0,
    ("MountainCar", "boltzmann"): 0.003,
    ("CartPole", "epsilon-greedy"): 0.1,
    ("CartPole", "boltzmann"): 0.03,
    ("Acrobot", "epsilon-greedy"): 1.0,
    ("Acrobot", "boltzmann"): 0.03,
    **{
        (task, agent): starts[1]
        for agent, starts in STARTS.items()
        for task in CONTROL
        if CONTROL[task].value_range == (0, 1)
    },
}  # sparse: the most there is


def _scheduled(agent: str) -> tuple[dict[str, Any], ...]:
    """Every control task for LSVI with its schedule."""
    return tuple(
        {"task": task, "agent": agent, "start": SCHEDULES[task, agent], "half_life": 20.0}
        for task in CONTROL
    )


_LONG = {"episodes": 200, "every": 10}
_SHORT = _LONG | {"episodes": 20}
_RULE = grid(task=CONTROL, agent=("rlsvi",))
_FACTORS = grid(
    task=("MountainCar", "CartPole", "sparse MountainCar"), agent=("rlsvi",), c=(0.005, 0.1)
)
_OPTIONS = (
    *grid(
        task=("sparse MountainCar",),
        agent=("rlsvi",),
        option=("1 sweep", "mean in targets", "no clip", "window 5000"),
    ),
    *grid(task=("CartPole",), agent=("rlsvi",), option=("random Fourier",)),
)
_TUNING = tuple(
    {"task": task, "agent": agent, "start": start, "half_life": 20.0}
    for task in ("MountainCar", "CartPole", "Acrobot")
    for agent, starts in STARTS.items()
    for start in starts
)
_EPSILON = _scheduled("epsilon-greedy")
_BOLTZMANN = _scheduled("boltzmann")
_TABLES = tuple(
    {"task": task, "agent": agent, "episodes": episodes}
    for task, episodes in (("CliffWalking", 3000), ("FrozenLake 4×4", 40000))
    for agent in ("rlsvi", "epsilon-greedy")
)
_LARGE = tuple(
    {"task": task, "agent": "rlsvi", "episodes": episodes}
    for task, episodes in (("FrozenLake 8×8", 80000), ("Taxi", 20000))
)
_AGAIN = tuple(
    {"task": task, "again": again}
    for task, (one, *_) in CIRCLES.items()
    for again in ("never", "after 1/(1−γ) steps", "at a repeat")
    if again != "at a repeat" or one.basis is cells
)
_SEAS = grid(agent=("rlsvi", "coherent", "epsilon-greedy", "ensemble"), N=(10, 20, 30, 40, 50))


def _study(
    name: str, title: str, run: Callable[..., Rows], *, quick: Scale, paper: Scale
) -> Experiment:
    """Control tasks use BLAS and other packages' arithmetic, so they are not bitwise
    reproducible."""
    length = {control: "episodes", tabular: "rows"}.get(run)
    portable = run not in (control, circling)
    if run is control:
        run = partial(control, whole=paper.constants["episodes"])
    return Experiment(
        name, "ours", title, run, {"quick": quick, "paper": paper}, portable=portable, length=length
    )


EXPERIMENTS = {
    one.name: one
    for one in (
        _study(
            "tasks-control",
            "Control and sparse tasks: RLSVI by one rule",
            control,
            quick=Scale(_SHORT, _RULE[-2:], range(2)),
            paper=Scale(_LONG, _RULE, range(20)),
        ),
        _study(
            "tasks-epsilon",
            "Control and sparse tasks: LSVI, ε-greedy",
            control,
            quick=Scale(_SHORT, _EPSILON[-2:], range(2)),
            paper=Scale(_LONG, _EPSILON, range(20)),
        ),
        _study(
            "tasks-boltzmann",
            "Control and sparse tasks: LSVI, Boltzmann exploration",
            control,
            quick=Scale(_SHORT, _BOLTZMANN[-2:], range(2)),
            paper=Scale(_LONG, _BOLTZMANN, range(20)),
        ),
        _study(
            "tasks-tuning",
            "Control and sparse tasks: schedules of dithering",
            control,
            quick=Scale(_SHORT, _TUNING[-4:], range(100, 101)),
            paper=Scale(_LONG | {"episodes": LAST}, _TUNING, range(100, 104)),
        ),
        _study(
            "tasks-rule",
            "Control and sparse tasks: σ = cV with other c",
            control,
            quick=Scale(_SHORT, _FACTORS[-1:], range(1)),
            paper=Scale(_LONG, _FACTORS, range(4)),
        ),
        _study(
            "tasks-options",
            "Control and sparse tasks: RLSVI with other options",
            control,
            quick=Scale(_SHORT, _OPTIONS[:1], range(1)),
            paper=Scale(_LONG, _OPTIONS, range(4)),
        ),
        _study(
            "tasks-tabular",
            "CliffWalking and FrozenLake as tables",
            tabular,
            quick=Scale({"rows": 1}, _TABLES[:2], range(2)),
            paper=Scale({"rows": ROWS}, _TABLES, range(20)),
        ),
        _study(
            "tasks-tabular-large",
            "FrozenLake 8×8 and Taxi as tables",
            tabular,
            quick=Scale({"rows": 1}, _LARGE[:1], range(1)),
            paper=Scale({"rows": ROWS}, _LARGE, range(6)),
        ),
        _study(
            "tasks-redraw",
            "A discount: drawing again in mid-episode, and a vote",
            circling,
            quick=Scale({"share": 0.1}, _AGAIN[-3:], range(1)),
            paper=Scale({"share": 1.0}, _AGAIN, range(20)),
        ),
        _study(
            "tasks-deep-sea",
            "The deep sea",
            diving,
            quick=Scale({"episodes": 500}, _SEAS[::5], range(2)),
            paper=Scale({"episodes": 4000}, _SEAS, range(20)),
        ),
        SIGMA,
    )
}
