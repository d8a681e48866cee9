"""Compile the numba kernels once per machine, in a process of its own.

The compiler takes half a minute and keeps a hundred megabytes for as long as its process lives.
With a memory budget that process must not be ours: a child compiles into numba's cache, and we
load from there. Where that cannot be (no place for the cache, no child), we compile here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from srs.tree import TreeTarget, grow
from srs.tree.kernel import grow_tree

_CHILD = "SRS_COMPILING"  # set in the child, which must not start another


def is_compiled() -> bool:
    """Whether numba's cache holds the largest kernel, compiled after its source was written."""
    folder = Path(grow_tree.stats.cache_path or "")
    source = Path(grow_tree.py_func.__code__.co_filename)
    wanted = source.stat().st_mtime
    found = folder.glob(f"{source.stem}.{grow_tree.py_func.__name__}-*.nbi")
    return any(file.stat().st_mtime >= wanted for file in found)


def ensure_compiled() -> None:
    """Have all kernels in numba's cache."""
    if _CHILD in os.environ or is_compiled():
        return
    with _one_at_a_time():
        if is_compiled():  # by the one that we have waited for
            return
        subprocess.run(
            [sys.executable, "-c", _EXERCISE],
            env={**os.environ, _CHILD: "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )


def load_kernels() -> None:
    """Load the kernel of trees into this process, so that those forked from it need not.

    A selection of 16 trees then takes 0.07 s of a core, and 0.41 s where it has to load first.
    Starts no thread, and nothing is loaded that is not compiled yet.
    """
    if is_compiled():
        grow(np.eye(2, dtype=np.uint8), TreeTarget.of_classes(np.arange(2), 2), 0)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Workers that start together on one machine wait for the first of them to compile."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (Path(tempfile.gettempdir()) / f"srs-compiling-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# Touches every kernel once with the types that runs use: both widths of values, classes and
# numbers, missing values and categories, held-out samples, both modes, bytes and two bits.
_EXERCISE = """
import tempfile
import numpy as np
import srs

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 12))
X[3, 2] = np.nan
X[:, 0] = np.arange(40) % 5
y = (X[:, 1] > 0).astype(int)
for dtype in (np.float32, np.float64):
    with tempfile.TemporaryDirectory() as folder:
        store = srs.ingest(
            X.astype(dtype), folder + "/s.zarr", target={"c": y, "n": X[:, 1]}, categorical=[0]
        )
        srs.select(store, max_trees=4, holdout=0.2)
        srs.select(store, max_trees=4, mode="paper", target="n")
srs.select(srs.ingest((X > 0.5) * 1.0, target=y), max_trees=4)
from srs.ingest.encode import Coded, encode_dosages, encode_into
from srs.ingest.bands import turn
from srs.ingest.sparse_values import SparseValues
from srs.ingest.vcf_zarr import count_alleles
encode_dosages(np.zeros((2, 8), np.int8), np.zeros((2, 8), np.uint8), np.zeros(2, np.uint8))
for calls in (np.zeros((2, 8, 2), np.int8), np.frombuffer(bytes(32), np.int8).reshape(2, 8, 2)):
    count_alleles(calls, np.zeros((2, 8), np.int8), 0, 0)  # decoded bytes are read-only
for dtype in (np.float32, np.float64):
    for rows in (X.astype(dtype), X.astype(dtype)[:, 1:]):  # of files, and a part of them
        for writeable in (True, False):
            rows.flags.writeable = writeable
            encode_into(rows.T, Coded.empty(*rows.T.shape))
    band = turn(np.array([0, 1, 1]), np.zeros(1, np.int32), np.ones(1, dtype), 8, 0)
    values = SparseValues((8, 2), np.dtype(dtype))
    values.add(*band)
    values.encode_wholes(slice(0, 8), np.zeros((8, 2), np.uint8), np.zeros(8, np.uint8))
    values[0:8]
"""
