"""What is exported: the relevant features of a run, their values, their samples and targets."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import InputError
from srs.ingest.values import read_values, values_unchanged
from srs.result import Result, load_result
from srs.store import FeatureStore, open_store
from srs.store.layout import CATEGORICAL
from srs.store.remote import is_remote
from srs.store.view import StoreView

log = logging.getLogger("srs")

SUFFIXES = {
    "h5ad": ".h5ad",
    "bed": ".bed",
    "nifti": ".nii.gz",
    "csv": ".csv",
    "parquet": ".parquet",
}


@dataclass(frozen=True)
class Selected:
    """The relevant features of a run.

    result  the run
    store   what it used: the store, or the part of it
    ids     their feature ids in the whole store
    """

    result: Result
    store: FeatureStore
    ids: np.ndarray

    @property
    def whole(self) -> FeatureStore:
        """The whole store, where `ids` count."""
        return self.store.base if isinstance(self.store, StoreView) else self.store

    @property
    def samples(self) -> np.ndarray:
        """Numbers of the samples in the whole store."""
        if isinstance(self.store, StoreView):
            return self.store.samples
        return np.arange(self.store.n_samples)

    @property
    def names(self) -> list[str]:
        return self.result.relevant_names

    @cached_property
    def values(self) -> np.ndarray:
        """float64 (n_samples, k): original values; NaN missing, categories are their numbers."""
        return np.asarray(read_values(self.whole, self.ids)[self.samples])

    def labels(self, column: int) -> tuple[str, ...]:
        """Categories of a selected feature; empty for the others."""
        if self.whole.kinds[self.ids[column]] != CATEGORICAL:
            return ()
        return self.whole.labels(int(self.ids[column]))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What the run says of each of them."""
        rows: list[dict[str, Any]] = list(self.result.document["outcome"]["relevant"])
        return rows

    @property
    def source(self) -> dict[str, Any]:
        """Where the values came from, as the store's manifest says."""
        return dict(self.store.manifest.source)

    def own(self) -> np.ndarray:
        """Which of `ids` are features of the source itself, for formats that hold no others; a
        warning names the covariates that are left out."""
        n_own = self.whole.n_features - len(self.source.get("covariates", ()))
        others = [name for name, i in zip(self.names, self.ids, strict=True) if i >= n_own]
        if len(others) == len(self.ids):
            raise InputError("all relevant features are covariates: export them to csv.")
        if others:
            log.warning("covariates are left out of the file: %s.", ", ".join(others))
        return np.flatnonzero(self.ids < n_own)


def write_selected(
    run: Result | str | os.PathLike[str],
    to: str,
    path: str | os.PathLike[str] | None,
    store: FeatureStore | str | os.PathLike[str] | None,
    into: str | os.PathLike[str] | None,
) -> Path:
    """See `srs.export.export`."""
    result = run if isinstance(run, Result) else load_result(run)
    if to not in SUFFIXES:
        raise InputError(f"there is no format {to!r}; there are {', '.join(SUFFIXES)}.")
    if into is not None:
        from srs.export.anndata import add_to_var

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
            raise InputError("a result in memory has no folder: say where the export goes.")
        path = Path(run) / f"selected{SUFFIXES[to]}"
    destination = Path(path)
    _refuse_existing(destination)
    selected = gather(result, store)
    _writer(to)(selected, destination)
    return destination


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise InputError(f"{path} exists already: choose another path.")


def _copy(source: Path, path: Path) -> Path:
    """A copy of an AnnData file or folder."""
    _refuse_existing(path)
    if not source.exists():
        raise InputError(f"{source} does not exist.")
    shutil.copytree(source, path) if source.is_dir() else shutil.copyfile(source, path)
    return path


def _writer(to: str) -> Callable[[Selected, Path], None]:
    if to == "h5ad":
        from srs.export.anndata import write_h5ad

        return write_h5ad
    if to == "bed":
        from srs.export.plink import write_bed

        return write_bed
    if to == "nifti":
        from srs.export.nifti import write_map

        return write_map
    from srs.export.tables import write_csv, write_parquet

    return write_csv if to == "csv" else write_parquet


def gather(result: Result, store: FeatureStore | str | os.PathLike[str] | None) -> Selected:
    """The relevant features of a run; InputError if there are none, or the store is another."""
    if not len(result.relevant_ids):
        raise InputError("the run found no relevant feature: there is nothing to export.")
    if store is None:
        store = found = result.document["measured"]["store"]
        if found is None:
            raise InputError("the store of the run was in memory: give it (store=).")
        if not is_remote(found) and not Path(found).exists():
            raise InputError(f"the store of the run, {found}, is not there: say where (--store).")
    opened = store if isinstance(store, FeatureStore) else open_store(store)
    opened = result.part_of(opened)
    if opened.fingerprint != result.document["data"]["fingerprint"]:
        raise InputError(f"{opened!r} is another store than the one of the run.")
    return Selected(result, opened, result.relevant_ids)
