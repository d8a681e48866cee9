"""2-bit codes against bytes: size on disk, and CPU time of `select`, on the same genotypes.

CPU time, because both answers are the same bytes and a shared machine moves wall times more.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Line, run_child, temporary_folder

N_SAMPLES, N_FEATURES, MEMORY = 2000, 50_000, "340MB"
REPEATS = 2
WRITE = """
import json, sys, numpy as np, srs, srs.store.writer
if sys.argv[3] == "8":
    srs.store.writer.LAST_CODE = -1
srs.ingest(sys.argv[1], sys.argv[2], target=np.arange(2000) % 2, memory="1GB")
print(json.dumps({}))
"""
SELECT = """
import json, sys, time, srs
srs.select(sys.argv[1], memory=sys.argv[2], max_passes=1)
start = time.process_time()
r = srs.select(sys.argv[1], memory=sys.argv[2], max_passes=4, patience=10**9)
print(json.dumps({"cpu": time.process_time() - start, **r.document["measured"]}))
"""


def run() -> Iterator[Line]:
    rng = np.random.default_rng(0)
    with temporary_folder() as folder:
        share = rng.uniform(0.05, 0.5, N_FEATURES)
        np.save(folder / "x.npy", rng.binomial(2, share, (N_SAMPLES, N_FEATURES)).astype(np.int8))
        for bits in ("2", "8"):
            run_child(WRITE, str(folder / "x.npy"), str(folder / f"s{bits}.zarr"), bits)
        sizes = {bits: _size(folder / f"s{bits}.zarr" / "codes") for bits in ("2", "8")}
        yield Line(
            "size of codes, bytes against 2 bits",
            f"{sizes['8'] / sizes['2']:.2f} x smaller",
            "at least 3.5 x",
            sizes["8"] >= 3.5 * sizes["2"],
        )
        for memory, what in ((MEMORY, "read in each pass"), ("1GB", "kept in memory")):
            best = {"2": np.inf, "8": np.inf}
            for _ in range(REPEATS):
                for bits in best:
                    done = run_child(SELECT, str(folder / f"s{bits}.zarr"), memory)
                    best[bits] = min(best[bits], done["cpu"])
            yield Line(
                f"select, {what}: 2 bits against bytes",
                f"CPU {best['2']:.2f} s against {best['8']:.2f} s: {best['2'] / best['8']:.2f}",
                "not slower (1.05)",
                best["2"] <= 1.05 * best["8"],
            )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
