"""Write feature stores from data: `ingest` is the entry, each format has its module.

The entry stands here as a thin door, so that `import srs` costs nothing: what reads data is
imported when data are read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from srs.store import FeatureStore

__all__ = ["ingest"]


def ingest(
    source: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    target: Any = None,
    memory: str | int = "1GB",
    orientation: str = "samples",
    names: Sequence[str] | str | os.PathLike[str] | None = None,
    sample_ids: Sequence[str] | str | os.PathLike[str] | None = None,
    categorical: Sequence[str | int] = (),
    target_kind: str | Mapping[str, str] | None = None,
    event: Any = None,
    exposure: Any = None,
    ordinal: Sequence[Any] | str | None = None,
    keep_values: bool | None = None,
    table: Any = None,
    covariates: Sequence[str] = (),
    dataset: str | None = None,
    mask: str | os.PathLike[str] | None = None,
    id_column: str | None = None,
    overwrite: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> FeatureStore:
    """Write a feature store from a source, and open it.

    source       an array, a DataFrame, or a path to a file or folder: `srs.formats()` lists all
    path         folder of the new store; None: keep it in memory
    target       values, a file of them, a column of the source, or a mapping from names to these
    memory       memory limit of the process, not counting a source in memory
    orientation  "samples" or "features": what a row of the source is
    names        names of the features, or a file with one per line; None: those of the source
    sample_ids   ids of the samples, or a file with one per line; None: those of the source
    categorical  names or ids of numeric features to read as categories
    target_kind  "classes", "ordinal", "numbers", "count" or "survival", by target if a mapping;
                 None: decide by values
    event        of a time to event, 1 where the event was seen and 0 where it is censored:
                 values, a file of them, or a column, as `target`, which is then the time
    exposure     of a count, the time or amount that it was counted in, given alike
    ordinal      levels of the target from low to high: it is then of ordered classes
    keep_values  also store the original values; None: only if the source cannot be read again
    table        table of the samples, joined by sample id: a DataFrame or a .csv, .tsv, .txt or
                 .parquet file; `target` and `covariates` may name its columns. Samples without a
                 row or a target are left out, and notices say how many
    covariates   columns of `table` that become features, to be pinned in a run
    dataset      which array of a file with several: "layers/counts" of an AnnData file, a path in
                 an HDF5 file or zarr group, a variable of a MATLAB file, DS of a VCF file
    mask         NIfTI image; its voxels other than 0 are the features
    id_column    column of the source or of `table` that holds the sample ids and is not a
                 feature; None: found by its name, e.g. "sample_id"; "": none, only names of rows
    overwrite    replace a feature store at `path`
    on_progress  called with the number of features done and the total number

    >>> import numpy as np
    >>> ingest(np.array([[1.0, 5.0], [2.0, 5.5], [3.0, 4.0]]), target=["a", "b", "b"])
    <FeatureStore memory: 2 features x 3 samples>
    """
    given = locals()
    from srs.ingest.write import write_store

    return write_store(given.pop("source"), given.pop("path"), **given)
