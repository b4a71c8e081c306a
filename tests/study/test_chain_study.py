"""The chain's study: what a row means, how learning times grow, and where learning is stable."""

import math

import numpy as np
import pandas as pd
import pytest

from rlsvi_core import chain, features, rlsvi
from rlsvi_study.chain import claims, scaling, stability
from rlsvi_study.chain.experiments import (
    agnostic_time_to_learn,
    first_arrival,
    learning_curve,
    learning_times,
    make_agent,
    median_learning_times,
    prior_value_std,
    tabular_time_to_learn,
    time_to_learn,
)
from rlsvi_study.engine import streams
from rlsvi_study.judging.outcomes import DEPENDS, FAILS, HOLDS
from rlsvi_study.judging.thresholds import CHOSEN

SMALL = {"N": 8, "K": 4, "lam": 2.0, "sigma": 0.15, "episodes": 200, "every": 10}


@pytest.mark.parametrize(("name", "N"), [("rlsvi", 8), ("epsilon-greedy", 5)])
def test_a_curve_records_what_the_agent_did(name, N):
    """Dithering meets its first reward in an episode that is itself suboptimal."""
    rows = pd.DataFrame(learning_curve(name, 3, **SMALL | {"N": N}))
    mdp = chain(N)
    basis_rng, env_rng, agent_rng = streams(3)
    agent = make_agent(name, features.coherent(mdp.Q, 4, basis_rng), 2.0, 0.15, agent_rng)
    run = agent.learn(mdp, 200, env_rng, exact=True)
    for row in rows.itertuples():
        n = row.episode
        assert row.rewards == run.reward[:n].sum()
        assert row.regret == pytest.approx(n * mdp.optimal_value - run.reward[:n].sum())
        assert row.expected_regret == pytest.approx((mdp.optimal_value - run.expected[:n]).sum())
        assert row.furthest == 1 + run.max_state[n - 10 : n].max()
        missed = run.expected[:n] < mdp.optimal_value - 1e-9
        assert row.suboptimal == missed.sum()
        tenth = np.flatnonzero(np.cumsum(run.reward[:n]) >= 10)
        assert row.tenth_reward == (tenth[0] + 1 if tenth.size else 0)
        assert row.last_suboptimal == np.flatnonzero(missed)[-1] + 1
        assert row.lapses == missed[1 + np.argmax(run.reward[:n] > 0) :].sum() * (row.rewards > 0)
    assert rows.rewards.iloc[-1] > 10  # the comparison above saw rewards


def test_first_arrival_is_the_first_rewarded_episode():
    mdp = chain(6)
    _, env_rng, agent_rng = streams(5)
    reward = (
        make_agent("boltzmann", features.tabular(mdp), 1.0, 0.1, agent_rng)
        .learn(mdp, 2000, env_rng)
        .reward
    )
    assert first_arrival("boltzmann", 6, 5, 1.0, 0.1, 10_000) == [
        {"unrewarded": int(np.argmax(reward > 0)), "censored": False}
    ]


def test_a_run_without_reward_is_marked_as_censored():
    assert first_arrival("epsilon-greedy", 40, 0, 1.0, 0.1, 300) == [
        {"unrewarded": 300, "censored": True}
    ]


def test_the_tenth_reward_is_counted_in_episodes():
    mdp = chain(8)
    basis_rng, env_rng, agent_rng = streams(2)
    agent = rlsvi(features.coherent(mdp.Q, 4, basis_rng), 2.0, 0.15, rng=agent_rng)
    rewarded = np.flatnonzero(agent.learn(mdp, 1000, env_rng).reward)
    assert time_to_learn(2, 8, 4, 2.0, 0.15, 1000) == [
        {"first_reward": rewarded[0] + 1, "tenth_reward": rewarded[9] + 1, "censored": False}
    ]
    assert time_to_learn(2, 8, 4, 2.0, 0.15, int(rewarded[9])) == [
        {"first_reward": rewarded[0] + 1, "tenth_reward": rewarded[9], "censored": True}
    ]
    (last,) = time_to_learn(2, 8, 4, 2.0, 0.15, int(rewarded[9]) + 1)
    assert (last["tenth_reward"], last["censored"]) == (rewarded[9] + 1, False)


