"""One algorithm, whatever the learner: each gives the values of the reference from the same draws, and the compiled loop the record of the loop by steps."""

import copy
import math

import numpy as np
import pytest
from reference import reference
from scipy import stats
from worlds import (
    LAM,
    RANDOM,
    SIGMA,
    WORLDS,
    A,
    H,
    Plain,
    S,
    agents_of,
    cases,
    episode,
    given,
    legal,
    same,
    short_means,  # noqa: F401
)

from rlsvi_core import Agent, FiniteMDP, Options, bootstrap, features, lsvi, rlsvi
from rlsvi_core.envs import lock
from rlsvi_core.features import boxes
from rlsvi_core.learners.appendix_f import ContinualLearner, IncrementalLearner, incremental
from rlsvi_core.learners.base import TERMINAL
from rlsvi_core.learners.bayesian_bootstrap import (
    BootstrapWeights,
    _draw_bootstrap_weights,
    spanning_inverse,
)
from rlsvi_core.learners.counts import CountLearner
from rlsvi_core.learners.rows import RowLearner
from rlsvi_core.learners.sums import SumLearner
from rlsvi_core.mdp import DiscountedMDP, sample_first_state, sample_step

pytestmark = pytest.mark.filterwarnings("ignore:value_range", "ignore:lam is suggested")
RATE = 1e-6  # how often a statistical test of right code fails under a new seed


# ------------------------------------------------------------------ every learner is the reference


@pytest.mark.parametrize(
    ("world", "choice", "learner"),
    [
        *[("table", "as it is", SumLearner), ("table", "window", RowLearner)],
        *[("one table", "as it is", SumLearner), ("one table, H", "as it is", SumLearner)],
        *[("one-hot", "as it is", CountLearner), ("one-hot, later H", "cut", CountLearner)],
        *[("one-hot, no H", "as it is", CountLearner)],
        *[("crossed", "as it is", RowLearner), ("function, H", "as it is", RowLearner)],
    ],
)
def test_the_learner_that_is_taken(world, choice, learner):
    for door in (rlsvi, lsvi):
        phi, arguments = given(world, choice)
        assert type(door(phi, **arguments).learner) is learner


@pytest.mark.parametrize("masks", [False, True], ids=["", "masks"])
@pytest.mark.parametrize(("world", "choice"), list(cases()))
def test_every_learner_gives_the_values_of_the_reference(world, choice, masks):
    phi, arguments = given(world, choice)
    for agent in agents_of(phi, **arguments):
        follow(agent, reference(agent, rng=3), WORLDS[world][2], masks)


