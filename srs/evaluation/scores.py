"""Scores of predictions for samples that were not learned from, with 95 % intervals.

Errors come from the influence of each sample on the score (LeDell, Petersen and van der Laan 2015
for the AUC; the delta method for R2), summed over the samples of a subject. Samples of different
folds are never compared: their predictions come from different models. With confounders, samples
of different strata are not compared either, so that what a confounder predicts does not count.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

COVERAGE = 0.95


@dataclass(frozen=True)
class Score:
    """A score with its interval.

    measure         "auc" or "r2"
    value           None if it cannot be computed, e.g. no fold has two classes
    low, high       95 % interval
    standard_error  of the value
    n_independent   samples, or subjects, that it rests on
    """

    measure: str
    value: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    n_independent: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def make_score(
    measure: str,
    value: float,
    influence: np.ndarray,
    units: np.ndarray,
    bounds: tuple[float, float],
) -> Score:
    """A score from the influence of each sample on it; samples of a unit are not independent."""
    used = influence != 0
    n_units = len(np.unique(units[used]))
    if n_units < 2 or not np.isfinite(value):
        known = float(value) if np.isfinite(value) else None
        return Score(
            measure=measure,
            value=known,
            low=None,
            high=None,
            standard_error=None,
            n_independent=n_units,
        )
    sums = np.bincount(units, influence)
    error = float(np.sqrt((sums**2).sum() * n_units / (n_units - 1)))
    half = float(stdtrit(n_units - 1, (1 + COVERAGE) / 2)) * error
    low, high = max(value - half, bounds[0]), min(value + half, bounds[1])
    return Score(
        measure=measure,
        value=float(value),
        low=low,
        high=high,
        standard_error=error,
        n_independent=n_units,
    )


def auc(shares: np.ndarray, classes: np.ndarray, cells: np.ndarray, units: np.ndarray) -> Score:
    """Area under the ROC curve; of more than two classes, the mean of each against all others.

    shares   float (n_samples, n_classes): predictions
    classes  int: the truth
    cells    int: samples that may be compared, those of a fold and stratum
    units    int: samples of a subject
    """
    n_classes = shares.shape[1]
    asked = [1] if n_classes == 2 else list(range(n_classes))
    values, influences = [], []
    for one in asked:
        value, influence = _one_auc(shares[:, one], classes == one, cells)
        if value is not None:
            values.append(value)
            influences.append(influence)
    if not values:
        return make_score("auc", np.nan, np.zeros(len(classes)), units, (0.0, 1.0))
    influence = np.mean(influences, axis=0)
    return make_score("auc", float(np.mean(values)), influence, units, (0.0, 1.0))


def _one_auc(
    score: np.ndarray, is_case: np.ndarray, cells: np.ndarray
) -> tuple[float | None, np.ndarray]:
    """The share of comparable pairs whose case has the higher score, and the influences."""
    wins, n_others = np.zeros(len(score)), np.zeros(len(score))
    for cell in np.unique(cells):
        cases = np.flatnonzero(is_case & (cells == cell))
        controls = np.flatnonzero(~is_case & (cells == cell))
        if not len(cases) or not len(controls):
            continue
        wins[cases] = _above(score[cases], score[controls])
        wins[controls] = len(cases) - _above(score[controls], score[cases])
        n_others[cases], n_others[controls] = len(controls), len(cases)
    n_pairs = n_others[is_case].sum()
    if not n_pairs:
        return None, wins
    value = wins[is_case].sum() / n_pairs
    return float(value), (wins - value * n_others) / n_pairs


def _above(these: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each of these, how many of the others are below it; half of those that are equal.

    >>> _above(np.array([1.0, 2.0]), np.array([1.0, 3.0])).tolist()
    [0.5, 1.0]
    """
    ordered = np.sort(others)
    low = np.searchsorted(ordered, these, side="left")
    high = np.searchsorted(ordered, these, side="right")
    return np.asarray((low + high) / 2.0)


def r2(predicted: np.ndarray, truth: np.ndarray, expected: np.ndarray, units: np.ndarray) -> Score:
    """Share of the squared error of what is expected without features that predictions take away.

    expected  the mean of the training samples, with confounders those of the stratum
    """
    wrong, spread = (truth - predicted) ** 2, (truth - expected) ** 2
    n, total = len(truth), spread.mean()
    if not total:
        return make_score("r2", np.nan, np.zeros(n), units, (-np.inf, 1.0))
    ratio = wrong.mean() / total
    influence = -((wrong - wrong.mean()) / total - ratio * (spread - total) / total) / n
    return make_score("r2", float(1.0 - ratio), influence, units, (-np.inf, 1.0))


def jaccard(lists: list[set[int]]) -> float | None:
    """Mean share of features that two lists have in common; None if all of them are empty.

    >>> jaccard([{1, 2}, {1, 2}, {1}]), jaccard([set(), set()])
    (0.6666666666666666, None)
    """
    shared = [len(a & b) / len(a | b) for i, a in enumerate(lists) for b in lists[i + 1 :] if a | b]
    return sum(shared) / len(shared) if shared else None
