"""The figures of appendix G: two densities, their gap, their crossings, and the urn."""

import matplotlib.pyplot as plt
import numpy as np
from flint import arb
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from scipy import stats

from rlsvi_core.optimism import order
from rlsvi_core.optimism.crossings import cdf_crossings, count_crossings, pdf_crossings

from ..style import COLOUR, LINE, canvas, styled
from . import repaired

NORMAL, BETA = COLOUR["rlsvi"], COLOUR["epsilon-greedy"]
COUNTS = ["#FFFFFF", "#CFE3F2", "#6BAED6", "#D55E00"]  # none, one, two, three crossings


def _density_pair(ax, alpha: float, beta: float) -> None:
    x = np.linspace(-0.6, 1.6, 700)
    inside = np.linspace(1e-4, 1 - 1e-4, 700)
    normal = stats.norm(alpha / (alpha + beta), (alpha + beta) ** -0.5)
    ax.plot(x, normal.pdf(x), color=NORMAL, lw=1.6, label="normal")
    ax.plot(inside, stats.beta.pdf(inside, alpha, beta), color=BETA, ls="--", lw=1.6, label="beta")
    points = [c.x for c in pdf_crossings(alpha, beta)]
    ax.plot(points, normal.pdf(points), "o", color="black", ms=4)
    for c in cdf_crossings(alpha, beta):
        ax.axvline(c.x, color=COLOUR["theory"], ls=":", lw=1.2)
    ax.set(ylim=(0, 2.6 * normal.pdf(normal.mean())), title=f"α = {alpha:g}, β = {beta:g}",
           xlabel="x")
    ax.title.set_fontsize(9)


