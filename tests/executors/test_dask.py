"""The Dask executor on real worker processes: same bytes, order, bounds, refusals."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from distributed import LocalCluster

import srs
from srs.errors import ClusterError, InputError, SettingsError, StoreError
from srs.executors import LocalExecutor, open_executor
from srs.executors.dask import DaskExecutor
from srs.executors.launch import open_cluster
from tests.cli.conftest import run_srs
from tests.cli.test_commands import outcome
from tests.executors.conftest import SETTINGS, outcome_bytes, running_cluster
from tests.planted import make_planted


def test_threads_and_workers_give_the_same_bytes(chunky, undisturbed, two_workers):
    """Guards the promise: who grows the trees does not matter."""
    assert outcome_bytes(srs.select(chunky, threads=2, **SETTINGS)) == undisturbed
    result = srs.select(chunky, executor=two_workers, **SETTINGS)
    assert outcome_bytes(result) == undisturbed
    workers = result.document["measured"]["workers"]
    assert (workers["n_workers"], workers["n_threads"]) == (2, 2)
    assert 100_000_000 < workers["peak_mem"] <= 600_000_000
    assert two_workers.status == "running", "a client that was given stays open"


@pytest.mark.parametrize(
    ("n_workers", "threads"),
    [
        (4, 2),
        *(pytest.param(w, t, marks=pytest.mark.long) for w, t in ((1, 1), (1, 2), (2, 2), (4, 1))),
    ],
)
def test_any_number_of_workers_gives_the_same_bytes(chunky, undisturbed, n_workers, threads):
    with running_cluster(n_workers, threads) as client:
        result = srs.select(chunky, executor=client, **SETTINGS)
    assert outcome_bytes(result) == undisturbed


def test_paper_mode_kept_trees_and_pinned_features(chunky, two_workers, tmp_path):
    for settings in (
        {"mode": "paper", "subspace_size": 40, "max_trees": 12, "keep_trees": True},
        {"pinned": ["f3", "f7"], "max_passes": 2, "subspace_size": 64},
    ):
        local = srs.select(chunky, folder=tmp_path / "l", **settings)
        remote = srs.select(chunky, folder=tmp_path / "r", executor=two_workers, **settings)
        assert outcome_bytes(local) == outcome_bytes(remote)
    kept = [[f.read_bytes() for f in sorted((tmp_path / r / "trees").iterdir())] for r in "lr"]
    assert len(kept[0]) == 12
    assert kept[0] == kept[1]


def test_the_selector_takes_a_client(two_workers):
    X, y = make_planted()
    plain = srs.SRSSelector(random_state=1, max_trees=60).fit(X, y)
    for client in (two_workers, two_workers.scheduler.address):
        remote = srs.SRSSelector(random_state=1, max_trees=60, executor=client).fit(X, y)
        assert remote.get_support(indices=True).tolist() == plain.get_support(indices=True).tolist()
        np.testing.assert_array_equal(remote.feature_importances_, plain.feature_importances_)


def test_an_address_and_a_number_of_processes(chunky, undisturbed, two_workers):
    address = two_workers.scheduler.address
    assert outcome_bytes(srs.select(chunky, executor=address, **SETTINGS)) == undisturbed
    before, seen = set(_children()), set()
    result = srs.select(
        chunky, executor=1, on_progress=lambda _: seen.update(_children()), **SETTINGS
    )
    assert outcome_bytes(result) == undisturbed
    assert len(seen - before) == 1
    assert set(_children()) <= before, "processes that were started are ended"


def test_the_command_line_takes_an_address(chunky, two_workers, tmp_path):
    options = ["select", chunky, "--max-passes", 2, "--subspace-size", 64]
    run_srs(*options, "--out", tmp_path / "threads")
    address = two_workers.scheduler.address
    run_srs(*options, "--out", tmp_path / "given", "--scheduler", address)
    assert outcome(tmp_path / "threads") == outcome(tmp_path / "given")
    both = run_srs(*options, "--workers", 2, "--scheduler", address, code=2)
    assert "choose one" in both.stderr


def _children() -> list[int]:
    import psutil

    workers = psutil.Process().children()
    return [c.pid for c in workers if "spawn_main" in " ".join(c.cmdline())]


def _double(x: int) -> int:
    time.sleep(0.02 if x % 7 else 0.2)
    return 2 * x


def test_results_come_in_order_and_few_tasks_are_in_flight(two_workers):
    executor = DaskExecutor(two_workers)
    taken, most = [], 0
    for value in executor.map(_double, range(60)):
        taken.append(value)
        most = max(most, len(two_workers.futures))
    assert taken == [2 * x for x in range(60)]
    assert 2 <= most <= 2 * 2 + 2
    _wait_until(lambda: not two_workers.futures)


def _wait_until(true) -> None:
    for _ in range(100):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("waited for 5 s")


def test_what_is_not_consumed_is_released(two_workers):
    results = DaskExecutor(two_workers).map(_double, range(100))
    assert next(results) == 0
    results.close()
    _wait_until(lambda: not two_workers.futures)
    _wait_until(lambda: not any(two_workers.processing().values()))


def _remembered(dask_scheduler) -> tuple[int, ...]:
    """How much a scheduler keeps of what is over: keys, spans, their lines and groups."""
    from dask.utils import key_split

    spans = dask_scheduler.extensions["spans"].spans.values()
    lines = sum(len(span.metadata["collections"]) for span in spans)
    n_groups = sum(len(span.groups) for span in spans)
    return key_split.cache_info().currsize, len(spans), lines, n_groups


def test_dask_forgets_tasks_that_are_over(two_workers, monkeypatch):
    """Guards the scheduler's memory: Dask would remember each of them, and each round."""
    monkeypatch.setattr("srs.executors.dask.TASKS_KEPT", 20)
    monkeypatch.setattr("srs.executors.dask.TASK_SECONDS", 0.0)  # a task a spec
    executor = DaskExecutor(two_workers)
    _, spans, lines, groups = two_workers.run_on_scheduler(_remembered)
    for _ in range(35):
        assert list(executor.map(abs, range(2))) == [0, 1]
        _wait_until(lambda: not two_workers.futures)
    keys_now, spans_now, lines_now, groups_now = two_workers.run_on_scheduler(_remembered)
    assert keys_now < 45
    assert spans_now == spans + 1
    assert lines_now < lines + 25
    assert groups_now < groups + 15


