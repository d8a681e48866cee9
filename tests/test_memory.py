"""Memory: parsed, projected, refused, and measured on real processes."""

import json
import subprocess
import sys

import numpy as np
import pytest

import srs
from srs.errors import MemoryBudgetError, SettingsError
from srs.memory import (
    INTERPRETER_MEM,
    format_bytes,
    parse_bytes,
    plan_shape,
    projected_mem,
    threads_that_fit,
)

SIZES = {"n_samples": 1000, "chunk_features": 1024, "n_roles": 2, "max_carried": 40,
         "n_outputs": 2}  # fmt: skip


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
    try:
        shape = plan_shape(n_features=n_features, allowed_mem=allowed, **SIZES)
    except MemoryBudgetError as error:
        needed = error.needed_mem
        shape = plan_shape(n_features=n_features, allowed_mem=needed, **SIZES)
        assert needed > allowed
        allowed = needed
    assert projected_mem(shape, 1) <= allowed
    assert projected_mem(shape, threads_that_fit(shape, 64, allowed)) <= max(
        allowed, projected_mem(shape, 1)
    )


def test_projections_grow_linearly_with_features():
    def bytes_of(p):
        return projected_mem(
            plan_shape(n_features=p, allowed_mem=10**12, subspace_size=5_000, **SIZES), 2
        )

    slope = (bytes_of(4_000_000) - bytes_of(2_000_000)) / 2_000_000
    assert slope == pytest.approx((bytes_of(2_000_000) - bytes_of(1_000_000)) / 1_000_000, rel=0.05)
    assert slope < 100


CHILD = """
import json, sys, srs
r = srs.select(sys.argv[1], memory=sys.argv[2], max_passes=2, threads=2)
print(json.dumps(r.document["measured"]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("n_features", "memory"), [(200_000, "420MB"), (2_000, "400MB")])
def test_peak_memory_of_a_real_process(tmp_path, n_features, memory):
    """Guards the promise: never above what is allowed, and near what was projected."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 250, (500, n_features), dtype=np.uint8)
    srs.ingest(X, tmp_path / "s.zarr", target=rng.integers(0, 2, 500), keep_values=False)
    for _ in range(2):  # the first run may compile the kernel
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(tmp_path / "s.zarr"), memory],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    measured = json.loads(done.stdout)
    assert measured["peak_mem"] <= parse_bytes(memory)
    assert measured["peak_mem"] == pytest.approx(measured["projected_mem"], rel=0.15)


def test_the_interpreter_is_part_of_the_budget():
    shape = plan_shape(n_features=1000, allowed_mem=10**9, **SIZES)
    assert projected_mem(shape, 1) > INTERPRETER_MEM
