"""The files around the code agree with each other and with the layout they describe."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from itertools import chain
from pathlib import Path

import numba
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rlsvi_core.runtime import numba_cache

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]


def read(name):
    return (ROOT / name).read_text("utf8")


# --- versions -------------------------------------------------------------------------------------


def test_every_dependency_is_pinned_within_its_range():
    lines = [Requirement(line) for line in read("constraints.txt").splitlines() if line.strip()]
    pins = {canonicalize_name(one.name): one for one in lines}
    for line in [*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())]:
        wanted = Requirement(line)
        (pin,) = pins[canonicalize_name(wanted.name)].specifier
        assert pin.operator == "=="
        assert wanted.specifier.contains(pin.version), wanted


def test_one_version_everywhere():
    newest, day = re.search(r"^## (\d+\.\d+\.\d+) \((.+)\)", read("CHANGELOG.md"), re.M).groups()
    cited = yaml.safe_load(read("CITATION.cff"))
    assert newest == cited["version"] == PROJECT["version"]
    assert day == str(cited["date-released"])


def test_what_is_packed_is_the_two_packages():
    """Built for real by ``make dist``, which needs a network."""
    packed = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]
    assert packed["wheel"]["packages"] == list(FLOORS)
    assert set(FLOORS) < set(packed["sdist"]["only-include"])
    assert all((ROOT / name).exists() for name in packed["sdist"]["only-include"])
    assert (ROOT / "rlsvi_core/py.typed").exists()


# --- imports --------------------------------------------------------------------------------------

# Each package from the ground up. A module may import from its own floor and from those below it. What
# is not named stands where its folder does; "" is the package's own face. In the studies a folder
# that is not named is a topic, and a file that is not named serves all topics.
FLOORS = {
    "rlsvi_core": [
        {"algorithms", "runtime.numba_cache", "runtime"},
        {"runtime.compilation"},
        {"runtime.checks"},
        {"mdp", "regression", "optimism"},
        {"features"},
        {"envs"},
        {"runtime.loop"},
        {"learners.base"},
        {"runtime.gym_adapter"},
        {"runtime.env_protocol"},
        {"learners"},
        {"agents"},
        {"learners.appendix_f"},
        {""},
    ],
    "rlsvi_study": [
        {""},
        {"engine"},
        {"judging"},
        {"a file"},
        {"a topic"},
        {"overall"},
        {"beyond"},
        {"catalogue"},
        {"notebook"},
        {"cli"},
        {"__main__"},
    ],
}
STANDS_ON = {
    f"{package}.{name}".removesuffix("."): (number, level)
    for number, (package, floors) in enumerate(FLOORS.items())
    for level, names in enumerate(floors)
    for name in names
}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in FLOORS
    for path in sorted((ROOT / package).rglob("*.py"))
}
JUDGES = {"claims"}  # they know what was computed


@cache
def tree(name):
    return ast.parse(MODULES[name].read_text("utf8"))


@cache
def imported(name):
    """The modules of both packages that a module imports, absolutely or relatively."""
    path, package, found = MODULES[name], name, []
    if path.name != "__init__.py":
        package = name.rpartition(".")[0]
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            targets = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in targets:
            while target and target not in MODULES:
                target = target.rpartition(".")[0]  # a name in a module
            found += [target] if target else []
    return found


def floor(name):
    """The number of the package, and of the floor that a module of it stands on."""
    package, *parts = name.split(".")
    for length in range(len(parts), 0 if parts else -1, -1):
        if (known := ".".join([package, *parts[:length]])) in STANDS_ON:
            return STANDS_ON[known]
    is_file = MODULES[f"{package}.{parts[0]}"].name != "__init__.py"
    return STANDS_ON[f"{package}.{'a file' if is_file else 'a topic'}"]


def topic(name):
    return name.split(".")[1] if floor(name) == STANDS_ON["rlsvi_study.a topic"] else None


IMPORTS = [(name, target) for name in MODULES for target in imported(name)]


def test_no_import_runs_up():
    assert not [(name, target) for name, target in IMPORTS if floor(target) > floor(name)]


def test_no_imports_run_in_a_circle():
    TopologicalSorter({name: set(imported(name)) for name in MODULES}).prepare()


def test_no_topic_knows_another():
    known = [(topic(name), topic(target)) for name, target in IMPORTS]
    assert len(set(known)) > 5
    assert not [both for both in known if None not in both and both[0] != both[1]]


def test_what_is_computed_knows_neither_judges_nor_drawings():
    last = {name: name.rpartition(".")[2] for name in MODULES}
    assert not [
        (name, target)
        for name, target in IMPORTS
        if floor(name) == floor(target) and last[target] in JUDGES and last[name] not in JUDGES
    ]


def test_an_import_by_name_is_the_catalogues_alone():
    """It would run up unseen by the tests above."""
    by_name = {"import_module", "__import__", "run_path"}
    assert {
        name
        for name in MODULES
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Name | ast.Attribute)
        and (node.id if isinstance(node, ast.Name) else node.attr) in by_name
    } == {"rlsvi_study.catalogue"}


EXTRAS = {  # the extra that brings a package, and lines the last of which needs it
    "flint": (
        "proofs",
        "from rlsvi_core.optimism import *",
        "normal, beta = Normal.matching_beta(2, 3), Beta(2, 3)",
        "estimate_gap(normal.sample(200), beta.sample(200), 0.5)",
        "cdf_crossings(normal, beta), least_variance(beta)",
        "exact_gap(normal, beta, 0.5)",
    ),
    "gymnasium": ("gym", "import rlsvi_core.runtime.gym_adapter"),
}


def test_the_library_loads_no_extra_and_no_study_and_names_what_is_missing():
    """At run time, which the text of an import does not show."""
    code = (
        "import sys, rlsvi_core\nprint(*sys.modules)\n"
        f"for package, (_, *lines, last) in {EXTRAS}.items():\n"
        "    sys.modules[package] = None\n"
        "    exec('\\n'.join(lines))\n"
        "    try:\n        exec(last)\n"
        "    except ModuleNotFoundError as error:\n        print(error)"
    )
    command = [sys.executable, "-P", "-c", code]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    modules, *errors = done.stdout.splitlines()
    loaded = {name.partition(".")[0] for name in modules.split()}
    assert {"numpy", "numba", "scipy"} <= loaded
    extras = "pandas matplotlib seaborn statsmodels sympy flint gymnasium joblib dask tqdm"
    assert not loaded & {*extras.split(), "rlsvi_study"}
    for error, (extra, *_) in zip(errors, EXTRAS.values(), strict=True):
        assert f"rlsvi-core[{extra}]" in error
    assert done.stderr == ""


def test_what_the_judges_found_is_read_without_a_topic():
    code = "import sys; from rlsvi_study.judging import verdicts; verdicts.load_verdicts(); print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert not [name for name in set(done.stdout.split()) & set(MODULES) if topic(name)]


# --- layout ---------------------------------------------------------------------------------------


def is_orphan(page):
    text = page.read_text("utf8")
    if page.suffix == ".md":
        return text.startswith("---\norphan: true\n---\n")
    return json.loads(text)["metadata"].get("orphan", False)


def test_a_page_is_in_the_table_of_contents_or_says_that_it_is_not():
    toc = yaml.safe_load(read("_toc.yml"))
    listed, pages = [toc["root"]], [c for part in toc["parts"] for c in part["chapters"]]
    for page in pages:  # which grows
        pages += page.get("sections", [])
        found = [ROOT / page["file"]] if "file" in page else ROOT.glob(page["glob"])
        listed += [path.relative_to(ROOT).with_suffix("").as_posix() for path in found]
    present = [
        path
        for path in (ROOT / "book").rglob("*")
        if path.suffix in (".md", ".ipynb") and ".ipynb_checkpoints" not in path.parts
    ]
    assert sorted(listed) == sorted(
        path.relative_to(ROOT).with_suffix("").as_posix() for path in present if not is_orphan(path)
    )


def test_every_module_of_the_library_has_a_page():
    inner = {
        f"rlsvi_core{name}"
        for name in ("", ".runtime.checks", ".runtime.compilation", ".runtime.numba_cache")
    }
    pages = {
        name: ROOT / "book/api" / ("/".join(name.split(".")[1:]) + ".md")
        for name in MODULES
        if name.startswith("rlsvi_core") and name not in inner
    }
    assert not [
        name
        for name, page in pages.items()
        if not page.exists() or f".. automodule:: {name}\n" not in page.read_text("utf8")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("package", FLOORS)
def test_what_a_compiled_function_uses_is_defined_above_it(package):
    """Its fingerprint, taken when it was decorated, is that of the whole module: else an edit of
    what came later would not be noticed."""
    functions = {
        thing
        for name in MODULES
        if name.startswith(f"{package}.") and not name.endswith("__main__")
        for thing in vars(importlib.import_module(name)).values()
        if isinstance(thing, numba.core.registry.CPUDispatcher)
    }
    assert len(functions) > 10
    for one in functions:
        now = numba_cache.fingerprint.__wrapped__(one.py_func)
        assert now == numba_cache.fingerprint(one.py_func), one


def tracked():
    """What git tracks or would add: the rules hold before a file is committed, not after."""
    git = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(git, capture_output=True, text=True)
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [p for name in listing.stdout.split("\0") if name and (p := ROOT / name).is_file()]


def words(path):
    """The file's text, without pictures: base64 spells anything sooner or later."""
    return re.sub(r'"image/\w+": "[^"]*"', "", path.read_text("utf8", errors="ignore"))


