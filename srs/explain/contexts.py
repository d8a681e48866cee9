"""Where contexts come from: a feature, a target, or values; numbers are cut into few parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from srs.errors import InputError, SourceError
from srs.explain.matrix import Matrix, open_matrix
from srs.ingest.values import read_values
from srs.store import Target
from srs.targets.parse import parse_target
from srs.targets.values import number_text
from srs.trees import MISSING

N_PARTS = 3  # of a numeric context
FEW_LEVELS = 10
MAX_CONTEXTS = 30
MIN_SAMPLES = 10  # of each context in a node that is split, where features are continuous


def min_node_of(matrix: Matrix, n_contexts: int) -> int:
    """Fewest samples of a node that is split.

    Trees on categories grow until their nodes are pure, as in the paper. Where a feature is
    continuous they would grow to single samples, and noise of small nodes drown the rest.
    """
    levels = max(len(np.unique(column)) for column in matrix.codes.T)
    categories = matrix.is_categorical.all() or levels <= FEW_LEVELS
    return 2 if categories else MIN_SAMPLES * n_contexts


def described(context: Any, labels: Sequence[str]) -> dict[str, Any]:
    """What settings say of a context: its name, unless it was given as values, and its labels."""
    named = {"context": context} if isinstance(context, str) else {}
    return {**named, "contexts": list(labels)}


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
            if chosen.missing.any():
                raise InputError(
                    f"the context {context!r} is missing in {int(chosen.missing.sum())} samples: "
                    "explain a part of the store without these (store.view)."
                )
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
            f"{labels[int(sizes.argmin())]!r} has only one sample: give a context with several "
            "samples of each value."
        )
    if min_node_of(matrix, n_contexts) > n:
        raise InputError(
            f"{n} samples are too few for {n_contexts} contexts: numeric features need "
            f"{MIN_SAMPLES} per context, {MIN_SAMPLES * n_contexts} in all; join contexts."
        )
    return matrix, groups, labels


def _refuse_one_value(value: Any) -> NoReturn:
    raise InputError(
        f"the context has only one value ({value!s}), so nothing can depend on it: give a "
        "context with at least two values."
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
        texts = [
            "missing" if c == MISSING else labels[c] if labels else number_text(v)
            for c, v in zip(
                levels.tolist(), _values_of(store, feature_id, codes, levels), strict=True
            )
        ]
        return Target(name, "classes", np.searchsorted(levels, codes), tuple(texts))
    return Target(name, "numbers", codes.astype(np.float64))


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
    if chosen.has_classes:
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
