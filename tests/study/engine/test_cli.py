"""The command line keeps its contract."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from rlsvi_study import catalogue
from rlsvi_study.catalogue import EXPERIMENTS, FIGURES, TOPICS
from rlsvi_study.cli import main
from rlsvi_study.engine import store
from rlsvi_study.engine.sources import digest


def python(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True)


def test_the_catalogue_has_the_names_that_the_topics_define():
    for topic, names in TOPICS.items():
        runs, figures = (catalogue._module(f"{topic}.{part}") for part in ("runs", "figures"))
        assert tuple(runs.EXPERIMENTS) == names
        assert set(figures.DRAW) == set(names)
        assert all(one.name == name for name, one in runs.EXPERIMENTS.items())
        drawn = getattr(figures, "DRAW_FROM", {})
        assert {name: tables for name, (tables, _) in drawn.items()} == {
            name: FIGURES[name] for name in drawn
        }


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


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["run", "--help"],
        [],
        ["run", "fig77"],
        ["verify", "fig77"],
        ["plot", "fig77"],
        ["run", "fig2a", "--jobs", "none"],
    ],
)
def test_help_and_usage_errors_import_nothing_slow(words):
    done = python(
        "-c",
        f"""
import sys
from rlsvi_study.cli import main
try:
    main({words!r})
finally:
    print(*{{"numpy", "numba", "pandas", "scipy", "joblib", "matplotlib"}} & set(sys.modules))
""",
    )
    assert done.returncode == (0 if {"--help", "--version"} & set(words) else 2), done.stderr
    assert done.stdout.splitlines()[-1] == ""


def test_an_experiment_imports_its_own_topic_only():
    done = python(
        "-c",
        """
import sys
from rlsvi_study.catalogue import EXPERIMENTS
EXPERIMENTS["fig2a"]
print(*(name for name in sys.modules if name.startswith("rlsvi_study.")))
""",
    )
    assert {name.split(".")[1] for name in done.stdout.split()} & set(TOPICS) == {"chain"}


def test_the_version_is_the_distributions(capsys):
    from importlib.metadata import version

    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert not stop.value.code
    assert capsys.readouterr().out == f"rlsvi {version('rlsvi-core')}\n"


def test_list_shows_experiments_figures_and_claims(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "fig2a" in out
    assert "paper: 100 runs; stored" in out
    assert "fig5                  fig3, fig4" in out
    assert "3.value" in out


def test_outside_a_checkout_it_says_what_is_missing_and_how_to_get_it(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Nothing is stored here: no folder named 'results'")
    assert "clone" in out
    assert "--out" in out
    assert "not stored" not in out
    for words in (["run", "fig2a"], ["plot", "fig2a"], ["verify", "fig2a"]):
        assert main(words) == 1
        assert "--out" in capsys.readouterr().err
    assert main(["list", "--out", str(tmp_path)]) == 0
    assert "100 runs; not stored" in capsys.readouterr().out


def test_check_judges_the_tables_of_another_folder(tmp_path):
    """In processes of their own: within one, the register may keep the tables it has read."""
    judge = ("-m", "rlsvi_study", "check", "3.value", "6.1.learns", "--json", "--out")
    here, there = (
        json.loads(python(*judge, str(folder)).stdout)
        for folder in (store.results_folder(), tmp_path)
    )
    assert [one["verdict"] for one in here] == ["holds", "holds in part"]
    assert [one["verdict"] for one in there] == ["holds", "not judged"]
    assert f"is not in {tmp_path}" in there[1]["found"]
    assert "rlsvi run" in there[1]["found"]
    assert python(*judge, str(tmp_path)).returncode == 1


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
    assert main(["run", "example1", *out]) == 0
    assert main(["plot", "example1", *out]) == 0
    assert main(["verify", "example1", *out]) == 0
    assert (tmp_path / "example1.quick.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((tmp_path / "example1.quick.json").read_text())
    assert record["command"] == "rlsvi run example1 --scale quick --jobs 1"  # no folder of ours
    assert "of the rows, equal\n" in capsys.readouterr().out


def test_verify_exits_1_and_names_the_row(tmp_path, capsys):
    out = ["--out", str(tmp_path), "--scale", "quick"]
    main(["run", "example1", *out])
    file = tmp_path / "example1.quick.csv"
    text = file.read_text().replace("rlsvi,2,3,", "rlsvi,2,3,7", 1)
    file.write_text(text)
    assert main(["verify", "example1", *out]) == 1  # the hash gives it away
    assert "edited" in capsys.readouterr().err
    record = json.loads(file.with_suffix(".json").read_text()) | {"sha256": digest(text.encode())}
    file.with_suffix(".json").write_text(json.dumps(record))
    assert main(["verify", "example1", "--minutes", "10", *out]) == 1  # and so does the code
    assert "agent=rlsvi, N=2, seed=3" in capsys.readouterr().out


def test_check_prints_json_for_programs(capsys):
    assert main(["check", "3.value", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["verdict"] == report["registered"] == "holds"
    assert {"id", "place", "statement", "paper", "kind", "found", "numbers"} <= set(report)


@pytest.mark.parametrize("number", range(1, 15))
def test_every_figure_of_the_paper_is_drawn_by_its_number(number, tmp_path, capsys):
    """From the stored tables, in a folder of their own."""
    for file in store.results_folder().glob("*.[cj]s*"):
        (tmp_path / file.name).symlink_to(file)
    assert main(["plot", f"fig{number}", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for name in FIGURES["fig2"] if number == 2 else (f"fig{number}",):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert f"{name}: wrote" in out


def test_verify_says_how_much_it_recomputed(tmp_path, capsys):
    out = ["--out", str(tmp_path), "--scale", "quick"]
    main(["run", "fig2a", "fig3", *out])
    capsys.readouterr()
    assert main(["verify", "fig2a", "fig3", "--minutes", "9", *out]) == 0
    one, two, last = capsys.readouterr().out.splitlines()
    assert one == "fig2a: 6 of 6 runs recomputed, 1 of the rows, equal"
    assert two == "fig3: 12 of 12 runs recomputed, 1 of the rows, equal"
    assert last.startswith("2 tables, 18 runs or beginnings of runs, ")
    assert main(["verify", "fig2a", "fig3", "--minutes", ".00001", *out]) == 0
    assert "fig3: 1 of 12 runs" in capsys.readouterr().out


def test_a_failed_run_leaves_status_1_and_the_next_experiment_is_run(tmp_path, monkeypatch, capsys):

    def unlucky(**arguments):
        raise ValueError("no luck")

    one = dataclasses.replace(EXPERIMENTS["fig2a"], run=unlucky)
    monkeypatch.setitem(catalogue._module("chain.runs").EXPERIMENTS, "fig2a", one)
    assert main(["run", "fig2a", "example1", "--out", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "fig2a: agent=rlsvi, seed=0 raised ValueError: no luck" in out
    assert "6 of 6 runs raised" in err
    assert (tmp_path / "example1.quick.csv").exists()


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "rlsvi_study", "check", "1.lower-bound"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "contradicted by later work" in done.stdout
