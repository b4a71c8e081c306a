r"""What section 5 compares RLSVI with: PSRL, UCBVI and uniformly random actions, in a table.

All act greedily by a table :math:`\tilde Q`, ties uniformly. Write :math:`n` for the visits to
:math:`(s, a, h)`, :math:`\hat R, \hat P` for what was seen there,
:math:`\tilde V_h = \max_a \tilde Q_h`.

- **PSRL**: :math:`Q^*` of an MDP drawn from the exact Dirichlet posterior.
- **UCBVI** (Azar, Osband and Munos 2017, Hoeffding bonus): :math:`\tilde Q_h =
  \min(\tilde Q_h^{old}, 0, \hat R + \hat P^\top \tilde V_{h+1} + c \cdot 7 H \ell / \sqrt n)`
  with :math:`\ell = \log(5 S A T / \delta)`; 0 is the largest value there is. Published:
  :math:`c = 1`. Here, unlike there, rewards are unknown and transitions change with the period;
  the same bonus serves.
- **uniform**: :math:`\tilde Q = 0`, so every action is a tie.
"""

import math
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from .. import checks
from ..compiled import Array, Floats, Seed, jit
from ..envs.dirichlet import Counts, DirichletPrior, no_counts, sample_values
from ..episodes import Run
from ..features import OneHot
from ..mdp import Model
from .acting import highest
from .base import check_fits
from .history import History, target_sum
from .tabular import QTableAgent, play_episode

__all__ = ["psrl", "ucbvi", "uniform"]


def check_prior(prior: Any) -> None:
    checks.instance(
        "prior", prior, DirichletPrior, hint="DirichletPrior.symmetric(H, S, A) makes a plain one."
    )


class Rival(QTableAgent):
    """An agent without weights: of what it shares with RLSVI, λ and σ are not used."""

    def __init__(self, shape: tuple[int, int, int], rng: Seed = None) -> None:
        super().__init__(OneHot(*shape), 1.0, 1.0, sample=False, rng=rng)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(H={self.H}, S={self.S}, A={self.A}; "
            f"{self.transitions} transitions seen)"
        )

    @property
    def has_no_data(self) -> bool:
        """Never: the first episode, too, follows the rule."""
        return False

    def _twin(self) -> Self:
        checks.fail(
            "greedy and mean_values need a posterior mean of values",
            f"{type(self).__name__} has none",
            "Evaluate the policy of an episode: mdp.evaluate(agent.policy()).",
        )


@jit
def add_counts(seen: History, low: float, high: float, R: Floats, P: Floats) -> None:
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


def counts_of(seen: History, support: tuple[float, float]) -> Counts:
    """A history as dense counts, if its rewards are the two of the support and none is terminal."""
    counts = no_counts(*seen.n.shape)
    add_counts(seen, *support, counts.R, counts.P)
    return counts._replace(total=seen.total.copy())


@jit
def _sample_from_posterior(
    seen: History,
    alpha_R: Floats,
    alpha_P: Floats,
    low: float,
    high: float,
    rng: Generator,
    Q: Floats,
) -> None:
    """Fill Q with Q* of an MDP drawn from the posterior."""
    R, P = alpha_R.copy(), alpha_P.copy()
    add_counts(seen, low, high, R, P)
    sample_values(R, P, np.zeros((Q.shape[1], 2)), low, high, rng, Q)


@jit
def _learn_psrl(
    model: Model,
    alpha_R: Floats,
    alpha_P: Floats,
    low: float,
    high: float,
    seen: History,
    Q: Floats,
    exact: bool,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
) -> None:
    p = np.empty(Q.shape)
    for i in range(run.reward.shape[0]):
        _sample_from_posterior(seen, alpha_R, alpha_P, low, high, agent_rng, Q)
        play_episode(model, seen, Q, p, 0.0, 0.0, exact, rng, agent_rng, run, i)


class PSRL(Rival):
    """Posterior sampling; :func:`psrl` makes one. It solves MDPs in which every action is allowed,
    so it takes no masks."""

    takes_masks = False

    def __init__(self, prior: DirichletPrior, rng: Seed = None) -> None:
        super().__init__(prior.shape, rng)
        self.prior = prior

    @property
    def counts(self) -> Counts:
        """The history as the prior's posterior takes it."""
        return counts_of(self.seen, self.prior.support)

    def _estimate(self) -> None:
        prior = self.prior
        _sample_from_posterior(
            self.seen, prior.alpha_R, prior.alpha_P, *prior.support, self.rng, self._Q
        )

    def _checked_reward(self, given: Any) -> float:
        r = super()._checked_reward(given)
        if r not in self.prior.support:
            checks.fail(
                f"PSRL's rewards are one of {list(self.prior.support)}",
                f"r is {r:g}",
                "Make the prior with the support of these rewards.",
            )
        return r

    def _prepare(self, env: Any, episodes: int, rng: Any, exact: Any) -> tuple[Generator, Run, Any]:
        check_fits((self.H, self.S, self.A), env)
        if env.support is None or tuple(env.support) != self.prior.support or env.terminal.any():
            checks.fail(
                f"PSRL's rewards are one of {list(self.prior.support)}, and none is terminal",
                f"the MDP has support {env.support} and terminal rewards {env.terminal}",
                "Draw it with prior.sample().",
            )
        return super()._prepare(env, episodes, rng, exact)

    @property
    def _first_chunk(self) -> int:
        return super()._first_chunk // self.S  # draws of each row

    def _learn(self, model: Model, exact: bool, rng: Generator, run: Run) -> None:
        prior = self.prior
        _learn_psrl(
            model,
            prior.alpha_R,
            prior.alpha_P,
            *prior.support,
            self._seen,
            self._Q,
            exact,
            rng,
            self.rng,
            run,
        )


