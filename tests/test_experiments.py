"""The experiments: what a row means, and that the stored tables are what the code computes."""

import math

import numpy as np
import pandas as pd
import pytest
from planted import Changed

from rlsvi_core import FiniteMDP, chain, features, lsvi, rlsvi
from rlsvi_study import catalogue, store
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.chain import claims
from rlsvi_study.chain.claims import STORED
from rlsvi_study.chain.runs import (
    first_arrival,
    learning_curve,
    learning_times,
    make_agent,
    medians,
    time_to_learn,
)
from rlsvi_study.experiment import streams
from rlsvi_study.intervals import median_interval
from rlsvi_study.register import FAILS, HOLDS, PARTLY

REGISTER = catalogue.claims()

SMALL = {"N": 8, "K": 4, "lam": 1.0, "sigma": 0.1, "episodes": 200, "every": 10}


def test_a_curve_records_what_the_agent_did():
    rows = pd.DataFrame(learning_curve("rlsvi", 3, **SMALL))
    mdp = chain(8)
    basis_rng, env_rng, agent_rng = streams(3)
    agent = rlsvi(features.coherent(mdp.Q, 4, basis_rng), 1.0, 0.1, rng=agent_rng)
    run = agent.learn(mdp, 200, env_rng, exact=True)
    for row in rows.itertuples():
        n = row.episode
        assert row.rewards == run.reward[:n].sum()
        assert row.regret == pytest.approx(n * mdp.value - run.reward[:n].sum())
        assert row.expected_regret == pytest.approx((mdp.value - run.expected[:n]).sum())
        assert row.furthest == 1 + run.furthest[n - 10:n].max()
        missed = run.expected[:n] < mdp.value - 1e-9
        assert row.suboptimal == missed.sum()
        tenth = np.flatnonzero(np.cumsum(run.reward[:n]) >= 10)
        assert row.tenth_reward == (tenth[0] + 1 if tenth.size else 0)
        assert row.last_suboptimal == np.flatnonzero(missed)[-1] + 1
        assert row.lapses == missed[1 + np.argmax(run.reward[:n] > 0):].sum() * (row.rewards > 0)
    assert rows.rewards.iloc[-1] > 10  # the comparison above saw rewards


def test_agents_of_one_seed_share_basis_and_environment_noise():
    first, second = streams(7), streams(7)
    assert all(a.random() == b.random() for a, b in zip(first, second, strict=True))
    assert len({rng.random() for rng in first}) == 3


def test_first_arrival_is_the_first_rewarded_episode():
    mdp = chain(6)
    _, env_rng, agent_rng = streams(5)
    reward = make_agent("boltzmann", features.tabular(mdp), 1.0, 0.1, agent_rng).learn(
        mdp, 2000, env_rng).reward
    assert first_arrival("boltzmann", 6, 5, 1.0, 0.1, 10_000) == [
        {"unrewarded": int(np.argmax(reward > 0)), "censored": False}]


def test_the_tenth_reward_is_counted_in_episodes():
    mdp = chain(8)
    basis_rng, env_rng, agent_rng = streams(2)
    agent = rlsvi(features.coherent(mdp.Q, 4, basis_rng), 1.0, 0.1, rng=agent_rng)
    rewarded = np.flatnonzero(agent.learn(mdp, 1000, env_rng).reward)
    assert time_to_learn(2, 8, 4, 1.0, 0.1, 1000) == [
        {"first_reward": rewarded[0] + 1, "tenth_reward": rewarded[9] + 1, "censored": False}]
    assert time_to_learn(2, 8, 4, 1.0, 0.1, int(rewarded[9])) == [
        {"first_reward": rewarded[0] + 1, "tenth_reward": rewarded[9], "censored": True}]


READING = {"seed": 1, "reading": "stacked", "norm": "HSA", "constant": "rescaled",
           "opening": "uniform", "lam": 1.0, "N": 8, "K": 4, "sigma": 0.1, "budget": 2000}


def test_a_smaller_norm_is_a_larger_lambda():
    # SA = 16 = 4², so these features differ by a factor 4 and λ by 16: the same run to the bit.
    by_norm = READING | {"reading": "per_period", "norm": "√SA"}
    by_lambda = READING | {"reading": "per_period", "norm": "SA", "lam": 16.0}
    assert time_to_learn(**by_norm) == time_to_learn(**by_lambda)


