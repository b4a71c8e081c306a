r"""Section 5, Lemma 2 and its edges: RLSVI's values against the truth, given any history.

Lemma 2 says that :math:`\tilde Q_h(s,a)` is stochastically optimistic for :math:`Q^*_h(s,a)`
whatever the data: :math:`G(z) = \mathbb E(\tilde Q - z)^+ - \mathbb E(Q^* - z)^+ \ge 0` for all z.
``paired_samples`` draws both. For one period (:math:`H = 1`, rewards −1 and 0) G is closed-form:

.. math::
    \tilde Q \sim N\Bigl(\tfrac{n \hat R}{n + \lambda\sigma^2},
    \tfrac{\sigma^2}{n + \lambda\sigma^2}\Bigr), \qquad
    -Q^* \sim \mathrm{Beta}(\alpha_1 + n_-, \alpha_2 + n_0).

A proof for all H. Put :math:`\rho = \lambda\sigma^2`, :math:`m_R = \mathbf 1^\top\alpha^R`,
likewise :math:`m_P`, and suppose :math:`\rho \ge \max(m_R, m_P)` and :math:`\sigma^2 \ge \tfrac\pi8
(1 + (H-1)^2)`, which Theorem 1's conditions imply. Fix :math:`v = V^*_{h+1} \in [-(H-1), 0]^S`.
As :math:`R, P^\top v \le 0`, shrinking them by :math:`(n + m)/(n + \rho) \le 1` only raises
:math:`Q^*_h = R + P^\top v`. By Lemma 1 the shrunk parts lie, in the increasing convex order, below
normals of mean :math:`(n\hat R - \alpha^R_1)/(n + \rho) \le n\hat R/(n+\rho)`, respectively
:math:`(n\hat P + \alpha^P)^\top v/(n+\rho) \le n \hat P^\top v/(n+\rho)`, with total variance at
most :math:`\tfrac\pi8(1 + (H-1)^2)/(n+\rho)`. So :math:`Q^*_h`, all :math:`(s, a)` at once, lies
below :math:`n(\hat R + \hat P^\top v)/(n+\rho) + w`, and an increasing convex function of that is
one of :math:`v`. Now :math:`v` may be replaced by :math:`\tilde V_{h+1}`, by induction on the
*vector*: that each coordinate is optimistic would not do, since a maximum also depends on how
coordinates vary together.
"""

import math

import numpy as np
from scipy.special import betainc
from scipy.stats import norm

from ..envs.prior import Counts, DirichletPrior, no_counts
from .tabular import rlsvi, sample_Q


def paired_samples(prior: DirichletPrior, counts: Counts, lam: float, sigma: float, n: int,
                   rng=None) -> tuple[np.ndarray, np.ndarray]:
    """n draws of Q̃ and n of Q*, both given the history; two (n, H, S, A) arrays."""
    rng = np.random.default_rng(rng)
    return sample_Q(counts, lam, sigma, n, rng), prior.posterior(counts).sample_Q(n, rng)


def one_visit(prior: DirichletPrior, high: bool, s_next: int = 0) -> Counts:
    """Every (s, a, h) visited once, each with the high or the low reward, all going to s_next."""
    counts = no_counts(*prior.shape)
    counts.R[..., int(high)] = counts.P[..., s_next] = 1.0
    counts.total[:] = prior.support[int(high)]
    return counts


def played(prior: DirichletPrior, episodes: int, rng=None) -> Counts:
    """What RLSVI, at Theorem 1's λ and σ, has seen of an MDP from the prior."""
    rng = np.random.default_rng(rng)
    agent = rlsvi(prior, rng=rng)
    agent.play(prior.sample(rng), episodes, rng)
    return agent.counts


def random_terminal(visits: int = 20) -> tuple[DirichletPrior, Counts]:
    """A history where a random terminal reward defeats Lemma 2 for action 0.

    One state, one period, two actions. Action 0 was tried once and met the terminal reward −1;
    action 1 was tried often and always met 0, which says that −1 was bad luck. The posterior of
    the terminal reward pools both; RLSVI's regression does not.
    """
    prior = DirichletPrior(np.full((1, 1, 2, 2), (0.1, 0.9)), np.ones((1, 1, 2, 1)),
                           alpha_T=[[0.5, 0.5]])
    counts = no_counts(1, 1, 2)
    counts.R[0, 0, :, 1] = counts.P[0, 0, :, 0] = 1, visits
    counts.T[0] = 1, visits
    counts.total[0, 0, 0] = -1.0
    return prior, counts


def one_period_law(low, high, lam, sigma):
    """Mean and variance of Q̃ after ``low`` rewards −1 and ``high`` rewards 0 in one period."""
    M = low + high + lam * sigma**2
    return -low / M, sigma**2 / M


def one_period_gap(alpha, low, high, lam, sigma, z):
    """G(z) in closed form for one period and the prior weights α = (α_1, α_2) of −1 and 0."""
    mean, variance = one_period_law(low, high, lam, sigma)
    deviation = np.sqrt(variance)
    d = (mean - z) / deviation
    gauss = (mean - z) * norm.cdf(d) + deviation * norm.pdf(d)
    a, b, w = alpha[0] + low, alpha[1] + high, np.clip(-np.asarray(z, float), 0, None)
    x = np.minimum(w, 1.0)
    return gauss - (w * betainc(a, b, x) - a / (a + b) * betainc(a + 1, b, x))


def enough_sigma(H: int) -> float:
    """The σ that the proof above needs; Theorem 1 asks for √(H² + 1)."""
    return math.sqrt(math.pi / 8 * (1 + (H - 1) ** 2))
