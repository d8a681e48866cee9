"""`srs.select` on data is `srs.ingest` and `srs.select`; wrong arguments get a sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import srs
from srs.selection import sources


def planted(n=160, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 2] > 0, "case", "control")


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_matrix, pd.DataFrame, lambda X: pl.DataFrame(X)]
)
def test_data_give_what_their_store_gives(form):
    X, y = planted()
    data = form(X)
    direct = srs.select(data, y, seed=1, max_trees=60)
    by_store = srs.select(srs.ingest(data, target=y), seed=1, max_trees=60)
    assert direct.digest == by_store.digest
    assert len(direct.relevant_ids) >= 1


def test_columns_of_a_frame_are_target_and_columns_of_samples():
    X, y = planted()
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(20)])
    frame["y"], frame["site"], frame["who"] = y, np.arange(160) % 2, np.arange(160) // 2
    settings = {"confounders": ["site"], "subjects": "who", "max_trees": 40}
    direct = srs.select(frame, "y", **settings)
    stored = srs.ingest(frame, target={"y": "y", "site": "site", "who": "who"})
    assert direct.digest == srs.select(stored, **settings).digest
    assert direct.document["data"]["n_features"] == 20
    by_mapping = srs.select(X, {"y": y, "site": frame["site"]}, confounders=["site"], max_trees=40)
    assert by_mapping.document["settings"]["confounders"] == ["site"]


def test_large_data_go_to_a_folder_that_is_removed(monkeypatch, tmp_path):
    X, y = planted()
    here = srs.select(X, y, max_trees=40).digest
    monkeypatch.setattr(sources, "KEPT_SHARE", 10**9)
    monkeypatch.setattr(sources.tempfile, "tempdir", str(tmp_path))
    seen = []
    direct = srs.select(X, y, max_trees=40, on_progress=lambda _: seen.extend(tmp_path.iterdir()))
    assert direct.digest == here
    assert seen
    assert not list(tmp_path.iterdir())


def test_plan_and_check_take_data():
    X, y = planted()
    assert srs.plan(X, y, threads=1).n_features == 20
    with pytest.raises(srs.SRSError, match="are allowed"):
        srs.check(X, y, memory="1MB")


def test_what_is_missing_or_too_much_is_said():
    X, y = planted()
    with pytest.raises(srs.SRSError, match="give its values, or its column, as y"):
        srs.select(X)
    with pytest.raises(srs.SRSError, match="y must be left out"):
        srs.select(srs.ingest(X, target=y), y)
    with pytest.raises(srs.SRSError, match="not a NoneType"):
        srs.select(None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"folder": 3}, "folder must be a path"),
        ({"tls": 3}, "tls must be a path"),
        ({"on_progress": 3}, "on_progress must be a function"),
        ({"finish": 3}, "finish must be a threading.Event"),
        ({"task_timeout": "a"}, "task_timeout must be a number"),
        ({"feature_sets": 3}, "feature_sets must be a file"),
        ({"feature_sets": {"a": 3}}, "the feature set 'a' must be a list"),
        ({"samples": [{}]}, "a sample is an id or a whole number"),
    ],
)
def test_wrong_types_are_refused_by_a_sentence(given, said):
    X, y = planted()
    with pytest.raises(srs.SRSError, match=said):
        srs.select(X, y, **given)


def test_wrong_types_of_other_functions():
    X, y = planted()
    for call, said in (
        (lambda: srs.load_result(3), "the folder of a result"),
        (lambda: srs.ingest(X, 3), "must be a path"),
        (lambda: srs.ingest(X, names=3), "names must be a list"),
        (lambda: srs.ingest(X, categorical=3), "categorical must be a list"),
        (lambda: srs.ingest(X, categorical=[None]), "a feature is a name or a whole number"),
        (lambda: srs.explain(X, y, features=3), "features must be a list"),
    ):
        with pytest.raises(srs.SRSError, match=said):
            call()
