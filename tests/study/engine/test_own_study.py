"""A study of one's own is served as the paper's are; what is wrong with it has a status and an error."""

import json
import linecache
import re
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

from rlsvi_study import engine
from rlsvi_study.catalogue import study
from rlsvi_study.cli import main
from rlsvi_study.engine import Experiment, Scale, grid, runner, sources
from rlsvi_study.engine.journal import Journal

EXAMPLE = Path(__file__).parents[3] / "examples/own_study.py"
SMALL = """
from rlsvi_study.engine import Experiment, Scale, grid
from helper import OFFSET
FACTOR = 3
def times(x):
    return FACTOR * x + OFFSET
def run(seed, lam, sigma=1.0, name="a"):
    return [{"value": times(lam * seed), "says": name + str(sigma)}]
EXPERIMENTS = {"own": Experiment("own", "here", "Three times", run, {
    "quick": Scale({"sigma": 2.0, "name": "b"}, grid(lam=(1.0, 2.0)), range(3))})}
"""
IMPORTS = SMALL.replace("from helper import OFFSET", "import helper").replace(
    "+ OFFSET", "+ helper.OFFSET"
)  # so that workers import it too


@pytest.fixture
def small(tmp_path):
    (tmp_path / "helper.py").write_text("OFFSET = 0\n")
    file = tmp_path / "small.py"
    file.write_text(SMALL)
    return file


def status_of(*words):
    try:
        return main([*words])
    except SystemExit as stop:
        return stop.code


def table(file):
    return pd.read_csv(file.parent / "results/own.quick.csv")


# --- the example ----------------------------------------------------------------------------------


def test_the_example_runs_resumes_and_is_drawn_and_verified(tmp_path, capsys):
    file = tmp_path / EXAMPLE.name
    shutil.copy(EXAMPLE, file)
    one = study(file).experiments["river"]
    with Journal(one, "paper", tmp_path / "results") as journal:  # a sweep that was cut short
        task = one.scales["paper"].tasks[0]
        journal.add(task, one.rows("paper", task), 0.0)
    assert main(["list", str(file)]) == 0
    assert "1 of 10" in capsys.readouterr().out
    for words in (["run"], ["plot"], ["verify"], ["list"]):
        assert main([*words, str(file)]) == 0
    assert (tmp_path / "results/figures/river.png").read_bytes().startswith(b"\x89PNG")
    last = (
        pd.read_csv(tmp_path / "results/river.csv")
        .query("episode == 500")
        .groupby("lam")
        .regret.mean()
    )
    assert last[0.1] < last[1.0]  # the flatter prior explores


def test_the_page_on_studies_works_as_it_is_printed(tmp_path, monkeypatch, capsys):
    page = (EXAMPLE.parents[1] / "book/own-study.md").read_text("utf8")
    file, in_python = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "river.py").write_text(file)
    monkeypatch.chdir(tmp_path)
    for command in re.findall(r"^rlsvi ([^#\n]*)", page, re.MULTILINE):
        assert main(command.split()) == 0
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "river", None)
    del sys.modules["river"]
    capsys.readouterr()
    exec(in_python, {})
    assert "already stored" in capsys.readouterr().out  # by the same code, imported or run


# --- what is typed --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "status", "hint"),
    [
        (["--out", ""], 2, "folder"),
        (["--scale", "paper"], 2, "quick"),
        (["on"], 2, "own"),
    ],
)
def test_bad_words_are_refused(words, status, hint, small, capsys):
    assert status_of("run", str(small), *words) == status
    assert hint in capsys.readouterr().err
    assert not (small.parent / "results").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--out", "/dev/null/x"],
        ["run", "--out", 300 * "x"],
        ["run", "é"],
        ["run", ""],
        ["verify", "--minutes", 5000 * "9"],
        ["verify", "--minutes", "0"],
        ["plot", "--scale", "../x"],
    ],
    ids=lambda words: " ".join(words)[:30],
)
def test_hostile_words_get_a_status(words, small, monkeypatch):
    monkeypatch.chdir(small.parent)
    verb, *rest = words
    assert status_of(verb, str(small), *rest) in (1, 2)


# --- workers and sources --------------------------------------------------------------------------


