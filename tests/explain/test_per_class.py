"""Per-class importance: two classes are the global one; a rare class is heard."""

import numpy as np
import pytest

from srs.errors import InputError
from srs.explain.analyses import ForestSettings, grow_forest, mdi, open_matrix, per_class


def test_two_classes_reduce_to_the_global_importance(global_random_seed: int) -> None:
    """The proof in the module's text, on a forest: without balance both rows are the MDI."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(150, 6))
    y = np.where(X[:, 0] + 0.7 * X[:, 1] + 0.5 * rng.normal(size=150) > 0.8, "ill", "well")
    forest = grow_forest(open_matrix(X, y), ForestSettings(80), seed=global_random_seed)
    plain = per_class(forest, balanced=False)
    for label in ("ill", "well"):
        np.testing.assert_allclose(plain.column("raw", label), mdi(forest).column("value"))
        np.testing.assert_allclose(plain.column("value", label), mdi(forest).column("share"))
        np.testing.assert_allclose(plain.column("overall", label), mdi(forest).column("share"))
    balanced = per_class(forest)
    np.testing.assert_allclose(balanced.column("value", "ill"), balanced.column("value", "well"))


def test_classes_sum_to_one_and_errors_are_the_spread(global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(120, 5))
    y = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
    matrix = open_matrix(X, y)
    many = [per_class(matrix, n_trees=40, seed=seed) for seed in range(40)]
    np.testing.assert_allclose(many[0].frame.groupby("part")["value"].sum(), 1.0)
    spread = np.std([found.column("value") for found in many], axis=0, ddof=1)
    claimed = np.mean([found.column("error") for found in many], axis=0)
    np.testing.assert_allclose(claimed, spread, rtol=0.5)


def impurity(p: np.ndarray, criterion: str) -> np.ndarray:
    if criterion == "gini":
        return 2 * p * (1 - p)
    q = np.clip(p, 1e-300, 1), np.clip(1 - p, 1e-300, 1)
    return -p * np.log2(q[0]) - (1 - p) * np.log2(q[1])


def by_definition(forest, sizes: np.ndarray, balanced: bool, criterion: str) -> np.ndarray:
    """The module's text, node by node: importances (n_classes, n_features) before shares."""
    trees, total = forest.trees, np.zeros((len(sizes), forest.matrix.n_features))
    for t in range(forest.n_trees):
        first, n = trees.ends[t], trees.ends[t + 1] - trees.ends[t]
        left, right, value = (a[first : first + n] for a in (trees.left, trees.right, trees.value))
        counts = value * trees.n_node[first : first + n, None]

        def leaves(node: int, left=left, right=right, value=value) -> set[int]:
            if left[node] < 0:
                return {int(value[node].argmax())}
            return leaves(left[node]) | leaves(right[node])

        for c, size in enumerate(sizes):
            a, b = (1 / size, 1 / (sizes.sum() - size)) if balanced else (1.0, 1.0)
            own, other = a * counts[:, c], b * (counts.sum(axis=1) - counts[:, c])
            impure = (own + other) * impurity(own / (own + other), criterion)
            for node in np.flatnonzero(left >= 0):
                if c in leaves(node):
                    fall = impure[node] - impure[left[node]] - impure[right[node]]
                    total[c, trees.column[first + node]] += fall / (own[0] + other[0])
    return total / forest.n_trees


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("balanced", [True, False])
def test_the_definition(balanced: bool, criterion: str, global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(80, 4))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=80), [-0.5, 1.5])
    forest = grow_forest(open_matrix(X, y), ForestSettings(4), seed=global_random_seed)
    found = per_class(forest, balanced=balanced, criterion=criterion)
    expected = by_definition(forest, np.bincount(y).astype(float), balanced, criterion)
    np.testing.assert_allclose(found.column("raw").reshape(3, 4), expected, rtol=1e-9)
    value = found.column("value").reshape(3, 4)
    for c in range(3):
        np.testing.assert_allclose(found.column("mean").reshape(3, 4)[c], value.mean(axis=0))
        np.testing.assert_allclose(found.column("deviation").reshape(3, 4)[c], value.std(axis=0))


def test_classes_choose_in_turn(global_random_seed: int) -> None:
    """One marker a class, of classes of very different size: as many features as classes are
    enough, where the global ranking has the marker of the rare one far down."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(1200, 12))
    y = np.where(X[:, :6].sum(axis=1) + rng.normal(size=1200) > 0, "a", "b").astype(object)
    rare = np.arange(1200) % 60 == 0
    X[rare, 9] += 4.0
    y[rare] = "rare"
    found = per_class(X, y, n_trees=150, n_selected=3, seed=global_random_seed).frame
    chosen = found[found["selected"].notna()].sort_values("selected")
    assert chosen["part"].tolist() == ["a", "b", "rare"]
    assert chosen["feature"].tolist()[2] == "f9"
    assert chosen["selected"].tolist() == [1, 2, 3]
    assert found[(found["part"] == "rare") & (found["feature"] == "f9")]["rank"].item() == 1
    markers = found[found["feature"] == "f9"]
    assert markers["deviation"].iloc[0] == found["deviation"].max()


def test_the_marker_of_a_rare_class_is_found(global_random_seed: int) -> None:
    """A class of 1 %: its marker is far down in the global ranking, and first in its own."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(2000, 20))
    y = np.where(X[:, :8].sum(axis=1) + rng.normal(size=2000) > 0, "a", "b").astype(object)
    rare = np.arange(2000) % 100 == 0
    X[rare, 15] += 4.0
    y[rare] = "rare"
    forest = grow_forest(open_matrix(X, y), ForestSettings(150), seed=global_random_seed)
    overall = mdi(forest).column("value")
    assert (overall > overall[15]).sum() >= 8
    found = per_class(forest)
    assert found.column("value", "rare").argmax() == 15
    assert found.column("label", "rare")[15] == "class-specific"
    assert found.column("value", "rare")[15] > 4 * overall[15] / overall.sum()


def test_errors() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(InputError, match="needs classes"):
        per_class(X, X[:, 0] + X[:, 1], n_trees=5)
    with pytest.raises(InputError, match="'c' has 1 sample,"):
        per_class(X, ["c", *["a", "b"] * 14, "a"], n_trees=5)
