"""No result is typed by hand.

Numbers in prose come from somewhere: a table or a judge by ``glue``, mathematics, the paper, or
a setting. What is typed is found here, in chapters, captions, alternative texts and the README.

A typed number may be the name of something (section 6.1, N = 50), stand in the code of the same
chapter or in the settings of a table that it uses, be the paper's (``PAPER``), or be ``DECLARED``
with what recomputes it. Results are glued.
"""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rlsvi_core.envs.tetris import Tetris
from rlsvi_study import catalogue, engine
from rlsvi_study.chain.regions import success_rates
from rlsvi_study.conjecture.claims import WIN
from rlsvi_study.conjecture.prior import EPISODES
from rlsvi_study.judging import verdicts
from rlsvi_study.recommender.claims import instance

ROOT = Path(__file__).parents[2]
NOT_PROSE = re.compile(
    "|".join(
        (
            r"```.*?```",
            r"^(?::{3,}|`{3,})[^\n]*",
            r"^:[\w-]+:[^\n]*",
            r"<!--.*?-->",
            r"\$\$.*?\$\$",
            r"\$[^$]+\$",
            r"\{[\w:-]+\}`[^`]*`",
            r"`[^`]*`",
            r"\[\d\.\d(?=\]\()",
            r"\]\([^)]*\)",
            r"https?://\S+",
            r"<[^>]+>",
            r"^#+ [\dA-G]\w?\. ",
            r"^\| \[\d\w? ",
            r"^\s*\d+\.(?=\s)",
            r"\\begin\{.*?\\end\{\w+\*?\}",
            r"^\(?[\w-]+\)=$",
        )
    ),
    re.S | re.M,
)
NAMED = re.compile(  # sections, figures and other things that have a number for a name
    r"(?:\b|(?=§))(?:[Ss]ections?|[Aa]ppendi(?:x|ces)|[Cc]hapters?|[Ll]ectures?|[Ff]igures?|[Tt]ables?|"
    r"[Ee]quations?|"
    r"[Aa]lgorithms?|[Tt]heorems?|[Ll]emmas?|[Cc]onjectures?|[Ee]xamples?|[Dd]efinitions?|"
    r"[Ff]ootnotes?|[Ll]ines?|[Ss]teps?|[Ee]xercises?|App\.|Python|DT-|FrozenLake|number|§)\s?"
    r"[A-G]?\d[\w.]*(?:\([a-z]\))?(?:(?:,|×| by|,? and| to|–|…| or)\s?[A-G]?\d[\w.]*)*|"
    r"(?:\b[A-Za-z]|[γελρση])\s?[=<>≤≥]\s?\d[\d.]*|\b[A-G]\.\d(?:\.\d)?|\b(?:19[5-9]\d|20(?!00)[0-2]\d)\b"
)
NUMBER = re.compile(r"(?<![\w^_])[−+-]?\d+(?:[.,  ]\d+)*(?:[eE][+-]?\d+)?%?")


def plain(number):
    """As a float, without a sign for per cent."""
    return float(re.sub(r"[^\d.e+-]", "", number.replace("−", "-")))


def typed(text):
    """The numbers that stand in a text as they are."""
    text = text.replace("\u202f", " ")  # between thousands, where no line may break
    return NUMBER.findall(NAMED.sub(" ", NOT_PROSE.sub(" ", text)))


def joined(value):
    return value if isinstance(value, str) else "".join(value)


@cache
def cells():
    """(chapter, which, cell) of all notebooks. A solution counts as its chapter's."""
    found = []
    for file in sorted((ROOT / "book").glob("*.ipynb")):
        chapter, place = file.name, "cell"
        for number, cell in enumerate(json.loads(file.read_text("utf8"))["cells"]):
            if "chapter" in cell["metadata"]:
                chapter, place = f"{cell['metadata']['chapter']}.ipynb", f"{file.stem} cell"
            found.append((chapter, f"{place} {number}", cell))
    return found


def prose():
    """(where, text) of all that is prose."""
    for file in (ROOT / "README.md", *sorted((ROOT / "book").glob("*.md"))):
        yield file.name, file.read_text("utf8")
    for chapter, which, cell in cells():
        if cell["cell_type"] == "markdown":
            yield f"{chapter}, {which}", joined(cell["source"])
        of = cell["metadata"].get("mystnb", {})
        yield f"{chapter}, {which}, caption", of.get("figure", {}).get("caption", "")
        yield f"{chapter}, {which}, alt", of.get("image", {}).get("alt", "")


# --- where a typed number may come from ------------------------------------------------------

SMALL = {"0", "1", "2"}  # states, coins, halves: no result is told by these
LEVELS = {"95%", "90%", "10", "90", "5%"}  # of intervals and bands; test_plots compares them
PAPER = {  # the paper's own numbers, and where they stand
    "500": "section 6.1",
    "22": "section 6.2",
    "3183": "section 6.2",
    "3500": "section 6.2",
    "4500": "section 6.2",
    "0.99": "appendix D",
    "1200": "section 6.3",
}
ABOUT = 0.15  # how far "some" may be from what is meant


def found(id, *path):
    """A number that a judge found."""
    value = verdicts.stored()[id].numbers
    for name in path:
        value = value[name]
    return value


