"""How learning time grows: smoothers, exponents and rival laws, all with intervals.

Learning times are heavy-tailed and some are censored, so everything here is about medians. A
censored run enters at its budget: while fewer than half the runs of a cell are censored, its median
does not depend on by how much they would have exceeded it.

statsmodels takes a second to import; it is imported where it is used, because every figure of the
chain imports this module.
"""

from collections import namedtuple
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from .experiments import median_learning_times

Array = np.ndarray


def local_linear_fit(x: Array, y: Array) -> Array:
    """Local linear regression (LOWESS) over the nearest two thirds of the points."""
    from statsmodels.nonparametric.smoothers_lowess import lowess

    return np.asarray(lowess(y, x, frac=2 / 3, it=0, return_sorted=False))


def quadratic_fit(x: Array, y: Array) -> Array:
    return np.polyval(np.polyfit(x, y, min(2, len(x) - 1)), x)


def smooth_band(table: pd.DataFrame, by: str, smoother: Callable[..., Array]) -> pd.DataFrame:
    """A smoother through the medians of the cells, with a 95% bootstrap band over seeds."""
    cells = {x: cell.tenth_reward.to_numpy() for x, cell in table.groupby(by)}
    x, rng = np.array(list(cells), dtype=float), np.random.default_rng(0)

    def curve(resample: Callable[[Array], Array]) -> Array:
        return smoother(x, np.array([np.median(resample(times)) for times in cells.values()]))

    draws = [curve(lambda times: rng.choice(times, times.size)) for _ in range(200)]
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    return pd.DataFrame(
        {"fit": curve(np.asarray), "low": low, "high": high}, index=pd.Index(x, name=by)
    )


PowerLaw = namedtuple("PowerLaw", "power low high level")  # level · x^power; low, high: its 95%


def fit_power_law(table: pd.DataFrame, by: str) -> PowerLaw:
    """The power law of the median, by median regression of log time on log x."""
    from statsmodels.regression.quantile_regression import QuantReg

    x, y = np.log(table[[by, "tenth_reward"]].to_numpy(float)).T
    fit = QuantReg(y, np.column_stack([np.ones_like(x), x])).fit(q=0.5)
    return PowerLaw(*map(float, (fit.params[1], *fit.conf_int()[1], np.exp(fit.params[0]))))


def _exponential_with_offset(x: Array, a: float, b: float, rate: float) -> Array:
    """A constant and an exponential that grows; a line in the limit of rate 0."""
    rate = max(abs(rate), 1e-6)
    return a + b * np.expm1(rate * x) / rate


GROWTH_LAWS: dict[str, tuple[Callable[..., Array], tuple[float, ...]]] = {
    "linear": (lambda x, a, b: a + b * x, (0.1, 1.0)),
    "quadratic": (lambda x, a, b, c: a + b * x + c * x**2, (0.1, 0.5, 0.5)),
    "power": (lambda x, a, b: a * x**b, (1.0, 1.0)),
    "exponential": (lambda x, a, b: a * np.exp(b * x), (0.3, 1.0)),
    "exponential with offset": (_exponential_with_offset, (0.1, 0.5, 2.0)),
}


# Of errors of this law in log time: what is minimised, and −2 log likelihood per run at its least.
ERROR_MODELS: dict[str, tuple[Callable[[Array], float], Callable[[float], float]]] = {
    "Laplace": (lambda error: float(np.abs(error).mean()), lambda b: 2 * np.log(2 * b) + 2),
    "normal": (lambda error: float((error**2).mean()), lambda v: np.log(2 * np.pi * v) + 1),
}


def compare_growth_laws(table: pd.DataFrame, by: str, errors: str = "Laplace") -> pd.Series:
    """AIC of rival growth laws, relative to the best; ten or more is strong evidence against.

    Each law is fitted to log time with maximal likelihood, for Laplace errors by least absolute
    deviations, for normal ones by least squares.
    """
    x, y = table[by].to_numpy(float) / table[by].max(), np.log(table.tenth_reward.to_numpy(float))
    scores = {name: _aic(name, errors, x.tobytes(), y.tobytes()) for name in GROWTH_LAWS}
    return pd.Series(scores) - min(scores.values())


@cache
def _aic(name: str, errors: str, x: bytes, y: bytes) -> float:
    """Of one law. Bytes, because the same runs are fitted for several claims, at each threshold."""
    (law, start), (size, surprise), times = (
        GROWTH_LAWS[name],
        ERROR_MODELS[errors],
        np.frombuffer(y),
    )
    cells, cell = np.unique(np.frombuffer(x), return_inverse=True)  # runs of a cell share x
    scale = np.exp(np.median(times))

    def loss(parameters: Array) -> float:
        curve = np.log(scale * np.maximum(law(cells, *parameters), 1e-12))
        return size(times - curve[cell])

    best = min(
        minimize(
            loss,
            np.array(start) * s,
            method="Nelder-Mead",
            options={"maxiter": 4000, "xatol": 1e-6, "fatol": 1e-9},
        ).fun
        for s in (0.1, 0.3, 1.0, 3.0)
    )
    return float(2 * len(start) + len(times) * surprise(best))


def interpretation_medians(table: pd.DataFrame) -> pd.DataFrame:
    """Median learning times of the readings of the text, under names a reader can follow, for each
    λ; a variant of the plain reading is named by what it changes."""
    words = {
        "per_period": "per period",
        "left at 1": "constant left at 1",
        "rescaled": "",
        "uniform": "",
        "prior": "first episode from the prior",
        "left": "ties to the left",
        "right": "ties to the right",
    }
    columns = (
        table[["reading", "norm", "constant", "opening"]]
        .assign(norm="norm " + table.norm)
        .replace(words)
    )
    label = columns.agg(lambda row: ", ".join(filter(None, row)), axis=1).str.removeprefix(
        "stacked, norm HSA, "
    )
    in_order = dict.fromkeys(zip(label, table.lam, strict=True))  # the grid's
    return median_learning_times(table.assign(label=label), ["label", "lam"]).loc[[*in_order]]
