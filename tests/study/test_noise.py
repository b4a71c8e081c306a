"""How much noise: the rule on made-up tables, the agents on both sides, and what the stored tables say."""

import numpy as np
import pandas as pd
import pytest

from rlsvi_core import DiscountedMDP, chain
from rlsvi_core.beyond.known import finite_mdp
from rlsvi_study import engine
from rlsvi_study.judging import outcomes
from rlsvi_study.noise import FINAL, TUNING, conditions, runs
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


# --- bandits, and what pays on the way -----------------------------------------------------------


@pytest.mark.parametrize("name", conditions.BANDITS)
def test_a_bandit_is_linear_and_pays_what_it_is_called(name):
    of = conditions.BANDITS[name]
    env, phi, best = conditions.bandit(of, np.random.default_rng(3))
    mean = (env.P * env.R).sum(axis=-1)[0]
    assert (mean[0] == mean[1]).all()
    assert abs(mean - of.middle).max() == pytest.approx(of.spread)
    assert best == mean.max()
    assert (phi**2).sum(axis=-1) == pytest.approx(1)
    weights = np.linalg.lstsq(phi[0, 0], mean[0], rcond=None)[0]
    assert phi[0, 0] @ weights == pytest.approx(mean[0])
    variance = (env.P * env.R**2).sum(axis=-1)[0, 0] - mean[0] ** 2
    middle = abs(mean[0] - of.middle).argmin()
    assert np.sqrt(variance[middle]) == pytest.approx(of.deviation, rel=0.1)


@pytest.mark.parametrize("world", conditions.WORLDS)
def test_a_shift_changes_the_rewards_and_not_the_problem(world):
    """What a policy loses is the same, and the range that agents are told is about right."""
    small, shifted, goal = (
        conditions.paying(world, pays, np.random.default_rng(4))
        for pays in ("small", "shifted", "goal")
    )
    policy = np.random.default_rng(5).integers(small.A, size=(small.H, small.S))
    assert shifted.regret(policy) == pytest.approx(small.regret(policy))
    assert goal.value == 1
    assert shifted.value == pytest.approx(small.value - small.H * conditions.SMALL)
    for mdp, pays in ((small, "small"), (shifted, "shifted"), (goal, "goal")):
        low, high = conditions.TOLD[pays]
        assert low <= mdp.V.min() < mdp.V.max() <= high + 0.05
        assert mdp.V.max() >= high - 0.1


def test_which_features_contain_the_optimal_values():
    for kind, what in conditions.KINDS.items():
        rng = np.random.default_rng(6)
        mdp, phi, _ = conditions.represented(conditions.paying("corridor", "small", rng), kind, rng)
        if kind == "table":
            assert (phi.S, phi.A) == (mdp.S, mdp.A)
            continue
        misfit = max(
            abs(rows @ np.linalg.lstsq(rows, Q, rcond=None)[0] - Q).max()
            for rows, Q in zip(
                phi.reshape(mdp.H, -1, phi.shape[-1]), mdp.Q.reshape(mdp.H, -1), strict=True
            )
        )
        assert (misfit < 1e-6) == (what == "contain")


@pytest.mark.parametrize("kind", ["table", "degree 3"])
def test_a_run_on_the_way_is_the_beginning_of_a_longer_one(kind):
    problem = f"corridor, small, {kind}"
    for arm in (runs.UNTUNED, conditions.DEFAULT):
        whole = conditions.walking(problem, arm, 7, 2)
        assert whole[:1] == conditions.walking(problem, arm, 7, 1)
    one, other = (
        conditions.choosing("scores", arm, 7, 1) for arm in (runs.UNTUNED, conditions.DEVIATION)
    )
    assert one != other


