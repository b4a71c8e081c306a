r"""Proof by ball arithmetic.

A ball :math:`[m \pm r]` contains the number it stands for; arithmetic on balls (``arb`` of FLINT)
rounds outwards, so what holds for the ball is proved for its number. Two tools are built on it.

- A *point* value is computed at doubling precision until enough digits, or its sign, are certain.
- A *region* is proved by branch and bound: evaluate the function on a whole box at once; if the
  ball lies above zero the box is done, otherwise cut it in half. At every box the midpoint is
  tried too, so a false inequality ends in a point where it was seen to fail.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from ..runtime.checks import check_integer, fail, is_finite_number, missing_extra_error

try:
    from flint import arb as arb
    from flint import ctx as ctx
    from flint import fmpq as fmpq
    from flint import fmpq_poly as fmpq_poly
except ModuleNotFoundError:  # samples and floats do without; every way in here says what to install
    arb = ctx = fmpq = fmpq_poly = None

__all__ = ["Counterexample", "Proof", "Undecided", "decide"]

MAX_BITS = 1 << 14
Number: TypeAlias = "int | float | Fraction | fmpq"


class Undecided(ArithmeticError):
    """Neither proved nor refuted within the effort allowed."""


def need_flint() -> None:
    """Raise an error that says what to install if python-flint is missing."""
    if arb is None:
        raise missing_extra_error("a certified number", "python-flint", extra="proofs")


def to_fraction(x: Number) -> Fraction:
    """Return the rational number that a finite float, a fraction or an integer is."""
    if fmpq is not None and isinstance(x, fmpq):
        return Fraction(int(x.p), int(x.q))
    try:
        return Fraction(*(x.item() if hasattr(x, "item") else x).as_integer_ratio())
    except (ValueError, OverflowError):
        fail(f"numbers must be finite; got {x!r}.")


def to_positive_fraction(name: str, x: Number) -> Fraction:
    """Return the rational number that x is, if it is above 0."""
    if not x > 0 or x == math.inf:
        fail(f"{name} must be positive and finite; got {x!r}.")
    return to_fraction(x)


def to_ball_rational(x: Number) -> fmpq:
    """Return the same rational number for ball arithmetic."""
    need_flint()
    return x if isinstance(x, fmpq) else fmpq(*to_fraction(x).as_integer_ratio())


def _raise_precision(
    value: Callable[[], arb], enough: Callable[[arb], bool], what: str, most_bits: int
) -> arb:
    """The value's ball at the first precision that is sufficient."""
    need_flint()
    bits = 64
    while bits <= most_bits:
        with ctx.workprec(bits):
            ball = value()
        if enough(ball):
            return ball
        bits *= 2
    raise Undecided(
        f"{what} was not settled with {most_bits} bits: last ball {ball}. The value "
        f"may be exactly zero."
    )


def to_digits(value: Callable[[], arb], digits: int = 15) -> arb:
    """The value with this many correct digits, at whatever precision that takes."""
    bits = math.ceil(digits * math.log2(10)) + 1
    return _raise_precision(
        value,
        lambda ball: ball.rel_accuracy_bits() >= bits,
        f"a value of {digits} digits",
        MAX_BITS,
    )


def certified_sign(value: Callable[[], arb], most_bits: int = MAX_BITS) -> int:
    """+1 or −1, certified; a value that is exactly zero can't be decided."""
    return 1 if _raise_precision(value, lambda ball: ball != 0, "the sign", most_bits) > 0 else -1


class Proof(NamedTuple):
    """The inequality holds on the whole region, with this much to spare everywhere."""

    boxes: int
    margin: float
    bits: int

    def __str__(self) -> str:
        boxes = "1 box" if self.boxes == 1 else f"{self.boxes} boxes"
        return f"proved on {boxes} at {self.bits} bits, margin at least {self.margin:.2g}"


class Counterexample(NamedTuple):
    """A point of the region where the inequality was seen to fail."""

    point: tuple[float, ...]
    value: float
    bits: int

    def __str__(self) -> str:
        at = ", ".join(f"{x:.4g}" for x in self.point)
        return f"fails at ({at}): the value is {self.value:.3g}, certified at {self.bits} bits"


