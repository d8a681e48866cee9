"""Whole chunks by the worker's reader against a plain sequential read of the same files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Line, best_seconds, noisy_codes, temporary_folder, write_codes_store
from srs.store import open_store

N_FEATURES, N_SAMPLES = 500_000, 1_000


def run() -> Iterator[Line]:
    with temporary_folder() as folder:
        codes_of, y = noisy_codes(N_SAMPLES)
        write_codes_store(folder / "s.zarr", codes_of, N_FEATURES, y)
        store = open_store(folder / "s.zarr")
        files = [folder / "s.zarr/codes/c" / str(c) / "0/0" for c in range(store.n_chunks)]
        out = store.empty_chunks(1)[0]
        order = np.random.default_rng(0).permutation(store.n_chunks)
        buffer = bytearray(files[0].stat().st_size)

        def plain() -> None:
            for file in files:
                with file.open("rb", buffering=0) as opened:
                    opened.readinto(buffer)

        def ours() -> None:
            for chunk in order:
                store.read_chunk(int(chunk), out)

        size = len(files) * len(buffer) / 1e6
        plain_rate, our_rate = size / best_seconds(plain, 3), size / best_seconds(ours, 3)
    yield Line("plain sequential read of the files", f"{plain_rate:,.0f} MB/s")
    yield Line(
        "chunks in random order, checked",
        f"{our_rate:,.0f} MB/s, {our_rate / plain_rate:.2f}",
        "0.5",
        our_rate >= 0.5 * plain_rate,
    )