def test_without_generalization_and_with_a_wrong_basis_the_tenth_reward_is_counted_alike():
    mdp = chain(5)
    _, env_rng, agent_rng = streams(2)
    table = rlsvi(features.one_hot(mdp.H, mdp.S, mdp.A), 2.0, 0.15, rng=agent_rng)
    rewarded = np.flatnonzero(table.learn(mdp, 1000, env_rng).reward)
    (row,) = tabular_time_to_learn(2, 5, 2.0, 0.15, 1000)
    assert (row["first_reward"], row["tenth_reward"]) == (rewarded[0] + 1, rewarded[9] + 1)
    basis_rng, env_rng, agent_rng = streams((2, 30))  # each ρ has draws of its own
    Phi = features.agnostic(mdp.Q, 3, 0.03, basis_rng, noise="variance")
    rewarded = np.flatnonzero(rlsvi(Phi, 2.0, 0.15, rng=agent_rng).learn(mdp, 1000, env_rng).reward)
    (row,) = agnostic_time_to_learn(2, "variance", 0.03, 5, 3, 2.0, 0.15, 1000)
    assert (row["first_reward"], row["tenth_reward"]) == (rewarded[0] + 1, rewarded[9] + 1)


READING = {
    "seed": 1,
    "reading": "stacked",
    "norm": "HSA",
    "constant": "rescaled",
    "opening": "uniform",
    "lam": 1.0,
    "N": 8,
    "K": 4,
    "sigma": 0.1,
    "budget": 2000,
}


def test_a_smaller_norm_is_a_larger_lambda():
    # SA = 16 = 4², so these features differ by a factor 4 and λ by 16: the same run to the bit.
    by_norm = READING | {"reading": "per_period", "norm": "√SA"}
    by_lambda = READING | {"reading": "per_period", "norm": "SA", "lam": 16.0}
    assert time_to_learn(**by_norm) == time_to_learn(**by_lambda)


def test_ties_to_the_right_give_the_reward_away():
    first = [time_to_learn(**READING | {"opening": "right", "seed": seed})[0] for seed in range(60)]
    lucky = sum(row["first_reward"] == 1 for row in first)
    # Binomial(60, 0.39): outside 6 … 42 with probability below 1e-6.
    assert 6 <= lucky <= 42
    assert all(
        time_to_learn(**READING | {"opening": "left", "seed": seed})[0]["first_reward"] > 1
        for seed in range(10)
    )


def test_medians_count_censored_runs_as_infinite():
    table = pd.DataFrame(
        {
            "N": [5] * 4,
            "seed": [0, 4, 5, 9],
            "tenth_reward": [10, 30, 70, 70],
            "censored": [False, True, False, True],
        }
    )
    row = median_learning_times(table, "N").loc[5]
    assert (row["median"], row.mean5, row.runs, row.censored) == (math.inf, 20, 4, 2)


def test_learning_time_is_the_tenth_reward_and_infinite_if_it_never_comes():
    table = pd.DataFrame(
        {
            "agent": ["a"] * 6,
            "seed": [0, 0, 0, 1, 1, 1],
            "episode": [20, 40, 60] * 2,
            "tenth_reward": [0, 37, 37, 0, 0, 0],
        }
    )
    assert learning_times(table).tolist() == [37.0, math.inf]


def test_the_prior_spread_is_that_of_the_features():
    Q = chain(50).Q
    spread = np.sqrt((features.coherent(Q, 10, 0) ** 2).sum(axis=-1).mean())
    assert (
        prior_value_std(1.0) == pytest.approx(spread) == pytest.approx(10 * prior_value_std(100.0))
    )
    assert 1 / prior_value_std(1.0) < 0.01 * Q.max()  # λ = 1 hardly says how large values are


# --- how learning times grow ------------------------------------------------------------------


def _runs(law, xs, seeds=40, noise=0.4, rng=0):
    """Learning times around a law of the median, with a heavy right tail."""
    rng = np.random.default_rng(rng)
    return pd.DataFrame(
        [
            {
                "x": x,
                "seed": seed,
                "censored": False,
                "tenth_reward": law(x) * np.exp(noise * rng.standard_t(3)),
            }
            for x in xs
            for seed in range(seeds)
        ]
    )


LENGTHS = (10, 20, 40, 60, 80, 100, 150, 200)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_a_planted_exponent_is_recovered(power):
    # The 95% interval fails once in twenty seeds; this one is fixed and the bound is wider.
    found = scaling.fit_power_law(_runs(lambda x: 3 * x**power, LENGTHS), "x")
    assert found.low - 0.05 < power < found.high + 0.05
    assert found.low < found.power < found.high
    assert found.high - found.low < 0.3


