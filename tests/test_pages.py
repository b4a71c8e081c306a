"""What the book's directives put into the pages, on four small findings and on those stored."""

import re
from html import escape

import pytest

pytest.importorskip("sphinx", reason="the book's extra is not installed")

from book._ext import verdicts as pages
from rlsvi_study.choices import HEADLINES, NOT_JUDGED, SUBJECTS, THRESHOLDS, Threshold
from rlsvi_study.register import FAILS, HOLDS, OPEN, PARTLY, VERDICTS
from rlsvi_study.verdicts import Finding


def finding(id, verdict, **fields):
    usual = {"place": "Section 3", "section": "Section 3", "page": "03-dithering",
             "statement": "It is so.", "paper": "x", "kind": "exact", "registered": verdict,
             "found": "No.", "numbers": {}, "follows": "", "counted": True, "headline": False}
    return Finding(**usual | {"id": id, "verdict": verdict} | fields)


@pytest.fixture
def small(monkeypatch):
    found = [
        finding("3.b", HOLDS, paper="1 | 2", found="It is −1 or 10⁴.", headline=True,
                question="Is it so?", answer="Yes, 7 times."),
        finding("3.a", PARTLY, kind="certified", headline=True, question="And now?",
                answer="Now *and* then."),
        finding("3.d", FAILS, statement="Thus.", follows="3.a", counted=False),
        finding("G.e", OPEN, kind="none", statement="A remark.", place="Appendix G", paper="y",
                section="Appendix G", page="G-gauss-dirichlet", found="Nothing.")]
    monkeypatch.setattr(pages, "found", lambda: {one.id: one for one in found})
    monkeypatch.setattr(pages, "HEADLINES", dict.fromkeys(("3.b", "3.a")))
    monkeypatch.setattr(pages, "SUBJECTS", {"Both": ("3.b", "3.a")})
    return found


def shown(verdict):
    return f'<span class="verdict" data-verdict="{verdict}">{verdict}</span>'


def test_the_tally(small):
    head, rule, *rows = pages.tally().splitlines()
    assert head == "| Section | " + " | ".join(VERDICTS) + " |"
    assert rule == "| --- " * 8 + "|"
    assert rows == ["| **headlines** | **1** | **1** | **–** | **–** | **–** | **–** | **–** |",
                    "| **details** | **–** | **–** | **–** | **–** | **–** | **–** | **1** |",
                    "| [Section 3](03-dithering.ipynb) | 1 | 1 | – | – | – | – | – |",
                    "| [Appendix G](G-gauss-dirichlet.ipynb) | – | – | – | – | – | – | 1 |"]


def test_the_headlines(small):
    assert pages.headlines().splitlines() == [
        "| The paper's claim | Question | Found (and by what evidence) |", "| --- " * 3 + "|",
        f"| {shown('holds')} | [Is it so?](03-dithering.ipynb) | Yes, 7 times. *(exact)* |",
        f"| {shown('holds in part')} | [And now?](03-dithering.ipynb) | Now \\*and\\* then. "
        "*(certified)* |"]


def test_in_a_minute_a_subject_has_all_its_verdicts_and_its_first_answer(small):
    assert pages.in_a_minute().splitlines()[2:] == [
        f"| **[Both](03-dithering.ipynb)** | {shown('holds')} {shown('holds in part')} | "
        "Yes, 7 times. |"]


def test_the_scoreboard(small):
    head, _, *rows = pages.scoreboard(pages.chosen(["3.b", "3.d", "G."])).splitlines()
    assert head == "| Verdict | Claim | Paper | Here |"
    link = '<a id="verdict-{0}" href="verdicts.html#{0}">{0}</a>'.format
    assert rows == [
        f"| {shown('holds')} | **It is so.** [Section 3](03-dithering.ipynb) · exact · "
        f"{link('3.b')} | 1 &#124; 2 | It is −1 or 10⁴. |",
        f"| {shown('does not hold')} | **Thus.** [Section 3](03-dithering.ipynb) · exact · "
        f"follows from 3.a · {link('3.d')} | x | No. |",
        f"| {shown('can&#x27;t be checked here')} | **A remark.** "
        f"[Appendix G](G-gauss-dirichlet.ipynb) · {link('G.e')} | y | Nothing. |"]


@pytest.mark.parametrize(("words", "ids"), [
    ((["3."],), ["3.b", "3.a", "3.d"]), ((["G.e", "3.b"],), ["3.b", "G.e"]),
    ((["3."], FAILS), ["3.d"]), ((["3."], None, HOLDS), ["3.a", "3.d"]),
    ((["headlines"], None, HOLDS), ["3.a"]), ((["details"],), ["3.d", "G.e"])])
def test_claims_are_chosen_by_name_beginning_and_verdict(words, ids, small):
    assert [one.id for one in pages.chosen(*words)] == ids


def test_a_name_that_means_no_claim_stops_the_build(small):
    with pytest.raises(pages.ExtensionError, match=r"'3\.x'"):
        pages.chosen(["3.b", "3.x"])


def test_the_explorer_has_every_claim_with_what_it_is_filtered_by(small):
    table = pages.explorer()
    assert table.count("<tr id=") == len(small)
    for one in small:
        assert (f'<tr id="{one.id}" data-verdict="{escape(one.verdict)}" data-section="'
                f'{one.section}" data-evidence="{one.kind}">') in table
        assert f'href="{one.page}.html#verdict-{one.id}"' in table
    assert "1 | 2" in table  # as it is: no Markdown here


def test_thresholds_say_when_they_were_chosen(monkeypatch):
    monkeypatch.setattr(pages, "THRESHOLDS", {
        "one": Threshold(0.5, "because", late=True), "two": Threshold(2.0, "so", late=False)})
    assert pages.thresholds().splitlines()[2:] == [
        "| one | 0.5 | because | after seeing data |", "| two | 2 | so | before |"]


def test_a_sentence_has_its_totals(small):
    totals = pages.totals()
    assert (totals["claims"], totals[HOLDS], totals[PARTLY], totals[FAILS]) == (3, 1, 1, 0)
    assert re.fullmatch(r"[\d\u202f]+", totals["rows"])
    assert totals["tables"] == len(pages.EXPERIMENTS)


# --- on what is stored ------------------------------------------------------------------------

def test_a_headline_is_one_sentence_with_an_interval_its_evidence_and_a_link():
    head, _, *rows = pages.headlines().splitlines()
    assert len(rows) == len(HEADLINES)
    assert all(row.count("|") == 4 and "{" not in row for row in (head, *rows))
    for row in rows:
        assert re.search(r"\([^()]*\d(–| to )[−+\d][^()]*\)", row), row
        assert re.search(r"\]\([\w-]+\.ipynb\) \| [^|]*[^.]\. \*\([\w ]+\)\* \|$", row), row
        assert not re.search(r"[a-z)]\. [A-Z]", row), row


@pytest.mark.parametrize(("made", "columns"), [
    (pages.thresholds, 4), (pages.not_judged, 3), (pages.tally, 8), (pages.in_a_minute, 3)])
def test_every_row_has_every_column(made, columns):
    assert {row.count("|") for row in made().splitlines()} == {columns + 1}


def test_every_choice_has_its_row():
    assert len(pages.thresholds().splitlines()) == 2 + len(THRESHOLDS)
    assert len(pages.not_judged().splitlines()) == 2 + len(NOT_JUDGED)
    assert len(pages.in_a_minute().splitlines()) == 2 + len(SUBJECTS)
    assert pages.runs().count(".csv.gz") == len(pages.EXPERIMENTS)