def seeds(name):
    first, end = engine.record(catalogue.EXPERIMENTS[name])["seeds"]
    return end - first


def runs_per_point():
    """Of the shares of runs that learn: a moving window over the runs, sorted by ρ."""
    return 1001 - len(success_rates(engine.load(catalogue.EXPERIMENTS["fig6"]))) + 1


DECLARED = {  # every other typed number, and what recomputes it
    "README.md": {"300": lambda: found("6.1.learns", "tenth", "median")},
    "06-experiments.ipynb": {
        "3": lambda: seeds("fig14-tuning"),
        "20": lambda: seeds("fig7"),
        "50": lambda: seeds("fig2a"),
        "100": lambda: seeds("recommender"),
    },
    "06b-agnostic.ipynb": {"41": runs_per_point, "0.08": lambda: 0.5 / runs_per_point() ** 0.5},
    "06c-tetris.ipynb": {"23": lambda: np.mean([Tetris(pieces=one).A for one in Tetris().pieces])},
    "B-conjecture.ipynb": {"0.55": lambda: int(WIN.p) / int(WIN.q)},
    "B-proofs.ipynb": {
        "0.55": lambda: int(WIN.p) / int(WIN.q),
        "0.45": lambda: 1 - int(WIN.p) / int(WIN.q),
        "8.84": lambda: (17 + 2 * 65**0.5 + 5**0.5) / 4,
    },
    "E-recommender.ipynb": {"4521": lambda: len(instance(0).states[0])},
    "F-extensions.ipynb": {"3000": lambda: found("F.travel", "half", "8"), "65 000": lambda: 2**16},
    "project-prior.ipynb": {"200 000": lambda: EPISODES["toll"]},
}


def numbers(value):
    """Those in a setting, however deep."""
    if isinstance(value, dict):
        value = list(value.values())
    return (
        set().union(*map(numbers, value))
        if isinstance(value, list)
        else {value}
        if isinstance(value, (int, float))
        else set()
    )


@cache
def settings(*names):
    """What was set and not found in some tables: constants, seeds, runs, the axes of their grids;
    of an axis with more than twelve values only its ends."""
    found = set()
    for name in names:
        record = engine.record(catalogue.EXPERIMENTS[name])
        seeds = record["seeds"][1] - record["seeds"][0]
        found |= numbers(record["constants"]) | {seeds, seeds * len(record["grid"])}
        for axis in {axis for cell in record["grid"] for axis in cell}:
            values = sorted(numbers([cell[axis] for cell in record["grid"] if axis in cell]))
            found |= {*(values if len(values) <= 12 else (values[0], values[-1])), len(values)}
    return found


def known(where):
    """The numbers that may stand in the prose of a file: those in its code, and the settings of the
    studies that it imports."""
    file = ROOT / ("README.md" if where == "README.md" else f"book/{where}")
    if file.suffix == ".md":
        code = "\n".join(re.findall(r"```.*?```", file.read_text("utf8"), re.S))
        tables = ["fig2a"]
    else:
        code = "\n".join(
            joined(cell["source"])
            for chapter, _, cell in cells()
            if chapter == where and cell["cell_type"] == "code"
        )
        tables = [
            name
            for topic, has in catalogue.TOPICS.items()
            for name in has.tables
            if re.search(rf"rlsvi_study(?:\.(?:beyond\.)?| import .*){topic}\b", code)
        ]
    literals = {
        float(one.replace("_", "")) for one in re.findall(r"(?<![\w.])\d[\d_]*\.?\d*", code)
    }
    return literals | settings(*tables)


def strangers(where, text):
    """The typed numbers that come from nowhere."""
    file = where.split(",")[0]
    sourced, allowed = {*SMALL, *LEVELS, *PAPER, *DECLARED.get(file, {})}, known(file)
    return [
        one
        for one in typed(text)
        if one not in sourced
        and not {abs(plain(one)), plain(one) / 100 if one.endswith("%") else plain(one)} & allowed
    ]


def test_the_finder_finds_what_is_typed_and_nothing_else():
    assert typed("Figure 2(a) of section 6.1 has 37 seeds, 12% of $x^2 = 9$; `run(4)` (2016)") == [
        "37",
        "12%",
    ]
    assert typed("{glue:text}`n` runs, N = 50, [link](page-3.html)\n1. one\n## 6a. Title") == []
    assert typed(":::{div} card\n9 runs\n:::\n\n:label: of-8\n\n7 more") == ["9", "7"]
    assert strangers("README.md", "Some 71 µs, 50 seeds, 2000 episodes.") == ["71"]


@pytest.mark.parametrize(
    ("where", "text"), [pytest.param(*one, id=one[0]) for one in prose() if typed(one[1])]
)
def test_no_number_in_prose_is_typed_without_a_source(where, text):
    assert strangers(where, text) == []


@pytest.mark.parametrize(
    ("file", "number"), [(file, number) for file in DECLARED for number in DECLARED[file]]
)
def test_a_declared_number_is_there_and_is_what_its_source_says(file, number):
    assert any(number in typed(text) for where, text in prose() if where.split(",")[0] == file)
    assert plain(number) == pytest.approx(DECLARED[file][number](), rel=ABOUT)
