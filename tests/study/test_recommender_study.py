"""Section 6.3 and appendix E as a study: its runs and summaries."""

import math

import numpy as np
import pandas as pd
import pytest

from rlsvi_core import Agent
from rlsvi_study import engine
from rlsvi_study.engine import streams
from rlsvi_study.judging.outcomes import DEPENDS, FAILS, HOLDS
from rlsvi_study.recommender import claims, experiments
from rlsvi_study.recommender.experiments import (
    evaluation_mask,
    first_lead_episode,
    make_agent,
    random_customers,
    regret_curves,
    regret_rates,
)
from rlsvi_study.recommender.products import ProductLearner

SMALL = {"N": 5, "J": 3, "c": 1.5, "episodes": 60, "every": 20}


def few(lam=0.2, sigma=1.0, **how):
    return Agent(ProductLearner(5, 3, lam, sigma), **how)


def test_a_curve_is_the_mean_over_runs_of_exact_and_realised_regret():
    rows = pd.DataFrame(experiments.learning_curve("rlsvi", 2, 7, **SMALL))
    env = random_customers(7, 5, 3, 1.5)
    both = [
        few(0.2, 1e-3**0.5, rng=streams((7, k))[2]).learn(env, 60, streams((7, k))[1], exact=True)
        for k in range(2)
    ]
    best = env.Q[0].argmax()
    for row in rows.itertuples():
        n = row.episode
        assert row.regret == pytest.approx(
            np.mean([(env.optimal_value - run.expected[:n]).sum() for run in both]), abs=1e-3
        )
        assert row.realised == pytest.approx(
            np.mean([(env.optimal_value - run.reward[:n]).sum() for run in both]), abs=1e-3
        )
        assert row.best_opening == pytest.approx(
            np.mean([(run.first_action[n - 20 : n] == best) for run in both]), abs=1e-3
        )
    assert rows.episode.tolist() == [20, 40, 60]


@pytest.mark.parametrize("arm", experiments.ARMS)
def test_every_arm_is_an_agent_that_learns(arm):
    agent = make_agent(arm, 4, 3, rng=0)
    assert (agent.learner.N, agent.learner.J) == (4, 3)
    assert len(agent.learn(random_customers(0, 4, 3), 12, 1).reward) == 12


def test_arms_differ_in_what_their_names_say():
    for arm, field, value in [
        ("rlsvi, λ = 2", "lam", 2.0),
        ("boltzmann 0.3, ridge λσ²", "lam", 2e-4),
        ("rlsvi, σ² = 0.01", "sigma", 0.1),
        ("epsilon 0.1, rewards ±1", "dislike", -1.0),
        ("epsilon 0.03", "epsilon", 0.03),
        ("boltzmann 0.5", "eta", 0.5),
        ("rlsvi", "gamma", 1.0),
        ("linear", "gamma", 0.0),
        ("linear", "lam", 0.2),
    ]:
        agent = make_agent(arm, 4, 3)
        owner = agent if field in ("epsilon", "eta") else agent.learner
        assert math.isclose(getattr(owner, field), value)
    assert make_agent("boltzmann 0.1, shared weights", 4, 3).learner.shared
    assert make_agent("rlsvi, target over all", 4, 3).learner.over_all
    for arm, sample in (("rlsvi", True), ("linear", True), ("epsilon 0.1", False)):
        assert make_agent(arm, 4, 3).sample == sample


def test_one_customer_in_ten_stands_for_ten_where_the_agent_dithers():
    which = evaluation_mask(few(sample=False, eta=1.0), 60, np.random.default_rng(0))
    assert which.reshape(6, 10).sum(axis=1).tolist() == [1] * 6
    assert evaluation_mask(few(), 60, None).all()
    env = random_customers(3, 5, 3)
    exact, estimate = [], []
    for k in range(200):
        which_rng, env_rng, agent_rng = streams((3, k))
        agent = few(sample=False, eta=0.3, rng=agent_rng)
        marked = evaluation_mask(agent, 60, which_rng)
        expected = agent.learn(env, 60, env_rng, exact=True).expected
        exact.append(expected.sum())
        estimate.append(10 * expected[marked].sum())
    difference = np.subtract(estimate, exact)
    assert abs(difference.mean()) < 5.5 * difference.std(ddof=1) / math.sqrt(200)


