r"""Agents without generalization (:math:`\Phi_h = I`): section 5's RLSVI, LSVI, PSRL and UCBVI.

All play by one rule: before an episode fix :math:`\tilde Q`, then act by it, ties uniformly. They
differ in :math:`\tilde Q`. Write :math:`n` for the visits to :math:`(s, a, h)`,
:math:`\hat R, \hat P` for what was seen there, :math:`\tilde V_h = \max_a \tilde Q_h`.

- **RLSVI**: with one-hot features the regression of Algorithm 1 is diagonal and has a closed form,

  .. math::
      \tilde Q_h(s, a) \sim N\Bigl(\frac{n (\hat R + \hat P^\top \tilde V_{h+1})}
      {n + \lambda\sigma^2},\ \frac{\sigma^2}{n + \lambda\sigma^2}\Bigr);

  before any data this is the prior :math:`N(0, 1/\lambda)`. **LSVI** is its mean with
  :math:`\sigma = 1`.
- **PSRL**: :math:`Q^*` of an MDP drawn from the exact Dirichlet posterior.
- **UCBVI** (Azar, Osband and Munos 2017, Hoeffding bonus): :math:`\tilde Q_h =
  \min(\tilde Q_h^{old}, 0, \hat R + \hat P^\top \tilde V_{h+1} + c \cdot 7 H \ell / \sqrt n)`
  with :math:`\ell = \log(5 S A T / \delta)`; 0 is the largest value there is. Published:
  :math:`c = 1`. Here, unlike there, rewards are unknown and transitions change with the period;
  the same bonus serves.
- **uniform**: :math:`\tilde Q = 0`, so every action is a tie.

All but PSRL are one value iteration with :math:`\hat R + \hat P^\top\tilde V` shrunk by a ridge
(uniform: an infinite one) and raised by :math:`u/\sqrt{n + \text{ridge}}`: :math:`u = \sigma z`, 0,
or the bonus. What was seen is kept as sums and, for each pair, a list of the states that followed
with their counts. Memory grows with the pairs visited; a plan costs :math:`O(HSA)` and one step per
successor.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import Generator

from .. import checks
from ..compiled import Array, Floats, Ints, jit
from ..envs.dirichlet import Counts, DirichletPrior, no_counts, sample_values
from ..features import FeatureMap, OneHot
from ..mdp import FiniteMDP, Model, first_state, last_reward, period, step
from ..regression import draw_weight
from .acting import action_probabilities, choose, highest
from .base import Run, record_step
from .choices import Choices
from .finite import Targets
from .states import ENDED, FiniteStates

__all__ = ["psrl", "theorem1_parameters", "ucbvi", "uniform"]


class History(NamedTuple):
    """Sufficient statistics. The states that followed (s, a, h) are a list, in increasing order."""

    n: Floats  # (H, S, A) visits
    total: Floats  # (H, S, A) sum of rewards; in the last period with the terminal ones
    first: Ints  # (H, S, A) the first node of its list, or −1
    state: Ints  # (M,) of a node: the state that followed
    number: Floats  # (M,) how often
    link: Ints  # (M,) the next node, or −1
    used: Ints  # (1,) nodes in use


def no_history(H: int, S: int, A: int) -> History:
    return History(
        np.zeros((H, S, A)),
        np.zeros((H, S, A)),
        np.full((H, S, A), -1),
        np.zeros(0, np.int64),
        np.zeros(0),
        np.zeros(0, np.int64),
        np.zeros(1, np.int64),
    )


@jit
def remember(seen: History, h: int, s: int, a: int, r: float, s_next: int) -> None:
    """Take in one transition."""
    seen.n[h, s, a] += 1.0
    seen.total[h, s, a] += r
    if s_next == ENDED:
        return
    before, node = -1, seen.first[h, s, a]
    while node >= 0 and seen.state[node] < s_next:
        before, node = node, seen.link[node]
    if node < 0 or seen.state[node] != s_next:
        new = seen.used[0]
        seen.used[0] += 1
        seen.state[new], seen.number[new], seen.link[new] = s_next, 0.0, node
        if before < 0:
            seen.first[h, s, a] = new
        else:
            seen.link[before] = new
        node = new
    seen.number[node] += 1.0


@jit
def _remember_all(seen: History, steps: Floats) -> None:
    for i in range(steps.shape[0]):
        h, s, a, s_next = int(steps[i, 0]), int(steps[i, 1]), int(steps[i, 2]), int(steps[i, 4])
        remember(seen, h, s, a, steps[i, 3], s_next)


def with_room(seen: History, nodes: int) -> History:
    """The same history with room for so many nodes in all."""
    if nodes <= (have := len(seen.state)):
        return seen
    return seen._replace(
        **{
            name: np.pad(getattr(seen, name), (0, max(nodes - have, have)))
            for name in ("state", "number", "link")
        }
    )


@jit
def value_iteration(
    seen: History,
    ridge: float,
    spread: float,
    sample: bool,
    capped: bool,
    targets: Targets,
    closed: Array | None,
    rng: Generator,
    Q: Floats,
) -> None:
    """Q̃ = (total + Σ number · γṼ)/M + spread/√M · u with M = n + ridge, backwards in time.

    u is a normal draw if ``sample``, in the order of the general form, else 1. If ``capped``, Q̃ is
    never raised again, and what was not visited is left as it is. What a mask has ``closed`` has
    the value −∞.
    """
    H, S, A = Q.shape
    V = np.zeros(S)
    prior = draw_weight(ridge, 0.0, spread, 1.0) if ridge > 0.0 else 0.0  # of most pairs, often
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                n, total = seen.n[h, s, a], seen.total[h, s, a]
                if n > 0.0 and h < H - 1:
                    node = seen.first[h, s, a]
                    while node >= 0:
                        total += seen.number[node] * V[seen.state[node]]
                        node = seen.link[node]
                M = n + ridge
                u = rng.standard_normal() if sample else 1.0
                if M > 0.0:
                    nothing = M == ridge and total == 0.0
                    value = prior * u if nothing else draw_weight(M, total, spread, u)
                    Q[h, s, a] = min(Q[h, s, a], value) if capped else value
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


NOTHING = np.zeros((0, 0, 0, 0))
AS_IT_IS = Targets(1.0, -math.inf, math.inf)


class Rule(NamedTuple):
    """How an agent gets its Q̃: by value iteration, or by sampling an MDP if there is a prior."""

    ridge: float = 0.0
    spread: float = 0.0
    sample: bool = False
    capped: bool = False
    targets: Targets = AS_IT_IS
    alpha_R: Floats = NOTHING
    alpha_P: Floats = NOTHING


@jit
def plan(
    rule: Rule,
    seen: History,
    R: Floats,
    support: Floats,
    closed: Array | None,
    rng: Generator,
    Q: Floats,
) -> None:
    """Fix Q̃ for the coming episode; ``R`` counts the low and the high rewards seen."""
    if rule.alpha_P.shape[0] == 0:
        value_iteration(
            seen, rule.ridge, rule.spread, rule.sample, rule.capped, rule.targets, closed, rng, Q
        )
    else:
        alpha_R, alpha_P = rule.alpha_R.copy(), rule.alpha_P.copy()
        for h, s, a in np.ndindex(Q.shape):
            for high in range(2):
                alpha_R[h, s, a, high] += R[h, s, a, high]
            node = seen.first[h, s, a]
            while node >= 0:
                alpha_P[h, s, a, seen.state[node]] += seen.number[node]
                node = seen.link[node]
        sample_values(alpha_R, alpha_P, np.zeros((Q.shape[1], 2)), support[0], support[1], rng, Q)


@jit
def play(
    model: Model,
    seen: History,
    R: Floats,
    support: Floats,
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
    H, S, _ = Q.shape
    if exact:
        claimed = 0.0
        for s in range(S):
            claimed += model.initial[s] * highest(Q[0, s])
            for h in range(H):
                action_probabilities(Q[h, s], epsilon, eta, p[h, s])
        run.claimed[i], run.expected[i] = claimed, value_of_policy(model, p)
    s = first_state(model, rng)
    run.furthest[i], run.length[i] = s, H
    for h in range(H):
        a = choose(Q[h, s], epsilon, eta, p[h, s], agent_rng.random())
        r, s_next = step(model, h, s, a, rng)
        if R.shape[0] > 0:
            R[h, s, a, 1 if r == support[1] else 0] += 1.0
        if h == H - 1:
            r += last_reward(model, s_next, rng)
        remember(seen, h, s, a, r, s_next)
        record_step(run, i, h, a, r, s_next)
        s = s_next


@jit
def _learn(
    model: Model,
    rule: Rule,
    seen: History,
    R: Floats,
    support: Floats,
    Q: Floats,
    epsilon: float,
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
            plan(rule, seen, R, support, None, agent_rng, Q)
        play(model, seen, R, support, Q, p, epsilon, eta, exact, rng, agent_rng, run, i)


AT_MOST = 1000  # transitions that wait


class CountingAgent(FiniteStates):
    """What agents with a history of S states share. Transitions are queued until the history is
    read: compiled code that processes many per call is ten times as fast."""

    def __init__(self, features: Any, lam: float, sigma: float, **options: Any) -> None:
        super().__init__(features, lam, sigma, **options)
        self._seen = no_history(self.H or 1, self.S, self.A)
        self._waiting: list[tuple[int, int, int, float, int]] = []

    @property
    def seen(self) -> History:
        """The history, with queued transitions processed."""
        if self._waiting:
            steps = np.array(self._waiting, float)
            self._seen = with_room(self._seen, int(self._seen.used[0]) + len(steps))
            _remember_all(self._seen, steps)
            self._waiting = []
        return self._seen

    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        self._waiting.append((h, s, a, r, s_next))
        if len(self._waiting) == AT_MOST:
            self._seen = self.seen

    def _twin(self) -> Self:
        seen, twin = self.seen, super()._twin()
        twin._seen, twin._waiting = seen, []
        return twin


class TabularAgent(CountingAgent):
    """Plays by a table Q̃ of values. ``rule`` is another way to get it than the closed form of RLSVI
    and LSVI; an agent that is given the ``support`` of rewards counts them, which PSRL needs."""

    H: int
    OFFERS = frozenset({"gamma", "clip"})

    @classmethod
    def suits(cls, features: FeatureMap, choices: Choices) -> bool:
        return (
            isinstance(features, OneHot)
            and features.H is not None
            and super().suits(features, choices)
        )

    def __init__(
        self,
        features: OneHot,
        lam: float,
        sigma: float,
        *,
        sample: bool,
        rule: Rule | None = None,
        support: tuple[float, float] | None = None,
        **options: Any,
    ) -> None:
        checks.instance("features", features, OneHot, hint="features.OneHot(H, S, A) makes them.")
        super().__init__(features, lam, sigma, sample=sample, **options)
        shape = self.H, self.S, self.A
        if rule is not None:
            checks.instance("rule", rule, Rule, hint="Leave it out for RLSVI and LSVI.")
        if support is not None:
            support = checks.pair("support", support, hint="PSRL's prior has one.")
        self.rule = rule or Rule(
            self.lam * self.sigma * self.sigma,
            self.sigma if self.sample else 0.0,
            self.sample,
            targets=Targets(self.choices.gamma, *self.choices.clip),
        )
        self.support = np.array(support or (np.nan, np.nan))
        self._Q = np.zeros(shape)
        self._R = np.zeros((*shape, 2)) if support else NOTHING

    @property
    def takes_masks(self) -> bool:  # type: ignore[override]
        return not self.rule.alpha_P.size  # PSRL solves MDPs in which everything is allowed

    @property
    def Q(self) -> Floats:
        return self._Q.copy()

    def _close(self, h: int, s: int, legal: Any) -> None:
        super()._close(h, s, legal)
        if self._closed is not None:
            self._Q[h, s, self._closed[h, s]] = -np.inf  # before the next plan, too

    def _twin(self) -> Self:
        twin = super()._twin()
        if self.rule.alpha_P.size or self.rule.capped:
            checks.fail(
                "greedy acts on a posterior mean of values",
                "PSRL and UCBVI have none",
                "Evaluate the policy of an episode: mdp.evaluate(agent.policy()).",
            )
        twin._Q, twin.rule = np.zeros_like(self._Q), self.rule._replace(spread=0.0, sample=False)
        return twin

    def _estimate(self) -> None:
        plan(self.rule, self.seen, self._R, self.support, self._closed, self.rng, self._Q)

    def act(self, h: int, s: int, legal: Any = None) -> int:
        h, s = checks.index("h", h, self.H), checks.index("s", s, self.S)
        if legal is not None or self._closed is not None:
            self._close(h, s, legal)
        return choose(self._Q[h, s], self.epsilon, self.eta, self._p, self.rng.random())

    def _checked_reward(self, given: Any) -> float:
        r = super()._checked_reward(given)
        if self._R.size and r not in self.support:
            checks.fail(
                f"PSRL's rewards are one of {self.support.tolist()}",
                f"r is {r:g}",
                "Make the prior with the support of these rewards.",
            )
        if self.rule.capped and r > 0:
            self._refuse_positive(r)
        return r

    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        super()._remember(h, s, a, r, s_next)
        if self._R.size:
            self._R[h, s, a, int(r == self.support[1])] += 1.0

    def learn(self, env: FiniteMDP, episodes: int, rng: Any = None, *, exact: bool = False) -> Run:
        rng, run, exact = self._prepare(env, episodes, rng, exact)
        if self._R.size and (env.support is None or tuple(env.support) != tuple(self.support)):
            checks.fail(
                f"the agent counts rewards with support {self.support.tolist()}",
                f"the MDP has {env.support}",
                "Draw it with prior.sample().",
            )
        if self.rule.capped and (top := max(env.model.reward.max(), env.terminal.max())) > 0:
            self._refuse_positive(top)
        steps, seen = len(run.reward) * self.H, self.seen
        self._seen = with_room(
            seen, int(seen.used[0]) + min(steps, seen.n.size * env.model.successor.shape[3])
        )  # nodes there can be of this MDP
        self._learn(env.model, exact, rng, run)
        return self._learned(run)

    def _learn(self, model: Model, exact: bool, rng: Generator, run: Run) -> None:
        """Fill the run's record, in compiled code."""
        _learn(
            model,
            self.rule,
            self._seen,
            self._R,
            self.support,
            self._Q,
            self.epsilon,
            self.eta,
            self.has_no_data,
            exact,
            rng,
            self.rng,
            run,
        )

    def _refuse_positive(self, r: float) -> None:
        checks.fail(
            "ucbvi takes 0 as the largest value",
            f"a reward is {r:g}",
            "Subtract the largest reward from all.",
        )

    @property
    def counts(self) -> Counts:
        """The history as dense counts, for an agent that knows the rewards' support."""
        counts = no_counts(self.H, self.S, self.A)
        seen = self.seen
        for h, s, a in np.ndindex(counts.total.shape):
            node = seen.first[h, s, a]
            while node >= 0:
                counts.P[h, s, a, seen.state[node]] = seen.number[node]
                node = seen.link[node]
        return counts._replace(R=self._R.copy(), total=seen.total.copy())