def test_no_machine_paths_or_registry_hosts():
    forbidden = re.compile(
        r"/(?:home|Users|root|work|tmp|opt)/\w|file:/{3}"
        r"|--(?:extra-)?index[-]url|--find[-]links|://[^\s\"')]+/simple\b"
    )
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if path != Path(__file__)
        for match in forbidden.finditer(words(path))
    ]
    assert not found


# --- what is promised ----------------------------------------------------------------------------


@pytest.mark.parametrize("there", [True, False])
def test_a_browser_that_cannot_be_installed_is_a_failure(there, tmp_path):
    stubs = {"apt-get": 1, "id": 0, "grep": 0} | ({"chromium": 0} if there else {})
    for name, status in stubs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho 0\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    script = ["/bin/sh", str(ROOT / "tests/site/get_chromium.sh")]
    done = subprocess.run(script, cwd=tmp_path, env={"PATH": str(tmp_path)}, capture_output=True)
    assert (done.returncode == 0) == there


def test_the_readme_example_does_what_it_says(capsys):
    five_lines, own = re.findall(r"```python\n(.*?)```", read("README.md"), re.S)
    exec(five_lines, {})
    printed = float(capsys.readouterr().out)
    assert f"{printed:.0f} rewards" in five_lines
    exec(own, {})
    assert f"# {capsys.readouterr().out.strip()};" in own
