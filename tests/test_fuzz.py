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
FILES = {  # a study of one's own, and what is none, or not quite
    "good": STUDY, "empty": "", "binary": bytes(range(256)), "latin": b"x = '\xe9'", "broken": "def",
    "exits": "raise SystemExit(0)", "raises": "1 / 0", "endless": "f = lambda: f()\nf()",
    "number": "EXPERIMENTS = 1", "none": "EXPERIMENTS = {}", "numbers": "EXPERIMENTS = {1: 1}",
    **{new: STUDY.replace(old, new) for old, new in (
        ("draw}", "3}"), ("draw}", "print}"), ("draw}", "lambda table: 1 / 0}"), ("= {\"own\": d", "= {d"),
        ("return table", "sys.exit(0)\n    return table"), ("x=\"seed\"", "x=\"seeds\""),
        ("return [", "sys.exit(0)\n    return ["), ("return [", "import broken\n    return ["),
        ("[{\"value\": lam * seed + K}]", "None"), ("lam * seed + K", "{1, 2}"),
        ("lam * seed + K", "float('nan')"), ("\"value\":", "seed:"), ("\"value\": lam", "\"lam\": lam"),
        ("\"Own\", run", "\"Own\", print"), ("\"Own\", run", "\"Own\", 3"), ("\"Own\"", "None"),
        ("\"own\": E", "\"fig1\": E"), ("(\"own\"", "(\"../own\""), ("\"quick\"", "\"a/b\""),
        ("{\"K\": 2}", "{\"K\": float('inf')}"), ("{\"K\": 2}", "{\"seed\": 2}"), ("range(2)", "2"),
        ("range(2)", "range(10**30)"), ("(1.0, 2.0)", "()"), ("range(2))}", "range(2))}, length='N'"),
        ("range(2))}", "range(2))}, length='K'"), ("range(2))}", "range(2))}, along='K'"))}}
NAMES = ("example1", "fig1", "fig2", "tetris-games", "3.value", "6.1.learns", "fig77", "", "é", "*", "/dev/null",
         "no.py", ".", "-x", "--", "run", "own", "9" * 5000)
OPTIONS = {
    "--set": ("lam=3", "K=nan", "K=1e999", "lam=[1, 2]", "lam={[]: 1}", "K=" + 2000 * "(", "seeds=1",
              "seeds=-1", "seeds=1.5", "seeds=None", "seeds=" + "9" * 30, "seed=2", "self=1", "=2",
              "K=", "N", "K=../../x", "K=" + 300 * "x", "lam=__import__('os')", "K=2"),
    "--scale": ("quick", "paper", "huge", "", "../x"), "--jobs": ("0", "2", "-1", "1e9", "9" * 30),
    "--seed": ("3", "-1", "9" * 30, "9" * 5000, "x"), "--runs": ("1", "0", "9" * 30, "²"),
    "--out": ("", "/dev/null", "/dev/null/x", "/proc/x", "x" * 300, "new/folder"),
    "--dask": ("x", "tcp://127.0.0.1:9", "tcp://127.0.0.1:99999999", "tcp://", "no://where", "é:1"),
    "--stamp": ("", "x"), "--json": ("", "x"), "--help": ("",), "--version": ("",), "--odd": ("1",)}
TAKES = {"list": ("--out",), "check": ("--json", "--out"), "plot": ("--scale", "--set", "--out"),
         "run": ("--jobs", "--dask", "--scale", "--set", "--out"),
         "verify": ("--seed", "--runs", "--stamp", "--jobs", "--scale", "--set", "--out")}


def commands():
    def options(verb):
        usual = st.sampled_from(TAKES.get(verb, ("--out",)))
        return st.lists(usual | st.sampled_from(sorted(OPTIONS)), max_size=3).flatmap(
            lambda names: st.tuples(*(st.sampled_from(OPTIONS[name]).map(
                lambda value, name=name: [name, *[value] * bool(value)]) for name in names)))

    files = st.sampled_from([f"{i}.py" for i in range(len(FILES))])
    names = st.lists(st.sampled_from(NAMES), max_size=2)
    subject = st.tuples(files, names).map(lambda one: [one[0], *one[1]]) | names
    return st.sampled_from([*TAKES, *TAKES, "", "runn"]).flatmap(
        lambda verb: st.tuples(st.just(verb), subject, options(verb)))


def test_hostile_words_get_a_line_and_a_status(tmp_path, monkeypatch):
    """In a folder with odd files; what would be computed for long has a scale of its own there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "PATIENCE", 0.2)
    (tmp_path / "broken.py").write_text("def")
    for i, text in enumerate(FILES.values()):
        (tmp_path / f"{i}.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    tried, statuses = 0, Counter()

    @settings(max_examples=25 * int(EXAMPLES), deadline=None, derandomize=True, database=None,
              suppress_health_check=list(HealthCheck))
    @given(commands())
    def attack(command):
        nonlocal tried
        verb, names, options = command
        words = [verb, *names, *(word for option in options for word in option)]
        if not names or verb == "run":  # not all there is, nor at the paper's scale
            words += ["--set", "seeds=1", "--scale", "quick"] if names and verb == "run" else ["fig77"]
        words += [] if "--out" in words else ["--out", "results"]
        with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()) as said:
            try:
                status = main(words)
            except SystemExit as stop:
                status = stop.code
        tried, statuses[status] = tried + 1, statuses[status] + 1
        text = said.getvalue() + printed.getvalue()
        assert status in (0, 1, 2), words
        assert "Traceback" not in text, words
        if status:
            assert text.strip(), words
        if status == 2:
            assert re.search(r"^rlsvi.*: ", said.getvalue().splitlines()[-1]), (words, text)

    attack()
    print(f"{tried} commands tried, with statuses {dict(statuses)}")
    assert min(statuses[0], statuses[1], statuses[2]) > 0.05 * tried


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