@jit
def _optimistic_values(seen: History, bonus: float, closed: Array | None, Q: Floats) -> None:
    """Lower Q̃ to (Σ r + Σ n(s') Ṽ)/n + bonus/√n where that is less; what was not visited is left as
    it is."""
    H, S, A = Q.shape
    V = np.zeros(S)
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                n = seen.n[h, s, a]
                if n > 0.0:
                    total = target_sum(seen, h, s, a, V) if h < H - 1 else seen.total[h, s, a]
                    Q[h, s, a] = min(Q[h, s, a], total / n + bonus / math.sqrt(n))
                if closed is not None:  # noqa: SIM102, None is compiled without what follows
                    if closed[h, s, a]:
                        Q[h, s, a] = -np.inf
        for s in range(S):
            V[s] = highest(Q[h, s])


@jit
def _learn_ucbvi(
    model: Model,
    bonus: float,
    seen: History,
    Q: Floats,
    exact: bool,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
) -> None:
    p = np.empty(Q.shape)
    for i in range(run.reward.shape[0]):
        _optimistic_values(seen, bonus, None, Q)
        play_episode(model, seen, Q, p, 0.0, 0.0, exact, rng, agent_rng, run, i)


class UCBVI(Rival):
    """Optimism by a ``bonus`` over the root of the visits; :func:`ucbvi` makes one."""

    def __init__(self, shape: tuple[int, int, int], bonus: float, rng: Seed = None) -> None:
        super().__init__(shape, rng)
        self.bonus = bonus

    def _estimate(self) -> None:
        _optimistic_values(self.seen, self.bonus, self._closed, self._Q)

    def _refuse_positive(self, r: float) -> None:
        if r > 0:
            checks.fail(
                "ucbvi takes 0 as the largest value",
                f"a reward is {r:g}",
                "Subtract the largest reward from all.",
            )

    def _checked_reward(self, given: Any) -> float:
        r = super()._checked_reward(given)
        self._refuse_positive(r)
        return r

    def _prepare(self, env: Any, episodes: int, rng: Any, exact: Any) -> tuple[Generator, Run, Any]:
        check_fits((self.H, self.S, self.A), env)
        self._refuse_positive(max(env.model.reward.max(), env.terminal.max()))
        return super()._prepare(env, episodes, rng, exact)

    def _learn(self, model: Model, exact: bool, rng: Generator, run: Run) -> None:
        _learn_ucbvi(model, self.bonus, self._seen, self._Q, exact, rng, self.rng, run)


@jit
def _learn_uniform(
    model: Model,
    seen: History,
    Q: Floats,
    exact: bool,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
) -> None:
    p = np.empty(Q.shape)
    for i in range(run.reward.shape[0]):
        play_episode(model, seen, Q, p, 0.0, 0.0, exact, rng, agent_rng, run, i)


class Uniform(Rival):
    """Uniformly random actions; :func:`uniform` makes one."""

    def _estimate(self) -> None:
        """Nothing is learned: Q̃ stays 0, and −∞ where a mask forbids the action."""

    def _learn(self, model: Model, exact: bool, rng: Generator, run: Run) -> None:
        _learn_uniform(model, self._seen, self._Q, exact, rng, self.rng, run)


def psrl(prior: DirichletPrior, rng: Seed = None) -> PSRL:
    """Posterior sampling: greedy in an MDP drawn from the exact posterior.

    Parameters
    ----------
    prior : DirichletPrior
        The law of the MDP.
    rng : Generator, SeedSequence or int, optional
        The agent's own generator or its seed.

    Returns
    -------
    PSRL

    Examples
    --------
    >>> prior = DirichletPrior.symmetric(2, 3, 2)
    >>> agent = psrl(prior, rng=1)
    >>> agent.learn(prior.sample(2), 5, rng=3).reward.sum() <= 0
    np.True_
    >>> agent
    PSRL(H=2, S=3, A=2; 10 transitions seen)
    """
    check_prior(prior)
    if prior.alpha_T.any():
        checks.fail(
            "psrl takes terminal rewards to be zero", "this prior has alpha_T", "Leave alpha_T out."
        )
    if 0 not in prior.support:
        checks.fail(
            "psrl takes terminal rewards to be zero",
            f"with support {prior.support} they are drawn around it",
            "Use a support that ends at 0, such as (-1, 0).",
        )
    return PSRL(prior, rng)


def ucbvi(
    prior: DirichletPrior, episodes: int, scale: float = 1.0, delta: float = 0.05, rng: Seed = None
) -> UCBVI:
    """Optimism by a bonus.

    Parameters
    ----------
    prior : DirichletPrior
        For its sizes; its rewards must not exceed 0.
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
    UCBVI

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
    return UCBVI(prior.shape, scale * 7 * H * math.log(5 * S * A * episodes * H / delta), rng)


def uniform(prior: DirichletPrior, rng: Seed = None) -> Uniform:
    """Uniformly random actions.

    Parameters
    ----------
    prior : DirichletPrior
        For its sizes.
    rng : Generator, SeedSequence or int, optional
        The agent's own generator or its seed.

    Returns
    -------
    Uniform

    Examples
    --------
    >>> uniform(DirichletPrior.symmetric(2, 3, 2)).policy().max()
    np.float64(0.5)
    """
    check_prior(prior)
    return Uniform(prior.shape, rng)
