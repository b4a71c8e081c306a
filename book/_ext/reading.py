"""What a page is counted by: the minutes it takes to read, and no figure numbers but the paper's.

A card says ``{reading-time}`min```. When the page is made, everything on it is counted: text,
tables, captions, verdicts and the code that is shown, at 200 words per minute, and a quarter of a
minute for each figure and each displayed formula. What is folded (proofs, code) is counted
apart. Code below a figure is not counted."""

from docutils import nodes
from sphinx.util.docutils import SphinxRole

WORDS_PER_MINUTE = 200
MINUTES_PER_PICTURE = 1 / 4  # a figure, or a displayed formula


class minutes_to_read(nodes.Inline, nodes.TextElement):
    """Stands in a card until the page is complete."""


class ReadingTime(SphinxRole):
    def run(self):
        return [minutes_to_read()], []


def is_folded(node):
    return isinstance(node, nodes.Element) and bool(
        {"dropdown", "tag_hide-cell"} & set(node.get("classes", []))
    )


def is_plotting(node):
    """The input of a code cell that is hidden under its figure."""
    return (
        isinstance(node, nodes.Element)
        and "cell_input" in node.get("classes", [])
        and "tag_hide-input" in node.parent.get("classes", [])
    )


def minutes(node):
    """What is open, and what is folded."""
    if isinstance(node, nodes.Text):
        return len(node.split()) / WORDS_PER_MINUTE, 0.0
    if isinstance(node, (nodes.raw, nodes.comment)) or is_plotting(node):
        return 0.0, 0.0
    if isinstance(node, nodes.math):
        return 1 / WORDS_PER_MINUTE, 0.0
    if isinstance(node, nodes.math_block):
        return MINUTES_PER_PICTURE, 0.0
    found = [minutes(child) for child in node.children]
    open_, folded = (sum(part) for part in zip(*found, strict=True)) if found else (0.0, 0.0)
    open_ += MINUTES_PER_PICTURE * isinstance(node, nodes.figure)
    return (0.0, open_ + folded) if is_folded(node) else (open_, folded)


def fill_in(app, doctree, page):
    if cards := list(doctree.findall(minutes_to_read)):
        open_, folded = map(round, minutes(doctree))
        words = f"{max(open_, 1)} min" + (f", plus {folded} folded" if folded else "")
        for card in cards:
            card.replace_self(nodes.Text(words))


def without_figure_numbers(app, env):
    """Only the paper's figures have numbers, in their captions; theorems and exercises keep
    theirs."""
    for numbers in env.toc_fignumbers.values():
        numbers.pop("figure", None)


def setup(app):
    app.add_node(minutes_to_read)
    app.add_role("reading-time", ReadingTime())
    app.connect("doctree-resolved", fill_in)
    app.connect("env-check-consistency", without_figure_numbers)  # numbers are given before
    return {"parallel_read_safe": True, "parallel_write_safe": True}
