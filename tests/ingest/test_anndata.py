"""AnnData files that anndata wrote: dense and sparse, layers, raw, obs columns, damage."""

from importlib import import_module

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.encode.transpose_sparse import SparseSpill
from srs.ingest.values import read_values

N, P = 37, 25
RNG = np.random.default_rng(4)
DENSE = np.where(RNG.random((N, P)) < 0.7, 0.0, RNG.normal(size=(N, P))).astype(np.float32)
DENSE[3, 5] = np.nan
NAMES = [f"gene{i}" for i in range(P)]
IDS = [f"cell{i}" for i in range(N)]
FORMS = {
    "dense": np.asarray,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
}


def make_anndata(form, values=DENSE):
    # anndata that installs beside pandas 3 writes texts of dtype object only.
    kinds = pd.Index(["B", "NK", "T"], dtype=object)
    types = pd.Categorical.from_codes(np.array([2, 0, 1])[np.arange(N) % 3], kinds)
    obs = pd.DataFrame(
        {"cell_type": types, "age": np.arange(N) / 2, "ok": pd.array([True, False] * 18 + [True])},
        index=pd.Index(IDS, dtype=object),
    )
    var = pd.DataFrame({"length": np.arange(P)}, index=pd.Index(NAMES, dtype=object))
    made = anndata.AnnData(FORMS[form](values), obs=obs, var=var)
    made.layers["doubled"] = FORMS[form](values * 2)
    made.raw = made
    return made


def write(form, suffix, folder):
    path = folder / f"cells{suffix}"
    made = make_anndata(form)
    made.write_h5ad(path) if suffix == ".h5ad" else made.write_zarr(path)
    return path


@pytest.mark.parametrize("suffix", [".h5ad", ".zarr"])
@pytest.mark.parametrize("form", FORMS)
def test_matrices_become_the_same_store_as_the_array(form, suffix, tmp_path):
    path = write(form, suffix, tmp_path)
    store = ingest(path, tmp_path / "s.zarr", target="obs:cell_type")
    expected = ingest(
        DENSE,
        target={"cell_type": np.array(["T", "B", "NK"])[np.arange(N) % 3]},
        names=NAMES,
        sample_ids=IDS,
    )
    assert store.fingerprint == expected.fingerprint
    assert store.read_codes([5])[3, 0] == 255
    np.testing.assert_array_equal(read_values(store, [24, 5, 0]), DENSE[:, [24, 5, 0]])
    layer = ingest(path, tmp_path / "l.zarr", dataset="layers/doubled", target="age")
    assert layer.target().kind == "numbers"
    np.testing.assert_array_equal(read_values(layer, [7]), 2 * DENSE[:, [7]])
    raw = ingest(path, dataset="raw/X", target="ok")
    assert raw.feature_names == NAMES
    assert raw.target().labels == ("False", "True")


def test_sparse_samples_are_turned_in_bands(tmp_path, monkeypatch):
    """Guards the temporary file: bands of few samples give what one band gives."""
    path = write("csr", ".h5ad", tmp_path)
    expected = ingest(path)
    monkeypatch.setattr(import_module("srs.ingest.readers.sparse"), "BAND_COPIES", 10**6)
    monkeypatch.setattr(import_module("srs.ingest.plan"), "BLOCK_BYTES", 7 * N * 4)
    bands, add = [], SparseSpill.add
    monkeypatch.setattr(SparseSpill, "add", lambda *given: bands.append(given[1]) or add(*given))
    assert ingest(path, tmp_path / "s.zarr").fingerprint == expected.fingerprint
    assert len(bands) > 5


def test_what_is_refused(tmp_path):
    path = write("csr", ".h5ad", tmp_path)
    for options, message in (
        ({"dataset": "layers/none"}, "has no 'layers/none'; there are X, layers/doubled, raw/X"),
        ({"target": "sex"}, "'sex': obs of .* has no such column; it has cell_type, age, ok"),
        ({"orientation": "features"}, "says itself what its samples are"),
    ):
        with pytest.raises(SourceError, match=message):
            ingest(path, **options)


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [("indices", 10**6, "index outside its shape"), ("indptr", -1, "line starts")],
)
def test_damaged_sparse_matrices_are_refused(part, value, message, tmp_path):
    import h5py

    path = write("csr", ".h5ad", tmp_path)
    with h5py.File(path, "r+") as file:
        file[f"X/{part}"][3] = value
    with pytest.raises(SourceError, match=message):
        ingest(path)
