"""What `_config.yml` cannot say: the repository of a published site, what a link to a page shows,
where MathJax and the tables are, and how our docstrings describe parameters.

Where the theme has no setting for it, its pages are edited after they were written, by `substitute`:
an edit that finds nothing to change, because the theme has become another, stops the build. The
book is built whole (`--all`), so every edit has its page.
"""

import lzma
import os
import re
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from html import escape, unescape
from importlib.util import find_spec
from inspect import cleandoc
from itertools import chain
from pathlib import Path

from docutils import nodes
from PIL import Image
from sphinx.errors import ExtensionError
from sphinx.search.en import SearchEnglish
from sphinx.util.fileutil import copy_asset

# Of this package, whose name is no name in Python, only the files are used.
(PACKAGE,) = find_spec("sphinx-mathjax-offline").submodule_search_locations
MATHJAX = Path(PACKAGE, "static/mathjax")
FONTS = "output/chtml/fonts/woff-v2"
PICTURED = "book/01-introduction"  # its figure stands for pages without one
MOVED = {  # pages that are now part of another, and where in it: their old addresses lead there
    "02-episodic-rl": "01-introduction",
    "06-experiments": "06-chains",
    "06a-coherent": "06-chains",
    "06b-agnostic": "06-chains",
    "figures": "report#figures",
    "glossary": "notation#glossary",
    "own-agent": "own-problem#own-agent",
    "own-study": "own-problem#own-study",
    "project-kappa": "projects#project-kappa",
    "project-prior": "projects#project-prior",
    "project-rate": "projects#project-rate",
}
STUB = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8" />
<meta name="robots" content="noindex" />
<meta http-equiv="refresh" content="1; url={page}.html{place}" />
<title>This page has moved</title>
<script>location.replace("{page}.html" + (location.hash || "{place}"));</script>
<p>This page has moved: <a href="{page}.html{place}">{page}</a></p>
</html>
"""
ALIKE = {"exercise-content", "solution-content", "proof-content", "proof"}
NAMES = "alpha beta gamma epsilon theta kappa lambda rho sigma phi"
GREEK = dict(zip("αβγεθκλρσφ", NAMES.split(), strict=True))


def configure(app, config):
    # The address of the repository is known where the site is published, and only there.
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        owner, _, name = repository.partition("/")
        if server == "https://github.com" and not config.html_baseurl:
            config.html_baseurl = f"https://{owner.lower()}.github.io/{name}/"
        config.html_theme_options |= {
            "repository_url": f"{server}/{repository}",
            "repository_branch": "main",
            "use_repository_button": True,
            "use_edit_page_button": True,
            "use_issues_button": True,
        }


def opening(doctree, most=350):
    """The first sentences of a page without a formula to typeset, of its question and of its answer:
    as many as fit. None is left out in between, so they are one thought."""
    told = (
        " ".join(node.astext().split())
        for node in doctree.findall(nodes.paragraph)
        if node.parent.parent is doctree  # below the title, before the first section
    )
    text = " ".join(re.sub(r"^(?:Question|Answer|In short)\. ", "", one) for one in told)
    chosen = ""
    for sentence in re.split(r"(?<=[.?!]) ", text):
        is_plain = not re.search(r"[\\^_{]|:$", sentence)
        if chosen and (not is_plain or len(chosen) + len(sentence) > most):
            break
        if is_plain:
            chosen = f"{chosen} {sentence}".strip()
    return chosen


def tell(app, pagename, templatename, context, doctree):
    """What a search engine and a message show of a page: title, opening, and a picture where the
    address of the site is known."""
    if doctree is None:
        return
    title = unescape(re.sub(r"<[^>]*>", "", context["title"]))
    words = opening(doctree) or f"{title}. {app.config.html_title}"
    tags = {
        "description": words,
        "og:type": "website",
        "og:title": title,
        "og:description": words,
        "og:site_name": app.config.html_title,
        "twitter:card": "summary",
    }
    if base := app.config.html_baseurl:
        image = pictured(app, pagename)
        tags |= {
            "og:url": context["pageurl"],
            "og:image": f"{base.rstrip('/')}/_images/{app.env.images[image['uri']][1]}",
            "og:image:alt": image["alt"],
            "twitter:card": "summary_large_image",
        }
    context["metatags"] = context.get("metatags", "") + "".join(
        f'\n    <meta {"property" if name.startswith("og:") else "name"}="{name}" '
        f'content="{escape(text)}" />'
        for name, text in tags.items()
    )


def pictured(app, page):
    """The picture of a link to this page: its first figure."""
    return next(
        image
        for one in (page, PICTURED)
        for figure in app.env.get_doctree(one).findall(nodes.figure)
        for image in figure.findall(nodes.image)
    )


def copy_tables(app):
    """The stored tables, for readers to take: compressed, as pandas reads them."""
    (target := Path(app.outdir, "data")).mkdir(exist_ok=True)

    def copy(table):
        Path(target, f"{table.name}.xz").write_bytes(lzma.compress(table.read_bytes()))

    with ThreadPoolExecutor() as pool:  # compressing does not hold Python's lock
        list(pool.map(copy, Path(app.srcdir, "results").glob("*.csv")))


def copy_mathjax(app):
    """One script and its fonts, so that no formula needs another host."""
    for name, folder in (("tex-chtml.js", ""), (FONTS, FONTS)):
        copy_asset(MATHJAX / name, Path(app.outdir, "_static/mathjax", folder))


def forward(folder):
    """At the address of a page that has moved, a link to where its contents are."""
    for old, new in MOVED.items():
        if not Path(folder, f"{old}.html").exists():
            page, sign, label = new.partition("#")
            stub = STUB.format(page=page, place=sign + label)
            Path(folder, f"{old}.html").write_text(stub, "utf8")


def text_at(parent, place):
    """The text that stands there, if it is text."""
    if place in range(len(parent)) and isinstance(parent[place], nodes.Text):
        return parent[place]
    return ""


def keep_together(app, doctree, page):
    """A formula stays on one line with the bracket before and the punctuation after it."""
    for math in list(doctree.findall(nodes.math)):
        parent, place = math.parent, math.parent.index(math)
        before, after = text_at(parent, place - 1), text_at(parent, place + 1)
        opened = re.search(r"[(\[“]?$", before)[0]
        closed = re.match(r"[,.;:?!)\]”’]*", after)[0]
        if opened:
            parent[place - 1] = nodes.Text(before[:-1])
        if closed:
            parent[place + 1] = nodes.Text(after[len(closed) :])
        if opened or closed:
            parent[place] = kept = nodes.inline(classes=["kept"])
            kept += [nodes.Text(opened), math, nodes.Text(closed)]


def substitute(what, pattern, new, texts):
    """The texts, a dictionary, with every match of a pattern replaced. There must be one."""
    changed, matches = {}, 0
    for key, text in texts.items():
        changed[key], n = re.subn(pattern, new, text, flags=re.S)
        matches += n
    if not matches:
        raise ExtensionError(f"{what}: nothing in the built pages matches {pattern}")
    return changed


def keep_room(page, folder):
    """A picture that is still to come has its place, so that the text below it does not move."""

    def sized(tag):
        source = folder / unescape(re.search(r'\bsrc="([^"]*)"', tag[0])[1])
        if " width=" in tag[0]:
            return tag[0]
        with Image.open(source) as image:
            width, height = image.size
        return tag[0].replace("<img ", f'<img loading="lazy" width="{width}" height="{height}" ')

    return re.sub(r"<img [^>]*>", sized, page)


def name_part(match):
    title = unescape(re.sub(r"<[^>]*>", "", match["title"]))
    return f'{match[1]} aria-label="Pages under {escape(title)}">'


EDITS = {  # of the theme's pages: why, what, and by what
    # The style sheet has all icons. A megabyte of script would draw them once more, and hold up ours.
    "icons are drawn once": (r"<script [^>]*/fontawesome\.js[^>]*></script>", ""),
    # The theme's script would choose them only when the page is there.
    "the colours are those of the reader's system at once": (
        r'(localStorage\.getItem\("theme"\) \|\| )"auto"',
        r'\1(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")',
    ),
    # A page is shown before its scripts have come, but for one that a script in the page needs. The
    # index of the search is for the page of results, the only one in the root.
    "only the page of results searches": (
        r'<script src="(?:\.\./)+(?:_static/(?:searchtools|language_data)|searchindex)\.js"></script>',
        "",
    ),
    "scripts wait for the page": (
        r"<script (?=[^>]*\bsrc=)(?![^>]*(?:\bdefer\b|/documentation_options\.js))",
        "<script defer ",
    ),
    # For readers who listen: the sidebar is a landmark, what opens a part of the contents says which,
    # where the theme only draws an arrow, and an entry of the references is one of a list.
    "the sidebar is a landmark": (
        r'<div id="pst-primary-sidebar"',
        '<div role="complementary" aria-label="Contents" id="pst-primary-sidebar"',
    ),
    "a part of the contents has a name": (
        r'(<li class="[^"]*\bhas-children\b[^"]*"><a [^>]*>(?P<title>(?:(?!</a>).)*)</a>'
        r"<details[^>]*><summary)>",
        name_part,
    ),
    "a reference is one of a list": (r'role="doc-biblioentry"', 'role="listitem"'),
    # There is no room for more.
    "a module in the contents has its short name": (
        r'(<li class="toctree-l[^>]*><a [^>]*>)<code[^>]*>'
        r'<span class="pre">(?:rlsvi_core\.)?([^<]*)</span></code>',
        r"\1\2",
    ),
    "a solution's title has its space before the link": (
        r'(<p class="admonition-title">Solution to)(<a [^>]*>) ',
        r"\1 \2",
    ),
    "a proof without a number has its id once": (
        r'(<div class="proof [^>]* id="([^"]*)">\s*<p class="admonition-title") id="\2"',
        r"\1",
    ),
}


def dress(pages):
    """Pages with their edits, and pictures that keep their room."""
    pages = {path: page for path, page in pages.items() if "<head>" in page}  # the root forwards
    for what, (pattern, new) in EDITS.items():
        pages = substitute(what, pattern, new, pages)
    for path in pages:
        pages[path] = keep_room(pages[path], path.parent)
    return pages


def finish(app, exception):
    if exception is None and app.builder.format == "html":
        copy_mathjax(app)
        copy_tables(app)
        pages = {path: path.read_text("utf8") for path in Path(app.outdir).rglob("*.html")}
        for path, page in dress(pages).items():
            path.write_text(page, "utf8")
        forward(Path(app.outdir, "book"))


def in_words(node):
    """Text for a place that shows no formula: its Greek letters are letters."""
    if isinstance(node, nodes.math):
        signs = {name: letter for letter, name in GREEK.items()} | {"ge": "≥", "le": "≤"}
        return re.sub(r"\\([a-zA-Z]+) ?", lambda one: signs.get(one[1], one[1]), node.astext())
    return "".join(map(in_words, node.children)) if node.children else node.astext()


def learn_terms(app, env):
    """The first sentence of every entry in the glossary, by its anchor."""
    env.explained = {
        anchor: re.split(r"(?<=[.?!])\s", in_words(entry.children[-1]))[0]
        for page in {
            page
            for (kind, _), (page, _) in env.domaindata["std"]["objects"].items()
            if kind == "term"
        }
        for entry in env.get_doctree(page).findall(nodes.definition_list_item)
        for term in entry.findall(nodes.term)
        for anchor in term["ids"]
    }


def explain(app, doctree, page):
    """A link to an entry of the glossary shows its first sentence under the pointer."""
    for link in doctree.findall(nodes.reference):
        anchor = link.get("refid") or link.get("refuri", "").partition("#")[2]
        if anchor in app.env.explained:
            link["reftitle"] = app.env.explained[anchor]


def name_once(app, doctree, docname):
    """The extensions for proofs and exercises name all their boxes alike; no link needs it."""
    for node in doctree.findall(nodes.Element):
        node["ids"] = [one for one in node.get("ids", []) if one not in ALIKE]


def without_figure_numbers(app, env):
    """Only the paper's figures have numbers, in their captions; theorems and exercises keep
    theirs."""
    for numbers in env.toc_fignumbers.values():
        numbers.pop("figure", None)


def number_the_unlisted(app, env):
    """Sphinx counts what the pages of the table of contents have. What the other pages have comes
    after: their equations, their exercises."""
    listed = {env.config.root_doc, *chain(*env.toctree_includes.values())}
    counts = Counter()
    for numbers in env.toc_fignumbers.values():
        counts.update({kind: len(of) for kind, of in numbers.items()})
    for page in sorted(env.found_docs - listed):
        numbers = env.toc_fignumbers[page] = defaultdict(dict)
        for node in env.get_doctree(page).findall(nodes.Element):
            kinds = (one.get_enumerable_node_type(node) for one in env.domains.values())
            if isinstance(node, nodes.section):  # whose number is the table of contents' affair
                continue
            if node["ids"] and (kind := next(filter(None, kinds), None)):
                counts[kind] += 1
                numbers[kind][node["ids"][0]] = (counts[kind],)


def describe(app, what, name, obj, options, lines):
    """A parameter described on the line of its name: ``lam : prior precision.`` is not a type."""
    for i in reversed(range(len(lines))):
        if match := re.fullmatch(r"( *)(\w[\w, ]*) : (.+)", lines[i]):
            indent, names, text = match.groups()
            below = lines[i + 1] if i + 1 < len(lines) else ""
            typed = below.startswith(indent + " ") and below.strip()[:1].isupper()
            if not typed or text.endswith("."):
                lines[i : i + 1] = [indent + names, f"{indent}    {text}"]


def untyped(app, what, name, obj, options, lines):
    """Nor is what stands before the colon in a property's docstring."""
    if what == "property":
        lines[:] = [*cleandoc(obj.__doc__ or "").splitlines(), ""]


