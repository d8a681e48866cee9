"""A target: one value a sample, that features are to tell of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Target:
    """One target of a feature store.

    name    as given at ingest
    kind    what kind of target it is, e.g. "classes" or "numbers", see `srs.targets.registry`
    values  int32 class codes (n_samples,), or float64 values; -1 and NaN where a sample has none;
            of kinds that need more than one number a sample (n_samples, k)
    labels  label of each class code, also of float64 codes of ordered classes; empty for numbers
    """

    name: str
    kind: str
    values: np.ndarray
    labels: tuple[str, ...] = ()

    @property
    def n_classes(self) -> int:
        return len(self.labels) if self.has_classes else 0

    @property
    def has_classes(self) -> bool:
        """Whether the values are codes of classes without order; else they are numbers."""
        return bool(self.labels) and self.values.dtype.kind in "iu"

    @property
    def missing(self) -> np.ndarray:
        """bool (n_samples,): samples that have no value."""
        if self.has_classes:
            return np.asarray(self.values < 0)
        found = np.isnan(self.values)
        return np.asarray(found if found.ndim == 1 else found.any(axis=1))

    @property
    def n_outputs(self) -> int:
        """Numbers that a tree predicts for a sample."""
        return max(1, self.n_classes)
