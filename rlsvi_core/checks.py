"""Errors for bad input have one form, *the rule; the offending value. The hint.*, and are raised
before any work is done and before compiled code is called.

A check returns what it was given in the one type that compiled code was made for: an ``int``, a
``float``, our own array of floats, a ``Generator``. So what compiled code is handed has been
checked, and nothing is recompiled for an ``int32`` or a list. Numbers beyond ±1e100 and counts
beyond a billion are refused as infinities are: their squares and sums are.
"""

import difflib
import functools
import inspect
import math
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from .compiled import Array, Floats, Generator

LARGEST = 1e100  # of numbers; what is above 0 is at least one over it
MOST = 10**9  # of things counted, and of numbers in an array
SHOWN = 160  # characters of an offending value

Given = ParamSpec("Given")
Result = TypeVar("Result")


def fail(rule: str, found: str, hint: str, error: type[Exception] = ValueError) -> NoReturn:
    found = " ".join(found.split())
    raise error(f"{rule}; {found if len(found) <= SHOWN else found[:SHOWN] + '…'}. {hint}")


def warn(rule: str, found: str, hint: str) -> None:
    """Warn, in the same form and at the user's line, of something that is probably wrong."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("rlsvi_"):  # ours
        frame, level = frame.f_back, level + 1
    warnings.warn(f"{rule}; {found}. {hint}", stacklevel=level)


def options(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Let a function refuse, in the same form, options that it does not have."""
    parameters = inspect.signature(function).parameters
    known = [name for name in parameters if name != "self"]
    inner = {  # options in a group of their own, such as Reading
        field.name: f"Pass {group}={type(parameter.default).__name__}({field.name}=…)."
        for group, parameter in parameters.items()
        if is_dataclass(parameter.default)
        for field in fields(parameter.default)
    }
    door = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        for name, value in kwargs.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, 1, 0.7)
                hint = f"Did you mean {near[0]}?" if near else f"It has {', '.join(known)}."
                fail(
                    f"{door} has no option {name}",
                    f"it was given {name}={shown(value)}",
                    inner.get(name, hint),
                    TypeError,
                )
        return function(*args, **kwargs)

    return checked


def shown(value: Any) -> str:
    """A value in an error, if it can be written at all: a whole number of 5000 digits cannot."""
    try:
        return repr(value)
    except Exception:  # whatever its class does
        return f"of type {type(value).__name__} and cannot be written"


def is_number(value: Any) -> bool:
    """Whether it is a finite one, as a float: in its own precision 1e100 may be infinite. It is
    asked in every step, mostly about a float."""
    if type(value) is float:
        return -LARGEST <= value <= LARGEST
    try:
        return (
            isinstance(value, (int, float, np.integer, np.floating))
            and abs(float(value)) <= LARGEST
        )
    except OverflowError:
        return False


def whole(name: str, value: Any, least: int = 0, most: int | None = None, *, hint: str) -> int:
    """A whole number within its range."""
    if not (
        isinstance(value, (int, np.integer))
        and not isinstance(value, bool)
        and least <= value <= (MOST if most is None else most)
    ):
        bounded = most is not None or (isinstance(value, (int, np.integer)) and value > MOST)
        upper = f" and at most {MOST if most is None else most}" if bounded else ""
        fail(
            f"{name} must be a whole number of at least {least}{upper}",
            f"it is {shown(value)}",
            hint,
        )
    return int(value)


def array_size(name: str, *sizes: int) -> None:
    """Refuse an array of more numbers than fit into memory."""
    if (total := math.prod(sizes)) > MOST:
        fail(
            f"an array holds at most {MOST} numbers",
            f"for {name} it would be {' × '.join(map(str, sizes))} = {total}",
            "Choose smaller sizes.",
        )


def positive(**parameters: Any) -> None:
    """λ and σ divide something in every formula: refuse zero, negative and non-finite values."""
    for name, value in parameters.items():
        if not (is_number(value) and float(value) >= 1 / LARGEST):
            fail(
                f"{name} must be a finite number above 0",
                f"it is {shown(value)}",
                "For a nearly "
                f"flat prior or nearly noiseless data use a small value, such as {name}=0.001.",
            )


def inside(name: str, value: Any, low: float, high: float, *, hint: str) -> float:
    """A number with low < value < high, such as a rate."""
    if not (is_number(value) and low < float(value) < high):
        fail(
            f"{name} must lie strictly between {low:g} and {high:g}", f"it is {shown(value)}", hint
        )
    return float(value)


