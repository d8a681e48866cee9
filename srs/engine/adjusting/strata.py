"""Columns of a store that describe its samples, and the strata that confounders make of these."""

from __future__ import annotations

import numpy as np

from srs.errors import InputError
from srs.settings import Settings
from srs.store import FeatureStore
from srs.targets.target import Target

NUMERIC_CLASSES = 10  # strata that a numeric confounder is cut into, at most
CLASS_SAMPLES = 30  # and samples of each of these, at least
MIN_SHARED = 0.9  # share of the samples whose whole number others have, too, where it is not cut
FEW_SUBJECTS = 20  # below, chance may make a target of subjects like what many features share


def sample_column(store: FeatureStore, name: str) -> Target:
    """What the store keeps of its samples beside the target: a confounder, subjects, weights."""
    if name not in store.target_names:
        raise InputError(
            f"there is no sample column {name!r}; the store has {', '.join(store.target_names)}: "
            f"ingest again with --sample-column {name} (a feature cannot be used for this)."
        )
    found = store.target(name)
    if found.values.ndim > 1:
        raise InputError(
            f"{name!r} is a {found.kind} target, which has more than one number a sample and "
            "cannot be used for this."
        )
    return found


def levels_of(store: FeatureStore, name: str) -> np.ndarray:
    """The column `name` of a store as numbers of its levels, int64 from 0 on."""
    values = np.unique(sample_column(store, name).values, return_inverse=True)[1]
    return np.asarray(values, np.int64)


def find_strata(store: FeatureStore, settings: Settings) -> np.ndarray | None:
    """Which samples are equal in all confounders."""
    if not settings.confounders:
        return None
    columns = [_classes_of(sample_column(store, name)) for name in settings.confounders]
    joined = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1]
    return np.asarray(joined, np.int64).reshape(-1)


def _classes_of(column: Target) -> np.ndarray:
    """A confounder as classes. Whole numbers that nearly all samples share with others stay as
    they are: they may be names of plates or pairs. Other numbers are cut into equal classes."""
    if column.has_classes:
        return column.values
    if _repeats(column):
        return np.unique(column.values, return_inverse=True)[1]
    n_classes = _count_classes(column)
    edges = np.quantile(column.values, np.arange(1, n_classes) / n_classes)
    return np.searchsorted(edges, column.values, side="right")


def _repeats(column: Target) -> bool:
    if (column.values != np.floor(column.values)).any():
        return False
    counts = np.unique(column.values, return_counts=True)[1]
    return bool(counts[counts > 1].sum() >= MIN_SHARED * len(column.values))


def _count_classes(column: Target) -> int:
    return max(2, min(NUMERIC_CLASSES, len(column.values) // CLASS_SAMPLES))


def confounder_notices(store: FeatureStore, settings: Settings) -> list[str]:
    """How numeric confounders were taken, one sentence each."""
    notices = []
    for name in settings.confounders:
        column = sample_column(store, name)
        if column.has_classes:
            continue
        if _repeats(column):
            n_levels = len(np.unique(column.values))
            notices.append(
                f"the confounder {name!r} is used as it is: {n_levels} whole numbers that "
                "samples share."
            )
        else:
            notices.append(
                f"the confounder {name!r} is a number and was cut into {_count_classes(column)} "
                "bins of equal size; if its numbers are labels, ingest it as text."
            )
    return notices


def subject_notices(store: FeatureStore, settings: Settings) -> list[str]:
    """What to know of a target that changes within subjects, or of few subjects."""
    if settings.subjects is None:
        return []
    target, subjects = store.target(settings.target), levels_of(store, settings.subjects)
    order = np.argsort(subjects, kind="stable")
    same = subjects[order[1:]] == subjects[order[:-1]]
    differs = target.values[order[1:]] != target.values[order[:-1]]
    changes = same & (differs if differs.ndim == 1 else differs.any(axis=1))
    n_subjects = int(subjects.max()) + 1
    n_changing = len(np.unique(subjects[order[1:]][changes]))
    name = settings.subjects
    if 2 * n_changing > n_subjects:
        return [
            f"the target {target.name!r} changes within {n_changing} of {n_subjects} subjects: to "
            f"compare samples within subjects, give {name!r} as a confounder (--confounder {name}) "
            "instead."
        ]
    if not n_changing and n_subjects < FEW_SUBJECTS:
        return [
            f"the target {target.name!r} is one of {n_subjects} subjects: what many features "
            "share may agree with so few by chance, and then all of these are relevant together."
        ]
    return []
