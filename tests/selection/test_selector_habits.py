"""`SRSSelector` in the habits of scikit-learn: sparse, polars, weights, limits, nested searches."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline

import srs
from srs import SRSSelector


def planted(n=200, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 2] - X[:, 5] + rng.normal(0, 0.5, n) > 0).astype(int)


def noise(n=60, p=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.permutation(np.arange(n) % 2)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_sparse_matrix_gives_what_its_dense_form_gives(form):
    X, y = planted()
    X[np.abs(X) < 0.5] = 0.0
    given = sparse.coo_array(X).asformat(form)
    found = SRSSelector(random_state=3, max_trees=100).fit(given, y)
    dense = SRSSelector(random_state=3, max_trees=100).fit(X, y)
    assert found.result_.digest == dense.result_.digest
    assert found.support_[[2, 5]].all()
    out = found.transform(given)
    assert sparse.issparse(out)
    np.testing.assert_array_equal(out.toarray(), dense.transform(X))


def test_a_sparse_matrix_is_never_made_dense(monkeypatch):
    """10,000 columns of a wide matrix: its dense form would take 160 MB."""
    for kind in (sparse.csr_array, sparse.csc_array):
        for name in ("toarray", "todense"):
            monkeypatch.setattr(kind, name, lambda *_: pytest.fail("made dense"))
    rng = np.random.default_rng(0)
    X = sparse.random_array((200, 10_000), density=0.01, format="csr", rng=rng)
    y = rng.permutation(np.arange(200) % 2)
    fitted = SRSSelector(random_state=0, max_trees=20, pairs="off").fit(X, y)
    assert fitted.support_.shape == (10_000,)


def test_polars_frames_in_and_out():
    X, y = planted()
    names = [f"gene{i}" for i in range(30)]
    frame = pl.DataFrame(X, names).with_columns(
        kind=pl.Series(np.where(y == 1, "a", "b")), grade=pl.Series(y).cast(pl.Int8)
    )
    selector = SRSSelector(random_state=3, max_trees=100).set_output(transform="polars")
    out = selector.fit(frame, pl.Series(y)).transform(frame)
    assert isinstance(out, pl.DataFrame)
    assert {"kind", "grade"} <= set(out.columns)
    as_pandas = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    same = SRSSelector(random_state=3, max_trees=100).fit(as_pandas, y)
    assert same.result_.digest == selector.result_.digest


def test_p_values_scores_and_ranks():
    X, y = planted()
    selector = SRSSelector(random_state=3, max_trees=100, pinned=["f7"]).fit(X, y)
    table = selector.result_.features
    tested = ~table["pinned"].to_numpy()
    np.testing.assert_array_equal(selector.pvalues_[tested], table["p_value"][tested])
    assert np.isnan(selector.pvalues_[7])
    np.testing.assert_allclose(selector.scores_[tested], -np.log10(selector.pvalues_[tested]))
    assert (selector.ranking_[selector.support_] == 1).all()
    others = np.sort(selector.ranking_[~selector.support_])
    np.testing.assert_array_equal(others, np.arange(2, len(others) + 2))
    assert selector.ranking_[7] == others[-1]


def test_limits_of_the_number_of_features():
    X, y = noise()
    none = SRSSelector(random_state=0, max_trees=40).fit(X, y)
    assert none.n_relevant_ == none.support_.sum() == 0
    some = SRSSelector(random_state=0, max_trees=40, min_features_to_select=3).fit(X, y)
    assert some.get_support(indices=True).tolist() == sorted(none.ranking_.argsort()[:3].tolist())
    assert some.n_relevant_ == 0
    X, y = planted()
    one = SRSSelector(random_state=3, max_trees=100, max_features_to_select=1).fit(X, y)
    assert one.support_.sum() == 1 < one.n_relevant_
    assert one.pvalues_[one.support_][0] == one.pvalues_.min()
    for wrong in ({"min_features_to_select": -1}, {"max_features_to_select": 0}, {"n_jobs": "two"}):
        with pytest.raises(srs.SRSError, match="must be a whole number"):
            SRSSelector(**wrong).fit(X, y)
    with pytest.raises(srs.SRSError, match="more than max_features_to_select"):
        SRSSelector(min_features_to_select=3, max_features_to_select=2).fit(X, y)


def test_nested_cross_validation_where_folds_select_nothing():
    X, y = noise()
    model = make_pipeline(
        SRSSelector(random_state=0, max_trees=20, min_features_to_select=1), LogisticRegression()
    )
    search = GridSearchCV(model, {"srsselector__fdr": [0.05, 0.2]}, cv=2)
    assert np.isfinite(cross_val_score(search, X, y, cv=2)).all()


def test_weights_given_to_fit_are_those_of_a_column():
    X, y = planted()
    weights = np.linspace(1, 3, 200)
    given = SRSSelector(random_state=0, max_trees=60).fit(X, y, sample_weight=weights)
    named = SRSSelector(random_state=0, max_trees=60, sample_weight="sample_weight").fit(
        X, y, sample_columns={"sample_weight": weights}
    )
    assert given.result_.digest == named.result_.digest
    plain = SRSSelector(random_state=0, max_trees=60).fit(X, y)
    equal = SRSSelector(random_state=0, max_trees=60).fit(X, y, sample_weight=np.full(200, 2.0))
    assert equal.result_.table.equals(plain.result_.table)
    assert not given.result_.table.equals(plain.result_.table)
    with pytest.raises(srs.SRSError, match="use one of them"):
        SRSSelector(sample_weight="w").fit(X, y, sample_weight=weights)
    with pytest.raises(srs.SRSError, match=r"sample_weight has shape \(3,\)"):
        SRSSelector().fit(X, y, sample_weight=[1, 2, 3])


def test_weights_and_groups_are_routed_to_the_folds():
    X, y = planted()
    groups = np.repeat(np.arange(50), 4)
    weights = np.linspace(1, 2, 200)
    with config_context(enable_metadata_routing=True):
        selector = SRSSelector(random_state=0, max_trees=20, min_features_to_select=1)
        selector.set_fit_request(groups=True, sample_weight=True)
        predictor = LogisticRegression().set_fit_request(sample_weight=False)
        predictor.set_score_request(sample_weight=True)
        model = make_pipeline(selector, predictor)
        scored = cross_validate(
            model,
            X,
            y,
            params={"groups": groups, "sample_weight": weights},
            cv=GroupKFold(2),
            return_estimator=True,
        )
    for fitted in scored["estimator"]:
        settings = fitted[0].result_.document["settings"]
        assert settings["subjects"] == "groups"
        assert settings["sample_weight"] == "sample_weight"


def test_a_part_of_a_store_is_masked_by_its_own_columns():
    X, y = planted()
    part = srs.ingest(X, target=y).view(features=[1, 2, 5, 9])
    selector = SRSSelector(random_state=0, max_trees=60).fit(part)
    assert selector.get_support(indices=True).tolist() == [1, 2]