def between(name: str, value: Any, low: float, high: float, *, hint: str) -> float:
    """A number with low ≤ value ≤ high; an infinite bound is not reached."""
    if not (is_number(value) and low <= float(value) <= high):
        upper = f"from {low:g} to {high:g}" if math.isfinite(high) else f"of at least {low:g}"
        fail(f"{name} must be a finite number {upper}", f"it is {shown(value)}", hint)
    return float(value)


def finite(name: str, value: Any) -> float:
    """A finite number. Agents call it in every step."""
    if not is_number(value):
        fail(
            f"{name} must be a finite number",
            f"it is {shown(value)}",
            "Clip or drop it before the agent sees it."
            if isinstance(value, (int, float, np.number))
            else "Pass a plain number; float() makes one of an array with one entry.",
        )
    return float(value)


def pair(name: str, value: Any, *, hint: str) -> tuple[float, float]:
    """Two numbers (low, high) with low < high."""
    if not (
        isinstance(value, (tuple, list, np.ndarray))
        and getattr(value, "ndim", 1) == 1
        and len(value) == 2
        and all(map(is_number, value))
        and float(value[0]) < float(value[1])
    ):
        fail(f"{name} must be (low, high) with low < high", f"it is {shown(value)}", hint)
    return float(value[0]), float(value[1])


def flag(name: str, value: Any) -> bool:
    """Require a bool."""
    if not isinstance(value, (bool, np.bool_)):
        fail(f"{name} must be True or False", f"it is {shown(value)}", "Say which.")
    return bool(value)


def one_of(name: str, value: Any, valid: Iterable[Any], *, hint: str) -> None:
    valid = list(valid)
    if isinstance(value, np.ndarray) or value not in valid:
        fail(f"{name} must be one of {', '.join(map(repr, valid))}", f"it is {shown(value)}", hint)


def instance(name: str, value: Any, kind: type, *, hint: str) -> None:
    if not isinstance(value, kind):
        fail(f"{name} must be a {kind.__name__}", f"it is {shown(value)}", hint)


def has_methods(name: str, value: Any, *methods: str, hint: str) -> None:
    """Refuse a thing that lacks one of these methods."""
    for method in methods:
        if isinstance(value, type) or not callable(getattr(value, method, None)):
            fail(
                f"{name} must have the methods {', '.join(methods)}",
                f"{shown(value)} has no {method}",
                hint,
            )


def index(name: str, value: Any, size: int) -> int:
    """One of 0, …, size − 1. Agents call it in every step."""
    if type(value) is int and 0 <= value < size:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < size:
        fail(
            f"{name} must be one of 0, …, {size - 1}",
            f"it is {shown(value)}",
            "Count from zero, and see that agent and environment have the same size."
            if isinstance(value, (int, np.integer))
            else "Pass a whole number; int() makes one of an array with one entry.",
            IndexError,
        )
    return int(value)


