"""What the book's directives put into the pages, on a few small findings and on those stored."""

import re
from html import escape
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx", reason="the book's extra is not installed")

from docutils import nodes

from book._ext import reading, site, strip
from book._ext import verdicts as pages
from rlsvi_study.judging.outcomes import DEPENDS, FAILS, HOLDS, MISPRINT
from rlsvi_study.judging.thresholds import Threshold
from rlsvi_study.judging.verdicts import Finding

BOOK = Path(pages.__file__).parents[1]


def finding(id, verdict, **fields):
    usual = {
        "place": "Section 3",
        "section": "Section 3",
        "page": "03-dithering",
        "statement": "It is so.",
        "paper": "x",
        "kind": "exact",
        "registered": verdict,
        "on": "",
        "found": "No.",
        "evidence": "",
        "numbers": {},
        "part_of": "",
        "main": False,
    }
    return Finding(**usual | {"id": id, "verdict": verdict} | fields)


@pytest.fixture
def small(monkeypatch):
    found = [
        finding(
            "3.b",
            HOLDS,
            statement="It is 1 | 2.",
            found="It is −1 or 10⁴.",
            main=True,
            evidence="By 7.",
            numbers={"n": 7, "at": {"8": 0.51}},
        ),
        finding("3.a", DEPENDS, on="data", kind="certified", main=True, found="Now *and* then."),
        finding("3.d", FAILS, statement="Thus.", part_of="3.a"),
        finding("3.s", MISPRINT, statement="Here.", part_of="3.a", paper="y"),
        finding(
            "G.e",
            FAILS,
            statement="A remark.",
            place="Appendix G",
            paper="y",
            section="Appendix G",
            page="G-gauss-dirichlet",
            found="Nothing.",
        ),
    ]
    monkeypatch.setattr(pages, "found", lambda: {one.id: one for one in found})
    ours = {
        "One.": {"claim": "3.b", "finding": "Yes*.", "number": "It is -{n} at {at[8]:.1f}."},
        "Two.": {"claim": "G.e", "finding": "No."},
    }
    monkeypatch.setattr(pages, "FINDINGS", ours)
    return found


def rows(table):
    """The body of a table in Markdown: the cells of each row."""
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def linked(text):
    """The claims that a text links to."""
    return re.findall(r'href="verdicts\.html#([^"]+)"', text)


def verdicts_in(text):
    return re.findall(r'data-verdict="([^"]+)"', text)


def many(verdict, section, main, n, on=""):
    """So many claims that are alike."""
    page = "03-dithering" if section == "Section 3" else "G-gauss-dirichlet"
    return [
        finding(
            f"{section}.{verdict}{on}.{main}.{i}",
            verdict,
            on=on,
            section=section,
            page=page,
            main=main,
        )
        for i in range(n)
    ]


@pytest.fixture
def counted(monkeypatch):
    """No two groups of claims have the same size."""
    found = [
        *many(HOLDS, "Section 3", True, 7),
        *many(DEPENDS, "Section 3", True, 2, on="condition"),
        *many(DEPENDS, "Section 3", True, 3, on="data"),
        *many(FAILS, "Appendix G", True, 3),
        *many(HOLDS, "Appendix G", False, 4),
        *many(DEPENDS, "Section 3", False, 2, on="reading"),
        *many(FAILS, "Section 3", False, 1),
        finding("3.line", FAILS, part_of="3.a"),
    ]
    monkeypatch.setattr(pages, "found", lambda: {one.id: one for one in found})


def test_the_tally_counts_the_main_claims_and_the_others(counted):
    counts = [[int(n.replace("–", "0")) for n in row[1:]] for row in rows(pages.tally())]
    #                 holds, depends on a reading, on a condition, not enough data, fails
    assert counts == [[7, 0, 2, 3, 3], [4, 2, 0, 0, 1]]


