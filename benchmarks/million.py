"""A million features within 512MB: peak memory, and time per feature and pass against 10,000."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import Line, noisy_codes, run_child, temporary_folder, write_codes_store

N_SAMPLES, MEMORY = 1000, "512MB"
CHILD = """
import json, sys, srs
r = srs.select(sys.argv[1], memory="512MB", max_passes=int(sys.argv[2]), patience=10**9)
r.save(sys.argv[1] + "-run")
from srs.memory import peak_mem
print(json.dumps({**r.document["measured"], "peak_mem": peak_mem(), "n_passes": r.n_passes}))
"""


def run() -> Iterator[Line]:
    with temporary_folder() as folder:
        small = _measure(folder, 10_000, 40)
        large = _measure(folder, 1_000_000, 3)
    peak, projected = large["peak_mem"], large["projected_mem"]
    yield Line(
        "1,000,000 x 1,000, 3 passes: peak RSS of the process",
        f"{peak / 1e6:.0f} MB (projected {projected / 1e6:.0f} MB)",
        f"at most {MEMORY}",
        peak <= 512e6,
    )
    per_small = small["seconds"] / small["n_passes"] / 10_000 * 1e6
    per_large = large["seconds"] / large["n_passes"] / 1_000_000 * 1e6
    yield Line(
        "time per feature and pass against p = 10,000",
        f"{per_large:.2f} us against {per_small:.2f} us: {per_large / per_small:.2f}",
        "at most 1.5",
        per_large <= 1.5 * per_small,
    )


def _measure(folder: Path, n_features: int, n_passes: int) -> dict[str, Any]:
    codes_of, y = noisy_codes(N_SAMPLES)
    path = folder / f"s{n_features}.zarr"
    write_codes_store(path, codes_of, n_features, y)
    return run_child(CHILD, str(path), str(n_passes))
