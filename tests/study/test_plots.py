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
from matplotlib.colors import to_hex, to_rgba_array
from matplotlib.text import Text
from scipy import stats

from rlsvi_core import chain
from rlsvi_core.features import coherent
from rlsvi_study import catalogue, engine
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.chain import figures as chain_figures
from rlsvi_study.chain.runs import medians
from rlsvi_study.extensions import figures as extension_figures
from rlsvi_study.recommender import figures as recommender_figures
from rlsvi_study.recommender.figures import ETAS
from rlsvi_study.since import design
from rlsvi_study.since import figures as since_figures
from rlsvi_study.style import AGENTS, COLOUR, THINGS, digits, ink, scientific, three
from rlsvi_study.tetris import figures as tetris_figures
from rlsvi_study.theory import figures as theory_figures
from rlsvi_study.theory import price


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
    """On light and dark pages: an opaque background, no text below nine points, and the colour of
    an agent on nothing else."""
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 9
    assert not list(misnamed(figure))


WITHOUT_TABLE = [
    lambda: theory_figures.density_grid([(2, 3), (0.05, 0.05)]),
    theory_figures.leak,
    theory_figures.least_variance,
    since_figures.timeline,
    tetris_figures.endings,
    lambda: chain_figures.fan(np.ones(2), np.ones(2), np.ones(2), np.ones((3, 2))),
    lambda: chain_figures.two_periods({(0, 2, 3): "some", (1, 3, 4): "none"}),
    lambda: chain_figures.spreads(dict.fromkeys(("sample", "mean"), np.ones((3, 4))), np.eye(3, 4)),
    lambda: chain_figures.value_samples(dict.fromkeys(range(4), np.ones((5, 3))), np.ones(3)),
    lambda: chain_figures.prior_spread(load("readings"), load("fig10")),
    lambda: chain_figures.fig3(load("fig3"), load("fig3-tabular")),
    lambda: chain_figures.frontier(dict.fromkeys(("rlsvi", "optimal"), np.arange(4)), 4),
    lambda: chain_figures.basis_fits(np.arange(4.0), {"some": np.ones(4), "other": np.zeros(4)}),
]


def misnamed(figure):
    """Entries of the legends in the colour of an agent whose name they do not have."""
    words = {}  # of each colour, the names of its agents: LSVI and ε-greedy for the same
    for colour, _, _, name in AGENTS.values():
        words.setdefault(colour.lower(), set()).update(name.split(", "))
    legends = [*figure.legends, *(legend for ax in figure.axes if (legend := ax.get_legend()))]
    for legend in legends:
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            looks = [
                get()
                for name in ("get_color", "get_facecolor", "get_markerfacecolor")
                if (get := getattr(handle, name, None))
            ]
            colours = {to_hex(colour) for look in looks for colour in to_rgba_array(look)}
            for colour in colours & words.keys():
                if not any(word in text.get_text() for word in words[colour]):
                    yield text.get_text()


@pytest.mark.parametrize("drawing", WITHOUT_TABLE)
def test_a_figure_without_a_table_is_legible(drawing):
    legible(drawing())


def test_agents_and_what_is_none_share_no_colour():
    assert not {look[0] for look in AGENTS.values()} & {look[0] for look in THINGS.values()}


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


def test_figure_2b_joins_two_tables_of_the_same_runs_and_has_regret_at_the_right():
    start, long = load("fig2a"), load("fig2b")
    figure = chain_figures.fig2b(long, start)
    legible(figure)
    (ax,) = figure.axes
    *curves, dots = lines(ax, COLOUR["rlsvi"])
    both = pd.concat([start, long]).query("agent == 'rlsvi'").set_index("episode")
    for seed, runs in both.groupby("seed"):
        assert any(runs.suboptimal.astype(float).equals(curve) for curve in curves), seed
    ends = long.query("agent == 'rlsvi' and episode == episode.max()")
    assert set(dots.items()) == set(zip(ends.last_suboptimal, ends.suboptimal, strict=True))
    (right,) = ax.child_axes
    figure.draw_without_rendering()
    same(np.divide(right.get_ylim(), ax.get_ylim()[1]), [0, chain(50).value])


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


