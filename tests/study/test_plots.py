"""Every stored table can be drawn, legibly on light and dark pages, and the drawing is the data."""

import matplotlib

matplotlib.use("Agg")

import functools
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text
from scipy import stats

from rlsvi_core import chain
from rlsvi_core.features import coherent
from rlsvi_study import catalogue, engine
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.chain import figures as chain_figures
from rlsvi_study.chain.runs import medians
from rlsvi_study.recommender.figures import ETAS
from rlsvi_study.regret import figures as regret_figures
from rlsvi_study.style import COLOUR, digits, scientific, three


@functools.cache
def load(name):
    return engine.load(EXPERIMENTS[name])


def draw(name, table):
    ((_, drawing),) = catalogue.drawings(name).values()
    return drawing(table)


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


def bands(ax):
    """The drawn bands: for each its colour, and the lowest and highest height at each x."""
    for patch in ax.collections:
        if isinstance(patch, LineCollection) or not len(patch.get_facecolor()):  # bars; no dots
            continue
        corners = pd.DataFrame(patch.get_paths()[0].vertices, columns=["x", "y"])
        yield (
            to_hex(patch.get_facecolor()[0], keep_alpha=False),
            corners.groupby("x").y.agg(["min", "max"]),
        )


def bars(ax, colour):
    """The drawn bars of errors of a colour: lowest and highest height at each x."""
    ends = [
        segment
        for bar in ax.collections
        if isinstance(bar, LineCollection) and to_hex(bar.get_color()[0]) == colour.lower()
        for segment in bar.get_segments()
    ]
    return pd.DataFrame({segment[0, 0]: segment[:, 1] for segment in ends}).T


def same(one, other):
    np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), rtol=1e-9)


def legible(figure):
    """On light and dark pages: an opaque background, and no text below nine points."""
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 9


def test_the_readers_own_settings_are_left_alone():
    before = dict(plt.rcParams)
    chain_figures.chain_diagram()
    assert dict(plt.rcParams) == before


# --- the drawing is the data ----------------------------------------------------------------


def test_figure_2a_shows_a_few_single_runs_of_each_agent():
    (ax,) = draw("fig2a", load("fig2a")).axes
    for agent in ("rlsvi", "epsilon-greedy"):
        _, *singles = lines(ax, COLOUR[agent])
        assert len(singles) == chain_figures.FEW


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


def test_figure_3_shows_the_papers_means():
    for ax in draw("fig3", load("fig3")).axes:
        same(lines(ax, COLOUR["paper"])[0], medians(load("fig3"), "N").mean5)


def test_figure_10_has_one_name_for_the_values_that_end_low_together_and_one_for_each_other():
    (ax,) = draw("fig10", load("fig10")).axes
    assert len(ax.texts) == 1 + (load("fig10").lam.unique() > 1000).sum()


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
        same(runs.spread, np.full(len(runs), np.sqrt((Phi**2).sum(-1).mean() / 100)))
    ax = chain_figures.prior_spread(readings, by_lambda).axes[0]
    drawn = np.concatenate([line.get_xydata() for line in ax.lines])
    for lam, runs in by_lambda[by_lambda.episode == by_lambda.episode.max()].groupby("lam"):
        time = runs.tenth_reward.where(runs.tenth_reward.between(1, 5000), np.inf).median()
        at = [np.sqrt(10 * Q.size / lam), 1.25 * 5000 if np.isinf(time) else time]
        assert np.isclose(drawn, at).all(axis=1).any()


def test_figure_7_has_a_panel_for_each_ending_rule():
    tables = {
        rule: load(name).assign(rule=rule)
        for rule, name in (("top row", "tetris-top-row"), ("clears", "fig7"))
    }
    axes = draw("fig7", pd.concat(tables.values())).axes
    for ax, (rule, table) in zip(axes, tables.items(), strict=True):
        assert rule in ax.get_title()
        for agent, runs in table.groupby("agent"):
            same(lines(ax, COLOUR[agent])[0], runs.groupby("game").score.mean())


