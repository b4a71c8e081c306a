"""The figures of appendix G, two densities, their gap, their crossings and the urn; and those of
Theorem 1, one arm, the price of a chance, three steps of the proof and the bound."""

from collections.abc import Sequence
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from flint import arb
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from scipy import stats

from rlsvi_core.optimism import order

from ..intervals import student
from ..style import (
    COLOUR,
    CORNER,
    LINE,
    canvas,
    digits,
    label_ends,
    panels,
    shades,
    styled,
    values,
)
from . import price, repaired, runs, theorem1
from .crossings import cdf_crossings, count_crossings, pdf_crossings

COUNTS = ["#FFFFFF", "#CFE3F2", "#6BAED6", COLOUR["fails"]]  # none, one, two, three crossings


@styled
def density_grid(cases: Sequence[tuple[float, float]]) -> Figure:
    """Small multiples: both densities, their crossings (dots), and where the distribution
    functions cross (dotted lines)."""
    fig, axes = panels(len(cases), height=2.0, sharex=True)
    inside = np.linspace(1e-4, 1 - 1e-4, 700)
    for ax, (alpha, beta) in zip(axes, cases, strict=True):
        normal = stats.norm(alpha / (alpha + beta), (alpha + beta) ** -0.5)
        for name, law, x, look in (
                ("normal", normal, 2.2 * inside - 0.6, "normal"),
                ("beta", stats.beta(alpha, beta), inside, "posterior")):
            sns.lineplot(x=x, y=law.pdf(x), color=COLOUR[look], ls=LINE[look], label=name,
                         legend=ax is axes[0], ax=ax)
        points = [c.x for c in pdf_crossings(alpha, beta)]
        ax.plot(points, normal.pdf(points), "o", color="black", ms=4)
        for c in cdf_crossings(alpha, beta):
            ax.axvline(c.x, color=COLOUR["theory"], ls=":", lw=1.2)
        finite = stats.beta(alpha, beta).pdf(inside).max() if min(alpha, beta) > 1 else 0.0
        ax.set(ylim=(0, max(2.6 * normal.pdf(normal.mean()), 1.05 * finite)), xlabel="x",
               title=f"α = {alpha:g}, β = {beta:g}", ylabel="density" if ax in axes[::2] else "")
    return fig


@styled
def gap_curves(cases: Sequence[tuple[float, float]]) -> Figure:
    """G(z) of the normal over the beta law, on a logarithmic scale: positive into both tails."""
    fig, ax = canvas(height=3.2)
    z = np.linspace(-1, 2, 241)
    gaps = {f"α = {alpha:g}, β = {beta:g}": order.gap(
        order.Normal.matching(alpha, beta), order.Beta.of(alpha, beta), z, digits=6)
        for alpha, beta in cases}
    sns.lineplot(pd.DataFrame(gaps, index=z), palette=values(len(gaps)), legend=False, ax=ax)
    ax.axvspan(0, 1, color="0.93", zorder=0)
    ax.set(yscale="log", ylim=(None, 10), xlabel="z", ylabel="G(z)")
    label_ends(ax, {name: (gap[-1], line.get_color())
                    for (name, gap), line in zip(gaps.items(), ax.lines, strict=True)})
    return fig


def _map(ax, x, y, count):
    ax.pcolormesh(x, y, [[count(float(u), float(v)) for u in x] for v in y],
                  cmap=ListedColormap(COUNTS), norm=BoundaryNorm(np.arange(-0.5, 4), 4),
                  shading="nearest", rasterized=True)
    ax.grid(visible=False)


@styled
def crossings_map(size: int = 36) -> Figure:
    """How often densities (left) and distribution functions cross (right: near α = β), and the
    sliver where three density crossings meet α + β ≥ 1 (below)."""
    fig, axes = panels(3, height=2.8)
    grid, of_pair = np.geomspace(1e-3, 1e4, size), cache(count_crossings)
    _map(axes[0], grid, grid, lambda a, b: of_pair(max(a, b), min(a, b))[0])  # a mirror image
    axes[0].plot(grid[grid < 1], 1 - grid[grid < 1], color="black", ls=":", lw=1)
    axes[0].set(xscale="log", yscale="log", xlabel="α", ylabel="β", title="densities")
    _map(axes[1], np.geomspace(1e-2, 1, 33), np.linspace(0.485, 0.515, 25),
         lambda n, share: count_crossings(n * share, n * (1 - share))[1])
    axes[1].set(xscale="log", xlabel="α + β", ylabel="α/(α + β)", title="distribution functions")
    _map(axes[2], np.linspace(1.0002, 1.008, 24), np.linspace(0.306, 0.332, 24),
         lambda a, b: count_crossings(a, b)[0])
    axes[2].set(xlabel="α", ylabel="β", title="densities, α just above 1")
    fig.legend([axes[2].plot([], [], "s", color=colour, mec="0.4")[0] for colour in COUNTS],
               ["no crossing", "one", "two", "three"], **CORNER)
    return fig