def follow(agent, slow, states, masks):
    """Observe the same random episodes; before each one, look at everything and act."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        agent.plan()
        slow.plan()
        for h in range(agent.H or 1):
            for s, seen in enumerate(states):
                at = h, seen, legal(s, masks)
                for look in ("values", "mean_values"):
                    one, two = getattr(agent, look)(*at), getattr(slow, look)(*at)
                    np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-7)
                assert agent.act(*at) == slow.act(*at)
                assert agent.greedy(*at) == slow.greedy(*at)
        if isinstance(agent.learner, (SumLearner, RowLearner)):
            np.testing.assert_allclose(agent.theta, slow.theta, rtol=1e-6, atol=1e-7)
        for h, s, a, r, s_next in episode(rng, masks):
            for one in (agent, slow):
                follows = None if s_next is None else states[s_next]
                one.observe(h, states[s], a, r, follows, legal(s_next, masks))
    assert same(agent.rng, slow.rng)


def test_rows_that_are_zero_are_data():
    """Of an action that does nothing, say: after it the first episode is over, too."""
    fast = rlsvi(lambda s: np.array([[0.0, 0.0], [1.0, s]]), H=1, rng=1)
    agents = [fast, reference(fast, rng=1)]
    for agent in agents:
        agent.observe(0, 0.5, 0, 1.0, None)
        agent.plan()
    assert agents[0].theta.any()
    np.testing.assert_allclose(agents[0].theta, agents[1].theta)


def test_what_masks_have_closed_is_minus_infinity_in_tables():
    for phi in (features.OneHot(H, S, A), RANDOM, features.OneHot(None, S, A)):
        agent = rlsvi(phi, rng=1)
        agent.observe(0, 0, 1, 1.0, 2, [1])
        agent.plan()
        assert np.isinf(agent.values(1, 2)).tolist() == [True, False]
        assert agent.greedy(1, 2) == 1
        h = 1 if agent.H else 0
        assert agent.policy()[h, 2].tolist() == [0, 1]
        agent.observe(0, 0, 1, 1.0, 2)
        with pytest.raises(ValueError, match="mask"):
            agent.observe(0, 0, 1, 1.0, 2, [0, 1])


# ------------------------------------------------------------------ the loop, twice


def halved(episode):
    return 0.5 * 2.0 ** (-episode / 10)


ONE_TABLE = features.OneHot(None, S, A)
COMPILED = {
    "sums": lambda: rlsvi(RANDOM, LAM, SIGMA, rng=7),
    "sums, prior": lambda: rlsvi(
        RANDOM, value_range=(-1, 1), gamma=0.9, rng=7, options=Options(first="prior")
    ),
    "sums, epsilon": lambda: lsvi(RANDOM, LAM, epsilon=halved, rng=7),
    "sums, eta": lambda: lsvi(RANDOM, LAM, eta=0.5, rng=7),
    "counts": lambda: rlsvi(features.OneHot(H, S, A), LAM, SIGMA, rng=7),
    "counts, cut": lambda: rlsvi(features.OneHot(H, S, A), value_range=(-1, 1), gamma=0.9, rng=7),
    "counts, epsilon": lambda: lsvi(features.OneHot(H, S, A), LAM, epsilon=halved, rng=7),
    "counts, no H": lambda: rlsvi(ONE_TABLE, value_range=(-1, 1), gamma=0.9, rng=7),
    "counts, no H, steps": lambda: rlsvi(
        ONE_TABLE, gamma=0.7, options=Options(redraw=2, sweeps=3, first="prior"), rng=7
    ),
    "counts, no H, never": lambda: lsvi(ONE_TABLE, epsilon=halved, gamma=0.9, rng=7),
    "outcomes": lambda: bootstrap(RANDOM, (-1, 1), 0.3, gamma=0.9, rng=7),
    "outcomes, one-hot": lambda: bootstrap(features.OneHot(H, S, A), (-1, 1), rng=7),
    "incremental": lambda: incremental(RANDOM, LAM, SIGMA, 0.1, rng=7),
    "incremental, kept": lambda: incremental(
        RANDOM, LAM, SIGMA, lambda l: 1 / (l + 2), prior="kept", first="uniform", rng=7
    ),
}


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("name", COMPILED)
def test_the_compiled_loop_gives_the_record_of_the_loop_by_steps(name, noisy, make_mdp):
    """To the bit; so it does in two parts, and in each the expected reward is that of ``policy``."""
    mdp = make_mdp(2, H, S, A, noisy=noisy)
    agents, runs = [COMPILED[name]() for _ in range(2)], []
    for agent, env in zip(agents, (mdp, Plain(mdp)), strict=True):
        rng, exact = np.random.default_rng(8), agent.H is not None
        runs.append([agent.learn(env, n, rng, exact=exact) for n in (25, 15)])
        assert agent.n_transitions == 40 * H
    for one, two in zip(*runs, strict=True):
        np.testing.assert_allclose(one.expected, two.expected, rtol=1e-10, atol=1e-12)
        for field in one._fields:
            assert field == "expected" or same(getattr(one, field), getattr(two, field)), field
    assert same(agents[0].Q, agents[1].Q)
    for agent in agents:
        agent.plan()
    assert same(agents[0].Q, agents[1].Q)
    assert same(agents[0].rng, agents[1].rng)


class Steps:
    """The start and step of a discounted MDP, of which no more is known."""

    def __init__(self, mdp):
        self.start, self.step = mdp.start, mdp.step


@pytest.mark.parametrize("name", [name for name in COMPILED if COMPILED[name]().gamma != 1])
def test_the_compiled_loop_plays_a_discounted_mdp(name):
    """Of five states, in episodes of 17 steps, so that a state recurs before an episode's end."""
    rng = np.random.default_rng(3)
    P, R = rng.dirichlet(np.full(S, 0.3), (S, A)), rng.uniform(-1, 1, (S, A, S))
    agents = [COMPILED[name]() for _ in range(2)]
    mdp = DiscountedMDP(P, R, agents[0].gamma or 0.9, initial=np.arange(1, S + 1) / 15)
    limit = agents[0].H or 17
    runs = [
        agent.learn(env, 20, 8, limit=limit)
        for agent, env in zip(agents, (mdp, Steps(mdp)), strict=True)
    ]
    assert agents[0].n_transitions == 20 * limit
    for field in runs[0]._fields:
        assert same(getattr(runs[0], field), getattr(runs[1], field)), field
    assert same(agents[0].Q, agents[1].Q)
    assert same(agents[0].rng, agents[1].rng)


