"""Network inference by forests (GENIE3): which features tell each feature (thesis 8.2).

One forest a target, every other feature an input; a link's weight is the importance of its source
for its target. Targets are normalised to unit variance (entropy, for categories), so that
weights of different targets compare, and weights are shares of what is told of a target. By
default all features are tried at every node, which masks indirect links (8.2.2: strongly relevant
features cannot be masked), and trees end at depth 3, before nodes have too few samples. Three
trees in four cut at random and see all samples (extra-trees); one in four looks for the best cut
of a bootstrap sample (random forest): the two err differently, and their mean ranks links better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from srs.catalogue import MOST, Analysis, Option, Section
from srs.errors import ClusterError, InputError
from srs.executors import Executor, open_executor
from srs.explain.forest import OnProgress, mean_importance
from srs.explain.matrix import Matrix, open_matrix
from srs.results.analysis import AnalysisResult, check_counts, make_table
from srs.seeds import EXPLAIN
from srs.trees import MISSING, TreeSettings, TreeTarget

NETWORK = EXPLAIN + 9
MAX_LINKS = 100_000
MAX_DEPTH = 3
BEST_CUTS = 0.25
BATCH_TREES = 2_000  # trees of a batch: about half a second


@dataclass(frozen=True)
class StoredFeatures:
    """Features of a store that workers read themselves.

    location     where they find the store
    fingerprint  what must be there
    feature_ids  int64 as bytes; None: all features, in order
    """

    location: str
    fingerprint: str
    feature_ids: bytes | None


@dataclass(frozen=True)
class NetworkSpec:
    """One batch of targets; the same spec gives the same weights on any worker.

    source        a Matrix, or which features to read from a store
    targets       columns that are targets in this batch
    n_trees       trees a target
    max_features  features tried at a node; None: all
    max_depth     deepest level of a leaf; None: no limit
    best_cuts     share of trees that look for the best cut of a bootstrap sample
    seed          seed of the run
    """

    source: Matrix | StoredFeatures
    targets: tuple[int, ...]
    n_trees: int
    max_features: int | None
    max_depth: int | None
    best_cuts: float
    seed: int


def network(
    data: Any,
    *,
    features: Any = None,
    targets: Any = None,
    n_trees: int = 1000,
    max_features: int | None = None,
    max_depth: int | None = MAX_DEPTH,
    best_cuts: float = BEST_CUTS,
    max_links: int = MAX_LINKS,
    oriented: bool = False,
    seed: int = 0,
    threads: int | None = None,
    executor: Any = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """Weights of the links between features, the strongest first.

    targets       names or ids of the features that links lead to; None: all
    max_features  K: features tried at a node; None: all, which favours direct links
    max_depth     deepest level of a leaf; None: trees grow until they are pure
    best_cuts     share of trees that look for the best cut of a bootstrap sample, as random forests
                  do; the others take the best of one random cut a feature, of all samples
    max_links     number of links that are kept
    oriented      give each pair once, from the feature that tells more of the other (8.2.3), with
                  the weight of the other direction in `reverse`
    executor      where batches of targets run, as in `srs.select`: a `distributed.Client`, the
                  address of a scheduler, a number of worker processes; workers read the store
                  themselves. None: threads of this process

    feature  source of the link; part  its target
    value    importance of the source for the target, as a share of all sources'

    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 200))
    >>> found = network(np.column_stack([a, b, a + 0.3 * b]), n_trees=50)
    >>> sorted(found.frame[["feature", "part"]].values[:2].tolist())
    [['f0', 'f2'], ['f2', 'f0']]
    """
    check_counts(seed=seed, n_trees=n_trees, max_links=max_links, threads=threads)
    check_counts(max_features=max_features, max_depth=max_depth)
    if not 0 <= best_cuts <= 1:
        raise InputError(f"best_cuts is a share of trees, from 0 to 1, not {best_cuts}.")
    matrix = open_matrix(data, None, features, needs_target=False)
    chosen = _chosen(matrix, targets)
    grown: dict[str, Any] = {
        "n_trees": n_trees,
        "max_features": max_features,
        "max_depth": max_depth,
        "best_cuts": best_cuts,
    }
    spec = NetworkSpec(source=matrix, targets=tuple(chosen), seed=seed, **grown)
    best = _Strongest(max_links)
    with open_executor(executor, threads) as opened:
        _infer(spec, opened, best, on_progress)
    settings = {**grown, "n_targets": len(chosen), "seed": seed}
    settings |= {"oriented": True} if oriented else {}
    table = _table(matrix, best, oriented)
    return AnalysisResult("network", table, settings, ORIENTED if oriented else NOTES)


def _table(matrix: Matrix, best: _Strongest, oriented: bool) -> Any:
    sources, ends, values = best.finish()
    own: dict[str, Any] = {}
    if oriented:
        kept, reverse = orient(sources, ends, values)
        sources, ends, values = sources[kept], ends[kept], values[kept]
        own = {"reverse": reverse}
    return make_table(
        [matrix.names[s] for s in sources.tolist()],
        values,
        part=[matrix.names[t] for t in ends.tolist()],
        **own,
    )


def orient(
    sources: np.ndarray, ends: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which links are the stronger of their two directions, and the weights of the others.

    Links are the strongest first. The weight of a direction that is not among them is not known
    (NaN), but no larger than the last.

    >>> kept, reverse = orient(np.array([0, 1, 1]), np.array([1, 0, 2]), np.array([3.0, 2.0, 1.0]))
    >>> kept.tolist(), reverse.tolist()
    ([0, 2], [2.0, nan])
    """
    at = {link: i for i, link in enumerate(zip(sources.tolist(), ends.tolist(), strict=True))}
    kept, reverse = [], []
    for i, (source, end) in enumerate(at):
        other = at.get((end, source), len(at))
        if i < other:
            kept.append(i)
            reverse.append(float(values[other]) if other < len(at) else float("nan"))
    return np.array(kept, np.int64), np.array(reverse)


