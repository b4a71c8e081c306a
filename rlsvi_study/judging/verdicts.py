"""What the judges found, stored like a table: ``results/verdicts.json``.

``rlsvi check --store`` writes it; the book's pages and chapters read it, and import no judge for
that. A test judges every claim again and compares.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import StudyError, engine
from .outcomes import DEPENDS_ON, FAILS, HOLDS
from .register import Claim, JudgedClaim, run_judge, typeset_numbers

VERDICTS_FILE = "verdicts.json"


@dataclass(frozen=True)
class Finding:
    """A claim and what its judge found. The numbers are as JSON has them: named tuples are dicts,
    and keys are strings."""

    id: str
    place: str
    section: str
    page: str  # of the book: where the evidence is shown
    statement: str
    paper: str
    kind: str
    registered: str
    verdict: str
    on: str  # which of ON, if it depends
    found: str  # one sentence
    evidence: str  # one line
    numbers: dict[str, Any]
    part_of: str  # the claim that it is a line of
    main: bool


def _to_plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(key): _to_plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_plain(one) for one in value]
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value


def _make_finding(claim: Claim, settled: JudgedClaim) -> Finding:
    return Finding(
        claim.id,
        claim.place,
        f"{'Appendix' if claim.section.isalpha() else 'Section'} {claim.section}",
        claim.page,
        claim.statement,
        claim.paper,
        claim.kind,
        claim.verdict,
        settled.verdict,
        claim.on,
        typeset_numbers(settled.found),
        typeset_numbers(settled.evidence),
        _to_plain(settled.numbers),
        claim.part_of,
        claim.main,
    )


def judge_claim(claim: Claim) -> Finding:
    return _make_finding(claim, run_judge(claim))


def unjudged_finding(claim: Claim, reason: str) -> Finding:
    return _make_finding(claim, JudgedClaim("not judged", reason, "", {}))


def findings_to_json(findings: Iterable[Finding]) -> str:
    return json.dumps(
        [asdict(one) for one in findings], indent=1, ensure_ascii=False, allow_nan=False
    )


def write_verdicts(findings: Iterable[Finding]) -> Path:
    file = engine.results_folder() / VERDICTS_FILE
    engine.write_atomically({file: findings_to_json(findings).encode() + b"\n"})
    return file


def load_verdicts() -> dict[str, Finding]:
    """By claim, in the register's order."""
    file = engine.results_folder() / VERDICTS_FILE
    try:
        return {one["id"]: Finding(**one) for one in json.loads(file.read_bytes())}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StudyError(
            f"what the judges found is read from {file}; that raised {error!r}. "
            f"Write it again with: rlsvi check --store"
        ) from error


def count_verdicts(findings: Iterable[Finding]) -> dict[str, dict[str, int]]:
    """How many hold, depend on each of the three, and fail: the main claims, and the others."""
    groups: dict[str, list[str]] = {"main claims": [], "others": []}
    for one in findings:
        if not one.part_of:
            groups["main claims" if one.main else "others"].append(one.on or one.verdict)
    return {
        name: {word: words.count(word) for word in (HOLDS, *DEPENDS_ON, FAILS)}
        for name, words in groups.items()
    }