def test_figure_7_and_the_schedules_have_a_panel_for_each_ending_rule():
    tables = {
        rule: load(name).assign(rule=rule, schedule="one")
        for rule, name in (("top row", "tetris-top-row"), ("clears", "fig7"))
    }
    both = pd.concat(tables.values())
    dots, curves = (draw(name, both).axes for name in ("tetris-schedules", "fig7"))
    for ax, dotted, (rule, table) in zip(curves, dots, tables.items(), strict=True):
        assert rule in ax.get_title()
        assert dotted.get_title() == ax.get_title()
        for agent, runs in table.groupby("agent"):
            same(lines(ax, COLOUR[agent])[0], runs.groupby("game").score.mean())
        half = table[table.game > 500].groupby(["agent", "seed"]).score.mean()
        drawn = [xy[0] for seeds in dotted.collections for xy in seeds.get_offsets()]
        same(np.sort(drawn), np.sort(half))


def test_the_temperatures_and_the_openings_show_the_means_of_their_tables():
    table, few = load("recommender"), load("recommender-readings")
    figure = recommender_figures.temperatures(table, few)
    legible(figure)
    drawn = pd.concat(lines(figure.axes[0], COLOUR["boltzmann"]))
    drawn = drawn[~drawn.index.duplicated()]  # the points, without the places of their bars
    for eta in drawn.index:
        own = few if f"boltzmann {eta:g}" not in ETAS else table
        last = own[(own.arm == f"boltzmann {eta:g}") & (own.episode == 1200)]
        same(drawn[eta], last.regret.mean())
    assert len(drawn) == 10
    figure = recommender_figures.openings(table)
    legible(figure)
    for arm in ("rlsvi", "linear"):
        shares = table[table.arm == arm].groupby("episode").best_opening.mean()
        same(lines(figure.axes[0], recommender_figures.SHADES[arm])[0], shares)


# --- every figure: what is drawn against the table, by pandas and scipy alone ---------------


def _student(x):
    half = stats.t.ppf(0.975, len(x) - 1) * stats.sem(x)
    return x.mean() - half, x.mean() + half


def _order(x):
    return stats.quantile_test(x, p=0.5).confidence_interval(0.95)


MEAN, MEDIAN95 = ("mean", _student), ("median", _order)
MEAN80, MEDIAN80, RANGE = (
    (middle, lambda x, low=low: (x.quantile(low), x.quantile(1 - low)))
    for middle, low in (("mean", 0.1), ("median", 0.1), ("median", 0.0))
)
MEANS, MEDIANS, RUNS = ("mean", None), ("median", None), ("first", None)


class Shown(NamedTuple):
    """Curves of y against x, one for each cell of ``by``: their middle and their interval."""

    x: str
    y: str
    by: list
    of: tuple
    rows: object = lambda table: table  # the rows that are drawn, and columns computed from others
    most: float = np.inf
    curves: bool = True  # or points, in any order and on either axis
    lost: bool = False  # an infinite median is drawn at ``most``, not left out


def _lost(time, lost):
    return lambda table: table.assign(time=table[time].where(~table[lost], np.inf))


def _arm(table):
    """Regret at the end as a share of the most on a chain of that length."""
    last = table[(table.lam == 1) & (table.episode == table.episode.max())]
    return last.assign(
        arm=last.agent + ", prior " + last.prior,
        share=last.regret / last.N.map(last.groupby("N").regret.max()),
    )


def _cell(column, *values):
    return lambda table: table[table[column].isin(values)]


def _last(table):
    return table[table.episode == table.episode.max()]


