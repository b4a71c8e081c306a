"""The register: what the paper claims, how each claim is checked, and the verdict.

A claim has a statement, a judge that returns what was found, and the verdict it should reach:
``rlsvi check`` fails when the two differ. What was found is one plain sentence with at most two
numbers, then one line of evidence.

The rules
---------
- **Literal.** The statement is the paper's, no stronger and no weaker, with its quantifiers. A
  reading is called a reading. What we prove or measure beyond it stands in the finding. A statement
  is judged, not the reason given for it; a reason that fails is named in the finding.
- **Doubt counts for the authors.** Where the text admits several readings and the verdict depends
  on which, it is *left open by the text* (``agreed``), and the finding has each reading's result.
  A reading that the letter excludes may spare the authors but never condemns them.
- **A misprint is one misprint.** What fails only because of one that is listed is judged as meant,
  and links to it.
- **One sentence, one entry.** Where the paper says a thing twice, the entry names both places.
- **The paper's comparator, statistic and setting decide**; others go into the finding. What the
  paper says of a work that it cites is judged by that work's printed numbers.
- **Failure is failure.** "Holds in part" means that a named part of the sentence holds and a named
  part does not: it is not a middle between wins and losses. A claim that something exists holds if
  one exists.
- **An interval refutes only what it excludes** (``measured``): one that contains "no difference"
  refutes no difference of some size, and one that contains the claimed size is consistent with it.
- **A reading of the cause** ("due to", "we believe") is called one. It holds if what it rests on is
  shown, and fails if that is excluded.
- **A judge can lose.** A threshold that was chosen after seeing data has a range of sensible values
  (``thresholds.py``), and the claim is judged at both ends of it too. If an end disagrees with
  "holds", the verdict is "consistent with"; no end lifts another verdict. Rivals get the same
  freedom, and a baseline that never learned is none.
- **Uncertainty on every measured number** of a main claim's sentence: an interval over all runs, or
  how many of how many.
- **Twenty matter most** (``main=True``): what the abstract and the introduction claim for RLSVI,
  Theorem 1, its two lemmas and Conjecture 1, the sentence that leads from them to the experiments
  (PSRL), and the one or two that each of Figures 2 to 9 is there for. The tally counts them first.

Kinds of check: ``exact`` (a proof in closed form, dynamic programming or complete enumeration, to
rounding), ``symbolic`` (computer algebra), ``certified`` (ball arithmetic: a proof), ``instances``
(finitely many cases of a statement about all), ``Monte Carlo`` (stated error rate), ``experiment``
(computed from a stored table), ``reading`` (the text or the literature is at issue).

A judge computes its verdict, so that a planted falsehood changes it; what no computation decides is
a ``remark``. A claim's proof has lines, the paper's and ours: each is judged like a claim, is
``part_of`` one and shown in a table inside it. A line can be a misprint, too.

The register is empty until topics enter their claims, as each does when its ``claims`` module is
imported; ``catalogue.claims()`` has them all. What the judges found is stored (``verdicts.py``):
pages read it there.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, NamedTuple

from . import StudyError
from .thresholds import CHOSEN, THRESHOLDS, Limits

VERDICTS = HOLDS, CONSISTENT, OPEN, PARTLY, FAILS, CONTRADICTED = (
    "holds",
    "consistent with",
    "left open by the text",
    "holds in part",
    "does not hold",
    "contradicted by later work",
)
MISPRINT = "misprint"  # of a line
KINDS = ("exact", "symbolic", "certified", "instances", "Monte Carlo", "experiment", "reading")
OURS = "ours"  # in place of what a line has in the paper
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"


class Section(NamedTuple):
    title: str  # in the paper
    page: str  # the chapter that shows the evidence for its claims


SECTIONS = {
    "1": Section("Introduction", "01-introduction"),
    "2": Section("Episodic reinforcement learning", "02-episodic-rl"),
    "3": Section("The problem with dithering for exploration", "03-dithering"),
    "4": Section("Randomized value functions", "04-randomized-value-functions"),
    "5": Section("Provably efficient tabular learning", "05-tabular"),
    "6": Section("Experiments", "06-experiments"),
    "6.1": Section("Testing for efficient exploration", "06a-coherent"),
    "6.2": Section("Tetris", "06c-tetris"),
    "6.3": Section("A recommendation engine", "06d-recommender"),
    "7": Section("Closing remarks", "07-closing"),
    "A": Section("LSVI with Boltzmann or ε-greedy exploration", "A-lsvi"),
    "B": Section("Efficient exploration with generalization", "B-conjecture"),
    "C": Section("Chain experiments", "C-chain"),
    "D": Section("Tetris experiments", "D-tetris"),
    "E": Section("Recommendation system experiments", "E-recommender"),
    "F": Section("Extensions", "F-extensions"),
    "G": Section("Gaussian vs Dirichlet optimism", "G-gauss-dirichlet"),
}


class Evidence(NamedTuple):
    verdict: str
    found: str  # one sentence, at most two numbers
    numbers: dict[str, Any]
    evidence: str = ""  # one line


Judge = Callable[..., Evidence]  # callable without arguments
Frames = Mapping[str, Any]  # the stored tables that it reads, by name


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
    main: bool = False  # one of those that matter most
    shown_in: str = ""  # the chapter, if it is not its section's

    @property
    def section(self) -> str:
        """Its key in SECTIONS."""
        return self.id.rpartition(".")[0]

    @property
    def page(self) -> str:
        return self.shown_in or SECTIONS[self.section].page


REGISTER: dict[str, Claim] = {}  # every claim by its id


def lines_of(id: str) -> dict[str, Claim]:
    """The lines of a claim's proof, the paper's and ours."""
    return {line: one for line, one in REGISTER.items() if one.part_of == id}


def fallen(steps: Iterable[str]) -> list[str]:
    """The steps of a proof that do not hold."""
    return [id for id in steps if REGISTER[id].judge().verdict != HOLDS]


def enter(id: str, *fields: Any, **further: Any) -> None:
    """Register a check, given the fields of its claim."""
    REGISTER[id] = Claim(id, *fields, **further)


def claim(
    id: str,
    place: str,
    paper: str,
    kind: str,
    verdict: str,
    *,
    part_of: str = "",
    main: bool = False,
    shown_in: str = "",
) -> Callable[[Judge], Judge]:
    """Register a check. Its docstring is the statement; an id that ends in a dot is completed by
    its name. A judge that reads stored tables takes them by name, ``tables=STORED``, and one that
    has thresholds takes them as ``limits=CHOSEN``, so that it can be handed others."""

    def register(judge: Judge) -> Judge:
        if judge.__doc__ is None:
            raise StudyError(
                "the claims' statements are docstrings; this Python has dropped them. "
                "Run it without -OO."
            )
        name = id + judge.__name__.replace("_", "-") if id.endswith(".") else id
        statement = " ".join(judge.__doc__.split())
        enter(name, place, paper, kind, verdict, statement, judge, part_of, main, shown_in)
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
    *,
    part_of: str = "",
    main: bool = False,
) -> None:
    """Register what no computation decides: a reading of the text."""

    def judge() -> Evidence:
        return Evidence(verdict, found, {}, evidence)

    enter(id, place, paper, "reading", verdict, statement, judge, part_of, main)


class Settled(NamedTuple):
    evidence: Evidence  # "consistent with" at most, if a threshold decides
    turned: tuple[str, ...]  # the thresholds that do


class _Noted(dict[str, float]):
    """Limits that note which of them are read."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> float:
        self.read.add(name)
        return super().__getitem__(name)


