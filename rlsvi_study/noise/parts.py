"""What the problems of this topic have in common: what they are made of, and a run of an agent that
is told a range of values and nothing else."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rlsvi_core import FiniteMDP, bootstrap, features, rlsvi
from rlsvi_core.beyond.known import finite_mdp
from rlsvi_core.features import OneHot

from ..engine import Rows, streams

QUARTERS = 4  # of a run, with a row each
KAPPAS = {"κ = 1": 1.0, "κ = 0.1": 0.1, "κ = 0.01": 0.01}
DEFAULT = "κ = 0.01"
UNTUNED = "by value_range"  # RLSVI
FOREVER = {"gamma": 0.99}


class Made(NamedTuple):
    env: Any
    features: Any
    best: float  # the largest expected reward of an episode


class Problem(NamedTuple):
    group: str
    make: Callable[[np.random.Generator], Made]
    episodes: int
    told: tuple[float, float]  # as the range of values
    time: dict[str, Any] = {}  # noqa: RUF012, constants: a discount, or a horizon that features lack


def table(mdp: FiniteMDP) -> Made:
    return Made(mdp, OneHot(mdp.H, mdp.S, mdp.A), mdp.value)


def linear(mdp: FiniteMDP, Phi: np.ndarray) -> Made:
    return Made(mdp, Phi / np.sqrt((Phi**2).sum(axis=-1).mean()), mdp.value)


def grid_task(name: str, **settings: Any) -> Made:
    """A task of Gymnasium that has a table, with one-hot features for all time."""
    from ..environments import make

    env = make(name, **settings)
    spaces: Any = env.observation_space, env.action_space
    S, A = (int(space.n) for space in spaces)
    return Made(env, features.one_hot(None, S, A), optimum(name, **settings))


@cache
def optimum(name: str, **settings: Any) -> float:
    from ..environments import make

    return finite_mdp(make(name, **settings)).value


def untuned(what: Problem, arm: str, seed: int, quarters: int, sigma: float | None = None) -> Rows:
    """Regret, after each quarter of a run, of the bootstrap with some κ, or of RLSVI by
    ``value_range``, unless another σ is given."""
    basis_rng, env_rng, agent_rng = streams(seed)
    env, phi, best = what.make(basis_rng)
    options: Any = {**what.time, "rng": agent_rng}
    learner = (
        bootstrap(phi, what.told, KAPPAS[arm], **options)
        if arm in KAPPAS
        else rlsvi(phi, sigma=sigma, value_range=what.told, **options)
    )
    return scored(learner, env, 1.0, best, what, env_rng, quarters)


def scored(
    learner: Any,
    env: Any,
    unit: float,
    best: float,
    what: Problem,
    rng: np.random.Generator,
    quarters: int,
) -> Rows:
    finite, piece = isinstance(env, FiniteMDP), what.episodes // QUARTERS
    seed = rng if finite else int(rng.integers(2**31))
    exact = finite and learner.H is not None
    run = learner.learn(env, quarters * piece, seed, exact=exact)
    lost = np.cumsum(unit * (env.value - run.expected) if exact else best - run.reward)
    return [
        {"episode": n, "regret": round(float(lost[n - 1]), 4)}
        for n in range(piece, quarters * piece + 1, piece)
    ]
