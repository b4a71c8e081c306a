r"""Section 5: agents without generalization (:math:`\Phi_h = I`), and the exact regret of each.

All play by one rule: before an episode fix :math:`\tilde Q`, then act greedily in it, ties
uniformly. They differ in :math:`\tilde Q`. Write :math:`n` for the visits to :math:`(s, a, h)`,
:math:`\hat R, \hat P` for what was seen there, :math:`\tilde V_h = \max_a \tilde Q_h`.

- **RLSVI**: the regression of Algorithm 1 is diagonal and has a closed form,

  .. math::
      \tilde Q_h(s, a) \sim N\Bigl(\frac{n (\hat R + \hat P^\top \tilde V_{h+1})}
      {n + \lambda\sigma^2},\ \frac{\sigma^2}{n + \lambda\sigma^2}\Bigr).

  Before any data this is the prior :math:`N(0, 1/\lambda)`, as Algorithm 1 has it; the footnote's
  zero would give the same uniformly random first policy.
- **PSRL**: :math:`Q^*` of an MDP drawn from the exact Dirichlet posterior.
- **UCBVI** (Azar, Osband and Munos 2017, Hoeffding bonus): :math:`\tilde Q_h =
  \min(\tilde Q_h^{old}, 0, \hat R + \hat P^\top \tilde V_{h+1} + c \cdot 7 H \ell / \sqrt n)`
  with :math:`\ell = \log(5 S A T / \delta)`; 0 is the largest value there is. Published:
  :math:`c = 1`. Here, unlike there, rewards are unknown and transitions change with the period;
  the same bonus serves.
- **uniform**: :math:`\tilde Q = 0`, so every action is a tie.

``play`` returns, for each episode, :math:`V^*_0 - V^{\tilde\mu}_0` and its part
:math:`\Delta^{conc} = \tilde V_0 - V^{\tilde\mu}_0`, both averaged over :math:`\pi`; the rest is
:math:`\Delta^{opt} = V^*_0 - \tilde V_0`.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import jit
from ..envs.dirichlet import Counts, DirichletPrior, count, count_last, no_counts, sample_values
from ..mdp import FiniteMDP, draw, first_state, last_reward, period, step
from ..regression import check_positive
from .base import action_probabilities

RLSVI, PSRL, UCBVI, UNIFORM = range(4)


class Rule(NamedTuple):
    """How an agent gets its Q̃. PSRL alone uses the weights of the prior."""

    kind: int
    alpha_R: np.ndarray
    alpha_P: np.ndarray
    alpha_T: np.ndarray
    low: float
    high: float
    lam: float  # RLSVI
    sigma: float  # RLSVI
    bonus: float  # UCBVI: the bonus of a pair seen once


@jit
def _target(counts, h, s, a, V):
    """n (R̂ + P̂'V), and n."""
    n, total = 0.0, counts.total[h, s, a]
    for i in range(V.shape[0]):
        n += counts.P[h, s, a, i]
        total += counts.P[h, s, a, i] * V[i]
    return total, n


@jit
def rlsvi_values(counts, lam, sigma, rng, Q):
    """Algorithm 1 with Φ = I; the normals come in the order of the general form."""
    H, S, A = Q.shape
    V = np.zeros(S)
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                total, n = _target(counts, h, s, a, V)
                M = n + lam * sigma * sigma
                Q[h, s, a] = total / M + sigma / math.sqrt(M) * rng.standard_normal()
        for s in range(S):
            V[s] = Q[h, s].max()


@jit
def _ucbvi_values(counts, bonus, Q):
    H, S, A = Q.shape
    V = np.zeros(S)
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                total, n = _target(counts, h, s, a, V)
                if n > 0.0:
                    Q[h, s, a] = min(Q[h, s, a], total / n + bonus / math.sqrt(n))
        for s in range(S):
            V[s] = Q[h, s].max()


@jit
def _posterior(alpha, counts):
    """α + counts; a plain loop, since an array expression takes the compiler half a minute."""
    out = alpha.copy()
    for h, s, a, i in np.ndindex(alpha.shape):
        out[h, s, a, i] += counts[h, s, a, i]
    return out


@jit
def _plan(rule, counts, rng, Q):
    if rule.kind == RLSVI:
        rlsvi_values(counts, rule.lam, rule.sigma, rng, Q)
    elif rule.kind == PSRL:
        sample_values(_posterior(rule.alpha_R, counts.R), _posterior(rule.alpha_P, counts.P),
                      rule.alpha_T, rule.low, rule.high, rng, Q)
    elif rule.kind == UCBVI:
        _ucbvi_values(counts, rule.bonus, Q)


@jit
def _value_of_policy(model, p):
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
                            model.reward[t, s, a, b] + V[model.successor[t, s, a, b]])
                    W[s] += p[h, s, a] * value
        V, W = W, V
    total = 0.0
    for s in range(S):
        total += model.initial[s] * V[s]
    return total


