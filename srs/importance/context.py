"""Context-dependent importance: which features matter more, or less, in a context.

Sutera et al. (2016), with totally randomised trees that do not see the context. Ours, beyond the
paper: numeric features (split at one random cut, and usable again below; trees then end at nodes of
ten samples a context), a numeric context (cut into thirds of equal size), and "irrelevant" decided
by a test within the context.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from srs.errors import InputError, SourceError
from srs.executors import LocalExecutor
from srs.importance.analysis import Analysis, check_counts, correct, make_table, rank_p_values
from srs.importance.forest import OnProgress
from srs.importance.matrix import Matrix, open_matrix
from srs.ingest.target import number_text, parse_target
from srs.ingest.values import read_values
from srs.seeds import EXPLAIN, make_rng
from srs.store import Target
from srs.tree import MISSING
from srs.tree.multiway import grow_multiway
from srs.tree.target import nlogn_table

CONTEXT = EXPLAIN + 3
CHUNK_TREES = 25
N_PARTS = 3  # of a numeric context
SIGNIFICANT = 0.05
FEW_LEVELS = 10
MAX_CONTEXTS = 30
MIN_SAMPLES = 10  # of each context in a node that is split, where features are continuous
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
) -> Analysis:
    """How the importance of each feature depends on a context, one row a feature and context.

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
    shared     the same by the nodes of the forest over all samples: imp - signed (what the paper's
               Table 4 prints)
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
    check_counts(seed=seed, n_trees=n_trees, n_permutations=n_permutations, threads=threads)
    matrix, groups, labels = open_context(data, target, features, context)
    p, n_contexts = matrix.n_features, len(labels)
    show = on_progress or (lambda _: None)
    sums = context_sums(matrix, groups, n_contexts, n_trees, n_permutations, seed, threads,
                        lambda share: show(0.6 * share))  # fmt: skip
    given, p_given = np.empty((n_contexts, p)), np.empty((n_contexts, p))
    for c in range(n_contexts):
        rows = np.flatnonzero(groups == c)
        given[c], p_given[c] = _within(matrix, rows, n_trees, seed, threads, c)
        show(0.6 + 0.4 * (c + 1) / n_contexts)
    absolute, signed = sums.absolute[..., 0], sums.signed[..., 0]
    p_abs = rank_p_values(absolute, np.moveaxis(sums.absolute[..., 1:], -1, 0))
    p_signed = rank_p_values(np.abs(signed), np.abs(np.moveaxis(sums.signed[..., 1:], -1, 0)))
    p_overall = rank_p_values(np.abs(sums.overall[:, 0]), np.abs(sums.overall[:, 1:].T))
    words = [
        _word(p_abs[c, j], signed[c, j], p_given[c, j])
        for c in range(n_contexts) for j in range(p)
    ]  # fmt: skip
    repeated = np.tile(np.arange(p), n_contexts)
    table = make_table(
        [matrix.names[j] for j in repeated], absolute.ravel(),
        part=[label for label in labels for _ in range(p)],
        error=sums.absolute_error.ravel(), null=sums.absolute[..., 1:].mean(axis=-1).ravel(),
        p_value=p_abs.ravel(), q_value=np.concatenate([correct(row) for row in p_abs]),
        label=words, signed=signed.ravel(), p_signed=p_signed.ravel(), imp=sums.imp[repeated],
        imp_error=sums.imp_error[repeated], given=given.ravel(), p_given=p_given.ravel(),
        shared=sums.imp[repeated] - signed.ravel(),
        overall=sums.overall[repeated, 0], p_overall=p_overall[repeated],
    )  # fmt: skip
    settings = {**named(context), "contexts": list(labels), "n_trees": n_trees,
                "n_permutations": n_permutations, "seed": seed}  # fmt: skip
    return Analysis("context", table, settings, (*NOTES, *matrix.notices))


NOTES = (
    "Labels follow p-values of single features, as in the paper; q-values account for their "
    "number. A feature called independent was not shown to depend on the context.",
)


def _word(p_value: float, signed: float, p_given: float) -> str:
    if p_value >= SIGNIFICANT:
        return "independent"
    if signed < 0:
        return "complementary"
    return "redundant" if p_given < SIGNIFICANT else "irrelevant"


def named(context: Any) -> dict[str, str]:
    """The setting that names a context; none if it was given as values."""
    return {"context": context} if isinstance(context, str) else {}


