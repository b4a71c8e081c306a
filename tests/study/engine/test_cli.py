"""The command line keeps its contract."""

import dataclasses
import json
import re
import subprocess
import sys
from importlib.metadata import version
from operator import itemgetter

import pytest

from rlsvi_study import StudyError, catalogue, engine
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.cli import main
from rlsvi_study.judging import verdicts


def python(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True)


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


def test_outside_a_checkout_nothing_is_stored(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["list", "fig2a"]) == 0
    assert "--out" in capsys.readouterr().out
    for words in (["run", "fig2a"], ["plot", "fig2a"], ["verify", "fig2a"]):
        assert main(words) == 1
        assert "--out" in capsys.readouterr().err
    assert main(["list", "fig2a", "--out", str(tmp_path)]) == 0
    assert "not stored" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "hint"), [(["run", "fig2b2"], "fig2a"), (["plot", "exampel1"], "example1")]
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
        ["list", "--out", ""],
        ["run", "--scale", "huge"],
        ["run", "fig1"],
        ["verify", "--minutes", "0"],
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
    assert (tmp_path / "figures/example1.quick.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((tmp_path / "example1.quick.json").read_text())
    assert record["command"] == "rlsvi run example1 --scale quick --jobs 1"  # no folder of ours
    runs = sum(len(EXPERIMENTS[name].scales["quick"].tasks) for name in ("example1", "fig3"))
    for minutes, parts in (("9", runs), (".00001", 2)):
        capsys.readouterr()
        assert main(["verify", "example1", "fig3", "--minutes", minutes, *out]) == 0
        *_, last = capsys.readouterr().out.splitlines()
        assert str(parts) in re.findall(r"\d+", last)


@pytest.mark.parametrize(
    ("scale", "changes", "lines"),
    [("paper", "+changes", 1), ("paper", "", 0), ("quick", "+changes", 0)],
)
def test_a_run_at_the_papers_scale_says_first_that_changes_are_not_committed(
    scale, changes, lines, monkeypatch, capsys
):
    monkeypatch.setattr(engine, "git_revision", lambda: f"0123abcd{changes}")
    monkeypatch.setattr(engine, "run_experiment", lambda *_, **__: print("swept", file=sys.stderr))
    assert main(["run", "example1", "--scale", scale]) == 0
    *before, last = capsys.readouterr().err.splitlines()
    assert (len(before), last) == (lines, "swept")
    assert all("0123abcd+changes" in line for line in before)


def test_a_failed_run_leaves_status_1_and_the_next_experiment_is_run(tmp_path, monkeypatch):
    def unlucky(**arguments):
        raise ValueError

    one = dataclasses.replace(EXPERIMENTS["fig2a"], run=unlucky)
    monkeypatch.setitem(catalogue._import_module("chain.experiments").EXPERIMENTS, "fig2a", one)
    assert main(["run", "fig2a", "example1", "--out", str(tmp_path)]) == 1
    assert not (tmp_path / "fig2a.quick.csv").exists()
    assert (tmp_path / "example1.quick.csv").exists()


def test_a_table_without_a_plot_says_so(monkeypatch, capsys):
    one = dataclasses.replace(EXPERIMENTS["readings"], plot=None)
    monkeypatch.setitem(catalogue._import_module("chain.experiments").EXPERIMENTS, "readings", one)
    assert main(["plot", "readings"]) == 1
    assert "Plot(" in capsys.readouterr().err


def test_a_claim_that_is_judged_again_leaves_what_was_found_of_the_others(tmp_path):
    before = (engine.results_folder() / verdicts.VERDICTS_FILE).read_bytes()
    (tmp_path / verdicts.VERDICTS_FILE).write_bytes(before)
    assert main(["check", "1.lower-bound", "--store", "--out", str(tmp_path)]) == 0
    # In the register's order, which in this process is that in which tests imported the topics.
    one, other = (
        json.loads(text) for text in ((tmp_path / verdicts.VERDICTS_FILE).read_bytes(), before)
    )
    assert sorted(one, key=itemgetter("id")) == sorted(other, key=itemgetter("id"))


@pytest.mark.parametrize("content", ["[{}]", "[1]", "{", "7"])
def test_damaged_verdicts_are_named(content, tmp_path):
    (tmp_path / verdicts.VERDICTS_FILE).write_text(content)
    with (
        engine.use_results_folder(tmp_path),
        pytest.raises(StudyError, match=verdicts.VERDICTS_FILE),
    ):
        verdicts.load_verdicts()


def test_the_module_is_the_command_and_has_the_distributions_version():
    assert python("-m", "rlsvi_study", "--version").stdout == f"rlsvi {version('rlsvi-core')}\n"
