"""Mathematics is typeset when the book is built: MathJax runs here, in V8, and a page carries what
it makes, in boxes for the eye and as MathML for a screen reader. A browser has nothing to compute,
and needs one style sheet and the fonts. Lengths are in em; how large that is, custom.css says."""

import json
import re
import shutil
from functools import cache, partial
from html import unescape
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from py_mini_racer import MiniRacer
from sphinx.util.logging import getLogger
from sphinx.util.math import get_node_equation_number

# Of django-static-mathjax only the files are used.
(PACKAGE,) = find_spec("mathjax").submodule_search_locations
MATHJAX = Path(PACKAGE, "static/mathjax/es5")
PARTS = [
    "core",
    "adaptors/liteDOM",
    "input/tex",
    "output/chtml",
    "output/chtml/fonts/tex",
    "a11y/assistive-mml",
]
OUTPUT = {"startup": {"typeset": False}, "chtml": {"matchFontHeight": False, "fontURL": "."}}
FUNCTIONS = """
const html = node => MathJax.startup.adaptor.outerHTML(node);
const typeset = (tex, display) => html(MathJax.tex2chtml(tex, { display }));
const styleSheet = () => MathJax.startup.adaptor.textContent(MathJax.chtmlStylesheet());
"""
CLASS = "math notranslate nohighlight"
# What no browser needs, or custom.css has: a fifth of a page with many formulas.
IDLE = re.compile(
    r' (?:xmlns="[^"]*"|jax="CHTML"|style="position: relative;"|unselectable="on"|data-mjx-texclass="\w+"'
    r'|class="(?:MathJax|mjx-\w)"|texclass="\w+"|display="inline"|stretchy="false")'
)
# One sign in a box of its own.
BOXED = re.compile(r"<mjx-(m[ion])>(<mjx-c [^>]*></mjx-c>)</mjx-\1>")
logger = getLogger(__name__)


def mathjax(options):
    """MathJax with these options, and the functions that are called here."""
    parts = [(MATHJAX / f"{name}.js").read_text("utf8") for name in ("startup", *PARTS)]
    # The loader goes to work when the script ends, and is told that the parts are there.
    parts.insert(1, f"MathJax.loader.preLoad(...{json.dumps(['loader', 'startup', *PARTS])});")
    engine = MiniRacer()
    engine.eval("\n;".join([f"var MathJax = {json.dumps(options | OUTPUT)}", *parts, FUNCTIONS]))
    return engine


def start(app):
    if app.builder.format == "html":
        engine = mathjax(app.config.mathjax3_config)
        app.builder.typeset = cache(partial(engine.call, "typeset"))  # many formulas come again
        app.builder.style_sheet = partial(engine.call, "styleSheet")


def fault(html):
    """What MathJax found wrong with a formula, if anything."""
    error = re.search(r'data-mjx-error="([^"]*)"', html)
    return error and unescape(error[1])


def typeset(translator, node, tex, display):
    html = translator.builder.typeset(tex, display)
    if error := fault(html):
        logger.warning("%s in %s", error, tex, location=node)
    return BOXED.sub(r"\2", IDLE.sub("", html))


def visit_math(self, node):
    self.body += [
        self.starttag(node, "span", "", CLASS=CLASS),
        typeset(self, node, node.astext(), False),
        "</span>",
    ]
    raise nodes.SkipNode


def visit_math_block(self, node):
    tex = node.astext()
    if r"\\" in tex and not node["nowrap"]:
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    self.body.append(self.starttag(node, "div", CLASS=CLASS))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body += [typeset(self, node, tex, True), "</div>\n"]
    raise nodes.SkipNode


def keep_together(app, doctree, page):
    """A formula stays on one line with the bracket before and the punctuation after it."""
    for math in list(doctree.findall(nodes.math)):
        parent, place = math.parent, math.parent.index(math)
        before, after = (
            parent[i] if i in range(len(parent)) and isinstance(parent[i], nodes.Text) else ""
            for i in (place - 1, place + 1)
        )
        opened, closed = re.search(r"[(\[“]?$", before)[0], re.match(r"[,.;:?!)\]”’]*", after)[0]
        if opened:
            parent[place - 1] = nodes.Text(before[:-1])
        if closed:
            parent[place + 1] = nodes.Text(after[len(closed) :])
        if opened or closed:
            parent[place] = kept = nodes.inline(classes=["kept"])
            kept += [nodes.Text(opened), math, nodes.Text(closed)]


def write_style_sheet(app):
    """The rules of all formulas that were typeset, and the fonts that they name."""
    (target := Path(app.outdir, "_static/mathjax")).mkdir(exist_ok=True)
    css = app.builder.style_sheet()
    (target / "mathjax.css").write_text(css, "utf8")
    for font in re.findall(r'url\("\./([^"]*)"\)', css):
        shutil.copy(MATHJAX / "output/chtml/fonts/woff-v2" / font, target)


def setup(app):
    app.add_html_math_renderer("typeset", (visit_math, None), (visit_math_block, None))
    app.connect("builder-inited", start)
    app.connect("doctree-resolved", keep_together)
    return {"parallel_read_safe": True, "parallel_write_safe": False}  # one sheet for all pages
