"""Machine code is kept for the next process, and never stale."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNTED = """
import numba.core.event as event
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
import high
print(high.twice(high.Pair(100.0, 1000.0)), len(compiled.buffer) // 2)
"""
LOW = """
from typing import NamedTuple
from rlsvi_core.runtime.compilation import jit
N = 1
class Pair(NamedTuple):
    left: float
    right: float
@jit
def number():
    return 2 * N
"""
HIGH = """
import low
from low import Pair
from rlsvi_core.runtime.compilation import jit
@jit
def twice(pair):
    return 2 * low.number() + pair.left
"""


@pytest.fixture
def run(tmp_path):
    """A function that runs ``high.twice`` in a new process, with machine code in a folder of the
    test's own; it returns the value and how often numba compiled."""

    def in_a_new_process(low=LOW, cache=tmp_path):
        (tmp_path / "low.py").write_text(low)
        (tmp_path / "high.py").write_text(HIGH)
        value, count = process(COUNTED, PYTHONPATH=f"{ROOT}:{tmp_path}", XDG_CACHE_HOME=str(cache))
        return float(value), int(count)

    return in_a_new_process


def process(code, **variables):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.split()


def test_an_edit_in_another_file_compiles_again_just_what_it_changes(run):
    assert run() == (104.0, 2)
    assert run() == (104.0, 0)
    assert run(f"# lines move\n\n{LOW}") == (104.0, 0)
    assert run(LOW.replace("2 * N", "3 * N")) == (106.0, 2)
    assert run(LOW.replace("N = 1", "N = 7")) == (128.0, 2)
    swapped = LOW.replace("left", "x").replace("right", "left").replace("x:", "right:")
    assert run(swapped) == (1004.0, 1)
    assert run() == (104.0, 0)


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 30])
def test_a_damaged_file_is_compiled_again(run, tmp_path, kind, left):
    run()
    (file,) = tmp_path.rglob(f"*twice*.{kind}")
    file.write_bytes(file.read_bytes()[:left])
    assert run() == (104.0, 1)
    assert run() == (104.0, 0)


def test_without_a_folder_each_process_compiles(run):
    assert run(cache="/dev/null") == run(cache="/dev/null") == (104.0, 2)


@pytest.mark.parametrize("phi", ["features.tabular(mdp)", "features.coherent(mdp.Q, 2, rng=1)"])
def test_a_second_process_of_a_learner_compiles_nothing(phi):
    code = COUNTED[: COUNTED.index("import high")] + (
        "from rlsvi_core import chain, features, rlsvi\nmdp = chain(5)\n"
        f"agent = rlsvi({phi}, rng=1)\nagent.learn(mdp, 3, rng=2, exact=True)\n"
        "print(len(compiled.buffer))"
    )
    process(code)
    assert process(code) == ["0"]


def test_a_numba_whose_private_parts_have_moved_costs_time_and_nothing_else():
    code = (
        "from numba.core import caching, options\n"
        "del caching._CacheLocator, options.DefaultOptions._nrt\n"
        "from rlsvi_core.runtime.compilation import INLINE_OPTIONS, jit_inline\n"
        "import sys; assert 'rlsvi_core.runtime.numba_cache' not in sys.modules\n"
        "print(jit_inline(lambda: 3)(), '_nrt' in INLINE_OPTIONS)"
    )
    assert process(code) == ["3", "False"]


def test_a_person_at_a_terminal_hears_once_that_the_wait_is_for_the_compiler(tmp_path):
    """And not of what others compile."""
    code = (
        "import numba, numpy\nfrom rlsvi_core.mdp import sample_index\n"
        "from rlsvi_core.runtime.loop import max_value\n"
        "numba.njit(lambda: 1)()\nx = numpy.ones(1)\nmax_value(x), sample_index(x, 0.5)"
    )
    ours, theirs = pytest.importorskip("pty").openpty()  # there is none on Windows
    environment = os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], stderr=theirs, check=True, env=environment)
    (line,) = os.read(ours, 10_000).decode().splitlines()
    assert "compiling" in line
    os.close(ours)
    os.close(theirs)
