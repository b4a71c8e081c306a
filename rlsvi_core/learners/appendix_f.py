r"""Appendix F: RLSVI with less to remember, and without episodes.

**Appendix F.1: RLSVI from summary statistics and the newest episode alone.**

Batch RLSVI recomputes every target with the newest :math:`\tilde\theta`. Here a target is computed
once, in the episode that saw it, with the sample that episode played by, and never again:

.. math::
    \Sigma_{l+1,h}^{-1} &= (1-\nu_l)\,\Sigma_{lh}^{-1} + \tfrac1{\sigma^2}\,\phi^\top\phi, \qquad
    \phi = \Phi_h(s_{lh}, a_{lh}), \\
    y_{l+1,h} &= (1-\nu_l)\,y_{lh} + \tfrac1{\sigma^2}\,\phi^\top
    \bigl[r_{lh} + \max_\alpha (\Phi_{h+1}\tilde\theta_{l,h+1})(s_{l,h+1}, \alpha)\bigr],

from :math:`\Sigma_{0h}^{-1} = \lambda I`, :math:`y_{0h} = 0`, and :math:`\tilde\theta_{lh} \sim
N(\bar\theta_{lh}, \Sigma_{lh})` in every episode, the first included. Three readings are settled
here:

- **The mean** is :math:`\bar\theta = \Sigma y`. The paper prints :math:`\Sigma^{-1} y`.
- **The last period.** :math:`\tilde\theta_{l,H}` does not exist; as in Algorithm 1 the target of
  period H−1 is :math:`r_{l,H-1} + r_{lH}`.
- **The prior.** The factor :math:`1-\nu_l` acts on all of :math:`\Sigma^{-1}`: it forgets
  :math:`\lambda I` together with the data, and where no new data come the variance grows like
  :math:`\prod (1-\nu_l)^{-1}`. That is ``prior="forgotten"``, as printed. ``prior="kept"`` adds
  :math:`\nu_l\lambda I` back, so that only data are forgotten.

Unrolled, row i enters the regression of episode l with weight :math:`\prod_{i<j<l}(1-\nu_j)`.

Kept are the factor :math:`U` of :math:`M = \sigma^2\Sigma^{-1}` and, as one more column of it,
:math:`U^{-\top}\sigma^2 y` (see ``regression``): forgetting multiplies both by
:math:`\sqrt{1-\nu}`, and a new row with its target is rotated in.

**Appendix F.2: RLSVI without episodes, for a discounted MDP (the paper's Algorithm 13).**

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
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ..agents import Agent
from ..features import FeatureTable
from ..regression import (
    add_row,
    check_ridge,
    fill_noise,
    fill_posterior_draw,
    solve_upper_transposed,
)
from ..runtime import checks
from ..runtime.compilation import Array, Floats, Generator, Ints, Seed, jit, jit_inline
from ..runtime.loop import fill_action_values, max_value
from .base import (
    CONVERGENCE_TOL,
    TERMINAL,
    CompiledLearner,
    Options,
    RegressionProblem,
    Weights,
    compile_parts,
)
from .sums import FeatureSums, add_transition, empty_sums, fill_linear_values

PriorHandling = Literal["forgotten", "kept"]


class IncrementalRecord(NamedTuple):
    """What compiled code works on."""

    Phi: Floats  # (H, S, A, K)
    closed: Array  # (H, S, A) what masks forbid, or empty
    U: Floats  # (H, K, K + 1)
    reached: Ints  # (H,) episodes that reached period h
    nu: Floats  # step sizes of the episodes
    prior: float  # √λ σ if the prior stays, else 0
    any: Array  # (1,) whether there are data, or none are waited for
    row: Floats  # scratch space
    q: Floats  # scratch space
    sigma: float  # or 0 for the mean
    fitted: Weights


@jit
def _fit_incremental(data: IncrementalRecord, rng: Generator) -> float:
    H, K = data.fitted.theta.shape
    data.fitted.theta[:] = 0.0
    if not data.any[0]:
        return 0.0
    z = np.zeros((H, K))
    if data.sigma > 0.0:
        fill_noise(rng, z)
    for h in range(H):  # Algorithm 1 draws from the last period on
        for k in range(K):
            if data.U[h, k, k] < 1e-300:
                raise ArithmeticError(
                    "where no data come the prior is forgotten. Pass prior='kept', or a falling nu."
                )
        fill_posterior_draw(
            data.U[h], data.U[h, :, K], data.sigma, z[H - 1 - h], data.fitted.theta[h]
        )
    return 0.0


@jit
def _add_incremental(
    data: IncrementalRecord, h: int, s: int, a: int, r: float, s_next: int
) -> None:
    """Forget a little of period h and take in one row, with the weights of now in its target."""
    U = data.U[h]
    row = data.row
    K = data.fitted.theta.shape[1]
    nu = data.nu[data.reached[h]]
    if h < data.fitted.theta.shape[0] - 1 and s_next != TERMINAL:
        fill_action_values(data.Phi[h + 1, s_next], data.fitted.theta[h + 1], data.q)
        for b in range(data.q.shape[0] if data.closed.size > 0 else 0):
            if data.closed[h + 1, s_next, b]:
                data.q[b] = -np.inf
        r += max_value(data.q)
    for i in range(K):
        for j in range(i, K + 1):
            U[i, j] *= math.sqrt(1.0 - nu)
    if data.prior > 0.0 and nu > 0.0:
        for i in range(K):
            row[:] = 0.0
            row[i] = math.sqrt(nu) * data.prior
            add_row(U, row)
    for k in range(K):
        row[k] = data.Phi[h, s, a, k]
    row[K] = r
    add_row(U, row)
    data.reached[h] += 1
    data.any[0] = True


class IncrementalLearner(CompiledLearner):
    """Keeps a factor and a vector for each period; :func:`incremental` makes an agent of it."""

    H: int
    parts = compile_parts(_fit_incremental, fill_linear_values, _add_incremental)

    def __init__(
        self,
        Phi: Any,
        lam: float,
        sigma: float,
        nu: float | Callable[[int], float],
        prior: PriorHandling = "forgotten",
        first: Literal["uniform", "prior"] = "prior",
    ) -> None:
        checks.check_positive(lam=lam, sigma=sigma)
        checks.check_one_of(
            "prior", prior, get_args(PriorHandling), hint="'forgotten' is as printed."
        )
        checks.check_one_of("first", first, ("uniform", "prior"), hint="'prior' is as printed.")
        hint = "It is an (H, S, A, K) array; features.tabular(mdp) is one."
        phi = FeatureTable(checks.check_array("Phi", Phi, (None,) * 4, hint=hint))
        self.problem = RegressionProblem(phi, lam, sigma)
        Phi = phi.Phi
        H, S, A, K = Phi.shape
        self.nu = nu
        root = math.sqrt(lam) * sigma
        record = IncrementalRecord(
            Phi,
            np.zeros((0, S, A), bool),
            np.tile(root * np.eye(K, K + 1), (H, 1, 1)),
            np.zeros(H, np.int64),
            np.zeros(0),
            root if prior == "kept" else 0.0,
            np.array([first == "prior"]),
            np.empty(K + 1),
            np.empty(A),
            float(sigma),
            Weights(np.zeros((H, K))),
        )
        super().__init__(H, S, A, record)
        self.reserve(1, 1)

    def reserve(self, episodes: int, steps: int) -> None:
        """Step sizes for so many episodes more."""
        have = self.record.nu
        wanted = range(len(have), int(self.record.reached.max()) + episodes)
        sizes = [self.nu(l) if callable(self.nu) else self.nu for l in wanted]
        for l, nu in zip(wanted, sizes, strict=True):
            if not checks.is_finite_number(nu) or not 0 <= nu < 1:
                checks.fail(f"a step size lies in [0, 1); nu is {nu!r} in episode {l}.")
        self.record = self.record._replace(nu=np.append(have, sizes))


def incremental(
    Phi: Any,
    lam: float = 1.0,
    sigma: float = 0.1,
    nu: float | Callable[[int], float] = 0.0,
    *,
    prior: PriorHandling = "forgotten",
    first: Literal["uniform", "prior"] = "prior",
    rng: Seed = None,
) -> Agent:
    """Incremental RLSVI with greedy actions (Algorithm 2).

    Parameters
    ----------
    Phi, lam, sigma
        As for RLSVI with an (H, S, A, K) table of features.
    nu : float or callable
        The step size, a number or a function of the episode l = 0, 1, …
    prior : {"forgotten", "kept"}
        ``"forgotten"`` with the data, as printed, or ``"kept"``.
    first, rng
        As for RLSVI and its options, with a draw from the prior by default.

    Returns
    -------
    Agent

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> agent = incremental(features.tabular(chain(4)), nu=0.1, prior="kept", rng=0)
    >>> agent.learn(chain(4), 500, rng=1).reward.sum() > 10
    np.True_
    """
    return Agent(IncrementalLearner(Phi, lam, sigma, nu, prior, first), rng=rng)


class ContinualFit(NamedTuple):
    """The weights until the next plan."""

    theta: Floats  # (1, K)
    w: Floats  # (K,) the perturbation in them


@jit
def continual_step(
    Phi: Floats,
    closed: Array,
    sums: FeatureSums,
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
            fill_action_values(Phi[0, s], theta, q)
            for a in range(A if closed.size > 0 else 0):
                q[a] = -np.inf if closed[0, s, a] else q[a]
            V = max_value(q)
            for k in range(K):
                x[k] += gamma * V * sums.g[0, s, k]
    solve_upper_transposed(U, x)
    if sigma > 0.0:
        fill_noise(rng, z)
    fill_posterior_draw(U, x, 0.0, z, mean)  # line 2
    fill_posterior_draw(U, noise, sigma, z, noise)  # about 0, which noise holds so far
    for k in range(K):
        w[k] = rho * w[k] + math.sqrt(1.0 - rho * rho) * noise[k]  # line 3
        theta[k] = mean[k] + w[k]  # line 4


class ContinualRecord(NamedTuple):
    """What compiled code works on."""

    Phi: Floats  # (1, S, A, K)
    closed: Array  # (1, S, A) what masks forbid, or empty
    sums: FeatureSums
    gamma: float
    rho: float
    row: Floats  # scratch space
    sigma: float  # or 0 for the mean
    sweeps: int
    fitted: ContinualFit


@jit
def _fit_continual(data: ContinualRecord, rng: Generator) -> float:
    """One round from the weights before; for the mean as many as ``sweeps`` allows, until one
    changes nothing."""
    theta = data.fitted.theta[0]
    w = data.fitted.w
    mean = data.sigma == 0.0
    if mean:
        w[:] = 0.0
    change = 0.0
    for _ in range(data.sweeps if data.sums.number[0] > 0 or data.sums.c.any() else 0):
        last = theta.copy()
        rho = 1.0 if mean else data.rho
        continual_step(data.Phi, data.closed, data.sums, data.gamma, rho, data.sigma, rng, theta, w)
        change = np.abs(theta - last).max()
        if change <= CONVERGENCE_TOL * np.abs(theta).max():
            break
    return change


@jit_inline
def _add_continual(data: ContinualRecord, h: int, s: int, a: int, r: float, s_next: int) -> None:
    add_transition(data.Phi, data.sums, 0, s, a, r, s_next, data.row)


class ContinualLearner(CompiledLearner):
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
    >>> learner = ContinualLearner(np.eye(8).reshape(4, 2, 8), gamma=0.9, rho=0.9)
    >>> agent = Agent(learner, redraw=1, rng=1)
    >>> agent.learn(lock(4, 0.9), 1, rng=2, limit=500).reward[0] > 10
    np.True_
    """

    parts = compile_parts(_fit_continual, fill_linear_values, _add_continual)

    def __init__(
        self, Phi: Any, gamma: float, rho: float, lam: float = 1.0, sigma: float = 0.1
    ) -> None:
        hint = "It is a finite (S, A, K) array; np.eye(S * A).reshape(S, A, -1) is the tabular one."
        phi = FeatureTable(checks.check_array("Phi", Phi, (None,) * 3, hint=hint))
        checks.check_positive(lam=lam, sigma=sigma)
        hint = "Use rho=gamma for lasting perturbations, rho=0 for fresh ones."
        self.gamma = checks.check_range("gamma", gamma, 0, 1, hint="It discounts what follows.")
        self.rho = checks.check_range("rho", rho, 0, 1, hint=hint)
        self.problem = RegressionProblem(phi, lam, sigma, self.gamma, options=Options(sweeps=1))
        check_ridge(float(np.einsum("...k,...k", phi.Phi, phi.Phi).max()), self.problem.ridge)
        _, S, A, K = phi.Phi.shape
        record = ContinualRecord(
            phi.Phi,
            np.zeros((0, S, A), bool),
            empty_sums(1, S, K, math.sqrt(lam) * sigma),
            self.gamma,
            self.rho,
            np.empty(K),
            float(sigma),
            1,
            ContinualFit(np.zeros((1, K)), np.zeros(K)),
        )
        super().__init__(None, S, A, record)
