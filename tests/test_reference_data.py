"""Real data: Madelon hidden among permuted copies of its noise, a bounded part of the benchmark."""

import pytest

import srs
from benchmarks.madelon_data import load_madelon, widen
from benchmarks.measure import reference_folder, write_codes_store

needs_data = pytest.mark.skipif(
    reference_folder() is None, reason="no reference data (set SRS_REFERENCE_DATA)"
)


@needs_data
@pytest.mark.slow
def test_madelon_among_20000_features(tmp_path, global_random_seed):
    X, y, relevant = load_madelon()
    wide = widen(X, relevant, 20_000, global_random_seed)
    write_codes_store(tmp_path / "m.zarr", lambda a, n: wide[a : a + n], 20_000, y)
    result = srs.select(tmp_path / "m.zarr", seed=global_random_seed, max_trees=150)
    found = set(result.relevant_ids.tolist())
    assert len(found & set(relevant.tolist())) >= 19
    assert len(found - set(relevant.tolist())) <= 2
