"""Sequences of commands around one table, compared with a model of a few lines.

A study of ``RUNS`` runs is swept, stopped, resumed; its code, journal and table are edited, the
code in the middle of a run too; and in between the command line is asked how things stand. A
table's rows are of one code, whose hashes are in its record. What a kill, a damaged file or an edit
of the code must leave behind is held here; ``test_faults.py`` has what needs a real fault.
"""

import io
import json
import os
import shutil
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rlsvi_study.cli import main
from rlsvi_study.engine.sources import digest

SEEDS = range(3, 7)
RUNS = len(SEEDS)
STUDY = """
import json, os
from pathlib import Path
from rlsvi_study.engine import Plot, define_experiment
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
EXPERIMENTS = {"own": define_experiment("own", place="here", title="A sum", run=run, seeds=SEEDS,
                            plot=Plot("seed", "value"))}
""".replace("SEEDS", str(SEEDS))
FILES = {"own.py": STUDY, "helper.py": "HELPER = 0\n", "later.py": "LATER = 0\n"}
CODES = st.tuples(*[st.integers(0, 2)] * len(FILES))  # the number in each of them


def texts(code):
    return {
        name: text.replace(" = 0\n", f" = {number}\n", 1)
        for (name, text), number in zip(FILES.items(), code, strict=True)
    }


LEFT = st.sampled_from([0, 1, 2, RUNS, RUNS, RUNS])  # runs until a sweep is stopped
UNLUCKY = st.sampled_from([None, None, None, SEEDS[0], SEEDS[-1]])  # a seed that raises
EDITS = st.lists(CODES, max_size=2) | st.just([])  # of the code, in a run


class Model:
    """Which runs are done, and what the table must be."""

    def __init__(self):
        self.code, self.journal, self.done = (0, 0, 0), None, []  # journal: of which code
        self.lines, self.aside = 0, False  # of runs in the journal, whole or cut; is one set aside?
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
        self.aside |= self.journal not in (None, self.code) and self.lines > 0
        self.done, self.journal = list(self.resumable), self.code
        self.lines = len(self.done)
        self.raised, calls = None, []
        for seed in [seed for seed in SEEDS if seed not in self.done]:
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
                self.lines += 1
        if len(self.done) < RUNS:
            return calls, "raised"
        self.table, self.damage = self.code, None
        self.journal, self.done = None, []
        return calls, "wrote"

    def values(self):
        code, helper, later = self.table
        values = [100 * code + 10 * helper + later + seed for seed in SEEDS]
        if self.damage == "the hash was mended":
            values[-1] = int(f"9{values[-1]}")
        return values


class Commands(RuleBasedStateMachine):
    """What is typed, and what happens to the files meanwhile. Every answer is a status, and what is
    wrong is told apart."""

    @initialize(left=LEFT, unlucky=UNLUCKY, edits=EDITS)
    def begin(self, left, unlucky, edits):
        self.model, self.folder = Model(), Path(tempfile.mkdtemp())
        self.file, self.out = self.folder / "own.py", self.folder / "results"
        self.csv, self.json, self.journal, self.log, self.aside = (
            self.out / f"own.{end}"
            for end in ("csv", "json", "journal", "errors.log", "journal.old")
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
    @rule(which=st.integers(0, RUNS - 1))
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
        edited = data.replace(f"\n{SEEDS[-1]},".encode(), f"\n{SEEDS[-1]},9".encode())
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

    def calls(self):
        """The seeds that were computed."""
        return json.loads((self.folder / "orders.json").read_text())[-1]

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
        due, end = self.model.sweep(left, unlucky, edits)
        status, _, errors = self.rlsvi("run", *(["--again"] if again else []))
        assert self.calls() == due
        assert (status, bool(errors)) == (
            {"wrote": 0, "raised": 1, "edited": 1, "stopped": 130}[end],
            end != "wrote",
        )
        assert self.journal.exists() == (end != "wrote")
        assert self.log.exists() == (self.model.raised is not None)
        assert self.aside.exists() == self.model.aside
        assert not list(self.out.glob("*.lock")) + list(self.out.glob("*.part"))

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

    @rule(question=st.sampled_from(["plot", "verify"]))
    def ask(self, question):
        """One rule, so that sweeps and edits are not rare among questions."""
        getattr(self, question)()

    def plot(self):
        picture = self.out / "figures/own.png"
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


Commands.TestCase.settings = settings(max_examples=20, stateful_step_count=12)
TestCommands = Commands.TestCase
