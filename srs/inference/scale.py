"""Evidence in units of its mean among like features, so that kinds and classes compare."""

from __future__ import annotations

import numpy as np

from srs.evidence.arrays import PIECE, Evidence

LEAST_SCALE = 0.1  # of the largest: in a class with hardly any evidence nothing is large
MAX_PAIRS = 1 << 20  # pairs of a feature and a probe that scales are taken from


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


def pair_scales(evidence: Evidence, kind: str, feature_classes: np.ndarray | None) -> np.ndarray:
    """float32 (256,): in each feature class, what the upper tenth of one kind of evidence exceeds
    where nothing is relevant.

    It comes from the smaller one of each feature and its first probe: of two like columns both
    are in the upper tenth in a hundredth of the pairs. That does not change if the two are swapped,
    and features that are relevant hardly matter, because theirs is the probe's. A mean would not
    do: features that are nearly constant have mostly no evidence, and a few have by chance many
    times the mean.
    """
    n_features = len(evidence.n_drawn)
    places = np.arange(0, n_features, max(-(-n_features // MAX_PAIRS), 1), dtype=np.int32)
    smaller = evidence.statistic(kind, slice(0, 2), places).min(axis=0)
    numbers = np.zeros(len(places), np.uint8)
    if feature_classes is not None:
        numbers = feature_classes[places]
    scales = np.zeros(256, np.float32)
    for number in np.unique(numbers):
        scales[number] = np.quantile(smaller[numbers == number], 0.99)
    least = max(LEAST_SCALE * float(scales.max()), 1e-30)
    return np.maximum(scales, np.float32(least))


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
