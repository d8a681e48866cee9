"""p-values of importances that are as often below 0 as above where a feature is irrelevant.

Janitza et al. (2018): the importances that are not positive, and their mirror images, are what
irrelevant features have. That holds for MDA on samples that a forest has not seen, and for MDI less
that of permuted copies; it takes many features, of which many are irrelevant.
"""

from __future__ import annotations

import numpy as np

FEW = 100  # importances that are not positive: with fewer, p-values are coarse


def mirrored_p_values(values: np.ndarray) -> np.ndarray:
    """The share of the mirrored null that reaches each value; never 0.

    >>> mirrored_p_values(np.array([-1.0, 0.0, 0.5, 2.0])).tolist()
    [1.0, 0.75, 0.5, 0.25]
    """
    below, zero = values[values < 0], values[values == 0]
    null = np.sort(np.concatenate([below, zero, -below]))
    reached = len(null) - np.searchsorted(null, values, side="left")
    return np.asarray((reached + 1.0) / (len(null) + 1.0))


def few_mirrored(values: np.ndarray) -> tuple[str, ...]:
    """A sentence for the reader where the null is made of few features."""
    n = int((values <= 0).sum())
    if n >= FEW:
        return ()
    return (
        f"The null distribution is made of the {n} features whose importance is not positive, and "
        f"with fewer than {FEW} of them the p-values are coarse and none can be small: explain "
        f"more features at once, or use feature-permutation.",
    )
