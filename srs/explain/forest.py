"""The random forest that analyses share: bagged trees, and which samples each one did not see.

Breiman's forest on codes: a bootstrap sample a tree, some features tried at a node (K), the best
cut of each. Trees are numbered, and what tree t is follows from the seed and t alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from srs.executors import LocalExecutor
from srs.explain.matrix import Matrix, open_matrix
from srs.results.analysis import check_counts
from srs.seeds import EXPLAIN, make_rng
from srs.trees import Trees, TreeSettings, TreeTarget, grow_trees, join_trees

CHUNK_TREES = 32  # trees of one call; fixed, or sums would depend on the number of threads
FOREST = EXPLAIN + 1

OnProgress = Callable[[float], None]


@dataclass(frozen=True)
class ForestSettings:
    """How a forest is grown.

    n_trees           number of trees
    max_features      features tried at a node; None: the square root of their number
    max_depth         deepest level of a leaf; None: no limit
    min_samples_leaf  fewest samples in a leaf
    """

    n_trees: int = 1000
    max_features: int | None = None
    max_depth: int | None = None
    min_samples_leaf: int = 1

    def __post_init__(self) -> None:
        check_counts(
            n_trees=self.n_trees,
            max_features=self.max_features,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
        )

    def of_tree(self, criterion: str, n_columns: int) -> TreeSettings:
        tried = self.max_features or max(1, math.isqrt(n_columns))
        return TreeSettings(
            criterion, min(tried, n_columns), self.max_depth, self.min_samples_leaf, True
        )


@dataclass(frozen=True)
class Forest:
    """A grown forest.

    matrix    what it was grown on
    target    what its trees learned
    trees     its trees
    in_bag    uint8 (n_trees, n_samples): how often a tree drew a sample (255: that or more)
    settings  how it was grown
    seed      seed of the run
    threads   threads that analyses of it may use
    """

    matrix: Matrix
    target: TreeTarget
    trees: Trees
    in_bag: np.ndarray
    settings: ForestSettings
    seed: int
    threads: int | None = None

    @property
    def n_trees(self) -> int:
        return self.trees.n_trees

    @cached_property
    def importance(self) -> np.ndarray:
        """float64 (n_features,): mean decrease of impurity."""
        return np.asarray(self.trees.used_sum / self.n_trees)


def draw_bags(
    seed: int,
    purpose: tuple[int, ...],
    chunk: int,
    n_trees: int,
    n: int,
    subjects: np.ndarray | None = None,
) -> Any:
    """Keys (uint64) and bootstrap rows (int32) of the trees of one chunk.

    subjects: samples of a subject are in the bag of a tree together, or not at all
    """
    rng = make_rng(seed, *purpose, chunk)
    keys = rng.integers(0, 1 << 64, n_trees, dtype=np.uint64)
    if subjects is None:
        return keys, rng.integers(0, n, (n_trees, n), dtype=np.int32)
    by_subject = np.argsort(subjects, kind="stable")
    units = np.split(by_subject, np.flatnonzero(np.diff(subjects[by_subject])) + 1)
    return keys, np.stack([_draw_subjects(units, n, rng) for _ in range(n_trees)])


def _draw_subjects(units: list[np.ndarray], n: int, rng: np.random.Generator) -> np.ndarray:
    """n samples of whole subjects, drawn with replacement; what is left over repeats some."""
    bag: list[np.ndarray] = []
    n_left = n
    while n_left:
        unit = units[rng.integers(len(units))]
        if len(unit) > n_left:
            unit = rng.choice(np.concatenate(bag), n_left)
        bag.append(unit)
        n_left -= len(unit)
    return np.concatenate(bag).astype(np.int32)


def criterion_of(target: TreeTarget) -> str:
    return "variance" if len(target.values) else "gini"


def grow_forest(
    matrix: Matrix,
    settings: ForestSettings | None = None,
    *,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    samples: np.ndarray | None = None,
) -> Forest:
    """Grow the forest of a matrix with all cores.

    samples  int64: the samples that trees may see; None: all. To others a tree is `in_bag` 0

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> forest = grow_forest(open_matrix(X, X[:, 2] > 0.3), ForestSettings(50))
    >>> int(forest.importance.argmax()), forest.n_trees
    (2, 50)
    """
    settings = settings or ForestSettings()
    check_counts(seed=seed, threads=threads)
    target = matrix.tree_target
    tree = settings.of_tree(criterion_of(target), matrix.n_features)
    seen = np.arange(matrix.n_samples) if samples is None else samples
    subjects = None if matrix.subjects is None else matrix.subjects[seen]
    chunks = [
        (a, min(a + CHUNK_TREES, settings.n_trees)) for a in range(0, settings.n_trees, CHUNK_TREES)
    ]

    def grow_chunk(chunk: tuple[int, int]) -> tuple[Trees, np.ndarray]:
        keys, rows = draw_bags(
            seed, (FOREST,), chunk[0], chunk[1] - chunk[0], len(seen), subjects=subjects
        )
        rows = rows if samples is None else seen[rows].astype(np.int32)
        grown = grow_trees(
            matrix.codes, target, keys, rows, tree, is_categorical=matrix.is_categorical
        )
        return grown, count_bags(rows, matrix.n_samples)

    parts, bags = [], []
    for done, (part, bag) in enumerate(LocalExecutor(threads).map(grow_chunk, chunks), 1):
        parts.append(part)
        bags.append(bag)
        if on_progress:
            on_progress(done / len(chunks))
    return Forest(
        matrix=matrix,
        target=target,
        trees=join_trees(parts),
        in_bag=np.concatenate(bags),
        settings=settings,
        seed=seed,
        threads=threads,
    )


def mean_importance(
    codes: np.ndarray,
    is_categorical: np.ndarray,
    target: TreeTarget,
    tree: TreeSettings,
    n_trees: int,
    place: tuple[int, ...],
    bootstrap: bool = True,
    subjects: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean decrease of impurity by column, and its standard error; trees are not kept.

    place  where the randomness is from: seed, purpose and numbers, as `make_rng` takes them
    """
    n = len(codes)
    total, squares = np.zeros(codes.shape[1]), np.zeros(codes.shape[1])
    for start in range(0, n_trees, CHUNK_TREES):
        size = min(CHUNK_TREES, n_trees - start)
        keys, rows = draw_bags(place[0], place[1:], start, size, n, subjects=subjects)
        if not bootstrap:
            rows = np.tile(np.arange(n, dtype=np.int32), (size, 1))
        grown = grow_trees(
            codes, target, keys, rows, tree, is_categorical=is_categorical, keep=False
        )
        total += grown.used_sum
        squares += grown.used_sq
    return total / n_trees, error_of_mean(total, squares, n_trees)


