"""A run looks long enough, and not for ever."""

import numpy as np

import srs
from srs.engine.memory import plan_shape
from srs.engine.stopping import (
    MIN_DRAWS,
    MIN_TREES,
    WAVERING_EFFORT,
    WAVERING_TREES,
    least_trees,
    most_trees,
    trees_to_meet_a_clique,
)


def shape_of(n_features, n_samples=1000, n_roles=2):
    return plan_shape(
        n_samples=n_samples,
        n_features=n_features,
        chunk_features=1024,
        n_roles=n_roles,
        max_carried=40,
        n_outputs=2,
        allowed_mem=10**12,
    )


def test_pairs_cost_the_square_of_the_features():
    small, large = (trees_to_meet_a_clique(shape_of(p), 2) for p in (5_000, 50_000))
    assert 8 < large / small < 12  # ten times the features in ten times larger subspaces


def test_every_feature_is_drawn_enough():
    shape = shape_of(1_000_000)
    assert least_trees(shape, 100) == MIN_DRAWS * 100
    assert least_trees(shape_of(100), 1) >= MIN_TREES


def test_pairs_are_waited_for_where_that_is_affordable():
    shape = shape_of(5_000, n_samples=500)
    assert least_trees(shape, 10) > 3 * trees_to_meet_a_clique(shape, 2)
    assert least_trees(shape_of(50_000), 10) == max(MIN_TREES, MIN_DRAWS * 10)


def test_triples_are_waited_for_among_few_features():
    few = shape_of(30, n_samples=1_500, n_roles=8)
    assert least_trees(few, 1) > 3 * trees_to_meet_a_clique(few, 3) > MIN_TREES / 2
    many = shape_of(500, n_samples=1_500, n_roles=4)
    assert least_trees(many, 3) < trees_to_meet_a_clique(many, 3)


def test_a_run_does_not_end_because_nothing_was_found_early():
    """Guards pure pairs: nothing has an effect of its own, and yet both are found."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (1000, 300))
    y = X[:, 17] ^ X[:, 203]
    result = srs.select(srs.ingest(X, target=y), seed=1)
    assert result.relevant_ids.tolist() == [17, 203]
    assert "would hardly change" in result.stop_reason


def test_lists_that_waver_get_more_trees_where_these_are_cheap():
    cheap, dear = shape_of(500, n_samples=300, n_roles=8), shape_of(50_000, n_samples=2_600)
    assert most_trees(cheap, 100) == WAVERING_TREES * 100
    n_columns = dear.n_roles * dear.subspace_size + dear.max_carried
    more = most_trees(dear, 100) - 100
    assert 0 < more < 100
    assert more * n_columns * dear.n_samples <= WAVERING_EFFORT
