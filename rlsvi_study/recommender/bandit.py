"""Appendix E's Bernoulli bandit: Thompson sampling with a Beta posterior for each product.

It sorts the products by sampled popularity before the customer arrives and does not use her answers
while it serves her. A fixed order earns J/2 whatever the agent has learned (see
``rlsvi_core.envs.recommender``).
"""

from typing import Any

import numpy as np

from rlsvi_core.envs.recommender import StateTable, show_product
from rlsvi_core.learners.base import Weights
from rlsvi_core.runtime.compilation import Floats, Generator, jit
from rlsvi_core.runtime.loop import PlayRequest

from .products import CustomerLearner, expected_likes

__all__ = ["BernoulliBandit"]


@jit
def _play_customers(
    beta: Floats,
    gamma: Floats,
    states: StateTable,
    P: Floats,
    data: tuple[Floats, Floats, Floats],
    task: PlayRequest,
) -> None:
    """Sample, sort, serve a customer, count her answers, repeat."""
    exact, rng, own = task.exact, task.rng, task.agent_rng
    count, run = task.counts, task.run
    liked, disliked, theta = data
    N, J = liked.shape[0], theta.shape[0]
    p, x = np.empty(N), np.zeros(N, np.int8)
    for i in range(run.reward.shape[0]):  # Algorithm 10, line 2
        for n in range(N):
            p[n] = own.beta(liked[n], disliked[n])  # line 3
        theta[:, 0] = p
        count[0] += 1
        order = np.argsort(-p)  # line 4
        run.first_action[i], run.predicted_value[i] = order[0], p[order[0]]
        if exact[i]:
            run.expected[i] = expected_likes(states, P, theta, 0.0, 0.0)
        x[:] = 0
        for h in range(J):  # lines 5 and 6
            a = order[h]
            if show_product(beta, gamma, x, a, rng):  # line 7
                liked[a] += 1.0  # line 8
                run.reward[i] += 1.0
            else:
                disliked[a] += 1.0  # line 10
            count[1] += 1
        run.length[i] = J


class BernoulliBandit(CustomerLearner):
    """Thompson sampling with a uniform prior on how popular each product is.

    Parameters
    ----------
    N, J : products, and how many of them a customer is shown.

    Examples
    --------
    >>> from rlsvi_core import Agent
    >>> from rlsvi_core.envs.recommender import Recommender
    >>> customers = Recommender.random(2.0, rng=0, N=4, J=2)
    >>> Agent(BernoulliBandit(4, 2), rng=1).learn(customers, 3, rng=2, exact=True).expected
    array([1., 1., 1.])
    """

    serve = staticmethod(_play_customers)

    def __init__(self, N: int, J: int) -> None:
        super().__init__(N, J)
        self.liked, self.disliked = np.ones((2, N))  # Algorithm 10, line 1

    def make_record(self, fitted: Weights, sample: bool) -> tuple[Floats, Floats, Floats]:
        return self.liked, self.disliked, fitted.theta

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        fitted = self.empty_fit()
        if rng is None:
            fitted.theta[:, 0] = self.liked / (self.liked + self.disliked)
        else:
            fitted.theta[:, 0] = rng.beta(self.liked, self.disliked)
        return fitted

    def add(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        (self.liked if r else self.disliked)[a] += 1.0
