"""Since 2016: each variant against its formulas in plain Python; where it is RLSVI; the study."""

import copy
import math

import numpy as np
import pytest

from rlsvi_core import Agent, FiniteMDP, chain, features, lsvi, rlsvi
from rlsvi_core.envs.chains import deep_sea
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_study.engine import streams
from rlsvi_study.since import runs
from rlsvi_study.since.tabular import BERNSTEIN, HOEFFDING, VARIANTS, Perturbed, Variant
from rlsvi_study.worlds import World, paying

SHAPE = H, S, A = 3, 4, 2
TABLE = features.one_hot(*SHAPE)
MDP = DirichletPrior.symmetric(*SHAPE, support=(0, 1)).sample(1)


def perturbed(variant, rng=None, shape=SHAPE):
    return Agent(Perturbed(*shape, variant), rng=rng)


def play(agent, episodes, rng=2, each=lambda agent, data: None):
    """Drive an agent by plan, act and observe; ``each`` sees it after plan, with all before."""
    rng, data = np.random.default_rng(rng), []
    for _ in range(episodes):
        agent.plan()
        each(agent, data)
        s, over, h = MDP.start(rng), False, 0
        while not over:
            a = agent.act(h, s)
            r, s_next, over = MDP.step(h, s, a, rng)
            agent.observe(h, s, a, r, s_next)
            data.append((h, s, a, r, s_next))
            s, h = s_next, h + 1
    return data


# --- the variants ---------------------------------------------------------------------------


def textbook(variant, k, data, rng):
    """Q̃ of episode k by the formulas, from a list of transitions."""
    Q, V, ell = np.zeros(SHAPE), np.zeros((H + 1, S)), math.log(2 * H * S * A * k)
    beta = variant.factor**2 * S * H**3 * ell / 2
    ridge, top = variant.ridge, variant.low + 1
    seed = rng.standard_normal() if variant.shared else None
    for h in reversed(range(H)):
        for s in range(S):
            for a in range(A):
                seen = [(r, s_next) for *pair, r, s_next in data if pair == [h, s, a]]
                n = len(seen)
                P = [sum(s_next == i for _, s_next in seen) / (n + ridge) for i in range(S)]
                mean = sum(r for r, _ in seen) / (n + ridge) + np.dot(P, V[h + 1])
                if variant.size == BERNSTEIN:
                    variance = np.dot(P, V[h + 1] ** 2) - np.dot(P, V[h + 1]) ** 2
                    deviation = variant.factor * (
                        math.sqrt(ell * variance / (n + ridge))
                        + math.sqrt(ell / (n + ridge))
                        + H * ell / (n + ridge)
                    )
                elif variant.size == HOEFFDING:
                    deviation = math.sqrt(beta / (n + ridge))
                else:
                    deviation = variant.factor / math.sqrt(n + ridge)
                z = rng.standard_normal() if seed is None else seed
                Q[h, s, a] = mean + deviation * z
                if n < variant.threshold * beta:
                    Q[h, s, a] = top * (H - h)
                Q[h, s, a] = np.clip(Q[h, s, a], -variant.clip * (H - h), variant.clip * (H - h))
            V[h, s] = Q[h, s].max()
    return Q


@pytest.mark.parametrize("factor", [1.0, 0.03])
@pytest.mark.parametrize(
    "variant",
    [
        *VARIANTS.values(),
        Variant(ridge=0.01),
        Variant(size=HOEFFDING, shared=True, threshold=0.5, ridge=0.3),
        Variant(size=BERNSTEIN, threshold=2.0, clip=0.7, ridge=2.0),
    ],
)
def test_a_variant_is_its_formula(variant, factor):
    variant, compared = variant._replace(factor=factor), 0

    def compare(agent, data):
        nonlocal compared
        compared += 1
        np.testing.assert_allclose(agent.Q, textbook(variant, compared, data, before), atol=1e-12)
        before.bit_generator.state = agent.rng.bit_generator.state
        before.random(H)  # act's uniforms come before the next plan

    before = np.random.default_rng(5)
    play(perturbed(variant, rng=5), 30, each=compare)
    assert compared == 30


