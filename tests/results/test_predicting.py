"""Predictions by kept trees: of the store, of other samples, of categories; what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import srs
from srs.errors import InputError
from srs.trees import load_trees
from tests.cli.conftest import invoke

MODES = [
    {"mode": "paper", "max_trees": 300, "subspace_size": 6},
    {"mode": "paper", "max_trees": 300, "subspace_size": 6, "paper_rule": "importance"},
    {"max_trees": 200},
]


def frame(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, counts and names, some missing; the first, a name and a count act."""
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    made["count"] = rng.integers(0, 4, n)
    made["name"] = np.array(["red", "green", "blue"])[rng.integers(0, 3, n)]
    y = made["a"] + made["count"] - 1.5 + 2 * (made["name"] == "blue") > 0.5
    made.loc[rng.random(n) < 0.05, "b"] = np.nan
    return made, np.where(y, "ill", "well")


@pytest.mark.parametrize("settings", MODES)
def test_other_samples_are_predicted(settings: dict, tmp_path: Path) -> None:
    """New values, and the same samples in the store of the run: the same predictions."""
    whole, y = frame(600, 0)
    store = srs.ingest(whole, target=y, keep_values=True)
    trained = np.arange(400)
    result = srs.select(store, samples=trained, keep_trees=True, folder=tmp_path, **settings)
    others = np.arange(400, 600)
    inside = result.predict(store.view(samples=others), store=store)
    assert (inside["prediction"] == y[others]).mean() > 0.75
    np.testing.assert_allclose(inside["share_ill"] + inside["share_well"], 1.0)
    given = result.predict(whole.iloc[others], store=store)
    np.testing.assert_allclose(given["share_ill"], inside["share_ill"], atol=1e-12)
    shuffled = whole.iloc[others][sorted(whole.columns, reverse=True)]  # features by name
    np.testing.assert_allclose(
        result.predict(shuffled, store=store)["share_ill"], given["share_ill"]
    )
    seen = result.predict(store.view(samples=trained), store=store)
    assert (seen["prediction"] == y[trained]).mean() > 0.9


def test_held_out_samples_get_the_prediction_of_the_run(tmp_path: Path) -> None:
    """Without probes the trees say the same again, whole and sample by sample."""
    whole, _ = frame(300, 1)
    store = srs.ingest(whole, target=whole["a"] * 2 + whole["count"], keep_values=True)
    result = srs.select(
        store,
        mode="paper",
        paper_rule="importance",
        max_trees=100,
        subspace_size=6,
        holdout=0.3,
        keep_trees=True,
        folder=tmp_path,
    )
    result.save(tmp_path)
    told = result.prediction.set_index("sample")["prediction"]
    again = srs.load_result(tmp_path).predict(store, store=store).set_index("sample")
    np.testing.assert_allclose(again.loc[told.index, "prediction"], told, rtol=1e-9)


def test_a_probe_goes_both_ways(tmp_path: Path) -> None:
    """Trees know which splits were by probes; such a split weighs its children."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    store = srs.ingest(X, target=rng.integers(0, 2, 80), keep_values=True)
    result = srs.select(store, keep_trees=True, folder=tmp_path, max_trees=20)
    trees = [t for f in sorted((tmp_path / "trees").iterdir()) for t in load_trees(f)]
    columns = np.concatenate([tree.column for tree in trees])
    assert (columns < -1).any()
    assert (columns >= 0).any()
    assert columns.min() >= -2 - 5
    slow = np.mean([[_walk(tree, store, row) for row in range(20)] for tree in trees], axis=0)
    found = result.predict(store, store=store)
    np.testing.assert_allclose(found["share_0"][:20], slow[:, 0], atol=1e-12)


def _walk(tree, store, row: int, node: int = 0) -> np.ndarray:
    """What one tree says of one sample, node by node."""
    if tree.left[node] < 0:
        return tree.value[node]
    left, right = tree.left[node], tree.right[node]
    if tree.column[node] < -1:
        n_left, n_right = tree.n_node[left], tree.n_node[right]
        ends = n_left * _walk(tree, store, row, left) + n_right * _walk(tree, store, row, right)
        return ends / (n_left + n_right)
    code = store.read_places(np.array([tree.column[node]]))[row, 0]
    goes_left = (int(code) + int(tree.cut_shift[node])) % 256 <= tree.cut_code[node]
    return _walk(tree, store, row, left if goes_left else right)


def test_unknown_names_are_missing(tmp_path: Path) -> None:
    whole, y = frame(200, 2)
    store = srs.ingest(whole, target=y, keep_values=True)
    result = srs.select(store, keep_trees=True, folder=tmp_path, max_trees=60)
    strange = whole.iloc[:40].assign(name="violet")
    gone = whole.iloc[:40].assign(name=None)
    pd.testing.assert_frame_equal(
        result.predict(strange, store=store), result.predict(gone, store=store)
    )


def test_what_is_refused(tmp_path: Path) -> None:
    whole, y = frame(150, 3)
    store = srs.ingest(whole, target=y, keep_values=True)
    with pytest.raises(InputError, match="kept no trees to predict with"):
        srs.select(store, max_trees=20).predict(store, store=store)
    result = srs.select(store, keep_trees=True, folder=tmp_path, max_trees=20)
    with pytest.raises(InputError, match="store of the run was in memory: give it"):
        result.predict(whole)
    with pytest.raises(InputError, match="is not the store of the run"):
        result.predict(whole, store=srs.ingest(whole.iloc[:100], target=y[:100]))
    with pytest.raises(InputError, match="features that trees use are not in the data"):
        result.predict(whole[["a", "b"]], store=store)
    next((tmp_path / "trees").iterdir()).unlink()
    with pytest.raises(InputError, match="trees of another run are there, or some are missing"):
        result.predict(store, store=store)


def test_in_the_shell(tmp_path: Path) -> None:
    whole, y = frame(200, 4)
    whole.assign(y=y).to_csv(tmp_path / "a.csv", index=False)
    whole.iloc[:30].to_csv(tmp_path / "b.csv", index=False)
    invoke("ingest", tmp_path / "a.csv", tmp_path / "a.zarr", "--target", "y")
    invoke("ingest", tmp_path / "b.csv", tmp_path / "b.zarr")
    run = tmp_path / "run"
    invoke(*["select", tmp_path / "a.zarr", "--out", run, "--keep-trees", "--max-trees", "60"])
    invoke("predict", run, tmp_path / "b.zarr")
    written = pd.read_csv(run / "predicted.csv")
    assert list(written.columns) == ["sample", "prediction", "share_ill", "share_well"]
    assert (written["prediction"] == y[:30]).mean() > 0.8
