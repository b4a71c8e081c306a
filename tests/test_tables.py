"""Stored tables and the code that answers for them.

A table must have been computed or verified by today's code, where today's code is the fingerprint:
the syntax trees of all that its runs import. After a change of code: ``rlsvi verify --stamp``.
"""

import ast
import dataclasses
import json
import linecache
import shutil
from pathlib import Path

import numpy as np
import pytest

from rlsvi_study import StudyError, fingerprint, runner, store
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.cli import main
from rlsvi_study.experiment import Experiment, Scale, grid
from rlsvi_study.fingerprint import PACKAGES, behind


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_todays_code_computed_or_verified_the_table(name):
    record = store.provenance(EXPERIMENTS[name])
    assert store.vouched(EXPERIMENTS[name], record), "run: rlsvi verify --stamp " + name


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_slice_of_the_table_is_recomputed_to_the_bit(name):
    """One run of a cheap cell, the quick scale's first or else our first; one row where it can be
    cut."""
    table = runner.Table(EXPERIMENTS[name], "paper", store.results_folder())
    quick = EXPERIMENTS[name].scales["quick"].tasks[0].cell
    first = next((task for task in table.tasks if task.cell == quick), table.tasks[0])
    ((_, wrong, _),) = table.recompute([EXPERIMENTS[name].cut("paper", first, 0.0)], jobs=1)
    assert wrong == []


# --- what the fingerprint sees --------------------------------------------------------------------

CHAIN = "rlsvi_study/chain/runs.py"


@pytest.fixture
def copy(tmp_path):
    """Both packages elsewhere: (folder, the fingerprint of the chain's runs there)."""
    for name, place in PACKAGES.items():
        shutil.copytree(place, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))

    return tmp_path, lambda: behind([tmp_path / CHAIN])


def test_comments_docstrings_and_line_breaks_do_not_count(copy):
    folder, now = copy
    before = now()
    for file in folder.rglob("*.py"):
        tree = ast.parse(file.read_text("utf8"))
        if tree.body and isinstance(tree.body[0], ast.Expr):
            tree.body[0].value.value = "Another explanation."
        text = ast.unparse(tree)  # without comments, and laid out otherwise
        file.write_text(f"# another comment\n{text}\n", "utf8")
    assert now() == before


def test_code_counts_in_every_module_behind_a_run_and_in_no_other(copy):
    folder, now = copy
    before = now()
    assert {"rlsvi_core/mdp.py", "rlsvi_core/regression.py", "rlsvi_core/compiled.py",
            "rlsvi_core/features/maps.py", "rlsvi_study/experiment.py", CHAIN} <= set(before)
    others = [file for file in folder.rglob("*.py")
              if file.relative_to(folder).as_posix() not in before]
    assert {"cli.py", "claims.py", "figures.py", "store.py"} <= {file.name for file in others}
    for file in (*others, *(folder / name for name in before)):
        file.write_text(file.read_text("utf8") + "\nANOTHER = 1\n", "utf8")
        if file == others[-1]:
            assert now() == before
        elif file not in others:
            after = now()
            assert {name for name in after if after[name] != before[name]} == {
                file.relative_to(folder).as_posix()}
            before = after


@pytest.mark.parametrize(("line", "expected"), [
    ("import rlsvi_core.mdp as mdp", {"rlsvi_core/mdp.py", "rlsvi_core/compiled.py"}),
    ("from rlsvi_core import mdp", {"rlsvi_core/mdp.py", "rlsvi_core/compiled.py"}),
    ("from rlsvi_core.mdp import FiniteMDP", {"rlsvi_core/mdp.py", "rlsvi_core/compiled.py"}),
    ("from rlsvi_core import FiniteMDP", {"rlsvi_core/__init__.py"}),
    ("import rlsvi_core.mdp", {"rlsvi_core/__init__.py", "rlsvi_core/mdp.py"}),
    ("import numpy, json\nfrom scipy import stats", set()),
    ("import helper", {"helper.py"}),
    ("def later():\n    from helper import x", {"helper.py"})])