def check_prior(prior: Any) -> None:
    checks.instance(
        "prior", prior, DirichletPrior, hint="DirichletPrior.symmetric(H, S, A) makes a plain one."
    )


def theorem1_parameters(prior: DirichletPrior) -> tuple[float, float]:
    """The smallest (λ, σ) that Theorem 1 allows.

    Parameters
    ----------
    prior : the law of the MDP.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> theorem1_parameters(DirichletPrior.symmetric(2, 3, 2, alpha_R=0.5, alpha_P=1 / 3))
    (2.0, 2.23606797749979)
    """
    check_prior(prior)
    return float((prior.m_R + prior.m_P).max()), math.sqrt(prior.shape[0] ** 2 + 1)


@checks.options
def psrl(prior: DirichletPrior, rng: Any = None) -> TabularAgent:
    """Posterior sampling: greedy in an MDP drawn from the exact posterior.

    Parameters
    ----------
    prior : the law of the MDP. Further, the agent's generator or seed.

    Returns
    -------
    Agent

    Examples
    --------
    >>> prior = DirichletPrior.symmetric(2, 3, 2)
    >>> psrl(prior, rng=1).learn(prior.sample(2), 5, rng=3).reward.sum() <= 0
    np.True_
    """
    check_prior(prior)
    if prior.alpha_T.any():
        checks.fail(
            "psrl takes terminal rewards to be zero", "this prior has alpha_T", "Leave alpha_T out."
        )
    return TabularAgent(
        OneHot(*prior.shape),
        1.0,
        1.0,
        sample=True,
        first_episode="prior",
        rng=rng,
        support=prior.support,
        rule=Rule(alpha_R=prior.alpha_R, alpha_P=prior.alpha_P),
    )