@styled
def urn_paths(alpha: Sequence[float], V: Sequence[float], *, draws: int = 400,
              rng: int = 0) -> Figure:
    """Urns drawn along (left), and their limits against the normal of variance π/(8n)."""
    fig, axes = canvas(2, height=3.4, sharey=True, width_ratios=(2, 1))
    rng = np.random.default_rng(rng)
    few, many = (repaired.urn(alpha, V, draws, paths, rng) for paths in (12, 4000))
    axes[0].plot(np.arange(1, draws + 2), few.T, c=COLOUR["posterior"], lw=0.9, alpha=0.7)
    sns.histplot(y=many[:, -1], bins=40, stat="density", element="step",
                 color=COLOUR["posterior"], label="limits of the urns", ax=axes[1])
    n, y = float(np.sum(alpha)), np.linspace(-0.25, 1.25, 300)
    normal = stats.norm(np.dot(alpha, V) / n, np.sqrt(np.pi / (8 * n)))
    sns.lineplot(x=normal.pdf(y), y=y, orient="y", color=COLOUR["normal"],
                 label="normal, variance π/(8n)", ax=axes[1])
    axes[0].set(xscale="log", xlabel="draws + 1", ylabel="mean worth of the urn")
    axes[1].set(xlabel="density")
    axes[1].legend(loc="lower center", bbox_to_anchor=(0.5, 1))
    return fig


@styled
def three_inequalities() -> Figure:
    """What the short proofs rest on: q ≥ 0, R(v) above its bounds, and F > 0."""
    fig, axes = panels(3, height=2.5)

    def curve(ax, x, f, **look):
        sns.lineplot(x=x, y=[float(f(*map(arb, np.atleast_1d(at).tolist())).mid()) for at in x],
                     color=COLOUR["truth"], ax=ax, **look)

    curve(axes[0], np.linspace(0, 1, 200), repaired.q)
    axes[0].set(xlabel="t", ylabel="q(t)", title="a coin lies below N(0, π/8)")
    v = np.linspace(-4, -0.01, 300)
    curve(axes[1], v, repaired.mills, label="R(v)")
    sns.lineplot(x=v, y=np.where(v > -0.5, 1 + v, -1 / (4 * v)), color=COLOUR["theory"],
                 ls=LINE["theory"], label="what is needed", ax=axes[1])
    axes[1].set(xlabel="v", title="left of the mean")
    for label, share, line in (("B = 1/(9A) or A", 1, "-"), ("half of it", 1 / 2, "--"),
                               ("a hundredth", 1 / 100, ":")):
        curve(axes[2], np.geomspace(0.01, 100, 120), lambda A, share=share: repaired.F(
            A, (1 / (9 * A)).min(A) * share), ls=line, label=label)
    axes[2].set(xscale="log", xlabel="A", ylabel="F(A, B)", title="AB ≤ 1/9")
    for ax in axes[::2]:
        ax.axhline(0, color="0.4", lw=0.8)
    return fig


@styled
def one_arm(histories: Sequence[tuple[int, int]]) -> Figure:
    """The posterior of an arm's mean reward after ``low`` rewards −1 and ``high`` rewards 0, with
    weights ½ and ½ before, and the normal law from which RLSVI draws in its place."""
    fig, axes = panels(len(histories), height=2.4)
    for ax, (low, high) in zip(axes, histories, strict=True):
        x, inside = np.linspace(-1.6, 1.1, 500), np.linspace(-1 + 1e-4, -1e-4, 500)
        for name, law, at, look in (
                ("posterior", _posterior(low, high), inside, "posterior"),
                ("RLSVI draws from", _drawn(low, high), x, "rlsvi")):
            ax.plot(at, law.pdf(at), color=COLOUR[look], ls=LINE[look], label=name)
            ax.axvline(law.mean(), color=COLOUR[look], ls=LINE[look], lw=0.9)
        tries = f"{low + high} tries, {low} of them paid −1" if low + high else "never tried"
        ax.set(title=tries, xlabel="mean reward of the arm", ylabel="density",
               xlim=(-1.6, 1.1), ylim=(0, 1.25 * _posterior(low, high).pdf(inside)[20:-20].max()))
    fig.legend(*axes[0].get_legend_handles_labels(), **CORNER)
    return fig


