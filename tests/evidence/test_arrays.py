"""Evidence adds up the same, however it is split and merged."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from srs.evidence.arrays import BatchEvidence, Evidence
from srs.evidence.registry import USUAL, with_probes

N, N_ROLES, N_POOL = 30, 2, 3
POOL_PLACES, POOL_ROLES = np.array([4, 9, 4]), np.array([0, 1, 0])


def random_batch(rng: np.random.Generator) -> BatchEvidence:
    """Whole numbers, so that sums are exact in any order."""
    k = int(rng.integers(1, N))
    kinds = (rng.integers(0, 50, (N_ROLES, k)).astype(np.float32) for _ in range(3))
    return BatchEvidence(
        places=rng.choice(N, k, replace=False),
        by_kind=dict(zip(with_probes(USUAL), kinds, strict=True)),
        splits=rng.random(k) < 0.5,
        carried=rng.integers(0, 9, N_POOL).astype(float),
        wins=rng.random(k) < 0.5,
        n_trees=1,
        votes=np.zeros((0, 1)),
        seconds={},
    )


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(0, 12))
def test_split_shuffled_and_merged(seed, n_batches, cut):
    rng = np.random.default_rng(seed)
    batches = [random_batch(rng) for _ in range(n_batches)]
    whole, first, second = (Evidence.empty(N, N_ROLES) for _ in range(3))
    for batch in batches:
        whole.update(batch, POOL_PLACES, POOL_ROLES)
    for i in rng.permutation(n_batches):
        (first if i < cut else second).update(batches[i], POOL_PLACES, POOL_ROLES)
    second.merge(first)
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(second.arrays()[name], array)


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_against_plain_loops(seed, n_batches):
    rng = np.random.default_rng(seed)
    batches = [random_batch(rng) for _ in range(n_batches)]
    evidence = Evidence.empty(N, N_ROLES)
    drawn, used, peak, importance = [0] * N, [0.0] * N, [0.0] * N, [0.0] * N
    for batch in batches:
        evidence.update(batch, POOL_PLACES, POOL_ROLES)
        for k, place in enumerate(batch.places):
            drawn[place] += 1
            used[place] += batch.by_kind["used"][0, k]
            importance[place] += batch.by_kind["used"][0, k]
            peak[place] = max(peak[place], batch.by_kind["peak"][0, k])
        importance[4] += batch.carried[0] + batch.carried[2]
    assert evidence.n_drawn.tolist() == drawn
    assert evidence.importance.tolist() == importance
    assert evidence.statistic("peak")[0].tolist() == peak
    means = [u / max(d, 1) for u, d in zip(used, drawn, strict=True)]
    np.testing.assert_allclose(evidence.statistic("used")[0], means, rtol=1e-6)
