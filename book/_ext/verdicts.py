"""What the judges found and how the tables were computed, put into the pages when the book is
built: directives, each of which takes the place of the link that it contains. JupyterLab shows the
link. A page needs no kernel for them, and a finding's sentence changes in one place."""

from functools import cache
from html import escape
from typing import ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective, SphinxRole

from rlsvi_study import store, verdicts
from rlsvi_study.catalogue import EXPERIMENTS, TOPICS
from rlsvi_study.choices import HEADLINES, NOT_JUDGED, SUBJECTS, THRESHOLDS
from rlsvi_study.register import PAGES, VERDICTS, typeset

found = cache(verdicts.stored)


@cache
def records():
    """What each table says about itself."""
    return {name: store.provenance(one) for name, one in EXPERIMENTS.items()}


def table(*rows):
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "| --- " * (head.count("|") - 1) + "|", *body])


def cell(text):
    return text.replace("*", "\\*").replace("|", "&#124;")


def badge(verdict):
    """A verdict as a page shows it, in its own colour."""
    return f'<span class="verdict" data-verdict="{escape(verdict)}">{escape(verdict)}</span>'


def chosen(names, only=None, but=None):
    """The claims that are named, by a beginning that ends in a dot, or by what they are."""
    for name in names:
        if not any(is_meant(one, name) for one in found().values()):
            raise ExtensionError(f"no claim is meant by {name!r}")
    return [one for one in found().values() if any(is_meant(one, name) for name in names)
            and only in (None, one.verdict) and but != one.verdict]


def is_meant(one, name):
    return {"headlines": one.headline, "details": not one.headline}.get(
        name, one.id.startswith(name) if name.endswith(".") else one.id == name)


def scoreboard(claims):
    """Claims and their verdicts, linked to their chapters."""
    rows = []
    for one in claims:
        notes = [f"[{one.place}]({one.page}.ipynb)",
                 *([one.kind] if one.kind != "none" else []),
                 *([f"follows from {one.follows}"] if one.follows else []),
                 f'<a id="verdict-{one.id}" href="verdicts.html#{one.id}">{one.id}</a>']
        rows.append((badge(one.verdict),
                     f"**{cell(typeset(one.statement))}** {' · '.join(notes)}",
                     cell(typeset(one.paper)), cell(one.found)))
    return table(("Verdict", "Claim", "Paper", "Here"), *rows)


def headlines():
    """What a reader came to know."""
    return table(("The paper's claim", "Question", "Found (and by what evidence)"), *(
        (badge(one.verdict), f"[{one.question}]({one.page}.ipynb)",
         f"{cell(one.answer)} *({one.kind})*") for one in map(found().get, HEADLINES)))


def in_a_minute():
    """One line for each subject: all its verdicts, the first one's answer."""
    rows = []
    for subject, ids in SUBJECTS.items():
        first, *_ = claims = [found()[id] for id in ids]
        rows.append((f"**[{subject}]({first.page}.ipynb)**",
                     " ".join(badge(one.verdict) for one in claims), cell(first.answer)))
    return table(("What the paper treats", "Its claims", "Found"), *rows)


def tally():
    """Headlines, details, and all by section, each linked to the chapter that has its claims."""
    whole = ((f"**{name}**", *(f"**{n or '–'}**" for n in counts.values()))
             for name, counts in verdicts.tally(found().values()).items())
    return table(("Section", *VERDICTS), *whole, *(
        (f"[{name}]({PAGES[name.split()[1]]}.ipynb)", *(str(n or "–") for n in counts.values()))
        for name, counts in verdicts.by_section(found().values()).items()))


