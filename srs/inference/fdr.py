"""p-values to q-values: the false discovery rate at which a feature would just be selected.

Made in pieces, so that of millions of features little more is held than p- and q-values.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, pdtr, pdtrik

from srs.evidence.arrays import PIECE

CONFIDENCE = 0.95  # that the share of false features is at most the false discovery rate
FEW_FALSE = 0.75  # expected false features, up to which no such confidence is asked for


def q_values(p_values: np.ndarray, n: int | None = None, *, confident: bool = False) -> np.ndarray:
    """The smallest false discovery rate at which each feature would be selected.

    n          features that were tested, if those with a p-value of 1 were left out
    confident  whether the rate must hold for a list, not only in the mean over lists

    At a cut that selects k features, n x p false ones are expected (Benjamini-Hochberg); as a share
    of k, that is the rate. Confident: if features were independent, there would be at most the
    Poisson quantile of that with confidence CONFIDENCE, which counts where more than FEW_FALSE are
    expected, and the larger of the two is taken.

    >>> import numpy as np
    >>> q_values(np.array([0.001, 0.2, 1.0])).round(3).tolist()
    [0.003, 0.3, 1.0]
    """
    n = len(p_values) if n is None else n
    order = np.argsort(p_values)
    n_below = int(np.searchsorted(p_values, 1.0, sorter=order))  # others have a rate of 1
    found, least = np.ones(len(p_values)), 1.0
    for start in reversed(range(0, n_below, PIECE)):
        here = order[start : min(start + PIECE, n_below)]
        some = np.minimum(_rates(p_values[here], start, n, confident)[::-1], least)
        rates = np.minimum.accumulate(some)[::-1]
        least = float(rates[0])
        found[here] = rates
    return found


def _rates(ordered: np.ndarray, n_before: int, n: int, confident: bool) -> np.ndarray:
    """The rate if just the features up to each of these ascending p-values were selected."""
    expected = ordered * n
    ranks = np.arange(n_before + 1, n_before + 1 + len(ordered))
    rate: np.ndarray = expected / ranks
    if not confident:
        return rate
    few = (rate < 1.0) & (expected > FEW_FALSE)  # elsewhere the quantile, slow to compute, is idle
    rate[few] = np.maximum(expected[few], poisson_quantile(expected[few])) / ranks[few]
    return rate


def poisson_quantile(mean: np.ndarray) -> np.ndarray:
    """The smallest k with P(Poisson(mean) <= k) >= CONFIDENCE; beyond 1,000 by its normal limit."""
    quantile: np.ndarray = np.ceil(mean + ndtri(CONFIDENCE) * np.sqrt(mean))
    small = mean < 1_000
    means = np.maximum(mean[small], 1e-9)
    found = np.ceil(np.maximum(pdtrik(CONFIDENCE, means), 0.0))
    one_less = np.maximum(found - 1.0, 0.0)  # rounding in pdtrik may make it one too large
    quantile[small] = np.where(pdtr(one_less, means) >= CONFIDENCE, one_less, found)
    return quantile


def count_rejected(p_values: np.ndarray, n: int, fdr: float) -> int:
    """How many of n features Benjamini-Hochberg selects; p-values that are left out are 1.

    >>> import numpy as np
    >>> count_rejected(np.array([0.001, 0.04, 0.5]), 4, 0.1)
    2
    """
    small = np.sort(p_values[p_values <= fdr])
    passing = np.flatnonzero(small <= fdr * np.arange(1, len(small) + 1) / n)
    return int(passing[-1]) + 1 if len(passing) else 0
