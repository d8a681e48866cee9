"""libsvm and svmlight files, parsed by scikit-learn some megabytes at a time.

What a file calls 5 is the feature f5: names count from 0 if it has a feature 0, else from 1. What a
line does not name is 0. Columns are `label`, the first field of each line, and `qid`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import SourceError
from srs.ingest.block import ColumnBlock, Wanted, numeric_block, read_from_blocks, small_block
from srs.ingest.encode.transpose_sparse import SparseSpill
from srs.ingest.formats.arrays.hdf5 import file_record
from srs.ingest.formats.format import Format
from srs.ingest.readers.fields import is_number
from srs.ingest.readers.sparse import KEPT_SHARE
from srs.store.layout import Annotation

LARGEST = 2**31 - 2  # number of a feature
TEXT_COPIES = 12  # of a piece of the file while it is parsed: items as lists, arrays, turned
LEAST_PIECE = 1 << 16
_QUERY = re.compile(rb"^[ \t]*[^\s#]+[ \t]+qid:(\d+)", re.MULTILINE)


class LibsvmSource:
    """The file is read when it is opened; its samples wait in a temporary file, by features."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        self._path = path
        self.record: Mapping[str, Any] = file_record("libsvm", path, wanted) | {
            "targets": list(wanted.columns)
        }
        self.dtype = np.dtype(np.float64)
        kept_mem = wanted.mem // KEPT_SHARE
        self._spill = SparseSpill(wanted.folder, self.dtype, kept_mem)
        self._labels: list[np.ndarray] = []
        self._queries: list[bytes] = []
        self._takes_queries = "qid" in wanted.columns
        self._lowest = LARGEST
        self.n_samples = n_items = 0
        try:
            piece = max(LEAST_PIECE, wanted.mem // TEXT_COPIES)
            with path.open("rb") as file:
                while lines := file.read(piece):
                    n_items += self._add(lines + file.readline())
            if not self.n_samples:
                raise SourceError(f"{path} has no samples: it is empty.")
        except BaseException:
            self._spill.close()
            raise
        self._shift = int(self._lowest >= 1)
        self.n_features = self._spill.n_features - self._shift
        numbers = range(self._shift, self._spill.n_features)
        self.names: Sequence[str] | None = [f"f{i}" for i in numbers] if self._shift else None
        self.sample_ids: Sequence[str] | None = None
        self.notices: Sequence[str] = ()
        self.annotations: Mapping[str, Annotation] = {}
        share = n_items / max(1, self.n_samples * self.n_features)
        self.held, self.in_memory = 8 + int(24 * min(1.0, share)) + 1, False
        self.fixed_mem = min(kept_mem, 12 * n_items + 8 * (self._spill.n_features + 1))

    def _add(self, lines: bytes) -> int:
        """Take the lines of one piece; the number of their items."""
        from sklearn.datasets import load_svmlight_file

        try:
            found, labels = load_svmlight_file(
                io.BytesIO(lines), n_features=LARGEST + 1, zero_based=True
            )[:2]
        except (ValueError, OverflowError, OSError) as error:
            fault = _find_fault(self._path) or f" cannot be read as libsvm: {error}"
            raise SourceError(f"{self._path}{fault}") from None
        if not found.shape[0]:
            return 0
        top = int(found.indices.max()) + 1 if found.nnz else 0
        self._lowest = min(self._lowest, int(found.indices.min()) if found.nnz else LARGEST)
        found.resize((found.shape[0], top))
        self._spill.add(self.n_samples, top, found.indptr, found.indices, found.data)
        self._labels.append(labels)
        if self._takes_queries:
            self._queries += _QUERY.findall(lines)
        self.n_samples += found.shape[0]
        return int(found.nnz)

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        n_features = small_block(n_features, self.n_samples * self.dtype.itemsize)
        for first in range(0, self.n_features, n_features):
            n_here = min(n_features, self.n_features - first)
            yield numeric_block(
                first, self._spill.read(first + self._shift, n_here, self.n_samples)
            )

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        return read_from_blocks(self, feature_ids)

    def column(self, name: str) -> np.ndarray:
        if name == "label":
            return np.concatenate(self._labels)
        if name != "qid":
            raise SourceError(
                f"the target {name!r}: {self._path} has only 'label' and 'qid', and no file."
            )
        if len(self._queries) != self.n_samples:
            raise SourceError(
                f"{self._path} has a qid in {len(self._queries)} of {self.n_samples} lines: give "
                "one in every line, or in none."
            )
        return np.array(self._queries).astype(np.int64)

    def close(self) -> None:
        self._spill.close()


def _find_fault(path: Path) -> str | None:
    """Where the first line is that is no sample: scikit-learn does not say."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            label, *items = line.split("#")[0].split() or ("0",)
            if not is_number(label):
                return f", line {number}: the label {label!r} is not a number."
            last = -1
            for item in items:
                feature, _, value = item.partition(":")
                if feature == "qid":
                    continue
                if not (feature.isdecimal() and is_number(value)):
                    return f", line {number}: {item!r} is not the number of a feature and a value."
                if not last < int(feature) <= LARGEST:
                    return f", line {number}: {item!r} is out of order, or its number is too large."
                last = int(feature)
    return None


def open_libsvm(path: Path, wanted: Wanted) -> LibsvmSource:
    return LibsvmSource(path, wanted)


LIBSVM_FORMAT = Format(
    name="libsvm",
    title="libsvm and svmlight",
    help="one sample per line, `5:` is the feature f5; `target` label or qid",
    open=open_libsvm,
    suffixes=(".libsvm", ".svmlight", ".svm"),
    safe=True,
)
