"""Times to event: power and false features beside Cox score tests, and a pair that matters only
together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import srs
from srs.targets.models.cox import fit_cox
from srs.targets.models.null import NullDesign

N, P, EFFECTS = 300, 500, np.linspace(0.2, 0.7, 10)


def _target(linear: np.ndarray, censored: float, rng: np.random.Generator) -> np.ndarray:
    """Exponential times, of which about this share is censored."""
    time = rng.exponential(np.exp(-linear))
    end = rng.exponential(1.0, len(time))
    scales = np.geomspace(0.01, 100, 200)
    shares = np.array([(time > end * scale).mean() for scale in scales])
    end = end * scales[np.abs(shares - censored).argmin()]
    found = np.empty(len(time), [("event", bool), ("time", float)])
    found["event"], found["time"] = time <= end, np.minimum(time, end)
    return found


def _cox_list(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Features by the Cox score test of each, at a false discovery rate of 0.1."""
    values = np.column_stack([y["time"], y["event"]])
    residuals = fit_cox(values, NullDesign.plain(len(y))).residuals
    centred = X - X.mean(axis=0)
    z = centred.T @ residuals / np.sqrt((centred**2).sum(axis=0) * residuals.var())
    p = 2 * stats.norm.sf(np.abs(z))
    order = np.argsort(p)
    below = np.flatnonzero(p[order] <= 0.1 * np.arange(1, len(p) + 1) / len(p))
    return order[: below[-1] + 1] if len(below) else order[:0]


def _compare(censored: float, n_runs: int, start: int) -> tuple[float, float, float]:
    """Power of a run and of Cox score tests, and the share of false features of a run."""
    power, cox, false = [], [], []
    for run in range(start, start + n_runs):
        rng = np.random.default_rng((7, run))
        X = rng.normal(size=(N, P))
        y = _target(X[:, :10] @ EFFECTS, censored, rng)
        ids = srs.select(srs.ingest(X, target=y), seed=run, threads=1).relevant_ids
        power.append((ids < 10).mean() * len(ids) / 10 if len(ids) else 0.0)
        false.append((ids >= 10).sum() / max(len(ids), 1))
        cox.append((_cox_list(X, y) < 10).sum() / 10)
    return float(np.mean(power)), float(np.mean(cox)), float(np.mean(false))


@pytest.mark.parametrize("censored", [0.3, 0.6])
def test_effects_of_single_features(censored: float) -> None:
    power, cox, false = _compare(censored, 3, 0)
    assert power > cox - 0.15  # three runs: one feature is 0.033
    assert false < 0.35


@pytest.mark.long
@pytest.mark.parametrize("censored", [0.3, 0.6])
def test_effects_of_single_features_in_many_runs(censored: float) -> None:
    power, cox, false = _compare(censored, 40, 100)
    assert power > cox - 0.04
    assert false < 0.15  # 0.1, and three standard errors of 40 runs


def _pair(n: int, p: int, run: int) -> set[int]:
    rng = np.random.default_rng((8, run))
    X = rng.integers(0, 2, (n, p))
    y = _target(1.5 * (X[:, 0] ^ X[:, 1]), 0.4, rng)
    return set(srs.select(srs.ingest(X, target=y), seed=run, threads=1).relevant_ids.tolist())


def test_a_pair_that_matters_only_together() -> None:
    assert _pair(600, 300, 0) >= {0, 1}


@pytest.mark.long
def test_a_pair_among_5000() -> None:
    found = [_pair(1_000, 5_000, run) for run in range(20)]
    assert sum(ids >= {0, 1} for ids in found) >= 18


def test_beside_other_targets_and_with_missing_values() -> None:
    """A time to event is asked for by name, and covariates that miss values are no target."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 40))
    y = _target(1.5 * X[:, 3], 0.3, rng)
    age = rng.normal(size=150)
    age[5] = np.nan
    case = np.where(rng.random(150) < 0.1, None, rng.integers(0, 2, 150).astype(str))
    store = srs.ingest(X, target={"months": y, "age": age, "case": case})
    result = srs.select(store, target="months", covariates=["age"], max_trees=64)
    assert 3 in result.relevant_ids
    notices = result.document["data"]["notices"]
    assert any("'age' is missing in 1 samples" in notice for notice in notices)
    found = srs.select_many(store, "all", covariates=["age"], max_trees=64)
    assert list(found) == ["months", "case"]
    assert found["months"].digest == result.digest
