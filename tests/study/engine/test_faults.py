"""What goes wrong around a sweep, brought about for real: full disks, kills, damaged files.

``faults.md`` lists each fault with its exit status and what is kept. A fault's function brings it
about, checks what is kept, and returns the status.
"""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import psutil
import pytest

from rlsvi_study import engine
from rlsvi_study.catalogue import study
from rlsvi_study.cli import main
from rlsvi_study.engine.journal import Journal
from rlsvi_study.engine.sources import digest

PAGESIZE = os.sysconf("SC_PAGE_SIZE")

# Every run leaves a trace of its process in the folder `sign`; a run of seed 1 waits as long as a
# file `wait` is there, and raises if there is one `raise`. Settings are in a file of their own, so
# that they can change and the code does not.
STUDY = """
import json, os, time
from pathlib import Path
from rlsvi_study.engine import Experiment, Scale, grid

def run(seed, factor, size, sign):
    sign = Path(sign)
    (sign / f"{seed}.{factor}.{os.getpid()}").touch()
    while seed == 1 and (sign / "wait").exists():
        time.sleep(0.01)
    if seed == 1 and (sign / "raise").exists():
        raise RuntimeError("out of luck")
    return [{"step": step, "value": factor * seed + step, "text": size * "x"} for step in range(3)]

def draw(table):
    from matplotlib.figure import Figure
    figure = Figure()
    figure.subplots().plot(table.value)
    return figure

SETTINGS = json.loads(Path(__file__).with_name("settings.json").read_text())
SCALE = Scale(SETTINGS["constants"], grid(factor=SETTINGS["factors"]), range(SETTINGS["seeds"]))
EXPERIMENTS = {
    name: Experiment(name, "nowhere", "σ ≤ 1", run, {"paper": SCALE}) for name in ("tiny", "more")}
DRAW = {"tiny": draw}
"""
FAULTS = {}


def fault(what):
    def take(function):
        FAULTS[what] = function
        return function

    return take