def generator(rng: Any) -> Generator:
    """The generator itself, or the one that a seed starts."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        fail(
            "rng must be a numpy Generator or a seed, a whole number of at least 0",
            f"it is {shown(rng)}",
            "Pass rng=1, say, or numpy.random.default_rng(1).",
            TypeError,
        )


def drawn_from(rng: Any) -> None:
    """A step of an environment needs the generator itself: a seed would restart it each time."""
    if not isinstance(rng, np.random.Generator):
        fail(
            "rng must be a numpy Generator",
            f"it is {shown(rng)}",
            "Make one for all steps: numpy.random.default_rng(1).",
            TypeError,
        )


def as_given(values: Any) -> Array:
    """Convert to an array. Rows of unequal length and masked arrays become a string, which every
    later check refuses."""
    try:
        if np.ma.is_masked(values):
            return np.array("")
        return np.asarray(values)
    except ValueError:
        return np.array("")


def numbers(name: str, values: Any) -> Floats:
    """Our own array of floats, of any shape."""
    if type(values) is np.ndarray and values.dtype.kind in "fiub" and values.dtype.itemsize <= 8:
        return np.array(values, float, order="C")
    if np.ma.is_masked(values):
        fail(
            f"{name} must have all its entries",
            "some are masked",
            "Fill them in, or leave them out, before.",
        )
    try:
        given = np.asarray(values)
        if given.dtype.kind == "c":
            fail(f"{name} must be real", "it is complex", "Pass its real part, if that is meant.")
        nothing = given.dtype.kind == "O" and any(x is None for x in given.flat)
        with np.errstate(over="ignore"):  # of other precision, it may be infinite as a float
            out = (
                None
                if nothing or given.dtype.kind not in "biufO"
                else np.array(given, float, order="C")
            )
    except (TypeError, ValueError, OverflowError):
        out = None
    if out is None:
        fail(
            f"{name} must be an array of numbers",
            f"it is {shown(values)}",
            "Pass a list or an array of them, with rows of equal length.",
        )
    return out


def array(
    name: str,
    values: Any,
    shape: tuple[int | str | None, ...],
    *,
    hint: str = "See the docstring for the axes.",
) -> Floats:
    """A finite float array of this shape, our own: later edits of the original cannot reach it.

    An axis may be any length but 0 if it is None, or a letter; the same letter is the same length.
    """
    out = numbers(name, values)
    named = dict(zip(shape, out.shape, strict=False))
    if out.ndim != len(shape) or not all(
        n == want if isinstance(want, int) else n > 0 and (want is None or n == named[want])
        for n, want in zip(out.shape, shape, strict=True)
    ):
        axes = ", ".join("any" if axis is None else str(axis) for axis in shape)
        axes += "," if len(shape) == 1 else ""
        fail(
            f"{name} must have shape ({axes})",
            f"it has shape {out.shape}",
            hint,
        )
    none_of(
        ~(np.abs(out) <= LARGEST),
        f"{name} must be finite",
        name,
        out,
        "Replace NaN and infinite entries.",
    )
    return out


def none_of(bad: Array, rule: str, name: str, values: Array, hint: str) -> None:
    """Refuse an array by the first of its entries that is bad."""
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        fail(rule, f"{name}{list(where)} is {values[where]:g}", hint)


def mention_norm(rows: Array) -> None:
    """Warn of features whose norm is far from 1, on which a λ of the range of values rests."""
    norm = float(np.sqrt((np.asarray(rows) ** 2).sum(axis=-1).max()))
    if not 0.1 <= norm <= 10:
        warn(
            "lam is suggested for features of norm 1",
            f"the largest row here has norm {norm:.3g}",
            "Scale the features, or pass lam=suggest_parameters(value_range, norm)[0].",
        )


def distribution(name: str, p: Array) -> None:
    """Rows of probabilities, along the last axis."""
    none_of(
        p < 0, f"{name} holds probabilities, which are not negative", name, p, "Check the sign."
    )
    total = np.atleast_1d(p.sum(axis=-1))
    if (bad := np.argwhere(np.abs(total - 1) > 1e-9)).size:
        row = bad[0].tolist() if p.ndim > 1 else ""
        fail(
            f"each row of {name} must sum to 1",
            f"{name}{row} sums to {total[tuple(bad[0])]:.12g}",
            "Normalise the last axis.",
        )


def as_probabilities(policy: Any, shape: tuple[int, ...]) -> Floats:
    """A policy, given as probabilities of this shape or as actions without its last axis."""
    given, A = numbers("policy", policy), shape[-1]
    if given.ndim == len(shape) - 1:
        mu = np.asarray(policy)
        if mu.shape != shape[:-1] or not np.issubdtype(mu.dtype, np.integer):
            fail(
                f"a deterministic policy is an integer array of shape {shape[:-1]}",
                f"got {mu.dtype} of shape {mu.shape}",
                "See the docstring for the axes.",
            )
        none_of(
            (mu < 0) | (mu >= A),
            f"actions are 0, …, {A - 1}",
            "policy",
            mu,
            "Number actions from zero.",
        )
        given = np.eye(A)[mu]
    mu = array("policy", given, shape)
    distribution("policy", mu)
    return mu


def read_only(values: Array) -> Array:
    """The same array, not to be written into, because what was computed from it would not follow."""
    view = values.view()
    view.flags.writeable = False
    return view


def set_fields(record: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass to what its ``__post_init__`` has checked or computed."""
    for name, value in values.items():
        value = read_only(value) if isinstance(value, np.ndarray) else value
        object.__setattr__(record, name, value)


class Frozen:
    """A frozen dataclass whose arrays are read-only in copies too, which numpy makes writable."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        set_fields(self, **state)


def missing(user: str, package: str, extra: str) -> ModuleNotFoundError:
    """The error for a package that an extra would have installed."""
    return ModuleNotFoundError(
        f"{user} needs {package}; it is not installed. Try: pip install 'rlsvi-core[{extra}]'."
    )
