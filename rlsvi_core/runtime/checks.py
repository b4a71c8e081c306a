"""Errors for bad input have one form, *the rule; what was found. A hint.*, and are raised at the
entry points, before any work is done.

A check returns what it was given in the one type that compiled code was made for: an ``int``, a
``float``, our own array of floats, a ``Generator``. So what compiled code is handed has been
checked, and nothing is recompiled for an ``int32`` or a list. Numbers beyond ±1e100 and counts
beyond a billion are refused as infinities are: their squares and sums are.
"""

import math
import warnings
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from .compilation import Array, Floats, Generator

MAX_ABS = 1e100  # of numbers; what is above 0 is at least one over it
MAX_COUNT = 10**9  # of things counted, and of numbers in an array
SHOWN = 400  # characters of an error


def fail(message: str, error: type[Exception] = ValueError) -> NoReturn:
    """Raise an error, cut where a value would fill the screen."""
    line = " ".join(message.split())
    raise error(line if len(line) <= SHOWN else f"{line[:SHOWN]}…")


def warn(message: str) -> None:
    """Warn, in the same form, of something that is probably wrong."""
    warnings.warn(message, stacklevel=3)


def is_finite_number(value: Any) -> bool:
    """Whether it is a finite one, as a float: in its own precision 1e100 may be infinite."""
    if isinstance(value, (np.integer, np.floating)):
        value = float(value)
    return isinstance(value, (int, float)) and -MAX_ABS <= value <= MAX_ABS


def check_integer(
    name: str, value: Any, least: int = 0, most: int = MAX_COUNT, *, hint: str = ""
) -> int:
    """A whole number within its range."""
    if not isinstance(value, (int, np.integer)) or not least <= value <= most:
        fail(f"{name} must be a whole number from {least} to {most}; it is {value!r}. {hint}")
    return int(value)


def check_positive(**parameters: Any) -> None:
    """λ and σ divide something in every formula: refuse zero, negative and non-finite values."""
    for name, value in parameters.items():
        if not (is_finite_number(value) and float(value) >= 1 / MAX_ABS):
            fail(f"{name} must be a finite number above 0; it is {value!r}. For none pass 0.001.")


def check_open_interval(name: str, value: Any, low: float, high: float, *, hint: str = "") -> float:
    """A number with low < value < high, such as a rate."""
    if not (is_finite_number(value) and low < float(value) < high):
        fail(f"{name} must lie strictly between {low:g} and {high:g}; it is {value!r}. {hint}")
    return float(value)


def check_range(name: str, value: Any, low: float, high: float, *, hint: str = "") -> float:
    """A number with low ≤ value ≤ high; an infinite bound is not reached."""
    if not (is_finite_number(value) and low <= float(value) <= high):
        fail(f"{name} must be a finite number from {low:g} to {high:g}; it is {value!r}. {hint}")
    return float(value)


def check_finite(name: str, value: Any) -> float:
    """A finite number. Agents call it in every step."""
    return check_range(
        name, value, -MAX_ABS, MAX_ABS, hint="Clip or drop it before the agent sees it."
    )


def check_bounds(name: str, value: Any, *, hint: str = "") -> tuple[float, float]:
    """Two numbers (low, high) with low < high."""
    try:
        low, high = as_float_array(name, value).tolist()
    except (TypeError, ValueError):
        low = high = math.nan
    if not -MAX_ABS <= low < high <= MAX_ABS:
        fail(f"{name} must be (low, high) with low < high; it is {value!r}. {hint}")
    return low, high


def check_boolean(**parameters: Any) -> None:
    """True or False, and no word that Python takes for True."""
    for name, value in parameters.items():
        check_one_of(name, value, (True, False))


def check_one_of(name: str, value: Any, valid: Iterable[Any], *, hint: str = "") -> None:
    valid = list(valid)
    if value not in valid:
        fail(f"{name} must be one of {', '.join(map(repr, valid))}; it is {value!r}. {hint}")


def check_instance(name: str, value: Any, kind: type, *, hint: str = "") -> None:
    if not isinstance(value, kind):
        fail(f"{name} must be a {kind.__name__}; it is {value!r}. {hint}")


