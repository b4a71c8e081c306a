"""Sequences of calls and commands around one table, compared with a model of a few lines.

A study of ``RUNS`` runs is swept, stopped, resumed; its code, journal and table are edited, the
code in the middle of a run too; and in between the engine, or the command line, is asked how things
stand. A table's rows are of one code, whose hashes are in its record. What a kill, a damaged file or
an edit of the code must leave behind is held here; ``faults.md`` has what needs a real fault.
"""

import io
import json
import os
import shutil
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rlsvi_study import StudyError, engine
from rlsvi_study.catalogue import study
from rlsvi_study.cli import main
from rlsvi_study.engine.sources import digest
from rlsvi_study.engine.tables import is_current

RUNS = 4
STUDY = """
import json, os
from pathlib import Path
from matplotlib.figure import Figure
from rlsvi_study.engine import Experiment, Scale
from helper import HELPER
CODE = 0
def run(seed):
    folder = Path(__file__).parent
    left, unlucky, edits, calls = json.loads((folder / "orders.json").read_text())
    if left == 0:
        raise KeyboardInterrupt
    (folder / "orders.json").write_text(json.dumps([left - 1, unlucky, edits, [*calls, seed]]))
    for name, text, time in edits if len(calls) == 1 else []:  # in the second run
        (folder / name).write_text(text)
        os.utime(folder / name, (time, time))
    from later import LATER
    if seed == unlucky:
        raise RuntimeError("out of luck")
    return [{"value": 100 * CODE + 10 * HELPER + LATER + seed}]
EXPERIMENTS = {"own": Experiment("own", "here", "A sum", run, {
    "quick": Scale({}, ({},), range(RUNS))})}
DRAW = {"own": lambda table: Figure((1, 1))}
""".replace("RUNS", str(RUNS))
FILES = {"own.py": STUDY, "helper.py": "HELPER = 0\n", "later.py": "LATER = 0\n"}
CODES = st.tuples(*[st.integers(0, 2)] * len(FILES))  # the number in each of them


def texts(code):
    return {
        name: text.replace(" = 0\n", f" = {number}\n", 1)
        for (name, text), number in zip(FILES.items(), code, strict=True)
    }


SEEDS = st.integers(0, RUNS - 1)
LEFT = st.sampled_from([0, 1, 2, RUNS, RUNS, RUNS])  # runs until a sweep is stopped
MISTYPED = [
    ("check",),
    ("run", "owm"),
    ("verify", "--minutes", "0"),
    ("plot", "--scale", "paper"),
]
UNLUCKY = st.sampled_from([None, None, None, 0, RUNS - 1])  # a seed that raises
EDITS = st.lists(CODES, max_size=2) | st.just([])  # of the code, in a run


class Model:
    """Which runs are done, and what the table must be."""

    def __init__(self):
        self.code, self.journal, self.done = (0, 0, 0), None, []  # journal: of which code
        self.table, self.damage = None, None  # the table: of which code
        self.raised = None  # a seed of the last sweep

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

    def sweep(self, left, unlucky, edits):
        """The seeds that are computed, and how that ends."""
        self.done, self.journal = list(self.resumable), self.code
        self.raised, calls = None, []
        for seed in [seed for seed in range(RUNS) if seed not in self.done]:
            if len(calls) == left:
                return calls, "stopped"
            calls.append(seed)
            if len(calls) == 2 and edits and edits[-1] != self.code:
                self.code = edits[-1]
                return calls, "edited"
            if seed == unlucky:
                self.raised = seed
            else:
                self.done.append(seed)
        if len(self.done) < RUNS:
            return calls, "raised"
        self.table, self.damage, self.journal, self.done = self.code, None, None, []
        return calls, "wrote"

    def values(self):
        code, helper, later = self.table
        values = [100 * code + 10 * helper + later + seed for seed in range(RUNS)]
        if self.damage == "the hash was mended":
            values[-1] = int(f"9{values[-1]}")
        return values


