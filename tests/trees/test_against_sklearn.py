"""Importances against scikit-learn's trees, which share nothing with ours but the definition.

Values are small integers, so that our uniform cuts between codes and scikit-learn's uniform
thresholds between values split alike. Importances are compared unnormalised, as means over trees.
Only K=1 and K=all are compared at full depth: scikit-learn counts constant columns among the K.
"""

import numpy as np
import pytest
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from srs.trees import MISSING, TreeSettings, TreeTarget, grow, predict_tree

N_TREES = 500
CRITERIA = {"gini": "gini", "entropy": "entropy", "variance": "squared_error"}
every_criterion = pytest.mark.parametrize("criterion", CRITERIA)


def make_data(seed: int, criterion: str, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Five columns of 2 to 9 levels; the target depends on columns 0, 1 and on 2 x 3."""
    rng = np.random.default_rng(seed)
    block = rng.integers(0, [9, 2, 3, 4, 6], (n, 5)).astype(np.uint8)
    signal = block[:, 0] / 3 + block[:, 1] + (block[:, 2] == block[:, 3] % 3)
    target = signal + rng.normal(0, 0.5, n)
    if criterion == "variance":
        return block, target
    return block, np.digitize(target, np.quantile(target, [0.3, 0.7]))


def target_of(criterion: str, y: np.ndarray) -> TreeTarget:
    return TreeTarget.of_values(y) if criterion == "variance" else TreeTarget.of_classes(y, 3)


def our_importances(
    block: np.ndarray, y: np.ndarray, settings: TreeSettings, keys: range
) -> np.ndarray:
    target = target_of(settings.criterion, y)
    return np.array([grow(block, target, key, settings)[1].used for key in keys])


def their_importances(
    block: np.ndarray, y: np.ndarray, settings: TreeSettings, seeds: range
) -> np.ndarray:
    extra = ExtraTreeRegressor if settings.criterion == "variance" else ExtraTreeClassifier
    best = DecisionTreeRegressor if settings.criterion == "variance" else DecisionTreeClassifier
    values = block.astype(np.float32)
    found = []
    for seed in seeds:
        tree = (best if settings.best_cut else extra)(
            criterion=CRITERIA[settings.criterion],
            max_features=settings.max_features,
            max_depth=settings.max_depth,
            min_samples_leaf=settings.min_samples_leaf,
            random_state=seed,
        )
        tree.fit(values, y)
        found.append(tree.tree_.compute_feature_importances(normalize=False))
    return np.array(found)


def assert_same_distribution(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Means agree within their standard errors, and so do mean squares (for the spread)."""
    for power in (1, 2):
        a, b = ours**power, theirs**power
        variance = a.var(0, ddof=1) / len(a) + b.var(0, ddof=1) / len(b)
        z = (a.mean(0) - b.mean(0)) / np.sqrt(variance + 1e-18)
        assert np.abs(z).max() < 4.5, z


LIMITS = {
    "all columns": {},
    "K=1": {"max_features": 1},
    "K=2, shallow": {"max_features": 2, "max_depth": 1},
    "large leaves": {"min_samples_leaf": 8},
    "shallow": {"max_depth": 3},
}


@every_criterion
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS.keys())
def test_extra_trees(criterion: str, limits: dict[str, int], global_random_seed: int) -> None:
    """Guards the meaning of `used`: the mean decrease of impurity of extremely randomised trees."""
    block, y = make_data(global_random_seed, criterion)
    settings = TreeSettings(criterion, **limits)
    seeds = range(N_TREES * global_random_seed, N_TREES * (global_random_seed + 1))
    ours = our_importances(block, y, settings, seeds)
    assert_same_distribution(ours, their_importances(block, y, settings, seeds))


@every_criterion
def test_best_cuts_find_the_same_trees(criterion: str, global_random_seed: int) -> None:
    """Guards best cuts: in large nodes ties are rare, and every split must be scikit-learn's."""
    block, y = make_data(global_random_seed, criterion, n=600)
    settings = TreeSettings(criterion, max_depth=3, min_samples_leaf=20, best_cut=True)
    ours = our_importances(block, y, settings, range(1))
    np.testing.assert_allclose(ours, their_importances(block, y, settings, range(1)), atol=1e-10)


@every_criterion
def test_first_best_cut(criterion: str, global_random_seed: int) -> None:
    """Guards the cut itself: the same samples are on the left of the root."""
    block, y = make_data(global_random_seed, criterion, n=600)
    settings = TreeSettings(criterion, max_depth=1, best_cut=True)
    tree, _ = grow(block, target_of(criterion, y), 0, settings)
    best = DecisionTreeRegressor if criterion == "variance" else DecisionTreeClassifier
    theirs = best(criterion=CRITERIA[criterion], max_depth=1, random_state=0)
    theirs.fit(block.astype(np.float32), y)
    assert tree.column[0] == theirs.tree_.feature[0]
    assert tree.cut_code[0] == np.floor(theirs.tree_.threshold[0])
    np.testing.assert_array_equal(tree.n_node, theirs.tree_.n_node_samples)
    np.testing.assert_allclose(tree.impurity, theirs.tree_.impurity)


@every_criterion
def test_grown_trees_fit_as_well(criterion: str, global_random_seed: int) -> None:
    """Guards predictions: fully grown, both explain the same part of the training data."""
    block, y = make_data(global_random_seed, criterion)
    ours = our_importances(block, y, TreeSettings(criterion, best_cut=True), range(1))
    theirs = their_importances(block, y, TreeSettings(criterion, best_cut=True), range(1))
    assert ours.sum() == pytest.approx(theirs.sum(), abs=1e-8)


@every_criterion
@pytest.mark.parametrize("best_cut", [False, True])
def test_missing_values_inform(criterion: str, best_cut: bool, global_random_seed: int) -> None:
    """Guards missing values in outline: a column that is missing where it matters is found.

    scikit-learn draws the side of missing values in another way, so distributions differ.
    """
    block, y = make_data(global_random_seed, criterion)
    settings = TreeSettings(criterion, best_cut=best_cut)
    complete = our_importances(block, y, settings, range(100)).mean(0)
    block[:, 4] = np.where(y > np.median(y), MISSING, block[:, 4])
    informed = our_importances(block, y, settings, range(100)).mean(0)
    assert informed[4] > 1.5 * complete[4]
    assert informed[0] < complete[0]
    tree, _ = grow(block, target_of(criterion, y), 0, settings)
    assert np.isfinite(predict_tree(tree, block)).all()
