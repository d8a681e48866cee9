"""The scikit-learn front keeps scikit-learn's promises and finds what `select` finds."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import srs
from srs import SRSSelector

NOT_EQUIVALENT = (
    "a weight says how much a sample counts; a sample that is repeated would count as new evidence"
)


@parametrize_with_checks(
    [SRSSelector(max_trees=40)],
    expected_failed_checks=lambda _: dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        NOT_EQUIVALENT,
    ),
)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_scikit_learn_checks(estimator, check):
    """Guards the contract of scikit-learn: all of its own checks but those of weights as counts."""
    check(estimator)


def planted(n=300, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 2] - X[:, 5] > 0).astype(int)


def test_finds_what_select_finds():
    X, y = planted()
    selector = SRSSelector(random_state=3, max_trees=200).fit(X, y)
    np.testing.assert_array_equal(selector.get_support(indices=True), [2, 5])
    np.testing.assert_array_equal(selector.transform(X), X[:, [2, 5]])
    assert selector.result_.n_trees >= 100
    assert selector.feature_importances_.argmax() in (2, 5)


def test_in_a_pipeline_with_names_and_set_output():
    X, y = planted()
    frame = pd.DataFrame(X, columns=[f"gene{i}" for i in range(30)])
    selector = SRSSelector(random_state=3, max_trees=200).set_output(transform="pandas")
    out = selector.fit(frame, y).transform(frame)
    assert list(out.columns) == ["gene2", "gene5"]
    assert list(selector.get_feature_names_out()) == ["gene2", "gene5"]
    model = make_pipeline(SRSSelector(random_state=3, max_trees=200), LogisticRegression()).fit(
        X, y
    )
    assert model.score(X, y) > 0.95


def test_every_column_of_a_frame_is_a_feature():
    X, y = planted()
    frame = pd.DataFrame(X[:, :6], columns=["a", "id", "b", "c", "d", "e"]).assign(id=range(300))
    assert SRSSelector(random_state=3, max_trees=200).fit(frame, y).support_.shape == (6,)


def test_pickling_cloning_and_threads():
    X, y = planted()
    selector = SRSSelector(random_state=3, max_trees=200, n_jobs=-1).fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.support_, selector.support_)
    single = clone(selector).set_params(n_jobs=1).fit(X, y)
    assert single.result_.table.equals(selector.result_.table)


def test_categories_missing_values_and_text_targets():
    X, y = planted()
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X)
    frame.columns = [f"x{i}" for i in range(30)]
    frame["kind"] = np.where(y == 1, rng.choice(["a", "b"], 300), rng.choice(["c", "d"], 300))
    frame.iloc[::7, 2] = np.nan
    selector = SRSSelector(random_state=0, max_trees=200).fit(
        frame, np.where(y == 1, "case", "control")
    )
    assert "kind" in selector.get_feature_names_out()


def test_a_feature_store(tmp_path):
    X, y = planted()
    store = srs.ingest(X, tmp_path / "s.zarr", target={"a": y, "b": X[:, 9]})
    np.testing.assert_array_equal(
        SRSSelector(random_state=3, max_trees=200).fit(store).get_support(indices=True), [2, 5]
    )
    assert 9 in SRSSelector(random_state=3, max_trees=200).fit(store, "b").get_support(indices=True)
    with pytest.raises(srs.SRSError, match="name of a target"):
        SRSSelector().fit(store, y)


def in_sites(n=300, p=30, seed=0):
    """Columns 10 and above follow the site, as the target does; column 2 matters."""
    rng = np.random.default_rng(seed)
    site = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[:, 10:] += 1.5 * site[:, None]
    y = (2.0 * X[:, 2] + 3.0 * (site - 0.5) + rng.logistic(size=n) > 0).astype(int)
    return X, y, pd.DataFrame({"site": site.astype(str), "w": rng.random(n)})


def test_columns_of_samples():
    X, y, columns = in_sites()
    assert SRSSelector(random_state=0, max_trees=200).fit(X, y).support_[10:].sum() > 5
    selector = SRSSelector(random_state=0, max_trees=200, confounders=["site"], sample_weight="w")
    selector.fit(X, y, sample_columns=columns)
    assert selector.get_support(indices=True).tolist() == [2]
    sets = {"first": [0, 1, 2], "last": [20, 21]}
    selector = SRSSelector(
        random_state=0, max_trees=200, class_weight="balanced", feature_sets=sets
    )
    assert selector.fit(X, y).result_.sets["verdict"].tolist()[0] == "RELEVANT"
    with pytest.raises(srs.SRSError, match="there is no column 'site'"):
        SRSSelector(confounders=["site"]).fit(X, y)
    with pytest.raises(srs.SRSError, match="must be columns of the store"):
        SRSSelector().fit(srs.ingest(X, target=y), sample_columns=columns)


def test_columns_of_samples_are_cut_along_in_cross_validation():
    X, y, columns = in_sites(n=200)
    with config_context(enable_metadata_routing=True):
        selector = SRSSelector(random_state=0, confounders=["site"], max_trees=40)
        selector.set_fit_request(sample_columns=True)
        model = make_pipeline(selector, LogisticRegression())
        scored = cross_validate(model, X, y, params={"sample_columns": columns}, cv=2)
    assert scored["test_score"].min() > 0.5
