"""Tests of single features, contrasts, intervals and degrees: exact values, and error rates."""

import numpy as np
import pytest
from scipy.stats import binom, kstest
from sklearn.metrics.cluster import expected_mutual_information

from srs.errors import InputError, SettingsError
from srs.explain.analyses import contrasts, degrees, feature_permutation, mda_intervals
from srs.explain.permuting.conditional import (
    class_information,
    cut_levels,
    learned,
    number_information,
)
from srs.explain.permuting.staged import Counts, stages
from srs.theory import asymptotic_importances
from srs.trees import TreeTarget
from tests.theory.published import DIGITS


def noise(seed: int, n: int = 40, p: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.permutation(np.arange(n) % 2)


@pytest.mark.parametrize("measure", ["mda", "mdi"])
def test_feature_permutation_is_uniform_under_the_null(measure: str) -> None:
    p_values = [
        feature_permutation(
            *noise(s), measure=measure, n_trees=5, n_permutations=19, seed=s
        ).column("p_value")[0]
        for s in range(60)
    ]
    assert kstest(p_values, "uniform").pvalue > 0.002
    assert min(p_values) >= 1 / 20


def test_feature_permutation_with_strong_features() -> None:
    """Beside two that matter a third stays uniform: label permutation would be too careful."""
    hits, found = 0, 0
    for s in range(40):
        X, _ = noise(s, n=60)
        y = X[:, 0] + X[:, 1] > 0
        p = feature_permutation(X, y, n_trees=15, n_permutations=19, seed=s).column("p_value")
        hits += int(p[2] <= 0.05 + 1e-9)
        found += int((p[:2] <= 0.05 + 1e-9).sum())
    assert hits <= binom.ppf(1 - 1e-4, 40, 0.05)
    assert found >= 70


def test_contrasts_hold_their_rate_and_find() -> None:
    """About one in twenty features that do not matter beats the contrasts' quantile of 0.95."""
    hits, found = 0, 0
    for s in range(12):
        rng = np.random.default_rng(s)
        X = rng.normal(size=(100, 22))
        y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=100) > 0
        p = contrasts(X, y, n_forests=10, n_trees=40, seed=s).column("p_value")
        hits += int((p[2:] < 0.05).sum())
        found += int((p[:2] < 0.05).sum())
    assert hits <= binom.ppf(1 - 1e-4, 240, 0.08)
    assert found >= 23
    with pytest.raises(InputError, match="at least 2 forests"):
        contrasts(*noise(0), n_forests=1)


def test_contrasts_t_statistic(global_random_seed: int) -> None:
    from scipy.stats import t as student

    found = contrasts(*noise(global_random_seed), n_forests=6, n_trees=10)
    expected = student.sf(found.column("t_statistic"), 5)
    np.testing.assert_allclose(found.column("p_value"), expected, rtol=1e-9)


