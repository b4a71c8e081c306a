"""No input passes silently: a result, an error of ours, or a usage error with status 2.

``tests/fuzz.py`` has the calls, the hostile arguments and the verdict; it runs in processes of its
own, where a crash is a status and not the end of the tests. A long run: ``python tests/fuzz.py
2000``, or ``RLSVI_FUZZ=2000 pytest tests/test_fuzz.py``.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz import COMPILED, GOOD, public
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlsvi_study.cli import main

EXAMPLES = os.environ.get("RLSVI_FUZZ", "12")  # of each callable
REACH_COMPILED = (".act", ".observe", ".step", ".start", ".simulate", ".drop", ".sample_Q",
                  "GaussianPosterior.", "Products.__call__", "features.paper", ".values", ".learn")


def fuzzed(*parts, **environment):
    script = Path(__file__).with_name("fuzz.py")
    path = os.pathsep.join(filter(None, (str(script.parents[1]), os.environ.get("PYTHONPATH"))))
    done = subprocess.run([sys.executable, str(script), EXAMPLES, *parts], capture_output=True,
                          text=True, env={**os.environ, "PYTHONPATH": path, **environment})
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    print(done.stdout.splitlines()[-1])
    inputs, escaped = map(int, re.findall(r"(\d+) inputs tried, (\d+) escaped", done.stdout)[-1])
    assert inputs > 0
    assert escaped == 0


def test_every_public_callable_is_tried():
    assert set(public()) == set(GOOD)


def test_nothing_compiled_is_public():
    assert not [name for name in public() if f"rlsvi_core.{name}" in COMPILED]


def test_hostile_arguments_get_an_error_of_ours_or_a_result():
    fuzzed()


def test_nor_do_they_reach_beyond_an_array_in_compiled_code(request):
    """Machine code with bounds checked is another, and is kept in a folder of its own."""
    folder = str(request.config.cache.mkdir("boundscheck"))
    fuzzed(*REACH_COMPILED, NUMBA_BOUNDSCHECK="1", XDG_CACHE_HOME=folder)


# ------------------------------------------------------------------ the command line

WORDS = ["", "fig77", "nan", "-1", "0", "1.5", "1e300", "9" * 30, "é\u0000", "=", "N=", "=2",
         "lam=(", "lam=__import__('os')", "seeds=-1", "--jobs", "--scale", "--set", "--out",
         "--seed", "--runs", "--stamp", "--json", "--dask", "--help", "/dev/null", "/no/such",
         "no.py", "/dev/null.py", ".", "..", "*", "huge", "3.valu", "fig1", "-x", "--", "run"]


@settings(max_examples=15 * int(EXAMPLES), deadline=None,
          suppress_health_check=list(HealthCheck))
@given(st.sampled_from(["list", "run", "plot", "check", "verify", "", "runn"]),
       st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_hostile_words_get_a_line_and_a_status(verb, words):
    """Every command has a name that is none, so that nothing is computed."""
    try:
        status = main([verb, "fig77", *words])
    except SystemExit as stop:
        status = stop.code
    assert status in (0, 1, 2)


def test_a_broken_check_is_noticed(monkeypatch):
    """The verdict itself: an unchecked index, a NaN and a foreign error are all seen."""
    import fuzz

    from rlsvi_core import checks
    monkeypatch.setattr(checks, "index", lambda name, value, size: value)
    assert fuzz.fuzz("agents.finite.FiniteAgent.policy", 1)[1] == 0
    assert fuzz.fuzz("agents.tabular.TabularAgent.act", 60)[1] > 0


@pytest.mark.parametrize("message", ["must be positive", "lam must be positive; it is 0"])
def test_the_form_is_rule_value_and_mend(message):
    from fuzz import FORM
    assert not FORM.fullmatch(message)
    assert FORM.fullmatch("lam must be above 0; it is 0. Use a small value.")
