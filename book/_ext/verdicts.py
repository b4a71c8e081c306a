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

from rlsvi_study import engine, verdicts
from rlsvi_study.catalogue import EXPERIMENTS, TOPICS
from rlsvi_study.register import MISPRINT, OURS, SECTIONS, VERDICTS, typeset
from rlsvi_study.thresholds import THRESHOLDS

from .browser import ROOT

FIVE, FIGURES, MISPRINTS, NOT_JUDGED = (
    yaml.safe_load((ROOT / f"book/_data/{name}.yml").read_text("utf8"))
    for name in ("five", "figures", "misprints", "not_judged")
)
found = cache(verdicts.stored)


@cache
def records():
    """The provenance of each table."""
    return {name: engine.record(one) for name, one in EXPERIMENTS.items()}


def table(*rows):
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "| --- " * (head.count("|") - 1) + "|", *body])


def superscripts(text):
    """2^{S−1} as HTML has it."""
    return re.sub(r"\^\{(.*?)\}", r"<sup>\1</sup>", text)


def cell(text):
    return superscripts(text.replace("*", "\\*").replace("|", "&#124;"))


def badge(verdict):
    """A verdict as a page shows it, in its own colour."""
    return f'<span class="verdict" data-verdict="{escape(verdict)}">{escape(verdict)}</span>'


def chosen(names, only=None, but=None):
    """The claims that are named, by a beginning that ends in a dot, or by what they are."""
    for name in names:
        if not any(is_meant(one, name) for one in found().values()):
            raise ExtensionError(f"no claim is meant by {name!r}")
    return [
        one
        for one in found().values()
        if any(is_meant(one, name) for name in names)
        and only in (None, one.verdict)
        and but != one.verdict
    ]


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
                badge(one.verdict),
                f'{cell(typeset(one.statement))} <a href="verdicts.html#{one.id}">{one.id}</a>',
                what_was_found(one),
            )
            for one in claims
        ),
    )


def three_lines(claims):
    """The claims that matter most, the worst verdict first among equals, and a link to all of
    their section."""
    by_weight = sorted(claims, key=lambda one: (not one.main, -VERDICTS.index(one.verdict)))
    section = claims[0].section
    count = sum(not one.part_of and one.section == section for one in found().values())
    return "\n".join(
        (
            *(
                f"- {badge(one.verdict)} *{cell(typeset(one.statement))}* {cell(one.found)} "
                f'<a href="verdicts.html#{one.id}">{one.id}</a>'
                for one in by_weight[:3]
            ),
            f'\n<a href="verdicts.html?section={quote_plus(section)}">'
            f"{section}: all {count} verdicts, with their evidence</a>",
        )
    )


def lines(id):
    """The lines of a claim's proof: what is printed, and what is right."""
    of_claim = [one for one in found().values() if one.part_of == id]
    if not of_claim:
        raise ExtensionError(f"no line is part of {id!r}")
    return table(
        ("Place", "Printed, or our step", "Verdict", "Found"),
        *(
            (
                one.place,
                cell(typeset(one.statement))
                if one.paper == OURS
                else f"{cell(typeset(one.statement))} · {cell(typeset(one.paper))}",
                badge(one.verdict),
                cell(one.found),
            )
            for one in of_claim
        ),
    )


def five():
    """The start page's sentences, by subject, with the numbers that were found."""
    return {
        subject: typeset(
            one["words"].format(*(found()[id].numbers for id in one["claims"].values()))
        )
        for subject, one in FIVE.items()
    }


def in_a_minute():
    """Five sentences, each a link to its chapter, and the verdicts that each stands on."""

    def line(subject, words):
        claims = {label: found()[id] for label, id in FIVE[subject]["claims"].items()}
        page = next(iter(claims.values())).page
        return f"[**{subject}.** {cell(words)}]({page}.ipynb) " + " ".join(
            f'<a href="verdicts.html#{one.id}">{label} {badge(one.verdict)}</a>'
            for label, one in claims.items()
        )

    return "\n\n".join(line(*one) for one in five().items())


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
    """The twenty, the others, and all by section, each linked to the chapter of its claims."""
    whole = (
        (f"**{name}**", *(f"**{n or '–'}**" for n in counts.values()))
        for name, counts in verdicts.tally(found().values()).items()
    )
    return table(
        ("Section", *VERDICTS),
        *whole,
        *(
            (
                f"[{name}]({SECTIONS[name.split()[1]].page}.ipynb)",
                *(str(n or "–") for n in counts.values()),
            )
            for name, counts in verdicts.by_section(found().values()).items()
        ),
    )


@cache
def title(page):
    """The heading of a chapter."""
    chapter = json.loads((Path(__file__).parents[1] / f"{page}.ipynb").read_text("utf8"))
    return "".join(chapter["cells"][0]["source"]).partition("\n")[0].removeprefix("# ")


