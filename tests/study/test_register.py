"""The register's own rules, on a register of six small claims, and what is stored of them."""

import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from rlsvi_study import StudyError, catalogue, engine, register, verdicts
from rlsvi_study.register import (
    CONSISTENT,
    CONTRADICTED,
    FAILS,
    HOLDS,
    OPEN,
    OURS,
    PARTLY,
    VERDICTS,
    Evidence,
    agreed,
    claim,
    enter,
    measured,
    parts,
    remark,
    settle,
    typeset,
    unless,
)
from rlsvi_study.thresholds import Threshold


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(register, "REGISTER", {})

    @claim("3.", "Section 3", "1 | 2", "exact", HOLDS, main=True)
    def b():
        """It is
        so."""
        return unless(False, "It is -1 or 1e+04.", "By 1e-06.", n=7)

    enter(
        "3.a",
        "Section 3",
        "none",
        "certified",
        FAILS,
        "It is now.",
        lambda: Evidence(PARTLY, "Now *and* then.", {}),
        main=True,
    )
    enter(
        "3.c",
        "Section 3",
        OURS,
        "exact",
        HOLDS,
        "It was.",
        lambda: unless(True, "No."),
        part_of="3.a",
    )
    enter(
        "3.d", "Section 3", "x", "exact", FAILS, "Thus.", lambda: unless(True, "No."), part_of="3.a"
    )
    remark("G.e", "Appendix G", "y", CONTRADICTED, "A remark.", "Nothing.")
    remark("6.1.f", "Section 6.1", "z", FAILS, "Another.", "One.", part_of="G.e")


def found():
    return [verdicts.judged(one) for one in register.REGISTER.values()]


def counted(**counts):
    return {verdict: counts.get(verdict.replace(" ", "_"), 0) for verdict in VERDICTS}


@pytest.mark.parametrize(
    ("named", "verdict"),
    [([True, True], HOLDS), ([True, False], PARTLY), ([False, True], PARTLY), ([False], FAILS)],
)
def test_a_sentence_holds_in_part_if_a_named_part_of_it_does(named, verdict):
    assert parts(*named) == verdict


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ([HOLDS, HOLDS], HOLDS),
        ([FAILS, FAILS], FAILS),
        ([HOLDS, CONSISTENT], CONSISTENT),
        ([HOLDS, FAILS], OPEN),
        ([CONSISTENT, FAILS], OPEN),
        ([PARTLY, HOLDS], OPEN),
    ],
)
def test_readings_that_disagree_leave_a_sentence_open(found, verdict):
    assert agreed(dict(enumerate(found))) == agreed(dict(enumerate(reversed(found)))) == verdict


@pytest.mark.parametrize(
    ("interval", "claimed", "verdict"),
    [
        ((0.1, 2), 0, HOLDS),
        ((-1, 2), 0, CONSISTENT),
        ((-2, -0.1), 0, FAILS),
        ((-1, 2), 3, FAILS),  # "no difference" is possible, the size that was claimed is not
    ],
)
def test_an_interval_refutes_only_what_it_excludes(interval, claimed, verdict):
    assert measured(*interval, claimed) == verdict


def test_a_verdict_stands_unless_the_check_came_out_wrong():
    assert unless(False, "Found.", n=1) == (HOLDS, "Found.", {"n": 1}, "")
    assert unless(False, "Found.", "So.") == (HOLDS, "Found.", {}, "So.")
    assert unless(True, "Found.", n=1) == (FAILS, "Found.", {"n": 1}, "")


# --- a judge can lose -------------------------------------------------------------------------


def below_three(value):
    return HOLDS if value < 3 else FAILS


@pytest.mark.parametrize(
    ("range", "verdict_at", "verdict", "turned"),
    [
        ((1, 2.5), below_three, HOLDS, ()),  # no sensible value changes it
        ((1, 4), below_three, CONSISTENT, ("large",)),  # the upper end would refute it
        ((3, 4), lambda value: FAILS, FAILS, ()),  # refuted whatever one takes
        (
            (1, 4),
            lambda value: FAILS if value < 3 else HOLDS,
            FAILS,
            ("large",),
        ),  # nothing is lifted
        ((1, 4), lambda value: PARTLY if value < 3 else FAILS, PARTLY, ("large",)),
        ((), below_three, HOLDS, ()),
    ],
)  # a convention of statistics is not tried elsewhere
def test_a_late_threshold_makes_it_consistent_at_most_unless_no_sensible_one_changes_it(
    range, verdict_at, verdict, turned, monkeypatch
):
    chosen, unread = Threshold(2, "because", range), Threshold(7, "so", (6, 8))
    monkeypatch.setattr(register, "THRESHOLDS", {"large": chosen, "unread": unread})
    monkeypatch.setattr(register, "CHOSEN", {"large": 2, "unread": 7})

    @claim("3.t", "Section 3", "x", "experiment", HOLDS)
    def judge(limits):
        """It is large."""
        return Evidence(verdict_at(limits["large"]), "It is 3.", {})

    evidence, names = settle(register.REGISTER["3.t"])
    assert (evidence.verdict, names) == (verdict, turned)