Box = tuple[tuple[float, float], ...]
Function: TypeAlias = "Callable[..., arb]"


def _interval_ball(low: float, high: float) -> arb:
    return arb(low).union(arb(high))


def decide(
    f: Function,
    box: Sequence[tuple[float, float]],
    *,
    where: Sequence[Function] = (),
    bits: int = 64,
    limit: int = 100_000,
) -> Proof | Counterexample:
    """Is f > 0 at every point of the box where all functions in ``where`` are ≥ 0?

    Parameters
    ----------
    f, where : callable
        Functions that take a ball for each edge of the box and return a ball.
    box : sequence of tuple
        A (low, high) for each edge, floats taken exactly.
    bits : int
        The working precision.
    limit : int
        After so many boxes ``Undecided`` is raised, as it must be when f touches zero inside.

    Returns
    -------
    Proof or Counterexample

    Examples
    --------
    >>> print(decide(lambda x: x * x - x + 1, [(0, 1)]))
    proved on 3 boxes at 64 bits, margin at least 0.12
    """
    need_flint()
    bits = check_integer("bits", bits, 2, MAX_BITS, hint="64 is usual.")
    limit = check_integer("limit", limit, 1, hint="It counts boxes; 100 000 is usual.")
    for edge in box:
        if not (
            isinstance(edge, (list, tuple))
            and len(edge) == 2
            and all(map(is_finite_number, edge))
            and edge[0] < edge[1]
        ):
            fail(f"an edge of a box has finite low < high; got {edge!r}. Map it to a bounded one.")
    waiting: list[tuple[float, Box]] = []
    boxes = 0
    margin = math.inf

    def examine(edges: Box) -> Counterexample | None:
        """Put the box in the queue, the least promising first, unless its midpoint settles it."""
        middle = [arb((low + high) / 2) for low, high in edges]
        value = f(*middle)
        if value < 0 and all(c(*middle) >= 0 for c in where):
            return Counterexample(tuple(float(m) for m in middle), float(value.mid()), bits)
        heapq.heappush(waiting, (float(value.mid()), edges))
        return None

    with ctx.workprec(bits):
        found = examine(tuple(box))
        while waiting and not found:
            if (boxes := boxes + 1) > limit:
                raise Undecided(
                    f"{limit} boxes were not enough; {waiting[0][1]} is still open. "
                    f"The function may touch zero there."
                )
            edges = heapq.heappop(waiting)[1]
            x = [_interval_ball(low, high) for low, high in edges]
            if any(c(*x) < 0 for c in where):
                continue
            if (value := f(*x)) > 0:
                margin = min(margin, math.nextafter(float(value.lower()), -math.inf))
                continue
            i = max(range(len(edges)), key=lambda k: edges[k][1] - edges[k][0])
            low, high = edges[i]
            halves = (low, (low + high) / 2), ((low + high) / 2, high)
            found = next(
                filter(None, (examine((*edges[:i], half, *edges[i + 1 :])) for half in halves)),
                None,
            )
    if not found and margin == math.inf:
        fail(f"some part of the box satisfies all conditions in `where`; {tuple(box)} has none.")
    return found or Proof(boxes, margin, bits)


def sqrt_ball(x: arb) -> arb:
    """√x for x ≥ 0, also where the ball reaches down to zero."""
    return x.sqrt() if x > 0 else arb(x.upper()).sqrt().union(arb(0))


def x_log_x(x: arb) -> arb:
    """x log x for x ≥ 0, enclosed tightly where the ball reaches down to zero."""
    if x > 0:
        return x * x.log()
    if (high := arb(x.upper())) == 0:
        return arb(0)
    if high * arb(1).exp() <= 1:  # decreasing from 0 down to here
        return (high * high.log()).union(arb(0))
    return _interval_ball(-1, 0) * (-arb(1)).exp() + (high * high.log()).max(
        arb(0)
    ) * _interval_ball(0, 1)
