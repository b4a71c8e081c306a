"""Since 2016: each variant against its formulas in plain Python; where it is RLSVI; the study."""

import copy
import math

import numpy as np
import pandas as pd
import pytest

from rlsvi_core import FiniteMDP, VerbatimAgent, chain, features, lsvi, rlsvi
from rlsvi_core.envs.chains import deep_sea
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.features import OneHot
from rlsvi_study import engine
from rlsvi_study.engine import streams
from rlsvi_study.since import runs
from rlsvi_study.since.tabular import VARIANTS, PerturbedAgent, Variant

SHAPE = H, S, A = 3, 4, 2
TABLE = OneHot(*SHAPE)
MDP = DirichletPrior.symmetric(*SHAPE, support=(0, 1)).sample(1)


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
    seed = rng.standard_normal() if variant.shared else None
    for h in reversed(range(H)):
        for s in range(S):
            for a in range(A):
                seen = [(r, s_next) for *pair, r, s_next in data if pair == [h, s, a]]
                n = len(seen)
                P = [sum(s_next == i for _, s_next in seen) / (n + 1) for i in range(S)]
                mean = sum(r for r, _ in seen) / (n + 1) + np.dot(P, V[h + 1])
                if variant.bernstein:
                    variance = np.dot(P, V[h + 1] ** 2) - np.dot(P, V[h + 1]) ** 2
                    deviation = variant.factor * (
                        math.sqrt(ell * variance / (n + 1))
                        + math.sqrt(ell / (n + 1))
                        + H * ell / (n + 1)
                    )
                else:
                    deviation = math.sqrt(beta / (n + 1))
                z = rng.standard_normal() if seed is None else seed
                Q[h, s, a] = mean + deviation * z
                if n < variant.threshold * beta:
                    Q[h, s, a] = H - h
                Q[h, s, a] = np.clip(Q[h, s, a], -variant.clip * (H - h), variant.clip * (H - h))
            V[h, s] = Q[h, s].max()
    return Q


