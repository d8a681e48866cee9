"""Codes of numeric features: the kernel against its twin, and what codes promise."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import srs
from srs.ingest.block import NO_VALUE
from srs.ingest.encode.codes import (
    Coded,
    encode_dosages,
    encode_fractions,
    encode_into,
    encode_numeric,
)
from srs.store.content import look_at
from srs.store.layout import MISSING
from tests.reference.encode_twin import encode_twin

DTYPES = st.sampled_from([np.float32, np.float64])


FEW, MANY = (1, 2, 5, 60, 250), (254, 255, 256, 400, 10_000)  # four special values may be added


@st.composite
def features(draw: st.DrawFn, levels: tuple[int, ...] = FEW + MANY) -> np.ndarray:
    """Features with ties, missing values, infinities, and now and then over 255 levels."""
    dtype = draw(DTYPES)
    n = draw(st.integers(1, 700))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_levels = draw(st.sampled_from(levels))
    levels = np.sort(rng.normal(size=n_levels)).astype(dtype)
    values = levels[rng.integers(0, n_levels, size=(3, n))]
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
    share = draw(st.sampled_from([0.0, 0.1, 1.0]))
    chosen = rng.random((3, n)) < share
    values[chosen] = special[rng.integers(0, len(special), size=chosen.sum())]
    return values


@given(features())
def test_kernel_equals_its_twin(values):
    codes, n_levels = encode_numeric(values)
    for row, code, levels in zip(values, codes, n_levels, strict=True):
        expected, n_expected = encode_twin(row.tolist())
        assert code.tolist() == expected
        assert levels == n_expected


def kinds_of_columns(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """What data may look like, and what sorting by places must get right."""
    normal = rng.standard_normal(n)
    near = 1 + np.finfo(float).eps * rng.integers(0, 4 * n, n)  # neighbours of 1, and far from all
    near[0] = 1e300
    columns = {
        "smooth": normal,
        "ties": np.round(normal, 2),
        "magnitudes": np.exp(30 * normal),
        "an outlier": np.append(normal[1:], 1e30),
        "two outliers": np.concatenate([normal[2:], [-1e30, 1e30]]),
        "one place": near,
        "range beyond floats": normal * (np.finfo(np.float64).max / 10),
        "denormal": 5e-324 * rng.integers(-1000, 1000, n),
        "denormal32": 1e-45 * rng.integers(-1000, 1000, n),
        "infinite": np.where(rng.random(n) < 0.3, np.inf, normal),
        "both infinite": np.where(rng.random(n) < 0.5, np.inf, -np.inf),
        "zeros of both signs": np.where(rng.random(n) < 0.5, -0.0, 0.0),
        "zeros among infinite": rng.choice([-0.0, 0.0, np.inf, 1e-3], n),
        "many zeros": np.where(rng.random(n) < 0.9, 0.0, normal),
        "counts": rng.poisson(3.0, n).astype(float),
        "many counts": rng.poisson(4000.0, n).astype(float),
        "bytes": rng.integers(0, 256, n).astype(float),
        "bytes but one": rng.integers(0, 255, n).astype(float),
        "signed": rng.integers(-3, 3, n).astype(float),
        "whole then half": np.append(np.arange(n - 1) % 7, 0.5),
        "constant": np.full(n, 0.1),
        "missing": np.full(n, np.nan),
        "almost all missing": np.append(np.full(n - 1, np.nan), 0.5),
    }
    some = {
        f"{name}, some missing": np.where(rng.random(n) < 0.2, np.nan, column)
        for name, column in columns.items()
    }
    return columns | some


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [3, 90, 700, 5000])
def test_kinds_of_columns(n, dtype, global_random_seed):
    """5,000 samples have places of three bytes."""
    columns = kinds_of_columns(np.random.default_rng(global_random_seed), n)
    with np.errstate(over="ignore"):
        values = np.stack(list(columns.values())).astype(dtype)
    codes, n_levels = encode_numeric(values)
    for name, row, code, levels in zip(columns, values, codes, n_levels, strict=True):
        assert (code.tolist(), levels) == encode_twin(row.tolist()), name


@given(hnp.arrays(DTYPES, hnp.array_shapes(min_dims=2, max_dims=2, max_side=40)))
def test_arbitrary_values(values):
    codes, n_levels = encode_numeric(values)
    for row, code, levels in zip(values, codes, n_levels, strict=True):
        assert (code.tolist(), levels) == encode_twin(row.tolist())


@given(features())
def test_codes_keep_order_and_ties(values):
    codes, n_levels = encode_numeric(values)
    for row, code, levels in zip(values, codes, n_levels, strict=True):
        known = ~np.isnan(row)
        assert ((code == MISSING) == ~known).all()
        order = np.argsort(row[known], kind="stable")
        ordered, steps = row[known][order], np.diff(code[known][order].astype(int))
        assert (steps >= 0).all()
        assert (steps[ordered[1:] == ordered[:-1]] == 0).all()
        assert len(np.unique(code[known])) == levels


@given(features(FEW))
def test_codes_of_few_values_are_their_ranks(values):
    """Guards levels: no two values share a code, and no code is left out."""
    codes, n_levels = encode_numeric(values)
    for row, code, levels in zip(values, codes, n_levels, strict=True):
        known = ~np.isnan(row)
        distinct, ranks = np.unique(row[known], return_inverse=True)
        assert levels == len(distinct)
        assert code[known].tolist() == ranks.tolist()


@pytest.mark.parametrize("n_samples", [256, 1000, 5001])
def test_bins_of_distinct_values_are_nearly_equal(n_samples, global_random_seed):
    values = np.random.default_rng(global_random_seed).permutation(n_samples).astype(float)
    codes, n_levels = encode_numeric(values[None])
    sizes = np.bincount(codes[0])
    assert n_levels[0] == 255
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("names", "written", "fingerprint"),
    [
        (None, "e41cb2ca8dbfe33cc1a9f49d1f65f906", "575af50e237558c715f5c9a5117931bb"),
        (
            [f"gene {i}" for i in range(40)],
            "e33db0c1ed18a9aabc40be0f15cbd374",
            "c0d19dfca51a5a362cb4526bcca501c6",
        ),
    ],
)
def test_stores_are_those_of_the_first_encoder(dtype, names, written, fingerprint):
    """Codes and places were written down before values were sorted by their places. Answers follow
    from them, and checkpoints name fingerprints."""
    values = (np.arange(300 * 40) * 7919 % 10_007).reshape(300, 40) / 64.0
    values[:, 10:20] %= 7
    values[:, 20:25] //= 100
    values[:, 5] = np.exp(values[:, 5] / 2)
    values[::17, 3::4] = np.nan
    store = srs.ingest(values.astype(dtype), target=np.arange(300) % 2, names=names)
    digest = hashlib.blake2b(store.read_codes(np.arange(40)).tobytes(), digest_size=16)
    digest.update(np.asarray(store.feature_ids, np.int64).tobytes())
    assert digest.hexdigest() == written
    assert store.fingerprint == fingerprint


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [3, 8, 261, 1024])
def test_samples_as_rows_give_the_same(n, dtype, global_random_seed):
    """Guards turning: some features at a time, eight samples at a time, whatever is left over."""
    rng = np.random.default_rng(global_random_seed)
    columns = list(kinds_of_columns(rng, n).values()) * 9  # more than are turned together
    with np.errstate(over="ignore"):
        rows = np.stack(columns, axis=1).astype(dtype)
    expected = Coded.empty(rows.shape[1], n)
    encode_into(np.ascontiguousarray(rows.T), expected)
    wide = np.concatenate([rows, rows], axis=1)
    fixed = rows.copy()
    fixed.flags.writeable = False
    for values in (rows.T, wide[:, : rows.shape[1]].T, fixed.T, np.asfortranarray(fixed).T):
        coded = Coded.empty(*values.shape)
        encode_into(values, coded)
        for name in ("codes", "n_levels", "n_ranked", "n_infinite"):
            np.testing.assert_array_equal(getattr(coded, name), getattr(expected, name), name)


@given(features())
def test_what_coding_says_of_its_codes(values):
    """Counts are passed over where coding knows them: they must be what counting gives."""
    coded = Coded.empty(*values.shape)
    encode_into(values, coded)
    assert coded.n_infinite.tolist() == np.isinf(values).sum(axis=1).tolist()
    told, counted = look_at(coded.codes, None, coded.n_ranked), look_at(coded.codes, None)
    for name in ("hashes", "shares", "tops", "missing"):
        np.testing.assert_array_equal(getattr(told, name), getattr(counted, name), name)
    known = (~np.isnan(values)).sum(axis=1)
    assert set((coded.n_ranked / np.maximum(known, 1)).tolist()) <= {0.0, 1.0}


def test_most_features_of_many_values_are_known_to_be_ranked():
    coded = Coded.empty(30, 300)
    encode_into(np.random.default_rng(0).normal(size=(30, 300)), coded)
    assert coded.n_ranked.tolist() == [300] * 30


def test_fractions_keep_their_dosages():
    """A code is the number of steps; whole dosages have the codes of `encode_dosages`."""
    rng = np.random.default_rng(2)
    values = rng.uniform(0, 2, size=(6, 500)).astype(np.float32)
    values[1] = rng.integers(0, 3, 500)
    values[2] = 2 * rng.integers(0, 2, 500)
    values[3] = np.nan
    values[4, :250] = 1
    values[rng.random((6, 500)) < 0.1] = np.nan
    values[0, :2] = -0.001, 2.001  # rounding of other programs
    codes = np.empty(values.shape, np.uint8)
    n_levels, dosages = np.zeros((2, 6), np.uint8)
    encode_fractions(values, codes, n_levels, dosages)
    assert dosages.tolist() == [8, 7, 5, 0, 8, 8]
    known = ~np.isnan(values)
    for f in (0, 4, 5):
        steps = np.floor(np.clip(values[f], 0, 2) * np.float32(127) + np.float32(0.5))
        np.testing.assert_array_equal(codes[f], np.where(known[f], steps, 255))
        assert n_levels[f] == np.nanmax(steps) + 1
    whole = np.where(known, values, NO_VALUE).astype(np.int8)[1:4]
    theirs, levels, bits = np.empty(whole.shape, np.uint8), *np.zeros((2, 3), np.uint8)
    encode_dosages(whole, theirs, levels, bits)
    np.testing.assert_array_equal(codes[1:4], theirs)
    np.testing.assert_array_equal(n_levels[1:4], levels)
    np.testing.assert_array_equal(dosages[1:4], bits)
