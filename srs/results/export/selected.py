"""What is exported: the relevant features of a run, their values, their samples and targets."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import InputError
from srs.ingest.values import read_values
from srs.results.result import Result
from srs.store import FeatureStore, open_store
from srs.store.layout import CATEGORICAL
from srs.store.remote import is_remote
from srs.store.view import StoreView

log = logging.getLogger("srs")


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


def gather(result: Result, store: FeatureStore | str | os.PathLike[str] | None) -> Selected:
    """The relevant features of a run; InputError if there are none, or the store is another."""
    if not len(result.relevant_ids):
        raise InputError("the run found no relevant feature: there is nothing to export.")
    if store is None:
        store = found = result.document["measured"]["store"]
        if found is None:
            raise InputError("the store of the run was in memory: give it (store=).")
        if not is_remote(found) and not Path(found).exists():
            raise InputError(
                f"the store of the run, {found}, does not exist: give its path (--store)."
            )
    opened = store if isinstance(store, FeatureStore) else open_store(store)
    opened = result.part_of(opened)
    if opened.fingerprint != result.document["data"]["fingerprint"]:
        raise InputError(f"{opened!r} is not the store of the run.")
    return Selected(result, opened, result.relevant_ids)