def test_a_study_of_ones_own_counts_with_what_it_imports_of_ours(line, expected, tmp_path):
    (tmp_path / "helper.py").write_text("x = 1\n")
    (tmp_path / "study.py").write_text(f"{line}\ndef run(seed):\n    return []\n")
    found = set(behind([tmp_path / "study.py"]))
    assert "study.py" in found
    assert expected <= found - {"study.py"}
    assert expected or found == {"study.py"}


def _in_a_notebook(source, cell="<cell>", **names):
    linecache.cache[cell] = (len(source), None, source.splitlines(True), cell)
    space = {"__name__": "__main__", **names}
    exec(compile(source, cell, "exec"), space)
    return space["run"]


def test_a_function_in_a_notebook_counts_with_all_it_names():
    from rlsvi_core.envs.chains import chain
    text = "def run(seed):\n    return [{'x': helper(chain(N).value)}]"
    helper = _in_a_notebook("def run(x):\n    return x", "<other cell>")
    first = fingerprint.fingerprint(_in_a_notebook(text, chain=chain, helper=helper, N=5))
    assert "rlsvi_core/envs/chains.py" in fingerprint.sources(
        _in_a_notebook(text, chain=chain, helper=helper, N=5))
    assert fingerprint.fingerprint(
        _in_a_notebook(text + "  # well", chain=chain, helper=helper, N=5)) == first
    for change in ({"N": 6}, {"helper": _in_a_notebook("def run(x):\n    return -x", "<a third>")}):
        names = {"chain": chain, "helper": helper, "N": 5} | change
        assert fingerprint.fingerprint(_in_a_notebook(text, **names)) != first


def test_a_functions_own_variables_are_not_the_notebooks():
    """In a notebook ``_`` is the last output."""
    text = "def run(seed):\n    _, x = seed, 1\n    return [x for _ in range((lambda: x)())]"
    assert fingerprint.fingerprint(_in_a_notebook(text, _=1, x=1)) == fingerprint.fingerprint(
        _in_a_notebook(text, _=2, x=2))


