"""The files around the code agree with each other and with the layout they describe."""

import ast
import re
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "rlsvi_core"
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
    assert f'-e ".[{",".join(extras)}]"' in read("Makefile")


def test_one_python_floor_everywhere():
    at_least = r"(?i)python\s*(?:≥|>=)?\s*(3\.\d+)(?:\+| or (?:newer|later))"
    for name in ("README.md", "CONTRIBUTING.md", "Makefile"):
        assert set(re.findall(at_least, read(name))) <= {FLOOR}, name
    major, minor = FLOOR.split(".")
    assert f"sys.version_info < ({major}, {minor})" in read("Makefile")
    tested = yaml.safe_load(read(".github/workflows/ci.yml"))["jobs"]["test"]["strategy"]["matrix"]
    assert tested["python"][0] == FLOOR
    assert f'python-version: "{FLOOR}"' in read(".github/workflows/pages.yml")
    ruff = tomllib.loads(read("pyproject.toml"))["tool"]["ruff"]
    assert ruff["target-version"] == f"py{major}{minor}"


def test_one_version_everywhere():
    newest = re.search(r"^## (\d+\.\d+\.\d+)", read("CHANGELOG.md"), re.M)[1]
    cited = yaml.safe_load(read("CITATION.cff"))["version"]
    assert newest == cited == PROJECT["version"]


# --- layout ---------------------------------------------------------------------------------------


def test_table_of_contents_is_the_book_folder():
    toc = yaml.safe_load(read("_toc.yml"))
    chapters = [c for part in toc["parts"] for c in part["chapters"]]
    sections = [s for c in chapters for s in c.get("sections", [])]
    listed = [toc["root"], *(page["file"] for page in chapters + sections)]
    present = [
        path.relative_to(ROOT).with_suffix("").as_posix()
        for path in (ROOT / "book").iterdir()
        if path.suffix in (".md", ".ipynb")
    ]
    assert sorted(listed) == sorted(present)


FLOORS = [
    {"compiled"},
    {"mdp", "discounted", "regression", "bases", "optimism"},
    {"envs", "agents"},
    {"experiments", "runner", "store"},
    {"claims", "plots", "cli", "__main__"},
]
STANDS_ON = {name: floor for floor, names in enumerate(FLOORS) for name in names}
# The package's own face shows every floor, so it stands on none.
MODULES = [p for p in sorted(PACKAGE.rglob("*.py")) if p != PACKAGE / "__init__.py"]


def imported(path):
    """The top-level modules of the package that the file imports, absolutely or relatively."""
    here = list(path.relative_to(ROOT).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            names = [[*base, alias.name] for alias in node.names]
        else:
            continue
        yield from (name[1] for name in names if name[0] == PACKAGE.name and len(name) > 1)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_no_import_runs_up(path):
    module = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert module in STANDS_ON, f"{module} has no floor yet: give it one in FLOORS"
    above = {name for name in imported(path) if STANDS_ON.get(name, 0) > STANDS_ON[module]}
    assert not above


# --- what is committed ----------------------------------------------------------------------------


def tracked():
    """What git tracks or would add: the rules hold before a file is committed, not after."""
    git = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(git, capture_output=True, text=True)
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [p for name in listing.stdout.split("\0") if name and (p := ROOT / name).is_file()]


def test_no_large_files():
    assert not [p.name for p in tracked() if p.stat().st_size > 2_000_000]


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


def test_the_readme_example_does_what_it_says(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", read("README.md"), re.S)
    exec(example, {})
    printed = float(capsys.readouterr().out)
    assert f"{printed:.0f} rewards" in example
