"""How much two features have in common, for all pairs of them."""

from __future__ import annotations

import numpy as np

MISSING = 255
MAX_CELLS = 4_000_000  # numbers that columns may become; fewer samples are used where more would
MAX_LEVELS = 6  # levels of a categorical feature that are told apart; rarer ones are one level


def thin(n: int, most: int) -> np.ndarray:
    """At most `most` of n numbers from 0 on, evenly spread.

    >>> thin(10, 5).tolist()
    [0, 2, 4, 6, 8]
    """
    return np.arange(n) if n <= most else np.arange(most) * n // most


def associations(codes: np.ndarray, is_categorical: np.ndarray) -> np.ndarray:
    """Association of all pairs of columns, float32 in 0..1.

    codes           uint8 (n_samples, n_columns); 255 is missing
    is_categorical  bool (n_columns,)

    For ordered features |Spearman's rho| over the samples where both are known; 0 where these are
    fewer than half of what the better known one has. With a categorical feature, of L levels, the
    root of the mean squared canonical correlation over L - 1 directions, so that a coarse
    feature does not pass for a fine one. A missing category is a level of its own.

    >>> x = np.arange(50, dtype=np.uint8)
    >>> associations(np.stack([x, 49 - x, x // 25], axis=1), np.zeros(3, bool))[0]
    array([1.    , 1.    , 0.8662], dtype=float32)
    """
    n_columns = codes.shape[1]
    width = int(_widths(codes, is_categorical).sum())
    codes = codes[thin(len(codes), max(MAX_CELLS // max(width, 1), 50))]
    widths = _widths(codes, is_categorical)
    starts = np.cumsum(widths) - widths
    directions = np.zeros((len(codes), int(widths.sum())), np.float32)
    for c in range(n_columns):
        part = column_directions(codes[:, c], bool(is_categorical[c]))
        directions[:, starts[c] : starts[c] + part.shape[1]] = part
    known = ((codes != MISSING) | is_categorical).astype(np.float32)
    some_missing = not known.all()
    squares = directions**2 if some_missing else None
    table = np.empty((n_columns, n_columns), np.float32)
    step = max(1, 1_000_000 // max(directions.shape[1], 1))
    for start in range(0, n_columns, step):
        stop = min(start + step, n_columns)
        mine = slice(starts[start], starts[stop - 1] + widths[stop - 1])
        shared = (directions[:, mine].T @ directions) ** 2
        if squares is not None:
            # Norms over the samples where both are known.
            rows = (squares[:, mine].T @ known)[:, np.repeat(np.arange(n_columns), widths)]
            of_rows = np.repeat(np.arange(start, stop), widths[start:stop])
            shared /= np.maximum(rows * (known.T[of_rows] @ squares), 1e-12)
        by_column = np.add.reduceat(shared, starts, axis=1)
        both = np.add.reduceat(by_column, starts[start:stop] - mine.start, axis=0)
        both /= np.maximum.outer(widths[start:stop], widths)
        if squares is not None:
            n_known = known.sum(axis=0)
            overlap = known[:, start:stop].T @ known
            both[2 * overlap < np.maximum.outer(n_known[start:stop], n_known)] = 0.0
        table[start:stop] = both
    # Four digits: what is left does not depend on the order in which sums were made.
    return np.sqrt(np.clip(table, 0.0, 1.0)).round(4)


def _widths(codes: np.ndarray, is_categorical: np.ndarray) -> np.ndarray:
    """Directions of each column: 1, or levels - 1 of a categorical one."""
    widths = np.ones(codes.shape[1], np.int64)
    for c in np.flatnonzero(is_categorical):
        levels = len(np.unique(codes[:, c]))
        widths[c] = min(max(levels - 1, 1), MAX_LEVELS - 1)
    return widths


def column_directions(code: np.ndarray, categorical: bool) -> np.ndarray:
    """A column as orthonormal directions, float32 (n_samples, 1 or levels - 1)."""
    if categorical:
        levels, counts = np.unique(code, return_counts=True)
        common = levels[np.argsort(-counts, kind="stable")[: MAX_LEVELS - 1]]
        if len(levels) == MAX_LEVELS:
            common = levels
        hot = (code[:, None] == common).astype(np.float64)
        if len(common) == len(levels):
            hot = hot[:, 1:]
        if not hot.shape[1]:
            return np.zeros((len(code), 1), np.float32)
        return np.asarray(np.linalg.qr(hot - hot.mean(axis=0))[0], np.float32)
    known = code != MISSING
    counts = np.bincount(code[known], minlength=256)
    rank = (np.cumsum(counts) - (counts - 1) / 2.0)[code] * known
    rank[known] -= rank[known].mean() if known.any() else 0.0
    length = np.sqrt(rank @ rank)
    return np.asarray(rank / (length or 1.0), np.float32)[:, None]
