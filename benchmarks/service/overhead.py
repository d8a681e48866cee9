"""What a job over the service costs more than the same `srs select`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from time import perf_counter

from benchmarks.measure import Line
from benchmarks.service.serving import serving
from tests.service.server import register, submit, wait_for

SETTINGS = {"max_trees": 6_000, "seed": 0}
MAX_SECONDS, MAX_SHARE = 2.0, 0.05
REPEATS = 3


def run() -> Iterator[Line]:
    with serving(20_000, 1_000, threads=2) as server, server.client() as client:
        dataset_id = register(client, "data.zarr")
        wait_for(client, submit(client, dataset_id, max_trees=16))
        here, there = [], []
        for number in range(REPEATS):
            started = perf_counter()
            subprocess.run(
                [sys.executable, "-m", "srs.cli", "select", str(server.folder / "root/data.zarr"),
                 "--memory", "512MB", "--threads", "2", "--max-trees", str(SETTINGS["max_trees"]),
                 "--out", str(server.folder / f"run{number}"), "--json"],
                capture_output=True, check=True,
            )  # fmt: skip
            here.append(perf_counter() - started)
            started = perf_counter()
            job_id = submit(client, dataset_id, **SETTINGS)
            wait_for(client, job_id, seconds=600)
            client.get(f"/v1/jobs/{job_id}/result")
            there.append(perf_counter() - started)
    more = min(there) - min(here)
    yield Line("`srs select`", f"{min(here):.2f} s")
    yield Line(
        "the same over the service takes longer by", f"{more:.2f} s", f"under {MAX_SECONDS:g} s",
        more < MAX_SECONDS,
    )  # fmt: skip
    yield Line(
        "which is a share of", f"{more / min(here):.1%}", f"under {MAX_SHARE:.0%}",
        more / min(here) < MAX_SHARE,
    )  # fmt: skip