@pytest.mark.parametrize(
    ("ratios", "take"),
    [((0.5, 1), "bootstrap"), ((2, 1), "rlsvi"), ((0.5, 2), "either"), ((1, 1), "either")],
)
def test_what_the_guide_advises_for_a_group(ratios, take):
    table = pd.DataFrame(
        {"problem": f"{world}, goal, table", "arm": arm, "seed": seed, "episode": 9}
        | {"regret": 10.0 * (ratio if arm == conditions.DEFAULT else 1)}
        for world, ratio in zip(conditions.WORLDS, ratios, strict=True)
        for arm in (runs.UNTUNED, conditions.DEFAULT)
        for seed in range(4)
    )
    assert conditions.advice(table) == {("table", "goal"): take}


@pytest.mark.parametrize("problem", conditions.WINS)
def test_only_the_range_of_returns_contains_the_win(problem):
    p = conditions.WINS[problem]
    mdp = conditions.late_gamble(p)
    paid = mdp.R[-1, 0, 1, [0, 2]]
    assert (paid[0] < 0, np.ptp(paid)) == (True, pytest.approx(1))
    assert mdp.value == pytest.approx(0.1 * np.sqrt(p * (1 - p)))
    assert (mdp.V.min(), mdp.V.max()) == (0, mdp.value)
    assert mdp.value < paid[1] / 5
    leave = np.zeros((mdp.H, mdp.S), int)
    assert mdp.regret(leave) == mdp.value


def test_a_run_at_a_gamble_or_in_the_maze_is_the_beginning_of_a_longer_one():
    """And what an agent is told, or another σ, matters."""
    for problem, arms in conditions.RARE.items():
        quarters = 1 if problem == conditions.MAZE else 2
        found = [conditions.playing(problem, arm, 7, quarters) for arm in arms]
        assert len({str(rows) for rows in found}) == len(arms)
        if quarters == 2:
            assert found[0][:1] == conditions.playing(problem, arms[0], 7, 1)


def rare_table(**ratios):
    """Regrets that are so many times that of the default, on all problems that have the arm."""
    return pd.DataFrame(
        {"problem": problem, "arm": arm, "seed": seed, "episode": 9}
        | {"regret": 10.0 * ratios.get(arm, ratios.get(f"{arm}, {problem}", 1))}
        for problem, arms in conditions.RARE.items()
        for arm in arms
        for seed in range(4)
    )


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ({}, {}),
        ({"κ = 0.01, optimal": 2}, {"range": "returns"}),
        ({"κ = 0.01, optimal": 0.5}, {"range": "optimal"}),
        ({"κ = 0.01, optimal, win 2%": 2}, {"range": "returns"}),
        (
            {"κ = 0.01, optimal, win 2%": 2, "κ = 0.01, optimal, win 55%": 0.5},
            {"range": "either"},
        ),
        (
            {"κ = 1, win 10%": 0.5},
            {"κ, rare win": "κ = 1", "range, κ = 1": "returns"},
        ),
        (
            {"κ = 1, win 55%": 2},
            {"κ, even coin": "κ = 0.01", "range, κ = 1": "optimal"},
        ),
        ({"by value_range, optimal, win 2%": 2}, {"agent": "bootstrap"}),
        ({"by value_range, win 2%": 0.5}, {"agent": "rlsvi"}),
        (
            {conditions.SMALLER: 0.5},
            {"discount": conditions.SMALLER, "discount, σ": conditions.SMALLER},
        ),
        (
            {f"by value_range, {conditions.MAZE}": 0.5},
            {"discount, V/50": "rlsvi", "discount, σ": "V/50"},
        ),
    ],
)
def test_what_the_guide_says_of_rare_wins_and_a_discount(ratios, said):
    found = conditions.rare(rare_table(**ratios))
    assert found == dict.fromkeys(found, "either") | said


