"""The register: every checkable statement of the paper, how it is checked, and the verdict.

A claim is a function whose docstring is the statement in our words; it returns what was found. The
verdict it should reach is registered beside it, and ``rlsvi check`` fails when the two differ.

Kinds of check: ``exact`` (closed form, dynamic programming or enumeration, to rounding),
``symbolic`` (computer algebra), ``certified`` (ball arithmetic: a proof), ``Monte Carlo`` (stated
error rate), ``experiment`` (computed from a stored table), ``reading`` (the text itself is at
issue) and ``none``.

A judge computes its verdict, so that a planted falsehood changes it; one that can only say the same
whatever comes out is of the last two kinds. A few entries are ours (``paper=OURS``): statements the
paper needs and does not make. They are judged like the others and left out of the tally.
"""
from collections.abc import Callable, Collection, Iterable
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


Judge = Callable[[], Evidence]


@dataclass(frozen=True)
class Claim:
    id: str
    place: str
    statement: str
    paper: str  # the paper's own number or formula
    kind: str
    verdict: str  # as registered
    judge: Judge


REGISTER: dict[str, Claim] = {}


def claim(id: str, place: str, paper: str, kind: str, verdict: str) -> Callable[[Judge], Judge]:
    """Register a check. Its docstring is the statement; an id that ends in a dot is completed by
    its name."""

    def register(judge: Judge) -> Judge:
        name = id + judge.__name__.replace("_", "-") if id.endswith(".") else id
        statement = " ".join(judge.__doc__.split())
        REGISTER[name] = Claim(name, place, statement, paper, kind, verdict, judge)
        return judge

    return register


def remark(id: str, place: str, paper: str, kind: str, verdict: str, statement: str,
           found: str) -> None:
    """Register what no computation decides: a reading of the text, or nothing at all."""
    REGISTER[id] = Claim(id, place, statement, paper, kind, verdict,
                         lambda: Evidence(verdict, found, {}))


def graded(points: Iterable[bool]) -> str:
    """Holds if all points do, in part if some do."""
    points = list(points)
    return HOLDS if all(points) else PARTLY if any(points) else FAILS


def unless(wrong: bool, found: str, verdict: str = HOLDS, /, **numbers: Any) -> Evidence:
    """The verdict stands unless the check came out wrong."""
    return Evidence(FAILS if wrong else verdict, found, numbers)


def section(one: Claim) -> str:
    return one.id.rsplit(".", 1)[0]


def in_the_papers_order() -> None:
    """Sections before appendices, each in order; within one, as written."""
    for one in sorted(REGISTER.values(), key=lambda one: (section(one)[0].isalpha(), section(one))):
        REGISTER[one.id] = REGISTER.pop(one.id)


def tally(of: str | None = None) -> dict[str, int]:
    """How many of the paper's claims, or of one section's, are registered under each verdict."""
    verdicts = [one.verdict for one in REGISTER.values()
                if one.paper != OURS and of in (None, section(one))]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def by_section() -> dict[str, dict[str, int]]:
    """The same for each section and appendix, in the paper's order."""
    names = dict.fromkeys(section(one) for one in REGISTER.values() if one.paper != OURS)
    return {f"{'Appendix' if name[0].isalpha() else 'Section'} {name}": tally(name)
            for name in names}


def overview() -> str:
    """The registered verdicts counted by section, as a Markdown table."""
    lines = ["| | " + " | ".join(VERDICTS) + " |", "| --- " * (len(VERDICTS) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(str(n or "–") for n in counts.values()) + " |"
              for name, counts in by_section().items()]
    lines.append("| **all** | " + " | ".join(f"**{n}**" for n in tally().values()) + " |")
    return "\n".join(lines)


def scoreboard(ids: Collection[str] | None = None) -> str:
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
