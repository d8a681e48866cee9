"""10,000,000 features x 500 samples (5 GB) in one pass, by 2 workers of 1 GB each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import Line, noisy_codes, run_child, temporary_folder, write_codes_store
from srs.engine.memory import DASK_MEM
from srs.memory import INTERPRETER_MEM

N_FEATURES, N_SAMPLES, MEMORY = 10_000_000, 500, "1GB"


def run() -> Iterator[Line]:
    with temporary_folder() as folder:
        small, _ = a_pass(folder, 100_000, n_passes=20)
        large, measured = a_pass(folder, N_FEATURES, n_passes=1)
    workers = measured["workers"]
    peak, projected = workers["peak_mem"] / 1e6, workers["projected_mem"] / 1e6
    yield Line(
        "10,000,000 x 500: largest peak of a worker (projected)",
        f"{peak:.0f} MB ({projected:.0f} MB)",
        "1,000 MB",
        peak <= 1_000,
    )
    most = (INTERPRETER_MEM + DASK_MEM + 64 * N_FEATURES) / 1e6
    yield Line(
        "its coordinator (projected)",
        f"{measured['peak_mem'] / 1e6:.0f} MB ({measured['projected_mem'] / 1e6:.0f} MB)",
        f"{most:.0f} MB: 64 bytes a feature",
        measured["peak_mem"] / 1e6 <= most,
    )
    yield Line(
        "time per feature and pass against p = 100,000",
        f"{large * 1e6:.1f} us, {large / small:.2f}",
        "1.5",
        large <= 1.5 * small,
    )


def a_pass(folder: Path, n_features: int, n_passes: int) -> tuple[float, dict[str, Any]]:
    """Seconds a feature and pass after the first answers of all workers, and what was measured.

    The coordinator is a process of its own: what the C library keeps of writing ten million
    features (180 MB) is not the run's.
    """
    codes_of, y = noisy_codes(N_SAMPLES)
    store = folder / f"{n_features}.zarr"
    write_codes_store(store, codes_of, n_features, y)
    found = run_child(COORDINATOR, str(store), MEMORY, str(n_passes))
    seen = found["seen"]
    # The first answers wait for workers that load their kernels.
    start = next(at for at in seen if at[0] >= 0.05 * seen[-1][0])
    seconds = (seen[-1][1] - start[1]) / (seen[-1][0] - start[0]) / n_features
    return seconds, dict(found["measured"])


COORDINATOR = """
import json, sys
import srs
store, memory, n_passes = sys.argv[1:]
seen = []
result = srs.select(
    store, executor=2, memory=memory, max_passes=int(n_passes),
    on_progress=lambda p: seen.append((p.n_passes, p.seconds)),
)
print(json.dumps({"seen": seen, "measured": result.document["measured"]}))
"""
