"""When a run has looked long enough: pure functions of its sizes.

A run ends when its relevant set is stable, but never because nothing was found early: first every
feature must have been drawn often enough for its evidence to be known, and, where it can be had
for a bounded effort, triples of features that matter only together must have had their chance; and
pairs, where they are not looked at one by one (`srs.evidence.pairs`).
"""

from __future__ import annotations

from math import comb, factorial, log2

from srs.engine.memory import RunShape
from srs.engine.subspace import WANDERING_SHARE

MIN_TREES = 100
MIN_DRAWS = 10  # draws of every feature: evidence is a mean over draws
LARGE_NODE = 65  # samples a node large enough to show a partner: a tree has N / 65 of them
CLIQUE_CHANCES = 6  # times that a clique is expected to show before a run may end
CLIQUE_EFFORT = {2: 2.5e10, 3: 5e9}  # samples x columns x trees by degree: half a minute, 6 s
WAVERING_TREES = 4  # times the least ones, that a list that wavers is worth
WAVERING_EFFORT = 1.5e9  # samples x columns x trees beyond the least ones: two seconds
CLIQUE_TREES = {2: 100_000, 3: 10_000}  # and trees: each takes a millisecond, however small


def trees_to_meet_a_clique(shape: RunShape, degree: int) -> float:
    """Expected trees until `degree` features that matter only together show.

    All must be in the subspace, and along one path of large nodes all but one must be chosen,
    which happens to them as to any column; then the last stands out among the samples below. For
    a pair the number grows with the square of the features, whatever the size of the subspace.
    Where trees see all features, only those that wander do not always choose the same ones.
    """
    n_columns = shape.n_roles * shape.subspace_size + shape.max_carried
    together = (shape.subspace_size / shape.n_features) ** degree
    n_nodes = max(1.0, shape.n_samples / LARGE_NODE)
    # Nodes that can be split so often, and for each, which of its ancestors are split, too.
    n_paths = n_nodes / 2 ** (degree - 2) * comb(max(int(log2(n_nodes)) - 1, 0), degree - 2)
    chance = factorial(degree) * n_paths * together / n_columns ** (degree - 1)
    if shape.sees_all:
        chance *= WANDERING_SHARE
    return 1.0 / chance if chance else float("inf")


def least_trees(shape: RunShape, trees_per_pass: int, pairs_are_seen: bool = False) -> int:
    """Trees that must be grown before a run may end because its relevant set is stable.

    pairs_are_seen: all pairs are looked at, and need not meet in trees
    """
    n_columns = shape.n_roles * shape.subspace_size + shape.max_carried
    least = max(MIN_TREES, MIN_DRAWS * trees_per_pass)
    for degree, effort in CLIQUE_EFFORT.items():
        if degree == 2 and pairs_are_seen:
            continue
        n_trees = CLIQUE_CHANCES * trees_to_meet_a_clique(shape, degree)
        affordable = n_trees * n_columns * shape.n_samples <= effort
        if affordable and n_trees <= CLIQUE_TREES[degree]:
            least = max(least, int(n_trees))
    return least


def most_trees(shape: RunShape, least: int) -> int:
    """Trees after which a run ends though its list wavers.

    Beyond the `least` ones, more trees settle features near the cut. Where a tree is dear they are
    not worth it: of 50,000 features of 2,600 samples, four times the trees took three times as long
    and found the same 20 relevant ones, with as many others.
    """
    n_columns = shape.n_roles * shape.subspace_size + shape.max_carried
    affordable = int(WAVERING_EFFORT / (n_columns * shape.n_samples))
    return least + min((WAVERING_TREES - 1) * least, affordable)