def error_of_mean(total: np.ndarray, squares: np.ndarray, n_trees: int) -> np.ndarray:
    """The standard error of a mean over trees, from their sum and the sum of their squares."""
    spread = np.maximum(squares / n_trees - (total / n_trees) ** 2, 0.0)
    return np.asarray(np.sqrt(spread / max(n_trees - 1, 1)))


def count_bags(rows: np.ndarray, n_samples: int) -> np.ndarray:
    """How often each tree drew each sample, uint8 (n_trees, n_samples)."""
    n_trees = len(rows)
    flat = rows.astype(np.int64) + np.arange(n_trees)[:, None] * n_samples
    counts = np.bincount(flat.ravel(), minlength=n_trees * n_samples)
    return np.minimum(counts, 255).astype(np.uint8).reshape(n_trees, n_samples)


def forest_of(
    data: Any,
    target: Any,
    features: Any,
    n_trees: int,
    seed: int,
    threads: int | None,
    max_features: int | None = None,
) -> Forest:
    """`data` itself if it is a forest, else the forest that is grown on it."""
    if isinstance(data, Forest):
        return data
    matrix = open_matrix(data, target, features)
    settings = ForestSettings(n_trees, max_features)
    return grow_forest(matrix, settings, seed=seed, threads=threads)