def _fill_profiles(dask_worker) -> None:
    for profiles in (dask_worker.profile_history, dask_worker.profile_keys_history):
        profiles.extend([(0.0, {})] * 500)


def _n_profiles(dask_worker) -> int:
    return len(dask_worker.profile_history) + len(dask_worker.profile_keys_history)


def test_workers_forget_their_profiles(two_workers):
    """Guards workers' memory: Dask would keep those of a quarter of an hour."""
    two_workers.run(_fill_profiles)
    assert min(two_workers.run(_n_profiles).values()) >= 1_000
    list(DaskExecutor(two_workers).map(_slow_double, range(20)))
    assert max(two_workers.run(_n_profiles).values()) <= 24


def _is_profiled(dask_worker) -> bool:
    return "profile" in dask_worker.periodic_callbacks


def test_workers_of_our_own_are_not_profiled():
    with open_executor(1) as executor:
        assert list(executor.client.run(_is_profiled).values()) == [False]


def test_workers_that_come_late_get_work_and_leaving_ones_are_drained():
    with running_cluster(1) as client:
        executor = DaskExecutor(client)
        seen = []
        for value in executor.map(_slow_double, range(40)):
            seen.append(value)
            if len(seen) == 5:
                client.cluster.scale(2)
                client.wait_for_workers(2, timeout=60)
            if len(seen) == 25:
                client.retire_workers([executor.seen_workers[0]], close_workers=True)
        assert seen == [2 * x for x in range(40)]
        assert len(executor.seen_workers) == 2


def _slow_double(x: int) -> int:
    time.sleep(0.1)
    return 2 * x


@pytest.mark.long
def test_adaptive_clusters_start_from_nothing(chunky, undisturbed):
    with running_cluster(0) as client:
        client.cluster.adapt(minimum=0, maximum=2, interval="200ms", target_duration="100ms")
        assert outcome_bytes(srs.select(chunky, executor=client, **SETTINGS)) == undisturbed


def _fail(x: int) -> int:
    if x == 5:
        raise StoreError("chunk 5 is damaged.")
    if x == 50:
        raise ZeroDivisionError("x")
    return x


