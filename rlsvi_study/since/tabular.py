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
from typing import Any, NamedTuple, Self

import numpy as np

from rlsvi_core import checks
from rlsvi_core.agents import Choices, Reading
from rlsvi_core.agents.base import check_fits
from rlsvi_core.agents.tabular import QTableAgent
from rlsvi_core.compiled import Floats, Generator, jit
from rlsvi_core.episodes import Run
from rlsvi_core.features import OneHot
from rlsvi_core.kernels import History, Model, draw_weight, highest, play_episode

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


@jit
def value_iteration(variant: Variant, k: int, seen: History, rng: Generator, Q: Floats) -> None:
    """Fix Q̃ for episode k = 1, 2, …, backwards in time."""
    H, S, A = Q.shape
    V, z = np.zeros(S), 0.0
    ell = math.log(2.0 * H * S * A * k)
    root_beta = variant.factor * math.sqrt(0.5 * S * H**3 * ell)
    alpha = variant.threshold * root_beta * root_beta
    nu = root_beta if variant.size == HOEFFDING else variant.factor
    if variant.shared:
        z = rng.standard_normal()
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
                    z = rng.standard_normal()
                value = top if n < alpha else draw_weight(M, total, nu, z)
                Q[h, s, a] = min(max(value, -bound), bound)
        for s in range(S):
            V[s] = highest(Q[h, s])


@jit
def _learn(
    model: Model,
    variant: Variant,
    k: int,
    seen: History,
    Q: Floats,
    exact: bool,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
) -> None:
    p = np.empty(Q.shape)
    for i in range(run.reward.shape[0]):
        value_iteration(variant, k + i, seen, agent_rng, Q)
        play_episode(model, seen, Q, p, 0.0, 0.0, exact, rng, agent_rng, run, i)


class PerturbedAgent(QTableAgent):
    """Tabular RLSVI with one thing changed.

    Parameters
    ----------
    features : one-hot, for H, S and A.
    variant : what is changed.
    rng : the agent's generator or seed.

    >>> from rlsvi_core import chain
    >>> tuned = Variant(factor=0.1, ridge=0.01)
    >>> agent = PerturbedAgent(OneHot(3, 4, 2), tuned, rng=0)
    >>> agent.learn(chain(4), 200, rng=1).reward.sum() > 50
    np.True_
    """

    takes_masks = False

    def __init__(self, features: OneHot, variant: Variant, rng: Any = None) -> None:
        checks.instance("variant", variant, Variant, hint="VARIANTS has those that are published.")
        checks.positive(ridge=variant.ridge)
        sizes = (CONSTANT, HOEFFDING, BERNSTEIN)
        checks.one_of("size", variant.size, sizes, hint="They are CONSTANT, HOEFFDING, BERNSTEIN.")
        if variant.clip != math.inf:
            checks.positive(clip=variant.clip)
        self.variant = variant._replace(
            ridge=float(variant.ridge),
            low=checks.finite("low", variant.low),
            clip=float(variant.clip),
            threshold=checks.between(
                "threshold", variant.threshold, 0, math.inf, hint="It is α_k/β_k; 0 clips nothing."
            ),
            factor=checks.between(
                "factor",
                variant.factor,
                0,
                math.inf,
                hint="It multiplies standard deviations; 0 is LSVI.",
            ),
        )
        choices = Choices(reading=Reading(first_episode="prior"))
        super().__init__(features, 1.0, 1.0, sample=True, choices=choices, rng=rng)

    def __repr__(self) -> str:
        return f"PerturbedAgent({self.variant}; {self.transitions} transitions seen)"

    def _estimate(self) -> None:
        value_iteration(self.variant, self.episode + 1, self.seen, self.rng, self._Q)

    def _twin(self) -> Self:
        twin = super()._twin()
        twin.variant = self.variant._replace(factor=0.0)
        return twin

    def _refuse(self, r: float) -> None:
        checks.fail(
            f"a period pays between {self.variant.low:g} and {self.variant.low + 1:g}, the last one "
            "with its terminal reward",
            f"a reward is {r:g}",
            "Shift and scale rewards; the largest values depend on it.",
        )

    def _checked_reward(self, given: Any) -> float:
        r = super()._checked_reward(given)
        if not 0 <= r - self.variant.low <= 1:
            self._refuse(r)
        return r

    def _prepare(self, env: Any, episodes: int, rng: Any, exact: Any) -> tuple[Generator, Run, Any]:
        check_fits((self.H, self.S, self.A), env)
        last = self.H - 1  # one stored period may stand for all
        paid = np.concatenate(
            [
                R[P > 0]
                for P, R in zip(
                    [*env.P[:last], env.P[-1]],
                    [*env.R[:last], env.R[-1] + env.terminal],
                    strict=True,
                )
            ]
        )
        for r in (paid.min(), paid.max()):
            if not 0 <= r - self.variant.low <= 1:
                self._refuse(r)
        return super()._prepare(env, episodes, rng, exact)

    def _learn(self, model: Model, exact: bool, rng: Generator, run: Run) -> None:
        _learn(
            model,
            self.variant,
            self.episode + 2,
            self._seen,
            self._Q,
            exact,
            rng,
            self.rng,
            run,
        )
