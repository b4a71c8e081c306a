r"""How learning time grows: smoothers, exponents and rival laws, all with intervals.

Learning times are heavy-tailed and some are censored, so everything here is about medians. A
censored run enters at its budget: as long as fewer than half the runs of a cell are censored, its
median does not depend on by how much they would have exceeded it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from statsmodels.nonparametric.smoothers_lowess import lowess
from statsmodels.regression.quantile_regression import QuantReg

from .runs import medians


def local_polynomial(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Local linear regression (LOWESS) over the nearest two thirds of the points."""
    return lowess(y, x, frac=2 / 3, it=0, return_sorted=False)


def quadratic(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.polyval(np.polyfit(x, y, min(2, len(x) - 1)), x)


def smooth_band(table: pd.DataFrame, by: str, smoother: Callable, *, repeats: int = 200,
                rng=0) -> pd.DataFrame:
    """A smoother through the medians of the cells, with a 95% bootstrap band over seeds."""
    cells = {x: cell.tenth_reward.to_numpy() for x, cell in table.groupby(by)}
    x, rng = np.array(list(cells), dtype=float), np.random.default_rng(rng)

    def curve(resample):
        return smoother(x, np.array([np.median(resample(times)) for times in cells.values()]))

    draws = [curve(lambda times: rng.choice(times, times.size)) for _ in range(repeats)]
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    return pd.DataFrame({"fit": curve(lambda times: times), "low": low, "high": high},
                        index=pd.Index(x, name=by))


class PowerLaw(NamedTuple):
    """time = level · x^power, with a 95% interval for the power."""

    power: float
    low: float
    high: float
    level: float


def exponent(table: pd.DataFrame, by: str) -> PowerLaw:
    """The power law of the median, by median regression of log time on log x."""
    x, y = np.log(table[by].to_numpy(float)), np.log(table.tenth_reward.to_numpy(float))
    fit = QuantReg(y, np.column_stack([np.ones_like(x), x])).fit(q=0.5)
    low, high = fit.conf_int()[1]
    return PowerLaw(float(fit.params[1]), float(low), float(high), float(np.exp(fit.params[0])))


LAWS: dict[str, tuple[Callable, tuple[float, ...]]] = {
    "linear": (lambda x, a, b: a + b * x, (0.1, 1.0)),
    "quadratic": (lambda x, a, b, c: a + b * x + c * x**2, (0.1, 0.5, 0.5)),
    "power": (lambda x, a, b: a * x**b, (1.0, 1.0)),
    "exponential": (lambda x, a, b: a * np.exp(b * x), (0.3, 1.0)),
}


def compare_laws(table: pd.DataFrame, by: str) -> pd.Series:
    """AIC of rival growth laws, relative to the best; ten or more is strong evidence against.

    Each law is fitted to log time by least absolute deviations, the likelihood of Laplace errors.
    """
    x = table[by].to_numpy(float) / table[by].max()
    y = np.log(table.tenth_reward.to_numpy(float))
    scale, scores = np.exp(np.median(y)), {}
    for name, (law, start) in LAWS.items():
        def loss(parameters, law=law):
            values = law(x, *parameters)
            return np.abs(y - np.log(scale * np.maximum(values, 1e-12))).mean()

        best = min(minimize(loss, np.array(start) * s, method="Nelder-Mead",
                             options={"maxiter": 4000, "xatol": 1e-6, "fatol": 1e-9}).fun
                    for s in (0.3, 1.0, 3.0))
        scores[name] = 2 * len(start) + 2 * len(y) * np.log(2 * best) + 2 * len(y)
    return pd.Series(scores) - min(scores.values())


def reading_medians(table: pd.DataFrame) -> pd.DataFrame:
    """Median learning times of the readings of the text, under names a reader can follow."""
    def name(reading, norm, constant, opening, lam):
        words = [{"stacked": "stacked", "per_period": "per period"}[reading], f"norm {norm}"]
        words += ["constant left at 1"] * (constant == "left at 1")
        words += {"uniform": [], "prior": ["first episode from the prior"]}.get(
            opening, [f"ties to the {opening}"])
        return ", ".join([*words, f"λ = {lam:g}"])

    columns = ["reading", "norm", "constant", "opening", "lam"]
    labels = [name(*row) for row in table[columns].itertuples(index=False)]
    cells = medians(table.assign(label=labels), "label")
    return cells.loc[list(dict.fromkeys(labels))]  # in the order of the grid
