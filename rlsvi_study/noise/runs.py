r"""How much noise: random weights on the data (:func:`rlsvi_core.bootstrap`), against RLSVI and others.

The bootstrap is told a range of values and κ; it is not tuned, and all three κ = 1, 0.1 and 0.01 are
shown. RLSVI by ``value_range`` is told the same range, so both know the same. The other rivals are
*tuned*: on every problem each has the best of nine settings, by the mean regret of a few seeds of
its own (``noise-tuning``; :func:`best` is the rule, ``TUNED`` what it found).

========= ========================================================================================
rival     its nine settings
========= ========================================================================================
RLSVI     σ = V/200, V/50, V/10, times λ = 10⁻⁴, 10⁻², 1 over V², V being the width of the range
LSVI      ε = 0.1, 0.3, 1 at first, halved every eighth of a run, times a ridge of 10⁻⁴, 10⁻², 1
PSRL      the prior's mass on transitions 0.1, 1, S, times that on each of two rewards 0.1, 0.5, 1
UCBVI     its bonus times 10⁻⁵ to 10⁻¹, in half decades; it has no ridge
========= ========================================================================================

PSRL and UCBVI run in tables with a horizon, where they need no range, PSRL up to ten states.
For them rewards are shifted and scaled to [−1, 0]; PSRL knows two rewards, and is told one of them
by a coin with the mean. Features are divided by the root of the mean square of their rows' norms,
which matters to RLSVI's λ and LSVI's ridge alone.

**The score** is the regret at the end of the run: exactly expected for finite MDPs; for Gymnasium's
tasks and the recommendation engine it is the best value there is minus what was earned, except that
Acrobot's, whose best value is not known, counts its steps.

**What counts** was fixed before any of the stored seeds was run. On a problem, for a κ and a rival,
take the ratio of mean regrets, the bootstrap's over the rival's, with its 95% interval when seeds
are resampled (:func:`compared`). The bootstrap is

- *better* if the interval is below 0.8,
- *worse* if it is above 1.25,
- *equal* if it lies between 0.8 and 1.25, and all else is *open*.

If two agents were the same, *better* and *worse* would both be far rarer than one time in forty.
There is no mean over problems. A κ is *the thing to try first* (:func:`first_choices`) if it is worse
than RLSVI by ``value_range`` on no problem without a trap, and better on at least a third of all. If
some are, the default κ is the one among them that is better most often. If none is, the bootstrap
is one option among two, the default is a choice, and a group of problems (``Problem.group``) is one
for the bootstrap if it is better there more often than worse (:func:`by_group`).

**Seen before.** Tables, coherent chains, low rank, traps and FrozenLake had been scouted on other
seeds when the rule was written; the three κ and the default 0.01 come from there. Agnostic features
had been seen on four seeds, by which ρ was chosen (with 0.1 no agent learns), the other tasks on
one, which was timed. Final seeds are 40 000 on, those for tuning 20 000 on; no other run has them.
There are 20 final seeds and 4 for tuning, 12 and 2 where a run is dear (``DEAR``), 8 and 2 for tasks.

**Ranges.** *Loose* ones are of returns, by the least and the largest reward of a period: what one
knows without a solution. Traps have no other, because with a close one most would be none: rewards
lie within ±1. Tetris is left out: only the printed form takes placements that vary in number, and
its games are too long for that. Taxi's and CliffWalking's are loose without being called so;
:mod:`.conditions` has those of optimal values.
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from rlsvi_core import FiniteMDP, features, lsvi, rlsvi
from rlsvi_core.beyond import boxes
from rlsvi_core.envs.chains import chain, deep_sea, river_swim
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.envs.recommender import Recommender

from ..engine import Experiment, Rows, Scale, streams
from ..judging import outcomes
from ..rivals import psrl, ucbvi
from ..traps import gamble, long_gamble, toll
from ..worlds import World, inventory, key_and_door, low_rank, paying
from .conditions import CONDITIONS
from .parts import (
    FOREVER,
    KAPPAS,
    QUARTERS,
    UNTUNED,
    Made,
    Problem,
    grid_task,
    linear,
    scored,
    table,
    untuned,
)

GRID: dict[str, tuple[tuple[float, ...], ...]] = {
    "rlsvi": tuple(product((200, 50, 10), (1e-4, 1e-2, 1.0))),
    "epsilon-greedy": tuple(product((0.1, 0.3, 1.0), (1e-4, 1e-2, 1.0))),
    "psrl": tuple(product((0.1, 1, 0), (0.1, 0.5, 1))),  # 0: S
    "ucbvi": tuple((10.0 ** (-5 + i / 2),) for i in range(9)),
}


# --------------------------------------------------------------------------- problems


def coherent(N: int, rng: np.random.Generator) -> Made:
    return linear(mdp := chain(N), features.coherent(mdp.Q, 10, rng))


def agnostic(N: int, rho: float, rng: np.random.Generator) -> Made:
    return linear(mdp := chain(N), features.agnostic(mdp.Q, 10, rho, rng))


def random(S: int, rng: np.random.Generator) -> Made:
    """As in the study of Theorem 1: total weights of the prior are 1."""
    return table(DirichletPrior.symmetric(S, S, 3, alpha_R=1 / 2, alpha_P=1 / S).sample(rng))


def control(name: str, box: Any, degree: int, best: float, **settings: Any) -> Made:
    from ..environments import make

    return Made(make(name, **settings), boxes.polynomial(box, 3, degree), best)


def customers(rng: np.random.Generator) -> Made:
    """The recommendation engine, with the paper's features: for each product 1 and the answers."""
    engine = Recommender.random(rng=rng)
    box = [-1.0] * engine.N, [1.0] * engine.N
    return Made(engine, boxes.polynomial(box, engine.N, 1), engine.value)


