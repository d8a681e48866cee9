"""Laws that every tree obeys, whatever it chooses; limits and odd inputs; saving and loading.

Whether choices are right is in `test_kernel_twin`, whether they are fair in `test_symmetry`.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from srs.trees import (
    MISSING,
    Importances,
    Tree,
    TreeSettings,
    TreeTarget,
    apply_tree,
    grow,
    load_trees,
    predict_tree,
    save_trees,
)

CRITERIA = ("entropy", "gini", "variance")
every_criterion = pytest.mark.parametrize("criterion", CRITERIA)
every_cut = pytest.mark.parametrize("best_cut", [False, True], ids=["random cut", "best cut"])


def noisy_data(seed: int, criterion: str, n: int = 150) -> tuple[np.ndarray, TreeTarget]:
    """Six columns (column 2 with missing values, 5 for use as categories) and a target."""
    rng = np.random.default_rng(seed)
    block = rng.integers(0, 7, (n, 6), dtype=np.uint8)
    block[rng.random(n) < 0.2, 2] = MISSING
    if criterion == "variance":
        return block, TreeTarget.of_values(block[:, 0] + rng.normal(0, 1, n))
    labels = (block[:, 0] // 3 + (rng.random(n) < 0.2)).astype(int)
    return block, TreeTarget.of_classes(labels, 4)


CATEGORICAL = np.array([False, False, False, False, False, True])


def depths(tree: Tree) -> np.ndarray:
    """The depth of each node; parents stand before their children."""
    depth = np.zeros(tree.n_nodes, int)
    for node in np.flatnonzero(tree.left >= 0):
        depth[[tree.left[node], tree.right[node]]] = depth[node] + 1
    return depth


def assert_equal_trees(a: Tree, b: Tree) -> None:
    for name in (field.name for field in fields(Tree)):
        x, y = getattr(a, name), getattr(b, name)
        assert x.dtype == y.dtype, name
        assert x.shape == y.shape, name
        assert x.tobytes() == y.tobytes(), name


@every_criterion
@every_cut
@pytest.mark.parametrize("max_features", [None, 1, 2])
@pytest.mark.parametrize("max_depth", [None, 3])
def test_importances_sum_to_the_impurity_removed(
    criterion: str,
    best_cut: bool,
    max_features: int | None,
    max_depth: int | None,
    global_random_seed: int,
) -> None:
    """Guards the scale of importances: nothing is lost between the root and the leaves."""
    block, target = noisy_data(global_random_seed, criterion)
    settings = TreeSettings(criterion, max_features, max_depth, best_cut=best_cut)
    for key in range(10):
        tree, importances = grow(block, target, key, settings, is_categorical=CATEGORICAL)
        leaf = tree.left < 0
        left_over = (tree.n_node * tree.impurity)[leaf].sum() / len(block)
        assert importances.used.sum() == pytest.approx(tree.impurity[0] - left_over, abs=1e-10)
        assert importances.n_splits.sum() == (~leaf).sum() == tree.n_leaves - 1
        assert (importances.used >= 0).all()


@every_criterion
@every_cut
def test_leaves_describe_their_samples(
    criterion: str, best_cut: bool, global_random_seed: int
) -> None:
    """Guards `apply_tree` and `predict_tree`: training samples go where they went in growing."""
    block, target = noisy_data(global_random_seed, criterion)
    rows = np.random.default_rng(global_random_seed).integers(0, len(block), 200)
    settings = TreeSettings(criterion, max_depth=4, best_cut=best_cut)
    tree, _ = grow(block, target, 5, settings, rows=rows, is_categorical=CATEGORICAL)
    leaves = apply_tree(tree, block, rows)
    predicted = predict_tree(tree, block, rows)
    assert set(leaves) == set(np.flatnonzero(tree.left < 0))
    for leaf in set(leaves):
        members = rows[leaves == leaf]
        assert tree.n_node[leaf] == len(members)
        if criterion == "variance":
            expected = [target.values[members].mean() * target.unit + target.offset]
        else:
            expected = np.bincount(target.classes[members], minlength=4) / len(members)
        np.testing.assert_allclose(predicted[leaves == leaf], [expected] * len(members))


@every_criterion
@every_cut
def test_limits_are_obeyed(criterion: str, best_cut: bool, global_random_seed: int) -> None:
    """Guards min_samples_leaf and max_depth, which must bind without stopping the tree early."""
    block, target = noisy_data(global_random_seed, criterion)
    for least, deepest in [(1, 0), (1, 1), (7, 5), (40, 20), (76, 20)]:
        settings = TreeSettings(criterion, None, deepest, least, best_cut)
        tree, _ = grow(block, target, 1, settings, is_categorical=CATEGORICAL)
        assert tree.n_node.min() >= least
        assert depths(tree).max() <= deepest
        assert (tree.n_nodes > 1) == (deepest > 0 and 2 * least <= len(block))


def test_one_column_a_node_ends_in_pure_leaves(global_random_seed: int) -> None:
    """Guards totally randomised trees (K=1): unpromising splits are taken, until all is pure."""
    block = np.random.default_rng(global_random_seed).integers(0, 250, (100, 8), dtype=np.uint8)
    target = TreeTarget.of_classes(np.arange(100) % 3, 3)
    tree, importances = grow(block, target, global_random_seed, TreeSettings(max_features=1))
    assert (tree.impurity[tree.left < 0] == 0).all()
    assert importances.used.sum() == pytest.approx(tree.impurity[0], abs=1e-10)


@every_criterion
@every_cut
def test_columns_without_difference_never_split(criterion: str, best_cut: bool) -> None:
    """Guards constant columns and columns where all is missing, numeric or categorical."""
    block, target = noisy_data(0, criterion)
    block[:, 1], block[:, 3], block[:, 5] = 9, MISSING, MISSING
    for max_features in (None, 1, 2):
        settings = TreeSettings(criterion, max_features, best_cut=best_cut, peak_size=2)
        for key in range(20):
            tree, found = grow(block, target, key, settings, is_categorical=CATEGORICAL)
            assert not np.isin([1, 3, 5], tree.column).any()
            assert (found.used[[1, 3, 5]] == 0).all()
            assert (found.peak[[1, 3, 5]] == 0).all()
    tree, _ = grow(np.ascontiguousarray(block[:, [1, 3]]), target, 0, TreeSettings(criterion))
    assert tree.n_nodes == 1


@every_criterion
@every_cut
@pytest.mark.parametrize("code", [0, 100, 254])
@pytest.mark.parametrize("categorical", [False, True])
def test_missing_against_the_rest_is_a_split(
    criterion: str, best_cut: bool, code: int, categorical: bool
) -> None:
    """Guards columns that hold one code and missing values: being missing may inform."""
    block = np.array([[code], [MISSING]] * 6, np.uint8)
    labels = np.array([0, 1] * 6)
    by_class = criterion != "variance"
    target = TreeTarget.of_classes(labels, 2) if by_class else TreeTarget.of_values(labels)
    settings = TreeSettings(criterion, best_cut=best_cut)
    for key in range(5):
        tree, _ = grow(block, target, key, settings, is_categorical=np.array([categorical]))
        assert tree.n_nodes == 3
        np.testing.assert_array_equal(predict_tree(tree, block)[:, -1], labels)


@every_criterion
def test_single_sample_and_single_class(criterion: str) -> None:
    """Guards the smallest trees: one sample, or nothing to tell apart, is one leaf."""
    block, target = noisy_data(0, criterion)
    alone, found = grow(block, target, 0, TreeSettings(criterion), rows=np.array([3]))
    assert alone.n_nodes == 1
    assert alone.impurity[0] == 0
    assert found.used.sum() == 0
    ones = np.ones(len(block), int)
    same = TreeTarget.of_values(ones * 0.1) if criterion == "variance" else None
    tree, _ = grow(block, same or TreeTarget.of_classes(ones, 3), 0, TreeSettings(criterion))
    assert tree.n_nodes == 1
    assert tree.value[0].tolist() == ([pytest.approx(0.1)] if same else [0, 1, 0])


@every_criterion
@every_cut
@pytest.mark.parametrize("share_missing", [0, 0.01])
def test_counters_hold_more_than_65536_samples(
    criterion: str, best_cut: bool, share_missing: float, global_random_seed: int
) -> None:
    """Guards against counters of 16 bits: 70,000 samples, 69,000 of them of one class."""
    rng = np.random.default_rng(global_random_seed)
    block = rng.integers(0, 4, (70_000, 3), dtype=np.uint8)
    block[rng.random((70_000, 3)) < share_missing] = MISSING
    labels = rng.permutation(70_000) < 1000
    by_class = criterion != "variance"
    target = TreeTarget.of_classes(labels, 2) if by_class else TreeTarget.of_values(labels)
    tree, found = grow(block, target, 1, TreeSettings(criterion, None, 2, best_cut=best_cut))
    leaves = apply_tree(tree, block)
    np.testing.assert_array_equal(
        np.bincount(leaves, minlength=tree.n_nodes)[tree.left < 0], tree.n_node[tree.left < 0]
    )
    assert tree.n_node[0] == 70_000
    for leaf in np.flatnonzero(tree.left < 0):
        assert tree.value[leaf, -1] == pytest.approx(labels[leaves == leaf].mean())
    left_over = (tree.n_node * tree.impurity)[tree.left < 0].sum() / 70_000
    assert found.used.sum() == pytest.approx(tree.impurity[0] - left_over, abs=1e-10)


@pytest.mark.parametrize(
    ("offset", "unit"),
    [
        (1e3, 1),
        (0, 1e8),
        (1e8, 1),
        (0, 1e-8),
    ],
)
def test_regression_does_not_depend_on_units(offset: float, unit: float) -> None:
    """Guards numeric targets far from 0, or of a tiny or large scale."""
    block, target = noisy_data(0, "variance")
    plain, _ = grow(block, target, 1, TreeSettings("variance", max_depth=3))
    moved = TreeTarget.of_values(target.values * unit + offset)
    tree, found = grow(block, moved, 1, TreeSettings("variance", max_depth=3))
    np.testing.assert_array_equal(tree.column, plain.column)
    np.testing.assert_array_equal(tree.n_node, plain.n_node)
    left_over = (tree.n_node * tree.impurity)[tree.left < 0].sum() / len(block)
    assert found.used.sum() == pytest.approx(tree.impurity[0] - left_over, rel=1e-6)


def test_importances_accumulate() -> None:
    """Guards `into`: sums add up over trees, peaks are kept, and nothing else is shared."""
    block, target = noisy_data(0, "entropy")
    settings = TreeSettings(screen_size=15, peak_size=20)
    together = Importances.empty(6)
    alone = [grow(block, target, key, settings)[1] for key in (1, 2)]
    for key in (1, 2):
        assert grow(block, target, key, settings, into=together)[1] is together
    np.testing.assert_allclose(together.used, alone[0].used + alone[1].used)
    np.testing.assert_allclose(together.screened, alone[0].screened + alone[1].screened)
    np.testing.assert_array_equal(together.peak, np.maximum(alone[0].peak, alone[1].peak))
    np.testing.assert_array_equal(together.n_splits, alone[0].n_splits + alone[1].n_splits)


def test_a_tree_is_a_function_of_its_arguments() -> None:
    """Guards reproducibility: inputs stay as they are, and threads do not disturb each other."""
    block, target = noisy_data(0, "gini")
    rows = np.arange(149, -1, -1, dtype=np.int32)
    before = block.copy(), rows.copy()

    def one_tree(key: int) -> Tree:
        return grow(block, target, key, rows=rows, is_categorical=CATEGORICAL)[0]

    alone = [one_tree(key) for key in range(40)]
    with ThreadPoolExecutor(4) as threads:
        for a, b in zip(alone, threads.map(one_tree, range(40)), strict=True):
            assert_equal_trees(a, b)
    np.testing.assert_array_equal(block, before[0])
    np.testing.assert_array_equal(rows, before[1])
    assert len({tree.column.tobytes() for tree in alone}) > 1


@pytest.mark.parametrize("n_trees", [0, 1, 4])
@pytest.mark.parametrize("categorical", [False, True])
@every_criterion
def test_saved_trees_come_back(
    tmp_path: Path, n_trees: int, categorical: bool, criterion: str
) -> None:
    """Guards the file format: every array of every tree, to the byte, and what it predicts."""
    block, target = noisy_data(0, criterion)
    is_categorical = np.full(6, categorical)
    settings = TreeSettings(criterion, max_features=2)
    trees = [
        grow(block, target, key, settings, is_categorical=is_categorical)[0]
        for key in range(n_trees)
    ]
    save_trees(trees, tmp_path / "trees.npz")
    loaded = load_trees(tmp_path / "trees.npz")
    assert len(loaded) == n_trees
    for a, b in zip(trees, loaded, strict=True):
        assert_equal_trees(a, b)
        assert (len(b.subset) > 0) == categorical
        np.testing.assert_array_equal(predict_tree(a, block), predict_tree(b, block))


def test_more_subsets_than_a_byte_counts() -> None:
    """Guards the number of a categorical split, which is spread over two arrays of the kernel."""
    rng = np.random.default_rng(0)
    block = rng.integers(0, 200, (1200, 2), dtype=np.uint8)
    target = TreeTarget.of_classes(rng.integers(0, 2, 1200), 2)
    tree, _ = grow(block, target, 0, is_categorical=np.array([True, True]))
    assert len(tree.subset) > 256
    splits = tree.left >= 0
    np.testing.assert_array_equal(np.sort(tree.subset_row[splits]), np.arange(splits.sum()))
    leaves = np.bincount(apply_tree(tree, block), minlength=tree.n_nodes)
    np.testing.assert_array_equal(leaves[~splits], tree.n_node[~splits])


def test_the_root_can_be_chosen() -> None:
    """Guards `root_column`: the root splits it, all columns are looked at all the same, and a
    column that cannot be split is passed over."""
    block, target = noisy_data(0, "entropy")
    settings = TreeSettings(screen_size=15, peak_size=20)
    for column in range(6):
        tree, found = grow(block, target, 3, settings, root_column=column)
        assert tree.column[0] == column
        left_over = (tree.n_node * tree.impurity)[tree.left < 0].sum() / len(block)
        assert found.used.sum() == pytest.approx(tree.impurity[0] - left_over, abs=1e-10)
        assert (found.screened > 0).all()
    block[:, 1] = 7
    assert_equal_trees(
        grow(block, target, 3, settings, root_column=1)[0], grow(block, target, 3, settings)[0]
    )


def test_wandering_trees_split_columns_at_random() -> None:
    """Guards `wander_size`: large nodes split any column as likely as another, small ones the
    best; columns that cannot be split are passed over."""
    block, target = noisy_data(0, "entropy")
    n_columns = block.shape[1]
    roots = np.zeros(n_columns, int)
    for key in range(100 * n_columns):
        tree, _ = grow(block, target, key, TreeSettings(wander_size=len(block)))
        roots[tree.column[0]] += 1
    assert chisquare(roots).pvalue > 1e-4
    plain, _ = grow(block, target, 3)
    small, _ = grow(block, target, 3, TreeSettings(wander_size=len(block) + 1))
    np.testing.assert_array_equal(plain.column, small.column)
    block[:, 1] = 7
    trees = [grow(block, target, key, TreeSettings(wander_size=2))[0] for key in range(200)]
    assert not any((tree.column == 1).any() for tree in trees)
