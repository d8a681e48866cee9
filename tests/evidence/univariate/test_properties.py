"""What holds for any codes and any target: ranges, symmetries, samples that do not count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srs.errors import InputError
from srs.evidence.univariate.target import UnivariateTest

SMALLEST = np.finfo(np.float64).tiny


def draw_codes(rng: np.random.Generator, n: int) -> np.ndarray:
    """Columns of all sorts: constant, missing, rare, few levels, many levels."""
    codes = rng.integers(0, rng.integers(1, 256, 64), (n, 64)).astype(np.uint8)
    codes[:, 0] = 7
    codes[:, 1] = 255
    codes[:, 2] = rng.random(n) < 1.5 / n
    codes[:, 3:10] = rng.integers(0, 3, (n, 7))
    codes[rng.random((n, 64)) < rng.choice([0.0, 0.5], 64)] = 255
    return codes


def draw_test(rng: np.random.Generator, n: int) -> UnivariateTest:
    strata = rng.integers(0, rng.integers(1, n + 1), n) if rng.random() < 0.5 else None
    train = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
    n_classes = int(rng.integers(1, 6))
    if n_classes > 1:
        return UnivariateTest.of_classes(rng.integers(0, n_classes, n), n_classes, train, strata)
    return UnivariateTest.of_numbers(np.round(rng.normal(size=n), 1), train, strata)


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_every_column_has_a_p_value(seed, n):
    rng = np.random.default_rng(seed)
    codes, test = draw_codes(rng, n), draw_test(rng, n)
    p, effects = test.run_tile(codes, rng.random(64) < 0.3)
    assert p.dtype == np.float64
    assert effects.dtype == np.float32
    assert ((p >= SMALLEST) & (p <= 1)).all()
    assert (np.abs(effects) <= 1).all()
    assert (p[:2] == 1).all()
    assert (effects[:2] == 0).all()


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(8, 60))
def test_only_training_samples_and_the_order_of_codes_count(seed, n):
    rng = np.random.default_rng(seed)
    codes, by_subset = draw_codes(rng, n), rng.random(64) < 0.3
    y, strata = rng.integers(0, 3, n), rng.integers(0, 2, n)
    train = np.sort(rng.permutation(n)[: n // 2 + 2])
    unseen = np.setdiff1d(np.arange(n), train)
    for make in (
        lambda y, t, s: UnivariateTest.of_classes(y, 3, t, s),
        lambda y, t, s: UnivariateTest.of_numbers(y * 1.0, t, s),
    ):
        p, effects = make(y, train, strata).run_tile(codes, by_subset)
        other = codes.copy()
        other[unseen] = rng.integers(0, 256, (len(unseen), 64))
        other[train] = np.where(codes[train] == 255, 255, codes[train] // 2 * 2 + codes[train] % 2)
        again = make(y, train, strata).run_tile(other, by_subset)
        np.testing.assert_array_equal(p, again[0])
        np.testing.assert_array_equal(effects, again[1])
        order = rng.permutation(n)
        moved = make(y[order], np.argsort(order)[train], strata[order])
        again = moved.run_tile(codes[order], by_subset)
        np.testing.assert_allclose(p, again[0], rtol=1e-6)


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(8, 60))
def test_reversed_codes_reverse_the_effect(seed, n):
    rng = np.random.default_rng(seed)
    codes = draw_codes(rng, n)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    mirrored = np.where(codes == 255, 255, 254 - codes).astype(np.uint8)
    for test in (
        UnivariateTest.of_classes(y, 2, np.arange(n)),
        UnivariateTest.of_classes(y, 2, np.arange(n), np.arange(n) % 2),
        UnivariateTest.of_numbers(rng.normal(size=n), np.arange(n)),
    ):
        p, effects = test.run_tile(codes, np.zeros(64, bool))
        again, reversed_effects = test.run_tile(mirrored, np.zeros(64, bool))
        np.testing.assert_allclose(p, again, rtol=1e-5)
        np.testing.assert_allclose(effects, -reversed_effects, atol=1e-6)


def test_tiles_are_tested_one_by_one():
    rng = np.random.default_rng(0)
    tiles = rng.integers(0, 255, (3, 80, 64)).astype(np.uint8)
    by_subset = rng.random(192) < 0.1
    test = UnivariateTest.of_classes(rng.integers(0, 2, 80), 2, np.arange(80))
    p, _ = test.run_tile(tiles, by_subset)
    parts = [test.run_tile(tiles[k], by_subset[64 * k : 64 * k + 64])[0] for k in range(3)]
    np.testing.assert_array_equal(p, np.concatenate(parts))


def test_strata_of_one_class_say_nothing():
    """A column that differs between strata only has no p-value below 1."""
    strata = np.repeat([0, 1], 50)
    tile = np.repeat(strata[:, None], 64, axis=1).astype(np.uint8)
    for y in (strata, np.arange(100) % 2):
        for unordered in (False, True):
            p, effects = UnivariateTest.of_classes(y, 2, np.arange(100), strata).run_tile(
                tile, np.full(64, unordered)
            )
            assert (p == 1).all()
            assert (effects == 0).all()


def test_what_is_no_target_is_refused():
    with pytest.raises(InputError, match="classes are known"):
        UnivariateTest.of_classes(np.array([0, 3]), 2, np.arange(2))
    with pytest.raises(InputError, match="target is known"):
        UnivariateTest.of_numbers(np.array([0.0, np.nan]), np.arange(2))
    test = UnivariateTest.of_classes(np.array([0, 1]), 2, np.arange(2))
    with pytest.raises(ValueError, match="kinds of 64 columns"):
        test.run_tile(np.zeros((2, 64), np.uint8), np.zeros(3, bool))
