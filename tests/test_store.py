"""Results survive crashes and betray tampering."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

from rlsvi_core.compiled import PACKAGE
from rlsvi_study import runner, store
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.experiment import Experiment, Scale, Task

ODD = [0.1 + 0.2, 1e-300, 2.0**-1074, -1 / 3]  # floats that careless printing would change


def _tiny(name="tiny"):
    def run(seed, factor):
        return [{"step": i, "value": factor * seed * x} for i, x in enumerate(ODD)]
    return Experiment(name, "nowhere", "a test", run,
                  {"paper": Scale({}, ({"factor": 1.5}, {"factor": -2.0}), range(3))})


@pytest.fixture
def tiny(monkeypatch):
    figure = _tiny()
    monkeypatch.setitem(EXPERIMENTS, "tiny", figure)
    return figure


def test_a_table_comes_back_to_the_last_bit(tiny, tmp_path):
    runner.sweep(tiny, "paper", tmp_path)
    table = store.load(tiny, "paper", tmp_path)
    expected = [f * s * x for f in (1.5, -2.0) for s in range(3) for x in ODD]
    assert table.value.tolist() == expected
    assert table.columns.tolist() == ["factor", "seed", "step", "value"]


def test_provenance_says_where_a_table_came_from(tiny, tmp_path):
    runner.sweep(tiny, "paper", tmp_path, command="rlsvi run tiny")
    record = store.provenance(tiny, "paper", tmp_path)
    assert record["rows"] == 24
    assert record["command"] == "rlsvi run tiny"
    assert record["code"] == store.code_hash(tiny)
    assert {"sha256", "revision", "packages", "machine", "cpu_seconds", "wall_seconds", "seeds",
            "constants", "grid", "python", "finished"} <= set(record)


def test_the_fingerprint_covers_what_a_figure_is_computed_by_and_no_more(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "package")
    root = tmp_path / "package"

    def fingerprint():
        store._hash_of_all_behind.cache_clear()
        return store._hash_of_all_behind(root / "experiments" / "chain.py")

    before = fingerprint()
    for name in ("claims/chain.py", "plots/style.py", "cli.py", "experiments/__init__.py"):
        (root / name).write_text("# another version")
    assert fingerprint() == before
    for name in ("agents/fast.py", "mdp.py", "regression.py", "envs/chain.py", "compiled.py"):
        (root / name).write_text((root / name).read_text() + "# another version")
        assert fingerprint() != before
        before = fingerprint()


def test_an_edited_table_is_refused(tiny, tmp_path):
    file = runner.sweep(tiny, "paper", tmp_path)
    file.write_text(file.read_text().replace("0.45", "0.46", 1))
    with pytest.raises(store.StoreError, match="edited or cut short"):
        store.load(tiny, "paper", tmp_path)


def test_a_truncated_table_is_refused(tiny, tmp_path):
    file = runner.sweep(tiny, "paper", tmp_path)
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(store.StoreError, match="recompute with: rlsvi run tiny"):
        store.load(tiny, "paper", tmp_path)


def test_a_missing_table_says_how_to_make_it(tiny, tmp_path):
    with pytest.raises(store.StoreError, match="rlsvi run tiny --scale paper"):
        store.load(tiny, "paper", tmp_path)


def test_an_edit_that_also_mends_the_hash_is_found_by_recomputing(tiny, tmp_path):
    file = runner.sweep(tiny, "paper", tmp_path)
    text = file.read_text().replace("1.5,2,0,0.9000000000000001", "1.5,2,0,0.9")
    file.write_text(text)
    record = json.loads(file.with_suffix(".json").read_text())
    record["sha256"] = store._digest(text.encode())
    file.with_suffix(".json").write_text(json.dumps(record))
    found = runner.verify(tiny, "paper", tmp_path, runs=6)
    assert found == ["factor=1.5, seed=2, line 10, value: stored 0.9, "
                     "recomputed 0.9000000000000001"]


def test_verify_is_silent_when_all_is_well(tiny, tmp_path):
    runner.sweep(tiny, "paper", tmp_path)
    assert runner.verify(tiny, "paper", tmp_path, runs=6) == []


def test_a_torn_last_line_costs_one_run_and_no_more(tiny, tmp_path):
    journal = store.Journal(tiny, "paper", tmp_path)
    for task in tiny.scales["paper"].tasks[:3]:
        journal.add(task, tiny.rows("paper", task), 0.0)
    journal.close()
    journal.file.write_bytes(journal.file.read_bytes()[:-7])
    again = store.Journal(tiny, "paper", tmp_path)
    assert [again.has(task) for task in tiny.scales["paper"].tasks] == [True, True] + 4 * [False]
    again.close()


def test_a_journal_of_other_code_or_settings_is_not_resumed(tiny, tmp_path, monkeypatch):
    journal = store.Journal(tiny, "paper", tmp_path)
    task = tiny.scales["paper"].tasks[0]
    journal.add(task, [], 0.0)
    journal.close()
    monkeypatch.setattr(store, "code_hash", lambda figure: "other")
    again = store.Journal(tiny, "paper", tmp_path)
    assert not again.has(task)
    again.close()


def test_a_crash_keeps_what_was_finished(tiny, tmp_path, monkeypatch):
    calls = []

    def failing(seed, factor):
        calls.append((factor, seed))
        if len(calls) == 4:
            raise RuntimeError("out of luck")
        return tiny.run(seed, factor)

    monkeypatch.setitem(EXPERIMENTS, "tiny", Experiment("tiny", "", "", failing, tiny.scales))
    with pytest.raises(RuntimeError, match="out of luck"):
        runner.sweep(tiny, "paper", tmp_path)
    said = []
    runner.sweep(tiny, "paper", tmp_path, say=said.append)
    assert said == ["tiny: resuming, 3 of 6 runs are done"]
    assert len(calls) == 4 + 3


def test_kill_9_in_mid_sweep_then_resume_gives_the_same_table(tmp_path):
    figure, lines = EXPERIMENTS["example1"], 0
    command = [sys.executable, "-m", "rlsvi_study", "run", "example1", "--jobs", "2", "--out",
               str(tmp_path / "killed")]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
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
        [sys.executable, "-m", "rlsvi_study", "run", "fig7", "--scale", "paper", "--jobs", "2",
         "--out", str(tmp_path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    workers = []
    while len(workers) < 2 and process.poll() is None:
        time.sleep(0.1)
        workers = [one for one in psutil.Process(process.pid).children(recursive=True)
                   if one.cpu_times().user > 1]
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
        "factor=1.5, seed=1: 4 rows are stored, 0 were recomputed"]
