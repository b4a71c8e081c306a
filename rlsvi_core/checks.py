"""Bad input is answered in one form, *the rule; the offending value. The mend.*, before any work
is done and before compiled code sees it."""

import math
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from .compiled import Array, Floats


def fail(rule: str, found: str, mend: str, error: type[Exception] = ValueError) -> NoReturn:
    raise error(f"{rule}; {found}. {mend}")


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and math.isfinite(value)


def whole(name: str, value: Any, least: int = 0, most: int | None = None, *, mend: str) -> int:
    """A whole number within its range."""
    if not (isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            and least <= value and (most is None or value <= most)):
        upper = "" if most is None else f" and at most {most}"
        fail(f"{name} must be a whole number of at least {least}{upper}", f"it is {value!r}", mend)
    return int(value)


def positive(**parameters: Any) -> None:
    """λ and σ divide something in every formula: refuse zero, negative and non-finite values."""
    for name, value in parameters.items():
        if not (is_number(value) and value > 0):
            fail(f"{name} must be a finite number above 0", f"it is {value!r}", "For a nearly flat "
                 f"prior or nearly noiseless data use a small value, such as {name}=1e-6.")


def between(name: str, value: Any, low: float, high: float, *, mend: str) -> float:
    """A number with low ≤ value ≤ high; an infinite bound is not reached."""
    if not (is_number(value) and low <= value <= high):
        upper = f"from {low:g} to {high:g}" if math.isfinite(high) else f"of at least {low:g}"
        fail(f"{name} must be a finite number {upper}", f"it is {value!r}", mend)
    return float(value)


def finite(**given: Any) -> None:
    for name, value in given.items():
        if not is_number(value):
            fail(f"{name} must be a finite number", f"it is {value!r}",
                 "Clip or drop it before the agent sees it.")


def one_of(name: str, value: Any, valid: Iterable[Any], *, mend: str) -> None:
    valid = list(valid)
    if value not in valid:
        fail(f"{name} must be one of {', '.join(map(repr, valid))}", f"it is {value!r}", mend)


def indices(**given: tuple[Any, int]) -> None:
    """Each (value, size): the value must be one of 0, …, size − 1."""
    for name, (value, size) in given.items():
        if not ((type(value) is int or isinstance(value, np.integer)) and 0 <= value < size):
            fail(f"{name} must be one of 0, …, {size - 1}", f"it is {value!r}", "Count from zero, "
                 "and see that agent and environment have the same size.", IndexError)


def array(name: str, values: Any, shape: tuple[int | str | None, ...], *,
          mend: str = "See the docstring for the axes.") -> Floats:
    """A finite float array of this shape, our own: later edits of the original cannot reach it.

    An axis may be any length but 0 if it is None, or a letter; the same letter is the same length.
    """
    if np.iscomplexobj(values):
        fail(f"{name} must be real", "it is complex", "Pass its real part, if that is meant.")
    out = np.array(values, dtype=float, order="C")
    named = dict(zip(shape, out.shape, strict=False))
    if out.ndim != len(shape) or not all(
            n == want if isinstance(want, int) else n > 0 and (want is None or n == named[want])
            for n, want in zip(out.shape, shape, strict=True)):
        axes = ", ".join("any" if axis is None else str(axis) for axis in shape)
        fail(f"{name} must have shape ({axes}{',' * (len(shape) == 1)})",
             f"it has shape {out.shape}", mend)
    none_of(~np.isfinite(out), f"{name} must be finite", name, out,
            "Replace NaN and infinite entries.")
    return out


def none_of(bad: Array, rule: str, name: str, values: Array, mend: str) -> None:
    """Refuse an array by the first of its entries that is bad."""
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        fail(rule, f"{name}{list(where)} is {values[where]:g}", mend)


def distribution(name: str, p: Array) -> None:
    """Rows of probabilities, along the last axis."""
    none_of(p < 0, f"{name} holds probabilities, which are not negative", name, p,
            "Check the sign.")
    total = np.atleast_1d(p.sum(axis=-1))
    if (bad := np.argwhere(np.abs(total - 1) > 1e-9)).size:
        row = bad[0].tolist() if p.ndim > 1 else ""
        fail(f"each row of {name} must sum to 1",
             f"{name}{row} sums to {total[tuple(bad[0])]:.12g}", "Normalise the last axis.")


def as_probabilities(policy: Any, shape: tuple[int, ...]) -> Floats:
    """A policy, given as probabilities of this shape or as actions without its last axis."""
    mu, A = np.asarray(policy), shape[-1]
    if mu.ndim == len(shape) - 1:
        if mu.shape != shape[:-1] or not np.issubdtype(mu.dtype, np.integer):
            fail(f"a deterministic policy is an integer array of shape {shape[:-1]}",
                 f"got {mu.dtype} of shape {mu.shape}", "See the docstring for the axes.")
        none_of((mu < 0) | (mu >= A), f"actions are 0, …, {A - 1}", "policy", mu,
                "Number actions from zero.")
        mu = np.eye(A)[mu]
    mu = array("policy", mu, shape)
    distribution("policy", mu)
    return mu


def missing(user: str, package: str, extra: str) -> ModuleNotFoundError:
    """The error for a package that an extra would have installed."""
    return ModuleNotFoundError(f"{user} needs {package}; it is not installed. "
                               f"Try: pip install 'rlsvi-core[{extra}]'.")
