"""Section 6.3's agents: product by product they are the reference, by every reading."""

import copy
import math
from collections import deque
from functools import partial

import numpy as np
import pytest

from rlsvi_core import Agent
from rlsvi_core.algorithms import posterior
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.learners.base import RegressionProblem
from rlsvi_study.recommender.bandit import BernoulliBandit
from rlsvi_study.recommender.products import ProductFeatures, ProductLearner, expected_likes
from tests.core.reference import Reference


def agent_of(N, J, lam=0.2, sigma=0.03, *, sample=True, epsilon=0.0, eta=0.0, rng=None, **reading):
    learner = ProductLearner(N, J, lam, sigma if sample else 1.0, **reading)
    return Agent(learner, sample=sample, epsilon=epsilon, eta=eta, rng=rng)


class AsRead(Reference):
    """The reference, by the reading of a learner."""

    def __init__(self, one, lam_of_mean=None):
        super().__init__(
            RegressionProblem(ProductFeatures(one.N, one.J), one.lam, one.sigma, one.gamma)
        )
        self.one, self.lam_of_mean = one, lam_of_mean or one.lam
        if one.shared:
            self.kept = [deque()] * self.H  # the periods are pooled

    def fit(self, rng, before):
        fitted = super().fit(rng, before)
        if self.one.shared:  # the last fit acts throughout
            fitted.theta[:] = fitted.theta[0]
        return fitted

    def add(self, h, s, a, r, s_next, legal_next=None):
        mask = None if self.one.over_all else legal_next
        super().add(h, s, a, r or self.one.dislike, s_next, mask)

    def solve(self, h, after, noise):
        A, b = self.regression_problem(h, after)
        mean, _ = posterior(A, b, self.lam_of_mean, self.problem.sigma)
        _, U = posterior(A, b, self.one.lam, self.problem.sigma)
        return mean, mean + np.linalg.solve(U, noise)


def slow(agent, rng=None, **reading):
    """Return an agent that does the same as another, by the reference."""
    learner = AsRead(agent.learner, **reading)
    acting = {"sample": agent.sample, "epsilon": agent.epsilon, "eta": agent.eta}
    return Agent(learner, rng=rng, **acting)


def by_product(theta, N):
    """Weights of the reference, sorted as those of the learner."""
    return theta.reshape(len(theta), N, N + 1).transpose(0, 2, 1)


AGENTS = {
    "rlsvi": agent_of,
    "boltzmann": partial(agent_of, sample=False, eta=0.2),
    "epsilon": partial(agent_of, sample=False, epsilon=0.3),
    "bandit": partial(agent_of, gamma=0.0),
    "bandit, printed mean": partial(agent_of, lam=0.7, sigma=0.5, gamma=0.0, lam_of_mean=0.175),
    "discounted": partial(agent_of, sigma=0.3, gamma=0.7),
    "all products": partial(agent_of, sigma=0.3, over_all=True),
    "shared": partial(agent_of, sigma=0.3, shared=True),
    "minus one": partial(agent_of, sample=False, eta=0.2, dislike=-1.0),
}
every_agent = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)


@every_agent
def test_the_weights_are_those_of_the_reference(make):
    """Both see what the first one does; they draw the same noise."""
    env, rng = Recommender.random(2.0, 1, N=4, J=3), np.random.default_rng(6)
    block = make(4, 3)
    reading = {"lam_of_mean": 0.175} if len(block.learner.sums.U) > 1 else {}
    dense = slow(block, **reading)
    for l in range(1, 21):
        for one in (block, dense):
            one.rng = np.random.default_rng(l)
            one.plan()
        theta = by_product(dense.theta, 4)
        np.testing.assert_allclose(block.theta, theta, rtol=1e-8, atol=1e-8)
        x = env.start(rng)
        for h in range(3):
            a = block.act(h, x)
            liked, after, over = env.step(h, x, a, rng)
            follows = (None, None) if over else (after, env.legal(h + 1, after))
            for one in (block, dense):
                one.observe(h, x, a, liked, *follows)
            x = after


