"""A format whose library is not installed says what to install, and unknown kinds what is known."""

import sys

import pytest

from srs.errors import SourceError
from srs.ingest import ingest


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("x.h5ad", "h5py", "h5py"),
        ("x.h5", "h5py", "h5py"),
        ("x.bed", "bed_reader", "bed-reader"),
        ("x.nii", "nibabel", "nibabel"),
        ("x.pgen", "pgenlib", "pgenlib"),
        ("x.bgen", "bgen", "bgen"),
        ("x.vcf", "cyvcf2", "cyvcf2"),
    ],
)
def test_missing_libraries(name, module, package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / name).write_bytes(b"anything")
    said = rf"needs the package {package}: pip install 'srs-select\[formats\]'"
    with pytest.raises(SourceError, match=said):
        ingest(tmp_path / name)


def test_unknown_kinds(tmp_path):
    (tmp_path / "x.docx").write_bytes(b"anything")
    with pytest.raises(SourceError, match=r"the format of .*x\.docx is unknown: give .*\.h5ad"):
        ingest(tmp_path / "x.docx")
