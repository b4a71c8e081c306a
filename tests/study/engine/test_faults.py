"""What goes wrong around a sweep, brought about for real: full disks, kills, damaged files. What is
stored stays as it is, finished runs are kept, and the same command resumes."""

import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import psutil
import pytest

from rlsvi_study import engine
from rlsvi_study.catalogue import load_user_study
from rlsvi_study.cli import main
from rlsvi_study.engine.journal import Journal

# Every run leaves a trace of its process in the folder `sign`; a run of seed 4 waits as long as a
# file `wait` is there, and raises if there is one `raise`. Settings are in a file of their own, so
# that they can change and the code does not.
STUDY = """
import json, os, time
from pathlib import Path
from rlsvi_study.engine import Plot, define_experiment, grid

def run(seed, factor, size, sign):
    sign = Path(sign)
    (sign / f"{seed}.{factor}.{os.getpid()}").touch()
    while seed == 4 and (sign / "wait").exists():
        time.sleep(0.01)
    if seed == 4 and (sign / "raise").exists():
        raise RuntimeError("out of luck")
    return [{"step": step, "value": factor * seed + step, "text": size * "x"} for step in range(3)]

SETTINGS = json.loads(Path(__file__).with_name("settings.json").read_text())
EXPERIMENTS = {
    name: define_experiment(name, place="nowhere", title="σ ≤ 1", run=run, constants=SETTINGS["constants"],
                cells=grid(factor=SETTINGS["factors"]), seeds=range(*SETTINGS["seeds"]),
                plot=Plot("step", "value", ("factor",)))
    for name in ("tiny", "more")}
"""


def as_in_a_terminal():
    """Where tests run in the background, or under nohup, a process ignores these signals."""
    for end in (signal.SIGINT, signal.SIGHUP):
        signal.signal(end, signal.SIG_DFL)


class Bench:
    """A folder with a study, and the command line."""

    def __init__(self, folder):
        self.folder, self.out = folder, folder / "results"
        self.sign, self.file = folder / "sign", folder / "own.py"
        self.sign.mkdir()
        self.file.write_text(STUDY, "utf8")
        self.set(size=1, factors=[1.5, -2.0], seeds=[3, 6])

    def set(self, size, factors, seeds):
        settings = {"constants": {"size": size, "sign": str(self.sign)}}
        settings |= {"factors": factors, "seeds": seeds}
        (self.folder / "settings.json").write_text(json.dumps(settings))

    @property
    def tiny(self):
        return load_user_study(self.file).experiments["tiny"]

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
        """A sweep of which the runs of seed 4 raised: 4 of 6 are in the journal."""
        (self.sign / "raise").touch()
        assert self.rlsvi("run", "--again")[0] == 1
        (self.sign / "raise").unlink()
        assert self.finished == 4

    def files(self):
        return {file.name: file.read_bytes() for file in self.out.iterdir() if file.is_file()}

    def edit(self, name, change):
        file = self.out / name
        file.write_bytes(change(file.read_bytes()))

    def resumes(self):
        """Run again: the table is that of a folder where nothing went wrong."""
        assert self.rlsvi("run")[0] == 0
        serial = engine.run_experiment(
            self.tiny, "paper", self.folder / "serial", say=lambda text: None
        )
        assert (self.out / "tiny.csv").read_bytes() == serial.read_bytes()

    @contextmanager
    def started(self):
        """A process with two workers, and these, once the runs of seed 4 wait."""
        (self.sign / "wait").touch()
        process = subprocess.Popen(
            [sys.executable, "-m", "rlsvi_study", *self.words("run", "--jobs", "2")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=as_in_a_terminal,
        )
        workers = set()
        while len(workers) < 2 and process.poll() is None:
            time.sleep(0.02)
            workers = {int(file.name.rsplit(".", 1)[1]) for file in self.sign.glob("4.*.*")}
        try:
            yield process, [psutil.Process(worker) for worker in workers]
        finally:
            process.kill()
            process.wait()
            (self.sign / "wait").unlink()


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_out_is_a_file(bench):
    bench.out.write_text("mine")
    assert bench.rlsvi("run")[0] == 1
    assert bench.out.read_text() == "mine"


# --- full disks -----------------------------------------------------------------------------------


@contextmanager
def no_file_larger_than(size):
    """What is written beyond it is refused by the system, to root too."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_the_disk_is_full_in_mid_sweep(bench):
    before = bench.stored()
    bench.set(size=8000, factors=[1.5, -2.0], seeds=[3, 6])  # 24 kB a run
    with no_file_larger_than(60_000):
        assert bench.rlsvi("run")[0] == 1
    assert before.items() <= bench.files().items()
    assert bench.finished == 2
    bench.resumes()


@pytest.mark.parametrize("name", ["tiny.csv", "tiny.json"])
def test_the_disk_is_full_when_a_table_and_its_record_are_written(name, bench, monkeypatch):
    """Neither is replaced, whichever of them does not fit."""
    before = bench.stored()
    bench.set(size=1, factors=[1.5, -3.0], seeds=[3, 6])
    part, fsync = bench.out / f"{name}.part", os.fsync

    def full(stream):
        if part.exists() and os.path.samestat(os.fstat(stream), part.stat()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(stream)

    monkeypatch.setattr(os, "fsync", full)
    assert bench.rlsvi("run")[0] == 1
    monkeypatch.undo()
    assert before.items() <= bench.files().items()
    assert bench.finished == 6
    bench.resumes()


@pytest.mark.parametrize("name", ["tiny.csv", "tiny.json"])
def test_a_link_that_somebody_planted_is_not_followed(name, bench):
    """Somebody who may write into the folder of results cannot reach the rest of its owner's files."""
    bench.out.mkdir()
    target = bench.folder / "precious"
    target.write_text("mine")
    (bench.out / f"{name}.part").symlink_to(target)
    bench.resumes()
    assert target.read_text() == "mine"
    assert not (bench.out / name).is_symlink()


# --- damaged files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"[1, 2]",
        lambda data: data.replace(b'"sha256"', b'"sha257"'),
        lambda data: bytes(range(256)),
    ],
)
def test_a_damaged_record_is_said_and_left_and_the_next_table_has_its_turn(damage, bench):
    assert bench.rlsvi("run", "tiny", "more")[0] == 0
    bench.edit("tiny.json", damage)
    damaged = bench.files()
    assert [bench.rlsvi(verb)[0] for verb in ("plot", "list")] == [1, 1]
    status, printed = bench.rlsvi("verify", "tiny", "more", "--minutes", "9")
    assert status == 1
    assert "more:" in printed
    assert bench.files() == damaged


