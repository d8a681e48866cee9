"""With whom features matter: what a result tells of pairs and conditions."""

from __future__ import annotations

import numpy as np
import pytest

import srs
from benchmarks.calibration.problems import chain
from tests.planted import make_store


def xor_pair(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = (X[:, 3] > 0) ^ (X[:, 8] > 0) ^ (rng.random(n) < 0.2)
    return X, y.astype(int)


def test_a_pair_that_matters_only_together_is_found_and_named(global_random_seed):
    result = srs.select(make_store(*xor_pair(600, 3_000, global_random_seed)), seed=1)
    assert {3, 8} <= set(result.relevant_ids.tolist())
    pair = result.pairs.iloc[0]
    assert (pair["feature_id"], pair["partner_id"]) == (3, 8)
    assert (pair["name"], pair["partner"]) == ("f3", "f8")
    assert pair["kind"] == "crossing"
    assert pair["q_value"] < 1e-6
    assert pair["low"] * pair["high"] < 0
    rows = {row["feature_id"]: row for row in result.document["outcome"]["relevant"]}
    assert rows[3]["found_by"] == rows[8]["found_by"] == "pairs"


def test_cells_of_a_pair(tmp_path):
    """Shares and counts by dosage of both, as a table of the values has them."""
    rng = np.random.default_rng(3)
    X = rng.binomial(2, 0.5, size=(500, 30)).astype(float)
    X[rng.random(X.shape) < 0.02] = np.nan
    odd = np.nan_to_num(X[:, 3]) % 2 != np.nan_to_num(X[:, 8]) % 2
    y = np.where(odd ^ (rng.random(500) < 0.1), "case", "control")
    result = srs.select(srs.ingest(X, tmp_path / "s.zarr", target=y), seed=0, max_trees=64)
    cells = result.pairs.set_index(["name", "partner"]).cells["f3", "f8"]
    assert list(cells["levels"]) == list(cells["partner_levels"]) == ["0", "1", "2"]
    assert cells["group"] == "case"
    for a in range(3):
        for b in range(3):
            inside = (X[:, 3] == a) & (X[:, 8] == b)
            assert cells["counts"][a][b] == inside.sum()
            share = (y[inside] == "case").mean()
            assert cells["values"][a][b] == pytest.approx(share)
            assert cells["low"][a][b] < share < cells["high"][a][b]


def test_halves_of_a_pair_tell_of_the_same_class_as_its_cells():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 30))
    case = (X[:, 3] > np.median(X[:, 3])) ^ (X[:, 8] > np.median(X[:, 8]))
    y = np.where(case ^ (rng.random(500) < 0.1), "case", "control")
    row = srs.select(make_store(X, y), seed=0, max_trees=64).pairs.iloc[0]
    assert (row["name"], row["partner"], row["cells"]["group"]) == ("f3", "f8", "case")
    upper, lower = X[:, 3] > np.median(X[:, 3]), X[:, 8] <= np.median(X[:, 8])
    share = (y[upper & lower] == "case").mean()
    assert row["mean_high_low"] == pytest.approx(share, abs=0.02)
    assert row["low"] > 0.5


def test_two_effects_are_no_pair(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(800, 500))
    X[:, 9] = 0.95 * X[:, 0] + 0.3 * rng.normal(size=800)  # in linkage with the first
    chance = 1 / (1 + np.exp(-2 * X[:, 0] - 2 * X[:, 1]))
    result = srs.select(make_store(X, (rng.random(800) < chance).astype(int)), seed=0)
    assert {0, 1, 9} <= set(result.relevant_ids.tolist())
    assert not len(result.pairs)


def test_features_of_a_chain_name_what_they_were_found_under(global_random_seed):
    """One in twenty also tells alone by chance, and needs no condition."""
    n_told = 0
    for at in range(4):
        problem = chain(np.random.default_rng((global_random_seed, at)))
        result = srs.select(make_store(problem.X, problem.y), seed=0)
        for one in result.conditions:
            if one["feature_id"] in (2, 3):
                n_told += 1
                assert {*one["given_ids"]} <= {0, 1, 2, 3}
                assert one["p_value"] < 0.05
    assert n_told >= 3


@pytest.mark.parametrize(("pairs", "looked"), [("off", False), ("all", True), ("auto", True)])
def test_pairs_are_a_setting(pairs, looked):
    X, y = xor_pair(300, 200, 0)
    result = srs.select(make_store(X, y), seed=0, pairs=pairs, max_trees=32)
    assert (result.pairs is not None) == looked
    left_out = result.document["outcome"]["grounds"].get("left_out", [])
    assert [one["kind"] for one in left_out] == ([] if looked else ["pairs"])


def test_weights_and_subjects_leave_the_univariate_test_out():
    X, y = xor_pair(300, 100, 0)
    columns = {"w": np.linspace(1, 2, 300), "who": np.arange(300) // 2}
    store = srs.ingest(X, target={"y": y, **columns})
    for name, setting in (("w", "sample_weight"), ("who", "subjects")):
        result = srs.select(store, seed=0, max_trees=32, **{setting: name})
        left_out = result.document["outcome"]["grounds"]["left_out"]
        assert [one["kind"] for one in left_out] == ["univariate"]
        assert left_out[0]["reason"].endswith(".")


def test_an_asked_number_of_features():
    X, y = xor_pair(300, 60, 0)
    result = srs.select(make_store(X, y), seed=0, n_features=7, max_trees=32)
    assert len(result.relevant_ids) == 7
    assert {3, 8} <= set(result.relevant_ids.tolist())
    everything = srs.select(make_store(X[:, :12], y), seed=0, n_features=1_000, max_trees=32)
    assert len(everything.relevant_ids) == 12
