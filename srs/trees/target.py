"""What trees learn: classes or numbers as the kernel wants them, and how much each sample counts.

All sums that the kernel makes are of whole numbers, and so exact: scores do not depend on the
order of addition, and mirrored splits tie.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from srs.trees.records import KernelTarget

VALUE_BITS = 30  # of a numeric target
MASS_BITS = 20  # of the mass of all samples: the table of x log x for so many takes 8 MiB
FINE, COARSE = 64, 16  # most and fewest steps of a weight of average size


@dataclass(frozen=True)
class TreeTarget:
    """What a tree learns.

    A numeric target is kept as whole numbers: its distance from the mean in units of 2**-30 of
    the largest one. Sums of them are exact in float64 up to 2**22 samples, so scores do not depend
    on the order of addition, nor on how far the target is from 0, and mirrored splits tie.

    classes    int32 (n_samples,): class numbers; zeros for a numeric target
    values     float64 (n_samples,): the numeric target in units; empty for classes
    n_classes  number of classes; 1 for a numeric target
    unit       what a unit is worth; 1 for classes
    offset     mean of the numeric target; 0 for classes
    weights    int32 (n_samples,): how much a sample counts, see `weigh`; empty: all alike
    """

    classes: np.ndarray
    values: np.ndarray
    n_classes: int
    unit: float = 1.0
    offset: float = 0.0
    weights: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))

    @classmethod
    def of_classes(cls, classes: np.ndarray, n_classes: int) -> TreeTarget:
        return cls(np.ascontiguousarray(classes, np.int32), np.empty(0), int(n_classes))

    @classmethod
    def of_values(cls, values: np.ndarray, bits: int = VALUE_BITS) -> TreeTarget:
        offset = float(np.mean(values, dtype=np.float64))
        distance = np.asarray(values, np.float64) - offset
        unit = float(np.abs(distance).max(initial=0.0)) * 2.0**-bits or 1.0
        return cls(np.zeros(len(distance), np.int32), np.rint(distance / unit), 1, unit, offset)

    def weigh(self, weights: np.ndarray) -> TreeTarget:
        """The target with weighted samples; trees may see only those whose weight is above 0.

        Weights become whole numbers, of which an average one has FINE (with very many samples
        COARSE) steps: a weight below half a step is 0. Where that makes all equal, there are none.

        >>> target = TreeTarget.of_classes(np.array([0, 0, 0, 1]), 2)
        >>> target.weigh(np.array([1.0, 1.0, 1.0, 3.0])).weights.tolist()
        [43, 43, 43, 128]
        >>> target.weigh(np.full(4, 0.7)).weights.tolist()
        []
        """
        steps = min(FINE, max(COARSE, (1 << MASS_BITS) // len(weights)))
        whole = np.rint(weights * (steps / np.mean(weights))).astype(np.int32)
        if (whole == whole[0]).all():
            return self
        spare = 52 - VALUE_BITS - int(np.ceil(np.log2(whole.sum(dtype=np.int64))))
        if len(self.values) and spare < 0:  # products must add up exactly, too
            values = self.values * self.unit + self.offset
            return replace(self.of_values(values, VALUE_BITS + spare), weights=whole)
        return replace(self, weights=whole)

    def take(self, samples: np.ndarray) -> TreeTarget:
        """The target of some samples."""
        values = self.values[samples] if len(self.values) else self.values
        weights = self.weights[samples] if len(self.weights) else self.weights
        return replace(self, classes=self.classes[samples], values=values, weights=weights)

    @cached_property
    def products(self) -> np.ndarray:
        """Values x weights, or the values themselves where there are no weights."""
        if not len(self.weights) or not len(self.values):
            return self.values
        return np.asarray(self.values * self.weights)

    @cached_property
    def for_kernel(self) -> KernelTarget:
        return KernelTarget(
            classes=self.classes,
            values=self.values,
            products=self.products,
            weights=self.weights,
            n_classes=self.n_classes,
            unit=self.unit,
        )

    def mass(self, rows: np.ndarray) -> int:
        """Summed weights of the samples of a tree; of several trees, one a row, the largest."""
        if not len(self.weights):
            return int(rows.shape[-1])
        return int(self.weights[rows].sum(axis=-1, dtype=np.int64).max())


@lru_cache(maxsize=4)
def nlogn_table(n: int) -> np.ndarray:
    """x log2 x for x = 0..n, the table that entropies are made from."""
    x = np.arange(n + 1, dtype=np.float64)
    x[1:] *= np.log2(x[1:])
    return x
