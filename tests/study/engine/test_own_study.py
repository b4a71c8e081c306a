"""A study of one's own is served as the paper's are; what is wrong with it is said in a line."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from rlsvi_study import StudyError
from rlsvi_study.catalogue import EXPERIMENTS, study
from rlsvi_study.cli import main
from rlsvi_study.engine import Experiment, Scale, grid, runner, sources, store

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


def table(file, name="own"):
    return pd.read_csv(file.parent / f"results/{name}.quick.csv")


# --- the example ----------------------------------------------------------------------------------


def test_the_example_runs_resumes_and_is_drawn_and_verified(tmp_path, capsys):
    file = tmp_path / EXAMPLE.name
    shutil.copy(EXAMPLE, file)
    assert main(["list", str(file)]) == 0
    assert "quick: 10 runs; not stored" in capsys.readouterr().out
    one = study(file).experiments["river"]
    journal = store.Journal(one, "quick", tmp_path / "results")  # a sweep that was cut short
    task = one.scales["quick"].tasks[0]
    journal.add(task, one.rows("quick", task), 0.0)
    journal.close()
    for words in (["run"], ["plot"], ["verify"], ["list"]):
        assert main([*words, str(file)]) == 0
    out = capsys.readouterr().out
    assert "resuming, 1 of 10 runs are done" in out
    assert "of the rows, equal\n" in out
    assert "quick: 10 runs; stored" in out
    assert (tmp_path / "results/river.quick.png").read_bytes().startswith(b"\x89PNG")
    last = table(file, "river").query("episode == 500").groupby("lam").regret.mean()
    assert last[0.1] < last[1.0]  # the flatter prior explores


# --- what is set ----------------------------------------------------------------------------------


def test_what_is_set_is_run_and_recorded_under_a_name_of_its_own(small, capsys):
    words = [str(small), "--set", "lam=5", "--set", "name=c", "--set", "seeds=2"]
    assert main(["run", *words]) == 0
    assert main(["verify", *words]) == 0
    (file,) = (small.parent / "results").glob("*.json")
    assert file.name == "own+lam=5+name=c+seeds=2.quick.json"
    record = json.loads(file.read_text())
    assert record["constants"] == {"sigma": 2.0, "name": "c"}
    assert (record["grid"], record["seeds"]) == ([{"lam": 5}], [0, 2])
    assert record["command"] == (
        "rlsvi run small.py own --set lam=5 --set name=c --set seeds=2 --scale quick --jobs 1"
    )
    assert table(small, "own+lam=5+name=c+seeds=2").value.tolist() == [0, 15]
    assert main(["verify", str(small)]) == 1  # the plain table is not there
    assert "Compute them with: rlsvi run small.py own --scale quick" in capsys.readouterr().err


def test_the_papers_experiments_are_set_too_and_their_tables_left_alone(tmp_path):
    assert main(["run", "fig3", "--set", "N=5", "--set", "seeds=1", "--out", str(tmp_path)]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "fig3+N=5+seeds=1.quick.csv",
        "fig3+N=5+seeds=1.quick.json",
    ]


def test_a_value_never_leaves_the_folder():
    assert EXPERIMENTS["fig2a"].having(agent="../x y").name == "fig2a+agent=%2E%2E%2Fx%20y"


@pytest.mark.parametrize(
    ("words", "status", "hint"),
    [
        (["--set", "lm=3"], 2, "no setting of own named 'lm'. Did you mean lam"),
        (["--set", "lam"], 2, "NAME=VALUE"),
        (["--set", "seeds=0"], 1, "seeds must be a range of at least one"),
        (["--scale", "paper"], 2, "no scale of own named 'paper'. Did you mean quick"),
        (["on"], 2, "Did you mean own"),
    ],
)
def test_bad_words_are_refused(words, status, hint, small, capsys):
    assert status_of("run", str(small), *words) == status
    assert hint in capsys.readouterr().err
    assert not (small.parent / "results").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--set", "sigma=1e999"],
        ["run", "--set", "sigma=" + 2000 * "("],
        ["run", "--set", "lam={[]: 1}"],
        ["run", "--set", "seeds=" + 30 * "9"],
        ["run", "--set", "=2"],
        ["run", "--set", "self=1"],
        ["run", "--out", "/dev/null/x"],
        ["run", "--out", 300 * "x"],
        ["run", "é"],
        ["run", ""],
        ["run", "--dask", "no://where"],
        ["verify", "--minutes", 5000 * "9"],
        ["verify", "--minutes", "0"],
        ["plot", "--scale", "../x"],
    ],
)
def test_hostile_words_get_a_line_and_a_status(words, small, capsys, monkeypatch):
    monkeypatch.chdir(small.parent)
    verb, *rest = words
    status = status_of(verb, str(small), *rest)
    *_, line = capsys.readouterr().err.splitlines()
    assert status in (1, 2)
    assert line.startswith("rlsvi")
    assert "Traceback" not in line


# --- workers and sources --------------------------------------------------------------------------


def test_processes_get_the_file_and_what_lies_beside_it(small):
    for jobs in ("1", "2"):
        subprocess.run(
            [
                sys.executable,
                "-m",
                "rlsvi_study",
                "run",
                str(small),
                "--jobs",
                jobs,
                "--out",
                str(small.parent / jobs),
            ],
            check=True,
            capture_output=True,
        )
    one, two = ((small.parent / jobs / "own.quick.csv").read_bytes() for jobs in "12")
    assert one == two
    assert b"2.0,2,12.0,b2.0" in one


def test_an_edited_file_has_another_hash(small):
    def now():
        return sources.source_hash(study(small).experiments["own"].run)

    before = now()
    assert now() == before
    small.write_text(SMALL.replace("FACTOR = 3", "FACTOR = 4"))
    assert now() != before


NOTEBOOK = """
from rlsvi_study.engine import runner, store
from rlsvi_study.engine import Experiment, Scale, grid
class Scaled:
    def __init__(self, by):
        self.by = by
