"""Network inference by forests (GENIE3): which features tell each feature (thesis 8.2).

One forest a target, every other feature an input; a link's weight is the importance of its source
for its target. Targets are normalised to unit variance (entropy, for categories), so that
weights of different targets compare, and weights are shares of what is told of a target. By
default all features are tried at every node, which masks indirect links (8.2.2: strongly relevant
features cannot be masked), and trees end at depth 3, before nodes have too few samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import InputError
from srs.executors import Executor, LocalExecutor
from srs.importance.analysis import Analysis, make_table
from srs.importance.forest import OnProgress, mean_importance
from srs.importance.matrix import Matrix, open_matrix
from srs.seeds import EXPLAIN
from srs.tree import MISSING, TreeSettings, TreeTarget

NETWORK = EXPLAIN + 9
MAX_LINKS = 1_000_000
MAX_DEPTH = 3
BATCH_TREES = 2_000  # trees of a batch: about half a second


@dataclass(frozen=True)
class NetworkSpec:
    """One batch of targets; the same spec gives the same weights on any worker.

    source        a Matrix, or the path of a store and the feature ids to read from it
    targets       columns that are targets in this batch
    n_trees       trees a target
    max_features  features tried at a node; None: all
    max_depth     deepest level of a leaf; None: no limit
    seed          seed of the run
    """

    source: Matrix | tuple[str, tuple[int, ...]]
    targets: tuple[int, ...]
    n_trees: int
    max_features: int | None
    max_depth: int | None
    seed: int


def network(
    data: Any,
    *,
    features: Any = None,
    targets: Any = None,
    n_trees: int = 1000,
    max_features: int | None = None,
    max_depth: int | None = MAX_DEPTH,
    max_links: int = MAX_LINKS,
    seed: int = 0,
    threads: int | None = None,
    executor: Executor | None = None,
    on_progress: OnProgress | None = None,
) -> Analysis:
    """Weights of the links between features, the strongest first.

    targets       names or ids of the features that links lead to; None: all
    max_features  K: features tried at a node; None: all, which favours direct links
    max_depth     deepest level of a leaf; None: trees grow until they are pure
    max_links     number of links that are kept
    executor      where batches of targets run; None: threads of this process

    feature  source of the link; part  its target
    value    importance of the source for the target, as a share of all sources'

    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 200))
    >>> found = network(np.column_stack([a, b, a + 0.3 * b]), n_trees=50)
    >>> sorted(found.frame[["feature", "part"]].values[:2].tolist())
    [['f0', 'f2'], ['f2', 'f0']]
    """
    matrix = open_matrix(data, None, features, needs_target=False)
    if matrix.n_features < 2:
        raise InputError("a network needs at least two features.")
    chosen = range(matrix.n_features) if targets is None else [matrix.find(t) for t in targets]
    source: Matrix | tuple[str, tuple[int, ...]] = matrix
    if executor is not None and matrix.store.path is not None:
        source = (str(matrix.store.path), tuple(matrix.feature_ids.tolist()))
    else:
        _ = matrix.values  # read once here, not by every batch
    size = max(1, BATCH_TREES // n_trees)
    specs = [
        NetworkSpec(source, tuple(chosen[a : a + size]), n_trees, max_features, max_depth, seed)
        for a in range(0, len(chosen), size)
    ]
    best = _Strongest(max_links)
    executor = executor or LocalExecutor(threads)
    for done, (spec, weights) in enumerate(
        zip(specs, executor.map(infer_links, specs), strict=True), 1
    ):
        for target, row in zip(spec.targets, weights, strict=True):
            best.add(target, row)
        if on_progress:
            on_progress(done / len(specs))
    sources, ends, values = best.finish()
    table = make_table(
        [matrix.names[s] for s in sources.tolist()], values,
        part=[matrix.names[t] for t in ends.tolist()],
    )  # fmt: skip
    settings = {"n_trees": n_trees, "max_features": max_features, "max_depth": max_depth,
                "n_targets": len(chosen), "seed": seed}  # fmt: skip
    return Analysis("network", table, settings, NOTES)


NOTES = (
    "A weight ranks a link among others; it is no probability. Both directions of a link get "
    "weights of their own, but from data of one state directions are hardly known.",
)


def infer_links(spec: NetworkSpec) -> np.ndarray:
    """Weights (n_targets, n_features) of the links to the targets of one batch; 0 to itself."""
    matrix = _matrix_of(spec.source)
    weights = np.zeros((len(spec.targets), matrix.n_features))
    values = matrix.values_of(spec.targets)
    for at, target in enumerate(spec.targets):
        inputs = np.delete(np.arange(matrix.n_features), target)
        known = np.flatnonzero(matrix.codes[:, target] != MISSING)
        learned, criterion = normalised_target(
            values[known, at], bool(matrix.is_categorical[target])
        )
        settings = TreeSettings(criterion, spec.max_features, spec.max_depth)
        codes = np.ascontiguousarray(matrix.codes[np.ix_(known, inputs)])
        weights[at, inputs] = mean_importance(
            codes, matrix.is_categorical[inputs], learned, settings, spec.n_trees,
            (spec.seed, NETWORK, target), bootstrap=False,
        )  # fmt: skip
        weights[at] /= weights[at].sum() or 1.0
    return weights


def _matrix_of(source: Matrix | tuple[str, tuple[int, ...]]) -> Matrix:
    if isinstance(source, Matrix):
        return source
    path, ids = source
    return open_matrix(Path(path), None, list(ids), needs_target=False)


def normalised_target(values: np.ndarray, is_categorical: bool) -> tuple[TreeTarget, str]:
    """A feature as the target of trees, and their criterion: classes, or unit variance."""
    if is_categorical:
        levels, classes = np.unique(values, return_inverse=True)
        return TreeTarget.of_classes(classes, len(levels)), "entropy"
    return TreeTarget.of_values((values - values.mean()) / (values.std() or 1.0)), "variance"


class _Strongest:
    """The strongest links so far, within bounded memory."""

    def __init__(self, n_links: int) -> None:
        self.n_links = n_links
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._held = 0

    def add(self, target: int, weights: np.ndarray) -> None:
        sources = np.delete(np.arange(len(weights)), target)
        self._parts.append((sources, np.full(len(sources), target), weights[sources]))
        self._held += len(sources)
        if self._held > 2 * self.n_links + len(weights):
            self._parts = [self.finish()]
            self._held = len(self._parts[0][0])

    def finish(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sources, targets and weights of the strongest links, the strongest first."""
        sources, targets, weights = (
            np.concatenate(arrays) for arrays in zip(*self._parts, strict=True)
        )
        order = np.lexsort((sources, targets, -weights))[: self.n_links]
        return sources[order], targets[order], weights[order]


def link_matrix(found: Analysis, names: list[str]) -> np.ndarray:
    """The weights of a network as a matrix (source x target)."""
    at = {name: i for i, name in enumerate(names)}
    weights = np.zeros((len(names), len(names)))
    sources = [at[name] for name in found.table["feature"].to_pylist()]
    targets = [at[name] for name in found.table["part"].to_pylist()]
    weights[sources, targets] = found.column("value")
    return weights