def test_an_environment_with_methods_of_its_own_is_played_by_them(make_mdp):
    """A subclass, whose step pays 100 more, or whose masks leave one action."""

    class Rich(FiniteMDP):
        def step(self, h, s, a, rng):
            r, s_next, over = super().step(h, s, a, rng)
            return r + 100, s_next, over

        def legal(self, h, s):
            return [1]

    mdp = make_mdp(2, H, S, A)
    rich = Rich(mdp.P, mdp.R, mdp.terminal, mdp.initial)
    for agent in (rlsvi(features.OneHot(H, S, A), rng=1), rlsvi(RANDOM, rng=1)):
        run = agent.learn(rich, 20, 2)
        assert (run.reward > 100 * (H - 1)).all()
        assert (run.first_action == 1).all()


class Clipped(CountLearner):
    def add(self, h, s, a, r, s_next, legal_next=None):
        super().add(h, s, a, min(r, 0.0), s_next, legal_next)


class Second(Agent):
    def act(self, h, s, legal=None):
        return 1


def test_a_subclass_is_not_played_by_the_compiled_loop_of_its_parent(make_mdp):
    """What it has of its own counts, as it does by steps."""
    mdp = make_mdp(2, H, S, A)
    clipped = Agent(Clipped(rlsvi(features.OneHot(H, S, A), rng=1).learner.problem), rng=1)
    clipped.learn(mdp, 30, 2)
    assert max(clipped.mean_values(h, s).max() for h in range(H) for s in range(S)) <= 0
    second = Second(rlsvi(RANDOM).learner, rng=1)
    assert (second.learn(mdp, 10, 2).first_action == 1).all()


class Pairs(features.OneHot):
    def __call__(self, h, s):
        return super().__call__(h, s // 2)


class PairsAgain(Pairs):
    """With nothing of its own."""


class Doubled(features.PerActionFeatures):
    def __call__(self, h, s):
        return 2 * super().__call__(h, s)


@pytest.mark.parametrize(
    "phi",
    [Pairs(H, S, A), Pairs(None, S, A), PairsAgain(H, S, A), Doubled(lambda s: [1.0, s], A, 2)],
)
def test_rows_of_a_subclass_are_its_own(phi):
    found = []
    fast = rlsvi(phi, gamma=0.9, rng=1)
    for agent in (fast, reference(fast)):
        agent.observe(0, 2, 1, 1.0, None)
        found.append(agent.mean_values(0, 3))
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)
    assert found[0][1] > 0.4


class Turned(features.FeatureTable):
    def __call__(self, h, s):
        return -super().__call__(h, s)


def test_a_table_of_a_subclass_is_given_a_horizon_later():
    rows = np.ones((S, A, 1))
    assert (features.FeatureMap.wrap(Turned(rows), 3)(2, 1) == -1).all()


def test_a_table_for_all_periods_is_given_a_horizon_later():
    table = np.random.default_rng(1).standard_normal((S, A, 4))
    one = rlsvi(features.maps.FeatureTable(table), H=3, rng=1)
    two = rlsvi(table, H=3, rng=1)
    for agent in (one, two):
        agent.observe(1, 2, 1, 1.0, 0)
        agent.plan()
    np.testing.assert_array_equal(one.theta, two.theta)


def test_incremental_by_its_mean_is_the_same_in_both_loops(make_mdp):
    """The weights in the targets are those that the episode is played by, whoever is looking."""
    mdp = make_mdp(2, H, S, A)
    found = []
    for env in (mdp, Plain(mdp)):
        agent = Agent(IncrementalLearner(RANDOM, LAM, SIGMA, 0.1), sample=False, epsilon=0.3, rng=5)
        rng = np.random.default_rng(8)
        agent.learn(env, 20, rng)
        agent.mean_values(0, 0)
        agent.learn(mdp, 1, rng)
        agent.observe(0, 1, 0, 0.5, 2)
        agent.plan()
        found.append(agent.theta)
    np.testing.assert_array_equal(*found)