def importance_runs(n_runs: int, method: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Importances and intervals of fresh samples of one population."""
    values, low, high = [], [], []
    for run in range(n_runs):
        rng = np.random.default_rng(run)
        X = rng.normal(size=(120, 3))
        y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=120)
        found = mda_intervals(
            X, y, method=method, n_subsamples=40, share=0.3, n_trees=25, seed=run, threads=2
        )
        values.append(found.column("value"))
        low.append(found.column("low"))
        high.append(found.column("high"))
    return np.array(values), np.array(low), np.array(high)


def test_intervals_hold_the_importance() -> None:
    """The jackknife holds the mean importance of so many samples at least as often as it says."""
    values, low, high = importance_runs(30, "jackknife")
    truth = values.mean(axis=0)
    inside = ((low <= truth) & (truth <= high)).sum(axis=0)
    assert (inside >= binom.ppf(1e-3, 30, 0.93)).all()
    assert ((high - low).mean(axis=0) < 12 * values.std(axis=0)).all()  # and they say something


def test_intervals_formula(global_random_seed: int) -> None:
    X, y = noise(global_random_seed, n=60)
    wide = mda_intervals(X, y, n_subsamples=12, n_trees=10, share=0.5)
    narrow = mda_intervals(X, y, n_subsamples=12, n_trees=10, share=0.5, method="subsampling")
    np.testing.assert_array_equal(wide.column("value"), narrow.column("value"))
    assert (wide.column("error") > narrow.column("error")).all()
    reach = wide.column("high") - wide.column("value")
    np.testing.assert_allclose(reach, 1.959964 * wide.column("error"), rtol=1e-5)
    with pytest.raises(InputError, match="too few for intervals"):
        mda_intervals(X[:10], y[:10])
    with pytest.raises(SettingsError, match="method must be one of"):
        mda_intervals(X, y, method="bootstrap")


def test_information_less_chance(global_random_seed: int) -> None:
    """The expectation is scikit-learn's; the variance of numbers that of all permutations."""
    rng = np.random.default_rng(global_random_seed)
    n = 40
    groups, levels = rng.integers(0, 3, n), rng.integers(0, 3, n)
    classes, values = rng.integers(0, 3, n), rng.normal(size=n)
    found = class_information(groups, 3, levels, 3, learned(TreeTarget.of_classes(classes, 3)))
    slow = 0.0
    for g in range(3):
        inside = groups == g
        table = np.zeros((3, 3), np.int64)
        np.add.at(table, (levels[inside], classes[inside]), 1)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        size = table.sum()
        outer = np.outer(table.sum(axis=1), table.sum(axis=0)) / size
        told = (table / size * np.log2(np.where(table, table / outer, 1.0))).sum()
        slow += size / n * (told - expected_mutual_information(table, int(size)) / np.log(2))
    assert found == pytest.approx(slow, abs=1e-9)
    target = learned(TreeTarget.of_values(values))
    moved = [number_information(groups, 3, rng.permutation(levels), 3, target) for _ in range(4000)]
    assert np.mean(moved) == pytest.approx(0.0, abs=5 * np.std(moved) / np.sqrt(4000))


def test_levels() -> None:
    codes = np.arange(90, dtype=np.uint8)
    assert np.bincount(cut_levels(codes, False, 3)).tolist() == [30, 30, 30]
    many = np.repeat(np.arange(12), np.arange(12, 0, -1)).astype(np.uint8)
    levels = cut_levels(many, True, 3)
    assert np.bincount(levels)[:8].tolist() == list(range(12, 4, -1))
    assert len(np.unique(levels)) == 9


def test_degrees_estimate_the_exact_terms(global_random_seed: int) -> None:
    """Many samples of the digits: p times Table 5.1, degree by degree."""
    y = np.random.default_rng(global_random_seed).permutation(np.arange(3000) % 10)
    found = degrees(DIGITS[y], y, n_trees=60, n_permutations=9, seed=global_random_seed)
    exact = 7 * asymptotic_importances(DIGITS, np.arange(10), by_degree=True)[:, :3].T
    value, error = found.column("value").reshape(3, 7), found.column("error").reshape(3, 7)
    margin = np.where(np.isfinite(error), 5 * error, 0.0) + 0.02
    assert (np.abs(value - exact) < margin).all()


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_degrees_of_noise_are_uniform_and_centred(task: str) -> None:
    """Twenty-five samples in nine cells: without the correction they would tell a lot."""
    values, p_values = [], []
    for s in range(60):
        X, y = noise(s, n=25)
        y = y if task == "classes" else np.random.default_rng(1000 + s).normal(size=25)
        found = degrees(X, y, n_trees=3, n_permutations=19, seed=s)
        values.append(found.column("value").reshape(3, 3)[:, 0])
        p_values.append(found.column("p_value").reshape(3, 3)[:, 0])
    mean, error = np.mean(values, axis=0), np.std(values, axis=0) / np.sqrt(60)
    assert (np.abs(mean) < 4.5 * error).all()
    for k in range(3):
        assert kstest(np.array(p_values)[:, k], "uniform").pvalue > 0.001


def test_degrees_tell_an_interaction_from_a_main_effect(global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (400, 6))
    y = (X[:, 0] ^ X[:, 1]) + 2 * X[:, 2]
    found = degrees(X, y, n_trees=40, n_permutations=399, seed=global_random_seed).frame
    labels = found.dropna(subset="label").set_index("feature")
    assert labels.loc[["f0", "f1"], "label"].tolist() == ["interaction"] * 2
    assert labels.loc[["f0", "f1"], "degree"].tolist() == [1, 1]
    assert labels.loc["f2", "label"] == "main effect"
    beyond = found[found.degree == 2].set_index("feature")["beyond"]
    assert beyond["f0"] > 0.2
    assert abs(beyond["f2"]) < 0.05


def test_tests_that_end_early_are_valid(global_random_seed: int) -> None:
    """Below any level no more often than stated, and far fewer permutations than at most."""
    rng = np.random.default_rng(global_random_seed)
    n_tests = 20_000
    counts, n_done = Counts(rng.random(n_tests)), 0
    for start, stop in stages(999):
        n_done += (stop - start) * int(counts.active.sum())
        counts.add(counts.active.copy(), rng.random((stop - start, n_tests)))
    for level in (0.002, 0.01, 0.05, 0.2, 0.5):
        below = int((counts.p_values <= level + 1e-12).sum())
        assert below <= binom.ppf(1 - 1e-5, n_tests, level)
    assert (counts.p_values <= 0.01).sum() >= binom.ppf(1e-5, n_tests, 0.009)
    assert n_done < 0.2 * 999 * n_tests
    assert counts.p_values.min() == pytest.approx(1 / 1000)


def test_same_bytes_on_any_number_of_threads() -> None:
    X, y = noise(5)
    for analysis in (degrees, feature_permutation, contrasts, mda_intervals):
        options = {"n_trees": 6, "seed": 3}
        one, two = (analysis(X, y, threads=threads, **options) for threads in (1, 2))
        assert one.table.equals(two.table), analysis.__name__
