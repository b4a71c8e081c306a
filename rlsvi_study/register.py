"""The register: every checkable statement of the paper, how it is checked, and the verdict.

A claim has a statement in our words, a judge that returns what was found, and the verdict it should
reach: ``rlsvi check`` fails when the two differ. Kinds of check: ``exact`` (closed form, dynamic
programming or enumeration, to rounding), ``symbolic`` (computer algebra), ``certified`` (ball
arithmetic: a proof), ``Monte Carlo`` (stated error rate), ``experiment`` (computed from a stored
table), ``reading`` (the text itself is at issue) and ``none``.

A judge computes its verdict, so that a planted falsehood changes it; what no computation decides is
a ``remark``, of the last two kinds. A few entries are ours (``paper=OURS``): statements the paper
needs and does not make. They are judged like the others and left out of the tally.
"""
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

VERDICTS = HOLDS, PARTLY, FAILS, MISPRINT, OPEN = (
    "holds", "holds in part", "does not hold", "misprint", "can't be checked here")
KINDS = ("exact", "symbolic", "certified", "Monte Carlo", "experiment", "reading", "none")
OURS = "not in the paper"


class Evidence(NamedTuple):
    verdict: str
    found: str  # one sentence, numbers to three digits
    numbers: dict[str, Any]


Judge = Callable[[], Evidence]


@dataclass(frozen=True)
class Claim:
    id: str
    place: str
    paper: str  # the paper's own number or formula
    kind: str
    verdict: str  # as registered
    statement: str
    judge: Judge


REGISTER: dict[str, Claim] = {}


def enter(id: str, *fields: Any) -> None:
    """Register a check, given the fields of its claim in order."""
    REGISTER[id] = Claim(id, *fields)


def claim(id: str, place: str, paper: str, kind: str, verdict: str) -> Callable[[Judge], Judge]:
    """Register a check. Its docstring is the statement; an id that ends in a dot is completed by
    its name."""

    def register(judge: Judge) -> Judge:
        name = id + judge.__name__.replace("_", "-") if id.endswith(".") else id
        enter(name, place, paper, kind, verdict, " ".join(judge.__doc__.split()), judge)
        return judge

    return register


def remark(id: str, place: str, paper: str, kind: str, verdict: str, statement: str,
           found: str, **numbers: Any) -> None:
    """Register what no computation decides: a reading of the text, or nothing at all."""
    enter(id, place, paper, kind, verdict, statement, lambda: Evidence(verdict, found, numbers))


def graded(points: Iterable[bool]) -> str:
    """Holds if all points do, in part if some do."""
    points = list(points)
    return HOLDS if all(points) else PARTLY if any(points) else FAILS


def unless(wrong: bool, found: str, verdict: str = HOLDS, /, **numbers: Any) -> Evidence:
    """The verdict stands unless the check came out wrong."""
    return Evidence(FAILS if wrong else verdict, found, numbers)


def by_section() -> dict[str, dict[str, int]]:
    """How many of the paper's claims are registered under each verdict, in its order."""
    counts: dict[str, dict[str, int]] = {}
    for id, one in REGISTER.items():
        if one.paper != OURS:
            name = f"{'Appendix' if id[0].isalpha() else 'Section'} {id.rsplit('.', 1)[0]}"
            counts.setdefault(name, dict.fromkeys(VERDICTS, 0))[one.verdict] += 1
    return counts


def tally() -> dict[str, int]:
    """The same for the whole paper."""
    return {verdict: sum(counts[verdict] for counts in by_section().values())
            for verdict in VERDICTS}


def _markdown(*rows: Iterable[str]) -> str:
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "| --- " * (head.count("|") - 1) + "|", *body])


def overview() -> str:
    """The registered verdicts counted by section, as a Markdown table."""
    return _markdown(("Section", *VERDICTS), *((name, *(str(n or "–") for n in counts.values()))
                                        for name, counts in by_section().items()),
                     ("**all**", *(f"**{n}**" for n in tally().values())))


def scoreboard(ids: Collection[str] | None = None) -> str:
    """The claims and their verdicts as a Markdown table, judged now."""
    rows = []
    for one in REGISTER.values():
        if ids is None or one.id in ids:
            found = one.judge()
            statement, paper, here = (text.replace("*", "\\*").replace("|", "&#124;")
                                      for text in (one.statement, one.paper, found.found))
            how = "" if one.kind == "none" else f" · {one.kind}"
            rows.append((f"**{statement}** {one.place}{how}", paper, here, found.verdict))
    return _markdown(("Claim", "Paper", "Here", "Verdict"), *rows)
