"""Totally randomised forests for contexts: importances of all assignments, and within a context."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srs.executors import LocalExecutor
from srs.explain.contexts import min_node_of
from srs.explain.forest import OnProgress
from srs.explain.matrix import Matrix
from srs.results.analysis import rank_p_values
from srs.seeds import EXPLAIN, make_rng
from srs.trees.multiway import ContextTarget, grow_multiway
from srs.trees.multiway_sums import MultiwaySums
from srs.trees.records import Columns
from srs.trees.target import nlogn_table

CONTEXT = EXPLAIN + 3
CHUNK_TREES = 25
TEST_TREES, TEST_PERMUTATIONS = 100, 200  # of the test whether a feature matters in a context


@dataclass(frozen=True)
class ContextSums:
    """Importances over trees; the last axis is the assignment of contexts, the first is as given.

    imp, imp_error            (n_features,)
    absolute, signed          (n_contexts, n_features, 1 + n_permutations)
    absolute_error            (n_contexts, n_features)
    overall                   (n_features, 1 + n_permutations)
    reached                   (n_contexts, n_features): importance of nodes that a context reaches
    context                   (1 + n_permutations,): what the context tells, summed over nodes
    """

    imp: np.ndarray
    imp_error: np.ndarray
    absolute: np.ndarray
    absolute_error: np.ndarray
    signed: np.ndarray
    overall: np.ndarray
    reached: np.ndarray
    context: np.ndarray


@dataclass(frozen=True)
class Within:
    """Forests on the samples of one context.

    given    (n_features,): importances
    p_given  (n_features,): their p-values, against permutations of the target in the context
    null     (n_permutations, n_features): importances where the target was permuted
    """

    given: np.ndarray
    p_given: np.ndarray
    null: np.ndarray


def make_masks(weights: np.ndarray, n_permutations: int, seed: int) -> np.ndarray:
    """uint8 (n_contexts, n_samples, 1 + n_permutations): the contexts as given, then permuted.

    weights  uint8 (n_contexts, n_samples): how often each sample counts in each context
    """
    rng = make_rng(seed, CONTEXT, 0)
    samples = np.arange(weights.shape[1])
    orders = np.column_stack([samples, *(rng.permutation(samples) for _ in range(n_permutations))])
    return np.ascontiguousarray(weights[:, orders])


def context_sums(
    matrix: Matrix,
    weights: np.ndarray,
    *,
    n_trees: int,
    n_permutations: int,
    seed: int,
    threads: int | None,
    skip: bool = True,
    on_progress: OnProgress | None = None,
) -> ContextSums:
    """Importances in contexts, of one forest over all samples.

    weights  uint8 (n_contexts, n_samples): how often each sample counts in each context
    skip     whether nodes that no sample of a context reaches are left out of it
    """
    masks = make_masks(weights, n_permutations, seed)
    chunks = range(0, n_trees, CHUNK_TREES)
    min_node = min_node_of(matrix, len(weights))
    rows = np.arange(matrix.n_samples, dtype=np.int32)

    def grow(start: int) -> MultiwaySums:
        size = min(CHUNK_TREES, n_trees - start)
        place = (seed, CONTEXT, 1, start)
        return grow_chunk(matrix, rows, masks, size, min_node, place=place, skip=skip)

    total: list[np.ndarray] = []
    for done, part in enumerate(LocalExecutor(threads).map(grow, chunks), 1):
        total = [a + b for a, b in zip(total, part, strict=True)] if total else list(part)
        if on_progress:
            on_progress(done / len(chunks))
    mean = MultiwaySums(*(a / n_trees for a in total))
    scale = max(n_trees - 1, 1)
    return ContextSums(
        imp=mean.imp,
        imp_error=np.sqrt(np.maximum(mean.imp_sq - mean.imp**2, 0) / scale),
        absolute=mean.absolute,
        absolute_error=np.sqrt(
            np.maximum(mean.absolute_sq - mean.absolute[..., 0] ** 2, 0) / scale
        ),
        signed=mean.signed,
        overall=mean.overall,
        reached=mean.reached,
        context=mean.context,
    )


def grow_chunk(
    matrix: Matrix,
    rows: np.ndarray,
    masks: np.ndarray,
    n_trees: int,
    min_node: int,
    place: tuple[int, ...],
    target: np.ndarray | None = None,
    skip: bool = True,
) -> MultiwaySums:
    """Sums of `grow_multiway` over some trees; `target` replaces that of the matrix."""
    tree_target = matrix.tree_target
    classes, values = tree_target.classes, tree_target.values * tree_target.unit
    if target is not None and len(values):
        values = target
    elif target is not None:
        classes = target
    sums = MultiwaySums.empty(masks.shape[0], matrix.n_features, masks.shape[2])
    most = int(masks[..., 0].sum(axis=0, dtype=np.int64).max(initial=1))
    grow_multiway(
        columns=Columns(matrix.codes, matrix.is_categorical),
        target=ContextTarget(classes, values, tree_target.n_classes),
        rows=rows,
        masks=masks,
        keys=make_rng(*place).integers(0, 1 << 64, n_trees, dtype=np.uint64),
        nlogn=nlogn_table(len(rows) * max(most, 1)),
        min_node=min_node,
        skip=skip,
        sums=sums,
    )
    return sums


def grow_within(
    matrix: Matrix, rows: np.ndarray, n_trees: int, threads: int | None, place: tuple[int, int]
) -> Within:
    """Importances of a forest on the samples of one context, with what chance gives there.

    place  seed of the run and number of the context
    """
    seed, c = place
    rows = rows.astype(np.int32)
    truth, min_node = _truth(matrix), min_node_of(matrix, 1)

    def grow(permutation: int) -> np.ndarray:
        target, size = truth, n_trees
        if permutation:
            target, size = truth.copy(), TEST_TREES
            target[rows] = make_rng(seed, CONTEXT, 2, c, permutation).permutation(truth[rows])
        place = (seed, CONTEXT, 3, c, permutation)
        return _alone(matrix, rows, size, min_node, place=place, target=target)

    first, *null = LocalExecutor(threads).map(grow, range(1 + TEST_PERMUTATIONS))
    return Within(first, rank_p_values(first, np.array(null)), np.array(null))


def separate_differences(
    matrix: Matrix,
    groups: np.ndarray,
    imp: np.ndarray,
    *,
    n_permutations: int,
    seed: int,
    threads: int | None,
    on_progress: OnProgress,
) -> np.ndarray:
    """Imp less Imp given the context, by separate forests (equation 9).

    Returns (n_contexts, n_features, 1 + n_permutations): the contexts as given, then permuted.
    Every forest has the same number of trees, so that the first is like the others under the null
    hypothesis.
    """
    n_contexts, min_node = int(groups.max()) + 1, min_node_of(matrix, 1)

    def grow(permutation: int) -> np.ndarray:
        assigned = groups
        if permutation:
            assigned = make_rng(seed, CONTEXT, 4, permutation).permutation(groups)
        found = []
        for c in range(n_contexts):
            rows = np.flatnonzero(assigned == c).astype(np.int32)
            place = (seed, CONTEXT, 5, c, permutation)
            found.append(imp - _alone(matrix, rows, TEST_TREES, min_node, place))
        return np.array(found)

    found = []
    for difference in LocalExecutor(threads).map(grow, range(1 + n_permutations)):
        found.append(difference)
        on_progress(len(found) / (1 + n_permutations))
    return np.stack(found, axis=-1)


def _alone(
    matrix: Matrix,
    rows: np.ndarray,
    n_trees: int,
    min_node: int,
    place: tuple[int, ...],
    target: np.ndarray | None = None,
) -> np.ndarray:
    """Importances of a forest on some samples."""
    none = np.zeros((0, matrix.n_samples, 1), np.uint8)
    grown = grow_chunk(matrix, rows, none, n_trees, min_node, place=place, target=target)
    return np.asarray(grown.imp / n_trees)


def _truth(matrix: Matrix) -> np.ndarray:
    """What trees learn, as `grow_chunk` takes it."""
    target = matrix.tree_target
    return target.values * target.unit if len(target.values) else target.classes
