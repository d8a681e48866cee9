"""What a job over the service costs more than the same `srs select`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter

import httpx

import srs
from benchmarks.measure import Line
from benchmarks.service.serving import serving
from tests.service.server import register, submit, wait_for

SETTINGS = {"max_passes": 40, "seed": 0}
MAX_SECONDS, MAX_SHARE = 2.0, 0.05
REPEATS = 3


def run() -> Iterator[Line]:
    with serving(100_000, 1_000, threads=2) as server, server.client() as client:
        dataset_id = register(client, "data.zarr")
        store = server.folder / "root" / "data.zarr"
        wait_for(client, submit(client, dataset_id, max_trees=16))
        srs.select(store, memory="512MB", threads=2, max_trees=16)
        command, warm, service = [], [], []
        for number in range(REPEATS):
            out = str(server.folder / f"run{number}")
            command.append(_seconds(partial(_select, str(store), out)))
            warm.append(_seconds(partial(_select_here, store, f"{out}-warm")))
            service.append(_seconds(partial(_select_there, client, dataset_id)))
    yield Line(
        "`srs select`; `srs.select` in a process that is warm",
        f"{min(command):.2f}, {min(warm):.2f} s",
    )
    for name, here in (("`srs select`", min(command)), ("`srs.select`, warm", min(warm))):
        more = min(service) - here
        yield Line(
            f"over the service it takes longer than {name} by",
            f"{more:.2f} s, {more / here:.1%}",
            f"under {MAX_SECONDS:g} s and {MAX_SHARE:.0%}",
            more < MAX_SECONDS and more / here < MAX_SHARE,
        )


def _seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def _select(store: str, out: str) -> None:
    subprocess.run(
        [
            sys.executable,
            "-m",
            "srs.cli",
            "select",
            store,
            "--memory",
            "512MB",
            "--threads",
            "2",
            "--max-passes",
            str(SETTINGS["max_passes"]),
            "--out",
            out,
            "--json",
        ],
        capture_output=True,
        check=True,
    )


def _select_here(store: Path, out: str) -> None:
    srs.select(store, memory="512MB", threads=2, folder=out, **SETTINGS).save(out)


def _select_there(client: httpx.Client, dataset_id: str) -> None:
    job_id = submit(client, dataset_id, **SETTINGS)
    wait_for(client, job_id, seconds=600)
    client.get(f"/v1/jobs/{job_id}/result")
