"""Evidence in units of its mean among like features, so that kinds and classes compare."""

from __future__ import annotations

import numpy as np

from srs.evidence.arrays import PIECE, Evidence


def class_scales(evidence: Evidence, kind: str, feature_classes: np.ndarray | None) -> np.ndarray:
    """float32 (256,): the mean of one kind of evidence in each feature class, probes included."""
    totals, counts = np.zeros(256), np.zeros(256)
    n_features = len(evidence.n_drawn)
    for start in range(0, n_features, PIECE):
        places = np.arange(start, min(start + PIECE, n_features), dtype=np.int32)
        means = evidence.statistic(kind, places=places).mean(axis=0)
        numbers = (
            np.zeros(len(places), np.uint8) if feature_classes is None else feature_classes[places]
        )
        totals += np.bincount(numbers, weights=means, minlength=256)
        counts += np.bincount(numbers, minlength=256)
    scales: np.ndarray = np.maximum(totals / np.maximum(counts, 1), 1e-30).astype(np.float32)
    return scales


def scaled_statistic(
    evidence: Evidence, kind: str, feature_classes: np.ndarray | None
) -> np.ndarray:
    """One kind of evidence in units of its mean in the feature's feature class, probes included."""
    statistic = evidence.statistic(kind)
    held = np.may_share_memory(statistic, evidence.by_kind[kind])  # and must not be changed
    if feature_classes is None or feature_classes.max(initial=0) == 0:
        mean = np.float32(max(float(statistic.mean()), 1e-30))
        shared: np.ndarray = np.divide(statistic, mean, out=None if held else statistic)
        return shared
    scale = class_scales(evidence, kind, feature_classes)
    scaled = np.empty_like(statistic) if held else statistic
    for start in range(0, len(feature_classes), PIECE):
        here = slice(start, start + PIECE)
        np.divide(statistic[:, here], scale[feature_classes[here]], out=scaled[:, here])
    return scaled
