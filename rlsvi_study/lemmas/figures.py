"""The figures of appendix G: two densities, the gap, and the least variance at mean ½."""

from collections.abc import Sequence

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from scipy import stats
from scipy.special import gammaln

from rlsvi_core.optimism import order

from ..style import COLOUR, LINE, canvas, panels, styled
from .crossings import cdf_crossings, pdf_crossings


@styled
def density_grid(cases: Sequence[tuple[float, float]]) -> Figure:
    """Small multiples: both densities, their crossings (dots), and where the distribution
    functions cross (dotted lines)."""
    fig, axes = panels(len(cases), height=2.8, sharex=True)
    inside = np.linspace(1e-4, 1 - 1e-4, 700)
    for ax, (alpha, beta) in zip(axes, cases, strict=True):
        normal = stats.norm(alpha / (alpha + beta), (alpha + beta) ** -0.5)
        for name, law, x, look in (
            ("normal", normal, 2.2 * inside - 0.6, "normal"),
            ("beta", stats.beta(alpha, beta), inside, "posterior"),
        ):
            sns.lineplot(
                x=x,
                y=law.pdf(x),
                color=COLOUR[look],
                ls=LINE[look],
                label=name,
                legend=ax is axes[0],
                ax=ax,
            )
        points = [c.x for c in pdf_crossings(alpha, beta)]
        ax.plot(points, normal.pdf(points), "o", color="black", ms=4)
        for c in cdf_crossings(alpha, beta):
            ax.axvline(c.x, color=COLOUR["theory"], ls=":", lw=1.2)
        finite = stats.beta(alpha, beta).pdf(inside).max() if min(alpha, beta) > 1 else 0.0
        ax.set(
            ylim=(0, max(2.6 * normal.pdf(normal.mean()), 1.05 * finite)),
            xlabel="x",
            title=f"α = {alpha:g}, β = {beta:g}",
            ylabel="density" if ax in axes[::2] else "",
        )
    return fig


@styled
def shaded_gap(alpha: float, beta: float) -> Figure:
    """Lemma 1 for one beta law: its density and the normal's of variance 1/(4n), and the gap between
    them, shaded; also the gap of a normal of the same variance as the beta law."""
    fig, (left, right) = panels(2, height=2.8)
    law, n, x = stats.beta(alpha, beta), alpha + beta, np.linspace(-0.6, 1.3, 381)
    normal = stats.norm(law.mean(), (4 * n) ** -0.5)
    for name, of, look in (("normal", normal, "normal"), ("beta", law, "posterior")):
        left.plot(x, of.pdf(x), color=COLOUR[look], ls=LINE[look], label=name)
    room = 1.6  # above the curves, for names
    left.set(xlabel="x", ylabel="density", ylim=(0, room * law.pdf(x).max()))
    left.legend(loc="upper right")
    for variance, line in ((1 / (4 * n), "-"), (law.var(), "--")):
        G = order.gap(order.Normal.of(alpha / n, variance), order.Beta.of(alpha, beta), x, digits=6)
        right.plot(x, G, color=COLOUR["theory"], ls=line, label=f"variance {variance:.2g}")
        for look, where in (("theory", G >= 0), ("fails", G < 0)):
            right.fill_between(x, 0, G, where=where, color=COLOUR[look], alpha=0.3, lw=0)
    right.axhline(0, color="0.6", lw=0.8)
    right.set(xlabel="z", ylabel="gap G(z)", ylim=(None, room * right.get_ylim()[1]))
    right.legend(loc="upper right")
    return fig


@styled
def least_variance() -> Figure:
    """4n times the variance of the normal, against n: the paper's, what is enough, and at mean ½ the
    least and that of Y."""
    fig, ax = canvas(height=4.0)
    n = np.geomspace(0.1, 50, 400)
    least = np.exp(2 * (gammaln((n + 1) / 2) - gammaln(n / 2 + 1))) / 8
    for name, variance, look, line, at in (
        ("the paper: 1/n", 1 / n, "paper", LINE["paper"], (0.11, 4.2)),
        ("by profiles: 1/(4n)", 1 / (4 * n), "normal", "-", (0.11, 1.05)),
        ("least at mean ½: c(n)", least, "theory", "-", (1.2, 0.4)),
        ("variance of Y at mean ½", 1 / (4 * n + 4), "posterior", LINE["posterior"], (1.2, 0.3)),
    ):
        ax.plot(n, 4 * n * variance, color=COLOUR[look], ls=line, lw=1.6)
        ax.text(*at, name, color=COLOUR[look])
    ticks = {"xticks": [0.1, 1, 10], "yticks": [0.1, 0.3, 1, 4]}
    ax.set(xscale="log", yscale="log", xlabel="n", ylabel="4n · variance", **ticks)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    return fig
