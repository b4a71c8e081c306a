"""Section 6.3 and appendix E: customers, and the best policy for them."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

from rlsvi_core.envs.recommender import Recommender

RATE = 1e-6  # how often a statistical test of right code fails under a new seed


def customers(seed, N, J, beta=False):
    rng = np.random.default_rng(seed)
    gamma = 2.0 * rng.standard_normal((N, N))
    return Recommender(gamma, J, beta=rng.standard_normal(N) if beta else None)


def probability(env, x, a):
    """P(a | x), written afresh: x is a tuple of pairs (product, answer)."""
    return 1 / (1 + math.exp(-env.beta[a] - sum(env.gamma[a, n] * sign for n, sign in x)))


def recursion(env, x=()):
    """V* by recursion over histories in order, without merging, numbering or numpy."""
    if len(x) == env.J:
        return 0.0
    seen = {n for n, _ in x}
    return max(
        p * (1 + recursion(env, (*x, (a, 1)))) + (1 - p) * recursion(env, (*x, (a, -1)))
        for a in set(range(env.N)) - seen
        for p in [probability(env, x, a)]
    )


@pytest.mark.parametrize(("N", "J"), [(1, 1), (3, 1), (4, 3), (5, 4)])
@pytest.mark.parametrize("beta", [False, True])
def test_the_optimal_value_by_an_independent_recursion(N, J, beta):
    env = customers(3, N, J, beta=beta)
    assert math.isclose(env.optimal_value, recursion(env), rel_tol=1e-13)
    assert np.allclose(env.evaluate(env.Q.argmax(axis=1)), env.V, rtol=0, atol=1e-14)


def test_a_policy_by_hand():
    """Product 0, then 1 after a dislike and 2 after a like."""
    env = customers(5, N=3, J=2, beta=True)
    policy = np.array([np.flatnonzero(row == 0)[0] for row in env.states.x])
    policy[env.states.next[0, 0, 1]] = 2
    p = probability(env, (), 0)
    by_hand = p + p * probability(env, ((0, 1),), 2) + (1 - p) * probability(env, ((0, -1),), 1)
    assert math.isclose(env.evaluate(policy)[0], by_hand, rel_tol=1e-14)
    assert env.states.x[env.states.next[0, 0, 1]].tolist() == [1, 0, 0]


def test_the_tie_rules_of_the_myopic_policy():
    env = customers(5, N=5, J=3)  # where product 0 is neither the best nor the worst to open with
    rules = "uniform", "lowest", "best", "worst"
    value = {ties: env.evaluate(env.myopic_policy(ties))[0] for ties in rules}
    by_opening = []
    for a in range(5):  # only the first product is a tie
        policy = env.myopic_policy("lowest")
        policy[0] = np.eye(5)[a]
        by_opening.append(env.evaluate(policy)[0])
    assert math.isclose(value["best"], max(by_opening), rel_tol=1e-13)
    assert math.isclose(value["worst"], min(by_opening), rel_tol=1e-13)
    assert math.isclose(value["lowest"], by_opening[0], rel_tol=1e-13)
    assert math.isclose(value["uniform"], np.mean(by_opening), rel_tol=1e-13)
    assert value["worst"] < value["uniform"] < value["best"] <= env.optimal_value


def test_products_that_differ_by_more_than_rounding_do_not_tie():
    env = Recommender(np.zeros((3, 3)), 1, beta=[0.0, 1e-9, 1e-15])
    assert (env.myopic_policy()[0] == [0, 1, 0]).all()
    assert (Recommender(np.zeros((2, 2)), 1, beta=[0.0, 1e-15]).myopic_policy()[0] == 0.5).all()


def test_random_instances_are_normal_with_deviation_c():
    entries = [Recommender.random(3.0, seed, N=7, J=2).gamma.ravel() for seed in range(1, 41)]
    x = np.concatenate(entries) / 3
    for statistic, freedom in ((x.size * x.mean() ** 2, 1), ((x**2).sum(), x.size)):
        assert RATE / 4 < chi2.cdf(statistic, freedom) < 1 - RATE / 4


def test_answers_have_the_models_probability():
    env, rng, x = customers(4, N=5, J=4, beta=True), np.random.default_rng(1), [1, 0, -1, 0, 0]
    liked = 0
    for _ in range(4000):
        r, after, over = env.step(2, x, 3, rng)
        assert after.tolist() == [1, 0, -1, 1 if r else -1, 0]
        assert not over
        liked += int(r)
    assert binomtest(liked, 4000, probability(env, ((0, 1), (2, -1)), 3)).pvalue > RATE
    assert env.step(3, after, 1, rng)[2]
    assert env.legal(2, x).tolist() == [1, 3, 4]