def without_fields(app, what, name, obj, skip, options):
    """A named tuple's signature has its fields; "alias for field number 0" adds nothing."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def inherited(app, env, node, contnode):
    """A docstring inherited by another module refers to names of its own module."""
    if node.get("refdomain") == "py" and not node.get("refspecific"):
        node["refspecific"] = True  # any module's object of that name
        return env.get_domain("py").resolve_xref(
            env, node["refdoc"], app.builder, node["reftype"], node["reftarget"], node, contnode
        )


class Search(SearchEnglish):
    """Greek letters are found by their names, too; scorer.js has the same for what is asked."""

    def split(self, text):
        return super().split(re.sub("[α-ω]", lambda one: f" {GREEK.get(one[0], one[0])} ", text))


def setup(app):
    app.add_search_language(Search)
    # Early, so that the theme and the math extension read the values set here.
    app.connect("config-inited", configure, priority=1)
    app.connect("build-finished", finish)
    app.connect("autodoc-process-docstring", describe, priority=1)  # before napoleon
    app.connect("autodoc-process-docstring", untyped, priority=1000)  # after it
    app.connect("autodoc-skip-member", without_fields)
    app.connect("missing-reference", inherited)
    app.connect("env-check-consistency", learn_terms)
    app.connect("env-check-consistency", number_the_unlisted)  # the others have numbers before
    app.connect("env-check-consistency", without_figure_numbers)
    app.connect("doctree-resolved", explain)
    app.connect("doctree-resolved", name_once)
    app.connect("doctree-resolved", keep_together)
    app.connect("html-page-context", tell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
