"""The thresholds that turn a number into a verdict.

One that is not a convention of statistics was chosen after seeing the data. It has two ends, a kind
and a strict one, where it gives a number to a word of the paper's ("roughly", "much") or to how we
measure one ("flat" for "learns"). A claim that uses it is judged at both: if they disagree, it
depends on how the word is read (``register.run_judge``). "blocks" has none: how much of a run one
must see is no reading of the paper. Numbers in a finding are computed with the value between the
ends. A judge takes its thresholds as an argument, ``limits=CHOSEN``, so that it can be asked at
other values.
"""

from collections.abc import Mapping
from typing import NamedTuple

Limits = Mapping[str, float]  # thresholds by name


class Threshold(NamedTuple):
    value: float
    reason: str
    ends: tuple[float, ...] = ()  # if it is one reading of several


THRESHOLDS = {
    "standard errors": Threshold(
        4.5, "a simulated mean against an exact one: wrong by chance 7 times in a million"
    ),
    "error rate, Lemma 2": Threshold(
        0.001, "how often chance may refute what is true, in all 72 comparisons by samples"
    ),
    "AIC": Threshold(10, "the usual mark for strong evidence against a law"),
    "rewards": Threshold(
        10, "a run on the chain has learned with its tenth reward, as the paper has it"
    ),
    "learns": Threshold(
        0.9, "the share of runs that must learn for “it learns”; 45 of 50", (0.8, 0.95)
    ),
    "consistently": Threshold(0.95, "the share of runs for “consistently”", (0.9, 0.98)),
    "roughly": Threshold(
        2, "within a factor of two of what the paper rounds or approximates", (1.5, 3)
    ),
    "same regret": Threshold(
        2,
        "“remarkably stable”: at most so many times the regret at the reference value",
        (1.5, 3),
    ),
    "several orders": Threshold(
        2, "the least range, in powers of ten, for “several orders of magnitude”", (2, 3)
    ),
    "stable": Threshold(
        1.5,
        "“remarkably stable” in ρ: at ρ* the median run takes at most so many times as long as "
        "at ρ = 0; twice is elsewhere “much”",
        (1.25, 2),
    ),
    "flat": Threshold(
        0.9,
        "a regret curve is flat from where on a run earns at least this share of the optimum",
        (0.8, 0.95),
    ),
    "some region": Threshold(0.02, "the least ρ* that makes a region", (0.01, 0.04)),
    "same power": Threshold(0.1, "a measured power this near to the one named", (0.05, 0.2)),
    "uncorrelated": Threshold(
        0.2, "a correlation up to this is not what “ensures” one", (0.15, 0.5)
    ),
    "learned": Threshold(
        1000,
        "rows per game of a block, if the features know the reward: between the "
        "tens of a beginner and the thousands of a player there is nothing",
        (500, 2000),
    ),
    "learned, board": Threshold(
        300, "the same with the board alone, where LSVI ends at some 600", (200, 450)
    ),
    "badly, board": Threshold(
        0.5, "with the board alone LSVI does badly below this share of who explores", (0.33, 0.67)
    ),
    "blocks": Threshold(
        8,
        "so many blocks after the first good one, at least, for a curve to be "
        "asked whether it declines: the last four are compared with the best",
    ),
    "collapse": Threshold(
        0.5,
        "the last 200 games score less than this share of what they would without a decline",
        (0.33, 0.67),
    ),
    "mostly": Threshold(0.5, "more than half"),
    "much better": Threshold(
        1.5, "“greatly outperforms”, “much better”: at least so many times the score", (1.25, 2)
    ),
    "much more": Threshold(
        1.5, "“much more efficiently”: the other has at least so many times the regret", (1.25, 2)
    ),
    "effective": Threshold(
        2, "“effective approximation to PSRL”: at most so many times its regret", (1.5, 3)
    ),
    "long plan": Threshold(
        12,
        "a lock of so many moves or more takes a long plan: the longest "
        "that opens without perturbations",
        (8, 16),
    ),
    "slightly": Threshold(1.1, "“differs only slightly”: by at most a tenth", (1.05, 1.25)),
}
CHOSEN: Limits = {name: one.value for name, one in THRESHOLDS.items()}
