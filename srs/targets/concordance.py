"""Harrell's concordance: how often of two samples the one with the higher score has more."""

from __future__ import annotations

import numpy as np


def concordance(values: np.ndarray, scores: np.ndarray, known: np.ndarray | None = None) -> float:
    """Share of comparable pairs whose scores have the order of their values; equal scores count one
    half. Not a number if no two samples can be compared.

    known  bool: whether a value is known; else it is a lower bound, and the sample is compared only
           with known smaller ones

    >>> concordance(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.3, 0.2]))
    0.6666666666666666
    """
    seen = np.ones(len(values), bool) if known is None else known
    right = pairs = 0.0
    for at in np.flatnonzero(seen):
        later = (values > values[at]) | ((values == values[at]) & ~seen)
        pairs += float(later.sum())
        right += float((scores[later] > scores[at]).sum())
        right += 0.5 * float((scores[later] == scores[at]).sum())
    return right / pairs if pairs else float("nan")
