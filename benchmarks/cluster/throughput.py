"""2 Dask workers of one thread against 2 local threads, p = 200,000, N = 1,000."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import srs
from benchmarks.measure import Line, noisy_codes, temporary_folder, write_codes_store

N_FEATURES, N_SAMPLES, N_PASSES, REPEATS = 200_000, 1_000, 10, 3


def run() -> Iterator[Line]:
    with temporary_folder() as folder:
        codes_of, y = noisy_codes(N_SAMPLES)
        write_codes_store(folder / "s.zarr", codes_of, N_FEATURES, y)
        local, remote = 0.0, 0.0
        for _ in range(REPEATS):  # by turns: other work on the machine meets both
            local = max(local, trees_per_second(folder / "s.zarr", threads=2))
            remote = max(remote, trees_per_second(folder / "s.zarr", executor=2))
    yield Line("2 local threads", f"{local:.1f} trees/s")
    yield Line(
        "2 workers of one thread",
        f"{remote:.1f} trees/s, {remote / local:.0%}",
        "85 %",
        remote >= 0.85 * local,
    )


def trees_per_second(store: Path, **where: Any) -> float:
    """From the end of the first round on: starting and compiling are not throughput."""
    seen: list[tuple[int, float]] = []

    def note(progress: srs.Progress) -> None:
        if progress.round_ended:
            seen.append((progress.n_trees, progress.seconds))

    srs.select(store, max_passes=N_PASSES, on_progress=note, **where)
    (first_trees, first), (last_trees, last) = seen[0], seen[-1]
    return (last_trees - first_trees) / (last - first)
