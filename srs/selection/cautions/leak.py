"""Features that are the target itself, or nearly: a recoding of it, or known only because of it.

What tells such a feature from a strong one is not how well it separates few samples (one gene of
ten thousand may separate twenty by chance, and the best genes separate seventy well), but that it
makes no errors where a measurement would make some. So the rules are:

- few levels: a feature of few levels that tell the class of every sample, or of nearly every one.
  Chance must be ruled out, see `_by_chance`;
- many levels: at most `SLIP` errors for each sample outside of the largest class, with 95 %
  confidence: some 150 such samples are needed. A marker with an area under the curve of 0.99
  makes five times as many;
- numbers: the ranks of feature and target have a correlation that explains `SAME` of the variance,
  the target is a smooth function of the feature to the same degree, or a few levels of the feature
  cut the target into ranges.

A missing value is a level of its own: what is known only of cases tells who is a case.
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from srs.selection.groups.association import MISSING

FEW_LEVELS = 5
MIN_MINOR = 10  # samples outside of the largest class
SLIP = 0.02  # errors for each of these
SURE = 3.0  # none in n: with 95 % confidence at most 3 in n
CHANCE = 0.001  # expected number of features that do as well by chance
SAME = 0.99
MIN_NUMBERS = 20  # samples with different numbers
CUT_LEVELS = 10  # levels of a feature that may cut a numeric target into ranges


def is_target(code: np.ndarray, target: np.ndarray, categorical: bool, n_features: int) -> bool:
    """Whether a feature is the target, or nearly.

    code         uint8 (n_samples,); 255 is missing
    target       class numbers (whole), or numbers (float)
    categorical  whether codes have no order
    n_features   features that were searched

    >>> y = np.arange(60) % 2
    >>> is_target((1 - y).astype(np.uint8), y, False, 1_000)
    True
    >>> is_target(np.arange(60, dtype=np.uint8) + 10 * y.astype(np.uint8), y, False, 1_000)
    False
    """
    if target.dtype.kind == "f":
        return _is_number(code, target, categorical)
    counts = np.bincount(target)
    n_classes, n_minor = int(np.count_nonzero(counts)), len(target) - int(counts.max())
    levels = np.unique(code)
    if n_minor < MIN_MINOR:
        return False
    table = _table(code, target, len(counts))
    known, missing = table[:MISSING].sum(axis=0), table[MISSING]
    few = [np.stack([known, missing])]  # whether a value is known may tell the class, too
    if len(levels) <= max(FEW_LEVELS, n_classes):
        few.append(table)
    n_errors = min(_errors_by_level(one) for one in few)
    if n_errors <= SLIP * n_minor and _by_chance(counts, n_errors, n_features) < CHANCE:
        return True
    n_errors = _errors_by_level(table, left_out=True)
    if not categorical:
        n_errors = min(n_errors, _errors_by_cut(table))
    return n_errors + SURE <= SLIP * n_minor


def _table(code: np.ndarray, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """int64 (256, n_classes): samples of each level and class."""
    joined = code.astype(np.int64) * n_classes + classes
    return np.bincount(joined, minlength=256 * n_classes).reshape(256, n_classes)


def _errors_by_level(table: np.ndarray, left_out: bool = False) -> int:
    """Samples that are not of the most frequent class of their level.

    left_out: each judged by the others of its level, so that rare levels tell nothing.
    """
    top = table.max(axis=1)
    wrong = int((table.sum(axis=1) - top).sum())
    if not left_out:
        return wrong
    second = np.sort(table, axis=1)[:, -2] if table.shape[1] > 1 else np.zeros(len(table))
    return wrong + int(top[top - 1 <= second - (second > 0)].sum())


def _errors_by_cut(table: np.ndarray) -> int:
    """Fewest errors where each class has one range of levels; missing values are apart.

    Ranges are in the order of the classes' middle levels.
    """
    known, missing = table[:MISSING], table[MISSING]
    present = np.flatnonzero(known.sum(axis=0))
    beside = int(missing.sum() - missing.max())
    if not len(present):
        return beside
    below = np.cumsum(known[:, present], axis=0)
    middle = (2 * below >= below[-1]).argmax(axis=0)
    right = np.zeros(MISSING + 1, np.int64)  # most samples right up to each level
    for column in np.argsort(middle, kind="stable"):
        gained = np.concatenate([[0], below[:, column]])
        right = np.maximum.accumulate(right - gained) + gained
    return beside + int(known.sum() - right[-1])


def _by_chance(counts: np.ndarray, n_errors: int, n_features: int) -> float:
    """Expected number of features that tell the classes with so few errors by chance."""
    counts = counts[counts > 0]
    n, k = int(counts.sum()), len(counts)
    ways = lgamma(n + 1) - sum(lgamma(c + 1) for c in counts) - lgamma(k + 1)
    slips = lgamma(n + 1) - lgamma(n_errors + 1) - lgamma(n - n_errors + 1)
    expected = log(max(n_features, 1)) + slips + n_errors * log(max(k - 1, 1)) - ways
    return float(np.exp(min(expected, 0.0)))


def _is_number(code: np.ndarray, target: np.ndarray, categorical: bool) -> bool:
    known = code != MISSING
    code, target = code[known], target[known]
    if 2 * np.count_nonzero(known) < len(known) or len(np.unique(target)) < MIN_NUMBERS:
        return False
    rank = _ranks(target)
    levels, level = np.unique(code, return_inverse=True)
    if len(levels) < 2:
        return False
    if len(levels) <= CUT_LEVELS and _cuts(level, rank):
        return True
    if len(levels) < MIN_NUMBERS:
        return False
    if not categorical and np.corrcoef(_ranks(code), rank)[0, 1] ** 2 >= SAME:
        return True
    return _spread(level, rank, smooth=not categorical) <= 1.0 - SAME


def _ranks(values: np.ndarray) -> np.ndarray:
    """Mid-ranks from 0 on."""
    number, counts = np.unique(values, return_inverse=True, return_counts=True)[1:]
    found: np.ndarray = (np.cumsum(counts) - (counts + 1) / 2.0)[number]
    return found


def _cuts(level: np.ndarray, rank: np.ndarray) -> bool:
    """Whether the levels of a feature are ranges of the target."""
    counts = np.bincount(level)
    n_minor = len(level) - int(counts.max())
    bins = (rank * (MISSING / len(rank))).astype(np.uint8)
    n_errors = _errors_by_cut(_table(bins, level, len(counts)))
    return bool(n_errors + SURE <= SLIP * n_minor)


def _spread(level: np.ndarray, rank: np.ndarray, smooth: bool) -> float:
    """Share of the target's variance among samples that are equal in the feature; if few are
    equal: among neighbours in its order, or all of it if it has none."""
    n, counts = len(rank), np.bincount(level)
    n_free = n - len(counts)
    if 4 * n_free >= n:
        means = np.bincount(level, weights=rank) / counts
        return float(((rank - means[level]) ** 2).sum()) / n_free / float(rank.var())
    if not smooth:
        return 1.0
    steps = np.diff(rank[np.lexsort((rank, level))])
    return float((steps**2).mean()) / (2.0 * float(rank.var()))
