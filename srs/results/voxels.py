"""What maps of images show of a voxel."""

from __future__ import annotations

import math

LARGEST = 300.0  # p-values are not told below 1e-300
LEAST = 1e-3  # so that no relevant voxel is left out of a map


def map_value(p_value: float | None) -> float:
    """Minus the decimal logarithm of a p-value, above 0.

    >>> map_value(0.001), map_value(0.0), map_value(1.0)
    (3.0, 300.0, 0.001)
    """
    if p_value is None or math.isnan(p_value):
        return LEAST
    if p_value <= 0:
        return LARGEST
    return max(min(-math.log10(p_value), LARGEST), LEAST)
