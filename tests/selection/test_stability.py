"""Stability: the share of the halves of the trees in which a feature is found."""

import json

import numpy as np
import pyarrow.parquet as pq

import srs
from tests.planted import make_planted, make_store


def test_strong_effects_are_stable_and_noise_is_not(global_random_seed):
    X, y = make_planted(p=600, seed=global_random_seed)
    result = srs.select(make_store(X, y), seed=global_random_seed)
    stability = result.features["stability"].to_numpy()
    assert set(np.unique(stability)) <= {0.0, 0.5, 1.0}
    assert (stability[[3, 11]] == 1).all()
    assert (stability > 0).mean() < 0.03


def test_halves_agree_less_near_the_cut(global_random_seed):
    """Over some data sets: what both halves find is nearly always in the list."""
    both, listed, wavering = 0, 0, []
    for k in range(4):
        rng = np.random.default_rng(100 * global_random_seed + k)
        X = rng.normal(size=(300, 500))
        score = X[:, :30] @ rng.normal(size=30) * 0.5 + rng.normal(size=300)
        table = srs.select(make_store(X, (score > 0).astype(int)), seed=k).features
        relevant = table["verdict"] == "RELEVANT"
        both += int((table["stability"] == 1).sum())
        listed += int((relevant & (table["stability"] == 1)).sum())
        wavering += table.loc[table["stability"] == 0.5, "q_value"].tolist()
    assert listed >= 0.9 * both
    assert not wavering or np.median(wavering) > 0.005  # they are near the cut, at 0.1


def test_it_stands_wherever_a_feature_does(tmp_path):
    X, y = make_planted()
    folder = srs.select(make_store(X, y), seed=1).save(tmp_path / "run")
    document = json.loads((folder / "result.json").read_text())
    assert {row["stability"] for row in document["outcome"]["relevant"]} <= {0.0, 0.5, 1.0}
    assert "stability" in pq.read_schema(folder / "features.parquet").names
    assert "stability" in (folder / "report.html").read_text()


def test_paper_mode_and_pinned_features_have_none():
    X, y = make_planted()
    store = make_store(X, y)
    assert srs.select(store, mode="paper", max_trees=50).features["stability"].isna().all()
    pinned = srs.select(store, pinned=["f3"], max_trees=100)
    assert pinned.features["stability"].isna().sum() == 1
    assert pinned.document["outcome"]["pinned"][0]["stability"] is None
