"""What goes wrong around the code, brought about for real: full disks, kills, damaged files.

Each fault says how it was answered and what was kept; that is its row of the table in
``faults.md``. ``python tests/study/engine/test_faults.py`` tries them all and writes the table anew.
"""

import io
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import psutil
import pytest

from rlsvi_study.catalogue import study
from rlsvi_study.cli import main
from rlsvi_study.engine import runner, store
from rlsvi_study.engine.sources import digest, source_hash

PAGE = Path(__file__).with_name("faults.md")
PAGESIZE = os.sysconf("SC_PAGE_SIZE")
HEAD = "| what | answer, and exit status | what was kept |\n| --- | --- | --- |\n"

# Every run leaves a trace of its process in the folder `sign`; a run of seed 1 waits as long as a
# file `wait` is there, raises if there is one `raise`, and kills its own process if `die`.
# Settings are in a file of their own, so that they can change and the code does not.
STUDY = """
import json, os, signal, time
from pathlib import Path
from rlsvi_study.engine import Experiment, Scale, grid

def run(seed, factor, size, sign):
    sign = Path(sign)
    (sign / f"{seed}.{factor}.{os.getpid()}").touch()
    while seed == 1 and (sign / "wait").exists():
        time.sleep(0.01)
    if seed == 1 and (sign / "raise").exists():
        raise RuntimeError("out of luck")
    if seed == 1 and (sign / "die").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return [{"step": step, "value": factor * seed + step, "text": size * "x"} for step in range(3)]

def draw(table):
    from matplotlib.figure import Figure
    figure = Figure()
    figure.subplots().plot(table.value)
    return figure

SETTINGS = json.loads(Path(__file__).with_name("settings.json").read_text())
EXPERIMENTS = {"tiny": Experiment("tiny", "nowhere", "σ ≤ 1", run, {"paper": Scale(
    SETTINGS["constants"], grid(factor=SETTINGS["factors"]), range(SETTINGS["seeds"]))})}
DRAW = {"tiny": draw}
"""
FAULTS = {}


def fault(what):
    def take(function):
        FAULTS[what] = function
        return function

    return take


class Bench:
    """A folder with a study, its stored table, and the command line."""

    def __init__(self, folder):
        self.folder, self.out = Path(folder), Path(folder) / "results"
        self.sign, self.file = self.folder / "sign", self.folder / "own.py"
        self.sign.mkdir()
        self.file.write_text(STUDY, "utf8")
        self.set(constants={"size": 1, "sign": str(self.sign)}, factors=[1.5, -2.0], seeds=3)

    def set(self, **settings):
        file = self.folder / "settings.json"
        before = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps(before | settings))
        self.tiny = study(self.file).experiments["tiny"]

    def stored(self):
        """Run the study; returns what is then in its folder."""
        assert self.rlsvi("run")[0] == 0
        return self.files()

    def files(self, out=None):
        return {file.name: file.read_bytes() for file in (out or self.out).iterdir()}

    def edit(self, name, change):
        file = self.out / name
        file.write_bytes(change(file.read_bytes()))

    def words(self, verb, *more, out=None):
        return [verb, str(self.file), *more, "--out", str(out or self.out)]

    def rlsvi(self, *words, **out):
        """Status, what was printed, what was said."""
        with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()) as said:
            try:
                status = main(self.words(*words, **out))
            except SystemExit as stop:
                status = stop.code
        return status, printed.getvalue(), said.getvalue()

    def command(self, *words, before=(), out=None):
        return [*before, sys.executable, "-m", "rlsvi_study", *self.words(*words, out=out)]

    def process(self, *words, before=(), out=None, **how):
        done = subprocess.run(
            self.command(*words, before=before, out=out),
            text=True,
            stderr=subprocess.PIPE,
            **{"stdout": subprocess.PIPE} | how,
        )
        return done.returncode, done.stdout, done.stderr

    @contextmanager
    def started(self, *words):
        process = subprocess.Popen(
            self.command(*words),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )  # tests under nohup
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def waiting(self, process=None):
        """The processes of the runs of seed 1, once both wait."""
        while True:
            found = {int(file.name.rsplit(".", 1)[1]) for file in self.sign.glob("1.*.*")}
            if len(found) == 2 or (process and process.poll() is not None):
                return [psutil.Process(pid) for pid in found]
            time.sleep(0.02)

    def answer(self, status, said):
        """Its last line, without what is other every time."""
        line = (said.strip().splitlines() or ["(nothing to say)"])[-1].strip()
        line = line.replace(str(self.folder), "…").removeprefix("rlsvi: ")
        line = re.sub(r"process \d+ on \S+, since \S+Z", "process N on HOST, since TIME", line)
        return f"{line} ({status})".replace("|", "\\|")

    def serial(self):
        """The table of a folder where nothing goes wrong."""
        return runner.sweep(self.tiny, "paper", self.folder / "serial").read_bytes()


