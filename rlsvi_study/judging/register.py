"""The register: what the paper claims, how each claim is checked, and the verdict.

A claim has a statement, a judge and the verdict that it should reach: ``rlsvi check`` fails when
the judge finds another. There are three words and one rule.

- **holds**: the paper's sentence, with its quantifiers, is proved, or measured with an interval,
  under every reading that its letter admits.
- **depends**: one admitted reading makes it true and another false (``on="reading"``), or a condition
  that the sentence does not name decides (``"condition"``), or our data cannot tell (``"data"``). The
  finding begins with which of the three.
- **fails**: it is false under every reading that the letter admits. Who showed it, and when, is in
  the finding.

A reading that the letter excludes is reported and decides nothing. A misprint is one misprint: what
fails only because of one that is listed is judged as meant. A word such as "roughly" has two named
ends (``thresholds.py``), which are two readings of it. The paper's comparator, statistic and setting
decide; a sentence that it says twice is one entry, which names both places.

A judge's docstring is data, in up to three paragraphs: the paper's statement; what was found, in
one plain sentence; one line of evidence. The last two are templates: the judge returns its verdict
and the numbers, by name, that they are filled with. What no computation decides is a ``reading``.
A printed line of a proof is judged like a claim, is ``part_of`` one and shown in a table inside it; it
can be a misprint, too. The steps of our own proofs are plain checks, in a list that a judge calls
(``evidence.failed_steps``).

Kinds of check: ``exact`` (a proof in closed form, dynamic programming or complete enumeration, to
rounding), ``symbolic`` (computer algebra), ``certified`` (ball arithmetic: a proof), ``instances``
(finitely many cases of a statement about all), ``Monte Carlo`` (stated error rate), ``experiment``
(computed from a stored table), ``reading`` (the text or the literature is at issue).

``main`` marks the twenty claims that matter most, by our choice: the gains that abstract and
introduction claim for RLSVI, Theorem 1 and what is said of its rate, two lemmas and Conjecture 1,
example 1 on dithering, and of section 6 one to three sentences of the text around each of Figures 2 to 9.

The register is empty until topics enter their claims, as each does when its ``claims`` module is
imported; ``catalogue.load_claims()`` has them all. What the judges found is stored
(``verdicts.py``): pages read it there.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from itertools import product
from typing import Any, NamedTuple

from .. import StudyError
from .outcomes import DEPENDS, DEPENDS_ON, Judgement, combine_readings
from .thresholds import CHOSEN, THRESHOLDS, Limits

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"


class Section(NamedTuple):
    title: str  # in the paper
    page: str  # the chapter that shows the evidence for its claims


SECTIONS = {
    "1": Section("Introduction", "01-introduction"),
    "2": Section("Episodic reinforcement learning", "01-introduction"),
    "3": Section("The problem with dithering for exploration", "03-dithering"),
    "4": Section("Randomized value functions", "04-randomized-value-functions"),
    "5": Section("Provably efficient tabular learning", "05-tabular"),
    "6": Section("Experiments", "06-chains"),
    "6.1": Section("Testing for efficient exploration", "06-chains"),
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


class JudgedClaim(NamedTuple):
    verdict: str
    found: str  # one sentence
    evidence: str  # one line
    numbers: dict[str, Any]


Judge = Callable[..., Judgement]  # callable without arguments
Frames = Mapping[str, Any]  # the stored tables that it reads, by name


@dataclass(frozen=True)
class Claim:
    id: str
    place: str
    paper: str  # the paper's own number or formula
    kind: str
    verdict: str  # as registered
    on: str  # which of ON, if it depends
    statement: str
    judge: Judge
    found: str = ""  # one sentence, a template
    evidence: str = ""  # one line, a template
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


def claim(
    id: str,
    *,
    place: str,
    paper: str,
    kind: str,
    verdict: str,
    on: str = "",
    part_of: str = "",
    main: bool = False,
    shown_in: str = "",
) -> Callable[[Judge], Judge]:
    """Register a check. A claim that depends says on what, by a key of ``DEPENDS_ON``, with which
    its finding begins. A judge that reads stored tables takes them by name, ``tables=STORED``, and
    one that has thresholds takes them as ``limits=CHOSEN``, so that it can be handed others."""
    if on not in (DEPENDS_ON if verdict == DEPENDS else ("",)):
        raise StudyError(
            f"a claim that depends is on one of {', '.join(DEPENDS_ON)}, and no other claim is on anything; "
            f"{id} has verdict={verdict!r} and on={on!r}. Pass on= exactly where it depends."
        )

    def register(judge: Judge) -> Judge:
        if judge.__doc__ is None:
            raise StudyError(
                "the claims' statements are docstrings; this Python has dropped them. "
                "Run it without -OO."
            )
        statement, *rest = (" ".join(words.split()) for words in judge.__doc__.split("\n\n"))
        found, evidence = [*rest, "", ""][:2]
        if on:
            found = f"{DEPENDS_ON[on]}, {found}"
        REGISTER[id] = Claim(
            id,
            place,
            paper,
            kind,
            verdict,
            on,
            statement,
            judge,
            found,
            evidence,
            part_of,
            main,
            shown_in,
        )
        return judge

    return register


class _RecordingLimits(dict[str, float]):
    """Limits that note which of them are read."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> float:
        self.read.add(name)
        return super().__getitem__(name)


