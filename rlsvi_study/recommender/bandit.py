"""Appendix E's Bernoulli bandit: Thompson sampling with a Beta posterior for each product.

It sorts the products by sampled popularity before the customer arrives and does not use her answers
while it serves her. A fixed order earns J/2 whatever the agent has learned (see
``rlsvi_core.envs.recommender``).
"""

from typing import Any

import numpy as np

from rlsvi_core import Run, checks
from rlsvi_core.compiled import Array, Floats, Generator, jit
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.kernels import States, answer, empty_run

from .products import Products, check_customers, exact_part, expected_likes

__all__ = ["BernoulliBandit"]


@jit
def _serve(
    beta: Floats,
    gamma: Floats,
    J: int,
    states: States,
    P: Floats,
    exact: Array,
    liked: Floats,
    disliked: Floats,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
) -> None:
    """Sample, sort, serve a customer, count her answers, repeat."""
    N = liked.shape[0]
    p, x, theta = np.empty(N), np.zeros(N, np.int8), np.zeros((J, N + 1, N))
    for i in range(run.reward.shape[0]):  # Algorithm 10, line 2
        for n in range(N):
            p[n] = agent_rng.beta(liked[n], disliked[n])  # line 3
        order = np.argsort(-p)  # line 4
        run.opening[i], run.length[i], run.furthest[i] = order[0], J, -1
        if exact[i]:
            for n in range(N):
                theta[:, 0, order[n]] = -n  # values that give this order, whatever the answers
            run.expected[i] = expected_likes(states, P, theta, 0.0, 0.0)
        x[:] = 0
        for h in range(J):  # lines 5 and 6
            a = order[h]
            if answer(beta, gamma, x, a, rng):  # line 7
                liked[a] += 1.0  # line 8
                run.reward[i] += 1.0
            else:
                disliked[a] += 1.0  # line 10


class BernoulliBandit:
    """Thompson sampling with a uniform prior on how popular each product is.

    Parameters
    ----------
    features : a :class:`Products` map, of which only N and J are used.
    rng : the agent's own generator or its seed.

    Examples
    --------
    >>> customers = Recommender.random(2.0, rng=0, N=4, J=2)
    >>> BernoulliBandit(Products(4, 2), rng=1).learn(customers, 3, rng=2, exact=True).expected
    array([1., 1., 1.])
    """

    def __init__(self, features: Products, *, rng: Any = None) -> None:
        self.N, self.J, self.rng = features.N, features.J, np.random.default_rng(rng)
        self.liked, self.disliked = np.ones(self.N), np.ones(self.N)  # Algorithm 10, line 1

    def learn(self, env: Recommender, episodes: int, rng: Any = None, *, exact: Any = False) -> Run:
        """As for every agent; ``exact`` may be an array that marks the episodes to evaluate."""
        check_customers(env, self.N, self.J)
        run = empty_run(checks.whole("episodes", episodes, hint="Pass episodes=1000, say."))
        _serve(
            env.beta,
            env.gamma,
            self.J,
            *exact_part(env, episodes, exact),
            self.liked,
            self.disliked,
            np.random.default_rng(rng),
            self.rng,
            run,
        )
        return run