def test_processes_get_the_file_and_what_lies_beside_it(small):
    for jobs in "12":
        run = ["run", str(small), "--jobs", jobs, "--out", str(small.parent / jobs)]
        assert main(run) == 0
    one, two = ((small.parent / jobs / "own.quick.csv").read_bytes() for jobs in "12")
    assert one == two
    assert b"2.0,2,12.0,b2.0" in one


def test_every_python_file_in_the_folder_counts_and_no_environment_does(small, capsys):
    """Nor does a hidden folder, or data that is not named."""
    for other in (".hidden", "env", "pack"):
        (small.parent / other).mkdir()
    (small.parent / "env/pyvenv.cfg").touch()
    assert main(["run", str(small)]) == 0
    for other in (".hidden/a.py", "env/a.py", "data.csv"):
        (small.parent / other).touch()
    capsys.readouterr()
    assert main(["run", str(small)]) == 0
    assert "already stored" in capsys.readouterr().out
    (small.parent / "pack/a.py").touch()
    assert main(["list", str(small)]) == 0
    assert "pack/a.py" in capsys.readouterr().out
    assert main(["run", str(small)]) == 0
    assert "already stored" not in capsys.readouterr().out


def test_a_study_has_a_folder_of_its_own(small, monkeypatch, capsys):
    monkeypatch.setattr(sources, "MOST_FILES", 1)
    assert main(["run", str(small)]) == 1
    assert "folder" in capsys.readouterr().err


