"""Score tests of single columns given covariates.

The score of a column is the sum of its values times the residuals of a null model
(`srs.targets.models`), and its variance is what is left when the covariates are projected off: a
column that follows a covariate is tested by what it has beside it. Values are dosages where codes
stand for them, mid-ranks otherwise; missing ones are at the mean. In the tail, the third and fourth
cumulants of the residuals correct the p-value. Columns of unordered levels, and many classes, have
tests of several degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from srs.evidence.univariate.levels import MIN_LEVEL, merge_levels
from srs.evidence.univariate.quadratic import p_of_moments
from srs.evidence.univariate.saddlepoint import SMALLEST
from srs.evidence.univariate.scores import fill_values, score_tile, tail_sums
from srs.evidence.univariate.target import normal_scores

if TYPE_CHECKING:
    from srs.targets.models.null import NullModel

TAIL = 1.5  # |z| from which on cumulants count
LEAST_LEFT = 1e-6  # share of a column's variance that covariates must leave


@dataclass(frozen=True)
class AdjustedTest:
    """A null model as the tests need it; arrays are of the training samples.

    order      int64: training samples
    residuals  float64 (n,)
    variance   float64 (n,): information of each sample
    cross      float64 (n, k): of residuals with the scores of coefficients
    bread      float64 (k, k): inverse information of coefficients
    cumulants  float64 (n, 2): third and fourth, of residuals
    freedom    degrees of freedom of an estimated variance; infinity: it follows from the model
    """

    order: np.ndarray
    residuals: np.ndarray
    variance: np.ndarray
    cross: np.ndarray
    bread: np.ndarray
    cumulants: np.ndarray
    freedom: float = np.inf

    @classmethod
    def of_null(cls, null: NullModel, train: np.ndarray) -> AdjustedTest:
        order = np.asarray(train, np.int64)
        residuals, variance = null.residuals[order], null.information[order]
        cross, bread = null.cross[order], null.bread
        cumulants = np.stack([null.third[order], null.fourth[order]], axis=1)
        # A fitted model leaves less variance than there is, by the share of its coefficients.
        factor = len(order) / max(len(order) - len(bread), 1)
        variance, cross, bread = factor * variance, factor * cross, bread / factor
        freedom = np.inf
        if null.by_rank:
            columns = cross / variance[:, None]
            scores = normal_scores(residuals, np.zeros(len(order), np.int64))
            inverse = np.linalg.pinv(columns.T @ columns)
            residuals = scores - columns @ (inverse @ (columns.T @ scores))
            freedom = float(max(len(order) - columns.shape[1], 1))
            variance = np.full(len(order), float(residuals @ residuals) / freedom)
            cross, bread = variance[:, None] * columns, inverse / variance[0]
            cumulants = _of_numbers(residuals)
        return cls(
            order=order,
            residuals=residuals,
            variance=variance,
            cross=cross,
            bread=bread,
            cumulants=np.ascontiguousarray(cumulants),
            freedom=freedom,
        )

    def run_tile(
        self, tiles: np.ndarray, by_subset: np.ndarray, dosages: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """p (float64) and effect (float32) of each column of tiles (n_tiles, n_samples, n_columns).

        The effect is the partial correlation that the score stands for.
        """
        n_tiles, _, width = tiles.shape
        p, effects = np.ones(n_tiles * width), np.zeros(n_tiles * width, np.float32)
        spans = np.column_stack([self.cross, self.residuals, self.variance])
        sums = np.empty((spans.shape[1], width))
        values = np.empty((width, 256))
        for t, tile in enumerate(tiles):
            here = slice(t * width, (t + 1) * width)
            score_tile(tile, self.order, dosages[here], spans, found=(sums, values))
            told = self._of_sums(tile, sums, values)
            p[here], effects[here] = told
            for j in np.flatnonzero(by_subset[here]):
                p[here.start + j] = self._of_levels(tile[self.order, j])
                effects[here.start + j] = 0.0
        return p, effects

    def _of_sums(
        self, tile: np.ndarray, sums: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        k = len(self.bread)
        slopes = self.bread @ sums[:k]
        score, whole = sums[k], sums[k + 1]
        left = whole - (sums[:k] * slopes).sum(axis=0)
        usable = left > LEAST_LEFT * np.maximum(whole, 1e-300)
        z = np.where(usable, score, 0.0) / np.sqrt(np.where(usable, left, 1.0))
        moments = np.zeros((len(z), 6))
        moments[:, 0], moments[:, 1], moments[:, 2] = z**2, 1.0, 2.0
        moments[:, 3] = self.freedom
        if np.isfinite(self.freedom):
            moments[:, 2] = 2.0 * (self.freedom - 1.0) / (self.freedom + 2.0)
        for j in np.flatnonzero(np.abs(z) > TAIL):
            fitted = (self.cross @ slopes[:, j]) / np.maximum(self.variance, 1e-12)
            third, fourth = tail_sums(
                tile, j, self.order, values[j], fitted=fitted, cumulants=self.cumulants
            )
            moments[j, 2] = max(moments[j, 2] + fourth / left[j] ** 2, 0.5)
            moments[j, 5] = third / left[j] ** 1.5
        p = np.where(usable, p_of_moments(moments), 1.0)
        return p, np.clip(z / np.sqrt(len(self.order)), -1.0, 1.0)

    def _of_levels(self, column: np.ndarray) -> float:
        """Levels without order: a score for each."""
        places, n_levels = merge_levels(column, MIN_LEVEL)
        if n_levels < 2:
            return 1.0
        level = places[column]
        inside = (level[:, None] == np.arange(1, n_levels)).astype(np.float64)
        inside[level < 0] = inside[level >= 0].mean(axis=0)
        a = self.cross.T @ inside
        spread = inside.T @ (self.variance[:, None] * inside) - a.T @ self.bread @ a
        return _p_of_scores(inside.T @ self.residuals, spread)


@dataclass(frozen=True)
class ClassesTest:
    """Many classes given covariates: one score for each class but the first.

    order    int64: training samples
    columns  float64 (n, k): covariates, a column of ones before them
    rest     float64 (n, n_classes - 1): residuals
    shares   float64 (n, n_classes - 1): expected
    bread    inverse information of coefficients, blocks by class
    """

    order: np.ndarray
    columns: np.ndarray
    rest: np.ndarray
    shares: np.ndarray
    bread: np.ndarray

    @classmethod
    def of_null(cls, null: NullModel, columns: np.ndarray, train: np.ndarray) -> ClassesTest:
        order = np.asarray(train, np.int64)
        return cls(
            order=order,
            columns=columns[order],
            rest=null.residuals[order, 1:],
            shares=null.expected[order, 1:],
            bread=null.bread,
        )

    def run_tile(
        self, tiles: np.ndarray, by_subset: np.ndarray, dosages: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """p and effect (0) of each column, see `AdjustedTest.run_tile`."""
        n_tiles, _, width = tiles.shape
        n_free, k = self.rest.shape[1], self.columns.shape[1]
        pairs = [(c, d) for c in range(n_free) for d in range(c + 1)]
        weights = [self.shares[:, c] * ((c == d) - self.shares[:, d]) for c, d in pairs]
        crossed = [weight[:, None] * self.columns for weight in weights]
        p = np.ones(n_tiles * width)
        values = np.empty((width, 256))
        x = np.empty((len(self.order), width))
        for t, tile in enumerate(tiles):
            here = slice(t * width, (t + 1) * width)
            fill_values(tile, self.order, dosages[here], values, x=x)
            scores, spread = (self.rest.T @ x).T, np.empty((width, n_free, n_free))
            a = np.empty((width, n_free, k, n_free))
            for (c, d), weight, cross in zip(pairs, weights, crossed, strict=True):
                spread[:, c, d] = spread[:, d, c] = weight @ x**2
                a[:, c, :, d] = a[:, d, :, c] = (cross.T @ x).T
            flat = a.reshape(width, n_free * k, n_free)
            left = spread - np.einsum("wic,ij,wjd->wcd", flat, self.bread, flat)
            for j in range(width):
                if by_subset[here][j]:
                    p[here.start + j] = self._of_levels(tile[self.order, j])
                elif left[j, 0, 0] > LEAST_LEFT * max(spread[j, 0, 0], 1e-300):
                    p[here.start + j] = _p_of_scores(scores[j], left[j])
        return p, np.zeros(len(p), np.float32)

    def _of_levels(self, column: np.ndarray) -> float:
        places, n_levels = merge_levels(column, MIN_LEVEL)
        if n_levels < 2:
            return 1.0
        level = places[column]
        inside = (level[:, None] == np.arange(1, n_levels)).astype(np.float64)
        inside[level < 0] = inside[level >= 0].mean(axis=0)
        n_free, k, m = self.rest.shape[1], self.columns.shape[1], inside.shape[1]
        spread, a = np.empty((n_free, m, n_free, m)), np.empty((n_free, k, n_free, m))
        for c in range(n_free):
            for d in range(n_free):
                weight = self.shares[:, c] * ((c == d) - self.shares[:, d])
                weighted = weight[:, None] * inside
                spread[c, :, d], a[c, :, d] = inside.T @ weighted, self.columns.T @ weighted
        flat = a.reshape(n_free * k, n_free * m)
        left = spread.reshape(n_free * m, -1) - flat.T @ self.bread @ flat
        return _p_of_scores((self.rest.T @ inside).ravel(), left)


def _of_numbers(residuals: np.ndarray) -> np.ndarray:
    """Third and fourth cumulants, the same for all samples, (n, 2)."""
    square = float((residuals**2).mean())
    third, fourth = (residuals**3).mean(), (residuals**4).mean() - 3.0 * square**2
    return np.tile(np.array([third, fourth]), (len(residuals), 1))


def _p_of_scores(scores: np.ndarray, spread: np.ndarray) -> float:
    """The p-value of several scores, by chi-squared."""
    values, vectors = np.linalg.eigh(spread)
    kept = values > LEAST_LEFT * max(float(values[-1]), 1e-300)
    if not kept.any() or values[-1] <= 0:
        return 1.0
    seen = float(((vectors[:, kept].T @ scores) ** 2 / values[kept]).sum())
    p = float(special.gammaincc(0.5 * int(kept.sum()), 0.5 * seen))
    return max(p, SMALLEST)