def check_index(name: str, value: Any, size: int) -> int:
    """One of 0, …, size − 1. Agents call it in every step."""
    if not isinstance(value, (int, np.integer)) or not 0 <= value < size:
        fail(f"{name} must be one of 0, …, {size - 1}; it is {value!r}.", IndexError)
    return int(value)


def as_generator(rng: Any) -> Generator:
    """The generator itself, or the one that a seed starts."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        fail(f"rng must be a numpy Generator or a seed ≥ 0; it is {rng!r}.", TypeError)


def as_float_array(name: str, values: Any) -> Floats:
    """Our own array of floats, of any shape."""
    if np.ma.is_masked(values):
        fail(f"{name} must have no masked entries; it is {values!r}. Fill them.")
    try:
        given = np.asarray(values)
        if given.dtype.kind in "biufO":  # neither words nor complex numbers
            return np.array(given, float, order="C")
    except (TypeError, ValueError, OverflowError):
        pass
    fail(f"{name} must be an array of numbers, its rows of equal length; it is {values!r}.")


def check_array(
    name: str, values: Any, shape: tuple[int | str | None, ...], *, hint: str = ""
) -> Floats:
    """A finite float array of this shape, our own: later edits of the original cannot reach it.

    An axis may be any length but 0 if it is None, or a letter; the same letter is the same length.
    """
    out = as_float_array(name, values)
    named = dict(zip(shape, out.shape, strict=False))
    if out.ndim != len(shape) or not all(
        n == want if isinstance(want, int) else n > 0 and (want is None or n == named[want])
        for n, want in zip(out.shape, shape, strict=True)
    ):
        axes = ", ".join("any" if axis is None else str(axis) for axis in shape)
        fail(f"{name} must have shape ({axes}); it has shape {out.shape}. {hint}")
    reject_entries(~(np.abs(out) <= MAX_ABS), f"{name} must be finite", name, out)
    return out


def reject_entries(bad: Array, rule: str, name: str, values: Array) -> None:
    """Refuse an array by the first of its entries that is bad."""
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        fail(f"{rule}; {name}{list(where)} is {values[where]:g}.")


def warn_feature_norm(rows: Array) -> None:
    """Warn of features whose norm is far from 1, on which a λ of the range of values rests."""
    norm = float(np.sqrt((np.asarray(rows) ** 2).sum(axis=-1).max()))
    if not 0.1 <= norm <= 10:
        warn(f"lam is suggested for features of norm 1; a row has norm {norm:.3g}. Scale them.")


def check_probabilities(name: str, p: Floats) -> Floats:
    """Rows of probabilities, along the last axis. Rows that sum to 1 in single precision only are
    normalised."""
    reject_entries(p < 0, f"{name} holds probabilities, which are not negative", name, p)
    total = p.sum(axis=-1, keepdims=True)
    off = np.abs(total - 1)
    reject_entries(off > 1e-6, f"each row of {name} must sum to 1", f"the sum of {name}", total)
    return np.where(off > 1e-9, p / total, p) if off.max() > 1e-9 else p


def policy_probabilities(policy: Any, shape: tuple[int, ...]) -> Floats:
    """A policy, given as probabilities of this shape or as actions without its last axis."""
    mu = np.asarray(policy)
    A = shape[-1]
    if mu.dtype.kind in "iu" and mu.shape == shape[:-1]:
        reject_entries((mu < 0) | (mu >= A), f"actions are 0, …, {A - 1}", "policy", mu)
        return np.asarray(np.eye(A)[mu])
    hint = f"Or pass actions, a whole number for each entry of an array of shape {shape[:-1]}."
    return check_probabilities("policy", check_array("policy", mu, shape, hint=hint))


def as_read_only(values: Array) -> Array:
    """The same array, not to be written into, because what was computed from it would not follow."""
    view = values.view()
    view.flags.writeable = False
    return view


def set_frozen_fields(record: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass to what its ``__post_init__`` has checked or computed."""
    for name, value in values.items():
        value = as_read_only(value) if isinstance(value, np.ndarray) else value
        object.__setattr__(record, name, value)


def missing_extra_error(user: str, package: str, extra: str) -> ModuleNotFoundError:
    """The error for a package that an extra would have installed."""
    return ModuleNotFoundError(
        f"{user} needs {package}; it is not installed. Try: pip install 'rlsvi-core[{extra}]'."
    )