@pytest.mark.parametrize("name", VARIANTS)
def test_learning_in_pieces_is_learning_step_by_step(name):
    variant = VARIANTS[name]._replace(factor=0.03)
    expected = []
    slow = perturbed(variant, rng=3)
    play(
        slow,
        40,
        each=lambda agent, _: expected.append(MDP.initial @ MDP.evaluate(agent.policy())[0]),
    )
    fast, rng = perturbed(variant, rng=3), np.random.default_rng(2)
    pieces = [fast.learn(MDP, n, rng, exact=True).expected for n in (1, 12, 27)]
    np.testing.assert_allclose(np.concatenate(pieces), expected)
    np.testing.assert_array_equal(fast.Q, slow.Q)


# --- where they are RLSVI -------------------------------------------------------------------


def beta(k):
    return S * H**3 * math.log(2 * H * S * A * k) / 2


def test_it_is_algorithm_1_with_sigma_squared_beta_and_lambda_its_inverse():
    agent = perturbed(VARIANTS["russo"], rng=5)
    data = play(agent, 20)
    printed = rlsvi(
        features.tabular(MDP),
        1 / beta(21),
        math.sqrt(beta(21)),
        printed=True,
        rng=copy.deepcopy(agent.rng),
    )
    for step in data:
        printed.observe(*step)
    printed.plan()
    agent.plan()
    np.testing.assert_allclose(agent.Q, printed.Q, atol=1e-9 * math.sqrt(beta(21)))


@pytest.mark.parametrize("name", VARIANTS)
def test_without_noise_it_is_lsvi(name):
    agent = perturbed(VARIANTS[name]._replace(factor=0.0), rng=5)
    data = play(agent, 20)
    plain = lsvi(TABLE, 1.0)
    for step in data:
        plain.observe(*step)
    agent.plan()
    plain.plan()
    np.testing.assert_array_equal(agent.Q, plain.Q)
    noisy = perturbed(VARIANTS[name], rng=5)
    for step in data:
        noisy.observe(*step)
    assert all(
        noisy.greedy(h, s) == plain.Q[h, s].argmax()
        for h, s in np.ndindex(H, S)
        if np.ptp(plain.Q[h, s]) > 0
    )


@pytest.mark.parametrize("size", [HOEFFDING, BERNSTEIN])
def test_a_seed_is_shared_by_nobody_where_there_is_one_pair(size):
    bandit = DirichletPrior.symmetric(1, 1, 1, support=(0, 1)).sample(4)
    shared, own = (
        perturbed(Variant(size=size, shared=shared), 5, (1, 1, 1)) for shared in (True, False)
    )
    for _ in range(10):
        for agent in (shared, own):
            agent.learn(bandit, 1, rng=6)
        np.testing.assert_array_equal(shared.Q, own.Q)


def test_the_largest_value_depends_on_the_range_of_rewards():
    for low, top in ((0.0, H - np.arange(H)), (-1.0, np.zeros(H))):
        agent = perturbed(VARIANTS["clipped"]._replace(low=low), rng=5)
        agent.plan()
        np.testing.assert_array_equal(agent.Q, np.broadcast_to(top[:, None, None], SHAPE))


def test_rlsvi_by_its_ridge_is_rlsvi_by_its_precision():
    sigma, ridge = 0.3, 0.05
    agent = perturbed(Variant(factor=sigma, ridge=ridge), rng=5)
    data = play(agent, 20)
    printed = rlsvi(TABLE, ridge / sigma**2, sigma, rng=copy.deepcopy(agent.rng))
    for step in data:
        printed.observe(*step)
    printed.plan()
    agent.plan()
    np.testing.assert_allclose(agent.Q, printed.Q, atol=1e-12)


def test_a_shared_seed_moves_all_values_the_same_way():
    agent = perturbed(Variant(size=HOEFFDING, shared=True), rng=5)
    agent.plan()
    z = agent.Q[-1] / math.sqrt(beta(1))
    np.testing.assert_array_equal(z, z[0, 0])
    assert z[0, 0] == np.random.default_rng(5).standard_normal()


def test_what_was_visited_too_seldom_is_worth_all_there_is():
    variant = Variant(size=HOEFFDING, threshold=1.5, factor=math.sqrt(1 / beta(6)))  # α_6 = 1.5
    agent = perturbed(variant, rng=5)
    data = play(agent, 5)
    agent.plan()
    n = np.zeros(SHAPE)
    for h, s, a, *_ in data:
        n[h, s, a] += 1
    assert {0, 1, 2} <= set(n.ravel())
    np.testing.assert_array_equal(agent.Q == (H - np.arange(H))[:, None, None], n < 1.5)


