"""The minutes that a page takes to read. A card says ``{reading-time}`min```; when the page is made,
what is open on it is counted: 200 words a minute, and a quarter of a minute for each picture and
each displayed formula. What is folded and the code below a figure are not."""

from docutils import nodes
from sphinx.util.docutils import SphinxRole

WORDS_PER_MINUTE = 200
MINUTES_PER_PICTURE = 1 / 4  # or displayed formula


class minutes_to_read(nodes.Inline, nodes.TextElement):
    """Stands in a card until the page is complete."""


class ReadingTime(SphinxRole):
    def run(self):
        return [minutes_to_read()], []


def is_folded(node):
    classes = node.get("classes", [])
    if "cell_input" in classes:  # it may stand below its figure
        return "tag_hide-input" in node.parent.get("classes", [])
    return "dropdown" in classes or "tag_hide-cell" in classes


def minutes(node):
    if isinstance(node, nodes.Text):
        return len(node.split()) / WORDS_PER_MINUTE
    if isinstance(node, (nodes.raw, nodes.comment)) or is_folded(node):
        return 0.0
    if isinstance(node, (nodes.math_block, nodes.image)):
        return MINUTES_PER_PICTURE
    return sum(map(minutes, node.children), 0.0)


def fill_in(app, doctree, page):
    for card in list(doctree.findall(minutes_to_read)):
        card.replace_self(nodes.Text(f"{max(1, round(minutes(doctree)))} min"))


def setup(app):
    app.add_node(minutes_to_read)
    app.add_role("reading-time", ReadingTime())
    app.connect("doctree-resolved", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
