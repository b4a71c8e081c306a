"""The notebook's door: live rows are the table's, and an edit or a missing folder is said in a line."""

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from rlsvi_core import chain, features, rlsvi
from rlsvi_study import notebook
from rlsvi_study.chain.experiments import agnostic_time_to_learn, learning_curve, time_to_learn
from rlsvi_study.notebook import (
    band,
    count_equal,
    dots,
    finish,
    lines,
    play_until,
    stored,
    stored_like,
    streams,
    sweep,
)

SETTING = {"N": 50, "K": 10, "lam": 1.0, "sigma": 0.1}
CURVE = SETTING | {"agent": "rlsvi", "episodes": 200, "every": 20}
TIMES = SETTING | {"N": [10, 20], "budget": 20_000}


@pytest.fixture(autouse=True)
def figures():
    yield
    plt.close("all")


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(notebook, "CLONE", tmp_path)
    monkeypatch.setattr(notebook, "_told", set())


@pytest.fixture(scope="module")
def live():
    return sweep(time_to_learn, range(2), **TIMES)


def test_a_sweep_has_the_tables_own_rows(live, capsys):
    table = stored("fig3").query("N <= 20 and seed < 2").reset_index(drop=True)
    pd.testing.assert_frame_equal(live[table.columns], table, check_exact=True)
    capsys.readouterr()
    count_equal(live, "fig3")
    assert capsys.readouterr().out == "4 of 4 live rows equal the stored ones\n"


def test_a_shorter_run_is_compared_over_its_beginning(capsys):
    count_equal(sweep(learning_curve, range(2), **CURVE), "fig2a")
    assert capsys.readouterr().out == "20 of 20 live rows equal the stored ones\n"
    small = SETTING | {"N": 20, "K": 20, "noise": "deviation", "budget": 100}
    times = sweep(agnostic_time_to_learn, [0], rho=[0.0, 0.2], **small)
    assert times.censored.tolist() == [False, True]
    count_equal(times, "fig6")
    assert capsys.readouterr().out == "2 of 2 live rows equal the stored ones\n"


def test_what_differs_is_counted(live, capsys):
    count_equal(live.assign(first_reward=live.first_reward + (live.seed == 1)), "fig3")
    count_equal(live.drop(columns="first_reward").assign(extra=1), "fig3")
    out = capsys.readouterr().out.splitlines()
    assert out == [f"{n} of 4 live rows equal the stored ones" for n in (2, 4)]


def test_where_a_setting_was_edited_there_is_nothing_to_compare(live, capsys):
    count_equal(live.assign(N=[7, 7, 20, 20]), "fig3")
    count_equal(live.assign(sigma=0.2), "fig3")
    count_equal(live.assign(seed=60), "fig3")
    assert capsys.readouterr().out.splitlines() == [
        "2 of 2 live rows equal the stored ones; nothing stored for N = 7",
        "nothing stored for sigma = 0.2: nothing to compare",
        "nothing stored for seed = 60: nothing to compare",
    ]


@pytest.mark.parametrize(
    ("name", "where", "said"),
    [
        ("fig4", {"K": 3}, r"fig4 has K = 2, 4, 6, 8, 10, …, 120, 150; K = 3 is not stored"),
        ("fig2a", {"N": 30}, r"fig2a has N = 50; N = 30 is not stored"),
        ("fig13", {"N": 100, "K": 80}, "not together"),
        ("fig2a", {"n": 50}, "the settings of fig2a are .*; n is none"),
        ("fig1", {}, "no table 'fig1'; the stored ones are example1, "),
    ],
)
def test_a_setting_that_is_not_stored_is_refused(name, where, said):
    with pytest.raises(ValueError, match=said):
        stored(name, **where)


def test_a_band_is_the_middle_of_the_stored_runs_of_the_same_setting(live, capsys):
    band("fig3", live, "N", "tenth_reward")
    table = stored("fig3").groupby("N").tenth_reward
    np.testing.assert_array_equal(plt.gca().lines[0].get_ydata(), table.median())
    low = plt.gca().collections[0].get_datalim(plt.gca().transData).y0
    assert low == table.quantile(0.1).min()
    assert capsys.readouterr().out == ""


def test_a_band_that_is_not_stored_is_a_line_of_text(live, capsys):
    ax = plt.gca()
    for _ in range(2):
        band("fig3", live.assign(sigma=0.2), "N", "tenth_reward")
    assert capsys.readouterr().out == "nothing stored for sigma = 0.2: fig3 has no such runs\n"
    assert not ax.has_data()


def test_a_band_is_of_one_setting(live):
    with pytest.raises(ValueError, match="several values of K"):
        band("fig3", pd.concat([live, live.assign(K=20)]), "N", "tenth_reward")
    with pytest.raises(ValueError, match="agent = rlsvi, epsilon-greedy; say which"):
        band("fig2a", SETTING, "episode", "regret")


def test_without_stored_runs_everything_runs_on(nowhere, live, capsys):
    count_equal(live, "fig3")
    assert stored("fig2a").empty
    assert stored_like("fig3", live, over="N").groupby("N").tenth_reward.median().empty
    band("fig3", live, "N", "tenth_reward")
    dots(live, "N", "tenth_reward")
    lines(live, "N", "tenth_reward", "epsilon-greedy")
    finish("N", "episodes", yscale="log")
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    ("seeds", "said"), [(3, r"seeds must be a list; it is 3"), ([], "there is an empty list")]
)
def test_seeds_are_a_list(seeds, said):
    with pytest.raises(ValueError, match=said):
        sweep(time_to_learn, seeds, **TIMES)


def test_learning_time_is_the_episode_of_the_tenth_reward():
    mdp = chain(10)
    basis, env, own = streams(0)
    agent = rlsvi(features.coherent(mdp.Q, 10, basis), 1.0, 0.1, rng=own)
    assert play_until(agent, mdp, env) == stored("fig3", N=10, seed=0).tenth_reward.item()
    assert play_until(rlsvi(features.tabular(mdp), rng=1), mdp, env, budget=3) == 3
