r"""Tabular RLSVI as later work has changed it, in one value iteration.

Write :math:`n` for the visits to :math:`(s, a, h)` before episode :math:`k`, :math:`\hat R` and
:math:`\hat P` for sums of what was seen there over :math:`n + 1`, :math:`\ell = \log(2HSAk)`.
Every variant acts greedily, ties at random, on

.. math::
    \tilde Q_h(s, a) = \hat R + \hat P^\top \tilde V_{h+1} + \frac{\nu}{\sqrt{n+1}}\, z, \qquad
    \tilde V_h = \max_a \tilde Q_h, \qquad z \sim N(0, 1).

This is RLSVI with :math:`\lambda\sigma^2 = 1` and :math:`\sigma = \nu`. The variants change one
thing each:

- **Russo (2019)**, the size of the noise: :math:`\nu^2 = \beta_k = \frac12 S H^3 \ell`.
- **Clipped**, Agrawal, Chen and Jiang (2021): the noise is Russo's, and
  :math:`\tilde Q_h = H - h`, the largest value there is, while :math:`n < \alpha_k`. Here
  :math:`\alpha_k = \beta_k`: the noise takes over when its deviation is that of one reward.
- **Single seed**, Xiong, Shen, Cui, Fazel and Du (2022): one :math:`z` per episode, for all
  :math:`(s, a, h)`; Bernstein's size, with the variance of :math:`\tilde V_{h+1}` under
  :math:`\hat P`,

  .. math::
      \nu = \sqrt{\ell\,\mathrm{Var}_{\hat P} \tilde V_{h+1}} + \sqrt\ell + H\ell / \sqrt{n+1};

  and :math:`\tilde Q_h` is cut to :math:`\pm 2(H - h)`.

A common ``factor`` multiplies every standard deviation, :math:`\nu`, and so :math:`\beta_k` and
:math:`\alpha_k` by its square. With factor 0 all of them are value iteration on the shrunk model.

What was checked and what was not: we could read abstracts and summaries of the three papers, not
their listings. A summary gives Russo's :math:`\beta_k`; the shrinkage by :math:`n + 1` is as we
remember it. The abstracts say that the second clips, and that the third has a single seed, noise
of Bernstein's type and a clip. That the second clips by visits, its :math:`\alpha_k`, the terms of
the third's :math:`\nu` and its cut at twice the range are from memory or ours, with constants 1
where a bound has some. For these two "published constants" are of a published order, no more.

All of this assumes that a period pays between 0 and 1, the last one with its terminal reward, so
that :math:`0 \le Q^*_h \le H - h`. Other rewards are refused; shift and scale them before.
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


class Variant(NamedTuple):
    """What is changed in RLSVI. The defaults are Russo's."""

    bernstein: bool = False  # the size ν is Bernstein's, else √β_k
    shared: bool = False  # one z serves all (s, a, h) of an episode
    threshold: float = 0.0  # α_k/β_k: with fewer than α_k visits Q̃ is H − h
    clip: float = math.inf  # Q̃ is cut to ± this many times H − h
    factor: float = 1.0  # on every standard deviation


VARIANTS = {
    "russo": Variant(),
    "clipped": Variant(threshold=1.0),
    "single-seed": Variant(bernstein=True, shared=True, clip=2.0),
}


@jit
def value_iteration(variant: Variant, k: int, seen: History, rng: Generator, Q: Floats) -> None:
    """Fix Q̃ for episode k = 1, 2, …, backwards in time."""
    H, S, A = Q.shape
    V, z = np.zeros(S), 0.0
    ell = math.log(2.0 * H * S * A * k)
    nu = variant.factor * math.sqrt(0.5 * S * H**3 * ell)  # √β_k
    alpha = variant.threshold * nu * nu
    if variant.shared:
        z = rng.standard_normal()
    for h in range(H - 1, -1, -1):
        bound = variant.clip * (H - h)
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
                M = n + 1.0
                if variant.bernstein:
                    variance = max(second / M - (first / M) ** 2, 0.0)
                    nu = variant.factor * (
                        math.sqrt(ell * variance) + math.sqrt(ell) + H * ell / math.sqrt(M)
                    )
                if not variant.shared:
                    z = rng.standard_normal()
                value = H - h if n < alpha else draw_weight(M, total, nu, z)
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
    >>> tuned = VARIANTS["russo"]._replace(factor=0.001)
    >>> agent = PerturbedAgent(OneHot(3, 4, 2), tuned, rng=0)
    >>> agent.learn(chain(4), 200, rng=1).reward.sum() > 50
    np.True_
    """

    takes_masks = False

    def __init__(self, features: OneHot, variant: Variant, rng: Any = None) -> None:
        checks.instance("variant", variant, Variant, hint="VARIANTS has those that are published.")
        for name in ("bernstein", "shared"):
            checks.flag(name, getattr(variant, name))
        if variant.clip != math.inf:
            checks.positive(clip=variant.clip)
        self.variant = variant._replace(
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
            "a period pays between 0 and 1, the last one with its terminal reward",
            f"a reward is {r:g}",
            "Shift and scale rewards; the bounds H − h depend on it.",
        )

    def _checked_reward(self, given: Any) -> float:
        r = super()._checked_reward(given)
        if not 0 <= r <= 1:
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
        if paid.min() < 0 or paid.max() > 1:
            self._refuse(paid.min() if paid.min() < 0 else paid.max())
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
