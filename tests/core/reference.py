"""The slow, readable reference: Algorithms 1, 3, 7 and 11 with every option of the library.

The learners are tested against it. It solves the whole regression anew before each episode, from a
list of transitions, by :func:`rlsvi_core.algorithms.posterior`. Where no option is set it equals
``rlsvi_core/algorithms.py``, which test_algorithms.py checks.
"""

from collections import deque
from typing import NamedTuple

import numpy as np

from rlsvi_core import Agent, Learner
from rlsvi_core.algorithms import posterior
from rlsvi_core.learners.base import Weights


class Transition(NamedTuple):
    row: np.ndarray  # Φ(s, a)
    r: float
    following: np.ndarray  # Φ(s', ·), a row for each action allowed; no rows if nothing follows


class Reference(Learner):
    """A learner that keeps its transitions in lists, for any
    ``rlsvi_core.learners.base.RegressionProblem``."""

    def __init__(self, problem):
        phi = problem.features
        self.problem = problem
        self.H, self.S, self.A = phi.H, phi.S, phi.A
        self.K = phi.K  # None until the first observation, where features do not say
        self.kept = [deque(maxlen=problem.options.window) for _ in range(self.H or 1)]

    def fit(self, rng, before):
        """Draw the weights of an episode, or compute the mean if ``rng`` is None."""
        theta, mean = np.zeros((2, self.H or 1, self.K or 0))
        no_prior = rng is None or self.problem.options.first == "uniform"
        if not self.K or (no_prior and not any(self.kept)):
            return Weights(theta, mean)
        if self.H is not None:
            after = np.zeros(self.K)
            for h in reversed(range(self.H)):
                mean[h], theta[h] = self.solve(h, after, self.draw_noise(rng))
                after = self.weights_in_targets(theta, mean)[h]
            return Weights(theta, mean)
        if before is not None and before.theta.size:
            theta[:], mean[:] = before.theta, before.mean
        noise = self.draw_noise(rng)
        for _ in range(self.problem.n_sweeps(rng is None and before is None)):
            last = theta.copy()
            after = self.weights_in_targets(theta, mean)[0]
            mean[0], theta[0] = self.solve(0, after, noise)
            if rng is None and np.allclose(theta, last, rtol=1e-12, atol=0.0):
                break
        return Weights(theta, mean)

    def draw_noise(self, rng):
        return np.zeros(self.K) if rng is None else rng.standard_normal(self.K)

    def weights_in_targets(self, theta, mean):
        """Return the weights whose values stand in the targets: the sample, as printed."""
        return theta

    def regression_problem(self, h, after):
        """Return the rows A and the targets b of period h, by the weights of what follows."""
        gamma, low, high = self.problem.targets
        A = np.array([row for row, _, _ in self.kept[h]]).reshape(-1, self.K)
        V = [
            np.clip((rows @ after).max(), low, high) if len(rows) else 0.0
            for _, _, rows in self.kept[h]
        ]
        return A, np.array([r for _, r, _ in self.kept[h]]) + gamma * np.array(V)

    def solve(self, h, after, noise):
        """Return the posterior mean and the draw that the noise gives."""
        A, b = self.regression_problem(h, after)
        mean, U = posterior(A, b, self.problem.lam, self.problem.sigma)
        return mean, mean + np.linalg.solve(U, noise)

    def values(self, fitted, h, s):
        rows = self.rows(h, s)
        return (
            rows @ fitted.theta[self._period_index(h)] if fitted.theta.size else np.zeros(len(rows))
        )

    def add(self, h, s, a, r, s_next, legal_next=None):
        rows, following = self.rows(h, s), np.zeros((0, self.K))
        if s_next is not None and h + 1 != self.H:
            following = self.rows(h + 1, s_next)
            following = following if legal_next is None else following[legal_next]
        self.kept[self._period_index(h)].append(Transition(rows[a], r, following))

    def rows(self, h, s):
        rows = np.array(self.problem.features(h, s), float)
        self.K = rows.shape[1]
        return rows


def reference(agent, form=Reference, rng=None):
    """Return an agent that acts as another does, but computes its weights as the reference does."""
    acting = {"sample": agent.sample, "epsilon": agent.epsilon, "eta": agent.eta}
    gamma = agent.learner.problem.gamma
    return Agent(form(agent.learner.problem), **acting, redraw=agent.redraw, gamma=gamma, rng=rng)
