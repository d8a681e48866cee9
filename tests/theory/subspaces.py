"""Sequential random subspaces on a known distribution: what they can find, tree by tree.

Slow and by definition: a table of outcomes with weights, all subsets, all draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from math import floor

import numpy as np

TOLERANCE = 1e-9


def entropy(classes: np.ndarray, weights: np.ndarray) -> float:
    shares = np.bincount(classes, weights)
    shares = shares[shares > 0] / shares.sum()
    return float(-(shares * np.log2(shares)).sum())


class Problem:
    """A distribution of features and target.

    X, y, w  outcomes (n, p), classes (n,) and weights (n,)
    """

    def __init__(self, X: np.ndarray, y: np.ndarray, w: np.ndarray) -> None:
        self.X, self.y, self.w = X, y, w
        self.p = X.shape[1]

    def gain(self, rows: tuple[int, ...], m: int) -> float:
        """I(Y; Xm) in a node that has these outcomes."""
        at = np.array(rows)
        x, y, w = self.X[at, m], self.y[at], self.w[at]
        left = sum(w[x == v].sum() / w.sum() * entropy(y[x == v], w[x == v]) for v in set(x))
        return entropy(y, w) - left

    def informs(self, m: int, given: tuple[int, ...]) -> bool:
        """Whether Y depends on Xm given B."""
        return any(self.gain(rows, m) > TOLERANCE for rows in self.nodes(given))

    def nodes(self, given: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        keys: dict[tuple[int, ...], list[int]] = {}
        for row, values in enumerate(self.X[:, given].tolist()):
            keys.setdefault(tuple(values), []).append(row)
        return (tuple(rows) for rows in keys.values())

    def conditionings(self, m: int) -> list[tuple[int, ...]]:
        """All B for which Y depends on Xm given B, the smallest first."""
        others = [j for j in range(self.p) if j != m]
        sizes = (itertools.combinations(others, size) for size in range(self.p))
        return [B for B in itertools.chain(*sizes) if self.informs(m, B)]

    @property
    def degrees(self) -> dict[int, int]:
        """The degree of each relevant feature."""
        found = {m: self.conditionings(m) for m in range(self.p)}
        return {m: len(Bs[0]) for m, Bs in found.items() if Bs}

    @property
    def strong(self) -> set[int]:
        every = range(self.p)
        return {m for m in every if self.informs(m, tuple(j for j in every if j != m))}

    def found_in(self, Q: tuple[int, ...], K: int) -> set[int]:
        """Features with an importance above 0 in some tree on Q that tries K features a node."""
        found: set[int] = set()

        @cache
        def grow(rows: tuple[int, ...]) -> None:
            at = np.array(rows)
            free = [m for m in Q if len(set(self.X[at, m])) > 1]
            if not free or len(set(self.y[at])) == 1:
                return
            gains = {m: self.gain(rows, m) for m in free}
            n_drawn = min(K, len(free))
            for m in free:
                no_better = sum(gains[j] <= gains[m] + TOLERANCE for j in free if j != m)
                if no_better < n_drawn - 1:
                    continue  # some other drawn feature is always better
                if gains[m] > TOLERANCE:
                    found.add(m)
                for value in set(self.X[at, m]):
                    grow(tuple(at[self.X[at, m] == value].tolist()))

        grow(tuple(range(len(self.y))))
        return found


def ends(problem: Problem, q: int, alpha: float, K: int) -> list[set[int]]:
    """The sets F at which Algorithm 7.1 can stand still, of relevant features only."""
    relevant, every = sorted(problem.degrees), range(problem.p)
    seen = {Q: problem.found_in(Q, K) for Q in itertools.combinations(every, min(q, problem.p))}
    stands = []
    for size in range(len(relevant) + 1):
        for F in itertools.combinations(relevant, size):
            n_carried = min(floor(alpha * q + 1e-9), size)
            Qs = [
                tuple(sorted({*R, *C}))
                for R in itertools.combinations(F, n_carried)
                for C in itertools.combinations(
                    [m for m in every if m not in R], min(q, problem.p) - n_carried
                )
            ]
            if all(seen[Q] <= set(F) for Q in Qs):
                stands.append(set(F))
    return stands
