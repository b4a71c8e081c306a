r"""RLSVI and LSVI without generalization (:math:`\Phi_h = I`), section 5: a table of values.

Before an episode the agent fixes :math:`\tilde Q`, then acts by it, ties uniformly. Write :math:`n`
for the visits to :math:`(s, a, h)`, :math:`\hat R, \hat P` for what was seen there,
:math:`\tilde V_h = \max_a \tilde Q_h`. With one-hot features the regression of Algorithm 1 is
diagonal and has a closed form,

.. math::
    \tilde Q_h(s, a) \sim N\Bigl(\frac{n (\hat R + \hat P^\top \tilde V_{h+1})}
    {n + \lambda\sigma^2},\ \frac{\sigma^2}{n + \lambda\sigma^2}\Bigr);

before any data this is the prior :math:`N(0, 1/\lambda)`. **LSVI** is its mean with
:math:`\sigma = 1`. A plan costs :math:`O(HSA)` and one step per successor seen.
"""

from typing import Any, Self

import numpy as np
from numpy.random import Generator

from .. import checks
from ..compiled import Array, Floats, jit
from ..episodes import Run, record_step
from ..features import FeatureMap, OneHot
from ..mdp import FiniteMDP, Model, first_state, last_reward, period, step
from ..regression import draw_weight
from .acting import action_probabilities, choose, highest
from .base import LinearAgent
from .choices import Choices
from .finite import Targets
from .history import CountingAgent, History, remember, target_sum, with_capacity
from .states import CompiledLoop


@jit
def value_iteration(
    seen: History,
    ridge: float,
    noise: float,
    targets: Targets,
    closed: Array | None,
    rng: Generator,
    Q: Floats,
) -> None:
    """Q̃ = (Σ r + Σ n(s') γṼ)/M + σz/√M with M = n + λσ², backwards in time; ``noise`` is σ, or 0
    for the mean. Normal numbers are drawn in the order of the general form. What a mask has
    ``closed`` has the value −∞."""
    H, S, A = Q.shape
    V, z = np.zeros(S), 0.0
    prior = draw_weight(ridge, 0.0, noise, 1.0)  # of most pairs, often
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                n, total = seen.n[h, s, a], seen.total[h, s, a]
                if n > 0.0 and h < H - 1:
                    total = target_sum(seen, h, s, a, V)
                if noise > 0.0:
                    z = rng.standard_normal()
                nothing = n == 0.0 and total == 0.0
                Q[h, s, a] = prior * z if nothing else draw_weight(n + ridge, total, noise, z)
                if closed is not None:  # noqa: SIM102, None is compiled without what follows
                    if closed[h, s, a]:
                        Q[h, s, a] = -np.inf
        for s in range(S):
            V[s] = targets.gamma * min(max(highest(Q[h, s]), targets.low), targets.high)


@jit
def value_of_policy(model: Model, p: Floats) -> float:
    """π'V^μ_0 for the policy p (H, S, A), by backward induction."""
    H, S, A = p.shape
    V, W = model.terminal.copy(), np.empty(S)
    for h in range(H - 1, -1, -1):
        t = period(model.successor, h)
        for s in range(S):
            W[s] = 0.0
            for a in range(A):
                if p[h, s, a] > 0.0:
                    value = 0.0
                    for b in range(model.successor.shape[3]):
                        value += model.probability[t, s, a, b] * (
                            model.reward[t, s, a, b] + V[model.successor[t, s, a, b]]
                        )
                    W[s] += p[h, s, a] * value
        V, W = W, V
    total = 0.0
    for s in range(S):
        total += model.initial[s] * V[s]
    return total


@jit
def exact_values(
    model: Model, Q: Floats, epsilon: float, eta: float, p: Floats
) -> tuple[float, float]:
    """What Q̃ promises for an episode, and what the policy is worth that acts by it, which fills p."""
    H, S, _ = Q.shape
    claimed = 0.0
    for s in range(S):
        claimed += model.initial[s] * highest(Q[0, s])
        for h in range(H):
            action_probabilities(Q[h, s], epsilon, eta, p[h, s])
    return claimed, value_of_policy(model, p)


@jit
def play_episode(
    model: Model,
    seen: History,
    Q: Floats,
    p: Floats,
    epsilon: float,
    eta: float,
    exact: bool,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
    i: int,
) -> None:
    """Episode i of a run, by Q̃; ``p`` is scratch space."""
    H = Q.shape[0]
    if exact:
        run.claimed[i], run.expected[i] = exact_values(model, Q, epsilon, eta, p)
    s = first_state(model, rng)
    run.furthest[i], run.length[i] = s, H
    for h in range(H):
        a = choose(Q[h, s], epsilon, eta, p[h, s], agent_rng.random())
        r, s_next = step(model, h, s, a, rng)
        if h == H - 1:
            r += last_reward(model, s_next, rng)
        remember(seen, h, s, a, r, s_next)
        record_step(run, i, h, a, r, s_next)
        s = s_next


