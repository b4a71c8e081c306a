"""Stored tables are trusted because parts of them are recomputed, parts that nobody picks.

``rlsvi verify --minutes 30`` does the same with more time. The draw follows from the hash of the
sources, so that every state of the code recomputes other runs.
"""

import dataclasses
import importlib
import json
import linecache
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rlsvi_study import StudyError, engine
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.engine import Experiment, Scale, compare, grid, runner, sources
from rlsvi_study.engine.sources import digest

OURS = sources.Sources(Path(), {})  # so that tests may be edited while they run
BUDGET = 30  # CPU seconds for all tables together


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_part_of_the_table_is_recomputed_to_the_bit(name):
    found = engine.verify_table(
        EXPERIMENTS[name], "paper", engine.results_folder(), seconds=BUDGET / len(EXPERIMENTS)
    )
    assert found.differences == []
    assert found.share > 0


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_stored_table_has_every_run_of_its_declaration(name):
    tasks = EXPERIMENTS[name].scales["paper"].tasks
    stored = engine.load_table(EXPERIMENTS[name])[list(tasks[0].label)]
    labels = {tuple(task.label.values()) for task in tasks}
    assert set(stored.itertuples(index=False, name=None)) == labels


def test_every_stored_table_was_computed_from_a_commit_of_this_history():
    """Committed, so without changes; a copy without history, or without all of it, can't tell."""
    git = partial(subprocess.run, capture_output=True, text=True, cwd=Path(__file__).parent)
    shallow = git(["git", "rev-parse", "--is-shallow-repository"]).stdout.strip()
    if engine.git_revision() == "unknown" or shallow != "false":
        pytest.skip("the history of the repository is not here")
    history = set(git(["git", "rev-list", "HEAD"], check=True).stdout.split())
    for name in EXPERIMENTS:
        record = json.loads((engine.results_folder() / f"{name}.json").read_text())["computed"]
        assert record["revision"] in history, name
        assert record["sources"], name


# --- the hash of the sources ----------------------------------------------------------------------


def _in_a_notebook(source, cell="<cell>"):
    linecache.cache[cell] = (len(source), None, source.splitlines(True), cell)
    space = {"__name__": "__main__", "np": np, "dataclass": dataclasses.dataclass}
    exec(compile(source, cell, "exec"), space)
    return space["run"]


def test_the_hash_is_of_both_packages_and_of_the_studys_own_file(tmp_path, monkeypatch):
    for package in sources.PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "one.py").write_text("x = 1\n")
    monkeypatch.setattr(sources, "PACKAGES", {name: tmp_path / name for name in sources.PACKAGES})
    read = sources.packages_hash.__wrapped__  # not only once
    monkeypatch.setattr(sources, "packages_hash", read)
    own = tmp_path / "own.py"
    own.write_text("def run(seed):\n    return []\n")

    def now():
        space = {}
        exec(compile(own.read_text(), str(own), "exec"), space)
        return sources.sources_of(space["run"]).hash

    seen = {now()}
    for file in (own, tmp_path / "rlsvi_core/one.py", tmp_path / "rlsvi_study/one.py"):
        file.write_text(file.read_text() + "# a comment counts: it is a plain hash\n")
        seen.add(now())
    (tmp_path / "rlsvi_core/two.py").write_text("")
    seen.add(now())
    assert len(seen) == 5
    assert now() in seen


