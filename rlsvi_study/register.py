"""The register: every checkable statement of the paper, how it is checked, and the verdict.

A claim is a function whose docstring is the statement in our words; it returns what was found. The
verdict it should reach is registered beside it, and ``rlsvi check`` fails when the two differ.

Kinds of check: ``exact`` (closed form, dynamic programming or enumeration, to rounding),
``symbolic`` (computer algebra), ``certified`` (ball arithmetic: a proof), ``Monte Carlo`` (stated
error rate), ``experiment`` (computed from a stored table), ``reading`` (the text itself is at
issue) and ``none``.

A few entries are ours: statements the paper needs and does not make. They are judged like the
others and left out of the tally.
"""
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

HOLDS = "holds"
PARTLY = "holds in part"
FAILS = "does not hold"
MISPRINT = "misprint"
OPEN = "can't be checked here"
KINDS = ("exact", "symbolic", "certified", "Monte Carlo", "experiment", "reading", "none")
OURS = "not in the paper"
VERDICTS = (HOLDS, PARTLY, FAILS, MISPRINT, OPEN)


class Evidence(NamedTuple):
    verdict: str
    found: str  # one sentence, numbers to three digits
    numbers: dict[str, Any]


@dataclass(frozen=True)
class Claim:
    id: str
    place: str
    statement: str
    paper: str  # the paper's own number or formula
    kind: str
    verdict: str  # as registered
    judge: Callable[[], Evidence]


REGISTER: dict[str, Claim] = {}


def claim(id: str, place: str, *, paper: str, kind: str, verdict: str):
    """Register a check. Its docstring is the statement."""

    def register(judge: Callable[[], Evidence]):
        statement = " ".join(judge.__doc__.split())
        REGISTER[id] = Claim(id, place, statement, paper, kind, verdict, judge)
        return judge

    return register


def unless(wrong: bool, found: str, verdict: str = HOLDS, **numbers) -> Evidence:
    """The verdict stands unless the check came out wrong."""
    return Evidence(FAILS if wrong else verdict, found, numbers)


def section(one: Claim) -> str:
    return one.id.rsplit(".", 1)[0]


def in_the_papers_order() -> None:
    """Sections before appendices, each in order; within one, as written."""
    for one in sorted(REGISTER.values(), key=lambda one: (section(one)[0].isalpha(), section(one))):
        REGISTER[one.id] = REGISTER.pop(one.id)


def tally() -> dict[str, int]:
    """How many of the paper's claims are registered under each verdict."""
    verdicts = [one.verdict for one in REGISTER.values() if one.paper != OURS]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def by_section() -> dict[str, dict[str, int]]:
    """The same for each section and appendix, in the paper's order."""
    theirs = [one for one in REGISTER.values() if one.paper != OURS]
    counts = {}
    for name in dict.fromkeys(map(section, theirs)):
        verdicts = [one.verdict for one in theirs if section(one) == name]
        kind = "Appendix" if name[0].isalpha() else "Section"
        counts[f"{kind} {name}"] = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    return counts


def overview() -> str:
    """The registered verdicts counted by section, as a Markdown table."""
    lines = ["| | " + " | ".join(VERDICTS) + " |", "| --- " * (len(VERDICTS) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(str(n or "–") for n in counts.values()) + " |"
              for name, counts in by_section().items()]
    lines.append("| **all** | " + " | ".join(f"**{n}**" for n in tally().values()) + " |")
    return "\n".join(lines)


def scoreboard(ids=None) -> str:
    """The claims and their verdicts as a Markdown table, judged now."""
    lines = ["| Claim | Paper | Here | Verdict |", "| --- | --- | --- | --- |"]
    for one in REGISTER.values():
        if ids is None or one.id in ids:
            found = one.judge()
            statement, paper, here = (text.replace("*", "\\*").replace("|", "&#124;")
                                      for text in (one.statement, one.paper, found.found))
            how = "" if one.kind == "none" else f" · {one.kind}"
            cells = f"**{statement}** {one.place}{how}", paper, here, found.verdict
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
