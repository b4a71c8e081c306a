"""The register: every checkable statement of the paper, how it is checked, and the verdict.

A claim has a statement in our words, a judge that returns what was found, and the verdict it should
reach: ``rlsvi check`` fails when the two differ. Kinds of check: ``exact`` (a proof in closed form,
dynamic programming or complete enumeration, to rounding), ``symbolic`` (computer algebra),
``certified`` (ball arithmetic: a proof), ``instances`` (finitely many cases of a statement about
all), ``Monte Carlo`` (stated error rate), ``experiment`` (computed from a stored table),
``reading`` (the text or the literature is at issue) and ``none``.

A judge computes its verdict, so that a planted falsehood changes it; what no computation decides is
a ``remark``, of the last two kinds. A claim that is false, or true, because another one is
``follows`` it. Such consequences, and entries that are ours (``paper=OURS``: statements the paper
needs and does not make), are judged like the others and left out of the tally. The tally counts
the headlines (``choices.HEADLINES``) apart from the details.
"""
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from .choices import HEADLINES, NOT_JUDGED, SUBJECTS, THRESHOLDS

VERDICTS = HOLDS, PARTLY, FAILS, MISPRINT, CONTRADICTED, CONVENTION, OPEN = (
    "holds", "holds in part", "does not hold", "misprint", "contradicted by later work",
    "a convention", "can't be checked here")
KINDS = ("exact", "symbolic", "certified", "instances", "Monte Carlo", "experiment", "reading",
         "none")
OURS = "not in the paper"
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
PAGES = {  # the chapter that shows a claim's evidence, by the beginning of its id: the longest wins
    "1": "01-introduction", "2": "02-episodic-rl", "3": "03-dithering",
    "4": "04-randomized-value-functions", "5": "05-tabular", "6": "06-experiments",
    "6.psrl": "05-tabular",
    "6.1": "06a-coherent", "6.1.rho": "06b-agnostic", "6.1.binary": "06b-agnostic",
    "6.2": "06c-tetris", "6.3": "06d-recommender", "7": "07-closing", "A": "A-lsvi",
    "B": "B-conjecture", "C": "C-chain", "D": "D-tetris", "E": "E-recommender",
    "F": "F-extensions", "G": "G-gauss-dirichlet"}


class Evidence(NamedTuple):
    verdict: str
    found: str  # one sentence, numbers to three digits
    numbers: dict[str, Any]


Judge = Callable[..., Evidence]  # callable without arguments


@dataclass(frozen=True)
class Claim:
    id: str
    place: str
    paper: str  # the paper's own number or formula
    kind: str
    verdict: str  # as registered
    statement: str
    judge: Judge
    follows: str = ""  # the claim that this one is a consequence of

    @property
    def headline(self) -> bool:
        return self.id in HEADLINES

    @property
    def counts(self) -> bool:
        """In the tally: the paper's own, and no consequence of another claim."""
        return self.paper != OURS and not self.follows

    @property
    def section(self) -> str:
        return f"{'Appendix' if self.id[0].isalpha() else 'Section'} {self.id.rsplit('.', 1)[0]}"

    @property
    def page(self) -> str:
        return PAGES[max((start for start in PAGES if self.id.startswith(start)), key=len)]


REGISTER: dict[str, Claim] = {}


def enter(id: str, *fields: Any, follows: str = "") -> None:
    """Register a check, given the fields of its claim in order."""
    REGISTER[id] = Claim(id, *fields, follows=follows)


def claim(id: str, place: str, paper: str, kind: str, verdict: str,
          follows: str = "") -> Callable[[Judge], Judge]:
    """Register a check. Its docstring is the statement; an id that ends in a dot is completed by
    its name. If it reads stored tables, it takes them by name: ``tables=STORED``, so that a test
    can hand it others."""

    def register(judge: Judge) -> Judge:
        name = id + judge.__name__.replace("_", "-") if id.endswith(".") else id
        enter(name, place, paper, kind, verdict, " ".join(judge.__doc__.split()), judge,
              follows=follows)
        return judge

    return register


def remark(id: str, place: str, paper: str, kind: str, verdict: str, statement: str,
           found: str, follows: str = "", **numbers: Any) -> None:
    """Register what no computation decides: a reading of the text, or nothing at all."""
    enter(id, place, paper, kind, verdict, statement, lambda: Evidence(verdict, found, numbers),
          follows=follows)


def graded(points: Iterable[bool]) -> str:
    """Holds if all points do, in part if some do."""
    points = list(points)
    return HOLDS if all(points) else PARTLY if any(points) else FAILS


def slip(printed: bool, meant: bool) -> str:
    """Holds if what is printed does, a misprint if only what is meant does."""
    return HOLDS if printed else MISPRINT if meant else FAILS


def unless(wrong: bool, found: str, /, **numbers: Any) -> Evidence:
    """It holds unless the check came out wrong."""
    return Evidence(FAILS if wrong else HOLDS, found, numbers)


def _counted(claims: Iterable[Claim]) -> dict[str, int]:
    verdicts = [one.verdict for one in claims]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def by_section() -> dict[str, dict[str, int]]:
    """How many of the paper's claims are registered under each verdict, headlines included."""
    sections: dict[str, list[Claim]] = {}
    for one in REGISTER.values():
        if one.counts:
            sections.setdefault(one.section, []).append(one)
    return {name: _counted(claims) for name, claims in sections.items()}


def tally() -> dict[str, dict[str, int]]:
    """The same for the whole paper, headlines apart from details."""
    return {name: _counted(one for one in REGISTER.values() if one.counts and one.headline == first)
            for name, first in (("headlines", True), ("details", False))}


def _markdown(*rows: Iterable[str]) -> str:
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "| --- " * (head.count("|") - 1) + "|", *body])


