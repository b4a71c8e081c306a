"""The same rows on one core, on two, and on a Dask cluster."""

import dataclasses
import shutil
import sys
from pathlib import Path

import pytest

from rlsvi_study import StudyError
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.cli import main
from rlsvi_study.engine import Scale, runner, store

NAMES = (
    "example1",
    "fig3",
    "fig6",
    "fig10",
    "fig14",
    "tetris-known",
    "recommender-readings",
    "theorem1-scale",
)  # one for each kind of run


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serial")
    return {name: runner.sweep(EXPERIMENTS[name], "quick", folder).read_bytes() for name in NAMES}


def test_two_processes_write_the_serial_tables(serial, tmp_path):
    for name in NAMES:
        file = runner.sweep(EXPERIMENTS[name], "quick", tmp_path, jobs=2)
        assert file.read_bytes() == serial[name]


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


def test_a_dask_cluster_writes_the_serial_tables(serial, tmp_path, cluster):
    for name in NAMES:
        file = runner.sweep(EXPERIMENTS[name], "quick", tmp_path, dask=cluster)
        assert file.read_bytes() == serial[name]


@pytest.mark.parametrize("where", ["serial", "processes", "dask"])
def test_a_sweep_runs_what_it_is_given(where, tmp_path, request):
    """Changed settings under an unchanged name are the settings that run and are recorded."""
    how = {
        "serial": {},
        "processes": {"jobs": 2},
        "dask": {"dask": where == "dask" and request.getfixturevalue("cluster")},
    }[where]
    before = EXPERIMENTS["fig3"]
    other = dataclasses.replace(
        before,
        scales={
            "quick": Scale(
                before.scales["quick"].constants | {"K": 5, "budget": 40}, ({"N": 7},), range(2)
            )
        },
    )
    runner.sweep(other, "quick", tmp_path, **how)
    table, record = (read(other, "quick", tmp_path) for read in (store.load, store.provenance))
    assert record["constants"]["K"] == 5
    assert table.to_dict("records") == [
        row for task in other.scales["quick"].tasks for row in other.rows("quick", task)
    ]
    assert table.N.tolist() == [7, 7]


def test_a_function_of_ones_own_runs_on_a_cluster(tmp_path, cluster):
    power = 3

    def cubes(seed, factor):
        return [{"value": factor * seed**power}]

    one = dataclasses.replace(
        EXPERIMENTS["fig3"], run=cubes, scales={"quick": Scale({}, ({"factor": 2.0},), range(3))}
    )
    runner.sweep(one, "quick", tmp_path, dask=cluster)
    assert store.load(one, "quick", tmp_path).value.tolist() == [0.0, 2.0, 16.0]


def test_a_file_of_ones_own_runs_on_a_cluster(tmp_path, cluster):
    """It lies in no folder from which the workers import."""
    file = tmp_path / "own_study.py"
    shutil.copy(Path(__file__).parents[3] / "examples/own_study.py", file)
    run = ["run", str(file), "--set", "episodes=50", "--set", "seeds=2"]
    assert main([*run, "--dask", cluster]) == 0
    assert main([*run, "--out", str(tmp_path / "serial")]) == 0
    (one,), (two,) = ((tmp_path / folder).glob("*.csv") for folder in ("results", "serial"))
    assert one.read_bytes() == two.read_bytes()


def test_workers_with_other_code_are_refused(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr(runner, "packages_hash", lambda: "as it was yesterday")
    with pytest.raises(StudyError, match="its rlsvi_core or rlsvi_study is another version"):
        runner.sweep(EXPERIMENTS["fig3"], "quick", tmp_path, dask=cluster)
    assert not list(tmp_path.glob("*.csv"))


def test_a_cluster_without_workers_is_named(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(runner, "PATIENCE", 1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        pytest.raises(StudyError, match="has no workers"),
    ):
        runner.sweep(EXPERIMENTS["fig3"], "quick", tmp_path, dask=cluster.scheduler_address)


def test_without_dask_the_message_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(StudyError, match="Dask is not installed"):
        runner.sweep(EXPERIMENTS["fig3"], "quick", tmp_path, dask="tcp://127.0.0.1:9")


def test_an_unreachable_cluster_is_named(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(runner, "PATIENCE", 1)
    with pytest.raises(StudyError, match=r"tcp://127\.0\.0\.1:9"):
        runner.sweep(EXPERIMENTS["fig3"], "quick", tmp_path, dask="tcp://127.0.0.1:9")
