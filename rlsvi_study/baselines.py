r"""What section 5 compares RLSVI with: PSRL, UCBVI and uniformly random actions, in a table.

All act greedily by a table :math:`\tilde Q`, ties uniformly. Write :math:`n` for the visits to
:math:`(s, a, h)`, :math:`\hat R, \hat P` for what was seen there,
:math:`\tilde V_h = \max_a \tilde Q_h`.

- **PSRL**: :math:`Q^*` of an MDP drawn from the exact Dirichlet posterior; by the mean, that of the
  posterior-mean MDP.
- **UCBVI** (Azar, Osband and Munos 2017, Hoeffding bonus): :math:`\tilde Q_h =
  \min(\tilde Q_h^{old}, 0, \hat R + \hat P^\top \tilde V_{h+1} + c \cdot 7 H \ell / \sqrt n)`
  with :math:`\ell = \log(5 S A T / \delta)`; 0 is the largest value there is. Published:
  :math:`c = 1`. Here, unlike there, rewards are unknown and transitions change with the period;
  the same bonus serves.
- **uniform**: UCBVI with an infinite bonus, so :math:`\tilde Q` stays 0 and every action is a tie.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from rlsvi_core import Agent
from rlsvi_core.envs.dirichlet import DirichletPrior, OutcomeCounts, fill_sampled_Q, zero_counts
from rlsvi_core.learners.base import compile_parts
from rlsvi_core.learners.counts import (
    TabularLearner,
    TransitionCounts,
    add_to_record,
    empty_counts,
    fill_table_values,
    target_sum,
)
from rlsvi_core.runtime import checks
from rlsvi_core.runtime.compilation import Floats, Generator, Seed, jit
from rlsvi_core.runtime.loop import max_value


@jit
def _add_counts(seen: TransitionCounts, low: float, high: float, R: Floats, P: Floats) -> None:
    """Add to R how often each of two rewards was met, which follows from their sum, and to P how
    often each state followed."""
    for h, s, a in np.ndindex(seen.n.shape):
        n = seen.n[h, s, a]
        times = math.floor((seen.total[h, s, a] - n * low) / (high - low) + 0.5)
        R[h, s, a, 0] += n - times
        R[h, s, a, 1] += times
        node = seen.first[h, s, a]
        while node >= 0:
            P[h, s, a, seen.state[node]] += seen.number[node]
            node = seen.link[node]


def dense_counts(seen: TransitionCounts, support: tuple[float, float]) -> OutcomeCounts:
    """A history as dense counts, if its rewards are the two of the support and none is terminal."""
    counts = zero_counts(*seen.n.shape)
    _add_counts(seen, *support, counts.R, counts.P)
    return counts._replace(total=seen.total.copy())


class PSRLRecord(NamedTuple):
    """What PSRL's compiled code works on."""

    seen: TransitionCounts
    alpha_R: Floats
    alpha_P: Floats
    low: float
    high: float
    fitted: Floats


@jit
def _fit_psrl(data: PSRLRecord, rng: Generator) -> None:
    """Fill Q with Q* of an MDP drawn from the posterior."""
    R, P = data.alpha_R.copy(), data.alpha_P.copy()
    _add_counts(data.seen, data.low, data.high, R, P)
    fill_sampled_Q(R, P, data.low, data.high, rng, data.fitted)


class PSRL(TabularLearner):
    """Posterior sampling; rewards are those of the prior's support, and every action is allowed."""

    parts = compile_parts(_fit_psrl, fill_table_values, add_to_record)

    def __init__(self, prior: DirichletPrior) -> None:
        self.prior = prior
        weights = prior.alpha_R, prior.alpha_P, *prior.support
        record = PSRLRecord(empty_counts(*prior.shape), *weights, np.zeros(prior.shape))
        super().__init__(*prior.shape, record)

    @property
    def counts(self) -> OutcomeCounts:
        """The history as the prior's posterior takes it."""
        return dense_counts(self.transition_counts, self.prior.support)

    def fit(self, rng: Generator | None, before: Floats | None) -> Floats:
        if rng is None:
            return np.array(self.prior.posterior(self.counts).mean_mdp().Q)
        return super().fit(rng, before)

    def compile_player(self, env: Any, limit: int | None) -> Any:
        play = super().compile_player(env, limit)
        fits = (
            play is not None and env.support == self.prior.support and not env.model.terminal.any()
        )
        return play if fits else None

    def add(  # type: ignore[override]  # without masks
        self, h: int, s: int, a: int, r: float, s_next: int | None
    ) -> None:
        if r not in self.prior.support:
            checks.fail(
                f"PSRL's rewards are one of {list(self.prior.support)}, none terminal; r is {r:g}."
            )
        super().add(h, s, a, r, s_next)


