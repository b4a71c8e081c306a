"""What the judges found and how the tables were computed, put into the pages when the book is
built: directives, each of which takes the place of the link that it contains. JupyterLab shows the
link. A page needs no kernel for them, and a finding's sentence changes in one place. What is only
text (``_data/*.yml``) is read here and nowhere else."""

import json
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote_plus

import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective, SphinxRole

from rlsvi_study import engine
from rlsvi_study.catalogue import EXPERIMENTS, TOPICS
from rlsvi_study.judging import verdicts
from rlsvi_study.judging.outcomes import DEPENDS, DEPENDS_ON, FAILS, HOLDS, MISPRINT, VERDICTS
from rlsvi_study.judging.register import SECTIONS, typeset_numbers
from rlsvi_study.judging.thresholds import THRESHOLDS

from .browser import ROOT

FINDINGS, FIGURES, MISPRINTS, DISCREPANCIES = (
    yaml.safe_load((ROOT / f"book/_data/{name}.yml").read_text("utf8"))
    for name in ("findings", "figures", "misprints", "discrepancies")
)
found = cache(verdicts.load_verdicts)


@cache
def records():
    """The provenance of each table."""
    return {name: engine.read_provenance(one) for name, one in EXPERIMENTS.items()}


def table(*rows):
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "| --- " * (head.count("|") - 1) + "|", *body])


# 2^{S−1}, 2^(S−1), α^R or x_a: what is raised or lowered stands in braces or brackets, or is one word.
RAISED = re.compile(r"([_^])(?:\{([^}]*)\}|\(([^)]*)\)|([^\W_²]+[\u0300-\u036f]?))")


def raised(text):
    """Exponents and indices as HTML has them."""

    def one(found):
        tag = "sup" if found[1] == "^" else "sub"
        return f"<{tag}>{found[2] or found[3] or found[4]}</{tag}>"

    return RAISED.sub(one, text)


def cell(text):
    return raised(text.replace("*", "\\*").replace("|", "&#124;"))


def badge(verdict, main=True):
    """A verdict as a page shows it, in its own colour; filled for a main claim."""
    kind = "verdict" if main else "verdict lesser"
    return f'<span class="{kind}" data-verdict="{escape(verdict)}">{escape(verdict)}</span>'


def chosen(names, only=None, but=None):
    """The claims that are named, by a beginning that ends in a dot, or by what they are: in the
    order of the names, and the main ones first of those that one name means."""
    for name in names:
        if not any(is_meant(one, name) for one in found().values()):
            raise ExtensionError(f"no claim is meant by {name!r}")
    by_weight = sorted(found().values(), key=lambda one: not one.main)
    named = {one.id: one for name in names for one in by_weight if is_meant(one, name)}
    return [one for one in named.values() if only in (None, one.verdict) and but != one.verdict]


def briefly(claims):
    """A line for each: its statement, and what it depends on."""

    def on(one):
        return f" {cell(one.found.partition(':')[0])}." if one.verdict == DEPENDS else ""

    return "\n".join(
        f"- *{cell(typeset_numbers(one.statement))}*{on(one)} "
        f'<a href="verdicts.html#{one.id}">{one.place}</a>'
        for one in claims
    )


def is_meant(one, name):
    return not one.part_of and {"main": one.main, "others": not one.main}.get(
        name, one.id.startswith(name) if name.endswith(".") else one.id == name
    )


def what_was_found(one):
    return f"**{cell(one.found)}** {cell(one.evidence)}".rstrip()


def scoreboard(claims):
    """Claims and their verdicts."""
    return table(
        ("Verdict", "The paper", "Here"),
        *(
            (
                badge(one.verdict, one.main),
                f'{cell(typeset_numbers(one.statement))}<p class="id"><a href="verdicts.html#{one.id}">{one.id}</a></p>',
                what_was_found(one),
            )
            for one in claims
        ),
    )


def three_lines(claims):
    """The first three claims, and a link to all of their section."""
    section = claims[0].section
    count = sum(not one.part_of and one.section == section for one in found().values())
    which = f"all {count} verdicts, with their evidence" if count > 1 else "this verdict's evidence"
    return "\n".join(
        (
            *(
                f"- {badge(one.verdict, one.main)} *{cell(typeset_numbers(one.statement))}* "
                f'{cell(one.found)} <a href="verdicts.html#{one.id}">{one.id}</a>'
                for one in claims[:3]
            ),
            f'\n<a href="verdicts.html?section={quote_plus(section)}">{section}: {which}</a>',
        )
    )


