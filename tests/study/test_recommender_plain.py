"""The fast learners of the recommendation engine play as the plain algorithms do."""

import numpy as np
import pytest

from rlsvi_core import Agent, algorithms
from rlsvi_core.envs.recommender import Recommender
from rlsvi_study.recommender.bandit import BernoulliBandit
from rlsvi_study.recommender.products import ProductFeatures, ProductLearner


class Numbered:
    """The same customers with numbered states, period by period. Action i shows the i-th of the
    products that the customer has not seen."""

    def __init__(self, customers):
        self.customers = customers
        self.x = customers.states.x
        self.first = customers.states.start
        self.number = {x.tobytes(): s for s, x in enumerate(self.x)}

    def unseen(self, s):
        return np.flatnonzero(self.x[s] == 0)

    def start(self, rng):
        return 0

    def step(self, h, s, a, rng):
        s += self.first[h]
        r, x, over = self.customers.step(h, self.x[s], self.unseen(s)[a], rng)
        return r, 0 if over else self.number[x.tobytes()] - self.first[h + 1], over

    def features(self):
        """Φ_0, …, Φ_{J−1}, whose numbers of states and actions differ."""
        phi = ProductFeatures(self.customers.N, self.customers.J)
        return [
            np.array(
                [phi(h, self.x[s])[self.unseen(s)] for s in range(self.first[h], self.first[h + 1])]
            )
            for h in range(self.customers.J)
        ]


@pytest.mark.parametrize("agent", ["rlsvi", "boltzmann", "linear bandit"])
def test_weights_and_likes_are_those_of_the_plain_algorithms(agent):
    N, J, lam, sigma, episodes = 4, 3, 0.2, 0.03, 150
    customers = Recommender.random(2.0, 1, N=N, J=J)
    plain = Numbered(customers)
    rngs = np.random.default_rng(2), np.random.default_rng(3)
    if agent == "rlsvi":
        learner = ProductLearner(N, J, lam, sigma)
        found = algorithms.algorithm_2(plain, plain.features(), lam, sigma, episodes, *rngs)
    elif agent == "boltzmann":
        learner = ProductLearner(N, J, lam)
        found = algorithms.algorithm_4(plain, plain.features(), lam, 0.2, episodes, *rngs)
    else:
        learner = ProductLearner(N, J, lam, sigma, gamma=0.0)
        found = algorithms.algorithm_12(plain, plain.features(), lam, sigma, episodes, *rngs)
    likes, theta = found
    how = {"sample": False, "eta": 0.2} if agent == "boltzmann" else {}
    fast = Agent(learner, rng=2, **how)
    assert np.array_equal(fast.learn(customers, episodes, 3).reward, likes)
    theta = theta.reshape(J, N, N + 1).transpose(0, 2, 1)  # the learner keeps a column per product
    assert np.abs(fast.theta - theta).max() < 1e-8 * np.abs(theta).max()


def test_the_bernoulli_bandit_is_the_plain_one():
    customers = Recommender(np.random.default_rng(1).normal(size=(5, 5)), 3, beta=np.arange(5) / 2)
    rngs = np.random.default_rng(2), np.random.default_rng(3)
    likes, alpha, beta = algorithms.algorithm_10(customers, 5, 3, 200, *rngs)
    fast = Agent(BernoulliBandit(5, 3), rng=2)
    assert np.array_equal(fast.learn(customers, 200, 3).reward, likes)
    assert np.array_equal([fast.learner.liked, fast.learner.disliked], [alpha, beta])
