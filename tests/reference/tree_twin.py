"""A naive twin of `srs.trees.kernel.grow_tree`: plain Python, one sample at a time.

Covers: textbook impurities, random and best cuts, missing values, subsets of levels, the draw of K
columns, ties, weights, and the three kinds of evidence. Does not cover: the random numbers
(`random_twin`), or the kernel's way of computing (tables, counts by class): only its results.

The twin draws the numbers that the kernel draws, so both make the same tree, except where two
different splits score the same up to rounding. `TwinTree.ambiguous` says that this happened; a
test can then pass `choose` to follow the kernel's choice and check everything else.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from srs.trees.kernel import MAX_TILE, MIN_TILE, TILE_BYTES
from tests.reference.random_twin import (
    COLUMNS,
    CUT,
    MISSING_SIDE,
    SUBSET,
    TIE,
    node_key,
    random_below,
    random_u32,
    scale_u32,
)

MISSING = 255
TOLERANCE = 1e-9  # of scores (n x impurity): far above rounding, far below real differences


@dataclass
class Problem:
    """The arguments of one tree, as in `srs.trees.grow`."""

    codes: list[list[int]]
    target: list[float]
    n_classes: int
    criterion: str
    rows: list[int]
    is_categorical: list[bool]
    tree_key: int
    max_features: int | None = None
    max_depth: int | None = None
    min_samples_leaf: int = 1
    best_cut: bool = False
    screen_size: int = 2**31
    peak_size: int = 2**31
    weights: list[int] | None = None

    def mass(self, rows: list[int]) -> int:
        return len(rows) if self.weights is None else sum(self.weights[r] for r in rows)

    def weight(self, row: int) -> int:
        return self.mass([row])

    @property
    def least_mass(self) -> int:
        """What a leaf must weigh: beyond one sample, so many of average weight."""
        least = max(self.min_samples_leaf, 1)
        if self.weights is None or least == 1:
            return least
        return math.ceil(least * self.mass(self.rows) / len(self.rows))


@dataclass
class Split:
    """One way to split one node; `sides` is the same for splits that score the same to the bit."""

    column: int
    cut: int
    shift: int
    goes_left: set[int]
    score: float
    sides: object


@dataclass
class Node:
    """A node; a leaf has left == -1. `goes_left` holds the codes of the column that go left."""

    rows: list[int]
    n: int
    impurity: float
    value: list[float]
    column: int = -1
    cut: int = 0
    shift: int = 0
    left: int = -1
    right: int = -1
    goes_left: set[int] = field(default_factory=set)


@dataclass
class TwinTree:
    nodes: list[Node]
    used: list[float]
    screened: list[float]
    peak: list[float]
    n_splits: list[int]
    ambiguous: bool = False
    n_subsets: int = 0


# What one column offers (splits in the order in which the kernel tries them), and who chooses.
Offer = list[Split]
Choose = Callable[[int, list[list[Offer]]], Split | None]


def class_counts(problem: Problem, rows: list[int]) -> list[int]:
    return [
        problem.mass([r for r in rows if problem.target[r] == c]) for c in range(problem.n_classes)
    ]


def mean(problem: Problem, rows: list[int]) -> float:
    return sum(problem.target[r] * problem.weight(r) for r in rows) / problem.mass(rows)


def impurity(problem: Problem, rows: list[int]) -> float:
    if problem.criterion == "variance":
        centre = mean(problem, rows)
        squares = sum((problem.target[r] - centre) ** 2 * problem.weight(r) for r in rows)
        return squares / problem.mass(rows)
    shares = [count / problem.mass(rows) for count in class_counts(problem, rows)]
    if problem.criterion == "gini":
        return 1 - sum(share * share for share in shares)
    return -sum(share * math.log2(share) for share in shares if share > 0)


def node_value(problem: Problem, rows: list[int]) -> list[float]:
    if problem.criterion == "variance":
        return [mean(problem, rows)]
    return [count / problem.mass(rows) for count in class_counts(problem, rows)]


def side(problem: Problem, rows: list[int]) -> tuple[float, ...]:
    """All that the score of a split depends on, of one of its sides."""
    if problem.criterion == "variance":
        return problem.mass(rows), sum(problem.target[r] * problem.weight(r) for r in rows)
    return tuple(class_counts(problem, rows))


def make_split(
    problem: Problem, rows: list[int], column: int, cut: int, shift: int, goes_left: set[int]
) -> list[Split]:
    """The split in a list; an empty list where a side would have too few samples."""
    left = [r for r in rows if problem.codes[r][column] in goes_left]
    right = [r for r in rows if problem.codes[r][column] not in goes_left]
    if min(problem.mass(left), problem.mass(right)) < problem.least_mass:
        return []
    score = problem.mass(rows) * impurity(problem, rows)
    score -= problem.mass(left) * impurity(problem, left)
    score -= problem.mass(right) * impurity(problem, right)
    sides = sorted([side(problem, left), side(problem, right)])
    return [
        Split(column=column, cut=cut, shift=shift, goes_left=goes_left, score=score, sides=sides)
    ]


def numeric_split(
    problem: Problem, rows: list[int], column: int, last: int, missing_left: bool
) -> list[Split]:
    """Codes 0..last go left, and the missing ones too if so said."""
    goes_left = set(range(last + 1)) | ({MISSING} if missing_left else set())
    shift = int(missing_left)
    return make_split(
        problem, rows, column=column, cut=last + shift, shift=shift, goes_left=goes_left
    )


def random_cut(problem: Problem, rows: list[int], column: int, node: int) -> Offer:
    """One cut, uniform over low..highest-1, or ..highest where "missing alone" is one more cut."""
    seen = {problem.codes[r][column] for r in rows}
    known = seen - {MISSING}
    low, highest = min(known), max(known)
    number = random_u32(node_key(problem.tree_key, node, CUT), column)
    last = low + scale_u32(number, highest - low + (MISSING in seen))
    coin = random_u32(node_key(problem.tree_key, node, MISSING_SIDE), column) & 1
    missing_left = MISSING in seen and last < highest and coin == 1
    return numeric_split(problem, rows, column, last, missing_left)


def all_cuts(problem: Problem, rows: list[int], column: int) -> Offer:
    """Every cut after a code that occurs, missing values right, then missing values left."""
    seen = {problem.codes[r][column] for r in rows}
    known = sorted(seen - {MISSING})
    splits: Offer = []
    for last in known if MISSING in seen else known[:-1]:
        splits += numeric_split(problem, rows, column, last, False)
    for last in known[:-1] if MISSING in seen else []:
        splits += numeric_split(problem, rows, column, last, True)
    return splits


def random_subset(problem: Problem, rows: list[int], column: int, node: int) -> Offer:
    """A random subset of levels (missing is a level), the first that splits the node."""
    seen = {problem.codes[r][column] for r in rows}
    key = node_key(problem.tree_key, node, SUBSET)
    for attempt in range(64):
        base = random_u32(key, column * 64 + attempt)
        levels = {c for c in range(256) if random_u32(base, c // 32) >> (c % 32) & 1}
        if seen & levels and seen - levels:
            return make_split(problem, rows, column=column, cut=0, shift=0, goes_left=levels)
    return []


def column_offer(problem: Problem, rows: list[int], column: int, node: int) -> Offer | None:
    """The splits that a column offers; None where it is constant in the node."""
    if len({problem.codes[r][column] for r in rows}) < 2:
        return None
    if problem.is_categorical[column]:
        return random_subset(problem, rows, column, node)
    if problem.best_cut:
        return all_cuts(problem, rows, column)
    return random_cut(problem, rows, column, node)


class Twin:
    """Grows one `TwinTree`. `choose` takes the place of the twin's own choice of a split."""

    def __init__(self, problem: Problem, choose: Choose | None = None) -> None:
        n_columns = len(problem.is_categorical)
        self.problem = problem
        self.choose = choose or self.choose_best
        self.order = list(range(n_columns))
        zeros = [0.0] * n_columns
        self.tree = TwinTree([], zeros[:], zeros[:], zeros[:], [0] * n_columns)

    def grow(self) -> TwinTree:
        self.add_node(self.problem.rows)
        self.split_node(0, 0)
        return self.tree

    def add_node(self, rows: list[int]) -> int:
        p = self.problem
        self.tree.nodes.append(Node(rows, len(rows), impurity(p, rows), node_value(p, rows)))
        return len(self.tree.nodes) - 1

    def split_node(self, number: int, depth: int) -> None:
        node, p = self.tree.nodes[number], self.problem
        pure = len({p.target[r] for r in node.rows}) == 1
        deepest = p.max_depth is not None and depth >= p.max_depth
        if pure or deepest or node.n < 2 or p.mass(node.rows) < 2 * p.least_mass:
            return
        tiles = self.offers(number, node.rows)
        split = self.choose(number, tiles)
        self.record_evidence(node, tiles)
        if split is None:
            return
        self.record_split(node, split)
        node.left = self.add_node([r for r in node.rows if self.goes_left(r, split)])
        node.right = self.add_node([r for r in node.rows if not self.goes_left(r, split)])
        self.split_node(node.left, depth + 1)
        self.split_node(node.right, depth + 1)

    def goes_left(self, row: int, split: Split) -> bool:
        return self.problem.codes[row][split.column] in split.goes_left

    def offers(self, number: int, rows: list[int]) -> list[list[Offer]]:
        """The offers of the columns tried, in groups among which the best is sought at once."""
        p, n_columns = self.problem, len(self.order)
        if p.max_features is None or p.max_features >= n_columns:
            offers = [column_offer(p, rows, column, number) or [] for column in range(n_columns)]
            width = min(max(TILE_BYTES // len(rows), MIN_TILE), MAX_TILE)
            return [offers[i : i + width] for i in range(0, n_columns, width)]
        key = node_key(p.tree_key, number, COLUMNS)
        tiles: list[list[Offer]] = []
        for drawn in range(n_columns):
            if len(tiles) >= p.max_features:
                break
            pick = drawn + random_below(key, drawn, n_columns - drawn)
            self.order[drawn], self.order[pick] = self.order[pick], self.order[drawn]
            offer = column_offer(p, rows, self.order[drawn], number)
            if offer is not None:
                tiles.append([offer])
        return tiles

    def choose_best(self, number: int, tiles: list[list[Offer]]) -> Split | None:
        """The best split; among equals each is as likely, by one draw for each."""
        key = node_key(self.problem.tree_key, number, TIE)
        best: Split | None = None
        n_ties = draw = 0
        for tile in tiles:
            tops = [self.best_of_column(key, offer) for offer in tile if offer]
            highest = max((split.score for split in tops), default=-math.inf)
            if best is None or highest > best.score + TOLERANCE:
                n_ties = 0
            elif highest < best.score - TOLERANCE:
                continue
            for split in tops:
                if split.score < highest - TOLERANCE:
                    continue
                if n_ties > 0 and best is not None and split.sides != best.sides:
                    self.tree.ambiguous = True
                n_ties += 1
                if random_below(key, draw, n_ties) == 0:
                    best = split
                draw += 1
        return best

    def best_of_column(self, key: int, offer: Offer) -> Split:
        """The best split of one column, ties broken by a stream of the column's own."""
        key = random_u32(key, 0x10000000 + offer[0].column)
        best, n_ties = offer[0], 1
        for split in offer[1:]:
            if split.score < best.score - TOLERANCE:
                continue
            if split.score > best.score + TOLERANCE:
                best, n_ties = split, 1
                continue
            self.tree.ambiguous |= split.sides != best.sides
            n_ties += 1
            if random_below(key, (split.cut - split.shift) * 2 + split.shift, n_ties) == 0:
                best = split
        return best

    def record_evidence(self, node: Node, tiles: list[list[Offer]]) -> None:
        for offer in (offer for tile in tiles for offer in tile if offer):
            column, score = offer[0].column, max(0.0, *(split.score for split in offer))
            p = self.problem
            if node.n >= p.screen_size:
                self.tree.screened[column] += score / p.mass(p.rows)
            if node.n >= p.peak_size:
                score *= len(p.rows) / p.mass(p.rows)
                self.tree.peak[column] = max(self.tree.peak[column], score)

    def record_split(self, node: Node, split: Split) -> None:
        node.column, node.cut, node.shift = split.column, split.cut, split.shift
        node.goes_left = split.goes_left
        if self.problem.is_categorical[split.column]:
            node.cut, node.shift = self.tree.n_subsets & 255, self.tree.n_subsets >> 8
            self.tree.n_subsets += 1
        self.tree.used[split.column] += max(split.score, 0.0) / self.problem.mass(self.problem.rows)
        self.tree.n_splits[split.column] += 1


def grow_twin(problem: Problem, choose: Choose | None = None) -> TwinTree:
    """Grow the tree that `srs.trees.grow` grows."""
    return Twin(problem, choose).grow()
