"""Values of relevant features for their effects: as exact as the store and its source allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srs.engine.context import RunContext
from srs.engine.memory import projected_mem
from srs.errors import SRSError
from srs.memory import MB
from srs.store.layout import CATEGORICAL, DOSAGE_STEPS, FRACTIONS, MISSING, NUMERIC, ORDINAL

MOST_VALUES = 1 << 22  # of the relevant features: 32 MB
MOST_IN_SOURCE = 1 << 28  # values of a source that is read again for some of its features
SOURCE_MEM = 130 * MB  # what reading it takes: pandas, the format's library, a buffer
ALLELE, LEVEL, DEVIATION = "allele", "level", "standard deviation"
VALUES, RANKS = "values", "ranks"


@dataclass(frozen=True)
class FeatureValues:
    """One feature as effects need it.

    x       float64 by sample: values; NaN is missing
    per     what an effect is per; None: levels have no order
    step    how much that is, in units of x
    scale   VALUES or RANKS
    labels  names of levels, of which x are the numbers; empty for others
    is_dosage  whether x counts alleles
    """

    x: np.ndarray
    per: str | None
    step: float
    scale: str = VALUES
    labels: tuple[str, ...] = ()
    is_dosage: bool = False


def values_of(context: RunContext, places: np.ndarray) -> list[FeatureValues]:
    """The features at these places, all samples."""
    store = context.store
    ids = np.asarray(store.feature_ids[places], np.int64)
    codes = store.read_places(places)
    kinds = store.kinds[ids]
    dosages = store.dosages
    masks = np.zeros(len(ids), np.uint8) if dosages is None else dosages[ids]
    numeric = np.flatnonzero((kinds == NUMERIC) & (masks == 0))
    read = _read(context, ids[numeric])
    found = []
    for at, feature_id in enumerate(ids.tolist()):
        column = codes[:, at]
        if masks[at]:
            found.append(_dosages(column, int(masks[at])))
        elif kinds[at] in (CATEGORICAL, ORDINAL):
            found.append(_levels(column, int(kinds[at]), store.labels(feature_id)))
        elif read is not None:
            found.append(_numbers(read[:, int(np.searchsorted(numeric, at))], VALUES, context))
        else:
            found.append(_numbers(_ranks(column, context.train), RANKS, context))
    return found


def _read(context: RunContext, ids: np.ndarray) -> np.ndarray | None:
    """Values of numeric features; None if they cannot be had, or not without reading too much."""
    store = context.store
    base = getattr(store, "base", store)
    if not len(ids) or len(ids) * base.n_samples > MOST_VALUES:
        return None
    try:
        kept = store.kept_values(ids)
        if kept is not None:
            return kept.astype(np.float64)
        if base.n_features * base.n_samples > MOST_IN_SOURCE:
            return None
        needed = projected_mem(context.shape, 1, resident=True) + SOURCE_MEM
        if needed > context.settings.allowed_mem:
            return None
        from srs.ingest.values import read_values  # with pandas: 30 MB that few runs need

        return read_values(store, ids)
    except (SRSError, OSError):  # the source is gone, or another by now
        return None


def _dosages(codes: np.ndarray, mask: int) -> FeatureValues:
    occurring = np.array([float(dosage) for dosage in range(3) if mask >> dosage & 1])
    if mask == FRACTIONS:
        occurring = np.arange(MISSING) / DOSAGE_STEPS
    x = np.full(256, np.nan)
    x[: len(occurring)] = occurring
    return FeatureValues(x[codes], ALLELE, 1.0, is_dosage=True)


def _levels(codes: np.ndarray, kind: int, labels: tuple[str, ...]) -> FeatureValues:
    x = np.where(codes == MISSING, np.nan, codes)
    ordered = kind == ORDINAL or len(labels) == 2
    return FeatureValues(x, LEVEL if ordered else None, 1.0, labels=labels)


def _ranks(codes: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Mid-ranks of the codes among the training samples, from 0 to 1."""
    counts = np.bincount(codes[train], minlength=256)[:MISSING].astype(np.float64)
    middle = np.cumsum(counts) - counts / 2
    x = np.append(middle / max(counts.sum(), 1.0), np.nan)
    found: np.ndarray = x[codes]
    return found


def _numbers(x: np.ndarray, scale: str, context: RunContext) -> FeatureValues:
    x = np.where(np.isinf(x), np.nan, x)
    known = x[context.train]
    known = known[~np.isnan(known)]
    levels = np.unique(known)
    if len(levels) == 2:
        return FeatureValues(x, LEVEL, float(levels[1] - levels[0]), scale)
    return FeatureValues(x, DEVIATION, float(known.std()) if len(known) else 1.0, scale)
