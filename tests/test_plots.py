"""Every stored table can be drawn, legibly on light and dark pages, and the drawing is the data."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text

from rlsvi_study import store
from rlsvi_study.catalogue import DRAW, EXPERIMENTS
from rlsvi_study.chain import figures as chain_figures
from rlsvi_study.chain.runs import medians
from rlsvi_study.extensions.runs import waits
from rlsvi_study.intervals import mean_interval
from rlsvi_study.style import COLOUR, scientific, three
from rlsvi_study.theory import figures as theory_figures


def load(name):
    return store.load(EXPERIMENTS[name])


@pytest.fixture
def draw():
    """Draw a stored table, or one like it; the figures are closed afterwards."""
    yield lambda name, table=None: DRAW[name](load(name) if table is None else table)
    plt.close("all")


def lines(ax, colour):
    """The drawn lines of a colour, each as a series of heights; the ends of bars come after."""
    return [pd.Series(line.get_ydata(), line.get_xdata(), float) for line in ax.lines
            if to_hex(line.get_color()) == colour.lower() and len(line.get_xdata())]


def bands(ax):
    """The drawn bands: for each its colour, and the lowest and highest height at each x."""
    for patch in ax.collections:
        if isinstance(patch, LineCollection):  # bars of errors
            continue
        corners = pd.DataFrame(patch.get_paths()[0].vertices, columns=["x", "y"])
        yield (to_hex(patch.get_facecolor()[0], keep_alpha=False),
               corners.groupby("x").y.agg(["min", "max"]))


def bars(ax, colour):
    """The drawn bars of errors of a colour: lowest and highest height at each x."""
    ends = [segment for bar in ax.collections if isinstance(bar, LineCollection)
            and to_hex(bar.get_color()[0]) == colour.lower() for segment in bar.get_segments()]
    return pd.DataFrame({segment[0, 0]: segment[:, 1] for segment in ends}).T


def same(one, other):
    np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), rtol=1e-9)


def test_every_stored_figure_has_a_drawing():
    assert set(DRAW) == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_figure_has_labels_data_and_an_opaque_background(name, draw):
    figure = draw(name)
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    for ax in figure.axes:
        assert ax.get_xlabel()
        assert ax.has_data()
    assert figure.axes[0].get_ylabel() or figure.axes[0].get_yticklabels()


@pytest.mark.parametrize("name", [*chain_figures.DRAW, "incremental", "continual", "bootstrap"])
def test_no_text_is_smaller_than_nine_points(name, draw):
    assert min(text.get_fontsize() for text in draw(name).findobj(Text) if text.get_text()) >= 9


@pytest.mark.parametrize(("name", "panels"), [("fig1", 1), ("fig5", 2), ("fig12", 1)])
def test_the_papers_other_figures_come_from_the_tables_they_name(name, panels):
    tables, drawing = chain_figures.DRAW_FROM[name]
    figure = drawing(*map(load, tables))
    assert len(figure.axes) == panels
    assert name not in DRAW
    plt.close(figure)


def test_the_readers_own_settings_are_left_alone():
    before = dict(plt.rcParams)
    plt.close(chain_figures.chain_diagram())
    assert dict(plt.rcParams) == before


# --- the drawing is the data ----------------------------------------------------------------


def test_figure_2a_shows_medians_and_from_a_tenth_to_nine_tenths_of_the_seeds(draw):
    table, figure = load("fig2a"), draw("fig2a")
    for ax, value in zip(figure.axes, ("regret", "expected_regret"), strict=True):
        drawn = dict(bands(ax))
        for agent in ("rlsvi", "epsilon-greedy"):
            runs = table[table.agent == agent].groupby("episode")[value]
            middle, *singles = lines(ax, COLOUR[agent])
            same(middle, runs.median())
            assert len(singles) == chain_figures.FEW
            band = drawn[COLOUR[agent].lower()]
            same(band["min"], runs.quantile(0.1))
            same(band["max"], runs.quantile(0.9))
            assert list(middle.index) == list(band.index) == sorted(table.episode.unique())


def test_example_1_shows_means_and_students_intervals_though_the_axis_is_logarithmic(draw):
    table, ax = load("example1"), draw("example1").axes[0]
    assert ax.get_yscale() == "log"
    for agent in ("rlsvi", "epsilon-greedy", "boltzmann"):
        cells = [1 + cell.unrewarded for _, cell in table[table.agent == agent].groupby("N")]
        same(lines(ax, COLOUR[agent])[0], [cell.mean() for cell in cells])
        same(bars(ax, COLOUR[agent]), [mean_interval(cell)[1:] for cell in cells])


def test_figure_3_shows_medians_with_their_intervals_and_the_papers_means(draw):
    cells = medians(load("fig3"), "N")
    for ax in draw("fig3").axes:
        curve, points = lines(ax, COLOUR["rlsvi"])[:2]
        same(points, cells["median"])
        same(bars(ax, COLOUR["rlsvi"]), np.minimum(cells[["low", "high"]], chain_figures.BUDGET))
        same(lines(ax, COLOUR["epsilon-greedy"])[0], cells.mean5)
        assert list(curve.index) == list(points.index) == list(cells.index)


def test_figure_10_shows_the_median_curve_of_each_value_and_the_spread_at_the_end(draw):
    table, (left, right) = load("fig10"), draw("fig10").axes
    for line, (_, runs) in zip(left.lines, table.groupby("lam"), strict=True):
        same(line.get_ydata(), runs.groupby("episode").regret.median())
    last = table[table.episode == table.episode.max()].groupby("lam").regret
    same(right.lines[0].get_ydata(), last.median())
    band = next(band for _, band in bands(right) if len(band) > 1)
    same(band, np.column_stack([last.quantile(0.1), last.quantile(0.9)]))


def test_the_bootstraps_waits_are_cut_at_the_budget(draw):
    cells = waits(load("bootstrap"), ["features", "agent", "N"]).clip(upper=1000)
    for ax, features in zip(draw("bootstrap").axes, ("tabular", "coherent"), strict=True):
        drawn = dict(bands(ax))
        for agent in ("rlsvi", "prior", "bootstrap + prior", "bootstrap"):
            cell = cells.loc[features, agent]
            same(lines(ax, COLOUR[agent])[0], cell["median"])
            same(drawn[COLOUR[agent].lower()], cell[["low", "high"]])


def test_three_rows_are_an_interval():
    cells = pd.DataFrame({"low": [1.0], "median": [2.0], "high": [np.inf]}, pd.Index([7], name="N"))
    assert three(cells, limit=5.0)[["N", "time"]].to_numpy().tolist() == [[7, 1], [7, 2], [7, 5]]


def test_a_censored_median_is_drawn_at_the_budget(draw):
    table = load("fig4")
    table.loc[table.K == 20, ["tenth_reward", "censored"]] = chain_figures.BUDGET, True
    heights = np.concatenate([np.asarray(line.get_ydata(), float) for line in
                              draw("fig4", table).axes[0].lines if line.get_marker() == "^"])
    assert heights.tolist() == [chain_figures.BUDGET]


def test_the_drawn_chance_is_worth_less_only_without_enough_noise():
    axes = theory_figures.chances(30, 30, {"enough": np.pi / 8, "too little": 0.05}).axes
    for ax, holds in zip(axes, (True, False), strict=True):
        (truth,), (ours,) = lines(ax, COLOUR["lsvi"]), lines(ax, COLOUR["rlsvi"])
        assert bool((ours >= truth).all()) is holds
    drawn = -np.random.default_rng(0).beta(30.5, 30.5, 10**6)  # below: 4 standard errors
    assert truth.iloc[50] == pytest.approx(np.clip(drawn - truth.index[50], 0, None).mean(),
                                           abs=4 * 0.04 / 1000)
    plt.close("all")


def test_the_drawn_steps_stay_below_their_bounds():
    leak, choice, visits = theory_figures.three_steps().axes
    assert sum(bar.get_height() for bar in leak.containers[0]) == pytest.approx(1)
    assert sum(bar.get_height() for bar in leak.containers[1]) == pytest.approx(1)
    for ax in (choice, visits):
        for exact, bound in zip(lines(ax, COLOUR["rlsvi"]), lines(ax, COLOUR["theory"]),
                                strict=True):
            assert (exact <= bound + 1e-9).all()
    assert lines(choice, COLOUR["rlsvi"])[0].iloc[0] == pytest.approx(0, abs=1e-9)
    plt.close("all")


@pytest.mark.parametrize(("x", "text"), [(1.5e15, "1.5 × 10¹⁵"), (0.034, "3.4 × 10⁻²")])
def test_numbers_for_captions(x, text):
    assert scientific(x) == text