@pytest.mark.parametrize(
    ("law", "truth"),
    [
        (lambda x: 20 + 2 * x, {"linear", "quadratic", "power"}),
        (lambda x: 10 + 0.05 * x**2, {"quadratic", "power"}),
        (lambda x: 10 * 1.04**x, {"exponential", "exponential with offset"}),
        (lambda x: 100 + 1.04**x, {"exponential with offset"}),
    ],
)
def test_the_true_law_wins_and_an_exponential_is_not_taken_for_a_power(law, truth):
    scores = scaling.compare_growth_laws(_runs(law, LENGTHS), "x")
    assert scores.idxmin() in truth
    rivals = (
        {"linear", "quadratic", "power"} if "exponential with offset" in truth else {"exponential"}
    )
    assert min(scores[name] for name in rivals) > 10


def test_smoothers_reproduce_what_they_can_express():
    x = np.array([1.0, 2, 3, 5, 8, 13])
    assert scaling.quadratic_fit(x, 2 + x - 3 * x**2) == pytest.approx(2 + x - 3 * x**2)
    assert scaling.local_linear_fit(x, 2 + 3 * x) == pytest.approx(2 + 3 * x)


def test_the_band_holds_the_fit_and_narrows_with_more_seeds():
    few, many = (
        scaling.smooth_band(_runs(lambda x: x, LENGTHS, seeds=n), "x", scaling.local_linear_fit)
        for n in (10, 160)
    )
    for band in (few, many):
        assert ((band.low <= band.fit) & (band.fit <= band.high)).all()
    assert (many.high - many.low).mean() < 0.5 * (few.high - few.low).mean()


def test_readings_have_names_of_their_own_in_the_order_of_the_grid():
    cells = (
        ("stacked", "HSA", "rescaled", "uniform", 100.0),
        ("per_period", "SA", "rescaled", "uniform", 1.0),
        ("stacked", "HSA", "left at 1", "uniform", 1.0),
        ("stacked", "HSA", "rescaled", "left", 1.0),
    )
    columns = ["reading", "norm", "constant", "opening", "lam"]
    table = pd.DataFrame(
        [
            dict(zip(columns, cell, strict=True))
            | {"seed": seed, "tenth_reward": 10 * i + seed, "censored": False}
            for i, cell in enumerate(cells)
            for seed in range(5)
        ]
    )
    found = scaling.interpretation_medians(table)
    names, lam = zip(*found.index, strict=True)
    assert len(set(names)) == 4
    assert lam == (100.0, 1.0, 1.0, 1.0)
    assert found["median"].tolist() == [2, 12, 22, 32]


def test_a_parameter_that_does_not_help_costs_two():
    """Akaike's measure. Each curve between two runs of every length is as near to both."""
    runs = pd.DataFrame(
        [
            {"x": x, "tenth_reward": (20 + 2 * x) * np.exp(error)}
            for x in LENGTHS
            for error in (-0.4, 0.4)
        ]
    )
    scores = scaling.compare_growth_laws(runs, "x")
    assert scores["quadratic"] - scores["linear"] == pytest.approx(2, abs=1e-6)


@pytest.mark.parametrize(
    "law", [lambda x: 50 + x + 0.02 * x**2, lambda x: 500 - (x - 200) ** 2 / 90]
)
def test_an_exponential_with_an_offset_loses_to_a_true_quadratic(law):
    """Also to one that flattens, which no growing exponential does: there it is a line."""
    scores = scaling.compare_growth_laws(_runs(law, LENGTHS, noise=0.02), "x")
    assert scores.idxmin() == "quadratic"
    assert scores["exponential with offset"] > 10
    assert scores["exponential with offset"] <= scores["linear"] + 2.5


# --- where learning is stable -----------------------------------------------------------------


def test_the_share_of_runs_that_learn_is_that_of_the_window_around_each_rho():
    """Runs learn up to ρ = 0.5; a window of 41 around it has 21 of those."""
    rho = np.arange(101) / 100
    lost = [{"rho": x, "noise": noise, "censored": x > 0.5} for noise in "ab" for x in rho]
    rates = stability.success_rates(pd.DataFrame(lost))
    assert rates.index.to_numpy() == pytest.approx(rho[20:81])
    assert rates["a"].to_numpy() == pytest.approx(np.clip(71 - np.arange(20, 81), 0, 41) / 41)


