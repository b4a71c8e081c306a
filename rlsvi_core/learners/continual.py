r"""Appendix F.2: RLSVI without episodes, for a discounted MDP (the paper's Algorithm 13).

After every step the agent makes one round of value iteration by regression on all transitions so
far, with the current sample in the targets, and moves the perturbation w:

.. math::
    b_\tau = r_\tau + \gamma \max_\alpha (\Phi\tilde\theta_t)(s_{\tau+1}, \alpha), \qquad
    \bar\theta_{t+1} = \tfrac1{\sigma^2}\Sigma_{t+1}A^\top b, \qquad
    \tilde\theta_{t+1} = \bar\theta_{t+1} + w_{t+1},

.. math:: w_{t+1} \sim N(\rho\, w_t,\ (1-\rho^2)\,\Sigma_{t+1}), \qquad w_0 = 0.

For a fixed Σ this has the marginal law N(0, Σ) in the long run whatever :math:`0 \le \rho < 1` is,
and ρ is the correlation of consecutive perturbations. That is the one choice to make:

- **as printed** :math:`\rho = \sqrt{1-\gamma^2}`: 0.14 for γ = 0.99, so nearly
  a fresh draw every step;
- **corrected** :math:`\rho = \gamma`, the two coefficients exchanged: a perturbation that lasts as
  long as the discount looks ahead, which is what the text says it is for;
- ρ = 0 is a fresh draw every step, and ρ = 1 none at all (w stays 0): least-squares Q-iteration,
  the dithering control when ε > 0.

Kept are the factor of :math:`M = A^\top A + \lambda\sigma^2 I`, :math:`c = \sum \phi r` and one
K-vector :math:`g(s') = \sum_{\tau: s_{\tau+1} = s'} \phi_\tau` per state, whatever t is: the sums
of ``sums``, for one period that follows itself.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..acting import highest, row_values
from ..compiled import Floats, Generator, jit
from ..features import Table
from ..learner import ENDED, NO_DRAWS, ROUNDING, Learner, check_growth, check_settled, most_sweeps
from ..regression import check_ridge, draw, fill_noise, solve_transposed
from .sums import Statistics, add_transition, no_data

__all__ = ["Continual"]


class Moved(NamedTuple):
    """The weights until the next plan."""

    theta: Floats  # (1, K)
    w: Floats  # (K,) the perturbation in them


@jit
def estimate(
    Phi: Floats,
    sums: Statistics,
    gamma: float,
    rho: float,
    sigma: float,
    rng: Generator,
    theta: Floats,
    w: Floats,
) -> None:
    """Algorithm 13: from θ̃_t and w_t to θ̃_{t+1} and w_{t+1}, after the newest transition; with
    σ = 0 to the mean."""
    _, S, A, K = Phi.shape
    U = sums.U[0]
    x = sums.c[0].copy()
    q = np.empty(A)
    mean = np.zeros(K)
    noise = np.zeros(K)
    z = np.zeros(K)
    for s in range(S):  # line 1: A'b, as sums over the states that followed
        if sums.seen[0, s]:
            row_values(Phi[0, s], theta, q)
            V = highest(q)
            for k in range(K):
                x[k] += gamma * V * sums.g[0, s, k]
    solve_transposed(U, x)
    if sigma > 0.0:
        fill_noise(rng, z)
    draw(U, x, 0.0, z, mean)  # line 2
    draw(U, noise, sigma, z, noise)  # about 0, which noise holds so far
    for k in range(K):
        w[k] = rho * w[k] + math.sqrt(1.0 - rho * rho) * noise[k]  # line 3
        theta[k] = mean[k] + w[k]  # line 4


class Continual(Learner):
    """Algorithm 13, for an agent that plans after every step: ``Agent(…, redraw=1)``.

    Parameters
    ----------
    Phi : (S, A, K) array_like
        A table of features.
    gamma : float
        The discount factor.
    rho : float
        The correlation of consecutive perturbations; see above.
    lam, sigma : float
        As for RLSVI.

    Examples
    --------
    >>> from rlsvi_core import Agent
    >>> from rlsvi_core.envs import lock
    >>> learner = Continual(np.eye(8).reshape(4, 2, 8), gamma=0.9, rho=0.9)
    >>> agent = Agent(learner, redraw=1, rng=1)
    >>> agent.learn(lock(4, 0.9), 1, rng=2, limit=500).reward[0] > 10
    np.True_
    """

    S: int
    A: int

    def __init__(
        self, Phi: Any, gamma: float, rho: float, lam: float = 1.0, sigma: float = 0.1
    ) -> None:
        hint = "It is a finite (S, A, K) array; np.eye(S * A).reshape(S, A, -1) is the tabular one."
        self.Phi = Table(checks.array("Phi", Phi, (None,) * 3, hint=hint)).Phi
        checks.positive(lam=lam, sigma=sigma)
        hint = "Use rho=gamma for lasting perturbations, rho=0 for fresh ones."
        self.gamma = checks.between("gamma", gamma, 0, 1, hint="It discounts what follows.")
        self.rho = checks.between("rho", rho, 0, 1, hint=hint)
        check_ridge(float(np.einsum("...k,...k", self.Phi, self.Phi).max()), lam * sigma**2)
        self.sigma = float(sigma)
        _, self.S, self.A, self.K = self.Phi.shape
        self.sums = no_data(1, self.S, self.K, math.sqrt(lam) * sigma)
        self.any = False  # whether there are data

    def fit(self, rng: Generator | None, before: Moved | None) -> Moved:
        """One round from the weights before; for the mean, where there were none, as many as
        change something."""
        theta = np.zeros((1, self.K))
        w = np.zeros(self.K)
        if before is not None:
            theta[:] = before.theta
            w[:] = before.w
        if rng is not None and self.any:
            estimate(self.Phi, self.sums, self.gamma, self.rho, self.sigma, rng, theta[0], w)
            check_growth(theta)
        if rng is None and self.any:
            w[:] = 0.0
            for _ in range(most_sweeps(self.gamma) if before is None else 1):
                last = theta.copy()
                estimate(self.Phi, self.sums, self.gamma, 1.0, 0.0, NO_DRAWS, theta[0], w)
                check_growth(theta)
                change = np.abs(theta - last).max()
                size = np.abs(theta).max()
                if change <= ROUNDING * size:
                    break
            if before is None:
                check_settled(self.gamma, change, size)
        return Moved(theta, w)

    def add(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: Any = None
    ) -> None:
        if legal_next is not None:
            checks.fail(
                "continual RLSVI knows no masks",
                f"legal_next is {legal_next!r}",
                "Let every action be allowed in every state.",
            )
        s = checks.index("s", s, self.S)
        a = checks.index("a", a, self.A)
        s_next = ENDED if s_next is None else checks.index("s_next", s_next, self.S)
        add_transition(self.Phi, self.sums, 0, s, a, r, s_next, np.empty(self.K))
        self.any = True

    def values(self, fitted: Moved, h: int, s: int) -> Floats:
        q = np.empty(self.A)
        row_values(self.Phi[0, checks.index("s", s, self.S)], fitted.theta[0], q)
        return q
