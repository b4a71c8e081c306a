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
from rlsvi_study.catalogue import load_user_study
from rlsvi_study.cli import main
from rlsvi_study.engine import grid, runner, sources
from rlsvi_study.engine.journal import Journal

EXAMPLE = Path(__file__).parents[3] / "examples/own_study.py"
SMALL = """
from rlsvi_study.engine import define_experiment, grid
from helper import OFFSET
FACTOR = 3
def times(x):
    return FACTOR * x + OFFSET
def run(seed, lam, sigma=1.0, name="a"):
    return [{"value": times(lam * seed), "says": name + str(sigma)}]
EXPERIMENTS = {"own": define_experiment("own", place="here", title="Three times", run=run,
    constants={"sigma": 2.0, "name": "b"}, cells=grid(lam=(1.0, 2.5)), seeds=range(4, 7))}
"""
DATA = SMALL.replace("range(4, 7)", 'range(4, 7), data=("data.csv",)')


@pytest.fixture
def small(tmp_path):
    (tmp_path / "helper.py").write_text("OFFSET = 0\n")
    file = tmp_path / "small.py"
    file.write_text(SMALL)
    return file


def table(file):
    return pd.read_csv(file.parent / "results/own.csv")


# --- the example ----------------------------------------------------------------------------------


def test_the_example_runs_resumes_and_is_drawn_and_verified(tmp_path, capsys):
    file = tmp_path / EXAMPLE.name
    shutil.copy(EXAMPLE, file)
    one = load_user_study(file).experiments["river"]
    with Journal(one, "paper", tmp_path / "results") as journal:  # a sweep that was cut short
        task = one.scales["paper"].tasks[0]
        journal.add(task, one.compute_rows("paper", task), 0.0)
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
    notebook = json.loads((EXAMPLE.parents[1] / "book/own-problem.ipynb").read_text("utf8"))
    texts = ("".join(cell["source"]) for cell in notebook["cells"])
    (page,) = (text for text in texts if text.startswith("(own-study)="))
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


# --- workers and sources --------------------------------------------------------------------------


def test_processes_get_the_file_and_what_lies_beside_it(small):
    for jobs in "12":
        run = ["run", str(small), "--jobs", jobs, "--out", str(small.parent / jobs)]
        assert main(run) == 0
    one, two = ((small.parent / jobs / "own.csv").read_bytes() for jobs in "12")
    assert one == two
    assert b"2.5,6,45.0,b2.0" in one


def test_every_python_file_in_the_folder_counts_and_no_environment_does(small, capsys):
    """Nor does a hidden folder, or data that is not named."""
    for other in (".hidden", "env", "pack"):
        (small.parent / other).mkdir()
    (small.parent / "env/pyvenv.cfg").touch()
    assert main(["run", str(small)]) == 0
    for other in (".hidden/a.py", "env/a.py", "data.csv"):
        (small.parent / other).touch()
    (small.parent / ".#small.py").symlink_to("nowhere")  # so Emacs marks a file under way
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
    monkeypatch.setattr(runner, "LOG_EVERY", 0)
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


@pytest.mark.parametrize("name", ["small.py", "pack/inner.py", "data.csv"])
def test_a_file_that_is_edited_in_a_run_ends_in_no_table(name, small, capsys):
    """It is said which; with the file put back, the sweep resumes."""
    (small.parent / "edits.py").write_text(EDITED)
    (small.parent / "pack").mkdir()
    for other in ("pack/__init__.py", "pack/inner.py", "data.csv", "go"):
        (small.parent / other).touch()
    text = DATA.replace(
        "    return [",
        f"    import edits\n    from pack import inner\n"
        f"    if (lam, seed) == (2.5, 6): edits.edit({name!r})\n    return [",
    )
    small.write_text(text)
    before = (small.parent / name).read_bytes()
    assert main(["run", str(small), "--jobs", "2"]) == 1
    assert name in capsys.readouterr().err
    assert not (small.parent / "results/own.csv").exists()
    (small.parent / name).write_bytes(before)
    assert main(["run", str(small), "--jobs", "2"]) == 0
    assert len(table(small)) == 6
    files = json.loads((small.parent / "results/own.json").read_text())["computed"]["files"]
    assert set(files) > {"small.py", "helper.py", "pack/inner.py", "data.csv"}