# --- the paper's figures: what is drawn against the table, by pandas and scipy alone ---------


def _student(x):
    half = stats.t.ppf(0.975, len(x) - 1) * stats.sem(x)
    return x.mean() - half, x.mean() + half


def _order(x):
    return stats.quantile_test(x, p=0.5).confidence_interval(0.95)


def _most_runs(x):
    return x.quantile(0.1), x.quantile(0.9)


MEAN, MEAN80 = ("mean", _student), ("mean", _most_runs)
MEDIAN95, MEDIAN80 = ("median", _order), ("median", _most_runs)
MEDIANS, RUNS = ("median", None), ("first", None)


class Shown(NamedTuple):
    """Curves of y against x, one for each cell of ``by``: their middle and their interval."""

    x: str
    y: str
    by: list
    of: tuple
    rows: object = lambda table: table  # the rows that are drawn, and columns computed from others
    most: float = np.inf
    curves: bool = True  # or points, in any order and on either axis


def _times(table):
    return table.assign(time=table.tenth_reward.where(~table.censored, np.inf))


def _from_zero(table):
    """Regret from customer 0 on."""
    own = table[table.arm.isin(["rlsvi", *ETAS])]
    return pd.concat([own, own[own.episode == own.episode.max()].assign(episode=0, regret=0.0)])


SHOWS = {
    "fig2a": [Shown("episode", "regret", ["agent"], MEDIAN80)],
    "fig2b": [Shown("episode", "suboptimal", ["agent", "seed"], RUNS)],
    "fig3": [Shown("N", "time", [], MEDIAN95, _times, 20_000)],
    "fig4": [Shown("K", "time", [], MEDIAN95, _times, 20_000)],
    "fig5": [Shown(x, "time", [], MEDIAN95, _times, 20_000) for x in "NK"],
    "fig6": [
        Shown(
            "rho",
            "time",
            ["noise"],
            RUNS,
            lambda table: table.assign(time=table.tenth_reward * np.where(table.censored, 1.25, 1)),
            curves=False,
        )
    ],
    "fig7": [Shown("game", "score", ["agent"], MEAN80)],
    "fig8": [Shown("episode", "regret", ["arm"], MEAN, _from_zero)],
    "fig10": [Shown("episode", "regret", ["lam"], MEDIANS)],
    "fig11": [Shown("episode", "regret", ["sigma"], MEDIANS)],
    "fig13": [Shown("N", "time", ["K"], MEDIANS, _times, curves=False)],
    "fig14": [Shown("game", "score", ["reading", "rule", "agent"], MEAN80)],
}


def drawn_curves(figure):
    """Of each curve its colour and its heights."""
    return [
        (to_hex(line.get_color()), np.asarray(line.get_ydata(), float))
        for ax in figure.axes
        for line in ax.lines
        if np.asarray(line.get_ydata()).dtype.kind in "if"
    ]


def drawn_spans(figure):
    """Bands and bars of errors: of each its colour, and lowest and highest at each x."""
    for ax in figure.axes:
        yield from ((colour, band.to_numpy()) for colour, band in bands(ax))
        for bar in ax.collections:
            if isinstance(bar, LineCollection):
                ends = [np.sort(segment[:, 1]) for segment in bar.get_segments() if len(segment)]
                yield to_hex(bar.get_color()[0]), np.array(ends)


def drawn_points(figure):
    """Every coordinate of a marker, a point or the end of a bar."""
    lines = [xy for ax in figure.axes for line in ax.lines for xy in line.get_xydata()]
    dots = [xy for ax in figure.axes for dots in ax.collections for xy in dots.get_offsets()]
    return np.unique(np.asarray([*lines, *dots], float).ravel())


