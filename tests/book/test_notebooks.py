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


def test_no_timings_are_stored(cells):
    timed = [i for i, cell in enumerate(cells, 1) if "execution" in cell["metadata"]]
    assert not timed, "the same code no longer gives the same bytes; run: make execute"


def test_no_machine_paths_in_output(cells):
    assert not [(i, w) for i, out in outputs(cells) for w in words(out) if MACHINE_PATH.search(w)]


def test_figures_have_alt_text(cells):
    silent = [
        i
        for i, cell in enumerate(cells, 1)
        if any(k.startswith("image/") for out in cell["outputs"] for k in out.get("data", {}))
        and not cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "").strip()
    ]
    assert not silent, "set mystnb.image.alt in the metadata of these code cells"