def unprivileged():
    """What to put before a command so that permissions hold for it too, and it has no home."""
    if os.getuid():
        return ()
    before = ("unshare", "--user")
    if not shutil.which("unshare") or subprocess.run([*before, "true"]).returncode:
        pytest.skip("root here, and no user namespace to be less in")
    return before


@contextmanager
def tmpfs(folder):
    """A disk of sixteen pages: 64 kB where a page has 4."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={16 * PAGESIZE}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(disk, left):
    """All but so many pages."""
    free = os.statvfs(disk)
    (disk / "other").write_bytes(bytes(free.f_bavail * free.f_frsize - left * PAGESIZE))


# --------------------------------------------------------------------------- places


@fault("`--out` is a file")
def _(bench):
    place = bench.folder / "place"
    place.write_text("mine")
    status, _, said = bench.rlsvi("run", out=place)
    assert place.read_text() == "mine"
    return bench.answer(status, said), "the file"


@fault("the folder may not be written")
def _(bench):
    before = bench.stored()
    bench.edit("tiny.json", lambda data: data.replace(b'"sources": "', b'"sources": "0'))
    before = bench.files()
    bench.out.chmod(0o555)
    status, _, said = bench.process("run", before=unprivileged())
    bench.out.chmod(0o755)
    assert bench.files() == before
    return bench.answer(status, said), "the earlier table"


@fault("the disk is full in mid-sweep (64 kB)")
def _(bench):
    with tmpfs(bench.folder / "disk") as disk:
        assert bench.rlsvi("run", out=disk)[0] == 0
        before = bench.files(disk)
        large = ("run", "--set", "size=8000")
        status, _, said = bench.rlsvi(*large, out=disk)
        assert {name: bench.files(disk)[name] for name in before} == before
        subprocess.run(["mount", "-o", "remount,size=1m", str(disk)], check=True)
        again, printed, _ = bench.rlsvi(*large, out=disk)
        assert again == 0
        assert "resuming, 2 of 6 runs are done" in printed
        whole = runner.sweep(bench.tiny.having(size=8000), "paper", bench.folder / "serial")
        assert (disk / whole.name).read_bytes() == whole.read_bytes()
    return bench.answer(status, said), "the earlier table; 2 of 6 runs, resumed with more room"


@fault("the disk is full when the table is published")
def _(bench):
    with tmpfs(bench.folder / "disk") as disk:
        assert bench.rlsvi("run", out=disk)[0] == 0
        before = bench.files(disk)
        other_code(bench)
        fill(disk, left=2)  # one for the journal, one for the table, none for the provenance
        status, _, said = bench.rlsvi("run", out=disk)
        (disk / "other").unlink()
        assert {name: bench.files(disk)[name] for name in before} == before
        assert bench.rlsvi("run", out=disk)[1].startswith("tiny: resuming, 6 of 6 runs are done")
    return bench.answer(status, said), "the earlier table; all 6 runs"


@fault("the disk is full under a picture")
def _(bench):
    with tmpfs(bench.folder / "disk") as disk:
        for verb in ("run", "plot"):
            assert bench.rlsvi(verb, out=disk)[0] == 0
        before = bench.files(disk)
        fill(disk, left=1)
        status, _, said = bench.rlsvi("plot", out=disk)
        (disk / "other").unlink()
        assert bench.files(disk) == before
    return bench.answer(status, said), "the earlier picture"


@fault("a limit on the size of files (`ulimit -f`)")
def _(bench):
    before = bench.stored()

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    status, _, said = bench.process("run", "--set", "size=8000", preexec_fn=limit)
    assert {name: bench.files()[name] for name in before} == before
    again, printed, _ = bench.rlsvi("run", "--set", "size=8000")
    assert again == 0
    assert "resuming, 2 of 6 runs are done" in printed
    return bench.answer(status, said), "the earlier table; 2 of 6 runs"


@fault("standard output is full")
def _(bench):
    before = bench.stored()
    with open("/dev/full", "w") as full:
        status, _, said = bench.process("list", stdout=full)
    assert bench.files() == before
    return bench.answer(status, said), "the table"


@fault("a locale without anything but ASCII")
def _(bench):
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    status, printed, said = bench.process("list", env=os.environ | plain)
    assert not said
    line = next(line for line in printed.splitlines() if "tiny" in line)
    return bench.answer(status, " ".join(line.split())), "all; in the JSON of `check` it is escaped"


@fault("no home and no environment")
def _(bench):
    os.chmod(bench.folder, 0o777)
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    for verb in ("run", "plot"):
        status, printed, said = bench.process(verb, before=unprivileged(), env=bare)
    assert not said
    return bench.answer(status, printed), "all"


# --------------------------------------------------------------------------- damaged files

DAMAGED = {
    "cut short": lambda data: data[: len(data) // 2],
    "a list": lambda data: b"[1, 2]",
    "without its SHA-256": lambda data: data.replace(b'"sha256"', b'"sha257"'),
    "binary": lambda data: bytes(range(256)),
}


def _damaged_record(how):
    def try_(bench):
        bench.stored()
        bench.edit("tiny.json", DAMAGED[how])
        before = bench.files()
        for verb in ("verify", "plot"):
            status, printed, said = bench.rlsvi(verb)
            assert status == 1
            assert "Traceback" not in said
        status, printed, _ = bench.rlsvi("list")
        assert bench.files() == before
        return bench.answer(status, printed), "the table; `list` goes on"

    fault(f"provenance is {how}")(try_)


for one in DAMAGED:
    _damaged_record(one)


@fault("the table was edited")
def _(bench):
    bench.stored()
    bench.edit("tiny.csv", lambda data: data.replace(b"1.5", b"1.6", 1))
    status, _, said = bench.rlsvi("plot")
    return bench.answer(status, said), "nothing is drawn from it"


def mended(bench, change):
    """Edit the table, and mend its hash."""
    bench.edit("tiny.csv", change)
    sha = digest((bench.out / "tiny.csv").read_bytes())
    bench.edit("tiny.json", lambda data: json.dumps(json.loads(data) | {"sha256": sha}).encode())


@fault("a column of the table was renamed and the hash mended")
def _(bench):
    bench.stored()
    mended(bench, lambda data: data.replace(b"seed", b"sead", 1))
    status, _, said = bench.rlsvi("verify")
    return bench.answer(status, said), "nothing is drawn from it"


@fault("the table is binary and its hash was mended")
def _(bench):
    bench.stored()
    mended(bench, lambda data: bytes(range(256)))
    status, _, said = bench.rlsvi("verify")
    return bench.answer(status, said), "nothing is drawn from it"


def two_tables(bench, wrong):
    """Verify two, of which the first is wrong."""
    bench.file.write_text(
        STUDY
        + """
