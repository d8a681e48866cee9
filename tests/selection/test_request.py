"""What `select`, `plan` and `check` take, and how they refuse: one sentence, before a run."""

from __future__ import annotations

import numpy as np
import pytest

import srs
from srs.errors import InputError, SettingsError


@pytest.fixture(scope="module")
def store() -> srs.FeatureStore:
    X = np.random.default_rng(0).normal(size=(40, 12))
    return srs.ingest(X, target=(X[:, 3] > 0).astype(int))


def test_numbers_of_numpy_are_numbers(store: srs.FeatureStore) -> None:
    """Guards grids made by `np.arange`: the settings are those of plain numbers."""
    plain = srs.select(store, seed=3, max_depth=4, max_trees=8, fdr=0.125, random_recall=True)
    found = srs.select(
        store,
        seed=np.int64(3),
        max_depth=np.int32(4),
        max_trees=np.uint8(8),
        fdr=np.float32(0.125),
        random_recall=np.bool_(True),
        threads=np.int64(1),
    )
    assert found.digest == plain.digest
    assert type(found.document["settings"]["max_depth"]) is int


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_seconds": float("inf")}, "max_seconds must be a number at least 0, not inf"),
        ({"max_seconds": float("nan")}, "max_seconds must be a number at least 0, not nan"),
        ({"max_depth": 10**12}, "max_depth must be a whole number at most 2147483647"),
        ({"evidence": ["used", "used"]}, "evidence must name each of its values once"),
        ({"pinned": 3}, "pinned must be a list, not 3"),
        ({"features": "f1"}, "features must be a list of names or numbers, not 'f1'"),
        ({"samples": 3}, "samples must be a list of names or numbers, not 3"),
    ],
)
def test_wrong_values_are_one_sentence(store: srs.FeatureStore, settings, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        srs.check(store, **settings)


@pytest.mark.parametrize("feature", [None, 1.5, True])
def test_a_feature_is_a_name_or_a_whole_number(store: srs.FeatureStore, feature) -> None:
    with pytest.raises(InputError, match="a feature is a name or a whole number"):
        srs.check(store, pinned=[feature])


def test_a_kind_of_target_is_checked_without_a_target() -> None:
    with pytest.raises(InputError, match="the kind of the target is 'foo'; it must be one of"):
        srs.ingest(np.eye(4), target_kind="foo")
