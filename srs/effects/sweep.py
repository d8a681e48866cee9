"""Effects of all features in one pass over the codes: slope or log odds ratio, and a score test.

A feature whose codes stand for dosages is told of per allele; every other one by the ranks of its
values, per standard deviation of these. Without covariates, weights and subjects the estimates are
those of least squares and of logistic regression, from counts by level. Otherwise they are one
Newton step from the null model (exact for numbers), and missing values count as the mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from srs.effects.levels import (
    MOST_STEPS,
    odds_of_tiles,
    slopes_of_tiles,
    sums_of_values,
    values_of_tile,
)
from srs.targets.models.null import NullModel


@dataclass(frozen=True)
class Sweep:
    """A target as the pass over all features needs it.

    order     int64: the samples that count
    classes   int64 of these: 0 and 1; empty for a number
    values    float64 of these: the number; empty for classes
    others    float64 (n, k): covariates with a column of ones before them; None: there are none
    weights   float64 of these; None: all alike
    clusters  int of these: samples of one subject; None: each is its own
    null      the null model of all samples, of kinds that are learned by it; None: others
    """

    order: np.ndarray
    classes: np.ndarray
    values: np.ndarray
    others: np.ndarray | None = None
    weights: np.ndarray | None = None
    clusters: np.ndarray | None = None
    null: NullModel | None = None

    def run(self, tiles: np.ndarray, dosages: np.ndarray, skipped: np.ndarray) -> np.ndarray:
        """float32 (5, n): beta, standard error and score z of each column, the frequency of the
        counted allele, and how many samples have a value; NaN where there is none.

        tiles    uint8 (n_tiles, n_samples, n_columns)
        dosages  uint8 by column: which dosages its codes stand for, a bit each; 0: none
        skipped  bool by column: levels without order
        """
        found = np.full((5, tiles.shape[0] * tiles.shape[2]), np.nan, np.float32)
        plain = self.others is None and self.weights is None and self.clusters is None
        if self.null is not None:
            self._by_model(self.null, tiles, dosages, skipped, found=found)
        elif plain and len(self.classes):
            orders = (self.order[self.classes == 0], self.order[self.classes == 1])
            odds_of_tiles(tiles, orders, dosages, skipped, found)
        elif plain:
            slopes_of_tiles(tiles, self.order, self.values, dosages, skipped=skipped, found=found)
        else:
            self._adjusted(tiles, dosages, skipped, found)
        return found

    def _adjusted(
        self, tiles: np.ndarray, dosages: np.ndarray, skipped: np.ndarray, found: np.ndarray
    ) -> None:
        others, rest, mass = self._fitted
        cross = mass[:, None] * others
        bread = np.linalg.pinv(others.T @ cross)
        scale = 1.0 if len(self.classes) else float(rest @ rest) / max(len(rest) - 1, 1)
        for here, x, sums in self._sums(tiles, dosages, skipped, (cross, rest, mass), found=found):
            score, spread, usable = _score(sums, bread)
            variance = scale * spread
            if self.weights is not None or self.clusters is not None:
                variance = self._variance(x - others @ (bread @ sums[: len(bread)]), rest)
            with np.errstate(all="ignore"):
                beta, z = score / spread, score / np.sqrt(variance)
                error = np.abs(beta / z)
            if not len(self.classes) and self.weights is None and self.clusters is None:
                freedom = len(rest) - others.shape[1] - 1
                total = float(rest @ rest)
                left_over = np.maximum(total - score * beta, 0.0) / max(freedom, 1)
                error = np.sqrt(left_over / np.where(usable, spread, 1.0))
            for row, values in enumerate((beta, error, z)):
                found[row, here] = np.where(usable, values, np.nan)

    def _by_model(
        self,
        null: NullModel,
        tiles: np.ndarray,
        dosages: np.ndarray,
        skipped: np.ndarray,
        *,
        found: np.ndarray,
    ) -> None:
        """Scores of a null model, and one Newton step from it."""
        mass = np.ones(len(self.order)) if self.weights is None else self.weights
        rest, information = mass * null.residuals[self.order], mass * null.information[self.order]
        spans = (mass[:, None] * null.cross[self.order], rest, information)
        bread = null.bread
        for here, x, sums in self._sums(tiles, dosages, skipped, spans, found=found):
            score, spread, usable = _score(sums, bread)
            variance = spread
            if self.weights is not None or self.clusters is not None:
                told = spans[0] @ (bread @ sums[: len(bread)])
                variance = self._variance(x - told / np.maximum(information, 1e-12)[:, None], rest)
            with np.errstate(all="ignore"):
                beta, z = score / spread, score / np.sqrt(variance)
                error = np.sqrt(variance) / spread
            for row, values in enumerate((beta, error, z)):
                found[row, here] = np.where(usable, values, np.nan)

    def _sums(
        self,
        tiles: np.ndarray,
        dosages: np.ndarray,
        skipped: np.ndarray,
        spans: tuple[np.ndarray, np.ndarray, np.ndarray],
        *,
        found: np.ndarray,
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Of each tile its place, its values, and their sums with the spans of a model; not a
        number where a column tells nothing."""
        together = np.column_stack(spans)
        width = tiles.shape[2]
        x, sums = np.empty((len(self.order), width)), np.empty((together.shape[1], width))
        for t, tile in enumerate(tiles):
            here = slice(t * width, (t + 1) * width)
            values_of_tile(
                tile, self.order, dosages[here], skipped[here], x=x, found=found[:, here]
            )
            usable = np.isfinite(x[0])
            x[0, ~usable] = 0.0
            sums_of_values(x, together, sums)
            sums[:, ~usable] = np.nan
            yield here, x, sums

    def _variance(self, left: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Variance of the scores by the sums of each subject."""
        scores = left * rest[:, None]
        if self.clusters is not None:
            numbers = np.unique(self.clusters, return_inverse=True)[1].reshape(-1)
            sums = np.zeros((int(numbers.max()) + 1, scores.shape[1]))
            np.add.at(sums, numbers, scores)
            scores = sums
        return np.asarray((scores**2).sum(axis=0))

    @cached_property
    def _fitted(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._null_model()

    def _null_model(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Covariates, what they leave of the target (with weights), and the masses of samples."""
        n = len(self.order)
        others = np.ones((n, 1)) if self.others is None else self.others
        weights = np.ones(n) if self.weights is None else self.weights
        if not len(self.classes):
            bread = np.linalg.pinv(others.T @ (weights[:, None] * others))
            rest = self.values - others @ (bread @ (others.T @ (weights * self.values)))
            return others, weights * rest, weights
        beta = np.zeros(others.shape[1])
        for _ in range(MOST_STEPS):
            p = 1.0 / (1.0 + np.exp(-np.clip(others @ beta, -30, 30)))
            w = weights * p * (1.0 - p)
            step = np.linalg.pinv(others.T @ (w[:, None] * others)) @ (
                others.T @ (weights * (self.classes - p))
            )
            beta = beta + step
            if np.abs(step).max() < 1e-8:
                break
        p = 1.0 / (1.0 + np.exp(-np.clip(others @ beta, -30, 30)))
        return others, weights * (self.classes - p), weights * p * (1.0 - p)


def _score(sums: np.ndarray, bread: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of columns, what covariates leave of their information, and whether that is enough."""
    k = len(bread)
    score, whole = sums[k], sums[k + 1]
    spread = whole - (sums[:k] * (bread @ sums[:k])).sum(axis=0)
    with np.errstate(invalid="ignore"):
        usable = spread > 1e-9 * np.maximum(whole, 1e-300)
    return score, spread, usable
