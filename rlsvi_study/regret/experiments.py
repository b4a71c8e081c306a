r"""Section 5: the regret of Theorem 1 measured, in expectation over the prior.

Each seed draws an MDP from the symmetric prior with total weights :math:`\mathbf 1^\top\alpha^R =
\mathbf 1^\top\alpha^P = 1` (so that Theorem 1's smallest λ is 2 whatever S is) and all agents meet
the same MDPs. Regret is :math:`\sum_l (V^*_0 - V^{\mu_l}_0)`, each term exact, so the mean over
seeds estimates the theorem's expectation without noise from the rewards.

With :math:`T = LH` the theorem's :math:`\sqrt{H^3 S A T}` is :math:`H^2 \sqrt{S A L}`: after L
episodes, powers ½ of L, S and A, and 2 of H.

**theorem1-bound.** λ and σ are the smallest that Theorem 1 prints, or the smallest that its repaired
proof needs: :math:`\lambda\sigma^2 = 1` and :math:`\sigma^2 = \tfrac14 (1 + (H-1)^2)`.

**theorem1-tuned.** RLSVI's σ and UCBVI's bonus are multiplied by the same factors, six a decade. The
factor that is best on the first half of the MDPs is judged on the other half. A first table had two
a decade; the best of UCBVI's lay between them.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import rlsvi_core
from rlsvi_core import Agent, Options, Run, features
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.runtime.compilation import Generator, Seed

from .. import baselines
from ..engine import Plot, Rows, define_experiment, grid, quick_scale, streams
from ..parameters import minimal_parameters, theorem1_parameters, theorem1_prior

BOUND_EXPONENTS = {"episode": 0.5, "S": 0.5, "A": 0.5, "H": 2.0}  # powers in H²√(SAL)
BASE = {"H": 5, "S": 5, "A": 3}
COMPARISON_EPISODES = 4**7  # episodes after which problems of different sizes are compared


def theorem1_agent(
    prior: DirichletPrior, lam: float | None = None, sigma: float | None = None, rng: Seed = None
) -> Agent:
    """RLSVI with one-hot features and a first episode from the prior; Theorem 1's λ and σ unless
    given."""
    least = theorem1_parameters(prior)
    return rlsvi_core.rlsvi(
        features.one_hot(*prior.shape),
        least[0] if lam is None else lam,
        least[1] if sigma is None else sigma,
        options=Options(first="prior"),
        rng=rng,
    )


AGENTS: dict[str, Callable[[DirichletPrior, int, Generator], Agent]] = {
    "rlsvi": lambda prior, _, rng: theorem1_agent(prior, rng=rng),  # Theorem 1's λ and σ
    "rlsvi-small": lambda prior, _, rng: theorem1_agent(prior, 1.0, 0.5, rng=rng),
    "psrl": lambda prior, _, rng: baselines.psrl(prior, rng=rng),
    "ucbvi": lambda prior, episodes, rng: baselines.ucbvi(prior, episodes, rng=rng),
    # a hundredth of the published bonus
    "ucbvi-small": lambda prior, episodes, rng: baselines.ucbvi(prior, episodes, 0.01, rng=rng),
    "uniform": lambda prior, _, rng: baselines.uniform_agent(prior, rng=rng),
}


def _checkpoint_rows(value: float, run: Run, every: list[int]) -> Rows:
    """Cumulative sums at some episodes, to the nearest millionth."""
    regret, concentration = ((x - run.expected).cumsum() for x in (value, run.predicted_value))
    return [
        {
            "episode": l,
            "regret": round(regret[l - 1], 6),
            "concentration": round(concentration[l - 1], 6),
        }
        for l in every
    ]


def bayesian_regret(agent: str, H: int, S: int, A: int, seed: int, episodes: int) -> Rows:
    """Regret along one run on one MDP from the prior, at episodes 1, 4, 16, …"""
    prior = theorem1_prior(H, S, A)
    mdp_rng, env_rng, agent_rng = streams((seed, H, S, A))
    learner = AGENTS[agent](prior, episodes, agent_rng)
    mdp = prior.sample(mdp_rng)
    run = learner.learn(mdp, episodes, env_rng, exact=True)
    return _checkpoint_rows(mdp.optimal_value, run, [4**k for k in range(12) if 4**k <= episodes])


def tuned_regret(agent: str, factor: float, seed: int, episodes: int) -> Rows:
    """Regret with a multiple of what the analyses take: of UCBVI's bonus, or of RLSVI's σ."""
    prior = theorem1_prior(**BASE)
    mdp_rng, env_rng, agent_rng = streams(seed)
    least = theorem1_parameters(prior)
    learner = {
        "ucbvi": lambda: baselines.ucbvi(prior, episodes, factor, rng=agent_rng),
        "rlsvi": lambda: theorem1_agent(prior, least[0], factor * least[1], agent_rng),
    }[agent]()
    mdp = prior.sample(mdp_rng)
    run = learner.learn(mdp, episodes, env_rng, exact=True)
    return _checkpoint_rows(mdp.optimal_value, run, [4**k for k in range(12) if 4**k <= episodes])


PARAMETERS = {"printed": theorem1_parameters, "repaired": minimal_parameters}


def regret_beside_uniform(
    parameters: str, H: int, S: int, A: int, seed: int, episodes: int
) -> Rows:
    """RLSVI's regret on one MDP from the prior at episodes 1, 4, 16, …, and uniform play's."""
    prior = theorem1_prior(H, S, A)
    mdp_rng, env_rng, agent_rng = streams((seed, H, S, A))
    mdp, (lam, sigma) = prior.sample(mdp_rng), PARAMETERS[parameters](prior)
    agent = theorem1_agent(prior, lam, sigma, agent_rng)
    regret = (mdp.optimal_value - agent.learn(mdp, episodes, env_rng, exact=True).expected).cumsum()
    uniform = mdp.regret(np.full((H, S, A), 1 / A))
    return [
        {"episode": L, "regret": round(float(regret[L - 1]), 6), "uniform": round(L * uniform, 6)}
        for L in (4**k for k in range(9))
        if L <= episodes
    ]


# --------------------------------------------------------------------------- summaries


def runs_by_size(table: pd.DataFrame, agent: str, variable: str) -> pd.DataFrame:
    """The runs of one agent in which only ``variable`` departs from the base.

    For L (``episode``) these are the last three points of the long runs: a factor 16.
    """
    kept = table[table.agent == agent]
    for name, value in BASE.items():
        if name != variable:
            kept = kept[kept[name] == value]
    if variable == "episode":
        return kept[(kept.episodes > COMPARISON_EPISODES) & (kept.episode * 16 >= kept.episodes)]
    return kept[(kept.episodes == COMPARISON_EPISODES) & (kept.episode == COMPARISON_EPISODES)]


def fitted_power(table: pd.DataFrame, agent: str, variable: str) -> float:
    """Slope of log mean regret on log x by least squares."""
    runs = runs_by_size(table, agent, variable).pivot(
        index="seed", columns=variable, values="regret"
    )
    x, values = np.log(runs.columns.to_numpy(float)), runs.to_numpy()
    x = x - x.mean()
    return float((x * np.log(values.mean(axis=0))).sum() / (x * x).sum())


# --------------------------------------------------------------------------- the tables


def _cells_around_base(
    agents: Iterable[str], episodes: int, **sizes: Iterable[int]
) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"agent": agent, **BASE, "episodes": episodes, name: value}
        for agent in agents
        for name, values in sizes.items()
        for value in values
    )


_LEARNERS = "rlsvi", "rlsvi-small", "ucbvi-small", "uniform"
_SIZES = {"H": (2, 3, 5, 8, 12), "S": (2, 10, 20), "A": (2, 6, 12)}
_FACTORS = [round(10 ** (-k / 6), 5) for k in range(20)]
_TUNED = grid(agent=("rlsvi", "ucbvi"), factor=_FACTORS)
OTHERS = ((1, 1, 2), (1, 1, 10), (2, 2, 2), (3, 2, 2), (2, 5, 3), (4, 3, 4), (8, 2, 2), (3, 5, 1))


def _bound_cells(sizes: Iterable[tuple[int, ...]], episodes: int) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"parameters": name, "H": H, "S": S, "A": A, "episodes": episodes}
        for name in PARAMETERS
        for H, S, A in sizes
    )


_ALONG_L = Plot(  # at the base's sizes, which alone have so many episodes
    "episode",
    "regret",
    show="mean",
    log="xy",
    where={"episodes": (4**8,)},
    xlabel="episodes L",
    ylabel="expected regret",
)

EXPERIMENTS = {
    one.name: one
    for one in (
        define_experiment(
            "theorem1",
            place="Section 5, Theorem 1",
            title="Expected regret over the prior, by L, S, A and H",
            run=bayesian_regret,
            cells=_cells_around_base(AGENTS, 4**8, H=(5,))
            + _cells_around_base(_LEARNERS, COMPARISON_EPISODES, **_SIZES),
            seeds=range(32),
            quick=quick_scale(
                cells=_cells_around_base(("rlsvi", "uniform"), COMPARISON_EPISODES, H=(5,)),
                seeds=range(2),
            ),
            plot=replace(_ALONG_L, lines=("agent",)),
        ),
        define_experiment(
            "theorem1-tuned",
            place="Section 5, after Theorem 1",
            title="RLSVI's noise and UCBVI's bonus, scaled until they learn",
            run=tuned_regret,
            constants={"episodes": 4**8},
            cells=_TUNED,
            seeds=range(100, 164),
            quick=quick_scale(cells=_TUNED[::10], seeds=range(100, 102), episodes=4**6),
            plot=Plot(
                "factor",
                "regret",
                ("agent",),
                show="mean",
                log="xy",
                xlabel="factor of σ, or of the bonus",
                ylabel="expected regret",
            ),
        ),
        define_experiment(
            "theorem1-bound",
            place="Section 5, Theorem 1",
            title="Expected regret beside the explicit bound, by L",
            run=regret_beside_uniform,
            cells=_bound_cells((tuple(BASE.values()),), 4**8) + _bound_cells(OTHERS, 4**7),
            seeds=range(32),
            quick=quick_scale(cells=_bound_cells(OTHERS[:1], 4**7), seeds=range(2)),
            plot=replace(_ALONG_L, lines=("parameters",)),
        ),
    )
}
