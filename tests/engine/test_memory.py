"""Memory: parsed, projected, refused, and measured on real processes."""

import json
import os
import platform
import subprocess
import sys

import numpy as np
import pytest

import srs
from srs.engine.kernels import ensure_compiled
from srs.engine.memory import (
    coordinator_mem,
    plan_shape,
    projected_mem,
    threads_that_fit,
    worker_mem,
    worker_projected_mem,
    worker_slots,
)
from srs.errors import MemoryBudgetError, SettingsError
from srs.evidence.registry import USUAL
from srs.memory import INTERPRETER_MEM, format_bytes, parse_bytes

SIZES = {"n_samples": 1000, "chunk_features": 1024, "n_roles": 2, "max_carried": 40, "n_outputs": 2}


@pytest.mark.parametrize("text", ["", "x", "-1GB", "0", "1 PB", "GB", None, 0, True])
def test_amounts_that_make_no_sense(text):
    with pytest.raises(SettingsError, match="not an amount of memory"):
        parse_bytes(text)


def test_amounts_are_read_as_they_are_written():
    for n_bytes in (1, 999, 512_000_000, 1_500_000_000):
        assert parse_bytes(format_bytes(n_bytes)) == pytest.approx(n_bytes, rel=0.01)


@pytest.mark.parametrize("n_features", [1_000, 100_000, 10_000_000])
@pytest.mark.parametrize("gigabytes", [0.4, 0.6, 2, 64])
def test_a_plan_fits_or_says_what_would(n_features, gigabytes):
    """Guards refusal: the number it names is enough, and no plan is above what is allowed."""
    allowed = int(gigabytes * 1e9)
    if n_features == 10_000_000 and gigabytes < 1:
        with pytest.raises(MemoryBudgetError) as refused:
            plan_shape(n_features=n_features, allowed_mem=allowed, **SIZES)
        assert refused.value.needed_mem > allowed
        allowed = refused.value.needed_mem
    shape = plan_shape(n_features=n_features, allowed_mem=allowed, **SIZES)
    threads = threads_that_fit(shape, 64, allowed)
    assert projected_mem(shape, threads) <= allowed
    assert threads == 64 or projected_mem(shape, threads + 1) > allowed


@pytest.mark.parametrize("gigabytes", [0.6, 1, 4])
def test_workers_that_fit(gigabytes):
    """Guards workers within their budget, whatever their threads."""
    allowed = int(gigabytes * 1e9)
    sizes = {**SIZES, "n_features": 2_000_000, "allowed_mem": allowed}
    shape = plan_shape(**sizes)
    for threads in (1, 2, 8):
        slots = worker_slots(shape, threads, allowed)
        assert 1 <= slots <= threads
        assert worker_projected_mem(shape, threads, allowed) <= allowed
        assert worker_mem(shape, slots) <= allowed
        assert slots == threads or worker_mem(shape, slots + 1) > allowed


@pytest.mark.parametrize("decision", ["interim", "final"])
@pytest.mark.parametrize(("n_features", "most"), [(2_000_000, 122), (3_000_000, 70)])
def test_so_many_bytes_are_held_of_a_feature(decision, n_features, most):
    """Guards the promise by measuring: evidence, and what decisions on it need. Above two million
    features there are neither halves nor pairs."""
    kinds = USUAL if n_features == 2_000_000 else tuple(kind for kind in USUAL if kind != "pairs")
    code = f"p, USUAL = {n_features}, {kinds}" + EVIDENCE
    code += {"interim": INTERIM, "final": FINAL}[decision]
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": str(1 << 20)},
    )
    held = float(done.stdout)
    assert held <= most
    shape = plan_shape(n_features=n_features, allowed_mem=10**10, kinds=kinds, **SIZES)
    assert held == pytest.approx(coordinator_mem(shape) / n_features, rel=0.1)