def test_errors_of_batches_arrive(two_workers):
    executor = DaskExecutor(two_workers)
    with pytest.raises(StoreError, match="chunk 5 is damaged"):
        list(executor.map(_fail, range(20)))
    with pytest.raises(ClusterError, match="ZeroDivisionError"):
        list(executor.map(_fail, range(40, 60)))


class TestRefusals:
    """What cannot work is refused with one sentence."""

    def test_another_version(self, chunky, two_workers, monkeypatch):
        monkeypatch.setattr("srs.engine.worker.code_version", lambda: "srs 0.0.9")
        with pytest.raises(ClusterError, match=r"runs srs .* and the coordinator runs srs 0\.0\.9"):
            srs.select(chunky, executor=two_workers, **SETTINGS)

    def test_another_store(self, two_workers, tmp_path):
        X, y = make_planted(n=100, p=50)
        store = srs.ingest(X, tmp_path / "s.zarr", target=y)
        srs.ingest(X + X[:1], tmp_path / "s.zarr", target=1 - y, overwrite=True)
        with pytest.raises(ClusterError, match="finds another store"):
            srs.select(store, executor=two_workers)

    def test_a_store_in_memory(self, two_workers):
        X, y = make_planted(n=50, p=20)
        with pytest.raises(InputError, match="cannot be read by workers"):
            srs.select(srs.ingest(X, target=y), executor=two_workers)

    def test_no_scheduler(self, chunky, monkeypatch):
        monkeypatch.setattr("srs.executors.launch.CONNECT_SECONDS", 0.5)
        with pytest.raises(ClusterError, match="no scheduler answers at tcp://127"):
            srs.select(chunky, executor="tcp://127.0.0.1:1")

    def test_no_workers(self):
        with running_cluster(0) as client, pytest.raises(ClusterError, match="no workers for 1 s"):
            list(DaskExecutor(client, patience=1.0).map(_double, range(3)))

    def test_limits_below_what_is_allowed(self, chunky):
        from distributed import Client, LocalCluster

        with (
            LocalCluster(
                n_workers=1,
                threads_per_worker=1,
                memory_limit="700MB",
                dashboard_address="127.0.0.1:0",
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
            pytest.raises(ClusterError, match=r"--memory-limit 1\.2GB, or allow at most 490MB"),
        ):
            srs.select(chunky, executor=client, memory="600MB")

    @pytest.mark.parametrize(("executor", "seconds"), [(None, 5.0), (1, 0.0), (1, float("nan"))])
    def test_timeouts_that_make_no_sense(self, chunky, executor, seconds):
        with pytest.raises(SettingsError, match="timeout of a task"):
            srs.select(chunky, executor=executor, task_timeout=seconds)

    @pytest.mark.parametrize("executor", [0, -1, True, 1.5, object()])
    def test_nonsense(self, chunky, executor):
        with pytest.raises(SettingsError, match=r"workers|executor"):
            srs.select(chunky, executor=executor)


def test_a_given_executor_is_used():
    mine = LocalExecutor(1)
    with open_executor(mine) as opened:
        assert opened is mine


WITHOUT_DASK = """
import sys
for name in ("dask", "distributed"):
    sys.modules[name] = None
import srs
print(srs.select(sys.argv[1], max_passes=1, subspace_size=64).n_trees)
try:
    srs.select(sys.argv[1], executor=2)
except srs.SRSError as error:
    print(type(error).__name__, error)
"""


def test_without_dask_threads_still_serve(chunky: Path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DASK, str(chunky)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    first, second = done.stdout.splitlines()
    assert int(first) == srs.select(chunky, max_passes=1, subspace_size=64).n_trees > 40
    assert second.startswith("ClusterError workers need Dask, and dask is not installed")


def test_dask_is_not_imported_without_need(chunky: Path):
    code = (
        "import sys, srs; srs.select(sys.argv[1], max_passes=1, subspace_size=64)\n"
        "print('distributed' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(chunky)], check=True, capture_output=True
    )
    assert done.stdout == b"False\n"


def test_a_worker_that_is_slow_to_leave_costs_no_result(monkeypatch, caplog):
    """Guards a finished run: a nanny on a starved machine took longer than Dask waits."""
    closed = LocalCluster.close

    def close_late(cluster):
        closed(cluster)
        raise TimeoutError

    monkeypatch.setattr(LocalCluster, "close", close_late)
    with open_cluster(1, 1, None) as client:
        assert client.submit(sum, (1, 2)).result() == 3
    assert "did not stop in time" in caplog.text
