"""No result is typed by hand: ours are printed by a cell, or come by a directive.

What is typed is found here, in chapters, captions, alternative texts and the README. It may be the
name of something (section 6.1, N = 50), stand in the code of the same chapter, or be in one of the
two lists below: those that may stand anywhere, and those that a page may have.
"""

import json
import re
from functools import cache
from pathlib import Path

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
            r"\b\d:\d\d\b",
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


EVERYWHERE = {
    *("0", "1", "2"),  # states, coins, halves: no result is told by these
    *("6.1", "6.2", "6.3"),  # sections
    *("95%", "90%", "10", "90", "5%"),  # levels of intervals and bands
    *("20", "50", "100", "1000", "2000", "3000", "10 000", "20 000"),  # seeds, runs, episodes
    *("500", "22", "3183", "3500", "4500", "0.99", "1200"),  # the paper's own
}
ALLOWED = {
    "README.md": {"300"},  # the tenth reward of 6.1.learns, about
    "01-introduction.ipynb": {"6"},  # what an axis shows
    "05-proofs.ipynb": {"16", "32"},
    "06-chains.ipynb": {"41", "400", "1001"},  # the longest chain; runs a point, and all runs
    "06c-tetris.ipynb": {"3", "4", "23", "200", "600"},  # games; placements of a piece, on average
    "06d-recommender.ipynb": {"31", "4521", "6000"},  # states, as in section 6.3; customers
    "B-conjecture.ipynb": {"0.55"},  # the chance to win a gamble
    "B-proofs.ipynb": {"0.55", "16", "8.84"},  # the toll's feature, and (17 + 2√65 + √5)/4
    "C-chain.ipynb": {"40", "300", "5000"},
    "D-tetris.ipynb": {"400", "600"},  # games
    "E-recommender.ipynb": {"31", "4521"},  # states, as in section 6.3
    "F-extensions.ipynb": {"65 000"},  # 2¹⁶, about
    "notation.md": {"10%"},
    "guide-evidence.ipynb": {"12"},
    "since-2016.ipynb": {"1024", "4096"},
}
HISTORY = {"judging.md"}  # its tallies are those of earlier revisions


def in_code(file):
    """The numbers in the code of a page."""
    if file.endswith(".md"):
        path = ROOT / file if file == "README.md" else ROOT / "book" / file
        code = "\n".join(re.findall(r"```.*?```", path.read_text("utf8"), re.S))
    else:
        code = "\n".join(
            joined(cell["source"])
            for chapter, _, cell in cells()
            if chapter == file and cell["cell_type"] == "code"
        )
    return {float(one.replace("_", "")) for one in re.findall(r"(?<![\w.])\d[\d_]*\.?\d*", code)}


def strangers(where, text):
    """The typed numbers that come from nowhere."""
    file = where.split(",")[0]
    listed, coded = EVERYWHERE | ALLOWED.get(file, set()), in_code(file)

    def is_known(number):
        value = plain(number) / 100 if number.endswith("%") else plain(number)
        return number in listed or abs(plain(number)) in coded or value in coded

    return [number for number in typed(text) if not is_known(number)]


def test_the_finder_finds_what_is_typed_and_nothing_else():
    assert typed("Figure 2(a) of section 6.1 has 37 seeds, 12% of $x^2 = 9$; `run(4)` (2016)") == [
        "37",
        "12%",
    ]
    assert typed("{glue:text}`n` runs, N = 50, [link](page-3.html)\n1. one\n## 6a. Title") == []
    assert typed(":::{div} card\n9 runs\n:::\n\n:label: of-8\n\n7 more") == ["9", "7"]
    assert strangers("README.md", "Some 71 µs, 50 seeds, 2000 episodes.") == ["71"]


def test_no_number_in_prose_is_typed_without_a_source():
    found = {where: strangers(where, text) for where, text in prose() if where not in HISTORY}
    assert {where: numbers for where, numbers in found.items() if numbers} == {}