def lines(id):
    """The printed lines of a claim's proof, and what is right."""
    of_claim = [one for one in found().values() if one.part_of == id]
    if not of_claim:
        raise ExtensionError(f"no line is part of {id!r}: its page needs no {{lines}}")
    return table(
        ("Place", "Printed", "Verdict", "Found"),
        *(
            (
                one.place,
                f"{cell(typeset_numbers(one.statement))} · {cell(typeset_numbers(one.paper))}",
                badge(one.verdict, one.main),
                cell(one.found),
            )
            for one in of_claim
        ),
    )


def numbers(id):
    """What a judge measured, with whole numbers as keys where JSON has strings."""
    return json.loads(
        json.dumps(found()[id].numbers),
        object_hook=lambda one: {int(key) if key.isdigit() else key: n for key, n in one.items()},
    )


def filled(id, words):
    """Words with what a judge measured in them, as print has it."""
    return typeset_numbers(words.format(**numbers(id)))


def findings():
    """The start page's findings, each with its number and a link to the chapter of its claim."""
    return "\n".join(
        f"- [**{head}**]({found()[one['claim']].page}.ipynb) {cell(one['finding'])} "
        f"{cell(filled(one['claim'], one.get('number', '')))}".rstrip()
        for head, one in FINDINGS.items()
    )


def how_to_cite():
    """CITATION.cff as BibTeX: this companion, and the paper."""
    ours = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
    (paper,) = ours["references"]
    return "\n".join(
        [
            "```bibtex",
            *entry(
                "software",
                "rlsvi-companion",
                author=f"{{{ours['authors'][0]['name']}}}",
                title=ours["title"],
                version=ours["version"],
                year=ours["date-released"].year,
            ),
            *entry(
                "inproceedings",
                "osband2016generalization",
                author=" and ".join(
                    f"{one['family-names']}, {one['given-names']}" for one in paper["authors"]
                ),
                title=paper["title"],
                booktitle=paper["collection-title"],
                volume=paper["volume"],
                pages=f"{paper['start']}--{paper['end']}",
                year=paper["year"],
            ),
            "```",
        ]
    )


def entry(kind, key, **fields):
    return f"@{kind}{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"


def tally():
    """How many claims have which verdict."""
    depends = (f"{DEPENDS}: {how[:1].lower()}{how[1:]}" for how in DEPENDS_ON.values())
    counted = verdicts.count_verdicts(found().values())
    return table(
        ("Claims", HOLDS, *depends, FAILS),
        *((f"**{name}**", *(str(n or "–") for n in of.values())) for name, of in counted.items()),
    )


@cache
def title(page):
    """The heading of a chapter."""
    chapter = json.loads((Path(__file__).parents[1] / f"{page}.ipynb").read_text("utf8"))
    return "".join(chapter["cells"][0]["source"]).partition("\n")[0].removeprefix("# ")


def folded(evidence):
    """What only somebody who doubts a finding opens."""
    return f"<details><summary>Evidence</summary>{evidence}</details>" if evidence else ""


def explorer():
    """All claims as one table in HTML: a row has its id as anchor and what it can be filtered by as
    data, among it the names of its section and its chapter. The page's script puts the controls
    above it; without it the table stays."""
    rows = {one.id: one for one in found().values() if not one.part_of}
    ids = re.compile("|".join(sorted(map(re.escape, rows), key=len, reverse=True)))

    def text(plain):
        return ids.sub(r'<a href="#\g<0>">\g<0></a>', raised(escape(plain)))

    def row(one):
        where = f'<a href="{one.page}.html">{escape(one.place)}</a>'
        data = {
            "verdict": one.verdict,
            "weight": "main" if one.main else "lesser",
            "section": one.section,
            "name": f"{one.section}: {SECTIONS[one.section.split()[1]].title}",
            "chapter": title(one.page),
            "evidence": one.kind,
        }
        cells = (
            badge(one.verdict, one.main),
            f'{text(typeset_numbers(one.statement))}<p class="id">{where} · <a href="#{one.id}">{one.id}</a></p>',
            f"<strong>{text(one.found)}</strong>{folded(text(one.evidence))}",
        )
        return (
            f'<tr id="{one.id}"'
            + "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
            + f">{''.join(f'<td>{one}</td>' for one in cells)}</tr>"
        )

    head = "".join(f'<th scope="col">{name}</th>' for name in ("Verdict", "The paper", "Here"))
    return (
        f'<table class="table" id="claims"><thead><tr>{head}</tr></thead><tbody>'
        + "\n".join(map(row, rows.values()))
        + "</tbody></table>\n"
        '<script src="../_static/explorer.js" defer></script>'
    )


def thresholds():
    """Every threshold that a judge uses: its two ends, the value that findings are computed with,
    and why."""
    return table(
        ("Threshold", "Ends", "In findings", "Reason"),
        *(
            (
                name,
                " and ".join(f"{end:g}" for end in one.ends) or "none",
                f"{one.value:g}",
                one.reason,
            )
            for name, one in THRESHOLDS.items()
        ),
    )


