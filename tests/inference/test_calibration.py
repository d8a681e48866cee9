"""Error rates over many runs, a bounded part of what benchmarks measure at length."""

import numpy as np
import pytest
from scipy.stats import binom

import srs


def draw_features(rng: np.random.Generator, n: int, p: int, kind: str) -> np.ndarray:
    if kind == "numbers":
        return rng.normal(size=(n, p))
    if kind == "genotypes":
        return rng.binomial(2, rng.uniform(0.05, 0.5, p), (n, p)).astype(float)
    return (rng.random((n, p)) < 0.5).astype(float)


@pytest.mark.slow
def test_runs_on_noise_rarely_select_anything(global_random_seed):
    """Guards the null: at a rate of 0.1, at most a tenth of the runs selects anything."""
    n_selecting, n_runs = 0, 0
    for n, p in ((60, 40), (200, 300), (80, 1500), (300, 3200)):
        for kind in ("numbers", "genotypes", "binary"):
            for repeat in range(4):
                rng = np.random.default_rng((global_random_seed, n, p, repeat))
                X, y = draw_features(rng, n, p, kind), rng.integers(0, 2, n)
                result = srs.select(srs.ingest(X, target=y), seed=repeat, max_trees=120)
                n_selecting += len(result.relevant_ids) > 0
                n_runs += 1
    assert n_selecting <= binom(n_runs, 0.1).ppf(0.99)


@pytest.mark.slow
def test_the_share_of_false_features_is_kept(global_random_seed):
    """Guards the rate beside true signals: weak and strong effects, correlated neighbours.

    Features that are only correlated with a relevant one count as relevant: they tell of the
    target by themselves (thesis 2.4.1).
    """
    shares, power = [], []
    for repeat in range(12):
        rng = np.random.default_rng((global_random_seed, repeat))
        X = rng.normal(size=(400, 1000))
        X[:, 10:20] = 0.9 * X[:, :10] + np.sqrt(1 - 0.81) * X[:, 10:20]
        y = (X[:, :10] @ np.linspace(0.4, 1.0, 10) + rng.normal(size=400) > 0).astype(int)
        found = srs.select(srs.ingest(X, target=y), seed=repeat, max_trees=150).relevant_ids
        shares.append((found >= 20).sum() / max(len(found), 1))
        power.append((found < 20).sum() / 20)
    assert np.mean(shares) <= 0.1 + 2 * np.std(shares) / np.sqrt(12)
    assert np.mean(power) > 0.3


def test_triples_among_few_features_are_found(global_random_seed):
    """Guards that trees see all of few features and that half of them wander: three features that
    matter only together, in three runs of eight neighbours, never met otherwise."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (1_000, 24))
    y = X[:, 0] ^ X[:, 8] ^ X[:, 16] ^ (rng.random(1_000) < 0.05)
    found = srs.select(srs.ingest(X, target=y), seed=global_random_seed).relevant_ids
    assert {0, 8, 16} <= set(found.tolist())
    assert len(found) <= 5
