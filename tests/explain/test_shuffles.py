"""Permutation importances of other kinds: slow twins, scikit-learn's numbers, what they tell."""

from collections import defaultdict

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import roc_auc_score

from srs.errors import InputError, SettingsError
from srs.explain.analyses import Forest, ForestSettings, grow_forest, mda, mdi, open_matrix
from srs.explain.permuting.mirrored import mirrored_p_values
from srs.explain.permuting.permuted import permute_features
from srs.explain.permuting.shuffles import Scheme, associations, shuffle_features
from srs.seeds import draw_tree_key, make_rng
from srs.theory import correlated_mda, normal_mda
from srs.trees.random import U32, node_key, random_below


def example(seed: int, task: str = "classes", n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Four features, the third a noisy copy of the first; the last has categories' codes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 2] = X[:, 0] + 0.5 * rng.normal(size=n)
    y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n)
    if task == "numbers":
        return X, y
    return X, np.digitize(y, [-1, 0.5] if task == "three" else [0.8])


class Twin:
    """One tree, sample by sample, in plain Python."""

    def __init__(self, forest: Forest, t: int) -> None:
        trees = forest.trees
        self.first, self.stop = int(trees.ends[t]), int(trees.ends[t + 1])
        self.trees, self.codes = trees, forest.matrix.codes

    def goes_left(self, at: int, code: int) -> bool:
        trees = self.trees
        if trees.subset_row[at] >= 0:
            return bool(trees.subset[trees.subset_row[at], code])
        return (code + int(trees.cut_shift[at])) % 256 <= trees.cut_code[at]

    def predict(self, row: int, column: int, other: int) -> np.ndarray:
        node = 0
        while self.trees.left[self.first + node] >= 0:
            at = self.first + node
            tested = int(self.trees.column[at])
            left = self.goes_left(at, int(self.codes[other if tested == column else row, tested]))
            node = int((self.trees.left if left else self.trees.right)[at])
        return self.trees.value[self.first + node]

    def cells(self, rows: np.ndarray, given: np.ndarray) -> list[tuple[bool, ...]]:
        nodes = [
            at
            for at in range(self.first, self.stop)
            if self.trees.column[at] >= 0 and given[self.trees.column[at]]
        ]
        return [
            tuple(self.goes_left(at, int(self.codes[i, self.trees.column[at]])) for at in nodes)
            for i in rows
        ]


def loss(forest: Forest, predicted: np.ndarray, rows: np.ndarray, auc: bool) -> float:
    target = forest.target
    if len(target.values):
        truth = target.values[rows] * target.unit + target.offset
        return float(np.mean((predicted[:, 0] - truth) ** 2))
    truth = target.classes[rows]
    if not auc:
        return float(np.mean(predicted.argmax(axis=1) != truth))
    classes = [1] if target.n_classes == 2 else range(target.n_classes)
    areas = [
        roc_auc_score(truth == c, predicted[:, c])
        for c in classes
        if 0 < (truth == c).sum() < len(truth)
    ]
    return 1 - float(np.mean(areas)) if areas else np.nan


def shuffled_by_twin(forest: Forest, scheme: Scheme) -> dict[tuple[int, int], float]:
    """Rise of the loss by tree and column, with the permutations of the kernel."""
    p = forest.matrix.n_features
    key = np.uint64(draw_tree_key(make_rng(forest.seed, 34, 0)))
    found: dict[tuple[int, int], float] = {}
    for t in range(forest.n_trees):
        twin, rows = Twin(forest, t), np.flatnonzero(forest.in_bag[t] == 0)
        plain = loss(forest, np.array([twin.predict(i, -1, 0) for i in rows]), rows, scheme.auc)
        used = forest.trees.column[twin.first : twin.stop]
        for column in sorted({int(c) for c in used if c >= 0}):
            stream = node_key(key, t * p + column, np.uint64(6))
            groups: dict[object, list[int]] = defaultdict(list)
            given = scheme.given[column] if len(scheme.given) else np.zeros(p, bool)
            for k, cell in enumerate(twin.cells(rows, given)):
                groups[cell].append(k)
            rises = []
            for number in range(scheme.n_repeats):
                other = rows.copy()
                if len(scheme.given):  # which permutation of a cell it is may differ: test its law
                    for members in groups.values():
                        other[members] = rows[np.random.default_rng(number).permutation(members)]
                else:
                    for k in range(len(rows) - 1, 0, -1):
                        j = random_below(stream, U32(number * len(rows) + k), k + 1)
                        other[k], other[j] = other[j], other[k]
                moved = np.array(
                    [twin.predict(i, column, o) for i, o in zip(rows, other, strict=True)]
                )
                rises.append(loss(forest, moved, rows, scheme.auc) - plain)
            found[t, column] = float(np.mean(rises))
    return found


