"""All pairs by bits: pairs a second and core, against a matrix product that does the least of it.

The peer is numpy's X' diag(y) X in float32, one thread: one number a pair, and nothing is compared.
CPU seconds of one thread; random data, two classes unless said. "Once more" starts from the bests
of the first look, as the later blocks of a large run do. The limit of the processor is measured in
the same run (`benchmarks.processor`): an AND, a population count and an addition for each word of
32 samples, in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter, thread_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.measure import Line
from benchmarks.processor import cycles_a_second, words_a_second
from srs.evidence.pairs.best import best_partners
from srs.evidence.pairs.bits import BitRows, make_bits, tiles_of
from srs.evidence.pairs.cuts import choose_cuts
from srs.evidence.pairs.groups import PairGroups, make_groups
from srs.evidence.pairs.lanes import has_vector_counts

SIZES = ((200, 8192), (1_000, 8192), (2_000, 8192), (10_000, 4096))  # samples, features
N_PLAIN = 2048  # features of the plain loop
BAR = 5e8  # pairs a second with 1,000 samples, where the processor counts 8 words at once


def run() -> Iterator[Line]:
    yield from _bits()
    limit, cycles = words_a_second(), cycles_a_second()
    yield Line(
        "limit: AND, count and addition in registers",
        f"{limit:.2e} words of 32 samples a second: {limit / cycles:.1f} a cycle",
    )
    for n_samples, n_features in SIZES:
        yield from _against_matrix_product(n_samples, n_features, limit)
    for name, target in _targets(1_000):
        bits, groups = random_bits(1_000, 8192, target)
        rate = _rate(bits, groups)
        yield Line(f"N = 1,000, {name}: {groups.n_groups} groups", f"{rate:.2e} pairs a second")


def random_bits(n_samples: int, n_features: int, target: np.ndarray) -> tuple[BitRows, PairGroups]:
    rng = np.random.default_rng(0)
    tiles = tiles_of(rng.integers(0, 255, (n_samples, n_features), dtype=np.uint8))
    groups = make_groups(np.arange(n_samples), target)
    cuts = choose_cuts(tiles, groups.train, np.arange(n_features))
    return make_bits(tiles, cuts, groups), groups


def _seconds(function: Callable[[], Any], repeats: int = 7) -> float:
    """CPU seconds of this thread, the least of some calls after one to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = thread_time()
        function()
        times.append(thread_time() - start)
    return min(times)


def _targets(n: int) -> Iterator[tuple[str, np.ndarray]]:
    rng = np.random.default_rng(1)
    yield "three classes", rng.integers(0, 3, n)
    yield "eight classes", rng.integers(0, 8, n)
    yield "a number", rng.normal(size=n)


def _rate(bits: BitRows, groups: PairGroups, **more: Any) -> float:
    n = len(bits)
    seconds = _seconds(lambda: best_partners(bits, bits, groups, **more))
    return n * (n - 1) / 2 / seconds


def _bits() -> Iterator[Line]:
    rng = np.random.default_rng(0)
    tiles = tiles_of(rng.integers(0, 255, (1_000, 6_400), dtype=np.uint8))
    groups = make_groups(np.arange(1_000), rng.integers(0, 2, 1_000))
    owners = np.arange(6_400)
    cuts = choose_cuts(tiles, groups.train, owners)
    choosing = _seconds(lambda: choose_cuts(tiles, groups.train, owners)) / tiles.size
    making = _seconds(lambda: make_bits(tiles, cuts, groups)) / tiles.size
    yield Line(
        "bits of codes, N = 1,000",
        f"cuts {choosing * 1e9:.2f} ns, bits {making * 1e9:.2f} ns a value",
        "bits: at most 1 ns",
        making < 1e-9,
    )


def _against_matrix_product(n_samples: int, n_features: int, limit: float) -> Iterator[Line]:
    y = np.random.default_rng(2).integers(0, 2, n_samples)
    bits, groups = random_bits(n_samples, n_features, y)
    start = perf_counter()
    first = _rate(bits, groups)
    known = best_partners(bits, bits, groups)
    again = _rate(bits, groups, so_far=known)
    elapsed = perf_counter() - start
    few, groups = random_bits(n_samples, N_PLAIN, y)
    plain, vectors = (_rate(few, groups, in_registers=way) for way in (False, True))
    X = np.random.default_rng(3).normal(size=(n_samples, N_PLAIN)).astype(np.float32)
    signs = (2 * y - 1).astype(np.float32)[:, None]
    with threadpool_limits(1):
        product = N_PLAIN**2 / 2 / _seconds(lambda: X.T @ (X * signs))
    has_bar = n_samples == 1_000 and has_vector_counts()
    yield Line(
        f"N = {n_samples:,}, {n_features:,} features ({elapsed:.0f} s)",
        f"{first:.2e} pairs a second: {first / product:.1f} x sgemm",
        f"at least {BAR:.0e}" if has_bar else "",
        first >= BAR if has_bar else None,
    )
    shares = (rate * groups.n_words / limit for rate in (first, again))
    yield Line(
        f"N = {n_samples:,}, once more",
        f"{again:.2e} pairs a second",
    )
    yield Line(
        f"N = {n_samples:,}, share of the limit",
        "{:.2f}, once more {:.2f}".format(*shares),
    )
    yield Line(
        f"N = {n_samples:,}, {N_PLAIN:,} features, registers and plain loop",
        f"{vectors:.2e}, {plain:.2e}: {vectors / plain:.1f} x",
    )
