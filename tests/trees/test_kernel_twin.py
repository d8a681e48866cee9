"""The kernel against its naive twin: scores everywhere, choices where no rounding can decide.

Covers one tree at a time on small blocks. The random numbers alone are in `test_random`, laws that
need no twin in `test_tree_properties`.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from srs.trees import Importances, Tree, TreeSettings, TreeTarget, apply_tree, grow
from tests.reference.tree_twin import MISSING, Choose, Offer, Problem, Split, TwinTree, grow_twin

LEVELS = ([0, 1], [0, 1, 2], [0, 1, 2, MISSING], [3, 250, 253, 254, MISSING], [7], [MISSING])


def run_kernel(problem: Problem) -> tuple[Tree, Importances]:
    given = np.array(problem.target)
    target = (
        TreeTarget.of_classes(given, problem.n_classes)
        if problem.criterion != "variance"
        else TreeTarget(np.zeros(len(given), np.int32), np.array(given, np.float64), 1)
    )
    if problem.weights is not None:
        target = replace(target, weights=np.array(problem.weights, np.int32))
    return grow(
        np.array(problem.codes, np.uint8),
        target,
        problem.tree_key,
        TreeSettings(
            criterion=problem.criterion,
            max_features=problem.max_features,
            max_depth=problem.max_depth,
            min_samples_leaf=problem.min_samples_leaf,
            best_cut=problem.best_cut,
            screen_size=problem.screen_size,
            peak_size=problem.peak_size,
        ),
        rows=np.array(problem.rows),
        is_categorical=np.array(problem.is_categorical),
    )


def left_codes(tree: Tree, node: int) -> set[int]:
    """The codes that the kernel's node sends left, by the rule that `Tree` documents."""
    if tree.subset_row[node] >= 0:
        return set(np.flatnonzero(tree.subset[tree.subset_row[node]]).tolist())
    return {c for c in range(256) if (c + tree.cut_shift[node]) % 256 <= tree.cut_code[node]}


def follow(tree: Tree) -> Choose:
    """Choose what the kernel chose, after checking that it is allowed to."""

    def choose(number: int, tiles: list[list[Offer]]) -> Split | None:
        splits = [split for tile in tiles for offer in tile for split in offer]
        if tree.left[number] < 0:
            assert not splits, f"node {number} could be split and is a leaf"
            return None
        goes_left = left_codes(tree, number)
        same = [s for s in splits if s.column == tree.column[number] and s.goes_left == goes_left]
        assert len(same) == 1, f"the split of node {number} was not on offer"
        assert same[0].score >= max(split.score for split in splits) - 1e-9
        return same[0]

    return choose


def assert_same_nodes(tree: Tree, twin: TwinTree) -> None:
    """All that does not depend on the choice of splits but is computed from the samples."""
    nodes = twin.nodes
    assert tree.n_nodes == len(nodes)
    np.testing.assert_array_equal(tree.column, [node.column for node in nodes])
    np.testing.assert_array_equal(tree.cut_code, [node.cut for node in nodes])
    np.testing.assert_array_equal(tree.cut_shift, [node.shift for node in nodes])
    np.testing.assert_array_equal(tree.left, [node.left for node in nodes])
    np.testing.assert_array_equal(tree.right, [node.right for node in nodes])
    np.testing.assert_array_equal(tree.n_node, [node.n for node in nodes])
    np.testing.assert_allclose(tree.impurity, [node.impurity for node in nodes], atol=1e-9)
    np.testing.assert_allclose(tree.value, [node.value for node in nodes], atol=1e-9)


def assert_same_importances(importances: Importances, twin: TwinTree) -> None:
    np.testing.assert_allclose(importances.used, twin.used, atol=1e-9)
    np.testing.assert_allclose(importances.screened, twin.screened, atol=1e-9)
    np.testing.assert_allclose(importances.peak, twin.peak, atol=1e-9)
    np.testing.assert_array_equal(importances.n_splits, twin.n_splits)


def assert_same_partition(tree: Tree, problem: Problem, twin: TwinTree) -> None:
    """`apply_tree` sends each sample to the leaf whose samples the twin lists."""
    rows = np.unique(problem.rows)
    leaves = apply_tree(tree, np.array(problem.codes, np.uint8), rows)
    for row, leaf in zip(rows, leaves, strict=True):
        assert twin.nodes[leaf].left < 0
        assert row in twin.nodes[leaf].rows