def misprints():
    """All misprints, first those that change an implementation."""
    slips = {
        one.id: (one.place, one.paper, one.found)
        for one in found().values()
        if one.verdict == MISPRINT
    }
    first, others = (
        [slips.pop(one["claim"]) if "claim" in one else one.values() for one in MISPRINTS[name]]
        for name in ("implementation", "others")
    )
    return "\n\n".join(
        f"**{head}**\n\n"
        + table(
            ("Place", "Printed", "Meant"),
            *(tuple(cell(typeset_numbers(one)) for one in row) for row in rows),
        )
        for head, rows in (
            ("They change an implementation", first),
            ("The others", [*others, *slips.values()]),
        )
    )


def discrepancies():
    """Where two places of the paper disagree, and none is a misprint."""
    return table(
        ("Place", "The paper", "Here"), *(map(cell, one.values()) for one in DISCREPANCIES)
    )


def runs():
    """How each table was computed, by topic, and the table itself."""

    def row(name):
        one, record = EXPERIMENTS[name], records()[name]
        made, (first, end) = record["computed"], record["seeds"]
        commit, plus, changes = made["revision"].partition("+")
        code = f"revision `{commit[:8]}{plus}{changes}`"
        if not made["sources"]:
            code += " (no hash of its sources)"
        return (
            f'<a href="../data/{name}.csv.xz">{name}</a>',
            f"{one.title} ({one.place})",
            f"{len(record['grid'])} × {end - first}",
            f"{made['cpu_seconds'] / 60:.0f}",
            f"{code}, {made['machine']['architecture']}, {made['finished'][:10]}",
        )

    head = ("Table", "What", "Settings × seeds", "CPU min", "Computed")
    return "\n\n".join(
        f"**{name.rpartition('.')[2].capitalize()}**\n\n{table(head, *map(row, topic.tables))}"
        for name, topic in TOPICS.items()
        if topic.tables
    )


def totals():
    """What a sentence may say of all claims, or of all tables."""
    made = [one["computed"] for one in records().values()]
    rows = sum(one["rows"] for one in records().values())
    words = [one.verdict for one in found().values() if not one.part_of]
    return {
        "claims": len(words),
        **{word: words.count(word) for word in VERDICTS},
        "tables": len(made),
        "rows": typeset_numbers(str(rows)),
        "hours": f"{sum(one['cpu_seconds'] for one in made) / 3600:.1f}",
        "machines": " and ".join(sorted({one["machine"]["architecture"] for one in made})),
    }


class Total(SphinxRole):
    """``{total}`rows```, in a sentence."""

    def run(self):
        return [nodes.Text(str(totals()[self.text]))], []


class Found(SphinxRole):
    """``{found}`6.1.learns {median:.0f}```: words with what a judge measured, in a sentence."""

    def run(self):
        return [nodes.Text(filled(*self.text.split(maxsplit=1)))], []


class Stored(SphinxDirective):
    """Markdown that is made from what is stored; what the directive contains is left out."""

    has_content = True

    def run(self):
        self.env.note_dependency(str(engine.results_folder() / verdicts.VERDICTS_FILE))
        whole = nodes.container(classes=["stored"])
        lines = StringList(self.made().splitlines(), source=self.get_source_info()[0])
        self.state.nested_parse(lines, self.content_offset, whole)
        return [whole]


class Verdicts(Stored):
    """``{verdicts} 3.regret 3.``: the first three, that one and then the main ones of section 3;
    with ``:all:`` a table of all, with ``:brief:`` a list."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {
        "only": str,
        "except": str,
        "all": directives.flag,
        "brief": directives.flag,
    }

    def made(self):
        claims = chosen(
            self.arguments[0].split(), self.options.get("only"), self.options.get("except")
        )
        if "brief" in self.options:
            return briefly(claims)
        return (scoreboard if "all" in self.options else three_lines)(claims)


class Lines(Stored):
    """``{lines} G.single-crossing``: the lines of that claim's proof."""

    required_arguments = 1

    def made(self):
        return lines(self.arguments[0])


DIRECTIVES = {
    "findings": findings,
    "how-to-cite": how_to_cite,
    "tally": tally,
    "all-verdicts": explorer,
    "thresholds": thresholds,
    "misprints": misprints,
    "discrepancies": discrepancies,
    "runs": runs,
}


def setup(app):
    app.add_directive("verdicts", Verdicts)
    app.add_directive("lines", Lines)
    for name, made in DIRECTIVES.items():
        app.add_directive(name, type(name, (Stored,), {"made": staticmethod(made)}))
    app.add_role("total", Total())
    app.add_role("found", Found())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
