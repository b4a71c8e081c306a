"""Fits recover laws that were planted, and tell rivals apart."""

import numpy as np
import pandas as pd
import pytest

from rlsvi_study.chain import scaling
from rlsvi_study.chain.stability import success_rates


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
    found = scaling.exponent(_runs(lambda x: 3 * x**power, LENGTHS), "x")
    assert found.low - 0.05 < power < found.high + 0.05
    assert found.low < found.power < found.high
    assert found.high - found.low < 0.3


def test_censoring_the_tail_hardly_moves_the_exponent():
    runs = _runs(lambda x: 3 * x, LENGTHS)
    cut = runs.assign(tenth_reward=runs.tenth_reward.clip(upper=1000))
    assert (runs.tenth_reward > 1000).sum() > 10
    assert scaling.exponent(cut, "x").power == pytest.approx(
        scaling.exponent(runs, "x").power, abs=0.05
    )


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
    scores = scaling.compare_laws(_runs(law, LENGTHS), "x")
    assert scores.idxmin() in truth
    rivals = (
        {"linear", "quadratic", "power"} if "exponential with offset" in truth else {"exponential"}
    )
    assert min(scores[name] for name in rivals) > 10


def test_smoothers_reproduce_what_they_can_express():
    x = np.array([1.0, 2, 3, 5, 8, 13])
    assert scaling.quadratic(x, 2 + x - 3 * x**2) == pytest.approx(2 + x - 3 * x**2)
    assert scaling.local_polynomial(x, 2 + 3 * x) == pytest.approx(2 + 3 * x)


def test_the_band_holds_the_fit_and_narrows_with_more_seeds():
    few, many = (
        scaling.smooth_band(_runs(lambda x: x, LENGTHS, seeds=n), "x", scaling.local_polynomial)
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
    found = scaling.reading_medians(table)
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
    scores = scaling.compare_laws(runs, "x")
    assert scores["quadratic"] - scores["linear"] == pytest.approx(2, abs=1e-6)


@pytest.mark.parametrize("law", [lambda x: 100 + 1.04**x, lambda x: 20 + 0.2 * 1.03**x])
def test_an_offset_is_found_and_without_it_an_exponential_does_not_fit(law):
    scores = scaling.compare_laws(_runs(law, LENGTHS, noise=0.05), "x")
    assert scores.idxmin() == "exponential with offset"
    assert scores["exponential"] > 100


@pytest.mark.parametrize(
    "law", [lambda x: 50 + x + 0.02 * x**2, lambda x: 500 - (x - 200) ** 2 / 90]
)
def test_an_exponential_with_an_offset_loses_to_a_true_quadratic(law):
    """Also to one that flattens, which no growing exponential does: there it is a line."""
    scores = scaling.compare_laws(_runs(law, LENGTHS, noise=0.02), "x")
    assert scores.idxmin() == "quadratic"
    assert scores["exponential with offset"] > 10
    assert scores["exponential with offset"] <= scores["linear"] + 2.5


def test_the_share_of_runs_that_learn_is_that_of_the_window_around_each_rho():
    """Runs learn up to ρ = 0.5; a window of 41 around it has 21 of those."""
    rho = np.arange(101) / 100
    lost = [{"rho": x, "noise": noise, "censored": x > 0.5} for noise in "ab" for x in rho]
    rates = success_rates(pd.DataFrame(lost))
    assert rates.index.to_numpy() == pytest.approx(rho[20:81])
    assert rates["a"].to_numpy() == pytest.approx(np.clip(71 - np.arange(20, 81), 0, 41) / 41)
