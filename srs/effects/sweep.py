"""Effects of all features in one pass over the codes: slope or log odds ratio, and a score test.

A feature whose codes stand for dosages is told of per allele; every other one by the ranks of its
values, per standard deviation of these. Without covariates, weights and subjects the estimates are
those of least squares and of logistic regression, from counts by level. Otherwise they are one
Newton step from the null model (exact for numbers), and missing values count as the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srs.effects.levels import MOST_STEPS, odds_of_tiles, slopes_of_tiles, values_of_tile
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
        others, rest, mass = self._null_model()
        bread = np.linalg.pinv(others.T @ (mass[:, None] * others))
        n_columns = tiles.shape[2]
        x = np.empty((len(self.order), n_columns))
        for t, tile in enumerate(tiles):
            here = slice(t * n_columns, (t + 1) * n_columns)
            values_of_tile(
                tile, self.order, dosages[here], skipped[here], x=x, found=found[:, here]
            )
            usable = np.isfinite(x[0])
            x[0, ~usable] = 0.0
            left = x - others @ (bread @ (others.T @ (mass[:, None] * x)))
            score, spread = left.T @ rest, np.einsum("ij,i,ij->j", left, mass, left)
            usable &= spread > 1e-9 * np.maximum(np.einsum("ij,i,ij->j", x, mass, x), 1e-300)
            with np.errstate(all="ignore"):
                beta = score / spread
                z = score / np.sqrt(self._variance(left, rest, spread))
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
        cross = mass[:, None] * null.cross[self.order]
        x = np.empty((len(self.order), tiles.shape[2]))
        for t, tile in enumerate(tiles):
            here = slice(t * tiles.shape[2], (t + 1) * tiles.shape[2])
            values_of_tile(
                tile, self.order, dosages[here], skipped[here], x=x, found=found[:, here]
            )
            usable = np.isfinite(x[0])
            x[0, ~usable] = 0.0
            a = cross.T @ x
            slopes, whole = null.bread @ a, information @ x**2
            spread = whole - (a * slopes).sum(axis=0)
            usable &= spread > 1e-9 * np.maximum(whole, 1e-300)
            score, variance = x.T @ rest, spread
            if self.weights is not None or self.clusters is not None:
                left = x - cross @ slopes / np.maximum(information, 1e-12)[:, None]
                variance = self._variance(left, rest, spread)
            with np.errstate(all="ignore"):
                beta, z = score / spread, score / np.sqrt(variance)
                error = np.sqrt(variance) / spread
            for row, values in enumerate((beta, error, z)):
                found[row, here] = np.where(usable, values, np.nan)

    def _variance(self, left: np.ndarray, rest: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Variance of the scores: that of the model, or of the sums by subject."""
        if self.weights is None and self.clusters is None:
            if len(self.classes):
                return spread
            return spread * float(rest @ rest) / max(len(rest) - 1, 1)
        scores = left * rest[:, None]
        if self.clusters is not None:
            numbers = np.unique(self.clusters, return_inverse=True)[1].reshape(-1)
            sums = np.zeros((int(numbers.max()) + 1, scores.shape[1]))
            np.add.at(sums, numbers, scores)
            scores = sums
        return np.asarray((scores**2).sum(axis=0))

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
