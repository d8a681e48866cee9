"""Many targets of one store: what they take together, over what one takes by itself.

    python -m benchmarks many_targets

1,000 samples x 50,000 genotypes. Half of the targets are classes, half are numbers, one of four
lacks a tenth of the samples; each has five features that matter. Ratios are of CPU seconds of whole
commands, start included: those of a busy machine are the same. Each list must be that of the target
alone. SRS_BENCH_TARGETS sets the number of targets (100, an hour on two cores with all pairs).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np
import pandas as pd

import srs
from benchmarks.measure import Line, temporary_folder
from srs.memory import format_bytes

N_SAMPLES, N_FEATURES, N_CAUSAL = 1_000, 50_000, 5
N_TARGETS = int(os.environ.get("SRS_BENCH_TARGETS", "100"))
BAR = 0.1  # CPU of so many targets, over that of as many runs
MEMORY = "1GB"


def write_store(folder: Path) -> Path:
    """A store of genotypes with all targets."""
    rng = np.random.default_rng(0)
    shares = rng.uniform(0.05, 0.5, N_FEATURES)
    X = rng.binomial(2, shares, (N_SAMPLES, N_FEATURES)).astype(np.float32)
    targets = {}
    for at in range(N_TARGETS):
        causal = rng.choice(N_FEATURES, N_CAUSAL, replace=False)
        score = (X[:, causal] - X[:, causal].mean(axis=0)) @ np.full(N_CAUSAL, 0.5)
        values = score + rng.normal(size=N_SAMPLES)
        if at % 4 == 3:
            values[rng.choice(N_SAMPLES, N_SAMPLES // 10, replace=False)] = np.nan
        if at % 2 == 0:
            values = np.where(np.isnan(values), np.nan, values > 0)
        targets[f"t{at}"] = pd.Series(values)
    store = srs.ingest(X, folder / "many.zarr", target=targets)
    assert store.path is not None
    return store.path


def select(store: str, options: str, out: str) -> float:
    """CPU seconds of a command `srs select`."""
    before = getrusage(RUSAGE_CHILDREN)
    words = ["select", store, *options.split(), "--out", out, "--memory", MEMORY, "--json"]
    whole = [sys.executable, "-m", "srs.cli", *words]
    subprocess.run(whole, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run() -> Iterator[Line]:
    with temporary_folder() as folder:
        store = str(write_store(folder))
        select(store, "--target t0 --max-trees 1", f"{folder}/warm")
        for pairs in ("auto", "off"):
            yield from _compare(folder, store, pairs)


def _compare(folder: Path, store: str, pairs: str) -> Iterator[Line]:
    alone = []
    for name in ("t0", "t1"):  # one of each kind
        out = f"{folder}/{name}-{pairs}"
        alone.append(select(store, f"--target {name} --pairs {pairs}", out))
    out = f"{folder}/many-{pairs}"
    cpu = select(store, f"--targets all --pairs {pairs}", out)
    many = srs.load_many(out)
    for name in ("t0", "t1"):
        if many[name].digest != srs.load_result(f"{folder}/{name}-{pairs}").digest:
            yield Line(f"pairs {pairs}: {name}", "another list than alone", "the same", False)
    peak = max(result.peak_mem for result in many.values())
    ratio = cpu / np.mean(alone)
    yield Line(f"pairs {pairs}: one target", f"{np.mean(alone):.1f} s CPU")
    yield Line(
        f"pairs {pairs}: {N_TARGETS} targets",
        f"{cpu:.1f} s CPU, {ratio:.1f} x one",
        f"{BAR * N_TARGETS:.0f} x one",
        bool(ratio <= max(1.0, BAR * N_TARGETS)),
    )
    allowed = srs.load_result(f"{folder}/t0-{pairs}").document["settings"]["allowed_mem"]
    yield Line(
        f"pairs {pairs}: peak memory", format_bytes(peak), format_bytes(allowed), peak <= allowed
    )


if __name__ == "__main__":
    for line in run():
        line.show()
