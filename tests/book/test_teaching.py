"""What the board has is what chapter 4 calculates, and what the lab gives to its students."""

import json
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

BOOK = Path(__file__).parents[2] / "book"
LINE = re.compile(r"= .*?([+-] )?(-?[\d.]+)/\\sqrt\{(\d+)\} = (-?[\d.]*\d)")  # … z/√(n+1) = value


def cells(name, kind):
    for cell in json.loads((BOOK / f"{name}.ipynb").read_text("utf8"))["cells"]:
        if cell["cell_type"] == kind:
            yield "".join(cell["source"]), cell["metadata"].get("tags", [])


@pytest.fixture(scope="module")
def board():
    names = {}
    exec(next(source for source, _ in cells("teaching", "code")), names)
    plt.close("all")
    return names


def test_the_board_has_the_numbers_of_chapter_4(board):
    text = "".join(source for source, _ in cells("04-randomized-value-functions", "markdown"))
    chapter = [
        (str(int(root) - 1), float(z) * (-1 if sign == "- " else 1), value)
        for sign, z, root, value in LINE.findall(text)
    ]
    drawn = [(n, float(z), value) for _, _, n, z, _, value in board["rows"]]
    assert chapter == drawn[:6]
    left, right = (value for *_, value in drawn[6:])
    assert f"Left has the value ${left}$ and Right ${right}$" in text


def test_the_lab_has_them_too(board):
    task = next(source for source, tags in cells("lab", "code") if "z0 =" in source and tags)
    exec("import numpy as np\n" + task, lab := {})
    n, z = ([*lab[f"{what}1"].ravel(), *lab[f"{what}0"]] for what in "nz")
    assert list(zip(n, z, strict=True)) == list(board["pairs"].values())