@pytest.fixture
def computed(monkeypatch):
    """Two tables of one topic, one of another; seeds do not begin at 0."""

    def record(rows, grid, seeds, seconds, machine, changes="", sources="fedcba98"):
        made = {
            "cpu_seconds": seconds,
            "revision": f"0123456789{changes}",
            "sources": sources,
            "finished": "2026-11-02T03:04",
            "machine": {"architecture": machine},
        }
        return {"rows": rows, "grid": [{}] * grid, "seeds": seeds, "computed": made}

    made = {
        "one": record(11_000, 7, (3, 8), 600, "arm"),
        "two": record(400, 2, (1, 4), 5000, "arm", changes="+changes"),
        "three": record(30, 5, (10, 12), 9000, "x86", sources=None),
    }
    names = {"chain": ["one", "two"], "lemmas": [], "beyond.tetris": ["three"]}
    monkeypatch.setattr(pages, "records", lambda: made)
    monkeypatch.setattr(
        pages, "EXPERIMENTS", {name: SimpleNamespace(title=name, place="here") for name in made}
    )
    monkeypatch.setattr(
        pages, "TOPICS", {topic: SimpleNamespace(tables=of) for topic, of in names.items()}
    )


def test_a_table_has_its_settings_seeds_and_minutes(computed):
    chain, tetris = re.split(r"\n\n(?=\*\*)", pages.runs())
    assert [row[2:4] for row in rows(chain.partition("\n\n")[2])] == [
        ["7 × 5", "10"],
        ["2 × 3", "83"],
    ]
    assert [row[2:4] for row in rows(tetris.partition("\n\n")[2])] == [["5 × 2", "150"]]
    assert tetris.startswith("**Tetris**")


def test_a_table_says_of_which_code_it_is(computed):
    one, two, three = (line.split(" | ")[4] for line in pages.runs().splitlines() if "csv" in line)
    assert one.startswith("revision `01234567`, arm")
    assert two.startswith("revision `01234567+changes`, arm")
    assert three.startswith("revision `01234567` (no hash of its sources), x86")


def test_a_sentence_has_its_totals(counted, computed):
    totals = pages.totals()
    assert (totals["claims"], totals["tables"], totals["rows"]) == (22, 3, "11\u202f430")
    assert [totals[word] for word in (HOLDS, DEPENDS, FAILS)] == [11, 7, 4]
    assert (totals["hours"], totals["machines"]) == ("4.1", "arm and x86")


def test_a_finding_has_its_number_and_its_chapter(small):
    assert pages.findings().splitlines() == [
        "- [**One.**](03-dithering.ipynb) Yes\\*. It is −7 at 0.5.",
        "- [**Two.**](G-gauss-dirichlet.ipynb) No.",
    ]


def test_exponents_and_indices_are_typeset():
    assert pages.cell("2^(S−1) | α^R, Σ_{t+1}, E X_1²") == (
        "2<sup>S−1</sup> &#124; α<sup>R</sup>, Σ<sub>t+1</sub>, E X<sub>1</sub>²"
    )


def test_the_scoreboard(small):
    first, last = rows(pages.scoreboard(pages.chosen(["3.b", "G."])))
    for (verdict, statement, finding), id in ((first, "3.b"), (last, "G.e")):
        one = pages.found()[id]
        assert verdicts_in(verdict) == [one.verdict]
        assert linked(statement) == [id]
        assert one.found in finding
        assert one.evidence in finding
    assert first[1].startswith("It is 1 &#124; 2.")  # a bar does not end the cell


def test_a_chapter_has_three_lines_of_verdicts_and_a_link(small, monkeypatch):
    small += [finding("3.x", HOLDS), finding("3.y", FAILS, statement="It *is*.")]
    monkeypatch.setattr(pages, "found", lambda: {one.id: one for one in small})
    *lines, _, all_of_them = pages.three_lines(pages.chosen(["3."])).splitlines()
    assert [linked(line) for line in lines] == [["3.b"], ["3.a"], ["3.x"]]  # the main ones first
    assert [line.count("lesser") for line in lines] == [0, 0, 1]
    (line, *_) = pages.three_lines(pages.chosen(["3.y", "3."])).splitlines()  # as the author has it
    assert (linked(line), verdicts_in(line)) == (["3.y"], [FAILS])
    assert "*It \\*is\\*.* No." in line
    assert 'href="verdicts.html?section=Section+3"' in all_of_them
    assert " 4 " in all_of_them


def test_a_list_has_a_line_for_each_claim_with_what_it_depends_on(small):
    data = finding("3.e", DEPENDS, on="data", found="Not enough data, of *two*: 1 to 8.")
    first, last = pages.briefly([pages.found()["G.e"], data]).splitlines()
    assert first == '- *A remark.* <a href="verdicts.html#G.e">Appendix G</a>'
    assert linked(last) == ["3.e"]
    assert last.startswith("- *It is so.* Not enough data, of \\*two\\*. <a")


