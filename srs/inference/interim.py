"""The interim decision within the loop: which features are relevant so far, and nothing else.

The same rule as `srs.inference.decide`, whose verdicts on all features come at the end
(`srs.inference.final`).
"""

from __future__ import annotations

import numpy as np

from srs.evidence.arrays import Evidence
from srs.inference.combine import small_p_values
from srs.inference.decide import find_drawn
from srs.inference.fdr import q_values
from srs.inference.knockoff import knockoff_plus


def find_relevant(
    evidence: Evidence,
    kinds: tuple[str, ...],
    fdr: float,
    *,
    feature_classes: np.ndarray | None = None,
    excluded: np.ndarray | None = None,
    rule: str = "tail",
) -> np.ndarray:
    """Places of the features that `decide` calls relevant, for a fraction of its time and memory.

    Only p-values are held that could be relevant: a few in a hundred.
    """
    drawn = find_drawn(evidence, excluded)
    if rule == "knockoff":
        return np.flatnonzero(drawn & knockoff_plus(evidence, kinds, fdr, feature_classes))
    small, _, weights = small_p_values(evidence, kinds, feature_classes, drawn, fdr)
    found = [(at, p / weights[kind]) for kind in kinds for at, p in small[kind]]
    if not found:
        return np.empty(0, np.int64)
    at, p_value = (np.concatenate(column) for column in zip(*found, strict=True))
    places, which = np.unique(at[p_value <= fdr], return_inverse=True)
    combined = np.ones(len(places))
    np.minimum.at(combined, which, p_value[p_value <= fdr])
    n_drawn = int(np.count_nonzero(drawn))
    some = _may_be_relevant(combined, n_drawn, fdr)
    rates = q_values(combined[some], n_drawn)
    relevant: np.ndarray = places[some][rates <= fdr].astype(np.int64)
    return relevant


def _may_be_relevant(p_value: np.ndarray, n_drawn: int, fdr: float) -> np.ndarray:
    """Which of these, the p-values up to `fdr` of n_drawn features, could have such a rate.

    With m features of p-values up to a cut, no p-value above fdr x m / n_drawn has.
    """
    cut = fdr
    while True:
        some: np.ndarray = p_value <= cut
        lower = fdr * np.count_nonzero(some) / max(1, n_drawn)
        if lower >= cut:
            return some
        cut = lower
