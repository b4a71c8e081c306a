"""The register: what the paper claims, how each claim is checked, and the verdict.

A claim has a statement, a judge that returns what was found, and the verdict it should reach:
``rlsvi check`` fails when the two differ. What was found is one plain sentence with at most two
numbers, then one line of evidence.

The rules
---------
- **Literal.** The statement is the paper's, no stronger and no weaker, with its quantifiers. A
  reading is called a reading. What we prove or measure beyond it stands in the finding. A statement
  is judged, not the reason given for it; a reason that fails is named in the finding.
- **The paper's comparator, statistic and setting decide**; others go into the finding.
- **Failure is failure.** "Holds in part" means that a named part of the sentence holds and a named
  part does not: it is not a middle between wins and losses. A claim that something exists holds if
  one exists.
- **A judge can lose.** A threshold that was chosen after seeing data has a range of sensible values
  (``choices.THRESHOLDS``), and the claim is judged at both ends of it too. If an end disagrees with
  "holds", the verdict is "consistent with"; no end lifts another verdict. Rivals get the same
  freedom, and a baseline that never learned is none.
- **Uncertainty on every measured number** of a main claim's sentence: an interval over all runs, or
  how many of how many.
- **The abstract first**: near-optimal regret and dramatic gains lead the list (``choices.MAIN``).

Kinds of check: ``exact`` (a proof in closed form, dynamic programming or complete enumeration, to
rounding), ``symbolic`` (computer algebra), ``certified`` (ball arithmetic: a proof), ``instances``
(finitely many cases of a statement about all), ``Monte Carlo`` (stated error rate), ``experiment``
(computed from a stored table), ``reading`` (the text or the literature is at issue).

A judge computes its verdict, so that a planted falsehood changes it; what no computation decides is
a ``remark``. A claim's proof has lines, the paper's and ours: each is judged like a claim, is
``part_of`` one and shown in a table inside it. A line can be a misprint, too.

A topic enters its claims when it is imported, which takes seconds; it is imported when one of its
claims is first asked for. What the judges found is stored (``verdicts.py``): pages read it there.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from . import StudyError
from .choices import MAIN, THRESHOLDS, reading_thresholds, trying

VERDICTS = HOLDS, CONSISTENT, PARTLY, FAILS, CONTRADICTED = (
    "holds",
    "consistent with",
    "holds in part",
    "does not hold",
    "contradicted by later work",
)
MISPRINT = "misprint"  # of a line
KINDS = ("exact", "symbolic", "certified", "instances", "Monte Carlo", "experiment", "reading")
OURS = "ours"  # in place of what a line has in the paper
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
TOPICS = {  # that have the judges of a section's claims
    "1": ("chain",),
    "2": ("chain",),
    "3": ("chain",),
    "4": ("chain",),
    "5": ("regret", "theory"),
    "6": ("regret",),
    "6.1": ("chain",),
    "6.2": ("tetris",),
    "6.3": ("recommender",),
    "7": ("extensions",),
    "A": ("chain",),
    "B": ("chain", "conjecture"),
    "C": ("chain",),
    "D": ("tetris",),
    "E": ("recommender",),
    "F": ("extensions",),
    "G": ("theory",),
}
SECTIONS = {  # as the paper calls them
    "1": "Introduction",
    "2": "Episodic reinforcement learning",
    "3": "The problem with dithering for exploration",
    "4": "Randomized value functions",
    "5": "Provably efficient tabular learning",
    "6": "Experiments",
    "6.1": "Testing for efficient exploration",
    "6.2": "Tetris",
    "6.3": "A recommendation engine",
    "7": "Closing remarks",
    "A": "LSVI with Boltzmann or ε-greedy exploration",
    "B": "Efficient exploration with generalization",
    "C": "Chain experiments",
    "D": "Tetris experiments",
    "E": "Recommendation system experiments",
    "F": "Extensions",
    "G": "Gaussian vs Dirichlet optimism",
}
PAGES = {  # the chapter that shows a claim's evidence, by the beginning of its id: the longest wins
    "1": "01-introduction",
    "2": "02-episodic-rl",
    "3": "03-dithering",
    "4": "04-randomized-value-functions",
    "5": "05-tabular",
    "6": "06-experiments",
    "6.psrl": "05-tabular",
    "6.1": "06a-coherent",
    "6.1.rho": "06b-agnostic",
    "6.1.binary": "06b-agnostic",
    "6.2": "06c-tetris",
    "6.3": "06d-recommender",
    "7": "07-closing",
    "A": "A-lsvi",
    "B": "B-conjecture",
    "C": "C-chain",
    "D": "D-tetris",
    "E": "E-recommender",
    "F": "F-extensions",
    "G": "G-gauss-dirichlet",
}


class Evidence(NamedTuple):
    verdict: str
    found: str  # one sentence, at most two numbers
    numbers: dict[str, Any]
    evidence: str = ""  # one line


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
    part_of: str = ""  # the claim that it is a line of

    @property
    def main(self) -> bool:
        return self.id in MAIN

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


def lines_of(id: str) -> dict[str, Claim]:
    """The lines of a claim's proof, the paper's and ours."""
    return {line: one for line, one in claims_of(_section(id)).items() if one.part_of == id}


def fallen(steps: Iterable[str]) -> list[str]:
    """The steps of a proof that do not hold."""
    return [id for id in steps if REGISTER[id].judge().verdict != HOLDS]


def enter(id: str, *fields: Any, part_of: str = "") -> None:
    """Register a check, given the fields of its claim in order."""
    REGISTER[id] = Claim(id, *fields, part_of=part_of)


def claim(
    id: str, place: str, paper: str, kind: str, verdict: str, part_of: str = ""
) -> Callable[[Judge], Judge]:
    """Register a check. Its docstring is the statement; an id that ends in a dot is completed by
    its name. If it reads stored tables, it takes them by name: ``tables=STORED``, so that a test
    can hand it others."""

    def register(judge: Judge) -> Judge:
        if judge.__doc__ is None:
            raise StudyError(
                "the claims' statements are docstrings; this Python has dropped them. "
                "Run it without -OO."
            )
        name = id + judge.__name__.replace("_", "-") if id.endswith(".") else id
        enter(
            name,
            place,
            paper,
            kind,
            verdict,
            " ".join(judge.__doc__.split()),
            judge,
            part_of=part_of,
        )
        return judge

    return register


def remark(
    id: str,
    place: str,
    paper: str,
    verdict: str,
    statement: str,
    found: str,
    evidence: str = "",
    part_of: str = "",
) -> None:
    """Register what no computation decides: a reading of the text."""
    enter(
        id,
        place,
        paper,
        "reading",
        verdict,
        statement,
        lambda: Evidence(verdict, found, {}, evidence),
        part_of=part_of,
    )


class Settled(NamedTuple):
    evidence: Evidence  # "consistent with" at most, if a threshold decides
    turned: tuple[str, ...]  # the thresholds that do


def settle(claim: Claim) -> Settled:
    """What the judge finds, at the thresholds chosen and at both ends of each late one's range."""
    with reading_thresholds() as read:
        evidence = claim.judge()

    def verdict_at(name: str, value: float) -> str:
        with trying(name, value):
            return claim.judge().verdict

    turned = tuple(
        name
        for name in sorted(read)
        if any(verdict_at(name, value) != evidence.verdict for value in THRESHOLDS[name].range)
    )
    if turned and evidence.verdict == HOLDS:
        evidence = evidence._replace(verdict=CONSISTENT)
    return Settled(evidence, turned)


def parts(*named: bool) -> str:
    """The verdict on a sentence with these named parts: in part if some hold and some do not. It
    is not for many trials of one sentence."""
    return HOLDS if all(named) else PARTLY if any(named) else FAILS


def slip(printed: bool, meant: bool) -> str:
    """Holds if what is printed does, a misprint if only what is meant does."""
    return HOLDS if printed else MISPRINT if meant else FAILS


def unless(wrong: bool, found: str, /, evidence: str = "", **numbers: Any) -> Evidence:
    """It holds unless the check came out wrong."""
    return Evidence(FAILS if wrong else HOLDS, found, numbers, evidence)


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
    text = re.sub(
        r"(?<![\w.^])\d{5,}", lambda found: f"{int(found[0]):,}".replace(",", "\u202f"), text
    )
    return re.sub(r"(?<![\w)–-])-(?=\d)", "−", text)