@styled
def density_grid(cases: list[tuple[float, float]], columns: int = 3) -> Figure:
    """Small multiples: both densities, their crossings (dots), and where the distribution
    functions cross (dotted lines)."""
    rows = -(-len(cases) // columns)
    fig, axes = plt.subplots(rows, columns, figsize=(8.6, 2.4 * rows), sharex=True)
    for ax, (alpha, beta) in zip(axes.flat, cases, strict=True):
        _density_pair(ax, alpha, beta)
    axes.flat[0].legend(fontsize=8, loc="upper right")
    for ax in axes[:, 0]:
        ax.set_ylabel("density")
    return fig


@styled
def gap_curves(cases: list[tuple[float, float]]) -> Figure:
    """G(z) of the normal over the beta law, on a logarithmic scale: positive far into both
    tails."""
    fig, ax = canvas(height=3.2)
    z = np.linspace(-2, 3, 251)
    for (alpha, beta), style in zip(cases, ("-", "--", ":", "-."), strict=False):
        G = order.gap(order.Normal.matching(alpha, beta), order.Beta.of(alpha, beta), z, digits=6)
        ax.plot(z, G, style, lw=1.8, label=f"α = {alpha:g}, β = {beta:g}")
    ax.set(yscale="log", ylim=(1e-12, 1), xlabel="z", ylabel="G(z)")
    ax.axvspan(0, 1, color="0.93", zorder=0)
    ax.legend(fontsize=8)
    return fig


def _map(ax, x, y, counts) -> None:
    ax.pcolormesh(x, y, counts, cmap=ListedColormap(COUNTS),
                  norm=BoundaryNorm(np.arange(-0.5, 4), 4), shading="nearest", rasterized=True)
    ax.grid(visible=False)


def crossing_map(size: int = 36) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grid, numbers of density crossings, numbers of CDF crossings over the (α, β) plane."""
    grid = np.geomspace(1e-3, 1e4, size)
    counts = np.zeros((size, size, 2), int)
    for i in range(size):
        for j in range(i + 1):  # the other half is its mirror image
            counts[i, j] = counts[j, i] = count_crossings(float(grid[i]), float(grid[j]))
    return grid, counts[..., 0], counts[..., 1]


@styled
def crossings_map(size: int = 36) -> Figure:
    """How often densities (left) and distribution functions cross (middle: near α = β), and the
    sliver where three density crossings meet α + β ≥ 1 (right)."""
    fig, axes = canvas(3, width=9.6, height=3.3)
    grid, pdf, _ = crossing_map(size)
    _map(axes[0], grid, grid, pdf)
    axes[0].plot(grid[grid < 1], 1 - grid[grid < 1], color="black", ls=":", lw=1)
    axes[0].set(xscale="log", yscale="log", xlabel="α", ylabel="β", title="densities")
    total, share = np.geomspace(1e-2, 1, 33), np.linspace(0.485, 0.515, 25)
    cdf = [[count_crossings(n * s, n * (1 - s))[1] for n in total.tolist()]
           for s in share.tolist()]
    _map(axes[1], total, share, cdf)
    axes[1].set(xscale="log", xlabel="α + β", ylabel="α/(α + β)", title="distribution functions")
    alpha, beta = np.linspace(1.0002, 1.008, 24), np.linspace(0.306, 0.332, 24)
    sliver = [[count_crossings(a, b)[0] for a in alpha.tolist()] for b in beta.tolist()]
    _map(axes[2], alpha, beta, sliver)
    axes[2].set(xlabel="α", ylabel="β", title="densities, α just above 1")
    for count in (0, 1, 2, 3):
        axes[2].plot([], [], "s", color=COUNTS[count], mec="0.4", label=count)
    fig.legend(*axes[2].get_legend_handles_labels(), title="crossings", fontsize=8, ncols=1,
               loc="outside right upper")
    return fig


@styled
def urn_paths(alpha, V, *, draws: int = 400, rng: int = 0) -> Figure:
    """Urns drawn along (left), and their limits against the normal of variance π/(8n)."""
    fig, axes = canvas(2, width=8.6, sharey=True, gridspec_kw={"width_ratios": [2, 1]})
    rng = np.random.default_rng(rng)
    few = repaired.urn(alpha, V, draws, 12, rng)
    axes[0].plot(np.arange(1, draws + 2), few.T, color=NORMAL, lw=0.9, alpha=0.7)
    limits = repaired.urn(alpha, V, draws, 4000, rng)[:, -1]
    axes[1].hist(limits, bins=40, density=True, orientation="horizontal", color=BETA, alpha=0.5,
                 label="limits of the urns")
    n, y = float(np.sum(alpha)), np.linspace(-0.25, 1.25, 300)
    normal = stats.norm(np.dot(alpha, V) / n, np.sqrt(np.pi / (8 * n)))
    axes[1].plot(normal.pdf(y), y, color=NORMAL, label="normal, variance π/(8n)")
    axes[0].set(xscale="log", xlabel="draws + 1", ylabel="mean worth of the urn")
    axes[1].set(xlabel="density")
    axes[1].legend(fontsize=8, loc="upper right")
    return fig


@styled
def three_inequalities() -> Figure:
    """What the short proofs rest on: q ≥ 0, R(v) above its bounds, and F > 0."""
    fig, axes = canvas(3, width=9.6, height=3.0)
    t = np.linspace(0, 1, 200)
    axes[0].plot(t, [float(repaired.q(arb(float(s)))) for s in t], color=NORMAL, lw=2)
    axes[0].axhline(0, color="0.4", lw=0.8)
    axes[0].set(xlabel="t", ylabel="q(t)", title="a coin lies below N(0, π/8)")
    v = np.linspace(-4, -0.01, 300)
    bound = np.where(v > -0.5, 1 + v, -1 / (4 * v))
    axes[1].plot(v, [float(repaired.mills(arb(float(s)))) for s in v], color=NORMAL, lw=2,
                 label="R(v)")
    axes[1].plot(v, bound, color=COLOUR["theory"], ls=LINE["theory"], label="what is needed")
    axes[1].set(xlabel="v", title="left of the mean")
    axes[1].legend(fontsize=8)
    A = np.geomspace(0.01, 100, 120)
    for label, B, style in (("B = 1/(9A) or A", np.minimum(1 / (9 * A), A), "-"),
                            ("half of it", np.minimum(1 / (9 * A), A) / 2, "--"),
                            ("a hundredth", np.minimum(1 / (9 * A), A) / 100, ":")):
        values = [float(repaired.F(arb(a), arb(b)).mid())
                  for a, b in zip(A.tolist(), B.tolist(), strict=True)]
        axes[2].plot(A, values, style, color=NORMAL, label=label)
    axes[2].axhline(0, color="0.4", lw=0.8)
    axes[2].set(xscale="log", xlabel="A", ylabel="F(A, B)", title="AB ≤ 1/9")
    axes[2].legend(fontsize=8)
    return fig
