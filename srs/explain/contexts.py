"""Where contexts come from: a feature, a target, or values.

Numbers are cut into few parts, or samples are weighted by how close they are to some points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
MOST_WEIGHT = 16  # of a sample that is at a point of a numeric context; whole numbers are counted


@dataclass(frozen=True)
class Contexts:
    """The contexts of samples.

    labels   name of each context
    groups   int64 (n_samples,): the context of each sample; of points, the closest one
    weights  uint8 (n_contexts, n_samples): how often each sample counts in each context: 0 or 1, or
             up to 16 by how close it is to a point
    smooth   whether contexts are points
    """

    labels: tuple[str, ...]
    groups: np.ndarray
    weights: np.ndarray
    smooth: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self, context: int) -> np.ndarray:
        """The samples of a context; of a point, those that have at least half the full weight."""
        weights = self.weights[context]
        return np.flatnonzero(2 * weights.astype(int) >= weights.max())


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
    data: Any,
    target: Any,
    features: Any,
    context: Any,
    needs_target: bool = True,
    points: int | None = None,
) -> tuple[Matrix, Contexts]:
    """The matrix without the context, and the contexts of samples.

    points  of a numeric context: samples are weighted by how close they are to each, by rank; None:
            it is cut into parts
    """
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
            chosen = _feature_as_target(store, context, original=points is not None)
    else:
        chosen = _given_context(context, matrix.n_samples)
    if not matrix.n_features:
        raise InputError(
            f"{context!r} is the context and there is no other feature: name features to explain."
        )
    found = _cut(chosen) if points is None else _weigh(chosen, points)
    n, n_contexts = matrix.n_samples, len(found)
    if n_contexts < 2:
        _refuse_one_value(found.labels[0])
    sizes = (found.weights > 0).sum(axis=1)
    if sizes.min() < 2:
        raise InputError(
            f"the context has {n_contexts} values for {n} samples, and "
            f"{found.labels[int(sizes.argmin())]!r} has only one sample: give a context with "
            "several samples of each value."
        )
    if min_node_of(matrix, n_contexts) > n:
        raise InputError(
            f"{n} samples are too few for {n_contexts} contexts: numeric features need "
            f"{MIN_SAMPLES} per context, {MIN_SAMPLES * n_contexts} in all; join contexts."
        )
    return matrix, found


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


def _feature_as_target(store: Any, name: str, original: bool) -> Target:
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
    n_missing = int((codes == MISSING).sum())
    if n_missing:
        raise InputError(
            f"the context {name!r} has no value in {n_missing} of {len(codes)} samples: give a "
            "context without missing values, or leave these samples out."
        )
    values = codes.astype(np.float64)
    if original:
        at = np.searchsorted(levels, codes)
        values = np.asarray(_values_of(store, feature_id, codes, levels), np.float64)[at]
    return Target(name, "numbers", values)


def _values_of(store: Any, feature_id: int, codes: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The value behind each code, as far as the source can be read; else the code."""
    try:
        values = read_values(store, [feature_id])[:, 0]
    except (InputError, OSError):
        return levels
    return np.array([values[np.argmax(codes == level)] for level in levels])


def _cut(chosen: Target) -> Contexts:
    """Groups of samples and their labels; numbers are cut into parts of about equal size."""
    values = _numbers(chosen)
    if values is None:
        if len(chosen.labels) > MAX_CONTEXTS:
            _refuse_many(len(chosen.labels), len(chosen.values))
        return _grouped(chosen.values.astype(np.int64), chosen.labels)
    bounds = np.unique(np.quantile(values, np.arange(1, N_PARTS) / N_PARTS))
    groups = np.searchsorted(bounds, values, side="left")
    present = np.unique(groups)
    names = ("low", "middle", "high") if len(present) == 3 else ("low", "high")
    return _grouped(np.searchsorted(present, groups), names[: len(present)])


def _grouped(groups: np.ndarray, labels: tuple[str, ...]) -> Contexts:
    weights = (groups[None] == np.arange(len(labels))[:, None]).astype(np.uint8)
    return Contexts(labels, groups, weights)


def _weigh(chosen: Target, points: int) -> Contexts:
    """Weights of samples at points of a numeric context: a triangle over ranks, as wide as the
    points are apart, so that between two points the weights of a sample add up to the full one."""
    values = _numbers(chosen)
    if values is None:
        raise InputError(
            f"points are for a context of numbers with more than {FEW_LEVELS} values: leave them "
            f"out, each of the {len(chosen.labels)} values is a context then."
        )
    if points < 2:
        raise InputError(f"a numeric context needs at least 2 points, not {points}.")
    n = len(values)
    ordered = np.sort(values)
    below, upto = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    ranks = (below + upto) / (2 * n)
    at = (2 * np.arange(points) + 1) / (2 * points)
    close = np.maximum(1 - points * np.abs(ranks[None] - at[:, None]), 0.0)
    weights = np.rint(MOST_WEIGHT * close).astype(np.uint8)
    labels = tuple(f"{v:.6g}" for v in np.quantile(ordered, at, method="nearest"))
    if len(set(labels)) < points:
        raise InputError(
            f"the context has too many equal values for {points} points: give fewer points."
        )
    return Contexts(labels, weights.argmax(axis=0), weights, smooth=True)


def _numbers(chosen: Target) -> np.ndarray | None:
    """The context as numbers; None if it has classes, or few numbers that serve as such."""
    if not chosen.has_classes:
        return chosen.values.astype(np.float64)
    numbers = _as_numbers(chosen.labels) if len(chosen.labels) > FEW_LEVELS else None
    return None if numbers is None else np.asarray(numbers[chosen.values])


def _as_numbers(labels: tuple[str, ...]) -> np.ndarray | None:
    """The numbers that labels are; None if they are not."""
    try:
        return np.array([float(label) for label in labels])
    except ValueError:
        return None
