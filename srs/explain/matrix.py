"""What analyses look at: the codes of some features, all samples, and a target.

Made from a feature store, an array or a data frame by `open_matrix`. The features of an analysis
fit in memory; selecting them from those that do not is `srs.select`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from srs.engine.permutations import permute_subjects
from srs.errors import InputError
from srs.ingest import ingest
from srs.ingest.values import read_values
from srs.results.result import Result, load_result
from srs.store import FeatureStore, Target, open_store
from srs.store.layout import CATEGORICAL
from srs.store.view import StoreView
from srs.targets.learning import tree_target
from srs.targets.parse import parse_target
from srs.targets.registry import target_kinds
from srs.trees import MISSING, TreeTarget

MAX_CELLS = 4_000_000_000
NO_TARGET = "there is no target to explain: give target=..., or a feature store that has one."


@dataclass(frozen=True)
class Matrix:
    """Samples by features.

    codes           uint8 (n_samples, n_features), C-contiguous; 255 is missing
    is_categorical  bool (n_features,): levels without an order
    names           name of each feature
    feature_ids     int64 (n_features,): ids in the store
    target          what is to be explained; None if the analysis needs none
    store           where the codes are from
    subjects        int (n_samples,): samples that belong together; None: each by itself
    said            what to know of where the features are from, one sentence each
    """

    codes: np.ndarray
    is_categorical: np.ndarray
    names: tuple[str, ...]
    feature_ids: np.ndarray
    target: Target | None
    store: FeatureStore
    subjects: np.ndarray | None = None
    said: tuple[str, ...] = ()

    @property
    def n_samples(self) -> int:
        return len(self.codes)

    @property
    def n_features(self) -> int:
        return int(self.codes.shape[1])

    @cached_property
    def values(self) -> np.ndarray:
        """float64 (n_samples, n_features): original values where known, else codes; NaN missing."""
        return self._read(np.arange(self.n_features))

    def values_of(self, columns: Sequence[int]) -> np.ndarray:
        """Some columns of `values`; only these are read if none were yet."""
        if "values" in self.__dict__:
            return np.asarray(self.values[:, list(columns)])
        return self._read(np.asarray(columns, np.int64))

    def _read(self, columns: np.ndarray) -> np.ndarray:
        codes = self.codes[:, columns]
        try:
            values = read_values(self.store, self.feature_ids[columns]).astype(np.float64)
        except (InputError, OSError):
            values = codes.astype(np.float64)
        values = np.where(codes == MISSING, np.nan, values)
        infinite = np.isinf(values).any(axis=0)
        if infinite.any():
            raise InputError(
                f"the feature {self.names[columns[int(infinite.argmax())]]!r} has infinite "
                "values, and this analysis needs finite values: make them missing or leave the "
                "feature out."
            )
        return values

    @property
    def known_target(self) -> Target:
        if self.target is None:
            raise InputError(NO_TARGET)
        return self.target

    @cached_property
    def notices(self) -> tuple[str, ...]:
        """One sentence for each oddity that a reader of an analysis should know."""
        target = self.target
        if target is None:
            return self.said
        kind = target_kinds().get(target.kind)
        if kind is not None and kind.by_model:
            return (
                *self.said,
                f"{target.name!r} is of kind {target.kind!r}: what is explained is the score "
                "residual of each sample, in a model without features; errors are mean squared "
                "errors of it.",
            )
        if not target.has_classes:
            return self.said
        return (*self.said, *_single_samples(target), *self._markers(target))

    def _markers(self, target: Target) -> list[str]:
        same = [
            name
            for name, codes in zip(self.names, self.codes.T, strict=True)
            if _tells_all(codes, target)
        ]
        if not same:
            return []
        return [
            f"The feature {_first_of(same)} pairs one to one with the classes of "
            f"{target.name!r}: if it was derived from the target, leave it out; if it is a "
            "perfect marker, other features look weak next to it."
        ]

    @property
    def is_classification(self) -> bool:
        return self.known_target.has_classes

    @cached_property
    def tree_target(self) -> TreeTarget:
        return tree_target(self.known_target)

    def take(self, columns: np.ndarray, target: Target | None = None) -> Matrix:
        """Some of the features, and another target if it is given."""
        return replace(
            self,
            codes=np.ascontiguousarray(self.codes[:, columns]),
            is_categorical=self.is_categorical[columns],
            names=tuple(self.names[c] for c in columns),
            feature_ids=self.feature_ids[columns],
            target=self.target if target is None else target,
        )

    def find(self, feature: str | int) -> int:
        """The column of a feature by name or feature id, or an InputError that names it."""
        for column, (name, feature_id) in enumerate(
            zip(self.names, self.feature_ids.tolist(), strict=True)
        ):
            if feature in (name, feature_id):
                return column
        raise InputError(f"there is no feature {feature!r} among the explained features.")


def open_matrix(
    data: Any,
    target: Any = None,
    features: Any = None,
    *,
    needs_target: bool = True,
    leave_out: Sequence[str] = (),
) -> Matrix:
    """The features of `data` as a matrix.

    data       feature store, its path, array (samples x features), data frame, or a Matrix
    target     values, or the name of a target of the store or of a column of the frame; None: the
               first target of the store
    features   names or ids of features, a `srs.Result` or its folder (its relevant features);
               None: all
    leave_out  names of features that play another part in the analysis

    >>> m = open_matrix([[1.0, 5.0], [2.0, 5.5], [3.0, 4.0]], ["a", "b", "b"])
    >>> m.n_samples, m.names, m.known_target.labels
    (3, ('f0', 'f1'), ('a', 'b'))
    """
    if isinstance(data, Matrix):
        return data
    store, target = _open(data, target)
    if isinstance(features, (str, os.PathLike)):
        features = load_result(features)
    if isinstance(features, Result):
        store, wanted = _of_run(store, features)
        learned = features.document["data"]["target"]
        target = learned if target is None and learned in store.target_names else target
    else:
        wanted = features
    found = _target(store, target, needs_target)
    if found is not None and found.missing.any():
        store = store.view(np.flatnonzero(~found.missing))
        found = _target(store, target, needs_target)
    ids = _feature_ids(store, wanted)
    names = store.feature_names
    ids = np.array([i for i in ids.tolist() if names[i] not in leave_out], np.int64)
    if not len(ids):
        raise InputError(f"there are no features to explain: {_why_none(features, leave_out)}")
    if len(ids) * store.n_samples > MAX_CELLS:
        raise InputError(
            f"{len(ids)} features x {store.n_samples} samples do not fit in memory: select "
            f"features first (srs select) and explain those."
        )
    chosen = tuple(names[i] for i in ids.tolist())
    if found is not None and isinstance(target, str) and target in chosen:
        raise InputError(f"the feature {target!r} is the target: leave it out of the features.")
    categorical = (store.kinds[ids] == CATEGORICAL) & (store.n_levels[ids] > 2)
    codes = store.read_codes(ids)
    matrix = Matrix(codes, categorical, chosen, ids, found, store=store, said=_said(features))
    _check(matrix)
    return matrix


def _said(features: Any) -> tuple[str, ...]:
    """What to know of an analysis of a run's features."""
    if not isinstance(features, Result):
        return ()
    adjusted = features.document["settings"].get("covariates", [])
    if not adjusted:
        return ()
    return (
        f"The run adjusted for {', '.join(adjusted)}; this analysis does not: what it shows may "
        "in part be theirs.",
    )