def assert_allowed(problem: Problem) -> None:
    """The kernel's tree is one that the twin may grow, whatever the choice among equal splits."""
    tree, importances = run_kernel(problem)
    twin = grow_twin(problem, follow(tree))
    assert_same_nodes(tree, twin)
    assert_same_importances(importances, twin)
    assert_same_partition(tree, problem, twin)


def assert_equal_unless_ambiguous(problem: Problem) -> bool:
    """Where no two different splits score the same, the tree is the twin's; says if it was so."""
    twin = grow_twin(problem)
    if twin.ambiguous:
        return False
    tree, importances = run_kernel(problem)
    assert_same_nodes(tree, twin)
    assert_same_importances(importances, twin)
    for i, node in enumerate(twin.nodes):
        assert node.left < 0 or left_codes(tree, i) == node.goes_left
    return True


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Small problems with few levels, hence many ties."""
    n = draw(st.integers(1, 24))
    columns = draw(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=5))
    codes = draw(st.lists(st.tuples(*map(st.sampled_from, columns)), min_size=n, max_size=n))
    criterion = draw(st.sampled_from(["entropy", "gini", "variance"]))
    n_classes = 1 if criterion == "variance" else draw(st.integers(2, 5))
    values = st.integers(-6, 6) if criterion == "variance" else st.integers(0, n_classes - 1)
    target = draw(st.lists(values, min_size=n, max_size=n))
    bootstrap = st.lists(st.integers(0, n - 1), min_size=1, max_size=2 * n)
    return Problem(
        codes=[list(row) for row in codes],
        target=target,
        n_classes=n_classes,
        criterion=criterion,
        rows=draw(st.just(list(range(n))) | bootstrap),
        is_categorical=[draw(st.booleans()) for _ in columns],
        tree_key=draw(st.integers(0, 2**64 - 1)),
        max_features=draw(st.none() | st.integers(1, len(columns))),
        max_depth=draw(st.none() | st.integers(0, 4)),
        min_samples_leaf=draw(st.integers(0, 4)),
        best_cut=draw(st.booleans()),
        screen_size=draw(st.integers(1, 12)),
        peak_size=draw(st.integers(1, 12)),
        weights=draw(st.none() | st.lists(st.integers(1, 9), min_size=n, max_size=n)),
    )


@given(problems())
@settings(max_examples=300)
def test_every_choice_is_allowed(problem: Problem) -> None:
    """Guards every node: samples, impurity, value, the score of the split, and all evidence."""
    assert_allowed(problem)


@given(problems())
@settings(max_examples=300)
def test_same_tree_where_rounding_cannot_decide(problem: Problem) -> None:
    """Guards the streams of random numbers: cuts, sides, subsets, draws of columns, ties."""
    event(f"ambiguous: {not assert_equal_unless_ambiguous(problem)}")


@given(problems(), st.floats(-3, 3), st.data())
@settings(max_examples=100)
def test_numeric_targets_that_are_no_integers(
    problem: Problem, step: float, data: st.DataObject
) -> None:
    """Guards sums of real numbers, whose rounding depends on the order of the samples."""
    grid = st.integers(-50, 50).map(lambda k: step + 0.1 * k)
    problem.target = [data.draw(grid) for _ in problem.target]
    problem.criterion, problem.n_classes = "variance", 1
    assert_allowed(problem)


def random_problem(rng: np.random.Generator, n: int, n_columns: int, **options: object) -> Problem:
    """A seeded problem of several levels a column, a tenth of them missing in half the columns."""
    codes = rng.integers(0, rng.integers(2, 9, n_columns), (n, n_columns))
    codes[:, ::2] = np.where(rng.random((n, n_columns))[:, ::2] < 0.1, MISSING, codes[:, ::2])
    criterion = str(rng.choice(["entropy", "gini", "variance"]))
    n_classes = 1 if criterion == "variance" else int(rng.integers(2, 6))
    target = rng.integers(0, n_classes if n_classes > 1 else 1000, n)
    problem = Problem(
        codes=codes.tolist(),
        target=target.tolist(),
        n_classes=n_classes,
        criterion=criterion,
        rows=rng.integers(0, n, n).tolist(),
        is_categorical=(rng.random(n_columns) < 0.3).tolist(),
        tree_key=int(rng.integers(2**63)),
        screen_size=5,
        peak_size=5,
    )
    for name, value in options.items():
        setattr(problem, name, value)
    return problem


@given(problems())
@settings(max_examples=200)
def test_a_weight_is_as_good_as_repeats(problem: Problem) -> None:
    """Guards weights: a sample of weight 3 counts as three samples do, in scores and leaves."""
    problem.weights = problem.weights or [1 + row % 3 for row in range(len(problem.codes))]
    problem.min_samples_leaf = 1
    problem.screen_size = problem.peak_size = 2
    tree, importances = run_kernel(problem)
    rows = [row for row in problem.rows for _ in range(problem.weights[row])]
    scale = len(rows) / len(problem.rows)
    repeated = replace(problem, rows=rows, weights=None)
    other, expected = run_kernel(repeated)
    if other.n_nodes == tree.n_nodes and (other.column == tree.column).all():
        np.testing.assert_allclose(tree.impurity, other.impurity, atol=1e-9)
        np.testing.assert_allclose(tree.value, other.value, atol=1e-9)
        np.testing.assert_allclose(importances.used, expected.used, atol=1e-9)
        large = importances.peak > 0
        np.testing.assert_allclose(importances.peak[large] * scale, expected.peak[large], atol=1e-9)
    else:  # rounding decided between equal splits: then the twin vouches for both
        assert_allowed(problem)
        assert_allowed(repeated)


@pytest.mark.parametrize("best_cut", [False, True])
@pytest.mark.parametrize("max_features", [None, 1, 3])
def test_most_trees_equal_the_twin(
    best_cut: bool, max_features: int | None, global_random_seed: int
) -> None:
    """Guards against an equality test that rounding excuses too often to mean anything."""
    rng = np.random.default_rng(global_random_seed)
    options = {"best_cut": best_cut, "max_features": max_features, "min_samples_leaf": 3}
    equal = sum(
        assert_equal_unless_ambiguous(random_problem(rng, 40, 6, **options)) for _ in range(40)
    )
    assert equal >= 20


@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize("codes", [(0, 1), (0, MISSING), (MISSING, 0)])
def test_more_samples_than_a_lane_counts(criterion: str, codes: tuple[int, int]) -> None:
    """Guards the counting in uint8 lanes: all but the last samples of a class go to one side."""
    usual, rare = codes
    for n in (251, 252, 253, 256, 257, 261, 520, 767):
        problem = Problem(
            codes=[[usual, usual]] * (n - 3) + [[usual, rare]] + [[rare, usual]] * 2,
            target=[0] * (n - 1) + [1],
            n_classes=1 if criterion == "variance" else 2,
            criterion=criterion,
            rows=list(range(n)),
            is_categorical=[False, False],
            tree_key=n,
        )
        assert_allowed(problem)


@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize("best_cut", [False, True])
def test_large_nodes(criterion: str, best_cut: bool, global_random_seed: int) -> None:
    """Guards counts and sums of several hundred samples of several levels."""
    rng = np.random.default_rng(global_random_seed)
    n_classes = 1 if criterion == "variance" else 3
    problem = random_problem(rng, 767, 4, criterion=criterion, n_classes=n_classes, max_depth=3)
    problem.target, problem.best_cut = rng.integers(0, 3, 767).tolist(), best_cut
    assert_allowed(problem)
    problem.weights = rng.integers(1, 200, 767).tolist()
    assert_allowed(problem)
    problem.weights = [1 + 7 * int(c) for c in problem.target]  # one weight a class
    assert_allowed(problem)


def test_more_columns_than_a_tile(global_random_seed: int) -> None:
    """Guards the border between tiles of columns: scores, ties and importances on both sides."""
    rng = np.random.default_rng(global_random_seed)
    problem = random_problem(rng, 8, 2 * 2048 + 5, criterion="gini", n_classes=2)
    problem.target = rng.integers(0, 2, 8).tolist()
    assert_allowed(problem)
    assert assert_equal_unless_ambiguous(problem)