def open_context(
    data: Any, target: Any, features: Any, context: Any, needs_target: bool = True
) -> tuple[Matrix, np.ndarray, tuple[str, ...]]:
    """The matrix without the context, the context of each sample, and labels of contexts."""
    by_name = isinstance(context, str)
    if by_name and isinstance(target, str) and context == target:
        raise InputError(f"{context!r} is the target and cannot be its context as well.")
    matrix = open_matrix(
        data, target, features, needs_target=needs_target, leave_out=(context,) if by_name else ()
    )
    if by_name:
        if needs_target and matrix.target is not None and context == matrix.target.name:
            raise InputError(f"{context!r} is the target and cannot be its context as well.")
        store = matrix.store
        if context in matrix.names:  # a Matrix that was opened with it
            column = matrix.find(context)
            matrix = matrix.take(np.delete(np.arange(matrix.n_features), column))
        if context in store.target_names:
            chosen = store.target(context)
        else:
            chosen = _feature_as_target(store, context)
    else:
        chosen = _given_context(context, matrix.n_samples)
    if not matrix.n_features:
        raise InputError(
            f"{context!r} is the context and there is no other feature: name features to explain."
        )
    groups, labels = _cut(chosen)
    n, n_contexts = len(groups), len(labels)
    if n_contexts < 2:
        _refuse_one_value(labels[0])
    sizes = np.bincount(groups, minlength=n_contexts)
    if sizes.min() < 2:
        raise InputError(
            f"the context has {n_contexts} values for {n} samples, and "
            f"{labels[int(sizes.argmin())]!r} has one sample only: give a context with several "
            f"samples of each value."
        )
    if min_node_of(matrix, n_contexts) > n:
        raise InputError(
            f"{n} samples are too few for {n_contexts} contexts: with numeric features it takes "
            f"{MIN_SAMPLES} a context, {MIN_SAMPLES * n_contexts} in all; join contexts."
        )
    return matrix, groups, labels


def _refuse_one_value(value: Any) -> NoReturn:
    raise InputError(
        f"the context has one value only ({value!s}), and nothing can depend on it: give one with "
        f"two values or more."
    )


def _given_context(context: Any, n_samples: int) -> Target:
    """Values as a context, or an InputError that calls them so."""
    values = np.asarray(context)
    known = not any(value is None or value != value for value in values.ravel().tolist())
    if values.ndim == 1 and len(values) == n_samples and known:
        n_values = len(np.unique(values.astype(str)))
        if n_values == 1:
            _refuse_one_value(values[0])
        if n_values == n_samples and values.dtype.kind not in "iuf":
            _refuse_many(n_values, n_samples)
    try:
        return parse_target("context", context, n_samples, None)
    except SourceError as error:
        text = str(error).replace("the target 'context'", "the context")
        raise InputError(text.replace("source and target", "data, target and context")) from None


def _refuse_many(n_values: int, n_samples: int) -> NoReturn:
    raise InputError(
        f"the context has {n_values} values for {n_samples} samples: give a context with several "
        f"samples of each value, and at most {MAX_CONTEXTS} values."
    )


def _feature_as_target(store: Any, name: str) -> Target:
    ids = store.find_ids([name])
    if len(ids) > 1:
        raise InputError(f"{len(ids)} features are named {name!r}: give the context as values.")
    feature_id = int(ids[0])
    codes = store.read_codes([feature_id])[:, 0].astype(np.int64)
    labels = store.labels(feature_id)
    levels = np.unique(codes)
    if labels or len(levels) <= FEW_LEVELS:
        texts = ["missing" if c == MISSING else labels[c] if labels else number_text(v)
                 for c, v in zip(levels.tolist(), _values_of(store, feature_id, codes, levels),
                                 strict=True)]  # fmt: skip
        return Target(name, "classification", np.searchsorted(levels, codes), tuple(texts))
    return Target(name, "regression", codes.astype(np.float64))


