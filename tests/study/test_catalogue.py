"""What the topics offer is listed, drawn and judged by the command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rlsvi_study import StudyError, catalogue, engine
from rlsvi_study.catalogue import EXPERIMENTS, TOPICS
from rlsvi_study.cli import main
from rlsvi_study.judging.register import claim


def python(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True)


def test_a_topic_runs_and_draws_what_it_says_and_nothing_else():
    for topic, has in TOPICS.items():
        runs, figures = (catalogue._module(f"{topic}.{part}") for part in ("runs", "figures"))
        assert set(runs.EXPERIMENTS) == set(has.tables)
        assert all(one.name == name for name, one in runs.EXPERIMENTS.items())
        assert set(figures.DRAW) <= {*has.tables, *has.figures}
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


def test_list_shows_experiments_figures_and_claims(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert {"fig2a", "fig5", "3.value"} <= set(out.split())


def test_check_judges_the_tables_of_the_folder(tmp_path, capsys):
    assert main(["check", "3.value", "6.1.learns", "--json", "--out", str(tmp_path)]) == 1
    exact, stored = json.loads(capsys.readouterr().out)
    assert (exact["verdict"], stored["verdict"]) == ("holds", "not judged")


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


def test_an_unknown_claim_gets_the_nearest_valid_ones(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["check", "3.probabilty"])
    assert stop.value.code == 2
    assert "3.probability" in capsys.readouterr().err


def test_without_docstrings_there_are_no_claims():
    """A claim's statement is its docstring; Python with -OO drops them."""
    with pytest.raises(StudyError, match="-OO"):
        claim("1.none", place="Section 1", paper="", kind="reading", verdict="holds")(lambda: None)
