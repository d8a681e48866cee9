"""Covariates: columns of the samples that the target is adjusted for, by a null model.

Three things are done about a covariate. The target is adjusted: numbers, ordered classes, counts
and times to event are learned as score residuals of the null model, and classes with weights that
make them independent of the covariates. Univariate tests are score tests of that model. And probes
are permuted among samples that are alike in what features follow of the covariates (*cells*).

The last one is needed because a residual is uncorrelated with the covariates, but not independent
of them given a feature. Where the frequency of a relevant feature A differs between populations,
the residual given A is high where A is rare: any feature that tells populations apart then tells of
the residual beside A, in trees and in pairs. Probes that follow the populations, too, do the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from srs.errors import InputError, SettingsError
from srs.store import FeatureStore
from srs.store.layout import MISSING
from srs.targets.target import Target

MOST_SHARE = 0.2  # columns of covariates over training samples
NUMBER_LEVELS = 10  # more levels that are numbers are a scale
COLLINEAR = 1e-8  # share of a column's variance that those before it leave
SAMPLED = 1_024  # features that say which directions features follow
CELL = 8  # samples of a cell, at least; below twice as many it is not cut again
BLOCK_VALUES = 1 << 22  # of features that are looked at together
DIGITS = 6
LOOSE = 4.0  # features that count as one for noise, as neighbours are correlated


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


# -- cells: samples that are alike in what features follow ------------------------------------


def find_cells(
    store: FeatureStore,
    columns: np.ndarray,
    parts: Sequence[np.ndarray],
    strata: np.ndarray | None,
    subjects: np.ndarray | None,
) -> np.ndarray | None:
    """The cell of each sample; without cells, as features do not follow the covariates, `strata`.

    columns   covariates, a column of ones before them
    parts     sets of samples that are cut separately, the training samples first
    strata    int by sample: cells do not cross them
    subjects  int by sample: a subject is in one cell
    """
    places = followed(store, columns, parts[0])
    if not places.shape[1]:
        return strata
    owner = np.arange(len(columns)) if subjects is None else subjects
    counts = np.maximum(np.bincount(owner), 1)
    places = np.stack([np.bincount(owner, one) / counts for one in places.T], axis=1)
    cells = np.zeros(len(counts), np.int64)
    n_cells = 0
    for part in parts:
        for group in _cut(np.unique(owner[part]), np.round(places, DIGITS)):
            cells[group] = n_cells
            n_cells += 1
    found: np.ndarray = cells[owner]
    if strata is None:
        return found
    both = np.unique(np.stack([strata, found]), axis=1, return_inverse=True)[1]
    return np.asarray(both, np.int64).reshape(-1)


def _cut(units: np.ndarray, places: np.ndarray) -> Iterator[np.ndarray]:
    """Sets of CELL units or a few more: halves of halves, each across its widest direction."""
    groups = [units]
    while groups:
        group = groups.pop()
        if len(group) < 2 * CELL:
            yield group
            continue
        widest = int(np.ptp(places[group], axis=0).argmax())
        order = group[np.argsort(places[group, widest], kind="stable")]
        groups += [order[: len(group) // 2], order[len(group) // 2 :]]


def followed(store: FeatureStore, columns: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Where samples are in the directions of the covariates that features follow, (n_samples, d);
    a direction counts by the square root of what features follow it beyond chance.

    Rounded, so that all machines put samples in the same order.
    """
    q, r = np.linalg.qr(columns[train])
    own = _projected(store, q[:, 1:], train)
    n, m = len(train), max(own.shape[1], 1)
    values, vectors = np.linalg.eigh(own @ own.T * (n / m))
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
    chance = (1.0 + np.sqrt(LOOSE * len(values) / m)) ** 2
    kept = values > chance
    basis = np.linalg.solve(r.T, columns.T).T[:, 1:]  # q, of all samples
    places = basis @ (vectors[:, kept] * np.sqrt(values[kept] - 1.0))
    scale = np.abs(places).max(initial=1e-300)
    return np.asarray(np.round(places / scale, DIGITS))


def _projected(store: FeatureStore, basis: np.ndarray, train: np.ndarray) -> np.ndarray:
    """The first features of a store, which are random ones, as mid-ranks of mean 0 and length 1,
    in the directions of a basis: (k, m)."""
    n_features = min(SAMPLED, store.n_features)
    step = max(1, min(64, BLOCK_VALUES // store.n_samples))
    found = [np.empty((basis.shape[1], 0))]
    for start in range(0, n_features, step):
        codes = store.read_places(np.arange(start, min(start + step, n_features)))[train]
        ranks = np.stack([_mid_ranks(codes[:, at]) for at in range(codes.shape[1])], axis=1)
        size = np.sqrt((ranks**2).sum(axis=0))
        varies = size > 1e-9
        found.append(basis.T @ (ranks[:, varies] / size[varies]))
    return np.concatenate(found, axis=1)


def _mid_ranks(codes: np.ndarray) -> np.ndarray:
    counts = np.bincount(codes, minlength=256)[:MISSING].astype(np.float64)
    middle = np.cumsum(counts) - counts / 2
    total = max(counts.sum(), 1.0)
    values = np.append(middle - float(counts @ middle) / total, 0.0)
    found: np.ndarray = values[codes] / total
    return found
