"""Results survive crashes and betray tampering."""

import dataclasses
import json
import math
import os
import signal
import subprocess
import sys
import time
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import psutil
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rlsvi_study import StudyError
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.engine import Experiment, Scale, Task, grid, runner, store
from rlsvi_study.engine.sources import digest, source_hash

ODD = [0.1 + 0.2, 1e-300, 2.0**-1074, -1 / 3]  # floats that careless printing would change


def _multiply(seed, factor):
    return [{"step": i, "value": factor * seed * x} for i, x in enumerate(ODD)]


@pytest.fixture
def tiny():
    return Experiment(
        "tiny",
        "nowhere",
        "a test",
        _multiply,
        {"paper": Scale({}, ({"factor": 1.5}, {"factor": -2.0}), range(3))},
    )


def test_a_table_comes_back_to_the_last_bit(tiny, tmp_path):
    runner.sweep(tiny, "paper", tmp_path)
    table = store.load(tiny, "paper", tmp_path)
    expected = [f * s * x for f in (1.5, -2.0) for s in range(3) for x in ODD]
    assert table.value.tolist() == expected
    assert table.columns.tolist() == ["factor", "seed", "step", "value"]


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
    one = Experiment("doubles", "", "", _any_doubles, {"paper": Scale({}, ({},), range(1))})
    runner.sweep(one, "paper", tmp_path)
    stored = store.load(one, "paper", tmp_path).value.to_numpy()
    np.testing.assert_array_equal(
        stored.view(np.uint64), np.array([row["value"] for row in _any_doubles(0)]).view(np.uint64)
    )


FINITE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**99), 10**99),
    st.text(max_size=4),
    st.sampled_from(
        [
            "1",
            "1.0",
            "NA",
            "",
            "True",
            "nan",
            "inf",
            " 1",
            "a\rb",
            "a\nb",
            '"',
            "0x1",
            np.float32(0.1),
            np.int8(3),
            np.bool_(True),
        ]
    ),
    st.floats(-1e100, 1e100),
)
VALUES = (
    FINITE
    | st.lists(FINITE, max_size=2)
    | st.tuples(FINITE)
    | st.sampled_from([math.nan, math.inf, np.float32("inf"), 1e308])
)


@given(
    columns=st.lists(st.lists(VALUES, min_size=1, max_size=3), min_size=2, max_size=3),
    axis=st.lists(FINITE | st.lists(FINITE, max_size=2), min_size=1, max_size=2),
)
def test_any_rows_and_axes_come_back_as_they_were(columns, axis):
    """Straight or resumed, the same bytes; and verify, to the bit, finds nothing."""

    def run(seed, axis):
        return [{"value": value} for value in columns[seed]]

    try:
        one = Experiment(
            "odd", "", "", run, {"paper": Scale({}, grid(axis=axis), range(len(columns)))}
        )
    except StudyError:
        assume(False)  # 1 and True are one cell
    with TemporaryDirectory() as straight, TemporaryDirectory() as resumed:
        file = runner.sweep(one, "paper", straight)
        journal = store.Journal(one, "paper", resumed)
        for task in one.scales["paper"].tasks[1::2]:
            journal.add(task, one.rows("paper", task), 0.0)
        journal.close()
        again = runner.sweep(one, "paper", resumed, say=lambda text: None)
        assert file.read_bytes() == again.read_bytes()
        assert runner.verify(one, "paper", straight, seconds=1000).differences == []
        stored = store.load(one, "paper", straight)
        rows = [row for task in one.scales["paper"].tasks for row in one.rows("paper", task)]
        for row, back in zip(rows, stored.to_dict("records"), strict=True):
            for name, value in row.items():
                nothing = value is None or value != value
                assert pd.isna(back[name]) if nothing else back[name] == value, name
                assert isinstance(back[name], type(value)) or not isinstance(value, str | list)


def test_a_column_that_a_csv_holds_is_written_plainly(tiny, tmp_path):
    file = runner.sweep(tiny, "paper", tmp_path)
    assert store.provenance(tiny, "paper", tmp_path)["json"] == []
    assert file.read_text().startswith("factor,seed,step,value\n1.5,0,0,0.0\n")