def test_incremental_takes_masks():
    """The next value is the largest of what is allowed."""
    found = []
    for mask in (None, [0], [1]):
        agent = incremental(RANDOM, LAM, SIGMA, 0.1, rng=1)
        agent.plan()
        agent.observe(0, 0, 1, 0.3, 2, mask)
        agent.plan()
        found.append(agent.theta[0])
    assert found[0].tolist() in (found[1].tolist(), found[2].tolist())
    assert found[1].tolist() != found[2].tolist()


@pytest.mark.parametrize("name", ["sums", "sums, epsilon", "sums, eta", "counts, epsilon"])
def test_policy_is_the_law_that_act_draws_from(name, make_mdp):
    agent = COMPILED[name]()
    agent.learn(make_mdp(7, H, S, A), 5, 10)
    agent.plan()
    policy, shadow = agent.policy(), copy.deepcopy(agent.rng)
    assert (policy > 0).sum(axis=2).max() == (1 if agent.epsilon == agent.eta == 0 else A)
    for h, s in [*np.ndindex(H, S)] * 10:
        edges = np.cumsum(policy[h, s])
        assert agent.act(h, s) == np.searchsorted(edges, shadow.random(), side="right")


# ------------------------------------------------------------------ the bootstrap

ENDS = (-0.2, 0.4)  # narrow, so that it cuts
PHI = np.random.default_rng(1).standard_normal((H, S, 4, 6)) * np.arange(1, 5)[:, None]
SEEN = [
    *[(0, 0, 1, 0.3, 2), (1, 2, 0, -0.6, 3), (2, 3, 2, 1.1, 1)],
    *[(0, 3, 2, -0.2, 0), (1, 0, 1, 0.8, None)],
    *[(0, 0, 1, 0.3, 2), (1, 2, 0, -0.6, 3), (2, 3, 2, 1.1, 2)],
    *[(0, 0, 1, -0.7, 2), (1, 2, 2, 0.1, 2), (2, 2, 1, 0.6, 0)],
    *[(0, 0, 1, 0.3, 1), (1, 1, 0, 0.4, None)],
]
LEGAL = {(1, 2): [0, 2], (1, 0): [0, 1], (2, 3): [0, 2], (2, 2): [1]}  # elsewhere everything


def informed(agent, masks=False):
    for h, s, a, r, s_next in SEEN:
        agent.observe(h, s, a, r, s_next, LEGAL.get((h + 1, s_next)) if masks else None)
    return agent


def weighted_least_squares(Phi, draws, H, gamma, masks, sweeps):
    """Steps 1 to 4 of the bootstrap: Q̃, given the weights of each period; without a horizon, of so
    many sweeps."""
    (low, high), Q = ENDS, np.zeros(Phi.shape[:3])
    V = Q.max(axis=2)[0] if H else np.clip(Q.max(axis=2)[0], low, high)
    for h in reversed(range(H)) if H else [0] * sweeps:
        K = Phi.shape[3]
        C, draw = Phi[h] @ spanning_inverse(Phi[h].reshape(-1, K)), draws[h]
        rows, b = list(np.eye(K)), list(low + (high - low) * draw.share)
        for _, s, a, r, s_next in (one for one in SEEN if H is None or one[0] == h):
            rows.append(C[s, a])
            b.append(r if s_next is None or h + 1 == H else r + gamma * V[s_next])
        root = np.sqrt(np.concatenate([draw.visits, draw.data]))
        Q[h] = C @ np.linalg.lstsq(root[:, None] * rows, root * b, rcond=None)[0]
        top = [Q[h, s, LEGAL.get((h, s), ...) if masks else ...].max() for s in range(S)]
        V = np.clip(top, low, high)
    return Q


