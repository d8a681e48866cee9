"""Permuted labels, conditional error rate and 1Probe: their p-values with and without signal."""

import numpy as np
import pytest
from scipy.stats import binom, kstest

from srs.explain.analyses import (
    conditional_error_rate,
    label_permutation,
    one_probe,
    open_matrix,
    vote_shift,
)
from srs.explain.analyses.label_permutation import permuted_labels


def noise(seed: int, n: int = 50, p: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.permutation(np.arange(n) % 2)


def test_every_permutation_of_labels_is_another() -> None:
    X, y = noise(0)
    matrix = open_matrix(X, y)
    labels = [permuted_labels(matrix, 0, number).classes for number in range(20)]
    np.testing.assert_array_equal(labels[0], y)
    assert len({one.tobytes() for one in labels}) == 20
    assert all((np.bincount(one) == np.bincount(y)).all() for one in labels)


def test_label_permutation_is_uniform_under_the_null() -> None:
    p_values = [
        label_permutation(*noise(s), n_trees=6, n_permutations=19, seed=s).column("p_value")[0]
        for s in range(100)
    ]
    assert kstest(p_values, "uniform").pvalue > 0.005
    assert min(p_values) >= 1 / 20


@pytest.mark.slow
@pytest.mark.long
def test_label_permutation_is_uniform_over_1000_seeds() -> None:
    """Every feature at every level: shares of p-values up to 0.01 .. 0.5 within four errors."""
    p_values = np.array(
        [
            label_permutation(*noise(s), n_trees=6, n_permutations=99, seed=s).column("p_value")
            for s in range(1000)
        ]
    )
    for level in (0.01, 0.05, 0.1, 0.5):
        error = np.sqrt(level * (1 - level) / 1000)
        assert (np.abs((p_values <= level + 1e-9).mean(axis=0) - level) < 4 * error).all(), level


def test_label_permutation_finds_numbers_too(global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(100, 6))
    y = X[:, 4] ** 2 + 0.3 * rng.normal(size=100)
    found = label_permutation(X, y, n_trees=20, n_permutations=199, seed=global_random_seed)
    assert found.column("label").tolist() == [None] * 4 + ["significant", None]
    assert found.column("value")[4] > found.column("null")[4]


def test_conditional_error_rate_rises_where_relevant_features_end(global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(120, 8))
    y = X[:, 0] + X[:, 1] + X[:, 2] > 0
    frame = (
        conditional_error_rate(X, y, n_trees=40, n_permutations=39, seed=global_random_seed)
        .frame.set_index("rank")
        .sort_index()
    )
    assert set(frame["feature"][:3]) == {"f0", "f1", "f2"}
    assert frame["p_value"][3] < 0.1
    assert frame["p_value"][4] > 0.1
    assert frame["p_value"].dropna().is_monotonic_increasing


def test_conditional_error_rate_under_the_null() -> None:
    """Of the first rank it is a p-value of the largest importance: uniform on noise."""
    rates = []
    for seed in range(60):
        frame = conditional_error_rate(
            *noise(seed), n_trees=10, n_permutations=19, max_ranks=1, seed=seed
        ).frame
        rates.append(frame.set_index("rank")["p_value"][1])
    assert kstest(rates, "uniform").pvalue > 0.005


def test_one_probe(global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(150, 10))
    y = X[:, 2] + X[:, 5] > 0
    found = one_probe(X, y, n_forests=149, n_trees=20, seed=global_random_seed)
    assert set(np.flatnonzero(found.column("q_value") < 0.05)) == {2, 5}
    assert abs(found.column("null")[0]) < 0.02


def test_too_few_forests_are_said(global_random_seed: int) -> None:
    """Of 30 features only one is relevant: 60 forests cannot show it, which is no verdict on it."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(120, 30))
    found = one_probe(X, X[:, 3] > 0, n_forests=60, n_trees=20)
    assert found.frame["label"][3] == "too few forests"
    assert "needs 600 forests" in found.notes[1]
    alone = one_probe(X[:, :4], X[:, 3] > 0, n_forests=99, n_trees=20)
    assert alone.frame["label"][3] == "significant"
    assert not any("needs" in note for note in alone.notes)


def test_effects_of_votes_do_not_grow_with_trees(global_random_seed: int) -> None:
    """Four times the trees: four times chi-squared, and the same effect, within a tenth."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] + 0.5 * X[:, 1] > 0
    few, many = (vote_shift(X, y, n_trees=n).frame for n in (500, 2000))
    assert many["statistic"][0] > 3 * few["statistic"][0]
    assert many["effect"][0] == pytest.approx(few["effect"][0], rel=0.1)
    assert many["effect"].idxmax() == 0
    distance = vote_shift(X, y, n_trees=500, method="ks").frame
    assert (distance["effect"] == distance["statistic"]).all()


def test_vote_shift_under_the_null_is_blind_first_and_sure_later() -> None:
    """The finding stated in `CAVEAT`: few trees give p-values near 1, many small ones, on noise.

    Of 60 honest p-values 5 % would be below 0.05, and at most 13 % in 999 of 1,000 cases.
    """
    few, many = [], []
    for seed in range(12):
        X, y = noise(seed, n=60, p=5)
        few.append(vote_shift(X, y, n_trees=20, seed=seed).column("p_value"))
        many.append(vote_shift(X, y, n_trees=3000, seed=seed).column("p_value"))
    assert np.median(few) > 0.9
    assert np.mean(np.array(many) < 0.05) > binom.ppf(0.999, 60, 0.05) / 60


@pytest.mark.parametrize("analysis", [label_permutation, conditional_error_rate, one_probe])
def test_threads_do_not_matter(analysis) -> None:
    sizes = {"n_forests": 6} if analysis is one_probe else {"n_permutations": 6}
    one, two = (analysis(*noise(0), n_trees=8, threads=t, **sizes).to_json() for t in (1, 2))
    assert one == two