def test_a_class_in_a_notebook_and_a_file_beside_it_count(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def now(method, beside):
        (tmp_path / "beside.py").write_text(f"def add(x):\n    return x + {beside}\n")
        import beside
        made = ("from dataclasses import dataclass\n@dataclass\nclass Agent:\n    x: int = 1\n"
                f"    def act(self):\n        return {method}\n    def copy(self):\n"
                "        return Agent()\nrun = Agent")
        agent = _in_a_notebook(made, "<a class>")
        return fingerprint.fingerprint(_in_a_notebook(
            "def run(seed):\n    return add(Agent().act())", Agent=agent, add=beside.add))

    assert now(1, 1) == now(1, 1)
    assert len({now(1, 1), now(2, 1), now(1, 2)}) == 3


def test_a_worker_compares_what_a_travelling_function_imports_of_ours():
    """The function itself came along: on the worker its cell is unknown."""
    from rlsvi_core.envs.chains import chain
    run = _in_a_notebook("def run(seed):\n    return chain(seed)", "<far away>", chain=chain)
    code = fingerprint.sources(run)
    del linecache.cache["<far away>"]
    assert "run" in code
    assert fingerprint.departures(run, code) == []
    assert fingerprint.departures(run, code | {"rlsvi_core/mdp.py": "other"}) == [
        "rlsvi_core/mdp.py"]


def test_a_function_without_a_source_is_refused():
    space = {"__name__": "__main__"}
    exec("def run(seed): return []", space)
    with pytest.raises(StudyError, match="in a file, or in a notebook"):
        fingerprint.fingerprint(space["run"])


# --- stamps ---------------------------------------------------------------------------------------

def _walk(seed, steps, every, drift, point):
    """A learning curve of sorts: later rows do not change earlier ones."""
    path = np.cumsum(np.random.default_rng(seed).standard_normal(steps) + drift + point)
    return [{"step": n, "value": path[n - 1]} for n in range(every, steps + 1, every)]


WALK = Experiment("walk", "nowhere", "a walk", _walk, {"paper": Scale(
    {"steps": 100, "every": 10}, grid(drift=(0.0, 1.0), point=(0.1, 0.2, 0.3)), range(20))},
    length="steps", along="point")


@pytest.fixture
def walk(tmp_path):
    """A stored table, which today's code has not computed."""
    file = runner.sweep(WALK, "paper", tmp_path).with_suffix(".json")
    record = json.loads(file.read_text())
    record["computed"]["code"] = "earlier"
    file.write_text(json.dumps(record))
    return tmp_path


def test_a_stamp_appends_and_leaves_the_rest_alone(walk):
    before = store.provenance(WALK, "paper", walk)
    assert store.vouched(WALK, before) is None
    assert runner.stamp(WALK, "paper", walk) == []
    after = store.provenance(WALK, "paper", walk)
    (stamp,) = after.pop("verified")
    assert before.pop("verified") == []
    assert after == before
    assert stamp["code"] == fingerprint.fingerprint(WALK.run)
    assert stamp["of"] == 120
    assert stamp["whole"] <= stamp["runs"]
    assert {"python", "packages", "machine", "cpu_seconds", "date"} <= set(stamp)
    assert store.vouched(WALK, store.provenance(WALK, "paper", walk)) == "verified"


def _spy(seen):
    def run(**arguments):
        seen.append(arguments)
        return _walk(**arguments)
    return dataclasses.replace(WALK, run=run)


def test_a_stamp_sees_every_cell_and_a_twentieth_drawn_by_the_code(walk, monkeypatch):
    drawn = {}
    for code in ("1" * 16, "1" * 16 + "", "2" * 16):
        monkeypatch.setattr(runner, "fingerprint", lambda run, code=code: code)
        seen = []
        assert runner.stamp(_spy(seen), "paper", walk) == []
        assert [one["drift"] for one in seen[:2]] in ([0.0, 1.0], [1.0, 0.0])
        assert seen[2]["steps"] == 100  # ``point`` is along the curve: the cells have been seen
        assert sum(one["steps"] for one in seen) / 100 > 120 / 20 - 1  # a part of a run is by luck
        assert len(seen) < 30
        assert drawn.setdefault(code, seen[:4]) == seen[:4]
    assert drawn["1" * 16] != drawn["2" * 16]


@pytest.mark.parametrize("place", [0.1, 1.0])
def test_an_edited_row_is_noticed_as_often_as_is_said(place, walk, monkeypatch):
    """Fails by chance once in 10 000."""
    seen, stamps = [], 400

    def recompute(self, tasks, jobs):
        seen.extend(tasks)
        return ((task, [], self.seconds * task.share) for task in tasks)

    monkeypatch.setattr(runner.Table, "recompute", recompute)
    monkeypatch.setattr(store, "add_verification", lambda *_, **__: None)
    expected = runner.chance(WALK, "paper", place)
    edited = WALK.scales["paper"].tasks[17]
    noticed, whole = 0, 0
    for code in range(stamps):
        monkeypatch.setattr(runner, "fingerprint", lambda run, code=code: f"{code:x}")
        seen.clear()
        assert runner.stamp(WALK, "paper", walk) == []
        noticed += any(one.label == edited.label and one.share >= place for one in seen)
        whole += sum(one.share == 1 for one in seen)
    spread = np.sqrt(stamps * expected * (1 - expected))
    assert abs(noticed - stamps * expected) < 4 * spread
    # a twentieth of 120 runs without two beginnings of a tenth; by luck there is one more or less
    assert abs(whole - stamps * 5.8) < 4 * np.sqrt(stamps / 4)


def test_what_contributing_says_of_edited_rows():
    """The chance to notice one: of a row that is not the last of a long run, and of any row."""
    whole = {name: runner.chance(one, "paper", 0.0) for name, one in EXPERIMENTS.items()}
    last = {name: runner.chance(one, "paper") for name, one in EXPERIMENTS.items()}
    assert min(last.values()) > 0.01
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf8")
    said = (f"between {min(whole.values()):.0%} and {max(whole.values()):.0%} at the beginning of "
            f"a run ({np.median([*whole.values()]):.0%} in the median table), at its end between "
            f"{min(last.values()):.1%} and {max(last.values()):.0%} "
            f"({np.median([*last.values()]):.0%})")
    assert said in " ".join(text.split()), said


def test_a_stamp_takes_a_twentieth_of_the_cpu_time_too(walk):
    file = store.path(WALK, "paper", walk).with_suffix(".json")
    record = json.loads(file.read_text())
    record["computed"]["cpu_seconds"] = 1e9  # a table of which no twentieth is done in time
    file.write_text(json.dumps(record))
    assert runner.stamp(WALK, "paper", walk) == []
    assert store.provenance(WALK, "paper", walk)["verified"][0]["runs"] == 120


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stamp_is_refused_when_one_number_differs_in_the_last_bit(walk, jobs):
    def other(seed, drift, **rest):
        rows = _walk(seed, drift=drift, **rest)
        return [row | {"value": np.nextafter(row["value"], 9)} if drift else row for row in rows]
    found = runner.stamp(dataclasses.replace(WALK, run=other), "paper", walk, jobs=jobs)
    assert "drift=1.0" in found[0]
    assert store.provenance(WALK, "paper", walk)["verified"] == []


def _earned(seed, drift, shift=0.0):
    return [{"reward": drift + seed + shift}, {"reward": drift + seed + shift}]


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, 0), (1e-12, 2), (2.9, 2), (-4.1, None)])
def test_bits_that_depend_on_the_machine_are_compared_by_the_range_of_the_seeds(
        shift, verdict, tmp_path):
    """Means of 0 to 3 are stored for drift 0, so from -3 to 6 will do."""
    one = Experiment("earned", "nowhere", "a reward", _earned, {"paper": Scale(
        {}, grid(drift=(0.0, 10.0)), range(4))}, portable=False)
    runner.sweep(one, "paper", tmp_path)
    table = runner.Table(one, "paper", tmp_path)
    shifted = dataclasses.replace(one, run=lambda **task: _earned(**task, shift=shift))
    table.experiment = shifted
    found = [wrong for _, wrong, _ in table.recompute([table.tasks[0], table.tasks[7]], jobs=1)]
    if verdict is None:
        assert "stored means of reward are from 0 to 3, recomputed -4.1" in found[0][0]
        assert table.alike == 1
    else:
        assert found == [[], []]
        assert table.alike == verdict
        assert runner.stamp(shifted, "paper", tmp_path) == []
        (stamp,) = store.provenance(one, "paper", tmp_path)["verified"]
        assert stamp["alike"] == (stamp["runs"] if shift else 0)
    table.experiment = dataclasses.replace(shifted, portable=True)
    assert [bool(wrong) for _, wrong, _ in table.recompute(table.tasks[:1], 1)] == [bool(shift)]


