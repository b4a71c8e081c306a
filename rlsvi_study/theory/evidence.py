"""Computer algebra and ball arithmetic as evidence for a step of a proof.

Identities are checked by computer algebra; inequalities over a region by ball arithmetic, or by
algebra where the sign can be read off coefficients; false statements by a counterexample that was
verified. A printed line is judged by what it displays; a reason that does not carry it is named in
what was found.
"""

from collections.abc import Callable, Iterable

import sympy as sp

from rlsvi_core.optimism.balls import Counterexample, Proof

from ..algebra import Sides, identity, same
from ..register import (
    DEPENDS,
    FAILS,
    HOLDS,
    MISPRINT,
    OURS,
    Evidence,
    enter,
    lines_of,
    slip,
    unless,
)

LEMMA_1, LEMMA_5, LEMMA_6 = "G.gauss-dirichlet", "G.conditional-mean", "G.single-crossing"


def instead(
    printed: Iterable[Sides], meant: Iterable[Sides], true: Iterable[Sides], found: str
) -> Evidence:
    """What is printed may hold. If not, it is a misprint if what is meant holds; where nothing else
    can be meant, what is true instead is part of the finding."""
    as_printed, meant, true = identity(*printed), list(meant), list(true)
    if as_printed.verdict == HOLDS or not all(same(*pair) for pair in (*meant, *true)):
        return as_printed
    return Evidence(slip(False, bool(meant)), found, {})


def step(
    name: str,
    place: str,
    paper: str,
    statement: str,
    sides: Callable[[], Iterable[Sides]],
    found: str = "As printed.",
    verdict: str = HOLDS,
    *,
    meant: Callable[[], Iterable[Sides]] = tuple,
    true: Callable[[], Iterable[Sides]] = tuple,
    part_of: str = LEMMA_6,
) -> None:
    """Register a line of appendix G that is a matter of equal sides: those that are printed; if
    these are not equal, those that are meant, or else those that are true instead."""
    enter(
        f"G.{name}",
        f"Appendix G, {place}",
        paper,
        "symbolic",
        verdict,
        statement,
        lambda: (
            instead(sides(), meant(), true(), found)
            if (*meant(), *true())
            else identity(*sides(), found=found)
        ),
        part_of=part_of,
    )


def shown(good: bool, found: str) -> Evidence:
    """What algebra could show, if anything."""
    return unless(not good, found if good else "It could not be shown.")


def region(
    *outcomes: Proof | Counterexample, proved: str = "", refuted: str = "", at: str = ""
) -> Evidence:
    """What was decided about the parts of a region; the first that fails speaks for all, and ``at``
    names the coordinates of where."""
    failed = [one for one in outcomes if isinstance(one, Counterexample)]
    boxes, margins, bits = zip(*outcomes, strict=True)
    outcome = failed[0] if failed else Proof(sum(boxes), min(margins), max(bits))
    text = str(outcome).replace("fails at", f"fails at ({at}) =" if at else "fails at")
    return unless(
        bool(failed),
        f"{text[0].upper()}{text[1:]}.{refuted if failed else proved}",
        **outcome._asdict(),
    )


def positive_coefficients(expression: sp.Expr, *variables: sp.Symbol) -> bool:
    """With no negative and some positive coefficient, it is positive for positive arguments."""
    coefficients = sp.Poly(sp.expand(expression), *variables).coeffs()
    return all(c >= 0 for c in coefficients) and any(c > 0 for c in coefficients)


def positive_inside(expression: sp.Expr, x: sp.Symbol, *variables: sp.Symbol) -> bool:
    """The same for a rational function on 0 < x < 1: with x = 1/(1+t), both x and 1 − x are
    visibly positive."""
    t = sp.Symbol("t", positive=True)
    numerator, denominator = sp.fraction(sp.together(expression.subs(x, 1 / (1 + t))))
    return positive_coefficients(numerator, *variables, t) and positive_coefficients(denominator, t)


def each_is(right: int, counts: list[int]) -> Evidence:
    """So many crossings at every point of a grid, each count certified."""
    exceptions = sum(count != right for count in counts)
    return unless(
        exceptions > 0,
        f"{len(counts)} points, {exceptions} exceptions.",
        points=len(counts),
        digits=12,
    )


def printed_lines(*claims: str) -> dict[str, int]:
    """How many printed lines of these claims' proofs have each verdict, as registered."""
    found = [one.verdict for id in claims for one in lines_of(id).values() if one.paper != OURS]
    return {verdict: found.count(verdict) for verdict in (HOLDS, DEPENDS, MISPRINT, FAILS)}


def in_words(lines: dict[str, int]) -> str:
    """The same as a sentence.

    >>> in_words({"holds": 3, "holds in part": 0, "misprint": 1, "does not hold": 2})
    '3 of 6 printed lines hold, 1 is a misprint, 2 do not hold.'
    """
    n = sum(lines.values())
    words = {
        DEPENDS: ("holds in part", "hold in part"),
        FAILS: ("does not hold", "do not hold"),
        MISPRINT: ("is a misprint", "are misprints"),
    }
    others = (
        f"{k} {words[verdict][k > 1]}" for verdict, k in lines.items() if k and verdict != HOLDS
    )
    return (
        ", ".join((f"{lines[HOLDS]} of {n} printed lines hold{'s' * (lines[HOLDS] == 1)}", *others))
        + "."
    )