@pytest.mark.parametrize("problem", conditions.RANGED)
def test_the_range_told_is_that_of_optimal_values(problem):
    """The loose ones of the other tables contain it, and are wide."""
    what, loose = conditions.RANGED[problem], runs.PROBLEMS[problem]
    low, high = what.told
    task = finite_mdp(what.make(np.random.default_rng(1)).env)
    V = DiscountedMDP(task.P[0], task.R[0], what.time["gamma"]).V
    met = task.initial > 0
    for _ in V:
        met = met | (task.P[0][met] > 0).any(axis=(0, 1))
    V = V[met & (V != 0)]  # 0 is worth only what follows the end
    assert low <= V.min() < V.max() <= high
    assert max(abs(V.max()), abs(V.min())) > 0.9 * (high - low)
    assert loose.told[0] < low
    assert (loose.episodes, loose.time) == (what.episodes, what.time)


def test_a_run_in_a_ranged_task_is_the_beginning_of_a_longer_one():
    arms = (runs.UNTUNED, conditions.SMALLER, conditions.DEFAULT)
    found = [conditions.driving("CliffWalking", arm, 7, 2) for arm in arms]
    assert len({str(rows) for rows in found}) == 3
    assert found[1][:1] == conditions.driving("CliffWalking", conditions.SMALLER, 7, 1)


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ({"Taxi": (1, 1), "CliffWalking": (1, 1)}, ("either", "either")),
        ({"Taxi": (0.5, 1), "CliffWalking": (1, 2)}, (conditions.SMALLER, "rlsvi")),
        ({"Taxi": (2, 0.5), "CliffWalking": (1, 2)}, ("V/50", "either")),
        ({"Taxi": (1, 0.5), "CliffWalking": (0.5, 1)}, (conditions.SMALLER, "bootstrap")),
    ],
)
def test_what_the_guide_says_of_ranges(ratios, said):
    table = pd.DataFrame(
        {"problem": problem, "arm": arm, "seed": seed, "episode": 9, "regret": 10.0 * times}
        for problem, (smaller, weights) in ratios.items()
        for arm, times in (
            (runs.UNTUNED, 1),
            (conditions.SMALLER, smaller),
            (conditions.DEFAULT, weights),
        )
        for seed in range(4)
    )
    assert conditions.ranged(table) == {"σ": said[0], "agent": said[1]}


def test_tuned_ucbvi_is_worse_than_tuned_rlsvi_in_no_stored_table():
    words = [
        outcomes.word(*outcomes.ratio(regret["ucbvi"], regret["rlsvi"])[1:])
        for name in ("noise-tables", "noise-dear")
        for regret in runs.regrets(engine.load(runs.EXPERIMENTS[name])).values()
        if "ucbvi" in regret
    ]
    assert "better" in words
    assert "worse" not in words


def test_what_the_stored_conditions_say():
    """The rows of the guide's table, and its decision tree."""
    bandits = engine.load(runs.EXPERIMENTS["noise-bandits"])
    ours = conditions.against(bandits).word.xs(conditions.DEVIATION, level="arm")
    assert (ours == "better").sum() >= 2
    assert "worse" not in set(ours)
    other = conditions.against(bandits, conditions.DEVIATION).word.xs(
        conditions.DEFAULT, level="arm"
    )
    assert "worse" in set(other)  # so the guide does not name the bootstrap for one step
    assert conditions.advice(engine.load(runs.EXPERIMENTS["noise-steps"])) == {
        ("table", "goal"): "bootstrap",
        ("table", "small"): "rlsvi",
        ("table", "shifted"): "either",
        **dict.fromkeys((("contain", pays) for pays in conditions.TOLD), "bootstrap"),
        ("do not", "goal"): "either",
        ("do not", "small"): "rlsvi",
        ("do not", "shifted"): "rlsvi",
    }
    assert conditions.rare(engine.load(runs.EXPERIMENTS["noise-rare"])) == {
        "range": "returns",
        "range, κ = 1": "either",
        "κ, rare win": "either",
        "κ, even coin": "either",
        "agent": "bootstrap",
        "discount": conditions.SMALLER,
        "discount, V/50": "rlsvi",
        "discount, σ": "either",
    }
    ranges = engine.load(runs.EXPERIMENTS["noise-ranges"])
    assert conditions.ranged(ranges) == {"σ": "either", "agent": "rlsvi"}
