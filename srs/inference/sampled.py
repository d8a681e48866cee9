"""p-values of a kind of evidence whose null is a sample of probes, not those of all features.

Looking at all pairs of features and all of their probes would take three times as long; some ten
thousand probes tell the null of a feature class as well. The statistic comes on a scale on which
the tail of its null is exponential with mean 1, if its approximation holds; the probes say what the
mean is, and whether the tail is heavier.
"""

from __future__ import annotations

import numpy as np
from scipy.special import pdtrc

from srs.inference.feature_classes import join_small
from srs.inference.null import Null

TAIL_SHARE = 0.05  # of the null, that the mean of the tail is taken from
LEAST_TAIL = 25  # values of the null that this takes


def log_p_values(
    statistic: np.ndarray,
    null: np.ndarray,
    null_places: np.ndarray,
    feature_classes: np.ndarray,
) -> np.ndarray:
    """-log(p) of features by place, float32; negative where a feature has no statistic.

    statistic        by place; 0 or less: there is none
    null             of the probes in the sample
    null_places      places of the features that these were made of
    feature_classes  by place
    """
    n_classes = int(feature_classes.max(initial=0)) + 1
    counts = np.bincount(feature_classes[null_places], minlength=n_classes)
    joined = join_small(counts, 1)
    of_features, of_probes = joined[feature_classes], joined[feature_classes[null_places]]
    found = np.full(len(statistic), -1.0, np.float32)
    for number in range(int(joined.max(initial=0)) + 1):
        sample = np.sort(null[(of_probes == number) & (null > 0)])
        places = np.flatnonzero((of_features == number) & (statistic > 0))
        if len(sample) and len(places):
            found[places] = _log_p(statistic[places].astype(np.float64), sample)
    return found


def _log_p(observed: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """-log(p) against an ordered sample: ranks, and beyond its upper part an exponential tail."""
    found: np.ndarray = -np.log(Null.of(sample.copy()).p_values(observed))
    n_tail = int(len(sample) * TAIL_SHARE)
    if n_tail < LEAST_TAIL:
        return found
    threshold = float(sample[len(sample) - n_tail - 1])
    excess = sample[len(sample) - n_tail :].astype(np.float64) - threshold
    # One standard error more: p-values far beyond the sample hang on the mean.
    mean = max(1.0, float(excess.mean())) * (1.0 + n_tail**-0.5)
    if not _reaches(excess, mean):
        return found
    far = observed > threshold
    found[far] = (observed[far] - threshold) / mean - np.log(n_tail / len(sample))
    return found


def _reaches(excess: np.ndarray, mean: float) -> bool:
    """Whether the largest, the 5th and the 20th excess are as far as such a tail lets expect.

    Not how the tail looks in its body: bits of few samples give a statistic that moves in steps.
    """
    ranks = np.array([rank for rank in (1, 5, 20) if rank <= len(excess)])
    expected = len(excess) * np.exp(-excess[len(excess) - ranks] / mean)
    return bool((pdtrc(ranks - 1, expected) > 0.001).all())