@pytest.mark.parametrize("factor", [1.0, 0.03])
@pytest.mark.parametrize(
    "variant",
    [
        *VARIANTS.values(),
        Variant(shared=True, threshold=0.5),
        Variant(bernstein=True, threshold=2.0, clip=0.7),
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
    play(PerturbedAgent(TABLE, variant, rng=5), 30, each=compare)
    assert compared == 30


@pytest.mark.parametrize("name", VARIANTS)
def test_learning_in_pieces_is_learning_step_by_step(name):
    variant = VARIANTS[name]._replace(factor=0.03)
    expected = []
    slow = PerturbedAgent(TABLE, variant, rng=3)
    play(
        slow,
        40,
        each=lambda agent, _: expected.append(MDP.initial @ MDP.evaluate(agent.policy())[0]),
    )
    fast, rng = PerturbedAgent(TABLE, variant, rng=3), np.random.default_rng(2)
    pieces = [fast.learn(MDP, n, rng, exact=True).expected for n in (1, 12, 27)]
    np.testing.assert_allclose(np.concatenate(pieces), expected)
    np.testing.assert_array_equal(fast.Q, slow.Q)


# --- where they are RLSVI -------------------------------------------------------------------


def beta(k):
    return S * H**3 * math.log(2 * H * S * A * k) / 2


def test_it_is_algorithm_1_with_sigma_squared_beta_and_lambda_its_inverse():
    agent = PerturbedAgent(TABLE, Variant(), rng=5)
    data = play(agent, 20)
    printed = rlsvi(
        features.tabular(MDP),
        1 / beta(21),
        math.sqrt(beta(21)),
        form=VerbatimAgent,
        rng=copy.deepcopy(agent.rng),
    )
    for step in data:
        printed.observe(*step)
    printed.plan()
    agent.plan()
    np.testing.assert_allclose(agent.Q, printed.Q, atol=1e-9 * math.sqrt(beta(21)))


@pytest.mark.parametrize("name", VARIANTS)
def test_without_noise_it_is_lsvi(name):
    agent = PerturbedAgent(TABLE, VARIANTS[name]._replace(factor=0.0), rng=5)
    data = play(agent, 20)
    plain = lsvi(TABLE, 1.0)
    for step in data:
        plain.observe(*step)
    agent.plan()
    plain.plan()
    np.testing.assert_array_equal(agent.Q, plain.Q)
    noisy = PerturbedAgent(TABLE, VARIANTS[name], rng=5)
    for step in data:
        noisy.observe(*step)
    assert all(
        noisy.greedy(h, s) == plain.Q[h, s].argmax()
        for h, s in np.ndindex(H, S)
        if np.ptp(plain.Q[h, s]) > 0
    )


@pytest.mark.parametrize("bernstein", [False, True])
def test_a_seed_is_shared_by_nobody_where_there_is_one_pair(bernstein):
    bandit = DirichletPrior.symmetric(1, 1, 1, support=(0, 1)).sample(4)
    shared, own = (
        PerturbedAgent(OneHot(1, 1, 1), Variant(bernstein, shared), rng=5)
        for shared in (True, False)
    )
    for _ in range(10):
        for agent in (shared, own):
            agent.learn(bandit, 1, rng=6)
        np.testing.assert_array_equal(shared.Q, own.Q)


def test_a_shared_seed_moves_all_values_the_same_way():
    agent = PerturbedAgent(TABLE, Variant(shared=True), rng=5)
    agent.plan()
    z = agent.Q[-1] / math.sqrt(beta(1))
    np.testing.assert_array_equal(z, z[0, 0])
    assert z[0, 0] == np.random.default_rng(5).standard_normal()


def test_what_was_visited_too_seldom_is_worth_all_there_is():
    variant = Variant(threshold=1.5, factor=math.sqrt(1 / beta(6)))  # α_6 = 1.5
    agent = PerturbedAgent(TABLE, variant, rng=5)
    data = play(agent, 5)
    agent.plan()
    n = np.zeros(SHAPE)
    for h, s, a, *_ in data:
        n[h, s, a] += 1
    assert {0, 1, 2} <= set(n.ravel())
    np.testing.assert_array_equal(agent.Q == (H - np.arange(H))[:, None, None], n < 1.5)


# --- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "keyword"),
    [
        ({"factor": -1.0}, "factor"),
        ({"factor": math.nan}, "factor"),
        ({"threshold": -0.5}, "threshold"),
        ({"clip": 0.0}, "clip"),
        ({"clip": "2"}, "clip"),
        ({"shared": 1}, "shared"),
        ({"bernstein": None}, "bernstein"),
    ],
)
def test_other_variants_are_refused(change, keyword):
    with pytest.raises(ValueError, match=keyword):
        PerturbedAgent(TABLE, Variant(**change))


def test_what_is_no_variant_is_refused():
    with pytest.raises(ValueError, match="Variant"):
        PerturbedAgent(TABLE, "russo")


@pytest.mark.parametrize(
    "mdp",
    [
        deep_sea(4),
        DirichletPrior.symmetric(*SHAPE).sample(1),
        runs.paying(runs.World(chain(4), 0.0, 1.0), 0.5),
        FiniteMDP.stationary(np.ones((1, 2, 1)), np.full((1, 2, 1), 0.5), H=2, terminal=[0.75]),
    ],
)
def test_rewards_outside_the_unit_interval_are_refused(mdp):
    agent = PerturbedAgent(OneHot(mdp.H, mdp.S, mdp.A), Variant())
    with pytest.raises(ValueError, match="reward"):
        agent.learn(mdp, 1)
    agent.plan()
    with pytest.raises(ValueError, match="reward"):
        agent.observe(0, 0, 0, 1.25, 0)


def test_another_size_and_masks_are_refused():
    agent = PerturbedAgent(TABLE, Variant())
    with pytest.raises(ValueError, match="FiniteMDP"):
        agent.learn(chain(5), 1)
    with pytest.raises(ValueError, match="masks"):
        agent.act(0, 0, legal=[0])


def test_a_chain_pays_at_its_end():
    agent = PerturbedAgent(OneHot(3, 4, 2), VARIANTS["single-seed"]._replace(factor=0.01), rng=0)
    assert agent.learn(chain(4), 300, rng=1).reward[-50:].mean() > 0.3  # p* = 0.42


# --- the study ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "size"), [("chain", 5), ("river swim", 4), ("deep sea", 5), ("random", 4)]
)
@pytest.mark.parametrize("low", [0.0, -1.0])
def test_moved_rewards_leave_regret_as_it_was(environment, size, low):
    world = runs.WORLDS[environment](size, np.random.default_rng(7))
    for tossed in (False, True):
        mdp = runs.paying(world, low, tossed)
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
    ("agent", "constants"),
    [("single-seed", "tuned"), ("ucbvi", "published"), ("rlsvi-0.1", "published")],
)
def test_a_row_is_the_regret_so_far(agent, constants):
    rows = runs.curve("deep sea", 4, agent, constants, 3, 128)
    world_rng, env_rng, agent_rng = streams(3)
    world = runs.WORLDS["deep sea"](4, world_rng)
    mdp = runs.paying(world, runs.AGENTS[agent].low)
    factor = runs.TUNED[agent] if constants == "tuned" else 1.0
    learner = runs.AGENTS[agent].make(runs.make_prior(4, 4, 2), 128, factor, rng=agent_rng)
    regret, found = 0.0, []
    for l in range(1, 129):
        learner.plan()
        regret += world.mdp.regret(learner.policy())
        s = mdp.start(env_rng)
        for h in range(4):
            a = learner.act(h, s)
            r, s_next, _ = mdp.step(h, s, a, env_rng)
            learner.observe(h, s, a, r, s_next)
            s = s_next
        if l in (32, 128):
            found.append({"episode": l, "regret": pytest.approx(regret, abs=1e-3)})
    assert rows == found