CAR = ([-1.2, -0.07], [0.6, 0.07])
ARMS = ([-1.0] * 4 + [-5.0, -9.0], [1.0] * 4 + [5.0, 9.0])  # the speeds that Acrobot usually has
PROBLEMS = {
    "chain 20": Problem("tables", lambda rng: table(chain(20)), 1000, (0, 1)),
    "chain 50": Problem("tables", lambda rng: table(chain(50)), 1000, (0, 1)),
    "deep sea 10": Problem("tables", lambda rng: table(deep_sea(10, rng)), 2000, (0, 1)),
    "deep sea 20": Problem("tables", lambda rng: table(deep_sea(20, rng)), 2000, (0, 1)),
    "deep sea 50": Problem("tables", lambda rng: table(deep_sea(50, rng)), 2000, (0, 1)),
    "river swim": Problem("tables", lambda rng: table(river_swim()), 2000, (0, 9.5)),
    "random MDPs 5": Problem("tables", lambda rng: random(5, rng), 2000, (-5, 0)),
    "random MDPs 10": Problem("tables", lambda rng: random(10, rng), 2000, (-10, 0)),
    "key and door": Problem("tables", lambda rng: table(key_and_door()), 2000, (0, 1)),
    "inventory": Problem("tables", lambda rng: table(inventory()), 2000, (0, 217)),
    "deep sea 10, loose": Problem("loose", lambda rng: table(deep_sea(10, rng)), 2000, (0, 10)),
    "river swim, loose": Problem("loose", lambda rng: table(river_swim()), 2000, (0, 20)),
    "inventory, loose": Problem("loose", lambda rng: table(inventory()), 2000, (-680, 1400)),
    "gamble, table": Problem("traps", lambda rng: table(gamble()[0]), 4**7, (-2, 2)),
    "long gamble 4, table": Problem("traps", lambda rng: table(long_gamble(4)[0]), 4**7, (-4, 4)),
    "coherent chain 20": Problem("linear", lambda rng: coherent(20, rng), 1000, (0, 1)),
    "coherent chain 50": Problem("linear", lambda rng: coherent(50, rng), 1000, (0, 1)),
    "agnostic chain 20, 0.01": Problem("linear", lambda rng: agnostic(20, 0.01, rng), 1000, (0, 1)),
    "agnostic chain 20, 0.03": Problem("linear", lambda rng: agnostic(20, 0.03, rng), 1000, (0, 1)),
    "low rank 2": Problem("linear", lambda rng: linear(*low_rank(5, 20, 4, 2, rng)), 4**5, (0, 5)),
    "low rank 4": Problem("linear", lambda rng: linear(*low_rank(5, 20, 4, 4, rng)), 4**5, (0, 5)),
    "low rank 8": Problem("linear", lambda rng: linear(*low_rank(5, 20, 4, 8, rng)), 4**5, (0, 5)),
    "coherent chain 20, loose": Problem("loose", lambda rng: coherent(20, rng), 1000, (-1, 1)),
    "gamble": Problem("traps", lambda rng: linear(*gamble()), 4**7, (-2, 2)),
    "long gamble 4": Problem("traps", lambda rng: linear(*long_gamble(4)), 4**7, (-4, 4)),
    "long gamble 8": Problem("traps", lambda rng: linear(*long_gamble(8)), 4**7, (-8, 8)),
    "toll 9": Problem("traps", lambda rng: linear(*toll(9, 1024)), 4**7, (-9, 9)),
    "toll 13": Problem("traps", lambda rng: linear(*toll(13, 1024)), 4**7, (-13, 13)),
    "FrozenLake": Problem("tasks", lambda rng: grid_task("FrozenLake-v1"), 320, (0, 1), FOREVER),
    "CliffWalking": Problem(
        "tasks",
        lambda rng: grid_task("CliffWalking-v1", max_episode_steps=200),
        100,
        (-100, 0),
        FOREVER,
    ),
    "Taxi": Problem("tasks", lambda rng: grid_task("Taxi-v4"), 40, (-100, 20), FOREVER),
    "sparse MountainCar": Problem(
        "tasks",
        lambda rng: control("MountainCar-v0", CAR, 8, best=1.0, sparse=True),
        32,
        (0, 1),
        FOREVER,
    ),
    "Acrobot": Problem(
        "tasks", lambda rng: control("Acrobot-v1", ARMS, 3, best=0.0), 12, (-100, 0), FOREVER
    ),
    "recommendations": Problem("tasks", customers, 200, (0, 5), {"H": 5}),
}
NAMES = list(PROBLEMS)
DEAR = ["chain 50", "deep sea 50", "key and door", "inventory", "inventory, loose"]
MANY = [*DEAR, "chain 20", "deep sea 20"]  # states or actions: PSRL's samples cost more
LIGHT = ["CliffWalking", "FrozenLake", "recommendations"]
CONTROL = ["Taxi", "sparse MountainCar", "Acrobot"]
TASKS = [name for name in NAMES if PROBLEMS[name].group == "tasks"]
LINEAR = NAMES[NAMES.index("coherent chain 20") : NAMES.index(TASKS[0])]
TABLES = [name for name in NAMES if name not in DEAR + LINEAR + TASKS]


