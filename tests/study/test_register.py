"""The register's own rules, on a register of six small claims, and what is stored of them."""

from typing import NamedTuple

import numpy as np
import pytest

from rlsvi_study import StudyError, engine
from rlsvi_study.judging import register, verdicts
from rlsvi_study.judging.outcomes import (
    DEPENDS,
    FAILS,
    HOLDS,
    Judgement,
    combine_parts,
    combine_readings,
    judge_unless,
    verdict_if_all,
    verdict_of_interval,
)
from rlsvi_study.judging.register import claim, run_judge, typeset_numbers
from rlsvi_study.judging.thresholds import Threshold


def enter(id, verdict, found=HOLDS, statement="So.", **further):
    """A small claim, whose judge finds this."""

    def judge():
        return Judgement(found, {"n": 7, "at": -1})

    judge.__doc__ = statement
    fields = {"place": f"Section {id[0]}", "paper": "x", "kind": "exact"}
    claim(id, **fields, verdict=verdict, **further)(judge)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(register, "REGISTER", {})
    enter(
        "3.b",
        HOLDS,
        statement="""It is
        so.

        It is {at:+d} or
        1e+04.

        By 1e-06, in {{n}} = {n}.""",
        main=True,
    )
    enter("3.a", DEPENDS, found=DEPENDS, on="condition", main=True)
    enter("3.c", HOLDS, found=FAILS, part_of="3.a")
    enter("3.d", FAILS, found=FAILS, part_of="3.a")
    enter("G.e", FAILS, found=FAILS)
    enter("6.1.f", FAILS, found=FAILS, part_of="G.e", shown_in="06d-recommender")


def found():
    return [verdicts.judge_claim(one) for one in register.REGISTER.values()]


def counted(words, **counts):
    return {word: counts.get(word, 0) for word in words}


# --- three words and one rule -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "as_readings", "as_parts"),
    [
        ([HOLDS, HOLDS], HOLDS, HOLDS),
        ([HOLDS, DEPENDS], DEPENDS, DEPENDS),
        ([DEPENDS, DEPENDS], DEPENDS, DEPENDS),
        ([HOLDS, FAILS], DEPENDS, FAILS),
        ([DEPENDS, FAILS], DEPENDS, FAILS),
        ([FAILS, FAILS], FAILS, FAILS),
    ],
)
def test_a_sentence_depends_on_readings_that_disagree_and_fails_with_one_of_its_parts(
    found, as_readings, as_parts
):
    for several in (found, found[::-1]):
        assert combine_readings(dict(enumerate(several))) == as_readings
        assert combine_parts(dict(enumerate(several))) == as_parts


@pytest.mark.parametrize(
    ("interval", "claimed", "verdict"),
    [
        ((0.1, 2), 0, HOLDS),
        ((-1, 2), 0, DEPENDS),
        ((-2, -0.1), 0, FAILS),
        ((-1, 2), 3, FAILS),  # "no difference" is possible, the size that was claimed is not
    ],
)
def test_an_interval_refutes_only_what_it_excludes(interval, claimed, verdict):
    assert verdict_of_interval(*interval, claimed) == verdict


def test_a_verdict_stands_unless_the_check_came_out_wrong():
    assert judge_unless(False, n=1) == (HOLDS, {"n": 1})
    assert judge_unless(True, n=1) == (FAILS, {"n": 1})
    assert (verdict_if_all(True, True), verdict_if_all(True, False), verdict_if_all(False)) == (
        HOLDS,
        FAILS,
        FAILS,
    )


# --- both ends of a threshold -----------------------------------------------------------------


def below_three(value):
    return verdict_if_all(value < 3)


@pytest.mark.parametrize(
    ("ends", "verdict_at", "verdict"),
    [
        ((1, 2.5), below_three, HOLDS),
        ((1, 4), below_three, DEPENDS),
        ((3, 4), below_three, FAILS),  # refuted at both ends, whatever lies between
        ((1, 4), lambda value: verdict_if_all(value > 3), DEPENDS),
        ((1, 4), lambda value: DEPENDS if value < 3 else FAILS, DEPENDS),
        ((), below_three, HOLDS),  # a convention of statistics is not tried elsewhere
    ],
)
def test_the_two_ends_of_a_threshold_are_two_readings(ends, verdict_at, verdict, monkeypatch):
    chosen, unread = Threshold(2, "because", ends), Threshold(7, "so", (6, 8))
    monkeypatch.setattr(register, "THRESHOLDS", {"large": chosen, "unread": unread})
    monkeypatch.setattr(register, "CHOSEN", {"large": 2, "unread": 7})

    @claim("3.t", place="Section 3", paper="x", kind="experiment", verdict=HOLDS)
    def judge(limits):
        """It is large.

        At {large}."""
        return Judgement(verdict_at(limits["large"]), {"large": limits["large"]})

    settled = run_judge(register.REGISTER["3.t"])
    assert (settled.verdict, settled.found) == (verdict, "At 2.")