def test_agents_know_the_range_and_the_factor():
    prior = runs.make_prior(3, 4, 2)
    rng = np.random.default_rng(0)
    printed, tuned = (runs.AGENTS["rlsvi"].make(prior, 10, f, rng=rng) for f in (1.0, 0.1))
    assert (printed.lam, printed.sigma) == pytest.approx((2.0, math.sqrt(10)))
    assert (tuned.lam, tuned.sigma) == pytest.approx((2.0, math.sqrt(0.1)))
    assert runs.AGENTS["russo"].make(prior, 10, 0.1, rng=rng).variant == Variant(factor=0.1)
    for name, low in (("rlsvi-0.1", 0.0), ("rlsvi-0.1-low", -1.0)):
        agent = runs.AGENTS[name].make(prior, 10, 1.0, rng=rng)
        assert (agent.lam, agent.sigma, agent.reading.first_episode) == (1.0, 0.1, "zero")
        assert runs.AGENTS[name].low == low


def tuning_table(least, factors=(1.0, 0.1, 0.01)):
    """Regret is least at a factor, on one problem ten times as large as on the other."""
    return pd.DataFrame(
        [
            {
                "environment": environment,
                "size": 5,
                "agent": agent,
                "factor": factor,
                "seed": seed,
                "episode": episode,
                "regret": size * episode * (1 + abs(math.log10(factor / least))),
            }
            for environment, size in (("chain", 1), ("random", 10))
            for agent in runs.TUNED
            for factor in factors
            for seed in (0, 1)
            for episode in (16, 64)
        ]
    )


def test_the_best_factor_has_the_least_geometric_mean_and_explores_most_among_equals():
    assert set(runs.best_factors(tuning_table(0.1)).values()) == {0.1}
    assert set(runs.best_factors(tuning_table(math.sqrt(0.1), (1.0, 0.1))).values()) == {1.0}
    table = tuning_table(0.01)
    spoilt = (table.environment == "chain") & (table.factor == 0.01)
    table.loc[spoilt & (table.episode == 16), "regret"] *= 1e6  # only the end counts
    assert set(runs.best_factors(table).values()) == {0.01}
    for times, best in ((3.0, 0.01), (3.0, 0.1)):  # √3 in the mean, then 3; a tenth doubles both
        table.loc[spoilt, "regret"] *= times
        assert set(runs.best_factors(table).values()) == {best}


