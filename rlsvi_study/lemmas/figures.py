"""The figures of appendix G: two densities, and the gap."""

from collections.abc import Sequence

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from scipy import stats

from rlsvi_core.optimism import Beta, Normal, certify_crossings, exact_gap

from ..style import COLOUR, LINE, subplot_grid, with_style


@with_style
def density_grid(cases: Sequence[tuple[float, float]]) -> Figure:
    """Small multiples: both densities, their crossings (dots), and where the distribution
    functions cross (dotted lines)."""
    fig, axes = subplot_grid(len(cases), height=2.8, sharex=True)
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
        found = certify_crossings(Normal.matching_beta(alpha, beta), Beta(alpha, beta))
        points = [c.x for c in found.density]
        ax.plot(points, normal.pdf(points), "o", color="black", ms=4)
        for c in found.cdf:
            ax.axvline(c.x, color=COLOUR["theory"], ls=":", lw=1.2)
        finite = stats.beta(alpha, beta).pdf(inside).max() if min(alpha, beta) > 1 else 0.0
        ax.set(
            ylim=(0, max(2.6 * normal.pdf(normal.mean()), 1.05 * finite)),
            xlabel="x",
            title=f"α = {alpha:g}, β = {beta:g}",
            ylabel="density" if ax in axes[::2] else "",
        )
    return fig


@with_style
def shaded_gap(alpha: float, beta: float) -> Figure:
    """Lemma 1 for one beta law: its density and the normal's of variance 1/(4n), and the gap between
    them, shaded; also the gap of a normal of the same variance as the beta law."""
    fig, (left, right) = subplot_grid(2, height=2.8)
    law, n, x = stats.beta(alpha, beta), alpha + beta, np.linspace(-0.6, 1.3, 381)
    normal = stats.norm(law.mean(), (4 * n) ** -0.5)
    for name, of, look in (("normal", normal, "normal"), ("beta", law, "posterior")):
        left.plot(x, of.pdf(x), color=COLOUR[look], ls=LINE[look], label=name)
    room = 1.6  # above the curves, for names
    left.set(xlabel="x", ylabel="density", ylim=(0, room * law.pdf(x).max()))
    left.legend(loc="upper right")
    for name, variance, line in (
        ("variance 1/(4n)", 1 / (4 * n), "-"),
        ("beta's variance", law.var(), "--"),
    ):
        G = exact_gap(Normal(alpha / n, variance), Beta(alpha, beta), x, digits=6)
        right.plot(x, G, color=COLOUR["theory"], ls=line, label=name)
        for look, where in (("theory", G >= 0), ("fails", G < 0)):
            right.fill_between(x, 0, G, where=where, color=COLOUR[look], alpha=0.3, lw=0)
    right.axhline(0, color="0.6", lw=0.8)
    right.set(xlabel="z", ylabel="gap G(z)", ylim=(None, room * right.get_ylim()[1]))
    right.legend(loc="upper right")
    return fig
