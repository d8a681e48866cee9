"""What benchmarks share: a measured line, timing, temporary data, peak memory of a child."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from srs.store import Target
from srs.store.content import look_at
from srs.store.writer import StoreWriter


@dataclass(frozen=True)
class Line:
    """One measured figure: what, its value as text, the bar as text, and whether it is met."""

    what: str
    value: str
    bar: str = ""
    met: bool | None = None

    def show(self) -> None:
        mark = {None: " ", True: "ok", False: "MISSED"}[self.met]
        bar = f"bar: {self.bar}" if self.bar else ""
        print(f"  {self.what:<58} {self.value:<34} {bar:<44} {mark}", flush=True)


def best_seconds(function: Callable[[], Any], repeats: int = 5) -> float:
    """The shortest time of some calls, after one call to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for gigabytes, in SRS_BENCH_DIR or the system's temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="srs-bench-", dir=os.environ.get("SRS_BENCH_DIR")))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_child(code: str, *args: str) -> dict[str, Any]:
    """Run Python code in a fresh process; its last line of output is JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, *args], stdout=subprocess.PIPE, text=True, check=True
    )
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def reference_folder() -> Path | None:
    """The folder of reference data: SRS_REFERENCE_DATA, or `shared` beside the project."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("SRS_REFERENCE_DATA", beside))
    return folder if (folder / "data").is_dir() else None


def write_codes_store(
    path: Path, codes_of: Callable[[int, int], np.ndarray], n_features: int, y: np.ndarray
) -> None:
    """A store from codes made block by block: codes_of(first, n) gives (n, n_samples).

    y holds classes 0, 1, ..., or numbers if it is of floats.
    """
    writer = StoreWriter(path, len(y), n_features, 1 << 30, overwrite=True)
    if y.dtype.kind == "f":
        target = Target("y", "numbers", y.astype(np.float64), ())
    else:
        labels = tuple(str(c) for c in range(max(2, int(y.max()) + 1)))
        target = Target("y", "classes", y.astype(np.int32), labels)
    writer.describe(names=None, sample_ids=None, targets=[target])
    for first in range(0, n_features, 20_000):
        n = min(20_000, n_features - first)
        codes = codes_of(first, n)
        writer.add(np.arange(first, first + n), codes, look_at(codes, None))
    writer.finish(
        kinds=np.zeros(n_features),
        n_levels=np.full(n_features, 255),
        labels={},
        source={},
        notices=[],
        srs_version="",
    )


def noisy_codes(
    n_samples: int, seed: int = 0
) -> tuple[Callable[[int, int], np.ndarray], np.ndarray]:
    """Uniform codes, the first ten related to y with much noise, so that trees grow deep."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_samples)

    def codes_of(first: int, n: int) -> np.ndarray:
        codes = np.random.default_rng((seed, first)).integers(0, 255, (n, n_samples), np.uint8)
        if first == 0:
            codes[:10] = np.clip(codes[:10] * 0.8 + 40 * y, 0, 254)
        return codes

    return codes_of, y