class Bench:
    """A folder with a study, and the command line."""

    def __init__(self, folder):
        self.folder, self.out = folder, folder / "results"
        self.sign, self.file = folder / "sign", folder / "own.py"
        self.sign.mkdir()
        self.file.write_text(STUDY, "utf8")
        self.set(constants={"size": 1, "sign": str(self.sign)}, factors=[1.5, -2.0], seeds=3)

    def set(self, **settings):
        file = self.folder / "settings.json"
        before = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps(before | settings))

    @property
    def tiny(self):
        return study(self.file).experiments["tiny"]

    @property
    def finished(self):
        return engine.finished(self.tiny, "paper", self.out)

    def words(self, verb, *more):
        names = [] if "tiny" in more else ["tiny"]
        return [verb, str(self.file), *names, *more, "--out", str(self.out)]

    def rlsvi(self, *words):
        """The status, and what was printed."""
        with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()) as said:
            status = main(self.words(*words))
        assert "Traceback" not in said.getvalue()
        return status, printed.getvalue()

    def stored(self):
        """Run the study; returns what is then in its folder."""
        assert self.rlsvi("run")[0] == 0
        return self.files()

    def unfinished(self):
        """A sweep of which the runs of seed 1 raised: 4 of 6 are in the journal."""
        (self.sign / "raise").touch()
        assert self.rlsvi("run", "--again")[0] == 1
        (self.sign / "raise").unlink()
        assert self.finished == 4

    def files(self):
        return {file.name: file.read_bytes() for file in self.out.iterdir()}

    def edit(self, name, change):
        file = self.out / name
        file.write_bytes(change(file.read_bytes()))

    def resumes(self):
        """Run again: the table is that of a folder where nothing went wrong."""
        status, _ = self.rlsvi("run")
        serial = engine.sweep(self.tiny, "paper", self.folder / "serial", say=lambda text: None)
        assert (self.out / "tiny.csv").read_bytes() == serial.read_bytes()
        return status

    @contextmanager
    def started(self):
        """A process with two workers, and these, once the runs of seed 1 wait."""
        (self.sign / "wait").touch()
        process = subprocess.Popen(
            [sys.executable, "-m", "rlsvi_study", *self.words("run", "--jobs", "2")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )  # tests under nohup
        workers = set()
        while len(workers) < 2 and process.poll() is None:
            time.sleep(0.02)
            workers = {int(file.name.rsplit(".", 1)[1]) for file in self.sign.glob("1.*.*")}
        try:
            yield process, [psutil.Process(worker) for worker in workers]
        finally:
            process.kill()
            process.wait()
            (self.sign / "wait").unlink()


def ended(workers, seconds=20):
    """Whether they end by themselves: the runs of seed 1 would wait for ever."""
    _, alive = psutil.wait_procs(workers, timeout=seconds)
    for worker in alive:
        worker.kill()
    return not alive


@contextmanager
def disk(bench, pages=16):
    """A small one under the folder of results."""
    bench.out.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={pages * PAGESIZE}", "tmpfs", str(bench.out)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield lambda how: subprocess.run(["mount", "-o", how, str(bench.out)], check=True)
    finally:
        subprocess.run(["umount", str(bench.out)], check=True)


# --- places ---------------------------------------------------------------------------------------


@fault("`--out` is a file")
def _(bench):
    bench.out.write_text("mine")
    status, _ = bench.rlsvi("run")
    assert bench.out.read_text() == "mine"
    return status


@fault("the folder may not be written")
def _(bench):
    with disk(bench) as mount:
        before = bench.stored()
        mount("remount,ro")
        status, _ = bench.rlsvi("run", "--again")
        assert bench.files() == before
    return status


@fault("the disk is full in mid-sweep")
def _(bench):
    with disk(bench) as mount:
        before = bench.stored()
        bench.set(constants={"size": 8000, "sign": str(bench.sign)})
        status, _ = bench.rlsvi("run")
        assert before.items() <= bench.files().items()
        assert bench.finished == 2
        mount(f"remount,size={1000 * PAGESIZE}")
        assert bench.resumes() == 0
    return status


@fault("the disk is full when the table is written")
def _(bench):
    with disk(bench):
        before = bench.stored()
        free = os.statvfs(bench.out)  # one page for the journal, one for the table, no third
        other = bench.out / "other"
        other.write_bytes(bytes((free.f_bavail - 2) * free.f_frsize))
        status, _ = bench.rlsvi("run", "--again")
        other.unlink()
        assert before.items() <= bench.files().items()
        assert bench.finished == 6
    return status


# --- damaged files --------------------------------------------------------------------------------


@fault("the record of a table is damaged")
def _(bench):
    before = bench.stored()
    for damage in (
        lambda data: data[: len(data) // 2],
        lambda data: b"[1, 2]",
        lambda data: data.replace(b'"sha256"', b'"sha257"'),
        lambda data: data.replace(b'"cpu_seconds"', b'"seconds"'),
        lambda data: bytes(range(256)),
    ):
        bench.edit("tiny.json", damage)
        damaged = bench.files()
        assert {bench.rlsvi(verb)[0] for verb in ("verify", "plot", "list")} == {1}
        assert bench.files() == damaged
        bench.edit("tiny.json", lambda data: before["tiny.json"])
    return 1


@fault("a column of the table is gone, and its hash was mended")
def _(bench):
    bench.stored()
    bench.edit("tiny.csv", lambda data: data.replace(b"seed", b"sead", 1))
    hash = digest(bench.files()["tiny.csv"])
    bench.edit("tiny.json", lambda data: json.dumps(json.loads(data) | {"sha256": hash}).encode())
    before = bench.files()
    status, _ = bench.rlsvi("verify")
    assert bench.files() == before
    return status


@fault("of two tables to verify, the first is damaged")
def _(bench):
    assert bench.rlsvi("run", "tiny", "more")[0] == 0
    bench.edit("tiny.json", lambda data: data[:-9])
    before = bench.files()
    status, printed = bench.rlsvi("verify", "tiny", "more", "--minutes", "9")
    assert "more:" in printed
    assert bench.files() == before
    return status


# --- journals -------------------------------------------------------------------------------------


@fault("the journal is not one of ours")
def _(bench):
    for content in (bytes(range(256)), b'[1]\n{"rows": [1]}\n', b"17\n"):
        bench.unfinished()
        bench.edit("tiny.journal", lambda data, content=content: content)
        assert bench.resumes() == 0
        assert bench.files()["tiny.1.journal"] == content
        for file in bench.out.iterdir():
            file.unlink()
    return 0


@fault("the journal is of other settings")
def _(bench):
    for n, change in enumerate(
        (
            {"constants": {"size": 2, "sign": str(bench.sign)}},
            {"factors": [1.5, -3.0]},
            {"seeds": 4},
        ),
        start=1,
    ):
        bench.set(seeds=3)
        bench.unfinished()
        before = bench.files()["tiny.journal"]
        bench.set(**change)
        assert bench.resumes() == 0
        assert bench.files()[f"tiny.{n}.journal"] == before
    return 0


@fault("a line of the journal is not one of ours")
def _(bench):
    bench.unfinished()
    bench.edit("tiny.journal", lambda data: data + data.splitlines(True)[0] + b'{"task": 1}\n')
    assert bench.finished == 4
    return bench.resumes()


# --- processes ------------------------------------------------------------------------------------


@fault("two commands write one table")
def _(bench):
    with Journal(bench.tiny, "paper", bench.out) as journal:
        task = bench.tiny.scales["paper"].tasks[0]
        journal.add(task, bench.tiny.rows("paper", task), 0.0)
        before = bench.files()
        status, _ = bench.rlsvi("run")
        assert bench.files() == before
    assert bench.resumes() == 0
    return status


@fault("the command is killed (`kill -9`)")
def _(bench):
    with bench.started() as (process, workers):
        process.kill()
        status = process.wait()
        assert ended(workers)
    assert 0 < bench.finished < 6
    assert bench.resumes() == 0
    return status


@fault("the command is stopped (Ctrl-C, SIGTERM, a closed terminal)")
def _(bench):
    with bench.started() as (process, workers):
        process.send_signal(signal.SIGHUP)
        status = process.wait()
        assert ended(workers)
    assert 0 < bench.finished < 6
    assert bench.resumes() == 0
    return status


# --- output ---------------------------------------------------------------------------------------


@fault("what draws a picture fails")
def _(bench):
    bench.stored()
    assert bench.rlsvi("plot")[0] == 0
    before = bench.files()
    bench.file.write_text(STUDY.replace("table.value", "table.nothing"), "utf8")
    status, _ = bench.rlsvi("plot")
    assert bench.files() == before
    return status


@fault("the reader of a pipe stops reading")
def _(bench):
    before = bench.stored()
    reader, writer = os.pipe()
    os.close(reader)
    with redirect_stdout(os.fdopen(writer, "w")):
        status = main(bench.words("list"))
    assert bench.files() == before
    return status


@fault("the terminal has ASCII only")
def _(bench):
    before, printed = bench.stored(), io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(printed, encoding="ascii")):
        status = main(bench.words("list"))
        sys.stdout.flush()
        assert b"\\u03c3" in printed.getvalue()
    assert bench.files() == before
    return status


@fault("standard output and error are closed")
def _(bench):
    command = [sys.executable, "-m", "rlsvi_study", *bench.words("run", "--jobs", "2")]
    status = subprocess.run(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command]).returncode
    assert bench.files().keys() == {"tiny.csv", "tiny.json"}
    return status


# --- the table ------------------------------------------------------------------------------------


def table():
    page = Path(__file__).with_name("faults.md").read_text("utf8")
    rows = re.findall(r"^\| (.+) \| (-?\d+) \| .+ \|$", page, re.M)
    return {what: int(status) for what, status in rows}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_has_the_status_of_the_table_and_leaves_what_is_kept(what, tmp_path):
    assert FAULTS[what](Bench(tmp_path)) == table()[what]


def test_the_table_has_these_faults_and_no_others():
    assert list(table()) == list(FAULTS)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_leaves_the_handling_of_signals_as_it_was(end, tmp_path):
    before = signal.getsignal(end)
    Bench(tmp_path).stored()
    assert signal.getsignal(end) is before
