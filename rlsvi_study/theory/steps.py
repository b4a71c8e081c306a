"""What a checked proof step is: a statement, a way of checking it, and what the check found.

Identities are checked by computer algebra; inequalities over a region by ball arithmetic, or by
algebra where the sign can be read off coefficients; false statements by a counterexample that was
verified.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import sympy as sp

from rlsvi_core.optimism.balls import Counterexample, Proof


class Finding(NamedTuple):
    holds: bool
    found: str
    numbers: dict[str, Any]


class Step(NamedTuple):
    name: str
    place: str
    paper: str
    kind: str
    statement: str
    check: Callable[[], Finding]


STEPS: dict[str, Step] = {}


def step(place: str, paper: str, kind: str):
    """Register a check under its function's name."""

    def register(check: Callable[[], Finding]):
        name = check.__name__.replace("_", "-")
        STEPS[name] = Step(name, place, paper, kind, " ".join(check.__doc__.split()), check)
        return check

    return register


def same(left: sp.Expr, right: sp.Expr) -> bool:
    """Equal as functions of positive symbols; what can't be shown equal counts as different."""
    return sp.simplify(sp.expand_log(sp.expand(left - right), force=True)) == 0


def identity(*pairs: tuple[sp.Expr, sp.Expr], found: str) -> Finding:
    """Every pair agrees. If one does not, say by how much at a sample point."""
    for left, right in pairs:
        if not same(left, right):
            gap = sp.simplify(left - right)
            at = {s: sp.Rational(k + 2, 7) for k, s in enumerate(sorted(gap.free_symbols, key=str))}
            where = ", ".join(f"{s} = {v}" for s, v in at.items())
            value = float(abs(gap.subs(at)))
            return Finding(False, f"The two sides differ by {value:.3g} at {where}.",
                           {"difference": value})
    return Finding(True, found, {"identities": len(pairs)})


def region(outcome: Proof | Counterexample, *, proved: str = "", refuted: str = "") -> Finding:
    """What was decided about a region, and what to add in either case."""
    holds, text = isinstance(outcome, Proof), str(outcome)
    return Finding(holds, f"{text[0].upper()}{text[1:]}.{proved if holds else refuted}",
                   outcome._asdict())


def all_regions(*outcomes: Proof | Counterexample) -> Finding:
    """Several regions together; the first that fails speaks for all."""
    for outcome in outcomes:
        if isinstance(outcome, Counterexample):
            return region(outcome)
    together = Proof(sum(o.boxes for o in outcomes), min(o.margin for o in outcomes),
                     max(o.bits for o in outcomes))
    return region(together)


def positive_coefficients(expression: sp.Expr, *variables: sp.Symbol) -> bool:
    """A polynomial with no negative and some positive coefficient is positive for positive
    arguments."""
    coefficients = sp.Poly(sp.expand(expression), *variables).coeffs()
    return all(c >= 0 for c in coefficients) and any(c > 0 for c in coefficients)