@jit
def _play(model, best, rule, counts, Q, env_rng, rng, regret, concentration):
    H, S, A = Q.shape
    p = np.empty((H, S, A))
    for l in range(regret.shape[0]):
        _plan(rule, counts, rng, Q)
        sampled = 0.0
        for s in range(S):
            sampled += model.initial[s] * Q[0, s].max()
            for h in range(H):
                action_probabilities(Q[h, s], 0.0, 0.0, p[h, s])
        value = _value_of_policy(model, p)
        regret[l], concentration[l] = best - value, sampled - value
        s = first_state(model, env_rng)
        for h in range(H):
            a = draw(p[h, s], rng.random())
            r, s_next = step(model, h, s, a, env_rng)
            count(counts, h, s, a, r, s_next, rule.high)
            if h == H - 1:
                count_last(counts, s, a, last_reward(model, s_next, env_rng), s_next, rule.high)
            s = s_next


@jit
def _sample_many(counts, lam, sigma, rng, Q):
    for i in range(Q.shape[0]):
        rlsvi_values(counts, lam, sigma, rng, Q[i])


def sample_Q(counts: Counts, lam: float, sigma: float, n: int, rng=None) -> np.ndarray:
    """n draws of RLSVI's Q̃ given a history, an (n, H, S, A) array."""
    check_positive(lam=lam, sigma=sigma)
    Q = np.empty((n, *counts.total.shape))
    _sample_many(counts, float(lam), float(sigma), np.random.default_rng(rng), Q)
    return Q


class Run(NamedTuple):
    """One entry an episode, each an expectation over s_0 ~ π and exact."""

    regret: np.ndarray  # V*_0 − V^μ̃_0
    concentration: np.ndarray  # Ṽ_0 − V^μ̃_0

    @property
    def optimism(self) -> np.ndarray:
        """Δ^opt = V*_0 − Ṽ_0: negative where the sampled value is optimistic."""
        return self.regret - self.concentration


class TabularAgent:
    """Plays episodes and remembers counts; made by ``rlsvi``, ``psrl``, ``ucbvi``, ``uniform``."""

    def __init__(self, prior: DirichletPrior, kind: int, *, lam: float = 1.0, sigma: float = 1.0,
                 bonus: float = 1.0, rng=None):
        check_positive(lam=lam, sigma=sigma, bonus=bonus)
        self.prior, self.rng = prior, np.random.default_rng(rng)
        self.rule = Rule(kind, prior.alpha_R, prior.alpha_P, prior.alpha_T, *prior.support,
                         float(lam), float(sigma), float(bonus))
        self.counts, self.Q = no_counts(*prior.shape), np.zeros(prior.shape)

    def play(self, mdp: FiniteMDP, episodes: int, rng=None) -> Run:
        """Play on; pass the same environment generator to continue a run."""
        if (mdp.H, mdp.S, mdp.A) != self.prior.shape or mdp.support is None:
            raise ValueError(f"the MDP must come from a prior of (H, S, A) = {self.prior.shape} "
                             f"and have two-valued rewards; it has {(mdp.H, mdp.S, mdp.A)} and "
                             f"support {mdp.support}. Draw it with prior.sample().")
        run = Run(np.empty(episodes), np.empty(episodes))
        _play(mdp.model, mdp.value, self.rule, self.counts, self.Q, np.random.default_rng(rng),
              self.rng, *run)
        return run


def theorem_1(prior: DirichletPrior) -> tuple[float, float]:
    """The smallest (λ, σ) that Theorem 1 allows."""
    return float((prior.m_R + prior.m_P).max()), math.sqrt(prior.shape[0] ** 2 + 1)


def rlsvi(prior: DirichletPrior, lam: float | None = None, sigma: float | None = None,
          rng=None) -> TabularAgent:
    """Algorithm 2 with Φ = I; λ and σ are those of Theorem 1 unless given."""
    least = theorem_1(prior)
    return TabularAgent(prior, RLSVI, lam=least[0] if lam is None else lam,
                        sigma=least[1] if sigma is None else sigma, rng=rng)


def psrl(prior: DirichletPrior, rng=None) -> TabularAgent:
    """Posterior sampling: greedy in an MDP drawn from the exact posterior."""
    if prior.alpha_T.any():
        raise ValueError("psrl takes terminal rewards to be zero; this prior has alpha_T. "
                         "Leave alpha_T out.")
    return TabularAgent(prior, PSRL, rng=rng)


def ucbvi(prior: DirichletPrior, episodes: int, scale: float = 1.0, delta: float = 0.05,
          rng=None) -> TabularAgent:
    """Optimism by a bonus; ``episodes`` sets T in its logarithm, ``scale`` multiplies it."""
    H, S, A = prior.shape
    check_positive(scale=scale, delta=delta, episodes=episodes)
    if prior.support[1] != 0:
        raise ValueError(f"ucbvi takes 0 as the largest value; rewards here reach "
                         f"{prior.support[1]:g}. Use support (-1, 0).")
    log = math.log(5 * S * A * episodes * H / delta)
    return TabularAgent(prior, UCBVI, bonus=scale * 7 * H * log, rng=rng)


def uniform(prior: DirichletPrior, rng=None) -> TabularAgent:
    """Uniformly random actions."""
    return TabularAgent(prior, UNIFORM, rng=rng)
