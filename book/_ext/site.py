"""What `_config.yml` cannot say: MathJax from our own files, buttons on a published site, which
scripts a page may run, and how our docstrings describe parameters."""

import gzip
import json
import os
import re
import shutil
from base64 import b64encode
from hashlib import sha256
from html import unescape
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path

from PIL import Image

# The package holds every MathJax component (24 MB); these are the ones a page can ask for.
MATHJAX = ["tex-chtml.js", "input/tex/extensions", "output/chtml/fonts", "a11y",
           "sre/mathmaps/base.json", "sre/mathmaps/en.json"]


def configure(app, config):
    config.mathjax_path = "mathjax/tex-chtml.js"
    # The address of the repository is known where the site is published, and only there.
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        config.html_theme_options |= {
            "repository_url": f"{server}/{repository}",
            "repository_branch": "main",
            "use_repository_button": True,
            "launch_buttons": {
                "binderhub_url": "https://mybinder.org",
                "notebook_interface": "jupyterlab",
            },
        }


def copy_mathjax(app):
    (package,) = find_spec("sphinx-mathjax-offline").submodule_search_locations
    source, target = Path(package, "static/mathjax"), Path(app.outdir, "_static/mathjax")
    for name in MATHJAX:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
        else:
            shutil.copy(source / name, target / name)


def policy(page):
    """The Content-Security-Policy of a page: files of this site, and what the theme wrote into the
    page, named by its hash. What stands in a chapter's text or output is not named: a script there
    does not run. Styles may be inline, because MathJax and the theme set them as they go."""
    theme = re.sub(r"<article\b.*</article>", "", page, flags=re.S)
    scripts = re.findall(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", theme, flags=re.S)
    handlers = map(unescape, re.findall(r'<\w[^>]*\son\w+="([^"]*)"', theme))
    hashes = sorted({f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"
                     for code in (*scripts, *handlers)})
    return "; ".join(["default-src 'self'", "img-src 'self' data:",
                      "style-src 'self' 'unsafe-inline'",
                      f"script-src 'self' 'unsafe-hashes' {' '.join(hashes)}",
                      "object-src 'none'", "base-uri 'none'", "form-action 'self'"])


def guard(app):
    for file in Path(app.outdir).rglob("*.html"):
        page = file.read_text("utf8")
        if "Content-Security-Policy" not in page.partition("</head>")[0]:
            meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(page)}" />'
            charset = '<meta charset="utf-8" />'  # is looked for in the first kilobyte
            file.write_text(page.replace(charset, f"{charset}\n    {meta}", 1), "utf8")


def copy_tables(app):
    """The stored tables, for readers to take: compressed, as pandas reads them."""
    (target := Path(app.outdir, "data")).mkdir(exist_ok=True)
    for table in Path(app.srcdir, "results").glob("*.csv"):
        Path(target, f"{table.name}.gz").write_bytes(gzip.compress(table.read_bytes(), mtime=0))


def lighten(app):
    """What no reader needs: maps for debuggers, more colours in a figure than an eye tells apart,
    the output of notebooks that are for running."""
    for path in Path(app.outdir, "_static").rglob("*.map"):
        path.unlink()
    for path in Path(app.outdir, "_images").glob("*.png"):
        Image.open(path).convert("RGB").quantize(dither=Image.Dither.NONE).save(path, optimize=True)
    for path in Path(app.outdir, "_downloads").rglob("*.ipynb"):
        notebook = json.loads(path.read_text("utf8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell |= {"outputs": [], "execution_count": None}
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False), "utf8")


def finish(app, exception):
    if exception is None and app.builder.format == "html":
        for step in (copy_mathjax, copy_tables, lighten, guard):
            step(app)


def describe(app, what, name, obj, options, lines):
    """A parameter described on the line of its name: ``lam : prior precision.`` is not a type."""
    for i in reversed(range(len(lines))):
        if match := re.fullmatch(r"( *)(\w[\w, ]*) : (.+)", lines[i]):
            indent, names, text = match.groups()
            below = lines[i + 1] if i + 1 < len(lines) else ""
            typed = below.startswith(indent + " ") and below.strip()[:1].isupper()
            if not typed or text.endswith("."):
                lines[i:i + 1] = [indent + names, f"{indent}    {text}"]


def untyped(app, what, name, obj, options, lines):
    """Nor is what stands before the colon in a property's docstring."""
    if what == "property":
        lines[:] = [*cleandoc(obj.__doc__ or "").splitlines(), ""]


def without_fields(app, what, name, obj, skip, options):
    """A named tuple's signature has its fields; "alias for field number 0" adds nothing."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def inherited(app, env, node, contnode):
    """A docstring inherited by another module refers to what its own module has at hand."""
    if node.get("refdomain") == "py" and not node.get("refspecific"):
        node["refspecific"] = True  # any module's object of that name
        return env.get_domain("py").resolve_xref(
            env, node["refdoc"], app.builder, node["reftype"], node["reftarget"], node, contnode)


def setup(app):
    # Early, so that the theme and the math extension read the values set here.
    app.connect("config-inited", configure, priority=1)
    app.connect("build-finished", finish)
    app.connect("autodoc-process-docstring", describe, priority=1)  # before napoleon
    app.connect("autodoc-process-docstring", untyped, priority=1000)  # after it
    app.connect("autodoc-skip-member", without_fields)
    app.connect("missing-reference", inherited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
