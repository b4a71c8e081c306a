"""The register's own rules, on a register of six small claims, and what is stored of them."""

from typing import NamedTuple

import numpy as np
import pytest

from rlsvi_study import StudyError, register, store, verdicts
from rlsvi_study.choices import Headline
from rlsvi_study.cli import main
from rlsvi_study.register import (
    CONVENTION,
    FAILS,
    HOLDS,
    OPEN,
    OURS,
    PARTLY,
    VERDICTS,
    Evidence,
    claim,
    enter,
    graded,
    remark,
    typeset,
    unless,
)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(register, "REGISTER", {})
    for module in (register, verdicts):
        monkeypatch.setattr(module, "HEADLINES", {
            "3.b": Headline("Is it so?", "Yes, {n} times."), "3.a": Headline("And now?", "No.")})

    @claim("3.", "Section 3", "1 | 2", "exact", HOLDS)
    def b():
        """It is
        so."""
        return unless(False, "It is -1 or 1e+04.", n=7)

    enter("3.a", "Section 3", "none", "certified", FAILS, "It is now.",
          lambda: Evidence(PARTLY, "Now *and* then.", {}))
    enter("3.c", "Section 3", OURS, "exact", HOLDS, "It was.", lambda: unless(True, "No."))
    enter("3.d", "Section 3", "x", "exact", FAILS, "Thus.", lambda: unless(True, "No."),
          follows="3.a")
    remark("G.e", "Appendix G", "y", "none", OPEN, "A remark.", "Nothing.", m=1)
    remark("6.1.rho", "Section 6.1", "z", "reading", CONVENTION, "Another.", "One.", follows="G.e")


def found():
    return [verdicts.finding(one, one.judge()) for one in register.REGISTER.values()]


def counted(**counts):
    return {verdict: counts.get(verdict.replace(" ", "_"), 0) for verdict in VERDICTS}


@pytest.mark.parametrize(("points", "verdict"), [
    ([True, True], HOLDS), ([True, False], PARTLY), ([False, True], PARTLY), ([False], FAILS),
    (iter([False, True]), PARTLY)])
def test_a_verdict_is_graded_by_its_points(points, verdict):
    assert graded(points) == verdict


def test_a_verdict_stands_unless_the_check_came_out_wrong():
    assert unless(False, "Found.", n=1) == (HOLDS, "Found.", {"n": 1})
    assert unless(False, "Found.") == (HOLDS, "Found.", {})
    assert unless(True, "Found.", n=1) == (FAILS, "Found.", {"n": 1})


def test_a_claim_has_its_fields_and_its_judge_stays_a_function():
    @claim("9.x", "Section 9", "none", "exact", HOLDS, follows="3.a")
    def judge():
        """So."""
        return unless(False, "Yes.")

    one = register.REGISTER["9.x"]
    assert judge is one.judge
    assert (one.id, one.place, one.paper, one.kind, one.verdict, one.statement, one.follows) == (
        "9.x", "Section 9", "none", "exact", HOLDS, "So.", "3.a")
    assert list(register.REGISTER)[:3] == ["3.b", "3.a", "3.c"]


def test_a_remark_finds_what_it_says():
    one = register.REGISTER["G.e"]
    assert one.judge() == (OPEN, "Nothing.", {"m": 1})
    assert (one.kind, one.follows, register.REGISTER["6.1.rho"].follows) == ("none", "", "G.e")


def test_what_is_ours_or_follows_is_not_counted():
    assert [id for id, one in register.REGISTER.items() if one.counts] == ["3.b", "3.a", "G.e"]
    assert [id for id, one in register.REGISTER.items() if one.headline] == ["3.b", "3.a"]
    assert verdicts.tally(found()) == {"headlines": counted(holds=1, holds_in_part=1),
                                       "details": counted(**{"can't_be_checked_here": 1})}
    assert verdicts.by_section(found()) == {
        "Section 3": counted(holds=1, holds_in_part=1),
        "Appendix G": counted(**{"can't_be_checked_here": 1})}


def test_the_page_is_that_of_the_longest_beginning():
    assert [one.page for one in register.REGISTER.values()] == 4 * ["03-dithering"] + [
        "G-gauss-dirichlet", "06b-agnostic"]


def test_an_answer_is_given_for_the_registered_verdict_alone():
    assert [(one.id, one.question, one.answer) for one in found()[:3]] == [
        ("3.b", "Is it so?", "Yes, 7 times."), ("3.a", "And now?", "Now *and* then."),
        ("3.c", "", "")]


class Pair(NamedTuple):
    low: float
    high: float


def test_what_is_stored_is_read_as_it_was_found(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "results_folder", lambda: tmp_path)
    numbers = {"pair": Pair(1.0, np.float64(0.1)), 12: np.arange(2), "n": (np.int64(3), None)}
    one = verdicts.finding(register.REGISTER["3.b"], Evidence(HOLDS, "It is -1.", numbers))
    assert one.numbers == {"pair": {"low": 1.0, "high": 0.1}, "12": [0, 1], "n": [3, None]}
    assert (one.found, one.section, one.page) == ("It is −1.", "Section 3", "03-dithering")
    verdicts.write([one])
    assert verdicts.stored() == {"3.b": one}


def test_nothing_stored_or_something_else_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "results_folder", lambda: tmp_path)
    with pytest.raises(StudyError, match=r"verdicts\.json; .* rlsvi check --store"):
        verdicts.stored()
    (tmp_path / verdicts.NAME).write_text('[{"id": "3.b"}]')
    with pytest.raises(StudyError, match="rlsvi check --store"):
        verdicts.stored()


def test_check_stores_what_it_finds_unless_a_verdict_differs(tmp_path, capsys):
    file, out = tmp_path / verdicts.NAME, ["--store", "--out", str(tmp_path)]
    file.write_text(verdicts.as_json(found()[4:]))
    assert main(["check", "3.b", *out]) == 0
    assert str(file) in capsys.readouterr().err
    kept = file.read_text("utf8")
    assert [id for id in ("G.e", "6.1.rho", "3.b") if f'"id": "{id}"' in kept] == [
        "G.e", "6.1.rho", "3.b"]
    assert main(["check", "3.a", *out]) == 1
    assert file.read_text("utf8") == kept


@pytest.mark.parametrize(("text", "printed"), [
    ("1e+04 and 2.5e-06", "10⁴ and 2.5·10⁻⁶"), ("11e+04, 0.1e-2", "11·10⁴, 0.1·10⁻²"),
    ("(-3), 2-3, x-3, )-3", "(−3), 2-3, x-3, )-3"), ("10^12", "10¹²"), ("110^12", "110^12"),
    ("9999, 10000, (1234567), 16384th", "9999, 10\u202f000, (1\u202f234\u202f567), 16\u202f384th"),
    ("0.00019, 6.3.45210, 2^12345, w12345", "0.00019, 6.3.45210, 2^12345, w12345")])
def test_numbers_as_print_has_them(text, printed):
    assert typeset(text) == printed
