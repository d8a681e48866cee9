"""The scikit-learn front: `SRSSelector`, for arrays, data frames and feature stores."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _check_feature_names, check_is_fitted, validate_data

from srs.errors import InputError
from srs.executors import available_cores
from srs.ingest import ingest
from srs.results.feature_table import whole
from srs.selection.select import select
from srs.store import FeatureStore


@dataclass(kw_only=True, eq=False, repr=False)
class SRSSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the relevant features by Sequential Random Subspace.

    Arrays go to workers through a temporary folder that they must see (TMPDIR); a feature store is
    read where it is. An executor that is an address or a number can be cloned by a grid search.

    Parameters
    ----------
    random_state : seed, RandomState or None.
    n_jobs : threads; None means 1 and -1 all cores, as everywhere in scikit-learn.
    target_kind : kind of y, e.g. "count"; None: decided by its values. Ordered categoricals are
        ordered classes, structured arrays of scikit-survival times to event.

    Settings, as of `srs.select`, written by `make generate`:
    fdr : False discovery rate of the relevant set: between 0 and 1.
    memory : Memory limit of the process (with workers: of each worker), e.g. "512MB"; None: 2GB.
    mode : "default", or "paper": Algorithm 7.1 of the thesis, unchanged.
    pinned : Names or ids of features that are in every subspace and reported separately; trees may
        split on them, nothing is adjusted for them: see covariates; None: none.
    subspace_size : Features that a tree explores (q); None: from memory and data.
    max_trees : Maximum number of trees; None: no limit; 1,000 in paper mode.
    max_passes : Maximum number of passes over the features; None: no limit.
    max_seconds : Maximum wall time, in seconds; None: a day; no limit in paper mode.
    carry_fraction : Share of a subspace for carried features (alpha): between 0 and 1.
    max_carried : Maximum number of carried columns of a tree in default mode.
    round_size : Trees between two interim decisions, in whole batches; more trees keep more workers
        busy; None: one pass, or 16 trees if a pass has fewer.
    root_share : Share of trees whose root splits an outstanding carried column: between 0 and 1.
    random_recall : Carry a random number of columns instead of the maximum.
    n_probes : Number of probes per feature: 1, 3, 7; None: 7; 3 from 500 features, 1 from 3,000.
    evidence : Kinds of evidence that count for the verdict: used, screened, peak, univariate,
        pairs; None: the built-in ones; with sample_weight without used.
    rule : "tail": p-values from the tail of the probes; "knockoff": the knockoff+ filter.
    pairs : "all": look at all pairs of features for those that matter only together; "auto": if
        that takes minutes at most; "off": leave them to the trees.
    n_features : Select this many features, those with the smallest p-values, whatever their error
        rate; None: as many as the false discovery rate allows.
    guarantee : "fdr": the rate holds in the mean over lists; "confident": it also holds for this
        list with 95 % confidence, if features are not strongly dependent.
    criterion : Impurity that splits decrease: entropy, gini, variance; None: entropy; variance for
        numbers.
    max_features : Number of columns tried at a node (K); None: all.
    max_depth : Maximum depth of a tree; None: no limit.
    min_samples_leaf : Minimum number of samples in a leaf.
    patience : Stop after this many rounds without a change of the relevant set; None: when more
        trees would hardly change it.
    paper_rule : Paper mode: "probe": what beats a random probe (7.C.1); "importance": whatever gets
        an importance above 0 in a tree (step 2(c)).
    probe_draws : Paper mode: a feature needs more draws than this (L).
    probe_share : Paper mode: a feature must beat the probe in more than this share of its draws
        (beta): between 0 and 1.
    holdout : Share of samples that are held out from the trees and predicted at the end: between 0
        and 0.9.
    sample_weight : Column of the store: how much each sample counts; None: all alike.
    class_weight : "balanced": all classes get the same total weight, including rare ones; None:
        each sample counts once.
    confounders : Columns of the store to adjust for by comparing only samples that are equal in all
        of them, e.g. batch or pair; many columns or numbers: covariates; None: none.
    subjects : Column of the store: samples that belong together, e.g. those of one person; None:
        every sample is its own subject.
    covariates : Columns of the store to adjust for by a model of the target, e.g. age, sex and
        principal components; numbers or categories; None: none.
    feature_sets : Features that are also tested together: a mapping from names of sets to features,
        or a file (two columns, feature and set; or .gmt); None: none.
    executor : Where trees are grown: a number of worker processes to start, the address of a Dask
        scheduler, or a distributed.Client; None: threads of this process.
    tls : Folder with ca.pem, cert.pem and key.pem: workers and scheduler use TLS; None: no TLS.
    task_timeout : Seconds after which the worker of a task counts as hung and others take over;
        None: ten times the slowest task so far, at least a minute.

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

    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    target_kind: str | None = None
    # generated: settings
    fdr: float = 0.1
    memory: str | int | None = None
    mode: str = "default"
    pinned: Sequence[str | int] | None = None
    subspace_size: int | None = None
    max_trees: int | None = None
    max_passes: int | None = None
    max_seconds: float | None = None
    carry_fraction: float = 0.5
    max_carried: int = 40
    round_size: int | None = None
    root_share: float = 0.25
    random_recall: bool = True
    n_probes: int | None = None
    evidence: Sequence[str] | None = None
    rule: str = "tail"
    pairs: str = "auto"
    n_features: int | None = None
    guarantee: str = "fdr"
    criterion: str | None = None
    max_features: int | None = None
    max_depth: int | None = None
    min_samples_leaf: int = 1
    patience: int | None = None
    paper_rule: str = "probe"
    probe_draws: int = 10
    probe_share: float = 0.95
    holdout: float = 0.0
    sample_weight: str | None = None
    class_weight: str | None = None
    confounders: Sequence[str] | None = None
    subjects: str | None = None
    covariates: Sequence[str] | None = None
    feature_sets: Any = None
    executor: Any = None
    tls: str | os.PathLike[str] | None = None
    task_timeout: float | None = None
    # end generated

    def fit(self, X: Any, y: Any = None, sample_columns: Any = None) -> SRSSelector:
        """Find the relevant columns of X for y.

        X is an array or data frame (samples as rows; NaN is missing, text columns of a data frame
        are categories), or a feature store. With a store, y is None (its first target) or the
        name of one of its targets.

        sample_columns is a data frame or mapping of columns about the samples, by the names that
        `sample_weight`, `covariates`, `confounders` and `subjects` use; with a store they are
        columns of it. In
        a pipeline, or for scores, a data frame is split along with X if it is requested by
        `set_fit_request(sample_columns=True)`.
        """
        if self.executor is None or isinstance(X, FeatureStore):
            return self._fit(*self._store_of(X, y, sample_columns, None))
        with tempfile.TemporaryDirectory(prefix="srs-") as folder:
            return self._fit(*self._store_of(X, y, sample_columns, Path(folder) / "X.zarr"))

    def _fit(self, store: FeatureStore, target: str | None) -> SRSSelector:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        settings = self.get_params(deep=False)
        for name in ("random_state", "n_jobs", "target_kind"):
            del settings[name]
        threads = None
        if self.executor is None or self.n_jobs is not None:
            threads = self._threads()
        self.result_ = select(store, seed=seed, target=target, threads=threads, **settings)
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
                raise InputError(
                    "with a feature store, sample columns must be columns of the store."
                )
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
            # All columns are features.
            return ingest(X, path, target=targets, id_column="", target_kind=self._kinds()), None
        checks = {"dtype": "numeric", "ensure_all_finite": "allow-nan", "ensure_min_samples": 2}
        if _has_own_kind(y):
            X = validate_data(self, X, **checks)
        else:
            X, y = validate_data(self, X, y, **checks)
        targets = self._targets(y, sample_columns)
        return ingest(X, path, target=targets, target_kind=self._kinds()), None

    def _kinds(self) -> dict[str, str]:
        return {} if self.target_kind is None else {"target": self.target_kind}

    def _targets(self, y: Any, sample_columns: Any) -> dict[str, Any]:
        """The target and the columns of samples that are used, as columns of a store."""
        names = [
            *(self.covariates or ()),
            *(self.confounders or ()),
            self.subjects,
            self.sample_weight,
        ]
        columns: dict[str, Any] = {"target": y if _has_own_kind(y) else np.asarray(y)}
        for name in dict.fromkeys(names):
            if name is None:
                continue
            if sample_columns is None or name not in sample_columns:
                raise InputError(
                    f"there is no column {name!r}: give it in fit(..., sample_columns=...)."
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


def _has_own_kind(y: Any) -> bool:
    """Whether a target says of itself what it is: a structured array, or an ordered categorical."""
    dtype = getattr(y, "dtype", None)
    return bool(getattr(dtype, "names", None) or getattr(dtype, "ordered", False))
