"""Files made to harm are refused by the check of their format, before they are read."""

from __future__ import annotations

import zipfile
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pytest

from srs.errors import SourceError
from srs.ingest.formats.registry import find_format


def check(path: Path) -> None:
    found = find_format(path)
    assert found is not None
    found.check_stranger(path)


def test_an_archive_that_inflates_without_end(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", b"0")
    raw = bytearray((tmp_path / "x.npz").read_bytes())
    at = raw.rindex(b"PK\x01\x02") + 24  # the claimed size, in the directory of the archive
    raw[at : at + 4] = (2**32 - 2).to_bytes(4, "little")
    (tmp_path / "x.npz").write_bytes(raw)
    with pytest.raises(SourceError, match="made to exhaust memory"):
        check(tmp_path / "x.npz")


def test_a_dataset_of_nothing(tmp_path: Path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = np.eye(4)
        file.create_dataset("group/huge", (10**6, 10**6), "f4", chunks=(1000, 1000))
    with pytest.raises(SourceError, match="group/huge claims"):
        check(tmp_path / "x.h5")


def test_an_arrow_file_whose_offsets_lead_out(tmp_path: Path):
    """Guards memory: pyarrow follows the offsets of texts without looking."""
    texts = pa.array(["a" * 8, "b" * 8, "c" * 8])
    table = pa.table({"x": texts})
    with pa.ipc.new_file(tmp_path / "x.arrow", table.schema) as file:
        file.write_table(table)
    check(tmp_path / "x.arrow")
    raw = (tmp_path / "x.arrow").read_bytes()
    offsets = np.array([0, 8, 16, 24], np.int32).tobytes()
    assert raw.count(offsets) == 1
    wrong = np.array([0, 8, 16, 10**9], np.int32).tobytes()
    (tmp_path / "x.arrow").write_bytes(raw.replace(offsets, wrong))
    with pytest.raises(SourceError, match="is damaged"):
        check(tmp_path / "x.arrow")