from dataclasses import replace
EXPERIMENTS["more"] = replace(EXPERIMENTS["tiny"], name="more")
""",
        "utf8",
    )
    bench.stored()
    wrong(bench)
    status, printed, said = bench.rlsvi("verify", "tiny", "more", "--minutes", "9")
    assert "\nmore: 6 of 6 runs recomputed, 1 of the rows, equal\n" in "\n" + printed
    return status, printed, said


@fault("of several tables to verify, the first is damaged")
def _(bench):
    status, _, said = two_tables(bench, lambda bench: bench.edit("tiny.json", DAMAGED["cut short"]))
    return bench.answer(status, said), "the others are verified"


@fault("of several tables to verify, the first was edited and its hash mended")
def _(bench):
    status, printed, _ = two_tables(
        bench,
        lambda bench: mended(bench, lambda data: data.replace(b"1.5,2,0,3.0", b"1.5,2,0,3.1")),
    )
    line = next(line for line in printed.splitlines() if "stored 3.1" in line)
    return bench.answer(status, line), "the others are verified"


# --------------------------------------------------------------------------- journals


def unfinished(bench):
    """A sweep of which the runs of seed 1 raised: 4 of 6 are in the journal."""
    (bench.sign / "raise").touch()
    status, _, _ = bench.rlsvi("run")
    (bench.sign / "raise").unlink()
    assert status == 1


def resumed(bench):
    status, printed, said = bench.rlsvi("run")
    assert not said
    assert (bench.out / "tiny.csv").read_bytes() == bench.serial()
    *first, _ = printed.strip().splitlines()
    return status, first


def _damaged_journal(what, change, kept):
    def try_(bench):
        unfinished(bench)
        bench.edit("tiny.journal", change)
        before = bench.files()["tiny.journal"]
        status, first = resumed(bench)
        if "aside" in kept:
            assert bench.files()["tiny.1.journal"] == before
        return bench.answer(status, first[0]), kept

    fault(what)(try_)


def emptied(data):
    """The second line's rows are gone."""
    header, line, *rest = data.splitlines(keepends=True)
    return b"".join([header, json.dumps(json.loads(line) | {"rows": []}).encode() + b"\n", *rest])