@pytest.mark.parametrize(
    "value",
    [
        {1},
        {"a": 1},
        np.longdouble(1),
        1j,
        b"x",
        "\ud800",
        [math.nan],
        10**5000,
        np.ones(2),
        lambda: 1,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_stored_form_is_refused_in_a_line(value, tiny, tmp_path):
    one, said = (
        Experiment(
            "tiny",
            "",
            "",
            lambda seed, factor: [{"value": value}],
            {"paper": Scale({}, ({"factor": 1.5},), range(1))},
        ),
        [],
    )
    with pytest.raises(runner.RunError, match="1 of 1 runs raised"):
        runner.sweep(one, "paper", tmp_path, say=said.append)
    (line,) = said
    assert "raised rlsvi_study.StudyError: " in line
    assert "to a column" in line


@pytest.mark.parametrize("name", ["", " ", "a\rb", "\ufeffa", "\udc80"])
def test_a_column_has_a_name_to_be_read(name):
    with pytest.raises(StudyError, match="columns have names to be read"):
        Task({}, 0).labelled([{name: 1}])


def test_nothing_is_replaced_if_not_all_can_be(tiny, tmp_path):
    before = runner.sweep(tiny, "paper", tmp_path).read_bytes()
    (tmp_path / "tiny.json").unlink()
    (tmp_path / "tiny.json").mkdir()
    other = dataclasses.replace(tiny, scales={"paper": Scale({}, ({"factor": 2.5},), range(2))})
    for folder, left in ((tmp_path, before), (tmp_path / "new", None)):
        (folder / "tiny.json").mkdir(parents=True, exist_ok=True)
        with pytest.raises(StudyError, match=r"tiny\.json cannot be reached"):
            runner.sweep(other, "paper", folder)
        file = folder / "tiny.csv"
        assert (file.read_bytes() if file.exists() else None) == left
        assert not list(folder.glob("*.part"))
        (folder / "tiny.json").rmdir()
        said = []
        runner.sweep(other, "paper", folder, say=said.append)
        assert said == ["tiny: resuming, 2 of 2 runs are done"]


def test_no_two_tables_share_a_file(tiny):
    values = [
        1,
        1.0,
        "1",
        "1.0",
        True,
        "True",
        None,
        "None",
        "",
        "a",
        "'a'",
        "1.quick",
        [1],
        "[1]",
        "x.quick",
        "a+b=1",
    ]
    changed = dataclasses.replace(
        tiny, scales={"paper": tiny.scales["paper"], "quick": tiny.scales["paper"]}
    )
    files = [
        store.path(changed.having(factor=value), scale, "x")
        for value in values
        for scale in changed.scales
    ]
    assert len(set(files)) == len(files)
    for name, scale in (("a.quick", "paper"), ("a", "5"), ("a", "b.c")):
        with pytest.raises(StudyError, match="names files"):
            Experiment(name, "", "", _multiply, {scale: tiny.scales["paper"]})


def test_a_run_that_goes_elsewhere_does_not_take_the_table_along(tmp_path, monkeypatch):
    def leave(seed):
        os.chdir("/")
        return [{"value": seed}]

    monkeypatch.chdir(tmp_path)
    one = Experiment("gone", "", "", leave, {"paper": Scale({}, ({},), range(2))})
    assert runner.sweep(one, "paper", "here") == tmp_path / "here/gone.csv"
    assert [file.name for file in (tmp_path / "here").iterdir()] == ["gone.csv", "gone.json"]


def test_what_a_run_does_to_its_settings_stays_in_it(tmp_path):
    def grow(seed, some):
        some.append(seed)
        return [{"value": len(some)}]

    one = Experiment("grow", "", "", grow, {"paper": Scale({"some": [7]}, ({},), range(3))})
    runner.sweep(one, "paper", tmp_path)
    assert store.load(one, "paper", tmp_path).value.tolist() == [2, 2, 2]
    assert store.provenance(one, "paper", tmp_path)["constants"] == {"some": [7]}


def test_provenance_says_where_a_table_came_from(tiny, tmp_path):
    runner.sweep(tiny, "paper", tmp_path, command="rlsvi run tiny")
    record = store.provenance(tiny, "paper", tmp_path)
    assert record["rows"] == 24
    assert record["command"] == "rlsvi run tiny"
    assert record["computed"]["sources"] == source_hash(tiny.run)
    assert {"name", "place", "scale", "constants", "grid", "seeds", "sha256"} <= set(record)
    assert {
        "revision",
        "packages",
        "machine",
        "cpu_seconds",
        "wall_seconds",
        "python",
        "finished",
    } <= set(record["computed"])


def test_installed_in_somebody_elses_tree_it_has_no_revision(tmp_path, monkeypatch):
    (tmp_path / "__init__.py").touch()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "theirs"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(store, "PACKAGES", {"rlsvi_study": tmp_path})
    assert store._revision() == "unknown"
    subprocess.run([*git, "add", "."], check=True)
    assert store._revision().endswith("+changes")


def test_an_edited_table_is_refused(tiny, tmp_path):
    file = runner.sweep(tiny, "paper", tmp_path)
    file.write_text(file.read_text().replace("0.45", "0.46", 1))
    with pytest.raises(StudyError, match="edited or cut short"):
        store.load(tiny, "paper", tmp_path)


def test_a_truncated_table_is_refused(tiny, tmp_path):
    file = runner.sweep(tiny, "paper", tmp_path)
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(StudyError, match="recompute with: rlsvi run tiny"):
        store.load(tiny, "paper", tmp_path)


def test_a_removed_table_is_named(tiny, tmp_path):
    runner.sweep(tiny, "paper", tmp_path).unlink()
    with pytest.raises(StudyError, match=r"tiny\.csv was removed"):
        store.load(tiny, "paper", tmp_path)


def test_a_missing_table_says_how_to_make_it(tiny, tmp_path):
    with pytest.raises(StudyError, match="rlsvi run tiny --scale paper"):
        store.load(tiny, "paper", tmp_path)


def test_an_edit_with_a_corrected_hash_is_found_by_recomputing(tiny, tmp_path):
    file = runner.sweep(tiny, "paper", tmp_path)
    text = file.read_text().replace("1.5,2,0,0.9000000000000001", "1.5,2,0,0.9")
    file.write_text(text)
    record = json.loads(file.with_suffix(".json").read_text())
    record["sha256"] = digest(text.encode())
    file.with_suffix(".json").write_text(json.dumps(record))
    found = runner.verify(tiny, "paper", tmp_path, seconds=1000)
    assert found.differences == [
        "factor=1.5, seed=2, line 10, value: stored 0.9, recomputed 0.9000000000000001"
    ]


def test_verify_is_silent_when_all_is_well(tiny, tmp_path):
    runner.sweep(tiny, "paper", tmp_path)
    assert runner.verify(tiny, "paper", tmp_path, seconds=1000).differences == []


def test_a_torn_last_line_costs_one_run_and_no_more(tiny, tmp_path):
    journal = store.Journal(tiny, "paper", tmp_path)
    for task in tiny.scales["paper"].tasks[:3]:
        journal.add(task, tiny.rows("paper", task), 0.0)
    journal.close()
    journal.file.write_bytes(journal.file.read_bytes()[:-7])
    said = []
    again = store.Journal(tiny, "paper", tmp_path, said.append)
    assert [again.has(task) for task in tiny.scales["paper"].tasks] == [True, True] + 4 * [False]
    assert said == [
        "tiny: 1 of the lines in tiny.journal were cut short or edited; those runs are recomputed"
    ]
    again.close()


def test_a_journal_entry_without_rows_is_not_a_finished_run(tiny, tmp_path):
    first, second, *_ = tiny.scales["paper"].tasks
    journal = store.Journal(tiny, "paper", tmp_path)
    journal.add(first, [], 0.0)
    journal.add(second, tiny.rows("paper", second), 0.0)
    journal.close()
    with journal.file.open("a") as file:
        file.write('{"task": 3}\n17\n')
    again = store.Journal(tiny, "paper", tmp_path)
    assert (again.has(first), again.has(second)) == (False, True)
    again.close()


def test_there_are_no_more_workers_than_asked_for_or_needed(tiny, monkeypatch):
    asked, tasks = [], tiny.scales["paper"].tasks
    monkeypatch.setattr(runner, "Parallel", lambda jobs, **how: asked.append(jobs) or list)
    for jobs, some in ((1, tasks), (2, tasks), (99, tasks), (2, [])):
        list(runner.outcomes(tiny, "paper", some, jobs))
    assert asked == [1, 2, len(tasks), 1]


def test_a_finished_sweep_leaves_the_table_and_nothing_else(tiny, tmp_path):
    runner.sweep(tiny, "paper", tmp_path)
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["tiny.csv", "tiny.json"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_raises_is_named_and_the_rest_goes_on(tiny, tmp_path, jobs):
    trouble = tmp_path / "trouble"
    trouble.touch()

    def failing(seed, factor):
        if seed == 1 and trouble.exists():
            raise RuntimeError("out of luck")
        return _multiply(seed, factor)

    one = Experiment("tiny", "", "", failing, tiny.scales)
    said = []
    with pytest.raises(runner.RunError, match=r"2 of 6 runs raised.*tiny\.errors\.log"):
        runner.sweep(one, "paper", tmp_path, jobs=jobs, say=said.append)
    assert sorted(said) == [
        f"tiny: factor={factor}, seed=1 raised RuntimeError: out of luck" for factor in (-2.0, 1.5)
    ]
    log = (tmp_path / "tiny.errors.log").read_text()
    assert log.count("Traceback") == 2
    assert "factor=1.5, seed=1" in log
    trouble.unlink()
    said.clear()
    runner.sweep(one, "paper", tmp_path, jobs=jobs, say=said.append)
    assert said == ["tiny: resuming, 4 of 6 runs are done"]
    assert len(store.load(tiny, "paper", tmp_path)) == 24
    assert not (tmp_path / "tiny.errors.log").exists()


def test_a_run_without_rows_is_an_error(tiny, tmp_path):
    said = []
    with pytest.raises(runner.RunError, match="6 of 6"):
        runner.sweep(
            Experiment("tiny", "", "", lambda seed, factor: [], tiny.scales),
            "paper",
            tmp_path,
            say=said.append,
        )
    assert "at least one row; it returned []" in said[0]


def test_kill_9_in_mid_sweep_then_resume_gives_the_same_table(tmp_path):
    figure, lines = EXPERIMENTS["example1"], 0
    command = [
        sys.executable,
        "-m",
        "rlsvi_study",
        "run",
        "example1",
        "--jobs",
        "2",
        "--out",
        str(tmp_path / "killed"),
    ]
    process = subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    journal = tmp_path / "killed" / "example1.quick.journal"
    while lines < 10 and process.poll() is None:
        time.sleep(0.005)
        lines = len(journal.read_text().splitlines()) if journal.exists() else 0
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    total = len(figure.scales["quick"].tasks)
    kept = sum(1 for line in journal.read_text().splitlines()[1:] if line.endswith("}"))
    assert 0 < kept < total, "the kill must fall in mid-sweep"

    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"resuming, {kept} of {total}" in done.stdout
    whole = runner.sweep(figure, "quick", tmp_path / "whole")
    assert (tmp_path / "killed" / "example1.quick.csv").read_bytes() == whole.read_bytes()
    assert not journal.exists()


def test_a_polite_kill_takes_the_workers_along(tmp_path):
    """Left alone, they would finish a run of most of a minute."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "rlsvi_study",
            "run",
            "fig7",
            "--scale",
            "paper",
            "--jobs",
            "2",
            "--out",
            str(tmp_path),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    workers = []
    while len(workers) < 2 and process.poll() is None:
        time.sleep(0.1)
        workers = [
            one
            for one in psutil.Process(process.pid).children(recursive=True)
            if one.cpu_times().user > 1
        ]
    process.terminate()
    assert process.wait(20) == 130
    assert "run the same command to resume" in process.stderr.read()
    assert psutil.wait_procs(workers, timeout=10)[1] == []


def test_a_difference_in_columns_is_named(tiny, tmp_path):
    runner.sweep(tiny, "paper", tmp_path)
    table = store.load(tiny, "paper", tmp_path)
    task = Task({"factor": 1.5}, 1)
    rows = [row | {"new": 0} for row in tiny.rows("paper", task)]
    assert "columns factor, seed, step, value are stored" in store.differences(table, task, rows)[0]


def test_a_difference_in_length_is_named(tiny, tmp_path):
    runner.sweep(tiny, "paper", tmp_path)
    table = store.load(tiny, "paper", tmp_path)
    assert store.differences(table, Task({"factor": 1.5}, 1), []) == [
        "factor=1.5, seed=1: 4 rows are stored, 0 were recomputed"
    ]