# --------------------------------------------------------------------------- agents and runs


def rivals(problem: str) -> list[str]:
    """Those that are tuned on a problem."""
    of_tables = [*([] if problem in MANY else ["psrl"]), "ucbvi"]
    told = PROBLEMS[problem].group == "loose" or problem in LINEAR + TASKS
    return ["rlsvi", "epsilon-greedy", *([] if told else of_tables)]


def shifted(mdp: FiniteMDP, tossed: bool) -> tuple[FiniteMDP, float]:
    """The same with rewards from −1 to 0, and by what they were divided."""
    ends = mdp.support
    if ends is None:
        paid = [np.array(R[P > 0]) for P, R in zip(mdp.P, mdp.R, strict=True)]
        paid += [(mdp.R[-1] + mdp.terminal)[mdp.P[-1] > 0]]
        ends = min(r.min() for r in paid), max(r.max() for r in paid)
    low, high = ends
    return paying(World(mdp, low, high), -1.0, tossed), high - low


def halved(epsilon: float, every: float, episode: int) -> float:
    """ε, halved every so many episodes."""
    return epsilon * 2.0 ** (-episode / every)


def tuned(
    agent: str, setting: int, made: Made, problem: Problem, rng: np.random.Generator
) -> tuple[Any, Any, float]:
    """A rival with one of its nine settings, the environment as it is shown to it, and by what
    rewards are divided there."""
    env, phi, _ = made
    one, *other = GRID[agent][setting]
    options: Any = {"value_range": problem.told, **problem.time, "rng": rng}
    V = problem.told[1] - problem.told[0]
    if agent == "rlsvi":
        return rlsvi(phi, other[0] / V**2, V / one, **options), env, 1.0
    if agent == "epsilon-greedy":
        epsilon = partial(halved, one, problem.episodes / 8)
        return lsvi(phi, other[0], epsilon=epsilon, **options), env, 1.0
    env, unit = shifted(env, tossed=agent == "psrl")
    shape = env.H, env.S, env.A
    if agent == "psrl":
        mass = one or env.S
        prior = DirichletPrior.symmetric(*shape, alpha_R=other[0], alpha_P=mass / env.S)
        return psrl(prior, rng=rng), env, unit
    return ucbvi(DirichletPrior.symmetric(*shape), problem.episodes, one, rng=rng), env, unit


