"""What is stored comes back as it was; what would not is refused; what differs is found."""

import json
import math
import os
import subprocess
from contextlib import ExitStack
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlsvi_study import StudyError, engine
from rlsvi_study.engine import (
    Experiment,
    Task,
    compare,
    define_experiment,
    grid,
    provenance,
    quick_scale,
    runner,
    tables,
)
from rlsvi_study.engine.journal import Journal
from rlsvi_study.engine.sources import digest


def _multiply(seed, factor):
    return [{"step": step, "value": factor * seed + 0.1 * step} for step in range(4)]


@pytest.fixture
def tiny():
    return define_experiment(
        "tiny",
        place="nowhere",
        title="a test",
        run=_multiply,
        cells=grid(factor=(1.5, -2.0)),
        seeds=range(3, 6),
    )


def silent(text):
    pass


# --- rows -----------------------------------------------------------------------------------------


def _any_doubles(seed):
    """All bit patterns that are numbers are equally likely, then those that one meets."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**64, 5000, dtype=np.uint64).view(float)
    return [
        {"value": x}
        for x in (
            *bits[np.isfinite(bits)],
            *rng.random(5000),
            *(1e-310 * rng.standard_normal(1000)),
        )
    ]


def test_any_double_survives_writing_and_reading(tmp_path):
    """pandas before 3.1 changed a third of them in the last bit."""
    one = define_experiment("doubles", place="", title="", run=_any_doubles, seeds=range(7, 8))
    engine.run_experiment(one, "paper", tmp_path)
    stored = engine.load_table(one, "paper", tmp_path).value.to_numpy()
    np.testing.assert_array_equal(
        stored.view(np.uint64), np.array([row["value"] for row in _any_doubles(7)]).view(np.uint64)
    )


ODD = ["1", "1.0", "NA", "", "True", "nan", "inf", " 1", "a\rb", "a\nb", '"', "0x1", "x,y"]
FINITE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**19), 10**19),
    st.floats(-1e100, 1e100),
    st.text(max_size=4),
    st.sampled_from([*ODD, np.float32(0.1), np.int8(3), np.bool_(True)]),
)
NUMBERS = st.one_of(st.integers(-9, 9), st.floats(), st.none())
TEXTS = st.text(st.sampled_from('aß,"\n'), min_size=1, max_size=3)


def columns(values):
    return st.lists(st.lists(values, min_size=1, max_size=3), min_size=2, max_size=3)


@settings(max_examples=20)
@given(
    columns=columns(NUMBERS)
    | columns(TEXTS)
    | columns(FINITE | st.sampled_from([math.nan, 1e308])),
    axis=st.lists(FINITE, min_size=1, max_size=2) | st.just(["a", 'b,"\n']),
)
def test_rows_come_back_as_they_were_or_are_refused(columns, axis):
    """Straight or resumed, the same bytes; and verify, to the bit, finds nothing."""

    def run(seed, axis):
        return [{"value": value} for value in columns[seed]]

    with TemporaryDirectory() as straight, TemporaryDirectory() as resumed:
        try:
            one = define_experiment(
                "odd", place="", title="", run=run, cells=grid(axis=axis), seeds=range(len(columns))
            )  # refused if 1 and True, one cell, are both there
            file = engine.run_experiment(one, "paper", straight, say=silent)
        except (StudyError, ValueError):
            return
        with Journal(one, "paper", resumed) as journal:
            for task in one.scales["paper"].tasks[1::2]:
                journal.add(task, one.compute_rows("paper", task), 0.0)
        again = engine.run_experiment(one, "paper", resumed, say=silent)
        assert file.read_bytes() == again.read_bytes()
        assert engine.verify_table(one, "paper", straight, seconds=1000).differences == []
        stored = engine.load_table(one, "paper", straight)
        rows = [
            row for task in one.scales["paper"].tasks for row in one.compute_rows("paper", task)
        ]
        for row, back in zip(rows, stored.to_dict("records"), strict=True):
            for name, value in row.items():
                nothing = value is None or value != value
                assert pd.isna(back[name]) if nothing else back[name] == value, name
                assert isinstance(back[name], str) == isinstance(value, str) or nothing


def test_a_missing_package_is_no_mismatch(tmp_path):
    there = [True]

    def run(seed):
        if not there:
            import no_such_package  # noqa: F401
        return [{"value": seed}]

    one = define_experiment("needs", place="", title="", run=run, seeds=range(2, 4))
    engine.run_experiment(one, "paper", tmp_path, say=silent)
    there.clear()
    check = engine.verify_table(one, "paper", tmp_path, seconds=9)
    assert (check.parts, check.differences) == ([], [])
    assert "no_such_package" in check.missing


def test_texts_and_numbers_that_a_csv_gives_back_are_written_plainly():
    rows = [{"size": 1, "text": "1", "gap": 2.5}, {"size": 2, "text": "√2", "gap": None}]
    assert tables.rows_to_csv(rows).decode() == "size,text,gap\n1,1,2.5\n2,√2,\n"


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "scale"),
    [("a.quick", "paper"), ("a", "5"), ("a", "b.c"), ("../a", "paper"), ("", "paper")],
)
def test_a_name_that_could_be_another_tables_file_is_refused(name, scale, tiny):
    with pytest.raises(ValueError, match="name"):
        Experiment(name, "", "", _multiply, {scale: tiny.scales["paper"]})


def test_what_a_run_does_to_its_settings_stays_in_it(tmp_path):
    def grow(seed, some):
        some.append(seed)
        return [{"value": len(some)}]

    one = define_experiment(
        "grow", place="", title="", run=grow, constants={"some": [7]}, seeds=range(3)
    )
    engine.run_experiment(one, "paper", tmp_path)
    assert engine.load_table(one, "paper", tmp_path).value.tolist() == [2, 2, 2]
    assert engine.read_provenance(one, "paper", tmp_path)["constants"] == {"some": [7]}


def test_the_folder_of_results_is_the_nearest_or_the_one_that_is_named(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    (tmp_path / "a/b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a/b")
    assert engine.results_folder() == tmp_path / "results"
    with engine.use_results_folder(tmp_path / "other"):
        assert engine.results_folder() == tmp_path / "other"
    assert engine.results_folder() == tmp_path / "results"


# --- provenance -----------------------------------------------------------------------------------


def test_a_record_says_where_a_table_came_from(tiny, tmp_path):
    engine.run_experiment(tiny, "paper", tmp_path, command="rlsvi run tiny")
    record = engine.read_provenance(tiny, "paper", tmp_path)
    assert (record["name"], record["scale"], record["rows"]) == ("tiny", "paper", 24)
    assert record["command"] == "rlsvi run tiny"
    assert (record["seeds"], record["grid"]) == ([3, 6], [{"factor": 1.5}, {"factor": -2.0}])
    assert record["computed"]["sources"] == tiny.sources.hash
    assert {"revision", "packages", "machine", "cpu_seconds"} <= set(record["computed"])


def test_installed_in_somebody_elses_tree_it_has_no_revision(tmp_path, monkeypatch):
    (tmp_path / "__init__.py").touch()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "theirs"]):
        subprocess.run([*git, *words], check=True)
    ours = provenance.git_revision()
    monkeypatch.setattr(provenance, "PACKAGES", {"rlsvi_study": tmp_path})
    assert provenance.git_revision.__wrapped__() == "unknown"
    subprocess.run([*git, "add", "."], check=True)
    assert provenance.git_revision.__wrapped__().endswith("+changes")
    subprocess.run([*git, "commit", "-q", "-m", "ours"], check=True)
    assert not provenance.git_revision.__wrapped__().endswith("+changes")
    (tmp_path / "new.py").touch()  # which git does not track
    assert provenance.git_revision.__wrapped__().endswith("+changes")
    assert provenance.git_revision() == ours  # of the code that was loaded


# --- a table and its scales -----------------------------------------------------------------------


def test_the_quick_scale_has_the_constants_that_it_does_not_change():
    one = define_experiment(
        "both",
        place="",
        title="",
        run=lambda seed, N, lam, steps: [],
        constants={"lam": 0.5, "steps": 100},
        cells=grid(N=(2, 3)),
        seeds=range(4, 9),
        quick=quick_scale(cells=grid(N=(2,)), seeds=range(4, 5), steps=10),
    )
    short, whole = one.scales["quick"], one.scales["paper"]
    assert (short.constants, whole.constants) == (
        {"lam": 0.5, "steps": 10},
        {"lam": 0.5, "steps": 100},
    )
    assert short.tasks == [Task({"N": 2}, 4)]
    assert len(whole.tasks) == 10


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ({"cells": grid(other=(1,))}, "factor"),
        ({"constants": {"factor": print}}, "constants"),
        ({"cells": grid(factor=((1, 2), (3, 4)))}, "list"),  # what no column of a CSV holds
        ({"length": "steps"}, "length"),
    ],
)
def test_a_wrong_table_is_refused_where_it_is_declared(wrong, hint):
    with pytest.raises(ValueError, match=hint):
        define_experiment("a", place="", title="", run=_multiply, seeds=range(3, 5), **wrong)


# --- the journal ----------------------------------------------------------------------------------


@pytest.fixture(params=["unbroken", "resumed"])
def journal(request, tiny, tmp_path):
    """With one finished run, by this process or by one before it."""
    first, *_ = tiny.scales["paper"].tasks
    with ExitStack() as opened:
        journal = opened.enter_context(Journal(tiny, "paper", tmp_path, silent))
        journal.add(first, tiny.compute_rows("paper", first), 1.25)
        if request.param == "resumed":
            opened.close()
            journal = opened.enter_context(Journal(tiny, "paper", tmp_path, silent))
        yield journal


def test_a_journal_has_what_was_added_and_one_writer(journal, tiny, tmp_path):
    first, second, third, *_ = tiny.scales["paper"].tasks
    journal.add(third, tiny.compute_rows("paper", third), 2.5)
    assert [task in journal for task in (first, second, third)] == [True, False, True]
    for task, seconds in ((first, 1.25), (third, 2.5)):
        assert journal[task]["rows"] == tiny.compute_rows("paper", task)
        assert journal[task]["seconds"] == seconds
    assert engine.finished(tiny, "paper", tmp_path) == 2
    with pytest.raises(StudyError, match=f"process {os.getpid()}"):
        Journal(tiny, "paper", tmp_path)


def test_all_rows_of_a_journal_have_the_same_columns(journal, tiny, tmp_path):
    _, second, *_ = tiny.scales["paper"].tasks
    rows = tiny.compute_rows("paper", second)
    with pytest.raises(StudyError, match="more"):
        journal.add(second, [row | {"more": 7} for row in rows], 0.5)
    assert engine.finished(tiny, "paper", tmp_path) == 1


# --- comparison -----------------------------------------------------------------------------------


def test_other_columns_and_another_length_are_differences(tiny):
    task = Task({"factor": 1.5}, 1)
    rows = tiny.compute_rows("paper", task)
    stored = pd.DataFrame(rows)
    assert compare.list_differences(stored, task, rows) == []
    assert compare.list_differences(stored, task, [row | {"new": 0} for row in rows])
    assert compare.list_differences(stored, task, rows[:-1])
    assert compare.list_differences(stored, task, [])


def _grows(seed, shift=0.0):
    """Later rows are larger by far."""
    return [{"seed": seed, "reward": seed + shift}, {"seed": seed, "reward": 100.0 + shift}]


def test_the_beginning_of_a_run_is_compared_with_beginnings():
    stored = pd.DataFrame([row for seed in range(4) for row in _grows(seed)])
    part = Task({}, 2, 0.5)
    for compared in (compare.list_differences, compare.list_out_of_range):
        assert compared(stored, part, _grows(2)[:1]) == []
        assert compared(stored, part, _grows(2)[1:])
        assert compared(stored, part, _grows(2))
    assert compare.list_out_of_range(stored, part, _grows(2, shift=3.9)[:1]) == []
    assert compare.list_out_of_range(stored, part, _grows(2, shift=4.1)[:1])  # 0 to 3, so -3 to 6


def test_an_edit_of_any_cell_of_a_table_is_found(tiny, tmp_path):
    """Of every column, from the first row of a run to its last, though the hash was mended."""
    file = engine.run_experiment(tiny, "paper", tmp_path, say=silent)
    record = json.loads(file.with_suffix(".json").read_text())
    header, *rows = [line.split(",") for line in file.read_text().splitlines()]
    assert (header, len(rows)) == (["factor", "seed", "step", "value"], 24)
    for i, row in enumerate(rows):
        for j in range(len(header)):
            edited = [*row[:j], row[j] + "1", *row[j + 1 :]]
            lines = [header, *rows[:i], edited, *rows[i + 1 :]]
            data = "".join(",".join(line) + "\n" for line in lines).encode()
            file.write_bytes(data)
            file.with_suffix(".json").write_text(json.dumps(record | {"sha256": digest(data)}))
            assert engine.verify_table(tiny, "paper", tmp_path, seconds=1000).differences, (
                i,
                header[j],
            )


# --- workers --------------------------------------------------------------------------------------


def test_there_are_no_more_workers_than_asked_for_or_needed(tiny, monkeypatch):
    asked, tasks = [], tiny.scales["paper"].tasks
    monkeypatch.setattr(runner, "Parallel", lambda jobs, **how: asked.append(jobs) or list)
    for jobs, some in ((1, tasks), (2, tasks), (99, tasks), (2, [])):
        list(runner.run_tasks(tiny, "paper", some, jobs))
    assert asked == [1, 2, len(tasks), 1]
