"""p-values of a kind of evidence whose null is a sample of probes, not those of all features.

Looking at all pairs of features and all of their probes would take three times as long; some ten
thousand probes tell the null of a feature class as well.
"""

from __future__ import annotations

import numpy as np

from srs.inference.feature_classes import join_small
from srs.inference.null import Null


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
        sample = null[(of_probes == number) & (null > 0)]
        places = np.flatnonzero((of_features == number) & (statistic > 0))
        if len(sample) and len(places):
            p_values = Null.of(sample.astype(np.float32)).p_values(statistic[places])
            found[places] = -np.log(p_values)
    return found