for what, change, kept in (
    ("a kill cut the journal's last line short", lambda data: data[:-9], "3 of 4 finished runs"),
    (
        "a value in the journal was edited",
        lambda data: data.replace(b'"value": 0.0', b'"value": 7.0', 1),
        "3 of 4 finished runs",
    ),
    ("the rows of a journal's entry are gone", emptied, "3 of 4 finished runs"),
    ("the journal is binary", lambda data: bytes(range(256)), "the journal, set aside"),
    (
        "the journal is somebody else's",
        lambda data: b'[1]\n{"rows": [1]}\n',
        "the journal, set aside",
    ),
):
    _damaged_journal(what, change, kept)


def _other_journal(what, change):
    def try_(bench):
        unfinished(bench)
        before, code = bench.files()["tiny.journal"], source_hash(bench.tiny.run)
        change(bench)
        assert (source_hash(bench.tiny.run) != code) == (what == "code")
        status, first = resumed(bench)
        assert len(first) == 1
        assert bench.files()["tiny.1.journal"] == before
        return bench.answer(status, first[0]), "the journal, set aside"

    fault(f"the journal is of other {what}")(try_)


def other_code(bench):
    bench.file.write_text(STUDY.replace('"value": factor', '"value": 0 + factor'), "utf8")
    bench.set()


def other_constant(bench):
    bench.set(constants={"size": 2, "sign": str(bench.sign)})


for what, change in {
    "code": other_code,
    "constants": other_constant,
    "grid": lambda bench: bench.set(factors=[1.5, -3.0]),
    "seeds": lambda bench: bench.set(seeds=4),
}.items():
    _other_journal(what, change)


@fault("the journal's header was edited to fit other constants")
def _(bench):
    unfinished(bench)
    bench.edit("tiny.journal", lambda data: data.replace(b'"size": 1', b'"size": 2'))
    other_constant(bench)
    status, first = resumed(bench)
    assert len(first) == 1
    return bench.answer(status, first[0]), "no run"


@fault("a run is missing when the table is published")
def _(bench):
    journal = store.Journal(bench.tiny, "paper", bench.out)
    first, *rest = bench.tiny.scales["paper"].tasks
    for task in rest:
        journal.add(task, bench.tiny.rows("paper", task), 0.0)
    with pytest.raises(store.StudyError) as error:
        store.save(bench.tiny, "paper", bench.out, journal, command="", wall_seconds=0)
    journal.close()
    assert list(bench.files()) == ["tiny.journal"]
    return bench.answer("an exception", str(error.value)), "5 of 6 runs"


# --------------------------------------------------------------------------- processes


@fault("two commands write one table")
def _(bench):
    (bench.sign / "wait").touch()
    with bench.started("run", "--jobs", "2") as first:
        bench.waiting(first)
        status, _, said = bench.process("run")
        (bench.sign / "wait").unlink()
        first.communicate()
        assert first.returncode == 0
    assert (bench.out / "tiny.csv").read_bytes() == bench.serial()
    return bench.answer(status, said), "the first command's table"


def _end(what, end, kept):
    def try_(bench):
        (bench.sign / "wait").touch()
        with bench.started("run", "--jobs", "2") as process:
            workers = bench.waiting(process)
            process.send_signal(end)
            process.wait()  # not for its workers, which hold the pipes too
            _, alive = psutil.wait_procs(workers, timeout=60)  # left alone, they wait for ever
            for worker in alive:
                worker.kill()
            assert not alive
            _, said = process.communicate()
        (bench.sign / "wait").unlink()
        resumed(bench)
        if end == signal.SIGKILL:
            said = ""  # but for joblib, which cleans up behind it
        return bench.answer(process.returncode, said), kept

    fault(what)(try_)


_end("the command is killed (`kill -9`)", signal.SIGKILL, "finished runs; no worker stays behind")
_end("the terminal is closed (SIGHUP)", signal.SIGHUP, "finished runs; no worker stays behind")


@fault("a local worker is killed (`kill -9`)")
def _(bench):
    (bench.sign / "wait").touch()
    with bench.started("run", "--jobs", "2") as process:
        bench.waiting(process)[0].kill()
        _, said = process.communicate()
    (bench.sign / "wait").unlink()
    resumed(bench)
    return bench.answer(process.returncode, said), "finished runs"


