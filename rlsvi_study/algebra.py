"""Computer algebra as evidence that two sides are equal."""

import sympy as sp

from .register import FAILS, HOLDS, Evidence

Sides = tuple[sp.Expr, sp.Expr | int]


def same(left: sp.Expr, right: sp.Expr | int) -> bool:
    """Equal as functions of positive symbols; what can't be shown equal counts as different."""
    return sp.simplify(sp.expand_log(sp.expand(left - right), force=True)) == 0


def identity(*pairs: Sides, found: str = "As printed.") -> Evidence:
    """Every pair agrees; if one does not, the evidence has the difference at a sample point."""
    for left, right in pairs:
        if not same(left, right):
            gap = sp.simplify(left - right)
            at = {s: sp.Rational(k + 2, 7) for k, s in enumerate(sorted(gap.free_symbols, key=str))}
            where = ", ".join(f"{s} = {v}" for s, v in at.items())
            value = float(abs(gap.subs(at)))
            return Evidence(
                FAILS, f"The two sides differ by {value:.3g} at {where}.", {"difference": value}
            )
    return Evidence(HOLDS, found, {"identities": len(pairs)})
