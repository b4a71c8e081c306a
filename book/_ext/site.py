"""What `_config.yml` cannot say: the repository of a published site, what a link to a page shows,
what a page may load and run, and how our docstrings describe parameters."""

import json
import lzma
import os
import re
import shutil
from base64 import b64encode
from hashlib import sha256
from html import escape, unescape
from inspect import cleandoc
from pathlib import Path
from textwrap import wrap

from docutils import nodes
from matplotlib.font_manager import findfont
from PIL import Image, ImageDraw, ImageFont, ImageOps

from .mathematics import cut, write_style_sheet
from .verdicts import five

PREVIEW, PREVIEWED = "_static/preview.png", "book/06a-coherent"
ALIKE = {"exercise-content", "solution-content", "proof-content", "proof"}
LIGHT, DARK = (rf'html\[data-theme="?{name}"?\]' for name in ("light", "dark"))
RULE = re.compile(r"[^{}/;]+\{[^{}]*\}")


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
        }


def opening(doctree, most=200):
    """The first sentences of a page in plain words."""
    text = " ".join(
        node.astext()
        for node in doctree.findall(nodes.paragraph)
        if isinstance(node.parent, nodes.section)
    )
    text = re.sub(r"\b(?:Question|Answer)\. ", "", " ".join(text.split()))
    chosen = ""
    for sentence in re.split(r"(?<=[.?!]) ", text):
        formula = re.search(r"[\\^_{]", sentence)
        if len(chosen) > 25 and (formula or len(chosen) + len(sentence) > most):
            break
        if not formula:
            chosen = f"{chosen} {sentence}".strip()
    return chosen


def tell(app, pagename, templatename, context, doctree):
    """What a search engine and a message show of a page: title, opening, and a picture where the
    address of the site is known. The first page opens with the paper's verdict in short."""
    if doctree is None:
        return
    title = unescape(re.sub(r"<[^>]*>", "", context["title"]))
    if pagename == app.config.root_doc:
        words = " ".join(
            f"{subject}: {re.split(r'(?<=[.?!]) ', sentence)[0]}"
            for subject, sentence in five().items()
        )
    else:
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
        tags |= {
            "og:url": context["pageurl"],
            "og:image": f"{base.rstrip('/')}/{PREVIEW}",
            "og:image:alt": "A figure of the book",
            "twitter:card": "summary_large_image",
        }
    context["metatags"] = context.get("metatags", "") + "".join(
        f'\n    <meta {"property" if name.startswith("og:") else "name"}="{name}" '
        f'content="{escape(text)}" />'
        for name, text in tags.items()
    )


def draw_preview(app):
    """The picture of a link to this site: the title, and the first figure of a chapter."""
    if not app.config.html_baseurl:
        return
    uri = next(app.env.get_doctree(PREVIEWED).findall(nodes.image))["uri"]
    figure = Path(app.outdir, "_images", app.builder.images[uri]).with_suffix(".webp")
    preview(app.config.html_title, figure, Path(app.outdir, PREVIEW))