def _judged(name):
    """Regret at the end of the judged runs, with and without each piece of advice that is drawn."""

    def rows(table):
        pieces = {piece: design.ADVICE[piece] for piece in since_figures.DRAWN[name]}
        return pd.concat(
            [
                design.final(design.at_best(table, arm)).assign(piece=piece, arm=words)
                for piece, advice in pieces.items()
                for words, arm in advice.arms.items()
            ]
        )

    return rows


def _sigmas(table):
    """RLSVI's regret at the end in units of the least mean of a σ on each problem."""
    ours = table[(table.agent == "rlsvi") & (table.told == "values")]
    ends = ours[ours.episode == ours.groupby("problem").episode.transform("max")]
    best = ends.groupby(["problem", "fraction"]).regret.mean().groupby("problem").min()
    return ends.join(best.rename("best"), on="problem").eval("times = regret / best")


def _from_zero(*arms):
    """Regret from customer 0 on."""
    return lambda table: pd.concat(
        [
            own := table[table.arm.isin(arms)],
            own[own.episode == own.episode.max()].assign(episode=0, regret=0.0),
        ]
    )


def _share(table):
    """Regret against uniform play's: the mean of this is the ratio of their means."""
    table = _last(table)[lambda last: (last.lam == 1) | (last.sigma == 1)]
    mean = table.groupby(["problem", "lam", "sigma"])[["regret", "uniform"]].transform("mean")
    ratio = mean.regret / mean.uniform
    return table.assign(share=ratio + (table.regret - ratio * table.uniform) / mean.uniform)


def _relative(table):
    """The second half's scores, in units of the best schedule of each game."""
    cells = ["rule", "reading", "agent", "schedule"]
    scores = (
        _second_half(table.assign(agent=table.get("agent", "lsvi")))
        .groupby([*cells, "seed"])
        .score.mean()
        .rename("score")
        .reset_index()
    )
    best = (
        scores.groupby(["rule", "reading", "schedule"])
        .score.mean()
        .groupby(["rule", "reading"])
        .max()
        .rename("best")
    )
    return scores.join(best, on=["rule", "reading"]).eval("score = score / best")


def _leads(table):
    """RLSVI's last 200 games less those of LSVI with its best schedule."""
    cell = ["reading", "rule", "width"]
    last = table[table.game > table.game.max() - 200].fillna({"schedule": ""})
    means = last.groupby([*cell, "agent", "schedule", "seed"]).score.mean()
    lsvi = means.xs("lsvi", level="agent")
    best = lsvi.groupby([*cell, "schedule"]).mean().groupby(cell).idxmax()
    chosen = lsvi[[key[:4] in set(best) for key in lsvi.index]].droplevel("schedule")
    ours = means.xs("rlsvi", level="agent").droplevel("schedule")
    return (ours - chosen).rename("lead").reset_index()


def _rates(table):
    """Regret per customer between two rows; of runs that have only an end, all the way."""
    table = table.sort_values("episode")
    runs = table.groupby(["arm", "seed"])
    return table.assign(
        rate=runs.regret.diff().fillna(table.regret) / runs.episode.diff().fillna(table.episode)
    )


def _second_half(table):
    return table[table.game > table.game.max() / 2]


def _over_root(table, H=1):
    return table.assign(over=table.regret / np.sqrt(H * table.episode))[table.episode >= 100]


