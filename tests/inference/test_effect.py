"""Effects in the kind of evidence that found a feature."""

import numpy as np

from srs.evidence.arrays import Evidence
from srs.evidence.registry import USUAL
from srs.inference.effect import effects


def test_the_effect_is_that_of_the_kind_that_found_it(monkeypatch):
    rng = np.random.default_rng(0)
    evidence = Evidence.empty(50, 4)
    evidence.n_drawn[:] = 5
    for kind in USUAL:
        evidence.by_kind[kind][:] = rng.exponential(size=(4, 50))
    evidence.by_kind["used"][0, 7] = 0.0  # never used
    evidence.by_kind["screened"][0, 7] = 40.0
    found_by = rng.integers(0, 3, 50).astype(np.uint8)
    found_by[7] = USUAL.index("screened")
    monkeypatch.setattr("srs.inference.effect.PIECE", 16)
    found = effects(evidence, USUAL, found_by)
    assert found[7] > 0
    for place in range(50):
        values = evidence.statistic(USUAL[found_by[place]])[:, place]
        assert np.isclose(found[place], values[0] - values[1:].mean())
