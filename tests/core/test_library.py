"""The library as its users meet it: imported, documented, compiled."""

import ast
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import rlsvi_core
from rlsvi_core import compiled, kept, rlsvi
from rlsvi_core.envs.chains import chain, lock
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.envs.tetris import Tetris

ROOT = Path(__file__).parents[2]
MODULES = [
    "rlsvi_core",
    *(module.name for module in pkgutil.walk_packages(rlsvi_core.__path__, "rlsvi_core.")),
]


# --- machine code is never stale ------------------------------------------------------------------


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A function that writes modules and imports them anew, as the next process would; machine code
    is kept in a folder of the test's own."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(kept, "cache_folder", lambda: tmp_path)

    def write(**sources):
        for name, source in sources.items():
            (tmp_path / f"{name}.py").write_text(source)
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return [importlib.import_module(name) for name in sources]

    return write


def test_an_edit_compiles_again_just_what_it_changes(written):
    """High calls low, in another file. Each line: the sources, the result, and whether the machine
    code was there already."""
    high = (
        "from rlsvi_core.compiled import jit\nfrom low import Pair, number\n"
        "@jit\ndef twice(pair):\n    return 2 * number() + pair.left\n"
    )
    low = (
        "from typing import NamedTuple\nfrom rlsvi_core.compiled import jit\n{comment}\nN = {N}\n"
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
        module, _ = written(low=low.format(**plain | edit), high=high)[::-1]
        assert module.twice(module.Pair(100.0, 1000.0)) == value, edit
        assert sum(module.twice.stats.cache_hits.values()) == hits, edit


def test_a_loop_made_of_compiled_parts_is_kept_until_a_part_changes(written):
    source = (
        "from rlsvi_core.compiled import jit\n@jit\ndef part():\n    return {}\n"
        "def made(part):\n    @jit\n    def loop():\n        return 2 * part()\n    return loop\n"
        "loop = made(part)\n"
    )
    for value, hits in ((1, 0), (1, 1), (3, 0), (1, 1)):
        (module,) = written(own=source.format(value))
        assert module.loop() == 2 * value
        assert sum(module.loop.stats.cache_hits.values()) == hits


def test_a_record_that_moves_to_another_module_compiles_anew(written, tmp_path):
    record = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    left: float\n"
    high = (
        "from rlsvi_core.compiled import jit\nfrom {} import Pair\n"
        "@jit\ndef twice(pair):\n    return 2 * pair.left\n"
    )
    for place in ("here", "there"):
        *_, module = written(**{place: record, "high": high.format(place)})
        assert module.twice(module.Pair(100.0)) == 200
        (tmp_path / f"{place}.py").unlink()
        del sys.modules[place]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 30])
def test_machine_code_that_was_cut_short_is_compiled_anew(written, tmp_path, kind, left):
    source = "from rlsvi_core.compiled import jit\n@jit\ndef three():\n    return 3\n"
    for hits in (0, 1, 0, 1):
        (module,) = written(own=source)
        assert module.three() == 3
        assert sum(module.three.stats.cache_hits.values()) == hits
        if hits:
            (file,) = tmp_path.rglob(f"*three*.{kind}")
            file.write_bytes(file.read_bytes()[:left])


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
        now = kept.fingerprint.__wrapped__(one.py_func)
        assert now == kept.fingerprint(one.py_func), one


@pytest.mark.parametrize(
    ("variables", "is_kept"),
    [
        ({"XDG_CACHE_HOME": "{tmp}"}, True),
        ({"XDG_CACHE_HOME": "", "HOME": "{tmp}"}, True),
        ({"XDG_CACHE_HOME": "/dev/null"}, False),
        ({"XDG_CACHE_HOME": "", "HOME": "/dev/null"}, False),
        ({"XDG_CACHE_HOME": "/proc/nowhere"}, False),
    ],
)
def test_machine_code_is_kept_where_a_folder_can_be_written(
    variables, is_kept, tmp_path, monkeypatch
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp=tmp_path))
    folder = kept.cache_folder.__wrapped__()
    assert (folder is not None and folder.is_relative_to(tmp_path)) == is_kept
    monkeypatch.setattr(kept, "cache_folder", lambda: folder)

    @compiled.jit
    def three():
        return 3

    assert three() == 3