def test_processes_of_an_earlier_sweep_have_not_kept_an_edited_module(small):
    small.write_text(
        SMALL.replace("from helper import OFFSET", "import helper").replace(
            "+ OFFSET", "+ helper.OFFSET"
        )
    )
    for number in (1, 22):
        (small.parent / "helper.py").write_text(f"OFFSET = {number}\n")
        assert main(["run", str(small), "--jobs", "2"]) == 0
        assert table(small).value[0] == 12 + number


def test_data_that_is_not_there_is_refused(small, capsys):
    small.write_text(DATA)
    assert main(["run", str(small)]) == 1
    assert "data.csv" in capsys.readouterr().err


NOTEBOOK = """
from rlsvi_study import engine
class Scaled:
    def __init__(self, by):
        self.by = by
def run(seed, lam):
    return [{"value": Scaled(lam).by * seed}]
one = engine.define_experiment("typed", place="a notebook", title="A product", run=run,
                   cells=engine.grid(lam=(1.0, 2.5)), seeds=range(4, 6))
for jobs in (1, 2):
    engine.run_experiment(one, "paper", f"jobs{jobs}", jobs=jobs)
"""


def test_a_study_typed_into_a_notebook_runs_in_processes(tmp_path, monkeypatch):
    """As IPython does it: the cell is in the line cache, its names in ``__main__``."""
    monkeypatch.chdir(tmp_path)
    lines = NOTEBOOK.splitlines(True)
    monkeypatch.setitem(linecache.cache, "<cell 1>", (len(NOTEBOOK), None, lines, "x"))
    names = {"__name__": "__main__"}
    exec(compile(NOTEBOOK, "<cell 1>", "exec"), names)
    for folder in ("jobs1", "jobs2"):
        assert engine.load_table(names["one"], "paper", folder).value.tolist() == [4, 5, 10, 12.5]
        assert not engine.verify_table(names["one"], "paper", folder, seconds=60).differences


# --- what is wrong with a file --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("FACTOR = 3", "FACTOR = three", "NameError"),
        ("FACTOR = 3", "raise SystemExit(0)", "SystemExit"),
        ("EXPERIMENTS", "EXPERIMENT", "EXPERIMENTS"),
        ('{"own": def', '{"own": 1, "b": def', "EXPERIMENTS"),
        ('{"own":', '{"other":', "name"),
        ('"own"', '"fig2a"', "paper"),
        ('("own"', '("my own"', "name"),
        ('"own"', '"verdicts"', "name"),
        ("lam, sigma=1.0", "sigma=1.0", "lam"),
        ("(1.0, 2.5)", "(1.0, 1.0)", "cell"),
        ("range(4, 7)", "[4, 5]", "seeds"),
    ],
)
def test_a_file_that_is_no_study_is_refused(old, new, hint, small, capsys):
    small.write_text(SMALL.replace(old, new))
    assert main(["run", str(small)]) == 1
    assert hint in capsys.readouterr().err
    assert not (small.parent / "results").exists()


def test_a_file_that_is_not_there_is_bad_usage(tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["run", str(tmp_path / "nowhere.py")])
    assert stop.value.code == 2


