"""Main effect against interaction by degree: what features tell alone, and when others are known.

An estimate of the decomposition of MDI by degree (thesis 5.2, equations 5.4 and 5.6) from samples.
The trees are totally randomised, and all nodes of a level test the same feature: a tree is a random
order of the features. At level k, every feature that is not yet used is tried in all nodes, given
the k features above. The mean over trees estimates the mean of I(X; Y | B) over all B of k others,
which is p times the terms of degree k in equation 5.2 (`srs.theory.asymptotic_importances` with
by_degree). What chance tells in small nodes is taken off (`srs.explain.permuting.conditional`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from srs.catalogue import MOST, Analysis, Option, Section
from srs.errors import InputError
from srs.executors import LocalExecutor
from srs.explain.forest import OnProgress
from srs.explain.matrix import Matrix, open_matrix, random_order
from srs.explain.permuting.conditional import Learned, cut_levels, learned, told_within
from srs.explain.permuting.staged import Counts, stages
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table
from srs.seeds import EXPLAIN, make_rng

DEGREES = EXPLAIN + 17
ALONE = "alone"


@dataclass(frozen=True)
class _Cut:
    """Features of few levels, (n_features, n_samples), the target, and the trees.

    trees  the first features of random orders of them
    """

    levels: np.ndarray
    target: Learned
    trees: list[np.ndarray]


def degrees(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    max_degree: int = 2,
    n_trees: int = 50,
    n_permutations: int = 1999,
    n_levels: int = 3,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """What each feature tells of the target alone, and given 1, 2, ... other features.

    max_degree      largest number of other features that are given
    n_trees         random orders of the features
    n_permutations  most permutations of a feature, against the target and all others; fewer for
                    features that chance explains (`srs.explain.permuting.staged`)
    n_levels        levels that ordered features are cut into; more of them see finer, and need more
                    samples

    part     "alone", "given 1 other", "given 2 others", ...
    value    what the feature tells, mean over the sets that are given, less what chance tells: bits
             for classes, share of the variance for numbers
    error    its standard error over trees
    null     its mean over permutations
    p_value  share of permutations that reach the value; uniform if the feature is independent of
             the target and of all other features
    label    at the smallest degree with a q-value below 0.05: "main effect", or "interaction" for
             a feature that tells nothing alone
    beyond   value less that alone: above 0 where others add to what the feature tells, below 0
             where they tell the same

    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (300, 4))
    >>> found = degrees(X, X[:, 0] ^ X[:, 1], max_degree=1, n_trees=20)
    >>> found.frame.query("label == 'interaction'")[["feature", "part"]].values.tolist()
    [['f0', 'given 1 other'], ['f1', 'given 1 other']]
    """
    check_counts(seed=seed, n_trees=n_trees, n_permutations=n_permutations, threads=threads)
    check_counts(max_degree=max_degree, n_levels=n_levels)
    matrix = open_matrix(data, target, features)
    if matrix.n_features < 2 or n_levels < 2:
        raise InputError("degrees need at least two features, and two levels of each.")
    most = min(max_degree, matrix.n_features - 1)
    cut = _cut(matrix, n_levels, _draw_trees(matrix.n_features, most, n_trees, seed))
    counts, error = _counted(matrix, cut, n_permutations, seed, threads, on_progress=on_progress)
    settings = {
        "max_degree": most,
        "n_trees": n_trees,
        "n_permutations": n_permutations,
        "n_levels": n_levels,
        "seed": seed,
    }
    table = _table(matrix, counts, error)
    return AnalysisResult("degrees", table, settings, (*NOTES, *matrix.notices))


def _counted(
    matrix: Matrix,
    cut: _Cut,
    n_permutations: int,
    seed: int,
    threads: int | None,
    on_progress: OnProgress | None,
) -> tuple[Counts, np.ndarray]:
    """Values (n_degrees, n_features) with their permutations, and the errors of values."""
    everything = np.ones((len(cut.trees[0]) + 1, matrix.n_features), np.bool_)
    as_it_is = np.arange(matrix.n_samples)[None]
    found, error = _average(cut, everything, as_it_is, threads, None)
    counts = Counts(found[:, 0])
    ends = list(stages(n_permutations))
    for number, (start, stop) in enumerate(ends):

        def show(share: float, number: int = number) -> None:
            if on_progress:
                on_progress((number + share) / len(ends))

        active = counts.active.copy()
        orders = [random_order(matrix, make_rng(seed, DEGREES, 0, r)) for r in range(start, stop)]
        null, _ = _average(cut, active, np.array(orders, np.int64), threads, show)
        counts.add(active, null.swapaxes(0, 1))
        if not counts.active.any():
            break
    return counts, error


def _average(
    cut: _Cut,
    active: np.ndarray,
    orders: np.ndarray,
    threads: int | None,
    on_progress: OnProgress | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Means (n_degrees, n_orders, n_features) over trees; errors of those in the first order.

    active  bool (n_degrees, n_features): what is looked at; the rest is 0
    """
    n_degrees, p = active.shape
    told = _told(cut, active, orders)
    trees = range(len(cut.trees))
    tasks = [(0, 0), *((t, k) for k in range(1, n_degrees) for t in trees)]
    sums = np.zeros((n_degrees, len(orders), p))
    squares, counts = np.zeros((n_degrees, p)), np.zeros((n_degrees, p))
    found = LocalExecutor(threads).map(told, tasks)
    for done, ((_, k), (some, values)) in enumerate(zip(tasks, found, strict=True), 1):
        sums[k][:, some] += values.T
        squares[k, some] += values[:, 0] ** 2
        counts[k, some] += 1
        if on_progress:
            on_progress(done / len(tasks))
    counts = np.maximum(counts, 1)
    means = sums / counts[:, None]
    spread = np.maximum(squares / counts - means[:, 0] ** 2, 0.0)
    error = np.sqrt(spread / np.maximum(counts - 1, 1))
    error[0] = np.nan  # alone there is nothing to draw
    return means, error


