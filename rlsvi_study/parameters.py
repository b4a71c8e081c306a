"""The prior of the tables of section 5, and the λ and σ of Theorem 1: those it prints, and the least
with which it is proved."""

import math
from typing import Any

import numpy as np

from rlsvi_core.envs.dirichlet import DirichletPrior


def theorem1_prior(H: int, S: int, A: int) -> DirichletPrior:
    """The symmetric prior with 1'α^R = 1'α^P = 1."""
    return DirichletPrior.symmetric(H, S, A, alpha_R=1 / 2, alpha_P=1 / S)


def theorem1_parameters(prior: DirichletPrior) -> tuple[float, float]:
    """The smallest (λ, σ) that Theorem 1 prints.

    >>> theorem1_parameters(DirichletPrior.symmetric(2, 3, 2, alpha_R=0.5, alpha_P=1 / 3))
    (2.0, 2.23606797749979)
    """
    return float((prior.m_R + prior.m_P).max()), math.sqrt(prior.shape[0] ** 2 + 1)


def min_sigma2(H: Any) -> Any:
    """The least σ² for which Lemma 2 is proved."""
    return (1 + (H - 1) ** 2) / 4


def min_sigma(H: Any) -> Any:
    return np.sqrt(min_sigma2(H))


def minimal_parameters(prior: DirichletPrior) -> tuple[float, float]:
    """The smallest (λ, σ) with which Theorem 1 is proved: λσ² = max(m_R, m_P), and this σ².

    >>> minimal_parameters(DirichletPrior.symmetric(2, 3, 2, alpha_R=0.5, alpha_P=1 / 4))
    (2.0, 0.7071067811865476)
    """
    sigma2 = min_sigma2(prior.shape[0])
    return float(max(prior.m_R.max(), prior.m_P.max())) / sigma2, math.sqrt(sigma2)
