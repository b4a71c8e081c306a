"""The files around the code agree with each other and with the layout they describe."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
FLOOR = PROJECT["requires-python"].removeprefix(">=")


def read(name):
    return (ROOT / name).read_text("utf8")


def pins():
    lines = [Requirement(line) for line in read("constraints.txt").splitlines() if line.strip()]
    return {canonicalize_name(r.name): r for r in lines}


# --- versions -------------------------------------------------------------------------------------


EXTRAS = PROJECT["optional-dependencies"]


@pytest.mark.parametrize("line", [*PROJECT["dependencies"], *chain(*EXTRAS.values())])
def test_every_dependency_is_pinned_within_its_range(line):
    wanted = Requirement(line)
    (pin,) = pins()[canonicalize_name(wanted.name)].specifier
    assert pin.operator == "=="
    assert wanted.specifier.contains(pin.version)


def test_conda_installs_the_same_thing():
    environment = yaml.safe_load(read("environment.yml"))
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    python, pip, nested = environment["dependencies"]
    assert (python, pip) == (f"python={FLOOR}", "pip")
    constraints, editable = nested["pip"]
    assert constraints == "-c constraints.txt"
    extras = re.fullmatch(r"-e \.\[(.+)\]", editable)[1].split(",")
    assert sorted(extras) == sorted(EXTRAS)


def test_one_python_floor():
    ruff = tomllib.loads(read("pyproject.toml"))["tool"]["ruff"]
    assert ruff["target-version"] == "py" + FLOOR.replace(".", "")
    assert f"Programming Language :: Python :: {FLOOR}" in PROJECT["classifiers"]


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


# --- layout ---------------------------------------------------------------------------------------


def test_table_of_contents_is_the_book_folder():
    toc = yaml.safe_load(read("_toc.yml"))
    listed, pages = [toc["root"]], [c for part in toc["parts"] for c in part["chapters"]]
    for page in pages:  # which grows
        pages += page.get("sections", [])
        found = [ROOT / page["file"]] if "file" in page else ROOT.glob(page["glob"])
        listed += [path.relative_to(ROOT).with_suffix("").as_posix() for path in found]
    present = [
        path.relative_to(ROOT).with_suffix("").as_posix()
        for path in (ROOT / "book").rglob("*")
        if path.suffix in (".md", ".ipynb") and ".ipynb_checkpoints" not in path.parts
    ]
    assert sorted(listed) == sorted(present)


# Each package from the ground up. A module may import from its own floor and from those below; one
# that is not named stands where its folder does. "" is the package's own face.
FLOORS = {
    "rlsvi_core": [
        {"kept"},
        {"compiled"},
        {"checks"},
        {"mdp", "regression", "optimism.balls"},
        {"features", "optimism"},
        {"envs", "learner"},
        {"beyond.gym"},
        {"agent"},
        {"learners"},
        {"beyond"},
        {"rlsvi"},
        {""},
    ],
    "rlsvi_study": [
        {"", "sources"},
        {"experiment", "provenance"},
        {"compare", "files", "parameters", "rivals", "traps", "worlds"},
        {"journal", "tables"},
        {"runner"},
        {"engine"},
        {"judging"},  # circles are looked for below
        {"style"},
        {"a topic"},  # its runs, and whatever else it has; circles are looked for below
        {"claims", "figures"},
        {"catalogue"},
        {"cli"},
        {"__main__"},
    ],
}
STANDS_ON = {
    package: {name: floor for floor, names in enumerate(floors) for name in names}
    for package, floors in FLOORS.items()
}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in FLOORS
    for path in sorted((ROOT / package).rglob("*.py"))
}
TOPICS = {path.parent.name for path in (ROOT / "rlsvi_study").glob("*/__init__.py")} - {
    "engine",
    "judging",
}


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
    package, *parts = name.split(".")
    floors = STANDS_ON[package]
    keys = [".".join(parts), *parts[-1:], *parts[:1], *(["a topic"] if {*parts} & TOPICS else [])]
    found = [floors[key] for key in keys if key in floors]
    assert found, f"{name} has no floor yet: give it one in FLOORS"
    return found[0]


def test_no_import_runs_up():
    assert not [
        (name, target)
        for name in MODULES
        for target in imported(name)
        if name.partition(".")[0] == target.partition(".")[0] and floor(target) > floor(name)
    ]


def test_no_imports_run_in_a_circle():
    TopologicalSorter({name: set(imported(name)) for name in MODULES}).prepare()


def test_the_library_knows_no_study():
    assert not [
        (name, target)
        for name in MODULES
        for target in imported(name)
        if name.startswith("rlsvi_core") and target.startswith("rlsvi_study")
    ]


def test_no_topic_knows_another():
    def topic(name):
        return next((part for part in name.split(".")[1:2] if part in TOPICS), None)

    assert TOPICS
    assert not [
        (name, target)
        for name in MODULES
        for target in imported(name)
        if name.startswith("rlsvi_study.")
        and topic(name)
        and target.startswith("rlsvi_study.")
        and topic(target) not in (None, topic(name))
    ]


@pytest.mark.parametrize("name", ["rlsvi_core", "rlsvi_study.judging.verdicts"])
def test_nothing_above_is_loaded(name):
    """At run time, which the text of an import does not show."""
    code = f"import sys, {name}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    loaded = set(done.stdout.split()) & set(MODULES)
    assert name in loaded, done.stderr
    floors, package = list(FLOORS), name.partition(".")[0]
    for one in loaded - {name}:
        other = one.partition(".")[0]
        assert floors.index(other) <= floors.index(package)
        assert other != package or floor(one) <= floor(name)


def test_topics_are_found_by_the_catalogue_alone():
    """An import by name runs up unseen by the tests above."""
    by_name = {"import_module", "__import__", "run_path"}
    assert {
        name
        for name in MODULES
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Name | ast.Attribute)
        and (node.id if isinstance(node, ast.Name) else node.attr) in by_name
    } == {"rlsvi_study.catalogue"}


def test_every_module_of_the_library_has_a_page():
    inner = {f"rlsvi_core{name}" for name in ("", ".checks", ".compiled", ".kept")}
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


# --- what is committed ----------------------------------------------------------------------------


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