def _why_none(features: Any, leave_out: Sequence[str]) -> str:
    if isinstance(features, Result):
        return "the run found no relevant feature; name features instead, e.g. features=['a', 'b']."
    if leave_out:
        return f"there is none except {leave_out[0]!r}; name some."
    return "the list of features is empty; name some."


def _open(data: Any, target: Any) -> tuple[FeatureStore, Any]:
    if isinstance(data, FeatureStore):
        return data, target
    if isinstance(data, (str, os.PathLike)) and Path(data, "zarr.json").is_file():
        return open_store(data), target
    if isinstance(data, (str, os.PathLike)) and not Path(data).exists():
        return open_store(data), target  # which says that there is nothing
    if isinstance(data, (list, tuple)):
        try:
            data = np.asarray(data)
        except ValueError:
            raise InputError("the rows of the list have different lengths: make them equal.") from (
                None
            )
    return ingest(data, target=target, keep_values=True), None


def _of_run(store: FeatureStore, run: Result) -> tuple[FeatureStore, np.ndarray]:
    """The samples that a run used, with all features of the store, and its relevant ones."""
    part = run.part_of(store)
    if part.fingerprint != run.document["data"]["fingerprint"]:
        raise InputError("the result belongs to another feature store: give the store of the run.")
    if isinstance(part, StoreView) and part.n_samples < store.n_samples:
        store = store.view(part.samples)
    return store, run.relevant_ids