def test_the_tuned_factors_follow_from_the_stored_table_by_the_rule():
    assert runs.best_factors(engine.load(runs.EXPERIMENTS["since-tuning"])) == runs.TUNED


def test_a_ratio_is_the_geometric_mean_over_the_problems_that_both_met():
    one, other = ("clipped", "tuned"), ("psrl", "published")
    regrets = [
        (one, "chain", 10, (6.0, 2.0)),
        (other, "chain", 10, (3.0, 1.0)),
        (one, "random", 5, (8.0, 8.0)),
        (other, "random", 5, (1.0, 1.0)),
        (one, "chain", 20, (9.0, 9.0)),
        (("rlsvi", "tuned"), "chain", 20, (5.0, 1.0)),
    ]
    table = pd.DataFrame(
        [
            {
                "agent": agent,
                "constants": constants,
                "environment": environment,
                "size": size,
                "seed": seed,
                "episode": episode,
                "regret": regret * episode,
            }
            for (agent, constants), environment, size, both in regrets
            for seed, regret in enumerate(both)
            for episode in (32, 128)
        ]
    )
    assert runs.ratio(table, one, other) == pytest.approx((4.0, 4.0, 4.0))  # √(2 · 8), paired
    low, middle, high = sorted(runs.ratio(table, one, ("rlsvi", "tuned")))
    assert (low, middle, high) == pytest.approx((9 / 5, 3.0, 9.0))


def test_the_interval_of_a_ratio_has_95_percent():
    """Of three seeds one is larger. All three draws take it with probability 1/27, about 3.7%: more
    than the tail of a 95% interval and less than that of a 90% one."""
    table = pd.DataFrame(
        [
            {
                "agent": agent,
                "constants": "tuned",
                "environment": "chain",
                "size": 10,
                "seed": seed,
                "episode": 32,
                "regret": regret,
            }
            for agent, regrets in (("one", (1.0, 1.0, 4.0)), ("other", (1.0, 1.0, 1.0)))
            for seed, regret in enumerate(regrets)
        ]
    )
    one, other = ("one", "tuned"), ("other", "tuned")
    assert runs.ratio(table, one, other, repeats=4000) == pytest.approx((2, 1, 4))
    assert runs.ratio(table, other, one, repeats=4000) == pytest.approx((1 / 2, 1 / 4, 1))


def test_a_comparison_keeps_to_its_problems_and_takes_the_end_of_each_run():
    arms = {("one", "tuned"): 6.0, ("other", "tuned"): 2.0}
    table = pd.DataFrame(
        [
            {
                "agent": agent,
                "constants": constants,
                "environment": environment,
                "size": 1,
                "seed": seed,
                "episode": episode,
                "regret": regret**power * episode**power,
            }
            for (agent, constants), regret in arms.items()
            for seed in range(3)
            for environment, power, ends in (("toll", 1, (16, 64)), ("chain", 2, (16, 32)))
            for episode in ends
        ]
    )
    assert len(runs.final(table)) == 12
    for environments, expected in ((("toll",), 3.0), (("chain",), 9.0), ((), 27**0.5)):
        found = runs.compare(table, runs.Comparison("", "", *arms, environments))
        assert found == pytest.approx((expected,) * 3)


@pytest.mark.parametrize("advice", runs.ADVICE)
def test_advice_survives_another_set_of_seeds(advice):
    table = engine.load(runs.EXPERIMENTS[runs.ADVICE[advice].table])
    first = table.seed.isin(runs.FIRST)
    assert set(table.seed[~first]) == set(range(30, 60))
    for seeds in (first, ~first):
        found = runs.compare(table[seeds], runs.ADVICE[advice])
        assert 1 < found.low < found.ratio < found.high


def test_tuning_and_study_share_no_seed():
    used = [
        set(runs.EXPERIMENTS[name].scales["paper"].seeds)
        for name in ("since-tuning", "since-tabular")
    ]
    assert not set.intersection(*used)
    assert set(runs.FIRST) < used[1]
