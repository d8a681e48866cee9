"""Write what a run selected: which format, where to, and results added to a file of the user."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from srs.errors import InputError
from srs.ingest.values import values_unchanged
from srs.results.export.selected import Selected, gather
from srs.results.result import Result, load_result
from srs.store import FeatureStore, open_store

SUFFIXES = {
    "h5ad": ".h5ad",
    "bed": ".bed",
    "nifti": ".nii.gz",
    "csv": ".csv",
    "parquet": ".parquet",
}


def write_selected(
    run: Result | str | os.PathLike[str],
    to: str,
    path: str | os.PathLike[str] | None,
    store: FeatureStore | str | os.PathLike[str] | None,
    into: str | os.PathLike[str] | None,
) -> Path:
    """See `srs.export`."""
    result = run if isinstance(run, Result) else load_result(run)
    if to not in SUFFIXES:
        raise InputError(f"there is no format {to!r}; there are {', '.join(SUFFIXES)}.")
    if into is not None:
        from srs.results.export.anndata import add_to_var

        if to != "h5ad":
            raise InputError("results are added to AnnData files only: use --to h5ad.")
        if path is not None:
            return add_to_var(_copy(Path(into), Path(path)), result)
        found = store or result.document["measured"]["store"]
        if found is None or (not isinstance(found, FeatureStore) and not Path(found).exists()):
            return add_to_var(Path(into), result)
        opened = found if isinstance(found, FeatureStore) else open_store(found)
        with values_unchanged(opened, Path(into)):
            return add_to_var(Path(into), result)
    if path is None:
        if isinstance(run, Result):
            raise InputError("a result in memory has no folder: give a path for the export.")
        path = Path(run) / f"selected{SUFFIXES[to]}"
    destination = Path(path)
    refuse_existing(destination)
    selected = gather(result, store)
    _writer(to)(selected, destination)
    return destination


def refuse_existing(path: Path) -> None:
    """Nothing is written over."""
    if path.exists():
        raise InputError(f"{path} exists already: choose another path.")


def _copy(source: Path, path: Path) -> Path:
    """A copy of an AnnData file or folder."""
    refuse_existing(path)
    if not source.exists():
        raise InputError(f"{source} does not exist.")
    shutil.copytree(source, path) if source.is_dir() else shutil.copyfile(source, path)
    return path


def _writer(to: str) -> Callable[[Selected, Path], None]:
    if to == "h5ad":
        from srs.results.export.anndata import write_h5ad

        return write_h5ad
    if to == "bed":
        from srs.results.export.plink import write_bed

        return write_bed
    if to == "nifti":
        from srs.results.export.nifti import write_map

        return write_map
    from srs.results.export.tables import write_csv, write_parquet

    return write_csv if to == "csv" else write_parquet