def test_how_much_slower_the_median_run_is_with_an_error_of_the_basis_than_with_none():
    """Half as slow again at 0.01, and at 0.02 more than half of the runs never learn."""
    time = {(0.0, "deviation"): 60, (0.01, "deviation"): 90, (0.02, "deviation"): 90}
    small = pd.DataFrame(
        [
            {
                "noise": noise,
                "rho": rho,
                "tenth_reward": by + by * (seed % 3 - 1) / 60,
                "censored": rho == 0.02 and seed < 9,
            }
            for (rho, noise), by in (time | {(0.01, "variance"): 240}).items()
            for seed in range(1, 13)
        ]
    )
    assert stability.slowdown(small, "deviation", 0.01).mean == pytest.approx(1.5)
    assert stability.slowdown(small, "variance", 0.01) == pytest.approx((4, 4, 4), rel=0.04)
    assert stability.slowdown(small, "deviation", 0.02).mean == np.inf


def test_a_sweep_is_stable_where_runs_learn_and_the_interval_of_regret_is_low_without_a_break():
    """At λ = 100 nearly half of the runs have four times the regret, which the median alone would
    not tell; at 10⁻³ few runs learn, so 10⁻⁴ is cut off."""
    table = pd.DataFrame(
        [
            {
                "lam": lam,
                "seed": seed,
                "episode": 7,
                "rewards": 100 * (lam != 1e-3 or seed < 13),
                "regret": (100 + seed) * (4 if lam == 100 and seed < 19 else 1),
            }
            for lam in (1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0)
            for seed in range(10, 30)
        ]
    )
    found = stability.summarize_sweep(table, "lam", 1.0, CHOSEN["rewards"])
    assert found.stable_range(1.0, CHOSEN) == [0.01, 0.1, 1.0, 10.0]
    assert stability.orders_of_magnitude(found.stable_range(1.0, CHOSEN)) == 3


def test_the_bandits_regret_is_that_of_all_its_histories():
    """Every sequence of three answers of the noisy arm, whether it is asked or not."""
    p, lam, sigma = 0.75, 2.0, 0.3
    expected = np.zeros(3)

    def play(chance, pulls, wins, l):
        if l == 3:
            return
        shrunk = lam * sigma**2
        gap = wins / (pulls + shrunk) - 0.5 * (l - pulls) / (l - pulls + shrunk)
        spread = sigma * math.sqrt(1 / (pulls + shrunk) + 1 / (l - pulls + shrunk))
        pull = 0.5 * math.erfc(-gap / spread / math.sqrt(2))
        expected[l] += chance * (1 - pull) * (p - 0.5)
        play(chance * (1 - pull), pulls, wins, l + 1)
        play(chance * pull * p, pulls + 1, wins + 1, l + 1)
        play(chance * pull * (1 - p), pulls + 1, wins, l + 1)

    play(1.0, 0, 0, 0)
    assert claims.bandit_regret(sigma, 3, lam, p) == pytest.approx(expected)


# --- the claims -------------------------------------------------------------------------------


def test_a_curve_is_flat_from_where_on_the_share_is_earned():
    """The optimum is 2 per episode. One run pays all up to episode 20 and then little, one pays all
    up to 30 and then nothing, one pays to the end."""
    episodes = np.arange(10, 61, 10)
    paid = {
        7: np.where(episodes <= 20, 2.0, 0.15),
        8: np.where(episodes <= 30, 2.0, 0.0),
        9: np.full(6, 2.0),
    }
    curves = pd.DataFrame(paid, episodes).cumsum() * 10
    assert claims.first_flat_episode(curves, 2.0, 0.9).tolist() == [20, 30, np.inf]
    assert claims.first_flat_episode(curves, 2.0, 0.95).tolist() == [np.inf, 30, np.inf]


@pytest.mark.parametrize(("lost", "at", "verdict"), [(2, 0.98, FAILS), (2, 0.9, HOLDS)])
def test_learns_is_judged_at_the_end_that_it_is_handed(lost, at, verdict):
    """48 of 50 runs learn."""
    table = claims.STORED["fig2a"]
    never = (table.agent == "rlsvi") & (table.seed < lost)
    table.loc[never, "expected_regret"] = table.episode[never] * chain(50).optimal_value
    assert (
        claims.learns_50_chain({"fig2a": table}, {**CHOSEN, "consistently": at}).verdict == verdict
    )


