"""Which pairs of features are worth a second look, and which relevant features no test explains."""

from __future__ import annotations

import numpy as np

from srs.evidence.arrays import Evidence
from srs.evidence.pairs.kind import PAIRS
from srs.evidence.told import PARTNER
from srs.evidence.univariate.kind import UNIVARIATE
from srs.inference.decide import CLEARLY_NULL
from srs.inference.fdr import q_values

MOST_PAIRS = 300  # that are looked at again, the strongest first


def strong_pairs(
    evidence: Evidence, drawn: np.ndarray, fdr: float, relevant: np.ndarray, by_pairs: np.ndarray
) -> np.ndarray:
    """int64 (k, 2): places of relevant features and of their partners.

    Both are relevant, and *pairs* alone would find them; or *pairs* adds most to what is known of
    one. The smaller place first, the strongest pair first.

    by_pairs: places of the relevant features that *pairs* adds most to
    """
    if PAIRS.name not in evidence.by_kind or PARTNER not in evidence.told:
        return np.empty((0, 2), np.int64)
    log_p = evidence.by_kind[PAIRS.name][0]
    partner = evidence.told[PARTNER]
    places = np.flatnonzero(drawn & (log_p > -np.log(fdr)) & (partner >= 0))
    rates = q_values(np.exp(-log_p[places].astype(np.float64)), int(np.count_nonzero(drawn)))
    places = places[rates <= fdr]
    places = places[np.isin(places, relevant) & np.isin(partner[places], relevant)]
    places = np.union1d(places, by_pairs[partner[by_pairs] >= 0])
    both = np.sort(np.stack([places, partner[places].astype(np.int64)], axis=1), axis=1)
    both, first = np.unique(both, axis=0, return_index=True)
    strength = log_p[places[first]]
    found: np.ndarray = both[np.lexsort((both[:, 1], both[:, 0], -strength))][:MOST_PAIRS]
    return found


def unexplained(evidence: Evidence, relevant: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Places of relevant features that neither tell alone nor are in one of the pairs.

    They were found in trees, given features that the trees had split before.
    """
    if UNIVARIATE.name not in evidence.by_kind:
        return np.empty(0, np.int64)
    alone = np.exp(-evidence.by_kind[UNIVARIATE.name][0][relevant]) <= CLEARLY_NULL
    found: np.ndarray = relevant[~alone & ~np.isin(relevant, pairs)]
    return found