# --- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mdp",
    [
        deep_sea(4),
        DirichletPrior.symmetric(*SHAPE).sample(1),
        paying(World(chain(4), 0.0, 1.0), 0.5),
        FiniteMDP.stationary(np.ones((1, 2, 1)), np.full((1, 2, 1), 0.5), H=2, terminal=[0.75]),
    ],
)
def test_rewards_outside_the_unit_interval_are_refused(mdp):
    agent = perturbed(Variant(), 1, (mdp.H, mdp.S, mdp.A))
    with pytest.raises(ValueError, match="reward"):
        agent.learn(mdp, 200, 2)
    with pytest.raises(ValueError, match="reward"):
        agent.observe(0, 0, 0, 1.25, 0)


def test_a_chain_pays_at_its_end():
    agent = perturbed(VARIANTS["single-seed"]._replace(factor=0.01), rng=0)
    assert agent.learn(chain(4), 300, rng=1).reward[-50:].mean() > 0.3  # p* = 0.42


# --- the study ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "size"), [("chain", 5), ("river swim", 4), ("deep sea", 5), ("random", 4)]
)
@pytest.mark.parametrize("low", [0.0, -1.0])
def test_moved_rewards_leave_regret_as_it_was(environment, size, low):
    world = runs.WORLDS[environment](size, np.random.default_rng(7))
    for tossed in (False, True):
        mdp = paying(world, low, tossed)
        assert low <= mdp.R[mdp.P > 0].min()
        assert mdp.R.max() <= low + 1
        assert not mdp.terminal.any()
        assert mdp.support == ((low, low + 1) if tossed or environment == "random" else None)
        for seed in range(5):
            policy = np.random.default_rng(seed).dirichlet(np.ones(mdp.A), (mdp.H, mdp.S))
            assert (world.high - world.low) * mdp.regret(policy) == pytest.approx(
                world.mdp.regret(policy)
            )


@pytest.mark.parametrize(
    "arm",
    [
        {"agent": "rlsvi", "low": -1.0, "noise": "one", "ridge": 0.01, "factor": 0.1},
        {"agent": "single-seed", "low": 0.0, "noise": "one", "ridge": 1.0, "factor": 0.003},
        {"agent": "ucbvi", "low": -1.0, "noise": "own", "ridge": 0.0, "factor": 1.0},
    ],
)
def test_a_row_is_the_regret_so_far(arm):
    rows = runs.curve("deep sea", 4, **arm, seed=3, episodes=64)
    world_rng, env_rng, agent_rng = streams(3)
    world = runs.WORLDS["deep sea"](4, world_rng)
    mdp = paying(world, arm["low"])
    learner = runs.make_agent(mdp, **arm, episodes=64, rng=agent_rng)
    regret, found = 0.0, []
    for l in range(1, 65):
        learner.plan()
        regret += world.mdp.regret(learner.policy())
        s = mdp.start(env_rng)
        for h in range(4):
            a = learner.act(h, s)
            r, s_next, _ = mdp.step(h, s, a, env_rng)
            learner.observe(h, s, a, r, s_next)
            s = s_next
        if l in (16, 64):
            found.append({"episode": l, "regret": pytest.approx(regret, abs=1e-3)})
    assert rows == found


def test_an_arm_becomes_its_variant():
    mdp, rng = chain(4), np.random.default_rng(0)
    one = runs.make_agent(mdp, "rlsvi", -1.0, "one", 0.01, 0.3, 10, rng)
    assert one.learner.variant == Variant(factor=0.3, ridge=0.01, shared=True, low=-1.0)
    own = runs.make_agent(mdp, "clipped", 0.0, "own", 1.0, 0.1, 10, rng)
    assert own.learner.variant == VARIANTS["clipped"]._replace(factor=0.1)


def test_no_pair_is_visited_as_often_as_the_published_clip_asks():
    """So that agent acts uniformly in every run of the study, whichever reading of α is right."""
    for environment, size in (("chain", 20), ("river swim", 6), ("deep sea", 10), ("random", 5)):
        mdp = runs.WORLDS[environment](size, np.random.default_rng(0)).mdp
        first = math.log(2 * mdp.H * mdp.S * mdp.A)
        assert mdp.S * mdp.H**3 * first / 2 > runs.EPISODES
