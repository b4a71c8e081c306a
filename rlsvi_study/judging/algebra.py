"""Computer algebra as evidence that two sides are equal."""

import sympy as sp

from .outcomes import FAILS, HOLDS, Judged

Sides = tuple[sp.Expr, sp.Expr | int]


def same(left: sp.Expr, right: sp.Expr | int) -> bool:
    """Equal as functions of positive symbols; what can't be shown equal counts as different."""
    return sp.simplify(sp.expand_log(sp.expand(left - right), force=True)) == 0


def identity(*pairs: Sides) -> Judged:
    """Every pair agrees; if one does not, the numbers have the difference at a sample point."""
    for left, right in pairs:
        if not same(left, right):
            gap = sp.simplify(left - right)
            at = {s: sp.Rational(k + 2, 7) for k, s in enumerate(sorted(gap.free_symbols, key=str))}
            where = {str(s): float(value) for s, value in at.items()}
            return Judged(FAILS, {"difference": float(abs(gap.subs(at))), "at": where})
    return Judged(HOLDS, {"identities": len(pairs)})
