"""A second look at pairs of features, on their codes: what the bits of all pairs point to.

The bits (`srs.evidence.pairs`) see one cut of a feature, and the best of many partners. A test on
the codes (`srs.inference.interaction`) sees a few levels of both, and needs no null of probes: what
it says of one pair, times the number of partners that a feature could have, is a p-value of the
feature. It adds to what the bits say, for features that are not clearly without a partner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from srs.engine.context import RunContext
from srs.inference.interaction import (
    Interaction,
    count_levels,
    cut_levels,
    interaction_of_classes,
    interaction_of_numbers,
    least_samples,
)

POINTED = 0.02  # p-value by the bits, up to which a pair is looked at again
MOST_LOOKS = 500  # pairs, the strongest first
BITS_SHARE = 0.8  # of the level of a feature is for the bits, the rest for the second look


class Levels:
    """Levels of features among the training samples, and what they tell of the target."""

    def __init__(self, context: RunContext, places: Iterable[int]) -> None:
        self._context = context
        self._places = np.unique(np.fromiter(places, np.int64))
        self._codes = context.read_places(self._places)[context.train]
        target = context.target
        self.has_classes = not len(target.values)
        values = target.classes if self.has_classes else target.values * target.unit
        self.outcome = values[context.train]
        strata = context.samples.strata
        self.strata = None if strata is None else strata[context.train]
        self.n_outcomes = target.n_classes if self.has_classes else 1
        counts = np.bincount(self.outcome) if self.has_classes else np.array([1, 1])
        smallest = counts[counts > 0].min() / counts.sum()
        self._least = least_samples(len(self.outcome), float(smallest))
        self._known: dict[tuple[int, int], np.ndarray] = {}

    @property
    def n_levels(self) -> int:
        """Levels that the samples allow."""
        return count_levels(len(self.outcome), max(2, self.n_outcomes))

    def of(self, place: int, n_levels: int) -> np.ndarray:
        """Levels of a feature; a hub has many partners, and is cut once."""
        known = self._known.get((place, n_levels))
        if known is None:
            by_subset = self._context.splits_by_subset
            categorical = by_subset is not None and bool(by_subset[place])
            column = int(np.searchsorted(self._places, place))
            found = cut_levels(self._codes[:, column], n_levels, categorical, self._least)
            known = self._known[place, n_levels] = found.astype(np.int16)  # below 256
        return known

    def interaction(self, first: np.ndarray, second: np.ndarray) -> Interaction:
        if self.has_classes:
            return interaction_of_classes(first, second, self.outcome, self.strata)
        return interaction_of_numbers(first, second, self.outcome)


def look_at_pairs(context: RunContext, pairs: np.ndarray) -> Iterator[Interaction]:
    """What each of some pairs tells; int64 (k, 2), by place.

    Codes of as many pairs are held at once as fit in the place of a batch.
    """
    size = max(1, context.batch_mem // (16 * context.shape.n_samples))  # codes, levels and tables
    for start in range(0, len(pairs), size):
        some = pairs[start : start + size]
        levels = Levels(context, some.ravel().tolist())
        n = levels.n_levels
        for first, second in some.tolist():
            yield levels.interaction(levels.of(first, n), levels.of(second, n))


def look_twice(context: RunContext, log_p: np.ndarray, partner: np.ndarray) -> None:
    """Put what a second look tells into -log(p) and the partner of each feature, by place.

    Samples of one subject are not independent, and the test takes them to be: with subjects there
    is no second look. Nor is there with covariates, which the test does not know of.
    """
    pairs = _pointed(log_p, partner)
    samples = context.samples
    if samples.subjects is not None or samples.covariates is not None or not len(pairs):
        return
    n_partners = context.shape.n_features - 1
    found = np.array([one.p_value for one in look_at_pairs(context, pairs)])
    again = -np.log(np.minimum(1.0, found * (n_partners / (1.0 - BITS_SHARE))))
    log_p[log_p >= -np.log(POINTED)] += np.log(BITS_SHARE)
    for (first, second), value in zip(pairs.tolist(), again.tolist(), strict=True):
        for place, other in ((first, second), (second, first)):
            if value > log_p[place]:
                log_p[place], partner[place] = value, other


def _pointed(log_p: np.ndarray, partner: np.ndarray) -> np.ndarray:
    """int64 (k, 2): the pairs to look at, the strongest first."""
    places = np.flatnonzero((log_p >= -np.log(POINTED)) & (partner >= 0))
    both = np.sort(np.stack([places, partner[places].astype(np.int64)], axis=1), axis=1)
    both, first = np.unique(both, axis=0, return_index=True)
    order = np.lexsort((both[:, 1], both[:, 0], -log_p[places[first]]))
    found: np.ndarray = both[order][:MOST_LOOKS]
    return found