def tuning(problem: str, agent: str, setting: int, seed: int, quarters: int) -> Rows:
    """Regret of a rival with one of its settings, after each quarter of a run."""
    what, (basis_rng, env_rng, agent_rng) = PROBLEMS[problem], streams(seed)
    made = what.make(basis_rng)
    return scored(*tuned(agent, setting, made, what, agent_rng), made.best, what, env_rng, quarters)


def curve(problem: str, arm: str, seed: int, quarters: int) -> Rows:
    """The same for the bootstrap with some κ, for RLSVI by ``value_range``, and for tuned rivals."""
    if arm in GRID:
        return tuning(problem, arm, TUNED[problem][rivals(problem).index(arm)], seed, quarters)
    return untuned(PROBLEMS[problem], arm, seed, quarters)


# --------------------------------------------------------------------------- the rule


def final(table: pd.DataFrame) -> pd.DataFrame:
    """The last row of every run."""
    return table[table.episode == table.groupby("problem").episode.transform("max")]


def best(table: pd.DataFrame) -> dict[str, list[int]]:
    """On each problem, of each rival, the setting with the least mean regret; of equals the first."""
    means = final(table).groupby(["problem", "agent", "setting"]).regret.mean()
    return {
        problem: [int(means[problem, agent].idxmin()) for agent in GRID if agent in means[problem]]
        for problem in table.problem.unique()
    }