def among(values, drawn):
    """Whether each value is one of those drawn."""
    near = drawn[np.clip(np.searchsorted(drawn, values), 1, len(drawn) - 1) - [[1], [0]]]
    return bool((np.abs(near - values).min(axis=0) <= 1e-9 * (1 + np.abs(values))).all())


def alike(values, drawn, colour):
    """Whether some curve or band has these values, and this colour if it is of an agent."""
    return any(
        colour in (None, its)
        and one.shape == values.shape
        and np.allclose(one, values, rtol=1e-9, atol=1e-9)
        for its, one in drawn
    )


def shows(figure, table, shown):
    """Whether the middle and the interval of each cell of the table are drawn."""
    x, y, by, (middle, interval), rows, most, whole = shown
    curves, spans, points = drawn_curves(figure), [*drawn_spans(figure)], drawn_points(figure)
    table = rows(table)
    for key, cell in table.groupby(by) if by else [((), table)]:
        runs = cell.groupby(x)[y]
        found = pd.DataFrame({"middle": runs.agg(middle)})
        if interval:
            found[["low", "high"]] = [tuple(interval(one)) for _, one in runs]
        found = found[np.isfinite(found.middle)].clip(upper=most)
        colour = COLOUR.get(dict(zip(by, key, strict=True)).get("agent"), "").lower()
        colour = colour if colour in dict(curves) else None  # where shades tell cells apart
        if not whole:
            assert among(found.to_numpy().ravel(), points)
        elif len(found):
            assert alike(found.middle.to_numpy(), curves, colour), key
            assert not interval or alike(found[["low", "high"]].to_numpy(), spans, colour), key


DRAWINGS = {  # each once: the parts of figure 2 have names of their own, 12 and 13 are one
    drawn: name
    for name in reversed(catalogue.THE_PAPERS.drawn)
    for drawn in catalogue.drawings(name).values()
}


@pytest.mark.parametrize(("drawn", "name"), DRAWINGS.items(), ids=DRAWINGS.values())
def test_a_figure_is_legible_and_the_papers_show_their_tables(drawn, name):
    """Drawn once for all that is asked of it. Those beyond the paper must not be empty; what they show
    is seen where a chapter has them."""
    tables, drawing = drawn
    figure = drawing(*map(load, tables))
    legible(figure)
    for ax in figure.axes:
        assert ax.has_data()
        assert np.isfinite(ax.dataLim.get_points()).all()
        assert ax.get_xlabel() or name == "fig1"  # a diagram
    assert figure.axes[0].get_ylabel() or figure.axes[0].get_yticklabels()
    for shown in SHOWS.get(name, ()):
        shows(figure, pd.concat(map(load, tables)), shown)


def test_three_rows_are_an_interval():
    cells = pd.DataFrame({"low": [1.0], "median": [2.0], "high": [np.inf]}, pd.Index([7], name="N"))
    assert three(cells, limit=5.0)[["N", "time"]].to_numpy().tolist() == [[7, 1], [7, 2], [7, 5]]


def test_a_censored_median_is_drawn_at_the_budget():
    table = load("fig4").copy()
    table.loc[table.K == 20, ["tenth_reward", "censored"]] = chain_figures.BUDGET, True
    heights = np.concatenate(
        [
            np.asarray(line.get_ydata(), float)
            for line in draw("fig4", table).axes[0].lines
            if line.get_marker() == "^"
        ]
    )
    assert heights.tolist() == [chain_figures.BUDGET]


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


@pytest.mark.parametrize(("x", "text"), [(1.5e15, "1.5 × 10¹⁵"), (0.034, "3.4 × 10⁻²")])
def test_numbers_for_captions(x, text):
    assert scientific(x) == text


def test_digits_are_grouped_from_five_on_and_minus_is_no_hyphen():
    assert list(map(digits, (0, 1200, 16384, 10**6))) == [
        "0",
        "1200",
        "16\u202f384",
        "1\u202f000\u202f000",
    ]
    assert digits(-20_000) == "−20\u202f000"