def _verdicts_at_ends(judge: Judge) -> list[str]:
    """The verdicts at all combinations of the ends of the thresholds that the judge reads. Which it
    reads can depend on the ends of others, so it is asked again until no further one is read."""
    names: list[str] = []
    while True:
        verdicts, read = [], set(names)
        for ends in product(*(THRESHOLDS[name].ends for name in names)):
            limits = _RecordingLimits({**CHOSEN, **dict(zip(names, ends, strict=True))})
            verdicts.append(judge(limits=limits).verdict)
            read |= {name for name in limits.read if THRESHOLDS[name].ends}
        if len(read) == len(names):
            return verdicts
        names = sorted(read)


def run_judge(claim: Claim) -> JudgedClaim:
    """What the judge finds, in words. A threshold with two ends is two readings, so a claim is
    judged at all combinations of the ends that it reads."""
    if "limits" in signature(claim.judge).parameters:
        judged = claim.judge(limits=CHOSEN)
        verdict = combine_readings(dict(enumerate(_verdicts_at_ends(claim.judge))))
    else:
        judged = claim.judge()
        verdict = judged.verdict
    found, evidence = (one.format(**judged.numbers) for one in (claim.found, claim.evidence))
    return JudgedClaim(verdict, found, evidence, judged.numbers)


def typeset_numbers(text: str) -> str:
    """Powers of ten, minus signs and thousands as print has them; no line breaks in a number.

    >>> typeset_numbers("-358 of 1.31e+04 and 10^15, 1e-06")
    '−358 of 1.31·10⁴ and 10¹⁵, 10⁻⁶'
    >>> typeset_numbers("4521 and 12345").split()
    ['4521', 'and', '12', '345']
    """

    def ten_to(found: re.Match[str]) -> str:
        return "10" + str(int(found[1])).translate(str.maketrans("0123456789-", SUPERSCRIPTS))

    text = re.sub(r"\b10\^(\d+)", ten_to, text)
    text = re.sub(r"(?<![\d.])1e([+-]\d+)", ten_to, text)
    text = re.sub(r"(?<=\d)e([+-]\d+)", lambda found: "·" + ten_to(found), text)
    text = re.sub(
        r"(?<![\w.^])\d{5,}", lambda found: f"{int(found[0]):,}".replace(",", "\u202f"), text
    )
    return re.sub(r"(?<![\w)–-])-(?=\d)", "−", text)
