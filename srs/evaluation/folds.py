"""Folds of a cross-validation: whole subjects, with classes and strata in equal shares."""

from __future__ import annotations

import numpy as np

from srs.errors import InputError
from srs.seeds import EVALUATION, make_rng

BINS = 5  # of numbers, so that each fold has small and large ones


def make_folds(
    labels: np.ndarray, subjects: np.ndarray | None, n_folds: int, seed: int, repeat: int
) -> np.ndarray:
    """The fold of each sample, int64 from 0 on.

    labels    int: samples with the same label are spread over all folds
    subjects  int: samples that stay together; None: each by itself

    Subjects are put in the order of the label that most of their samples have, large ones first
    and otherwise by chance, and are dealt to the folds in turn.

    >>> folds = make_folds(np.array([0, 0, 0, 1, 1, 1]), None, 3, seed=0, repeat=0)
    >>> sorted(folds[:3].tolist()), sorted(folds[3:].tolist())
    ([0, 1, 2], [0, 1, 2])
    """
    units = np.arange(len(labels)) if subjects is None else subjects
    n_units = int(units.max()) + 1
    if n_units < n_folds:
        what = "samples" if subjects is None else "subjects"
        raise InputError(f"{n_folds} folds need at least as many {what}, and there are {n_units}.")
    counts = np.zeros((n_units, int(labels.max()) + 1), np.int64)
    np.add.at(counts, (units, labels), 1)
    chance = make_rng(seed, EVALUATION, repeat).permutation(n_units)
    order = np.lexsort((chance, -counts.sum(axis=1), counts.argmax(axis=1)))
    fold_of = np.empty(n_units, np.int64)
    fold_of[order] = np.arange(n_units) % n_folds
    return np.asarray(fold_of[units])


def join_labels(target: np.ndarray, has_classes: bool, strata: np.ndarray | None) -> np.ndarray:
    """What is to be spread evenly: classes or fifths of numbers, within strata."""
    if has_classes:
        parts = [target.astype(np.int64)]
    else:
        edges = np.quantile(target, np.arange(1, BINS) / BINS)
        parts = [np.searchsorted(edges, target, side="right")]
    if strata is not None:
        parts.append(strata)
    joined = np.unique(np.stack(parts, axis=1), axis=0, return_inverse=True)[1]
    return np.asarray(joined, np.int64).reshape(-1)
