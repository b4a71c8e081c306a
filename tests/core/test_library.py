"""The library as its users meet it: installed bare, imported, typed, documented, compiled."""

import importlib.util
import inspect
import os
import pkgutil
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import rlsvi_core
from rlsvi_core import compiled
from rlsvi_core.envs.chains import chain, lock
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.envs.tetris import Tetris

ROOT = Path(__file__).parents[2]
PACKAGE = Path(rlsvi_core.__file__).parent
MODULES = [
    "rlsvi_core",
    *(module.name for module in pkgutil.walk_packages(rlsvi_core.__path__, "rlsvi_core.")),
]


def run(code, *path, **environment):
    """What a fresh interpreter prints; a variable given as None is taken away."""
    everything = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path or [ROOT]))}
    everything = {
        name: value for name, value in (everything | environment).items() if value is not None
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=everything,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- machine code is never stale ------------------------------------------------------------------


@pytest.fixture
def copied(tmp_path):
    """A copy of the library that may be edited, and a cache of its own."""
    shutil.copytree(PACKAGE, tmp_path / "rlsvi_core", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_an_edit_compiles_again_just_what_it_changes(copied):
    """High calls low, in another file. Each line: the sources, the result, and whether the machine
    code was there already."""
    low, high = copied / "rlsvi_core" / "low.py", copied / "rlsvi_core" / "high.py"
    high.write_text(
        "from .compiled import jit\nfrom .low import Pair, number\n"
        "@jit\ndef twice(pair):\n    return 2 * number() + pair.left\n"
    )
    source = (
        "from typing import NamedTuple\nfrom .compiled import jit\n{comment}\nN = {N}\n"
        "class Pair(NamedTuple):\n    {first}: float\n    {second}: float\n"
        "@jit\ndef number():\n    {doc!r}\n    return {factor} * N\n"
    )
    plain = {"comment": "", "N": 1, "first": "left", "second": "right", "doc": "", "factor": 1}
    for edit, value, hits in (
        ({}, 102.0, 0),
        ({}, 102.0, 1),
        ({"comment": "# lines move\n", "doc": "words"}, 102.0, 1),
        ({"N": 7}, 114.0, 0),
        ({"factor": 3}, 106.0, 0),
        ({"first": "right", "second": "left"}, 1002.0, 0),
        ({}, 102.0, 1),
    ):
        low.write_text(source.format(**plain | edit))
        printed = run(
            "from rlsvi_core.high import Pair, twice\n"
            "print(twice(Pair(100.0, 1000.0)), sum(twice.stats.cache_hits.values()))",
            copied,
            XDG_CACHE_HOME=str(copied / "cache"),
        )
        assert printed == f"{value} {hits}\n", edit


@pytest.mark.parametrize("package", ["rlsvi_core", "rlsvi_study"])
def test_what_a_compiled_function_uses_is_defined_above_it(package):
    """Its fingerprint, taken when it was decorated, is that of the whole module: else an edit of
    what came later would not be noticed."""
    folder = importlib.import_module(package).__path__
    functions = {
        thing
        for module in pkgutil.walk_packages(folder, f"{package}.")
        if not module.name.endswith("__main__")
        for thing in vars(importlib.import_module(module.name)).values()
        if isinstance(thing, numba.core.registry.CPUDispatcher)
    }
    assert len(functions) > 10
    for one in functions:
        now = compiled.fingerprint.__wrapped__(one.py_func)
        assert now == compiled.fingerprint(one.py_func), one


@pytest.mark.parametrize("chosen", [None, "theirs"])
def test_the_users_own_functions_are_cached_where_they_were(tmp_path, chosen):
    (tmp_path / "users.py").write_text(
        "import numba\n@numba.njit(cache=True)\ndef f():\n    return 1\nf()\n"
    )
    chosen = chosen and str(tmp_path / chosen)
    say = "print(users.f._cache.cache_path, config.CACHE_DIR, environ.get('NUMBA_CACHE_DIR'))"
    without, beside = (
        run(
            f"from os import environ\nfrom numba import config\n{ours}import users\n{say}",
            tmp_path,
            ROOT,
            NUMBA_CACHE_DIR=chosen,
            XDG_CACHE_HOME=str(tmp_path / "cache"),
        )
        for ours in ("", "import rlsvi_core\n")
    )
    assert without == beside
    assert str(chosen or tmp_path / "__pycache__") in beside


@pytest.mark.parametrize(
    "environment",
    [
        {"XDG_CACHE_HOME": "/dev/null"},
        {"XDG_CACHE_HOME": None, "HOME": "/dev/null"},
        {"XDG_CACHE_HOME": "/proc/nowhere"},
    ],
)
def test_without_a_folder_to_write_to_all_works_and_nothing_is_kept(environment):
    code = (
        "import numpy as np\nfrom rlsvi_core.mdp import draw\n"
        "print(draw(np.array([0.5, 0.5]), 0.7), type(draw._cache).__name__)"
    )
    assert run(code, **environment) == "1 NullCache\n"


def test_without_a_home_the_library_works(tmp_path):
    code = "import numpy as np\nfrom rlsvi_core.mdp import draw\nprint(draw(np.array([1.0]), 0.7))"
    assert run(code, HOME=None, XDG_CACHE_HOME=str(tmp_path)) == "0\n"


def test_a_person_at_a_terminal_hears_once_that_the_wait_is_for_the_compiler(tmp_path):
    code = (
        "from rlsvi_core import chain, features\n"
        "chain(3).simulate([[0] * 3] * 2, 1)\nfeatures.coherent(chain(3).Q, 2)"
    )  # two kernels

    def heard():
        ours, theirs = pty.openpty()
        subprocess.run(
            [sys.executable, "-c", code],
            stderr=theirs,
            check=True,
            timeout=300,
            env=os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)},
        )
        os.set_blocking(ours, False)
        try:
            return os.read(ours, 10_000).decode()
        except BlockingIOError:
            return ""
        finally:
            os.close(ours)
            os.close(theirs)

    assert re.fullmatch(r"rlsvi_core: compiling, once \(.*next time\)\r\n", heard())
    assert heard() == ""  # read from the cache


