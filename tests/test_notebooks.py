"""What a stored chapter must look like before its output is worth comparing.

nbval does not compare a cell that was never counted, and would happily compare a stored traceback
with the same traceback; these checks close both doors.
"""

import json
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[1] / "book"
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
    long = [line for cell in cells for line in text(cell["source"]).splitlines()
            if len(line) > LONGEST_LINE]
    assert long == []


CHAPTERS = [*(path for path in NOTEBOOKS if path.stem != "index"), BOOK / "report.md"]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_opens_with_its_card(path):
    words = path.read_text("utf8")
    card = text(json.loads(words)["cells"][0]["source"]) if path.suffix == ".ipynb" else words
    assert "**You should know**" in card
    assert "**Reading time** {reading-time}`min`" in card