@pytest.mark.parametrize(
    ("plot", "status", "hint"),
    [
        ("", 1, "plot=Plot("),
        (", plot=Plot('lam', 'values')", 1, "lam, seed, value, says"),
        (", plot=Plot('lam', 'says')", 1, "numbers"),
        (", plot=Plot('lam', 'value', panels=('says',))", 0, ""),
    ],
)
def test_a_table_is_drawn_by_its_plot(plot, status, hint, small, capsys):
    text = SMALL.replace("range(4, 7))", f"range(4, 7){plot})")
    small.write_text(text.replace("import define", "import Plot, define"))
    assert main(["run", str(small)]) == 0
    assert main(["plot", str(small)]) == status
    assert hint in capsys.readouterr().err
    assert (small.parent / "results/figures/own.png").exists() == (status == 0)


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ("[{'value': 1}, {'more': 1}]", "more"),
        ("[{'value': {1, 2}}]", "value"),
        ("[{'value': 1, 'lam': 2}]", "lam"),
        ("{'value': 1}", "list"),
        ("[{'value': 'one' if seed == 6 else 1}]", "CSV"),
        ("[{'value': '1' if lam == 1 and seed == 4 else 1 / 0}]", "CSV"),
    ],
)
def test_rows_that_make_no_table_are_refused(rows, hint, small, capsys):
    small.write_text(SMALL.replace("    return [", f"    return {rows}\n    return ["))
    assert main(["run", str(small)]) == 1
    assert hint in "".join(capsys.readouterr())
    assert not (small.parent / "results/own.csv").exists()


# --- odd surroundings -----------------------------------------------------------------------------

ODD = """
import threading
from rlsvi_study.engine import define_experiment
LOCK = threading.Lock()
class Stop(BaseException):
    pass
def locked(seed):
    with LOCK:
        return [{"value": seed}]
def stop(seed):
    raise Stop("\\ud800")
EXPERIMENTS = {run.__name__: define_experiment(run.__name__, place="", title="", run=run, seeds=range(2, 4))
               for run in (locked, stop)}
"""


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("locked", 0),
        ("locked --jobs 2", 1),  # a lock does not travel
        ("stop", 1),
        ("locked --dask no://where", 1),
    ],
)
def test_odd_studies_have_a_status(words, status, tmp_path):
    """One may be named as a package that the engine needs, and written in another encoding."""
    (tmp_path / "tqdm.py").write_bytes(b"# coding: latin-1\n# \xe9\n" + ODD.encode())
    assert main(["run", str(tmp_path / "tqdm.py"), *words.split()]) == status


@pytest.mark.parametrize("name", ["copied.py", "other/small.py"])
def test_two_files_do_not_write_one_table(name, small, capsys):
    other, out = small.parent / name, ["--out", str(small.parent / "out")]
    file = small.parent / "out/own.csv"
    assert main(["run", str(small), *out]) == 0
    before = file.read_bytes()
    other.parent.mkdir(exist_ok=True)
    other.with_name("helper.py").write_text("OFFSET = 0\n")
    other.write_text(SMALL.replace("FACTOR = 3", "FACTOR = 4"))
    assert main(["run", str(other), *out]) == 1
    assert "small.py" in capsys.readouterr().err
    assert file.read_bytes() == before
    small.write_text(SMALL + "# edited")
    assert main(["run", str(small), *out]) == 0  # its own table it may replace
    assert main(["run", str(other), *out, "--again"]) == 0
    assert file.read_bytes() != before


def test_none_comes_back_as_none(tmp_path):
    """But not among measured numbers, where pandas has NaN for it."""

    def run(seed, axis):
        odd = seed % 2
        return [
            {"number": odd or None, "word": "a" if odd else None, "truth": True if odd else None}
        ]

    one = engine.define_experiment(
        "none", place="", title="", run=run, cells=grid(axis=(None, 2)), seeds=range(4, 6)
    )
    engine.run_experiment(one, "paper", tmp_path)
    found = engine.load_table(one, "paper", tmp_path)
    assert found.axis.tolist() == [None, None, 2, 2]
    assert found.word.tolist() == [None, "a"] * 2
    assert found.truth.tolist() == [None, True] * 2
    assert found.number.dtype == float
    assert engine.verify_table(one, "paper", tmp_path, seconds=60).differences == []
