"""Importances of infinitely many randomised trees of any kind on a known discrete distribution.

Covers mean decrease of entropy, in bits, for K features tried at a node (thesis 5.5), multiway,
ordered, unordered and one-against-all splits (5.7, Figures 5.2 to 5.5), and limited depth (5.6).
Exact: every node that a tree may have is visited once, with the chance that a tree has it. Totally
randomised trees have formulas, which take more features: `asymptotic`. Bootstrap samples are not
covered.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from srs.errors import InputError
from srs.theory.table import FloatArray, IntArray, Table, impurity, tabulate

MULTIWAY, ORDERED, UNORDERED, ONE_AGAINST_ALL = SPLITS = (
    "multiway",
    "ordered",
    "unordered",
    "one-against-all",
)
MAX_NODES = 1 << 20  # distinct nodes: minutes
TIE = 1e-11  # bits: gains as near as this are equal, and chosen among at random

Node = tuple[bytes, frozenset[int]]  # its outcomes, and the features that were used above it


class _Split(NamedTuple):
    """A split that a node may get: its gain, the chance within its feature, and the parts."""

    feature: int
    gain: float
    share: float
    parts: tuple[IntArray, ...]


@dataclass(frozen=True)
class _Grower:
    """How trees are grown on a table; impurities of nodes are remembered."""

    table: Table
    splits: str
    max_features: int
    best_split: bool
    impurities: dict[bytes, float] = field(default_factory=dict)

    def impurity(self, node: IntArray) -> float:
        key = node.tobytes()
        if key not in self.impurities:
            self.impurities[key] = impurity(self.table, node)
        return self.impurities[key]

    def candidates(self, node: IntArray, used: frozenset[int]) -> list[list[_Split]]:
        """The splits of each feature that may be tried at a node."""
        before = self.impurity(node)
        found = []
        for m in range(self.table.n_features):
            levels = self.table.codes[node, m]
            if m in used or (self.splits != MULTIWAY and levels.min() == levels.max()):
                continue
            ways = list(_partitions(levels, self.splits))
            offered = []
            for way in ways:
                parts = tuple(node[part] for part in way)
                gain = max(before - sum(self.impurity(part) for part in parts), 0.0)
                offered.append(_Split(m, gain, 1 / len(ways), parts))
            found.append(_best(offered) if self.best_split else offered)
        return found

    def chances(self, node: IntArray, used: frozenset[int]) -> Iterator[tuple[_Split, float]]:
        """Every split that a node may get, and its chance."""
        features = self.candidates(node, used)
        n_tried = min(self.max_features, len(features))
        for at, offered in enumerate(features):
            others = features[:at] + features[at + 1 :]
            known: dict[float, float] = {}
            for split in offered:
                if n_tried == 1:
                    wins = 1.0
                else:
                    wins = known.setdefault(
                        split.gain, _chance_to_win(split.gain, others, n_tried - 1)
                    )
                if wins:
                    yield split, split.share * wins * n_tried / len(features)


def randomised_importances(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    *,
    splits: str = MULTIWAY,
    max_features: int = 1,
    max_depth: int | None = None,
    best_split: bool = False,
) -> FloatArray:
    """Importance of each feature in randomised trees, in bits; the table is the distribution.

    X             (n_samples, n_features): any values that can be sorted; each value is a level
    y             (n_samples,): likewise
    weights       (n_samples,): how much each sample counts; None: all the same
    splits        "multiway": one branch a level; binary splits are "ordered" (between levels),
                  "unordered" (any two sets of the levels of the node) or "one-against-all"
    max_features  K: features tried at a node, the best of which splits it; ties are broken at
                  random. Multiway trees draw them among the features not used above, binary trees
                  among those that are not constant in the node
    max_depth     levels of splits; None: trees grow until nodes are pure
    best_split    each tried feature offers its best split instead of one at random (5.7.3)

    >>> X, y = [[0, 0], [1, 1], [2, 1]], [0, 1, 1]  # Example 5.2
    >>> randomised_importances(X, y, splits="ordered").round(3).tolist()
    [0.376, 0.542]
    >>> copy = [[a, b] for a in (0, 1) for b in (0, 1)]  # the second is the first, with noise
    >>> noisy = dict(weights=[9, 1, 1, 9])
    >>> randomised_importances(copy, [0, 0, 1, 1], **noisy).round(3).tolist()
    [0.734, 0.266]
    >>> randomised_importances(copy, [0, 0, 1, 1], **noisy, max_features=2).round(3).tolist()
    [1.0, 0.0]
    """
    table = tabulate(X, y, weights)
    _check(table, splits, max_features, max_depth)
    grower = _Grower(table, splits, max_features, best_split)
    n = len(table.shares)
    importances = np.zeros(table.n_features)
    by_depth = splits == MULTIWAY or max_depth is not None
    # Nodes in an order in which no node comes before one above it: by depth, or from large to
    # small, where a node at two depths is one. So the chance of a node is complete at its turn.
    waiting: dict[int, dict[Node, float]] = defaultdict(lambda: defaultdict(float))
    waiting[0][np.arange(n).tobytes(), frozenset()] = 1.0
    rank = 0
    while waiting:
        for (key, used), chance in waiting.pop(rank, {}).items():
            node = np.frombuffer(key, np.int64)
            if grower.impurity(node) <= TIE or (max_depth is not None and rank >= max_depth):
                continue
            for split, share in grower.chances(node, used):
                importances[split.feature] += chance * share * split.gain
                after = used | {split.feature} if splits == MULTIWAY else used
                for part in split.parts:
                    below = rank + 1 if by_depth else n - len(part)
                    waiting[below][part.tobytes(), after] += chance * share
        rank += 1
    return importances


def _partitions(levels: IntArray, splits: str) -> Iterator[tuple[npt.NDArray[np.bool_], ...]]:
    """The ways to part a node by the levels of one feature, equally likely."""
    present = np.unique(levels).tolist()
    if splits == MULTIWAY:
        yield tuple(levels == level for level in present)
    elif splits == ORDERED:
        for cut in range(present[0], present[-1]):
            yield levels <= cut, levels > cut
    elif splits == ONE_AGAINST_ALL:
        for level in present:
            yield levels == level, levels != level
    else:
        rest = present[1:]  # the first level stays on one side, or each way would come twice
        for others in range(1, 1 << len(rest)):
            right = np.isin(levels, [level for i, level in enumerate(rest) if others >> i & 1])
            yield ~right, right


def _best(offered: Sequence[_Split]) -> list[_Split]:
    most = max(split.gain for split in offered)
    best = [split for split in offered if split.gain >= most - TIE]
    return [split._replace(share=1 / len(best)) for split in best]


def _chance_to_win(gain: float, others: Sequence[Sequence[_Split]], n_drawn: int) -> float:
    """The chance that a split is chosen before those of n_drawn other features, drawn at random.

    ways[s, t]: summed over the draws of s features, the chance that t of them tie and none is
    better.
    """
    ways = np.zeros((n_drawn + 1, n_drawn + 1))
    ways[0, 0] = 1.0
    for offered in others:
        ties = sum(split.share for split in offered if abs(split.gain - gain) <= TIE)
        worse = sum(split.share for split in offered if split.gain < gain - TIE)
        drawn = worse * ways[:-1]
        drawn[:, 1:] += ties * ways[:-1, :-1]
        ways[1:] += drawn
    shared = ways[n_drawn] / np.arange(1, n_drawn + 2)
    return float(shared.sum()) / math.comb(len(others), n_drawn)


def _check(table: Table, splits: str, max_features: int, max_depth: int | None) -> None:
    if splits not in SPLITS:
        raise InputError(f"splits must be one of {', '.join(SPLITS)}, not {splits!r}.")
    for name, value in (("max_features", max_features), ("max_depth", max_depth)):
        if value is not None and (isinstance(value, bool) or int(value) != value or value < 1):
            raise InputError(f"{name} must be a whole number from 1 on, not {value!r}.")
    levels = [int(top) + 1 for top in table.codes.max(axis=0)]
    if splits == MULTIWAY:
        nodes = math.prod(m + 1 for m in levels)
    elif splits == ORDERED:
        nodes = math.prod(m * (m + 1) // 2 for m in levels)
    else:
        nodes = math.prod(2**m - 1 for m in levels)
    within = 1 << min(len(table.shares), 63)
    if min(nodes, within) > MAX_NODES:
        raise InputError(
            f"Trees on this table may have {nodes:.3g} distinct nodes, more than the maximum of "
            f"{MAX_NODES}: use fewer features or levels."
        )
