"""The same rows on one core, on two, and on a Dask cluster."""

import pytest

from rlsvi_core import runner
from rlsvi_core.experiments import FIGURES

FIGURE = FIGURES["example1"]


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    return runner.sweep(FIGURE, "quick", tmp_path_factory.mktemp("serial")).read_bytes()


def test_two_processes_write_the_serial_table(serial, tmp_path):
    assert runner.sweep(FIGURE, "quick", tmp_path, jobs=2).read_bytes() == serial


def test_a_dask_cluster_writes_the_serial_table(serial, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster:
        file = runner.sweep(FIGURE, "quick", tmp_path, dask=cluster.scheduler_address)
    assert file.read_bytes() == serial


def test_an_unreachable_cluster_is_named(tmp_path):
    pytest.importorskip("distributed")
    with pytest.raises(runner.ClusterError, match=r"tcp://127\.0\.0\.1:9"):
        runner.sweep(FIGURE, "quick", tmp_path, dask="tcp://127.0.0.1:9")
