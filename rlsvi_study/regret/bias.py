r"""Section 5, the second half of the proof: what the concentration error is made of.

Given a history, write RLSVI's value through the posterior means,

.. math::
    \tilde Q_h = \frac{n(\hat R + \hat P^\top \tilde V_{h+1})}{n + \lambda\sigma^2} + w
               = \bar R + \bar P^\top \tilde V_{h+1} + b^R + b^P + w,

which defines :math:`b^R` and :math:`b^P`. Under the posterior periods are independent, so the
expected value of the greedy policy :math:`\tilde\mu` is its value in the MDP of means, and
:math:`\mathbb E[\tilde V_0 - V^{\tilde\mu}_0 \mid \mathcal H]` is *exactly* the expected sum of
:math:`b^R + b^P + w` along an episode of :math:`\tilde\mu` in that MDP.

With :math:`\rho = \lambda\sigma^2`, rewards in [−1, 0] and :math:`\tilde V \in [-H, 0]`, the
largest biases that n visits allow are

.. math::
    b^R \le \frac{n + \alpha^R_1}{n + m_R} - \frac n{n+\rho}, \qquad
    b^P \le H\Bigl(1 - \frac n{n+\rho}\Bigr) = \frac{H\rho}{n+\rho},

which for large n are :math:`(\rho - m_R + \alpha^R_1)/n` and :math:`H\rho/n`.
"""

from typing import NamedTuple

import numpy as np

from rlsvi_core.envs.dirichlet import Counts, DirichletPrior


class Terms(NamedTuple):  # each an (H, S, A) array
    b_R: np.ndarray
    b_P: np.ndarray
    w: np.ndarray


def terms(prior: DirichletPrior, counts: Counts, Q: np.ndarray, lam: float, sigma: float) -> Terms:
    """b^R, b^P and w of one draw Q̃, by their definitions."""
    n, M, nR = counts.n, counts.n + lam * sigma**2, counts.total
    V = np.vstack([Q[1:].max(axis=2), np.zeros(Q.shape[1])])  # nothing follows the last period
    nPV, alphaV = (np.einsum("hsat,ht->hsa", x, V) for x in (counts.P, prior.alpha_P))
    return Terms(
        nR / M - (nR - prior.alpha_R[..., 0]) / (n + prior.m_R),
        nPV / M - (nPV + alphaV) / (n + prior.m_P),
        Q - (nR + nPV) / M,
    )


def both_sides(
    prior: DirichletPrior, counts: Counts, Q: np.ndarray, lam: float, sigma: float
) -> tuple[float, float]:
    """E[Ṽ_0 − V^μ̃_0 | history, Q̃], and the expected sum of b^R + b^P + w along an episode."""
    mdp = prior.posterior(counts).mean_mdp()
    policy = np.eye(Q.shape[2])[Q.argmax(axis=2)]
    here = mdp.occupancy(policy)[:-1, :, None] * policy  # P(s_h = s, a_h = a)
    error = Q[0].max(axis=1) - mdp.evaluate(policy)[0]
    added = here * sum(terms(prior, counts, Q, lam, sigma))
    return float(prior.initial @ error), float(added.sum())


def largest(prior: DirichletPrior, n: float, lam: float, sigma: float) -> Terms:
    """The largest b^R and b^P after n visits, and w's standard deviation."""
    H, rho = prior.shape[0], lam * sigma**2
    return Terms(
        (n + prior.alpha_R[..., 0]) / (n + prior.m_R) - n / (n + rho),
        H * rho / (n + rho) + 0 * prior.m_P,
        sigma / np.sqrt(n + rho) + 0 * prior.m_P,
    )


def printed(prior: DirichletPrior, n: float) -> Terms:
    """The sizes that the paper gives for the three, up to logarithms."""
    H, m_R, m_P = prior.shape[0], prior.m_R, prior.m_P
    return Terms(
        prior.alpha_R[..., 0] / (n + m_P), H * m_P / (n + m_P), H / np.sqrt(n + H**2 * m_R + m_P)
    )


def pigeonhole(L: int, H: int, S: int, A: int, c: float) -> tuple[float, float]:
    """The largest possible Σ_{l,h} (n_l(s,a,h) + c)^{-1/2}, where all pairs of a period are visited
    equally often as terms fall with every visit; and the bound 2√(SAHT), T = LH."""
    rounds, rest = divmod(L, S * A)
    worst = H * (S * A * (1 / np.sqrt(np.arange(rounds) + c)).sum() + rest / np.sqrt(rounds + c))
    return float(worst), 2 * float(np.sqrt(S * A * H * L * H))
