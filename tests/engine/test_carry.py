"""Which columns trees carry."""

import srs
from tests.planted import make_planted, make_store


def test_nothing_need_be_carried():
    X, y = make_planted()
    result = srs.select(make_store(X, y), seed=1, max_carried=0, max_trees=100)
    assert {3, 11} <= set(result.relevant_ids.tolist())
