"""When a run has looked long enough: pure functions of its sizes.

A run ends when its relevant set is stable, but never because nothing was found early: first every
feature must have been drawn often enough for its evidence to be known, and, where it can be had
for a bounded effort, a pair of features that matter only together must have had its chance.
"""

from __future__ import annotations

from srs.memory import RunShape

MIN_TREES = 100
MIN_DRAWS = 10  # draws of every feature: evidence is a mean over draws
LARGE_NODE = 65  # samples a node large enough to show a partner: a tree has N / 65 of them
PAIR_CHANCES = 6  # times that a pair is expected to show before a run may end
PAIR_EFFORT = 2.5e10  # samples x columns x trees that may be spent on pairs: half a minute


def trees_to_meet_a_pair(shape: RunShape) -> float:
    """Expected trees until one of a pair without effects of their own shows the other.

    Both must be in the subspace, and at some large node one of them must be chosen, which happens
    as to any column; then the other stands out among the samples of the children. The number grows
    with the square of the features, whatever the size of the subspace.
    """
    n_columns = shape.n_roles * shape.subspace_size + shape.max_carried
    both = (shape.subspace_size / shape.n_features) ** 2
    n_nodes = max(1.0, shape.n_samples / LARGE_NODE)
    return n_columns / (2 * n_nodes * both)


def least_trees(shape: RunShape, trees_a_pass: int) -> int:
    """Trees that must be grown before a run may end because its relevant set is stable."""
    drawn = max(MIN_TREES, MIN_DRAWS * trees_a_pass)
    n_columns = shape.n_roles * shape.subspace_size + shape.max_carried
    for_pairs = PAIR_CHANCES * trees_to_meet_a_pair(shape)
    affordable = for_pairs * n_columns * shape.n_samples <= PAIR_EFFORT
    return max(drawn, int(for_pairs)) if affordable else drawn