def test_learns_fails_if_the_curves_are_flat_too_late():
    table = claims.STORED["fig2a"]
    late = table.episode <= 1100
    table["expected_regret"] += np.where(late, table.episode, 1100) * chain(50).optimal_value
    assert claims.learns_50_chain({"fig2a": table}).verdict == FAILS


def test_below_the_tabular_bound_at_one_length_is_enough_to_refute_it_here():
    table = claims.STORED["fig3-tabular"]
    table.loc[table.N > 10, "tenth_reward"] = 50_000
    assert claims.tabular_bound({"fig3-tabular": table}).verdict == DEPENDS
    table["tenth_reward"] = 50_000
    assert claims.tabular_bound({"fig3-tabular": table}).verdict == HOLDS


def test_generalization_is_below_both_bounds_at_every_length_and_faster_than_without():
    one, other = claims.STORED["fig3"], claims.STORED["fig3-tabular"]
    for name, change in {
        "fig3": one.assign(tenth_reward=one.tenth_reward.mask(one.N == 20, 20_000)),
        "fig3-tabular": other.assign(tenth_reward=other.tenth_reward // 5),
    }.items():
        tables = {"fig3": one, "fig3-tabular": other, name: change}
        assert claims.generalization(tables).verdict == FAILS


AHEAD = {"linear": 0.0, "quadratic": 3.0, "power": 5.0, "exponential": 50.0}


@pytest.mark.parametrize(
    ("offset", "fit", "verdict"),
    [
        ({}, 0.0, HOLDS),
        ({("K", "normal"): 9.0}, 0.0, DEPENDS),
        ({("N", "Laplace"): 9.0}, 0.0, DEPENDS),
        ({("N", "normal"): 0.0}, 11.0, FAILS),
    ],
)
def test_polynomials_are_supported_by_both_tables_under_both_laws_of_errors(
    offset, fit, verdict, monkeypatch
):
    """An exponential with an offset is worse by 20 otherwise; where it is best, polynomials may be
    too bad to be consistent."""

    def compare(table, by, errors):
        other = offset.get((by, errors), 20.0)
        worse = fit if other == 0 else 0.0
        laws = {name: aic + (worse if aic < 10 else 0) for name, aic in AHEAD.items()}
        return pd.Series(laws | {claims.OFFSET: other})

    monkeypatch.setattr(scaling, "compare_growth_laws", compare)
    monkeypatch.setattr(scaling, "fit_power_law", lambda *given: (1.0, 0.9, 1.1, 2.0))
    assert claims.polynomial_learning().verdict == verdict


@pytest.mark.parametrize(
    ("deviation", "variance", "spread", "verdict"),
    [
        (1.2, 1.3, 0.0, HOLDS),
        (1.2, 4.0, 0.0, DEPENDS),
        (3.0, 4.0, 0.0, FAILS),
        (1.2, 1.3, 0.9, DEPENDS),  # the data cannot tell
    ],
)
def test_both_readings_of_rho_are_judged_against_no_error(
    deviation, variance, spread, verdict, monkeypatch
):
    rows = [
        {"noise": noise, "rho": rho, "seed": seed, "censored": False, "tenth_reward": time}
        for noise, rho, by in (
            ("deviation", 0.0, 1.0),
            ("deviation", 0.02, deviation),
            ("variance", 0.02, variance),
        )
        for seed in range(3, 12)
        for time in [60 * by * (1 + spread * (seed - 7) / 4)]
    ]
    monkeypatch.setattr(claims, "rho_at_success_level", lambda *given: {})
    tables = {"fig6": None, "fig6-small": pd.DataFrame(rows)}
    assert claims.slightly_wrong_basis(tables).verdict == verdict


@pytest.mark.parametrize("sigma", [1.0, 10.0])
def test_large_sigmas_are_slower_at_each_of_two(sigma):
    table = claims.STORED["fig11"]
    here, there = (table.sigma == one for one in (sigma, 0.1))
    table.loc[here, "regret"] = table.loc[there, "regret"].to_numpy()
    assert claims.large_sigma_slows({"fig11": table}).verdict == FAILS
