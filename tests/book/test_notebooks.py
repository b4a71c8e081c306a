"""What a stored chapter must look like before its output is worth comparing.

nbval does not compare a cell that was never counted, and would happily compare a stored traceback
with the same traceback; these checks close both doors.
"""

import json
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[2] / "book"
NOTEBOOKS = sorted(BOOK.glob("*.ipynb"))
MACHINE_PATH = re.compile(r"/(?:home|Users|root|work|tmp|usr|opt|var)/|\b[A-Z]:\\\\")
LONGEST_CELL = 30
LONGEST_LINE = 88  # what the rendered page shows without scrolling


def text(value):
    """Notebooks store text as a string or as a list of lines."""
    return value if isinstance(value, str) else "".join(value)


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return json.loads(request.param.read_text("utf8"))


@pytest.fixture
def cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs(cells):
    return [(i, out) for i, cell in enumerate(cells, 1) for out in cell["outputs"]]


def words(output):
    """Everything in an output that a reader sees as text."""
    yield text(output.get("text", ""))
    for kind, value in output.get("data", {}).items():
        if kind.startswith("text/"):
            yield text(value)


def test_there_are_chapters():
    assert NOTEBOOKS


def test_kernel_is_the_one_every_installation_has(notebook):
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


def test_was_run_from_top_to_bottom(cells):
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1)), (
        "not executed in order; run: make execute"
    )


def test_no_errors_and_nothing_on_stderr(cells):
    bad = [
        (i, text(out.get("text", out.get("evalue", ""))))
        for i, out in outputs(cells)
        if out["output_type"] == "error" or out.get("name") == "stderr"
    ]
    assert not bad


def test_no_machine_paths_in_output(cells):
    assert not [(i, w) for i, out in outputs(cells) for w in words(out) if MACHINE_PATH.search(w)]


def test_cells_are_short(cells):
    lengths = {i: len(text(cell["source"]).splitlines()) for i, cell in enumerate(cells, 1)}
    assert not {i: n for i, n in lengths.items() if n > LONGEST_CELL}


def test_figures_have_alt_text(cells):
    silent = [
        i
        for i, cell in enumerate(cells, 1)
        if any(k.startswith("image/") for out in cell["outputs"] for k in out.get("data", {}))
        and not cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "").strip()
    ]
    assert not silent, "set mystnb.image.alt in the metadata of these code cells"


def test_code_fits_the_page(cells):
    long = [
        line
        for cell in cells
        for line in text(cell["source"]).splitlines()
        if len(line) > LONGEST_LINE
    ]
    assert long == []


# --- the shape of a page ----------------------------------------------------------------------

CHAPTERS = [*(path for path in NOTEBOOKS if path.stem != "index"), BOOK / "report.md"]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_opens_with_its_card(path):
    words = path.read_text("utf8")
    card = text(json.loads(words)["cells"][0]["source"]) if path.suffix == ".ipynb" else words
    assert "**You should know**" in card
    assert "**Reading time** {reading-time}`min`" in card


SLOTS = [
    "The idea",
    "The mathematics",
    "The code",
    "The figures",
    "What it shows",
    "Verdicts",
    "Exercises",
]
IN_SLOTS = [path for path in NOTEBOOKS if path.stem not in ("index", "guide", "own-problem")]


def markdown(path):
    """The text of a page, its cells joined."""
    words = path.read_text("utf8")
    return (
        words
        if path.suffix == ".md"
        else "\n\n".join(
            text(cell["source"])
            for cell in json.loads(words)["cells"]
            if cell["cell_type"] == "markdown"
        )
    )


@pytest.mark.parametrize("path", IN_SLOTS, ids=lambda path: path.stem)
def test_a_chapter_answers_its_question_and_has_the_slots_of_all_chapters(path):
    page = markdown(path)
    before = page.partition("\n## ")[0]
    assert before.index("**Question.**") < before.index("**Answer.**")
    headings = re.findall(r"^## (.*)$", page, flags=re.M)
    assert headings == [slot for slot in SLOTS if slot in headings]
    assert page.count("{verdicts}") == ("Verdicts" in headings)


@pytest.mark.parametrize("path", IN_SLOTS, ids=lambda path: path.stem)
def test_a_chapter_shows_something_before_its_first_formula(path):
    """A figure, a table or a thing to play with comes before displayed mathematics."""
    for cell in json.loads(path.read_text("utf8"))["cells"]:
        source = text(cell["source"])
        if cell["cell_type"] == "code" or 'class="widget' in source:
            break
        assert not re.search(r"\$\$|```{math}", source)


FOLDED = "|".join(
    (
        r"^:{3,}\{solution-start\}.*?^:{3,}\{solution-end\}",
        r"^(:{3,})\{dropdown\}.*?^\1$",
        r"^(:{3,})\{[^\n]*\n(?::[^\n]*\n)*?:class:[^\n]*dropdown.*?^\2$",
    )
)
NOT_PROSE = "|".join(
    (
        r"```.*?```",
        r"\$\$.*?\$\$",
        r"^\|[^\n]*$",
        r"^:{3,}[^\n]*$",
        r"^:[\w-]+:[^\n]*$",
        r"</?[a-z][^>]*>",
        r"^\([\w-]+\)=$",
    )
)


def words_of_prose(page):
    """Those outside code, tables, displayed mathematics and folds; a formula in a line is a
    word."""
    for left_out in (FOLDED, NOT_PROSE):
        page = re.sub(left_out, " ", page, flags=re.S | re.M)
    return len(re.sub(r"\$[^$]+\$", "x", page).split())


LONG = ("05-tabular", "06c-tetris", "B-conjecture", "G-gauss-dirichlet")
PAGES = sorted({*NOTEBOOKS, *BOOK.glob("*.md")})


def test_words_of_prose_are_counted():
    assert words_of_prose("Two $x + y$ words.\n\n| a | b |\n\n$$z = 1$$") == 3
    assert words_of_prose(":::{dropdown} Proof\nlong\n:::\nshort\n\n```python\ncode\n```") == 1
    assert (
        words_of_prose(
            "::::{admonition} Proof\n:class: dropdown\nlong\n\n:::{note}\nso\n:::\n::::\nshort"
        )
        == 1
    )
    assert words_of_prose(":::{solution-start} ex\n:::\nlong\n:::{solution-end}\n:::\nend") == 1


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_keeps_to_its_budget(path):
    assert words_of_prose(markdown(path)) <= (2500 if path.stem in LONG else 1500)


def test_the_book_keeps_to_its_budget():
    assert sum(words_of_prose(markdown(path)) for path in PAGES) <= 22_000
