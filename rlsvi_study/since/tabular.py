r"""Tabular RLSVI as later work has changed it, in one value iteration.

Write :math:`n` for the visits to :math:`(s, a, h)` before episode :math:`k`, :math:`\hat R` and
:math:`\hat P` for sums of what was seen there over :math:`n + \text{ridge}`, and
:math:`\ell = \log(2HSAk)`. Every variant acts greedily, ties at random, on

.. math::
    \tilde Q_h(s, a) = \hat R + \hat P^\top \tilde V_{h+1} + \frac{\nu}{\sqrt{n + \text{ridge}}}\, z,
    \qquad \tilde V_h = \max_a \tilde Q_h, \qquad z \sim N(0, 1).

With a constant :math:`\nu = \sigma` this is RLSVI, and ridge = :math:`\lambda\sigma^2`. Before any
visit a value has the standard deviation :math:`\nu/\sqrt{\text{ridge}}`. The published variants have
ridge 1, and rewards from 0 to 1:

- **Russo (2019)**, the size of the noise: :math:`\nu^2 = \beta_k = \frac12 S H^3 \ell`.
- **Clipped**, Agrawal, Chen and Jiang (2021): the noise is Russo's, and
  :math:`\tilde Q_h` is the largest value there is while :math:`n < \alpha_k`. Here
  :math:`\alpha_k = \beta_k`: the noise takes over when its deviation is that of one reward.
- **Single seed**, Xiong, Shen, Cui, Fazel and Du (2022): one :math:`z` per episode, for all
  :math:`(s, a, h)`; Bernstein's size, with the variance of :math:`\tilde V_{h+1}` under
  :math:`\hat P`,

  .. math::
      \nu = \sqrt{\ell\,\mathrm{Var}_{\hat P} \tilde V_{h+1}} + \sqrt\ell + H\ell / \sqrt{n + \text{ridge}};

  and :math:`\tilde Q_h` is cut to :math:`\pm 2(H - h)`.

A common ``factor`` multiplies every standard deviation, :math:`\nu`, and so :math:`\beta_k` and
:math:`\alpha_k` by its square; for RLSVI it is σ. With factor 0 all of them are value iteration on
the shrunk model.

What was checked and what was not: we could read abstracts and summaries of the three papers, not
their listings. A summary gives Russo's :math:`\beta_k`; the shrinkage by :math:`n + 1` is as we
remember it. The abstracts say that the second clips, and that the third has a single seed, noise
of Bernstein's type and a clip. That the second clips by visits, its :math:`\alpha_k`, the terms of
the third's :math:`\nu` and its cut at twice the range are from memory or ours, with constants 1
where a bound has some. Another memory of the second has
:math:`\alpha_k = 4H^3S\log(2HSAk)\log(40SAT/\delta)`, some 150 times ours; neither is reached by any
pair in the runs of this study, so both readings act uniformly there.

A period pays between ``low`` and low + 1, the last one with its terminal reward, so that the
largest value is :math:`(H - h)(\text{low} + 1)`. Other rewards are refused; shift and scale them.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from rlsvi_core import checks
from rlsvi_core.agent import compiled_loop, highest
from rlsvi_core.compiled import Floats, Generator, jit
from rlsvi_core.learners.counts import History, Table, table_values
from rlsvi_core.regression import draw_weight, noise

from ..rivals import add

CONSTANT, HOEFFDING, BERNSTEIN = range(3)  # sizes of the noise


class Variant(NamedTuple):
    """What is changed in RLSVI. The defaults are RLSVI with λ = 1 and σ = 1."""

    factor: float = 1.0  # on every standard deviation
    ridge: float = 1.0
    shared: bool = False  # one z serves all (s, a, h) of an episode
    low: float = 0.0  # a period pays from low to low + 1
    size: int = CONSTANT  # ν is 1, √β_k, or Bernstein's
    threshold: float = 0.0  # α_k/β_k: with fewer than α_k visits Q̃ is the largest value
    clip: float = math.inf  # Q̃ is cut to ± this many times H − h


VARIANTS = {
    "rlsvi": Variant(),
    "russo": Variant(size=HOEFFDING),
    "clipped": Variant(size=HOEFFDING, threshold=1.0),
    "single-seed": Variant(size=BERNSTEIN, shared=True, clip=2.0),
}


class Data(NamedTuple):
    """What compiled code works on."""

    variant: Variant
    seen: History
    Q: Floats


@jit
def _fit(data: Data, rng: Generator) -> None:
    """Fix Q̃ for the coming episode, backwards in time."""
    variant, seen, Q = data
    H, S, A = Q.shape
    V, z = np.zeros(S), 0.0
    k = 1.0 + seen.n[0].sum()  # every episode has visited one pair of period 0
    ell = math.log(2.0 * H * S * A * k)
    root_beta = variant.factor * math.sqrt(0.5 * S * H**3 * ell)
    alpha = variant.threshold * root_beta * root_beta
    nu = root_beta if variant.size == HOEFFDING else variant.factor
    if variant.shared:
        z = noise(rng)
    for h in range(H - 1, -1, -1):
        top, bound = (variant.low + 1.0) * (H - h), variant.clip * (H - h)
        for s in range(S):
            for a in range(A):
                n, total, first, second = seen.n[h, s, a], seen.total[h, s, a], 0.0, 0.0
                node = seen.first[h, s, a] if h < H - 1 else -1
                while node >= 0:
                    following = seen.number[node] * V[seen.state[node]]
                    total += following
                    first += following
                    second += following * V[seen.state[node]]
                    node = seen.link[node]
                M = n + variant.ridge
                if variant.size == BERNSTEIN:
                    variance = max(second / M - (first / M) ** 2, 0.0)
                    nu = variant.factor * (
                        math.sqrt(ell * variance) + math.sqrt(ell) + H * ell / math.sqrt(M)
                    )
                if not variant.shared:
                    z = noise(rng)
                value = top if n < alpha else draw_weight(M, total, nu, z)
                Q[h, s, a] = min(max(value, -bound), bound)
        for s in range(S):
            V[s] = highest(Q[h, s])


class Perturbed(Table):
    """Tabular RLSVI with one thing changed; every action is allowed.

    >>> from rlsvi_core import Agent, chain
    >>> agent = Agent(Perturbed(3, 4, 2, Variant(factor=0.1, ridge=0.01)), rng=0)
    >>> agent.learn(chain(4), 200, rng=1).reward.sum() > 50
    np.True_
    """

    update = staticmethod(_fit)
    loop = staticmethod(compiled_loop(_fit, table_values, add))

    def __init__(self, H: int, S: int, A: int, variant: Variant) -> None:
        super().__init__(H, S, A)
        self.variant = variant

    def data(self, fitted: Floats, sample: bool) -> Data:
        variant = self.variant if sample else self.variant._replace(factor=0.0)
        return Data(variant, self.seen, fitted)

    def _pays(self, r: Any) -> bool:
        return bool(np.all((0 <= r - self.variant.low) & (r - self.variant.low <= 1)))

    def plays(self, env: Any) -> bool:
        if not super().plays(env):
            return False
        model, before = env.model, env.H - 1  # one stored period may stand for all
        last = model.reward[-1] + model.terminal[model.successor[-1]]
        return self._pays(last[model.probability[-1] > 0]) and self._pays(
            model.reward[:before][model.probability[:before] > 0]
        )

    def add(  # type: ignore[override]  # without masks
        self, h: int, s: int, a: int, r: float, s_next: int | None
    ) -> None:
        if not self._pays(r):
            low = self.variant.low
            checks.fail(
                f"a period pays between {low:g} and {low + 1:g}, the last one with its terminal "
                "reward",
                f"a reward is {r:g}",
                "Shift and scale rewards; the largest values depend on it.",
            )
        super().add(h, s, a, r, s_next)
