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

Kept are the factor :math:`U` of :math:`M = \sigma^2\Sigma^{-1}` and, as one more column of it,
:math:`U^{-\top}\sigma^2 y` (see ``regression``): forgetting multiplies both by
:math:`\sqrt{1-\nu}`, and a new row with its target is rotated in.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, NoReturn, get_args

import numpy as np

from .. import checks
from ..acting import highest, row_values
from ..agent import Agent
from ..compiled import Array, Floats, Generator, Ints, Seed, inlined, jit
from ..features import Table
from ..learner import NO_DRAWS, Learner, Weights, positions
from ..loop import COMPILED, Task, compiled_loop
from ..regression import add_row, draw, fill_noise

__all__ = ["Incremental", "incremental"]

Prior = Literal["forgotten", "kept"]


class Data(NamedTuple):
    """What compiled code works on."""

    Phi: Floats  # (H, S, A, K)
    U: Floats  # (H, K, K + 1)
    reached: Ints  # (H,) episodes that reached period h
    nu: Floats  # step sizes of the episodes
    prior: float  # √λ σ if the prior stays, else 0
    any: Array  # (1,) whether there are data, or none are waited for
    sigma: float  # or 0 for the mean
    row: Floats  # scratch space
    q: Floats  # scratch space
    theta: Floats  # (H, K) the weights


@jit
def _fit(data: Data, rng: Generator) -> None:
    H, K = data.theta.shape
    data.theta[:] = 0.0
    if not data.any[0]:
        return
    z = np.zeros((H, K))
    if data.sigma > 0.0:
        fill_noise(rng, z)
    for h in range(H):  # Algorithm 1 draws from the last period on
        draw(data.U[h], data.U[h, :, K], data.sigma, z[H - 1 - h], data.theta[h])


@inlined
def _values(data: Data, h: int, s: int, q: Floats) -> None:
    row_values(data.Phi[h, s], data.theta[h], q)


@inlined
def _take_in(data: Data, h: int, s: int, a: int, target: float) -> None:
    """Forget a little of period h and take in one row."""
    U = data.U[h]
    row = data.row
    K = data.theta.shape[1]
    nu = data.nu[data.reached[h]]
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
    row[K] = target
    add_row(U, row)
    data.reached[h] += 1
    data.any[0] = True


@jit
def _add(data: Data, h: int, s: int, a: int, r: float, s_next: int) -> None:
    """The same with the weights of now in the target."""
    if h < data.theta.shape[0] - 1:
        row_values(data.Phi[h + 1, s_next], data.theta[h + 1], data.q)
        r += highest(data.q)
    _take_in(data, h, s, a, r)


_loop = compiled_loop(_fit, _values, _add)


def _forgotten() -> NoReturn:
    checks.fail(
        "what is forgotten must leave a finite variance",
        "where no data come the prior is forgotten to the last digit",
        "Pass prior='kept', or a step size that falls.",
        ArithmeticError,
    )


class Incremental(Learner):
    """Keeps a factor and a vector for each period; :func:`incremental` makes an agent of it."""

    H: int

    def __init__(
        self,
        Phi: Any,
        lam: float,
        sigma: float,
        nu: float | Callable[[int], float],
        prior: Prior = "forgotten",
        first: Literal["uniform", "prior"] = "prior",
    ) -> None:
        checks.positive(lam=lam, sigma=sigma)
        checks.one_of("prior", prior, get_args(Prior), hint="'forgotten' is as printed.")
        checks.one_of("first", first, ("uniform", "prior"), hint="'prior' is as printed.")
        hint = "It is an (H, S, A, K) array; features.tabular(mdp) is one."
        self.Phi = Table(checks.array("Phi", Phi, (None,) * 4, hint=hint)).Phi
        self.H, self.S, self.A, K = self.Phi.shape
        self.sigma = float(sigma)
        self._nu = nu
        self._sizes = np.zeros(0)
        root = math.sqrt(lam) * sigma
        self._prior = root if prior == "kept" else 0.0
        self.U = np.tile(root * np.eye(K, K + 1), (self.H, 1, 1))
        self.reached = np.zeros(self.H, np.int64)
        self.any = np.array([first == "prior"])
        self._theta: Floats = np.zeros((self.H, K))  # of this episode, for the targets
        self._more_sizes(1)

    def _more_sizes(self, episodes: int) -> None:
        """Step sizes for so many episodes more."""
        wanted = range(len(self._sizes), int(self.reached.max()) + episodes)
        sizes = [self._nu(l) if callable(self._nu) else self._nu for l in wanted]
        for l, nu in zip(wanted, sizes, strict=True):
            if not checks.is_number(nu) or not 0 <= nu < 1:
                checks.fail(
                    "a step size must lie in [0, 1)",
                    f"nu is {nu!r} in episode {l}",
                    "0 keeps everything; 1 would leave a covariance that is not finite.",
                )
        self._sizes = np.append(self._sizes, sizes)

    def compiled(self, env: Any, limit: int | None) -> Callable[[Weights, Task], None] | None:
        if type(env) not in COMPILED:
            return None

        def play(fitted: Weights, task: Task) -> None:
            self._more_sizes(len(task.run.reward))
            self._theta = fitted.theta
            try:
                _loop(env, self.H, self.H, self.data(fitted, task.sample), task)
            except ZeroDivisionError:
                _forgotten()

        return play

    def room(self) -> Weights:
        return Weights(np.zeros_like(self._theta))

    def data(self, fitted: Weights, sample: bool) -> Data:
        K = self.Phi.shape[3]
        A = self.Phi.shape[2]
        return Data(
            self.Phi,
            self.U,
            self.reached,
            self._sizes,
            self._prior,
            self.any,
            self.sigma if sample else 0.0,
            np.empty(K + 1),
            np.empty(A),
            fitted.theta,
        )

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        theta = np.zeros_like(self._theta)
        data = self.data(Weights(theta), rng is not None)
        try:
            _fit(data, NO_DRAWS if rng is None else rng)
        except ZeroDivisionError:
            theta[:] = np.nan
        if not np.isfinite(theta).all():
            _forgotten()
        if rng is not None or before is not None:  # not for a look at the mean
            self._theta = theta
        return Weights(theta)

    def values(self, fitted: Weights, h: int, s: int) -> Floats:
        q = np.empty(self.Phi.shape[2])
        h = checks.index("h", h, self.H)
        s = checks.index("s", s, self.Phi.shape[1])
        row_values(self.Phi[h, s], fitted.theta[h], q)
        return q

    def add(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: Any = None
    ) -> None:
        _, S, A, _ = self.Phi.shape
        h = checks.index("h", h, self.H)
        s = checks.index("s", s, S)
        a = checks.index("a", a, A)
        if s_next is not None:
            s_next = checks.index("s_next", s_next, S)
            if h + 1 < self.H:
                q = np.empty(A)
                row_values(self.Phi[h + 1, s_next], self._theta[h + 1], q)
                r += float(q.max() if legal_next is None else q[positions(A, legal_next)].max())
        self._more_sizes(1)
        _take_in(self.data(Weights(self._theta), True), h, s, a, r)


def incremental(
    Phi: Any,
    lam: float = 1.0,
    sigma: float = 0.1,
    nu: float | Callable[[int], float] = 0.0,
    *,
    prior: Prior = "forgotten",
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
    return Agent(Incremental(Phi, lam, sigma, nu, prior, first), rng=rng)