def _posterior(low: int, high: int):
    return stats.beta(0.5 + high, 0.5 + low, loc=-1)


def _drawn(low: int, high: int, sigma2: float = np.pi / 8, rho: float = 1.0):
    n = low + high + rho
    return stats.norm(-low / n, np.sqrt(sigma2 / n))


@styled
def chances(low: int, high: int, noises: dict[str, float]) -> Figure:
    """What the better of a sure z and a draw is worth beyond z, for the posterior and for RLSVI's
    normal law with each σ²: stochastic optimism is one curve nowhere below the other."""
    fig, axes = canvas(len(noises), sharey=True)
    truth = _posterior(low, high)
    z = np.linspace(truth.mean() - 2 * truth.std(), truth.mean() + 3 * truth.std(), 101)
    for ax, (name, sigma2) in zip(axes, noises.items(), strict=True):
        law = _drawn(low, high, sigma2)
        d = (law.mean() - z) / law.std()
        ours = law.std() * (stats.norm.pdf(d) + d * stats.norm.cdf(d))
        worth = ours - order.gap(order.Normal.of(1 + law.mean(), law.var()),
                                 order.Beta.of(0.5 + high, 0.5 + low), 1 + z, digits=6)
        for label, y, look in (("posterior", worth, "posterior"), ("RLSVI", ours, "rlsvi")):
            sns.lineplot(x=z, y=y, color=COLOUR[look], ls=LINE[look], label=label,
                         legend=ax is axes[0], ax=ax)
        for look, where in (("theory", ours >= worth), ("fails", ours < worth)):
            ax.fill_between(z, worth, ours, where=where, color=COLOUR[look], alpha=0.3, lw=0)
        ax.set(title=f"{name} (σ² = {sigma2:.2g})", xlabel="z, the sure reward",
               ylabel="E (draw − z)⁺")
    return fig


@styled
def three_steps() -> Figure:
    """The shrunk model leaks (left), choosing the largest of A draws (right), and what the visits
    to one pair add up to (below)."""
    fig, axes = panels(3, height=2.5)
    seen, prior, rho = np.array([5, 3, 1, 0]), np.full(4, 0.25), 4.0
    mean, shrunk = (seen + prior) / (seen.sum() + 1), seen / (seen.sum() + rho)
    rows = [(state, model, p) for model, row in (("mean MDP", mean), ("shrunk model", shrunk))
            for state, p in zip(("1", "2", "3", "4", "astray"), (*row, 1 - row.sum()), strict=True)]
    sns.barplot(pd.DataFrame(rows, columns=["next state", "model", "probability"]),
                x="next state", y="probability", hue="model",
                palette={"mean MDP": COLOUR["posterior"], "shrunk model": "0.6"}, ax=axes[0])
    axes[0].set(title="the shrunk model leaks", ylim=(0, 0.75))
    axes[0].legend(title="")
    x, A = np.linspace(-9, 9, 2001), np.geomspace(1, 1000, 60)
    largest = (x * A[:, None] * stats.norm.pdf(x) * stats.norm.cdf(x) ** (A[:, None] - 1)
               ).sum(1) * (x[1] - x[0])
    N, added = np.arange(1, 101), {}
    for rho in (1, 10):
        added[rho] = (1 / (N - 1 + rho)).cumsum(), 1 / rho + np.log1p(N / rho)
    for ax, at, curves in ((axes[1], A, [(largest, np.sqrt(2 * np.log(A)))]),
                           (axes[2], N, added.values())):
        for y, most in curves:
            sns.lineplot(x=at, y=y, color=COLOUR["truth"], ax=ax)
            sns.lineplot(x=at, y=most, color=COLOUR["theory"], ls=LINE["theory"], ax=ax)
    fig.legend(ax.lines[:2], ["exact", "bound"], **CORNER)
    axes[1].set(xscale="log", xlabel="actions A", ylabel="mean of the largest draw",
                title="choosing costs √(2 log A)")
    axes[2].set(xlabel="visits N to one pair", ylabel="Σ 1/(j + ρ), j < N",
                title="visits add up to a logarithm")
    for rho, height in ((1, 4.0), (10, 2.4)):
        axes[2].annotate(f"ρ = {rho}", (60, height), fontsize=9)
    return fig


