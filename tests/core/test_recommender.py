"""Section 6.3 and appendix E: customers, the block-diagonal agents and the two bandits."""

import copy
import itertools
import math
from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from rlsvi_core import Agent, Options
from rlsvi_core.envs.recommender import MOST_STATES, Recommender, number_of_states, states
from rlsvi_core.learner import Problem
from rlsvi_core.regression import GaussianPosterior
from rlsvi_core.rlsvi import Printed
from rlsvi_study.recommender.bandit import BernoulliBandit
from rlsvi_study.recommender.products import ProductLearner, Products, expected_likes

RATE = 1e-6  # how often a statistical test of right code fails under a new seed

LAM, SIGMA = 0.2, 1e-3**0.5  # the paper's


def rlsvi(N, J, lam=LAM, sigma=SIGMA, *, rng=None, **reading):
    return Agent(ProductLearner(N, J, lam, sigma, **reading), rng=rng)


def lsvi(N, J, lam=LAM, *, epsilon=0.0, eta=0.0, rng=None, **reading):
    learner = ProductLearner(N, J, lam, **reading)
    return Agent(learner, sample=False, epsilon=epsilon, eta=eta, rng=rng)


def linear_bandit(N, J, lam=LAM, sigma=SIGMA, *, rng=None, **reading):
    return rlsvi(N, J, lam, sigma, gamma=0.0, rng=rng, **reading)


def bernoulli(N, J, rng=None):
    return Agent(BernoulliBandit(N, J), rng=rng)


class AsRead(Printed):
    """The printed form, by the reading of a learner."""

    same_draws = False

    def __init__(self, one, lam_of_mean=None):
        options = Options(shared=one.shared)
        super().__init__(
            Problem(Products(one.N, one.J), one.lam, one.sigma, one.gamma, options=options)
        )
        self.one, self.lam_of_mean = one, lam_of_mean or one.lam

    def add(self, h, s, a, r, s_next, legal_next=None):
        mask = None if self.one.over_all else legal_next
        super().add(h, s, a, r or self.one.dislike, s_next, mask)

    def solve(self, A, b, z):
        posterior = GaussianPosterior(self.K, self.lam_of_mean, self.problem.sigma)
        mean, (zero, noise) = posterior.add_rows(A, b).mean, super().solve(A, 0 * b, z)
        return mean, mean + noise - zero


def printed(agent, rng=None, **reading):
    """An agent that does the same as another, as printed."""
    return Agent(
        AsRead(agent.learner, **reading),
        sample=agent.sample,
        epsilon=agent.epsilon,
        eta=agent.eta,
        rng=rng,
    )


def by_product(theta, N):
    """Weights of the printed form, sorted as those of the learner."""
    return theta.reshape(len(theta), N, N + 1).transpose(0, 2, 1)


def customers(seed=0, N=4, J=3, c=2.0, beta=False):
    rng = np.random.default_rng(seed)
    return Recommender(
        c * rng.standard_normal((N, N)), J, beta=rng.standard_normal(N) if beta else None
    )


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


def in_order(env, *order):
    """The policy of a fixed order; states the order cannot reach get any unseen product."""
    rest = [*order, *range(env.N)]
    return np.array(
        [
            next(a for a in rest[min(h, len(order)) :] if row[a] == 0)
            if row[order[h]]
            else order[h]
            for row in env.states.x
            for h in [np.count_nonzero(row)]
        ]
    )


# --- the environment ------------------------------------------------------------------------------


def test_the_papers_problem_has_4521_states():
    x, start, following = states(10, 5)
    assert len(x) == number_of_states(10, 5) == 4521
    assert np.diff(start).tolist() == [1, 20, 180, 960, 3360]
    assert len({row.tobytes() for row in x}) == 4521
    assert (np.count_nonzero(x, axis=1) == np.repeat(range(5), np.diff(start))).all()
    for s in (0, 7, 300, 1160):
        shown = set(np.flatnonzero(x[s]))
        for a in range(10):
            for liked, sign in enumerate((-1, 1)):
                after = x[s].copy()
                after[a] = sign
                if a in shown:
                    assert following[s, a, liked] == 4521
                else:
                    assert (x[following[s, a, liked]] == after).all()
    assert (following[start[4] :] == 4521).all()


