"""Machine code is kept for the next process, and never stale."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from rlsvi_core import compiled, machine_code

ROOT = Path(__file__).parents[2]
THREE = "from rlsvi_core.compiled import jit\n@jit\ndef three():\n    return 3\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A function that writes modules and imports them anew, as the next process would; machine code
    is kept in a folder of the test's own."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(machine_code, "cache_folder", lambda: tmp_path)

    def write(**sources):
        for name, source in sources.items():
            (tmp_path / f"{name}.py").write_text(source)
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return [importlib.import_module(name) for name in sources]

    return write


@pytest.mark.parametrize("inside", [False, True], ids=["record", "record in a record"])
def test_an_edit_compiles_again_just_what_it_changes(written, inside):
    """High calls low, in another file. Each line: the sources, the result, and whether the machine
    code was there already."""
    high = (
        "from rlsvi_core.compiled import jit\nfrom low import Both, Pair, number\n"
        "@jit\ndef twice(given):\n    return 2 * number() + given{}.left\n"
    ).format(".inner" if inside else "")
    low = (
        "from typing import NamedTuple\nfrom rlsvi_core.compiled import jit\n{comment}\nN = {N}\n"
        "class Pair(NamedTuple):\n    {first}: float\n    {second}: float\n"
        "class Both(NamedTuple):\n    inner: Pair\n"
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
        pair = module.Pair(100.0, 1000.0)
        assert module.twice(module.Both(pair) if inside else pair) == value, edit
        assert sum(module.twice.stats.cache_hits.values()) == hits, edit


def test_a_function_or_a_number_of_another_module_may_be_called_by_its_name_there(written):
    low = "from rlsvi_core.compiled import jit\nN = {}\n@jit\ndef number():\n    return {}\n"
    high = (
        "import low\nfrom rlsvi_core.compiled import jit\n"
        "@jit\ndef total():\n    return 10 * low.number() + low.N\n"
    )
    for (N, number), hits in (((2, 3), 0), ((2, 3), 1), ((2, 4), 0), ((5, 4), 0), ((2, 4), 1)):
        module = written(low=low.format(N, number), high=high)[1]
        assert module.total() == 10 * number + N
        assert sum(module.total.stats.cache_hits.values()) == hits


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


@pytest.mark.parametrize(
    "place",
    [
        "value = {}\n@jit\ndef used():\n    return {}\n",
        "def made(value):\n    @jit\n    def used():\n        return {1}\n    return used\n"
        "used = made({0})\n",
    ],
    ids=["global", "enclosed"],
)
@pytest.mark.parametrize(
    ("use", "one", "other"),
    [
        ("value", "2.5", "3.5"),
        ("value", "2", "3"),
        ("value", "True", "False"),
        ("value is None", "None", "1"),
        ("value == 'left'", "'left'", "'right'"),
        ("value[0]", "(1, 2)", "(2, 1)"),
        ("value[1]", "np.array([1.0, 2.0])", "np.array([1.0, 2.0 + 1e-15])"),
        ("value[1000]", "np.arange(2000)", "np.arange(2000) * 2"),
        ("value[1, 0]", "np.arange(6).reshape(3, 2)", "np.arange(6).reshape(2, 3)"),
        ("value[0]", "np.array([1])", "np.array([1]).view(float)"),
        ("value()", "jit(lambda: 4)", "jit(lambda: 5)"),
        ("value", "np.float32(2.5)", "np.float32(3.5)"),
        ("value", "1 + 2j", "1 + 3j"),
        ("value[0]", "b'left'", "b'right'"),
        ("value.left", "Pair(2.5, 1.0)", "Pair(3.5, 1.0)"),
        ("value[1][1000]", "(1, np.arange(2000))", "(1, np.arange(2000) * 2)"),
    ],
)
def test_no_kind_of_value_that_a_function_uses_goes_stale(written, place, use, one, other):
    found = {}
    for given, hits in ((one, 0), (one, 1), (other, 0), (one, 1)):
        head = (
            "import numpy as np\nfrom typing import NamedTuple\n"
            "from rlsvi_core.compiled import jit\n"
            "class Pair(NamedTuple):\n    left: float\n    right: float\n"
        )
        (module,) = written(own=head + place.format(given, use))
        assert module.used() == found.setdefault(given, module.used.py_func())
        assert sum(module.used.stats.cache_hits.values()) == hits
    assert found[one] != found[other]


def test_other_options_of_the_compiler_compile_anew(written, monkeypatch):
    source = THREE.replace("import jit", "import inlined as jit")
    for options, hits in ((compiled.INLINING, 0), ({"forceinline": True}, 0), ({}, 0), ({}, 1)):
        monkeypatch.setattr(compiled, "INLINING", options)
        (module,) = written(own=source)
        assert module.three() == 3
        assert sum(module.three.stats.cache_hits.values()) == hits


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 30])
def test_machine_code_that_was_cut_short_is_compiled_anew(written, tmp_path, kind, left):
    for hits in (0, 1, 0, 1):
        (module,) = written(own=THREE)
        assert module.three() == 3
        assert sum(module.three.stats.cache_hits.values()) == hits
        if hits:
            (file,) = tmp_path.rglob(f"*three*.{kind}")
            file.write_bytes(file.read_bytes()[:left])


@pytest.mark.parametrize(
    ("variables", "is_kept"),
    [
        ({"XDG_CACHE_HOME": "{tmp}"}, True),
        ({"XDG_CACHE_HOME": "", "HOME": "{tmp}"}, True),
        ({"XDG_CACHE_HOME": "", "HOME": "/dev/null"}, False),
    ],
)
def test_machine_code_is_kept_where_a_folder_can_be_written(
    variables, is_kept, tmp_path, monkeypatch
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp=tmp_path))
    folder = machine_code.cache_folder.__wrapped__()
    assert (folder is not None and folder.is_relative_to(tmp_path)) == is_kept
    monkeypatch.setattr(machine_code, "cache_folder", lambda: folder)

    @compiled.jit
    def three():
        return 3

    assert three() == 3


def test_a_full_disk_costs_time_and_nothing_else(written, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba.core.caching.IndexDataCacheFile, "save", full)
    (module,) = written(own=THREE)
    assert module.three() == 3


def test_a_numba_whose_private_parts_have_moved_costs_time_and_nothing_else():
    code = (
        "from numba.core import caching, options\n"
        "del caching._CacheLocator, options.DefaultOptions._nrt\n"
        "from rlsvi_core.compiled import INLINING, inlined, jit\n"
        "assert inlined(lambda: 3)() == 3\n"
        "assert '_nrt' not in INLINING\n"
        "import rlsvi_core.rlsvi, sys; assert 'rlsvi_core.machine_code' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_person_at_a_terminal_hears_once_that_the_wait_is_for_the_compiler(tmp_path):
    """And not of what others compile."""
    code = (
        "import numba, numpy\nfrom rlsvi_core.mdp import draw\n"
        "from rlsvi_core.loop import highest\n"
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
