"""The same rows on one core, on two, and on a Dask cluster."""

import os
import signal
from pathlib import Path

import pytest

from rlsvi_study import StudyError, engine
from rlsvi_study.catalogue import load_user_study
from rlsvi_study.cli import main
from rlsvi_study.engine import define_experiment, grid, runner

EXAMPLE = Path(__file__).parents[3] / "examples/own_study.py"


def cubes(where):
    """A function that travels with what it uses; a run of it dies or raises as a file there asks,
    except in the process that reads the answer."""
    power, parent = 3, os.getpid()

    def run(seed, factor):
        if (seed, factor) == (2, 2.0) and os.getpid() != parent:
            if (where / "die").exists():
                os.kill(os.getpid(), signal.SIGKILL)
            if (where / "raise").exists():
                raise RuntimeError
        return [{"value": factor * seed**power + step / 3} for step in range(2)]

    return define_experiment(
        "cubes", place="", title="", run=run, cells=grid(factor=(1.5, 2.0)), seeds=range(1, 5)
    )


@pytest.fixture(scope="module")
def cluster():
    """Of two workers; a run that a worker dies of is given up at once."""
    distributed, dask = map(pytest.importorskip, ("distributed", "dask"))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture(params=["processes", "cluster"])
def workers(request):
    if request.param == "processes":
        return {"jobs": 2}
    return {"dask": request.getfixturevalue("cluster")}


def test_a_run_that_raises_is_computed_in_the_next_sweep(workers, tmp_path):
    """The others are kept, and the table is that of one core."""
    one = cubes(tmp_path)
    serial = engine.run_experiment(one, "paper", tmp_path / "serial")
    (tmp_path / "raise").touch()
    with pytest.raises(StudyError):
        engine.run_experiment(one, "paper", tmp_path / "out", **workers)
    assert engine.finished(one, "paper", tmp_path / "out") == 7
    (tmp_path / "raise").unlink()
    file = engine.run_experiment(one, "paper", tmp_path / "out", **workers)
    assert file.read_bytes() == serial.read_bytes()


def test_a_file_of_ones_own_runs_on_a_cluster(tmp_path, cluster):
    """It lies in no folder from which the workers import."""
    file = tmp_path / EXAMPLE.name
    text = EXAMPLE.read_text("utf8").replace('"episodes": 500', '"episodes": 50')
    file.write_text(text.replace("range(5)", "range(3, 5)"), "utf8")
    run = ["run", str(file)]
    assert main([*run, "--dask", cluster]) == 0
    assert main([*run, "--out", str(tmp_path / "serial")]) == 0
    (one,), (two,) = ((tmp_path / folder).glob("*.csv") for folder in ("results", "serial"))
    assert one.read_bytes() == two.read_bytes()


BESIDE = """
from beside import OFFSET
from rlsvi_study.engine import define_experiment
def run(seed):
    import lazily
    return [{"value": OFFSET + lazily.OFFSET}]
EXPERIMENTS = {"own": define_experiment("own", place="", title="", run=run, seeds=range(3, 5))}
"""


def test_what_lies_beside_a_file_is_imported_on_a_cluster_as_it_is_now(tmp_path, cluster):
    file, run = tmp_path / "own.py", ["run", str(tmp_path / "own.py"), "--dask", cluster]
    file.write_text(BESIDE)
    for number in (1, 22):
        for name in ("beside.py", "lazily.py"):
            (tmp_path / name).write_text(f"OFFSET = {number}\n")
        assert main(run) == 0
        found = engine.load_table(
            load_user_study(file).experiments["own"], "paper", tmp_path / "results"
        )
        assert found.value.tolist() == [2 * number] * 2


def test_workers_with_other_code_are_refused(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr(runner, "packages_hash", lambda: "as it was yesterday")
    with pytest.raises(StudyError, match="version"):
        engine.run_experiment(cubes(tmp_path), "paper", tmp_path, dask=cluster)
    assert not list(tmp_path.glob("*.csv"))


def test_a_cluster_without_workers_is_named(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(runner, "PATIENCE", 1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        pytest.raises(ConnectionError, match="no workers"),
    ):
        engine.run_experiment(cubes(tmp_path), "paper", tmp_path, dask=cluster.scheduler_address)


def test_a_run_that_kills_its_worker_is_computed_in_the_next_sweep(workers, tmp_path):
    """It may take others along. Last, since a cluster needs time to replace a worker."""
    one, log = cubes(tmp_path), tmp_path / "out/cubes.errors.log"
    (tmp_path / "die").touch()
    with pytest.raises(StudyError):
        engine.run_experiment(one, "paper", tmp_path / "out", **workers)
    assert engine.finished(one, "paper", tmp_path / "out") < 8
    if "dask" in workers:  # it is named, and the others go on
        assert "factor=2.0, seed=2\nKilledWorker" in log.read_text()
        assert engine.finished(one, "paper", tmp_path / "out") > 4
    (tmp_path / "die").unlink()
    file = engine.run_experiment(one, "paper", tmp_path / "out")
    serial = engine.run_experiment(one, "paper", tmp_path / "serial")
    assert file.read_bytes() == serial.read_bytes()