def test_many_customers_reach_many_states_and_there_is_room_for_all():
    env = Recommender.random(2.0, 1, N=5, J=4)
    block = agent_of(5, 4, 1.3, 0.4, rng=5)
    dense = slow(block, rng=5)
    for episodes in (1, 2, 15, 60):
        runs = [agent.learn(env, episodes, 6) for agent in (block, dense)]
        assert np.array_equal(runs[0].reward, runs[1].reward)
    np.testing.assert_allclose(block.theta, by_product(dense.theta, 5), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["rlsvi", "epsilon"])
def test_the_compiled_loop_is_the_loop_by_steps(name):
    env = Recommender.random(2.0, 2, N=5, J=4)
    whole, steps = (AGENTS[name](5, 4, rng=3) for _ in range(2))
    steps.learner.compile_player = lambda env, limit: None
    one, other = whole.learn(env, 40, 4), steps.learn(env, 40, 4)
    for name in ("reward", "predicted_value", "first_action", "length"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert np.array_equal(whole.theta, steps.theta)


def test_the_features_are_those_of_the_paper_sorted_by_product():
    for x in ([1, 0, -1], [0, 0, 1]):
        rows = ProductFeatures(3, 3)(0, x)
        assert rows.shape == (3, 12)
        for product, row in enumerate(rows):
            for m, block in enumerate(row.reshape(3, 4)):
                assert block.tolist() == ([1, *x] if m == product else [0] * 4)


@every_agent
def test_the_expected_likes_are_those_of_the_policy(make):
    """expected_likes against a policy array built state by state and evaluated backwards."""
    env, which = Recommender.random(2.0, 3, N=5, J=4), np.arange(25) % 4 == 1
    agent = make(5, 4, rng=1)
    run = agent.learn(env, 25, 2, exact=which)
    assert np.array_equal(np.isnan(run.expected), ~which)
    x = env.states.x
    policy = np.zeros(x.shape)
    for s, row in enumerate(x):
        unseen, h = np.flatnonzero(row == 0), np.count_nonzero(row)
        q = agent.theta[h, 0, unseen] + row @ agent.theta[h][1:, unseen]
        law = np.exp((q - q.max()) / agent.eta) if agent.eta else 1.0 * (q == q.max())
        policy[s, unseen] = agent.epsilon / len(q) + (1 - agent.epsilon) * law / law.sum()
    found = expected_likes(
        env.states, env.like_probabilities, agent.theta, agent.epsilon, agent.eta
    )
    assert math.isclose(found, env.evaluate(policy)[0], rel_tol=1e-10)


def test_the_bernoulli_bandit_counts_answers_and_plays_a_fixed_order():
    rng = np.random.default_rng(1)
    env = Recommender(rng.standard_normal((4, 4)), 3, beta=rng.standard_normal(4))
    agent, likes = Agent(BernoulliBandit(4, 3), rng=2), 0
    for episode in range(6):
        counts = agent.learner.liked, agent.learner.disliked
        assert counts[0].sum() - 4 == likes
        assert sum(counts).sum() - 8 == agent.n_transitions == 3 * episode
        order = np.argsort(-copy.deepcopy(agent.rng).beta(*counts))
        policy = [next(a for a in order if row[a] == 0) for row in env.states.x]
        run = agent.learn(env, 1, 3 + episode, exact=True)
        assert math.isclose(run.expected[0], env.evaluate(np.array(policy))[0], rel_tol=1e-13)
        likes += run.reward.sum()


def test_what_does_not_fit_is_refused():
    env = Recommender.random(2.0, 1, N=4, J=3)
    for said, call in (
        ("J", lambda: agent_of(3, 4)),
        ("length", lambda: agent_of(3, 2).learn(env, 1)),
        ("answers", lambda: agent_of(3, 3).learn(env, 1)),
        ("period", lambda: agent_of(4, 3).observe(0, [1, 0, 0, 0], 1, 1, None)),
        ("answers", lambda: agent_of(4, 3).values(0, [0, 0, 0])),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    # too many states to solve, none too many to play
    large = Recommender.random(1.0, 2, N=40, J=20)
    run = agent_of(40, 20, rng=3).learn(large, 30, 1)
    assert ((0 <= run.reward) & (run.reward <= 20)).all()
