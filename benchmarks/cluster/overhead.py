"""Coordinator and scheduler time per task, whether it stays flat, and 1,000 workers of 5 s tasks.

The workers of the simulation are threads that sleep and answer with a number, because they share
this machine, its cores and its memory bandwidth with coordinator and scheduler. What answers of
the size of a slab's evidence cost these two is measured apart, as their processor time.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, process_time, sleep
from unittest.mock import patch

import numpy as np
import psutil

from benchmarks.measure import Line
from srs.executors import dask
from srs.executors.launch import connect

N_TASKS = int(os.environ.get("SRS_BENCH_TASKS", "100000"))
N_SLEEPERS, SLEEP_SECONDS, N_SLEEPS, N_PROCESSES = 1_000, 5.0, 6_000, 4
SLAB_FEATURES = 40_000


def answer(_: int) -> int:
    return 0


def evidence(_: int) -> np.ndarray:
    """As many bytes as the evidence of a slab with one probe."""
    return np.zeros(34 * SLAB_FEATURES, np.uint8)


def sleeping(number: int) -> int:
    """As long as tasks do: a fifth more or less than their mean, so they do not end together."""
    sleep(SLEEP_SECONDS * (0.8 + 0.4 * (number * 0.618034 % 1)))
    return 0


@contextmanager
def processes(n_workers: int, threads: int) -> Iterator[tuple[dask.DaskExecutor, psutil.Process]]:
    """A scheduler in a process of its own, whose time and memory can be told apart."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--no-dashboard",
        ],
        **quiet,
    )
    workers = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "distributed.cli.dask_worker",
                f"tcp://127.0.0.1:{port}",
                "--nworkers",
                "1",
                "--nthreads",
                str(threads),
                "--no-dashboard",
                "--no-nanny",
                "--memory-limit",
                "0",
            ],
            **quiet,
        )
        for _ in range(n_workers)
    ]
    try:
        sleep(5)
        client = connect(f"tcp://127.0.0.1:{port}")
        client.wait_for_workers(n_workers, timeout=120)
        yield dask.DaskExecutor(client), psutil.Process(scheduler.pid)
        client.close()
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def run() -> Iterator[Line]:
    with patch.object(dask, "TASK_SECONDS", 0.0):  # one spec a task, however short
        with processes(1, 8) as (executor, scheduler):
            yield from flat(executor, scheduler)
            yield from cost(executor, scheduler)
        with processes(N_PROCESSES, N_SLEEPERS // N_PROCESSES) as (executor, scheduler):
            times = [perf_counter()]
            times += [perf_counter() for _ in executor.map(sleeping, range(N_SLEEPS))]
    yield Line("until the first answers of all of them", f"{times[N_SLEEPERS] - times[0]:.0f} s")
    n_rest = N_SLEEPS - N_SLEEPERS
    busy = n_rest * SLEEP_SECONDS / ((times[-1] - times[N_SLEEPERS]) * N_SLEEPERS)
    yield Line(
        f"{N_SLEEPERS} sleeping workers of {SLEEP_SECONDS:g} s tasks from there to the end",
        f"{busy:.0%} busy",
        "90 %",
        busy >= 0.9,
    )


def flat(executor: dask.DaskExecutor, scheduler: psutil.Process) -> Iterator[Line]:
    tenth = N_TASKS // 10
    times, rss, cpu = [perf_counter()], [scheduler.memory_info().rss], [process_time()]
    for i, _ in enumerate(executor.map(answer, range(N_TASKS)), 1):
        if i % tenth == 0:
            times.append(perf_counter())
            cpu.append(process_time())
            rss.append(scheduler.memory_info().rss)
    early, late = ((cpu[k + 1] - cpu[k]) / tenth * 1e3 for k in (1, 9))
    grown = (rss[-1] - rss[2]) / 1e6
    yield Line(
        f"coordinator over {N_TASKS:,} tasks: its time a task, 2nd and last tenth",
        f"{early:.2f}, {late:.2f} ms",
        "flat: within 1.3",
        late <= 1.3 * early,
    )
    yield Line(
        "scheduler's memory from the 2nd to the last tenth", f"{grown:+.0f} MB", "20 MB", grown < 20
    )


def cost(executor: dask.DaskExecutor, scheduler: psutil.Process, n: int = 2_000) -> Iterator[Line]:
    before, mine, wall = sum(scheduler.cpu_times()[:2]), process_time(), perf_counter()
    for _ in executor.map(evidence, range(n)):
        pass
    wall = (perf_counter() - wall) / n
    mine = (process_time() - mine) / n
    its = (sum(scheduler.cpu_times()[:2]) - before) / n
    slower = max(mine, its)
    yield Line(
        "a task with the evidence of 40,000 features",
        f"coordinator {mine * 1e3:.1f} ms, scheduler {its * 1e3:.1f} ms, wall {wall * 1e3:.1f} ms",
    )
    n_workers = int(0.9 * SLEEP_SECONDS / slower)
    yield Line(
        "workers of 5 s tasks that this keeps 90 % busy",
        f"{n_workers:,}",
        "1,000",
        n_workers >= 1_000,
    )