def test_what_others_compile_is_not_announced(capsys):
    notice = compiled._Notice()
    for module, said in (
        ("somebody.elses", ""),
        ("rlsvi_core.mdp", "rlsvi_core: compiling, once"),
        ("rlsvi_core.mdp", ""),
    ):
        notice.on_start(SimpleNamespace(data={"dispatcher": SimpleNamespace(__module__=module)}))
        err = capsys.readouterr().err
        assert err.startswith(said)
        assert bool(err) == bool(said)


def test_logs_and_notebooks_are_the_same_whether_or_not_anything_was_compiled(tmp_path):
    code = "from rlsvi_core import chain\nchain(3).simulate([[0] * 3] * 2, 1)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert (done.stdout, done.stderr) == (b"", b"")


# --- a light import, and extras by name -----------------------------------------------------------


def test_importing_the_library_imports_no_extra():
    code = "import sys, rlsvi_core; print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in run(code).split()}
    assert {"numpy", "numba", "scipy"} <= loaded
    assert not loaded & {
        "pandas",
        "matplotlib",
        "seaborn",
        "statsmodels",
        "sympy",
        "flint",
        "gymnasium",
        "joblib",
        "dask",
        "tqdm",
        "rlsvi_study",
    }


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("optimism.balls", "flint", "proofs"),
        ("optimism.order", "flint", "proofs"),
        ("envs.gym", "gymnasium", "gym"),
    ],
)
def test_a_missing_extra_is_named(module, package, extra):
    assert importlib.util.find_spec(f"rlsvi_core.{module}")  # else any name would do
    code = (
        f"import sys\nsys.modules[{package!r}] = None\ntry:\n    import rlsvi_core.{module}\n"
        f"except ModuleNotFoundError as error:\n    print(error)"
    )
    assert f"pip install 'rlsvi-core[{extra}]'" in run(code)


def test_the_version_is_that_of_the_distribution():
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*|unknown", rlsvi_core.__version__)


