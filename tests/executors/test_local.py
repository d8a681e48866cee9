"""Threads of this process: order, bounds, and what is left of them."""

from __future__ import annotations

import gc
import threading
from time import monotonic, sleep

import pytest

from srs.executors import LocalExecutor


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_come_in_order_and_few_run_at_a_time(threads):
    running, most, lock = 0, 0, threading.Lock()
    all_there = threading.Barrier(threads, timeout=60)

    def work(spec: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if spec < threads:
            all_there.wait()
        sleep(0.001 * (spec % 3))
        with lock:
            running -= 1
        return spec * spec

    executor = LocalExecutor(threads)
    for _ in range(3):  # rounds share the threads
        assert list(executor.map(work, range(20))) == [spec * spec for spec in range(20)]
    assert most == threads


def test_nothing_runs_on_after_an_error():
    ended: list[int] = []

    def work(spec: int) -> None:
        if spec == 0:
            raise ValueError("the first is wrong.")
        sleep(0.05)
        ended.append(spec)

    executor = LocalExecutor(2)
    with pytest.raises(ValueError, match="the first is wrong"):
        list(executor.map(work, range(100)))
    n_ended = len(ended)
    sleep(0.2)
    assert len(ended) == n_ended < 5


def test_threads_end_with_their_executor():
    before = threading.active_count()
    executor = LocalExecutor(4)
    list(executor.map(abs, range(50)))
    assert threading.active_count() > before
    del executor
    gc.collect()
    end = monotonic() + 30
    while threading.active_count() > before and monotonic() < end:
        sleep(0.01)
    assert threading.active_count() <= before
