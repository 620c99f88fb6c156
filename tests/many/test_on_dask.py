"""The engine `dask` on a cluster of separate processes, by address."""

import os
import re
import signal

import dask.dataframe
import distributed
import pandas as pd
import pytest
from tests.many.cluster import Cluster
from tests.many.test_fit_many import QUICK, same
from tests.many.toys import poisoned, series

import robustfourier as rf
from robustfourier.errors import InputError, WorkerError

ON_DASK = {"engine": "dask", **QUICK}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and two workers, in which a series called poison kills its worker."""
    folder = tmp_path_factory.mktemp("cluster")
    environment = {
        "PYTHONPATH": poisoned(folder),
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",  # blame at the first death
    }
    with Cluster(folder / "dask", 2, environment) as started:
        yield started


@pytest.fixture(scope="module")
def serial(long_table, tmp_path_factory):
    out = tmp_path_factory.mktemp("survey") / "serial"
    return rf.fit_many(long_table, out=out, engine="serial", **QUICK)


def test_dask_gives_the_same_bits_as_one_process(cluster, serial, long_table, tmp_path):
    lazy = dask.dataframe.from_pandas(long_table, npartitions=3)
    for name, table in (("memory", long_table), ("lazy", lazy)):
        survey = rf.fit_many(table, out=tmp_path / name, address=cluster.address, **ON_DASK)
        same(serial, survey)


def test_a_killed_worker_costs_no_series(cluster, serial, long_table, tmp_path):
    killed = []

    def kill(progress):
        if not killed and progress.done < progress.total:
            pids = cluster.worker_pids()
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            killed.extend(pids)

    survey = rf.fit_many(
        long_table, out=tmp_path / "out", address=cluster.address, observe=kill, **ON_DASK
    )
    assert killed
    same(serial, survey)


def test_a_result_whose_worker_dies_before_it_is_fetched_is_made_again(
    cluster, serial, long_table, tmp_path, monkeypatch
):
    fetch, lost = distributed.Future.result, []

    def result(future, timeout=None):
        if not lost:
            lost.append(future.key)
            raise distributed.KilledWorker(future.key, None, 4)
        return fetch(future, timeout)

    monkeypatch.setattr(distributed.Future, "result", result)
    survey = rf.fit_many(long_table, out=tmp_path, address=cluster.address, **ON_DASK)
    assert lost
    same(serial, survey)


def test_a_poison_series_is_named_and_the_others_are_fitted(cluster, tmp_path):
    table = pd.concat([series(name, 1) for name in ("one", "poison", "two")])
    survey = rf.fit_many(table, out=tmp_path / "out", address=cluster.address, **ON_DASK)
    rows = survey.series.set_index("id")
    assert rows.loc["poison", "status"] == "WorkerError"
    assert (rows.drop("poison")["status"] == "ok").all()


def test_an_address_without_a_scheduler_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("robustfourier.many.on_dask._CONNECT", 1.0)
    with pytest.raises(InputError, match=re.escape("no scheduler answers there")):
        rf.fit_many(series("x", 1), out=tmp_path / "out", address="tcp://127.0.0.1:9", **ON_DASK)


def test_a_killed_scheduler_is_told_and_a_rerun_completes(cluster, serial, long_table, tmp_path):
    # The last test of this file: the cluster is gone afterwards.
    def kill(progress):
        if progress.done:
            cluster.kill_scheduler()

    with pytest.raises(WorkerError, match=re.escape("the connection to Dask's scheduler is lost")):
        rf.fit_many(
            long_table, out=tmp_path / "out", address=cluster.address, observe=kill, **ON_DASK
        )
    seen = []
    survey = rf.fit_many(
        long_table, out=tmp_path / "out", engine="serial", observe=seen.append, **QUICK
    )
    assert seen[0].done > 0
    same(serial, survey)
