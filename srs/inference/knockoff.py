"""The knockoff+ filter: a second opinion, or the rule on request."""

from __future__ import annotations

import numpy as np

from srs.evidence.arrays import PIECE, Evidence
from srs.inference.scale import pair_scales


def knockoff_plus(
    evidence: Evidence,
    kinds: tuple[str, ...],
    fdr: float,
    feature_classes: np.ndarray | None = None,
) -> np.ndarray:
    """Which features the knockoff+ filter selects: bool by place.

    A feature competes with its own (first) probe: the difference of their best evidence is as
    likely positive as negative if the feature is irrelevant. Needs at least 1 / fdr discoveries.
    """
    lead = _leads(evidence, kinds, feature_classes)
    ordered = np.sort(lead)
    # The smallest cut that serves: {lead >= cut} changes at the values of features that lead only.
    for start in range(int(np.searchsorted(ordered, 0.0, side="right")), len(ordered), PIECE):
        cuts = ordered[start : start + PIECE]
        n_wins = len(ordered) - np.searchsorted(ordered, cuts, side="left")
        n_losses = np.searchsorted(ordered, -cuts, side="right")
        good = np.flatnonzero((1.0 + n_losses) / n_wins <= fdr)
        if len(good):
            chosen: np.ndarray = lead >= cuts[good[0]]
            return chosen
    return np.zeros(len(lead), np.bool_)


def _leads(
    evidence: Evidence, kinds: tuple[str, ...], feature_classes: np.ndarray | None
) -> np.ndarray:
    """float32 by place: the best evidence of a feature less that of its first probe."""
    scales = {kind: pair_scales(evidence, kind, feature_classes) for kind in kinds}
    lead = np.empty(len(evidence.n_drawn), np.float32)
    for start in range(0, len(lead), PIECE):
        places = np.arange(start, min(start + PIECE, len(lead)), dtype=np.int32)
        best = np.zeros((2, len(places)), np.float32)
        for kind in kinds:
            scale = scales[kind][0 if feature_classes is None else feature_classes[places]]
            np.maximum(best, evidence.statistic(kind, slice(0, 2), places) / scale, out=best)
        np.subtract(best[0], best[1], out=lead[places[0] : places[-1] + 1])
    return lead
