r"""Appendix F.2: RLSVI without episodes, for a discounted MDP (the paper's Algorithm 13).

After every step the agent makes one round of value iteration by regression on all transitions so
far, with the current sample in the targets, and moves the perturbation w:

.. math::
    b_\tau = r_\tau + \gamma \max_\alpha (\Phi\tilde\theta_t)(s_{\tau+1}, \alpha), \qquad
    \bar\theta_{t+1} = \tfrac1{\sigma^2}\Sigma_{t+1}A^\top b, \qquad
    \tilde\theta_{t+1} = \bar\theta_{t+1} + w_{t+1},

.. math:: w_{t+1} \sim N(\rho\, w_t,\ (1-\rho^2)\,\Sigma_{t+1}), \qquad w_0 = 0.

For a fixed Σ this has the marginal law N(0, Σ) in the long run whatever :math:`0 \le \rho < 1` is,
and ρ is the correlation of consecutive perturbations. That is the one choice to make:

- **as printed** :math:`\rho = \sqrt{1-\gamma^2}`: 0.14 for γ = 0.99, so nearly
  a fresh draw every step;
- **corrected** :math:`\rho = \gamma`, the two coefficients exchanged: a perturbation that lasts as
  long as the discount looks ahead, which is what the text says it is for;
- ρ = 0 is a fresh draw every step, and ρ = 1 none at all (w stays 0): least-squares Q-iteration,
  the dithering control when ε > 0.

Kept are the factor of :math:`M = A^\top A + \lambda\sigma^2 I`, :math:`c = \sum \phi r` and one
K-vector :math:`g(s') = \sum_{\tau: s_{\tau+1} = s'} \phi_\tau` per state, whatever t is: the sums
of ``sums``, for one period that follows itself.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from .. import checks
from ..acting import choose, highest, row_values
from ..compiled import Floats, Ints, jit
from ..loop import chunks, patience
from ..mdp import DiscountedMDP, Model, first_state, step
from ..regression import draw, fill_noise, solve_transposed
from .sums import Statistics, add_transition, check_ridge, no_data

__all__ = ["Continual", "Steps"]


class Steps(NamedTuple):
    """The record of some steps, one entry per step."""

    state: Ints  # and, last, the state it led to
    action: Ints
    reward: Floats


def no_steps(steps: int) -> Steps:
    """The record of so many steps, before they are done."""
    return Steps(np.zeros(steps + 1, np.int64), np.zeros(steps, np.int64), np.zeros(steps))


def part(done: Steps, start: int, stop: int) -> Steps:
    """The record of some of the steps, in the same arrays."""
    return Steps(done.state[start : stop + 1], done.action[start:stop], done.reward[start:stop])


@jit
def _estimate(
    Phi: Floats,
    data: Statistics,
    gamma: float,
    rho: float,
    sigma: float,
    rng: Generator,
    theta: Floats,
    w: Floats,
) -> None:
    """Algorithm 13: from θ̃_t and w_t to θ̃_{t+1} and w_{t+1}, after the newest transition."""
    _, S, A, K = Phi.shape
    U, x, q = data.U[0], data.c[0].copy(), np.empty(A)
    mean, noise, z = np.zeros(K), np.zeros(K), np.empty(K)
    for s in range(S):  # line 1: A'b, as sums over the states that followed
        if data.seen[0, s]:
            row_values(Phi[0, s], theta, q)
            V = highest(q)
            for k in range(K):
                x[k] += gamma * V * data.g[0, s, k]
    solve_transposed(U, x)
    fill_noise(rng, z)
    draw(U, x, 0.0, z, mean)  # line 2
    draw(U, noise, sigma, z, noise)  # about 0, which noise holds so far
    for k in range(K):
        w[k] = rho * w[k] + math.sqrt(1.0 - rho * rho) * noise[k]  # line 3
        theta[k] = mean[k] + w[k]  # line 4


@jit
def _live(
    model: Model,
    Phi: Floats,
    data: Statistics,
    gamma: float,
    rho: float,
    sigma: float,
    epsilon: float,
    rng: Generator,
    agent_rng: Generator,
    theta: Floats,
    w: Floats,
    done: Steps,
    number: Ints,  # of steps done so far
) -> None:
    """Act, observe, plan, repeat; fills in ``done``."""
    q, p, row = np.empty(Phi.shape[2]), np.empty(Phi.shape[2]), np.empty(Phi.shape[3])
    for t in range(done.reward.shape[0]):
        s = done.state[t]
        row_values(Phi[0, s], theta, q)
        a = choose(q, epsilon, 0.0, p, agent_rng.random())
        r, s_next = step(model, 0, s, a, rng)
        add_transition(Phi, data, 0, s, a, r, s_next, row)
        _estimate(Phi, data, gamma, rho, sigma, agent_rng, theta, w)
        done.action[t], done.reward[t], done.state[t + 1] = a, r, s_next
        number[0] += 1


class Continual:
    """Continual RLSVI: ``act``, ``observe`` and ``plan`` after every step, or ``learn``.

    Parameters
    ----------
    Phi : (S, A, K) array_like
        A table of features.
    gamma : float
        The discount factor.
    rho : float
        The correlation of consecutive perturbations; see above.
    lam, sigma : float
        As for RLSVI.
    epsilon : float
        The probability of a uniformly random action.
    rng : Generator, SeedSequence or int, optional
        The agent's own generator or its seed.

    Examples
    --------
    >>> from rlsvi_core.envs import lock
    >>> agent = Continual(np.eye(8).reshape(4, 2, 8), gamma=0.9, rho=0.9, rng=1)
    >>> agent.learn(lock(4, 0.9), 500, rng=2).reward.sum() > 10
    np.True_
    """

    def __init__(
        self,
        Phi: Any,
        gamma: float,
        rho: float,
        lam: float = 1.0,
        sigma: float = 0.1,
        *,
        epsilon: float = 0.0,
        rng: Any = None,
    ) -> None:
        self.Phi = checks.array(
            "Phi",
            Phi,
            (None, None, None),
            hint="It is a finite (S, A, K) "
            "array; np.eye(S * A).reshape(S, A, -1) is the tabular one.",
        )
        checks.positive(lam=lam, sigma=sigma)
        hint = "Use rho=gamma for lasting perturbations, rho=0 for fresh ones."
        self.gamma, self.rho, self.epsilon = (
            checks.between(name, value, 0, 1, hint=hint)
            for name, value in (("gamma", gamma), ("rho", rho), ("epsilon", epsilon))
        )
        check_ridge(self.Phi, lam * sigma**2)
        self.lam, self.sigma = float(lam), float(sigma)
        self.S, self.A, self.K = self.Phi.shape
        self.rng = checks.generator(rng)
        self.theta, self.w = np.zeros(self.K), np.zeros(self.K)
        self._data = no_data(1, self.S, self.K, math.sqrt(self.lam) * self.sigma)
        self._run, self._done = no_steps(0), np.zeros(1, np.int64)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(gamma={self.gamma:g}, rho={self.rho:g}, lam={self.lam:g}, "
            f"sigma={self.sigma:g}, epsilon={self.epsilon:g})"
        )

    @property
    def run(self) -> Steps:
        """The record of the last ``learn``: what was done of it."""
        return part(self._run, 0, int(self._done[0]))

    def act(self, h: int, s: int) -> int:
        """A greedy action, ties at random (with probability ε any action)."""
        return choose(self.values(h, s), self.epsilon, 0.0, np.empty(self.A), self.rng.random())

    def values(self, h: int, s: int) -> Floats:
        """The values that the agent acts on until the next plan, one per action."""
        return self._at(s, self.theta)

    def mean_values(self, h: int, s: int) -> Floats:
        """The same by the posterior mean that the last plan found."""
        return self._at(s, self.theta - self.w)

    def _at(self, s: int, theta: Floats) -> Floats:
        q = np.empty(self.A)
        row_values(self.Phi[checks.index("s", s, self.S)], theta, q)
        return q

    def observe(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        """Take in one transition; h counts steps and is not used."""
        s, a = checks.index("s", s, self.S), checks.index("a", a, self.A)
        s_next = checks.index("s_next", s_next, self.S)
        checks.finite("r", r)
        add_transition(self.Phi[None], self._data, 0, s, a, float(r), s_next, np.empty(self.K))

    def plan(self) -> None:
        """Algorithm 13, after the newest transition."""
        _estimate(
            self.Phi[None],
            self._data,
            self.gamma,
            self.rho,
            self.sigma,
            self.rng,
            self.theta,
            self.w,
        )

    def learn(
        self, mdp: DiscountedMDP, steps: int, rng: Any = None, start: int | None = None
    ) -> Steps:
        """Run for so many steps, from the state ``start`` or one drawn from the MDP's law of s_0;
        ``rng`` is the environment's. To go on, call again with the generator and the last state;
        after Ctrl-C, too, ``run`` has what was done."""
        if not isinstance(mdp, DiscountedMDP) or (mdp.S, mdp.A) != (self.S, self.A):
            checks.fail(
                f"the features are for a DiscountedMDP with (S, A) = {(self.S, self.A)}",
                f"the environment is {mdp!r}",
                "Make the features for this MDP.",
            )
        steps = checks.whole("steps", steps, hint="Pass steps=1000, say.")
        start = None if start is None else checks.index("start", start, self.S)
        rng = checks.generator(rng)
        done = no_steps(steps)
        done.state[0] = first_state(mdp.model, rng) if start is None else start
        self._run, self._done = done, np.zeros(1, np.int64)
        with patience() as ask:
            for i, j in chunks(steps, np.ones(1, np.int64)):
                _live(
                    mdp.model,
                    self.Phi[None],
                    self._data,
                    self.gamma,
                    self.rho,
                    self.sigma,
                    self.epsilon,
                    rng,
                    self.rng,
                    self.theta,
                    self.w,
                    part(done, i, j),
                    self._done,
                )
                ask(True)
        return self.run
