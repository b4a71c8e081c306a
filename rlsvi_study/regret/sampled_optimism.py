r"""Section 5, Lemma 2: RLSVI's values against the truth, given any history.

Lemma 2 says that :math:`\tilde Q_h(s,a)` is stochastically optimistic for :math:`Q^*_h(s,a)`
whatever the data: :math:`G(z) = \mathbb E(\tilde Q - z)^+ - \mathbb E(Q^* - z)^+ \ge 0` for all z.
``paired_samples`` draws both, for a history played or made up. For one period (:math:`H = 1`,
rewards −1 and 0) G is closed-form:

.. math::
    \tilde Q \sim N\Bigl(\tfrac{n \hat R}{n + \lambda\sigma^2},
    \tfrac{\sigma^2}{n + \lambda\sigma^2}\Bigr), \qquad
    -Q^* \sim \mathrm{Beta}(\alpha_1 + n_-, \alpha_2 + n_0).

The page *5. Proofs* has the proof for all H and the conditions that it needs.
"""

import math
from itertools import product

import numpy as np
from scipy.special import betainc
from scipy.stats import norm

from rlsvi_core.envs.dirichlet import DirichletPrior, OutcomeCounts, zero_counts
from rlsvi_core.learners.base import TargetSpec
from rlsvi_core.learners.counts import (
    TransitionCounts,
    empty_counts,
    value_iteration,
    with_capacity,
)
from rlsvi_core.optimism.order import Comparison, compare_samples
from rlsvi_core.runtime import checks
from rlsvi_core.runtime.compilation import Floats, Generator, jit

from ..baselines import dense_counts
from .experiments import theorem1_agent

Seed = np.random.Generator | int | None
NO_TRUNCATION = TargetSpec(1.0, -math.inf, math.inf)  # neither discounted nor clipped


def _pack_counts(counts: OutcomeCounts) -> TransitionCounts:
    """Dense counts as the tabular agents keep them."""
    seen = with_capacity(empty_counts(*counts.total.shape), int(np.count_nonzero(counts.P)))
    for new, (h, s, a, s_next) in enumerate(np.argwhere(counts.P)[::-1].tolist()):
        seen.state[new], seen.number[new] = s_next, counts.P[h, s, a, s_next]
        seen.link[new], seen.first[h, s, a] = seen.first[h, s, a], new
    seen.used[0] = len(seen.state)
    return seen._replace(n=counts.n, total=counts.total.copy())


@jit
def _fill_samples(
    seen: TransitionCounts, ridge: float, sigma: float, rng: Generator, Q: Floats
) -> None:
    nothing = np.zeros((0, *Q.shape[2:]), np.bool_)  # is forbidden
    for i in range(Q.shape[0]):
        value_iteration(seen, ridge, sigma, NO_TRUNCATION, nothing, rng, Q[i])


def sample_Q(
    counts: OutcomeCounts, lam: float, sigma: float, n: int, rng: Seed = None
) -> np.ndarray:
    """n draws of RLSVI's Q̃ given the history, an (n, H, S, A) array."""
    checks.check_positive(lam=lam, sigma=sigma)
    Q = np.empty((n, *counts.total.shape))
    _fill_samples(
        _pack_counts(counts), lam * sigma * sigma, float(sigma), np.random.default_rng(rng), Q
    )
    return Q


def paired_samples(
    prior: DirichletPrior, counts: OutcomeCounts, lam: float, sigma: float, n: int, rng: Seed = None
) -> tuple[np.ndarray, np.ndarray]:
    """n draws of Q̃ and n of Q*, both given the history; two (n, H, S, A) arrays."""
    rng = np.random.default_rng(rng)
    return sample_Q(counts, lam, sigma, n, rng), prior.posterior(counts).sample_Q(n, rng)


