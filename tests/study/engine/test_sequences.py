"""Sequences of calls and commands around one table, compared with a model of a few lines.

A study of ``RUNS`` runs is swept, stopped, resumed; its code, journal and table are edited; and in
between the store, or the command line, is asked how things stand.
"""

import io
import json
import shutil
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rlsvi_study import StudyError
from rlsvi_study.catalogue import study
from rlsvi_study.cli import main
from rlsvi_study.engine import runner, store
from rlsvi_study.engine.sources import digest

RUNS = 4
STUDY = """
import json
from pathlib import Path
from matplotlib.figure import Figure
from rlsvi_study.engine import Experiment, Scale
CODE = 0
def run(seed):
    file = Path(__file__).with_name("orders.json")
    left, unlucky = json.loads(file.read_text())
    if left == 0:
        raise KeyboardInterrupt
    file.write_text(json.dumps([left - 1, unlucky]))
    if seed == unlucky:
        raise RuntimeError("out of luck")
    return [{"value": CODE + seed}]
EXPERIMENTS = {"own": Experiment("own", "here", "A sum", run, {
    "quick": Scale({}, ({},), range(RUNS))})}
DRAW = {"own": lambda table: Figure((1, 1))}
""".replace("RUNS", str(RUNS))
SEEDS = st.integers(0, RUNS - 1)
LEFT = st.sampled_from([0, 1, 2, RUNS, RUNS, RUNS])  # runs until a sweep is stopped
MISTYPED = [
    ("check",),
    ("run", "owm"),
    ("verify", "--minutes", "0"),
    ("plot", "--scale", "paper"),
    ("run", "--set", "valu=1"),
]
UNLUCKY = st.sampled_from([None, None, None, 0, RUNS - 1])  # a seed that raises


class Model:
    """Which runs are done, and what the table must be."""

    def __init__(self):
        self.code, self.journal, self.done, self.lost = 0, None, [], 0  # journal: of which code
        self.table, self.damage = None, None  # the table: of which code

    @property
    def resumable(self):
        return self.done if self.journal == self.code else []

    @property
    def legible(self):
        return self.table is not None and self.damage in (None, "the hash was mended")

    @property
    def current(self):
        return self.legible and self.table == self.code

    @property
    def right(self):
        return self.current and self.damage is None

    def sweep(self, left, unlucky):
        self.done, self.journal, self.lost = list(self.resumable), self.code, 0
        for seed in [seed for seed in range(RUNS) if seed not in self.done]:
            if left == 0:
                return "stopped"
            left -= 1
            self.done += [seed] * (seed != unlucky)
        if len(self.done) < RUNS:
            return "raised"
        self.table, self.damage, self.journal, self.done = self.code, None, None, []
        return "wrote"

    def values(self):
        changed = {None: 0, "the hash was mended": 90}[self.damage]
        return [self.table + seed for seed in range(RUNS - 1)] + [changed + self.table + RUNS - 1]


class Edits(RuleBasedStateMachine):
    """What happens to the files meanwhile."""

    @initialize(left=LEFT, unlucky=UNLUCKY)
    def begin(self, left, unlucky):
        self.model, self.folder = Model(), Path(tempfile.mkdtemp())
        self.file, self.out = self.folder / "own.py", self.folder / "results"
        self.csv, self.json, self.journal = (
            self.out / f"own.quick.{end}" for end in ("csv", "json", "journal")
        )
        self.file.write_text(STUDY)
        self.sweep(left, unlucky)

    def teardown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def order(self, left=10**6, unlucky=None):
        (self.folder / "orders.json").write_text(json.dumps([left, unlucky]))

    @rule(by=st.integers(1, 2))
    def edit_the_code(self, by):
        self.model.code = (self.model.code + by) % 3
        self.file.write_text(STUDY.replace("CODE = 0", f"CODE = {self.model.code}"))

    @precondition(lambda self: self.model.done)
    @rule(which=SEEDS, cut=st.booleans())
    def damage_a_line_of_the_journal(self, which, cut):
        seed = self.model.done.pop(which % len(self.model.done))
        self.model.lost += 1
        lines = self.journal.read_text().splitlines()
        (i,) = (
            i
            for i, line in enumerate(lines)
            if line.startswith(f'{{"task": {{"seed": {seed}}}')
            and line.endswith("}")
            and "edited" not in line
        )
        lines[i] = lines[i][:-9] if cut else lines[i].replace('"value"', '"edited"')
        self.journal.write_text("\n".join(lines) + "\n")

    @precondition(lambda self: self.model.legible and not self.model.damage)
    @rule(
        how=st.sampled_from(
            ["the table", "its end", "its file", "the record", "the hash was mended", "no record"]
        )
    )
    def damage_the_table(self, how):
        data = self.csv.read_bytes()
        edited = data.replace(f"\n{RUNS - 1},".encode(), f"\n{RUNS - 1},9".encode())
        if how == "its file":
            self.csv.unlink()
        elif how == "no record":
            self.json.unlink()
            self.model.table = None
        elif how == "the record":
            self.json.write_bytes(self.json.read_bytes()[:-9])
        else:
            self.csv.write_bytes(data[:-2] if how == "its end" else edited)
        if how == "the hash was mended":
            record = json.loads(self.json.read_text()) | {"sha256": digest(edited)}
            self.json.write_text(json.dumps(record))
        self.model.damage = how

    def said_of_the_journal(self):
        """What a sweep must say before it begins."""
        model, said = self.model, []
        if model.journal not in (None, model.code):
            said.append("other code or settings")
        elif model.lost:
            said.append(f"{model.lost} of the lines")
        if model.resumable:
            said.append(f"resuming, {len(model.resumable)} of {RUNS} runs are done")
        return said


