"""The figures of the recommendation engine: chapters 6d and E."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..intervals import mean_interval
from ..style import COLOUR, canvas, styled
from .runs import PAPER_ETAS, curves, rates

MYOPIC = {"uniform": "any first product", "best": "best first product",
          "worst": "worst first product"}
_LINES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
_LOOK = {  # colour, line style, label
    "rlsvi": (COLOUR["rlsvi"], "-", "RLSVI"),
    "linear": (COLOUR["epsilon-greedy"], "--", "linear contextual bandit"),
    "bernoulli": ("#CC79A7", ":", "Bernoulli bandit"),
    **{f"boltzmann {eta:g}": (plt.get_cmap("YlOrBr")(0.4 + 0.12 * i), _LINES[i], f"η = {eta:g}")
       for i, eta in enumerate(PAPER_ETAS)},
}


def _band(ax, values: pd.DataFrame, arm: str) -> None:
    """Mean over instances and its 95% interval."""
    middle, low, high = np.array([mean_interval(row) for row in values.to_numpy()]).T
    colour, line, label = _LOOK[arm]
    ax.fill_between(values.index, low, high, color=colour, alpha=0.2, lw=0)
    ax.plot(values.index, middle, color=colour, ls=line, lw=2, label=label)


@styled
def fig8(table: pd.DataFrame) -> Figure:
    """Figure 8: RLSVI and Boltzmann exploration; on the right, instance by instance."""
    fig, (total, paired) = canvas(2, width=9.0, height=3.6)
    for arm in ("rlsvi", *(f"boltzmann {eta:g}" for eta in PAPER_ETAS)):
        _band(total, curves(table, arm), arm)
        if arm != "rlsvi":
            _band(paired, curves(table, arm) - curves(table, "rlsvi"), arm)
    paired.axhline(0, color=COLOUR["rlsvi"], lw=2)
    total.set(xlabel="customer", ylabel="cumulative regret (likes)")
    paired.set(xlabel="customer", ylabel="regret more than RLSVI's")
    total.legend(fontsize=8)
    return fig


@styled
def fig9(table: pd.DataFrame) -> Figure:
    """Figure 9: RLSVI, the bandits, and policies that know the model but do not plan."""
    fig, (total, rate) = canvas(2, width=9.0, height=3.8)
    for arm in ("rlsvi", "linear", "bernoulli"):
        _band(total, curves(table, arm), arm)
        _band(rate, rates(table, arm), arm)
    _myopic(total, table, slope=True)
    _myopic(rate, table, slope=False)
    total.set(xlabel="customer", ylabel="cumulative regret (likes)",
              ylim=(0, 1.5 * curves(table, "rlsvi").iloc[-1].mean()))
    rate.set(xlabel="customer", ylabel="regret of a customer (likes)", ylim=(0, None))
    rate.legend(fontsize=8)
    return fig


@styled
def later(table: pd.DataFrame) -> Figure:
    """Figure 9's right panel continued."""
    fig, ax = canvas(height=3.4)
    for arm in ("rlsvi", "linear"):
        _band(ax, rates(table, arm), arm)
    _myopic(ax, table, slope=False)
    ax.set(xlabel="customer", ylabel="regret of a customer (likes)", ylim=(0, 0.7))
    ax.legend(fontsize=8)
    return fig


def _myopic(ax, table: pd.DataFrame, *, slope: bool) -> None:
    for (ties, words), shade, line in zip(MYOPIC.items(), ("0.1", "0.35", "0.6"), _LINES[1:4],
                                          strict=True):
        end = curves(table, f"myopic, ties {ties}")
        last, mean = end.index[-1], end.iloc[-1].mean()
        label = f"myopic, {words}"
        if slope:
            ax.plot([0, last], [0, mean], color=shade, ls=line, lw=1.3, label=label)
        else:
            ax.axhline(mean / last, color=shade, ls=line, lw=1.3, label=label)


@styled
def readings(table: pd.DataFrame) -> Figure:
    """Total regret of every arm, with 95% intervals over instances."""
    last = table[table.episode == table.episode.max()]
    arms = list(dict.fromkeys(last.arm))
    fig, ax = canvas(width=7.5, height=0.24 * len(arms) + 0.8)
    reference = last[last.arm == "rlsvi"].regret.mean()
    ax.axvline(reference, color=COLOUR["rlsvi"], lw=1)
    for place, arm in enumerate(arms):
        mean, low, high = mean_interval(last[last.arm == arm].regret)
        kind = next(name for name in ("rlsvi", "linear", "boltzmann", "epsilon")
                    if arm.startswith(name))
        colour = {"linear": "#CC79A7", "epsilon": COLOUR["epsilon-greedy"]}.get(
            kind, COLOUR.get(kind))
        ax.plot([low, high], [place, place], color=colour, lw=2)
        ax.plot(mean, place, {"rlsvi": "o", "linear": "D", "boltzmann": "^", "epsilon": "s"}[kind],
                color=colour, ms=5)
    names = [arm.replace("rlsvi", "RLSVI").replace("linear", "linear bandit").replace(
        "boltzmann", "Boltzmann η =").replace("epsilon", "ε-greedy ε =") for arm in arms]
    ax.set(yticks=range(len(arms)), xlim=(0, None), ylim=(-0.7, len(arms) - 0.3),
           xlabel=f"regret after {table.episode.max()} customers (likes)")
    ax.set_yticklabels(names, fontsize=8)
    ax.invert_yaxis()
    return fig


@styled
def openings(shares: np.ndarray, every: int, optimal: np.ndarray, myopic: np.ndarray) -> Figure:
    """Which product RLSVI opens with, window by window, and what each opening is worth."""
    fig, (when, worth) = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True,
                                      gridspec_kw={"width_ratios": [1.6, 1]})
    windows, N = shares.shape
    when.imshow(shares.T, aspect="auto", cmap="Blues", vmin=0, vmax=1, origin="lower",
                extent=(0, windows * every, -0.5, N - 0.5))
    when.set(xlabel="customer", ylabel="first product shown", yticks=range(N))
    when.grid(False)
    worth.plot(optimal, range(N), "o", color=COLOUR["rlsvi"], label="then optimal: $Q^*_0$")
    worth.plot(myopic, range(N), "s", color="0.3", mfc="none", ms=9, label="then myopic")
    worth.set_xlabel("expected likes after this opening")
    worth.legend(fontsize=8)
    return fig


@styled
def informative(table: pd.DataFrame) -> Figure:
    """What an opening is worth against how much its answer says about the other products."""
    fig, axes = canvas(2, width=9.0, height=3.2, sharey=True)
    for ax, column, label in zip(axes, ("says", "hears"), (
            r"what its answer says of others, $\|\gamma_{\cdot a}\|$",
            r"what answers say of it, $\|\gamma_{a \cdot}\|$"),
            strict=True):
        ax.plot(table[column], table.gain, "o", color="0.5", ms=2.5, alpha=0.6, mec="none")
        best = table[table.best]
        ax.plot(best[column], best.gain, "o", color=COLOUR["rlsvi"], ms=4,
                label="optimal opening")
        ax.set_xlabel(label)
    axes[0].set_ylabel("$Q^*_0(a)$ less the average opening")
    axes[0].legend(fontsize=8)
    return fig


DRAW = {"recommender": fig9, "recommender_later": later, "recommender_readings": readings}
