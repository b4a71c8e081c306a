"""Computer algebra as evidence that two sides are equal."""

import sympy as sp

from .outcomes import FAILS, HOLDS, Judgement

Sides = tuple[sp.Expr, sp.Expr | int]


def expressions_equal(left: sp.Expr, right: sp.Expr | int) -> bool:
    """Equal as functions of positive symbols; what can't be shown equal counts as different."""
    return sp.simplify(sp.expand_log(sp.expand(left - right), force=True)) == 0


def judge_identities(*pairs: Sides) -> Judgement:
    """Every pair agrees; if one does not, the numbers have the difference at a sample point."""
    for left, right in pairs:
        if not expressions_equal(left, right):
            gap = sp.simplify(left - right)
            at = {s: sp.Rational(k + 2, 7) for k, s in enumerate(sorted(gap.free_symbols, key=str))}
            where = {str(s): float(value) for s, value in at.items()}
            return Judgement(FAILS, {"difference": float(abs(gap.subs(at))), "at": where})
    return Judgement(HOLDS, {"identities": len(pairs)})