@pytest.mark.parametrize("content", [bytes(range(256)), b'[1]\n{"rows": [1]}\n'])
def test_a_journal_that_is_not_ours_is_set_aside(content, bench):
    bench.unfinished()
    bench.edit("tiny.journal", lambda data: content)
    bench.resumes()
    assert bench.files()["tiny.journal.old"] == content


@pytest.mark.parametrize(
    "change", [{"size": 2}, {"factors": [1.5, -3.0]}, {"seeds": [3, 7]}], ids=str
)
def test_a_journal_of_other_settings_is_set_aside(change, bench):
    bench.unfinished()
    before = bench.files()["tiny.journal"]
    bench.set(**{"size": 1, "factors": [1.5, -2.0], "seeds": [3, 6]} | change)
    bench.resumes()
    assert bench.files()["tiny.journal.old"] == before


def test_a_journal_without_runs_does_not_replace_one_with_runs(bench):
    bench.unfinished()
    before = bench.files()["tiny.journal"]
    for size in (2, 3, 1):
        bench.set(size=size, factors=[1.5, -2.0], seeds=[3, 6])
        with Journal(bench.tiny, "paper", bench.out):  # stopped before the first run is done
            pass
    assert bench.files()["tiny.journal.old"] == before


# --- processes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "status"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGHUP, 130)]
)
def test_the_command_is_killed_or_stopped(end, status, bench):
    """No worker stays behind, though the runs of seed 4 would wait for ever."""
    with bench.started() as (process, workers):
        process.send_signal(end)
        assert process.wait() == status
        _, alive = psutil.wait_procs(workers, timeout=20)
        for worker in alive:
            worker.kill()
        assert not alive
    assert 0 < bench.finished < 6
    bench.resumes()


# --- output ---------------------------------------------------------------------------------------


def test_a_plot_that_does_not_fit_leaves_the_picture(bench):
    bench.stored()
    picture = bench.out / "figures/tiny.png"
    assert bench.rlsvi("plot", "tiny")[0] == 0
    before = picture.read_bytes()
    bench.file.write_text(STUDY.replace('"step", "value"', '"step", "nothing"'), "utf8")
    assert bench.rlsvi("plot")[0] == 1
    assert picture.read_bytes() == before


def test_the_reader_of_a_pipe_stops_reading(bench):
    bench.stored()
    reader, writer = os.pipe()
    os.close(reader)
    with redirect_stdout(os.fdopen(writer, "w")):
        assert main(bench.words("list")) == 0


def test_the_terminal_has_ascii_only(bench):
    printed = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(printed, encoding="ascii")):
        assert main(bench.words("list")) == 0
        sys.stdout.flush()
        assert b"\\u03c3" in printed.getvalue()


def test_standard_output_and_error_are_closed(bench):
    command = [sys.executable, "-m", "rlsvi_study", *bench.words("run", "--jobs", "2")]
    assert subprocess.run(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command]).returncode == 0
    assert bench.files().keys() == {"tiny.csv", "tiny.json"}


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_leaves_the_handling_of_signals_as_it_was(end, bench):
    before = signal.getsignal(end)
    bench.stored()
    assert signal.getsignal(end) is before