@pytest.mark.parametrize("auc", [False, True])
@pytest.mark.parametrize("task", ["classes", "three", "numbers"])
def test_repeated_permutations_and_areas(task: str, auc: bool, global_random_seed: int) -> None:
    """Pair by pair against the slow twin, the area by scikit-learn."""
    if auc and task == "numbers":
        return
    X, y = example(global_random_seed, task)
    forest = grow_forest(open_matrix(X, y), ForestSettings(6), seed=global_random_seed)
    scheme = Scheme(n_repeats=3, auc=auc)
    found, twin = shuffle_features(forest, scheme), shuffled_by_twin(forest, scheme)
    pairs = list(zip(found.tree.tolist(), found.column.tolist(), strict=True))
    assert sorted(pairs) == sorted(twin)
    np.testing.assert_allclose(found.rise, [twin[pair] for pair in pairs], atol=1e-10)


def test_one_repeat_is_breimans(global_random_seed: int) -> None:
    forest = grow_forest(open_matrix(*example(global_random_seed)), ForestSettings(20))
    ours, plain = shuffle_features(forest, Scheme()), permute_features(forest)
    np.testing.assert_allclose(ours.rise, plain.rise, atol=1e-12)
    np.testing.assert_array_equal(ours.column, plain.column)
    np.testing.assert_array_equal(mda(forest).column("value"), mda(forest).column("value"))


def test_more_repeats_have_the_same_mean_and_less_noise(global_random_seed: int) -> None:
    """Equation 4.4 averages equation 4.3 over permutations."""
    forest = grow_forest(open_matrix(*example(global_random_seed)), ForestSettings(40))
    once = np.array(
        [
            np.bincount(found.column, found.rise, 4) / 40
            for found in (shuffle_features(forest, Scheme(), purpose=i) for i in range(40))
        ]
    )
    often = mda(forest, n_repeats=60).column("value")
    error = once.std(axis=0, ddof=1) * np.sqrt(1 / 40 + 1 / 60)
    assert (np.abs(once.mean(axis=0) - often) < 5 * error).all()


def test_conditional_permutation(global_random_seed: int) -> None:
    """The twin permutes within the cells of the tree's grid; both have the same mean."""
    forest = grow_forest(open_matrix(*example(global_random_seed)), ForestSettings(8))
    given = np.zeros((4, 4), bool)
    given[0, 2] = given[2, 0] = True
    scheme = Scheme(n_repeats=40, given=given)
    found, twin = shuffle_features(forest, scheme), shuffled_by_twin(forest, scheme)
    pairs = list(zip(found.tree.tolist(), found.column.tolist(), strict=True))
    assert sorted(pairs) == sorted(twin)
    apart = found.rise - np.array([twin[pair] for pair in pairs])
    assert np.abs(apart).max() < 0.12
    assert abs(apart.mean()) < 0.02
    copied = mda(forest, conditional=True, n_repeats=5).column("value")
    assert copied[2] < mda(forest, n_repeats=5).column("value")[2] + 0.01


def test_conditional_takes_a_copy_away(global_random_seed: int) -> None:
    """A feature that matters only by its correlation loses nearly all of its importance."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(300, 3))
    X[:, 1] = X[:, 0] + 0.3 * rng.normal(size=300)
    forest = grow_forest(open_matrix(X, X[:, 0] > 0), ForestSettings(200))
    plain = mda(forest, n_repeats=3).column("value")
    within = mda(forest, n_repeats=3, conditional=True).column("value")
    assert plain[1] > 0.03
    assert within[1] < 0.25 * plain[1]
    assert within[0] > 2 * within[1]


def test_associations() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    kinds = np.where(a > 0, "x", np.where(a > -1, "y", "z"))
    import pandas as pd

    frame = pd.DataFrame({"a": a, "b": a + 0.01 * rng.normal(size=400), "k": kinds, "l": kinds})
    frame["n"] = rng.normal(size=400)
    found = associations(open_matrix(frame, rng.integers(0, 2, 400)))
    assert found[0, 1] > 0.99
    assert found[2, 3] == pytest.approx(1.0)
    assert found[0, 2] > 0.8
    assert found[4, :4].max() < 0.2
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_population_values(rho: float) -> None:
    """Equations 4.15 and 4.16: forests of correlated normal features come near them."""
    rng = np.random.default_rng(3)
    covariance = np.eye(3)
    covariance[0, 1] = covariance[1, 0] = rho
    X = rng.multivariate_normal(np.zeros(3), covariance, 3000)
    y = X @ [1.0, 1.0, 0.7] + 0.3 * rng.normal(size=3000)
    tau = covariance @ [1.0, 1.0, 0.7]
    exact = normal_mda(covariance, tau)
    assert exact[0] == pytest.approx(correlated_mda(tau[0], rho, 2))
    forest = grow_forest(open_matrix(X, y), ForestSettings(60, max_features=3))
    found = mda(forest, n_repeats=3).column("value")
    np.testing.assert_allclose(found, exact, rtol=0.3)


def test_area_sees_a_rare_class(global_random_seed: int) -> None:
    """Janitza 2013: with 5 % cases no vote changes, but the order of samples does."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(800, 6))
    y = np.zeros(800, int)
    y[np.argsort(X[:, 0] + 0.7 * rng.normal(size=800))[-40:]] = 1
    forest = grow_forest(
        open_matrix(X, y), ForestSettings(200, min_samples_leaf=60), seed=global_random_seed
    )
    area = mda(forest, loss="auc")
    assert area.column("value")[0] > 0.04 + area.column("value")[1:].max()
    assert mda(forest).column("value")[0] < 0.02