EVIDENCE = """
import tracemalloc
from types import SimpleNamespace
import numpy as np
from srs.engine.carry import choose_pool
from srs.inference.final import decide_all
from srs.selection.document import make_feature_table
from srs.settings import Settings
from srs.evidence.arrays import Evidence
from srs.evidence.halves import Halves
from srs.evidence.registry import MOST_HALVED
from srs.inference.interim import Rule, find_relevant
tracemalloc.start()
ids = np.random.default_rng(1).permutation(p).astype(np.uint32)
evidence, rng = Evidence.empty(p, 2, USUAL), np.random.default_rng(0)
for kind in USUAL:
    held = evidence.by_kind[kind]
    held[...] = rng.standard_exponential(held.shape, dtype="f4")
evidence.told = {"direction": np.zeros(p, "f4")}
if "pairs" in USUAL:
    evidence.told["partner"] = np.full(p, 5, "i4")
evidence.n_drawn[:] = 3
halves = None
if p <= MOST_HALVED:
    halves = Halves.empty(p, 2, USUAL)
    halves.n_drawn[:] = 2
    for name, array in halves.even.items():
        array[...] = evidence.by_kind[name] * np.float32(0.6)
assert sum(a.nbytes for a in evidence.arrays().values()) == (52 if "pairs" in USUAL else 44) * p
feature_classes = (np.arange(p, dtype=np.int32) % 10 == 0).astype(np.uint8)
none = np.empty(0, np.int64)
tracemalloc.reset_peak()
"""
INTERIM = """
find_relevant(evidence, Rule(USUAL, 0.1, feature_classes, none))
choose_pool(evidence, USUAL, 40, none, feature_classes)
print(tracemalloc.get_traced_memory()[1] / p)
"""
FINAL = """
context = SimpleNamespace(
    pinned=none,
    store=SimpleNamespace(feature_ids=ids, has_names=False, selection=None, annotations=dict),
)
found = decide_all(
    evidence,
    Settings(),
    halves=halves,
    kinds=USUAL,
    feature_classes=feature_classes,
    pinned=none,
    relevant=none,
    n_trees=10,
)
table = make_feature_table(context, found, SimpleNamespace(groups=[]), None)
assert sum(len(piece) for piece in table.pieces()) == p
print(tracemalloc.get_traced_memory()[1] / p)
"""


FAULTS = """
import resource, sys
import numpy as np
from srs.memory import keep_small_arrays
if sys.argv[1] == "kept":
    keep_small_arrays()
def n_faults():
    np.ones(1 << 20, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before = n_faults()
for _ in range(100):
    n_faults()
print(n_faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's malloc")
def test_workers_use_the_memory_of_small_arrays_again():
    """Guards the speed of workers: Dask has freed memory go back to the system at once."""

    def faults(how: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", FAULTS, how],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"},
        )
        return int(done.stdout)

    assert faults("as it is") > 10_000
    assert faults("kept") < 1_000


def test_projections_grow_linearly_with_features():
    def slopes(mem):
        shapes = [
            plan_shape(n_features=p * 10**6, allowed_mem=10**12, subspace_size=5_000, **SIZES)
            for p in (4, 8, 16)
        ]
        low, middle, high = (mem(shape, 2) for shape in shapes)
        return (middle - low) / 4e6, (high - middle) / 8e6

    low, high = slopes(projected_mem)
    assert low == pytest.approx(high, rel=0.05)
    assert high <= 78  # with pairs


CHILD = """
import json, sys, srs, srs.memory
r = srs.select(sys.argv[1], memory=sys.argv[2], max_passes=2, threads=2, pairs=sys.argv[3])
r.save(sys.argv[1] + "-run")
print(json.dumps({**r.document["measured"], "peak_mem": srs.memory.peak_mem()}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_features", "memory", "pairs"),
    [
        (200_000, "420MB", "off"),
        (25_000, "400MB", "all"),
        pytest.param(200_000, "420MB", "all", marks=pytest.mark.long),
        (2_000, "400MB", "all"),
    ],
)
def test_peak_memory_of_a_real_process(tmp_path, n_features, memory, pairs):
    """Guards the promise: never above what is allowed, and near what was projected."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 250, (500, n_features), dtype=np.uint8)
    srs.ingest(X, tmp_path / "s.zarr", target=rng.integers(0, 2, 500), keep_values=False)
    ensure_compiled()  # which would be part of the run
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "s.zarr"), memory, pairs],
        capture_output=True,
        text=True,
        check=True,
    )
    measured = json.loads(done.stdout)
    assert measured["peak_mem"] <= parse_bytes(memory)
    assert measured["peak_mem"] == pytest.approx(measured["projected_mem"], rel=0.15)


def test_the_interpreter_is_part_of_the_budget():
    shape = plan_shape(n_features=1000, allowed_mem=10**9, **SIZES)
    assert projected_mem(shape, 1) > INTERPRETER_MEM