def regrets(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Of each problem the regret at the end, a row for each seed, a column for each arm."""
    return {
        str(problem): runs.pivot(index="seed", columns="arm", values="regret")
        for problem, runs in final(table).groupby("problem", sort=False)
    }


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """The ratio of regrets, the bootstrap's over a rival's, its interval, and what that is called,
    for each problem, κ and rival."""
    found = {}
    for problem, regret in regrets(table).items():
        for kappa, rival in product(KAPPAS, [arm for arm in regret if arm not in KAPPAS]):
            ratio, low, high = outcomes.ratio(regret[kappa], regret[rival])
            found[problem, kappa, rival] = {
                "ratio": ratio,
                "low": low,
                "high": high,
                "word": outcomes.word(low, high),
            }
    return pd.DataFrame.from_dict(found, orient="index").rename_axis(["problem", "kappa", "rival"])


def by_group(words: pd.DataFrame, rival: str = UNTUNED) -> pd.DataFrame:
    """How often each word is used, for each κ and group of problems."""
    own = words.xs(rival, level="rival").word.reset_index()
    own["group"] = own.problem.map(lambda name: PROBLEMS[name].group)
    counts = own.groupby(["kappa", "group", "word"]).size().unstack(fill_value=0)
    return counts.reindex(columns=["better", "equal", "open", "worse"], fill_value=0)


def first_choices(words: pd.DataFrame) -> list[str]:
    """Each κ that is the thing to try first, the one that is better most often at the head."""
    found = {}
    for kappa, counts in by_group(words).groupby("kappa"):
        ordinary = counts.drop(index="traps", level="group", errors="ignore")
        if not ordinary.worse.sum() and 3 * counts.better.sum() >= counts.to_numpy().sum():
            found[str(kappa)] = int(counts.better.sum())
    return sorted(found, key=lambda kappa: -found[kappa])


# --------------------------------------------------------------------------- the experiments

TUNED: dict[str, list[int]] = {  # by ``best``: settings of rivals(problem), in this order
    "chain 20": [5, 0, 1],
    "deep sea 10": [1, 3, 0, 0],
    "deep sea 20": [1, 0, 0],
    "river swim": [0, 6, 0, 1],
    "random MDPs 5": [5, 2, 4, 4],
    "random MDPs 10": [5, 0, 0, 3],
    "deep sea 10, loose": [1, 3],
    "river swim, loose": [1, 6],
    "gamble, table": [6, 0, 5, 6],
    "long gamble 4, table": [8, 5, 7, 5],
    "coherent chain 20": [2, 0],
    "coherent chain 50": [4, 0],
    "agnostic chain 20, 0.01": [8, 0],
    "agnostic chain 20, 0.03": [5, 0],
    "low rank 2": [0, 0],
    "low rank 4": [3, 0],
    "low rank 8": [1, 1],
    "coherent chain 20, loose": [4, 0],
    "gamble": [0, 3],
    "long gamble 4": [6, 3],
    "long gamble 8": [6, 3],
    "toll 9": [0, 0],
    "toll 13": [0, 0],
    "chain 50": [1, 0, 0],
    "deep sea 50": [2, 0, 0],
    "key and door": [0, 0, 1],
    "inventory": [4, 7, 0],
    "inventory, loose": [1, 3],
    "FrozenLake": [4, 4],
    "CliffWalking": [0, 5],
    "Taxi": [0, 7],
    "sparse MountainCar": [2, 0],
    "Acrobot": [2, 6],
    "recommendations": [5, 3],
}


def _arms(problems: list[str]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"problem": problem, "arm": arm}
        for problem in problems
        for arm in (*KAPPAS, UNTUNED, *rivals(problem))
    )


def _settings(problems: list[str]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"problem": problem, "agent": agent, "setting": setting}
        for problem in problems
        for agent in rivals(problem)
        for setting in range(9)
    )


def _study(
    name: str, title: str, run: Callable[..., Rows], cells: Any, problems: list[str], seeds: range
) -> Experiment:
    return Experiment(
        name,
        "ours",
        f"How much noise: {title}",
        run,
        {
            "quick": Scale({"quarters": 1}, cells(problems[:1]), seeds[:2]),
            "paper": Scale({"quarters": QUARTERS}, cells(problems), seeds),
        },
        length="quarters",
        portable=not {*TASKS} & {*problems},
    )


_TUNING, _FINAL = range(20_000, 20_004), range(40_000, 40_020)
EXPERIMENTS = {
    one.name: one
    for one in (
        _study("noise-tuning", "settings of rivals", tuning, _settings, TABLES + LINEAR, _TUNING),
        _study(
            "noise-tuning-dear",
            "settings of rivals, large tables",
            tuning,
            _settings,
            DEAR,
            _TUNING[:2],
        ),
        _study(
            "noise-tuning-tasks", "settings of rivals, tasks", tuning, _settings, TASKS, _TUNING[:2]
        ),
        _study("noise-tables", "small tables", curve, _arms, TABLES, _FINAL),
        _study("noise-dear", "large tables", curve, _arms, DEAR, _FINAL[:12]),
        _study("noise-linear", "linear features", curve, _arms, LINEAR, _FINAL),
        _study("noise-tasks", "tasks", curve, _arms, LIGHT, _FINAL[:8]),
        _study("noise-control", "longer tasks", curve, _arms, CONTROL, _FINAL[:8]),
        *CONDITIONS,
    )
}
