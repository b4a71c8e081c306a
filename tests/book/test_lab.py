"""The lab's checks, on the sample answers. As stored, with nothing done, nbval holds them."""

import contextlib
import io
import json
from pathlib import Path

BOOK = Path(__file__).parents[2] / "book"


def code(name):
    """The code cells of a page, and the chapter that each belongs to."""
    chapter = ""
    for cell in json.loads((BOOK / name).read_text("utf8"))["cells"]:
        chapter = cell["metadata"].get("chapter", chapter)
        if cell["cell_type"] == "code":
            yield "".join(cell["source"]), cell["metadata"].get("tags", []), chapter


def test_the_sample_answers_pass_the_checks_of_the_lab():
    imports, *answers = (source for source, _, of in code("solutions.ipynb") if of == "lab")
    names, said = {}, []
    exec(imports, names)
    for source, tags, _ in code("lab.ipynb"):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(answers.pop(0) if "task" in tags else source, names)
        if "hide-input" in tags:
            said.append(out.getvalue())
    assert not answers
    assert said
    assert all(one.startswith("right") for one in said), said