def check_optimism(
    prior: DirichletPrior,
    counts: OutcomeCounts,
    lam: float,
    sigma: float,
    *,
    draws: int,
    error: float = 0.01,
    rng: Seed = None,
) -> dict[str, Comparison]:
    """Q̃ against Q* at every (s, a, h) and Ṽ against V* at every (s, h), given the history; the
    error rate is that of all comparisons together."""
    both, (H, S, A) = paired_samples(prior, counts, lam, sigma, draws, rng), prior.shape
    parts = {}
    for h, s in np.ndindex(H, S):
        parts[f"V_{h}({s})"] = [Q[:, h, s].max(axis=1) for Q in both]
        parts |= {f"Q_{h}({s},{a})": [Q[:, h, s, a] for Q in both] for a in range(A)}
    return {name: compare_samples(*pair, error=error / len(parts)) for name, pair in parts.items()}


def one_visit_counts(prior: DirichletPrior, high: bool, s_next: int = 0) -> OutcomeCounts:
    """Every (s, a, h) visited once, each with the high or the low reward, all going to s_next."""
    counts = zero_counts(*prior.shape)
    counts.R[..., int(high)] = counts.P[..., s_next] = 1.0
    counts.total[:] = prior.support[int(high)]
    return counts


def simulate_counts(prior: DirichletPrior, episodes: int, rng: Seed = None) -> OutcomeCounts:
    """What RLSVI, at Theorem 1's λ and σ, has seen of an MDP from the prior."""
    rng = np.random.default_rng(rng)
    agent = theorem1_agent(prior, rng=rng)
    agent.learn(prior.sample(rng), episodes, rng)
    return dense_counts(agent.learner.transition_counts, prior.support)


def two_period_example() -> tuple[DirichletPrior, OutcomeCounts]:
    """Two periods: the next state is worth 0 or −1, known almost surely; the step there is not."""
    prior = DirichletPrior(
        np.full((2, 2, 1, 2), 1e-3), np.full((2, 2, 1, 2), 1e-3), initial=[0.5, 0.5]
    )
    counts = zero_counts(2, 2, 1)
    counts.R[0, 0, 0] = counts.P[0, 0, 0] = 200
    # Many more episodes began in the other state; they have settled the second period.
    counts.R[0, 1, 0, 1], counts.P[0, 1, 0] = 2e6, 1e6
    counts.R[1, 0, 0, 1] = counts.R[1, 1, 0, 0] = counts.P[1, :, 0, 0] = 1e6 + 200
    counts.total[0, 0, 0], counts.total[1, 1, 0] = -200, -(1e6 + 200)
    return prior, counts


def one_period_gap(
    alpha: tuple[float, float], low: float, high: float, lam: float, sigma: float, z: np.ndarray
) -> np.ndarray:
    """G(z) in closed form, for one period with ``low`` rewards −1 and ``high`` rewards 0, of which
    α = (α_1, α_2) are the prior weights."""
    M = low + high + lam * sigma**2
    mean, deviation = -low / M, np.sqrt(sigma**2 / M)
    d = (mean - z) / deviation
    gauss = (mean - z) * norm.cdf(d) + deviation * norm.pdf(d)
    a, b, w = alpha[0] + low, alpha[1] + high, np.clip(-np.asarray(z, float), 0, None)
    x = np.minimum(w, 1.0)
    return gauss - (w * betainc(a, b, x) - a / (a + b) * betainc(a + 1, b, x))


def worst_gap(ridge: float, sigma2: float) -> tuple[float, tuple[float, ...]]:
    """The least G(z), in standard deviations, over priors, histories and z, and the prior and
    history that have it; one period, with ``ridge`` λσ² in units of 1ᵀα^R."""
    weights, visits, z = (1e-3, 0.1, 1.0, 10.0), (0, 1, 3, 30, 1000), np.linspace(-6, 6, 121)
    found = []
    for *weight, low, high in product(weights, weights, visits, visits):
        alpha = weight[0], weight[1]
        a, b = alpha[0] + low, alpha[1] + high
        mean, scale = -a / (a + b), math.sqrt(a * b / (a + b + 1)) / (a + b)
        gap = (
            one_period_gap(
                alpha, low, high, ridge * sum(alpha) / sigma2, math.sqrt(sigma2), mean + scale * z
            )
            / scale
        )
        found.append((float(gap.min()), (*alpha, low, high)))
    return min(found)