@pytest.mark.parametrize("masks", [False, True], ids=["", "masks"])
@pytest.mark.parametrize(
    ("phi", "arguments"),
    [
        (PHI, {"gamma": 0.9}),
        (PHI[0], {"H": H}),
        (features.OneHot(H, S, 4), {}),
        (PHI[0], {"gamma": 0.8, "options": Options(sweeps=3)}),
        (features.OneHot(None, S, 4), {"gamma": 0.8, "options": Options(sweeps=200)}),
    ],
    ids=["table", "one table", "one-hot", "table, no H", "one-hot, no H"],
)
def test_the_bootstrap_is_weighted_least_squares(phi, arguments, masks):
    """Every transition has its share of the weight of its outcome."""
    agent = bootstrap(phi, ENDS, 0.3, rng=2, **arguments)
    masks = masks and agent.H is not None  # here they depend on the period
    informed(agent, masks)
    periods = agent.H or 1
    Phi = np.eye(S * 4).reshape(S, 4, -1) if isinstance(phi, features.OneHot) else phi
    Phi = np.broadcast_to(Phi, (periods, *Phi.shape[-3:]))
    agent.learner.flush_queue()
    data = agent.learner.make_record(np.zeros((periods, S, 4)), True)
    for look, sigma in (("values", 1.0), ("mean_values", 0.0)):
        _draw_bootstrap_weights(data._replace(sigma=sigma), copy.deepcopy(agent.rng))
        draws = [
            BootstrapWeights(
                np.array(
                    [weight(data, agent.H, *one) for one in SEEN if agent.H is None or one[0] == h]
                ),
                data.draw.visits[h].copy(),
                data.draw.share[h].copy(),
            )
            for h in range(periods)
        ]
        agent.plan()
        found = [[getattr(agent, look)(h, s) for s in range(S)] for h in range(periods)]
        sweeps = agent.learner.problem.n_sweeps(look == "mean_values")
        exact = weighted_least_squares(Phi, draws, agent.H, agent.gamma, masks, sweeps)
        for h, s in np.ndindex(periods, S) if masks else ():
            exact[h, s, [a for a in range(4) if a not in LEGAL.get((h, s), range(4))]] = -np.inf
        np.testing.assert_allclose(found, exact, rtol=1e-7, atol=1e-8)


def weight(data, horizon, h, s, a, r, s_next):
    """What a transition has of the weight of its outcome."""
    last = s_next is None or h + 1 == horizon
    node = data.seen.first[h if horizon else 0, s, a]
    while (data.seen.state[node], data.seen.reward[node]) != (TERMINAL if last else s_next, r):
        node = data.seen.link[node]
        assert node >= 0, "an outcome that was not kept"
    return data.draw.data[node] / data.seen.number[node]


def test_the_bootstraps_weights_have_their_laws():
    """Each of four tests fails once in 1000 seeds."""
    agent = bootstrap(features.OneHot(1, 1, 4), ENDS, 0.3)
    for i in range(12):
        agent.observe(0, 0, i % 4, i / 10, None)  # twelve outcomes, of one visit each
    agent.plan()
    data, rng, draws = (
        agent.learner.make_record(np.zeros((1, 1, 4)), True),
        np.random.default_rng(3),
        [],
    )
    for _ in range(200):
        _draw_bootstrap_weights(data, rng)
        draws.append(
            [data.draw.data[:12].copy(), data.draw.visits[0].copy(), data.draw.share[0].copy()]
        )
    weights, visits, share = (np.concatenate(column) for column in zip(*draws, strict=True))
    assert stats.kstest(weights, stats.expon.cdf).pvalue > 0.001
    assert stats.kstest(visits, stats.gamma(0.6).cdf).pvalue > 0.001
    assert stats.kstest(share, stats.beta(0.3, 0.3).cdf).pvalue > 0.001
    assert stats.pearsonr(visits, share).pvalue > 0.001


def test_a_table_draws_from_a_dirichlet_posterior():
    """Mean and variance of a value whose outcomes are known; each fails once in 1000 seeds."""
    agent = bootstrap(features.OneHot(H, S, A), ENDS, 0.4, rng=4)
    for r, n in ((0.3, 3), (-0.5, 2), (1.0, 1)):
        for _ in range(n):
            agent.observe(2, 0, 1, r, None)
    outcomes, alpha = np.array([*ENDS, 0.3, -0.5, 1.0]), np.array([0.4, 0.4, 3, 2, 1])
    mean = alpha @ outcomes / alpha.sum()
    variance = (alpha @ outcomes**2 / alpha.sum() - mean**2) / (alpha.sum() + 1)
    found = np.empty(4000)
    for i in range(len(found)):
        agent.plan()
        found[i] = agent.values(2, 0)[1]
    assert stats.ttest_1samp(found, mean).pvalue > 0.001
    assert stats.ttest_1samp((found - mean) ** 2, variance).pvalue > 0.001
    assert agent.mean_values(2, 0)[1] == pytest.approx(mean)