def test_each_threshold_is_tried_alone_and_the_others_stay_as_chosen(monkeypatch):
    ends = {"low": (1, 3), "high": (8, 12)}
    monkeypatch.setattr(
        register, "THRESHOLDS", {name: Threshold(0, "", range) for name, range in ends.items()}
    )
    monkeypatch.setattr(register, "CHOSEN", {"low": 2, "high": 9})
    tried = []

    @claim("3.t", "Section 3", "x", "experiment", HOLDS)
    def judge(limits):
        """It is between."""
        tried.append((limits["low"], limits["high"]))
        return Evidence(HOLDS if limits["low"] * limits["high"] < 25 else FAILS, "It is.", {})

    assert settle(register.REGISTER["3.t"]).turned == ("low",)
    assert set(tried) == {(2, 9), (1, 9), (3, 9), (2, 8), (2, 12)}


# --- what is entered --------------------------------------------------------------------------


def test_neither_the_register_nor_what_was_found_imports_a_topic():
    code = """
import sys
from rlsvi_study import verdicts
verdicts.stored()
print(*(name.split(".")[1] for name in sys.modules if name.startswith("rlsvi_study.")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "register" in loaded
    assert not loaded & set(catalogue.TOPICS)


def test_a_claim_has_its_fields_and_its_judge_stays_a_function():
    @claim("9.x", "Section 9", "none", "exact", HOLDS, part_of="3.a")
    def judge():
        """So."""
        return unless(False, "Yes.")

    one = register.REGISTER["9.x"]
    assert judge is one.judge
    assert (one.id, one.place, one.paper, one.kind, one.verdict, one.statement, one.part_of) == (
        "9.x",
        "Section 9",
        "none",
        "exact",
        HOLDS,
        "So.",
        "3.a",
    )
    assert list(register.REGISTER)[:3] == ["3.b", "3.a", "3.c"]


def test_a_remark_finds_what_it_says():
    one = register.REGISTER["G.e"]
    assert one.judge() == (CONTRADICTED, "Nothing.", {}, "")
    assert (one.kind, one.part_of, register.REGISTER["6.1.f"].part_of) == ("reading", "", "G.e")


def test_a_line_is_not_counted():
    assert [one.id for one in found() if one.main] == ["3.b", "3.a"]
    assert verdicts.tally(found()) == {
        "the twenty": counted(holds=1, holds_in_part=1),
        "the others": counted(contradicted_by_later_work=1),
    }
    assert verdicts.by_section(found()) == {
        "Section 3": counted(holds=1, holds_in_part=1),
        "Appendix G": counted(contradicted_by_later_work=1),
    }


def test_a_claim_has_its_lines():
    assert list(register.lines_of("3.a")) == ["3.c", "3.d"]


def test_the_page_is_its_sections_unless_the_claim_has_another():
    @claim("6.1.", "Section 6.1", "x", "exact", HOLDS, shown_in="06b-agnostic")
    def two_words():
        """So."""

    one = register.REGISTER["6.1.two-words"]  # an id that ends in a dot is completed by the name
    assert (one.section, one.page) == ("6.1", "06b-agnostic")
    assert register.REGISTER["6.1.f"].page == register.SECTIONS["6.1"].page
    assert register.REGISTER["G.e"].page == register.SECTIONS["G"].page


class Pair(NamedTuple):
    low: float
    high: float


def test_what_is_stored_is_read_as_it_was_found(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "results_folder", lambda: tmp_path)
    numbers = {"pair": Pair(1.0, np.float64(0.1)), 12: np.arange(2), "n": (np.int64(3), None)}
    enter(
        "3.n",
        "Section 3",
        "x",
        "exact",
        HOLDS,
        "Numbers.",
        lambda: Evidence(HOLDS, "It is -1.", numbers),
    )
    one = verdicts.judged(register.REGISTER["3.n"])
    assert one.numbers == {"pair": {"low": 1.0, "high": 0.1}, "12": [0, 1], "n": [3, None]}
    assert (one.found, one.section, one.page) == ("It is −1.", "Section 3", "03-dithering")
    verdicts.write([one])
    assert verdicts.stored() == {"3.n": one}


def test_nothing_stored_or_something_else_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "results_folder", lambda: tmp_path)
    with pytest.raises(StudyError, match="--store"):
        verdicts.stored()
    (tmp_path / verdicts.NAME).write_text('[{"id": "3.b"}]')
    with pytest.raises(StudyError, match="--store"):
        verdicts.stored()


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("1e+04 and 2.5e-06", "10⁴ and 2.5·10⁻⁶"),
        ("11e+04, 0.1e-2", "11·10⁴, 0.1·10⁻²"),
        ("(-3), 2-3, x-3, )-3", "(−3), 2-3, x-3, )-3"),
        ("10^12", "10¹²"),
        ("110^12", "110^12"),
        (
            "9999, 10000, (1234567), 16384th",
            "9999, 10\u202f000, (1\u202f234\u202f567), 16\u202f384th",
        ),
        ("0.00019, 6.3.45210, 2^12345, w12345", "0.00019, 6.3.45210, 2^12345, w12345"),
    ],
)
def test_numbers_as_print_has_them(text, printed):
    assert typeset(text) == printed
