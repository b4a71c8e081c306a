"""From a table to numbers, and from numbers to a word.

The paper's sentences have three words: a sentence *holds*, *depends* or *fails*; a line of a proof
can also be a *misprint*. A comparison of two regrets has four: better, worse, equal, open.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .intervals import Mean, bootstrap_interval

VERDICTS = HOLDS, DEPENDS, FAILS = "holds", "depends", "fails"
MISPRINT = "misprint"  # of a line
DEPENDS_ON = {  # what a sentence can depend on, and how its finding begins
    "reading": "On a reading",
    "condition": "On a condition",
    "data": "Not enough data",
}


def last_rows(table: pd.DataFrame, by: Sequence[str] = (), time: str = "episode") -> pd.DataFrame:
    """The last row of every run; the runs of each cell of these columns may have a length of their
    own."""
    times = table.groupby(list(by))[time].transform("max") if by else table[time].max()
    return table[table[time] == times]


BETTER, WORSE = 0.8, 1.25  # ratios of regrets that count as a difference


def paired_ratio(ours: Any, theirs: Any) -> Mean:
    """The ratio of two means over the same seeds, and its interval when seeds are resampled, in
    pairs."""
    one, other = np.asarray(ours), np.asarray(theirs)
    return bootstrap_interval(
        lambda seeds: one[seeds].mean(axis=-1) / other[seeds].mean(axis=-1), np.arange(len(one))
    )


def ratio_word(low: float, high: float) -> str:
    """What a ratio of regrets with this interval is called.

    >>> [ratio_word(*ends) for ends in ((0.5, 0.7), (0.9, 1.1), (0.7, 0.9), (1.3, 2.0))]
    ['better', 'equal', 'open', 'worse']
    """
    if high < BETTER:
        return "better"
    if low > WORSE:
        return "worse"
    return "equal" if low >= BETTER and high <= WORSE else "open"


class Judgement(NamedTuple):
    verdict: str
    numbers: dict[str, Any]  # what the finding and its evidence are filled with, and more


def verdict_if_all(*parts: bool) -> str:
    return HOLDS if all(parts) else FAILS


def combine_readings(readings: Mapping[Any, str]) -> str:
    """The verdict on a sentence of which the text admits these readings, with a verdict each.

    >>> [combine_readings({"before": HOLDS, "after": after}) for after in (HOLDS, FAILS)]
    ['holds', 'depends']
    """
    found = set(readings.values())
    return found.pop() if len(found) == 1 else DEPENDS


def combine_parts(parts: Mapping[Any, str]) -> str:
    """The verdict on a sentence that says these things, with a verdict each: it holds if all do,
    and fails if one does.

    >>> [combine_parts({"one": DEPENDS, "other": other}) for other in (HOLDS, FAILS)]
    ['depends', 'fails']
    """
    return FAILS if FAILS in parts.values() else combine_readings(parts)


def verdict_of_interval(low: float, high: float, claimed: float = 0.0) -> str:
    """The verdict of an interval on a sentence that claims more than this.

    >>> [verdict_of_interval(*interval) for interval in ((1, 3), (-1, 3), (-3, -1))]
    ['holds', 'depends', 'fails']
    """
    return HOLDS if low > claimed else FAILS if high < claimed else DEPENDS


def misprint_verdict(printed: bool, meant: bool) -> str:
    """Holds if what is printed does, a misprint if only what is meant does."""
    return HOLDS if printed else MISPRINT if meant else FAILS


def judge_unless(wrong: bool, /, **numbers: Any) -> Judgement:
    """It holds unless the check came out wrong."""
    return Judgement(verdict_if_all(not wrong), numbers)