def test_a_log_gets_lines_of_progress(small, monkeypatch, capsys):
    monkeypatch.setattr(runner, "NEWS", 0)
    assert main(["run", str(small)]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6
    assert all("own" in line and f"{n}/6" in line for n, line in enumerate(lines, start=1))


EDITED = """
import os
from pathlib import Path
def edit(name):
    folder = Path(__file__).parent
    if (folder / "go").exists():
        (folder / name).write_text((folder / name).read_text() + "# edited")
        (folder / "go").unlink()
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("name", ["small.py", "helper.py", "lazy.py", "pack/inner.py", "data.csv"])
def test_a_file_that_is_edited_in_a_run_ends_in_no_table(name, jobs, small, capsys):
    """It is said which; with the file put back, the sweep resumes."""
    (small.parent / "edits.py").write_text(EDITED)
    (small.parent / "pack").mkdir()
    for other in ("lazy.py", "pack/__init__.py", "pack/inner.py", "data.csv", "go"):
        (small.parent / other).touch()
    text = IMPORTS.replace("range(3))})}", 'range(3))}, data=["data.csv"])}').replace(
        "    return [",
        f"    import lazy, edits\n    from pack import inner\n"
        f"    if (lam, seed) == (2.0, 2): edits.edit({name!r})\n    return [",
    )
    small.write_text(text)
    before = (small.parent / name).read_bytes()
    assert main(["run", str(small), "--jobs", jobs]) == 1
    assert name in capsys.readouterr().err
    assert not (small.parent / "results/own.quick.csv").exists()
    assert main(["list", str(small)]) == 0
    assert "not stored" in capsys.readouterr().out
    (small.parent / name).write_bytes(before)
    if jobs == "1":
        assert "5 of 6" in (main(["list", str(small)]), capsys.readouterr().out)[1]
    assert main(["run", str(small), "--jobs", jobs]) == 0
    assert len(table(small)) == 6
    files = json.loads((small.parent / "results/own.quick.json").read_text())["computed"]["files"]
    assert set(files) > {"small.py", "helper.py", "lazy.py", "pack/inner.py", "data.csv"}


def test_processes_of_an_earlier_sweep_have_not_kept_an_edited_module(small):
    small.write_text(IMPORTS)
    for number in (0, 11):
        (small.parent / "helper.py").write_text(f"OFFSET = {number}\n")
        assert main(["run", str(small), "--jobs", "2"]) == 0
        assert table(small).value[0] == number


def test_data_that_is_not_there_is_refused(small, capsys):
    small.write_text(SMALL.replace("range(3))})}", 'range(3))}, data=["data.csv"])}'))
    assert main(["run", str(small)]) == 1
    assert "data.csv" in capsys.readouterr().err


NOTEBOOK = """
from rlsvi_study import engine
from rlsvi_study.engine import Experiment, Scale, grid
class Scaled:
    def __init__(self, by):
        self.by = by
def run(seed, lam):
    return [{"value": Scaled(lam).by * seed}]
one = Experiment("typed", "a notebook", "A product", run, {
    "quick": Scale({}, grid(lam=(1.0, 2.0)), range(3))})
for jobs in (1, 2):
    engine.sweep(one, "quick", f"jobs{jobs}", jobs=jobs)
"""


def test_a_study_typed_into_a_notebook_runs_in_processes(tmp_path, monkeypatch):
    """As IPython does it: the cell is in the line cache, its names in ``__main__``."""
    monkeypatch.chdir(tmp_path)
    lines = NOTEBOOK.splitlines(True)
    monkeypatch.setitem(linecache.cache, "<cell 1>", (len(NOTEBOOK), None, lines, "x"))
    names = {"__name__": "__main__"}
    exec(compile(NOTEBOOK, "<cell 1>", "exec"), names)
    for folder in ("jobs1", "jobs2"):
        assert engine.load(names["one"], "quick", folder).value.tolist() == [0, 1, 2, 0, 2, 4]
        assert not engine.verify(names["one"], "quick", folder, seconds=60).differences


# --- what is wrong with a file --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("FACTOR = 3", "FACTOR = three", "NameError"),
        ("FACTOR = 3", "FACTOR = 3 3", "SyntaxError"),
        ("FACTOR = 3", "import nothing_of_that_name", "nothing_of_that_name"),
        ("FACTOR = 3", "raise SystemExit(0)", "SystemExit"),
        ("FACTOR = 3", "f = lambda: f()\nf()", "RecursionError"),
        ("FACTOR = 3", "FACTOR = 3\0", "SyntaxError"),
        ("EXPERIMENTS", "EXPERIMENT", "EXPERIMENTS"),
        ('{"own": Exp', '{"own": 1, "b": Exp', "EXPERIMENTS"),
        ('{"own":', '{"other":', "name"),
        ('"own"', '"fig2a"', "paper"),
        ('("own"', '("my own"', "name"),
        ('"own"', '"verdicts"', "name"),
        ("lam, sigma=1.0", "sigma=1.0", "lam"),
        ("seed, lam", "seed, lam, K", "K"),
        ("(1.0, 2.0)", "(1.0, 1.0)", "cell"),
        ("(1.0, 2.0)", "([1], [2])", "settings"),
        ("range(3)", "[1, 2]", "seeds"),
        ("EXPERIMENTS =", "DRAW = {'one': print}\nEXPERIMENTS =", "DRAW"),
    ],
)
def test_a_file_that_is_no_study_is_refused(old, new, hint, small, capsys):
    small.write_text(SMALL.replace(old, new))
    assert main(["run", str(small)]) == 1
    assert hint in capsys.readouterr().err
    assert not (small.parent / "results").exists()


def test_a_file_that_is_not_there_is_bad_usage(tmp_path):
    assert status_of("run", str(tmp_path / "nowhere.py")) == 2


@pytest.mark.parametrize(
    ("draw", "status", "hint"),
    [
        ("", 1, "DRAW"),
        ("DRAW = {'own': len}", 1, "figure"),
        ("DRAW = {'own': lambda table: table.plot(x='seed', y='value')}", 0, ""),
    ],
)
def test_a_drawing_returns_a_figure_or_what_has_one(draw, status, hint, small, capsys):
    small.write_text(SMALL + draw)
    assert main(["run", str(small)]) == 0
    assert main(["plot", str(small)]) == status
    assert hint in capsys.readouterr().err
    assert (small.parent / "results/figures/own.quick.png").exists() == (status == 0)


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ("[{'value': 1} | ({'more': 1} if seed else {})]", "more"),
        ("[{'value': 1}, {'more': 1}]", "more"),
        ("[{'value': {1, 2}}]", "value"),
        ("[{'value': 1, 'lam': 2}]", "lam"),
        ("{'value': 1}", "list"),
        ("[{'value': 'one' if seed else 1}]", "CSV"),
        ("[{'value': '1' if lam == 1 and not seed else 1 / 0}]", "CSV"),
    ],
)
def test_rows_that_make_no_table_are_refused(rows, hint, small, capsys):
    small.write_text(SMALL.replace("    return [", f"    return {rows}\n    return ["))
    assert main(["run", str(small)]) == 1
    assert hint in "".join(capsys.readouterr())
    assert not (small.parent / "results/own.quick.csv").exists()


def test_a_wrong_experiment_is_refused_where_it_is_made():
    with pytest.raises(ValueError, match="lam"):
        Experiment("a", "", "", lambda seed, lam: [], {"quick": Scale({}, grid(), range(1))})
    with pytest.raises(ValueError, match="constants"):
        Scale({"f": print}, grid(), range(1))
    with pytest.raises(ValueError, match="list"):
        Scale({}, grid(sizes=((1, 2), (3, 4))), range(1))  # what no column of a CSV holds


# --- odd surroundings -----------------------------------------------------------------------------

ODD = """
import threading
from rlsvi_study.engine import Experiment, Scale
LOCK = threading.Lock()
class Stop(BaseException):
    pass
def plain(seed):
    return [{"value": seed}]
def locked(seed):
    with LOCK:
        return plain(seed)
def stop(seed):
    raise Stop("\\ud800")
EXPERIMENTS = {run.__name__: Experiment(run.__name__, "", "", run, {
    "quick": Scale({}, ({},), range(2))}) for run in (plain, locked, stop)}
"""


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("plain", 0),
        ("locked", 0),
        ("locked --jobs 2", 1),  # a lock does not travel
        ("stop", 1),
        ("plain --dask no://where", 1),
    ],
)
def test_odd_studies_have_a_status(words, status, tmp_path):
    """One may be named as a package that the engine needs."""
    (tmp_path / "tqdm.py").write_text(ODD)
    assert main(["run", str(tmp_path / "tqdm.py"), *words.split()]) == status


def test_two_files_do_not_write_one_table(small):
    main(["run", str(small)])
    table, copied = small.parent / "results/own.quick.csv", small.with_name("copied.py")
    before = table.read_bytes()
    copied.write_text(SMALL.replace("FACTOR = 3", "FACTOR = 4"))
    assert main(["run", str(copied)]) == 1
    assert table.read_bytes() == before
    assert main(["run", str(copied), "--again"]) == 0
    assert table.read_bytes() != before


def test_two_files_of_one_name_do_not_write_one_table(small, capsys):
    other, out = small.parent / "other/small.py", ["--out", str(small.parent / "out")]
    other.parent.mkdir()
    shutil.copy(small.parent / "helper.py", other.parent)
    other.write_text(SMALL.replace("FACTOR = 3", "FACTOR = 4"))
    assert main(["run", str(small), *out]) == 0
    before = (small.parent / "out/own.quick.csv").read_bytes()
    assert main(["run", str(other), *out]) == 1
    assert "small.py" in capsys.readouterr().err
    assert (small.parent / "out/own.quick.csv").read_bytes() == before
    small.write_text(SMALL + "# edited")
    assert main(["run", str(small), *out]) == 0  # its own table it may replace


@pytest.mark.parametrize("name", ["it's.py", "two words.py"])
def test_a_files_name_may_be_odd_and_so_may_its_encoding(name, small):
    file = small.with_name(name)
    file.write_bytes(b"# coding: latin-1\n# \xe9\n" + SMALL.encode())
    assert main(["run", str(file)]) == 0
    assert main(["run", str(file), "--again"]) == 0
    file.write_bytes(file.read_bytes() + b"# edited")
    assert main(["run", str(file)]) == 0


def test_none_comes_back_as_none(tmp_path):
    """But not among measured numbers, where pandas has NaN for it."""

    def run(seed, axis):
        return [
            {"number": seed or None, "word": "a" if seed else None, "truth": True if seed else None}
        ]

    one = Experiment("none", "", "", run, {"quick": Scale({}, grid(axis=(None, 2)), range(2))})
    engine.sweep(one, "quick", tmp_path)
    found = engine.load(one, "quick", tmp_path)
    assert found.axis.tolist() == [None, None, 2, 2]
    assert found.word.tolist() == [None, "a"] * 2
    assert found.truth.tolist() == [None, True] * 2
    assert found.number.dtype == float
    assert engine.verify(one, "quick", tmp_path, seconds=60).differences == []