def preview(title, figure, target):
    sheet = Image.new("RGB", (1200, 630), "white")
    with Image.open(figure) as image:
        image = ImageOps.contain(image.convert("RGB"), (1120, 450), Image.Resampling.LANCZOS)
    sheet.paste(image, ((1200 - image.width) // 2, 160 + (450 - image.height) // 2))
    font = ImageFont.truetype(findfont("DejaVu Sans:bold"), 38)
    ImageDraw.Draw(sheet).multiline_text(
        (600, 80),
        "\n".join(wrap(title, 44)),
        "#14181e",
        font,
        anchor="mm",
        align="center",
        spacing=10,
    )
    sheet.quantize(64, dither=0).save(target, optimize=True)


def policy(page):
    """The Content-Security-Policy of a page: files of this site, and what the theme wrote into the
    page, named by its hash. What stands in a chapter's text or output is not named: a script there
    does not run. Styles may be inline, because formulas and the theme have them."""
    theme = re.sub(r"<article\b.*</article>", "", page, flags=re.S)
    scripts = re.findall(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", theme, flags=re.S)
    handlers = map(unescape, re.findall(r'<\w[^>]*\son\w+="([^"]*)"', theme))
    hashes = sorted(
        {
            f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"
            for code in (*scripts, *handlers)
        }
    )
    return "; ".join(
        [
            "default-src 'self'",
            "img-src 'self' data:",
            "style-src 'self' 'unsafe-inline'",
            f"script-src 'self' 'unsafe-hashes' {' '.join(hashes)}",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        ]
    )


def copy_tables(app):
    """The stored tables, for readers to take: compressed, as pandas reads them."""
    (target := Path(app.outdir, "data")).mkdir(exist_ok=True)
    for table in Path(app.srcdir, "results").glob("*.csv"):
        Path(target, f"{table.name}.xz").write_bytes(lzma.compress(table.read_bytes(), preset=9))


def lighten(app):
    """What no reader needs: maps for debuggers, the theme's words in other languages, more colours
    in a figure than an eye tells apart, the output of notebooks that are for running."""
    static = Path(app.outdir, "_static")
    for path in {*static.rglob("*.map"), *static.glob("scripts/fontawesome*")}:
        path.unlink()
    shutil.rmtree(static / "locales", ignore_errors=True)
    for path in Path(app.outdir, "_images").glob("*.png"):
        few = Image.open(path).convert("RGB").quantize(method=Image.Quantize.FASTOCTREE, dither=0)
        white = few.convert("RGB").point(lambda value: 255 if value > 251 else value)
        white.save(path.with_suffix(".webp"), lossless=True, quality=100)
        path.unlink()
    for path in Path(app.outdir, "_downloads").rglob("*.ipynb"):
        notebook = json.loads(path.read_text("utf8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell |= {"outputs": [], "execution_count": None}
        path.write_text(json.dumps(notebook, ensure_ascii=False, separators=(",", ":")), "utf8")


def pick_icons(app):
    """Of the theme's two thousand icons, those that a page, a script or a style sheet shows."""
    styles = Path(app.outdir, "_static/styles/pydata-sphinx-theme.css")
    css, fonts = styles.read_text("utf8"), Path(app.outdir, "_static/vendor/fontawesome/webfonts")
    shown = set(
        re.findall(
            r"\bfa-[\w-]+",
            "".join(
                path.read_text("utf8")
                for path in (
                    *Path(app.outdir).rglob("*.html"),
                    *Path(app.outdir, "_static/scripts").glob("*.js"),
                )
            ),
        )
    )
    signs = set(re.findall("[\ue000-\uf8ff]", css))

    def kept(rule):
        names = re.findall(r"\.(fa-[\w-]+)", rule[0])
        if not shown.intersection(names):
            return ""
        signs.update(chr(int(code, 16)) for code in re.findall(r"\\([0-9a-f]+)", rule[0]))
        return rule[0]

    css = re.sub(r'(?:\.fa-[\w-]+:+before,?)+\{content:"[^"]*"\}', kept, css)
    for path in fonts.glob("*.ttf"):
        cut(path, path.with_suffix(".woff"), signs)
        path.unlink()
        path.with_suffix(".woff2").unlink()
    css = re.sub(
        r'url\((\S*)\.woff2\) format\("woff2"\),url\(\S*\.ttf\) format\("truetype"\)',
        r'url(\1.woff) format("woff")',
        css,
    )
    styles.write_text(css, "utf8")


def pick_fonts(app):
    """Of the fonts for formulas, those that a formula uses: a rule names them after its class."""
    styles = Path(app.outdir, "_static/mathjax/mathjax.css")
    css = styles.read_text("utf8")
    pages = "".join(path.read_text("utf8") for path in Path(app.outdir).rglob("*.html"))
    shown = set(re.findall(r"[\w-]+", "".join(re.findall(r"<mjx-[^>]*>", pages))))
    used = set()
    for kind, names in re.findall(r"([\w-]+) \{\s*font-family: ([^;]*);", css):
        used |= set(re.findall(r"[\w-]+", names)) if kind in shown else set()

    def kept(face):
        if re.search(r"font-family: ([\w-]+)", face[0])[1] in used:
            return face[0]
        (styles.parent / re.search(r'url\("\./([^"]*)"\)', face[0])[1]).unlink(missing_ok=True)
        return ""

    styles.write_text(re.sub(r"@font-face[^{]*\{[^}]*\}\s*", kept, css), "utf8")


def without_scripts(app):
    """The theme has a light and a dark palette, and a script that chooses. Until it has, or where
    none may run, a page has ``data-theme="auto"``: as the reader's system prefers."""
    for path in Path(app.outdir, "_static").rglob("*.css"):
        css = path.read_text("utf8")
        auto = "html[data-theme=auto]"
        dark = [re.sub(DARK, auto, rule) for rule in RULE.findall(css) if re.search(DARK, rule)]
        css = re.sub(LIGHT, f"html:is([data-theme=light],{auto[4:]})", css)
        if dark:
            css += "@media screen and (prefers-color-scheme:dark){" + "".join(dark) + "}\n"
        path.write_text(css, "utf8")


def slim(page, folder):
    """A page that loads what it uses, shows its text before its scripts, has its colours from the
    first moment, and keeps the room of a picture that is still to come."""
    page = page.replace(  # the theme would look later what the reader's system prefers
        'localStorage.getItem("theme") || "auto"',
        'localStorage.getItem("theme") || '
        '(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")',
    )
    unused = r"scripts/fontawesome\.js"
    if "search-results" not in page:  # the page of results; the others only ask
        unused += r"|searchtools\.js|language_data\.js|searchindex\.js"
    if not (formulas := 'jax="CHTML"' in page):
        page = re.sub(r"<link [^>]*mathjax\.css[^>]*>\s*", "", page)
    if formulas or re.search(r'<table class="[^"]*\btable\b', page):
        page = page.replace('class="bd-article"', 'class="bd-article fits"', 1)
    else:
        unused += r"|formulas\.js"
    if "<img " not in page:
        unused += r"|zoom\.js"
    page = re.sub(r'<link rel="preload" as="script"[^>]*>\s*', "", page)  # the text goes first
    page = re.sub(rf'<script\b[^>]*\bsrc="[^"]*(?:{unused})[^"]*"[^>]*></script>\s*', "", page)
    # What stands inline in the head speaks to this one, so it must be there.
    page = re.sub(
        r'<script (?=[^>]*src="(?![^"]*documentation_options))(?![^>]*\bdefer\b)',
        "<script defer ",
        page,
    )

    shell, article, rest = page.partition("<article")
    page = re.sub(r"\n\s*\n", "\n", shell) + article + rest
    # Code in the colour of its block needs no mark, nor a formula what is so everywhere.
    page = re.sub(r'<span class="[npw]">([^<]*)</span>', r"\1", page)
    page = re.sub(
        r' (?:xmlns="http://www.w3.org/1998/Math/MathML"|data-mjx-texclass="[^"]*"|'
        r'unselectable="on" display="inline"|style="position: relative;")(?=[^<]*>)',
        "",
        page,
    )

    def sized(image):
        tag = re.sub(r'(?<=")([^"]*_images/[^"]*)\.png(?=")', r"\1.webp", image[0])
        source = folder / unescape(re.search(r'\bsrc="([^"]*)"', tag)[1])
        if " width=" in tag or source.suffix not in (".webp", ".svg"):
            return tag
        width, height = size(source)
        return tag.replace("<img ", f'<img loading="lazy" width="{width}" height="{height}" ')

    return re.sub(r"<img [^>]*>", sized, page)


def name_parts(page):
    """For readers who listen: what opens a part of the contents says which, where the theme
    only draws an arrow; the sidebar is a landmark; an entry of the references is one of a list."""

    def named(match):
        title = unescape(re.sub(r"<[^>]*>", "", match["title"]))
        return f'{match[1]} aria-label="Pages under {escape(title)}">'

    page = page.replace(
        '<div id="pst-primary-sidebar"',
        '<div role="complementary" aria-label="Contents" id="pst-primary-sidebar"',
    )
    page = page.replace('role="doc-biblioentry"', 'role="listitem"')
    # A module in the contents by its short name, as there is no room for more.
    page = re.sub(
        r'(<li class="toctree-l[^>]*><a [^>]*>)<code[^>]*>'
        r'<span class="pre">(?:rlsvi_core\.)?([^<]*)</span></code>',
        r"\1\2",
        page,
    )
    # A proof environment without a number has its name at its title, and again around it.
    page = re.sub(
        r'(<div class="proof [^>]* id="([^"]*)">\s*<p class="admonition-title") id="\2"',
        r"\1",
        page,
    )
    return re.sub(
        r'(<li class="[^"]*\bhas-children\b[^"]*"><a [^>]*>(?P<title>.*?)</a>'
        r"<details[^>]*><summary)>",
        named,
        page,
    )


def size(picture):
    """Its width and height in pixels."""
    if picture.suffix == ".webp":
        with Image.open(picture) as image:
            return image.size
    head = picture.read_text("utf8").partition("<svg")[2].partition(">")[0]
    units = {"pt": 4 / 3, "px": 1, "": 1}
    return [
        round(float(number) * units[unit])
        for name in ("width", "height")
        for number, unit in re.findall(rf'\b{name}="([\d.]+)(pt|px|)"', head)
    ]


def dress(app):
    """The pages, made light and guarded."""
    for file in Path(app.outdir).rglob("*.html"):
        page = file.read_text("utf8")
        if "Content-Security-Policy" not in page.partition("</head>")[0]:
            page = name_parts(slim(page, file.parent))
            meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(page)}" />'
            charset = '<meta charset="utf-8" />'  # is looked for in the first kilobyte
            file.write_text(page.replace(charset, f"{charset}\n    {meta}", 1), "utf8")


def finish(app, exception):
    if exception is None and app.builder.format == "html":
        for step in (
            write_style_sheet,
            copy_tables,
            lighten,
            draw_preview,
            pick_icons,
            pick_fonts,
            without_scripts,
            dress,
        ):
            step(app)


def name_once(app, doctree, docname):
    """The extensions for proofs and exercises name all their boxes alike; no link needs it."""
    for node in doctree.findall(nodes.Element):
        node["ids"] = [one for one in node.get("ids", []) if one not in ALIKE]


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


def setup(app):
    # Early, so that the theme and the math extension read the values set here.
    app.connect("config-inited", configure, priority=1)
    app.connect("build-finished", finish, priority=1000)  # the theme writes a style sheet there
    app.connect("autodoc-process-docstring", describe, priority=1)  # before napoleon
    app.connect("autodoc-process-docstring", untyped, priority=1000)  # after it
    app.connect("autodoc-skip-member", without_fields)
    app.connect("missing-reference", inherited)
    app.connect("doctree-resolved", name_once)
    app.connect("html-page-context", tell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