@jit
def _learn(
    model: Model,
    ridge: float,
    noise: float,
    targets: Targets,
    seen: History,
    Q: Floats,
    epsilon: Floats,  # of each episode
    eta: float,
    has_no_data: bool,
    exact: bool,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
) -> None:
    p = np.empty(Q.shape)
    for i in range(run.reward.shape[0]):
        if i > 0 or not has_no_data:
            value_iteration(seen, ridge, noise, targets, None, agent_rng, Q)
        play_episode(model, seen, Q, p, epsilon[i], eta, exact, rng, agent_rng, run, i)


class QTableAgent(CompiledLoop, CountingAgent):
    """Plays by a table Q̃ of values, which it fixes before each episode."""

    H: int
    takes_masks = True

    def __init__(self, features: OneHot, lam: float, sigma: float, **options: Any) -> None:
        checks.instance("features", features, OneHot, hint="features.OneHot(H, S, A) makes them.")
        super().__init__(features, lam, sigma, **options)
        self._Q = np.zeros((self.H, self.S, self.A))

    @property
    def Q(self) -> Floats:
        return self._Q.copy()

    def _values(self, h: int, s: int) -> Floats:
        h, s = checks.index("h", h, self.H), checks.index("s", s, self.S)
        return np.array(self._Q[h, s])

    def _close(self, h: int, s: int, legal: Any) -> None:
        super()._close(h, s, legal)
        if self._closed is not None:
            self._Q[h, s, self._closed[h, s]] = -np.inf  # before the next plan, too

    def _twin(self) -> Self:
        twin = super()._twin()
        twin._Q = np.zeros_like(self._Q)
        return twin

    def act(self, h: int, s: int, legal: Any = None) -> int:
        if type(h) is not int or type(s) is not int or not (0 <= h < self.H and 0 <= s < self.S):
            h, s = checks.index("h", h, self.H), checks.index("s", s, self.S)
        if self.episode < 0:
            self._warn_unplanned()
        if legal is not None or self._closed is not None:
            self._close(h, s, legal)
        return choose(self._Q[h, s], self.dither, self.eta, self._p, self.rng.random())

    def _prepare(self, env: Any, episodes: int, rng: Any, exact: Any) -> tuple[Generator, Run, Any]:
        rng, run, exact = super()._prepare(env, episodes, rng, exact)
        if not isinstance(env, FiniteMDP):
            return rng, run, exact
        steps, seen = len(run.reward) * self.H, self.seen
        self._seen = with_capacity(
            seen, int(seen.used[0]) + min(steps, seen.n.size * env.model.successor.shape[3])
        )  # nodes there can be of this MDP
        return rng, run, exact


class TabularAgent(QTableAgent):
    """RLSVI and LSVI in closed form; the same interface and values as ``VerbatimAgent``."""

    MADE_FOR = "one-hot features, horizon"
    # A weight has one fit an episode, so that both readings of draws are the same.
    OFFERS = LinearAgent.OFFERS | {"gamma", "clip", "draws", "half_life"}

    @classmethod
    def suits(cls, features: FeatureMap, choices: Choices) -> bool:
        return (
            isinstance(features, OneHot)
            and features.H is not None
            and super().suits(features, choices)
        )

    @property
    def theta(self) -> Floats:  # type: ignore[override]
        """The weights of this episode, an (H, K) array: the values of all pairs (s, a)."""
        return self._Q.reshape(self.H, -1).copy()

    @property
    def _ridge(self) -> float:
        return self.lam * self.sigma * self.sigma

    @property
    def _noise(self) -> float:
        return self.sigma if self.sample else 0.0

    @property
    def _targets(self) -> Targets:
        return Targets(self.choices.gamma, *self.choices.clip)

    def _estimate(self) -> None:
        value_iteration(
            self.seen, self._ridge, self._noise, self._targets, self._closed, self.rng, self._Q
        )

    def _learn(self, model: Model, exact: bool, rng: Generator, run: Run) -> None:
        _learn(
            model,
            self._ridge,
            self._noise,
            self._targets,
            self._seen,
            self._Q,
            self._coming_dithers(len(run.reward)),
            self.eta,
            self.has_no_data,
            exact,
            rng,
            self.rng,
            run,
        )