def settle(claim: Claim) -> Settled:
    """What the judge finds, at the thresholds chosen and at both ends of each late one's range."""
    if "limits" not in signature(claim.judge).parameters:
        return Settled(claim.judge(), ())
    chosen = _Noted(CHOSEN)
    evidence = claim.judge(limits=chosen)
    turned = tuple(
        name
        for name in sorted(chosen.read)
        if any(
            claim.judge(limits={**CHOSEN, name: end}).verdict != evidence.verdict
            for end in THRESHOLDS[name].range
        )
    )
    if turned and evidence.verdict == HOLDS:
        evidence = evidence._replace(verdict=CONSISTENT)
    return Settled(evidence, turned)


def parts(*named: bool) -> str:
    """The verdict on a sentence with these named parts: in part if some hold and some do not. It
    is not for many trials of one sentence."""
    return HOLDS if all(named) else PARTLY if any(named) else FAILS


def jointly(named: Mapping[str, str]) -> str:
    """The verdict on a sentence with these named parts, with a verdict each: in part if one fails
    and not all do, and else what they agree on.

    >>> jointly({"one": HOLDS, "other": FAILS}), jointly({"one": HOLDS, "other": OPEN})
    ('holds in part', 'left open by the text')
    """
    found = set(named.values())
    return agreed(named) if not found & {PARTLY, FAILS} else FAILS if found == {FAILS} else PARTLY


def agreed(readings: Mapping[str, str], excluded: Container[str] = ()) -> str:
    """The verdict on a sentence of which the text admits these readings, with a verdict each:
    theirs if they agree, the weaker of holding and being consistent, and else it is left open.
    Those that the letter excludes do not condemn what the others support.

    >>> agreed({"before": HOLDS, "after": CONSISTENT}), agreed({"before": HOLDS, "after": FAILS})
    ('consistent with', 'left open by the text')
    >>> agreed({"before": HOLDS, "after": FAILS}, excluded=["after"])
    'holds'
    """
    supported = {HOLDS, CONSISTENT}
    found = set(readings.values())
    kept = {one for name, one in readings.items() if name not in excluded or one in supported}
    if kept <= supported:
        found = kept
    return found.pop() if len(found) == 1 else CONSISTENT if found == supported else OPEN


def measured(low: float, high: float, claimed: float = 0.0) -> str:
    """The verdict of an interval on a sentence that claims more than this: it fails only if that is
    excluded.

    >>> [measured(*interval) for interval in ((1, 3), (-1, 3), (-3, -1))]
    ['holds', 'consistent with', 'does not hold']
    """
    return HOLDS if low > claimed else FAILS if high < claimed else CONSISTENT


def slip(printed: bool, meant: bool) -> str:
    """Holds if what is printed does, a misprint if only what is meant does."""
    return HOLDS if printed else MISPRINT if meant else FAILS


def unless(wrong: bool, found: str, evidence: str = "", /, **numbers: Any) -> Evidence:
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
