"""Share of wall time that a run spends in the kernel, and the throughput of reading and filling."""

from __future__ import annotations

from collections.abc import Iterator

import srs
from benchmarks.measure import Line, noisy_codes, temporary_folder, write_codes_store


def run() -> Iterator[Line]:
    n_samples, n_features = 1000, 100_000
    codes_of, y = noisy_codes(n_samples)
    with temporary_folder() as folder:
        write_codes_store(folder / "s.zarr", codes_of, n_features, y)
        srs.select(folder / "s.zarr", max_passes=1)
        result = srs.select(folder / "s.zarr", max_passes=10, patience=10**6)
    measured = result.document["measured"]
    parts = measured["seconds_by_part"]
    loop = parts["total"] - parts["group"]  # grouping what was found comes after the loop
    for part in ("grow", "fill", "read"):
        share = parts[part] / measured["threads"] / loop
        is_kernel = part == "grow"
        yield Line(
            f"p = {n_features}, N = {n_samples}: share of wall time, {part}",
            f"{share:.0%} of {loop:.1f} s on {measured['threads']} threads",
            "at least 70 %" if is_kernel else "",
            share >= 0.7 if is_kernel else None,
        )
    yield Line("grouping the relevant features, after the loop", f"{parts['group']:.2f} s")
