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
        ({"mode": "paper", "pairs": "all"}, "paper mode has its own rule and ignores pairs;"),
        ({"mode": "paper", "guarantee": "confident"}, "paper mode .* ignores guarantee;"),
        ({"mode": "paper", "rule": "knockoff"}, "paper mode .* ignores rule;"),
        ({"mode": "paper", "n_features": 3}, "paper mode .* ignores n_features;"),
        ({"evidence": ["pairs"], "pairs": "off"}, 'evidence has "pairs", and pairs is "off"'),
        ({"evidence": ["used"], "pairs": "all"}, 'pairs is "all", and evidence is without "pairs"'),
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


def test_a_class_of_one_sample_leaves_pairs_out() -> None:
    X = np.random.default_rng(0).normal(size=(40, 12))
    store = srs.ingest(X, target=(np.arange(40) == 7).astype(int))
    with pytest.raises(
        SettingsError, match=r'pairs="all" is not possible: .* several samples have.$'
    ):
        srs.check(store, pairs="all")
    result = srs.select(store, max_trees=16)
    left_out = {
        one["kind"]: one["reason"] for one in result.document["outcome"]["grounds"]["left_out"]
    }
    assert "at least two values that several samples have" in left_out["pairs"]
    assert result.pairs is None
    assert srs.plan(store, max_trees=16).pair_seconds is None


def test_an_error_without_a_folder_says_nothing_of_checkpoints(store: srs.FeatureStore) -> None:
    def fail(_now: srs.Progress) -> None:
        raise InputError("the data went away.")

    with pytest.raises(InputError, match=r"^the data went away\.$"):
        srs.select(store, max_trees=16, on_progress=fail)