def test_folds(global_random_seed: int) -> None:
    """A fold is predicted by trees that saw none of it; the importance is near that out of bag."""
    X, y = example(global_random_seed, n=200)
    forest = grow_forest(open_matrix(X, y), ForestSettings(100), seed=global_random_seed)
    found = mda(forest, n_folds=4, n_repeats=2)
    assert found.settings["n_folds"] == 4
    np.testing.assert_allclose(found.column("value"), mda(forest).column("value"), atol=0.06)
    again = mda(forest, n_folds=4, n_repeats=2)
    assert again.table.equals(found.table)
    with pytest.raises(SettingsError, match="n_folds must be a whole number from 2 to 200"):
        mda(forest, n_folds=201)


def test_mirrored_p_values_hold_their_rate() -> None:
    """Janitza 2018: 200 features that do not matter, 3 that do, two folds."""
    rejected, found_all = 0, 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 203))
        y = X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=120) > 0
        result = mda(X, y, n_folds=2, test="mirrored", n_trees=400, seed=seed)
        p = result.column("p_value")
        rejected += int((p[3:] <= 0.05).sum())
        found_all += int((p[:3] <= 0.05).sum())
        assert p.min() > 0
    high = binom.ppf(1 - 1e-5, 1200, 0.05)
    assert rejected <= high
    assert found_all >= 15
    twin = np.array([-2.0, -1.0, 0.0, 1.0, 3.0])
    assert mirrored_p_values(twin).tolist() == [1.0, 5 / 6, 4 / 6, 3 / 6, 1 / 6]


def test_options_of_numbers() -> None:
    X, y = example(0, "numbers")
    with pytest.raises(InputError, match="the area under the curve needs classes"):
        mda(X, y, loss="auc", n_trees=5)
    with pytest.raises(SettingsError, match="loss must be error or auc"):
        mda(X, y, loss="gini", n_trees=5)
    with pytest.raises(SettingsError, match="measure must be one of"):
        mdi(X, y, measure="gain", n_trees=5)


def test_selection_frequency(global_random_seed: int) -> None:
    """Equation 4.1 by counting nodes one by one; the error against the spread of fresh forests."""
    matrix = open_matrix(*example(global_random_seed))
    forest = grow_forest(matrix, ForestSettings(50), seed=global_random_seed)
    found = mdi(forest, measure="frequency")
    inner = [int(c) for c in forest.trees.column if c >= 0]
    counts = [inner.count(m) for m in range(4)]
    assert found.column("n_nodes").tolist() == counts
    np.testing.assert_allclose(found.column("value"), np.array(counts) / len(inner))
    others = np.array(
        [
            mdi(grow_forest(matrix, ForestSettings(50), seed=s), measure="frequency").column(
                "value"
            )
            for s in range(100, 130)
        ]
    )
    ratio = found.column("error") / others.std(axis=0, ddof=1)
    assert (ratio > 0.4).all()
    assert (ratio < 2.5).all()


def test_corrected_impurity_is_not_biased(global_random_seed: int) -> None:
    """Plain MDI favours features of many values; less their copies' it is near 0 for all.

    Nembrini et al. 2018, Sandri and Zuccolotto 2008.
    """
    rng = np.random.default_rng(global_random_seed)
    n_runs, values, plain = 30, [], []
    for run in range(n_runs):
        X = np.column_stack(
            [rng.integers(0, 2, 100), rng.integers(0, 4, 100), *rng.normal(size=(3, 100))]
        )
        found = mdi(X, rng.integers(0, 2, 100), measure="corrected", n_trees=60, seed=run)
        values.append(found.column("value"))
        plain.append(found.column("impurity"))
    mean = np.mean(values, axis=0)
    error = np.std(values, axis=0, ddof=1) / np.sqrt(n_runs)
    assert (np.abs(mean) < 4.5 * error).all()
    raw = np.mean(plain, axis=0)
    assert raw[2:].min() > 2 * raw[0]


def test_corrected_impurity_finds(global_random_seed: int) -> None:
    X, y = example(global_random_seed, n=200)
    found = mdi(X, y, measure="corrected", n_repeats=4, n_trees=100, seed=global_random_seed)
    assert set(np.argsort(found.column("value"))[-3:]) == {0, 1, 2}
    assert found.column("value")[1] > 4 * found.column("error")[1]
    np.testing.assert_allclose(
        found.column("value"), found.column("impurity") - found.column("null"), atol=1e-12
    )
    assert "coarse" in " ".join(found.notes)
