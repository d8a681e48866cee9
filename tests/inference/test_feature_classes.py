"""Feature classes: features that look alike, whatever the target."""

import numpy as np
import pandas as pd

import srs
from srs.inference.feature_classes import MIN_PROBES, find_feature_classes, join_small


def mixed_frame(n=300, p=600, seed=0):
    rng = np.random.default_rng(seed)
    columns = {f"binary{i}": rng.integers(0, 2, n) for i in range(p)}
    columns |= {f"rare{i}": (rng.random(n) < 0.04).astype(int) for i in range(p)}
    columns |= {f"number{i}": rng.normal(size=n) for i in range(p)}
    columns |= {
        f"letters{i}": np.array([f"c{k}" for k in rng.integers(0, 200, n)]) for i in range(p)
    }
    return pd.DataFrame(columns), rng.integers(0, 2, n)


def test_unlike_features_are_kept_apart():
    frame, y = mixed_frame()
    store = srs.ingest(frame, target=y)
    feature_classes = find_feature_classes(store, 1)
    kinds = np.array([name.rstrip("0123456789") for name in store.feature_names])
    by_kind = {k: set(feature_classes[kinds[store.feature_ids] == k].tolist()) for k in set(kinds)}
    assert all(len(found) == 1 for found in by_kind.values())
    assert len(set.union(*by_kind.values())) == 4
    assert set(np.unique(feature_classes)) == set(range(4))


def test_alike_features_share_a_stratum():
    X = np.random.default_rng(0).normal(size=(100, 400))
    store = srs.ingest(X, target=np.arange(100) % 2)
    assert find_feature_classes(store, 3).max() == 0


def test_small_strata_join_their_neighbours():
    counts = np.array([0, 10, 2 * MIN_PROBES, 3, 0, MIN_PROBES, 7])
    assert join_small(counts, 1).tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert join_small(counts, 100).tolist() == [0, 0, 1, 1, 1, 2, 3]
    assert join_small(np.array([5, 5]), 1).tolist() == [0, 0]


def test_shares_of_the_most_frequent_level():
    X = np.zeros((100, 3))
    X[:25, 0] = 1
    X[:, 1] = np.arange(100)
    X[:50, 2] = np.nan
    store = srs.ingest(X, target=np.arange(100) % 2)
    np.testing.assert_allclose(store.top_shares, [0.75, 0.01, 1.0], atol=0.005)


def test_a_null_feature_of_many_levels_is_not_favoured(global_random_seed):
    """Guards mixed data end to end: p-values of each kind of null feature are as often small."""
    frame, y = mixed_frame(seed=global_random_seed)
    store = srs.ingest(frame, target=y)
    result = srs.select(store, seed=global_random_seed, max_trees=100)
    table = result.features
    kinds = table.name.str.rstrip("0123456789")
    small = (table.p_value < 0.15).groupby(kinds).mean()  # of three kinds of evidence together
    assert small.max() < 0.15 + 4 * np.sqrt(0.15 * 0.85 / 600)
    assert len(result.relevant_ids) <= 1