def run(seed, lam):
    return [{"value": Scaled(lam).by * seed}]
one = Experiment("typed", "a notebook", "A product", run, {
    "quick": Scale({}, grid(lam=(1.0, 2.0)), range(3))})
for jobs in (1, 2):
    folder = f"jobs{jobs}"
    runner.sweep(one, "quick", folder, jobs=jobs)
    print(store.load(one, "quick", folder).value.tolist(),
          runner.verify(one, "quick", folder, seconds=60).differences)
"""


def test_a_study_typed_into_a_notebook_runs_in_processes(tmp_path):
    """As IPython does it: the cell is in the line cache, its names in ``__main__``."""
    shell = (
        "import linecache\n"
        f"source = {NOTEBOOK!r}\n"
        "linecache.cache['<cell 1>'] = (len(source), None, source.splitlines(True), 'x')\n"
        "exec(compile(source, '<cell 1>', 'exec'), globals())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", shell], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == 2 * ["[0.0, 1.0, 2.0, 0.0, 2.0, 4.0] []"], done.stderr


# --- what is wrong with a file --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("FACTOR = 3", "FACTOR = three", "NameError: name 'three' is not defined"),
        ("FACTOR = 3", "FACTOR = 3 3", "SyntaxError"),
        ("FACTOR = 3", "import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("FACTOR = 3", "raise SystemExit(0)", "SystemExit: 0"),
        ("FACTOR = 3", "f = lambda: f()\nf()", "RecursionError"),
        ("FACTOR = 3", "FACTOR = 3\0", "SyntaxError"),
        ("EXPERIMENTS", "EXPERIMENT", "must define EXPERIMENTS, a dict of experiments by name"),
        (
            '{"own": Exp',
            '{"own": 1, "b": Exp',
            "EXPERIMENTS must hold each Experiment under its own",
        ),
        ('{"own":', '{"other":', "under its own name"),
        ('"own"', '"fig2a"', "none of the paper's"),
        ('("own"', '("my own"', "names files: letters, digits"),
        ("lam, sigma=1.0", "sigma=1.0", "got an unexpected keyword argument 'lam'"),
        ("seed, lam", "seed, lam, K", "missing a required argument: 'K'"),
        ("(1.0, 2.0)", "(1.0, 1.0)", "at least one cell, each once; one is there 2 times"),
        (
            "range(3)",
            "[1, 2]",
            "seeds must be a range of at least one, in steps of 1; it is [1, 2]",
        ),
        ("EXPERIMENTS =", "DRAW = {'one': print}\nEXPERIMENTS =", "DRAW must have names of"),
    ],
)
def test_a_file_that_is_no_study_is_refused_in_a_line(old, new, hint, small, capsys):
    small.write_text(SMALL.replace(old, new))
    assert main(["run", str(small)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("rlsvi: ")
    assert hint in line
    assert not (small.parent / "results").exists()


def test_a_file_that_is_not_there_is_bad_usage(tmp_path, capsys):
    assert status_of("run", str(tmp_path / "nowhere.py")) == 2
    assert "there is none at" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("draw", "status", "hint"),
    [
        ("", 1, "must define DRAW"),
        ("DRAW = {'own': len}", 1, "a drawing must return a figure"),
        ("DRAW = {'own': lambda table: table.plot(x='seed', y='value')}", 0, ""),
    ],
)
def test_a_drawing_returns_a_figure_or_what_has_one(draw, status, hint, small, capsys):
    small.write_text(SMALL + draw)
    assert main(["run", str(small)]) == 0
    assert main(["plot", str(small)]) == status
    assert hint in capsys.readouterr().err
    assert (small.parent / "results/own.quick.png").exists() == (status == 0)


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ("[{'value': 1} | ({'more': 1} if seed else {})]", "some have and some have not more"),
        ("[{'value': 1}, {'more': 1}]", "some have and some have not more, value"),
        ("[{'value': {1, 2}}]", "rows hold numbers, texts, truth values and None, or lists of"),
        ("[{'value': 1, 'lam': 2}]", "they have lam already"),
        ("{'value': 1}", "a list of dicts, at least one row; it returned {'value': 1}"),
    ],
)
def test_rows_that_make_no_table_are_refused(rows, hint, small, capsys):
    small.write_text(SMALL.replace("    return [", f"    return {rows}\n    return ["))
    assert main(["run", str(small)]) == 1
    assert hint in "".join(capsys.readouterr())
    assert not (small.parent / "results/own.quick.csv").exists()


def test_a_wrong_experiment_is_refused_where_it_is_made():
    with pytest.raises(StudyError, match="missing a required argument: 'lam'"):
        Experiment("a", "", "", lambda seed, lam: [], {"quick": Scale({}, grid(), range(1))})
    with pytest.raises(StudyError, match="numbers, strings, truth values"):
        runner.sweep(
            Experiment(
                "a", "", "", lambda seed, f: [], {"quick": Scale({"f": print}, grid(), range(1))}
            ),
            "quick",
            Path("nowhere"),
        )


# --- what is stored already -----------------------------------------------------------------------


def test_what_is_stored_is_not_computed_again_unless_that_is_asked_for(small, capsys):
    times = []
    for words in ([], [], ["--again"]):
        assert main(["run", str(small), *words]) == 0
        times.append((small.parent / "results/own.quick.json").stat().st_mtime_ns)
    first, second, third = capsys.readouterr().out.splitlines()
    assert second == (
        f"own: already stored, by this code, in "
        f"{small.parent}/results/own.quick.csv; --again recomputes it"
    )
    assert (first, third) == 2 * (f"own: wrote {small.parent}/results/own.quick.csv",)
    assert times[0] == times[1] < times[2]


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_text(SMALL.replace("FACTOR = 3", "FACTOR = 4")),
        lambda file: file.write_text(SMALL.replace("range(3)", "range(4)")),
        lambda file: (file.parent / "results/own.quick.csv").unlink(),
        lambda file: (file.parent / "results/own.quick.json").write_text("{"),
    ],
)
def test_what_was_changed_or_damaged_is_computed_again(change, small, capsys):
    main(["run", str(small)])
    change(small)
    capsys.readouterr()
    assert main(["run", str(small)]) == 0
    assert "wrote" in capsys.readouterr().out


def test_an_interrupted_study_is_listed_with_its_finished_runs(small, capsys):
    one = study(small).experiments["own"]
    journal = store.Journal(one, "quick", small.parent / "results")
    for task in one.scales["quick"].tasks[:2]:
        journal.add(task, one.rows("quick", task), 0.0)
    journal.close()
    assert main(["list", str(small)]) == 0
    assert "quick: 6 runs; 2 of 6 runs are done" in capsys.readouterr().out
    small.write_text(SMALL.replace("FACTOR = 3", "FACTOR = 4"))
    assert main(["list", str(small)]) == 0
    assert "quick: 6 runs; not stored" in capsys.readouterr().out


def test_a_drawing_of_a_table_from_before_an_edit_says_so(small, capsys):
    drawn = SMALL + "DRAW = {'own': lambda table: table.plot(x='seed', y='value')}\n"
    small.write_text(drawn)
    main(["run", str(small)])
    assert main(["plot", str(small)]) == 0
    assert not capsys.readouterr().err
    small.write_text(drawn + "# edited\n")
    assert main(["plot", str(small)]) == 0
    assert capsys.readouterr().err == (
        f"rlsvi: own.quick.csv was computed before {small} was edited. Recompute it with: "
        f"rlsvi run small.py own --scale quick\n"
    )


# --- odd surroundings -----------------------------------------------------------------------------

ODD = """
import threading
from matplotlib.figure import Figure
from rlsvi_study.engine import Experiment, Scale
LOCK = threading.Lock()
class Stop(BaseException):
    pass
