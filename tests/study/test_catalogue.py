"""What the topics offer is listed, drawn and judged by the command."""

import json
import subprocess
import sys

import pytest

from rlsvi_study import StudyError, catalogue, engine
from rlsvi_study.catalogue import EXPERIMENTS, TOPICS
from rlsvi_study.cli import main
from rlsvi_study.judging.register import claim


def python(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True)


def test_a_topic_runs_and_draws_what_it_says_and_nothing_else():
    for topic, has in TOPICS.items():
        if not has.tables:
            continue
        runs = catalogue._import_module(f"{topic}.experiments")
        assert set(runs.EXPERIMENTS) == set(has.tables)
        assert all(one.name == name for name, one in runs.EXPERIMENTS.items())
        for one in runs.EXPERIMENTS.values():
            assert one.plot
            assert all(one.name in has.figures[figure] for figure in one.figures)
        assert {one for tables in has.figures.values() for one in tables} <= set(has.tables)


def test_a_topic_judges_the_sections_that_it_says_and_no_other():
    every = catalogue.load_claims().values()
    for topic, has in TOPICS.items():
        home = f"rlsvi_study.{topic}."
        assert {one.section for one in every if one.judge.__module__.startswith(home)} == {
            *has.claims
        }


def test_a_claim_is_judged_without_the_topics_of_other_sections():
    done = python(
        "-c",
        """
import sys
from rlsvi_study import catalogue
print(*{one.section for one in catalogue.load_claims(["6.3"]).values()})
print(*(name for name in sys.modules if name.endswith(".claims")))
""",
    )
    assert done.stdout.splitlines() == ["6.3", "rlsvi_study.recommender.claims"]


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
    assert modules == {"rlsvi_study.chain.experiments"}


def test_list_shows_experiments_figures_and_claims(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert {"fig2a", "fig5", "3.regret"} <= set(out.split())


def test_check_judges_the_tables_of_the_folder(tmp_path, capsys):
    assert main(["check", "3.regret", "6.1.learns", "--json", "--out", str(tmp_path)]) == 1
    exact, stored = json.loads(capsys.readouterr().out)
    assert (exact["verdict"], stored["verdict"]) == ("holds", "not judged")


def test_check_prints_json_for_programs(capsys):
    assert main(["check", "3.regret", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["verdict"] == report["registered"] == "holds"
    assert {"id", "place", "statement", "paper", "kind", "found", "numbers"} <= set(report)


def test_every_figure_of_the_paper_answers_to_its_number(tmp_path, capsys):
    """From the stored tables, in a folder of their own; the first is a diagram."""
    for file in engine.results_folder().glob("*.[cj]s*"):
        (tmp_path / file.name).symlink_to(file)
    names = {*catalogue.FIGURES, *catalogue.TABLES}
    assert {f"fig{number}" for number in range(1, 15)} <= names
    assert main(["plot", "fig2", "fig7", "fig9", "--out", str(tmp_path)]) == 0
    for number in (2, 7, 9):
        assert (tmp_path / f"figures/fig{number}.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit) as stop:
        main(["plot", "fig1"])
    assert stop.value.code == 2
    assert "diagram" in capsys.readouterr().err


def test_an_unknown_claim_gets_the_nearest_valid_ones(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["check", "3.regert"])
    assert stop.value.code == 2
    assert "3.regret" in capsys.readouterr().err


def test_without_docstrings_there_are_no_claims():
    """A claim's statement is its docstring; Python with -OO drops them."""
    with pytest.raises(StudyError, match="-OO"):
        claim("1.none", place="Section 1", paper="", kind="reading", verdict="holds")(lambda: None)
