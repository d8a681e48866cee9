"""Series matrices of GEO, and other matrices of arrays with features as rows."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.values import read_values
from tests.ingest.formats.examples import FRAME, VALUES, write_series

N = 14


def write(path: Path, *, said: str = "", rows: str | None = None, end: bool = True) -> Path:
    """A series matrix; `said`: further lines above the table."""
    ids = "\t".join(f'"GSM{i}"' for i in range(N))
    values = "\n".join(f'"cg{j}"\t' + "\t".join(f"{v:g}" for v in VALUES[:, j]) for j in range(6))
    text = (
        f'!Series_title\t"The "first" series, 5\' of it"\n{said}!series_matrix_table_begin\n'
        f'"ID_REF"\t{ids}\n{values if rows is None else rows}\n'
        + ("!series_matrix_table_end\n" if end else "")
    )
    with gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w") as file:
        file.write(text)
    return path


def line(key: str, texts: list[str]) -> str:
    return "\t".join([f"!Sample_{key}", *(f'"{text}"' for text in texts)]) + "\n"


def test_values_names_and_ids(tmp_path: Path):
    write_series(tmp_path / "GSE1_series_matrix.txt.gz")
    given = {"target": "age", "target_kind": "numbers"}
    path = tmp_path / "GSE1_series_matrix.txt.gz"
    store = ingest(path, tmp_path / "s.zarr", **given)
    assert store.feature_names == list(FRAME.columns)
    assert store.sample_ids == list(FRAME.index)
    assert store.target().values.tolist() == list(range(20, 34))
    np.testing.assert_array_equal(read_values(store, [5, 1]), VALUES[:, [5, 1]])
    same = ingest(path, orientation="features", **given)
    assert same.fingerprint == store.fingerprint


def test_what_is_said_of_samples_can_be_a_target(tmp_path: Path):
    """Characteristics of one line may differ by sample, and values may hold colons."""
    said = (
        line("title", [f"sample {i}" for i in range(N)])
        + line("characteristics_ch1", [f"age: {20 + i}" for i in range(N)])
        + line("characteristics_ch1", ["smoker: no"] * 3 + [""] + ["smoker: a:b"] * 10)
        + line("characteristics_ch1", ["dose: 1"] * 7 + ["sex: F"] * 7)
        + line("source_name_ch1", ["blood", "brain"] * 7)
        + line("contact_name", ["only one"])
    )
    path = write(tmp_path / "x.txt", said=said)
    ages = ingest(path, target="age", target_kind="numbers").target().values
    assert ages.tolist() == list(range(20, 34))
    smoker = ingest(path, target="smoker")
    assert smoker.target().labels == ("a:b", "no")
    assert smoker.n_samples == N - 1
    assert ingest(path, target="source_name_ch1").target().labels == ("blood", "brain")
    with pytest.raises(SourceError, match=r"says title, age, smoker.* did you mean 'smoker'\?"):
        ingest(path, target="smokers")


def test_what_is_refused(tmp_path: Path):
    with pytest.raises(SourceError, match="keeps the values of such a series in supplementary"):
        ingest(write(tmp_path / "a.txt", rows=""))
    with pytest.raises(SourceError, match="ends before !series_matrix_table_end"):
        ingest(write(tmp_path / "b.txt", end=False))
    with pytest.raises(SourceError, match=r"c\.txt, line 4: 3 fields instead of 15"):
        ingest(write(tmp_path / "c.txt", rows='"cg0"\t1\t2'))
    (tmp_path / "d.txt").write_text('!Series_title\t"x"\n')
    with pytest.raises(SourceError, match="there is no line !series_matrix_table_begin"):
        ingest(tmp_path / "d.txt")
    whole = write(tmp_path / "e.txt.gz").read_bytes()
    (tmp_path / "e.txt.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match=r"e\.txt\.gz"):
        ingest(tmp_path / "e.txt.gz")


def test_p_values_of_detection_are_left_out(tmp_path: Path):
    """As GenomeStudio writes them: two columns for each sample."""
    names = [f"s{i}{end}" for i in range(N) for end in (".AVG_Beta", ".Detection Pval")]
    rows = [
        "\t".join([f"cg{j}", *(f"{v:g}\t0.01" for v in np.nan_to_num(VALUES[:, j]))])
        for j in range(6)
    ]
    with gzip.open(tmp_path / "x.txt.gz", "wt") as file:
        file.write("\n".join(["\t".join(["ID_REF", *names]), *rows]) + "\n")
    store = ingest(tmp_path / "x.txt.gz", tmp_path / "s.zarr", orientation="features")
    assert (store.n_samples, store.n_features) == (N, 6)
    assert store.sample_ids[:2] == ["s0.AVG_Beta", "s1.AVG_Beta"]
    assert "14 columns of p-values of detection were left out." in store.manifest.notices
    np.testing.assert_array_equal(read_values(store, [2]), np.nan_to_num(VALUES[:, [2]]))