def plain(seed):
    return [{"value": seed}]
def locked(seed):
    with LOCK:
        return plain(seed)
def function(seed):
    return [{"value": lambda: seed}]
def stop(seed):
    raise Stop("\\ud800")
EXPERIMENTS = {run.__name__: Experiment(run.__name__, "", "", run, {
    "quick": Scale({}, ({},), range(2))}) for run in (plain, locked, function, stop)}
DRAW = {"plain": lambda table: Figure()}
"""


@pytest.mark.parametrize(
    ("words", "status", "hint"),
    [
        ("rlsvi run tqdm.py plain --jobs 2 && MPLBACKEND=nonsense rlsvi plot tqdm.py plain", 0, ""),
        ("rlsvi run tqdm.py plain --jobs 2 >&- 2>&-", 0, ""),
        ("rlsvi run tqdm.py plain 2>&-", 0, ""),
        ("rlsvi list tqdm.py >&-", 0, ""),
        (
            "rlsvi run tqdm.py locked --jobs 2",
            1,
            "cannot pickle '_thread.lock' object. Make it inside",
        ),
        ("rlsvi run tqdm.py function --jobs 2", 1, "2 of 2 runs raised"),
        ("rlsvi run tqdm.py stop", 1, "2 of 2 runs raised"),
        ("rlsvi run tqdm.py plain --set seeds=\\xff", 1, "seeds must be a range"),
        ("cd beside && rlsvi run tqdm.py plain", 1, "need tqdm; "),
        ("rlsvi run tqdm.py plain --dask ''", 2, "an address such as tcp://"),
        ("rlsvi run tqdm.py plain --dask inproc://x", 1, "no Dask scheduler answers at inproc://x"),
    ],
)
def test_odd_surroundings_get_a_line_and_a_status(words, status, hint, tmp_path):
    folder = tmp_path / "beside"
    folder.mkdir()
    (folder / "tqdm.py").write_text(ODD)
    if "cd" not in words:
        words = words.replace("tqdm.py", "beside/tqdm.py")
    done = subprocess.run(
        words.replace("rlsvi ", f"{sys.executable} -m rlsvi_study ").encode(),
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert hint in (done.stderr.splitlines() or [""])[-1]


def test_without_docstrings_the_claims_say_what_they_need(tmp_path):
    for words in (["check", "3.value"], ["list", "--out", str(tmp_path)]):
        done = subprocess.run(
            [sys.executable, "-OO", "-m", "rlsvi_study", *words], capture_output=True, text=True
        )
        assert done.returncode == 1
        assert done.stderr == (
            "rlsvi: the claims' statements are docstrings; this Python has "
            "dropped them. Run it without -OO.\n"
        )


def test_two_files_do_not_write_one_table(small, capsys):
    main(["run", str(small)])
    table, copied = small.parent / "results/own.quick.csv", small.with_name("copied.py")
    before = table.read_bytes()
    copied.write_text(SMALL.replace("FACTOR = 3", "FACTOR = 4"))
    assert main(["run", str(copied)]) == 1
    said = capsys.readouterr().err
    assert f"own.quick.csv was computed by {small.name} and would be lost" in said
    assert table.read_bytes() == before
    assert main(["run", str(copied), "--again"]) == 0
    assert table.read_bytes() != before
