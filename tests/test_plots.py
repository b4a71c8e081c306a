"""Every stored table can be drawn, legibly on light and dark pages."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from rlsvi_study import store
from rlsvi_study.catalogue import DRAW, EXPERIMENTS
from rlsvi_study.chain import figures as chain_figures
from rlsvi_study.style import scientific


def test_every_stored_figure_has_a_drawing():
    assert set(DRAW) == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_figure_has_labels_data_and_an_opaque_background(name):
    figure = DRAW[name](store.load(EXPERIMENTS[name]))
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    for ax in figure.axes:
        assert ax.get_xlabel()
        assert ax.has_data()
    assert figure.axes[0].get_ylabel() or figure.axes[0].get_yticklabels()
    plt.close(figure)


def test_the_readers_own_settings_are_left_alone():
    before = dict(plt.rcParams)
    plt.close(chain_figures.chain_diagram())
    assert dict(plt.rcParams) == before


def test_a_censored_median_is_drawn_at_the_budget():
    table = store.load(EXPERIMENTS["fig4"])
    table.loc[table.K == 20, ["tenth_reward", "censored"]] = chain_figures.BUDGET, True
    figure = DRAW["fig4"](table)
    heights = np.concatenate([np.asarray(line.get_ydata(), float)
                              for line in figure.axes[0].lines if line.get_marker() == "^"])
    assert heights.tolist() == [chain_figures.BUDGET]
    plt.close(figure)


@pytest.mark.parametrize(("x", "text"), [(1.5e15, "1.5 × 10¹⁵"), (0.034, "3.4 × 10⁻²")])
def test_numbers_for_captions(x, text):
    assert scientific(x) == text
