"""The command line keeps its contract."""

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rlsvi_study import catalogue, engine
from rlsvi_study.catalogue import EXPERIMENTS, TOPICS
from rlsvi_study.cli import main


def python(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True)


def test_a_topic_runs_and_draws_what_it_says_and_nothing_else():
    for topic, has in TOPICS.items():
        runs, figures = (catalogue._module(f"{topic}.{part}") for part in ("runs", "figures"))
        assert set(runs.EXPERIMENTS) == set(has.tables)
        assert all(one.name == name for name, one in runs.EXPERIMENTS.items())
        assert set(has.tables) <= set(figures.DRAW) <= {*has.tables, *has.figures}
        assert {one for tables in has.figures.values() for one in tables} <= set(has.tables)


def test_the_register_has_the_claims_of_every_module_that_makes_some():
    package = Path(catalogue.__file__).parent
    makers = {
        file.relative_to(package).with_suffix("").as_posix().replace("/", ".")
        for file in package.glob("*/*.py")
        if "\n@claim(" in file.read_text("utf8")
    }
    assert {"chain.claims", "theory.printed"} <= makers
    catalogue.claims()
    assert {f"rlsvi_study.{name}" for name in makers} <= set(sys.modules)


def test_names_use_one_separator():
    assert not [name for name in EXPERIMENTS if "_" in name or " " in name]


def test_help_and_usage_errors_import_nothing_slow():
    done = python(
        "-c",
        """
import sys
from rlsvi_study.cli import main
for words in ("--help", "--version", "run --help", "", "run fig77", "verify fig77", "plot fig77",
              "run fig2a --jobs none"):
    try:
        main(words.split())
    except SystemExit as stop:
        assert (stop.code or 0) == (0 if "-h" in words or "-v" in words else 2), words
    slow = {"numpy", "numba", "pandas", "scipy", "joblib", "matplotlib"} & set(sys.modules)
    assert not slow, (words, slow)
""",
    )
    assert done.returncode == 0, done.stderr


def test_an_experiment_imports_the_modules_of_its_own_topic_only():
    done = python(
        "-c",
        """
import sys
from rlsvi_study.catalogue import EXPERIMENTS, TOPICS
EXPERIMENTS["fig2a"]
print(*(name for name in sys.modules if name.split(".")[1:2] and name.split(".")[1] in TOPICS))
""",
    )
    modules = {name for name in done.stdout.split() if name.count(".") > 1}
    assert modules == {"rlsvi_study.chain.runs"}


def test_the_version_is_the_distributions(capsys):
    from importlib.metadata import version

    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert not stop.value.code
    assert capsys.readouterr().out == f"rlsvi {version('rlsvi-core')}\n"


def test_list_shows_experiments_figures_and_claims(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert {"fig2a", "fig5", "3.value"} <= set(out.split())


def test_outside_a_checkout_nothing_is_stored(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["list", "fig2a"]) == 0
    assert "--out" in capsys.readouterr().out
    for words in (["run", "fig2a"], ["plot", "fig2a"], ["verify", "fig2a"]):
        assert main(words) == 1
        assert "--out" in capsys.readouterr().err
    assert main(["list", "fig2a", "--out", str(tmp_path)]) == 0
    assert "not stored" in capsys.readouterr().out


def test_check_judges_the_tables_of_the_folder(tmp_path, capsys):
    assert main(["check", "3.value", "6.1.learns", "--json", "--out", str(tmp_path)]) == 1
    exact, stored = json.loads(capsys.readouterr().out)
    assert (exact["verdict"], stored["verdict"]) == ("holds", "not judged")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["run", "fig2b2"], "fig2a"),
        (["plot", "exampel1"], "example1"),
        (["check", "3.probabilty"], "3.probability"),
        (["verify", "fg2a"], "fig2a"),
    ],
)
def test_unknown_names_get_the_nearest_valid_ones(words, hint, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["runn"],
        ["run", "--jobs", "0"],
        ["run", "--jobs", "2", "--dask", "x"],
        ["run", "--dask", ""],
        ["run", "--scale", "huge"],
        ["run", "fig1"],
        ["run", "fig1", "fig1"],
        ["verify", "--minutes", "0"],
        ["verify", "--minutes", "-1"],
        ["verify", "--minutes", "x"],
        ["verify", "--minutes", "nan"],
        ["verify", "--minutes", "²"],
    ],
)
def test_bad_usage_exits_2(words):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2


def test_run_then_plot_then_verify(tmp_path, capsys):
    out = ["--out", str(tmp_path), "--scale", "quick"]
    assert main(["run", "example1", "fig3", *out]) == 0
    assert main(["plot", "example1", *out]) == 0
    assert (tmp_path / "example1.quick.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((tmp_path / "example1.quick.json").read_text())
    assert record["command"] == "rlsvi run example1 --scale quick --jobs 1"  # no folder of ours
    runs = sum(len(EXPERIMENTS[name].scales["quick"].tasks) for name in ("example1", "fig3"))
    for minutes, parts in (("9", runs), (".00001", 2)):
        capsys.readouterr()
        assert main(["verify", "example1", "fig3", "--minutes", minutes, *out]) == 0
        *_, last = capsys.readouterr().out.splitlines()
        assert str(parts) in re.findall(r"\d+", last)


def test_check_prints_json_for_programs(capsys):
    assert main(["check", "3.value", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["verdict"] == report["registered"] == "holds"
    assert {"id", "place", "statement", "paper", "kind", "found", "numbers"} <= set(report)


@pytest.mark.parametrize("number", range(1, 15))
def test_every_figure_of_the_paper_is_drawn_by_its_number(number, tmp_path):
    """From the stored tables, in a folder of their own."""
    for file in engine.results_folder().glob("*.[cj]s*"):
        (tmp_path / file.name).symlink_to(file)
    assert main(["plot", f"fig{number}", "--out", str(tmp_path)]) == 0
    for name in ("fig2a", "fig2b") if number == 2 else (f"fig{number}",):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_failed_run_leaves_status_1_and_the_next_experiment_is_run(tmp_path, monkeypatch):
    def unlucky(**arguments):
        raise ValueError

    one = dataclasses.replace(EXPERIMENTS["fig2a"], run=unlucky)
    monkeypatch.setitem(catalogue._module("chain.runs").EXPERIMENTS, "fig2a", one)
    assert main(["run", "fig2a", "example1", "--out", str(tmp_path)]) == 1
    assert not (tmp_path / "fig2a.quick.csv").exists()
    assert (tmp_path / "example1.quick.csv").exists()


def test_the_module_is_the_command():
    done = python("-m", "rlsvi_study", "--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "rlsvi")


def test_without_docstrings_there_are_no_claims():
    """Their statements are docstrings."""
    done = python("-OO", "-m", "rlsvi_study", "check", "3.value")
    assert done.returncode == 1
    assert "-OO" in done.stderr
