"""The same rows on one core, on two, and on a Dask cluster."""

import pytest

from rlsvi_study import runner
from rlsvi_study.catalogue import EXPERIMENTS

NAMES = ("example1", "fig3", "fig6", "fig10", "fig14", "tetris-games", "recommender_readings",
         "theorem1_scale")  # one for each kind of run


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serial")
    return {name: runner.sweep(EXPERIMENTS[name], "quick", folder).read_bytes() for name in NAMES}


def test_two_processes_write_the_serial_tables(serial, tmp_path):
    for name in NAMES:
        file = runner.sweep(EXPERIMENTS[name], "quick", tmp_path, jobs=2)
        assert file.read_bytes() == serial[name]


def test_a_dask_cluster_writes_the_serial_tables(serial, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster:
        for name in NAMES:
            file = runner.sweep(EXPERIMENTS[name], "quick", tmp_path,
                                dask=cluster.scheduler_address)
            assert file.read_bytes() == serial[name]


def test_an_unreachable_cluster_is_named(tmp_path):
    pytest.importorskip("distributed")
    with pytest.raises(runner.ClusterError, match=r"tcp://127\.0\.0\.1:9"):
        runner.sweep(EXPERIMENTS["fig3"], "quick", tmp_path, dask="tcp://127.0.0.1:9")
