"""Context-dependent importance: which features matter more, or less, in a context.

Sutera et al. (2016), with totally randomised trees that do not see the context. Ours, beyond the
paper: numeric features (split at one random cut, and usable again below; trees then end at nodes of
ten samples a context), a numeric context (cut into thirds of equal size), and "irrelevant" decided
by a test within the context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from srs.catalogue import MOST, Analysis, Option, Section
from srs.executors import LocalExecutor
from srs.explain.contexts import described, min_node_of, open_context
from srs.explain.forest import OnProgress
from srs.explain.matrix import Matrix
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table, rank_p_values
from srs.seeds import EXPLAIN, make_rng
from srs.trees.multiway import ContextTarget, MultiwaySums, grow_multiway
from srs.trees.records import Columns
from srs.trees.target import nlogn_table

CONTEXT = EXPLAIN + 3
CHUNK_TREES = 25
SIGNIFICANT = 0.05
TEST_TREES, TEST_PERMUTATIONS = 100, 200  # of the test whether a feature matters in a context


@dataclass(frozen=True)
class ContextSums:
    """Importances over trees; the last axis is the assignment of contexts, the first is as given.

    imp, imp_error            (n_features,)
    absolute, signed          (n_contexts, n_features, 1 + n_permutations)
    absolute_error            (n_contexts, n_features)
    overall                   (n_features, 1 + n_permutations)
    """

    imp: np.ndarray
    imp_error: np.ndarray
    absolute: np.ndarray
    absolute_error: np.ndarray
    signed: np.ndarray
    overall: np.ndarray


def context(
    data: Any,
    target: Any = None,
    *,
    context: Any,
    features: Any = None,
    n_trees: int = 1000,
    n_permutations: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """How the importance of each feature depends on a context, one row per feature and context.

    context  name of a feature (which then is none of those explained) or of a target of the
             store, or one value a sample; a number of more than ten values is cut into thirds

    value      Imp^|xc| (equation 11): how much the context changes what the feature tells
    error      its standard error over trees
    null       its mean over permutations of the context
    p_value    share of permutations that reach it
    signed     Imp_s^xc (equation 12): negative where the feature tells more in the context
    p_signed   two-sided
    imp        Imp: importance over all samples, with imp_error
    given      Imp given the context: of a forest on its samples alone
    shared     the same by the nodes of the forest over all samples: imp - signed (in Table 4)
    p_given    of `given`, against permutations of the target within the context
    overall    Imp^Xc: effect of knowing the context, p_overall two-sided
    label      "independent" unless p_value < 0.05; else "complementary" (signed < 0), "redundant",
               or "irrelevant": redundant, and not shown to matter within the context

    >>> rng = np.random.default_rng(0)
    >>> X, sex = rng.integers(0, 2, (400, 3)), np.repeat(["f", "m"], 200)
    >>> y = np.where(sex == "f", X[:, 0], X[:, 1])
    >>> found = context(X, y, context=sex, n_trees=100, n_permutations=99)
    >>> found.frame.query("part == 'f'")["label"].tolist()
    ['complementary', 'irrelevant', 'independent']
    """
    counts = {"n_trees": n_trees, "n_permutations": n_permutations}
    check_counts(seed=seed, threads=threads, **counts)
    matrix, groups, labels = open_context(data, target, features, context)
    p, n_contexts = matrix.n_features, len(labels)
    show = on_progress or (lambda _: None)
    sums = context_sums(
        matrix,
        groups,
        n_contexts=n_contexts,
        seed=seed,
        threads=threads,
        on_progress=lambda share: show(0.6 * share),
        **counts,
    )
    given, p_given = np.empty((n_contexts, p)), np.empty((n_contexts, p))
    for c in range(n_contexts):
        rows = np.flatnonzero(groups == c)
        given[c], p_given[c] = _within(matrix, rows, n_trees, threads, place=(seed, c))
        show(0.6 + 0.4 * (c + 1) / n_contexts)
    table = _table(matrix.names, labels, sums, given, p_given)
    settings = {**described(context, labels), **counts, "seed": seed}
    return AnalysisResult("context", table, settings, (*NOTES, *matrix.notices))


def _table(
    names: Sequence[str],
    labels: Sequence[str],
    sums: ContextSums,
    given: np.ndarray,
    p_given: np.ndarray,
) -> pa.Table:
    """One row a context and feature, with what permutations say of it."""
    p, n_contexts = len(names), len(labels)
    absolute, signed = sums.absolute[..., 0], sums.signed[..., 0]
    p_abs = rank_p_values(absolute, np.moveaxis(sums.absolute[..., 1:], -1, 0))
    p_signed = rank_p_values(np.abs(signed), np.abs(np.moveaxis(sums.signed[..., 1:], -1, 0)))
    p_overall = rank_p_values(np.abs(sums.overall[:, 0]), np.abs(sums.overall[:, 1:].T))
    words = [
        _word(p_abs[c, j], signed[c, j], p_given[c, j]) for c in range(n_contexts) for j in range(p)
    ]
    repeated = np.tile(np.arange(p), n_contexts)
    return make_table(
        [names[j] for j in repeated],
        absolute.ravel(),
        part=[label for label in labels for _ in range(p)],
        error=sums.absolute_error.ravel(),
        null=sums.absolute[..., 1:].mean(axis=-1).ravel(),
        p_value=p_abs.ravel(),
        q_value=np.concatenate([correct(row) for row in p_abs]),
        label=words,
        signed=signed.ravel(),
        p_signed=p_signed.ravel(),
        imp=sums.imp[repeated],
        imp_error=sums.imp_error[repeated],
        given=given.ravel(),
        p_given=p_given.ravel(),
        shared=sums.imp[repeated] - signed.ravel(),
        overall=sums.overall[repeated, 0],
        p_overall=p_overall[repeated],
    )


NOTES = (
    "Labels follow p-values of single features, as in the paper; q-values correct for their "
    "number. A feature labelled independent was not shown to depend on the context.",
)


def _word(p_value: float, signed: float, p_given: float) -> str:
    if p_value >= SIGNIFICANT:
        return "independent"
    if signed < 0:
        return "complementary"
    return "redundant" if p_given < SIGNIFICANT else "irrelevant"


def make_masks(groups: np.ndarray, n_contexts: int, n_permutations: int, seed: int) -> np.ndarray:
    """uint8 (n_contexts, n_samples, 1 + n_permutations): the contexts as given, then permuted."""
    rng = make_rng(seed, CONTEXT, 0)
    assigned = np.column_stack(
        [groups, *(rng.permutation(groups) for _ in range(n_permutations))]
    ).astype(np.int64)
    return np.ascontiguousarray(
        (assigned[None] == np.arange(n_contexts)[:, None, None]).astype(np.uint8)
    )


def context_sums(
    matrix: Matrix,
    groups: np.ndarray,
    *,
    n_contexts: int,
    n_trees: int,
    n_permutations: int,
    seed: int,
    threads: int | None,
    on_progress: OnProgress | None = None,
) -> ContextSums:
    """Importances in contexts, of one forest over all samples."""
    masks = make_masks(groups, n_contexts, n_permutations, seed)
    chunks = range(0, n_trees, CHUNK_TREES)
    min_node = min_node_of(matrix, n_contexts)
    rows = np.arange(matrix.n_samples, dtype=np.int32)

    def grow(start: int) -> MultiwaySums:
        size = min(CHUNK_TREES, n_trees - start)
        return grow_chunk(matrix, rows, masks, size, min_node, place=(seed, CONTEXT, 1, start))

    total: list[np.ndarray] = []
    for done, part in enumerate(LocalExecutor(threads).map(grow, chunks), 1):
        total = [a + b for a, b in zip(total, part, strict=True)] if total else list(part)
        if on_progress:
            on_progress(done / len(chunks))
    imp, imp_sq, absolute, absolute_sq, signed, overall = (a / n_trees for a in total)
    scale = max(n_trees - 1, 1)
    return ContextSums(
        imp=imp,
        imp_error=np.sqrt(np.maximum(imp_sq - imp**2, 0) / scale),
        absolute=absolute,
        absolute_error=np.sqrt(np.maximum(absolute_sq - absolute[..., 0] ** 2, 0) / scale),
        signed=signed,
        overall=overall,
    )


def grow_chunk(
    matrix: Matrix,
    rows: np.ndarray,
    masks: np.ndarray,
    n_trees: int,
    min_node: int,
    place: tuple[int, ...],
    target: np.ndarray | None = None,
) -> MultiwaySums:
    """Sums of `grow_multiway` over some trees; `target` replaces that of the matrix."""
    tree_target = matrix.tree_target
    classes, values = tree_target.classes, tree_target.values * tree_target.unit
    if target is not None and len(values):
        values = target
    elif target is not None:
        classes = target
    sums = MultiwaySums.empty(masks.shape[0], matrix.n_features, masks.shape[2])
    grow_multiway(
        columns=Columns(matrix.codes, matrix.is_categorical),
        target=ContextTarget(classes, values, tree_target.n_classes),
        rows=rows,
        masks=masks,
        keys=make_rng(*place).integers(0, 1 << 64, n_trees, dtype=np.uint64),
        nlogn=nlogn_table(len(rows)),
        min_node=min_node,
        sums=sums,
    )
    return sums


def _within(
    matrix: Matrix, rows: np.ndarray, n_trees: int, threads: int | None, place: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Importances of a forest on the samples of one context, and their p-values.

    place  seed of the run and number of the context
    """
    seed, c = place
    rows = rows.astype(np.int32)
    min_node = min_node_of(matrix, 1)
    none = np.zeros((0, matrix.n_samples, 1), np.uint8)
    tree_target = matrix.tree_target
    truth = (
        tree_target.values * tree_target.unit if len(tree_target.values) else (tree_target.classes)
    )

    def grow(permutation: int) -> np.ndarray:
        target, size = truth, n_trees
        if permutation:
            target, size = truth.copy(), TEST_TREES
            target[rows] = make_rng(seed, CONTEXT, 2, c, permutation).permutation(truth[rows])
        place = (seed, CONTEXT, 3, c, permutation)
        grown = grow_chunk(matrix, rows, none, size, min_node, place=place, target=target)
        return grown.imp / size

    first, *null = LocalExecutor(threads).map(grow, range(1 + TEST_PERMUTATIONS))
    return first, rank_p_values(first, np.array(null))


CONTEXT_ANALYSIS = Analysis(
    name="context",
    title="Dependence on the context",
    question="Does a feature carry more, or less, information about the target in a context",
    run=context,
    value="context",
    options=(
        Option("context", "column", "the context: a feature or a target", required=True),
        Option("n_trees", "int", "trees of each forest", 1000, low=1, high=MOST),
        Option("n_permutations", "int", "permutations of the context", 1000, low=1, high=MOST),
    ),
    section=Section(
        "How much the context changes the information that a feature carries about the target. "
        "The thin line is the value by chance, from permuting the context. A star marks "
        "p-values below 0.05. Complementary: more information in this context; redundant: less; "
        "irrelevant: none.",
        chart="groups",
        columns=(
            *("signed", "p_signed", "imp", "imp_error", "given", "p_given", "shared"),
            *("overall", "p_overall"),
        ),
    ),
)