def test_a_full_disk_costs_time_and_nothing_else(written, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba.core.caching.IndexDataCacheFile, "save", full)
    (module,) = written(
        own="from rlsvi_core.compiled import jit\n@jit\ndef three():\n    return 3\n"
    )
    assert module.three() == 3


def test_a_numba_whose_private_parts_have_moved_costs_time_and_nothing_else():
    code = (
        "from numba.core import caching; del caching._CacheLocator\n"
        "from rlsvi_core.compiled import jit\n"
        "assert jit(lambda: 3)() == 3\n"
        "import rlsvi_core.rlsvi, sys; assert 'rlsvi_core.kept' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_person_at_a_terminal_hears_once_that_the_wait_is_for_the_compiler(tmp_path):
    """And not of what others compile."""
    code = (
        "import numba, numpy\nfrom rlsvi_core.mdp import draw\n"
        "from rlsvi_core.agent import highest\n"
        "numba.njit(lambda: 1)()\nx = numpy.ones(1)\nhighest(x), draw(x, 0.5)"
    )
    ours, theirs = pytest.importorskip("pty").openpty()  # there is none on Windows
    environment = os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-c", code], stderr=theirs, check=True, timeout=300, env=environment
    )
    (line,) = os.read(ours, 10_000).decode().splitlines()
    assert "compiling" in line
    os.close(ours)
    os.close(theirs)


# --- a light import, and extras by name -----------------------------------------------------------


EXTRAS = {  # the extra that brings a package, and a module that needs it
    "flint": ("proofs", "optimism.balls"),
    "gymnasium": ("gym", "beyond.gym"),
}


def test_importing_the_library_imports_no_extra_and_a_missing_one_is_named():
    code = (
        "import importlib, sys, rlsvi_core\nprint(*sys.modules)\n"
        f"for package, (_, module) in {EXTRAS}.items():\n"
        "    sys.modules[package] = None\n"
        "    try:\n        importlib.import_module(f'rlsvi_core.{module}')\n"
        "    except ModuleNotFoundError as error:\n        print(error)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    modules, *errors = done.stdout.splitlines()
    loaded = {name.partition(".")[0] for name in modules.split()}
    assert {"numpy", "numba", "scipy"} <= loaded
    extras = "pandas matplotlib seaborn statsmodels sympy flint gymnasium joblib dask tqdm"
    assert not loaded & {*extras.split(), "rlsvi_study"}
    for error, (extra, _) in zip(errors, EXTRAS.values(), strict=True):
        assert f"rlsvi-core[{extra}]" in error
    assert done.stderr == ""


# --- every arrow points down ----------------------------------------------------------------------

FLOORS = [  # a module imports at its top what stands on floors below it, and on its own
    {"compiled", "checks"},
    {"mdp", "regression", "features", "features.maps", "features.paper", "optimism"},
    {"envs"},
    {"learner"},
    {"agent"},
    {"rlsvi", "learners"},
    {"beyond"},
    {""},  # the package itself
]


def floor(module):
    """By its own name, or by its folder's."""
    names = {name: number for number, floor in enumerate(FLOORS) for name in floor}
    while module not in names:
        module = module.rpartition(".")[0]
    return names[module]


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_down(name):
    module = importlib.import_module(name)
    package = name if hasattr(module, "__path__") else name.rpartition(".")[0]
    own = name.partition(".")[2]
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom):
            found = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names:
                whole = f"{found}.{alias.name}"
                used = whole if whole in MODULES else found
                assert not used.startswith("rlsvi_study")
                if used.startswith("rlsvi_core.") and own:
                    assert floor(used.partition(".")[2]) <= floor(own), f"{name} imports {used}"


def test_every_public_name_has_a_docstring():
    for name in MODULES:
        module = importlib.import_module(name)
        assert module.__doc__
        for public in getattr(module, "__all__", []):
            assert getattr(module, public).__doc__, public


@pytest.mark.parametrize(
    "thing",
    [
        chain(50),
        lock(10),
        DirichletPrior.symmetric(5, 4, 3),
        Recommender(np.zeros((10, 10)), 5),
        Tetris(),
        rlsvi(np.ones((2, 3, 2, 4))),
    ],
)
def test_a_thing_names_in_one_line_what_it_is(thing):
    assert type(thing).__name__ in repr(thing)
    assert "\n" not in repr(thing)
