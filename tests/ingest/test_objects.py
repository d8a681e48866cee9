"""Sparse matrices and AnnData objects in memory are the stores that their files are."""

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import srs
from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.values import read_values

RNG = np.random.default_rng(2)
VALUES = np.where(RNG.random((60, 40)) < 0.7, 0, RNG.poisson(3, (60, 40))).astype(np.float32)
VALUES[:, 7] += np.repeat([0, 4], 30)
VALUES[3, 4] = np.nan
TARGET = np.repeat(["a", "b"], 30)


@pytest.mark.parametrize("orientation", ["samples", "features"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dia"])
@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.coo_array])
def test_sparse_matrices(kind, form, orientation):
    matrix = kind(VALUES if orientation == "samples" else VALUES.T).asformat(form)
    store = ingest(matrix, target=TARGET, orientation=orientation)
    assert store.fingerprint == ingest(VALUES, target=TARGET).fingerprint


def make(**layers):
    cells = pd.Index([f"cell {i}" for i in range(60)], dtype=object)
    groups = pd.Categorical(TARGET, pd.Index(["a", "b"], dtype=object))
    obs = pd.DataFrame({"group": groups, "n": np.arange(60) % 4}, index=cells)
    var = pd.DataFrame(index=pd.Index([f"g{i}" for i in range(40)], dtype=object))
    return anndata.AnnData(VALUES.copy(), obs=obs, var=var, layers=layers)


@pytest.mark.filterwarnings("ignore:The 'mode.chained_assignment'")  # of views, in anndata
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_anndata_objects(form, tmp_path):
    cells = make(counts=2 * VALUES)
    cells.X = form(VALUES)
    cells.raw = cells
    cells.write_h5ad(tmp_path / "cells.h5ad")
    for dataset in (None, "layers/counts", "raw/X"):
        given = {"target": "obs:group", "dataset": dataset}
        store = ingest(cells, **given)
        expected = ingest(tmp_path / "cells.h5ad", **given)
        assert store.fingerprint == expected.fingerprint
        assert store.target_names == ("group",)
    part = cells[10:50, ::2]
    store = ingest(part, tmp_path / "part.zarr", target={"g": "group", "n": "n"})
    assert (store.sample_ids[0], store.feature_names[3]) == ("cell 10", "g6")
    np.testing.assert_array_equal(read_values(store, [2]), VALUES[10:50, [4]])
    assert "g7" in srs.select(ingest(cells, target="group"), max_trees=60).relevant_names


def test_anndata_objects_that_cannot_be_read(tmp_path):
    cells = make()
    for dataset in ("layers/counts", "raw/X", "obsm/pca"):
        with pytest.raises(SourceError, match=rf"has no '{dataset}'; there are X\."):
            ingest(cells, dataset=dataset)
    with pytest.raises(SourceError, match="obs has no such column; it has group, n"):
        ingest(cells, target="obs:kind")
    with pytest.raises(SourceError, match="leave out the orientation"):
        ingest(cells, orientation="features")
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(SourceError, match=r"is backed by a file: give the file, .*cells.h5ad"):
        ingest(backed)
    backed.file.close()
    with pytest.raises(SourceError, match="a dict cannot be a source"):
        ingest({})
