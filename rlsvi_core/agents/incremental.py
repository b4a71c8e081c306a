r"""Appendix F.1: RLSVI from summary statistics and the newest episode alone.

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

Two forms, as for the batch agents. ``VerbatimIncremental`` keeps :math:`\Sigma^{-1}` and y. The
fast one keeps the factor :math:`U` of :math:`M = \sigma^2\Sigma^{-1}` with
:math:`U^{-\top}\sigma^2 y` as one more column (see ``regression``): forgetting multiplies both by
:math:`\sqrt{1-\nu}`, and a new row with its target is rotated in.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, get_args

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_solve, solve_triangular

from .. import checks
from ..compiled import Floats, Seed, jit
from ..episodes import Run, record_step
from ..mdp import Model, first_state, last_reward, step
from ..regression import add_row, draw, fill_normal
from .acting import choose, highest, values
from .choices import Choices, FirstEpisode, Reading
from .finite import expected_reward
from .states import ENDED, CompiledLoop, TableAgent

__all__ = ["incremental"]

Prior = Literal["forgotten", "kept"]


@jit
def _add(U: Floats, phi: Floats, target: float, nu: float, kept: float, row: Floats) -> None:
    """Forget and take in one row; ``kept`` is √λ σ if the prior stays, else 0."""
    K = phi.shape[0]
    for i in range(K):
        for j in range(i, K + 1):
            U[i, j] *= math.sqrt(1.0 - nu)
    if kept > 0.0 and nu > 0.0:
        for i in range(K):
            row[:] = 0.0
            row[i] = math.sqrt(nu) * kept
            add_row(U, row)
    for k in range(K):
        row[k] = phi[k]
    row[K] = target
    add_row(U, row)


@jit
def _sample(U: Floats, sigma: float, rng: Generator, theta: Floats) -> None:
    H, K = theta.shape
    z = np.empty((H, K))
    fill_normal(rng, z)
    theta[:] = 0.0
    for h in range(H):
        draw(U[h], U[h, :, K], sigma, z[H - 1 - h], theta[h])  # Algorithm 1 draws from the last on


@jit
def _learn(
    model: Model,
    Phi: Floats,
    U: Floats,
    theta: Floats,
    sigma: float,
    nu: Floats,
    kept: float,
    has_no_data: bool,
    exact: bool | None,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
) -> None:
    H, _, A, K = Phi.shape
    q, p, row = np.empty(A), np.empty(A), np.empty(K + 1)
    for i in range(run.reward.shape[0]):
        if i > 0 or not has_no_data:
            _sample(U, sigma, agent_rng, theta)
        if exact is not None:
            run.expected[i], run.claimed[i] = expected_reward(model, Phi, theta, 0.0, 0.0)
        s = first_state(model, rng)
        run.furthest[i], run.length[i] = s, H
        for h in range(H):
            values(Phi[h, s], theta[h], q)
            a = choose(q, 0.0, 0.0, p, agent_rng.random())
            r, s_next = step(model, h, s, a, rng)
            V = 0.0
            if h < H - 1:
                values(Phi[h + 1, s_next], theta[h + 1], q)
                V = highest(q)
            else:
                r += last_reward(model, s_next, rng)
            _add(U[h], Phi[h, s, a], r + V, nu[i, h], kept, row)
            record_step(run, i, h, a, r, s_next)
            s = s_next


class IncrementalAgent(CompiledLoop, TableAgent):
    """``nu`` is the step size: a number, or a function of the episode l = 0, 1, …"""

    def __init__(
        self,
        Phi: Any,
        lam: float,
        sigma: float,
        nu: float | Callable[[int], float],
        *,
        prior: Prior = "forgotten",
        first_episode: FirstEpisode = "prior",
        rng: Seed = None,
    ) -> None:
        choices = Choices(reading=Reading(first_episode=first_episode))
        super().__init__(Phi, lam, sigma, sample=True, choices=choices, rng=rng)
        checks.one_of("prior", prior, get_args(Prior), hint="'forgotten' is as printed.")
        self.nu, self.prior = nu, prior
        self._seen = np.zeros(self.H, np.int64)  # episodes that reached period h
        self._step_size(0)
        root = math.sqrt(self.lam) * self.sigma
        self._kept = root if prior == "kept" else 0.0
        self._U = np.tile(root * np.eye(self.K, self.K + 1), (self.H, 1, 1))

    def _step_size(self, l: int) -> float:
        nu = self.nu(l) if callable(self.nu) else self.nu
        if not (checks.is_number(nu) and 0 <= nu < 1):
            checks.fail(
                "a step size must lie in [0, 1)",
                f"nu is {nu!r} in episode {l}",
                "0 keeps everything; 1 would leave a covariance that is not finite.",
            )
        return float(nu)

    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        follows = h < self.H - 1 and s_next != ENDED
        V = (self.Phi[h + 1, s_next] @ self.theta[h + 1]).max() if follows else 0.0
        self._update(h, self.Phi[h, s, a], r + V, self._step_size(int(self._seen[h])))
        self._seen[h] += 1

    def _update(self, h: int, phi: Floats, target: float, nu: float) -> None:
        """Forget a little of period h and take in one row."""
        _add(self._U[h], phi, target, nu, self._kept, np.empty(self.K + 1))

    def _estimate(self) -> None:
        with self._refusing_the_forgotten():
            _sample(self._U, self.sigma if self.sample else 0.0, self.rng, self.theta)

    @contextmanager
    def _refusing_the_forgotten(self) -> Iterator[None]:
        """For what sets the weights."""
        with suppress(ZeroDivisionError, np.linalg.LinAlgError):
            yield
            if np.isfinite(self.theta).all():
                return
        checks.fail(
            "what is forgotten must leave a finite variance",
            "where no data come the prior is forgotten to the last digit",
            "Pass prior='kept', or a step size that falls.",
            ArithmeticError,
        )

    @property
    def _first_chunk(self) -> int:
        return super()._first_chunk // self.K

    def _learn(self, model: Model, exact: bool, rng: Generator, run: Run) -> None:
        first = int(self._seen.min())  # periods that fewer episodes reached are behind
        sizes = np.array(
            [self._step_size(l) for l in range(first, int(self._seen.max()) + len(run.reward))]
        )
        nu = sizes[self._seen - first + np.arange(len(run.reward))[:, None]]
        with self._refusing_the_forgotten():
            _learn(
                model,
                self.Phi,
                self._U,
                self.theta,
                self.sigma,
                nu,
                self._kept,
                self.has_no_data,
                exact or None,
                rng,
                self.rng,
                run,
            )

    def _count_all(self, run: Run) -> None:
        self._seen += len(run.reward)
        super()._count_all(run)


class VerbatimIncremental(IncrementalAgent):
    """Keeps Σ⁻¹ and y, and solves again before each episode."""

    _play = TableAgent._play

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.precision = np.tile(self.lam * np.eye(self.K), (self.H, 1, 1))  # Σ⁻¹
        self.y = np.zeros((self.H, self.K))

    def _update(self, h: int, phi: Floats, target: float, nu: float) -> None:
        self.precision[h] = (1 - nu) * self.precision[h] + np.outer(phi, phi) / self.sigma**2
        self.y[h] = (1 - nu) * self.y[h] + target * phi / self.sigma**2
        if self.prior == "kept":
            self.precision[h] += nu * self.lam * np.eye(self.K)

    def _estimate(self) -> None:
        with self._refusing_the_forgotten():
            for h in reversed(range(self.H)):  # in the order in which Algorithm 1 draws
                L = np.linalg.cholesky(self.precision[h])
                z = self.rng.standard_normal(self.K) if self.sample else np.zeros(self.K)
                self.theta[h] = cho_solve((L, True), self.y[h]) + solve_triangular(
                    L, z, lower=True, trans="T"
                )


def incremental(
    Phi: Any,
    lam: float = 1.0,
    sigma: float = 0.1,
    nu: float | Callable[[int], float] = 0.0,
    *,
    prior: Prior = "forgotten",
    first_episode: FirstEpisode = "prior",
    form: type[IncrementalAgent] = IncrementalAgent,
    rng: Seed = None,
) -> IncrementalAgent:
    """Incremental RLSVI with greedy actions (Algorithm 2).

    Parameters
    ----------
    Phi, lam, sigma
        As for RLSVI with an (H, S, A, K) table of features.
    nu : float or callable
        The step size, a number or a function of the episode l = 0, 1, …
    prior : {"forgotten", "kept"}
        ``"forgotten"`` with the data, as printed, or ``"kept"``.
    first_episode, rng
        As for RLSVI and its :class:`~rlsvi_core.agents.choices.Reading`, with a draw from the prior
        by default.
    form : type
        Which of the two forms.

    Returns
    -------
    IncrementalAgent

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> agent = incremental(features.tabular(chain(4)), nu=0.1, prior="kept", rng=0)
    >>> agent.learn(chain(4), 500, rng=1).reward.sum() > 10
    np.True_
    """
    if not (isinstance(form, type) and issubclass(form, IncrementalAgent)):
        checks.fail(
            "form must be IncrementalAgent or VerbatimIncremental",
            f"it is {form!r}",
            "Leave it out for the fast one.",
        )
    return form(Phi, lam, sigma, nu, prior=prior, first_episode=first_episode, rng=rng)
