"""Choose few features that together predict nearly as well as all of them."""

from __future__ import annotations

import numpy as np

from srs.seeds import MINIMAL, draw_tree_key, make_rng
from srs.selection.groups.association import thin
from srs.trees import Importances, TreeSettings, TreeTarget, grow, predict_tree

MAX_CELLS = 2_000_000  # samples x columns that trees see
N_TREES = 100
MANY = 200  # columns from which on a few trees only rank them
FEW_TREES = 25
A_TREE, A_SAMPLE = 6e-5, 6.5e-7  # seconds of a tree, and of each of its samples
KEPT = 0.95  # share of what the best set explains that a smaller one must keep


def choose_minimal(
    codes: np.ndarray,
    splits_by_subset: np.ndarray,
    target: TreeTarget,
    criterion: str,
    seed: int,
    subjects: np.ndarray | None = None,
) -> np.ndarray:
    """Few columns that together predict nearly as well as all, int64 in ascending order.

    codes             uint8 (n_samples, n_columns): one column a signal
    splits_by_subset  bool (n_columns,): columns that trees split by subsets of levels
    target            what trees learn, over the same samples
    criterion         impurity that trees decrease
    seed              seed of the run
    subjects          int (n_samples,): samples that trees see together or not at all; None: each
                      is one by itself

    Trees try all columns at every node (K at its largest, thesis 7.3.1), so a column that others
    mask gets little importance. The least important ones are left out again and again. Of all
    sets that were tried the smallest is taken that, on samples its trees did not see, keeps
    KEPT of what the best one explains, or is worse by less than the standard error of that.
    """
    rows = thin(len(codes), max(MAX_CELLS // max(codes.shape[1], 1), 2))
    if codes.shape[1] < 2 or len(rows) < 3:
        return np.arange(codes.shape[1])
    forest = _Forest(
        codes=codes,
        splits_by_subset=splits_by_subset,
        target=target,
        criterion=criterion,
        seed=seed,
        rows=rows,
        subjects=subjects,
    )
    columns = np.arange(codes.shape[1])
    tried = []
    while len(columns):
        many = len(columns) > MANY
        importance, losses = forest.grow(columns, FEW_TREES if many else N_TREES)
        if not many:
            tried.append((columns, losses))
        most_important = np.argsort(-importance, kind="stable")[: _next_size(len(columns))]
        columns = np.sort(columns[most_important])
    best = min((losses for _, losses in tried), key=lambda losses: float(losses.mean()))
    explained = float(forest.constant_losses.mean() - best.mean())
    return next(columns for columns, losses in reversed(tried) if _enough(losses, best, explained))


def _enough(losses: np.ndarray, best: np.ndarray, explained: float) -> bool:
    worse = losses - best
    error = float(worse.std()) / np.sqrt(len(worse))
    return bool(worse.mean() <= max((1.0 - KEPT) * explained, error))


def _next_size(n: int) -> int:
    return n // 2 if n > MANY else n - n // 4 if n > 12 else n - 1


def minimal_seconds(n_columns: int, n_samples: int) -> float:
    """About how long `choose_minimal` takes: columns hardly matter, samples and trees do.

    Fitted on 300 to 4,000 samples and 5 to 300 columns, within a fifth of each.

    >>> round(minimal_seconds(10, 2_000), 1)
    0.9
    """
    n_samples = min(n_samples, MAX_CELLS // max(n_columns, 1))
    n_trees, n_left = 0, n_columns if n_columns > 1 else 0
    while n_left:
        n_trees += FEW_TREES if n_left > MANY else N_TREES
        n_left = _next_size(n_left)
    return n_trees * (A_TREE + A_SAMPLE * n_samples * 2 / 3)


class _Forest:
    """Trees on sets of columns, always of the same samples and keys, and their errors.

    constant_losses  squared error of each sample if the mean were predicted
    """

    def __init__(
        self,
        codes: np.ndarray,
        splits_by_subset: np.ndarray,
        target: TreeTarget,
        criterion: str,
        seed: int,
        rows: np.ndarray,
        subjects: np.ndarray | None,
    ) -> None:
        self._codes, self._splits, self._target = codes, splits_by_subset, target
        self._rows, self._seed = rows, seed
        self._settings = TreeSettings(criterion)
        if len(target.values):
            self._truth = target.values[rows, None] * target.unit + target.offset
        else:
            self._truth = np.eye(target.n_classes)[target.classes[rows]]
        self._weights = target.weights[rows, None] if len(target.weights) else None
        self._units = None
        if subjects is not None:
            units = np.unique(subjects[rows], return_inverse=True)[1]
            self._units = units if units.max() > 0 else None
        mean = self._truth.mean(axis=0)
        if self._weights is not None:
            mean = np.average(self._truth, axis=0, weights=self._weights[:, 0])
        self.constant_losses = self._loss(mean)

    def _loss(self, predicted: np.ndarray) -> np.ndarray:
        """Squared error of each sample, by how much the sample counts."""
        squares = (predicted - self._truth) ** 2
        if self._weights is not None:
            squares = squares * (self._weights / self._weights.mean())
        return np.asarray(squares.sum(axis=1))

    def _part(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Two thirds of the samples for a tree, and the others; subjects are kept together."""
        if self._units is None:
            mixed = rng.permutation(len(self._rows))
            cut = len(mixed) * 2 // 3
            return np.sort(mixed[:cut]), mixed[cut:]
        order = rng.permutation(int(self._units.max()) + 1)
        inside = order[self._units] < len(order) * 2 // 3
        return np.flatnonzero(inside), np.flatnonzero(~inside)

    def grow(self, columns: np.ndarray, n_trees: int) -> tuple[np.ndarray, np.ndarray]:
        """Importance of columns, and the squared error of each sample where no tree saw it."""
        block = np.ascontiguousarray(self._codes[:, columns])
        importances = Importances.empty(len(columns))
        total, n_votes = np.zeros_like(self._truth), np.zeros((len(self._rows), 1))
        for tree_number in range(n_trees):
            rng = make_rng(self._seed, MINIMAL, tree_number)
            inside, outside = self._part(rng)
            tree, _ = grow(
                block,
                self._target,
                draw_tree_key(rng),
                self._settings,
                rows=self._rows[inside],
                is_categorical=self._splits[columns],
                into=importances,
            )
            total[outside] += predict_tree(tree, block, self._rows[outside])
            n_votes[outside] += 1
        losses = self._loss(total / np.maximum(n_votes, 1))
        return importances.used, np.where(n_votes[:, 0] > 0, losses, self.constant_losses)