@pytest.mark.parametrize(("won", "lost", "kappa"), [(0, 1, 1.0), (2, 3, 1.0), (1, 4, 0.1)])
def test_the_bootstrap_of_a_coin_is_thompson_sampling(won, lost, kappa):
    """With the prior Beta(κ, κ); an exact binomial test that fails once in 10 000 seeds."""
    agent = bootstrap(features.OneHot(1, 1, 1), (-2, 2), kappa, rng=won + 10 * lost)
    for r in [2.0] * won + [-2.0] * lost:
        agent.observe(0, 0, 0, r, None)
    count = 0
    for _ in range(4000):
        agent.plan()
        count += agent.values(0, 0)[0] > 0
    p = stats.beta(won + kappa, lost + kappa).sf(0.5)
    assert stats.binomtest(int(count), 4000, p).pvalue > 1e-4


def test_units_of_features_do_not_matter_to_the_bootstrap():
    mixed = PHI @ (np.random.default_rng(5).standard_normal((6, 6)) * [1e-3, 1, 2, 3, 4, 1e3])
    agents = [informed(bootstrap(Phi, ENDS)) for Phi in (PHI, mixed)]
    one, two = ([a.mean_values(h, s) for h, s in np.ndindex(H, S)] for a in agents)
    np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("large", [1.0, 1.7e9, 2.0**-40])
def test_no_feature_is_too_small_for_the_bootstrap(large):
    """Neither its mean nor its draws; the second action was the one that paid."""
    agents = [
        bootstrap([[[[c, s], [c, 1 - s]] for s in (0.0, 0.2)]], (0, 1), rng=1) for c in (1.0, large)
    ]
    for agent in agents:
        for _ in range(500):
            agent.observe(0, 0, 0, 0.0, None)
            agent.observe(0, 0, 1, 1.0, None)
        agent.plan()
    for look in ("values", "mean_values"):
        one, two = (getattr(agent, look)(0, 1) for agent in agents)
        np.testing.assert_allclose(one, two, atol=1e-6)
    np.testing.assert_allclose(agents[1].mean_values(0, 0), [0, 1], atol=1e-3)


def test_spanning_pairs_leave_no_large_coefficient():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((30, 6)) * 10.0 ** rng.integers(-3, 4, 6)
        c = rows @ spanning_inverse(rows)
        assert np.abs(c).max() <= 2 * (1 + 1e-9)
        assert (np.abs(c - 1) < 1e-9).any(axis=0).all()  # a pair is one of the rows
    rows = rng.standard_normal((9, 2)) @ [[1.0, 0, 2, 0], [0, 0, 1, 3]]
    assert (spanning_inverse(rows) != 0).any(axis=0).sum() == 2  # of four directions


def test_nearly_collinear_rows_lose_no_digits():
    """Cubics of observations close together: their squares have a condition number of 1e20."""
    rng = np.random.default_rng(1)
    basis = boxes.polynomial(([-1.0] * 4, [1.0] * 4), 1, 3)
    Phi = np.array([[basis(0, 0.3 + 0.01 * rng.normal(size=4))] for _ in range(200)])[:, 0]
    agent, r = bootstrap(Phi[None], ENDS, 0.01), rng.random(200)
    for s in range(200):
        agent.observe(0, s, 0, r[s], None)
    C = Phi[:, 0] @ spanning_inverse(Phi[:, 0])
    rows = np.vstack([C, math.sqrt(0.02) * np.eye(C.shape[1])])
    b = np.append(r, np.full(C.shape[1], math.sqrt(0.02) * 0.1))
    exact = C @ np.linalg.lstsq(rows, b, rcond=None)[0]
    np.testing.assert_allclose([agent.mean_values(0, s)[0] for s in range(200)], exact, rtol=1e-6)


# ------------------------------------------------------------------ appendix F


