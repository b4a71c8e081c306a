"""What chapters import from the sections' figures."""

import matplotlib

matplotlib.use("Agg")

import functools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from book._ext.pictures import difference
from rlsvi_core import chain
from rlsvi_core.features import coherent
from rlsvi_study import engine
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.chain import figures as chain_figures
from rlsvi_study.regret import figures as regret_figures
from rlsvi_study.style import COLOUR, interval_rows


@functools.cache
def load(name):
    return engine.load_table(EXPERIMENTS[name])


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def lines(ax, colour):
    """The drawn lines of a colour, each as a series of heights; the ends of bars come after."""
    return [
        pd.Series(line.get_ydata(), line.get_xdata(), float)
        for line in ax.lines
        if to_hex(line.get_color()) == colour.lower() and len(line.get_xdata())
    ]


def legible(figure):
    """On light and dark pages: an opaque background, and no text below nine points."""
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 9


def test_the_readers_own_settings_are_left_alone():
    before = dict(plt.rcParams)
    chain_figures.chain_diagram()
    assert dict(plt.rcParams) == before


def test_figure_2b_joins_two_tables_of_the_same_runs():
    start, long = load("fig2a"), load("fig2b")
    figure = chain_figures.fig2b(long, start)
    legible(figure)
    (ax,) = figure.axes
    *curves, dots = lines(ax, COLOUR["rlsvi"])
    both = pd.concat([start, long]).query("agent == 'rlsvi'").set_index("episode")
    for seed in long.seed.unique():
        runs = both[both.seed == seed].suboptimal.astype(float)
        assert any(runs.equals(curve) for curve in curves), seed
    assert len(curves) == long.seed.nunique()
    ends = long.query("agent == 'rlsvi' and episode == episode.max()")
    assert set(dots.items()) == set(zip(ends.last_suboptimal, ends.suboptimal, strict=True))


def test_the_norm_of_the_features_and_lambda_are_drawn_as_one_spread():
    """Measured on the features themselves; a reading that has the same runs has the same point."""
    readings, by_lambda = load("readings"), load("fig10")
    table = chain_figures.spreads_of_readings(readings, by_lambda)
    Q = chain(50).Q
    for reading, norm, size in (
        ("stacked", "SA", 100),
        ("per_period", "√SA", 10),
        ("per_period", "HSA", Q.size),
        ("sweep", "HSA", Q.size),
    ):
        Phi = coherent(Q, 10, 0, norm=size, reading=reading.replace("sweep", "stacked"))
        runs = table[(table.reading == reading) & (table.norm == norm) & (table.lam == 100)]
        assert np.allclose(runs.spread, np.sqrt((Phi**2).sum(-1).mean() / 100), rtol=1e-9)
    ax = chain_figures.prior_spread(readings, by_lambda).axes[0]
    drawn = np.concatenate([line.get_xydata() for line in ax.lines])
    for lam, runs in by_lambda[by_lambda.episode == by_lambda.episode.max()].groupby("lam"):
        time = runs.tenth_reward.where(runs.tenth_reward.between(1, 5000), np.inf).median()
        at = [np.sqrt(10 * Q.size / lam), 1.25 * 5000 if np.isinf(time) else time]
        assert np.isclose(drawn, at).all(axis=1).any()


@pytest.mark.parametrize("change", ["none", "band", "data"])
def test_the_picture_in_the_readme_is_todays_drawing(change, tmp_path, monkeypatch):
    """Fonts differ a little between machines; a wrong band or curve is seen."""
    stored, table = engine.results_folder() / "fig2a.png", load("fig2a")
    if change == "band":
        monkeypatch.setitem(chain_figures.BAND, "errorbar", ("pi", 50))
    elif change == "data":
        table = table.assign(regret=0.8 * table.regret, expected_regret=0.8 * table.expected_regret)
    chain_figures.fig2a(table).savefig(again := tmp_path / "fig2a.png", dpi=150)
    apart = difference(stored.read_bytes(), again.read_bytes())
    assert (apart == "") == (change == "none"), apart


def test_three_rows_are_an_interval():
    cells = pd.DataFrame({"low": [1.0], "median": [2.0], "high": [np.inf]}, pd.Index([7], name="N"))
    assert interval_rows(cells, limit=5.0)[["N", "time"]].to_numpy().tolist() == [
        [7, 1],
        [7, 2],
        [7, 5],
    ]


def test_the_drawn_gap_is_negative_only_without_enough_noise():
    (ax,) = regret_figures.chances(30, 30, {"enough": 0.25, "too little": 0.05}).axes
    (enough,), (little,) = lines(ax, COLOUR["theory"]), lines(ax, COLOUR["fails"])
    assert (enough >= 0).all()
    assert (little < 0).any()
    rng = np.random.default_rng(0)
    drawn, beta = rng.normal(-30 / 61, np.sqrt(0.05 / 61), 10**6), -rng.beta(30.5, 30.5, 10**6)
    z = little.index[50]  # below: 4 standard errors
    assert little.iloc[50] == pytest.approx(
        np.clip(drawn - z, 0, None).mean() - np.clip(beta - z, 0, None).mean(), abs=2.5e-4
    )


def test_the_shrunk_model_and_what_leaks_make_up_the_mean_mdp():
    (ax,) = regret_figures.leak().axes
    kept, leaked = ([bar.get_height() for bar in bars] for bars in ax.containers)
    mean = [line.get_ydata()[0] for line in ax.lines if len(line.get_ydata())]
    assert np.add(kept, leaked) == pytest.approx(mean)
    assert sum(mean) == pytest.approx(1)
    assert min(leaked) > 0
