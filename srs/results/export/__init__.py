"""Write what a run selected in the user's own format: `export` is the entry, one file a format.

A thin door, as `srs.ingest` is: what writes a format is imported when it is asked for.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from srs.results.result import Result
    from srs.store import FeatureStore

__all__ = ["export"]


def export(
    run: Result | str | os.PathLike[str],
    to: str,
    path: str | os.PathLike[str] | None = None,
    *,
    store: FeatureStore | str | os.PathLike[str] | None = None,
    into: str | os.PathLike[str] | None = None,
    table: str | None = None,
) -> Path:
    """Write the selected features of a run with their original values, or a table of its results;
    returns the file.

    run    a result, or the folder of a run
    to     "csv", "parquet", "h5ad" (all of them with samples and targets), "bed" (variants), or
           "nifti" (a map of the relevant voxels: minus the decimal logarithm of the p-value)
    path   file to write; None: `selected.csv` and the like in the folder of the run
    store  the feature store, if it is not where the run found it
    into   with "h5ad": an AnnData file to whose `var` the results of all features are added, as
           srs_relevant, srs_p_value, srs_q_value and srs_importance; with `path`, to a copy of it
    table  write results instead: "features" (all of them), "effects" and "profiles" of relevant
           features, "pairs", or "clusters" and "voxels" of images, as "tsv", "csv" or "parquet";
           "features" also as "gwas-ssf" or "regenie", summary statistics of variants, or as
           "ro-crate": all files of the run with what made them (.zip, a folder, or None: in the
           folder of the run); needs no store
    """
    if table is not None:
        from srs.results.export.results import write_results

        return write_results(run, to, path, table)
    from srs.results.export.write import write_selected

    return write_selected(run, to, path, store, into)