def test_a_bare_install_runs_the_five_lines_of_the_readme(tmp_path):
    """In a new environment with the library's own dependencies and nothing else. Unpacking numpy,
    scipy and numba takes most of the time; they are not compiled to bytecode, which would double
    it."""
    source, python = tmp_path / "source", tmp_path / "venv" / "bin" / "python"
    for package in ("rlsvi_core", "rlsvi_study"):
        shutil.copytree(
            ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True, timeout=120
    )
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    installed = subprocess.run(
        [
            *pip,
            "install",
            "--quiet",
            "--no-compile",
            "--retries",
            "1",
            "--timeout",
            "20",
            "-c",
            ROOT / "constraints.txt",
            source,
        ],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert installed.returncode == 0, f"pip could not install the library:\n{installed.stderr}"
    example, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf8"), re.S)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [
            python,
            "-c",
            example + "\nimport rlsvi_core\nprint(rlsvi_core.__version__, rlsvi_core.__file__)",
        ],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    rewards, version, place = ran.stdout.split()
    assert f"{float(rewards):.0f} rewards" in example
    assert version != "unknown"
    assert Path(place).is_relative_to(tmp_path / "venv")
    assert Path(place).with_name("py.typed").exists()
    listed = subprocess.run(
        [*pip, "list", "--format", "freeze"], capture_output=True, text=True, timeout=120
    ).stdout
    assert {line.partition("==")[0] for line in listed.split()} == {
        "llvmlite",
        "numba",
        "numpy",
        "rlsvi-core",
        "scipy",
    }


# --- names, words and pictures of things ----------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_has_its_sections(name):
    """Numpydoc's, for functions and classes; records, protocols and errors need only a word, and so
    does a method."""
    module = importlib.import_module(name)
    assert module.__doc__
    lacking = []
    for public in getattr(module, "__all__", []):
        thing = getattr(module, public)
        if getattr(thing, "__module__", None) != name:  # documented at home; or a constant
            continue
        sections = ["Parameters", "Returns", "Examples"]
        if inspect.isclass(thing):
            word_only = issubclass(thing, (tuple, Exception)) or getattr(thing, "_is_protocol", 0)
            sections = [] if word_only else ["Parameters", "Examples"]
            lacking += [
                f"{public}.{member}"
                for member, value in vars(thing).items()
                if sections and member[0] != "_" and hasattr(value, "__get__") and not value.__doc__
            ]
        doc = (thing.__doc__ or "").replace("Attributes", "Parameters")  # of an abstract class
        lacking += [
            f"{public}: {section}"
            for section in sections
            if f"{section}\n    {'-' * len(section)}\n" not in doc
        ]
        lacking += [public] * (not thing.__doc__)
    assert not lacking


def test_no_name_of_a_package_hides_one_of_its_modules():
    for name in MODULES[1:]:
        package, _, module = name.rpartition(".")
        importlib.import_module(name)
        assert inspect.ismodule(getattr(sys.modules[package], module)), name


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (chain(50), "FiniteMDP(H=49, S=50, A=2)"),
        (lock(10), "DiscountedMDP(S=10, A=2, gamma=0.99)"),
        (DirichletPrior.symmetric(5, 4, 3), "DirichletPrior(H=5, S=4, A=3)"),
        (Recommender(np.zeros((10, 10)), 5), "Recommender(N=10, J=5)"),
        (Tetris(), "Tetris(10, 20, 'IJLOSTZ', 'top row')"),
    ],
)
def test_a_thing_says_in_one_line_what_it_is(thing, words):
    assert repr(thing) == words


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 30])
def test_machine_code_that_was_cut_short_is_compiled_anew(tmp_path, kind, left):
    code = (
        "import numpy as np; from rlsvi_core.agents.acting import highest; "
        "print(highest(np.arange(3.0)), dict(highest.stats.cache_hits))"
    )
    first, second = (run(code, XDG_CACHE_HOME=str(tmp_path)) for _ in range(2))
    assert first.strip() == "2.0 {}" != second.strip()
    (file,) = tmp_path.rglob(f"*highest*.{kind}")
    file.write_bytes(file.read_bytes()[:left])
    assert run(code, XDG_CACHE_HOME=str(tmp_path)) == first
    assert run(code, XDG_CACHE_HOME=str(tmp_path)) == second
