"""The zarr feature store.

`layout` says what it looks like, `writer` writes it, `opening` and `reader` open and read it,
`view` is a part of one, `remote` is object storage. How sources become codes is `srs.ingest`.
"""

from srs.store.layout import CATEGORICAL, KIND_NAMES, MISSING, NUMERIC, ORDINAL
from srs.store.opening import open_store
from srs.store.reader import Chosen, FeatureStore
from srs.targets.target import Target

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
