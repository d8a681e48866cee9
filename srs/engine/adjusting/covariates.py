"""Columns of the samples that the target is adjusted for, as columns of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from srs.errors import InputError, SettingsError
from srs.targets.target import Target

MOST_SHARE = 0.2  # columns of covariates over training samples
NUMBER_LEVELS = 10  # more levels that are numbers are a scale
COLLINEAR = 1e-8  # share of a column's variance that those before it leave


@dataclass(frozen=True)
class Covariates:
    """Covariates as columns of a model.

    names    as given
    columns  float64 (n_samples, k): a column of ones, then mean 0 and variance 1 among the training
             samples
    notices  one sentence for each oddity
    """

    names: tuple[str, ...]
    columns: np.ndarray
    notices: tuple[str, ...] = ()


def read_covariates(
    given: Sequence[Target], train: np.ndarray, strata: np.ndarray | None = None
) -> Covariates:
    """The covariates of a run; strata of confounders become columns, too."""
    notices: list[str] = []
    blocks = [_columns_of(one, train, notices) for one in given]
    if strata is not None:
        blocks.append(_dummies(strata, train))
    columns = np.column_stack([np.ones(len(given[0].values)), *blocks])
    owner = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    kept = _independent(columns[train])
    for at, one in enumerate(given):
        own = kept[1:][owner == at]
        if not own.all():
            what = "is" if not own.any() else "is in part"
            notices.append(
                f"the covariate {one.name!r} {what} constant or a combination of those before it, "
                "which tells nothing more: these columns were left out."
            )
    columns = columns[:, kept]
    n_columns = columns.shape[1] - 1
    if n_columns > MOST_SHARE * len(train):
        raise SettingsError(
            f"the covariates make {n_columns} columns for {len(train)} training samples, which "
            "leaves too little to learn from: give fewer, or merge rare categories."
        )
    return Covariates(tuple(one.name for one in given), columns, tuple(notices))


def _columns_of(column: Target, train: np.ndarray, notices: list[str]) -> np.ndarray:
    """A numeric covariate as one column, categories as one less than there are."""
    values, name = column.values, column.name
    missing = values < 0 if column.has_classes else ~np.isfinite(values)
    if missing[train].all():
        raise InputError(f"the covariate {name!r} is missing in all training samples.")
    known = train[~missing[train]]
    if missing.any():
        how = "most frequent level" if column.has_classes else "mean"
        notices.append(
            f"the covariate {name!r} is missing in {int(missing.sum())} samples, which were given "
            f"its {how}."
        )
    if column.has_classes:
        scale = _as_scale(column)
        if scale is None:
            usual = np.bincount(values[known]).argmax()
            return _dummies(np.where(missing, usual, values), train)
        notices.append(
            f"the covariate {name!r} has {len(column.labels)} levels that are numbers and was "
            "taken as a number; if they are labels, ingest it as text."
        )
        values = scale[np.where(missing, 0, values)]
    values = np.where(missing, values[known].mean(), values).astype(np.float64)
    return _standard(values[:, None], train)


def _as_scale(column: Target) -> np.ndarray | None:
    """Numbers of the levels, if they are numbers and many."""
    if len(column.labels) <= NUMBER_LEVELS:
        return None
    try:
        return np.array([float(label) for label in column.labels])
    except ValueError:
        return None


def _dummies(levels: np.ndarray, train: np.ndarray) -> np.ndarray:
    """A column per level that training samples have, but the most frequent one."""
    found, counts = np.unique(levels[train], return_counts=True)
    others = np.delete(found, counts.argmax())
    return _standard((levels[:, None] == others).astype(np.float64), train)


def _standard(columns: np.ndarray, train: np.ndarray) -> np.ndarray:
    some = columns[train]
    spread = some.std(axis=0)
    found: np.ndarray = (columns - some.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return found


def _independent(columns: np.ndarray) -> np.ndarray:
    """bool: columns that are no combination of those before them."""
    basis = np.empty((len(columns), 0))
    kept = np.zeros(columns.shape[1], bool)
    for at in range(columns.shape[1]):
        rest = columns[:, at].copy()
        for _ in range(2):  # twice is enough
            rest -= basis @ (basis.T @ rest)
        size = float(rest @ rest)
        if size > COLLINEAR * max(float(columns[:, at] @ columns[:, at]), 1e-300):
            kept[at] = True
            basis = np.column_stack([basis, rest / np.sqrt(size)])
    return kept
