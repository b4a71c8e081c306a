r"""Section 5: the regret of Theorem 1 measured, in expectation over the prior.

Each seed draws an MDP from the symmetric prior with total weights :math:`\mathbf 1^\top\alpha^R =
\mathbf 1^\top\alpha^P = 1` (so that Theorem 1's smallest λ is 2 whatever S is) and all agents meet
the same MDPs. Regret is :math:`\sum_l (V^*_0 - V^{\mu_l}_0)`, each term exact, so the mean over
seeds estimates the theorem's expectation without noise from the rewards.

With :math:`T = LH` the theorem's :math:`\sqrt{H^3 S A T}` is :math:`H^2 \sqrt{S A L}`: after L
episodes, powers ½ of L, S and A, and 2 of H.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from rlsvi_core.agents import tabular
from rlsvi_core.envs.dirichlet import DirichletPrior

from ..experiment import Experiment, Scale, streams

BOUND = {"episode": 0.5, "S": 0.5, "A": 0.5, "H": 2.0}  # powers in H²√(SAL)
BASE = {"H": 5, "S": 5, "A": 3}
COMPARED = 4**7  # episodes after which problems of different sizes are compared


def make_prior(H: int, S: int, A: int) -> DirichletPrior:
    return DirichletPrior.symmetric(H, S, A, alpha_R=1 / 2, alpha_P=1 / S)


def make_agent(agent: str, prior: DirichletPrior, episodes: int, rng) -> tabular.TabularAgent:
    match agent:
        case "rlsvi":  # Theorem 1's λ and σ
            return tabular.rlsvi(prior, rng=rng)
        case "rlsvi-small":
            return tabular.rlsvi(prior, 1.0, 0.5, rng=rng)
        case "psrl":
            return tabular.psrl(prior, rng=rng)
        case "ucbvi":
            return tabular.ucbvi(prior, episodes, rng=rng)
        case "ucbvi-small":  # a hundredth of the published bonus
            return tabular.ucbvi(prior, episodes, 0.01, rng=rng)
        case "uniform":
            return tabular.uniform(prior, rng=rng)
    raise ValueError(f"agent must be one of {', '.join(AGENTS)}; it is {agent!r}.")


AGENTS = ("rlsvi", "rlsvi-small", "psrl", "ucbvi", "ucbvi-small", "uniform")


def _rows(run: tabular.Run, every: list[int]):
    """Cumulative sums at some episodes, to the nearest millionth."""
    regret, concentration = run.regret.cumsum(), run.concentration.cumsum()
    return [{"episode": l, "regret": round(regret[l - 1], 6),
             "concentration": round(concentration[l - 1], 6)} for l in every]


def bayesian_regret(agent: str, H: int, S: int, A: int, seed: int, episodes: int):
    """Regret along one run on one MDP from the prior, at episodes 1, 4, 16, …"""
    prior = make_prior(H, S, A)
    mdp_rng, env_rng, agent_rng = streams((seed, H, S, A))
    learner = make_agent(agent, prior, episodes, agent_rng)
    run = learner.play(prior.sample(mdp_rng), episodes, env_rng)
    return _rows(run, [4**k for k in range(12) if 4**k <= episodes])


def scale_of_parameters(problem: str, lam: float, sigma: float, seed: int, episodes: int):
    """RLSVI's regret, and the uniform policy's, with λ and σ as many times Theorem 1's."""
    prior = make_prior(**{"bandit": {"H": 1, "S": 1, "A": 2}, "base": BASE}[problem])
    mdp_rng, env_rng, agent_rng = streams(seed)
    mdp, least = prior.sample(mdp_rng), tabular.theorem_1(prior)
    learner = tabular.rlsvi(prior, lam * least[0], sigma * least[1], agent_rng)
    run = learner.play(mdp, episodes, env_rng)
    worst = tabular.uniform(prior, agent_rng).play(mdp, 1, env_rng)
    return [{**row, "uniform": round(row["episode"] * worst.regret[0], 6)}
            for row in _rows(run, [episodes // 16, episodes])]


# --------------------------------------------------------------------------- summaries

class Power(NamedTuple):
    """Mean regret ∝ x^power, with a 95% interval."""

    power: float
    low: float
    high: float


def expected_regret(table: pd.DataFrame, by) -> pd.DataFrame:
    """Mean over seeds and its standard error, for each cell."""
    return table.groupby(by).regret.agg(["mean", "sem"])


def sizes(table: pd.DataFrame, agent: str, variable: str) -> pd.DataFrame:
    """The runs of one agent in which only ``variable`` departs from the base.

    For L (``episode``) these are the last three points of the long runs: a factor 16.
    """
    kept = table[table.agent == agent]
    for name, value in BASE.items():
        if name != variable:
            kept = kept[kept[name] == value]
    if variable == "episode":
        return kept[(kept.episodes > COMPARED) & (kept.episode * 16 >= kept.episodes)]
    return kept[(kept.episodes == COMPARED) & (kept.episode == COMPARED)]


def power(table: pd.DataFrame, agent: str, variable: str, *, repeats: int = 400,
          rng=0) -> Power:
    """Slope of log mean regret on log x by least squares; bootstrap over MDPs."""
    runs = sizes(table, agent, variable).pivot(index="seed", columns=variable, values="regret")
    x, values = np.log(runs.columns.to_numpy(float)), runs.to_numpy()
    x = x - x.mean()
    rng = np.random.default_rng(rng)

    def slope(y):
        return (x * np.log(y.mean(axis=0))).sum() / (x * x).sum()

    if variable == "episode":  # a curve: its points belong to one MDP
        draws = [slope(values[rng.integers(len(values), size=len(values))])
                 for _ in range(repeats)]
    else:  # different sizes are different MDPs
        draws = [slope(np.column_stack([rng.choice(column, column.size) for column in values.T]))
                 for _ in range(repeats)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return Power(float(slope(values)), float(low), float(high))


def wrong_arm_bound(lam: float, sigma: float, episodes: int) -> float:
    """A proven lower bound for RLSVI's expected regret on the bandit (H = S = 1, A = 2).

    After l episodes the two means differ by at most l/(l + λσ²) and the variances sum to at least
    2σ²/(l + λσ²), so the worse arm is played with probability at least Φ(−l/√(2σ²(l + λσ²))).
    Each time costs |R_1 − R_2|, whose mean is 4/π² for the Dirichlet(½, ½) prior.
    """
    l = np.arange(episodes)
    return float(4 / np.pi**2 * norm.cdf(-l / np.sqrt(2 * sigma**2 * (l + lam * sigma**2))).sum())


# --------------------------------------------------------------------------- the figures

def _grid(agents, episodes, **sizes):
    return tuple({"agent": agent, **BASE, "episodes": episodes, name: value} for agent in agents
                 for name, values in sizes.items() for value in values)


_LONG = _grid(AGENTS, 4**8, H=(5,))
_SIZES = _grid(("rlsvi", "rlsvi-small", "ucbvi-small", "uniform"), COMPARED, H=(2, 3, 5, 8, 12),
               S=(2, 10, 20), A=(2, 6, 12))

THEOREM_1 = Experiment(
    "theorem1", "Section 5, Theorem 1", "Expected regret over the prior, by L, S, A and H",
    bayesian_regret, {
        "quick": Scale({}, _grid(("rlsvi", "uniform"), COMPARED, H=(5,)), range(2)),
        "paper": Scale({}, (*_LONG, *_SIZES), range(32))})

_FACTORS = tuple(10.0**k for k in range(7))
_SCALES = tuple({"problem": problem, "lam": lam, "sigma": sigma} for problem in ("bandit", "base")
                for lam, sigma in (*((x, 1.0) for x in _FACTORS),
                                   *((1.0, x) for x in _FACTORS[1:])))

THEOREM_1_SCALE = Experiment(
    "theorem1-scale", "Section 5, Theorem 1", "Regret as λ and σ grow beyond Theorem 1's",
    scale_of_parameters, {
        "quick": Scale({"episodes": 2**13}, _SCALES[:3], range(3)),
        "paper": Scale({"episodes": 2**13}, _SCALES, range(50))})

EXPERIMENTS = {e.name: e for e in (
    THEOREM_1, THEOREM_1_SCALE)}