NOTES = (
    "A weight ranks a link among others; it is not a probability. Both directions of a link get "
    "their own weights, but observational data of one state say little about direction.",
)
ORIENTED = (
    "A link is given from the feature that tells more of the other than it is told; reverse is the "
    "weight the other way. Where both are alike, the direction means little (thesis 8.2.3).",
)


def _chosen(matrix: Matrix, targets: Any) -> Sequence[int]:
    """The columns that links lead to."""
    if matrix.n_features < 2:
        raise InputError(
            f"a network needs at least two features, and {matrix.names[0]!r} is the only one: name "
            f"more."
        )
    chosen = range(matrix.n_features) if targets is None else [matrix.find(t) for t in targets]
    if not chosen:
        raise InputError("the list of targets of the network is empty: name some.")
    return chosen


def _infer(
    whole: NetworkSpec, executor: Executor, best: _Strongest, on_progress: OnProgress | None
) -> None:
    """Keep the strongest links to all targets of a spec, which is cut into batches."""
    matrix = whole.source
    if isinstance(matrix, Matrix) and executor.remote:
        whole = replace(whole, source=_stored(matrix))
    elif isinstance(matrix, Matrix):
        _ = matrix.values  # read once here, not by every batch
    size = max(1, BATCH_TREES // whole.n_trees)
    batches = [whole.targets[a : a + size] for a in range(0, len(whole.targets), size)]
    specs = [replace(whole, targets=batch) for batch in batches]
    for done, (spec, weights) in enumerate(
        zip(specs, executor.map(infer_links, specs), strict=True), 1
    ):
        for target, row in zip(spec.targets, weights, strict=True):
            best.add(target, row)
        if on_progress:
            on_progress(done / len(specs))


def infer_links(spec: NetworkSpec) -> np.ndarray:
    """Weights (n_targets, n_features) of the links to the targets of one batch; 0 to itself."""
    matrix = spec.source if isinstance(spec.source, Matrix) else _read(spec.source)
    weights = np.zeros((len(spec.targets), matrix.n_features))
    values = matrix.values_of(spec.targets)
    for at, target in enumerate(spec.targets):
        inputs = np.delete(np.arange(matrix.n_features), target)
        known = np.flatnonzero(matrix.codes[:, target] != MISSING)
        learned, criterion = normalised_target(
            values[known, at], bool(matrix.is_categorical[target])
        )
        codes = np.ascontiguousarray(matrix.codes[np.ix_(known, inputs)])
        n_best = round(spec.best_cuts * spec.n_trees)
        for kind, n_trees in enumerate((spec.n_trees - n_best, n_best)):
            if n_trees:
                settings = TreeSettings(
                    criterion, spec.max_features, spec.max_depth, best_cut=kind == 1
                )
                told, _ = mean_importance(
                    codes,
                    matrix.is_categorical[inputs],
                    learned,
                    settings,
                    n_trees,
                    place=(spec.seed, NETWORK, target, kind),
                    bootstrap=kind == 1,
                )
                weights[at, inputs] += n_trees / spec.n_trees * told / (told.sum() or 1.0)
    return weights


def _stored(matrix: Matrix) -> StoredFeatures:
    """What travels to workers instead of the matrix."""
    store, ids = matrix.store, matrix.feature_ids
    if store.selection is not None:
        raise InputError("workers read whole stores, and this is a view of a store: use threads.")
    every = np.array_equal(ids, np.arange(store.n_features))
    return StoredFeatures(
        store.shared_location(), store.fingerprint, None if every else ids.tobytes()
    )


@lru_cache(maxsize=1)  # a worker reads the features once, not for every batch
def _read(source: StoredFeatures) -> Matrix:
    ids = None if source.feature_ids is None else np.frombuffer(source.feature_ids, np.int64)
    matrix = open_matrix(source.location, None, ids, needs_target=False)
    if matrix.store.fingerprint != source.fingerprint:
        raise ClusterError(
            f"a worker finds another store at {source.location} than the coordinator."
        )
    return matrix


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


def link_matrix(found: AnalysisResult, names: list[str]) -> np.ndarray:
    """The weights of a network as a matrix (source x target)."""
    at = {name: i for i, name in enumerate(names)}
    weights = np.zeros((len(names), len(names)))
    sources = [at[name] for name in found.table["feature"].to_pylist()]
    targets = [at[name] for name in found.table["part"].to_pylist()]
    weights[sources, targets] = found.column("value")
    return weights


NETWORK_ANALYSIS = Analysis(
    name="network",
    title="Network",
    question="Which features predict which others",
    run=network,
    options=(
        Option("targets", "names", "features that links lead to", none="all"),
        Option("n_trees", "int", "trees of each target", 1000, low=1, high=MOST),
        Option(
            "max_features", "int", "features tried at a node", low=1, high=MOST, none="all of them"
        ),
        Option(
            "max_depth",
            "int",
            "deepest level of a leaf",
            MAX_DEPTH,
            low=1,
            high=MOST,
            none="trees grow until they are pure",
        ),
        Option(
            "best_cuts",
            "float",
            "share of trees that look for the best cut of a bootstrap sample",
            BEST_CUTS,
            low=0,
            high=1,
        ),
        Option("max_links", "int", "links that are kept", MAX_LINKS, low=1, high=10 * MOST),
        Option("oriented", "bool", "each pair once, from the feature that tells more", False),
    ),
    target=False,
    remote=True,
    section=Section(
        "Which features predict which others: the strongest links. Thicker is stronger.",
        chart="links",
    ),
)