class Store(Edits):
    @rule(left=LEFT, unlucky=UNLUCKY)
    def sweep(self, left, unlucky):
        self.order(left, unlucky)
        expected, said = self.said_of_the_journal(), []
        try:
            assert runner.sweep(self.own, "quick", self.out, say=said.append) == self.csv
            end = "wrote"
        except KeyboardInterrupt:
            end = "stopped"
        except runner.RunError:
            end = "raised"
        said = [line for line in said if "out of luck" not in line]
        assert all(map(str.__contains__, said, expected))
        assert (len(said), end) == (len(expected), self.model.sweep(left, unlucky))

    @property
    def own(self):
        return study(self.file).experiments["own"]

    @invariant()
    def ask(self):
        own, model = self.own, self.model
        assert store.finished(own, "quick", self.out) == len(model.resumable)
        assert store.current(own, "quick", self.out) == model.current
        if model.legible:
            assert store.load(own, "quick", self.out).value.tolist() == model.values()
            assert store.stale(own, "quick", self.out) == (model.table != model.code)
        else:
            with pytest.raises(StudyError, match="with: rlsvi run own"):
                store.load(own, "quick", self.out)

    @precondition(lambda self: self.model.legible)
    @rule()
    def verify(self):
        self.order()
        found = runner.verify(self.own, "quick", self.out, seconds=1000)
        assert len(found.parts) == RUNS
        assert (not found.differences) == self.model.right


class Commands(Edits):
    """The same, by what is typed: every answer is a status and lines of ours."""

    def rlsvi(self, verb, *words):
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            try:
                status = main([verb, str(self.file), *words])
            except SystemExit as stop:
                status = stop.code
        said = list(filter(None, err.getvalue().splitlines()))
        assert all(line.startswith("rlsvi: ") for line in said)
        assert (
            (status in (1, 2, 130))
            if len(said) > ("edited. Recompute" in err.getvalue())
            else (status == 0 or verb in ("list", "verify"))
        )
        return status, out.getvalue().splitlines(), said

    @rule(left=LEFT, unlucky=UNLUCKY, again=st.booleans())
    def sweep(self, left, unlucky, again=False):
        self.order(left, unlucky)
        if self.model.current and not again:
            status, printed, said = self.rlsvi("run")
            assert (status, said, len(printed)) == (0, [], 1)
            assert printed[0].endswith("--again recomputes it")
            return
        expected = self.said_of_the_journal()
        status, printed, said = self.rlsvi("run", *["--again"] * again)
        end = self.model.sweep(left, unlucky)
        printed = [line for line in printed if "out of luck" not in line]
        assert all(map(str.__contains__, printed, expected))
        assert printed[len(expected) :] == [f"own: wrote {self.csv}"] * (end == "wrote")
        assert (status, len(said)) == {"wrote": (0, 0), "raised": (1, 1), "stopped": (130, 1)}[end]

    @invariant()
    def list(self):
        status, printed, _ = self.rlsvi("list")
        model, done = self.model, len(self.model.resumable)
        runs = f"{done} of {RUNS} runs are done"
        if model.table is None:
            expected = runs if done else "not stored"
        elif model.legible:
            expected = (
                "stored, 0 CPU-s"
                + ", before its file was edited" * (not model.current)
                + f"; {runs} again" * (done > 0)
            )
        else:
            expected = "DAMAGED"
        found = printed[-1].partition("; ")[2]
        assert (found.partition(":")[0] if expected == "DAMAGED" else found) == expected
        assert status == (expected == "DAMAGED")

    @rule(question=st.sampled_from([("plot",), ("verify",), *MISTYPED]))
    def ask(self, question):
        """One rule, so that sweeps and edits are not rare among questions."""
        if question in MISTYPED:
            self.mistype(*question)
        else:
            getattr(self, *question)()

    def plot(self):
        picture = self.out / "own.quick.png"
        picture.unlink(missing_ok=True)
        status, _, said = self.rlsvi("plot")
        assert picture.exists() == self.model.legible == (status == 0)
        assert len(said) == (not self.model.current)

    def verify(self):
        self.order()
        status, printed, said = self.rlsvi("verify")
        assert status == (not self.model.right)
        assert any("MISMATCH" in line for line in printed) == (
            self.model.legible and not self.model.right
        )
        assert len(said) == (not self.model.current)

    def mistype(self, verb, *words):
        with redirect_stderr(io.StringIO()) as err, pytest.raises(SystemExit) as stop:
            main([verb, str(self.file), *words])
        assert stop.value.code == 2
        assert err.getvalue().splitlines()[-1].startswith("rlsvi")


for machine in (Store, Commands):
    machine.TestCase.settings = settings(max_examples=50, stateful_step_count=12)
TestStore, TestCommands = Store.TestCase, Commands.TestCase