# --------------------------------------------------------------------------- a cluster


@contextmanager
def cluster(workers=2, deaths=3):
    """So many workers; a run that more than so many died of is given up.

    Each worker is an interpreter that imports numpy, Dask and the study, for 2 to 3 CPU-s: that is
    what these tests cost."""
    distributed, dask = map(pytest.importorskip, ("distributed", "dask"))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": deaths}),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
    ):
        yield cluster.scheduler_address


@fault("a worker of a Dask cluster is killed in mid-sweep")
def _(bench):
    (bench.sign / "wait").touch()

    def kill():
        bench.waiting()[0].kill()
        (bench.sign / "wait").unlink()

    with cluster() as address:
        killer = threading.Thread(target=kill)
        killer.start()
        status, printed, said = bench.rlsvi("run", "--dask", address)
        killer.join()
    assert not said
    runs = [file.name.rsplit(".", 1)[0] for file in bench.sign.glob("1.*.*")]
    assert len(runs) == 3  # one of the two was begun again
    assert (bench.out / "tiny.csv").read_bytes() == bench.serial()
    return bench.answer(status, printed), "all: the rows are those of a serial sweep"


def _lost_task(what, sign):
    def try_(bench):
        (bench.sign / sign).touch()
        workers = 4 if sign == "die" else 2  # two remain if two die
        with cluster(workers, deaths=0) as address:
            status, printed, said = bench.rlsvi("run", "--dask", address)
            lost = sorted(printed.splitlines())  # with its workers a run may take innocent ones
            assert len(lost) == 2 or sign == "die"
            assert sum("seed=1 raised" in line for line in lost) == 2
            assert f"{len(lost)} of 6 runs raised an error" in said
            (bench.sign / sign).unlink()
            again, resuming, _ = bench.rlsvi("run", "--dask", address)
            assert again == 0
            assert f"resuming, {6 - len(lost)} of 6 runs are done" in resuming
        assert (bench.out / "tiny.csv").read_bytes() == bench.serial()
        return (
            bench.answer(status, next(line for line in lost if "seed=1" in line)),
            "the other runs; the sweep is resumed",
        )

    fault(what)(try_)


_lost_task("a run raises on a Dask cluster", "raise")
_lost_task("a run ends every worker of a Dask cluster that takes it", "die")


@fault("the only worker of a Dask cluster is killed (`kill -9`)")
def _(bench):
    distributed = pytest.importorskip("distributed")
    (bench.sign / "wait").touch()

    def kill():
        while not list(bench.sign.glob("1.*")):
            time.sleep(0.02)
        worker.kill()

    with cluster(workers=0) as address:
        worker = subprocess.Popen(  # without a nanny, which would start another
            [
                sys.executable,
                "-m",
                "distributed.cli.dask_worker",
                address,
                "--no-nanny",
                "--nthreads",
                "1",
                "--no-dashboard",
                "--local-directory",
                str(bench.folder),
            ],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with distributed.Client(address) as client:
            client.wait_for_workers(1, timeout=120)
        threading.Thread(target=kill, daemon=True).start()
        with mock.patch.object(runner, "PATIENCE", 5):
            status, _, said = bench.rlsvi("run", "--dask", address)
        worker.wait()
    (bench.sign / "wait").unlink()
    resumed(bench)
    return bench.answer(status, said).replace(address, "ADDRESS"), "finished runs"


# --------------------------------------------------------------------------- the table


def table():
    _, _, rows = PAGE.read_text("utf8").partition(HEAD)
    rows = re.match(r"(?:\|.*\n)*", rows)[0].splitlines()
    return {
        what: tuple(rest)
        for what, *rest in (re.split(r" (?<!\\)\| ", row.strip("| ")) for row in rows)
    }


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_answered_as_the_table_says(what, tmp_path):
    assert FAULTS[what](Bench(tmp_path)) == table()[what]


def test_the_table_has_these_faults_and_no_others():
    assert list(table()) == list(FAULTS)


if __name__ == "__main__":
    found = table()
    for what, try_ in FAULTS.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                found[what] = try_(Bench(folder))
                print(what, *found[what], sep="\n    ", flush=True)
            except pytest.skip.Exception as reason:
                print(f"{what}: skipped, {reason}; its row stands as it was")
    before, _, after = PAGE.read_text("utf8").partition(HEAD)
    after = re.sub(r"\A(?:\|.*\n)*", "", after)
    rows = "".join(f"| {' | '.join([what, *found[what]])} |\n" for what in FAULTS)
    PAGE.write_text(before + HEAD + rows + after, "utf8")