class Edits(RuleBasedStateMachine):
    """What happens to the files meanwhile."""

    @initialize(left=LEFT, unlucky=UNLUCKY, edits=EDITS)
    def begin(self, left, unlucky, edits):
        self.model, self.folder = Model(), Path(tempfile.mkdtemp())
        self.file, self.out = self.folder / "own.py", self.folder / "results"
        self.csv, self.json, self.journal, self.log = (
            self.out / f"own.quick.{end}" for end in ("csv", "json", "journal", "errors.log")
        )
        self.time = 0
        for edit in self.edits((0, 0, 0)):
            self.edit(*edit)
        self.sweep(left, unlucky, edits)

    def teardown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def order(self, left=10**6, unlucky=None, edits=()):
        edits = [edit for code in edits for edit in self.edits(code)]
        (self.folder / "orders.json").write_text(json.dumps([left, unlucky, edits, []]))

    def edits(self, code):
        """What has to be written for it, and when that happens: a second is Python's least."""
        self.time += 1
        return [(name, text, self.time) for name, text in texts(code).items()]

    def edit(self, name, text, time):
        (self.folder / name).write_text(text)
        os.utime(self.folder / name, (time, time))

    @rule(code=CODES)
    def edit_the_code(self, code):
        for name, text, time in self.edits(code):
            if (self.folder / name).read_text() != text:
                self.edit(name, text, time)
        self.model.code = code

    @invariant()
    def the_table_is_of_one_code(self):
        if self.model.legible:
            found = json.loads(self.json.read_text())["computed"]["files"]
            assert found == {
                name: digest(text.encode())[:16] for name, text in texts(self.model.table).items()
            }
            assert pd.read_csv(self.csv).value.tolist() == self.model.values()

    @precondition(lambda self: self.model.done)
    @rule(which=SEEDS)
    def cut_a_line_of_the_journal_short(self, which):
        seed = self.model.done.pop(which % len(self.model.done))
        lines = self.journal.read_text().splitlines()
        (i,) = (
            i
            for i, line in enumerate(lines)
            if line.startswith(f'{{"task": {{"seed": {seed}}}') and line.endswith("}")
        )
        lines[i] = lines[i][:-9]
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

    def computed(self, left, unlucky, edits):
        """The seeds that a sweep must compute, and how it must end."""
        aside = list(self.out.glob("own.quick.*.journal"))
        other = self.model.journal not in (None, self.model.code)
        return *self.model.sweep(left, unlucky, edits), len(aside) + other

    def calls(self):
        """The seeds that were computed."""
        return json.loads((self.folder / "orders.json").read_text())[-1]

    def leaves(self, end, aside):
        """A table and nothing else, or a journal; one of other code is set aside."""
        assert self.journal.exists() == (end != "wrote")
        assert self.log.exists() == (self.model.raised is not None)
        assert len(list(self.out.glob("own.quick.*.journal"))) == aside
        assert not list(self.out.glob("*.lock")) + list(self.out.glob("*.part"))


class Engine(Edits):
    @rule(left=LEFT, unlucky=UNLUCKY, edits=EDITS)
    def sweep(self, left, unlucky, edits):
        own = self.own
        self.order(left, unlucky, edits)
        due, end, aside = self.computed(left, unlucky, edits)
        try:
            engine.sweep(own, "quick", self.out, say=lambda text: None)
            found = "wrote"
        except KeyboardInterrupt:
            found = "stopped"
        except StudyError as error:
            found = "edited" if "one code" in str(error) else "raised"
        assert (self.calls(), found) == (due, end)
        self.leaves(end, aside)

    @property
    def own(self):
        return study(self.file).experiments["own"]

    @invariant()
    def ask(self):
        own, model = self.own, self.model
        assert engine.finished(own, "quick", self.out) == len(model.resumable)
        assert is_current(own, "quick", self.out) == model.current
        if model.legible:
            assert engine.load(own, "quick", self.out).value.tolist() == model.values()
            assert bool(engine.edited_since(own, "quick", self.out)) == (model.table != model.code)
        else:
            with pytest.raises(StudyError, match="rlsvi run"):
                engine.load(own, "quick", self.out)

    @precondition(lambda self: self.model.legible)
    @rule()
    def verify(self):
        self.order()
        found = engine.verify(self.own, "quick", self.out, seconds=1000)
        assert len(found.parts) == RUNS
        assert (not found.differences) == self.model.right


class Commands(Edits):
    """The same, by what is typed: every answer is a status, and what is wrong is told apart."""

    def rlsvi(self, verb, *words):
        """Status, what was printed, and the warnings and errors."""
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            try:
                status = main([verb, str(self.file), *words])
            except SystemExit as stop:
                status = stop.code
        return status, out.getvalue(), list(filter(None, err.getvalue().splitlines()))

    @rule(left=LEFT, unlucky=UNLUCKY, edits=EDITS, again=st.booleans())
    def sweep(self, left, unlucky, edits, again=False):
        self.order(left, unlucky, edits)
        if self.model.current and not again:
            assert self.rlsvi("run")[0] == 0
            assert self.calls() == []
            return
        due, end, aside = self.computed(left, unlucky, edits)
        status, _, errors = self.rlsvi("run", *(["--again"] if again else []))
        assert self.calls() == due
        assert (status, bool(errors)) == (
            {"wrote": 0, "raised": 1, "edited": 1, "stopped": 130}[end],
            end != "wrote",
        )
        self.leaves(end, aside)

    @invariant()
    def list(self):
        status, printed, _ = self.rlsvi("list")
        model = self.model
        damaged = model.table is not None and not model.legible
        assert status == damaged
        assert ("DAMAGED" in printed) == damaged
        assert ("not stored" in printed) == (model.table is None and not model.resumable)
        if not damaged:
            runs = f"{len(model.resumable)} of {RUNS}"
            assert (runs in printed) == bool(model.resumable)
            assert ("edited" in printed) == (model.legible and not model.current)

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
        status, _, errors = self.rlsvi("plot")
        assert picture.exists() == self.model.legible == (status == 0)
        assert bool(errors) == (not self.model.current)

    def verify(self):
        self.order()
        status, printed, errors = self.rlsvi("verify")
        assert status == (not self.model.right)
        assert ("MISMATCH" in printed) == (self.model.legible and not self.model.right)
        assert bool(errors) == (not self.model.current)

    def mistype(self, verb, *words):
        status, _, errors = self.rlsvi(verb, *words)
        assert status == 2
        assert errors


for machine in (Engine, Commands):
    machine.TestCase.settings = settings(max_examples=20, stateful_step_count=12)
TestEngine, TestCommands = Engine.TestCase, Commands.TestCase