def typeset(text: str) -> str:
    """Powers of ten, minus signs and thousands as print has them; no line breaks in a number.

    >>> typeset("-358 of 1.31e+04 and 10^15, 1e-06")
    '−358 of 1.31·10⁴ and 10¹⁵, 10⁻⁶'
    >>> typeset("4521 and 12345").split()
    ['4521', 'and', '12', '345']
    """
    def ten_to(found: re.Match[str]) -> str:
        return "10" + str(int(found[1])).translate(str.maketrans("0123456789-", RAISED))
    text = re.sub(r"\b10\^(\d+)", ten_to, text)
    text = re.sub(r"(?<![\d.])1e([+-]\d+)", ten_to, text)
    text = re.sub(r"(?<=\d)e([+-]\d+)", lambda found: "·" + ten_to(found), text)
    text = re.sub(r"(?<![\w.^])\d{5,}",
                  lambda found: f"{int(found[0]):,}".replace(",", "\u202f"), text)
    return re.sub(r"(?<![\w)–-])-(?=\d)", "−", text)


def _cell(text: str) -> str:
    return typeset(text).replace("*", "\\*").replace("|", "&#124;")


def badge(verdict: str) -> str:
    """A verdict as a page shows it, in its own colour."""
    return f'<span class="verdict" data-verdict="{escape(verdict)}">{escape(verdict)}</span>'


def _answer(id: str) -> tuple[str, str]:
    """The verdict on a headline, judged now, and its answer.

    An answer is written for the registered verdict; where the judge says otherwise, its own words
    take the answer's place.
    """
    found = REGISTER[id].judge()
    as_registered = found.verdict == REGISTER[id].verdict
    said = HEADLINES[id].answer.format_map(found.numbers) if as_registered else found.found
    return badge(found.verdict), _cell(said)


def in_a_minute() -> str:
    """One line for each subject as a Markdown table: all its verdicts, the first one's answer."""
    rows = []
    for subject, ids in SUBJECTS.items():
        verdicts, answers = zip(*map(_answer, ids), strict=True)
        rows.append((f"**[{subject}]({REGISTER[ids[0]].page}.ipynb)**", " ".join(verdicts),
                     answers[0]))
    return _markdown(("What the paper treats", "Its claims", "Found"), *rows)


def headlines() -> str:
    """The headline claims as a Markdown table, judged now: what a reader came to know."""
    rows = []
    for id, (question, _) in HEADLINES.items():
        verdict, answer = _answer(id)
        rows.append((verdict, f"[{question}]({REGISTER[id].page}.ipynb)",
                     f"{answer} *({REGISTER[id].kind})*"))
    return _markdown(("The paper's claim", "Question", "Found (and by what evidence)"), *rows)


def overview() -> str:
    """The registered verdicts as a Markdown table: headlines, details, and all by section, each
    linked to the chapter that has its claims one by one."""
    whole = ((f"**{name}**", *(f"**{n or '–'}**" for n in counts.values()))
             for name, counts in tally().items())
    return _markdown(("Section", *VERDICTS), *whole, *(
        (f"[{name}]({PAGES[name.split()[1]]}.ipynb)", *(str(n or "–") for n in counts.values()))
        for name, counts in by_section().items()))


def scoreboard(ids: Collection[str] | None = None) -> str:
    """The claims and their verdicts as a Markdown table, judged now, linked to their chapters."""
    rows = []
    for one in REGISTER.values():
        if ids is None or one.id in ids:
            found = one.judge()
            notes = [f"[{one.place}]({one.page}.ipynb)",
                     *([one.kind] if one.kind != "none" else []),
                     *([f"follows from {one.follows}"] if one.follows else []),
                     f'<a id="verdict-{one.id}" href="verdicts.html#{one.id}">{one.id}</a>']
            rows.append((badge(found.verdict), f"**{_cell(one.statement)}** {' · '.join(notes)}",
                         _cell(one.paper), _cell(found.found)))
    return _markdown(("Verdict", "Claim", "Paper", "Here"), *rows)


def explorer() -> str:
    """All claims, judged now, as one table in HTML: a row has its id as anchor and what it can be
    filtered by as data. The page's script puts the controls above it; without it the table stays.
    """
    rows = []
    for one in REGISTER.values():
        found = one.judge()
        source = f'<a href="{one.page}.html#verdict-{one.id}">{escape(one.place)}</a>'
        notes = [source, one.kind, *([f'follows from <a href="#{one.follows}">{one.follows}</a>']
                                     if one.follows else []), f'<a href="#{one.id}">{one.id}</a>']
        said = (f"<strong>{escape(typeset(one.statement))}</strong> {' · '.join(notes)}",
                escape(typeset(one.paper)), escape(typeset(found.found)))
        rows.append(f'<tr id="{one.id}" data-verdict="{escape(found.verdict)}" data-section="'
                    f'{one.section}" data-evidence="{one.kind}"><td>{badge(found.verdict)}</td>'
                    + "".join(f"<td>{text}</td>" for text in said) + "</tr>")
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Verdict", "Claim", "Paper", "Here"))
    return (f'<table class="table" id="claims"><thead><tr>{head}</tr></thead><tbody>'
            + "\n".join(rows) + "</tbody></table>")


def thresholds() -> str:
    """Every threshold that a judge uses, and why, as a Markdown table."""
    return _markdown(("Threshold", "Value", "Reason", "Chosen"), *(
        (name, f"{one.value:g}", one.reason, "after seeing data" if one.late else "before")
        for name, one in THRESHOLDS.items()))


def not_judged() -> str:
    """The checkable sentences without an entry, and why, as a Markdown table."""
    return _markdown(("Place", "The paper", "Not judged, because"), *NOT_JUDGED)
