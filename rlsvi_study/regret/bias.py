r"""Section 5, the second half of the proof: what the concentration error is made of.

Given a history, write RLSVI's value through the posterior means,

.. math::
    \tilde Q_h = \frac{n(\hat R + \hat P^\top \tilde V_{h+1})}{n + \lambda\sigma^2} + w
               = \bar R + \bar P^\top \tilde V_{h+1} + b^R + b^P + w,

which defines :math:`b^R` and :math:`b^P`.

With :math:`\rho = \lambda\sigma^2`, rewards in [−1, 0] and :math:`\tilde V \in [-H, 0]`, the
largest biases that n visits allow are

.. math::
    b^R \le \frac{n + \alpha^R_1}{n + m_R} - \frac n{n+\rho}, \qquad
    b^P \le H\Bigl(1 - \frac n{n+\rho}\Bigr) = \frac{H\rho}{n+\rho},

which for large n are :math:`(\rho - m_R + \alpha^R_1)/n` and :math:`H\rho/n`.
"""

from typing import NamedTuple

import numpy as np

from rlsvi_core.envs.dirichlet import DirichletPrior, OutcomeCounts


class BiasTerms(NamedTuple):  # each an (H, S, A) array
    b_R: np.ndarray
    b_P: np.ndarray
    w: np.ndarray


def bias_terms(
    prior: DirichletPrior, counts: OutcomeCounts, Q: np.ndarray, lam: float, sigma: float
) -> BiasTerms:
    """b^R, b^P and w of one draw Q̃, by their definitions."""
    n, M, nR = counts.n, counts.n + lam * sigma**2, counts.total
    V = np.vstack([Q[1:].max(axis=2), np.zeros(Q.shape[1])])  # nothing follows the last period
    nPV, alphaV = (np.einsum("hsat,ht->hsa", x, V) for x in (counts.P, prior.alpha_P))
    return BiasTerms(
        nR / M - (nR - prior.alpha_R[..., 0]) / (n + prior.m_R),
        nPV / M - (nPV + alphaV) / (n + prior.m_P),
        Q - (nR + nPV) / M,
    )


def largest_terms(prior: DirichletPrior, n: float, lam: float, sigma: float) -> BiasTerms:
    """The largest b^R and b^P after n visits, and w's standard deviation."""
    H, rho = prior.shape[0], lam * sigma**2
    return BiasTerms(
        (n + prior.alpha_R[..., 0]) / (n + prior.m_R) - n / (n + rho),
        H * rho / (n + rho) + 0 * prior.m_P,
        sigma / np.sqrt(n + rho) + 0 * prior.m_P,
    )


def printed_sizes(prior: DirichletPrior, n: float) -> BiasTerms:
    """The sizes that the paper gives for the three, up to logarithms."""
    H, m_R, m_P = prior.shape[0], prior.m_R, prior.m_P
    return BiasTerms(
        prior.alpha_R[..., 0] / (n + m_P), H * m_P / (n + m_P), H / np.sqrt(n + H**2 * m_R + m_P)
    )
