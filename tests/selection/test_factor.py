"""One factor that could explain a list: found where there is one, silent where there is none."""

import numpy as np
import pytest
from scipy import stats

import srs
from srs.selection.cautions.factor import Factor, Looked, find_factor, standardise


def listed(X: np.ndarray, y: np.ndarray, rate: float = 0.1) -> np.ndarray:
    """Features that a simple test would list (Benjamini-Hochberg)."""
    r = np.corrcoef(X.T, y)[-1, :-1]
    p = 2 * stats.norm.sf(np.abs(r) * np.sqrt(len(y)))
    order = np.argsort(p)
    below = np.flatnonzero(p[order] <= rate * np.arange(1, len(p) + 1) / len(p))
    return order[: below[-1] + 1] if len(below) else order[:0]


def look(
    X: np.ndarray, y: np.ndarray, seed: int, strata: np.ndarray | None = None
) -> tuple[int, Factor | None]:
    """The length of the list, and the factor that is found."""
    rng = np.random.default_rng([seed, 1])
    codes = np.stack([_coded(column) for column in X.T], axis=1)
    places = rng.permutation(X.shape[1])
    sampled, others = places[: len(places) // 2], places[len(places) // 2 :][:500]
    hits = listed(X, y)

    def columns(which: np.ndarray) -> np.ndarray:
        return standardise(codes[:, which], np.zeros(len(which), bool))

    outputs = np.stack([y == level for level in np.unique(y)], axis=1).astype(float)
    checked = columns(np.setdiff1d(hits, sampled)[:500])
    looked = Looked(outputs, strata)
    return len(hits), find_factor(columns(sampled), columns(others), checked, looked, rng)


def _coded(values: np.ndarray) -> np.ndarray:
    levels, numbers = np.unique(values, return_inverse=True)
    return (numbers if len(levels) <= 255 else numbers * 255 // len(levels)).astype(np.uint8)


def make_batches(
    rng: np.random.Generator, share: float, size: float, prevalence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two batches that differ in a share of 2,000 features, and in the prevalence of the target."""
    batch = rng.integers(0, 2, 400)
    y = rng.random(400) < np.where(batch == 1, prevalence, 1 - prevalence)
    X = rng.normal(size=(400, 2000))
    n_moved = int(share * 2000)
    X[:, :n_moved] += size * batch[:, None] * rng.normal(size=n_moved)
    return X, y.astype(int), batch


def make_populations(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Genotypes of two populations (F_ST of 0.05) that differ in the prevalence of the target."""
    population = rng.integers(0, 2, 600)
    y = rng.random(600) < np.where(population == 1, 0.7, 0.3)
    common = rng.uniform(0.1, 0.9, 2000)
    shares = rng.beta(19 * common, 19 * (1 - common), size=(2, 2000))
    return rng.binomial(2, shares[population]).astype(float), y.astype(int)


@pytest.mark.parametrize(
    ("share", "size", "prevalence"), [(0.4, 1.0, 0.75), (0.2, 1.0, 0.8), (0.5, 0.6, 0.9)]
)
def test_a_batch_that_the_target_follows(share, size, prevalence, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, y, batch = make_batches(rng, share, size, prevalence)
    n_listed, factor = look(X, y, global_random_seed)
    assert n_listed >= 100
    assert factor is not None
    assert factor.component == 1
    assert factor.n_along > 0.6 * factor.n_checked
    assert 0.3 * share < factor.moved <= share
    assert look(X, y, global_random_seed, strata=batch)[1] is None  # it is known


def test_populations(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, y = make_populations(rng)
    n_listed, factor = look(X, y, global_random_seed)
    assert n_listed >= 100
    assert factor is not None
    assert factor.component == 1


@pytest.mark.parametrize(("n_effects", "size"), [(200, 0.7), (200, 2.0), (800, 0.7)])
def test_many_effects_without_a_factor(n_effects, size, global_random_seed):
    """The first component is then the target itself; within classes features share nothing."""
    rng = np.random.default_rng(global_random_seed)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 2000))
    X[:, :n_effects] += size * y[:, None] * rng.choice([-1, 1], n_effects)
    n_listed, factor = look(X, y, global_random_seed)
    assert n_listed > 0.8 * n_effects
    assert factor is None


def test_many_causes(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(1500, 1000))
    y = (X[:, :150].sum(axis=1) + 3 * rng.normal(size=1500) > 0).astype(int)
    n_listed, factor = look(X, y, global_random_seed)
    assert n_listed >= 50
    assert factor is None


@pytest.mark.parametrize("equal", [True, False])
def test_blocks_of_correlated_features(equal, global_random_seed):
    """Five of forty blocks matter: a component moves its block, not all features."""
    rng = np.random.default_rng(global_random_seed)
    latent = rng.normal(size=(400, 40))
    block = np.arange(2000) // 50
    shared = np.full(40, 0.5) if equal else rng.uniform(0.2, 0.9, 40)
    X = np.sqrt(shared)[block] * latent[:, block]
    X += np.sqrt(1 - shared)[block] * rng.normal(size=X.shape)
    y = (latent[:, :5].sum(axis=1) + 2 * rng.normal(size=400) > 0).astype(int)
    n_listed, factor = look(X, y, global_random_seed)
    assert n_listed >= 100
    assert factor is None


def test_a_factor_that_the_target_does_not_follow(global_random_seed):
    """Batches, and true effects that have nothing to do with them."""
    rng = np.random.default_rng(global_random_seed)
    X, _, _ = make_batches(rng, 0.4, 1.0, 0.5)
    y = rng.integers(0, 2, 400)
    X[:, 1000:1300] += 0.8 * y[:, None]
    n_listed, factor = look(X, y, global_random_seed)
    assert n_listed >= 200
    assert factor is None


def test_subjects_count_once():
    """Ten samples of a subject are no ten samples: what differs between subjects is no factor."""
    rng = np.random.default_rng(0)
    subjects = np.repeat(np.arange(30), 10)
    own = rng.normal(size=(30, 600))[subjects]
    X = (own + 0.3 * rng.normal(size=own.shape)).astype(np.float32)
    X /= np.sqrt((X**2).sum(axis=0))
    y = (np.arange(30) % 2)[subjects]
    outputs = np.stack([y == 0, y == 1], axis=1).astype(float)
    for n_listed in (40, 5):
        looked = Looked(outputs, subjects=subjects)
        checked = X[:, 500 : 500 + n_listed]
        assert looked.n_free == 29
        assert find_factor(X[:, :300], X[:, 300:500], checked, looked, rng) is None


@pytest.mark.slow
def test_a_run_says_it():
    """A batch that 300 features follow, a run that adjusts for it, and few features."""
    rng = np.random.default_rng(0)
    X, y, batch = make_batches(rng, 0.4, 1.5, 0.85)
    X = X[:, 400:1600]
    store = srs.ingest(X, target={"y": y, "batch": batch.astype(str)})
    settings = {"seed": 0, "max_passes": 20}
    result = srs.select(store, **settings)
    assert len(result.relevant_ids) > 100
    (caution,) = result.cautions
    assert caution["kind"] == "factor"
    assert caution["factor"]["component"] == 1
    assert len(caution["feature_ids"]) == caution["factor"]["n_along"]
    assert set(caution["feature_ids"]) <= set(result.relevant_ids.tolist())
    assert "--confounder" in caution["sentence"]
    assert srs.select(store, **settings).document["outcome"]["cautions"] == [caution]
    adjusted = srs.select(store, confounders=["batch"], **settings)
    assert adjusted.cautions == []