def _cut(matrix: Matrix, n_levels: int, trees: list[np.ndarray]) -> _Cut:
    levels = [
        cut_levels(codes, bool(by_level), n_levels)
        for codes, by_level in zip(matrix.codes.T, matrix.is_categorical, strict=True)
    ]
    return _Cut(np.array(levels), learned(matrix.tree_target), trees)


def _draw_trees(n_features: int, most: int, n_trees: int, seed: int) -> list[np.ndarray]:
    """The first features of random orders; more than asked for if a feature is in them all."""
    trees: list[np.ndarray] = []
    always = set(range(n_features))
    while len(trees) < n_trees or always:
        order = make_rng(seed, DEGREES, 1, len(trees)).permutation(n_features)
        trees.append(order[:most])
        always &= set(order[:most].tolist())
    return trees


def _told(cut: _Cut, active: np.ndarray, orders: np.ndarray) -> Any:
    """A function of (tree, degree): the features it tries, and what they tell in every order."""
    n = cut.levels.shape[1]

    def told(task: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        tree, degree = task
        given = cut.trees[tree][:degree]
        groups = np.zeros(n, np.int64)
        for m in given:
            joined = groups * (cut.levels[m].max() + 1) + cut.levels[m]
            groups = np.unique(joined, return_inverse=True)[1].ravel().astype(np.int64)
        some = np.setdiff1d(np.flatnonzero(active[degree]), given)
        n_groups = int(groups.max()) + 1
        values = np.empty((len(some), len(orders)))
        for row, m in zip(values, some, strict=True):
            told_within(groups, n_groups, cut.levels[m], orders, target=cut.target, found=row)
        return some, values

    return told


def _table(matrix: Matrix, counts: Counts, error: np.ndarray) -> Any:
    """One row a feature and degree; counts are of (n_degrees, n_features)."""
    value, p_value = counts.value, counts.p_values
    n_degrees, p = value.shape
    q_value = np.array([correct(row) for row in p_value])
    parts = [ALONE, *(f"given {k} other{'s' if k > 1 else ''}" for k in range(1, n_degrees))]
    labels = np.full((n_degrees, p), None, object)
    for m in range(p):
        sure = np.flatnonzero(q_value[:, m] < 0.05)
        if len(sure):
            labels[sure[0], m] = "main effect" if sure[0] == 0 else "interaction"
    return make_table(
        list(matrix.names) * n_degrees,
        value.ravel(),
        part=[part for part in parts for _ in range(p)],
        error=error.ravel(),
        null=counts.null.ravel(),
        p_value=p_value.ravel(),
        q_value=q_value.ravel(),
        label=labels.ravel().tolist(),
        degree=np.repeat(np.arange(n_degrees), p),
        beyond=(value - value[0]).ravel(),
    )


NOTES = (
    "Features are cut into few levels first, so effects within a level are not seen. The null "
    "hypothesis is that a feature is independent of the target and of all other features: a "
    "feature that only goes with one that matters can be significant.",
    "A feature with a main effect tells something at every degree. An interaction shows where a "
    "feature tells more given others than alone (beyond is above 0). It is a mean over which "
    "others are given: among many features, an interaction with one of them is hard to see.",
)


DEGREES_ANALYSIS = Analysis(
    name="degrees",
    title="Main effects and interactions",
    question="Does a feature tell something alone, or only together with others",
    run=degrees,
    whole_subjects=True,
    options=(
        Option("max_degree", "int", "largest number of others that are given", 2, low=1, high=6),
        Option("n_trees", "int", "random orders of the features", 50, low=1, high=MOST),
        Option("n_permutations", "int", "most permutations of a feature", 1999, low=1, high=MOST),
        Option("n_levels", "int", "levels that ordered features are cut into", 3, low=2, high=20),
    ),
    section=Section(
        "What a feature tells of the target alone, and when one, two or more other features are "
        "known, as a mean over which ones; what chance tells is taken off. Bits for classes, share "
        "of the variance for numbers. A star marks p-values below 0.05.",
        chart="groups",
        columns=("degree", "beyond"),
    ),
)
