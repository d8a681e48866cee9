"""Ingest of a 4 GB float32 .npy (samples as rows) within 1 GB, against cp and numpy's argsort."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from time import perf_counter

import numpy as np

from benchmarks.measure import Line, run_child, temporary_folder

N_SAMPLES, N_FEATURES, MEMORY = 1000, 1_000_000, "1GB"
CHILD = """
import json, sys, time, srs, numpy as np
start = time.perf_counter()
srs.ingest(sys.argv[1], sys.argv[2], target=np.arange(1000) % 2, memory="1GB")
seconds = time.perf_counter() - start
from srs.memory import peak_mem
print(json.dumps({"seconds": seconds, "peak_mem": peak_mem()}))
"""


def run() -> Iterator[Line]:
    rng = np.random.default_rng(0)
    with temporary_folder() as folder:
        source = folder / "X.npy"
        X = np.lib.format.open_memmap(source, "w+", np.float32, (N_SAMPLES, N_FEATURES))
        for i in range(N_SAMPLES):
            X[i] = rng.standard_normal(N_FEATURES, dtype=np.float32)
        X.flush()
        del X
        start = perf_counter()
        shutil.copyfile(source, folder / "copy.npy")
        copied = perf_counter() - start
        (folder / "copy.npy").unlink()
        part = np.load(source, mmap_mode="r")[:, :20_000].T.copy()
        start = perf_counter()
        np.argsort(part, axis=1)
        sorted_ = (perf_counter() - start) * N_FEATURES / len(part)
        done = run_child(CHILD, str(source), str(folder / "s.zarr"))
    yield Line(
        "4 GB .npy: peak RSS",
        f"{done['peak_mem'] / 1e6:.0f} MB",
        f"at most {MEMORY}",
        done["peak_mem"] <= 1e9,
    )
    ratio = (copied + sorted_) / done["seconds"]
    yield Line(
        "4 GB .npy: speed against cp + argsort (extrapolated)",
        f"{done['seconds']:.0f} s against {copied:.0f} + {sorted_:.0f} s: {ratio:.2f}",
        "at least a third",
        ratio >= 1 / 3,
    )
