"""What `_config.yml` cannot say: MathJax from our own files, buttons on a published site, and how
our docstrings describe parameters."""

import gzip
import json
import os
import re
import shutil
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path

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


def copy_mathjax(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    (package,) = find_spec("sphinx-mathjax-offline").submodule_search_locations
    source, target = Path(package, "static/mathjax"), Path(app.outdir, "_static/mathjax")
    for name in MATHJAX:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
        else:
            shutil.copy(source / name, target / name)


def copy_tables(app, exception):
    """The stored tables, for readers to take: compressed, as pandas reads them."""
    if exception is None and app.builder.format == "html":
        (target := Path(app.outdir, "data")).mkdir(exist_ok=True)
        for table in Path(app.srcdir, "results").glob("*.csv"):
            Path(target, f"{table.name}.gz").write_bytes(gzip.compress(table.read_bytes(), mtime=0))


def lighten(app, exception):
    """What no reader needs: maps for debuggers, and the output of notebooks that are for running."""
    if exception is None and app.builder.format == "html":
        for path in Path(app.outdir, "_static").rglob("*.map"):
            path.unlink()
        for path in Path(app.outdir, "_downloads").rglob("*.ipynb"):
            notebook = json.loads(path.read_text("utf8"))
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    cell |= {"outputs": [], "execution_count": None}
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False), "utf8")


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
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", copy_tables)
    app.connect("build-finished", lighten)
    app.connect("autodoc-process-docstring", describe, priority=1)  # before napoleon
    app.connect("autodoc-process-docstring", untyped, priority=1000)  # after it
    app.connect("autodoc-skip-member", without_fields)
    app.connect("missing-reference", inherited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
