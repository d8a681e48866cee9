"""Call every kernel of ingest with the types that sources have: `python -m srs.ingest.exercise`.

Nothing imports it: it is the program of the process that compiles (`srs.trees.compiling`).
"""

from __future__ import annotations

import tempfile

import numpy as np

from srs.ingest import ingest
from srs.ingest.encode.codes import Coded, encode_dosages, encode_fractions, encode_into
from srs.ingest.encode.sparse_values import SparseValues
from srs.ingest.encode.transpose_sparse import turn
from srs.ingest.formats.domains.pgen import mark_missing
from srs.ingest.formats.domains.vcf import count_allele
from srs.ingest.formats.domains.vcf_zarr import count_alleles


def call_all() -> None:
    """Call every kernel once: both widths of values, missing values and categories, bytes and two
    bits, sparse values, dosages and genotypes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    X[3, 2] = np.nan
    X[:, 0] = np.arange(40) % 5
    y = (X[:, 1] > 0).astype(int)
    for dtype in (np.float32, np.float64):
        with tempfile.TemporaryDirectory() as folder:
            ingest(X.astype(dtype), folder + "/s.zarr", target=y, categorical=[0])
    ingest((X > 0.5) * 1.0, target=y)
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
    for calls in (np.zeros((2, 8, 2), np.int8), np.frombuffer(bytes(32), np.int8).reshape(2, 8, 2)):
        count_alleles(calls, np.zeros((2, 8), np.int8), 0, 0)  # decoded bytes are read-only
    for kind in (np.int8, np.float32):
        mark_missing(np.zeros(8, kind), kind(0))
    count_allele(np.zeros((8, 3), np.int16), 1, np.zeros(8, np.int8))
    few = np.zeros(2, np.uint8)
    encode_fractions(np.zeros((2, 8), np.float32), np.zeros((2, 8), np.uint8), few, few.copy())
    encode_dosages(
        np.zeros((2, 8), np.int8), np.zeros((2, 8), np.uint8), few, few.copy()
    )  # the last, see `kernels`


if __name__ == "__main__":
    call_all()
