"""How much noise: the rule on made-up tables, the agents on both sides, and what the stored tables say."""

import numpy as np
import pandas as pd
import pytest

from rlsvi_core import chain
from rlsvi_study import engine
from rlsvi_study.noise import FINAL, TUNING, runs
from rlsvi_study.traps import gamble
from rlsvi_study.worlds import inventory


def made_up(ratio, rng, seeds=30, spread=0.1, problems=("chain 20",)):
    """A final table in which κ = 1 has so many times the regret of the others."""
    return pd.DataFrame(
        {
            "problem": problem,
            "arm": arm,
            "seed": seed,
            "episode": 1000,
            "regret": (ratio if arm == "κ = 1" else 1) * 100 * np.exp(spread * rng.normal()),
        }
        for problem in problems
        for arm in (*runs.KAPPAS, runs.UNTUNED, "rlsvi")
        for seed in range(seeds)
    )


@pytest.mark.parametrize(
    ("ratio", "spread", "word"),
    [
        (0.5, 0.1, "better"),
        (1.0, 0.1, "equal"),
        (2.0, 0.1, "worse"),
        (1.25, 0.1, "open"),
        (1.0, 3.0, "open"),
    ],
)
def test_the_four_words(ratio, spread, word):
    """The interval of 30 seeds has a half width of 5% at spread 0.1."""
    found = runs.compared(made_up(ratio, np.random.default_rng(1), spread=spread))
    assert found.word["chain 20", "κ = 1", runs.UNTUNED] == word
    assert found.word["chain 20", "κ = 1", "rlsvi"] == word


def test_only_the_last_row_counts_and_seeds_are_paired():
    """What two agents share, here a factor for each seed, does not widen the interval."""
    rng = np.random.default_rng(2)
    table = made_up(0.5, rng, spread=0.0)
    hard = pd.Series(np.exp(2 * rng.normal(size=30)))
    table["regret"] *= table.seed.map(hard)
    early = table.assign(episode=250, regret=1.0)
    ratio, low, high = runs.compared(pd.concat([early, table])).loc[
        ("chain 20", "κ = 1", "rlsvi"), ["ratio", "low", "high"]
    ]
    assert (ratio, low, high) == pytest.approx((0.5, 0.5, 0.5))


@pytest.mark.parametrize(
    ("worse_on", "first"),
    [((), ["κ = 0.1"]), (("gamble",), ["κ = 0.1"]), (("river swim",), [])],
)
def test_what_to_try_first(worse_on, first):
    """Better on a third of all, and worse nowhere but in traps."""
    problems = ["chain 20", "river swim", "gamble", "FrozenLake", "low rank 2", "toll 9"]
    words = (
        pd.DataFrame(
            [
                {"problem": problem, "kappa": kappa, "rival": runs.UNTUNED, "word": "open"}
                for problem in problems
                for kappa in runs.KAPPAS
            ]
        )
        .set_index(["problem", "kappa", "rival"])
        .sort_index()
    )
    for problem in ("chain 20", "low rank 2"):
        words.loc[(problem, "κ = 0.1", runs.UNTUNED), "word"] = "better"
    words.loc[("chain 20", "κ = 1", runs.UNTUNED), "word"] = "better"  # one of six is too few
    for problem in worse_on:
        words.loc[(problem, "κ = 0.1", runs.UNTUNED), "word"] = "worse"
    assert runs.first_choices(words) == first
    assert runs.by_group(words).loc[("κ = 0.1", "tables"), "better"] == 1


def test_every_rival_has_nine_settings_and_the_best_is_found():
    assert {len(grid) for grid in runs.GRID.values()} == {9}
    table = pd.DataFrame(
        [
            {"problem": "toll 9", "agent": agent, "setting": i, "seed": seed, "episode": 8}
            | {"regret": abs(i - at) + seed}
            for agent, at in (("rlsvi", 3), ("epsilon-greedy", 8))
            for i in range(9)
            for seed in range(3)
        ]
    )
    assert runs.best(table) == {"toll 9": [3, 8]}


def test_shifted_rewards_leave_regret_what_it_was():
    """Up to the unit, for a policy that nobody would choose; with terminal rewards too."""
    for mdp in (
        chain(5),
        inventory(3, 4),
        gamble()[0],
        runs.random(4, np.random.default_rng(1)).env,
    ):
        other, unit = runs.shifted(mdp, tossed=True)
        policy = np.zeros((mdp.H, mdp.S), int)
        assert unit * other.regret(policy) == pytest.approx(mdp.regret(policy))
        assert other.support == (-1.0, 0.0)


@pytest.mark.parametrize("problem", ["chain 20", "toll 9", "low rank 4"])
def test_a_run_is_the_beginning_of_a_longer_one(problem, monkeypatch):
    """For every arm; regret is what the policies of the episodes lose."""
    short = runs.PROBLEMS[problem]._replace(episodes=40)
    monkeypatch.setitem(runs.PROBLEMS, problem, short)
    monkeypatch.setitem(runs.TUNED, problem, [4] * len(runs.rivals(problem)))
    for arm in (*runs.KAPPAS, runs.UNTUNED, *runs.rivals(problem)):
        whole = runs.curve(problem, arm, 7, 4)
        assert whole[:1] == runs.curve(problem, arm, 7, 1)
        assert [row["episode"] for row in whole] == [10, 20, 30, 40]
        assert 0 <= whole[0]["regret"] <= whole[-1]["regret"]


def test_the_tuned_settings_are_what_the_rule_finds():
    found = [runs.best(engine.load(runs.EXPERIMENTS[name])) for name in TUNING]
    assert {problem: best for one in found for problem, best in one.items()} == runs.TUNED


def test_what_the_stored_tables_say():
    """One option among two: no κ is the thing to try first."""
    words = pd.concat([runs.compared(engine.load(runs.EXPERIMENTS[name])) for name in FINAL])
    assert runs.first_choices(words) == []
    counts = runs.by_group(words).loc["κ = 0.01"]
    assert (counts.better > counts.worse)[["linear", "traps"]].all()