def explorer():
    """All claims as one table in HTML: a row has its id as anchor and what it can be filtered by as
    data. The page's script puts the controls above it; without it the table stays."""
    rows = []
    for one in found().values():
        source = f'<a href="{one.page}.html#verdict-{one.id}">{escape(one.place)}</a>'
        notes = [source, one.kind, *([f'follows from <a href="#{one.follows}">{one.follows}</a>']
                                     if one.follows else []), f'<a href="#{one.id}">{one.id}</a>']
        said = (f"<strong>{escape(typeset(one.statement))}</strong> {' · '.join(notes)}",
                escape(typeset(one.paper)), escape(one.found))
        rows.append(f'<tr id="{one.id}" data-verdict="{escape(one.verdict)}" data-section="'
                    f'{one.section}" data-evidence="{one.kind}"><td>{badge(one.verdict)}</td>'
                    + "".join(f"<td>{text}</td>" for text in said) + "</tr>")
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Verdict", "Claim", "Paper", "Here"))
    return (f'<table class="table" id="claims"><thead><tr>{head}</tr></thead><tbody>'
            + "\n".join(rows) + "</tbody></table>\n"
            '<script src="../_static/explorer.js" defer></script>')


def thresholds():
    """Every threshold that a judge uses, and why."""
    return table(("Threshold", "Value", "Reason", "Chosen"), *(
        (name, f"{one.value:g}", one.reason, "after seeing data" if one.late else "before")
        for name, one in THRESHOLDS.items()))


def not_judged():
    """The checkable sentences without an entry, and why."""
    return table(("Place", "The paper", "Not judged, because"), *NOT_JUDGED)


def runs():
    """How each table was computed, by topic, and the table itself."""
    def row(name):
        one, record = EXPERIMENTS[name], records()[name]
        made, (first, end) = record["computed"], record["seeds"]
        return (f'<a href="../data/{name}.csv.gz">{name}</a>', f"{one.title} ({one.place})",
                f"{len(record['grid'])} × {end - first}", f"{made['cpu_seconds'] / 60:.0f}",
                f"revision `{made['revision'][:8]}`, {made['machine']['architecture']}, "
                f"{made['finished'][:10]}")

    head = ("Table", "What", "Settings × seeds", "CPU min", "Computed")
    return "\n\n".join(f"**{topic.capitalize()}**\n\n{table(head, *map(row, names))}"
                       for topic, names in TOPICS.items())


def totals():
    """What a sentence may say of all claims, or of all tables."""
    counts = [*verdicts.tally(found().values()).values()]
    made = [one["computed"] for one in records().values()]
    rows = sum(one["rows"] for one in records().values())
    return {**{verdict: sum(count[verdict] for count in counts) for verdict in VERDICTS},
            "claims": sum(sum(count.values()) for count in counts),
            "tables": len(made), "rows": typeset(str(rows)),
            "hours": f"{sum(one['cpu_seconds'] for one in made) / 3600:.1f}",
            "machines": " and ".join(sorted({one["machine"]["architecture"] for one in made}))}


class Total(SphinxRole):
    """``{total}`rows```, in a sentence."""

    def run(self):
        return [nodes.Text(str(totals()[self.text]))], []


class Stored(SphinxDirective):
    """Markdown that is made from what is stored; what the directive contains is left out."""

    has_content = True

    def run(self):
        self.env.note_dependency(str(store.results_folder() / verdicts.NAME))
        whole = nodes.container(classes=["stored"])
        lines = StringList(self.made().splitlines(), source=self.get_source_info()[0])
        self.state.nested_parse(lines, self.content_offset, whole)
        return [whole]


class Verdicts(Stored):
    """``{verdicts} 3. 6.psrl``: the claims of section 3, and one more."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"only": str, "except": str}

    def made(self):
        return scoreboard(chosen(self.arguments[0].split(), self.options.get("only"),
                                 self.options.get("except")))


DIRECTIVES = {"headlines": headlines, "in-a-minute": in_a_minute, "tally": tally,
              "all-verdicts": explorer, "thresholds": thresholds, "not-judged": not_judged,
              "runs": runs}


def setup(app):
    app.add_directive("verdicts", Verdicts)
    for name, made in DIRECTIVES.items():
        app.add_directive(name, type(name, (Stored,), {"made": staticmethod(made)}))
    app.add_role("total", Total())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
