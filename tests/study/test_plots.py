"""Any table is drawn as its declaration says, and the drawing is the data."""

import matplotlib

matplotlib.use("Agg")

import functools
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text

from rlsvi_study import StudyError, engine, plotting
from rlsvi_study.catalogue import EXPERIMENTS, FIGURES, TABLES
from rlsvi_study.engine import Plot
from rlsvi_study.judging.intervals import mean_interval
from rlsvi_study.style import COLOUR, format_integer, format_scientific

PICTURES = {(name, name) for name in TABLES} | {
    (table, figure) for figure, tables in FIGURES.items() for table in tables
}


@functools.cache
def load(name):
    return engine.load_table(EXPERIMENTS[name])


def select(name, figure=None, **changes):
    experiment = EXPERIMENTS[name]
    plot = experiment.figures.get(figure, experiment.plot)
    return plotting.select_rows(experiment, "paper", replace(plot, **changes), load(name))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def curve(ax, colour):
    """The longest drawn line of a colour."""
    of = [line for line in ax.lines if to_hex(line.get_color()) == colour.lower()]
    return np.asarray(max(of, key=lambda line: len(line.get_xdata())).get_xydata(), float).T


@pytest.mark.parametrize(("name", "figure"), sorted(PICTURES))
def test_a_plot_names_columns_that_its_table_has_and_mixes_no_settings(name, figure):
    part = plotting.read_part(EXPERIMENTS[name], "paper", figure)
    assert len(part.table)
    assert len(part.panels) <= 8
    assert len(part.lines) <= 13
    title, *panels = (
        text.replace("\N{NO-BREAK SPACE}", " ")
        for text in (plotting.part_title(part), *part.panels)
    )
    assert title.startswith(f"{name}: ")
    if name.startswith(("tetris", "fig7", "fig14")):  # the rule of the ending
        assert any("rule “" in text or "excluded rule" in text for text in (title, *panels))


def test_medians_and_bands_are_those_of_the_table():
    figure = plotting.draw_tables([select("fig2a")])
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("episode", "cumulative regret")
    for agent, runs in load("fig2a").groupby("agent"):
        of = runs.groupby("episode").regret
        np.testing.assert_allclose(curve(ax, COLOUR[agent])[1], of.median())
        band = next(
            patch.get_paths()[0].vertices
            for patch in ax.collections
            if to_hex(patch.get_facecolor()[0]) == COLOUR[agent].lower()
        )
        for end in (0.1, 0.9):
            wanted = np.array([*of.quantile(end).items()])
            assert (np.abs(band - wanted[:, None]).sum(axis=2).min(axis=1) < 1e-9).all()
    names = [
        text.get_text()
        for legend in figure.findobj(matplotlib.legend.Legend)
        for text in legend.get_texts()
    ]
    assert names == ["RLSVI", "LSVI, ε-greedy"]
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 9


def test_sums_begin_at_zero_and_means_have_students_interval():
    (ax,) = plotting.draw_tables([select("recommender", "fig9")]).axes
    table = load("recommender")
    x, y = curve(ax, COLOUR["rlsvi"])
    mean = table[table.arm == "rlsvi"].groupby("episode").regret.mean()
    np.testing.assert_allclose((x, y), ([0, *mean.index], [0, *mean]))
    last = table[(table.arm == "linear") & (table.episode == 1200)].regret
    corners = np.concatenate([patch.get_paths()[0].vertices for patch in ax.collections])
    for end in mean_interval(last)[1:]:
        assert np.abs(corners - (1200, end)).sum(axis=1).min() < 1e-9


def test_dots_are_the_runs_and_a_dotted_line_is_where_they_were_stopped():
    axes = plotting.draw_tables([select("fig6")]).axes
    for ax, (noise, runs) in zip(axes, load("fig6").groupby("noise"), strict=True):
        assert noise in ax.get_title()
        (dots,) = (one for one in ax.collections if isinstance(one, PathCollection))
        np.testing.assert_array_equal(dots.get_offsets(), runs[["rho", "tenth_reward"]])
        assert [*ax.lines[-1].get_ydata()] == [10_000, 10_000]
    (ax,) = plotting.draw_tables([select("fig3")]).axes  # where none was
    assert {line.get_linestyle() for line in ax.lines} == {"-", "None"}


def test_rows_are_the_settings_and_their_marks_the_ends_of_runs():
    (ax,) = plotting.draw_tables([select("recommender")]).axes
    table = load("recommender")
    last = table[table.episode == 1200].groupby("arm", sort=False).regret.mean()
    assert [text.get_text() for text in ax.get_yticklabels()] == [*last.index]
    np.testing.assert_allclose(max((line.get_xdata() for line in ax.lines), key=len), last)


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("fig2a", {"y": "regrets"}, "no column 'regrets'.* expected_regret"),
        ("fig2a", {"lines": ("arm",)}, "no column 'arm'"),
        ("fig2a", {"where": {"agent": ["psrl"]}}, "no agent = psrl.* rlsvi, epsilon-greedy"),
        ("fig2a", {"lines": ()}, "differ in agent"),
        ("fig2a", {"y": "agent"}, "numbers; agent"),
        ("fig13", {"lines": ()}, "differ in K"),
    ],
)
def test_what_a_table_does_not_have_is_an_error_and_no_empty_picture(name, changes, said):
    with pytest.raises(StudyError, match=said):
        select(name, **changes)


def test_a_table_without_a_plot_says_what_to_add():
    with pytest.raises(StudyError, match=r"fig2a does not say.* plot=Plot\("):
        plotting.read_part(replace(EXPERIMENTS["fig2a"], plot=None), "paper", "fig2a")


def test_means_are_not_those_of_logarithms_in_any_panel():
    axes = plotting.draw_tables([select("continual", show="mean")]).axes
    for ax, (_, runs) in zip(axes, load("continual").groupby("gamma"), strict=True):
        mean = runs[runs.agent == "printed"].groupby("n").first_reward.mean()
        np.testing.assert_allclose(curve(ax, COLOUR["printed"])[1], mean)


def test_several_tables_are_one_picture():
    one, other = select("fig3", "fig5"), select("fig4", "fig5")
    axes = plotting.draw_tables([one, other]).axes
    assert [ax.get_xlabel() for ax in axes] == ["length N of the chain", "number K of features"]
    assert {(ax.get_xscale(), ax.get_yscale()) for ax in axes} == {("log", "log")}


def test_the_readers_own_settings_are_left_alone():
    before = dict(plt.rcParams)
    plotting.draw_tables(
        [
            select("fig3", log="xy"),
            plotting.select_rows(
                EXPERIMENTS["fig4"], "paper", Plot("K", "first_reward"), load("fig4")
            ),
        ]
    )
    assert dict(plt.rcParams) == before


@pytest.mark.parametrize(("x", "text"), [(1.5e15, "1.5 × 10¹⁵"), (0.034, "3.4 × 10⁻²")])
def test_numbers_for_captions(x, text):
    assert format_scientific(x) == text


def test_digits_are_grouped_from_five_on_and_minus_is_no_hyphen():
    assert list(map(format_integer, (0, 1200, 16384, 10**6))) == [
        "0",
        "1200",
        "16\u202f384",
        "1\u202f000\u202f000",
    ]
    assert format_integer(-20_000) == "−20\u202f000"
