"""The command line keeps its contract."""

import json
import subprocess
import sys

import pytest

from rlsvi_study import store
from rlsvi_study.cli import main


def test_list_shows_figures_and_claims(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "fig2a" in out
    assert "paper: 100 runs; stored" in out
    assert "3.value" in out


def test_list_works_where_nothing_is_stored(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["list"]) == 0
    assert "not stored" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "hint"), [
    (["run", "fig2b2"], "fig2a"), (["plot", "exampel1"], "example1"),
    (["check", "3.probabilty"], "3.probability"), (["verify", "fg2a"], "fig2a"),
])
def test_unknown_names_get_the_nearest_valid_ones(words, hint, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["runn"], ["run", "--jobs", "0"], ["run", "--jobs", "2",
                                   "--dask", "x"], ["run", "--scale", "huge"]])
def test_bad_usage_exits_2(words):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2


def test_run_then_plot_then_verify(tmp_path, capsys):
    out = ["--out", str(tmp_path), "--scale", "quick"]
    assert main(["run", "example1", *out]) == 0
    assert main(["plot", "example1", *out]) == 0
    assert main(["verify", "example1", *out]) == 0
    assert (tmp_path / "example1.quick.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((tmp_path / "example1.quick.json").read_text())
    assert record["command"] == "rlsvi run example1 --scale quick --jobs 1"  # no folder of ours
    assert "equal the stored ones" in capsys.readouterr().out


def test_verify_exits_1_and_names_the_row(tmp_path, capsys):
    out = ["--out", str(tmp_path), "--scale", "quick"]
    main(["run", "example1", *out])
    file = tmp_path / "example1.quick.csv"
    text = file.read_text().replace("rlsvi,2,3,", "rlsvi,2,3,7", 1)
    file.write_text(text)
    assert main(["verify", "example1", *out]) == 1  # the hash gives it away
    assert "edited" in capsys.readouterr().err
    record = json.loads(file.with_suffix(".json").read_text()) | {
        "sha256": store._digest(text.encode())}
    file.with_suffix(".json").write_text(json.dumps(record))
    assert main(["verify", "example1", "--runs", "1000", *out]) == 1  # and so does the code
    assert "agent=rlsvi, N=2, seed=3" in capsys.readouterr().out


def test_check_prints_json_for_programs(capsys):
    assert main(["check", "3.value", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["verdict"] == report["registered"] == "holds"
    assert {"id", "place", "statement", "paper", "kind", "found", "numbers"} <= set(report)


def test_no_results_folder_is_explained(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "fig2a"]) == 1
    assert "--out" in capsys.readouterr().err


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "rlsvi_study", "check", "A.boltzmann"],
                          capture_output=True, text=True)
    assert done.returncode == 0
    assert "misprint" in done.stdout