def test_policies_that_do_not_learn_have_their_exact_value():
    env = random_customers(2, 5, 3, 1.5)
    (row,) = experiments.learning_curve("myopic, ties best", 1, 2, **SMALL)
    assert row["regret"] == pytest.approx(
        60 * (env.optimal_value - env.evaluate(env.myopic_policy("best"))[0]), abs=1e-3
    )


def test_the_first_episode_from_which_an_arm_is_ahead():
    index, ones = pd.Index([10, 20, 30, 40]), np.ones(8)
    noise = np.linspace(-0.1, 0.1, 8)
    worse = pd.DataFrame([-ones + noise, ones + noise, noise, ones + noise], index)
    better = pd.DataFrame(np.zeros((4, 8)), index)
    assert first_lead_episode(worse, better) == 40
    assert first_lead_episode(worse.iloc[:2], better.iloc[:2]) == 20
    assert first_lead_episode(worse.iloc[:3], better.iloc[:3]) is None
    assert first_lead_episode(worse.iloc[1:2], better.iloc[1:2]) == 20


def test_rates_are_the_steps_of_the_curves():
    table = pd.DataFrame(
        [
            {"arm": "a", "seed": seed, "episode": n, "regret": total}
            for seed, totals in enumerate(([6, 10], [3, 23]))
            for n, total in zip((20, 60), totals, strict=True)
        ]
    )
    assert regret_curves(table, "a").to_numpy().tolist() == [[0, 0], [6, 3], [10, 23]]
    assert regret_rates(table, "a").to_numpy().tolist() == [[0.3, 0.15], [0.1, 0.5]]


def test_a_policy_that_does_not_learn_has_a_straight_line_up_to_its_stored_end():
    table = pd.DataFrame(
        [{"arm": "a", "seed": 0, "episode": n, "regret": n} for n in (20, 60)]
        + [{"arm": "random", "seed": 0, "episode": 60, "regret": 120.0}]
    )
    assert regret_curves(table, "random")[0].to_dict() == {0: 0, 20: 40, 60: 120}
    assert regret_rates(table, "random")[0].tolist() == [2, 2]


def test_exact_regret_agrees_with_the_likes_given():
    last = engine.load_table(experiments.EXPERIMENTS["recommender"]).query(
        "episode == 1200 and realised.notna()"
    )
    gap = (last.realised - last.regret).groupby(last.arm)
    assert len(gap) == 9
    assert (gap.mean() / gap.sem()).abs().max() < 4.5


@pytest.mark.parametrize("arm", ["linear", "bernoulli"])
def test_one_bandit_ahead_of_rlsvi_is_enough_to_refute(arm):
    table = claims.STORED["recommender"]
    table.loc[table.arm == arm, "regret"] *= 0.01
    tables = {**claims.STORED, "recommender": table}
    assert claims.better_than_bandits(tables).verdict == FAILS


def with_regret(arm, by):
    """The stored tables, with so many times an arm's regret."""
    table = claims.STORED["recommender"]
    table.loc[table.arm == arm, "regret"] *= by
    return {**claims.STORED, "recommender": table}


def test_one_temperature_as_good_is_enough_to_refute():
    assert claims.better_than_boltzmann(with_regret("boltzmann 0.1", 0.4)).verdict == FAILS


@pytest.mark.parametrize(
    ("ties", "verdict"), [("uniform", DEPENDS), ("lowest", DEPENDS), ("best", HOLDS)]
)
def test_a_myopic_policy_that_does_not_plan_is_beaten_in_each_way_to_break_ties(ties, verdict):
    tables = with_regret(experiments.MYOPIC[ties], 0.01)
    assert claims.better_than_myopic(tables).verdict == verdict


@pytest.mark.parametrize("ties", experiments.MYOPIC)
def test_planning_pays_however_ties_are_broken(ties):
    assert claims.planning_pays(with_regret(experiments.MYOPIC[ties], 0.0)).verdict == FAILS


@pytest.mark.parametrize("arm", claims.DITHERING.values())
def test_one_dithering_agent_ahead_of_the_myopic_policy_is_enough_to_refute(arm, monkeypatch):
    monkeypatch.setattr(claims, "learned_policy_lead", lambda *given: None)
    table = claims.STORED["recommender-rivals"]
    table.loc[table.arm == arm, "regret"] *= 0.01
    tables = {**claims.STORED, "recommender-rivals": table}
    assert claims.better_than_dithering(tables).verdict == FAILS