NOTEBOOK = """
import beside
SHIFT, SCALES = 0.5, np.arange(3.0)
@dataclass
class Scaled:
    by: float
    def of(self, x):
        return self.by * x + beside.OFFSET
def times(x):
    return Scaled(SCALES[2]).of(x + SHIFT)
def run(seed):
    return [{'x': (lambda: times(seed))()}]
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("times(seed)", "times(-seed)"),
        ("+ SHIFT)", "+ 1)"),
        ("0.5", "0.6"),
        ("3.0", "4.0"),
        ("self.by *", "by *"),
    ],
)
def test_of_a_function_in_a_notebook_all_that_it_uses_counts(old, new, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "beside", None)
    del sys.modules["beside"]
    (tmp_path / "beside.py").write_text("OFFSET = 1\n")

    def now(text):
        return sources.sources_of(_in_a_notebook(text))

    first = now(NOTEBOOK)
    assert now(NOTEBOOK + "\nunused = 1") == first
    assert now(NOTEBOOK.replace(old, new)).hash != first.hash
    (tmp_path / "beside.py").write_text("OFFSET = 22\n")
    assert now(NOTEBOOK).edited() == ["beside.py"]  # the old one is still in memory
    importlib.reload(sys.modules["beside"])
    assert now(NOTEBOOK).hash != first.hash
    assert now(NOTEBOOK).edited() == []


def test_a_function_without_a_source_is_refused():
    space = {"__name__": "__main__"}
    exec("def run(seed): return []", space)
    with pytest.raises(ValueError, match="file"):
        sources.sources_of(space["run"])


# --- which runs -----------------------------------------------------------------------------------


def _walk(seed, steps, every, drift):
    """A learning curve of sorts: later rows do not change earlier ones."""
    path = np.cumsum(np.random.default_rng(seed).standard_normal(steps) + drift)
    return [{"step": n, "value": path[n - 1]} for n in range(every, steps + 1, every)]


WALK = Experiment(
    "walk",
    "nowhere",
    "a walk",
    _walk,
    {"paper": Scale({"steps": 100, "every": 10}, grid(drift=(0.0, 1.0)), range(20))},
    length="steps",
    loaded=OURS,
)


def drawn(monkeypatch, code, seconds):
    """What is recomputed in so many seconds by this code, if a run takes one."""
    monkeypatch.setattr(sources.Sources, "hash", f"{code:x}")
    return runner.choose_tasks(WALK, "paper", seconds, 1.0)


def test_another_state_of_the_code_draws_other_runs(monkeypatch):
    one, two = (drawn(monkeypatch, code, 3.0) for code in (1, 2))
    assert one == drawn(monkeypatch, 1, 3.0)
    assert one != two


@pytest.mark.parametrize(
    ("seconds", "cost"), [(0.001, 0.1), (0.3, 0.3), (1.0, 1), (3.55, 3), (40, 40), (1000, 40)]
)
def test_a_budget_is_kept_on_average_and_there_is_always_a_part(seconds, cost, monkeypatch):
    """A beginning has whole rows, here tenths: what is less is rounded up."""
    parts = [drawn(monkeypatch, code, seconds) for code in range(300)]
    assert all(parts)
    assert all(len({str(part.label) for part in some}) == len(some) for some in parts)
    spent = np.array([sum(part.share for part in some) for some in parts])
    assert abs(spent.mean() - cost) < 0.1


@pytest.mark.parametrize(("seconds", "place"), [(0.4, 1.0), (0.4, 0.2), (2.5, 1.0)])
def test_an_edited_row_is_recomputed_as_often_as_the_budget_says(seconds, place, monkeypatch):
    """It stands at ``place`` of its run. Fails by chance once in 10 000."""
    edited, draws = WALK.scales["paper"].tasks[17].label, 2000
    noticed = sum(
        any(
            part.label == edited and part.share >= place - 1e-9
            for part in drawn(monkeypatch, code, seconds)
        )
        for code in range(draws)
    )
    runs = {(0.4, 1.0): 0.2, (0.4, 0.2): 1.0, (2.5, 1.0): 2.0}[seconds, place]  # that reach it
    expected = draws * runs / 40
    assert abs(noticed - expected) < 4 * np.sqrt(expected)


def test_every_run_of_a_cell_that_cannot_be_cut_is_whole(monkeypatch):
    whole = dataclasses.replace(WALK, length=None)
    monkeypatch.setattr(sources.Sources, "hash", "1")
    assert [part.share for part in runner.choose_tasks(whole, "paper", 0.2, 1.0)] == [1.0]
    assert [part.share for part in runner.choose_tasks(whole, "paper", 2.9, 1.0)] == [1.0, 1.0]


# --- what differs ---------------------------------------------------------------------------------


@pytest.fixture
def walk(tmp_path):
    engine.run_experiment(WALK, "paper", tmp_path)
    return tmp_path


ALL = 1e6  # seconds: every run


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_number_that_differs_in_the_last_bit_is_found(walk, jobs):
    def other(seed, drift, **rest):
        rows = _walk(seed, drift=drift, **rest)
        return [row | {"value": np.nextafter(row["value"], 9)} if drift else row for row in rows]

    changed = dataclasses.replace(WALK, run=other)
    found = engine.verify_table(changed, "paper", walk, seconds=ALL, jobs=jobs).differences
    assert len(found) == 20
    assert all("drift=1.0" in one for one in found)


def test_verifying_writes_nothing(walk):
    before = {file.name: file.read_bytes() for file in walk.iterdir()}
    assert engine.verify_table(WALK, "paper", walk, seconds=ALL) == runner.VerifyResult(
        [*runner.choose_tasks(WALK, "paper", ALL, 1.0)], 0, [], pytest.approx(0, abs=10), 1.0
    )
    assert {file.name: file.read_bytes() for file in walk.iterdir()} == before


def test_an_edited_cell_is_found_when_its_run_is_drawn_though_the_hash_was_corrected(walk):
    file = engine.table_path(WALK, "paper", walk)
    lines = file.read_text().splitlines()
    lines[17] = lines[17][:-1] + str((int(lines[17][-1]) + 1) % 10)
    text = "\n".join(lines) + "\n"
    file.write_text(text)
    record = json.loads(file.with_suffix(".json").read_text()) | {"sha256": digest(text.encode())}
    file.with_suffix(".json").write_text(json.dumps(record))
    (found,) = engine.verify_table(WALK, "paper", walk, seconds=ALL).differences
    assert re.search(r"\bseed=1\b.*\b18\b", found)  # the run, and the line in its file


def test_a_run_that_raises_is_a_difference(walk):
    def broken(**arguments):
        raise RuntimeError("out of luck")

    found = engine.verify_table(dataclasses.replace(WALK, run=broken), "paper", walk, seconds=1e-9)
    assert found.differences[0].endswith("out of luck")


def _earned(seed, drift, shift=0.0):
    return [{"reward": drift + seed + shift}, {"reward": drift + seed + shift}]


EARNED = Experiment(
    "earned",
    "nowhere",
    "a reward",
    _earned,
    {"paper": Scale({}, grid(drift=(0.0, 10.0)), range(4))},
    portable=False,
    loaded=OURS,
)


@pytest.mark.parametrize(("shift", "within"), [(0.0, 0), (1e-12, 8), (2.9, 8), (-6.1, 0)])
def test_bits_that_depend_on_the_machine_are_compared_by_the_range_of_the_seeds(
    shift, within, tmp_path
):
    """Means of 0 to 3 are stored for drift 0, so from -3 to 6 will do."""
    engine.run_experiment(EARNED, "paper", tmp_path)
    shifted = dataclasses.replace(EARNED, run=lambda **task: _earned(**task, shift=shift))
    found = engine.verify_table(shifted, "paper", tmp_path, seconds=ALL)
    assert found.within == within
    assert len(found.differences) == (8 if shift < -6 else 0)
    strict = dataclasses.replace(shifted, portable=True)
    assert bool(engine.verify_table(strict, "paper", tmp_path, seconds=ALL).differences) == bool(
        shift
    )


def _rising(seed, steps, shift=0.0):
    return [{"reward": 100.0 * n + seed + shift} for n in range(steps)]


@pytest.mark.parametrize(("shift", "within"), [(2.9, 1), (6.1, 0)])
def test_a_beginning_is_compared_with_the_beginnings_of_the_stored_runs(shift, within, tmp_path):
    """Of which the means are from 0 to 3, those of whole runs from 450 to 453."""
    scale = Scale({"steps": 10}, ({},), range(4))
    rising = Experiment(
        "rising", "nowhere", "rewards", _rising, {"paper": scale}, "steps", False, loaded=OURS
    )
    engine.run_experiment(rising, "paper", tmp_path)
    rows = _rising(0, 1, shift)
    task = rising.truncate_task("paper", scale.tasks[0], 0.1)
    found = compare.list_out_of_range(
        engine.load_table(rising, "paper", tmp_path), task, task.label_rows(rows)
    )
    assert len(found) == 1 - within


def test_a_run_of_another_shape_is_not_within_the_range(tmp_path):
    engine.run_experiment(EARNED, "paper", tmp_path)
    short = dataclasses.replace(EARNED, run=lambda **task: _earned(**task)[:1])
    assert engine.verify_table(short, "paper", tmp_path, seconds=1e-9).differences


def test_a_beginning_with_too_few_rows_is_a_difference(walk):
    short = dataclasses.replace(WALK, run=lambda **arguments: _walk(**arguments)[:-1])
    assert len(engine.verify_table(short, "paper", walk, seconds=ALL).differences) == 40


def test_other_settings_than_the_recorded_ones_are_refused(walk):
    other = dataclasses.replace(
        WALK,
        scales={
            "paper": dataclasses.replace(WALK.scales["paper"], constants={"steps": 50, "every": 10})
        },
    )
    with pytest.raises(StudyError, match="settings"):
        engine.verify_table(other, "paper", walk, seconds=1.0)
