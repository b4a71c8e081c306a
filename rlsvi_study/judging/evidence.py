"""Computer algebra and ball arithmetic as evidence for a step of a proof.

Identities are checked by computer algebra; inequalities over a region by ball arithmetic, or by
algebra where the sign can be read off coefficients; false statements by a counterexample that was
verified. A printed line is judged by what it displays; a reason that does not carry it is named in
what was found.
"""

from collections.abc import Callable, Iterable

import sympy as sp

from rlsvi_core.optimism.balls import Counterexample, Proof

from .algebra import Sides, expressions_equal, judge_identities
from .outcomes import HOLDS, Judgement, judge_unless, misprint_verdict


def judge_misprint(
    printed: Iterable[Sides], meant: Iterable[Sides] = (), true: Iterable[Sides] = ()
) -> Judgement:
    """What is printed may hold. If not, it is a misprint if what is meant holds; where nothing else
    can be meant, what is true instead is part of the finding, and has to hold as well."""
    as_printed, meant = judge_identities(*printed), list(meant)
    others = [*meant, *true]
    if (
        as_printed.verdict == HOLDS
        or not others
        or not all(expressions_equal(*pair) for pair in others)
    ):
        return as_printed
    return Judgement(misprint_verdict(False, bool(meant)), {})


# A step of a proof: whether it holds, sides that are equal, or the judge of a printed line.
Step = Callable[[], bool | Judgement | Iterable[Sides]]


def failed_steps(steps: Iterable[Step]) -> list[str]:
    """The names of the steps of a proof that do not hold."""

    def holds(step: Step) -> bool:
        found = step()
        if isinstance(found, Judgement):
            return found.verdict == HOLDS
        return found if isinstance(found, bool) else all(expressions_equal(*pair) for pair in found)

    return [step.__name__ for step in steps if not holds(step)]


def judge_region(*outcomes: Proof | Counterexample) -> Judgement:
    """What was decided about the parts of a region; the first that fails speaks for all."""
    failed = [one for one in outcomes if isinstance(one, Counterexample)]
    boxes, margins, bits = zip(*outcomes, strict=True)
    outcome = failed[0] if failed else Proof(sum(boxes), min(margins), max(bits))
    return judge_unless(bool(failed), **outcome._asdict())


def has_positive_coefficients(expression: sp.Expr, *variables: sp.Symbol) -> bool:
    """With no negative and some positive coefficient, it is positive for positive arguments."""
    coefficients = sp.Poly(sp.expand(expression), *variables).coeffs()
    return all(c >= 0 for c in coefficients) and any(c > 0 for c in coefficients)


def is_positive_on_unit_interval(expression: sp.Expr, x: sp.Symbol, *variables: sp.Symbol) -> bool:
    """The same for a rational function on 0 < x < 1: with x = 1/(1+t), both x and 1 − x are
    visibly positive."""
    t = sp.Symbol("t", positive=True)
    numerator, denominator = sp.fraction(sp.together(expression.subs(x, 1 / (1 + t))))
    return has_positive_coefficients(numerator, *variables, t) and has_positive_coefficients(
        denominator, t
    )
