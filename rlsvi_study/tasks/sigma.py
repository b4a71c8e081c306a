r"""How large σ should be, on five ordinary problems: ``tasks-sigma``.

RLSVI has one-hot features, the range of values and λ = 1/V², V being the width of that range, and
:math:`\sigma = V/f` with f = 1000, 200, 50 (:func:`rlsvi_core.suggest_parameters`), 10 and 2. With a
horizon every period has a table of its own: the deep sea, the grid with a key, the river and the
inventory. Discounted, there is one table for all time, which learns from fewer episodes: the grid,
the inventory and FrozenLake (with a table for each of its 100 periods no agent learns FrozenLake in
2000 episodes; ``tasks-tabular`` has 40 000). The deep sea and the grid are deterministic, the others
are not; the inventory's rewards are random too.

The range is that of *optimal values*, :math:`\min V^*` and :math:`\max V^*`, rounded. In the river
and the inventory RLSVI is also told a range of *returns*: H, or 1/(1 − γ), times the least and the
largest reward, which is what one knows without a solution.

Beside it, with the same range: LSVI, ε-greedy, and Q-learning (:mod:`.q_learning`), which starts
from the largest value or from 0. ε is halved every eighth of a run.

``regret`` is the sum, over the episodes so far, of the optimal value minus what was earned: exactly
expected with a horizon, realised with a discount, where RLSVI draws again in mid-episode. Values in
both are those of the finite horizon, undiscounted.

**What counts** was fixed before the stored seeds were run, after a pilot on seeds 5000 to 5005. On a
problem, with all differences taken seed by seed and Student's 95% intervals at the end of the run:

- a σ is *good* if its regret is less than 3/2 of the least mean among the five σ, the interval of
  the difference being below 0, *bad* if it is above 0, and *open* otherwise (:func:`judged`);
- RLSVI by the rule is *better* than LSVI, or than Q-learning, if the interval of the difference to
  the arm with the least mean is below 0, *worse* if it is above (:func:`compared`). That arm is
  chosen in hindsight, which favours the rival;
- a range of values is *better* than one of returns if, at σ = V/50 of each, the same holds.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rlsvi_core import Agent, FiniteMDP, lsvi, rlsvi
from rlsvi_core.beyond.known import finite_mdp
from rlsvi_core.compiled import Array, Generator
from rlsvi_core.envs.chains import deep_sea, river_swim
from rlsvi_core.features import OneHot

from ..engine import Experiment, Rows, Scale, grid, streams
from ..judging.intervals import mean_interval
from ..worlds import inventory, key_and_door
from .q_learning import QLearning

FRACTIONS = (1000, 200, 50, 10, 2)  # f in σ = V/f
RULE = 50
TOLERATED = 1.5  # times the regret of the best σ
ROWS = 4  # of a run, two pieces each, from one of which to the next ε is halved
OFF = {"fraction": 0, "told": "values", "epsilon": 0.0, "alpha": 0.0, "start": "zero"}
Range = tuple[float, float]


class Problem(NamedTuple):
    make: Callable[[np.random.Generator], FiniteMDP]
    episodes: int
    values: Range  # the least and the largest optimal value
    returns: Range | None = None  # by the least and the largest reward
    gamma: float | None = None  # or else a horizon


def _lake(rng: np.random.Generator) -> FiniteMDP:
    from ..environments import make

    return finite_mdp(make("FrozenLake-v1"))


PROBLEMS = {
    "deep sea": Problem(lambda rng: deep_sea(20, rng), 2000, (0, 1)),
    "key and door": Problem(lambda rng: key_and_door(), 2000, (0, 1)),
    "river swim": Problem(lambda rng: river_swim(), 2000, (0, 9.5), (0, 20)),
    "inventory": Problem(lambda rng: inventory(), 2000, (0, 217), (-680, 1400)),
    "key and door, discounted": Problem(lambda rng: key_and_door(), 200, (0, 1), gamma=0.99),
    "inventory, discounted": Problem(
        lambda rng: inventory(), 200, (0, 217), (-680, 1400), gamma=0.95
    ),
    "FrozenLake, discounted": Problem(_lake, 320, (0, 1), gamma=0.99),
}


# --------------------------------------------------------------------------- a run


def absorbing(mdp: FiniteMDP) -> Array:
    """The states that are never left and pay nothing: an episode is over there."""
    m = mdp.model
    stays = (m.successor == np.arange(mdp.S)[:, None, None]) & (m.reward == 0)
    return np.asarray((stays | (m.probability == 0)).all(axis=(0, 2, 3)))


class Clocked:
    """An MDP whose horizon is a clock: it cuts episodes, and states that are never left end them."""

    def __init__(self, mdp: FiniteMDP) -> None:
        self.H, self.start, self._step, self._ends = mdp.H, mdp.start, mdp.step, absorbing(mdp)

    def step(self, h: int, s: int, a: int, rng: Generator) -> tuple[float, int, bool | str]:
        r, s_next, over = self._step(h, s, a, rng)
        return r, s_next, bool(self._ends[s_next]) or over


def learning(
    problem: str,
    agent: str,
    seed: int,
    rows: int,
    fraction: int,
    told: str,
    epsilon: float,
    alpha: float,
    start: str,
) -> Rows:
    """The regret of RLSVI with σ = V/fraction, of LSVI, or of Q-learning with the step size α."""
    make, episodes, values, returns, gamma = PROBLEMS[problem]
    basis_rng, env_rng, agent_rng = streams(seed)
    mdp = make(basis_rng)
    low, high = values if told == "values" or returns is None else returns
    H, piece = None if gamma else mdp.H, episodes // (2 * ROWS)
    table = OneHot(H, mdp.S, mdp.A)
    options: Any = {"value_range": (low, high), "gamma": gamma, "rng": agent_rng}
    if agent == "rlsvi":
        player = rlsvi(table, sigma=(high - low) / fraction, **options)
    elif agent == "epsilon-greedy":
        player = lsvi(table, **options)
    else:
        first = high if start == "high" else 0.0
        player = Agent(QLearning(H, mdp.S, mdp.A, alpha, gamma or 1.0, first), rng=agent_rng)
    world = Clocked(mdp) if gamma else mdp

    def earned(level: float) -> Array:
        """What the episodes of a piece bring, with this ε."""
        player.epsilon = level
        run = player.learn(world, piece, env_rng, exact=not gamma)
        return run.reward if gamma else run.expected

    lost, found = 0.0, []
    for i in range(2 * rows):
        lost += float((mdp.value - earned(epsilon * 2.0**-i)).sum())
        if i % 2:
            found.append({"episode": (i + 1) * piece, "regret": round(lost, 4)})
    return found


# --------------------------------------------------------------------------- summaries

SIGMAS = {f"V/{fraction}": fraction for fraction in FRACTIONS}
RIVALS = {"epsilon-greedy": "LSVI, ε-greedy", "q-learning": "Q-learning"}


def regrets(table: pd.DataFrame) -> pd.DataFrame:
    """Regret at the end: a row per seed, a column per problem and arm. The arms are the five σ, the
    rule with a range of returns, and of each rival the setting with the least mean."""
    ends = table[table.episode == table.groupby("problem").episode.transform("max")]
    found = {}
    for problem, runs in ends.groupby("problem", sort=False):
        settings = runs.pivot(index="seed", columns=["agent", *OFF], values="regret")
        ours = settings["rlsvi"].droplevel(["epsilon", "alpha", "start"], axis=1)
        for name, fraction in SIGMAS.items():
            found[problem, name] = ours[fraction, "values"]
        if PROBLEMS[str(problem)].returns is not None:
            found[problem, "returns"] = ours[RULE, "returns"]
        for agent, name in RIVALS.items():
            found[problem, name] = settings[agent][settings[agent].mean().idxmin()]
    return pd.concat(found, axis=1, names=["problem", "arm"])


def _word(difference: Any, below: str, above: str) -> str:
    _, low, high = mean_interval(difference)
    return below if high < 0 else above if low > 0 else "open"


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Each σ on each problem: mean regret with Student's interval, how many times the least of the
    five that is, and whether the σ is good."""
    runs, found = regrets(table), {}
    for problem in table.problem.unique():
        ours = runs[problem][list(SIGMAS)]
        best = ours[ours.mean().idxmin()]
        for name in SIGMAS:
            found[problem, name] = {
                **mean_interval(ours[name])._asdict(),
                "times": ours[name].mean() / best.mean(),
                "word": _word(ours[name] - TOLERATED * best, "good", "bad"),
            }
    return pd.DataFrame.from_dict(found, orient="index").rename_axis(["problem", "arm"])


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """What RLSVI by the rule is compared with on each problem, the same; ``times`` is how many times
    the rule's regret the other has, ``word`` whether the rule is better."""
    runs, found = regrets(table), {}
    for problem, arm in runs:
        if arm in SIGMAS:
            continue
        rule, other = runs[problem][f"V/{RULE}"], runs[problem][arm]
        found[problem, arm] = {
            **mean_interval(other)._asdict(),
            "times": other.mean() / rule.mean(),
            "word": _word(rule - other, "better", "worse"),
        }
    return pd.DataFrame.from_dict(found, orient="index").rename_axis(["problem", "arm"])


# --------------------------------------------------------------------------- the experiment


def _cells(problem: str) -> tuple[dict[str, Any], ...]:
    """All arms on a problem; ``OFF`` is what an arm does not have."""
    told = ("values",) if PROBLEMS[problem].returns is None else ("values", "returns")
    alphas = 0.1, 0.3, 1.0
    arms = (
        *grid(agent=("rlsvi",), fraction=FRACTIONS, told=told),
        *grid(agent=("epsilon-greedy",), epsilon=(0.03, 0.1, 0.3, 1.0)),
        *grid(agent=("q-learning",), alpha=alphas, epsilon=(0.0, 0.1), start=("high",)),
        *grid(agent=("q-learning",), alpha=alphas, epsilon=(0.1, 1.0), start=("zero",)),
    )
    return tuple({"problem": problem} | OFF | arm for arm in arms)


SIGMA = Experiment(
    "tasks-sigma",
    "ours",
    "How large σ should be, beside ε-greedy LSVI and Q-learning",
    learning,
    {
        "quick": Scale({"rows": 1}, _cells("river swim"), range(2)),
        "paper": Scale(
            {"rows": ROWS}, tuple(cell for name in PROBLEMS for cell in _cells(name)), range(30)
        ),
    },
    length="rows",
)