def test_ties_to_the_right_give_the_reward_away():
    first = [time_to_learn(**READING | {"opening": "right", "seed": seed})[0]
             for seed in range(60)]
    lucky = sum(row["first_reward"] == 1 for row in first)
    # Binomial(60, 0.39): outside 6 … 42 with probability below 1e-6.
    assert 6 <= lucky <= 42
    assert all(time_to_learn(**READING | {"opening": "left", "seed": seed})[0][
        "first_reward"] > 1 for seed in range(10))


def test_medians_count_censored_runs_as_infinite():
    table = pd.DataFrame({"N": [5] * 3, "seed": [0, 1, 9], "tenth_reward": [10, 30, 30],
                          "censored": [False, True, True]})
    row = medians(table, "N").loc[5]
    assert (row["median"], row.mean5, row.runs, row.censored) == (math.inf, 20, 3, 2)


def test_a_run_without_reward_is_marked_as_censored():
    assert first_arrival("epsilon-greedy", 40, 0, 1.0, 0.1, 300) == [
        {"unrewarded": 300, "censored": True}]


def test_learning_time_is_the_tenth_reward_and_infinite_if_it_never_comes():
    table = pd.DataFrame({"agent": ["a"] * 6, "seed": [0, 0, 0, 1, 1, 1],
                          "episode": [20, 40, 60] * 2, "tenth_reward": [0, 37, 37, 0, 0, 0]})
    assert learning_times(table).tolist() == [37.0, math.inf]


@pytest.mark.parametrize(("values", "expected"), [
    ([5.0], (5, 5, 5)),
    ([1, 2, 3, 4], (2.5, 1, 4)),
    (range(1, 51), (25.5, 18, 33)),  # the tabulated 95% interval for n = 50
    ([1.0, 2.0, math.inf, math.inf, math.inf], (math.inf, 1, math.inf)),
])
def test_median_interval(values, expected):
    assert median_interval(list(values)) == expected


def test_median_interval_covers_as_often_as_it_says():
    # 95.1% exactly for n = 50 and a continuous law; 2000 trials: 6 standard deviations are 2.9%.
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        _, low, high = median_interval(rng.exponential(size=50))
        covered += low <= math.log(2) <= high
    assert 0.92 < covered / 2000 < 0.98


def test_median_interval_refuses_nan():
    with pytest.raises(ValueError, match="Give censored runs as infinity"):
        median_interval([1.0, math.nan])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_stored_tables_are_complete_and_untouched(name):
    figure = EXPERIMENTS[name]
    table = store.load(figure)
    labels = {tuple(task.label.values()) for task in figure.scales["paper"].tasks}
    columns = list(figure.scales["paper"].tasks[0].label)
    assert set(table[columns].itertuples(index=False, name=None)) == labels


def test_dithering_schemes_wait_for_the_same_episode():
    """Until the first reward both act uniformly, so with the same draws they are one agent."""
    table = store.load(EXPERIMENTS["example1"]).pivot(index=["N", "seed"], columns="agent",
                                                  values="unrewarded")
    assert (table["epsilon-greedy"] == table["boltzmann"]).all()


# --- planted falsehoods ---------------------------------------------------------------------


def scaled(column, factor):
    """Multiply a column by a factor that may depend on the row."""
    return lambda t: t.assign(**{column: t[column] * (factor(t) if callable(factor) else factor)})