class UCBVIRecord(NamedTuple):
    """What UCBVI's compiled code works on."""

    seen: TransitionCounts
    bonus: float
    fitted: Floats


@jit
def _fit_ucbvi(data: UCBVIRecord, rng: Generator) -> None:
    """Lower Q̃ to (Σ r + Σ n(s') Ṽ)/n + bonus/√n where that is less; what was not visited is left as
    it is."""
    seen, bonus, Q = data
    H, S, A = Q.shape
    V = np.zeros(S)
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                n = seen.n[h, s, a]
                if n > 0.0:
                    total = target_sum(seen, h, s, a, V) if h < H - 1 else seen.total[h, s, a]
                    Q[h, s, a] = min(Q[h, s, a], total / n + bonus / math.sqrt(n))
        for s in range(S):
            V[s] = max_value(Q[h, s])


class UCBVI(TabularLearner):
    """Optimism by a ``bonus`` over the root of the visits; rewards are at most 0, and every action
    is allowed."""

    parts = compile_parts(_fit_ucbvi, fill_table_values, add_to_record)

    def __init__(self, H: int, S: int, A: int, bonus: float) -> None:
        shape = H, S, A
        super().__init__(*shape, UCBVIRecord(empty_counts(*shape), bonus, np.zeros(shape)))

    def compile_player(self, env: Any, limit: int | None) -> Any:
        play = super().compile_player(env, limit)
        fits = play is not None and max(env.model.reward.max(), env.model.terminal.max()) <= 0
        return play if fits else None

    def add(  # type: ignore[override]  # without masks
        self, h: int, s: int, a: int, r: float, s_next: int | None
    ) -> None:
        if r > 0:
            checks.fail(
                f"ucbvi takes 0 as the largest reward; r is {r:g}. Subtract the largest from all."
            )
        super().add(h, s, a, r, s_next)


def psrl(prior: DirichletPrior, rng: Seed = None) -> Agent:
    """Posterior sampling: greedy in an MDP drawn from the exact posterior.

    Parameters
    ----------
    prior : DirichletPrior
        The law of the MDP; it has no terminal rewards.
    rng : Generator, SeedSequence or int, optional
        The agent's own generator or its seed.

    Returns
    -------
    Agent

    Examples
    --------
    >>> prior = DirichletPrior.symmetric(2, 3, 2)
    >>> agent = psrl(prior, rng=1)
    >>> agent.learn(prior.sample(2), 5, rng=3).reward.sum() <= 0
    np.True_
    >>> agent
    Agent(PSRL(H=2, S=3, A=2), by draws; 10 transitions seen)
    """
    return Agent(PSRL(prior), rng=rng)


def ucbvi(
    prior: DirichletPrior, episodes: int, scale: float = 1.0, delta: float = 0.05, rng: Seed = None
) -> Agent:
    """Optimism by a bonus.

    Parameters
    ----------
    prior : DirichletPrior
        For its sizes.
    episodes : int
        Sets T in the bonus's logarithm.
    scale : float
        Multiplies the published bonus.
    delta : float
        The failure rate in the bonus's logarithm.
    rng : Generator, SeedSequence or int, optional
        The agent's own generator or its seed.

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
    H, S, A = prior.shape
    bonus = scale * 7 * H * math.log(5 * S * A * episodes * H / delta)
    return Agent(UCBVI(H, S, A, bonus), sample=False, rng=rng)


def uniform_agent(prior: DirichletPrior, rng: Seed = None) -> Agent:
    """Uniformly random actions, for the sizes of a prior."""
    return Agent(UCBVI(*prior.shape, math.inf), sample=False, rng=rng)