def test_the_lines_of_a_proof_are_a_table(small):
    table = rows(pages.lines("3.a"))
    assert [verdicts_in(row[2]) for row in table] == [[FAILS], [MISPRINT]]
    assert [row[1] for row in table] == ["Thus. · x", "Here. · y"]
    with pytest.raises(pages.ExtensionError, match=r"'3\.b'"):
        pages.lines("3.b")


def test_misprints_that_change_an_implementation_come_first(small, monkeypatch):
    small += [finding("3.t", MISPRINT, part_of="3.a", place="Section 3, proof", paper="z")]
    monkeypatch.setattr(pages, "found", lambda: {one.id: one for one in small})
    printed = {"place": "Section 4", "printed": "i < L", "meant": "i < l."}
    ours = {"implementation": [{"claim": "3.t"}], "others": [printed]}
    monkeypatch.setattr(pages, "MISPRINTS", ours)
    first, others = re.split(r"\n\n(?=\*\*)", pages.misprints())
    assert rows(first.partition("\n\n")[2]) == [["Section 3, proof", "z", "No."]]
    assert rows(others.partition("\n\n")[2]) == [
        ["Section 4", "i < L", "i < l."],
        ["Section 3", "y", "No."],
    ]


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ((["3."],), ["3.b", "3.a"]),
        ((["G.e", "3.b"],), ["G.e", "3.b"]),
        ((["3.a", "3."],), ["3.a", "3.b"]),
        ((["3."], DEPENDS), ["3.a"]),
        ((["3."], None, HOLDS), ["3.a"]),
        ((["main"], None, HOLDS), ["3.a"]),
        ((["others"],), ["G.e"]),
    ],
)
def test_claims_are_chosen_by_name_beginning_and_verdict(words, ids, small):
    assert [one.id for one in pages.chosen(*words)] == ids


def test_a_name_that_means_no_claim_stops_the_build(small):
    with pytest.raises(pages.ExtensionError, match=r"'3\.x'"):
        pages.chosen(["3.b", "3.x"])


def test_the_explorer_has_every_claim_with_what_it_is_filtered_by(small):
    table = pages.explorer()
    entries = [one for one in small if not one.part_of]
    assert table.count("<tr id=") == len(entries)
    for one in entries:
        row = re.search(f'<tr id="{one.id}" [^>]*>', table)[0]
        for part in (
            f'data-verdict="{escape(one.verdict)}"',
            f'data-section="{one.section}"',
            f'data-name="{one.section}: ',
            f'data-evidence="{one.kind}"',
        ):
            assert part in row
        assert f'href="{one.page}.html"' in table
    assert "It is 1 | 2." in table  # as it is: no Markdown here


def test_thresholds_have_their_two_ends(small, monkeypatch):
    monkeypatch.setattr(
        pages,
        "THRESHOLDS",
        {"one": Threshold(0.5, "because", (0.1, 1)), "two": Threshold(2.0, "so")},
    )
    (_, ends, value, reason), (_, none, convention, _) = rows(pages.thresholds())
    assert (value, reason, convention) == ("0.5", "because", "2")
    assert re.findall(r"[\d.]+", ends) == ["0.1", "1"]
    assert not re.findall(r"\d", none)


def test_how_to_cite_has_the_paper_as_the_references_have_it():
    def fields(text, key):
        entry = re.search(rf"@\w+{{{key},\n(.*?)\n}}", text, re.S)[1]
        return dict(re.findall(r"^ *(\w+) *= *{(.*)},$", entry, re.M))

    ours = fields(pages.how_to_cite(), key := "osband2016generalization")
    assert {"author", "title", "booktitle", "pages", "year"} <= set(ours)
    assert ours.items() <= fields((BOOK / "references.bib").read_text("utf8"), key).items()
    companion = fields(pages.how_to_cite(), "rlsvi-companion")
    assert set(companion) == {"author", "title", "version", "year"}


# --- the minutes on a card --------------------------------------------------------------------


def words(n):
    return nodes.paragraph("", "word " * n)