@checks.options
def ucbvi(
    prior: DirichletPrior, episodes: int, scale: float = 1.0, delta: float = 0.05, rng: Any = None
) -> TabularAgent:
    """Optimism by a bonus.

    Parameters
    ----------
    prior : for its sizes; its rewards must not exceed 0.
    episodes : sets T in the bonus's logarithm.
    scale : multiplies the published bonus.
    delta : the failure rate in the bonus's logarithm.

    Returns
    -------
    Agent

    Examples
    --------
    >>> prior = DirichletPrior.symmetric(2, 3, 2)
    >>> agent = ucbvi(prior, 100, rng=1)
    >>> agent.learn(prior.sample(2), 100, rng=3).reward.shape
    (100,)
    """
    check_prior(prior)
    H, S, A = prior.shape
    scale = checks.inside("scale", scale, 0, checks.LARGEST, hint="1 is the published bonus.")
    delta = checks.inside("delta", delta, 0, 1, hint="It is a failure rate: pass delta=0.05, say.")
    episodes = checks.whole(
        "episodes", episodes, 1, hint="It sets T in the bonus: pass episodes=1000, say."
    )
    if prior.support[1] != 0:
        checks.fail(
            "ucbvi takes 0 as the largest value",
            f"rewards here reach {prior.support[1]:g}",
            "Use support (-1, 0).",
        )
    bonus = scale * 7 * H * math.log(5 * S * A * episodes * H / delta)
    return TabularAgent(
        OneHot(H, S, A),
        1.0,
        1.0,
        sample=True,
        first_episode="prior",
        rng=rng,
        rule=Rule(spread=bonus, capped=True),
    )


@checks.options
def uniform(prior: DirichletPrior, rng: Any = None) -> TabularAgent:
    """Uniformly random actions.

    Parameters
    ----------
    prior : for its sizes. Further, the agent's generator or seed.

    Returns
    -------
    Agent

    Examples
    --------
    >>> uniform(DirichletPrior.symmetric(2, 3, 2)).policy().max()
    np.float64(0.5)
    """
    check_prior(prior)
    return TabularAgent(
        OneHot(*prior.shape), 1.0, 1.0, sample=False, rng=rng, rule=Rule(ridge=math.inf)
    )
