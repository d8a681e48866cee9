"""The zarr feature store: `layout` says what it looks like, `writer` writes it, `feature_store`
opens and reads it. How sources become codes is `srs.ingest`."""

from srs.store.feature_store import Chosen, FeatureStore, open_store
from srs.store.layout import CATEGORICAL, KIND_NAMES, MISSING, NUMERIC, ORDINAL, Target

__all__ = [
    "CATEGORICAL",
    "KIND_NAMES",
    "MISSING",
    "NUMERIC",
    "ORDINAL",
    "Chosen",
    "FeatureStore",
    "Target",
    "open_store",
]
