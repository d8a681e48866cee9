"""A target: one value a sample, that features are to tell of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Target:
    """One target of a feature store.

    name    as given at ingest
    kind    what kind of target it is, e.g. "classes" or "numbers", see `srs.targets.registry`
    values  int32 class codes (n_samples,), or float64 values; -1 and NaN where a sample has none
    labels  label of each class code; empty for numbers
    """

    name: str
    kind: str
    values: np.ndarray
    labels: tuple[str, ...] = ()

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @property
    def has_classes(self) -> bool:
        """Whether the values are codes of classes; else they are numbers."""
        return bool(self.labels)

    @property
    def missing(self) -> np.ndarray:
        """bool (n_samples,): samples that have no value."""
        found: np.ndarray = self.values < 0 if self.has_classes else np.isnan(self.values)
        return found

    @property
    def n_outputs(self) -> int:
        """Numbers that a tree predicts for a sample."""
        return max(1, self.n_classes)
