"""Appendix G, and Lemma 2 of section 5: every step of the proofs is a claim.

The steps and their checks live in ``optimism``; here is the verdict each is registered with.
"""

from ..register import (
    FAILS,
    HOLDS,
    MISPRINT,
    OURS,
    PARTLY,
    REGISTER,
    Claim,
    Evidence,
)
from . import printed, repaired
from .steps import STEPS, Step

REGISTERED = {  # all others hold
    "conditional-mean-statement": MISPRINT,
    "label-sums": MISPRINT,
    "conditional-mean-display": MISPRINT,
    "gamma-index": MISPRINT,
    "special-line-2": MISPRINT,
    "single-crossing": FAILS,
    "two-crossings-suffice": FAILS,
    "densities-cross-twice": FAILS,
    "h-has-no-root": FAILS,
    "special-stationary-point": FAILS,
    "special-line-5": FAILS,
    "special-line-6": FAILS,
    "special-no-root": FAILS,
    "final-slope-1-line-5": FAILS,
    "final-largest-B": PARTLY,
    "hypotheses": FAILS,
    "marginals-control-the-maximum": FAILS,
}
NOT_IN_THE_PAPER = {name for name, step in STEPS.items()
                    if "repaired" in step.place or "missing" in step.place}


def _register(step: Step) -> None:
    verdict = REGISTERED.get(step.name, HOLDS)

    def judge() -> Evidence:
        finding = step.check()
        amiss = FAILS if verdict == HOLDS else verdict
        return Evidence(HOLDS if finding.holds else amiss, finding.found, finding.numbers)

    section = "5" if step.place.startswith("Section 5") else "G"
    place = {"5": step.place, "G": f"Appendix G, {step.place}"}[section]
    paper = OURS if step.name in NOT_IN_THE_PAPER else step.paper
    id = f"{section}.{step.name}"
    REGISTER[id] = Claim(id, place, step.statement, paper, step.kind, verdict, judge)


for module in (printed, repaired):
    for one in STEPS.values():
        if one.check.__module__ == module.__name__:
            _register(one)