def test_all_combinations_of_ends_are_tried_that_are_read_at_some_end(monkeypatch):
    ends = {"low": (1, 3), "high": (8, 12), "unread": (0, 1)}
    monkeypatch.setattr(
        register, "THRESHOLDS", {name: Threshold(2, "", pair) for name, pair in ends.items()}
    )
    monkeypatch.setattr(register, "CHOSEN", {"low": 2, "high": 9, "unread": 0})
    tried = set()

    @claim("3.t", place="Section 3", paper="x", kind="experiment", verdict=HOLDS)
    def judge(limits):
        """It is between."""
        low = limits["low"]
        tried.add((low, limits["high"] if low == 3 else None))
        return Judgement(HOLDS, {})

    assert run_judge(register.REGISTER["3.t"]).verdict == HOLDS
    assert {(3, 8), (3, 12)} < tried


# --- what is entered --------------------------------------------------------------------------


def test_a_claim_has_its_fields_and_its_judge_stays_a_function():
    @claim(
        "9.x",
        place="there",
        paper="none",
        kind="symbolic",
        verdict=DEPENDS,
        on="data",
        part_of="3.a",
    )
    def judge():
        """So.

        with two seeds: perhaps."""
        return judge_unless(False)

    one = register.REGISTER["9.x"]
    assert judge is one.judge
    assert (one.place, one.paper, one.kind, one.verdict) == ("there", "none", "symbolic", DEPENDS)
    assert (one.statement, one.part_of, one.main) == ("So.", "3.a", False)
    assert (one.on, one.found) == ("data", "Not enough data, with two seeds: perhaps.")
    assert list(register.REGISTER)[:3] == ["3.b", "3.a", "3.c"]


@pytest.mark.parametrize(
    ("verdict", "on"), [(DEPENDS, ""), (DEPENDS, "threshold"), (HOLDS, "reading"), (FAILS, "data")]
)
def test_a_claim_that_depends_says_on_what_and_no_other_does(verdict, on):
    with pytest.raises(StudyError, match=r"reading, condition, data.*3\.g"):
        enter("3.g", verdict, on=on)
    assert "3.g" not in register.REGISTER


def test_a_docstring_has_the_statement_and_two_templates():
    one = register.REGISTER["3.b"]
    assert one.statement == "It is so."
    found = run_judge(one)
    assert (found.found, found.evidence) == ("It is -1 or 1e+04.", "By 1e-06, in {n} = 7.")


def test_a_line_is_not_counted():
    assert [one.id for one in found() if one.main] == ["3.b", "3.a"]
    words = HOLDS, "reading", "condition", "data", FAILS
    assert verdicts.count_verdicts(found()) == {
        "main claims": counted(words, holds=1, condition=1),
        "others": counted(words, fails=1),
    }


def test_the_page_is_its_sections_unless_the_claim_has_another():
    pages = {id: one.page for id, one in register.REGISTER.items()}
    assert pages["3.a"] == "03-dithering"
    assert pages["G.e"] == "G-gauss-dirichlet"
    assert pages["6.1.f"] == "06d-recommender"


class Pair(NamedTuple):
    low: float
    high: float


def test_what_is_stored_is_read_as_it_was_found(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "results_folder", lambda: tmp_path)
    numbers = {
        "pair": Pair(1.0, np.float64(0.1)),
        "12": {12: np.arange(2)},
        "n": (np.int64(3), None),
    }

    @claim("3.n", place="Section 3", paper="x", kind="exact", verdict=HOLDS)
    def judge():
        """Numbers.

        It is -{pair.low:.0f}."""
        return Judgement(HOLDS, numbers)

    one = verdicts.judge_claim(register.REGISTER["3.n"])
    assert one.numbers == {
        "pair": {"low": 1.0, "high": 0.1},
        "12": {"12": [0, 1]},
        "n": [3, None],
    }
    assert (one.found, one.section, one.page) == ("It is −1.", "Section 3", "03-dithering")
    verdicts.write_verdicts([one])
    assert verdicts.load_verdicts() == {"3.n": one}


def test_nothing_stored_or_something_else_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "results_folder", lambda: tmp_path)
    with pytest.raises(StudyError, match="--store"):
        verdicts.load_verdicts()
    (tmp_path / verdicts.VERDICTS_FILE).write_text('[{"id": "3.b"}]')
    with pytest.raises(StudyError, match="--store"):
        verdicts.load_verdicts()


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
    assert typeset_numbers(text) == printed
