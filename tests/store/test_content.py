"""What codes say of features, against plain counting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srs.store import MISSING
from srs.store.content import look_at


@pytest.mark.parametrize("levels", [[0], [1], [2], [0, 1, 2], [0, 3], [3, 7], range(255)])
@given(st.integers(1, 400), st.sampled_from([0.0, 0.2, 0.5, 0.9]), st.integers(0, 2**32 - 1))
def test_shares_tops_and_missing_values(levels, n_samples, share_of_zeros, seed):
    """Guards the short ways: few levels, mostly zeros, and all others."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(np.array(levels, np.uint8), (4, n_samples))
    codes[rng.random(codes.shape) < share_of_zeros] = 0
    codes[1:3][rng.random((2, n_samples)) < 0.3] = MISSING
    codes[3] = MISSING
    content = look_at(codes, None)
    for f, row in enumerate(codes):
        known = row[row != MISSING]
        most = np.bincount(known).max() if len(known) else 0
        assert content.shares[f] == 255 * most // max(len(known), 1)
        assert content.tops[f] == (known.max() if len(known) else 0)
        assert content.missing[f] == (len(known) < n_samples)
