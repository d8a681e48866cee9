"""Names and ids of features by place, as users know them."""

from __future__ import annotations

import numpy as np

from srs.engine.context import RunContext
from srs.results.feature_table import names_of


class FeatureNames:
    """Names and ids of features by place."""

    def __init__(self, context: RunContext) -> None:
        self._store = context.store
        self._packed = context.store.packed_names() if context.store.has_names else None

    def id_of(self, place: int) -> int:
        row = int(self._store.feature_ids[place])
        return row if self._store.selection is None else int(self._store.source_ids[row])

    def of(self, place: int) -> str:
        row = int(self._store.feature_ids[place])
        found: str = names_of(self._packed, np.array([self.id_of(place)]), row)[0].as_py()
        return found
