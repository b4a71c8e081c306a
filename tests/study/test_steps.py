"""Every step of a proof that is a matter of equal sides can fail: one side changed, it does."""

import inspect

import pytest
from sympy import sympify

from rlsvi_study.conjecture import claims as conjecture
from rlsvi_study.conjecture import costly_road, gambles, toll
from rlsvi_study.judging.algebra import expressions_equal
from rlsvi_study.judging.outcomes import Judgement
from rlsvi_study.lemmas import claims as lemmas
from rlsvi_study.lemmas import printed_lines
from rlsvi_study.regret import claims as regret
from rlsvi_study.regret import lower_bounds, upper_bound

MODULES = (
    conjecture,
    gambles,
    toll,
    costly_road,
    regret,
    upper_bound,
    lower_bounds,
    lemmas,
    printed_lines,
)


def is_a_proof(one):
    """A tuple of functions without arguments."""
    return isinstance(one, tuple) and one and all(inspect.isfunction(step) for step in one)


PROOFS = [one for module in MODULES for one in vars(module).values() if is_a_proof(one)]
STEPS = {
    f"{step.__module__}.{step.__name__}": step
    for proof in PROOFS
    for step in proof
    if inspect.signature(step).return_annotation not in (bool, Judgement)
}


def another(expression):
    """A wrong step: its first term twice, or the square of what has one term."""
    if not expression.free_symbols:
        return expression + 1
    return expression + expression.args[0] if expression.is_Add else expression**2


@pytest.mark.parametrize("name", STEPS)
def test_a_step_with_one_side_changed_does_not_hold(name):
    sides = list(STEPS[name]())
    assert sides
    for left, right in sides:
        assert expressions_equal(left, right)
        assert not expressions_equal(another(sympify(left)), right)