@pytest.mark.parametrize(("N", "J"), [(1, 1), (2, 2), (3, 1), (4, 3), (5, 4)])
@pytest.mark.parametrize("beta", [False, True])
def test_the_optimal_value_by_an_independent_recursion(N, J, beta):
    env = customers(3, N, J, beta=beta)
    assert math.isclose(env.value, recursion(env), rel_tol=1e-13)
    greedy = env.Q.argmax(axis=1)
    assert np.allclose(env.evaluate(greedy), env.V, rtol=0, atol=1e-14)


@pytest.mark.parametrize("beta", [False, True])
def test_the_optimal_value_by_brute_force_over_all_policies(beta):
    env = customers(5, N=3, J=2, beta=beta)
    x = env.states.x
    choices = [np.flatnonzero(row == 0) for row in x]
    values = [env.evaluate(np.array(policy))[0] for policy in itertools.product(*choices)]
    assert len(values) == 3 * 2**6
    assert math.isclose(max(values), env.value, rel_tol=1e-14)
    # one policy by hand: product 0, then 1 after a dislike and 2 after a like
    policy = np.array([c[0] for c in choices])
    policy[env.states.next[0, 0, 1]] = 2
    p = probability(env, (), 0)
    by_hand = p + p * probability(env, ((0, 1),), 2) + (1 - p) * probability(env, ((0, -1),), 1)
    assert math.isclose(env.evaluate(policy)[0], by_hand, rel_tol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_without_popularity_a_fixed_order_earns_exactly_half(seed):
    env = customers(seed, N=6, J=4)
    for order in itertools.islice(itertools.permutations(range(6), 4), 0, None, 37):
        policy = in_order(env, *order)
        assert math.isclose(env.evaluate(policy)[0], 2.0, rel_tol=1e-14)
    assert math.isclose(env.evaluate(env.uniform())[0], 2.0, rel_tol=1e-14)
    assert np.allclose(env.P[0], 0.5)


def test_the_bernoulli_bandits_fixed_order_is_evaluated_as_such():
    env = customers(1, N=4, J=3, beta=True)
    agent = bernoulli(4, 3, rng=2)
    for _ in range(5):
        counts = agent.learner.liked, agent.learner.disliked
        order = np.argsort(-copy.deepcopy(agent.rng).beta(*counts))
        run = agent.learn(env, 1, 3, exact=True)
        assert math.isclose(
            run.expected[0], env.evaluate(in_order(env, *order[:3]))[0], rel_tol=1e-13
        )


def test_the_tie_rules_of_the_myopic_policy():
    env = customers(2, N=5, J=3)
    value = {
        ties: env.evaluate(env.myopic(ties))[0] for ties in ("uniform", "lowest", "best", "worst")
    }
    by_opening = []
    for a in range(5):  # only the first product is a tie
        policy = env.myopic("lowest")
        policy[0] = np.eye(5)[a]
        by_opening.append(env.evaluate(policy)[0])
    assert math.isclose(value["best"], max(by_opening), rel_tol=1e-13)
    assert math.isclose(value["worst"], min(by_opening), rel_tol=1e-13)
    assert math.isclose(value["lowest"], by_opening[0], rel_tol=1e-13)
    assert math.isclose(value["uniform"], np.mean(by_opening), rel_tol=1e-13)
    assert value["worst"] < value["uniform"] < value["best"] <= env.value
    with pytest.raises(ValueError, match="ties"):
        env.myopic("random")


def test_products_that_differ_by_more_than_rounding_do_not_tie():
    env = Recommender(np.zeros((3, 3)), 1, beta=[0.0, 1e-9, 1e-15])
    assert (env.myopic()[0] == [0, 1, 0]).all()
    assert (Recommender(np.zeros((2, 2)), 1, beta=[0.0, 1e-15]).myopic()[0] == 0.5).all()


def test_with_two_products_shown_the_myopic_policy_can_only_err_in_the_first():
    env = customers(4, N=5, J=2)
    assert math.isclose(env.evaluate(env.myopic("best"))[0], env.value, rel_tol=1e-13)


def test_random_instances_are_normal_with_deviation_c():
    entries = np.concatenate([Recommender.random(2.0, seed).gamma.ravel() for seed in range(40)])
    # 4000 N(0, 4) draws: mean and second moment within six standard errors
    assert abs(entries.mean()) < 6 * 2 / math.sqrt(4000)
    assert abs((entries**2).mean() - 4) < 6 * 4 * math.sqrt(2 / 4000)
    assert (Recommender.random(2.0, 7).gamma == Recommender.random(2.0, 7).gamma).all()


def test_answers_have_the_models_probability():
    env, rng, x = customers(0, N=5, J=4), np.random.default_rng(1), [1, 0, -1, 0, 0]
    liked = int(sum(env.step(2, x, 3, rng)[0] for _ in range(4000)))
    assert binomtest(liked, 4000, probability(env, ((0, 1), (2, -1)), 3)).pvalue > RATE


def test_the_products_that_are_not_seen_are_legal():
    env = customers(0, N=5, J=4)
    assert env.legal(2, [1, 0, -1, 0, 0]).tolist() == [1, 3, 4]
    values = rlsvi(5, 4).values(2, [1, 0, -1, 0, 0])
    assert np.flatnonzero(values > -np.inf).tolist() == [1, 3, 4]


def test_too_many_states_are_refused_and_sampling_still_works():
    env = Recommender.random(1.0, 0, N=40, J=20)
    count = number_of_states(40, 20)
    assert count > MOST_STATES
    with pytest.raises(ValueError, match="states"):
        _ = env.value
    with pytest.raises(ValueError, match="states"):
        rlsvi(40, 20, rng=0).learn(env, 1, 1, exact=True)
    for agent in (
        rlsvi(40, 20, rng=0),
        linear_bandit(40, 20, rng=0),
        bernoulli(40, 20, rng=0),
    ):
        run = agent.learn(env, 30, 1)
        assert ((0 <= run.reward) & (run.reward <= 20)).all()
        assert np.isnan(run.expected).all()


@pytest.mark.parametrize(
    ("wrong", "keyword"),
    [
        (lambda: Recommender(np.zeros((2, 3)), 1), "gamma"),
        (lambda: Recommender(np.zeros((3, 3)), 4), "J"),
        (lambda: Recommender(np.full((2, 2), np.nan), 1), "gamma"),
        (lambda: Recommender(np.zeros((2, 2)), 1, beta=[1.0]), "beta"),
        (lambda: Recommender.random(-1.0), "c"),
        (lambda: customers().step(0, [1, 0, 0, 0], 3, None), "period"),
        (lambda: customers().evaluate(np.zeros(3, int)), "policy"),
        (lambda: customers().evaluate(np.zeros(33, int)), "once"),
        (lambda: rlsvi(3, 4), "J"),
        (lambda: rlsvi(3, 2, sigma=0.0), "sigma"),
        (lambda: rlsvi(3, 2).learn(customers(), 1), "length"),
        (lambda: rlsvi(3, 3).learn(customers(), 1), "products"),
        (lambda: rlsvi(4, 3).observe(0, [1, 0, 0, 0], 1, 1, None), "period"),
        (lambda: rlsvi(4, 3).values(0, [0, 0, 0]), "products"),
    ],
)
def test_bad_input_is_refused_with_the_reason(wrong, keyword):
    with pytest.raises(ValueError, match=keyword):
        wrong()


# --- the agents: block by block and as printed ----------------------------------------------------


AGENTS = {
    "rlsvi": rlsvi,
    "rlsvi, other λ and σ": partial(rlsvi, lam=1.3, sigma=0.4),
    "boltzmann": partial(lsvi, eta=0.2),
    "epsilon": partial(lsvi, epsilon=0.3),
    "greedy": lsvi,
    "bandit": linear_bandit,
    "bandit, printed mean": partial(linear_bandit, lam=0.7, sigma=0.5, lam_of_mean=0.175),
    "discounted": partial(rlsvi, sigma=0.3, gamma=0.7),
    "all products": partial(rlsvi, sigma=0.3, over_all=True),
    "shared": partial(rlsvi, sigma=0.3, shared=True),
    "minus one": partial(lsvi, eta=0.2, dislike=-1.0),
}
every_agent = pytest.mark.parametrize("agent_of", AGENTS.values(), ids=AGENTS)


@every_agent
def test_the_weights_are_those_of_the_printed_form(agent_of):
    """Both see what the first one does; they draw the same noise."""
    env, rng = customers(1, N=4, J=3), np.random.default_rng(6)
    block = agent_of(4, 3)
    reading = {"lam_of_mean": 0.175} if len(block.learner.sums.U) > 1 else {}
    dense = printed(block, **reading)
    for l in range(20):
        for one in (block, dense):
            one.rng = np.random.default_rng(l)
            one.plan()
        theta = by_product(dense.theta, 4)
        np.testing.assert_allclose(block.theta, theta, rtol=1e-8, atol=1e-8)
        x = env.start(rng)
        for h in range(3):
            a = block.act(h, x)
            liked, after, over = env.step(h, x, a, rng)
            for one in (block, dense):
                one.observe(
                    h,
                    x,
                    a,
                    liked,
                    None if over else after,
                    None if over else env.legal(h + 1, after),
                )
            x = after


def test_many_customers_reach_many_states_and_there_is_room_for_all():
    env = customers(1, N=5, J=4)
    block = rlsvi(5, 4, 1.3, 0.4, rng=5)
    dense = printed(block, rng=5)
    for episodes in (1, 2, 15, 60):
        runs = [agent.learn(env, episodes, 6) for agent in (block, dense)]
        assert np.array_equal(runs[0].reward, runs[1].reward)
    np.testing.assert_allclose(block.theta, by_product(dense.theta, 5), rtol=1e-6, atol=1e-7)


@every_agent
def test_learning_in_one_go_is_learning_step_by_step(agent_of):
    env = customers(2, N=5, J=4)
    whole, parts, steps = (agent_of(5, 4, rng=3) for _ in range(3))
    rngs = [np.random.default_rng(4) for _ in range(3)]
    a = whole.learn(env, 40, rngs[0], exact=True)
    b = [parts.learn(env, n, rngs[1], exact=True) for n in (1, 14, 25)]
    steps.learner.loop = None
    c = steps.learn(env, 40, rngs[2])
    for name in ("reward", "expected", "claimed", "opening", "length"):
        assert (getattr(a, name) == np.concatenate([getattr(run, name) for run in b])).all()
        assert name == "expected" or (getattr(a, name) == getattr(c, name)).all()
    assert (whole.theta == parts.theta).all()
    assert (whole.theta == steps.theta).all()


def test_the_features_are_those_of_the_paper_sorted_by_product():
    N = 3
    for x in ([1, 0, -1], [0, 0, 1]):
        rows = Products(N, 3)(0, x)
        assert rows.shape == (N, N**2 + N)
        for product, row in enumerate(rows):
            block = row.reshape(N, N + 1)
            for m in range(N):
                assert block[m, 0] == (product == m)
                assert block[m, 1:].tolist() == [x[n] * (product == m) for n in range(N)]


@every_agent
def test_the_expected_likes_are_those_of_the_policy(agent_of):
    """expected_likes against a policy array built state by state and evaluated backwards."""
    env = customers(3, N=5, J=4)
    agent = agent_of(5, 4, rng=1)
    agent.learn(env, 25, 2)
    x = env.states.x
    policy = np.zeros(x.shape)
    for s, row in enumerate(x):
        unseen, h = np.flatnonzero(row == 0), np.count_nonzero(row)
        q = agent.theta[h, 0, unseen] + row @ agent.theta[h][1:, unseen]
        law = np.exp((q - q.max()) / agent.eta) if agent.eta else 1.0 * (q == q.max())
        policy[s, unseen] = agent.epsilon / len(q) + (1 - agent.epsilon) * law / law.sum()
    found = expected_likes(env.states, env.P, agent.theta, agent.epsilon, agent.eta)
    assert math.isclose(found, env.evaluate(policy)[0], rel_tol=1e-10)


def test_only_the_marked_customers_are_evaluated():
    env, which = customers(3, N=5, J=3), np.arange(30) % 4 == 1
    all_, some = (
        lsvi(5, 3, eta=0.3, rng=1).learn(env, 30, 2, exact=exact) for exact in (True, which)
    )
    assert (all_.reward == some.reward).all()
    assert (all_.expected[which] == some.expected[which]).all()
    assert np.isnan(some.expected[~which]).all()


@pytest.mark.parametrize("name", ["rlsvi", "boltzmann", "epsilon", "bandit"])
def test_realised_likes_agree_with_the_exact_expectation(name):
    env = customers(7, N=6, J=4)
    difference = []
    for seed in range(20):
        run = AGENTS[name](6, 4, rng=seed).learn(env, 300, 1000 + seed, exact=True)
        difference.append((run.reward - run.expected).mean())
    # 6000 episodes; given the past, likes − expected has mean 0: a martingale
    z = np.mean(difference) / (np.std(difference, ddof=1) / math.sqrt(20))
    assert abs(z) < 8.0  # t with 19 degrees of freedom: beyond 8 twice in ten million seeds


def test_coding_a_dislike_as_minus_one_shifts_the_targets_only():
    """With r' = 2r − 1 every target with k periods to go becomes 2 · target − k."""
    zero, minus = (lsvi(3, 2, 1e-10, dislike=dislike) for dislike in (0.0, -1.0))
    answers = [
        ([0, 0, 0], 0, True),
        ([1, 0, 0], 1, False),
        ([0, 0, 0], 0, False),
        ([-1, 0, 0], 1, True),
        ([1, 0, 0], 2, True),
        ([-1, 0, 0], 2, True),
    ]
    for agent in (zero, minus):
        for x, a, liked in answers:
            agent.observe(np.count_nonzero(x), x, a, liked, None)
        agent.plan()
    assert np.allclose(minus.theta[1, 0, 1:], 2 * zero.theta[1, 0, 1:] - 1, atol=1e-6)
    assert math.isclose(minus.theta[0, 0, 0], 2 * zero.theta[0, 0, 0] - 2, abs_tol=1e-6)


# --- the bandits ----------------------------------------------------------------------------------


def test_the_bandit_regresses_on_rewards_alone():
    env, sigma, lam = customers(2, N=4, J=3), 0.3, 0.5
    agent = printed(linear_bandit(4, 3, lam, sigma), rng=0)
    agent.learn(env, 50, 1)
    agent.rng = np.random.default_rng(3)
    agent.plan()
    A, r = (np.array(column) for column in list(zip(*agent.learner.kept[0], strict=True))[:2])
    precision = A.T @ A / sigma**2 + lam * np.eye(20)
    mean = np.linalg.solve(precision, A.T @ r) / sigma**2
    rng = np.random.default_rng(3)
    z = [rng.standard_normal(20) for _ in range(3)][-1]  # periods 2 and 1 come first
    theta = mean + np.linalg.solve(np.linalg.cholesky(precision).T, z)
    assert np.allclose(agent.theta[0], theta, rtol=1e-9, atol=1e-12)


def test_the_printed_mean_has_the_ridge_lambda_sigma_squared_and_the_covariance_lambda():
    env, lam, sigma = customers(2, N=3, J=2), 0.5, 0.6
    agent = linear_bandit(3, 2, lam, sigma, lam_of_mean=lam * sigma**2, rng=0)
    dense = printed(agent, rng=0, lam_of_mean=lam * sigma**2)
    for one in (agent, dense):
        one.learn(env, 40, 1)
    A, r = (np.array(column) for column in list(zip(*dense.learner.kept[1], strict=True))[:2])
    mean = np.linalg.solve(A.T @ A / sigma**2 + lam * sigma**2 * np.eye(12), A.T @ r) / sigma**2
    cov = np.linalg.inv(A.T @ A / sigma**2 + lam * np.eye(12))
    draws = []
    for _ in range(4000):
        agent.plan()
        draws.append(agent.theta[1].T.ravel())
    error = (np.mean(draws, axis=0) - mean) / np.sqrt(np.diag(cov) / 4000)
    assert np.abs(error).max() < norm.isf(RATE / 24)
    assert np.allclose(np.var(draws, axis=0) / np.diag(cov), 1, atol=0.16)  # seven deviations


def test_the_bernoulli_bandit_counts_answers_and_cannot_learn():
    env, agent = customers(3, N=6, J=4), bernoulli(6, 4, rng=0)
    run = agent.learn(env, 500, 1, exact=True)
    liked, disliked = agent.learner.liked, agent.learner.disliked
    assert liked.sum() - 6 == run.reward.sum()
    assert (liked + disliked - 2).sum() == agent.transitions == 500 * 4
    assert np.allclose(run.expected, 2.0, rtol=1e-13)


def test_the_bernoulli_bandit_learns_popularity_where_there_is_some():
    env = Recommender(np.zeros((6, 6)), 2, beta=[3.0, -1, -1, -1, -1, 2.0])
    run = bernoulli(6, 2, rng=0).learn(env, 600, 1, exact=True)
    assert run.expected[-100:].mean() > 0.97 * env.value
    assert run.expected[:5].mean() < 0.8 * env.value


def test_rlsvi_learns_and_the_bandit_stops_short():
    env = Recommender.random(2.0, 0)
    late = {
        name: np.mean(
            [
                AGENTS[name](10, 5, rng=k)
                .learn(env, 1000, 100 + k, exact=True)
                .expected[-100:]
                .mean()
                for k in range(3)
            ]
        )
        / env.value
        for name in ("rlsvi", "bandit")
    }
    assert late["rlsvi"] > 0.95
    assert late["bandit"] < 0.95
