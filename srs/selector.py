"""The scikit-learn front: `SRSSelector`, for arrays, data frames and feature stores."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _check_feature_names, check_is_fitted, validate_data

from srs.errors import InputError
from srs.executors import available_cores
from srs.feature_table import whole
from srs.ingest import ingest
from srs.selection import select
from srs.store import FeatureStore


class SRSSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the relevant features by Sequential Random Subspace.

    Parameters
    ----------
    fdr : false discovery rate of the selected set.
    memory : what the process may hold besides your own data, such as "512MB"; None: 2GB.
    mode : "default", or "paper" for the published algorithm to the letter.
    n_jobs : threads; None means 1 and -1 all cores, as everywhere in scikit-learn.
    random_state : seed, RandomState or None.
    pinned : names or column numbers of covariates that are in every subspace. They are not
        tested, and are not part of the selection.
    subspace_size : explored features of a tree; None: from memory and data.
    max_trees : most trees; None: until the relevant set is stable.
    sample_weight : column of samples (see `fit`) that says how much each of them counts.
    class_weight : "balanced", or None: how much each class counts.
    confounders : columns of samples, as batch or sex, that must not make features relevant.
    subjects : column of samples that says which of them belong together.
    feature_sets : features that are tested together, too; see `srs.select`.
    client : where trees are grown: None for this process, a `distributed.Client`, the address of a
        Dask scheduler (which, unlike a client, can be cloned by a grid search), or a number of
        worker processes to start. Arrays are written to a temporary folder that workers must see
        (TMPDIR); a feature store is read where it is.

    Attributes
    ----------
    result_ : the `srs.Result` with p-values, q-values and verdicts of all features.
    support_ : mask of the selected features.
    feature_importances_ : mean decrease of impurity over all trees.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from srs import SRSSelector
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(300, 40))
    >>> y = (X[:, 3] + X[:, 7] > 0).astype(int)
    >>> SRSSelector(random_state=1).fit(X, y).get_support(indices=True).tolist()
    [3, 7]
    """

    def __init__(
        self,
        fdr: float = 0.1,
        memory: str | int | None = None,
        mode: str = "default",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        pinned: Sequence[str | int] | None = None,
        subspace_size: int | None = None,
        max_trees: int | None = None,
        client: Any = None,
        sample_weight: str | None = None,
        class_weight: str | None = None,
        confounders: Sequence[str] | None = None,
        subjects: str | None = None,
        feature_sets: Any = None,
    ) -> None:
        self.fdr = fdr
        self.memory = memory
        self.mode = mode
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.pinned = pinned
        self.subspace_size = subspace_size
        self.max_trees = max_trees
        self.client = client
        self.sample_weight = sample_weight
        self.class_weight = class_weight
        self.confounders = confounders
        self.subjects = subjects
        self.feature_sets = feature_sets

    def fit(self, X: Any, y: Any = None, sample_columns: Any = None) -> SRSSelector:
        """Find the relevant columns of X for y.

        X is an array or data frame (samples as rows; NaN is missing, text columns of a data frame
        are categories), or a feature store. With a store, y is None (its first target) or the
        name of one of its targets.

        sample_columns is a data frame or mapping of columns about the samples, by the names that
        `sample_weight`, `confounders` and `subjects` use; with a store they are columns of it. In
        a pipeline, or for scores, a data frame is cut along with X if it is asked for by
        `set_fit_request(sample_columns=True)`.
        """
        if self.client is None or isinstance(X, FeatureStore):
            return self._fit(*self._store_of(X, y, sample_columns, None))
        with tempfile.TemporaryDirectory(prefix="srs-") as folder:
            return self._fit(*self._store_of(X, y, sample_columns, Path(folder) / "X.zarr"))

    def _fit(self, store: FeatureStore, target: str | None) -> SRSSelector:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.result_ = select(
            store,
            fdr=self.fdr,
            memory=self.memory,
            seed=seed,
            mode=self.mode,
            pinned=self.pinned,
            threads=self._threads() if self.client is None or self.n_jobs is not None else None,
            target=target,
            subspace_size=self.subspace_size,
            max_trees=self.max_trees,
            executor=self.client,
            sample_weight=self.sample_weight,
            class_weight=self.class_weight,
            confounders=tuple(self.confounders or ()),
            subjects=self.subjects,
            feature_sets=self.feature_sets,
        )
        self.support_ = np.zeros(store.n_features, dtype=bool)
        self.support_[self.result_.relevant_ids] = True
        self.feature_importances_ = np.asarray(
            whole(self.result_.all_features, ["importance"])["importance"], np.float64
        )
        return self

    def _store_of(
        self, X: Any, y: Any, sample_columns: Any, path: Path | None
    ) -> tuple[FeatureStore, str | None]:
        if isinstance(X, FeatureStore):
            if sample_columns is not None:
                raise InputError("with a feature store, columns of samples must be columns of it.")
            if y is not None and not isinstance(y, str):
                raise InputError("with a feature store, y must be the name of a target, or None.")
            self.n_features_in_ = X.n_features
            if X.has_names:
                self.feature_names_in_ = np.array(X.feature_names, dtype=object)
            return X, y
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        if hasattr(X, "columns") and hasattr(X, "iloc"):
            # Data frames keep their categories; scikit-learn would turn them into objects.
            _check_feature_names(self, X, reset=True)
            self.n_features_in_ = X.shape[1]
            targets = self._targets(y, sample_columns)
            return ingest(X, path, target=targets, id_column=""), None  # all columns are features
        X, y = validate_data(
            self, X, y, dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=2
        )
        return ingest(X, path, target=self._targets(y, sample_columns)), None

    def _targets(self, y: Any, sample_columns: Any) -> dict[str, Any]:
        """The target and the columns of samples that are used, as columns of a store."""
        names = [*(self.confounders or ()), self.subjects, self.sample_weight]
        columns: dict[str, Any] = {"target": np.asarray(y)}
        for name in names:
            if name is None:
                continue
            if sample_columns is None or name not in sample_columns:
                raise InputError(
                    f"there is no column {name!r} of samples: give fit(..., sample_columns=...)."
                )
            columns[name] = np.asarray(sample_columns[name])
        return columns

    def _threads(self) -> int:
        if self.n_jobs is None:
            return 1
        cores = available_cores()
        return max(1, cores + 1 + self.n_jobs) if self.n_jobs < 0 else self.n_jobs

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