@pytest.mark.parametrize(("id", "name", "spoil", "verdict"), [
    ("1.gains", "fig2a", scaled("tenth_reward", 0), FAILS),
    ("3.wait", "example1", scaled("unrewarded", 1.5), FAILS),
    ("6.1.learns", "fig2a", scaled("tenth_reward", 3), FAILS),
    ("6.1.any-dithering", "example1", lambda t: t.assign(
        unrewarded=t.unrewarded + ((t.agent == "boltzmann") & (t.N == 8) & (t.seed == 3))), FAILS),
    ("6.1.beats-bounds", "fig3", scaled("tenth_reward", lambda t: t.N**2), FAILS),
    ("6.1.beats-bounds", "fig3", scaled("tenth_reward", lambda t: 1 + 50 * (t.N < 30)), PARTLY),
    ("6.1.generalization", "fig3-tabular", scaled("tenth_reward", 1), FAILS),
    ("6.1.generalization", "fig3-tabular", scaled("tenth_reward", 100), HOLDS),
    ("6.1.large-K", "fig4", scaled("tenth_reward", 100), FAILS),
    ("6.1.features", "fig4", lambda t: t.assign(tenth_reward=10 * t.K), FAILS),
    ("6.1.rho", "fig6", lambda t: t.assign(censored=True), FAILS),
    ("6.1.rho", "fig6", lambda t: t.assign(tenth_reward=100), HOLDS),
    ("6.1.rho-large", "fig6", lambda t: t.assign(censored=False), FAILS),
    ("C.lambda", "fig10", scaled("rewards", lambda t: t.lam == 1), FAILS),
    ("C.sigma", "fig11", scaled("regret", lambda t: 1 + 9 * (t.sigma != 0.1)), FAILS),
    ("C.large-sigma", "fig11", scaled("regret", 0), FAILS),
    ("C.quadratic", "fig13", scaled("tenth_reward", lambda t: 1 + 9 * (t.N == 40)), FAILS),
])
def test_a_spoilt_table_changes_the_verdict(id, name, spoil, verdict):
    tables = Changed(lambda *_: spoil(STORED[name]))
    assert REGISTER[id].judge(tables).verdict == verdict != REGISTER[id].verdict


def test_runs_that_never_settle_are_not_said_to_keep_the_optimal_policy():
    tables = {"fig2a": STORED["fig2a"], "fig2b": STORED["fig2b"].assign(last_suboptimal=10**6)}
    assert REGISTER["6.1.keeps"].judge(tables).verdict == FAILS


def test_an_exponential_law_is_not_said_to_be_polynomial():
    tables = Changed(lambda name, table: table.assign(
        tenth_reward=10 * 1.05 ** table[table.columns[0]]))
    assert REGISTER["6.1.polynomial"].judge(tables).verdict == FAILS


@pytest.mark.parametrize(("parameters", "verdict"), [(("lam",), PARTLY), (("lam", "sigma"), FAILS)])
def test_a_narrow_range_is_not_called_robust(parameters, verdict):
    def only_the_reference_learns(name, table):
        parameter, best = {"fig10": ("lam", 1.0), "fig11": ("sigma", 0.1)}[name]
        if parameter not in parameters:
            return table
        return table.assign(rewards=table.rewards * (table[parameter] == best))

    tables = Changed(only_the_reference_learns)
    assert REGISTER["6.1.robust"].judge(tables).verdict == verdict


def test_a_bandit_of_one_episode_is_a_tie_and_regret_is_never_negative():
    cost = claims.bandit_regret(0.5, 50)
    assert cost[0] == pytest.approx(0.25 / 2)
    assert (cost > 0).all()


class Stub:
    """An MDP whose Q* has two values only."""

    Q = np.array([0.0, 1.0])


@pytest.mark.parametrize(("id", "name", "wrong", "verdict"), [
    ("3.value", "chain", lambda N: chain(N + 1), FAILS),
    ("6.1.dithering", "arrival_probability", lambda N: 2.0**-49, FAILS),
    ("6.1.binary", "chain", lambda N: Stub, HOLDS),
    ("A.ridge", "lsvi", lambda Phi, lam, **options: lsvi(Phi, 2 * lam, **options), FAILS),
])
def test_a_planted_falsehood_changes_the_verdict(id, name, wrong, verdict, monkeypatch):
    monkeypatch.setattr(claims, name, wrong)
    assert REGISTER[id].judge().verdict == verdict != REGISTER[id].verdict


def test_a_monte_carlo_judge_sees_a_regret_that_is_off_by_a_twentieth(monkeypatch):
    """Its standard error is 0.004 and it rejects at 4.5 of them."""
    exact = FiniteMDP.regret
    for shift, verdict in ((0.0, HOLDS), (0.05, FAILS), (-0.05, FAILS)):
        monkeypatch.setattr(FiniteMDP, "regret",
                            lambda mdp, policy, shift=shift: exact(mdp, policy) + shift)
        assert REGISTER["2.regret"].judge().verdict == verdict
