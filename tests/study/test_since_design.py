"""Since 2016: settings are chosen on some seeds and judged on others, each problem by itself."""

import numpy as np
import pandas as pd
import pytest

from rlsvi_study.since import design
from rlsvi_study.since.design import ADVICE, CHOOSING, JUDGING, Advice, at_best, compare, crossed

OTHER = Advice("", {"without": {"agent": "a"}, "with": {"agent": "b"}})


def runs(regret, seeds=(*CHOOSING, *JUDGING)):
    """Regret of (agent, factor, environment) by a function; before the end it is anything."""
    return pd.DataFrame(
        [
            {
                "environment": environment,
                "size": 1,
                "agent": agent,
                "factor": factor,
                "seed": seed,
                "episode": episode,
                "regret": regret(agent, factor, environment, seed) if episode == 64 else 1e9,
            }
            for environment in ("one", "other")
            for agent in "ab"
            for factor in (1.0, 0.1, 0.01)
            for seed in seeds
            for episode in (16, 64)
        ]
    )


def test_open_settings_are_chosen_for_each_problem_on_seeds_that_are_not_judged():
    least = {"one": 0.1, "other": 0.01}
    table = runs(
        lambda agent, factor, environment, seed: (
            1.0 + (factor != least[environment]) if seed in CHOOSING else 50.0 - factor
        )
    )
    found = at_best(table, {"agent": "b"})
    assert set(found.agent) == {"b"}
    assert set(found.seed) == set(JUDGING)
    assert {name: set(own.factor) for name, own in found.groupby("environment")} == {
        name: {factor} for name, factor in least.items()
    }
    assert set(at_best(table, {"agent": "b", "factor": 1.0}).factor) == {1.0}


def test_of_equals_the_first_in_the_grid_is_chosen():
    assert set(at_best(runs(lambda *_: 1.0), {"agent": "a"}).factor) == {1.0}


@pytest.mark.parametrize(
    ("times", "word"),
    [(0.5, "better"), (0.79, "better"), (0.9, "equal"), (1.2, "equal"), (1.3, "worse")],
)
def test_a_certain_ratio_has_its_word(times, word):
    """Regret varies over seeds, but in both arms alike: resampled together, the ratio does not."""
    table = runs(lambda agent, factor, environment, seed: (times if agent == "b" else 1) * seed)
    found = compare(table, OTHER)
    assert set(found.word) == {word}
    np.testing.assert_allclose(found[["low", "ratio", "high"]], times)


def test_problems_stay_apart_and_doubt_is_open():
    """On one problem half the judged seeds double and half halve."""
    table = runs(
        lambda agent, factor, environment, seed: (
            1.0 if agent == "a" else 3.0 if environment == "one" else (0.5, 2.0)[seed % 2]
        )
    )
    assert compare(table, OTHER).word.tolist() == ["worse", "open"]


def test_the_interval_has_95_percent():
    """One judged seed in 14 is large. It is in no resample with probability (13/14)^14 = 0.35, so
    the lower end is the ratio without it; three or more with 0.07, four with 0.015."""
    table = runs(
        lambda agent, factor, environment, seed: 1.0 + 14 * (agent == "b") * (seed == 2010)
    )
    found = compare(table, OTHER).iloc[0]
    assert (found.low, found.ratio, found.high) == pytest.approx((1.0, 2.0, 4.0))


def test_each_factor_is_judged_at_all_levels_of_the_others():
    for factor, levels in design.FACTORS.items():
        four = list(crossed(factor))
        assert len({str(advice.arms) for advice in four}) == 4
        for advice in four:
            without, with_it = advice.arms.values()
            assert (without[factor], with_it[factor]) == levels
            assert {**without, factor: None} == {**with_it, factor: None}


@pytest.mark.parametrize("name", ADVICE)
def test_advice_is_about_arms_of_the_grid(name):
    arms = design.TABULAR if ADVICE[name].table == "since-tabular" else design.LINEAR
    for arm in ADVICE[name].arms.values():
        assert any(arm.items() <= one.items() for one in (*arms, *design.SHIFTED))


def test_a_summary_names_every_problem_under_its_word():
    table = runs(
        lambda agent, factor, environment, seed: (
            1.0 if agent == "a" else 0.5 if environment == "one" else (0.5, 2.0)[seed % 2]
        )
    )
    assert design.summary(compare(table, OTHER)) == "better on one 1 (×0.5); open on other 1"
