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
needs and does not make), are judged like the others and left out of the tally.

A topic enters its claims when it is imported, which takes seconds; it is imported when one of its
claims is first asked for. What the judges found is stored (``verdicts.py``): pages read it there.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from .choices import HEADLINES

VERDICTS = HOLDS, PARTLY, FAILS, MISPRINT, CONTRADICTED, CONVENTION, OPEN = (
    "holds", "holds in part", "does not hold", "misprint", "contradicted by later work",
    "a convention", "can't be checked here")
KINDS = ("exact", "symbolic", "certified", "instances", "Monte Carlo", "experiment", "reading",
         "none")
OURS = "not in the paper"
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
TOPICS = {  # that have the judges of a section's claims
    "1": ("chain",), "2": ("chain",), "3": ("chain",), "4": ("chain",),
    "5": ("regret", "theory"), "6": ("regret",), "6.1": ("chain",), "6.2": ("tetris",),
    "6.3": ("recommender",), "7": ("extensions",), "A": ("chain",), "B": ("chain", "conjecture"),
    "C": ("chain",), "D": ("tetris",), "E": ("recommender",), "F": ("extensions",),
    "G": ("theory",)}
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
        return f"{'Appendix' if self.id[0].isalpha() else 'Section'} {_section(self.id)}"

    @property
    def page(self) -> str:
        return PAGES[max((start for start in PAGES if self.id.startswith(start)), key=len)]


def _section(id: str) -> str:
    return id.rpartition(".")[0]


def _enter_claims_of(topic: str) -> None:
    import_module(f".{topic}.claims", __package__)


class _Register(dict[str, Claim]):
    """Every claim by its id."""

    def __missing__(self, id: str) -> Claim:
        for topic in TOPICS.get(_section(id), ()):
            _enter_claims_of(topic)
            if id in self:
                return self[id]
        raise KeyError(id)


REGISTER = _Register()


def claims_of(*sections: str) -> dict[str, Claim]:
    """The claims of some sections, in the order in which their topics have them."""
    for topic in dict.fromkeys(topic for section in sections for topic in TOPICS[section]):
        _enter_claims_of(topic)
    return {id: one for id, one in REGISTER.items() if _section(id) in sections}


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