def test_a_run_of_another_shape_is_not_alike(tmp_path):
    one = Experiment("earned", "nowhere", "a reward", _earned, {"paper": Scale(
        {}, grid(drift=(0.0,)), range(4))}, portable=False)
    runner.sweep(one, "paper", tmp_path)
    short = dataclasses.replace(one, run=lambda **task: _earned(**task)[:1])
    assert "2 rows with" in runner.verify(short, "paper", tmp_path, seed=0)[0]


def test_a_beginning_with_too_few_rows_is_a_difference(walk):
    def short(**arguments):
        return _walk(**arguments)[:-1]
    found = runner.verify(dataclasses.replace(WALK, run=short), "paper", walk, seed=0)
    assert "10 rows are stored, 9 were recomputed" in found[0]


def test_other_settings_than_the_recorded_ones_are_refused(walk):
    other = dataclasses.replace(WALK, scales={"paper": dataclasses.replace(
        WALK.scales["paper"], constants={"steps": 50, "every": 10})})
    with pytest.raises(StudyError, match="other settings"):
        runner.verify(other, "paper", walk, seed=0)


def test_a_table_vouched_for_is_not_stamped_again(tmp_path, capsys):
    out = ["--out", str(tmp_path), "--scale", "quick"]
    assert main(["run", "example1", *out]) == 0
    assert main(["verify", "example1", "--stamp", *out]) == 0
    assert "nothing to do, computed by today's code" in capsys.readouterr().out
    file = tmp_path / "example1.quick.json"
    file.write_text(file.read_text().replace(fingerprint.fingerprint(
        EXPERIMENTS["example1"].run), "earlier"))
    assert main(["verify", "example1", "--stamp", *out]) == 0
    assert "example1: stamped" in capsys.readouterr().out
    assert main(["verify", "example1", "--stamp", *out]) == 0
    assert "nothing to do, verified by today's code" in capsys.readouterr().out
