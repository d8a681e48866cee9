"""Samples that have no value of the target, or of another column that a run uses, are left out."""

from __future__ import annotations

import numpy as np

from srs.engine.adjusting.strata import sample_column
from srs.errors import InputError
from srs.settings import Settings
from srs.store import FeatureStore
from srs.store.view import StoreView


def used_columns(settings: Settings) -> list[str | None]:
    """The target (None: the first) and the columns of samples that a run uses."""
    more = (*settings.confounders, settings.subjects, settings.sample_weight)
    return [settings.target, *(name for name in more if name is not None)]


def with_known_samples(store: FeatureStore, settings: Settings) -> FeatureStore:
    """The store, or the part of it whose samples have a value of all that a run uses."""
    if not store.target_names:
        return store  # the run says what is wrong
    known = ~store.target(settings.target).missing
    for name in used_columns(settings)[1:]:
        known &= ~sample_column(store, str(name)).missing
    if known.all():
        return store
    if known.sum() < 2:
        raise InputError(
            f"only {int(known.sum())} of {store.n_samples} samples have a value of the target "
            f"{store.target(settings.target).name!r} and of the other columns that the run uses."
        )
    return store.view(np.flatnonzero(known))


def missing_notices(store: FeatureStore, settings: Settings) -> list[str]:
    """Which columns made a run leave out samples, one sentence each."""
    if not isinstance(store, StoreView):
        return []
    notices = []
    for name in used_columns(settings):
        column = store.base.target(name)
        if n_missing := int(column.missing.sum()):
            samples = "1 sample" if n_missing == 1 else f"{n_missing} samples"
            notices.append(
                f"{column.name!r} is missing in {samples} of the store, which this run leaves out."
            )
    return notices
