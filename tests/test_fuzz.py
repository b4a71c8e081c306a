"""No input passes silently: a result, an error of ours, or a usage error with status 2.

``tests/fuzz.py`` has the calls, the hostile arguments and the verdict; it runs in processes of its
own, where a crash is a status and not the end of the tests. A long run: ``python tests/fuzz.py
2000``, or ``RLSVI_FUZZ=2000 pytest tests/test_fuzz.py``.
"""

import io
import os
import re
import subprocess
import sys
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from fuzz import COMPILED, GOOD, public
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlsvi_study import runner
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

STUDY = """
import sys
from rlsvi_study.experiment import Experiment, Scale, grid
def run(seed, lam, K=2):
    return [{"value": lam * seed + K}]
def draw(table):
    return table.plot(x="seed", y="value")
EXPERIMENTS = {"own": Experiment("own", "here", "Own", run, {
    "quick": Scale({"K": 2}, grid(lam=(1.0, 2.0)), range(2))})}
DRAW = {"own": draw}
"""
FILES = [  # a study of one's own, and what is none, or not quite
    STUDY, "", bytes(range(256)), b"x = '\xe9'", "def", "raise SystemExit(0)", "1 / 0",
    "f = lambda: f()\nf()", "EXPERIMENTS = 1", "EXPERIMENTS = {}", "EXPERIMENTS = {1: 1}",
    *(STUDY.replace(old, new) for old, new in (
        ("draw}", "3}"), ("draw}", "print}"), ("draw}", "lambda table: 1 / 0}"), (": draw", ""),
        ("return table", "sys.exit(0)\n    return table"), ('x="seed"', 'x="seeds"'),
        ("return [", "sys.exit(0)\n    return ["), ("return [", "import broken\n    return ["),
        ('[{"value": lam * seed + K}]', "None"), ("lam * seed + K", "{1, 2}"),
        ("lam * seed + K", "float('nan')"), ('"value":', "seed:"), ('"value": lam', '"lam": lam'),
        ('"Own", run', '"Own", print'), ('"Own", run', '"Own", 3'), ('"Own"', "None"),
        ('"own": E', '"fig1": E'), ('("own"', '("../own"'), ('"quick"', '"a/b"'),
        ('{"K": 2}', "{'K': float('inf')}"), ('{"K": 2}', "{'seed': 2}"), ("range(2)", "2"),
        ("range(2)", "range(10**30)"), ("(1.0, 2.0)", "()"),
        *(("range(2))}", f"range(2))}}, {more}") for more in (
            "length='N'", "length='K'", "along='K'", "portable=3", "words=None"))))]
PAPERS = ["example1", "fig1", "tetris-rules", "3.value", "6.1.learns"]
NO_NAMES = ["fig77", "", "é", "*", "/dev/null", "no.py", ".", "-x", "--", "run", "own", "9" * 5000]
OPTIONS = {
    "--set": ("lam=3", "K=2", "K=nan", "K=1e999", "lam=[1, 2]", "lam={[]: 1}", "K=" + 2000 * "(",
              "seeds=1", "seeds=-1", "seeds=1.5", "seeds=None", "seeds=" + "9" * 30, "seed=2", "=2",
              "self=1", "K=", "N", "K=../../x", "K=" + 300 * "x", "lam=__import__('os')"),
    "--scale": ("quick", "paper", "huge", "", "../x"),
    "--jobs": ("2", "99", "0", "-1", "1e9", "9" * 30),
    "--seed": ("3", "-1", "9" * 30, "9" * 5000, "x"), "--runs": ("1", "0", "9" * 30, "²"),
    "--out": ("new/folder", "", "/dev/null", "/dev/null/x", "/proc/x", "x" * 300),
    "--dask": ("x", "tcp://127.0.0.1:9", "tcp://127.0.0.1:99999999", "tcp://", "no://where", "é:1"),
    "--stamp": ("", "x"), "--json": ("", "x"), "--help": ("",), "--version": ("",), "--odd": ("1",)}
TAKES = {"list": ["--out"], "check": ["--json", "--out"], "plot": ["--set", "--out"],
         "run": ["--jobs", "--dask", "--set", "--set", "--out"],
         "verify": ["--seed", "--runs", "--stamp", "--jobs", "--set", "--out"]}


def some(chance, good, bad):
    """Of the good ones, or in so many of ten cases of the bad ones."""
    return st.integers(0, 9).flatmap(lambda i: st.sampled_from(bad if i >= 10 - chance else good))


@st.composite
def commands(draw):
    verb = draw(some(1, sorted(TAKES), ["", "runn"]))
    files = [] if verb == "check" else [f"{i}.py" for i in range(len(FILES))]
    words = [draw(some(7, files[:1] or PAPERS[3:], files + PAPERS + NO_NAMES))]
    words += draw(st.lists(st.sampled_from(["own", *NO_NAMES]), max_size=draw(some(1, [0], [1]))))
    for _ in range(draw(st.integers(0, 2))):
        option = draw(some(1, TAKES.get(verb, ["--out"]), sorted(OPTIONS)))
        value = draw(some(6, OPTIONS[option][:2], OPTIONS[option]))
        words += [option, *[value] * bool(value)]
    if verb == "run" and words[0] in PAPERS:  # not at the paper's scale
        words += ["--scale", "quick", "--set", "seeds=1"]
    return [verb, *words, *([] if "--out" in words else ["--out", "results"])]


def test_hostile_words_get_a_line_and_a_status(tmp_path, monkeypatch):
    """In a folder with odd files: a result, a usage error, or lines that say what is wrong."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "PATIENCE", 0.2)
    (tmp_path / "broken.py").write_text("def")
    for i, text in enumerate(FILES):
        (tmp_path / f"{i}.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    statuses, escaped = Counter(), []

    @settings(max_examples=25 * int(EXAMPLES), deadline=None, derandomize=True, database=None,
              suppress_health_check=list(HealthCheck))
    @given(commands())
    def attack(words):
        with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()) as said:
            try:
                status = main(words)
            except SystemExit as stop:
                status = stop.code
            except BaseException as error:
                status = repr(error)
        statuses[status] += 1
        text, lines = printed.getvalue(), said.getvalue().splitlines()
        if (status not in (0, 1, 2) or "Traceback" in text + said.getvalue()
                or (status == 1 and not (text or lines))
                or (status == 2 and not re.match("rlsvi.*: ", lines[-1]))
                or (status == 1 and any(not line.startswith("rlsvi: ") for line in lines))):
            escaped.append((words, status, lines[-3:]))

    attack()
    print(f"{statuses.total()} commands tried, with statuses {dict(statuses)}")
    assert not escaped, "\n".join(map(str, escaped))
    assert min(statuses[status] for status in (0, 1, 2)) > 0.05 * statuses.total()


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