@styled
def theorem1_bound(table: pd.DataFrame) -> Figure:
    """Measured regret, the explicit bound, the paper's rate and uniform play along L, for the
    printed λ and σ and for the smallest that the proof allows."""
    fig, axes = canvas(2, height=3.6, sharey=True)
    (H, S, A), L = runs.BASE, np.geomspace(1, 1e7, 200)
    base = table[(table.H == H) & (table.S == S) & (table.A == A)]
    uniform = float((base.uniform / base.episode).mean())
    for ax, (name, of) in zip(axes, runs.PARAMETERS.items(), strict=True):
        lam, sigma = of(runs.make_prior(H, S, A))
        bound = theorem1.bound(H, S, A, L, lam, sigma, 1.0)
        sns.lineplot(base[base.parameters == name], x="episode", y="regret",
                     color=COLOUR["rlsvi"], marker="o", errorbar=student, err_style="bars",
                     label="RLSVI, measured", ax=ax)
        for y, colour, line, label in (
                (bound, COLOUR["theory"], LINE["theory"], "proved bound"),
                (uniform * L, COLOUR["uniform"], LINE["uniform"], "uniform play"),
                (H**2 * np.sqrt(S * A * L), COLOUR["truth"], ":", r"rate $\sqrt{H^3SAT}$")):
            ax.plot(L, y, color=colour, ls=line, lw=1.4, label=label)
        begins = theorem1.episodes_until(uniform, H, S, A, lam, sigma)
        ax.axvline(begins, color="0.6", lw=0.8)
        ax.annotate(digits(begins), (begins, 2), ha="right", fontsize=9, rotation=90, color="0.4")
        ax.set(xlabel="episodes L", ylabel="expected regret",
               title=f"λ = {lam:.3g}, σ = {sigma:.3g} ({name})")
        ax.legend(fontsize=9)
    plt.setp(axes, xscale="log", yscale="log")  # last: seaborn averages on the axis's scale
    return fig


@styled
def what_is_known(table: pd.DataFrame) -> Figure:
    """The largest regret over √(SAT) that any T allows, against H, for one state and two actions at
    the smallest λ and σ printed: what is proved from above and from below (left), and what is
    measured over the paper's rate (right)."""
    fig, axes = canvas(2, height=3.9)
    rows = price.over_rate(table)
    rows = rows[(rows.times == 1) | (rows.times == rows.H)].assign(
        after=lambda of: np.where(of.times == 1, "after λσ² episodes", "after Hλσ²"))
    H, late = np.geomspace(2, 1e5, 60).round(), np.geomspace(price.least_horizon(), 1e5, 20).round()
    rho, later = price.LAM * (H**2 + 1), [price.later(int(h)) for h in late]
    for x, y, look, line, label in (
            (H, [price.at_most(h) for h in H], "theory", "-", "Theorem 1, from above"),
            (late, [one.regret / np.sqrt(2 * h * one.L) for h, one in zip(
                late, later, strict=True)], "fails", "-", "from below, later"),
            (H, price.at_least(1, 1) * np.sqrt(H * rho / 2), "fails", "--",
             "from below, at first"),
            (H, H**1.5, "paper", ":", r"the paper's rate, $H^{3/2}$"),
            (H, H / 10, "truth", "-.", "all algorithms: slope 1")):
        axes[0].plot(x, y, color=COLOUR[look], ls=line, lw=1.4, label=label)
    measured = rows[(rows.rewards == "prior") & (rows.times == rows.H)].groupby("H").ratio.mean()
    axes[0].plot(measured.index, measured * measured.index**1.5, "o", color=COLOUR["rlsvi"],
                 label="RLSVI, measured")
    axes[0].set(xscale="log", yscale="log", xlabel="H", ylabel="regret / √(SAT), at some T",
                ylim=(0.1, 1e13))
    axes[0].legend()
    sns.lineplot(rows, x="H", y="ratio", hue="rewards", style="after", errorbar=student,
                 err_style="bars", markers=["o", "s"], palette=shades("rlsvi", 2), ax=axes[1])
    axes[1].axhline(price.at_least(1, 1) * np.sqrt(price.LAM / 2), color=COLOUR["fails"], ls="--",
                    lw=1.4)
    axes[1].set(xscale="log", xticks=runs.HORIZONS, xticklabels=runs.HORIZONS, xlabel="H",
                ylabel=r"regret / $\sqrt{H^3SAT}$", ylim=(0, None))
    axes[1].minorticks_off()
    handles, labels = axes[1].get_legend_handles_labels()
    axes[1].legend([handles[i] for i in (1, 2, 4, 5)], ["rewards from the prior", "sure rewards",
                   *labels[4:]])
    return fig


DRAW = {"theorem1-bound": theorem1_bound, "price": what_is_known}
