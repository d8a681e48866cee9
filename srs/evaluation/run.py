"""Cross-validation of a whole selection: features are selected again in each fold.

A list that was selected on all samples predicts these too well. Here nothing of a test sample takes
part in the selection: features are selected from the training samples of each fold, a forest learns
from these features alone, and the test samples are predicted. (How values became codes at ingest
does not depend on the target.) Samples of a subject are in the same fold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import srs
from srs.engine.adjusting.strata import levels_of
from srs.errors import InputError, SettingsError
from srs.evaluation.folds import join_labels, make_folds
from srs.evaluation.outcome import FORMAT, VERSION, Evaluation
from srs.evaluation.scores import Score, auc, jaccard, r2
from srs.seeds import EVALUATION, make_rng
from srs.selection.request import read_request
from srs.selection.select import select
from srs.selection.sources import stored
from srs.store import FeatureStore, Target

N_TREES = 300
MISSING = 255
# Settings of a run that make no sense here: where a run leaves files, and what it holds out.
NOT_HERE = ("folder", "resume", "finish", "keep_trees", "holdout", "on_progress", "seed", "target")


def evaluate(
    store: Any,
    y: Any = None,
    *,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    target: str | None = None,
    on_progress: Callable[[float, str], None] | None = None,
    **settings: Any,
) -> Evaluation:
    """Estimate by cross-validation how well selected features predict, and how stable they are.

    store        feature store or its path, or data with their target y, as for `srs.select`
    folds        parts of the samples; each is predicted from features selected from the others
    repeats      how often samples are divided into folds
    seed         the same seed gives the same result
    target       name of the target; None: the first of the store
    on_progress  called with the share done and what is being done
    settings     those of `srs.select`: fdr, memory, confounders, subjects, threads, ...

    If a fold selects nothing, its test samples are predicted without features: AUC 0.5, R2 about 0.

    >>> import numpy as np, srs
    >>> X = np.random.default_rng(1).normal(size=(200, 20))
    >>> found = srs.evaluate(X, X[:, 3] > 0, folds=2, max_trees=40)
    >>> found.score.value > 0.9, found.features["name"][0]
    (True, 'f3')
    """
    _check(folds, repeats, settings)
    given = {**_defaults(), **settings, "store": store, "y": y, "seed": seed, "target": target}
    with stored(given) as arguments:
        request = read_request(arguments)
        job = _Job(
            request.store,
            seed=seed,
            n_folds=folds,
            n_repeats=repeats,
            settings={**settings, "target": target},
            on_progress=on_progress,
        )
        return job.run(request.settings.to_json())


def _check(folds: Any, repeats: Any, settings: Mapping[str, Any]) -> None:
    for name, value, least in (("folds", folds, 2), ("repeats", repeats, 1)):
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            raise SettingsError(f"{name} must be a whole number at least {least}, not {value!r}.")
    known = _defaults()
    for name in settings:
        if name not in known or name in NOT_HERE:
            raise SettingsError(f"{name} is not a setting of an evaluation.")


def _defaults() -> dict[str, Any]:
    """The settings of `srs.select` and their defaults."""
    return dict(select.__kwdefaults__ or {})


@dataclass(frozen=True)
class _Job:
    """One evaluation: what is divided, and how features are selected."""

    store: FeatureStore
    seed: int
    n_folds: int
    n_repeats: int
    settings: Mapping[str, Any]
    on_progress: Callable[[float, str], None] | None

    def run(self, resolved: Mapping[str, Any]) -> Evaluation:
        started = perf_counter()
        target = self.store.target(self.settings["target"])
        if not target.has_classes and target.kind != "numbers":
            raise InputError(
                f"the target {target.name!r} is of kind {target.kind}: only classes and numbers "
                "can be evaluated."
            )
        strata, subjects = self._strata(), self._subjects()
        labels = join_labels(target.values, target.has_classes, strata)
        told: list[dict[str, Any]] = []
        parts = []
        for repeat in range(self.n_repeats):
            fold_of = make_folds(labels, subjects, self.n_folds, self.seed, repeat)
            for fold in range(self.n_folds):
                self._tell(len(told))
                part = self._fold(target, fold_of == fold, strata, repeat * self.n_folds + fold)
                told.append({"repeat": repeat, "fold": fold, **part.pop("told")})
                parts.append(part)
        self._tell(len(told))
        units = np.arange(self.store.n_samples) if subjects is None else subjects
        scored = [_score(target, [part], units) for part in parts]
        for row, score in zip(told, scored, strict=True):
            row["score"] = score.value
        document = {
            "format": FORMAT,
            "schema_version": VERSION,
            "settings": {**resolved, "folds": self.n_folds, "repeats": self.n_repeats},
            "data": self._data(target),
            "score": _score(target, parts, units).to_json(),
            "stability": self._stability(told),
            "folds": told,
            "predictions": self._predictions(target, parts, told),
            "measured": {
                "seconds": round(perf_counter() - started, 3),
                "version": srs.__version__,
                "store": self.store.location,
            },
        }
        return Evaluation(document)

    def _tell(self, n_done: int) -> None:
        total = self.n_folds * self.n_repeats
        if self.on_progress is not None:
            self.on_progress(n_done / total, f"{n_done} of {total} folds")

    def _strata(self) -> np.ndarray | None:
        names = self.settings.get("confounders") or ()
        columns = [levels_of(self.store, name) for name in names]
        if not columns:
            return None
        joined = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1]
        return np.asarray(joined, np.int64).reshape(-1)

    def _subjects(self) -> np.ndarray | None:
        name = self.settings.get("subjects")
        return None if name is None else levels_of(self.store, name)

    def _fold(
        self, target: Target, is_test: np.ndarray, strata: np.ndarray | None, number: int
    ) -> dict[str, Any]:
        """Select from the training samples of a fold, learn, and predict its test samples."""
        train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
        seed = int(make_rng(self.seed, EVALUATION, 1 << 20, number).integers(2**31))
        arguments = {k: v for k, v in self.settings.items() if k not in ("samples", "features")}
        result = select(self.store.view(samples=train), seed=seed, **arguments)
        verdicts = np.asarray(result.columns(["verdict"])["verdict"].to_pylist())
        relevant = np.flatnonzero(verdicts == "RELEVANT")
        expected = _expected(target, train, strata)
        parts = (train, test)
        predicted = _predict(
            self.store, target, parts, relevant=relevant, expected=expected, seed=seed
        )
        whole = self.store.source_ids[relevant].tolist()
        told = {"n_train": len(train), "n_test": len(test), "n_relevant": len(relevant)}
        return {
            "test": test,
            "predicted": predicted,
            "expected": expected[test],
            "cells": np.zeros(len(test), np.int64) if strata is None else strata[test],
            "told": {**told, "relevant": whole},
        }

    def _data(self, target: Target) -> dict[str, Any]:
        return {
            "fingerprint": self.store.fingerprint,
            "n_features": self.store.n_features,
            "n_samples": self.store.n_samples,
            "target": target.name,
            "target_kind": target.kind,
            "labels": list(target.labels),
        }

    def _stability(self, told: list[dict[str, Any]]) -> dict[str, Any]:
        lists = [set(row["relevant"]) for row in told]
        counts: dict[int, int] = {}
        for one in lists:
            for feature in one:
                counts[feature] = counts.get(feature, 0) + 1
        names = self._names(sorted(counts))
        rows = [
            {
                "feature_id": feature,
                "name": names[feature],
                "n_lists": counts[feature],
                "frequency": counts[feature] / len(lists),
            }
            for feature in sorted(counts, key=lambda f: (-counts[f], f))
        ]
        return {"jaccard": jaccard(lists), "features": rows}

    def _names(self, ids: list[int]) -> dict[int, str]:
        names = self.store.feature_names
        place = {int(whole): at for at, whole in enumerate(self.store.source_ids.tolist())}
        return {feature: names[place[feature]] for feature in ids}

    def _predictions(
        self, target: Target, parts: list[dict[str, Any]], told: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        ids, rows = self.store.sample_ids, []
        for part, row in zip(parts, told, strict=True):
            for at, sample in enumerate(part["test"].tolist()):
                one: dict[str, Any] = {"sample": ids[sample]}
                one |= {"repeat": row["repeat"], "fold": row["fold"]}
                if target.has_classes:
                    one["truth"] = target.labels[int(target.values[sample])]
                    shares = part["predicted"][at].tolist()
                    named = zip(target.labels, shares, strict=True)
                    one |= {f"share_{label}": share for label, share in named}
                else:
                    one["truth"] = float(target.values[sample])
                    one["prediction"] = float(part["predicted"][at])
                rows.append(one)
        return rows


def _expected(target: Target, train: np.ndarray, strata: np.ndarray | None) -> np.ndarray:
    """What is expected of each sample without features; of classes it is not needed."""
    if target.has_classes:
        return np.zeros(len(target.values))
    values = target.values.astype(np.float64)
    overall = values[train].mean()
    if strata is None:
        return np.full(len(values), overall)
    n = int(strata.max()) + 1
    sums = np.bincount(strata[train], values[train], minlength=n)
    counts = np.bincount(strata[train], minlength=n)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), overall)
    return np.asarray(means[strata])


def _predict(
    store: FeatureStore,
    target: Target,
    parts: tuple[np.ndarray, np.ndarray],
    relevant: np.ndarray,
    expected: np.ndarray,
    seed: int,
) -> np.ndarray:
    """Predictions of the test samples by a forest of the selected features."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    train, test = parts
    values = target.values
    if not len(relevant):
        if not target.has_classes:
            return np.asarray(expected[test])
        counts = np.bincount(values[train].astype(np.int64), minlength=len(target.labels))
        return np.tile(counts / counts.sum(), (len(test), 1))
    codes = store.read_codes(relevant)
    X = np.where(codes == MISSING, np.nan, codes.astype(np.float32))
    kind = RandomForestClassifier if target.has_classes else RandomForestRegressor
    forest = kind(N_TREES, min_samples_leaf=2, random_state=seed % 2**32, n_jobs=1)
    if not target.has_classes:
        forest.fit(X[train], values[train] - expected[train])
        return np.asarray(forest.predict(X[test]) + expected[test])
    forest.fit(X[train], values[train].astype(np.int64))
    shares = np.zeros((len(test), len(target.labels)))
    shares[:, forest.classes_.astype(np.int64)] = forest.predict_proba(X[test])
    return shares


def _score(target: Target, parts: list[dict[str, Any]], units: np.ndarray) -> Score:
    """The score of some folds; samples of different folds are not compared."""
    tests = np.concatenate([part["test"] for part in parts])
    predicted = np.concatenate([part["predicted"] for part in parts])
    if not target.has_classes:
        truth = target.values[tests].astype(np.float64)
        expected = np.concatenate([part["expected"] for part in parts])
        return r2(predicted, truth, expected, units[tests])
    within = 1 + max(int(part["cells"].max()) for part in parts)
    cells = np.concatenate([part["cells"] + at * within for at, part in enumerate(parts)])
    return auc(predicted, target.values[tests].astype(np.int64), cells, units[tests])
