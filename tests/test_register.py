"""The register's own rules, on a register of six small claims."""

from html import escape

import pytest

from rlsvi_study import register
from rlsvi_study.choices import Headline, Threshold
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
    monkeypatch.setattr(register, "HEADLINES", {
        "3.b": Headline("Is it so?", "Yes, {n} times."), "3.a": Headline("And now?", "No.")})
    monkeypatch.setattr(register, "SUBJECTS", {"Both": ("3.b", "3.a")})

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
    assert register.tally() == {"headlines": counted(holds=1, does_not_hold=1),
                                "details": counted(**{"can't_be_checked_here": 1})}
    assert register.by_section() == {
        "Section 3": counted(holds=1, does_not_hold=1),
        "Appendix G": counted(**{"can't_be_checked_here": 1})}


def test_the_page_is_that_of_the_longest_beginning():
    assert [one.page for one in register.REGISTER.values()] == 4 * ["03-dithering"] + [
        "G-gauss-dirichlet", "06b-agnostic"]


def test_the_overview():
    head, rule, *rows = register.overview().splitlines()
    assert head == "| Section | " + " | ".join(VERDICTS) + " |"
    assert rule == "| --- " * 8 + "|"
    assert rows == ["| **headlines** | **1** | **–** | **1** | **–** | **–** | **–** | **–** |",
                    "| **details** | **–** | **–** | **–** | **–** | **–** | **–** | **1** |",
                    "| [Section 3](03-dithering.ipynb) | 1 | – | 1 | – | – | – | – |",
                    "| [Appendix G](G-gauss-dirichlet.ipynb) | – | – | – | – | – | – | 1 |"]


def shown(verdict):
    return f'<span class="verdict" data-verdict="{verdict}">{verdict}</span>'


def test_the_headlines_answer_for_their_verdict_alone():
    assert register.headlines().splitlines() == [
        "| The paper's claim | Question | Found (and by what evidence) |", "| --- " * 3 + "|",
        f"| {shown('holds')} | [Is it so?](03-dithering.ipynb) | Yes, 7 times. *(exact)* |",
        f"| {shown('holds in part')} | [And now?](03-dithering.ipynb) | Now \\*and\\* then. "
        "*(certified)* |"]


def test_in_a_minute_a_subject_has_all_its_verdicts_and_its_first_answer():
    assert register.in_a_minute().splitlines()[2:] == [
        f"| **[Both](03-dithering.ipynb)** | {shown('holds')} {shown('holds in part')} | "
        "Yes, 7 times. |"]


def test_the_scoreboard():
    head, _, *rows = register.scoreboard(["3.b", "3.d", "G.e"]).splitlines()
    assert head == "| Verdict | Claim | Paper | Here |"
    link = '<a id="verdict-{0}" href="verdicts.html#{0}">{0}</a>'.format
    assert rows == [
        f"| {shown('holds')} | **It is so.** [Section 3](03-dithering.ipynb) · exact · "
        f"{link('3.b')} | 1 &#124; 2 | It is −1 or 10⁴. |",
        f"| {shown('does not hold')} | **Thus.** [Section 3](03-dithering.ipynb) · exact · "
        f"follows from 3.a · {link('3.d')} | x | No. |",
        f"| {shown('can&#x27;t be checked here')} | **A remark.** "
        f"[Appendix G](G-gauss-dirichlet.ipynb) · {link('G.e')} | y | Nothing. |"]
    assert len(register.scoreboard().splitlines()) == 2 + 6


def test_the_explorer_has_every_claim_with_what_it_is_filtered_by():
    table = register.explorer()
    assert table.count("<tr id=") == len(register.REGISTER)
    for one in register.REGISTER.values():
        assert (f'<tr id="{one.id}" data-verdict="{escape(one.judge().verdict)}" data-section="'
                f'{one.section}" data-evidence="{one.kind}">') in table
        assert f'href="{one.page}.html#verdict-{one.id}"' in table
    assert "1 | 2" in table  # as it is: no Markdown here


def test_thresholds_say_when_they_were_chosen(monkeypatch):
    monkeypatch.setattr(register, "THRESHOLDS", {
        "one": Threshold(0.5, "because", late=True), "two": Threshold(2.0, "so", late=False)})
    monkeypatch.setattr(register, "NOT_JUDGED", [("Section 1", "says", "no")])
    assert register.thresholds().splitlines()[2:] == [
        "| one | 0.5 | because | after seeing data |", "| two | 2 | so | before |"]
    assert register.not_judged().splitlines()[::2] == [
        "| Place | The paper | Not judged, because |", "| Section 1 | says | no |"]


@pytest.mark.parametrize(("text", "printed"), [
    ("1e+04 and 2.5e-06", "10⁴ and 2.5·10⁻⁶"), ("11e+04, 0.1e-2", "11·10⁴, 0.1·10⁻²"),
    ("(-3), 2-3, x-3, )-3", "(−3), 2-3, x-3, )-3"), ("10^12", "10¹²"), ("110^12", "110^12"),
    ("9999, 10000, (1234567), 16384th", "9999, 10\u202f000, (1\u202f234\u202f567), 16\u202f384th"),
    ("0.00019, 6.3.45210, 2^12345, w12345", "0.00019, 6.3.45210, 2^12345, w12345")])
def test_numbers_as_print_has_them(text, printed):
    assert typeset(text) == printed
