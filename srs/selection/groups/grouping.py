"""Put features that stand in for one another into groups."""

from __future__ import annotations

import numpy as np

from srs.selection.groups.association import associations
from srs.trees import TreeTarget

CLOSE = 0.75  # association from which on features may stand in for one another
WINDOW, STRATA, BINS = 16, 8, 8  # neighbours, and shares of samples, in `differ_usefully`


def find_groups(
    codes: np.ndarray, is_categorical: np.ndarray, target: TreeTarget, importance: np.ndarray
) -> list[np.ndarray]:
    """Columns that stand in for one another, as arrays of column numbers.

    codes           uint8 (n_samples, n_columns), as the store has them
    is_categorical  bool (n_columns,)
    target          what the features tell of, over the same samples
    importance      (n_columns,): the most important column of a group represents it

    Groups come in the order of importance of their representatives, which stand first in them.
    Every member is close to the representative itself (association of CLOSE or more), so
    that no chain of neighbours ties strangers together. Close features whose difference tells of
    the target, more than they do themselves, are no stand-ins and are kept apart.
    """
    n_samples, n_columns = codes.shape
    if not n_columns:
        return []
    close = associations(codes, is_categorical)
    # Where samples are few, chance alone makes close pairs among so many.
    by_chance = np.sqrt(2.0 * np.log(max(n_columns, 2) ** 2) / max(n_samples, 1))
    threshold = max(CLOSE, min(by_chance, 0.95))
    outputs = _outputs(target)
    alike: dict[tuple[int, int], bool] = {}

    def home(column: int, among: list[int]) -> int | None:
        near = close[column, among]
        for at in np.argsort(-near, kind="stable"):
            if near[at] < threshold:
                return None
            other = among[int(at)]
            pair = (column, other)
            if pair not in alike:
                alike[pair] = not differ_usefully(
                    codes[:, pair[0]],
                    codes[:, pair[1]],
                    outputs,
                    bool(is_categorical[pair[0]]),
                    bool(is_categorical[pair[1]]),
                )
            if alike[pair]:
                return other
        return None

    order = np.argsort(-importance, kind="stable").tolist()
    leaders: list[int] = []
    for column in order:
        if home(column, leaders) is None:
            leaders.append(column)
    groups = {leader: [leader] for leader in leaders}
    for column in order:
        if column not in groups:
            nearest = home(column, leaders)
            assert nearest is not None
            groups[nearest].append(column)
    return [np.array(members, np.int64) for members in groups.values()]


def _outputs(target: TreeTarget) -> np.ndarray:
    """The target as columns of unit total variance: indicators of classes, or its values."""
    if len(target.values):
        outputs = target.values[:, None].astype(np.float64)
    else:
        outputs = (target.classes[:, None] == np.arange(target.n_classes)).astype(np.float64)
    outputs = outputs - outputs.mean(axis=0)
    return np.asarray(outputs / (np.sqrt((outputs**2).sum()) or 1.0))


def differ_usefully(
    code: np.ndarray,
    other: np.ndarray,
    outputs: np.ndarray,
    categorical: bool = False,
    other_categorical: bool = False,
) -> bool:
    """Whether a column tells more of the target given another one than by itself.

    This is synergy, I(X;Y|Z) > I(X;Y): a negative multivariate mutual information (thesis,
    eq. 2.28), with shares of the target's variance in the place of bits. Given the other means:
    among samples that are neighbours in the order of the other column.
    """
    n = len(code)
    order = np.argsort(other, kind="stable")
    if other_categorical:
        levels = np.unique(other, return_inverse=True)[1]
        stratum = window = np.minimum(levels, STRATA - 1)
    else:
        stratum, window = np.empty(n, np.int64), np.empty(n, np.int64)
        stratum[order] = np.arange(n) * STRATA // n
        window[order] = np.arange(n) // WINDOW
    side = _side(code, window, categorical)
    alone = code if categorical else np.empty(n, np.int64)
    if not categorical:
        alone[np.argsort(code, kind="stable")] = np.arange(n) * BINS // n
    given = _share(outputs, stratum * 2 + side) - _share(outputs, stratum)
    noise = 4.0 * np.sqrt(2.0 * 2 * STRATA) / n
    return bool(given - max(_share(outputs, alone), 0.0) > noise)


def _side(code: np.ndarray, window: np.ndarray, categorical: bool) -> np.ndarray:
    """1 where a code is above the median of its window, or not the usual one there."""
    side = np.zeros(len(code), np.int64)
    by_window = np.argsort(window, kind="stable")
    ends = np.flatnonzero(np.diff(window[by_window])) + 1
    for members in np.split(by_window, ends):
        there = code[members]
        if categorical:
            side[members] = there != np.bincount(there).argmax()
        else:
            side[members] = there > np.sort(there)[(len(there) - 1) // 2]
    return side


def _share(outputs: np.ndarray, cells: np.ndarray) -> float:
    """Share of the target's variance between cells, less what as many random cells would have."""
    number = np.unique(cells, return_inverse=True)[1]
    counts = np.bincount(number)
    sums = np.stack([np.bincount(number, weights=column) for column in outputs.T])
    between = float((sums**2 / counts).sum())
    n, k = len(cells), len(counts)
    return 1.0 - (1.0 - between) * (n - 1) / (n - k) if n > k else 0.0