def _values_of(store: Any, feature_id: int, codes: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The value behind each code, as far as the source can be read; else the code."""
    try:
        values = read_values(store, [feature_id])[:, 0]
    except (InputError, OSError):
        return levels
    return np.array([values[np.argmax(codes == level)] for level in levels])


def _cut(chosen: Target) -> tuple[np.ndarray, tuple[str, ...]]:
    """Groups of samples and their labels; numbers are cut into parts of about equal size."""
    values = chosen.values.astype(np.float64)
    if chosen.task == "classification":
        numbers = _as_numbers(chosen.labels) if len(chosen.labels) > FEW_LEVELS else None
        if numbers is None:
            if len(chosen.labels) > MAX_CONTEXTS:
                _refuse_many(len(chosen.labels), len(values))
            return chosen.values.astype(np.int64), chosen.labels
        values = numbers[chosen.values]
    bounds = np.unique(np.quantile(values, np.arange(1, N_PARTS) / N_PARTS))
    groups = np.searchsorted(bounds, values, side="left")
    present = np.unique(groups)
    names = ("low", "middle", "high") if len(present) == 3 else ("low", "high")
    return np.searchsorted(present, groups), names[: len(present)]


def _as_numbers(labels: tuple[str, ...]) -> np.ndarray | None:
    """The numbers that labels are; None if they are not."""
    try:
        return np.array([float(label) for label in labels])
    except ValueError:
        return None


def min_node_of(matrix: Matrix, n_contexts: int) -> int:
    """Fewest samples of a node that is split.

    Trees on categories grow until their nodes are pure, as in the paper. Where a feature is
    continuous they would grow to single samples, and noise of small nodes drown the rest.
    """
    levels = max(len(np.unique(column)) for column in matrix.codes.T)
    categories = matrix.is_categorical.all() or levels <= FEW_LEVELS
    return 2 if categories else MIN_SAMPLES * n_contexts


def make_masks(groups: np.ndarray, n_contexts: int, n_permutations: int, seed: int) -> np.ndarray:
    """uint8 (n_contexts, n_samples, 1 + n_permutations): the contexts as given, then permuted."""
    rng = make_rng(seed, CONTEXT, 0)
    assigned = np.column_stack(
        [groups, *(rng.permutation(groups) for _ in range(n_permutations))]
    ).astype(np.int64)  # fmt: skip
    return np.ascontiguousarray(
        (assigned[None] == np.arange(n_contexts)[:, None, None]).astype(np.uint8)
    )


def context_sums(
    matrix: Matrix, groups: np.ndarray, n_contexts: int, n_trees: int, n_permutations: int,
    seed: int, threads: int | None, on_progress: OnProgress | None = None,
) -> ContextSums:  # fmt: skip
    """Importances in contexts, of one forest over all samples."""
    masks = make_masks(groups, n_contexts, n_permutations, seed)
    chunks = range(0, n_trees, CHUNK_TREES)
    min_node = min_node_of(matrix, n_contexts)
    rows = np.arange(matrix.n_samples, dtype=np.int32)

    def grow(start: int) -> tuple[np.ndarray, ...]:
        size = min(CHUNK_TREES, n_trees - start)
        return grow_chunk(matrix, rows, masks, size, min_node, (seed, CONTEXT, 1, start))

    total: list[np.ndarray] = []
    for done, part in enumerate(LocalExecutor(threads).map(grow, chunks), 1):
        total = [a + b for a, b in zip(total, part, strict=True)] if total else list(part)
        if on_progress:
            on_progress(done / len(chunks))
    imp, imp_sq, absolute, absolute_sq, signed, overall = (a / n_trees for a in total)
    scale = max(n_trees - 1, 1)
    return ContextSums(
        imp, np.sqrt(np.maximum(imp_sq - imp**2, 0) / scale), absolute,
        np.sqrt(np.maximum(absolute_sq - absolute[..., 0] ** 2, 0) / scale), signed, overall,
    )  # fmt: skip


def grow_chunk(
    matrix: Matrix, rows: np.ndarray, masks: np.ndarray, n_trees: int, min_node: int,
    place: tuple[int, ...], target: np.ndarray | None = None,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Sums of `grow_multiway` over some trees; `target` replaces that of the matrix."""
    tree_target = matrix.tree_target
    p, n_contexts, q = matrix.n_features, masks.shape[0], masks.shape[2]
    classes, values = tree_target.classes, tree_target.values * tree_target.unit
    if target is not None and len(values):
        values = target
    elif target is not None:
        classes = target
    keys = make_rng(*place).integers(0, 1 << 64, n_trees, dtype=np.uint64)
    out = (
        np.zeros(p), np.zeros(p), np.zeros((n_contexts, p, q)), np.zeros((n_contexts, p)),
        np.zeros((n_contexts, p, q)), np.zeros((p, q)),
    )  # fmt: skip
    grow_multiway(
        matrix.codes, matrix.is_categorical, classes, values, tree_target.n_classes, rows, masks,
        keys, nlogn_table(len(rows)), min_node, *out,
    )  # fmt: skip
    return out


def _within(
    matrix: Matrix, rows: np.ndarray, n_trees: int, seed: int, threads: int | None, c: int
) -> tuple[np.ndarray, np.ndarray]:
    """Importances of a forest on the samples of one context, and their p-values."""
    rows = rows.astype(np.int32)
    min_node = min_node_of(matrix, 1)
    none = np.zeros((0, matrix.n_samples, 1), np.uint8)
    tree_target = matrix.tree_target
    truth = tree_target.values * tree_target.unit if len(tree_target.values) else (
        tree_target.classes
    )  # fmt: skip

    def grow(permutation: int) -> np.ndarray:
        target, size = truth, n_trees
        if permutation:
            target, size = truth.copy(), TEST_TREES
            target[rows] = make_rng(seed, CONTEXT, 2, c, permutation).permutation(truth[rows])
        place = (seed, CONTEXT, 3, c, permutation)
        return grow_chunk(matrix, rows, none, size, min_node, place, target)[0] / size

    first, *null = LocalExecutor(threads).map(grow, range(1 + TEST_PERMUTATIONS))
    return first, rank_p_values(first, np.array(null))
