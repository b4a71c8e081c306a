"""What `_config.yml` cannot say: MathJax from our own files, and buttons on a published site."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

# The package holds every MathJax component (24 MB); these are the ones a page can ask for.
MATHJAX = ["tex-chtml.js", "input/tex/extensions", "output/chtml/fonts", "a11y", "sre"]


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


def setup(app):
    # Early, so that the theme and the math extension read the values set here.
    app.connect("config-inited", configure, priority=1)
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
