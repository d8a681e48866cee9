"""The kernel's random numbers: equal to plain Python integers, uniform, and in separate streams."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy.stats import chi2_contingency, chisquare

from srs.trees import random as kernel
from tests.reference import random_twin as twin

SMALLEST_P = 1e-5  # some twenty tests a seed: one failure in thousands of runs
uint32s = st.integers(0, 2**32 - 1) | st.sampled_from([0, 1, 2**31, 2**32 - 1])
uint64s = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1])


@njit
def _stream(key, n):  # type: ignore[no-untyped-def]
    """The numbers 0..n-1 of a stream, drawn in a loop as the kernel draws them."""
    numbers = np.empty(n, np.uint32)
    for i in range(n):
        numbers[i] = kernel.random_u32(key, np.uint32(i))
    return numbers


@njit
def _scaled(numbers, n):  # type: ignore[no-untyped-def]
    scaled = np.empty(len(numbers), np.int64)
    for i in range(len(numbers)):
        scaled[i] = kernel.scale_u32(numbers[i], np.uint32(n))
    return scaled


@njit
def _below(key, length, n):  # type: ignore[no-untyped-def]
    numbers = np.empty(length, np.int64)
    for i in range(length):
        numbers[i] = kernel.random_below(key, np.uint32(i), n)
    return numbers


def node_stream(seed: int, node: int, domain: int, n: int) -> np.ndarray:
    return _stream(np.uint32(kernel.node_key(np.uint64(seed), node, np.uint64(domain))), n)


@given(uint32s)
def test_mix32_equals_python_integers(x: int) -> None:
    """Guards against uint32 arithmetic that numba widens to uint64."""
    assert int(kernel.mix32(np.uint32(x))) == twin.mix32(x)


@given(uint64s)
def test_mix64_equals_python_integers(x: int) -> None:
    """Guards against uint64 arithmetic that numba turns into float64."""
    assert int(kernel.mix64(np.uint64(x))) == twin.mix64(x)


@given(uint64s, st.integers(0, 2**31 - 1), st.integers(1, 5))
def test_node_key_equals_python_integers(tree_key: int, node: int, domain: int) -> None:
    """Guards the mixture of a signed node number with unsigned keys."""
    key = kernel.node_key(np.uint64(tree_key), node, np.uint64(domain))
    assert int(key) == twin.node_key(tree_key, node, domain)


def test_domains_are_those_of_the_twin() -> None:
    """Guards the twin: a domain that is renumbered in one place only."""
    names = ("CUT", "MISSING", "SUBSET", "TIE", "COLUMNS")
    domains = [int(getattr(kernel, f"DOMAIN_{name}")) for name in names]
    assert domains == [twin.CUT, twin.MISSING_SIDE, twin.SUBSET, twin.TIE, twin.COLUMNS]


@given(uint32s, uint32s)
def test_random_u32_equals_python_integers(key: int, counter: int) -> None:
    """Guards the product of counter and constant, which must wrap at 32 bits."""
    number = kernel.random_u32(np.uint32(key), np.uint32(counter))
    assert int(number) == twin.random_u32(key, counter)


@given(uint32s, st.integers(0, 256))
def test_scale_u32_equals_python_integers(random: int, n: int) -> None:
    """Guards the only product of the kernel that just fits 32 bits."""
    scaled = int(kernel.scale_u32(np.uint32(random), np.uint32(n)))
    assert scaled == twin.scale_u32(random, n)
    assert 0 <= scaled < max(n, 1)


@given(uint32s, uint32s, st.integers(1, 2**31 - 1))
def test_random_below_equals_python_integers(key: int, counter: int, n: int) -> None:
    """Guards ranges far beyond those of `scale_u32`."""
    number = int(kernel.random_below(np.uint32(key), np.uint32(counter), n))
    assert number == twin.random_below(key, counter, n)
    assert 0 <= number < n


@given(uint32s)
def test_a_compiled_loop_draws_the_same_numbers(key: int) -> None:
    """Guards inlined code: types are inferred anew where a function is inlined and vectorised."""
    expected = [twin.random_u32(key, i) for i in range(20)]
    assert _stream(np.uint32(key), 20).tolist() == expected
    scaled = [twin.scale_u32(x, 7) for x in expected]
    assert _scaled(np.array(expected, np.uint32), 7).tolist() == scaled


@pytest.mark.parametrize("n", [2, 3, 7, 100, 255, 256])
def test_scale_u32_is_uniform(n: int, global_random_seed: int) -> None:
    """Guards the cuts: every cut of a column is as likely."""
    numbers = node_stream(global_random_seed, 0, twin.CUT, 40_000)
    assert chisquare(np.bincount(_scaled(numbers, n), minlength=n)).pvalue > SMALLEST_P


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_random_below_is_uniform(n: int, global_random_seed: int) -> None:
    """Guards ties and draws of columns."""
    key = np.uint32(kernel.node_key(np.uint64(global_random_seed), 1, np.uint64(twin.TIE)))
    assert chisquare(np.bincount(_below(key, 40_000, n), minlength=n)).pvalue > SMALLEST_P


@pytest.mark.parametrize("bit", [0, 1, 15, 31])
def test_bits_are_fair_across_nodes(bit: int, global_random_seed: int) -> None:
    """Guards the coin for missing values, which is the lowest bit of the first number of a node."""
    first = [
        int(node_stream(global_random_seed, node, twin.MISSING_SIDE, 1)[0]) for node in range(4000)
    ]
    ones = sum(number >> bit & 1 for number in first)
    assert abs(ones - 2000) < 4.5 * np.sqrt(1000)


def streams(seed: int) -> dict[str, np.ndarray]:
    """A stream and its nearest neighbours: next node, next domain, next tree."""
    return {
        "same": node_stream(seed, 3, 1, 20_000),
        "node": node_stream(seed, 4, 1, 20_000),
        "domain": node_stream(seed, 3, 2, 20_000),
        "tree": node_stream(seed + 1, 3, 1, 20_000),
    }


@pytest.mark.parametrize("other", ["node", "domain", "tree"])
def test_neighbouring_streams_are_independent(other: str, global_random_seed: int) -> None:
    """Guards against a node, a use or a tree that repeats what its neighbour drew."""
    both = streams(global_random_seed)
    table = np.zeros((8, 8))
    np.add.at(table, (_scaled(both["same"], 8), _scaled(both[other], 8)), 1)
    assert chi2_contingency(table).pvalue > SMALLEST_P
    assert np.mean(both["same"] == both[other]) < 0.001


@pytest.mark.parametrize("lag", [1, 2, 64])
def test_neighbouring_columns_are_independent(lag: int, global_random_seed: int) -> None:
    """Guards against columns that share their cuts because their counters are close."""
    numbers = _scaled(streams(global_random_seed)["same"], 8)
    table = np.zeros((8, 8))
    np.add.at(table, (numbers[:-lag], numbers[lag:]), 1)
    assert chi2_contingency(table).pvalue > SMALLEST_P


def test_keys_of_nodes_and_domains_differ(global_random_seed: int) -> None:
    """Guards against streams shared by design; by chance two of these keys meet once in 8,000."""
    keys = {
        int(kernel.node_key(np.uint64(global_random_seed), node, np.uint64(domain)))
        for node in range(200)
        for domain in range(1, 6)
    }
    assert len(keys) == 1000