@pytest.mark.parametrize("prior", ["forgotten", "kept"])
@pytest.mark.parametrize("nu", [0.0, 0.05, lambda l: 1 / (l + 2)], ids=["0", "0.05", "1/(l+2)"])
def test_incremental_rlsvi_is_the_printed_recursion(nu, prior):
    """Σ⁻¹ and y with the sample of the episode in the targets; period h has its own count l."""
    agent, rng = incremental(RANDOM, LAM, SIGMA, nu, prior=prior, rng=3), np.random.default_rng(4)
    precision, y, l = np.tile(LAM * np.eye(4), (H, 1, 1)), np.zeros((H, 4)), np.zeros(H, int)
    for _ in range(15):
        z = copy.deepcopy(agent.rng).standard_normal((H, 4))[::-1]  # the last period comes first
        agent.plan()
        theta, mean = agent.theta, np.zeros((H, 4))
        for h in range(H):
            mean[h] = np.linalg.inv(precision[h]) @ y[h]
            root = np.linalg.inv(np.linalg.cholesky(precision[h])).T
            np.testing.assert_allclose(theta[h], mean[h] + root @ z[h], rtol=1e-8, atol=1e-9)
            np.testing.assert_allclose(agent.mean_values(h, 0), RANDOM[h, 0] @ mean[h], atol=1e-8)
        for h, s, a, r, s_next in episode(rng):
            agent.observe(h, s, a, r, s_next)
            last, phi = h == H - 1 or s_next is None, RANDOM[h, s, a]
            target = r if last else r + (RANDOM[h + 1, s_next] @ theta[h + 1]).max()
            size = nu(l[h]) if callable(nu) else nu
            precision[h] = (1 - size) * precision[h] + np.outer(phi, phi) / SIGMA**2
            precision[h] += size * LAM * np.eye(4) if prior == "kept" else 0.0
            y[h] = (1 - size) * y[h] + phi * target / SIGMA**2
            l[h] += 1


RHO = {"fresh": 0.0, "as printed": math.sqrt(1 - 0.9**2), "corrected": 0.9, "none": 1.0}


class Written:
    """An MDP of which nothing is known but start and step, which are written down."""

    def __init__(self, mdp):
        self.start, self.mdp, self.steps = mdp.start, mdp, []

    def step(self, h, s, a, rng):
        r, s_next, over = self.mdp.step(h, s, a, rng)
        self.steps.append((s, a, r, s_next))
        return r, s_next, over


@pytest.mark.parametrize("rho", RHO.values(), ids=RHO)
def test_continual_rlsvi_is_algorithm_13(rho):
    rng = np.random.default_rng(2)
    P, R = rng.dirichlet(np.ones(4), (4, 3)), rng.uniform(-1, 1, (4, 3, 4))
    for mdp, Phi in (
        (lock(4, 0.9), np.eye(8).reshape(4, 2, 8)),
        (DiscountedMDP(P, R, 0.9), rng.standard_normal((4, 3, 5))),
    ):
        K, theta, w, data = Phi.shape[2], np.zeros(Phi.shape[2]), np.zeros(Phi.shape[2]), []
        agent = Agent(ContinualLearner(Phi, 0.9, rho, LAM, SIGMA), redraw=1, epsilon=0.2, rng=3)
        world, own = np.random.default_rng(4), np.random.default_rng(3)
        compiled = copy.deepcopy(agent)
        env = Written(mdp)
        assert same(agent.learn(env, 1, 4, limit=100), compiled.learn(mdp, 1, 4, limit=100))
        s = sample_first_state(mdp.model, world)
        for t in range(100):
            q = Phi[s] @ theta
            best = np.isclose(q, q.max(), rtol=1e-9)
            p = 0.2 / q.size + 0.8 * best / best.sum()
            a = int(np.searchsorted(np.cumsum(p), own.random(), side="right"))
            r, s_next = sample_step(mdp.model, 0, s, a, world)
            assert env.steps[t] == (s, a, r, s_next)
            data.append((Phi[s, a], r, s_next))
            X = np.array([row for row, _, _ in data])
            b = [r + 0.9 * (Phi[after] @ theta).max() for _, r, after in data]
            precision = X.T @ X / SIGMA**2 + LAM * np.eye(K)
            noise = np.linalg.inv(np.linalg.cholesky(precision)).T @ own.standard_normal(K)
            w = rho * w + math.sqrt(1 - rho**2) * noise
            mean = np.linalg.inv(precision) @ X.T @ b / SIGMA**2
            theta, s = mean + w, s_next
        agent.plan()
        np.testing.assert_allclose(agent.theta[0], theta, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(agent.values(0, 1), Phi[1] @ theta, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(agent.fitted.w, w, rtol=1e-6, atol=1e-8)
        compiled.plan()
        assert same(agent.fitted, compiled.fitted)


def test_continual_rlsvi_says_so_when_it_diverges():
    agent = Agent(ContinualLearner([[[1.0]], [[2.0]]], gamma=0.99, rho=0.99, lam=1e-6), rng=1)

    def live():
        for _ in range(4000):
            agent.observe(0, 0, 0, 1.0, 1)
            agent.plan()

    with pytest.raises(FloatingPointError, match="stay finite"):
        live()