TIMES = _lost("tenth_reward", "censored")
WAIT = _lost("first_reward", "lost")
GAMES = [Shown("game", "score", ["agent"], MEAN80)]
RETURNS = [Shown("episode", "reward", ["task", "agent"], MEDIAN80)]
SHARES = [
    Shown(
        "episode",
        "share",
        ["task", "agent"],
        RANGE,
        lambda table: table.assign(
            share=(1 - (table.best - table.greedy) / table.best.abs()).clip(lower=0)
        ),
    )
]
LAST = [
    Shown(
        "seed",
        "reward",
        ["task", "agent", "start"],
        MEANS,
        lambda table: table[table.episode > table.episode.max() - 100],
        curves=False,
    )
]
RATES = Shown(
    "episode",
    "rate",
    ["arm"],
    MEAN,
    lambda table: _rates(table[table.arm.isin(["rlsvi", "linear"])]),
)
SHOWS = {
    "example1": [
        Shown("N", "wait", ["agent"], MEAN, lambda table: table.assign(wait=1 + table.unrewarded))
    ],
    "fig2a": [Shown("episode", "regret", ["agent"], MEDIAN80)],
    "fig2b": [Shown("episode", "suboptimal", ["agent", "seed"], RUNS)],
    **{
        name: [Shown("N", "time", [], MEDIAN95, TIMES, 20_000)] for name in ("fig3", "fig3-tabular")
    },
    "fig4": [Shown("K", "time", [], MEDIAN95, TIMES, 20_000)],
    "fig5": [Shown(x, "time", [], MEDIAN95, TIMES, 20_000) for x in "NK"],
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
    **{
        name: [Shown("episode", "regret", [of], MEDIANS)]
        for name, of in (("fig10", "lam"), ("fig11", "sigma"))
    },
    "fig13": [Shown("N", "time", ["K"], MEDIANS, TIMES, curves=False)],
    "readings": [
        Shown(
            "lam",
            "time",
            ["reading", "norm", "constant", "opening"],
            MEDIAN95,
            TIMES,
            5000,
            curves=False,
        )
    ],
    "recommender": [
        Shown("episode", "regret", ["arm"], MEAN, _from_zero("rlsvi", "linear")),
        RATES,
    ],
    "fig8": [Shown("episode", "regret", ["arm"], MEAN, _from_zero("rlsvi", *ETAS))],
    "recommender-rivals": [
        Shown("episode", "regret", ["arm"], MEAN, _from_zero(*recommender_figures.RIVALS))
    ],
    "recommender-later": [RATES],
    "recommender-readings": [
        Shown(
            "arm",
            "regret",
            [],
            MEAN,
            lambda table: _last(table)[lambda last: last.arm.isin(recommender_figures.ASKED)],
            curves=False,
        )
    ],
    "theorem1": [
        Shown(
            "episode",
            "regret",
            ["agent"],
            MEAN,
            lambda table: table[table.episodes == table.episodes.max()],
        )
    ],
    "gamble": [Shown("episode", "over", ["factor"], MEAN, _over_root)],
    "long-gamble": [
        Shown("episode", "over", ["H"], MEAN, lambda table: _over_root(table, table.H))
    ],
    "toll": [
        Shown(
            "H",
            "over",
            ["agent"],
            MEAN,
            lambda table: table.assign(
                over=table.regret
                / np.sqrt(table.H * table.H.map({7: 22, 9: 174, 11: 1387, 13: 11012, 15: 87417}))
            ),
        )
    ],
    "incremental": [
        Shown(
            "N",
            "share",
            ["arm"],
            MEDIAN80,
            lambda table: _arm(table)[lambda runs: runs.arm.isin(extension_figures.CURVES)],
        )
    ],
    "continual": [
        Shown(
            "n",
            "time",
            ["agent"],
            MEDIAN95,
            lambda table: WAIT(table)[
                (table.gamma == 0.95) & table.agent.isin(["corrected", "printed", "greedy"])
            ],
            20_000,
            lost=True,
        )
    ],
    "bootstrap": [
        Shown(
            "N",
            "time",
            ["agent"],
            MEDIAN95,
            lambda table: WAIT(table)[table.features == "tabular"],
            1000,
            lost=True,
        )
    ],
    "theorem1-scale": [
        Shown(
            "lam",
            "share",
            ["problem"],
            MEAN,
            lambda table: _share(table)[lambda runs: runs.sigma == 1],
        ),
        Shown(
            "sigma", "share", ["problem"], MEAN, lambda table: _share(table)[lambda r: r.lam == 1]
        ),
    ],
    "theorem1-tuned": [Shown("factor", "regret", ["agent"], MEAN, _last)],
    "theorem1-bound": [
        Shown(
            "episode",
            "regret",
            ["parameters"],
            MEAN,
            lambda table: table[(table.H == 5) & (table.S == 5) & (table.A == 3)],
        )
    ],
    "price": [
        Shown(
            "H",
            "ratio",
            ["rewards", "late"],
            MEAN,
            lambda table: price.over_rate(table)[
                (table.times == 1) | (table.times == table.H)
            ].assign(late=lambda of: of.times > 1),
        )
    ],
    "rate": [
        Shown(
            "times",
            "ratio",
            ["world", "H"],
            MEAN,
            lambda table: price.over_first(table)[
                lambda of: (of.S == 1) & (of.A == 2) & of.times.isin((1, 4, 16, 64))
            ],
        )
    ],
    "fig14-tuning": [
        Shown("seed", "score", ["rule", "reading", "schedule"], RUNS, _relative, curves=False)
    ],
    "tetris-widths": [Shown("width", "lead", ["reading", "rule"], MEAN, _leads)],
    "tetris-readings": [
        Shown(
            "seed",
            "score",
            ["agent", "reading", "targets", "sweeps", "variance", "lam", "sigma"],
            MEANS,
            lambda table: table[table.game > table.game.max() - 100],
            curves=False,
        )
    ],
    "fig7": GAMES,
    "tetris-top-row": GAMES,
    "fig14": [Shown("game", "score", ["reading", "rule", "agent"], MEAN80)],
    "tetris-rules": [
        Shown(
            "seed",
            "game",
            ["rule", "agent"],
            ("min", None),
            lambda table: table[table.score > 1000],
            curves=False,
        )
    ],
    **{
        name: [Shown("game", "score", ["variance"], MEAN80)]
        for name in ("tetris-variance", "tetris-top-row-variance")
    },
    "tetris-buffer": [Shown("game", "score", ["N"], MEAN80)],
    "tetris-optimism": [Shown("game", "score", ["start"], MEANS)],
    "tetris-known": [Shown("player", "score", ["rule"], MEAN, curves=False)],
    **{
        name: [
            Shown("seed", "score", ["schedule"], MEANS, _second_half, curves=False),
            Shown("schedule", "score", [], MEANS, _second_half, curves=False),
        ]
        for name in (
            "fig7-tuning",
            "tetris-top-row-tuning",
            "tetris-schedules",
            "tetris-top-row-schedules",
            "tetris-touches",
        )
    },
    **dict.fromkeys(("tasks-control", "tasks-epsilon", "tasks-boltzmann", "tasks-curves"), RETURNS),
    **dict.fromkeys(("tasks-tabular", "tasks-tabular-large", "tasks-tables"), SHARES),
    **{
        name: [LAST[0]._replace(by=["task", "agent", of])]
        for name, of in (
            ("tasks-tuning", "start"),
            ("tasks-rule", "c"),
            ("tasks-options", "option"),
        )
    },
    **{
        name: [Shown("game", "score", ["agent", "gamma"], MEAN80)]
        for name in ("tetris-discount", "tetris-top-row-discount")
    },
    "tetris-lspi": [
        Shown(
            "seed",
            "score",
            ["start", "replay", "each", "rule"],
            ("max", None),
            lambda table: table.eval("score = score + 1"),
            curves=False,
        )
    ],
    "tasks-redraw": [
        Shown("again", y, ["task"], MEAN, curves=False) for y in ("reward", "mean", "vote")
    ],
    **{
        name: [
            Shown(
                "size",
                "regret",
                ["piece", "arm", "environment"],
                MEANS,
                _judged(name),
                curves=False,
            )
        ]
        for name in ("since-tabular", "since-linear")
    },
    "tasks-sigma": [Shown("fraction", "times", ["problem"], MEAN, _sigmas, curves=False)],
    "tasks-deep-sea": [Shown("N", "tenth_goal", ["agent"], RANGE, lambda table: table.dropna())],
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
    x, y, by, (middle, interval), rows, most, whole, lost = shown
    curves, spans, points = drawn_curves(figure), [*drawn_spans(figure)], drawn_points(figure)
    table = rows(table)
    for key, cell in table.groupby(by) if by else [((), table)]:
        runs = cell.groupby(x)[y]
        found = pd.DataFrame({"middle": runs.agg(middle)})
        if interval:
            found[["low", "high"]] = [tuple(interval(one)) for _, one in runs]
        found = found[np.isfinite(found.middle) | lost].clip(upper=most)
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
def test_a_figure_is_legible_and_shows_its_table(drawn, name):
    """Drawn once for all that is asked of it."""
    tables, drawing = drawn
    figure = drawing(*map(load, tables))
    legible(figure)
    for ax in figure.axes:
        assert ax.has_data()
        assert ax.get_xlabel() or name == "fig1"  # a diagram
    assert figure.axes[0].get_ylabel() or figure.axes[0].get_yticklabels()
    for shown in SHOWS.get(name, ()):
        shows(figure, pd.concat(map(load, tables)), shown)


def seen(file, size=8):
    """A picture as an eye from afar has it: grey, in squares."""
    grey = plt.imread(file)[..., :3].mean(axis=2)
    rows, columns = (n // size for n in grey.shape)
    return (
        grey[: rows * size, : columns * size].reshape(rows, size, columns, size).mean(axis=(1, 3))
    )


@pytest.mark.parametrize("change", ["none", "band", "data"])
@pytest.mark.parametrize(
    "file", sorted(engine.results_folder().glob("*.png")), ids=lambda f: f.stem
)
def test_a_stored_picture_is_todays_drawing(file, change, tmp_path, monkeypatch):
    """Fonts differ a little between machines; a wrong band or curve is seen."""
    table = load(file.stem)
    if change == "band":
        monkeypatch.setitem(chain_figures.BAND, "errorbar", ("pi", 50))
    elif change == "data":
        table = table.assign(regret=0.8 * table.regret, expected_regret=0.8 * table.expected_regret)
    draw(file.stem, table).savefig(again := tmp_path / file.name, dpi=150)
    before, now = seen(file), seen(again)
    apart = np.sqrt(np.mean((before - now) ** 2)) if before.shape == now.shape else 1.0
    assert (apart < 0.005) == (change == "none"), apart


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


def test_the_drawn_chance_is_worth_less_only_without_enough_noise():
    axes = theory_figures.chances(30, 30, {"enough": 0.25, "too little": 0.05}).axes
    for ax, holds in zip(axes, (True, False), strict=True):
        (truth,), (ours,) = lines(ax, COLOUR["posterior"]), lines(ax, COLOUR["rlsvi"])
        assert bool((ours >= truth).all()) is holds
    drawn = -np.random.default_rng(0).beta(30.5, 30.5, 10**6)  # below: 4 standard errors
    assert truth.iloc[50] == pytest.approx(
        np.clip(drawn - truth.index[50], 0, None).mean(), abs=4 * 0.04 / 1000
    )


def test_the_drawn_models_add_up_and_the_shrunk_one_gives_every_state_less():
    (ax,) = theory_figures.leak().axes
    rows = {}
    for text in ax.texts:
        if text.get_text().startswith("0."):
            rows.setdefault(text.get_position()[1], []).append(float(text.get_text()))
    shrunk, mean = np.transpose(list(rows.values()))
    assert mean.sum() == pytest.approx(1, abs=2e-3) == shrunk.sum()  # written to the third digit
    assert (shrunk[:-1] < mean[:-1]).all()
    assert mean[-1] == 0


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


@pytest.mark.parametrize("colour", [*COLOUR.values(), "yellow", "white"])
def test_text_in_a_colour_is_dark_enough_and_no_darker(colour):
    text = ink(colour)
    light = 0.05 + text**2.2 @ (0.2126, 0.7152, 0.0722)
    assert 1.05 / light >= 4.5
    assert to_hex(text) == colour.lower() or 1.05 / light < 4.9