def explorer():
    """All claims as one table in HTML: a row has its id as anchor and what it can be filtered by as
    data, among it the names of its section and its chapter. The page's script puts the controls
    above it; without it the table stays."""
    rows = []
    for one in found().values():
        if one.part_of:
            continue
        source = f'<a href="{one.page}.html">{escape(one.place)}</a>'
        said = (
            f"{superscripts(escape(typeset(one.statement)))} {source} "
            f'<a href="#{one.id}">{one.id}</a>',
            f"<strong>{superscripts(escape(one.found))}</strong> "
            f"{superscripts(escape(one.evidence))}",
        )
        rows.append(
            f'<tr id="{one.id}" data-verdict="{escape(one.verdict)}" data-section="'
            f'{one.section}" data-name="{one.section}: {SECTIONS[one.section.split()[1]].title}" '
            f'data-chapter="{title(one.page)}" data-evidence="{one.kind}">'
            f"<td>{badge(one.verdict)}</td>"
            + "".join(f"<td>{text}</td>" for text in said)
            + "</tr>"
        )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Verdict", "The paper", "Here"))
    return (
        f'<table class="table" id="claims"><thead><tr>{head}</tr></thead><tbody>'
        + "\n".join(rows)
        + "</tbody></table>\n"
        '<script src="../_static/explorer.js" defer></script>'
    )


def thresholds():
    """Every threshold that a judge uses, why, and whose verdict turns within its range."""
    return table(
        ("Threshold", "Value", "Sensible", "Reason", "Turns"),
        *(
            (
                name,
                f"{one.value:g}",
                " to ".join(f"{end:g}" for end in one.range) or "a convention",
                one.reason,
                ", ".join(id for id, claim in found().items() if name in claim.turned) or "–",
            )
            for name, one in THRESHOLDS.items()
        ),
    )


def misprints():
    """All misprints."""
    slips = [
        (one.place, one.paper, one.found) for one in found().values() if one.verdict == MISPRINT
    ]
    return table(
        ("Place", "Printed", "Meant"),
        *(
            tuple(map(cell, map(typeset, row)))
            for row in (*(one.values() for one in MISPRINTS), *slips)
        ),
    )


def not_judged():
    """The checkable sentences without an entry, and why."""
    return table(
        ("Place", "The paper", "Not judged, because"), *(one.values() for one in NOT_JUDGED)
    )


def runs():
    """How each table was computed, by topic, and the table itself."""

    def row(name):
        one, record = EXPERIMENTS[name], records()[name]
        made, (first, end) = record["computed"], record["seeds"]
        return (
            f'<a href="../data/{name}.csv.xz">{name}</a>',
            f"{one.title} ({one.place})",
            f"{len(record['grid'])} × {end - first}",
            f"{made['cpu_seconds'] / 60:.0f}",
            f"revision `{made['revision'][:8]}`, {made['machine']['architecture']}, "
            f"{made['finished'][:10]}",
        )

    head = ("Table", "What", "Settings × seeds", "CPU min", "Computed")
    return "\n\n".join(
        f"**{name.capitalize()}**\n\n{table(head, *map(row, topic.tables))}"
        for name, topic in TOPICS.items()
    )


def totals():
    """What a sentence may say of all claims, or of all tables."""
    counts = [*verdicts.tally(found().values()).values()]
    made = [one["computed"] for one in records().values()]
    rows = sum(one["rows"] for one in records().values())
    return {
        **{verdict: sum(count[verdict] for count in counts) for verdict in VERDICTS},
        "claims": sum(sum(count.values()) for count in counts),
        "tables": len(made),
        "rows": typeset(str(rows)),
        "hours": f"{sum(one['cpu_seconds'] for one in made) / 3600:.1f}",
        "machines": " and ".join(sorted({one["machine"]["architecture"] for one in made})),
    }


class Total(SphinxRole):
    """``{total}`rows```, in a sentence."""

    def run(self):
        return [nodes.Text(str(totals()[self.text]))], []


class Stored(SphinxDirective):
    """Markdown that is made from what is stored; what the directive contains is left out."""

    has_content = True

    def run(self):
        self.env.note_dependency(str(engine.results_folder() / verdicts.NAME))
        whole = nodes.container(classes=["stored"])
        lines = StringList(self.made().splitlines(), source=self.get_source_info()[0])
        self.state.nested_parse(lines, self.content_offset, whole)
        return [whole]


class Verdicts(Stored):
    """``{verdicts} 3. 6.psrl``: of the claims of section 3, and one more, the three that matter
    most; with ``:all:`` a table of all."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"only": str, "except": str, "all": directives.flag}

    def made(self):
        claims = chosen(
            self.arguments[0].split(), self.options.get("only"), self.options.get("except")
        )
        return (scoreboard if "all" in self.options else three_lines)(claims)


class Lines(Stored):
    """``{lines} G.single-crossing``: the lines of that claim's proof."""

    required_arguments = 1

    def made(self):
        return lines(self.arguments[0])


DIRECTIVES = {
    "in-a-minute": in_a_minute,
    "how-to-cite": how_to_cite,
    "tally": tally,
    "all-verdicts": explorer,
    "thresholds": thresholds,
    "misprints": misprints,
    "not-judged": not_judged,
    "runs": runs,
}


def setup(app):
    app.add_directive("verdicts", Verdicts)
    app.add_directive("lines", Lines)
    for name, made in DIRECTIVES.items():
        app.add_directive(name, type(name, (Stored,), {"made": staticmethod(made)}))
    app.add_role("total", Total())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
