"""What a plan predicts against what the run takes: time and memory, on the benchmark shapes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Line, noisy_codes, run_child, temporary_folder, write_codes_store

SHAPES = (
    (1_000, 10_000, "2GB"),
    (1_000, 100_000, "2GB"),
    (2_600, 50_000, "2GB"),
    (1_000, 1_000_000, "512MB"),
)  # samples, features, memory
PLAN = """
import json, sys, srs
planned = srs.plan(sys.argv[1], memory=sys.argv[2])
print(json.dumps(planned.to_json()))
"""
SELECT = """
import json, sys, srs
result = srs.select(sys.argv[1], memory=sys.argv[2])
parts = result.document["measured"]["seconds_by_part"]
seconds = parts["total"] - parts["group"]
print(json.dumps({"seconds": seconds, "trees": result.n_trees, "peak": result.peak_mem}))
"""


def run() -> Iterator[Line]:
    for n_samples, n_features, memory in SHAPES:
        codes_of, y = noisy_codes(n_samples)
        with temporary_folder() as folder:
            write_codes_store(Path(folder) / "s.zarr", codes_of, n_features, y)
            store = str(folder / "s.zarr")
            planned = run_child(PLAN, store, memory)
            done = run_child(SELECT, store, memory)
        least = planned["least_trees"]
        what = f"{n_features:,} x {n_samples:,}, {done['trees']} trees (least {least})"
        # How long a list takes to settle is the data's to say: the plan gives the least.
        more = max(0, done["trees"] - least)
        expected = planned["seconds"] + more * planned["seconds_per_tree"]
        ratio = done["seconds"] / expected
        yield Line(
            f"{what}: time",
            f"{done['seconds']:.1f} s, planned {expected:.1f} s: {ratio:.2f}",
            "within a factor of 1.5",
            1 / 1.5 <= ratio <= 1.5,
        )
        share = done["peak"] / planned["projected_mem"]
        yield Line(
            f"{what}: memory",
            f"{done['peak'] >> 20} MiB, planned {planned['projected_mem'] >> 20} MiB: {share:.2f}",
            "within a factor of 1.1",
            1 / 1.1 <= share <= 1.1,
        )
