r"""RLSVI with linear features, with one thing changed.

Before each episode every variant fits backwards from the last period, as Algorithm 1 does. With
the rows :math:`\phi_i` of period h in A and the targets :math:`r_i + \tilde V_{h+1}(s_i')` in b,

.. math::
    \Lambda = A^\top A + \text{ridge} \cdot I, \qquad \hat\theta = \Lambda^{-1} A^\top b, \qquad
    \tilde Q_h(s, a) = \Bigl[\phi(s, a)^\top w
        + \beta\,\|\phi(s, a)\|_{\Lambda^{-1}}\Bigr]_{\text{cut to the range of values}},

:math:`\tilde V_h(s) = \max_a \tilde Q_h(s, a)`, and it acts greedily on :math:`\tilde Q`. RLSVI draws
:math:`w \sim N(\hat\theta, \sigma^2\Lambda^{-1})`, with ridge λσ² and β = 0, and does not cut.

**LSVI-UCB** (Jin, Yang, Wang and Jordan, COLT 2020, Theorem 3.1): :math:`w = \hat\theta`, ridge 1, a
cut, and :math:`\beta = c\,dH\sqrt\iota` with :math:`\iota = \log(2dT/p)`, T steps in all. The constant
c is "absolute" and has no number; here c = 1. This agrees with a restatement of the theorem. They
cut Q at H from above only; we cut from both sides. H stands for the width of the range of values,
which is H for rewards in [0, 1]. The constants are for features of norm at most 1, to which the
study scales its own. Before any data all act uniformly, as Algorithm 2 does.

**Langevin** (LMC-LSVI; Ishfaq et al., ICLR 2024): steps
:math:`w \leftarrow w - \eta\,\nabla L(w) + \sqrt{2\eta/\beta}\,\epsilon`, :math:`\epsilon \sim N(0,
I)`, on the loss :math:`L(w) = \|Aw - b\|^2 + \lambda\|w\|^2`, whose gradient is
:math:`2\Lambda(w - \hat\theta)`. As we remember it, :math:`\eta = 1/(4\lambda_{\max}(\Lambda))`,
:math:`J = 2\kappa\log(4HLd)` steps with κ the condition number of Λ and L the number of episodes,
and λ = 1. We write :math:`\sigma^2 = 1/(2\beta)`.

J steps are one Gaussian draw. Along an eigenvector of Λ with eigenvalue l put
:math:`a = 1 - 2\eta l`. A step multiplies the distance to :math:`\hat\theta` by a and adds the
variance :math:`4\eta\sigma^2`. After J steps the distance is :math:`a^J` times that of the start,
and the variance is

.. math::
    4\eta\sigma^2 (1 + a^2 + \dots + a^{2(J-1)}) = \frac{\sigma^2}{l}\cdot
    \frac{2(1 - a^{2J})}{1 + a}.

The constants above have :math:`a^J \le 1/(4HLd)` and :math:`1 \le 2/(1 + a) \le 4/3` for every l. So
with them Langevin LSVI is RLSVI with truncated values, and with a variance that is at most a third too large.
The study therefore has no runs of it but those of RLSVI with truncated values.

Accuracy: Λ is held as a triangular factor into which rows are rotated, so nothing is subtracted and
no inverse is updated.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from rlsvi_core import Agent
from rlsvi_core.agent import compiled_loop, highest
from rlsvi_core.compiled import Array, Floats, Generator, Seed, inlined, jit
from rlsvi_core.learner import ENDED, Learner
from rlsvi_core.learners.counts import table_values
from rlsvi_core.learners.sums import Statistics, add_transition, no_data
from rlsvi_core.regression import draw, fill_noise, solve_transposed


class Variant(NamedTuple):
    """What a variant changes, in the symbols above."""

    ridge: float  # λ
    sigma: float = 0.0  # σ; 0 takes the mean
    beta: float = 0.0  # β


def lsvi_ucb(
    d: int, H: int, width: float, episodes: int, factor: float = 1.0, p: float = 0.05
) -> Variant:
    """LSVI-UCB for d features of norm at most 1 and values in a range of this width; its bonus is
    ``factor`` times the published one."""
    return Variant(
        ridge=1.0, beta=factor * d * width * math.sqrt(math.log(2 * d * episodes * H / p))
    )


def after_steps(l: float, eta: float, J: int) -> tuple[float, float]:
    """What J Langevin steps along an eigenvector leave of the start, and their variance for σ = 1."""
    a = 1.0 - 2.0 * eta * l
    power = a**J
    return power, 2.0 * (1.0 - power * power) / ((1.0 + a) * l)


# --------------------------------------------------------------------------- the learner


class Fitted(NamedTuple):
    theta: Floats  # (H, K) the weights
    Q: Floats  # (H, S, A) the values


class Data(NamedTuple):
    """What compiled code works on."""

    Phi: Floats  # (H, S, A, K)
    sums: Statistics
    any: Array  # (1,) whether there are data
    variant: Variant
    limits: Floats  # (H, 2)
    row: Floats  # scratch space
    theta: Floats
    Q: Floats


@jit
def _fit(data: Data, rng: Generator) -> None:
    """Fit all periods, from the last one backwards, and fill in the weights and Q̃."""
    if not data.any[0]:
        return
    Phi, variant, w, Q, row = data.Phi, data.variant, data.theta, data.Q, data.row
    H, S, A, K = Phi.shape
    x, z = np.empty(K), np.zeros(K)
    for h in range(H - 1, -1, -1):
        U = data.sums.U[h]
        for k in range(K):
            x[k] = data.sums.c[h, k]
        if h < H - 1:
            for s in range(S):
                V = highest(Q[h + 1, s])
                for k in range(K):
                    x[k] += V * data.sums.g[h, s, k]  # A'b
        solve_transposed(U, x)
        if variant.sigma > 0.0:
            fill_noise(rng, z)
        w[h] = 0.0
        draw(U, x, variant.sigma, z, w[h])  # Algorithm 1, lines 3 and 4
        for s in range(S):
            for a in range(A):
                q = 0.0
                for k in range(K):
                    q += Phi[h, s, a, k] * w[h, k]
                if variant.beta > 0.0:
                    norm = 0.0
                    for k in range(K):
                        row[k] = Phi[h, s, a, k]
                    solve_transposed(U, row)
                    for k in range(K):
                        norm += row[k] * row[k]
                    q += variant.beta * math.sqrt(norm)
                Q[h, s, a] = min(max(q, data.limits[h, 0]), data.limits[h, 1])


@inlined
def _add(data: Data, h: int, s: int, a: int, r: float, s_next: int) -> None:
    add_transition(data.Phi, data.sums, h, s, a, r, s_next, data.row)
    data.any[0] = True


class Linear(Learner):
    """RLSVI with linear features, with one thing changed; :func:`changed` makes an agent of it."""

    loop = staticmethod(compiled_loop(_fit, table_values, _add))

    def __init__(self, Phi: Floats, variant: Variant, limits: Floats) -> None:
        self.Phi, self.variant, self.limits = Phi, variant, limits
        self.H, self.S, self.A, K = Phi.shape
        self.sums = no_data(self.H, self.S, K, math.sqrt(variant.ridge))
        self.any, self._row = np.zeros(1, bool), np.empty(K)

    def data(self, fitted: Fitted, sample: bool) -> Data:
        variant = self.variant if sample else self.variant._replace(sigma=0.0)
        return Data(self.Phi, self.sums, self.any, variant, self.limits, self._row, *fitted)

    def fit(self, rng: Generator | None, before: Fitted | None) -> Fitted:
        H, S, A, K = self.Phi.shape
        fitted, sample = Fitted(np.zeros((H, K)), np.zeros((H, S, A))), rng is not None
        _fit(self.data(fitted, sample), np.random.default_rng(0) if rng is None else rng)
        return fitted

    def values(self, fitted: Fitted, h: int, s: int) -> Floats:
        return np.array(fitted.Q[h, s])

    def add(self, h: int, s: int, a: int, r: float, s_next: int | None) -> None:
        s_next = ENDED if s_next is None else s_next
        add_transition(self.Phi, self.sums, h, s, a, r, s_next, self._row)
        self.any[0] = True


def changed(Phi: Floats, variant: Variant, value_range: Any = None, rng: Seed = None) -> Agent:
    """RLSVI with linear features, with one thing changed.

    Parameters
    ----------
    Phi : an (H, S, A, K) array of features.
    variant : what is changed: ``lsvi_ucb(…)``, or a Variant.
    value_range : (H, 2) array, the least and the largest value in each period; no cut by default.
    rng : the agent's own generator or its seed.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> mdp = chain(4)
    >>> variant = lsvi_ucb(d=8, H=3, width=1.0, episodes=200, factor=0.02)
    >>> agent = changed(features.tabular(mdp), variant, [[0, 1]] * 3, rng=2)
    >>> float(round(mdp.value - agent.learn(mdp, 200, 1, exact=True).expected[-1], 9))
    0.0
    """
    limits = np.tile([-np.inf, np.inf], (len(Phi), 1)) if value_range is None else value_range
    return Agent(Linear(Phi, variant, np.asarray(limits, float)), rng=rng)
