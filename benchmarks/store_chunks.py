"""Reading whole chunks in random order, by size of chunk, with our reader and zarr-python's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Line, best_seconds, noisy_codes, temporary_folder, write_codes_store
from srs.store import layout, open_store

N_SAMPLES, N_FEATURES = 1000, 200_000


def run() -> Iterator[Line]:
    codes_of, y = noisy_codes(N_SAMPLES)
    usual = layout.CHUNK_BYTES
    try:
        for size in (1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24):
            layout.CHUNK_BYTES = size
            with temporary_folder() as folder:
                path = folder / "s.zarr"
                write_codes_store(path, codes_of, N_FEATURES, y)
                store = open_store(path)
                order = np.random.default_rng(0).permutation(store.n_chunks)
                out = store.empty_chunks(1)[0]
                ours = best_seconds(
                    lambda s=store, o=order, b=out: [s.read_chunk(int(c), b) for c in o], 3
                )
                n_tiles = store.chunk_features // layout.TILE
                codes = store._group["codes"]
                zarrs = best_seconds(
                    lambda a=codes, o=order, n=n_tiles: [a[c * n : (c + 1) * n] for c in o], 1
                )
            total = N_SAMPLES * N_FEATURES / 1e6
            yield Line(
                f"chunks of {size >> 10} KiB ({store.n_chunks} files)",
                f"read {total / ours:.0f} MB/s, zarr-python {total / zarrs:.0f}",
            )
    finally:
        layout.CHUNK_BYTES = usual