def test_what_is_open_on_a_page_takes_time():
    card = nodes.paragraph("", "", reading.minutes_to_read())
    figure = nodes.figure("", nodes.image(), nodes.caption("", "word " * 100))
    picture = nodes.container("", nodes.reference("", "", nodes.image()), classes=["strip-row"])
    below = nodes.container("", words(4000), classes=["cell_input"])
    cell = nodes.container("", below, figure, classes=["cell", "tag_hide-input"])
    code = nodes.container("", words(600), classes=["cell_input"])
    shown = nodes.container("", code, classes=["cell"])
    proof = nodes.container("", words(300), nodes.math_block("", "x"), classes=["dropdown"])
    hidden = nodes.container("", words(800), classes=["cell", "tag_hide-cell"])
    formula = nodes.math_block("", "x")
    raw = nodes.raw("", "a b", format="html")
    page = nodes.container("", card, words(1000), cell, shown, proof, hidden, formula, raw, picture)
    assert reading.minutes(page) == pytest.approx(5 + (0.5 + 0.25) + 3 + 0.25 + 0.25)
    reading.fill_in(None, page, "page")
    assert card.astext() == "9 min"


# --- the strip --------------------------------------------------------------------------------


def test_the_strip_has_every_figure_of_the_paper_in_order():
    assert list(strip.FIGURES) == ["1", "2(a)", "2(b)", *map(str, range(3, 15))]
    assert [number for *_, together in strip.rows() for number in together] == list(strip.FIGURES)


@pytest.mark.parametrize(
    ("caption", "numbers"),
    [
        ("**Paper, Figure 8.** 100 instances.", ["8"]),
        ("**Paper, Figure 2(a).** Regret.", ["2(a)"]),
        ("**Paper, Figures 12 and 13.** Ten.", ["12", "13"]),
        ("Regret, as in Figure 8.", []),
        ("**Paper, Figure 10.** 20 seeds.", ["10"]),
    ],
)
def test_a_caption_says_which_figure_it_is(caption, numbers):
    assert strip.numbers(caption) == numbers


def test_figures_that_share_a_picture_share_a_row(monkeypatch):
    places = {
        number: ("C-chain", "both" if number in ("12", "13") else f"fig-{number}")
        for number in strip.FIGURES
    }
    monkeypatch.setattr(strip, "captioned", lambda: places)
    assert strip.rows()[-2:] == [("C-chain", "both", ["12", "13"]), ("C-chain", "fig-14", ["14"])]
    del places["14"]
    with pytest.raises(pages.ExtensionError, match="Figure 14"):
        strip.rows()


# --- a term -----------------------------------------------------------------------------------


def test_a_link_to_a_term_shows_the_first_sentence_of_its_entry():
    def entry(anchor, *definition):
        term, text = nodes.term("", anchor, ids=[anchor]), nodes.paragraph("", "", *definition)
        return nodes.definition_list_item("", term, nodes.definition("", text))

    entries = nodes.definition_list(
        "",
        entry("term-band", nodes.Text("Between\nquantiles. And more.")),
        entry(
            "term-ridge", nodes.Text("It is "), nodes.math("", r"\lambda\sigma^2"), nodes.Text(".")
        ),
    )
    env = SimpleNamespace(
        domaindata={
            "std": {
                "objects": {("term", "band"): ("terms", "term-band"), ("label", "x"): ("y", "x")}
            }
        },
        get_doctree={"terms": entries}.get,
    )
    site.learn_terms(None, env)
    links = [
        nodes.reference("", "a", refuri="terms.html#term-band"),
        nodes.reference("", "b", refid="term-ridge"),
        nodes.reference("", "c", refuri="terms.html#band"),
    ]
    site.explain(SimpleNamespace(env=env), nodes.paragraph("", "", *links), "page")
    assert [link.get("reftitle") for link in links] == ["Between\nquantiles.", "It is λσ^2.", None]


# --- edits of the theme's pages ---------------------------------------------------------------


def test_an_edit_that_finds_nothing_stops_the_build():
    assert site.substitute("why", "b+", "x", {"one": "abb", "two": "c"}) == {
        "one": "ax",
        "two": "c",
    }
    with pytest.raises(pages.ExtensionError, match="sidebar"):
        site.substitute("sidebar", "z", "x", {"one": "abb"})
    with pytest.raises(pages.ExtensionError, match="icons"):
        site.dress({Path("page.html"): '<head><meta charset="utf-8" /></head>'})
