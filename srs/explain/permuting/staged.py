"""Permutation tests of many features that end early for those that chance explains.

A feature whose permutations have reached its value ten times is not significant, and more of them
would not make it so. Permutations come in stages; a feature goes on to the next stage only if fewer
than ENOUGH of those so far have reached its value. Its p-value is (1 + reached) / (1 + done). That
is a valid p-value: below any level it is only if that of all permutations up to a fixed stage is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

ENOUGH = 10
FIRST, GROWTH = 50, 4  # permutations of the first stage, less 1, and how much later ones reach


def stages(n_permutations: int) -> Iterator[tuple[int, int]]:
    """The permutations first..last of each stage.

    >>> list(stages(19)), list(stages(999))
    ([(0, 19)], [(0, 49), (49, 199), (199, 799), (799, 999)])
    """
    start, end = 0, FIRST
    while start < n_permutations:
        stop = min(end - 1, n_permutations)
        yield start, stop
        start, end = stop, end * GROWTH


class Counts:
    """How often permutations reached values, and which tests go on; arrays of one shape.

    >>> counts = Counts(np.array([1.0, 5.0]))
    >>> counts.add(np.array([True, True]), np.array([[2.0, 0.0]] * 10))
    >>> counts.active.tolist(), counts.p_values.round(3).tolist()
    ([False, True], [1.0, 0.091])
    """

    def __init__(self, value: np.ndarray) -> None:
        self.value = value
        self.active = np.ones(value.shape, np.bool_)
        self._reached, self._done = np.zeros(value.shape), np.zeros(value.shape)
        self._sum, self._squares = np.zeros(value.shape), np.zeros(value.shape)

    def add(self, some: np.ndarray, null: np.ndarray) -> None:
        """Count permutations (n, ...) of the tests that `some` says; others are not looked at."""
        least = self.value - 1e-12 * np.abs(self.value)
        self._reached += np.where(some, (null >= least).sum(axis=0), 0)
        self._done += np.where(some, len(null), 0)
        self._sum += np.where(some, null.sum(axis=0), 0.0)
        self._squares += np.where(some, (null**2).sum(axis=0), 0.0)
        self.active &= self._reached < ENOUGH

    @property
    def p_values(self) -> np.ndarray:
        return np.asarray((self._reached + 1.0) / (self._done + 1.0))

    @property
    def null(self) -> np.ndarray:
        """The mean of the permutations."""
        return np.asarray(self._sum / np.maximum(self._done, 1))

    @property
    def spread(self) -> np.ndarray:
        """Their standard deviation."""
        squares = self._squares / np.maximum(self._done, 1)
        return np.asarray(np.sqrt(np.maximum(squares - self.null**2, 0.0)))