def _feature_ids(store: FeatureStore, features: Any) -> np.ndarray:
    if features is None:
        return np.arange(store.n_features)
    wanted = list(features)
    known = set(store.feature_names)
    for feature in wanted:
        if not isinstance(feature, (str, int, np.integer)):
            raise InputError(f"features are named by text or by whole numbers, not by {feature!r}.")
        if feature in store.target_names and feature not in known:
            raise InputError(f"{feature!r} is the target: leave it out of the features.")
    ids = store.find_ids(wanted)
    _, first, times = np.unique(ids, return_index=True, return_counts=True)
    if (times > 1).any():
        name = store.feature_names[ids[first[times.argmax()]]]
        raise InputError(f"the feature {name!r} is named {times.max()} times: name each once.")
    return ids


def _target(store: FeatureStore, target: Any, needed: bool) -> Target | None:
    if target is None or isinstance(target, str):
        if target is None and not store.target_names:
            if needed:
                raise InputError(NO_TARGET)
            return None
        return store.target(target)
    if isinstance(target, Target):
        return target
    return parse_target("target", target, store.n_samples, None)


def _check(matrix: Matrix) -> None:
    """Refuse features that cannot be explained, in one sentence."""
    constant = np.flatnonzero((matrix.codes == matrix.codes[0]).all(axis=0))
    if len(constant):
        verb = "is" if len(constant) == 1 else "are"
        raise InputError(
            f"{len(constant)} of the features {verb} constant, the first is "
            f"{matrix.names[int(constant[0])]!r}: constant features carry no information, leave "
            "them out."
        )
    target = matrix.target
    if target is None or target.has_classes:
        return
    for column in range(matrix.n_features):
        if _is_the_target(matrix, column, target):
            raise InputError(
                f"the feature {matrix.names[column]!r} is the target itself, value by value: "
                f"leave it out of the features."
            )


def _is_the_target(matrix: Matrix, column: int, target: Target) -> bool:
    """Whether a feature has the numbers of a numeric target: no measurement does by chance."""
    if target.values.ndim > 1:
        return False
    codes = matrix.codes[:, column]
    order = np.argsort(target.values, kind="stable")
    if (np.diff(codes[order].astype(np.int64)) < 0).any():  # its codes would ascend with the target
        return False
    return bool(np.array_equal(matrix.values_of([column])[:, 0], target.values))


def _tells_all(codes: np.ndarray, target: Target) -> bool:
    """Whether the levels of a feature pair one to one with the classes."""
    levels, at = np.unique(codes, return_inverse=True)
    if len(levels) != target.n_classes:
        return False
    return len(np.unique(at * target.n_classes + target.values)) == len(levels)


def _first_of(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    others = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    return f"{names[0]!r}{others}"


def _single_samples(target: Target) -> list[str]:
    """What to know of classes of one sample, where an analysis goes on with them."""
    sizes = np.bincount(target.values, minlength=target.n_classes)
    single = [label for label, size in zip(target.labels, sizes, strict=True) if size == 1]
    if not single:
        return []
    return [
        f"The class {_first_of(single)} has only one sample, which is too few to learn from: "
        "remove the class or merge it with another."
    ]


def random_order(matrix: Matrix, rng: np.random.Generator) -> np.ndarray:
    """A random order of the samples, of whole subjects where samples belong together."""
    if matrix.subjects is not None:
        return permute_subjects(matrix.subjects, rng)
    return rng.permutation(matrix.n_samples)


def check_classes(matrix: Matrix, least: int = 2) -> None:
    """Refuse a target one of whose classes has a single sample: none is left out of a bag then."""
    target = matrix.known_target
    if not target.has_classes:
        return
    sizes = np.bincount(target.values, minlength=target.n_classes)
    if sizes.min() < least:
        label = target.labels[int(sizes.argmin())]
        raise InputError(
            f"the class {label!r} has {int(sizes.min())} sample, and this analysis needs {least} "
            "of each class: remove the class or merge it with another."
        )
