"""Where learning remains stable: up to some error ρ of the basis (Figure 6), and over ranges of λ
and σ (Figures 10 and 11)."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression

from ..judging.intervals import (
    Mean,
    Median,
    bootstrap_interval,
    median_interval,
    simultaneous_level,
)
from ..judging.outcomes import last_rows
from ..judging.thresholds import Limits


def success_rates(fig6: pd.DataFrame) -> pd.DataFrame:
    """Share of figure 6's runs that learned, over a window of 41 values of ρ, for each noise."""
    lost = fig6.pivot(index="rho", columns="noise", values="censored")
    return (~lost).rename_axis(columns=None).rolling(41, center=True).mean().dropna()


def rho_at_success_level(fig6: pd.DataFrame, level: float, repeats: int = 300) -> dict[str, Median]:
    """The ρ at which the chance to learn falls below a level, for each noise: by the best falling
    curve (isotonic regression), with a 95% interval from runs resampled by that curve; 1 if it
    never does."""
    rng = np.random.default_rng(0)

    def fit(learned: np.ndarray) -> np.ndarray:
        return np.asarray(isotonic_regression(learned.astype(float), increasing=False).x)

    def passage(curve: np.ndarray, rho: np.ndarray) -> float:
        return float(rho[below[0]]) if (below := np.flatnonzero(curve < level)).size else 1.0

    found = {}
    for noise, cell in fig6.sort_values("rho").groupby("noise"):
        curve, rho = fit(~cell.censored.to_numpy()), cell.rho.to_numpy()
        drawn = [passage(fit(rng.random(rho.size) < curve), rho) for _ in range(repeats)]
        found[noise] = Median(passage(curve, rho), *map(float, np.quantile(drawn, (0.025, 0.975))))
    return found


def slowdown(small: pd.DataFrame, noise: str, rho: float) -> Mean:
    """How many times as long the median run takes with an error ρ of the basis as with none; one
    that does not learn takes infinitely long."""
    time = small.tenth_reward.where(~small.censored, np.inf)
    with_error = time[(small.noise == noise) & (small.rho == rho)]
    return bootstrap_interval(
        lambda one, other: np.median(one, axis=-1) / np.median(other, axis=-1),
        with_error,
        time[small.rho == 0],
    )


class SweepSummary(NamedTuple):
    """Runs for many values of a parameter, against those at a reference value."""

    regret: pd.Series  # at the end, median
    learned: pd.Series  # runs
    ratio: dict[float, Median]  # of regret, seed by seed: 95% for all values together
    runs: int

    def stable_range(self, reference: float, limits: Limits) -> list[float]:
        """The unbroken range around the reference where nearly all runs learn and regret is, with
        confidence, at most so many times as large."""
        alike = pd.Series(
            {value: one.high <= limits["same regret"] for value, one in self.ratio.items()}
        )
        good = alike & (self.learned >= limits["learns"] * self.runs)
        stretch = (~good).cumsum()  # counts the breaks so far: the same along an unbroken range
        return [*self.learned.index[good & (stretch == stretch[reference]) & good[reference]]]


def summarize_sweep(
    table: pd.DataFrame, parameter: str, reference: float, rewards: float
) -> SweepSummary:
    last = last_rows(table)
    by_seed = last.pivot(index="seed", columns=parameter, values="regret")
    level = simultaneous_level(by_seed.shape[1] - 1)
    ratio = {
        value: median_interval(by_seed[value] / by_seed[reference], level) for value in by_seed
    }
    learned = (last.rewards >= rewards).groupby(last[parameter]).sum()
    return SweepSummary(by_seed.median(), learned, ratio, len(by_seed))


def orders_of_magnitude(values: list[float]) -> float:
    return float(np.log10(max(values) / min(values))) if values else 0.0
