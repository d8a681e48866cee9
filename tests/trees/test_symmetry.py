"""What the kernel must not know: where a column stands, which copy it is, which level it holds.

Statistical tests over many trees; `test_tree_properties` has the laws that hold for each tree.
"""

import numpy as np
import pytest
from scipy.stats import chisquare, f_oneway

from srs.trees import MISSING, Tree, TreeSettings, TreeTarget, grow

SMALLEST_P = 1e-5
ROUNDING = 1e-18  # variance that rounding may cause where trees do not vary
WAYS = {
    "all columns": TreeSettings("entropy"),
    "gini": TreeSettings("gini"),
    "K=3": TreeSettings("entropy", max_features=3),
    "best cut": TreeSettings("gini", best_cut=True),
}
settings_of_ways = pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS.keys())


def used_by_trees(
    block: np.ndarray, target: TreeTarget, settings: TreeSettings, keys: range
) -> np.ndarray:
    """Importances (n_trees, n_columns)."""
    return np.array([grow(block, target, key, settings)[1].used for key in keys])


def z_of_mean(differences: np.ndarray) -> np.ndarray:
    return differences.mean(0) / np.sqrt(differences.var(0, ddof=1) / len(differences) + ROUNDING)


def z_of_two_means(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    variance = a.var(0, ddof=1) / len(a) + b.var(0, ddof=1) / len(b)
    return (a.mean(0) - b.mean(0)) / np.sqrt(variance + ROUNDING)


@settings_of_ways
def test_importance_does_not_depend_on_position(
    settings: TreeSettings, global_random_seed: int
) -> None:
    """Guards ties: noise columns of two levels, where the first of equal columns must not win."""
    rng = np.random.default_rng(global_random_seed)
    used = []
    for key in range(800):
        block = rng.integers(0, 2, (40, 20), dtype=np.uint8)
        target = TreeTarget.of_classes(rng.permutation(40) % 2, 2)
        used.append(grow(block, target, key + 10_000 * global_random_seed, settings)[1].used)
    used = np.array(used)
    assert abs(z_of_mean(used[:, :10].mean(1) - used[:, 10:].mean(1))) < 4
    assert f_oneway(*used.T).pvalue > SMALLEST_P


def test_tiles_share_ties(global_random_seed: int) -> None:
    """Guards ties between tiles: 4,096 columns of 10 samples have perfect splits in both tiles."""
    rng = np.random.default_rng(global_random_seed)
    second = 0
    for key in range(400):
        block = rng.integers(0, 2, (10, 4096), dtype=np.uint8)
        tree, _ = grow(block, TreeTarget.of_classes(np.arange(10) % 2, 2), key)
        second += int(tree.column[0] >= 2048)
    assert abs(second - 200) < 4 * 10


@settings_of_ways
def test_permuting_columns_permutes_importances(
    settings: TreeSettings, global_random_seed: int
) -> None:
    """Guards results that depend on the order of the columns."""
    rng = np.random.default_rng(global_random_seed)
    block = rng.integers(0, 3, (40, 20), dtype=np.uint8)
    target = TreeTarget.of_classes((block[:, 0] + rng.integers(0, 2, 40) > 1).astype(int), 2)
    order = rng.permutation(20)
    plain = used_by_trees(block, target, settings, range(500))
    moved = used_by_trees(block[:, order].copy(), target, settings, range(500, 1000))
    assert np.abs(z_of_two_means(plain[:, order], moved)).max() < 4.5


@settings_of_ways
@pytest.mark.parametrize("n_levels", [2, 6])
def test_copies_share_importance(
    settings: TreeSettings, n_levels: int, global_random_seed: int
) -> None:
    """Guards redundant columns: three copies of one informative column are worth the same."""
    rng = np.random.default_rng(global_random_seed)
    block = rng.integers(0, n_levels, (60, 9), dtype=np.uint8)
    block[:, 4] = block[:, 8] = block[:, 0]
    noisy = block[:, 0] + rng.normal(0, n_levels / 4, 60) > (n_levels - 1) / 2
    used = used_by_trees(block, TreeTarget.of_classes(noisy, 2), settings, range(600))
    copies = used[:, [0, 4, 8]]
    assert copies.sum(1).mean() > used[:, [1, 2, 3, 5, 6, 7]].mean()
    assert np.abs(z_of_mean(copies - np.roll(copies, 1, axis=1))).max() < 4


def test_mirrored_column_is_worth_the_same(global_random_seed: int) -> None:
    """Guards scores that are not symmetric in left and right: the mirror image ties exactly."""
    rng = np.random.default_rng(global_random_seed)
    block = np.empty((50, 2), np.uint8)
    block[:, 0] = rng.integers(0, 2, 50)
    block[:, 1] = 1 - block[:, 0]
    labels = rng.integers(0, 5, 50)
    for criterion in ("entropy", "gini", "variance"):
        by_class = criterion != "variance"
        target = TreeTarget.of_classes(labels, 5) if by_class else TreeTarget.of_values(labels)
        settings = TreeSettings(criterion, max_depth=1)
        keys = range(10_000 * global_random_seed, 10_000 * global_random_seed + 400)
        chosen = [int(grow(block, target, key, settings)[0].column[0]) for key in keys]
        assert abs(sum(chosen) - 200) < 4 * 10


def test_equal_best_cuts_are_as_likely(global_random_seed: int) -> None:
    """Guards ties among the cuts of one column: the lowest of equal cuts must not win."""
    block = np.repeat(np.array([[0], [1], [2]], np.uint8), 4, axis=0)
    target = TreeTarget.of_classes(np.array([0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1]), 2)
    keys = range(10_000 * global_random_seed, 10_000 * global_random_seed + 400)
    for criterion in ("entropy", "gini"):
        settings = TreeSettings(criterion, max_depth=1, best_cut=True)
        cuts = [int(grow(block, target, key, settings)[0].cut_code[0]) for key in keys]
        assert abs(sum(cuts) - 200) < 4 * 10


def test_cuts_are_uniform(global_random_seed: int) -> None:
    """Guards the draw of cuts: 5 cuts between the codes 3..8, as likely even where no code lies."""
    rng = np.random.default_rng(global_random_seed)
    block = rng.choice(np.array([3, 4, 8], np.uint8), (30, 1))
    block[:3, 0] = [3, 4, 8]
    target = TreeTarget.of_classes(np.arange(30) % 2, 2)
    cuts = [
        int(grow(block, target, key + 10_000 * global_random_seed)[0].cut_code[0])
        for key in range(1000)
    ]
    counts = np.bincount(cuts, minlength=9)
    assert counts.sum() == counts[3:8].sum()
    assert chisquare(counts[3:8]).pvalue > SMALLEST_P


def test_missing_values_take_both_sides(global_random_seed: int) -> None:
    """Guards the draw with missing values: 3 cuts of 3 levels, "missing alone" the last of them."""
    block = np.array([[0], [1], [2], [MISSING]] * 5, np.uint8)
    target = TreeTarget.of_classes(np.arange(20) % 2, 2)
    trees = [grow(block, target, key + 10_000 * global_random_seed)[0] for key in range(2000)]
    seen = [(int(t.cut_code[0]) - int(t.cut_shift[0]), int(t.cut_shift[0])) for t in trees]
    kinds = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    counts = np.array([seen.count(kind) for kind in kinds])
    assert counts.sum() == 2000
    assert chisquare(counts, 2000 * np.array([1, 1, 1, 1, 2]) / 6).pvalue > SMALLEST_P


def test_subsets_are_uniform(global_random_seed: int) -> None:
    """Guards categorical splits: each of the 14 subsets of 4 levels is as likely."""
    block = np.array([[0], [1], [77], [MISSING]] * 5, np.uint8)
    target = TreeTarget.of_classes(np.arange(20) % 2, 2)
    counts = np.zeros(16, int)
    for key in range(2000):
        tree, _ = grow(
            block, target, key + 10_000 * global_random_seed, is_categorical=np.array([True])
        )
        levels = tree.subset[tree.subset_row[0]][[0, 1, 77, MISSING]]
        counts[levels @ [1, 2, 4, 8]] += 1
    assert counts[0] == counts[15] == 0
    assert chisquare(counts[1:15]).pvalue > SMALLEST_P


@pytest.mark.parametrize("best_cut", [False, True])
def test_columns_are_drawn_uniformly(best_cut: bool, global_random_seed: int) -> None:
    """Guards K=1: each column that can be cut is as likely, constant columns are passed over."""
    rng = np.random.default_rng(global_random_seed)
    block = rng.integers(0, 4, (20, 10), dtype=np.uint8)
    block[:, [2, 7]] = 3
    settings = TreeSettings(max_features=1, best_cut=best_cut)
    target = TreeTarget.of_classes(np.arange(20) % 2, 2)
    counts = np.zeros(10)
    for key in range(1000):
        tree: Tree = grow(block, target, key + 10_000 * global_random_seed, settings)[0]
        counts[tree.column[0]] += 1
    assert counts[[2, 7]].sum() == 0
    assert chisquare(np.delete(counts, [2, 7])).pvalue > SMALLEST_P
