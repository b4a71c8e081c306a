"""Chapters' figures on another page, as this build shows them, each linked to its place. The paper's
stand in a strip, with what the paper states and what we found: they are found by their captions,
``**Paper, Figure 8.** …``, and the sentences are the verdicts'."""

import json
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform

from rlsvi_study.judging.register import typeset_numbers

from . import verdicts as pages
from .verdicts import FIGURES

BOOK = Path(__file__).parents[1]
PICTURED = 9  # the figures of the main text; those of the appendices have words alone
CAPTION = re.compile(r"\*\*Paper, Figures? ((?:[\d()ab]+(?: and |, )?)+)")


def numbers(caption):
    """Which of the paper's figures a caption announces."""
    match = CAPTION.match(caption)
    return re.findall(r"\d+(?:\([ab]\))?", match[1]) if match else []


@cache
def captioned():
    """Where each figure of the paper is: the page, and the label there. The first one counts."""
    found = {}
    for chapter in sorted(BOOK.glob("*.ipynb")):
        for cell in json.loads(chapter.read_text("utf8"))["cells"]:
            figure = cell["metadata"].get("mystnb", {}).get("figure", {})
            for number in numbers(figure.get("caption", "")):
                found.setdefault(number, (chapter.stem, figure["name"]))
    return found


def rows():
    """The figures that share a picture, in the paper's order: [(page, label, numbers), …]."""
    if missing := FIGURES.keys() - captioned().keys():
        raise ExtensionError(f"no caption begins with Paper, Figure {' or '.join(sorted(missing))}")
    shared = {}
    for number in FIGURES:
        shared.setdefault(captioned()[number], []).append(number)
    return [(*place, together) for place, together in shared.items()]


def words(label, number):
    """The paper's statement, and below it the finding."""
    one = pages.found()[FIGURES[number]]
    return (
        f"{{ref}}`Figure {number} <{label}>` {pages.cell(typeset_numbers(one.statement))}\n\n"
        f'<a href="verdicts.html#{one.id}">{pages.badge(one.verdict, one.main)}</a> '
        f"{pages.cell(one.found)}"
    )


class Strip(pages.Stored):
    """``{strip}``: all of it."""

    def run(self):
        self.env.note_dependency(str(pages.engine.results_folder() / pages.verdicts.VERDICTS_FILE))
        whole = nodes.container(classes=["strip"])
        for page, label, together in rows():
            self.env.note_dependency(str(BOOK / f"{page}.ipynb"))
            text = "\n\n".join(words(label, number) for number in together)
            row = nodes.container(classes=["strip-row"])
            if int(re.match(r"\d+", together[0])[0]) <= PICTURED:
                row += elsewhere(page=page, label=label)
            row += (beside := nodes.container())
            lines = StringList(text.splitlines(), source=self.get_source_info()[0])
            self.state.nested_parse(lines, self.content_offset, beside)
            whole += row
        return [whole]


class Picture(pages.Stored):
    """``{picture} B-conjecture fig-toll``: a chapter's figure, and as its caption what the directive
    contains."""

    required_arguments = 2

    def run(self):
        page, label = self.arguments
        self.env.note_dependency(str(BOOK / f"{page}.ipynb"))
        whole = nodes.container(classes=["picture"])
        whole += elsewhere(page=page, label=label)
        self.state.nested_parse(self.content, self.content_offset, whole)
        return [whole]


class elsewhere(nodes.Element):
    """Where a chapter's figure goes once every page has been read."""


class Figures(SphinxPostTransform):
    default_priority = 5

    def run(self):
        for node in list(self.document.findall(elsewhere)):
            docname = f"{Path(self.env.docname).parent.as_posix()}/{node['page']}"
            figure = next(
                one
                for one in self.env.get_doctree(docname).findall(nodes.figure)
                if node["label"] in one["ids"]
            )
            image = next(figure.findall(nodes.image))
            address = self.app.builder.get_relative_uri(self.env.docname, docname)
            link = nodes.reference(refuri=f"{address}#{node['label']}", internal=True)
            kept = ("uri", "candidates", "alt", "classes")  # not the width that it has there
            link += nodes.image(**{name: image[name] for name in kept})
            node.replace_self(link)


def setup(app):
    app.add_node(elsewhere)
    app.add_directive("strip", Strip)
    app.add_directive("picture", Picture)
    app.add_post_transform(Figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
